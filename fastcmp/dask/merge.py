"""From blocks to one accumulator: a task a block, and a tree of merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_whole
from fastcmp.dask.blocks import Blocks, load_dask, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastcmp.stream.accumulator import Accumulator


def count_blocks(
    blocks: Blocks, start: Callable[[], Accumulator], split_every: int
) -> Any:
    """Count all blocks, where Dask computes.

    Parameters
    ----------
    blocks : Blocks
        What to count.
    start : callable
        Makes an empty accumulator; it is sent to the workers.
    split_every : int
        Accumulators that a task merges.

    Returns
    -------
    Accumulator
        The sum over all blocks: all that comes back.

    Raises
    ------
    ValueError
        If a block is refused, which the message names, or blocks do not fit together.
    TypeError
        If labels of a block cannot be compared.
    """
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


def merge_tree(
    parts: Sequence[Any], merge: Callable[[list[Any]], Any], split_every: int
) -> Any:
    """Merge neighbours, and what comes of them, until one is left.

    Parameters
    ----------
    parts : sequence of delayed
        What to merge, at least one.
    merge : callable
        Of a list of neighbours, makes one.
    split_every : int
        How many it takes.

    Returns
    -------
    delayed
        The one.
    """
    task = load_dask().delayed(merge)
    parts = list(parts)
    while len(parts) > 1:
        parts = [
            task(parts[i : i + split_every]) for i in range(0, len(parts), split_every)
        ]
    return parts[0]


def count_block(
    start: Callable[[], Accumulator], blocks: Blocks, part: Any, place: str
) -> Accumulator:
    """Count one block, in the one thread that Dask gave it.

    Parameters
    ----------
    start : callable
        Makes an empty accumulator.
    blocks : Blocks
        How to read a part.
    part : pair or frame
        The block.
    place : str
        What to call it in an error.

    Returns
    -------
    Accumulator
        Of this block.

    Raises
    ------
    ValueError
        If the block is refused.
    TypeError
        If its labels cannot be compared.
    """
    with naming(place):
        y_true, models = blocks.samples_of(part)
        counts: Any = start()
        return counts.update(y_true, models, workers=1)  # type: ignore[no-any-return]


def merge_counts(parts: list[Any]) -> Any:
    """Merge accumulators into a new one: Dask may need the old ones again.

    Parameters
    ----------
    parts : list of Accumulator
        What to merge, at least one.

    Returns
    -------
    Accumulator
        Their sum.
    """
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total
