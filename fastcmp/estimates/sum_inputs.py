"""Sums of items as users have them: arrays, frames, long tables, objects of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import as_numbers
from fastcmp.core.render import visible
from fastcmp.core.threads import parts
from fastcmp.estimates.sum_metrics import SumMetric
from fastcmp.inputs.columns import count_rows
from fastcmp.inputs.item_groups import ItemGroups, read_item_groups
from fastcmp.inputs.long_tables import from_long
from fastcmp.inputs.model_names import (
    check_distinct_names,
    check_indexes,
    has_names,
    named_columns,
    read_names,
)

Floats = NDArray[np.float64]

_PRODUCT = 1 << 13  # sums that BLAS multiplies by itself, without waiting for other threads


class Sums(NamedTuple):
    """What each unit, an item or a cluster, adds to the totals of each model."""

    names: tuple[str, ...]
    #: Of each model, shape (G, p).
    tables: list[Floats]
    columns: tuple[str, ...]
    n_items: int
    #: None where each item is a unit.
    n_clusters: int | None
    #: Stratum of each unit from 0, shape (G,); None without strata.
    strata: NDArray[np.int64] | None

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.tables[0])

    def totals(self) -> Floats:
        """Totals of all models, shape (M, p)."""
        rows = max(1, _PRODUCT // len(self.columns))
        ones, blocks = np.ones(rows), parts(self.n_units, rows)
        return np.array([sum(ones[: b.stop - b.start] @ x[b] for b in blocks) for x in self.tables])


def weigh(table: Floats, weights: Floats) -> Floats:
    """The product of a table (G, p) and weights (p,)."""
    found = np.empty(len(table))
    for part in parts(len(table), max(1, _PRODUCT // table.shape[1])):
        np.dot(table[part], weights, out=found[part])
    return found


def read_sums(
    stats: Any,
    metric: SumMetric,
    columns: Sequence[str] | None,
    names: Sequence[str] | None,
    item: str,
    model: str,
    groups: Any,
    strata: Any,
) -> Sums:
    """Read the sums of all models, and add them up by cluster."""
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence)):
        raise TypeError(f"columns must be a sequence of names of columns, got {columns!r}")
    if _is_long(stats):
        tables, groups, strata = _of_long(stats, metric, columns, item, model, groups, strata)
    else:
        tables = _of_models(stats)
    own = tuple(name for name, _ in tables)
    check_distinct_names(list(own), "stats")
    check_indexes([(f"stats[{name!r}]", raw) for name, raw in tables])
    if len(tables) < 2:
        raise ValueError(f"stats must hold at least 2 models, got {len(tables)}")
    read = [_table(raw, visible(name), metric, columns) for name, raw in tables]
    n, wanted = len(read[0][0]), read[0][1]
    for name, (table, titles) in zip(own, read, strict=True):
        if len(table) != n or titles != wanted:
            raise ValueError(
                f"stats must have the same items and columns for each model: {visible(name)} has "
                f"shape {table.shape}, {visible(own[0])} {read[0][0].shape}"
            )
    if n < 2:
        raise ValueError("stats must hold at least 2 items, got 1: no variance can be estimated")
    first = next((raw for _, raw in tables if hasattr(raw, "iloc")), None)
    indexed = None if first is None else ("stats", first)
    found = read_item_groups(n, groups=groups, strata=strata, indexed=indexed)
    if found.crossed:
        raise ValueError("groups must lie within strata: a cluster has items of several strata")
    kept = [_checked(x, visible(k), metric, wanted) for k, (x, _) in zip(own, read, strict=True)]
    return _by_cluster(read_names(names, len(own), own, of=" of stats"), kept, wanted, found)


def _by_cluster(
    names: tuple[str, ...], tables: list[Floats], columns: tuple[str, ...], groups: ItemGroups
) -> Sums:
    """Add up the items of each cluster."""
    n, clusters = len(tables[0]), groups.clusters
    strata = None if groups.strata is None else groups.strata.codes
    if clusters is None:
        return Sums(names, tables, columns, n, None, strata)
    n_clusters, codes = len(clusters.labels), clusters.codes
    summed = [np.stack([np.bincount(codes, x) for x in t.T], 1).astype(float) for t in tables]
    if strata is not None:
        of_cluster = np.empty(n_clusters, np.int64)
        of_cluster[codes] = strata
        strata = of_cluster
    return Sums(names, summed, columns, n, n_clusters, strata)


def _is_long(stats: Any) -> bool:
    """Tell a long table, whose columns have one dimension, from tables of models."""
    if not isinstance(stats, Mapping):
        return has_names(stats)
    entry: Any = next(iter(stats.values()), None)
    if isinstance(entry, (list, tuple)):
        return bool(entry) and np.isscalar(entry[0])
    return not has_names(entry) and np.ndim(entry) == 1


def _is_object(raw: Any) -> bool:
    """Tell objects of jiwer, or a list of those of sacrebleu."""
    if hasattr(raw, "alignments") and hasattr(raw, "references"):
        return True
    return isinstance(raw, (list, tuple)) and bool(raw) and hasattr(raw[0], "sys_len")


def _of_models(stats: Any) -> list[tuple[str, Any]]:
    """The tables of models by name."""
    if isinstance(stats, Mapping):
        return [(str(name), raw) for name, raw in stats.items()]
    if isinstance(stats, (list, tuple)) and any(has_names(x) or _is_object(x) for x in stats):
        listed: Any = stats
    else:
        listed = as_numbers(stats, "stats", "sums: one table of items x sums for each model")
        if listed.ndim != 3:
            raise ValueError(
                "stats must be of shape (M, n, p), models x items x sums, or a mapping from "
                f"names to tables (n, p), got shape {listed.shape}"
            )
    return [(f"model_{i}", raw) for i, raw in enumerate(listed)]


def _of_long(
    stats: Any,
    metric: SumMetric,
    columns: Sequence[str] | None,
    item: str,
    model: str,
    groups: Any,
    strata: Any,
) -> tuple[list[tuple[str, Any]], Any, Any]:
    """Tables of models from a row for each item and model, joined by item."""
    known = dict(named_columns(stats, "stats"))
    titles = {"item": item, "model": model}
    for option, title in titles.items():
        if not isinstance(title, str) or title not in known:
            raise ValueError(
                f"{option} must be the name of a column of stats, got {title!r}: a long table has "
                f"a row for each item and model; its columns are {list(known)[:10]}"
            )
    more = {"group": groups, "stratum": strata}
    more = {key: name for key, name in more.items() if isinstance(name, str)}
    apart = {item, model, *more.values()}
    wanted = list(columns) if columns is not None else [x for x in known if x not in apart]
    if columns is None:
        wanted = list(_titles(metric, wanted) or wanted)
    tables: dict[str, list[Any]] = {}
    for value in wanted:
        if value not in known:
            raise ValueError(
                f"stats must have the columns of the metric, {wanted}, and lack {value!r}: name "
                f"them in this order, columns=[...]; there are {list(known)[:10]}"
            )
        read = from_long(
            {key: known[key] for key in (*apart, value)}, value=value, **titles, **more
        )
        if read.missing or not np.isfinite(read.values).all():
            raise ValueError(
                "stats must have a row for each item and model, with a finite number in column "
                f"{value!r}: {sum(x.n_items for x in read.missing)} are missing"
            )
        for name, row in zip(read.names, read.values, strict=True):
            tables.setdefault(name, []).append(row)
    groups = read.groups if "group" in more else groups
    strata = read.strata if "stratum" in more else strata
    named = [(k, dict(zip(wanted, rows, strict=True))) for k, rows in tables.items()]
    return named, groups, strata


def _table(
    raw: Any, name: str, metric: SumMetric, columns: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...]]:
    """The sums of one model, shape (n, p), and the names of their columns."""
    if _is_object(raw):
        raw = _of_object(raw)
    if not has_names(raw):
        table = as_numbers(raw, f"stats of {name}", "sums, a row for each item")
        shape = table.shape
        titles = metric.columns(shape[1]) if len(shape) == 2 else None
        if titles is None or columns is not None:
            advice = f"; got shape {shape}"
            if columns is not None:
                advice = f", without columns=, which is for tables with names{advice}"
            elif len(shape) == 2 and metric.columns(shape[0]) is not None:
                advice += ": items come first, then sums, so pass the transpose"
            raise ValueError(
                f"stats of {name} must be of shape (n, p): a row for each item, with the columns "
                f"{_wanted(metric)}{advice}"
            )
        return np.asarray(table, np.float64), titles
    known = dict(named_columns(raw, f"stats of {name}"))
    titles = tuple(columns if columns is not None else _titles(metric, list(known)))
    lacking = [title for title in titles if title not in known]
    fit = metric.columns(len(titles))
    if lacking or not titles or fit is None:
        have = f"has columns {list(known)[:12]}"
        raise ValueError(
            f"stats of {name} must have the columns {_wanted(metric)}, and {have}: name them in "
            "this order, columns=[...]"
        )
    chosen = [as_numbers(known[title], f"{title} of {name}") for title in titles]
    if len({column.shape for column in chosen}) > 1 or chosen[0].ndim != 1:
        raise ValueError(f"stats of {name} must have one number an item in each column")
    return np.stack(chosen, axis=1).astype(np.float64), fit


def _titles(metric: SumMetric, known: Sequence[str]) -> tuple[str, ...]:
    """The columns of a metric among known ones, as many as there are; () where some lack."""
    for p in range(len(known), 0, -1):
        titles = metric.columns(p)
        if titles is not None and set(titles) <= set(known):
            return titles
    return tuple(known) if metric.any_names else ()


def _wanted(metric: SumMetric) -> str:
    """The columns of a metric, in words."""
    examples = {p: metric.columns(p) for p in (2, 3, 4, 6, 9, 10, 18)}
    names = next((x for x in reversed(examples.values()) if x is not None), ())
    return "that the function takes" if names[:1] == ("column_0",) else ", ".join(names)


def _checked(table: Floats, name: str, metric: SumMetric, titles: tuple[str, ...]) -> Floats:
    """The sums of a model, finite, and not negative where they cannot be."""
    low = table.min(initial=0.0)
    if not np.isfinite(low) or not np.isfinite(table.max(initial=0.0)):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"stats of {name} must be finite, got {table[i, k]} in column {titles[k]!r}, item {i}: "
            "drop the items that some model lacks"
        )
    if low < 0.0 and metric.signed is not None:
        counts = np.delete(table, metric.signed, axis=1)
        bad = np.argwhere(counts < 0.0)
        if bad.size:
            i, k = bad[0]
            raise ValueError(
                f"stats of {name} must not be negative in column "
                f"{np.delete(np.array(titles), metric.signed)[k].item()!r}, got {counts[i, k]:g} "
                f"for item {i}: it counts, or is divided by"
            )
    return table


def _of_object(raw: Any) -> Floats:
    """Sums from what `jiwer.process_words` returns, or sacrebleu's scores of sentences."""
    if hasattr(raw, "alignments"):
        sizes = {"substitute": "ref", "delete": "ref", "insert": "hyp"}
        errors = [
            sum(
                getattr(part, f"{sizes[part.type]}_end_idx")
                - getattr(part, f"{sizes[part.type]}_start_idx")
                for part in parts
                if part.type in sizes
            )
            for parts in raw.alignments
        ]
        return np.array([errors, [len(words) for words in raw.references]], np.float64).T
    rows = [(one.sys_len, one.ref_len, *one.counts, *one.totals) for one in raw]
    return np.array(rows, np.float64)


def regression_sums(truth: ArrayLike, predicted: Any) -> Any:
    """Sums of each item for R2, RMSE and Pearson's correlation of predicted numbers.

    What `compare_sums` takes with ``metric="r2"``, ``"rmse"`` or ``"pearson"``.

    Parameters
    ----------
    truth : array-like, shape (n,)
        True numbers.
    predicted : array-like, shape (M, n), mapping or frame
        Predicted numbers: a row a model, or columns by name.

    Returns
    -------
    dict of str to dict
        For each model the columns squared_error, x (predicted), y (true), xx, yy, xy and n,
        each of shape (n,). x and y are less their means, which changes no metric and loses no
        digits.

    Raises
    ------
    ValueError
        If lengths differ, or numbers are not finite.
    TypeError
        If there are no numbers.

    Examples
    --------
    >>> from fastcmp import compare_sums, regression_sums
    >>> y = [3.0, 5.0, 2.0, 8.0, 6.0]
    >>> preds = {"a": [2.8, 5.1, 2.3, 7.6, 6.2], "b": [4.0, 4.1, 3.5, 6.0, 6.6]}
    >>> compare_sums(regression_sums(y, preds), metric="rmse").score.round(3).tolist()
    [0.261, 1.298]
    """
    y = as_numbers(truth, "truth").astype(np.float64)
    if y.ndim != 1 or y.size < 2 or not np.isfinite(y).all():
        raise ValueError(
            f"truth must hold a finite number for each of at least 2 items, got {y.shape}"
        )
    mean, sums = y.mean(), {}
    named = named_columns(predicted, "predicted")
    check_indexes([("truth", truth), *named])
    if not named:
        raise ValueError("predicted must hold at least one model, got none")
    for name, raw in named:
        count_rows(raw, f"predicted[{name!r}]")
        found = as_numbers(raw, f"predicted[{name!r}]").astype(np.float64)
        if found.shape != y.shape or not np.isfinite(found).all():
            raise ValueError(
                f"predicted[{name!r}] must hold a finite number for each of the {y.size} items of "
                f"truth, got shape {found.shape}"
            )
        x, error = found - found.mean(), found - y
        squares = {"squared_error": error * error, "xx": x * x, "yy": (y - mean) ** 2}
        squares |= {"xy": x * (y - mean), "x": x, "y": y - mean, "n": np.ones(y.size)}
        sums[name] = squares
    return sums
