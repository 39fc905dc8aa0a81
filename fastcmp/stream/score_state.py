"""The state of an accumulator of scores: names, bins, labels and counts."""

from __future__ import annotations

import hashlib
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Annotated, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.core.typing import Flags, Label
from fastcmp.inputs.binary_labels import FEW, join_labels, positive_label, split_labels
from fastcmp.inputs.scores import ScoreBlock
from fastcmp.kernels.score_bins import count_score_bins, find_score_bins
from fastcmp.stream.accumulator import (
    FIXED,
    LABELS,
    NAMES,
    Arrays,
    State,
    check_names,
    check_totals,
    check_within,
    require,
    stored,
    summed,
)
from fastcmp.stream.score_map import ScoreMap, as_words

Counts = NDArray[np.int64]

_PART = 1 << 20  # samples that are worth a thread
_MOST = 1 << 30  # samples after which 32-bit counters are emptied


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AreaBounds(Record):
    """The area under a ROC curve, as far as counts of scores in bins determine it.

    A positive and a negative in different bins are in order or not, those in a bin of
    one value are tied, and those in another bin are undecided. The area lies between
    `low`, the area if no undecided pair is in order, and `high`, if all are.
    """

    _opening = (
        "Scores were counted in bins, and pairs of scores in one bin left open: the bounds hold "
        "whatever their order."
    )

    #: Pairs in which the positive scores higher.
    concordant: int
    #: Pairs of equal scores, and pairs that the bins do not decide.
    tied: int
    undecided: int
    n_positives: int
    n_negatives: int
    #: DeLong's standard error with the scores in one bin taken as equal: exact where
    #: each bin holds one value, NaN for fewer than two samples of a class.
    standard_error: float
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    n_missing: int = 0

    @property
    def low(self) -> float:
        """The area if no undecided pair is in order."""
        return self._area(0)

    @property
    def high(self) -> float:
        """The area if all undecided pairs are in order."""
        return self._area(2)

    @property
    def auc(self) -> float:
        """The area where it is exact, else the middle of `low` and `high`."""
        return self._area(1)

    @property
    def exact(self) -> bool:
        """Whether no pair is undecided."""
        return self.undecided == 0

    @property
    def width(self) -> float:
        """The proportion of undecided pairs: `high` minus `low`."""
        return self.undecided / (self.n_positives * self.n_negatives)

    def _area(self, twice: int) -> float:
        pairs = self.n_positives * self.n_negatives
        # Python's integers, divided once: rounded once.
        halves = 2 * self.concordant + self.tied + twice * self.undecided
        return halves / (2 * pairs)

    def _shown(self) -> dict[str, Any]:
        bounds = {"auc": self.auc, "low": self.low, "high": self.high}
        return bounds | self._fields()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        area = f"AUC {self.auc:.6g}, exact"
        if not self.exact:
            area = f"AUC between {self.low:.8g} and {self.high:.8g}"
        text = (
            f"{area}; {self.n_positives} positives ({self.labels[0]!r}) and "
            f"{self.n_negatives} negatives ({self.labels[1]!r})",
            f"{self.concordant} concordant pairs, {self.tied} tied, {self.undecided} undecided",
            *dropped_sentences(self.n_missing, 0),
        )
        return [Section(title="AUC from counts in bins", text=text)]

    def _headline(self) -> str:
        return f"The AUC lies between {self.low:.4f} and {self.high:.4f}."


def total_product(one: Counts, two: Counts) -> int:
    """Sum of the products of counts, exact; it may exceed 2**63."""
    return sum(map(mul, one.tolist(), two.tolist()))


def bound_area(
    negatives: Counts,
    positives: Counts,
    exact: Flags,
    *,
    labels: tuple[Any, Any],
    n_missing: int = 0,
    within: tuple[int, int] = (0, 0),
    resolved: Flags | None = None,
) -> AreaBounds:
    """Bounds of the area by the counts of both classes in ascending bins.

    `exact` bins hold one value. Of `resolved` bins the pairs have been counted: the
    concordant and the tied ones are `within`.
    """
    below = np.cumsum(negatives) - negatives
    is_resolved = np.zeros(exact.size, np.bool_) if resolved is None else resolved
    open_ = ~(exact | is_resolved)
    settled = exact & ~is_resolved
    n0, n1 = int(negatives.sum()), int(positives.sum())
    variance = math.nan
    if min(n0, n1) > 1:
        of_positive = (np.cumsum(negatives) - 0.5 * negatives) / n0
        of_negative = 1.0 - (np.cumsum(positives) - 0.5 * positives) / n1
        variance = 0.0
        for placed, counts, n in ((of_positive, positives, n1), (of_negative, negatives, n0)):
            mean = (placed @ counts) / n
            variance += float((placed - mean) ** 2 @ counts) / (n - 1) / n
    return AreaBounds(
        concordant=total_product(positives, below) + within[0],
        tied=total_product(positives[settled], negatives[settled]) + within[1],
        undecided=total_product(positives[open_], negatives[open_]),
        n_positives=n1,
        n_negatives=n0,
        standard_error=math.sqrt(variance),
        labels=labels,
        n_missing=n_missing,
    )


def only_area(areas: dict[str, AreaBounds]) -> AreaBounds:
    """The area of the only model."""
    if len(areas) > 1:
        raise BadValueError("`auc` is of one model", len(areas), ": use areas")
    return next(iter(areas.values()))


class AreaCounts(Protocol):
    """Counts from which areas follow, such as `fastcmp.stream.ScoreCounts`."""

    @property
    def areas(self) -> dict[str, AreaBounds]: ...  # noqa: D102


def count_block(
    block: ScoreBlock, maps: Sequence[ScoreMap], threads: int
) -> tuple[tuple[Any, ...], list[Counts]]:
    """Count the samples of each label in the bins of each model, shape (B, 2).

    Gives the labels found, ascending, and the counts; those of a single label come
    first.
    """
    columns = [
        map_._convert(column, kind, name)
        for map_, column, kind, name in zip(
            maps, block.columns, block.kinds, block.names, strict=True
        )
    ]
    for at_all in (False, True):
        # Where not all labels are among the first, all are looked at, which may refuse them.
        classes, labels, pair = split_labels(block.truth, at_all=at_all)
        tables = [np.zeros((map_.n_bins, 2), np.int64) for map_ in maps]
        stops = _count(columns, labels, pair, maps, tables, threads)
        stop = next((model for model, at in enumerate(stops) if at < block.n_samples), None)
        if stop is None:
            break
        block.refuse_nan(stop)
    if len(classes) == 1:
        for table in tables:
            table[:, 0] += table[:, 1]
            table[:, 1] = 0
    return classes, tables


def _count(
    columns: list[NDArray[Any]],
    labels: NDArray[Any],
    pair: NDArray[Any],
    maps: Sequence[ScoreMap],
    tables: list[Counts],
    threads: int,
) -> list[int]:
    """Count into tables; give for each model the sample at which it stopped."""
    n = labels.size
    words = [as_words(column) for column in columns]
    lookups = [map_._lookup() for map_ in maps]
    if n <= FEW:  # it does not pay to clear counters; all labels are known
        stops = []
        for model, table in enumerate(tables):
            bins = np.empty(n, np.int64)
            at = find_score_bins(words[model], lookups[model], bins)
            stops.append(at)
            if at == n:
                np.add.at(table, (bins, (labels == pair[1]).astype(np.intp)), 1)
        return stops
    # With fewer models than threads, parts are counted into tables of their own.
    n_parts = -(-threads // len(tables))
    cuts = parts(n, min(_MOST, max(_PART, -(-n // n_parts))))
    private = [tables, *([np.zeros_like(t) for t in tables] for _ in cuts[1:])]
    ends = np.full((len(tables), len(cuts)), n)

    def count(task: tuple[int, int]) -> None:
        model, i = task
        part = cuts[i]
        counters = np.zeros(2 * maps[model].n_bins, np.uint32)
        at = part.start + count_score_bins(
            words[model][part], labels[part], pair, lookups[model], counters
        )
        private[i][model] += counters.reshape(-1, 2)
        ends[model, i] = at if at < part.stop else n

    with ThreadPool(min(threads, ends.size)) as pool:
        pool.run(count, np.ndindex(ends.shape))
    for tables_of_part in private[1:]:
        for table, other in zip(tables, tables_of_part, strict=True):
            np.add(table, other, out=table)
    lowest: list[int] = ends.min(axis=1).tolist()
    return lowest


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreState(State):
    """Labels, bins, and the counts of both."""

    #: The positive class that was given, or None.
    positive: Annotated[Any, FIXED] = None
    names: Annotated[tuple[str, ...] | None, NAMES] = None
    #: The labels found so far, ascending: two at most.
    labels: Annotated[tuple[Any, ...], LABELS] = ()
    #: Samples counted, and without a true label.
    totals: Annotated[Counts, summed(2)]
    #: One map a model, or one for all where there are no names yet; None before the
    #: bins are known.
    maps: tuple[ScoreMap, ...] | None
    #: Samples of each label in each bin, shape (B, 2); one array a model, none before
    #: there are samples.
    counts: tuple[Counts, ...] = ()

    @classmethod
    def of_maps(cls, bins: object, names: int | Sequence[str] | None, positive: Label) -> Self:
        """The state before the first block, by a map, maps by name, or None."""
        listed = check_names(names)
        if isinstance(bins, Mapping):
            of_bins = check_names(list(bins))
            listed = listed or of_bins
            if listed is None or set(listed) != set(bins):
                raise BadValueError(f"`names` must be those of the maps, {list(bins)}", listed)
            maps = tuple(bins[name] for name in listed)
        else:
            maps = () if bins is None else (bins,) * (len(listed) if listed else 1)
        for one in maps:
            if not isinstance(one, ScoreMap):
                raise BadTypeError("`map` must be a ScoreMap or a mapping to them", repr(one))
        return cls.begin({}, positive=positive, names=listed, maps=maps or None)

    def empty(self) -> Self:
        """A state without samples, of the same models and bins."""
        return replace(self, labels=(), totals=np.zeros_like(self.totals), counts=())

    @property
    def n_bytes(self) -> int:
        """Memory that the counts take."""
        return sum(table.nbytes for table in self.counts)

    def maps_of(self, n_models: int) -> tuple[ScoreMap, ...] | None:
        """The map of each of so many models; None before the bins are known."""
        if self.maps is None or self.names is not None:
            return self.maps
        return self.maps * n_models

    def map_of(self, model: int) -> ScoreMap:
        """The bins of a model, which are known."""
        if self.maps is None:
            raise ValueError("there are no bins before the first block")
        return self.maps[model]

    def class_labels(self) -> tuple[Any, Any]:
        """The labels of positives and of negatives; both must have samples."""
        if len(self.labels) < 2:
            raise ValueError(
                f"AUC needs both classes, got {self.totals[0]} samples of the labels "
                f"{list(self.labels)}"
            )
        return positive_label(list(self.labels), self.positive)

    def by_class(self, model: int) -> tuple[Counts, Counts]:
        """The counts of negatives and of positives in each bin; views."""
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
        more = replace(self.empty(), names=block.names, maps=maps, totals=totals)
        if block.n_samples:
            maps = maps or tuple(map(ScoreMap._for_type, block.columns, block.kinds))
            labels, tables = count_block(block, maps, threads)
            more = replace(more, maps=maps, labels=labels, counts=tuple(tables))
        return self.merged(more)

    def check_fit(self, other: Self, kind: str) -> None:
        """Refuse other maps too, and a third label."""
        super().check_fit(other, kind)
        n = len(self.names or other.names or (0,))
        mine, theirs = self.maps_of(n), other.maps_of(n)
        if mine and theirs and mine != theirs:
            raise ValueError(
                f"{kind} merge where they have the same map: choose it once, and begin "
                f"each part with like(), or {kind}(first.map)"
            )
        join_labels(self.labels, other.labels)

    def merged(self, other: Self) -> Self:
        """State of both parts; maps may come from either."""
        names = self.names or other.names
        n = len(names or (0,))
        labels = join_labels(self.labels, other.labels)
        # A single label comes first, where it may be the second of two.
        one, two = (
            [x[:, ::-1] if part.labels and part.labels[0] != labels[0] else x for x in part.counts]
            for part in (self, other)
        )
        pairs = zip(one, two, strict=True) if one and two else ()
        counts = tuple(a + b for a, b in pairs) or tuple(x.copy() for x in one or two)
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
        """Settings: all that is not an array; a digest stands for the edges of a map."""
        maps = self.maps or ()
        grids, edges = [one.grid for one in maps], [_digest(one) for one in maps]
        return {**super().settings(), "grids": grids, "edges": edges}

    def arrays(self) -> Arrays:
        """Arrays by name, those of each model with its number."""
        edges = {f"edges_{i}": one.edges for i, one in enumerate(self.maps or ())}
        return super().arrays() | edges | {f"counts_{i}": x for i, x in enumerate(self.counts)}

    @classmethod
    def of_file(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        """The state that `settings` and `arrays` describe."""
        values = {name: field.read(settings, name) for name, field in cls._set.items()}
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
        names = values["names"]
        wrong = f"{len(maps)} maps are not one for each of {reprlib.repr(names)}"
        require(not maps or len(maps) == len(names or (0,)), wrong)
        values |= {"maps": tuple(maps) or None, "counts": tuple(counts)}
        return cls.restore(values, arrays, {})

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
