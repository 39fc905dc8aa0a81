"""The state of an accumulator of scores: names, bins, labels and counts."""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.inputs.binary_labels import positive_label
from fastcmp.stream.blocks import check_names
from fastcmp.stream.saved_checks import (
    check_totals,
    check_within,
    require,
    saved_labels,
    saved_names,
    stored,
)
from fastcmp.stream.score_blocks import ScoreBlock, count_block
from fastcmp.stream.score_bounds import AreaBounds, bound_area
from fastcmp.stream.score_labels import join_labels
from fastcmp.stream.score_map import ScoreMap

Arrays = dict[str, NDArray[Any]]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreState:
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    #: The positive class that was given, or None.
    positive: Any
    names: tuple[str, ...] | None
    #: One map a model, or one for all where there are no names yet; None before the
    #: bins are known.
    maps: tuple[ScoreMap, ...] | None
    #: The labels found so far, ascending: two at most.
    labels: tuple[Any, ...] = ()
    #: Samples counted, and without a true label.
    totals: Counts = field(default_factory=lambda: np.zeros(2, np.int64))
    #: Samples of each label in each bin, shape (B, 2); one array a model, none before
    #: there are samples.
    counts: tuple[Counts, ...] = ()

    @classmethod
    def begin(cls, bins: Any, names: int | Sequence[str] | None, positive: Any) -> Self:
        """Make the state before the first block, by a map, maps by name, or None."""
        known = check_names(names)
        if isinstance(bins, Mapping):
            given = check_names(list(bins))
            known = known or given
            if known is None or set(known) != set(bins):
                raise ValueError(f"names must be those of the maps, {list(bins)}, got {known}")
            maps = tuple(bins[name] for name in known)
        else:
            maps = () if bins is None else (bins,) * (len(known) if known else 1)
        for one in maps:
            if not isinstance(one, ScoreMap):
                raise TypeError(f"map must be a ScoreMap or a mapping to them, got {one!r}")
        return cls(positive, known, maps or None)

    def empty(self) -> Self:
        """Make a state without samples, of the same models and bins."""
        return type(self)(self.positive, self.names, self.maps)

    def maps_of(self, n_models: int) -> tuple[ScoreMap, ...] | None:
        """Give the map of each of so many models; None before the bins are known."""
        if self.maps is None or self.names is not None:
            return self.maps
        return self.maps * n_models

    def map_of(self, model: int) -> ScoreMap:
        """Give the bins of a model, which are known."""
        if self.maps is None:
            raise ValueError("there are no bins before the first block")
        return self.maps[model]

    def class_labels(self) -> tuple[Any, Any]:
        """Give the labels of positives and of negatives; both must have samples."""
        if len(self.labels) < 2:
            raise ValueError(
                f"AUC needs both classes, got {self.totals[0]} samples of the labels "
                f"{list(self.labels)}"
            )
        return positive_label(list(self.labels), self.positive)

    def by_class(self, model: int) -> tuple[Counts, Counts]:
        """Give the counts of negatives and of positives in each bin; views."""
        yes = self.labels.index(self.class_labels()[0])
        table = self.counts[model]
        return table[:, 1 - yes], table[:, yes]

    def area(self, model: int, **resolved: Any) -> AreaBounds:
        """Bound the area of a model; `resolved` pairs are those of `bound_area`."""
        return bound_area(
            *self.by_class(model),
            self.map_of(model).exact,
            labels=self.class_labels(),
            n_missing=int(self.totals[1]),
            **resolved,
        )

    def count(self, block: ScoreBlock, threads: int) -> Self:
        """Add a block whose models come in the order of the names."""
        maps = self.maps_of(len(block.names))
        totals = np.array([block.n_samples, block.n_missing])
        more = type(self)(self.positive, block.names, maps, totals=totals)
        if block.n_samples:
            maps = maps or block.choose_maps()
            found, tables = count_block(block, maps, threads)
            more = replace(more, maps=maps, labels=found, counts=tuple(tables))
        return self.plus(more)

    def check_fit(self, other: Self, kind: str) -> None:
        """Refuse a state of other names, maps or labels, which a `kind` may not add."""
        if self.names and other.names and self.names != other.names:
            raise ValueError(
                f"{kind} merge where names agree, in their order too, got "
                f"{self.names[:3]} and {other.names[:3]}"
            )
        n = len(self.names or other.names or (0,))
        mine, theirs = self.maps_of(n), other.maps_of(n)
        if mine and theirs and mine != theirs:
            raise ValueError(
                f"{kind} merge where they have the same map: choose it once, and begin "
                f"each part with like(), or {kind}(first.map)"
            )
        join_labels(self.labels, other.labels)

    def plus(self, other: Self) -> Self:
        """Add a state that fits; a new one."""
        names = self.names or other.names
        n = len(names or (0,))
        labels, counts = _sum(self, other)
        if labels:  # refuses a positive class that is not one of them
            positive_label(list(labels), self.positive)
        return replace(
            self,
            names=names,
            maps=self.maps_of(n) or other.maps_of(n),
            labels=labels,
            totals=self.totals + other.totals,
            counts=counts,
        )

    def settings(self) -> dict[str, Any]:
        """Give all that is no array."""
        return {
            "positive": self.positive,
            "names": self.names,
            "labels": self.labels,
            "grids": [one.grid for one in self.maps or ()],
            "edges": [_digest(one) for one in self.maps or ()],
        }

    def arrays(self) -> Arrays:
        """Give the arrays by name."""
        arrays: Arrays = {"totals": self.totals}
        for i, one in enumerate(self.maps or ()):
            arrays[f"edges_{i}"] = one.edges
        for i, table in enumerate(self.counts):
            arrays[f"counts_{i}"] = table
        return arrays

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """Make a state of what `settings` and `arrays` gave."""
        names, labels = saved_names(settings), saved_labels(settings, "labels")
        for key in ("grids", "edges"):
            texts = settings[key]
            wrong = f"{key} must be a list of texts, got {reprlib.repr(texts)}"
            require(isinstance(texts, list), wrong)
            require(all(isinstance(text, str) for text in texts), wrong)
        maps = []
        for i, (grid, digest) in enumerate(zip(settings["grids"], settings["edges"], strict=True)):
            edges = stored(arrays, f"edges_{i}", arrays[f"edges_{i}"].shape, np.float64)
            maps.append(ScoreMap(edges, grid=grid))
            if _digest(maps[-1]) != digest:
                raise ValueError(f"edges_{i} are not those of the settings")
        counts = [
            stored(arrays, f"counts_{i}", (one.n_bins, 2))
            for i, one in enumerate(maps)
            if "counts_0" in arrays
        ]
        wrong = f"{len(maps)} maps are not one for each of {reprlib.repr(names)}"
        require(not maps or len(maps) == len(names or (0,)), wrong)
        return cls(
            settings["positive"],
            names,
            tuple(maps) or None,
            labels or (),
            stored(arrays, "totals", (2,)),
            tuple(counts),
        )

    def check(self) -> None:
        """Refuse a state to which no samples can have led."""
        check_totals(self.totals, begun=self.names is not None)
        wrong = f"labels must be up to two, ascending, got {reprlib.repr(self.labels)}"
        require(len(self.labels) <= 2, wrong)
        require(join_labels((), self.labels) == self.labels, wrong)
        n, k = int(self.totals[0]), len(self.labels)
        wrong = "samples, labels and counts must come together"
        require((n > 0) == (k > 0) == bool(self.counts), wrong)
        for table in self.counts:
            check_within(table, 0, n)
            by_label = table.sum(axis=0, dtype=np.float64)
            require(by_label.sum() == n, f"counts of a model are not of {n} samples")
            require(np.count_nonzero(by_label) == k, "a label has no sample")
            require(by_label[0] > 0, "a single label comes first")
            same = (by_label == self.counts[0].sum(axis=0)).all()
            require(same, "models differ in the samples of a label")
        if self.labels:
            positive_label(list(self.labels), self.positive)


def _digest(one: ScoreMap) -> str:
    little = one.edges.astype("<f8", copy=False)
    return hashlib.sha256(little.tobytes()).hexdigest()


def _sum(one: ScoreState, two: ScoreState) -> tuple[tuple[Any, ...], tuple[Counts, ...]]:
    """Add tables whose columns are up to two labels; new tables."""
    labels = join_labels(one.labels, two.labels)

    def aligned(state: ScoreState) -> list[Counts]:
        # A single label comes first, where it may be the second of two.
        turn = bool(state.labels) and state.labels[0] != labels[0]
        return [table[:, ::-1] if turn else table for table in state.counts]

    if not one.counts or not two.counts:
        return labels, tuple(t.copy() for t in aligned(one if one.counts else two))
    pairs = zip(aligned(one), aligned(two), strict=True)
    return labels, tuple(a + b for a, b in pairs)
