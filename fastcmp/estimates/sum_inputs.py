"""Sums of items as users have them: arrays, frames, long tables, logs, objects of libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_numbers, check_size, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.typing import Floats, Ints, ModelsLike
from fastcmp.estimates.sum_metrics import SumMetric
from fastcmp.inputs.columns import count_rows, read_values
from fastcmp.inputs.item_groups import Grouping, read_item_groups
from fastcmp.inputs.long_tables import from_long
from fastcmp.inputs.model_names import (
    check_distinct_names,
    check_indexes,
    has_names,
    named_columns,
    read_names,
)
from fastcmp.inputs.values import ItemTable

_ADDED = 128  # items that are added at once


class Sums(NamedTuple):
    """What each unit, an item or a cluster, adds to the totals of each model."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    #: By model and unit, shape (M, G, p), and the same by item, shape (M, n, p).
    stats: Floats
    items: Floats
    totals: Floats
    #: Clusters of the items; None where each item is a unit.
    clusters: Grouping | None
    #: Stratum of each unit from 0, shape (G,); None without strata.
    strata: Ints | None
    #: As they came, or the column of a long table.
    slices: ModelsLike


def totals_of(stats: Floats) -> Floats:
    """Totals of all models, shape (M, p); rows of many numbers are added, not single ones."""
    m, g, p = stats.shape
    n = g // _ADDED
    rows = stats[:, : n * _ADDED].reshape(m, n, _ADDED * p).sum(axis=1).reshape(m, _ADDED, p)
    return np.asarray(rows.sum(axis=1) + stats[:, n * _ADDED :].sum(axis=1))


def read_sums(
    stats: Any,
    metric: SumMetric,
    columns: Sequence[str] | None,
    names: object,
    item: str,
    model: str,
    of_items: dict[str, Any],
) -> Sums:
    """The sums of all models, checked, and added up by cluster.

    `of_items` are groups, strata, weights and slices, or names of columns of a long table.
    """
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence)):
        raise BadTypeError("`columns` must be a sequence of names of columns", repr(columns))
    if isinstance(stats, (str, bytes, PathLike, Record)):
        raise BadTypeError(
            "`stats` must be sums by model, or a mapping from the columns of the metric to "
            "values of items as from_long and read_results give them",
            type(stats).__name__,
        )
    if isinstance(stats, Mapping) and any(map(_is_table, stats.values())):
        models, of_items = _of_tables(stats, of_items)
    elif _is_long(stats):
        models, of_items = _of_long(stats, metric, columns, item, model, of_items)
    else:
        models = _of_models(stats)
    model_names = tuple(name for name, _ in models)
    check_distinct_names(list(model_names), "stats")
    check_indexes([(f"stats[{name!r}]", raw) for name, raw in models])
    check_size(len(models), "stats", "models")
    whole = isinstance(stats, np.ndarray) and stats.dtype == np.float64  # of one shape
    unchecked = models[:1] if whole else models
    read = [_table(raw, visible(name), metric, columns) for name, raw in unchecked]
    (first, titles), n = read[0], len(read[0][0])
    for name, (table, table_titles) in zip(model_names, read, strict=False):
        if len(table) != n or table_titles != titles:
            raise BadValueError(
                f"`stats` must have the same items and columns for each model: {visible(name)} "
                f"has shape {table.shape}, {visible(model_names[0])} {first.shape}"
            )
    if n < 2:
        raise BadValueError("`stats` must hold at least 2 items", "1: no variance can be estimated")
    if len(models) > n and isinstance(stats, np.ndarray):
        warn(
            f"stats hold {len(models)} models on {n} items: models come first; pass "
            "stats.swapaxes(0, 1) if items do"
        )
    table = np.ascontiguousarray(stats if whole else np.stack([x for x, _ in read]))
    totals = totals_of(table)
    _check(table, totals, model_names, metric, titles)
    if 0.0 < np.abs(totals).max() < 1e-200:  # slopes stay finite; no metric changes
        table, totals = table * 2.0**600, totals * 2.0**600
    framed = next((raw for _, raw in models if hasattr(raw, "iloc")), None)
    slices = of_items.pop("slices")
    check_indexes([("stats", framed), ("slices", slices)])
    item_groups = read_item_groups(
        n, **of_items, indexed=None if framed is None else ("stats", framed)
    )
    if item_groups.crossed:
        raise BadValueError(
            "`groups` must lie within strata: a cluster has items of several strata"
        )
    if item_groups.weights is not None:
        table = table * item_groups.weights[:, None]
        totals = totals_of(table)
    names = read_names(names, len(model_names), model_names, of=" of stats")
    summed, clusters = table, item_groups.clusters
    strata = None if item_groups.strata is None else item_groups.strata.codes
    if clusters is not None:
        order = np.argsort(clusters.codes, kind="stable")
        starts = np.flatnonzero(np.diff(clusters.codes[order], prepend=-1))
        summed = np.add.reduceat(table[:, order], starts, axis=1)
        strata = None if strata is None else strata[order[starts]]
    return Sums(names, titles, summed, table, totals, clusters, strata, slices)


def _check(
    stats: Floats, totals: Floats, names: Sequence[str], metric: SumMetric, titles: Sequence[str]
) -> None:
    """Refuse sums that are not finite, or negative where they cannot be."""
    if not np.isfinite(totals).all():
        for m, i, k in np.argwhere(~np.isfinite(stats))[:1]:
            raise BadValueError(
                f"`stats` of {visible(names[m])} must be finite",
                f"{stats[m, i, k]} in column {titles[k]!r}, item {i}",
                ": drop the items that some model lacks",
            )
        raise BadValueError("`stats` must have finite totals: divide all of them by one number")
    if metric.signed is not None and stats.min() < 0.0:
        bad = stats < 0.0
        bad[:, :, list(metric.signed)] = False
        if bad.any():
            m, i, k = np.argwhere(bad)[0]
            raise BadValueError(
                f"`stats` of {visible(names[m])} must not be negative in column {titles[k]!r}",
                f"{stats[m, i, k]:g} for item {i}: it counts, or is divided by",
            )


def _is_table(raw: object) -> bool:
    """Whether these are values of items: a table of them, or answers read from logs."""
    return isinstance(raw, ItemTable) or hasattr(raw, "negated")


def _of_tables(
    stats: Mapping[str, Any], of_items: dict[str, Any]
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Tables of models from the values of each column; several answers to an item add up."""
    columns, item_columns, first = {}, {}, None
    for title, raw in stats.items():
        if not _is_table(raw):
            raise BadTypeError(
                f"`stats`[{title!r}] must be values of items as the other columns are"
            )
        table = raw if isinstance(raw, ItemTable) else raw.values()
        if first is None:
            first = table
            item_columns = {
                "groups": table.groups,
                "strata": table.strata,
                "weights": table.weights,
            }
        if table.names != first.names or not np.array_equal(table.items, first.items):
            raise BadValueError(
                f"`stats`[{title!r}] must be of the same models and items, in the same order, "
                "as the first column: read both from the same logs, with `items='common'` "
                "where some lack"
            )
        if n_missing := sum(x.n_items for x in table.missing):
            raise BadValueError(
                "`stats` must have a row for each item and model, with a number in column "
                f"{title!r}: {n_missing} are missing"
            )
        values = table.values if table.values.ndim == 2 else np.nansum(table.values, axis=2)
        if any(getattr(raw, "negated", ())):  # as they are in the logs
            values = values * np.where(np.array(raw.negated)[raw.item_tasks], -1.0, 1.0)
        columns[title] = values
    assert first is not None
    models = [(x, {k: v[i] for k, v in columns.items()}) for i, x in enumerate(first.names)]
    return models, {k: item_columns.get(k) if x is None else x for k, x in of_items.items()}


def _is_long(stats: object) -> bool:
    """Whether this is a long table, whose columns have one dimension, and not tables of models."""
    if not isinstance(stats, Mapping):
        return has_names(stats)
    entry: Any = next(iter(stats.values()), None)
    if isinstance(entry, (list, tuple)):
        return bool(entry) and np.isscalar(entry[0])
    return not has_names(entry) and np.ndim(entry) == 1


def _is_object(raw: object) -> bool:
    """Whether this is an object of jiwer, or a list of objects of sacrebleu."""
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
            raise BadValueError(
                "`stats` must be of shape (M, n, p), models x items x sums, or a mapping from "
                "names to tables (n, p)",
                f"shape {listed.shape}",
            )
    return [(f"model_{i}", raw) for i, raw in enumerate(listed)]


def _of_long(
    stats: Any,
    metric: SumMetric,
    columns: Sequence[str] | None,
    item: str,
    model: str,
    of_items: dict[str, Any],
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Tables of models from a row for each item and model, joined by item."""
    table = dict(named_columns(stats, "stats"))
    more = {key: name for key, name in of_items.items() if isinstance(name, str)}
    for option, title in {"item": item, "model": model, **more}.items():
        if not isinstance(title, str) or title not in table:
            raise BadValueError(
                f"`{option}` must be the name of a column of `stats`",
                f"{title!r}: a long table has a row for each item and model; its columns are "
                f"{list(table)[:10]}",
            )
    apart = {item, model, *more.values()}
    titles = _titles_of([x for x in table if x not in apart], metric, columns, "stats")
    options = {"item": item, "model": model}
    labels = {"groups": "group", "strata": "stratum", "weights": "weight"}
    named = {labels[key]: x for key, x in more.items() if key in labels}
    item_columns = {key: None if key in more else x for key, x in of_items.items()}
    try:
        tables = {x: from_long(stats, value=x, **options, **named) for x in titles}
        if "slices" in more:
            options |= {"value": titles[0], "group": more["slices"]}
            item_columns["slices"] = from_long(stats, **options).groups
    except BadValueError as error:
        remedy = "; add these up first" if "`repeat=" in error.args[2] else error.args[2]
        raise error.renamed("frame", "`stats`", remedy=remedy, argument="stats") from None
    return _of_tables(tables, item_columns)


def _table(
    raw: object, name: str, metric: SumMetric, columns: Sequence[str] | None
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
                advice = f", without `columns=`, which is for tables with names{advice}"
            elif len(shape) == 2 and metric.columns(shape[0]) is not None:
                advice += ": items come first, then sums, so pass the transpose"
            raise BadValueError(
                f"`stats` of {name} must be of shape (n, p): a row for each item, with the "
                f"columns {_wanted(metric)}{advice}"
            )
        return np.asarray(table, np.float64), titles
    by_title = dict(named_columns(raw, f"stats of {name}"))
    titles = _titles_of(list(by_title), metric, columns, f"stats of {name}")
    sums = [read_values(by_title[title], f"{title} of {name}") for title in titles]
    if len({column.size for column in sums}) > 1:
        raise BadValueError(f"`stats` of {name} must have one number an item in each column")
    return np.stack(sums, axis=1), metric.columns(len(titles)) or titles


def _titles_of(
    available: Sequence[str], metric: SumMetric, columns: Sequence[str] | None, what: str
) -> tuple[str, ...]:
    """The columns that were named, or else of the metric, as many as there are."""
    titles = tuple(columns or (available if metric.any_names else ()))
    for p in range(len(available), 0, -1) if columns is None else ():
        if (names := metric.columns(p)) is not None and set(names) <= set(available):
            titles = names
            break
    if not titles or metric.columns(len(titles)) is None or not set(titles) <= set(available):
        raise BadValueError(
            f"`{what}` must have the columns {', '.join(columns or [_wanted(metric)])}, and "
            f"has columns {list(available)[:12]}",
            remedy=": name them in this order, `columns=[...]`",
        )
    return titles


def _wanted(metric: SumMetric) -> str:
    """The columns of a metric, in words."""
    names = next(x for p in (10, 18, 9, 6, 4, 3, 2) if (x := metric.columns(p)) is not None)
    return "that the function takes" if names[:1] == ("column_0",) else ", ".join(names)


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


def regression_sums(truth: ArrayLike, predicted: ModelsLike) -> Any:
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
        raise BadValueError(
            "`truth` must hold a finite number for each of at least 2 items", y.shape
        )
    mean, sums = y.mean(), {}
    named = named_columns(predicted, "predicted")
    check_indexes([("truth", truth), *named])
    check_size(len(named), "predicted", "model", 1)
    for name, raw in named:
        count_rows(raw, f"predicted[{name!r}]")
        prediction = as_numbers(raw, f"predicted[{name!r}]").astype(np.float64)
        if prediction.shape != y.shape or not np.isfinite(prediction).all():
            raise BadValueError(
                f"`predicted`[{name!r}] must hold a finite number for each of the {y.size} "
                "items of truth",
                f"shape {prediction.shape}",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            x, error = prediction - prediction.mean(), prediction - y
            squares = {"squared_error": error * error, "xx": x * x, "yy": (y - mean) ** 2}
            squares |= {"xy": x * (y - mean), "x": x, "y": y - mean, "n": np.ones(y.size)}
        if not all(np.isfinite(column).all() for column in squares.values()):
            raise BadValueError(
                f"`truth` and predicted[{name!r}] must have finite squares",
                remedy=": divide all by one number",
            )
        sums[name] = squares
    return sums
