"""How time and memory grow with models, samples, classes, clusters, tasks and files.

    python benchmarks/growth.py            # writes docs/benchmarks/growth.md
    python benchmarks/growth.py compare_means auc    # prints these rows alone

Each row calls a public function at four sizes, compiled before, and fits time = c size^exponent to
the processor time of the fastest of three calls at the two largest; the peak is what the largest
call allocates, beside what its docstring promises where it does.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ["FASTCMP_COMPILE"] = "always"  # before the clock

import numpy as np
from run import DOCS, in_words, machine

import fastcmp
from fastcmp import datasets, stream

Call = Callable[[], Any]


class Row(NamedTuple):
    """A function, and what grows."""

    function: str
    #: What grows, and what stays.
    grows: str
    sizes: tuple[int, ...]
    #: Makes the call of a size; the data are made before it.
    make: Callable[[int], Call]
    #: The exponent that may not be exceeded, by the formula of the docstring.
    most: float
    #: Bytes that the docstring promises for a size.
    promised: Callable[[int], float] | None = None


def labels(m: int, n: int, k: int = 3) -> tuple[Any, Any]:
    """True labels of n samples, and predictions of m models that are right on 60 to 90 %."""
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, k, n).astype(np.uint8)
    right = rng.random((m, n), dtype=np.float32) < rng.uniform(0.6, 0.9, (m, 1))
    wrong = (y_true + 1 + rng.integers(0, k - 1, (m, n))) % k
    return y_true, np.where(right, y_true, wrong).astype(np.uint8)


def values(m: int, n: int) -> Any:
    """Values of m models on n items, which find the same items hard."""
    rng = np.random.default_rng(2)
    return rng.normal(size=n) + rng.normal(size=(m, n)) + rng.uniform(0, 0.2, (m, 1))


def scores(m: int, n: int) -> tuple[Any, Any]:
    """True labels, and scores of m models."""
    rng = np.random.default_rng(3)
    y_true = rng.random(n) < 0.3
    return y_true, rng.normal(size=(m, n)) + y_true


def clusters(n: int, size: int = 10) -> Any:
    """The cluster of each of n samples, some ten in each."""
    return np.arange(n) // size


def a_log(folder: Path, n_files: int, n: int = 1000) -> Path:
    """A folder of JSON lines with a file a model."""
    rng = np.random.default_rng(4)
    place = folder / str(n_files)
    place.mkdir()
    for model in range(n_files):
        right = rng.random(n) < 0.7
        lines = (
            json.dumps({"model": f"m{model}", "item": i, "score": int(x)})
            for i, x in enumerate(right)
        )
        (place / f"m{model}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return place


def battles(m: int, n: int) -> Any:
    """Winners and losers of n battles of m models."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    wins = rng.random(n) < 1 / (1 + np.exp((b - a) / m))
    names = np.array([f"m{i}" for i in range(m)])
    return {"model_a": names[a], "model_b": names[b], "result": wins.astype(float)}


def rows(folder: Path) -> list[Row]:
    """All rows of the page."""
    compare_all, compare_means = fastcmp.compare_all, fastcmp.compare_means
    some, many = (64, 128, 256, 512), (10_000, 40_000, 160_000, 640_000)

    def by_models(function: Callable[..., Any], data: Any, n: int, **options: Any) -> Any:
        def make(m: int) -> Call:
            made = data(m, n)
            made = made if isinstance(made, tuple) else (made,)
            return lambda: function(*made, **options)

        return make

    def by_samples(function: Callable[..., Any], data: Any, m: int, **options: Any) -> Any:
        def make(n: int) -> Call:
            made = data(m, n)
            made = made if isinstance(made, tuple) else (made,)
            if "groups" in options:
                return lambda: function(*made, **{**options, "groups": clusters(n)})
            return lambda: function(*made, **options)

        return make

    def by_classes(k: int) -> Call:
        made = labels(16, 50_000, k)
        return lambda: compare_all(*made, metric="f1_macro")

    def cost_by_classes(k: int) -> Call:
        made, cost = labels(16, 50_000, k), 1.0 - np.eye(k)
        return lambda: compare_all(*made, test="cost", cost=cost)

    def by_clusters(g: int) -> Call:
        made, groups = values(64, 40_000), np.arange(40_000) % g
        return lambda: compare_means(made, groups=groups)

    def update(m: int) -> Call:
        made = labels(m, 20_000)
        return lambda: stream.PairCounts().update(*made)

    def files(n_files: int) -> Call:
        place = a_log(folder, n_files)
        return lambda: fastcmp.read_results(place)

    def strengths(m: int) -> Call:
        table = battles(m, 200_000)
        return lambda: datasets.bradley_terry_from_battles(table)

    tasks = {"rng": 0}
    return [
        Row(
            "compare_all",
            "models, n = 20,000",
            (256, 512, 1024, 2048),
            by_models(compare_all, labels, 20_000),
            2,
            lambda m: m * 20_000 / 8 + m * (m - 1) / 2 * (72 + 44),
        ),
        Row("compare_all", "samples, M = 64", many, by_samples(compare_all, labels, 64), 1),
        Row(
            "compare_all(groups=)",
            "samples, M = 64",
            many[:3],
            by_samples(compare_all, labels, 64, groups=True),
            1,
        ),
        Row(
            "compare_all(metric='f1_macro')",
            "models, n = 20,000",
            some,
            by_models(compare_all, labels, 20_000, metric="f1_macro"),
            2,
        ),
        Row("compare_all(metric='f1_macro')", "classes, M = 16", (8, 16, 32, 64), by_classes, 1),
        Row("compare_all(test='cost')", "classes, M = 16", (4, 8, 16, 32), cost_by_classes, 3),
        Row(
            "compare_means", "models, n = 10,000", some, by_models(compare_means, values, 10_000), 2
        ),
        Row("compare_means", "items, M = 64", many, by_samples(compare_means, values, 64), 1),
        Row("compare_means(groups=)", "clusters, M = 64", (100, 400, 1600, 6400), by_clusters, 1),
        Row(
            "compare_means(method='wilcoxon')",
            "models, n = 1,000",
            some[:3],
            by_models(compare_means, values, 1_000, method="wilcoxon"),
            2,
        ),
        Row("best_set", "models, n = 1,000", some, by_models(fastcmp.best_set, values, 1_000), 2),
        Row("rank_sets", "models, n = 1,000", some, by_models(fastcmp.rank_sets, values, 1_000), 2),
        Row("cochrans_q", "samples, M = 64", many, by_samples(fastcmp.cochrans_q, labels, 64), 1),
        Row(
            "delong",
            "models, n = 10,000",
            (16, 32, 64, 128),
            by_models(fastcmp.delong, scores, 10_000),
            2,
        ),
        Row("auc", "samples, one model", many, by_samples(fastcmp.auc, scores, 1), 1.1),
        Row(
            "compare_datasets",
            "models, 200 tasks",
            some[:3],
            by_models(compare_datasets_of, values, 200),
            2,
        ),
        Row(
            "datasets.task_bootstrap",
            "tasks, M = 32",
            (100, 400, 1600, 6400),
            by_samples(bootstrap_of, values, 32, **tasks),
            1,
        ),
        Row("bradley_terry_from_battles", "models, 200,000 battles", some, strengths, 3),
        Row("stream.PairCounts.update", "models, a block of 20,000", some, update, 2),
        Row("read_results", "files of 1,000 items", (4, 8, 16, 32), files, 1),
    ]


def compare_datasets_of(table: Any) -> Any:
    """Compare models, whose scores stand in rows, over tasks."""
    return fastcmp.compare_datasets({f"m{i}": row for i, row in enumerate(table)})


def bootstrap_of(table: Any, rng: int) -> Any:
    """Draw tasks again, of models whose scores stand in rows."""
    return datasets.task_bootstrap({f"m{i}": row for i, row in enumerate(table)}, rng=rng)


def seconds(call: Call) -> float:
    """Processor time of the fastest of three calls, or of as many as a tenth of a second has."""
    call()
    best, start = math.inf, time.perf_counter()
    for i in range(50):
        begun = time.process_time()
        call()
        best = min(best, time.process_time() - begun)
        if i >= 2 and time.perf_counter() - start > 0.1:
            break
    return best


def peak(call: Call) -> int:
    """Bytes that a call allocates at most, beside what there was."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measured(row: Row) -> tuple[str, float]:
    """A line of the page, and the exponent."""
    times, call = [], None
    for size in row.sizes:
        call = row.make(size)
        times.append(seconds(call))
    assert call is not None
    exponent = math.log(times[-1] / times[-2]) / math.log(row.sizes[-1] / row.sizes[-2])
    memory = f"{peak(call) / 1e6:.3g} MB"
    promise = "" if row.promised is None else f"{row.promised(row.sizes[-1]) / 1e6:.3g} MB"
    sizes = ", ".join(f"{size:,}" for size in row.sizes)
    spent = ", ".join(map(in_words, times))
    cells = (f"`{row.function}`", row.grows, sizes, spent, f"{exponent:.2f}", f"{row.most:g}")
    return "| " + " | ".join((*cells, memory, promise)) + " |", exponent


PAGE = """# How time and memory grow

Written by `python benchmarks/growth.py`; do not edit. Processor time of both processors together,
after compilation, the fastest of three calls at each of four sizes. The exponent is the slope
between the two largest, on logarithmic axes: fixed costs make it smaller, and where data leave the
caches one step may be steeper.

{machine}

| function | what grows | sizes | processor time | exponent | at most | peak | promised |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: |
{rows}

- **Pairs** of M models are M (M - 1) / 2: what answers about all of them grows like M^2 at least,
  and the p-values of pairs are sorted by their digits, which leave the caches at 10^6 of them: the
  step of `compare_all` to 2,048 models.
- **Costs** have K^3 cells a pair for K classes, which are counted whatever the samples.
- **Bradley and Terry's model** solves a system of M equations: M^3 once battles are counted.
- The peak is what one call allocates beyond its data, as `tracemalloc` counts it.
"""


def main() -> None:
    """Measure, print, and write the page."""
    asked = sys.argv[1:]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            if asked and not any(name in row.function for name in asked):
                continue
            line, exponent = measured(row)
            lines.append(line)
            print(line, "<-- grows faster" if exponent > row.most + 0.15 else "", flush=True)
    if not asked:
        text = PAGE.format(machine=machine(), rows="\n".join(lines))
        (DOCS / "growth.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
