"""How often intervals of net benefit and calibration hold: docs/studies/probabilities.md.

    python -m benchmarks.studies.probabilities

Outcomes follow a logistic model of two normal variables; each model knows one of them, or both,
and says it rightly or not. Five minutes on one core.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

import fastcmp

from .metric_page import FOLDER

RUNS, SEED = 500, 1
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID = np.linspace(-8, 8, 4001)
DENSITY = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()
#: True probability by what a model knows, a standard normal variable.
KNOWN = expit(1.2 * GRID[:, None] + 1.2 * NODES - 0.5) @ WEIGHTS


def truly(x):
    """Probability of an outcome by one of the variables."""
    return np.interp(x, GRID, KNOWN)


#: What models say, by what is true by what they know.
SAID = {
    "calibrated": lambda q: q,
    "too sure": lambda q: expit(1.8 * np.log(q / (1 - q))),
    "too low": lambda q: expit(np.log(q / (1 - q)) - 0.7),
    "two values": lambda q: np.where(q > 0.5, 0.8, 0.2),
}
PAIRS = (("too sure", "too low"), ("too sure", "calibrated"), ("too sure", "two values"))


def parts(name):
    """True MCB and DSC of a model."""
    q = np.clip(KNOWN, 1e-12, 1 - 1e-12)
    p, base = SAID[name](q), DENSITY @ q
    kept = q
    if name == "two values":
        groups = (p > 0.5).astype(int)
        kept = (np.bincount(groups, DENSITY * q) / np.bincount(groups, DENSITY))[groups]
    return DENSITY @ (p - kept) ** 2, DENSITY @ (kept - base) ** 2


def draw(rng, n, names):
    """Outcomes, and probabilities of two models that know one variable each."""
    x = rng.normal(size=(2, n))
    y = rng.random(n) < expit(1.2 * x.sum(axis=0) - 0.5)
    return y, [SAID[name](truly(row)) for name, row in zip(names, x, strict=True)]


def held(values, errors, true, df):
    """Percentage of intervals that contain the true value."""
    from scipy.special import stdtrit

    return f"{100 * np.mean(np.abs(np.array(values) - true) <= stdtrit(df, 0.975) * errors):.0f}"


def calibration_rows(runs, sizes):
    """Coverage of single values and of differences."""
    for names in PAIRS:
        true = np.array([parts(name) for name in names])
        for n in sizes:
            rng, found = np.random.default_rng([SEED, n]), {}
            for _ in range(runs):
                y, p = draw(rng, n, names)
                for method in ("plug-in", "balanced"):
                    result = fastcmp.calibration(y, p, method=method, workers=1)
                    for k, part in enumerate(("mcb", "dsc")):
                        value = result._values(part)
                        v = result.covariances[part]
                        error = np.sqrt([v[0, 0], v[0, 0] + v[1, 1] - 2 * v[0, 1]])
                        row = value[0], value[0] - value[1], *error
                        found.setdefault((k, method), []).append(row)
            cells = []
            for k in (0, 1):
                for at, wanted in ((0, true[0, k]), (1, true[0, k] - true[1, k])):
                    rows = {m: np.array(found[k, m]) for m in ("plug-in", "balanced")}
                    cells.append(
                        ", ".join(
                            held(x[:, at], x[:, 2 + at], wanted, n - 1) for x in rows.values()
                        )
                    )
            yield f"| {names[0]} | {names[1]} | {n} | {' | '.join(cells)} |"


def curve_rows(runs, sizes):
    """Errors of tests at one threshold, and of the band, where both models are as good."""
    at = np.arange(5, 96, 5) / 100
    for n in sizes:
        rng, wrong, band = np.random.default_rng([SEED, n]), np.zeros((4, at.size)), [0, 0]
        for _ in range(runs):
            y, p = draw(rng, n, ("calibrated", "calibrated"))
            curve = fastcmp.decision_curve(y, p, thresholds=at, rng=1, workers=1)
            pvalue, enough = curve.pvalue[0], curve.n_discordant[0] >= 10
            wrong += [pvalue < 0.05, np.ones(at.size), (pvalue < 0.05) & enough, enough]
            outside = (curve.band.low[0] > 0) | (curve.band.high[0] < 0)
            band[0] += outside.any()
            band[1] += (outside & enough).any()
        shown = [0, 3, 7, 11, 15, 18]
        cells = [f"{100 * wrong[0, k] / runs:.1f}" for k in shown]
        cells += [f"{100 * x / runs:.1f}" for x in band]
        yield f"| {n} | {' | '.join(cells)} |"


def test_rows(runs, sizes):
    """How often tests of calibration reject at 5%."""
    for name in SAID:
        for n in sizes:
            rng, wrong = np.random.default_rng([SEED, n]), np.zeros(3)
            for _ in range(runs):
                y, p = draw(rng, n, (name, name))
                result = fastcmp.calibration(y, p[0], n_resamples=99, rng=1, workers=1)
                tests = "spiegelhalter", "likelihood_ratio", "mcb"
                wrong += [getattr(result, f"{test}_pvalue")[0] < 0.0501 for test in tests]
            yield f"| {name} | {n} | {' | '.join(f'{100 * x / runs:.1f}' for x in wrong)} |"


def main(runs=RUNS, sizes=(100, 400, 1600), folder=FOLDER):
    """Simulate, and write the page."""
    lines = [
        "### Probabilities: decision curves and calibration",
        "",
        f"{runs:,} samples a row; 5% has a standard error of {100 * np.sqrt(0.0475 / runs):.1f}. "
        "Two models that know one variable each.",
        "",
        "**Decision curves** of two calibrated models that are as good: how often, in per cent, "
        "the t test at a threshold rejects at 5%, and how often the 95% band of 19 thresholds, "
        "from 0.05 to 0.95, excludes 0 anywhere, or where only one model treats ten items or more.",
        "",
        "| n | 0.05 | 0.2 | 0.4 | 0.6 | 0.8 | 0.95 | band | band, 10 items |",
        "|---|---|---|---|---|---|---|---|---|",
        *curve_rows(runs, sizes),
        "",
        "**Calibration**: how often, in per cent, 95% intervals contain the true value, plug-in "
        "and balanced; of the first model and of the difference of both.",
        "",
        "| first | second | n | MCB | MCB difference | DSC | DSC difference |",
        "|---|---|---|---|---|---|---|",
        *calibration_rows(runs, sizes),
        "",
        "**Tests** of one model: how often, in per cent, they reject at 5%: Spiegelhalter's, the "
        "likelihood ratio of intercept and slope, and MCB = 0 by 99 draws.",
        "",
        "| model | n | Spiegelhalter | likelihood ratio | MCB = 0 |",
        "|---|---|---|---|---|",
        *test_rows(runs, sizes),
        "",
        "Made by `python -m benchmarks.studies.probabilities`.",
        "",
    ]
    (folder / "probabilities.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
