"""Tasks, joined each for itself, beside each other in one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.io.logs.part import STATUS
from fastcmp.io.logs.policies import status_of
from fastcmp.io.logs.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.io.logs.joining import Joint
    from fastcmp.io.logs.policies import Block

ERROR = STATUS.index("error")


def assemble(blocks: Sequence[tuple[Block, Joint]], **fields: Any) -> Results:
    """Put answers to several tasks in one table."""
    pieces = [_items_of(block, joint) for block, joint in blocks]
    sizes = [len(items) for items, _, _ in pieces]
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    widths = [len(block.keys) for block, _ in blocks]
    parts: list[Any] = [joint.parts for _, joint in blocks]
    counts = _counts(blocks)
    return Results(
        tasks=tuple((own[0].task, own[0].subset) for own in parts),
        metrics=tuple(own[0].metric for own in parts),
        items=_labels([items for items, _, _ in pieces]),
        item_tasks=np.repeat(np.arange(len(sizes)), sizes),
        columns_items=np.concatenate(
            [own[1] + start for own, start in zip(pieces, starts, strict=True)]
        ),
        repeats=np.concatenate(
            [joint.repeats[block.keys % len(joint.repeats)] for block, joint in blocks]
        ),
        answers=_beside([block.values for block, _ in blocks]),
        status=_filled([block.status for block, _ in blocks], widths, np.uint8(0)),
        attempts=_filled([block.attempts for block, _ in blocks], widths, np.int32(1)),
        clusters=_clusters([clusters for _, _, clusters in pieces], sizes),
        sources=tuple(tuple(str(part.source) for part in row) for row in zip(*parts, strict=True)),
        unit=parts[0][0].unit,
        negated=tuple(own[0].lower_is_better for own in parts),
        task_errors=counts[0],
        task_unscored=counts[1],
        n_left_out=sum(
            len(joint.items) - size for (_, joint), size in zip(blocks, sizes, strict=True)
        ),
        **fields,
    )


def _items_of(block: Block, joint: Joint) -> tuple[Any, NDArray[np.int64], Any]:
    """Give the items that are kept, the item of each column, and clusters."""
    places = block.keys // len(joint.repeats)
    if len(places) == len(joint.items) and len(joint.repeats) == 1:
        kept, columns = places, np.arange(places.size)
    else:
        kept, columns = np.unique(places, return_inverse=True)
    items = joint.items
    named: Any
    named = items[kept] if isinstance(items, np.ndarray) else [items[i] for i in kept.tolist()]
    return named, columns.ravel(), _clusters_of(joint, kept)


def _clusters_of(joint: Joint, kept: NDArray[np.int64]) -> Any:
    """Give the cluster of each item, from the first model that names one."""
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        if part.clusters is not None:
            found = np.full(len(joint.items), None, dtype=object)
            found[keys // len(joint.repeats)] = list(part.clusters)
            return found[kept]
    return None


def _labels(pieces: Sequence[Any]) -> NDArray[Any]:
    """Give all items one type: whole numbers, or text."""
    if all(isinstance(items, np.ndarray) for items in pieces):
        return np.concatenate(pieces)
    texts: list[str] = []
    for items in pieces:
        whole = isinstance(items, np.ndarray)
        texts += list(map(str, items.tolist())) if whole else items
    labels = np.empty(len(texts), dtype=object)
    labels[:] = texts
    return labels


def _clusters(pieces: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Join clusters; a task without them has each item for itself."""
    if all(piece is None for piece in pieces):
        return None
    return np.concatenate(
        [
            np.array([f"{task}:{i}" for i in range(size)], dtype=object) if piece is None else piece
            for task, (piece, size) in enumerate(zip(pieces, sizes, strict=True))
        ]
    )


def _beside(blocks: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)


def _filled(blocks: Sequence[Any], widths: Sequence[int], fill: np.generic) -> Any:
    """Join what only some tasks have."""
    if all(block is None for block in blocks):
        return None
    m = next(len(block) for block in blocks if block is not None)
    return np.concatenate(
        [
            np.full((m, width), fill) if block is None else block
            for block, width in zip(blocks, widths, strict=True)
        ],
        axis=1,
    )


def _counts(blocks: Sequence[tuple[Block, Joint]]) -> NDArray[np.int64]:
    """Count errors and answers without a score, of each model and task."""
    counts = np.zeros((2, len(blocks[0][1].parts), len(blocks)), np.int64)
    for task, (_, joint) in enumerate(blocks):
        for model, part in enumerate(joint.parts):
            status = status_of(part)
            if status is not None:
                counts[0, model, task] = (status == ERROR).sum()
                counts[1, model, task] = (status > ERROR).sum()
    return counts
