"""Tables: long ones, a row a value, and wide ones, a column a model, a metric or a split.

A long table whose columns are known is a row of `FORMATS`: by which columns it is known, what
they are, and a check.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Floats
from fastcmp.io.chosen import TARGET, plan_values
from fastcmp.io.formats import family, kind_of
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Sign
from fastcmp.io.logs.heads import is_json_array
from fastcmp.io.logs.json_lines import read_object
from fastcmp.io.logs.parts import Answer, Failure, Rows, model_of, parts_of, parts_of_rows
from fastcmp.io.logs.tables import (
    Labels,
    LogTable,
    as_labels,
    as_numbers,
    as_whole_numbers,
    constant,
    is_json_table,
)
from fastcmp.io.logs.words import ERROR, ERRORS, STATUS, UNSCORED, listed
from fastcmp.io.sources import Source

#: What a column may be called.
_ALIASES = {
    "item": ("item", "id", "example_id", "item_id", "dataset_name"),
    "model": ("model", "method", "framework", "classifier_name"),
    "value": ("value", "score", "accuracy", "correct", "pass1"),
    "task": ("task", "benchmark_id", "dataset"),
    "subset": ("subset",),
    "metric": ("metric",),
    "repeat": ("repeat", "epoch", "trial", "seed", "fold"),
    "cluster": ("cluster", "group"),
    "status": ("status",),
    "attempts": ("attempts",),
    "item_hash": ("item_hash",),
    "prompt_hash": ("prompt_hash",),
}
#: A column of tasks, or of items where there is no other.
_DATA = "dataset"
#: Other names by which a user may name what a column is.
_SAME = {"group": "cluster", "groups": "cluster", "id": "item", "epoch": "repeat"}
#: What columns say of items, whoever answers them.
_OF_ITEMS = ("item", "task", "subset", "repeat", "cluster")


#: Refuses rows, or says what is doubtful of them; and changes them.
Check = Callable[[LogTable, Rows, LogOptions], tuple[Rows, tuple[str, ...]]]


def _choose_columns(
    names: Sequence[str],
    options: LogOptions,
    path: object,
    needed: Sequence[str] = (),
    columns_known: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Choose the columns of a table, by what they are; "" names no column."""
    columns = dict(columns_known or {})
    for key, name in options.columns.items():
        what = _SAME.get(key, key)
        if what not in _ALIASES:
            raise BadValueError(f"`columns` must name {', '.join(_ALIASES)}", repr(key))
        if name and name not in names:
            raise BadValueError(_none(what, names, path, name))
        columns[what] = name
    for what, aliases in _ALIASES.items():
        if what in columns:
            continue
        free = set(names) - set(columns.values())
        candidates = [name for name in aliases if name in free]
        if what == "value" and options.metric in candidates:
            candidates = [str(options.metric)]
        if what == "item" and not candidates and _DATA in free:
            candidates = [_DATA]
        if len(candidates) > 1:
            several = " and ".join(map(repr, candidates))
            raise BadValueError(
                f"{path} has columns {several}, each of which may be the {what}",
                remedy=f": name one by `columns=` ``(columns={{{what!r}: {candidates[0]!r}}})``",
            )
        if candidates:
            columns[what] = candidates[0]
        elif what in needed:
            raise BadValueError(_none(what, names, path))
    if columns.get("value") == "pass1" and "count" in names:  # of eval-arena
        columns.setdefault("attempts", "count")
    return {what: name for what, name in columns.items() if name}


def _none(what: str, names: Sequence[str], path: object, name: str = "") -> str:
    there = visible(", ".join(map(str, names))) or "none"
    missing = f"no column {name!r}" if name else "no column that is known for"
    return (
        f"{path} has {missing} {'(' if name else ''}the {what}{')' if name else ''}: "
        f"name it by `columns=` ``(columns={{{what!r}: ...}})``; there are: {there}"
    )


def _unit_of(columns: Mapping[str, str]) -> str:
    """Whether items are data sets, by their column."""
    return "task" if columns.get("item") in (_DATA, "dataset_name") else "item"


def _labels(
    table: LogTable, columns: Mapping[str, str], what: str, *, complete: bool = False
) -> Labels | None:
    """A column as texts; None where it is not there, or empty in all rows."""
    name = columns.get(what)
    labels = None if name is None else table.labels(name)
    if labels is None or not labels.texts:
        return None
    if complete:
        labels.check_complete(table.path, str(name))
    return labels


def _of_items(table: LogTable, columns: Mapping[str, str]) -> dict[str, Any]:
    """What a table says of its items, as fields of `Rows`."""
    repeats = _labels(table, columns, "repeat", complete=True)
    return {
        "item": table.labels(columns["item"], complete=True)
        if "item" in columns
        else as_labels(list(range(table.n_rows))),
        "task": _labels(table, columns, "task"),
        "subset": _labels(table, columns, "subset"),
        "repeats": repeats and as_whole_numbers(repeats, table.path, columns["repeat"]),
        "clusters": _labels(table, columns, "cluster", complete=True),
    }


def _read_long(
    file: LogFile,
    options: LogOptions,
    columns: Mapping[str, str] | None = None,
    check: Check | None = None,
    **about: Any,
) -> list[LogPart]:
    """Read a long table.

    `columns` are known ones by what they are; `about` is what all parts have in common.
    """
    needed = ("item", "model", "value")
    columns_by_use = _choose_columns(file.columns, options, file.path, needed, columns)
    for what in ("item", "value"):
        if what not in columns_by_use:
            raise BadValueError(_none(what, file.columns, file.path))
    others = [name for what, name in columns_by_use.items() if what != "value"]
    others += ["imputed"] if check and "imputed" in file.columns else []
    table = LogTable(file, others, values=[columns_by_use["value"]], limit=options.memory_limit)
    values = table.values(columns_by_use["value"])
    status, remarks = _status(_labels(table, columns_by_use, "status"), values, table)
    name = model_of(file.path)
    if "model" not in columns_by_use:
        remarks += (f"{file.path} has no column of models: its model is called {name!r}",)
    attempts = None
    if (counts := _labels(table, columns_by_use, "attempts")) is not None:
        n = as_whole_numbers(counts, table.path, columns_by_use["attempts"])
        attempts = np.where(counts.codes < 0, np.int32(1), n)
    hashes = [_labels(table, columns_by_use, name) for name in ("item_hash", "prompt_hash")]
    item_hash, prompt_hash = (None if texts is None else texts.prints() for texts in hashes)
    rows = Rows(
        model=table.labels(columns_by_use["model"], complete=True)
        if "model" in columns_by_use
        else constant(name, values.size),
        values=values if status is None else np.where(status == 0, values, np.nan),
        metric=table.labels(columns_by_use["metric"], complete=True)
        if "metric" in columns_by_use
        else constant(columns_by_use["value"], values.size),
        status=status,
        attempts=attempts,
        item_hash=item_hash,
        prompt_hash=prompt_hash,
        **_of_items(table, columns_by_use),
    )
    if check is not None:
        rows, more = check(table, rows, options)
        remarks += more
    template = LogPart(
        source=file.path, remarks=remarks, **{"unit": _unit_of(columns_by_use), **about}
    )
    return list(map(_turned, parts_of_rows(rows, template)))


def _turned(part: LogPart) -> LogPart:
    """Mark a part as lower is better where its metric is an error, and not negated."""
    is_error = part.metric.lower() in ERRORS
    if part.lower_is_better or not is_error or not (part.values > 0).any():
        return part
    if (part.values < 0).any():
        raise ValueError(
            f"{part.source}: {part.metric} of {part.model} has values above and below "
            "0: it cannot be told whether less or more is better"
        )
    return replace(part, lower_is_better=True)


def _status(
    labels: Labels | None, values: Floats, table: LogTable
) -> tuple[NDArray[np.uint8] | None, tuple[str, ...]]:
    """Read why values are missing; a value beside a failure does not count."""
    if labels is None:
        return None, ()
    codes_by_name = {name: i for i, name in enumerate(STATUS)}
    for text in labels.texts:
        if text.lower() not in codes_by_name:
            raise ValueError(
                f"{table.path}: the status of a value must be one of "
                f"{', '.join(STATUS)}, got {text[:60]!r}"
            )
    codes = np.array([*(codes_by_name[text.lower()] for text in labels.texts), 0], np.uint8)
    status = codes[labels.codes]
    status[(status == 0) & np.isnan(values)] = UNSCORED
    n_left_out = int(np.count_nonzero((status != 0) & ~np.isnan(values)))
    if not n_left_out:
        return status, ()
    return status, (
        f"{table.path}: {n_left_out} values whose status is not ok are taken as missing",
    )


def _proportions(table: LogTable, rows: Rows, _: LogOptions) -> tuple[Rows, tuple[str, ...]]:
    """Refuse proportions of eval-arena outside [0, 1], and counts below 1."""
    counts = np.ones(1) if rows.attempts is None else rows.attempts
    for name, values, wrong, demand in (
        ("pass1", rows.values, (rows.values < 0) | (rows.values > 1), "a number from 0 to 1"),
        ("count", counts, counts < 1, "a whole number from 1 on"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            problem = f"{values[row]:g} in row {row}"
            raise ValueError(f"{table.path}: {name} must be {demand}, got {problem}")
    return rows, ()


def _imputed(table: LogTable, rows: Rows, options: LogOptions) -> tuple[Rows, tuple[str, ...]]:
    """Refuse results of TabArena that are another method's, and name the metric if it is one."""
    remarks: tuple[str, ...] = ()
    imputed = table.values("imputed") if "imputed" in table.columns else np.zeros(1)
    imputed_rows = np.flatnonzero(imputed > 0)
    if imputed_rows.size and options.imputed == "keep":
        remark = (
            f"{imputed_rows.size} of {imputed.size} rows are imputed, results of another method"
        )
        remarks += (f"{table.path}: {remark}",)
    elif imputed_rows.size:
        folds = np.zeros(imputed.size, int) if rows.repeats is None else rows.repeats
        models, data = (labels.at(imputed_rows[:3]) for labels in (rows.model, rows.item))
        cells = zip(models, data, folds[imputed_rows], strict=False)
        examples = "; ".join(
            f"{name}'s row for {data_set}, fold {fold}" for name, data_set, fold in cells
        )
        raise BadValueError(
            f"{table.path}: {examples} is imputed: no result of {models[0]}, but of another "
            f"method ({imputed_rows.size} of {imputed.size} rows are such; `imputed='keep'` "
            "takes them)"
        )
    if len(rows.metric.texts) > 1 and options.metric not in rows.metric.texts:
        remarks += (
            f"{table.path}: each data set has a metric of its own "
            f"({', '.join(rows.metric.texts)}): its errors can be ranked, but their means say "
            "nothing",
        )
        rows = replace(rows, metric=constant("metric_error", rows.values.size))
    return rows, remarks


# Wide tables of values: a row an item, a column a model.


def _is_wide(file: LogFile) -> bool:
    """Whether at least two columns hold numbers, beside what is known of items."""
    others = {name for what in _OF_ITEMS for name in _ALIASES[what]}
    columns = () if is_json_array(file.head) else file.columns
    names = [name for name in columns if name.strip() and name not in others]
    if TARGET in names or len(names) < 2:
        return TARGET in names
    if kind_of(file.path) in ("Parquet", "Arrow"):
        types = Source(file.path).types
        return all(family(types[name]) == "number" for name in names)
    first = file.table_head[1]
    return all(name in first and _is_number(first[name]) for name in names)


def _is_number(entry: Any) -> bool:
    """Whether a cell is empty, a number, or true or false."""
    if entry in (None, ""):
        return True
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return str(entry).lower() in ("true", "false", "na", "null")
    return True


def _read_wide(file: LogFile, n_files: int, options: LogOptions) -> list[LogPart]:
    if not options.values:
        raise BadValueError(
            f"{file.path} holds numbers by columns, which may be labels or values of models: "
            "values, higher is better, are read as such where that is said (`values=True`), or "
            "by fastcmp compare --values FILE; labels are compared with the true ones, which a "
            "column `y_true` must hold (fastcmp compare FILE, or compare_all)"
        )
    item_columns = _choose_columns(file.columns, options, file.path)
    item_columns = {what: name for what, name in item_columns.items() if what in _OF_ITEMS}
    if "item" not in item_columns and n_files > 1:
        raise BadValueError(
            f"{file.path} has no column of items, by which several files are joined: "
            "name it ``(columns={'item': ...})``"
        )
    if TARGET in file.columns:
        raise ValueError(
            f"{file.path} has a column {TARGET!r}, true labels: predicted labels are "
            "compared with them by fastcmp compare FILE without --values, or by "
            "compare_all; values of models stand in a file without it"
        )
    types = dict.fromkeys(file.columns, pa.float64())
    names, remarks = plan_values(
        types, str(file.path), models=None, id_column=None, others=item_columns
    )
    table = LogTable(file, list(item_columns.values()), values=names, limit=options.memory_limit)
    if "item" not in item_columns:
        remarks += (f"{file.path} has no column of items: its rows are numbered",)
    template = LogPart(source=file.path, remarks=remarks, unit=_unit_of(item_columns))
    metric, about = constant("value", table.n_rows), _of_items(table, item_columns)
    rows = [
        Rows(model=constant(x, table.n_rows), values=table.values(x), metric=metric, **about)
        for x in names
    ]
    return [part for model_rows in rows for part in parts_of_rows(model_rows, template)]


# scikit-learn: scores by split, as cross_validate and searches give them.


_SPLIT = re.compile(r"split(\d+)_(test_.+)")
_OVERLAP = (
    "Splits of cross-validation share training data, so their scores are not "
    "independent: only tests for cross-validation fit (compare_folds, fold_test)"
)


def _names(file: LogFile) -> tuple[str, ...]:
    """List the columns: of a table, or of a JSON object of columns."""
    return file.columns or tuple(sorted(file.keys))


def _has_splits(file: LogFile) -> bool:
    names = set(_names(file))
    is_search = "params" in names and any(map(_SPLIT.fullmatch, names))
    has_scores = any(name.startswith("test_") for name in names)
    return is_search or ({"fit_time", "score_time"} <= names and has_scores)


def _read_splits(file: LogFile, options: LogOptions) -> list[LogPart]:
    """Read a column for each metric; of a search a row for each setting, a column a split."""
    path, names = file.path, _names(file)
    splits = [match for match in map(_SPLIT.fullmatch, names) if match]
    parts: list[LogPart] = []

    def add(model: str, metric: str, values: Any, items: Sequence[int], *remarks: str) -> None:
        failed = np.flatnonzero(np.isnan(values)).tolist()
        part = LogPart(
            source=path,
            model=model,
            metric=metric,
            items=np.array(items, np.int64),
            values=values,
            missing=ERROR,
            reasons=dict.fromkeys(failed, "the fit failed"),
            remarks=(*remarks, _OVERLAP),
            unit="split",
        )
        parts.append(part)

    if "params" not in names or not splits:
        metrics = [name for name in names if name.startswith("test_")]
        columns = _columns(file, metrics, options)
        for name in metrics:
            values = as_numbers(columns[name], path, name)
            remark = "scikit-learn: models are named by their files"
            add(model_of(path), name, values, range(values.size), remark)
        return parts
    columns = _columns(file, [*(match[0] for match in splits), "params"], options)
    params = columns["params"]
    models = list(map(str, params)) if isinstance(params, list) else as_labels(params).at()
    if len(set(models)) < len(models):
        twice = next(name for name in models if models.count(name) > 1)
        raise ValueError(f"{path} has the parameters {twice} twice")
    for metric in dict.fromkeys(match[2] for match in splits):
        numbered_columns = sorted((int(x[1]), x[0]) for x in splits if x[2] == metric)
        table = np.array([as_numbers(columns[x], path, x) for _, x in numbered_columns])
        for i, model in enumerate(models):
            add(model, metric, table[:, i].copy(), [number for number, _ in numbered_columns])
    return parts


def _columns(file: LogFile, names: Sequence[str], options: LogOptions) -> Mapping[str, Any]:
    """Read columns: of a table, or of a JSON object of lists, as to_json writes it."""
    if file.columns:
        others = [name for name in names if name == "params"]  # of JSON they stay objects
        values = [name for name in names if name != "params" or is_json_table(file)]
        return LogTable(file, others, values=values, limit=options.memory_limit).columns
    content = read_object(file.path, options.memory_limit)
    columns: dict[str, list[Any]] = {}
    for name in names:
        column = content.get(name)
        column = list(column.values()) if isinstance(column, dict) else column
        if not isinstance(column, list):
            raise ValueError(f"{file.path}: {name!r} must be a list, got {str(column)[:40]}")
        columns[name] = column
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError(f"{file.path}: its columns are of different lengths")
    return columns


# Experiments of MLflow, LangSmith and ragas: a row for each item, a column a metric.


#: Columns of ragas that are no metrics.
_RAGAS = (
    r"(?!(?:user_input|response|reference|(?:retrieved|reference)_context(?:s|_ids)|rubrics|"
    r"multi_responses|reference_t\w+|persona_name|query_\w+|synthesizer_name|Unnamed.*)$)(.+)"
)
#: Tool, column of items, columns of metrics.
_TOOLS = (
    ("LangSmith", "example_id", r"feedback\.(.+)"),
    ("MLflow", "request", r"(?!expected_)(.+)/value"),
    ("MLflow", "", r"(.+?)(?:/v\d+)?/score"),
    ("ragas", "user_input", _RAGAS),
)
_COLUMNS = rb'"columns"\s*:\s*\[[^\]]*(/score"|/value"|"feedback\.|"user_input")'
_COSTS = ("execution_time", "execution_duration", "latency", "token_count")


def _tool(names: Sequence[str]) -> tuple[str, str, dict[str, str]]:
    """The tool, its column of items, and its metrics by column; "" for other tables."""
    for tool, item, pattern in _TOOLS:
        metrics = {name: match[1] for name in names if (match := re.fullmatch(pattern, name))}
        is_ragas = {"response", "reference", "retrieved_contexts"} & set(names)
        for metric in {x for x in metrics.values() if [*metrics.values()].count(x) > 1}:
            metrics |= {name: name for name, x in metrics.items() if x == metric}  # two versions
        if metrics and item in ("", *names) and (is_ragas or tool != "ragas"):
            return tool, item, metrics
    return "", "", {}


def _read_experiment(file: LogFile, options: LogOptions) -> list[LogPart]:
    if "value" in options.columns:  # of a table whose columns are named there is no more to know
        return _read_long(file, options)
    path, names, split = file.path, file.columns, {}
    if not names:
        content = read_object(path, options.memory_limit)
        try:
            names, rows = tuple(map(str, content["columns"])), zip(*content["data"], strict=True)
            split = dict(zip(names, map(list, rows), strict=True))
        except (TypeError, ValueError, KeyError):
            raise ValueError(f"{path}: rows of data must fit columns: is the file whole?") from None
    tool, item, metrics = _tool(names)
    item, model = (options.columns.get(k, name) for k, name in (("item", item), ("model", "")))
    if item not in names or model not in ("", *names):
        raise BadValueError(
            f"{path}: a table of {tool or 'experiments'} does not say what names an item: name a "
            f"column ``(columns={{'item': ...}})``; there are: {listed(names, 30)}"
        )
    reasons = {metric: f"{metric}/error_message" for metric in metrics.values()}
    if set(reasons.values()) & set(names):  # a value without one is what was expected
        metrics = {name: metric for name, metric in metrics.items() if reasons[metric] in names}
    costs = {name: name for name in _COSTS if name in names}
    metrics = {k: x for k, x in metrics.items() if k not in (item, model, "error", *costs)}
    hashed = [name for name in names if re.fullmatch(r"reference(\..*)?", name)]
    others = {item, model, "error", *reasons.values(), *hashed}.intersection(names)
    numbers = [*metrics, *costs]
    limit = options.memory_limit
    columns = split or LogTable(file, sorted(others), values=numbers, limit=limit).columns
    values, remarks = {}, []
    for name, metric in (metrics | costs).items():
        try:
            values[name] = as_numbers(columns[name], path, name)
        except ValueError:
            if options.metric == metric:
                raise
            remarks.append(f"{path}: {name} holds no numbers, and is left out")
    cells_of_numbers = {
        name: ["" if math.isnan(x) else x for x in column.tolist()]
        for name, column in values.items()
        if not np.isnan(column).all()
    }
    texts = {name: as_labels(columns[name]) for name in others}
    texts[item].check_complete(path, item)
    cells = {name: column.at() for name, column in texts.items()}
    named = model_of(path)
    if not model:
        remarks.append(f"{path} has no column of models: its model is called {named!r}")
    answers = []
    for row, name in enumerate(cells[item]):
        why = {metric: cells[k][row] for metric, k in reasons.items() if k in cells}
        values_of_row: dict[str, Any] = {
            metric: Failure(why[metric]) if why.get(metric) else cells_of_numbers[k][row]
            for k, metric in metrics.items()
            if k in cells_of_numbers
        }
        error = cells["error"][row] if tool == "LangSmith" and "error" in cells else ""
        answer = Answer(
            model=cells[model][row] if model else named,
            item=name,
            # LangSmith repeats an example; elsewhere an item that is there twice is refused.
            repeat=None if tool == "LangSmith" else 0,
            values={} if error else values_of_row,
            costs={cost: cells_of_numbers[cost][row] for cost in costs if cost in cells_of_numbers},
            error=Failure(error) if error else None,
            identity=[cells[name_hashed][row] for name_hashed in hashed] or None,
        )
        answers.append(answer)
    return parts_of(answers, LogPart(source=path, hashed="reference", remarks=tuple(remarks)))


_NEEDED = ((*_ALIASES["item"], _DATA), _ALIASES["model"], _ALIASES["value"])
FORMATS = (
    LogFormat(name="scikit_learn", title="scikit-learn", values=(_has_splits,), read=_read_splits),
    LogFormat(
        name="eval_arena",
        title="eval-arena",
        values=(Sign(columns="benchmark_id example_id pass1"),),
        read=partial(_read_long, check=_proportions),
    ),
    LogFormat(
        name="tabarena",
        title="TabArena",
        values=(Sign(columns=f"{_DATA} fold metric_error method|framework"),),
        read=partial(
            _read_long,
            columns={
                "item": _DATA,
                "repeat": "fold",
                "value": "metric_error",
                "task": "",
                "subset": "",
            },
            check=_imputed,
            lower_is_better=True,
            unit="task",
            missing=ERROR,
        ),
    ),
    LogFormat(
        name="long",
        title="long table",
        values=(Sign(columns=" ".join(map("|".join, _NEEDED))),),
        read=_read_long,
    ),
    LogFormat(
        name="experiments",
        title="experiments of MLflow, LangSmith or ragas",
        values=(Sign(keys="columns", pattern=_COLUMNS), lambda file: bool(_tool(file.columns)[0])),
        read=_read_experiment,
    ),
    LogFormat(
        name="wide",
        title="wide table of values",
        values=(_is_wide,),
        read=_read_wide,
        group=lambda values, *_: [(file, len(values)) for file in values],
    ),
)
