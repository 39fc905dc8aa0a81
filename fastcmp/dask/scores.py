"""AUCs of scores in blocks: counts in bins, then pairs within ranges of scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.dask.blocks import Blocks, load_dask, naming
from fastcmp.dask.merge import count_block, merge_counts, merge_tree
from fastcmp.inputs.scores import named_scores
from fastcmp.kernels.roc import PAIR_BASE
from fastcmp.stream.score_blocks import ScoreBlock, read_block
from fastcmp.stream.score_bounds import AreaBounds, bound_area, total_product
from fastcmp.stream.score_counts import ScoreCounts
from fastcmp.stream.score_labels import flags_of
from fastcmp.stream.score_map import ScoreMap, holds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pieces = list[tuple[NDArray[Any], NDArray[Any]]]

_LOOKED_AT = 8  # blocks from which the bins are chosen
_SAMPLE = 1 << 17  # scores of each of them, at most
_RANGE = 1 << 22  # scores that one task sorts: 32 MB
_LIGHT = 1 << 12  # scores of a bin that are sent along
_MOST_PIECES = (1 << 15) - 2  # a piece and its class share 16 bits


class _Bins(NamedTuple):
    """Bins that all blocks shall use."""

    single: bool
    maps: dict[str, ScoreMap]


class _Plan(NamedTuple):
    """In which piece the scores of one model are: a few runs of bins."""

    #: The lowest score of each run, ascending.
    lowest: NDArray[np.float64]
    #: Its piece; -1 for scores that need not be looked at again.
    piece: NDArray[np.int64]


def count_scores(blocks: Blocks, positive: Any, split_every: int) -> tuple[bool, ScoreCounts]:
    """Count scores in bins that are chosen from some of the blocks."""
    dask = load_dask()
    n = len(blocks.parts)
    spread = np.unique(np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(int))
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    look, count = dask.delayed(_look), dask.delayed(_count_if_binned)
    for chosen in (spread, range(n))[: 1 + (spread.size < n)]:
        seen = [look(reader, blocks.parts[i], blocks.places[i]) for i in chosen]
        bins = dask.delayed(_choose_bins)(seen)
        parts = [
            count(bins, positive, reader, part, place)
            for part, place in zip(blocks.parts, blocks.places, strict=True)
        ]
        merged = merge_tree(parts, _merge_if_binned, split_every)
        found, counts = dask.compute(dask.delayed(_is_single)(bins), merged)
        if found is not None:
            return found, counts
    raise ValueError("y_true must hold at least one sample, got none")


def exact_areas(blocks: Blocks, counts: ScoreCounts) -> dict[str, AreaBounds]:
    """Count the pairs within bins too, by a second pass over the scores."""
    names = counts.names or ()
    chosen = [_open_bins(counts, model) for model in range(len(names))]
    if not any(bins.any() for bins in chosen):
        return counts.areas
    pieces = _cut(counts, chosen)
    found = _count_pieces(blocks, counts, pieces)
    areas = {}
    for model, name in enumerate(names):
        negatives, positives = counts._state.by_class(model)
        within = [0, 0]
        for piece in np.unique(pieces[model][chosen[model]]):
            bins = pieces[model] == piece
            of_class = negatives * bins, positives * bins
            concordant, tied, n0, n1 = found[piece]
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
            resolved=chosen[model],
        )
    return areas


def read_score_block(blocks: Blocks, part: Any, place: str) -> tuple[bool, ScoreBlock]:
    """Read the scores of one block, and refuse NaN among them."""
    with naming(place):
        y_true, scores = blocks.samples_of(part)
        single, _ = named_scores(scores)
        block = read_block(y_true, scores, None if single else blocks.names)
        for model in range(len(block.names)):
            block.refuse_nan(model)
    return single, block


def _look(blocks: Blocks, part: Any, place: str) -> tuple[bool, ScoreBlock]:
    """Take some scores of a block, evenly spaced."""
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
    """Choose a type whose values are those of all blocks."""
    widest = max(kinds, key=lambda kind: kind.itemsize)
    if all(holds(kind, widest.name) for kind in kinds):
        return widest
    return np.dtype(np.float32)  # which holds all of at most 16 bits


def _is_single(bins: _Bins | None) -> bool | None:
    return None if bins is None else bins.single


def _count_if_binned(
    bins: _Bins | None, positive: Any, blocks: Blocks, part: Any, place: str
) -> ScoreCounts | None:
    if bins is None:
        return None
    start = partial(ScoreCounts, bins.maps, positive=positive)
    return count_block(start, blocks, part, place)  # type: ignore[return-value]


def _merge_if_binned(parts: list[Any]) -> Any:
    return None if parts[0] is None else merge_counts(parts)


def _open_bins(counts: ScoreCounts, model: int) -> NDArray[np.bool_]:
    """Choose the bins whose scores are looked at again.

    These are bins with both classes, and more than one value perhaps. Those between
    them that hold few scores come along: fewer runs of bins are found faster.
    """
    negatives, positives = counts._state.by_class(model)
    open_ = ~counts._state.map_of(model).exact & (negatives > 0) & (positives > 0)
    light = negatives + positives <= _LIGHT
    return np.asarray(open_ | (light & open_.any()))


def _cut(counts: ScoreCounts, chosen: list[Any]) -> list[NDArray[np.int64]]:
    """Cut the chosen bins of each model into pieces of about as many scores."""
    sizes = [
        sum(counts._state.by_class(model)) * bins  # as many as a piece will hold
        for model, bins in enumerate(chosen)
    ]
    total = sum(int(np.sum(size)) for size in sizes)
    width = max(_RANGE, -(-total // max(1, _MOST_PIECES - len(sizes))))
    pieces, first = [], 0
    for size, bins in zip(sizes, chosen, strict=True):
        piece = first + (np.cumsum(size) - size) // width
        _, piece[bins] = np.unique(piece[bins], return_inverse=True)
        piece[bins] += first
        piece[~bins] = -1
        first = max(first, int(piece.max()) + 1)
        pieces.append(piece)
    return pieces


def _count_pieces(
    blocks: Blocks, counts: ScoreCounts, pieces: list[NDArray[np.int64]]
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
    order = Blocks(parts=(), places=(), names=blocks.names or counts.names, target=blocks.target)
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
    part: Any,
    place: str,
    plans: list[_Plan],
    dtypes: tuple[np.dtype[Any], ...],
    positive: Any,
    n_pieces: int,
) -> Pieces:
    """Give the negatives and the positives of each piece in a block."""
    _, block = read_score_block(blocks, part, place)
    flags = flags_of(block.truth, positive)
    nothing = np.empty(0, dtypes[0])
    found: Pieces = [(nothing, nothing)] * n_pieces
    for plan, column, dtype in zip(plans, block.columns, dtypes, strict=True):
        scores = column.astype(dtype, copy=False)
        run = np.searchsorted(plan.lowest.astype(dtype), scores, side="right") - 1
        own = np.unique(plan.piece[plan.piece >= 0])
        if not own.size:
            continue
        # By piece and class; what is not wanted comes last.
        first, last = int(own[0]), int(own[-1]) + 1
        place_of = np.where(plan.piece < 0, last, plan.piece) - first
        key = (2 * place_of[run] + flags).astype(np.uint16)
        order = np.argsort(key, kind="stable")
        ends = np.cumsum(np.bincount(key, minlength=2 * (last - first) + 2))
        groups = np.split(scores[order], ends[:-1])
        for i in range(last - first):
            found[first + i] = groups[2 * i], groups[2 * i + 1]
    return found


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
