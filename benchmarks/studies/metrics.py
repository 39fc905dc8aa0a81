"""Coverage of intervals and size of tests of metrics: docs/studies/metrics.*.

    python -m benchmarks.studies.metrics

Tables of counts are drawn from populations whose values are known; what is done with
each is compiled. About ten minutes on one core.
"""

from __future__ import annotations

import numpy as np

from fastcmp.kernels import F_BETA, KAPPA, MACRO, MCC, RECALL, TRUTH, MetricSpec, metric_value

from . import metric_page
from .metric_runs import KINDS, simulate

#: Data sets of exchangeable models, and of models that are equal by one metric.
RUNS, RUNS_EQUAL, DRAWS, SEED = 4_000, 2_000, 499, 1
METRICS = {
    "F1": MetricSpec(F_BETA),
    "balanced accuracy": MetricSpec(RECALL, MACRO, labels=TRUTH),
    "MCC": MetricSpec(MCC),
    "kappa": MetricSpec(KAPPA),
    "macro F1": MetricSpec(F_BETA, MACRO),
}
#: Shares of the classes, recalls of model a, and by how much those of b differ; the
#: recall of the first class is chosen so that both have the same value of the metric.
POPULATIONS = {
    "K = 2, 50%": ((0.5, 0.5), (0.9, 0.75), (0.15,)),
    "K = 2, 10%": ((0.9, 0.1), (0.9, 0.75), (0.15,)),
    "K = 2, 2%": ((0.98, 0.02), (0.9, 0.75), (0.15,)),
    "K = 4, 25%": ((0.25,) * 4, (0.9, 0.8, 0.7, 0.6), (-0.1, 0.1, 0.1)),
    "K = 4, 5%": ((0.6, 0.25, 0.1, 0.05), (0.9, 0.8, 0.7, 0.6), (-0.1, 0.1, 0.1)),
    "K = 4, 2%": ((0.7, 0.2, 0.08, 0.02), (0.9, 0.8, 0.7, 0.6), (-0.1, 0.1, 0.1)),
}
SIZES = (50, 200, 1000)
ALIKE = 0.5  # of the samples are predicted alike by both, and right by one chance
COLUMNS = ("population", "n", "models", "metric", "of", "how", "wrong", "none", "runs")
NOTHING = np.empty((0, 0))


# ------------------------------------------------------------------ what is drawn
def rows_of(shares, recalls):
    """Chances of each prediction given the truth: errors go where most samples are."""
    rows = np.tile(shares, (len(shares), 1))
    np.fill_diagonal(rows, 0.0)
    rows *= ((1.0 - np.asarray(recalls)) / rows.sum(axis=1))[:, np.newaxis]
    np.fill_diagonal(rows, recalls)
    return rows


def together(a, b):
    """Chances of both predictions given the truth, (K, K, K): equal where they can."""
    both = ALIKE * (np.minimum(a, b)[:, :, np.newaxis] * np.eye(len(a)))
    for t in range(len(a)):
        rest = a[t] - both[t].sum(axis=1), b[t] - both[t].sum(axis=0)
        both[t] += np.outer(*rest) / rest[0].sum()
    return both


def truth_of(metric, shares, rows):
    table = np.ascontiguousarray(np.asarray(shares)[:, np.newaxis] * rows)
    listed = np.ones(len(table), np.uint8)
    return metric_value(table, METRICS[metric], listed, NOTHING)


def population(name, metric=None):
    """Give P(t, a, b); with a metric b errs otherwise, with the same value of it."""
    shares, recalls, steps = POPULATIONS[name]
    a = b = rows_of(shares, recalls)
    if metric is not None:
        wanted = truth_of(metric, shares, a)
        others = np.add(recalls[1:], steps)
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            b = rows_of(shares, [middle, *others])
            if truth_of(metric, shares, b) < wanted:
                low = middle
            else:
                high = middle
    return np.asarray(shares)[:, np.newaxis, np.newaxis] * together(a, b)


def settings():
    """List what is simulated: population, n, models, metrics."""
    for name in POPULATIONS:
        known = [m for m in METRICS if m != "F1" or name.startswith("K = 2")]
        for n in SIZES:
            yield name, n, "exchangeable", known
            for metric in known:
                yield name, n, "equal metric", [metric]


def simulated(name, n, models, metrics, runs=RUNS, n_draws=DRAWS):
    """Simulate one setting; rows as in COLUMNS."""
    chances = population(name, metrics[0] if models != "exchangeable" else None)
    k = len(chances)
    label = f"{name} {n} {models} {metrics[0]}".encode()
    rng = np.random.default_rng([SEED, *label])
    tensors = rng.multinomial(n, chances.ravel(), size=runs).reshape(-1, k, k, k)
    shares, recalls, _ = POPULATIONS[name]
    truths = [truth_of(metric, shares, rows_of(shares, recalls)) for metric in metrics]
    specs = [METRICS[metric] for metric in metrics]
    codes = np.array([(spec.metric, spec.average, spec.labels) for spec in specs])
    seed = int(rng.integers(2**40))
    found = simulate(tensors, codes, np.array(truths), n_draws, seed)
    for metric, own in zip(metrics, found.tolist(), strict=True):
        for (of, how), (wrong, none) in zip(KINDS, own, strict=True):
            if how == "newcombe" and metric != "balanced accuracy":
                continue
            if of != "one model" or models == "exchangeable":  # a is always the same
                yield name, n, models, metric, of, how, wrong, none, runs


def main(runs=RUNS, runs_equal=RUNS_EQUAL, folder=metric_page.FOLDER):
    """Simulate, and write the data, the page and the picture."""
    rows = []
    for name, n, models, metrics in settings():
        repeated = runs if models == "exchangeable" else runs_equal
        rows += simulated(name, n, models, metrics, repeated)
        print(name, n, models, *metrics, flush=True)
    metric_page.write(rows, COLUMNS, folder)


if __name__ == "__main__":
    main()
