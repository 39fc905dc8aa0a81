"""Blocks of scores, their two labels, and the counts of both over bins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.core.threads import ThreadPool, parts
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.columns import Column, ascending, distinct, kind_of, read_column
from fastcmp.inputs.model_names import check_indexes, has_names
from fastcmp.inputs.scores import named_scores
from fastcmp.kernels.score_bins import count_score_bins, find_score_bins
from fastcmp.stream.accumulator import ordered_columns
from fastcmp.stream.score_map import ScoreMap, as_words, read_score_column

_HEAD = 1 << 12  # labels among which both classes are found as a rule
#: Up to so many labels all are looked at.
FEW = 1 << 14


def split_labels(
    truth: Column, *, at_all: bool = False
) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any]]:
    """Find the labels of a block, ascending; of a long one by its first samples.

    Gives also what kernels compare (uint8 or int64, shape (n,)), and the two numbers
    that stand for the labels, or twice the only one. With `at_all`, all labels are
    looked at, and a third one is an error.
    """
    values = truth.integers
    if values is None:
        truth.kind()  # refuses labels of several
        used, codes = np.unique(truth.positions(), return_inverse=True)
        found = [truth.distinct[code] for code in used]
        two = join_labels((), found)
        pair = np.arange(2, dtype=np.uint8) if len(two) == 2 else np.zeros(2, np.uint8)
        flags = codes.astype(np.uint8)
        return two, flags if list(two) == found else 1 - flags, pair
    plain = values.view(np.uint8) if values.dtype == np.bool_ else values
    direct = plain.dtype in (np.uint8, np.int64) and plain.dtype.isnative
    some = plain if at_all or not direct or plain.size <= FEW else plain[:_HEAD]
    low, high = some.min(), some.max()
    if low == high and some is not plain:
        return split_labels(truth, at_all=True)
    if some is plain and low != high:
        n = np.count_nonzero(plain == low) + np.count_nonzero(plain == high)
        if n != plain.size:
            join_labels((), np.unique(plain).tolist())
    found = [low.item(), high.item()][: 1 + int(low != high)]
    if values.dtype == np.bool_:
        found = list(map(bool, found))
    if direct:
        return tuple(found), np.ascontiguousarray(plain), np.array([low, high])
    pair = np.array([int(low == high), 1], np.uint8)
    return tuple(found), (plain == high).view(np.uint8), pair


def flags_of(truth: Column, label: Any) -> NDArray[np.bool_]:
    """Mark the samples of a block that have a label, one of the two."""
    if not len(truth):
        return np.zeros(0, np.bool_)
    found, labels, pair = split_labels(truth, at_all=True)
    if label not in found:
        return np.zeros(labels.size, np.bool_)
    return np.asarray(labels == pair[found.index(label)])


def join_labels(mine: Iterable[Any], theirs: Iterable[Any]) -> tuple[Any, ...]:
    """Put the labels of two parts of a stream together: two at most, ascending."""
    labels = distinct([*mine, *theirs])
    if len(labels) > 2:
        positive_label(labels, None)
    kinds = list(map(kind_of, labels))
    if len(set(kinds)) > 1:
        raise TypeError(f"y_true mixes {kinds[0]} and {kinds[1]} labels, which cannot be compared")
    return ascending(labels)


# Blocks of scores, their two labels, and the counts of both over bins.


Counts = NDArray[np.int64]

_PART = 1 << 20  # samples that are worth a thread
_MOST = 1 << 30  # samples after which 32-bit counters are emptied


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBlock:
    """Scores of some samples, without those that have no true label."""

    names: tuple[str, ...]
    #: One array a model, float32 or float64, and the types they came in.
    columns: tuple[NDArray[Any], ...]
    kinds: tuple[np.dtype[Any], ...]
    truth: Column
    #: Which samples were kept; None where no true label is missing.
    kept: NDArray[np.bool_] | None

    @property
    def n_samples(self) -> int:
        """Number of samples that are left."""
        return len(self.truth)

    @property
    def n_missing(self) -> int:
        """Number of samples without a true label."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

    def row(self, at: int) -> int:
        """Find the row, in the block as it came, of a sample that was kept."""
        return at if self.kept is None else int(np.flatnonzero(self.kept)[at])

    def refuse_nan(self, model: int) -> None:
        """Refuse the scores of a model if one is NaN."""
        absent = np.isnan(self.columns[model])
        if absent.any():
            raise ValueError(
                f"{self.names[model]} has NaN for sample "
                f"{self.row(int(absent.argmax()))} ({np.count_nonzero(absent)} in all)"
            )

    def choose_maps(self) -> tuple[ScoreMap, ...]:
        """Choose the bins of each model by its scores; NaN are left out."""
        return tuple(map(ScoreMap._for_type, self.columns, self.kinds))


def read_block(y_true: Any, scores: Any, names: tuple[str, ...] | None) -> ScoreBlock:
    """Read a block of scores, its models in the order of `names` where these are known.

    Samples without a true label are dropped; NaN may be among the scores.
    """
    truth = read_column(y_true, "y_true")
    is_single, found = named_scores(scores)
    by_name = not is_single and has_names(scores)
    columns = ordered_columns(found, names, "scores", by_name=by_name)
    named = list(columns.items())
    read = [read_score_column(raw, visible(name)) for name, raw in named]
    for (name, _), (column, _) in zip(named, read, strict=True):
        if column.shape != (len(truth),):
            message = f"{visible(name)} has {column.size} scores, y_true has {len(truth)} labels"
            if not is_single and len(named) == len(truth):
                message += "; models come first: pass scores.T"
            raise ValueError(message)
    check_indexes([("y_true", y_true), *named])
    kept = None
    if (absent := truth.missing()) is not None:
        kept = ~absent
        truth = truth.take(kept)
    return ScoreBlock(
        names=tuple(name for name, _ in named),
        columns=tuple(c if kept is None else c[kept] for c, _ in read),
        kinds=tuple(kind for _, kind in read),
        truth=truth,
        kept=kept,
    )


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
    found, labels, pair = split_labels(block.truth)
    for at_all in (False, True):
        tables = [np.zeros((map_.n_bins, 2), np.int64) for map_ in maps]
        stops = _count(columns, labels, pair, maps, tables, threads)
        stop = next((model for model, at in stops if at < block.n_samples), None)
        if stop is None:
            break
        block.refuse_nan(stop)
        # Not all labels are among the first: look at all, which may refuse them.
        assert not at_all
        found, labels, pair = split_labels(block.truth, at_all=True)
    if len(found) == 1:
        for table in tables:
            table[:, 0] += table[:, 1]
            table[:, 1] = 0
    return found, tables


def _count(
    columns: list[NDArray[Any]],
    labels: NDArray[Any],
    pair: NDArray[Any],
    maps: Sequence[ScoreMap],
    tables: list[Counts],
    threads: int,
) -> list[tuple[int, int]]:
    """Count into tables; give for each model the sample at which it stopped."""
    n = labels.size
    words = [as_words(column) for column in columns]
    lookups = [map_._lookup() for map_ in maps]
    if n <= FEW:  # it does not pay to clear counters; all labels are known
        stops = []
        for model, table in enumerate(tables):
            bins = np.empty(n, np.int64)
            at = find_score_bins(words[model], lookups[model], bins)
            stops.append((model, at))
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
    return list(enumerate(ends.min(axis=1).tolist()))
