"""TabArena: errors of methods on data sets, a row for each split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.io.logs.format import STATUS, LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.tables import (
    Labels,
    LogTable,
    Rows,
    as_whole_numbers,
    constant,
    parts_of,
    template,
)

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

_NEEDED = {"dataset", "fold", "metric_error"}
_MODELS = ("method", "framework")
_SHOWN = 3


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    names = set(file.columns)
    return "values" if names >= _NEEDED and not names.isdisjoint(_MODELS) else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    def reading(file: LogFile) -> Reading:
        return lambda: _read(file, options)

    return [reading(file) for file in files]


def _read(file: LogFile, options: LogOptions) -> Sequence[LogPart]:
    others = [name for name in ("metric", "imputed") if name in file.columns]
    model = next((name for name in _MODELS if name in file.columns), _MODELS[0])
    table = LogTable(
        file,
        [model, "dataset", "fold", *others],
        values=["metric_error"],
        limit=options.memory_limit,
    )
    method = table.labels(model, complete=True)
    data = table.labels("dataset", complete=True)
    folds = as_whole_numbers(table.labels("fold", complete=True), file.path, "fold")
    remarks = _imputed(table, method, data, folds, options) if "imputed" in others else ()
    metric = constant("metric_error", table.n_rows)
    if "metric" in others:
        found = table.labels("metric", complete=True)
        if len(found.texts) == 1 or options.metric in found.texts:
            metric = found
        else:
            listed = ", ".join(found.texts)
            remarks += (
                f"{file.path}: each data set has a metric of its own ({listed}): its "
                "errors can be ranked, but their means say nothing",
            )
    values = table.values("metric_error")
    rows = Rows(
        model=method,
        item=data,
        values=values,
        metric=metric,
        repeats=folds,
        status=np.where(np.isnan(values), STATUS.index("error"), 0).astype(np.uint8),
    )
    empty = template(file.path, lower_is_better=True, unit="task", remarks=remarks)
    return parts_of(rows, empty)


def _imputed(
    table: LogTable, method: Labels, data: Labels, folds: NDArray[np.int32], options: LogOptions
) -> tuple[str, ...]:
    """Refuse results that are those of another method, or count them."""
    imputed = table.values("imputed")
    rows = np.flatnonzero(imputed > 0)
    if not rows.size:
        return ()
    if choose(options.imputed, "imputed", ("raise", "keep")) == "keep":
        return (
            f"{table.path}: {rows.size} of {imputed.size} rows are imputed, results "
            "of another method",
        )
    shown = "; ".join(
        f"{method.at(row)[0]}'s row for {data.at(row)[0]}, fold {folds[row][0]}"
        for row in (rows[i : i + 1] for i in range(min(_SHOWN, rows.size)))
    )
    name = method.at(rows[:1])[0]
    raise ValueError(
        f"{table.path}: {shown} is imputed: no result of {name}, but of another method "
        f"({rows.size} of {imputed.size} rows are such; imputed='keep' takes them)"
    )


FORMAT = LogFormat(name="tabarena", title="TabArena", holds=_holds, readings=_readings)
