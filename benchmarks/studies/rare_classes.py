"""How often 95% intervals of one model's metric miss it: docs/studies/rare-classes.md.

    python -m benchmarks.studies.rare_classes

Confusion matrices are drawn from populations with a rare class; the intervals are those of
`fastcmp.metric`. Two minutes on one core.
"""

from __future__ import annotations

import numpy as np

import fastcmp

from .metric_page import FOLDER
from .metrics import rows_of

RUNS, SEED, SIZES = 1_000, 1, (50, 100, 200, 1000)
#: Shares of the classes, and recalls.
POPULATIONS = {
    "K = 2, 10%": ((0.9, 0.1), (0.9, 0.75)),
    "K = 2, 10%, good": ((0.9, 0.1), (0.98, 0.95)),
    "K = 2, 2%": ((0.98, 0.02), (0.9, 0.75)),
    "K = 4, 5%": ((0.6, 0.25, 0.1, 0.05), (0.9, 0.8, 0.7, 0.6)),
    "K = 4, 5%, good": ((0.6, 0.25, 0.1, 0.05), (0.98, 0.95, 0.92, 0.9)),
    "K = 4, 2%": ((0.7, 0.2, 0.08, 0.02), (0.9, 0.8, 0.7, 0.6)),
}
METRICS = ("balanced_accuracy", "f1_macro", "precision_macro", "mcc", "kappa", "gmean")
HEAD = f"""### One model's metric where a class is rare

How often, in per cent, a 95% interval does not contain the value: by `method="jackknife"` (for
balanced accuracy `"mover"`), and by default; in brackets how often there is no interval, from
1% on. {RUNS:,} confusion matrices of n samples a cell of the table, of K classes, the rarest
with the proportion in the first column; "good" models have recalls from 90 to 98%, others from
60 to 90%. 5% has a standard error of 0.7. Samples without any of the rarest class are among
them: the metric is then of the other classes.

| classes | n | {" | ".join(METRICS)} |
|---|---|{"---|" * len(METRICS)}
"""


def missed(tables, metric, value, method):
    """Write how many intervals miss the value, and how many there are not."""
    found = [fastcmp.metric(table=t, metric=metric, method=method).interval for t in tables]
    low, high = np.array(found).T
    none = np.isnan(low)
    wrong = ((low > value + 1e-12) | (high < value - 1e-12))[~none]
    text = f"{100 * wrong.mean():.1f}"
    return f"{text} ({100 * none.mean():.0f})" if none.mean() >= 0.01 else text


def main(runs=RUNS, sizes=SIZES, folder=FOLDER):
    """Simulate, and write the page."""
    lines = []
    for name, (shares, recalls) in POPULATIONS.items():
        chances = np.array(shares)[:, None] * rows_of(shares, recalls)
        k = len(chances)
        whole = np.round(chances * 10**10).astype(np.int64)
        for n in sizes:
            rng = np.random.default_rng([SEED, n])
            tables = rng.multinomial(n, chances.ravel(), size=runs).reshape(-1, k, k)
            cells = []
            for metric in METRICS:
                value = fastcmp.metric(table=whole, metric=metric).value
                before = "mover" if metric == "balanced_accuracy" else "jackknife"
                pair = [missed(tables, metric, value, method) for method in (before, None)]
                cells.append(", ".join(pair))
            lines.append(f"| {name} | {n} | {' | '.join(cells)} |\n")
            print(lines[-1], end="", flush=True)
    end = "\nMade by `python -m benchmarks.studies.rare_classes`.\n"
    (folder / "rare-classes.md").write_text(HEAD + "".join(lines) + end)


if __name__ == "__main__":
    main()
