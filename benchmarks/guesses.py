"""Measure how far the choice of a tier is from the better one, for docs/benchmarks/first-calls.md.

    python benchmarks/guesses.py --minutes 30
    python benchmarks/guesses.py --minutes 3 mcnemar    # print calls that contain a word

Calls of public functions with random sizes, each in fresh processes with an empty cache of
machine code: as Python alone, compiled at once, and as it comes. The figure is the processor time
of the last over the smaller of the others, above that of a process that makes the data.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import numpy as np
from first_calls import PAGE, seconds

#: Seconds after which a process is given up.
PATIENCE = 25
#: Seconds that are noise: added to both sides of a ratio.
NOISE = 0.1
HEAD = "## Random sizes"
SETUP = """import numpy as np, scipy.special, fastcmp
from fastcmp import datasets, planning, sequential
rng = np.random.default_rng(1)
n, m, k, d = {n}, {m}, {k}, {d}
y = rng.integers(k, size=n)
preds = np.where(rng.random((m, n)) < 0.8, y, rng.integers(k, size=(m, n)))
a, b = preds[:2]
truth = rng.integers(2, size=n)
truth[:4] = 0, 1, 0, 1
scores = truth + rng.normal(size=(m, n))
values = rng.random((m, n))
tasks = rng.random((d, m))
groups = rng.integers(max(n // 5, 2), size=n)
few = np.minimum(rng.poisson(0.05 * n, 2), n // 3)
"""
CALLS = (
    "fastcmp.mcnemar(y, a, b)",
    "fastcmp.mcnemar(y, a, b, method='unconditional')",
    "fastcmp.mcnemar(y, a, b, margin=0.05)",
    "fastcmp.mcnemar(y, a, b, groups=groups)",
    "fastcmp.mcnemar(table=[[n - few.sum(), few[0]], [few[1], 0]], margin=0.05)",
    "fastcmp.compare_all(y, preds)",
    "fastcmp.compare_all(y, preds, margin=0.02)",
    "fastcmp.compare_all(y, preds, adjust='max-t')",
    "fastcmp.compare_all(y, preds, metric='f1_macro')",
    "fastcmp.compare_metric(y, a, b, metric='f1_macro')",
    "fastcmp.compare_metric(y, a, b, metric='mcc', margin=0.05)",
    "fastcmp.compare_labels(y, a, b)",
    "fastcmp.compare_predictions(y, preds)",
    "fastcmp.classification_report(y, a)",
    "fastcmp.cochrans_q(y, preds)",
    "fastcmp.cohen_kappa(a, b)",
    "fastcmp.symmetry(a, b)",
    "fastcmp.fleiss_kappa(preds.T)",
    "fastcmp.cost_test(y, a, b, np.ones((k, k)) - np.eye(k), classes=range(k))",
    "fastcmp.metric(y, a, metric='f1_macro')",
    "fastcmp.metric_equality(y, preds, metric='recall_macro')",
    "fastcmp.accuracy_unpaired(y, a, y, b)",
    "fastcmp.auc(truth, scores)",
    "fastcmp.delong(truth, scores)",
    "fastcmp.auc_bootstrap(truth, scores[:2], n_resamples=1000)",
    "fastcmp.auc_permutation_test(truth, *scores[:2], n_resamples=1000)",
    "fastcmp.roc_band(truth, scores[:2])",
    "fastcmp.venkatraman(truth, *scores[:2], n_resamples=500)",
    "fastcmp.optimal_cutpoint(truth, scores[0])",
    "fastcmp.roc_curve(truth, scores[0])",
    "fastcmp.lift_table(truth, scores[0])",
    "fastcmp.mean_difference(*values[:2])",
    "fastcmp.mean_difference(*values[:2], method='permutation')",
    "fastcmp.signed_rank(*values[:2])",
    "fastcmp.compare_means(values)",
    "fastcmp.compare_means(values, groups=groups)",
    "fastcmp.max_t(values[1:] - values[0])",
    "fastcmp.best_set(values)",
    "fastcmp.model_confidence_set(values)",
    "fastcmp.rank_sets(values)",
    "fastcmp.superior_ability(values, control=0)",
    "fastcmp.winner_estimate(values)",
    "fastcmp.adjust(rng.random(n), method='hommel')",
    "fastcmp.compare_datasets(tasks)",
    "datasets.friedman(tasks)",
    "datasets.task_bootstrap(tasks)",
    "datasets.bayes_signed_rank(*tasks.T[:2])",
    "datasets.bayes_datasets(tasks)",
    "datasets.bradley_terry_from_scores(tasks)",
    "sequential.mcnemar(y, a, b)",
    "sequential.mean_test(values[0] - values[1])",
    "planning.power(n=n, p10=0.15, p01=0.1)",
    "planning.power(n=n, p10=0.1, p01=0.1, margin=0.05)",
    "planning.sample_size(p10=0.1 + 1 / n**0.5, p01=0.1, power=0.8)",
)


def main():
    """Draw calls until the time is up; write the page, or print some."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    calls = [c for c in CALLS if not options.words or any(w in c for w in options.words)]
    rng = np.random.default_rng(options.seed)
    rows = []
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        if len(rows) % len(calls) == 0:
            order = rng.permutation(len(calls))
        call = calls[order[len(rows) % len(calls)]]
        n = int(10 ** rng.uniform(1, 6))
        m = int(min(10 ** rng.uniform(0.5, 2), max(3, 3e6 / n)))
        sizes = {"n": n, "m": m, "k": int(rng.integers(2, 8)), "d": int(10 ** rng.uniform(1, 3))}
        setup = SETUP.format(**sizes)
        base = seconds(setup, "/tmp")
        used = []
        for mode in ("never", "always", "auto"):
            with tempfile.TemporaryDirectory() as cache:
                os.environ["FASTCMP_COMPILE"] = mode
                used.append(max(seconds(setup + call, cache, PATIENCE) - base, 0.0))
        never, always, auto = used
        ratio = (auto + NOISE) / (min(never, always) + NOISE)
        where = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        row = f"| `{call}` | {where} | {never:.2f} | {always:.2f} | {auto:.2f} | {ratio:.2f} |"
        rows.append((ratio, row))
        print(row, flush=True)
    if options.words:
        return
    ratios = [ratio for ratio, _ in rows]
    quantiles = ", ".join(
        f"{q}%: {np.quantile(ratios, q / 100):.2f}" for q in (50, 75, 90, 95, 100)
    )
    text = f"""{HEAD}

Written by `python benchmarks/guesses.py`: {len(rows)} calls with random sizes (n samples, m
models, k classes, d data sets), in processor seconds as Python alone, compiled at once, and as it
comes, each given up after {PATIENCE} s. The ratio is that of the last to the smaller of the
others, both with {NOISE} s more, which is noise. Quantiles of the ratio: {quantiles}.
The largest:

| call | sizes | Python | compiled | as it comes | ratio |
| --- | --- | ---: | ---: | ---: | ---: |
"""
    page, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    worst = [row for _, row in sorted(rows, reverse=True)[:10]]
    PAGE.write_text(page.rstrip() + "\n\n" + text + "\n".join([*worst, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
