"""Areas and curves of scores counted in bins: bounds, exact after a second pass."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadValueError
from fastcmp.core.sections import Section
from fastcmp.core.threads import check_workers, in_words, read_size
from fastcmp.core.typing import ColumnLike, Flags, Ints, Label, ModelsLike
from fastcmp.counts.pairs import model_index
from fastcmp.counts.roc_points import RocCurve, with_top
from fastcmp.inputs.binary_labels import flags_of
from fastcmp.inputs.scores import read_block
from fastcmp.kernels.roc import PAIR_BASE
from fastcmp.stream.accumulator import Accumulator, Arrays, BlockCounts, State, require, stored
from fastcmp.stream.score_map import ScoreMap
from fastcmp.stream.score_state import AreaBounds, ScoreState, only_area, total_product

Counts = NDArray[np.int64]
Pieces = list[NDArray[Any]]

_COPIES = 3  # of each score that is kept: as collected, put together, and sorted
_CHUNK = 1 << 20  # scores whose bins are looked up at a time


class ScoreCounts(BlockCounts):
    """How many samples of either class have scores in each of up to 2**16 bins.

    The counts give lower and upper bounds on the area under the ROC curve, which are
    exact statements about all samples, not estimates. Give blocks of samples to
    `update`; combine parts with `merge`, ``+`` or ``sum``. `auc` is the area of one
    model, `areas` are those of several, and a second pass over the samples (`refine`)
    makes them exact.

    Parameters
    ----------
    map : ScoreMap or mapping from names to ScoreMap, optional
        The bins; by default chosen from the scores of the first block.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.

    Raises
    ------
    ValueError
        If names repeat, or do not agree with the maps.
    TypeError
        If names are not strings, or maps of another type.

    See Also
    --------
    fastcmp.auc : The area of scores that fit in memory.
    RocSketch : The same with the curve.
    ScoreMap.fit : Choose bins once, for all parts of the data.

    Notes
    -----
    For each model the state takes 1 MB, whatever the number of samples. Parts merge
    where their maps are equal: choose one map, and start all parts with it.

    The area is exact for scores of a type of at most 16 bits, such as float16, and for
    scores of less than 2**15 - 1 different values all of which the first block holds,
    each twice on average.

    Examples
    --------
    >>> from fastcmp.stream import ScoreCounts
    >>> counts = ScoreCounts().update([0, 1, 0, 1], [0.1, 0.4, 0.1, 0.4])
    >>> counts.update([0, 1], [0.4, 0.1]).auc.auc
    0.6666666666666666
    >>> part = counts.like().update([0, 1], [0.1, 0.4])
    >>> (counts + part).n_samples
    8
    """

    _state: ScoreState

    def __init__(
        self,
        map: ScoreMap | Mapping[str, ScoreMap] | None = None,
        *,
        positive: Label = None,
        names: int | Sequence[str] | None = None,
    ) -> None:
        self._state = ScoreState.of_maps(map, names, positive)

    @property
    def map(self) -> ScoreMap | dict[str, ScoreMap] | None:
        """The bins of one model, or by name of several; None before the first block."""
        names, maps = self._state.names, self._state.maps
        if maps is None or len(maps) == 1:
            return maps[0] if maps else None
        return dict(zip(names or (), maps, strict=True))

    @property
    def positive(self) -> Any:
        """The positive class that was given, or None."""
        return self._state.positive

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels found so far, ascending."""
        return self._state.labels

    @property
    def counts(self) -> dict[str, Counts]:
        """A copy of each model's counts by bin and by label, shape (B, 2)."""
        names, counts = self._state.names or (), self._state.counts
        return {name: table.copy() for name, table in zip(names, counts, strict=bool(counts))}

    @property
    def auc(self) -> AreaBounds:
        """The area of the only model; of several see `areas`."""
        return only_area(self.areas)

    @property
    def areas(self) -> dict[str, AreaBounds]:
        """The area of each model, by name."""
        state = self._state
        state.class_labels()  # refuses a single class, also where there are no models
        return {name: state.area(model) for model, name in enumerate(state.names or ())}

    def update(self, y_true: ColumnLike, scores: ModelsLike, *, workers: int | None = None) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels; a block may hold one class only. Samples with a missing label
            are dropped and counted.
        scores : array-like of shape (n,) or (M, n), mapping or frame
            Higher scores indicate the positive class. Columns with names may come in
            any order, rows without names come in that of `names`.
        workers : int, optional
            Threads; by default as many as there are processors.

        Returns
        -------
        ScoreCounts
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, a score is NaN or of a wider
            type than the map's, or there are more than two labels in all; nothing of
            the block is counted then.
        TypeError
            If scores are not numbers, or labels cannot be compared.

        Notes
        -----
        O(n), and O(n log n) for a first block of repeated scores.

        Examples
        --------
        >>> from fastcmp.stream import ScoreCounts
        >>> counts = ScoreCounts(positive="ill")
        >>> counts.update(["ill", "well"], [0.75, 0.5]).auc.exact
        True
        """
        threads = check_workers(workers)
        with self._lock:
            block = read_block(y_true, scores, self.names)
            self._state = self._state.count(block, threads)
        return self

    def like(self) -> Self:
        """An empty accumulator with the same maps, names and positive class.

        Returns
        -------
        ScoreCounts
            One that merges with this one.

        Examples
        --------
        >>> from fastcmp.stream import ScoreCounts
        >>> counts = ScoreCounts().update([0, 1], [0.1, 0.4])
        >>> counts.like().n_samples
        0
        """
        return self._of_state(self._state.empty())

    def refine(self, *, memory_limit: int | str = "1 GB") -> ScoreRefinement:
        """Begin a second pass, which makes the bounds narrower or the area exact.

        Parameters
        ----------
        memory_limit : int or str
            Memory for the scores that the second pass collects: bytes, or text such as
            "4 GB". Bins with the most undecided pairs come first.

        Returns
        -------
        ScoreRefinement
            To be updated with the same samples, in blocks of any sizes; then it has
            `auc` and `areas` as well.

        Raises
        ------
        ValueError
            If there is one class only, or the limit is too low for any bin.

        Examples
        --------
        >>> import fastcmp
        >>> from fastcmp.stream import ScoreCounts
        >>> is_eight, scores = fastcmp.load_digits_scores()
        >>> counts = ScoreCounts().update(is_eight, scores["linear_svm"])
        >>> again = counts.refine().update(is_eight, scores["linear_svm"])
        >>> (again.auc.exact, again.auc.auc == fastcmp.auc(is_eight, scores["linear_svm"]))
        (True, True)
        """
        return ScoreRefinement._begin(self._state, memory_limit)

    @classmethod
    def _of_state(cls, state: ScoreState) -> Self:
        counts = cls()
        counts._state = state
        return counts

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        if len(self.labels) < 2:
            return ("model",), tuple((name,) for name in self.names or ())
        return ("model", "AUC from", "to"), tuple(
            (name, f"{area.low:.6f}", f"{area.high:.6f}") for name, area in self.areas.items()
        )

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        return cls._of_state(ScoreState.of_file(settings, arrays))


class RocSketch(ScoreCounts):
    """Points of the ROC curve of each model, from counts of scores in bins.

    A `ScoreCounts` that also gives the curve: `curve` has the points at the edges of
    the bins, which lie on the curve of all scores exactly, and `gap` bounds how far
    that curve is from the lines between them. It is updated, merged and saved as
    `ScoreCounts` is, and has the area as well.

    Parameters
    ----------
    map : ScoreMap or mapping from names to ScoreMap, optional
        The bins; by default chosen from the scores of the first block.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.

    Raises
    ------
    ValueError
        If names repeat, or do not agree with the maps.
    TypeError
        If names are not strings, or maps of another type.

    See Also
    --------
    fastcmp.roc_curve : The curve of scores that fit in memory.
    ScoreMap.fit : Choose bins once, for all parts of the data.

    Notes
    -----
    1 MB for each model, whatever the number of samples. `gap` is 0 where each bin holds
    one value only; see `ScoreCounts` for when that is so.

    Examples
    --------
    >>> from fastcmp.stream import RocSketch
    >>> sketch = RocSketch().update([0, 0, 1, 1], [0.25, 0.5, 0.5, 0.75])
    >>> sketch.curve().tpr.tolist(), sketch.gap()
    ([0.0, 0.5, 1.0, 1.0], 0.0)
    """

    def curve(self, model: str | int | None = None) -> RocCurve:
        """The curve at the edges of the bins.

        Parameters
        ----------
        model : str or int, optional
            Name or place of the model; needed where there are several.

        Returns
        -------
        RocCurve
            Each point is a point of the curve of all scores, exactly; a threshold is
            the smallest score that its bin might hold.

        Raises
        ------
        ValueError
            If there is one class only, or no such model, or several and none is named.

        Examples
        --------
        >>> import fastcmp
        >>> from fastcmp.stream import RocSketch
        >>> is_eight, scores = fastcmp.load_digits_scores()
        >>> sketch = RocSketch().update(is_eight, {"knn": scores["knn_3"]})
        >>> fastcmp.roc_curve(is_eight, scores["knn_3"]).fpr.size
        5
        >>> sketch.curve("knn").fpr.size, sketch.gap("knn")
        (5, 0.0)
        """
        thresholds, *counts, _ = self._points(model)
        fp, tp = np.cumsum(counts, axis=1)
        return RocCurve(
            fpr=np.append(0.0, fp / fp[-1]),
            tpr=np.append(0.0, tp / tp[-1]),
            thresholds=with_top(thresholds),
        )

    def gap(self, model: str | int | None = None) -> float:
        """Bound how far the curve of all scores lies above or below this one.

        Parameters
        ----------
        model : str or int, optional
            Name or place of the model; needed where there are several.

        Returns
        -------
        float
            The largest possible difference of true positive rates at one false positive
            rate, both curves with their points joined by lines. 0 where they are equal.

        Raises
        ------
        ValueError
            If there is one class only, or no such model, or several and none is named.

        Notes
        -----
        Between two neighbouring points the curve rises from one to the other in some
        way, so it is off by no more than the positives between them.

        Examples
        --------
        >>> from fastcmp.stream import RocSketch
        >>> RocSketch().update([0, 1, 0, 1], [1, 1, 2, 2]).gap()
        0.0
        """
        _, negatives, positives, exact = self._points(model)
        open_ = ~exact & (negatives > 0)
        return float(np.max(positives * open_) / positives.sum())

    def _points(self, model: str | int | None) -> list[NDArray[Any]]:
        """Thresholds, negatives, positives and exactness of bins with samples, from the top."""
        state = self._state
        names, labels = state.names or (), state.class_labels()
        if model is None and len(names) > 1:
            raise BadValueError(
                f"`model` must name one of {names[:5]} ({len(names)} in all) with the labels "
                f"{labels}",
                "None",
            )
        place = 0 if model is None else model_index(model, names, "model")
        negatives, positives = state.by_class(place)
        one = state.map_of(place)
        used = np.flatnonzero(negatives + positives)[::-1]
        return [x[used] for x in (one.thresholds, negatives, positives, one.exact)]


# A second pass over scores: the pairs within bins that the first left undecided.


class _Plan(NamedTuple):
    """What a pass looks into, for one model."""

    #: Bins whose pairs are counted now, and those that earlier passes counted.
    chosen: Flags
    resolved: Flags
    #: Concordant and tied pairs within the resolved bins.
    within: tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Passes(State):
    #: What the first pass counted, and which bins this one looks into.
    first: ScoreState
    plans: list[_Plan]
    #: The samples counted once more, to check in the end that all came again.
    again: ScoreState
    #: Collected scores of each block, of each model, by label, in pieces.
    kept: tuple[list[tuple[Pieces, Pieces]], ...] = ()

    @property
    def totals(self) -> Ints:
        return self.again.totals

    @property
    def n_bytes(self) -> int:
        pieces = (x for block in self.kept for model in block for side in model for x in side)
        return self.first.n_bytes + self.again.n_bytes + sum(piece.nbytes for piece in pieces)

    def check_fit(self, other: Self, kind: str) -> None:
        same = self.first.same(other.first) and all(
            one.within == two.within
            and np.array_equal(one.chosen, two.chosen)
            and np.array_equal(one.resolved, two.resolved)
            for one, two in zip(self.plans, other.plans, strict=True)
        )
        require(same, f"{kind} merge where they are copies of the same beginning")

    def plus(self, other: Self) -> Self:
        again = self.again.merged(other.again)
        return replace(self, again=again, kept=self.kept + other.kept)

    def collected(self, model: int, side: int, *, with_end: bool = False) -> NDArray[Any]:
        """The collected scores of a label, ascending, with inf behind if `with_end`."""
        dtype = self.first.map_of(model).dtype
        pieces = [piece for block in self.kept for piece in block[model][side]]
        zero = dtype.type(0)  # -0.0 becomes 0.0: of one array there is one form
        joined: NDArray[Any] = np.concatenate([np.empty(0, dtype), *pieces]) + zero
        joined.sort()
        return np.append(joined, dtype.type(np.inf)) if with_end else joined

    def settings(self) -> dict[str, Any]:
        within = [list(plan.within) for plan in self.plans]
        return {"first": self.first.settings(), "again": self.again.settings(), "within": within}

    def arrays(self) -> Arrays:
        arrays = {f"first_{k}": a for k, a in self.first.arrays().items()}
        arrays |= {f"again_{k}": a for k, a in self.again.arrays().items()}
        for i, plan in enumerate(self.plans):
            arrays |= {f"chosen_{i}": plan.chosen, f"resolved_{i}": plan.resolved}
            arrays |= {f"kept_{i}_{side}": self.collected(i, side) for side in range(2)}
        return arrays

    def check(self) -> None:
        first, again = self.first, self.again
        first.check()
        again.check()
        again.check_fit(first, "passes")
        first.class_labels()
        same = (again.names, again.positive) == (first.names, first.positive)
        same = same and set(again.labels) <= set(first.labels)
        require(same, "names or labels of the two passes differ")
        for model, plan in enumerate(self.plans):
            negatives, positives = first.by_class(model)
            most = total_product(positives * plan.resolved, negatives)
            possible = min(plan.within) >= 0 and sum(plan.within) <= most
            wrong = f"within must be pairs of resolved bins, got {plan.within}"
            require(possible, wrong)
            require(not (plan.chosen & plan.resolved).any(), "bins chosen once more")
            (sides,) = [block[model] for block in self.kept]
            for side, (scores,) in enumerate(sides):
                require(not np.isnan(scores).any(), "collected scores must not be NaN")
                require((scores[1:] >= scores[:-1]).all(), "collected scores must ascend")
                bins = first.map_of(model)._bins_of(scores)
                counted = np.zeros(plan.chosen.size, np.int64)
                if (label := first.labels[side]) in again.labels:
                    place = again.labels.index(label)
                    counted = again.counts[model][:, place] * plan.chosen
                wrong = "collected scores are not those that were counted"
                same = np.array_equal(np.bincount(bins, minlength=counted.size), counted)
                require(same, wrong)


class ScoreRefinement(Accumulator):
    """A second pass over scores, which makes the area under the ROC curve exact.

    Made by `ScoreCounts.refine`, and updated with the same samples as the first pass,
    in blocks of any sizes. It collects the scores in bins with undecided pairs, those
    with the most pairs first, within the limit of memory. When all samples have come
    again, `auc` and `areas` are narrower than those of the first pass, or exact, and
    `refine` begins one more pass over bins that were left out.

    Parameters
    ----------
    first : ScoreState
        What the first pass counted.
    plans : list
        Which bins of each model to collect, and what earlier passes counted.

    See Also
    --------
    ScoreCounts.refine : The way to make one.

    Notes
    -----
    Parts of a pass merge as counts do: give each part a copy of the refinement as it
    began.

    Examples
    --------
    >>> import fastcmp
    >>> from fastcmp.stream import ScoreCounts
    >>> is_eight, scores = fastcmp.load_digits_scores()
    >>> first = ScoreCounts().update(is_eight, scores["linear_svm"])
    >>> again = first.refine(memory_limit="1 MB").update(is_eight, scores["linear_svm"])
    >>> first.auc.exact, again.auc.exact
    (False, True)
    """

    _state: _Passes

    def __init__(self, first: ScoreState, plans: list[_Plan]) -> None:
        self._state = _Passes(names=first.names, first=first, plans=plans, again=first.empty())

    @classmethod
    def _begin(
        cls, first: ScoreState, memory_limit: int | str, before: list[_Plan] | None = None
    ) -> Self:
        """A pass over the next bins, after those that earlier passes resolved."""
        limit = read_size(memory_limit)
        first.class_labels()
        maps = first.maps or ()
        if before is None:
            nothing = [np.zeros(one.n_bins, np.bool_) for one in maps]
            before = [_Plan(no, no, (0, 0)) for no in nothing]
        pairs, costs = [], []
        for model, one in enumerate(maps):
            negatives, positives = first.by_class(model)
            open_ = ~(one.exact | before[model].resolved)
            # As floats: they only decide which bins come first.
            pairs.append(open_ * negatives.astype(np.float64) * positives)
            costs.append((negatives + positives) * (_COPIES * one.dtype.itemsize))
        ambiguous, cost = np.concatenate(pairs), np.concatenate(costs)
        order = np.argsort(-ambiguous, kind="stable")
        order = order[(ambiguous[order] > 0) & (cost[order] <= limit)]
        taken = order[np.cumsum(cost[order]) <= limit]
        if not taken.size and ambiguous.any():
            least = int(cost[ambiguous > 0].min())
            raise BadValueError(
                f"`memory_limit` must be at least {in_words(least)} for the scores of one bin",
                repr(memory_limit),
            )
        is_taken = np.zeros(ambiguous.size, np.bool_)
        is_taken[taken] = True
        parts = np.split(is_taken, np.cumsum([part.size for part in pairs])[:-1])
        pairs_of = zip(before, parts, strict=True)
        return cls(first, [plan._replace(chosen=part) for plan, part in pairs_of])

    @property
    def n_chosen(self) -> int:
        """Number of bins, over all models, that this pass looks into."""
        return sum(int(plan.chosen.sum()) for plan in self._state.plans)

    def update(self, y_true: ColumnLike, scores: ModelsLike, *, workers: int | None = None) -> Self:
        """Read a block of samples again.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels of samples of the first pass, in blocks of any sizes.
        scores : array-like of shape (n,) or (M, n), mapping or frame
            Their scores, by the models of the first pass.
        workers : int, optional
            Threads for counting; by default as many as there are processors.

        Returns
        -------
        ScoreRefinement
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, a score is NaN or of a wider
            type than the map's, or there are more than two labels in all; nothing of
            the block is counted then.
        TypeError
            If scores are not numbers, or labels cannot be compared.
        """
        threads = check_workers(workers)
        block = read_block(y_true, scores, self._state.first.names)
        with self._lock:
            state = self._state
            again = state.again.count(block, threads)
            sides = flags_of(block.truth, state.first.labels[1])
            kept = []
            for model, plan in enumerate(self._state.plans):
                map_ = self._state.first.map_of(model)
                column, kind = block.columns[model], block.kinds[model]
                column = map_._convert(column, kind, block.names[model])
                pieces: tuple[Pieces, Pieces] = ([], [])
                for start in range(0, column.size, _CHUNK):
                    part, side = (x[start : start + _CHUNK] for x in (column, sides))
                    inside = plan.chosen[map_._bins_of(part)]
                    pieces[0].append(part[inside & ~side])
                    pieces[1].append(part[inside & side])
                kept.append(pieces)
            self._state = replace(state, again=again, kept=(*state.kept, kept))
        return self

    @property
    def auc(self) -> AreaBounds:
        """The area of the only model; of several see `areas`."""
        return only_area(self.areas)

    @property
    def areas(self) -> dict[str, AreaBounds]:
        """The area of each model, by name; exact where no ambiguous bin is left."""
        plans = zip(self.names or (), self._resolved(), strict=True)
        return {
            name: self._state.first.area(model, within=plan.within, resolved=plan.resolved)
            for model, (name, plan) in enumerate(plans)
        }

    def _sections(self) -> list[Section]:
        n, bins = int(self._state.first.totals[0]), self.n_chosen
        text = f"second pass over {n} samples, which looks into {bins} bins"
        return [Section(title=self._title(), text=(text,))]

    def refine(self, *, memory_limit: int | str = "1 GB") -> ScoreRefinement:
        """Begin one more pass, over bins that this one left out.

        Parameters
        ----------
        memory_limit : int or str
            Memory for the scores that it collects: bytes, or text such as "4 GB".

        Returns
        -------
        ScoreRefinement
            To be updated with the same samples again.

        Raises
        ------
        ValueError
            If the samples of this pass fell into other bins than those of the first, or
            the limit is too low for any bin.
        """
        return type(self)._begin(self._state.first, memory_limit, self._resolved())

    def _resolved(self) -> list[_Plan]:
        """Count the pairs within the chosen bins, and add what was known."""
        again = self._state.again
        if not again.same(self._state.first):
            raise ValueError(
                "a second pass needs the samples of the first, got "
                f"{self.n_samples} samples where it had {self._state.first.totals[0]}, or "
                "other ones"
            )
        yes = self._state.first.labels.index(self._state.first.class_labels()[0])
        plans = []
        for model, plan in enumerate(self._state.plans):
            negatives, positives = (
                self._state.collected(model, side, with_end=True) for side in (1 - yes, yes)
            )
            pairs = kernels.concordance_sorted(negatives, positives)
            base = PAIR_BASE
            concordant = int(pairs.concordant_high) * base + int(pairs.concordant_low)
            tied = int(pairs.tied_high) * base + int(pairs.tied_low)
            # Pairs of a positive and a negative in a lower bin were known before.
            counts = [n * plan.chosen for n in self._state.first.by_class(model)]
            sizes = negatives.size - 1, positives.size - 1
            if sizes != tuple(int(count.sum()) for count in counts):
                raise BadValueError(f"`scores` that were collected are not those counted: {sizes}")
            below = np.cumsum(counts[0]) - counts[0]
            concordant -= total_product(counts[1], below)
            within = plan.within[0] + concordant, plan.within[1] + tied
            plans.append(_Plan(plan.chosen, plan.resolved | plan.chosen, within))
        return plans

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        first, again = (
            ScoreState.of_file(
                settings[name],
                {
                    key.removeprefix(f"{name}_"): array
                    for key, array in arrays.items()
                    if key.startswith(f"{name}_")
                },
            )
            for name in ("first", "again")
        )
        plans, kept = [], []
        pairs = settings["within"]
        wrong = f"within must be two counts for each model, got {reprlib.repr(pairs)}"
        require(isinstance(pairs, list) and len(pairs) == len(first.maps or ()), wrong)
        for i, within in enumerate(pairs):
            require(isinstance(within, list) and len(within) == 2, wrong)
            require(all(type(count) is int for count in within), wrong)
            shape, dtype = (first.map_of(i).n_bins,), first.map_of(i).dtype
            chosen = stored(arrays, f"chosen_{i}", shape, np.bool_)
            resolved = stored(arrays, f"resolved_{i}", shape, np.bool_)
            plans.append(_Plan(chosen, resolved, (int(within[0]), int(within[1]))))
            names = (f"kept_{i}_0", f"kept_{i}_1")
            sides = [stored(arrays, n, (arrays[n].size,), dtype) for n in names]
            kept.append(([sides[0]], [sides[1]]))
        refinement = cls(first, plans)
        refinement._state = replace(refinement._state, again=again, kept=(kept,))
        return refinement
