"""A second pass over scores: the pairs within bins that the first left undecided."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from fastcmp import kernels
from fastcmp.core.memory import in_words, read_size
from fastcmp.core.threads import check_workers
from fastcmp.kernels.roc import PAIR_BASE
from fastcmp.stream.accumulator import Accumulator, stored
from fastcmp.stream.saved_checks import require
from fastcmp.stream.score_blocks import read_block
from fastcmp.stream.score_bounds import (
    AreaBounds,
    bound_area,
    only_area,
    total_product,
)
from fastcmp.stream.score_counts import ScoreCounts
from fastcmp.stream.score_labels import flags_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.stream.accumulator import Arrays

    Pieces = list[NDArray[Any]]

_COPIES = 3  # of each score that is kept: as collected, put together, and sorted
_CHUNK = 1 << 20  # scores whose bins are looked up at a time


class _Plan(NamedTuple):
    """What a pass looks into, for one model."""

    #: Bins whose pairs are counted now, and those that earlier passes counted.
    chosen: NDArray[np.bool_]
    resolved: NDArray[np.bool_]
    #: Concordant and tied pairs within the resolved bins.
    within: tuple[int, int]


class _Seen(NamedTuple):
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    #: The samples counted once more, which tells in the end whether all came again.
    again: ScoreCounts
    #: Collected scores of each block, of each model, by label, in pieces.
    kept: tuple[list[tuple[Pieces, Pieces]], ...]


class ScoreRefinement(Accumulator):
    """Scores of the most ambiguous bins, which a second pass collects.

    Made by `ScoreCounts.refine`. Parts of a pass merge like counts: give each a copy of
    the refinement as it began.

    Parameters
    ----------
    first : ScoreCounts
        What the first pass counted.
    plans : sequence
        What to look into, for each model.
    """

    _JOINED: ClassVar[frozenset[str]] = frozenset({"again"})

    def __init__(self, first: ScoreCounts, plans: list[_Plan]) -> None:
        self._first = first
        self._plans = plans
        self._seen = _Seen(first.like(), ())

    @classmethod
    def begin(
        cls,
        first: ScoreCounts,
        memory_limit: int | str,
        before: list[_Plan] | None = None,
    ) -> Self:
        """Choose the bins of a pass.

        Parameters
        ----------
        first : ScoreCounts
            What the first pass counted.
        memory_limit : int or str
            How much the collected scores may take.
        before : list, optional
            What earlier passes resolved.

        Returns
        -------
        ScoreRefinement
            Empty.

        Raises
        ------
        ValueError
            If there is one class only, or the limit is too low for any bin.
        """
        limit = read_size(memory_limit)
        models = range(first.n_models)
        first.class_labels()
        first = ScoreCounts.of(first)
        if before is None:
            sizes = [first.model_map(model).n_bins for model in models]
            nothing = [np.zeros(size, np.bool_) for size in sizes]
            before = [_Plan(no, no, (0, 0)) for no in nothing]
        pairs, costs = [], []
        for model in models:
            negatives, positives = first.by_class(model)
            open_ = ~(first.model_map(model).exact | before[model].resolved)
            # As floats: they only say which bins come first.
            pairs.append(open_ * negatives.astype(np.float64) * positives)
            size = _COPIES * first.model_map(model).dtype.itemsize
            costs.append((negatives + positives) * size)
        ambiguous, cost = np.concatenate(pairs), np.concatenate(costs)
        order = np.argsort(-ambiguous, kind="stable")
        order = order[(ambiguous[order] > 0) & (cost[order] <= limit)]
        taken = order[np.cumsum(cost[order]) <= limit]
        if not taken.size and ambiguous.any():
            least = int(cost[ambiguous > 0].min())
            message = (
                f"memory_limit must be at least {in_words(least)} for the scores of "
                f"one bin, got {memory_limit!r}"
            )
            raise ValueError(message)
        chosen = np.zeros(ambiguous.size, np.bool_)
        chosen[taken] = True
        parts = np.split(chosen, np.cumsum([part.size for part in pairs])[:-1])
        return cls(
            first,
            [
                plan._replace(chosen=part)
                for plan, part in zip(before, parts, strict=True)
            ],
        )

    @property
    def n_samples(self) -> int:
        """Number of samples that this pass has seen."""
        return self._seen.again.n_samples

    @property
    def n_chosen(self) -> int:
        """Number of bins, over all models, that this pass looks into."""
        return sum(int(plan.chosen.sum()) for plan in self._plans)

    def update(self, y_true: Any, scores: Any, *, workers: int | None = None) -> Self:
        """See a block of samples again.

        Parameters
        ----------
        y_true, scores : array-like
            As in the first pass; the blocks may be cut differently.
        workers : int, optional
            Threads for counting.

        Returns
        -------
        ScoreRefinement
            This accumulator.

        Raises
        ------
        ValueError
            As `ScoreCounts.update`.
        TypeError
            As `ScoreCounts.update`.
        """
        threads = check_workers(workers)
        block = read_block(y_true, scores, self._first.names)
        with self._lock:
            again = self._seen.again.copy().update_block(block, threads)
            sides = flags_of(block.truth, self._first.labels[1])
            found = []
            for model, plan in enumerate(self._plans):
                map_ = self._first.model_map(model)
                column, kind = block.columns[model], block.kinds[model]
                column = map_.convert(column, kind, block.names[model])
                found.append(_collect(column, sides, map_, plan.chosen))
            self._seen = _Seen(again, (*self._seen.kept, found))
        return self

    @property
    def auc(self) -> AreaBounds:
        """The area of the only model; of several see `areas`."""
        return only_area(self.areas)

    @property
    def areas(self) -> dict[str, AreaBounds]:
        """The area of each model, by name; exact where no ambiguous bin is left."""
        return {
            name: bound_area(
                *self._first.by_class(model),
                self._first.model_map(model).exact,
                labels=self._first.class_labels(),
                n_missing=self._first.n_missing,
                within=plan.within,
                resolved=plan.resolved,
            )
            for (model, plan), name in zip(
                enumerate(self._resolved()), self._first.names or (), strict=True
            )
        }

    def refine(self, *, memory_limit: int | str = "1 GB") -> ScoreRefinement:
        """Begin one more pass, over bins that this one left out.

        Parameters
        ----------
        memory_limit : int or str
            How much the collected scores may take.

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
        return type(self).begin(self._first, memory_limit, self._resolved())

    def _resolved(self) -> list[_Plan]:
        """Count the pairs within the chosen bins, and add what was known."""
        again = self._seen.again
        if again != self._first:
            message = (
                "a second pass needs the samples of the first, got "
                f"{again.n_samples} samples against {self._first.n_samples}"
                ", or other ones"
            )
            raise ValueError(message)
        yes = self._first.labels.index(self._first.class_labels()[0])
        plans = []
        for model, plan in enumerate(self._plans):
            negatives, positives = (
                self._collected(model, side, with_end=True) for side in (1 - yes, yes)
            )
            pairs = kernels.concordance_sorted(negatives, positives)
            base = PAIR_BASE
            concordant = int(pairs.concordant_high) * base + int(pairs.concordant_low)
            tied = int(pairs.tied_high) * base + int(pairs.tied_low)
            # Those of a positive and a negative in a lower bin were known.
            counts = [n * plan.chosen for n in self._first.by_class(model)]
            found = negatives.size - 1, positives.size - 1
            if found != tuple(int(count.sum()) for count in counts):
                message = f"scores that were collected are not those counted: {found}"
                raise ValueError(message)
            below = np.cumsum(counts[0]) - counts[0]
            concordant -= total_product(counts[1], below)
            within = plan.within[0] + concordant, plan.within[1] + tied
            plans.append(_Plan(plan.chosen, plan.resolved | plan.chosen, within))
        return plans

    def _collected(
        self, model: int, side: int, *, with_end: bool = False
    ) -> NDArray[Any]:
        """Sort the collected scores of a label, with inf behind if wanted."""
        dtype = self._first.model_map(model).dtype
        pieces = [piece for block in self._seen.kept for piece in block[model][side]]
        zero = dtype.type(0)  # -0.0 becomes 0.0: of one array there is one form
        joined: NDArray[Any] = np.concatenate([np.empty(0, dtype), *pieces]) + zero
        joined.sort()
        return np.append(joined, dtype.type(np.inf)) if with_end else joined

    def _settings(self) -> dict[str, Any]:
        return {
            "first": self._first._settings(),
            "again": self._seen.again._settings(),
            "within": [list(plan.within) for plan in self._plans],
        }

    def _arrays(self) -> Arrays:
        arrays = {f"first_{k}": a for k, a in self._first._arrays().items()}
        arrays |= {f"again_{k}": a for k, a in self._seen.again._arrays().items()}
        for i, plan in enumerate(self._plans):
            arrays[f"chosen_{i}"] = plan.chosen
            arrays[f"resolved_{i}"] = plan.resolved
            for side in range(2):
                arrays[f"kept_{i}_{side}"] = self._collected(i, side)
        return arrays

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        first, again = (
            ScoreCounts._restore(
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
        require(isinstance(pairs, list) and len(pairs) == first.n_models, wrong)
        for i, within in enumerate(pairs):
            require(isinstance(within, list) and len(within) == 2, wrong)
            require(all(type(count) is int for count in within), wrong)
            shape, dtype = (first.model_map(i).n_bins,), first.model_map(i).dtype
            chosen = stored(arrays, f"chosen_{i}", shape, np.bool_)
            resolved = stored(arrays, f"resolved_{i}", shape, np.bool_)
            plans.append(_Plan(chosen, resolved, (int(within[0]), int(within[1]))))
            names = (f"kept_{i}_0", f"kept_{i}_1")
            sides = [stored(arrays, n, (arrays[n].size,), dtype) for n in names]
            kept.append(([sides[0]], [sides[1]]))
        made = cls(first, plans)
        made._seen = _Seen(again, (kept,))
        return made

    def _check(self) -> None:
        first, again = self._first, self._seen.again
        first._check()
        again._check()
        again._check_fit(first)
        first.class_labels()
        same = again.names == first.names and set(again.labels) <= set(first.labels)
        require(same, "names or labels of the two passes differ")
        for model, plan in enumerate(self._plans):
            negatives, positives = first.by_class(model)
            most = total_product(positives * plan.resolved, negatives)
            possible = min(plan.within) >= 0 and sum(plan.within) <= most
            wrong = f"within must be pairs of resolved bins, got {plan.within}"
            require(possible, wrong)
            require(not (plan.chosen & plan.resolved).any(), "bins chosen once more")
            for side in range(2):
                self._check_kept(model, side)

    def _check_kept(self, model: int, side: int) -> None:
        """Refuse scores that are not those which were counted in the chosen bins."""
        chosen, again = self._plans[model].chosen, self._seen.again
        ((pieces, other),) = [block[model] for block in self._seen.kept]
        scores = (pieces if side == 0 else other)[0]
        require(not np.isnan(scores).any(), "collected scores must not be NaN")
        require((scores[1:] >= scores[:-1]).all(), "collected scores must ascend")
        bins = self._first.model_map(model).bins_of(scores)
        counted = np.zeros(chosen.size, np.int64)
        label = self._first.labels[side]
        if label in again.labels:
            place = again.labels.index(label)
            counted = again._state.counts[model][:, place] * chosen
        found = np.bincount(bins, minlength=chosen.size)
        wrong = "collected scores are not those that were counted"
        require(np.array_equal(found, counted), wrong)

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        same = self._first == other._first and all(
            np.array_equal(one.chosen, two.chosen)
            and np.array_equal(one.resolved, two.resolved)
            for one, two in zip(self._plans, other._plans, strict=True)
        )
        if not same:
            message = (
                "ScoreRefinement merge where they are copies of the same beginning"
            )
            raise ValueError(message)

    def _join(self, other: Self) -> None:
        mine, theirs = self._seen, other._seen
        self._seen = _Seen(mine.again + theirs.again, mine.kept + theirs.kept)


def _collect(
    column: NDArray[Any],
    sides: NDArray[np.bool_],
    map_: Any,
    chosen: NDArray[np.bool_],
) -> tuple[Pieces, Pieces]:
    """Take the scores in the chosen bins, by the label's place."""
    found: tuple[Pieces, Pieces] = ([], [])
    for start in range(0, column.size, _CHUNK):
        part = column[start : start + _CHUNK]
        wanted = chosen[map_.bins_of(part)]
        side = sides[start : start + _CHUNK]
        found[0].append(part[wanted & ~side])
        found[1].append(part[wanted & side])
    return found
