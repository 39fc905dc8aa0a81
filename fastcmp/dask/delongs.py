"""DeLong's covariance of scores in blocks: each model ranked, products by blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.memory import check_memory
from fastcmp.dask.blocks import Blocks, load_dask
from fastcmp.dask.merge import merge_tree
from fastcmp.dask.scores import read_score_block
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.scores import order_of
from fastcmp.scores.delong_result import DelongResult
from fastcmp.stream.score_labels import flags_of, join_labels, split_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes of a score while its model is ranked: itself, twice, its order and place.
_RANKED = 56


class _Described(NamedTuple):
    """What one block holds."""

    names: tuple[str, ...]
    #: Labels that occur, ascending, and the samples of each.
    labels: tuple[Any, ...]
    counts: tuple[int, ...]
    n_missing: int


class _Whole(NamedTuple):
    """What all blocks hold together."""

    names: tuple[str, ...]
    #: The positive one first.
    labels: tuple[Any, Any]
    n_positives: int
    n_negatives: int
    n_missing: int


def delong_of_blocks(
    blocks: Blocks, positive: Any, memory_limit: int, split_every: int
) -> DelongResult:
    """Compute AUCs and their covariance where Dask computes."""
    dask = load_dask()
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    describe = dask.delayed(_describe)
    described = dask.compute(
        *(
            describe(reader, part, place)
            for part, place in zip(blocks.parts, blocks.places, strict=True)
        )
    )
    whole = _put_together(described, positive)
    _check_enough(whole, memory_limit)
    halves, covariance = _covariance(blocks, whole, split_every)
    pairs = whole.n_positives * whole.n_negatives
    return DelongResult(
        auc=np.array([half / (2 * pairs) for half in halves]),
        covariance=covariance,
        names=whole.names,
        n_positives=whole.n_positives,
        n_negatives=whole.n_negatives,
        labels=whole.labels,
        n_missing=whole.n_missing,
    )


def _describe(blocks: Blocks, part: Any, place: str) -> _Described:
    _, block = read_score_block(blocks, part, place)
    if not block.n_samples:
        return _Described(block.names, (), (), block.n_missing)
    found, labels, pair = split_labels(block.truth, at_all=True)
    if len(found) == 1:
        counts: tuple[int, ...] = (block.n_samples,)
    else:
        counts = tuple(int(np.count_nonzero(labels == one)) for one in pair)
    return _Described(block.names, found, counts, block.n_missing)


def _put_together(described: tuple[_Described, ...], positive: Any) -> _Whole:
    names = described[0].names
    totals: dict[Any, int] = {}
    labels: tuple[Any, ...] = ()
    for i, block in enumerate(described):
        if block.names != names:
            raise ValueError(
                f"blocks must hold the same models in the same order (pass names=), got"
                f" {names[:3]} in block 0 and {block.names[:3]} in block {i}"
            )
        labels = join_labels(labels, block.labels)
        for label, count in zip(block.labels, block.counts, strict=True):
            totals[label] = totals.get(label, 0) + count
    if not labels:
        raise ValueError("y_true must hold at least one sample, got none")
    yes, no = positive_label(list(labels), positive)
    n_missing = sum(block.n_missing for block in described)
    return _Whole(names, (yes, no), totals.get(yes, 0), totals.get(no, 0), n_missing)


def _check_enough(whole: _Whole, memory_limit: int) -> None:
    n1, n0 = whole.n_positives, whole.n_negatives
    if min(n1, n0) < 2:
        raise ValueError(
            f"DeLong's variance needs at least 2 samples of each class, got {n1} with "
            f"positives and {n0} with negatives"
        )
    check_memory(
        _RANKED * (n0 + n1),
        memory_limit,
        f"to rank {n0 + n1} scores of a model in one task",
        "raise it to what a thread of a worker may take, or draw a sample; "
        "fastcmp.dask.auc needs no more than a block",
    )


def _covariance(
    blocks: Blocks, whole: _Whole, split_every: int
) -> tuple[list[int], NDArray[np.float64]]:
    dask = load_dask()
    n_models, n_blocks = len(whole.names), len(blocks.parts)
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    read = dask.delayed(_read, nout=n_models + 1)
    rows = [
        read(reader, part, place, whole.labels[0])
        for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    flags = [row[n_models] for row in rows]
    place = dask.delayed(_place, nout=n_blocks + 1)
    placed = [place([row[model] for row in rows], flags, whole) for model in range(n_models)]
    gram = dask.delayed(_gram)
    products = [gram([model[i] for model in placed]) for i in range(n_blocks)]
    total = merge_tree(products, _add, split_every)
    *halves, covariance = dask.compute(*(model[n_blocks] for model in placed), total)
    return halves, covariance


def _read(blocks: Blocks, part: Any, place: str, positive: Any) -> list[Any]:
    """Give the scores of each model in a block, and which samples are positive."""
    _, block = read_score_block(blocks, part, place)
    return [*block.columns, flags_of(block.truth, positive).view(np.uint8)]


def _place(columns: list[Any], flags: list[Any], whole: _Whole) -> list[Any]:
    """Place the scores of one model among all; give them block by block.

    They are centred and scaled, so that their products add up to the covariance. The
    last item is twice the AUC's number of pairs, a whole number.
    """
    scores, positive = np.concatenate(columns), np.concatenate(flags)
    n0, n1 = whole.n_negatives, whole.n_positives
    if (int(np.count_nonzero(positive)), int(positive.size)) != (n1, n0 + n1):
        raise ValueError(
            "the samples of the second pass are not those of the first: data must be "
            "the same whenever they are computed"
        )
    values = np.empty(scores.size)
    kernels.placements(order_of(scores), scores, positive, values)
    halves = int(np.rint(values[positive == 1] * (2 * n0)).astype(np.int64).sum())
    values -= halves / (2 * n0 * n1)
    scales = 1 / np.sqrt([n0 * (n0 - 1.0), n1 * (n1 - 1.0)])
    values *= scales[positive]
    ends = np.cumsum([column.size for column in columns])
    return [*(piece.copy() for piece in np.split(values, ends[:-1])), halves]


def _gram(pieces: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    values = np.stack(pieces)
    product: NDArray[np.float64] = values @ values.T
    return product


def _add(matrices: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum(matrices, axis=0)
    return total
