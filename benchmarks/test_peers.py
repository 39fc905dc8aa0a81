"""The call that a user makes, beside the call of the library that they would make it with.

A row is a piece of work: our call, theirs, and what both answer, which is compared. Peers that the
tests do not need are in the extra `peers`: without them their rows are skipped, and say so.
"""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special, stats

import fastcmp
from fastcmp import datasets, kernels, planning, sequential

RNG = np.random.default_rng(20261128)


class Work(NamedTuple):
    """Calls that do the same, by the names of the libraries; ours is the first."""

    calls: dict[str, Callable[[], Any]]
    #: How many times faster we want to be.
    wanted: float
    #: The figures of an answer that are compared, by library.
    figures: dict[str, Callable[[Any], Any]]
    tolerance: float = 1e-9


def peer(name: str) -> Any:
    """A library that not everybody has, or the test is skipped."""
    return pytest.importorskip(name, reason=f"needs {name}: pip install 'fastcmp[peers]'")


def two_models(n: int, kind: Any = np.int64) -> tuple[Any, Any, Any]:
    y_true = RNG.integers(0, 10, n).astype(kind)
    return y_true, *(np.where(RNG.random(n) < 0.8, y_true, 0).astype(kind) for _ in "ab")


def mcnemar_of(n: int, kind: Any) -> Work:
    y_true, a, b = two_models(n, kind)

    def counts() -> tuple[int, int]:
        right_a, right_b = a == y_true, b == y_true
        return int(np.sum(right_a & ~right_b)), int(np.sum(~right_a & right_b))

    ours = {"fastcmp": lambda: fastcmp.mcnemar(y_true, a, b), "numpy counts alone": counts}
    figures = {"fastcmp": lambda x: (x.only_a, x.only_b), "numpy counts alone": lambda x: x}
    return Work(ours, 1, figures)


def means_of_all() -> Work:
    values = RNG.normal(size=(100, 10_000))
    i, j = np.triu_indices(100, 1)

    def by_numpy() -> Any:
        covariance, mean = np.cov(values), values.mean(axis=1)
        own = np.diagonal(covariance)
        error = np.sqrt((own[i] + own[j] - 2 * covariance[i, j]) / values.shape[1])
        t = (mean[i] - mean[j]) / error
        pvalues = 2 * special.stdtr(values.shape[1] - 1, -np.abs(t))
        order = np.argsort(pvalues)
        steps = np.maximum.accumulate(pvalues[order] * np.arange(order.size, 0, -1))
        adjusted = np.empty_like(steps)
        adjusted[order] = np.minimum(steps, 1.0)
        return pvalues, adjusted

    return Work(
        {"fastcmp": lambda: fastcmp.compare_means(values), "numpy cov, t, Holm": by_numpy},
        1.5,
        {"fastcmp": lambda x: (x.pvalue, x.pvalue_adjusted), "numpy cov, t, Holm": lambda x: x},
    )


def two_means(margin: float | None) -> Work:
    a, b = RNG.normal(0.2, 1, 100), RNG.normal(0, 1, 100)
    ours = {"fastcmp": lambda: fastcmp.mean_difference(a, b, margin=margin)}
    if margin is None:
        theirs = {"scipy ttest_rel": lambda: stats.ttest_rel(a, b)}
        return Work(
            ours | theirs, 3, {"fastcmp": lambda x: x.pvalue, "scipy ttest_rel": lambda x: x.pvalue}
        )
    weightstats = import_module("statsmodels.stats.weightstats")
    theirs = {"statsmodels ttost_paired": lambda: weightstats.ttost_paired(a, b, -margin, margin)}
    figures = {
        "fastcmp": lambda x: x.margins.equivalence_pvalue,
        "statsmodels ttost_paired": lambda x: x[0],
    }
    return Work(ours | theirs, 2, figures)


def board(function: str) -> Work:
    """What both answer alike: honestboard by draws of tasks, ours by normal draws."""
    core = peer("honestboard.core")
    rng = np.random.default_rng(1)
    values = (rng.random(1000) + rng.random((30, 1000)) < np.linspace(1.3, 1.5, 30)[:, None]) * 1.0
    if function == "winner_estimate":  # of 0 and 1 ours has Wilson's standard errors
        values = 0.5 * (values + rng.random(values.shape))
    names = [f"m{i}" for i in range(30)]
    theirs = core.Board(names, values)
    if function == "best_set":  # Hsu's comparison with the best: the same members
        return Work(
            {
                "fastcmp": lambda: fastcmp.best_set(values, rng=1),
                "honestboard": theirs.confidence_set_best,
            },
            10,
            {
                "fastcmp": lambda x: x.may_be_best,
                "honestboard": lambda x: [name in x["members"] for name in names],
            },
        )
    if function == "rank_sets":  # the same critical value of all pairs but for the draws
        return Work(
            {
                "fastcmp": lambda: fastcmp.rank_sets(values, step_down=False, rng=1),
                "honestboard, all pairs": lambda: theirs.confidence_set_best(method="simultaneous"),
            },
            10,
            {
                "fastcmp": lambda x: x.critical_value,
                "honestboard, all pairs": lambda x: x["critical_value"],
            },
            0.03,
        )
    return Work(
        {
            "fastcmp": lambda: fastcmp.winner_estimate(values, rng=1),
            "honestboard, hybrid": theirs.winner_hybrid,
        },
        5,
        {
            "fastcmp": lambda x: (x.median, *x.interval),
            "honestboard, hybrid": lambda x: (x["estimate"], *x["ci"]),
        },
        2e-3,
    )


def nemenyi() -> Work:
    posthocs = peer("scikit_posthocs")
    scores = RNG.normal(size=(10, 50)) + np.linspace(0, 1, 10)[:, None]
    i, j = np.triu_indices(10, 1)
    table = {f"m{k}": row for k, row in enumerate(scores)}
    return Work(
        {
            "fastcmp": lambda: fastcmp.compare_datasets(table, method="nemenyi"),
            "scikit-posthocs": lambda: posthocs.posthoc_nemenyi_friedman(scores.T),
        },
        3,
        {"fastcmp": lambda x: x.pvalue, "scikit-posthocs": lambda x: x.to_numpy()[i, j]},
        1e-6,
    )


def friedman() -> Work:
    scores = RNG.normal(size=(10, 50)) + np.linspace(0, 1, 10)[:, None]
    return Work(
        {
            "fastcmp": lambda: datasets.friedman(scores, method="chi2"),
            "scipy friedmanchisquare": lambda: stats.friedmanchisquare(*scores),
        },
        2,
        {"fastcmp": lambda x: x.pvalue, "scipy friedmanchisquare": lambda x: x.pvalue},
    )


def correlated_t() -> Work:
    baycomp = peer("baycomp")
    a, b = RNG.normal(0.85, 0.02, 100), RNG.normal(0.84, 0.02, 100)
    return Work(
        {
            "fastcmp": lambda: datasets.bayes_correlated_t(a, b, rope=0.01, runs=10),
            "baycomp": lambda: baycomp.two_on_single(a, b, rope=0.01, runs=10),
        },
        3,
        {"fastcmp": lambda x: (x.p_b, x.p_rope, x.p_a), "baycomp": lambda x: (x[2], x[1], x[0])},
        1e-6,
    )


def strengths(m: int) -> Work:
    choix = peer("choix")
    p = RNG.normal(0, 0.5, m)
    chance = 1 / (1 + np.exp(p - p[:, None]))
    wins = RNG.binomial(20, chance).astype(np.float64)
    np.fill_diagonal(wins, 0)
    return Work(
        {
            "fastcmp": lambda: datasets.bradley_terry(wins),
            "choix ilsr_pairwise_dense": lambda: choix.ilsr_pairwise_dense(wins),
        },
        2,
        {"fastcmp": lambda x: x.strength, "choix ilsr_pairwise_dense": lambda x: x},
        1e-4,
    )


def battles() -> Work:
    evalica = peer("evalica")
    a = RNG.integers(0, 50, 20_000)
    b = (a + RNG.integers(1, 50, 20_000)) % 50
    wins = RNG.random(20_000) < 1 / (1 + np.exp((b - a) / 25))
    names = np.array([f"m{i:02}" for i in range(50)])
    table = {"model_a": names[a], "model_b": names[b], "result": wins.astype(float)}
    first, second = names[a].tolist(), names[b].tolist()
    winners = [evalica.Winner.X if x else evalica.Winner.Y for x in wins]

    def theirs() -> Any:
        fitted = evalica.bradley_terry(first, second, winners, tolerance=1e-8, limit=1000)
        return np.log(fitted.scores.sort_index().to_numpy())

    def ours() -> Any:
        return datasets.bradley_terry_from_battles(table, names=sorted(set(first)))

    return Work(
        {"fastcmp": ours, "evalica": theirs},
        2,
        {"fastcmp": lambda x: x.strength, "evalica": lambda x: x - x.mean()},
        1e-3,
    )


def power(n_rows: int | None) -> Work:
    solver = import_module("statsmodels.stats.power").TTestPower()
    effect: Any = 0.2 if n_rows is None else RNG.uniform(0.1, 0.3, n_rows)
    return Work(
        {
            "fastcmp": lambda: planning.power("mean", n=100, difference=effect, sd=1.0),
            "statsmodels TTestPower": lambda: solver.power(effect, 100, 0.05),
        },
        5 if n_rows is None else 20,
        {"fastcmp": lambda x: x.power, "statsmodels TTestPower": lambda x: x},
    )


def boundary() -> Work:
    variances = RNG.uniform(1, 1000, 10_000)
    options = {"optimal_variance": 100.0, "alpha": 0.05}

    def by_numpy() -> Any:
        logs = 2 * np.log(1 / 0.05)
        r = 100.0 / (logs + np.log(1 + logs))
        return np.sqrt((variances + r) * np.log((variances + r) / (r * 0.05**2)))

    return Work(
        {
            "fastcmp": lambda: sequential.normal_mixture_boundary(variances, **options),
            "numpy, the formula": by_numpy,
        },
        1,
        {"fastcmp": lambda x: x, "numpy, the formula": lambda x: x},
    )


def bernstein() -> Work:
    """Lower limits after each value; confseq, which has them too, must be compiled with Boost."""
    x, limits = RNG.random(10_000), np.empty(10_000)
    price, t = np.log(1 / 0.025), np.arange(1.0, 10_001)

    def by_numpy() -> Any:
        total = np.cumsum(x)
        deviations = 0.25 + np.append(0.0, np.cumsum((x - (0.5 + total) / (t + 1)) ** 2)[:-1])
        bets = np.minimum(np.sqrt(2 * price / (np.log1p(t) * deviations)), 0.5)
        before = np.append(0.0, total[:-1] / t[:-1])
        paid = np.cumsum((x - before) ** 2 * (-np.log1p(-bets) - bets))
        return np.maximum((np.cumsum(bets * x) - price - paid) / np.cumsum(bets), 0.0)

    def ours() -> Any:
        kernels.empirical_bernstein_limits(x, 0.025, 0.5, limits)
        return limits

    calls = {"fastcmp": ours, "numpy, the formula": by_numpy}
    return Work(calls, 3, {name: lambda found: found for name in calls})


def read_log(tmp_path: Any, library: str) -> Work:
    path = tmp_path / "results.jsonl"
    rows = (
        {"model": f"m{i % 20}", "item": i // 20, "score": float(x), "answer": "yes " * 8}
        for i, x in enumerate(RNG.integers(0, 2, 60_000))
    )
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def theirs() -> Any:
        if library == "orjson":
            loads = module.loads
            return [loads(line) for line in path.read_bytes().splitlines()]
        if library == "pyarrow.json":
            return module.read_json(path)
        if library == "polars":
            schema = {"model": module.String, "score": module.Float64}
            return module.scan_ndjson(path, schema=schema).collect()
        columns = "columns={model: 'VARCHAR', item: 'BIGINT', score: 'DOUBLE', answer: 'VARCHAR'}"
        return module.sql(f"select * from read_json('{path}', {columns})").fetchnumpy()

    module = peer(library)
    n = {"orjson": len, "pyarrow.json": len, "polars": len, "duckdb": lambda x: x["score"].size}
    figures = {"fastcmp": lambda x: x.to_frame("pyarrow").num_rows, library: n[library]}
    return Work({"fastcmp": lambda: fastcmp.read_results(path), library: theirs}, 1, figures)


def kappa() -> Work:
    metrics = import_module("sklearn.metrics")
    a = RNG.integers(0, 5, 10_000)
    b = np.where(RNG.random(10_000) < 0.7, a, RNG.integers(0, 5, 10_000))
    return Work(
        {
            "fastcmp": lambda: fastcmp.cohen_kappa(a, b, weights="quadratic"),
            "scikit-learn, no interval": lambda: metrics.cohen_kappa_score(
                a, b, weights="quadratic"
            ),
        },
        5,
        {"fastcmp": lambda x: x.value, "scikit-learn, no interval": lambda x: x},
    )


def macro_f1() -> Work:
    metrics = import_module("sklearn.metrics")
    y_true, pred, _ = two_models(10_000)
    return Work(
        {
            "fastcmp": lambda: fastcmp.metric(y_true, pred, metric="f1_macro"),
            "scikit-learn, no interval": lambda: metrics.f1_score(y_true, pred, average="macro"),
        },
        10,
        {"fastcmp": lambda x: x.value, "scikit-learn, no interval": lambda x: x},
    )


ROWS: dict[str, Callable[..., Work]] = {
    "McNemar's test of 1,000 int64 labels": lambda _: mcnemar_of(1_000, np.int64),
    "McNemar's test of 100,000 uint8 labels": lambda _: mcnemar_of(100_000, np.uint8),
    "all pairs of means: 100 models x 10,000 items": lambda _: means_of_all(),
    "two means of 100 items": lambda _: two_means(None),
    "two means of 100 items against a margin": lambda _: two_means(0.5),
    "best set of 30 models, 1,000 items": lambda _: board("best_set"),
    "rank sets of 30 models, 1,000 items": lambda _: board("rank_sets"),
    "the winner's own score, 30 models, 1,000 items": lambda _: board("winner_estimate"),
    "Nemenyi's test, 10 models x 50 tasks": lambda _: nemenyi(),
    "Friedman's chi-square, 10 models x 50 tasks": lambda _: friedman(),
    "Bayesian correlated t test, 10 x 10 folds": lambda _: correlated_t(),
    "strengths of 50 models": lambda _: strengths(50),
    "strengths of 500 models": lambda _: strengths(500),
    "strengths of 50 models from 20,000 battles": lambda _: battles(),
    "one power of a paired t test": lambda _: power(None),
    "10,000 powers of a paired t test": lambda _: power(10_000),
    "10,000 boundaries of a normal mixture": lambda _: boundary(),
    "10,000 limits by empirical Bernstein": lambda _: bernstein(),
    "6 MB of JSON lines, beside orjson": lambda path: read_log(path, "orjson"),
    "6 MB of JSON lines, beside pyarrow": lambda path: read_log(path, "pyarrow.json"),
    "6 MB of JSON lines, beside polars (two columns)": lambda path: read_log(path, "polars"),
    "6 MB of JSON lines, beside DuckDB (typed)": lambda path: read_log(path, "duckdb"),
    "quadratic kappa of 10,000 labels": lambda _: kappa(),
    "macro F1 of 10,000 labels": lambda _: macro_f1(),
}


@pytest.fixture(scope="module")
def work_of(tmp_path_factory):
    """The work of a row, made once for both sides."""
    made: dict[str, Work] = {}

    def get(row: str) -> Work:
        if row not in made:
            made[row] = ROWS[row](tmp_path_factory.mktemp("peers"))
        return made[row]

    return get


@pytest.mark.parametrize(("row", "side"), [(row, side) for row in ROWS for side in (0, 1)])
def test_beside_peer(row, side, benchmark, work_of):
    """Ours, then theirs; the answers are compared."""
    work = work_of(row)
    library, call = list(work.calls.items())[side]
    benchmark.group = row
    benchmark.extra_info |= {"name": library, "target": work.wanted}
    answer = call()  # compiles, so that rounds are counted by what a call takes
    benchmark(call)
    if side:
        ours, theirs = work.figures.values()
        np.testing.assert_allclose(
            np.asarray(ours(next(iter(work.calls.values()))()), float),
            np.asarray(theirs(answer), float),
            rtol=work.tolerance,
            atol=work.tolerance,
        )
