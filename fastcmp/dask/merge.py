"""From blocks to one accumulator: a task a block, and a tree of merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_whole
from fastcmp.dask.blocks import Blocks, load_dask, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastcmp.stream.accumulator import Accumulator


def count_blocks(blocks: Blocks, start: Callable[[], Accumulator], split_every: int) -> Any:
    """Count all blocks, where Dask computes."""
    dask = load_dask()
    split_every = as_whole(split_every, "split_every", 2)
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    make = dask.delayed(start, traverse=False)
    count = dask.delayed(count_block)
    parts = [
        count(make, reader, part, place)
        for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    return merge_tree(parts, merge_counts, split_every).compute()


def merge_tree(parts: Sequence[Any], merge: Callable[[list[Any]], Any], split_every: int) -> Any:
    """Merge neighbouring parts, level by level, until one is left."""
    task = load_dask().delayed(merge)
    parts = list(parts)
    while len(parts) > 1:
        parts = [task(parts[i : i + split_every]) for i in range(0, len(parts), split_every)]
    return parts[0]


def count_block(
    start: Callable[[], Accumulator], blocks: Blocks, part: Any, place: str
) -> Accumulator:
    """Count one block, in the one thread that Dask gave it."""
    with naming(place):
        y_true, models = blocks.samples_of(part)
        counts: Any = start()
        return counts.update(y_true, models, workers=1)  # type: ignore[no-any-return]


def merge_counts(parts: list[Any]) -> Any:
    """Merge accumulators into a new one: Dask may need the old ones again."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total
