"""AUCs of scores in blocks: counts in bins, then pairs within ranges of scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import check_size
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import check_memory
from fastcmp.core.typing import Flags, Floats, Ints, Label
from fastcmp.inputs.binary_labels import flags_of, join_labels, positive_label, split_labels
from fastcmp.inputs.scores import ScoreBlock, named_scores, order_of, read_block
from fastcmp.kernels.roc import PAIR_BASE
from fastcmp.scores.delong import DelongResult
from fastcmp.stream.dask_blocks import (
    SPLIT_EVERY,
    Blocks,
    count_block,
    load_dask,
    merge_counts,
    merge_tree,
    naming,
    read_blocks,
)
from fastcmp.stream.score_counts import ScoreCounts
from fastcmp.stream.score_map import ScoreMap, holds
from fastcmp.stream.score_state import AreaBounds, bound_area, total_product

Pieces = list[tuple[NDArray[Any], NDArray[Any]]]

_LOOKED_AT = 8  # blocks from which the bins are chosen
_SAMPLE = 1 << 17  # scores of each of them, at most
_RANGE = 1 << 22  # scores that one task sorts: 32 MB
_LIGHT = 1 << 12  # scores of a bin that are sent along
_MOST_PIECES = (1 << 15) - 2  # a piece and its class share 16 bits


#: What a tied pair counts as, of two.
_TIES = {"half": 1, "concordant": 2, "discordant": 0}


def auc_of_blocks(
    y_true: object, scores: object, ties: str, positive: Label, on_single_class: str
) -> Any:
    """Areas to the bit those of all samples in memory.

    Up to eight blocks are looked at to lay bins, and all are counted in them. That is enough for
    scores of at most 16 bits, and for few different ones. Others are read once more, and those
    that share a bin with the other class are sent to tasks that sort some four million each.
    """
    blocks = read_blocks(scores, {"y_true": y_true}, argument="preds")
    single, counts = count_scores(blocks, positive)
    if len(counts.labels) < 2 and on_single_class == "nan":
        return float("nan") if single else np.full(counts.n_models, np.nan)
    areas = [
        (2 * area.concordant + _TIES[ties] * area.tied) / (2 * area.n_positives * area.n_negatives)
        for area in exact_areas(blocks, counts).values()
    ]
    return areas[0] if single else np.array(areas)


class _Bins(NamedTuple):
    """Bins that all blocks shall use."""

    single: bool
    maps: dict[str, ScoreMap]


class _Plan(NamedTuple):
    """In which piece the scores of one model are: a few runs of bins."""

    #: The lowest score of each run, ascending.
    lowest: Floats
    #: Its piece; -1 for scores that need not be looked at again.
    piece: Ints


def count_scores(blocks: Blocks, positive: Label) -> tuple[bool, ScoreCounts]:
    """Count scores in bins that are chosen from some of the blocks."""
    dask = load_dask()
    n = len(blocks.parts)
    spread = np.unique(np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(int))
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    look, count = dask.delayed(_look), dask.delayed(_count_if_binned)
    for sample in (spread, range(n))[: 1 + (spread.size < n)]:
        seen = [look(reader, blocks.parts[i], blocks.places[i]) for i in sample]
        bins = dask.delayed(_choose_bins)(seen)
        parts = [
            count(bins, positive, reader, part, place)
            for part, place in zip(blocks.parts, blocks.places, strict=True)
        ]
        merged = merge_tree(parts, _merge_if_binned, SPLIT_EVERY)
        is_single, counts = dask.compute(dask.delayed(_is_single)(bins), merged)
        if is_single is not None:
            return is_single, counts
    raise BadValueError("`y_true` must hold at least one sample", "none")


def exact_areas(blocks: Blocks, counts: ScoreCounts) -> dict[str, AreaBounds]:
    """Count the pairs within bins too, by a second pass over the scores."""
    names = counts.names or ()
    is_open = [_open_bins(counts, model) for model in range(len(names))]
    if not any(bins.any() for bins in is_open):
        return counts.areas
    pieces = _cut(counts, is_open)
    piece_counts = _count_pieces(blocks, counts, pieces)
    areas = {}
    for model, name in enumerate(names):
        negatives, positives = counts._state.by_class(model)
        within = [0, 0]
        for piece in np.unique(pieces[model][is_open[model]]):
            bins = pieces[model] == piece
            of_class = negatives * bins, positives * bins
            concordant, tied, n0, n1 = piece_counts[piece]
            if (n0, n1) != (of_class[0].sum(), of_class[1].sum()):
                raise ValueError(
                    "the samples of the second pass are not those of the first: data "
                    "must be the same whenever they are computed"
                )
            # Pairs in different bins are known already.
            below = np.cumsum(of_class[0]) - of_class[0]
            within[0] += concordant - total_product(of_class[1], below)
            within[1] += tied
        areas[name] = bound_area(
            negatives,
            positives,
            counts._state.map_of(model).exact,
            labels=counts._state.class_labels(),
            n_missing=counts.n_missing,
            within=(within[0], within[1]),
            resolved=is_open[model],
        )
    return areas


def read_score_block(blocks: Blocks, part: object, place: str) -> tuple[bool, ScoreBlock]:
    """Read the scores of one block, and refuse NaN among them."""
    with naming(place):
        scores, others = blocks.read(part)
        single, _ = named_scores(scores)
        block = read_block(others["y_true"], scores, None if single else blocks.names)
        for model in range(len(block.names)):
            block.refuse_nan(model)
    return single, block


def _look(blocks: Blocks, part: object, place: str) -> tuple[bool, ScoreBlock]:
    """Some scores of a block, evenly spaced."""
    single, block = read_score_block(blocks, part, place)
    step = max(1, -(-block.n_samples // _SAMPLE))
    columns = tuple(column[::step].copy() for column in block.columns)
    return single, ScoreBlock(
        names=block.names,
        columns=columns,
        kinds=block.kinds,
        truth=block.truth.take(np.zeros(len(block.truth), np.bool_)),
        kept=None,
    )


def _choose_bins(seen: list[tuple[bool, ScoreBlock]]) -> _Bins | None:
    """Lay bins for what blocks have shown; None if that is nothing."""
    seen = [(single, block) for single, block in seen if block.columns[0].size]
    if not seen:
        return None
    single, first = seen[0]
    maps = {}
    for model, name in enumerate(first.names):
        columns, kinds = [], []
        for _, block in seen:
            at = block.names.index(name) if name in block.names else model
            columns.append(block.columns[at])
            kinds.append(block.kinds[at])
        maps[name] = ScoreMap._for_type(np.concatenate(columns), _common(kinds))
    return _Bins(single, maps)


def _common(kinds: list[np.dtype[Any]]) -> np.dtype[Any]:
    """A type that holds the values of all blocks."""
    widest = max(kinds, key=lambda kind: kind.itemsize)
    if all(holds(kind, widest.name) for kind in kinds):
        return widest
    return np.dtype(np.float32)  # which holds all of at most 16 bits


def _is_single(bins: _Bins | None) -> bool | None:
    return None if bins is None else bins.single


def _count_if_binned(
    bins: _Bins | None, positive: Label, blocks: Blocks, part: object, place: str
) -> ScoreCounts | None:
    if bins is None:
        return None
    start = ScoreCounts(bins.maps, positive=positive)
    return count_block((start, blocks), part, place)


def _merge_if_binned(parts: list[Any]) -> Any:
    return None if parts[0] is None else merge_counts(parts)


def _open_bins(counts: ScoreCounts, model: int) -> Flags:
    """Which bins have scores that are looked at again.

    These are bins with both classes, and more than one value perhaps. Those between
    them that hold few scores come along: fewer runs of bins are found faster.
    """
    negatives, positives = counts._state.by_class(model)
    open_ = ~counts._state.map_of(model).exact & (negatives > 0) & (positives > 0)
    light = negatives + positives <= _LIGHT
    return np.asarray(open_ | (light & open_.any()))


def _cut(counts: ScoreCounts, is_open: list[Any]) -> list[Ints]:
    """Piece of each open bin of each model, of about as many scores; -1 for other bins."""
    sizes = [
        sum(counts._state.by_class(model)) * bins  # as many as a piece will hold
        for model, bins in enumerate(is_open)
    ]
    total = sum(int(np.sum(size)) for size in sizes)
    width = max(_RANGE, -(-total // max(1, _MOST_PIECES - len(sizes))))
    pieces, first = [], 0
    for size, bins in zip(sizes, is_open, strict=True):
        piece = first + (np.cumsum(size) - size) // width
        _, piece[bins] = np.unique(piece[bins], return_inverse=True)
        piece[bins] += first
        piece[~bins] = -1
        first = max(first, int(piece.max()) + 1)
        pieces.append(piece)
    return pieces


def _count_pieces(
    blocks: Blocks, counts: ScoreCounts, pieces: list[Ints]
) -> list[tuple[int, int, int, int]]:
    """Send scores to their pieces, and count the pairs of each."""
    dask = load_dask()
    n_pieces = 1 + max(int(piece.max()) for piece in pieces)
    plans = []
    for model, piece in enumerate(pieces):
        begins = np.flatnonzero(np.diff(piece, prepend=-2))
        lowest = counts._state.map_of(model).thresholds[begins]
        plans.append(_Plan(lowest, piece[begins]))
    dtypes = tuple(counts._state.map_of(model).dtype for model in range(len(pieces)))
    order = replace(blocks, parts=(), places=(), names=blocks.names or counts.names)
    reader = dask.delayed(order, traverse=False)
    plan = dask.delayed(plans, traverse=False)
    split = dask.delayed(_split, nout=n_pieces)
    positive = counts._state.class_labels()[0]
    parts = [
        split(reader, part, place, plan, dtypes, positive, n_pieces)
        for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    pair = dask.delayed(_count_piece)
    tasks = [pair([part[i] for part in parts]) for i in range(n_pieces)]
    return list(dask.compute(*tasks))


def _split(
    blocks: Blocks,
    part: object,
    place: str,
    plans: list[_Plan],
    dtypes: tuple[np.dtype[Any], ...],
    positive: Label,
    n_pieces: int,
) -> Pieces:
    """The negatives and the positives of each piece in a block."""
    _, block = read_score_block(blocks, part, place)
    flags = flags_of(block.truth, positive)
    nothing = np.empty(0, dtypes[0])
    pieces: Pieces = [(nothing, nothing)] * n_pieces
    for plan, column, dtype in zip(plans, block.columns, dtypes, strict=True):
        scores = column.astype(dtype, copy=False)
        run = np.searchsorted(plan.lowest.astype(dtype), scores, side="right") - 1
        numbers = np.unique(plan.piece[plan.piece >= 0])
        if not numbers.size:
            continue
        # By piece and class; scores outside all pieces come last.
        first, last = int(numbers[0]), int(numbers[-1]) + 1
        place_of = np.where(plan.piece < 0, last, plan.piece) - first
        key = (2 * place_of[run] + flags).astype(np.uint16)
        order = np.argsort(key, kind="stable")
        ends = np.cumsum(np.bincount(key, minlength=2 * (last - first) + 2))
        groups = np.split(scores[order], ends[:-1])
        for i in range(last - first):
            pieces[first + i] = groups[2 * i], groups[2 * i + 1]
    return pieces


def _count_piece(parts: Pieces) -> tuple[int, int, int, int]:
    """Count concordant and tied pairs, and the samples of either class."""
    negatives, positives = (
        np.sort(np.concatenate([part[side] for part in parts])) for side in range(2)
    )
    ends = (np.append(side, side.dtype.type(np.inf)) for side in (negatives, positives))
    pairs = kernels.concordance_sorted(*ends)
    base = PAIR_BASE
    return (
        int(pairs.concordant_high) * base + int(pairs.concordant_low),
        int(pairs.tied_high) * base + int(pairs.tied_low),
        negatives.size,
        positives.size,
    )


# DeLong's covariance of scores in blocks: each model ranked, products by blocks.


#: Bytes of a score while its model is ranked: itself, twice, its order and place.
_RANKED = 56


class _Described(NamedTuple):
    """What one block holds."""

    names: tuple[str, ...]
    #: Labels that occur, ascending, and the samples of each.
    labels: tuple[Any, ...]
    counts: tuple[int, ...]
    n_missing: int


def delong_of_blocks(
    y_true: object, scores: object, positive: Label, memory_limit: int
) -> DelongResult:
    """AUCs and their covariance, computed where Dask computes."""
    dask = load_dask()
    blocks = read_blocks(scores, {"y_true": y_true}, argument="preds")
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    describe = dask.delayed(_describe)
    at = list(zip(blocks.parts, blocks.places, strict=True))
    described = dask.compute(*(describe(reader, part, place) for part, place in at))
    names = described[0].names
    totals: dict[Any, int] = {}
    labels: tuple[Any, ...] = ()
    for i, block in enumerate(described):
        if block.names != names:
            raise BadValueError(
                "blocks must hold the same models in the same order (pass `names=`)",
                f"{names[:3]} in block 0 and {block.names[:3]} in block {i}",
            )
        labels = join_labels(labels, block.labels)
        for label, count in zip(block.labels, block.counts, strict=True):
            totals[label] = totals.get(label, 0) + count
    check_size(len(labels), "y_true", "sample", 1)
    pair = positive_label(list(labels), positive)
    n1, n0 = (totals.get(label, 0) for label in pair)
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
        "auc needs no more than a block",
    )
    # Scores block by block, then each model's placements, and their products block by block.
    n_models, n_blocks = len(names), len(at)
    read = dask.delayed(_score_columns, nout=n_models + 1)
    rows = [read(reader, part, place, pair[0]) for part, place in at]
    flags = [row[n_models] for row in rows]
    place = dask.delayed(_place, nout=n_blocks + 1)
    placed = [place([row[model] for row in rows], flags, n0, n1) for model in range(n_models)]
    gram = dask.delayed(_gram)
    products = [gram([model[i] for model in placed]) for i in range(n_blocks)]
    total = merge_tree(products, _add, SPLIT_EVERY)
    *halves, covariance = dask.compute(*(model[n_blocks] for model in placed), total)
    return DelongResult(
        auc=np.array([half / (2 * n1 * n0) for half in halves]),
        covariance=covariance,
        names=names,
        n_positives=n1,
        n_negatives=n0,
        labels=pair,
        n_missing=sum(block.n_missing for block in described),
    )


def _describe(blocks: Blocks, part: object, place: str) -> _Described:
    _, block = read_score_block(blocks, part, place)
    if not block.n_samples:
        return _Described(block.names, (), (), block.n_missing)
    classes, labels, pair = split_labels(block.truth, at_all=True)
    if len(classes) == 1:
        counts: tuple[int, ...] = (block.n_samples,)
    else:
        counts = tuple(int(np.count_nonzero(labels == one)) for one in pair)
    return _Described(block.names, classes, counts, block.n_missing)


def _score_columns(blocks: Blocks, part: object, place: str, positive: Label) -> list[Any]:
    """The scores of each model in a block, and which samples are positive."""
    _, block = read_score_block(blocks, part, place)
    return [*block.columns, flags_of(block.truth, positive).view(np.uint8)]


def _place(columns: list[Any], flags: list[Any], n0: int, n1: int) -> list[Any]:
    """Placements of the scores of one model among all, block by block.

    They are centred and scaled, so that their products add up to the covariance. The
    last item is twice the AUC's number of pairs, a whole number.
    """
    scores, positive = np.concatenate(columns), np.concatenate(flags)
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


def _gram(pieces: list[Floats]) -> Floats:
    values = np.stack(pieces)
    product: Floats = values @ values.T
    return product


def _add(matrices: list[Floats]) -> Floats:
    total: Floats = np.sum(matrices, axis=0)
    return total
