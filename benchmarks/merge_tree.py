"""A thousand parts, counted apart and merged in a tree: what each holds, moves and costs.

    python benchmarks/merge_tree.py

Each part is what one worker counts of its samples; eight at a time are merged until one is left,
as `fastcmp.stream.gather` does on a cluster. The sum is what one pass over all samples counts, and
its comparison is the same to the bit. The figures of docs/concepts/scale.md come from here.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

import fastcmp
from fastcmp.stream import PairCounts

PARTS, FAN = 1000, 8


def part_of(number: int, m: int, n: int) -> tuple[Any, Any]:
    """Labels of one worker's samples."""
    rng = np.random.default_rng([7, number])
    y_true = rng.integers(0, 2, n).astype(np.uint8)
    right = rng.random((m, n), dtype=np.float32) < np.linspace(0.7, 0.8, m)[:, None]
    return y_true, np.where(right, y_true, 1 - y_true).astype(np.uint8)


def sums_of(parts: Iterator[bytes], spent: list[float], level: int) -> Iterator[bytes]:
    """The sums of each eight parts, which come and go as bytes."""
    while group := list(islice(parts, FAN)):
        start = time.process_time()
        total = pickle.dumps(reduce(PairCounts.merge, map(pickle.loads, group)))
        spent[level] += time.process_time() - start
        yield total


def tree(m: int, n: int) -> None:
    """Count, merge, and hold the sum against one pass."""
    counting, whole, size = 0.0, PairCounts(), 0

    def parts() -> Iterator[bytes]:
        nonlocal counting, size
        for number in range(PARTS):
            block = part_of(number, m, n)
            start = time.process_time()
            state = pickle.dumps(PairCounts().update(*block))
            counting += time.process_time() - start
            size = len(state)
            whole.update(*block)
            yield state

    levels = math.ceil(math.log(PARTS, FAN))
    spent, left = [0.0] * levels, parts()
    for level in range(levels):
        left = sums_of(left, spent, level)
    total = pickle.loads(next(left))
    assert total == whole
    assert (
        fastcmp.compare_all(counts=total).pvalue.tobytes()
        == fastcmp.compare_all(counts=whole).pvalue.tobytes()
    )
    pairs = m * (m - 1) / 2
    merges = sum(PARTS / FAN**level for level in range(levels))
    print(
        f"{PARTS} parts of {n:,} samples, {m:,} models: a part has {size / 1e6:.3g} MB "
        f"({size / pairs:.3g} bytes a pair), counted in {counting / PARTS * 1e3:.3g} ms; "
        f"{sum(spent) / merges * 1e9 / pairs:.3g} ns a pair to read and merge one, "
        f"{', '.join(f'{x:.3g} s' for x in spent)} on levels 1 to {levels}: "
        f"{levels} steps of {FAN} parts, {levels * FAN * sum(spent) / merges:.3g} s in a row"
    )


if __name__ == "__main__":
    tree(200, 2_000)
    tree(1_000, 2_000)
