"""Results and predictions of the AutoML benchmark (AMLB), and predictions on OpenML."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
from pyarrow import csv

from fastcmp.core.typing import Flags, Floats
from fastcmp.io.formats import NoRowsError
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, NoItemValuesError, Sign, grouped
from fastcmp.io.logs.heads import check_size
from fastcmp.io.logs.json_lines import read_object
from fastcmp.io.logs.parts import Rows, parts_of_rows
from fastcmp.io.logs.tables import Labels, LogTable, as_labels, as_whole_numbers, constant
from fastcmp.io.logs.words import ERROR, ERRORS

# AMLB's predictions: a file for each task and fold, without ids.


#: <framework>.<benchmark>.<constraint>.<mode>.<stamp>
_RUN = re.compile(r"(.+?)\.[^.]+\.[^.]+\.[^.]+\.(\d{8}T\d{6})")


def _group_folds(
    values: Sequence[LogFile], _: object, options: LogOptions
) -> list[tuple[Any, ...]]:
    """Take the folds of a framework and task together."""
    described = [(*_described(file.path, options.memory_limit), file) for file in values]
    runs = grouped(described, lambda fold: fold[:4])
    return [
        (run, sorted((x[4:] for x in folds), key=lambda x: x[0])) for run, folds in runs.items()
    ]


def _described(path: Path, limit: int) -> tuple[str, str, str, str, int]:
    """Model, task, run, its time and the fold, by metadata.json or the path."""
    folder = path.absolute().parent
    fold, task = folder.name, folder.parent.name
    run = folder.parents[1].name
    if run == "predictions":
        run = folder.parents[2].name
    match = _RUN.fullmatch(run)
    model, created = match.groups() if match else (run, "")
    beside = folder / "metadata.json"
    if beside.is_file():
        metadata = read_object(beside, limit)
        model = str(metadata.get("framework", model))
        task = str(metadata.get("name", task))
        fold = str(metadata.get("fold", fold))
    if not fold.isdecimal():
        raise ValueError(
            f"{path}: the fold is told by the path, <run>/predictions/<task>/<fold>/"
            f"predictions.csv, but {fold!r} is no number"
        )
    return model, task, run, created, int(fold)


def _read_folds(
    run: tuple[str, ...], folds: Sequence[tuple[int, LogFile]], options: LogOptions
) -> list[LogPart]:
    model, task, name, created = run
    items: list[str] = []
    values, truths = [], []
    for fold, file in folds:
        table = LogTable(file, ("predictions", "truth"), limit=options.memory_limit)
        truth = table.labels("truth", complete=True)
        predicted = table.labels("predictions")
        if not set(file.columns) - {"predictions", "truth"}:
            message = (
                f"{file.path} has no columns of classes beside predictions and truth, so "
                "it is of a regression task: there is no right or wrong; compare the "
                "scores in results.csv"
            )
            raise NoItemValuesError(message, task)
        right = np.equal(np.array(predicted.at(), object), np.array(truth.at(), object))
        values.append(np.where(predicted.codes < 0, np.nan, right.astype(np.float64)))
        truths.append(truth.prints())
        items += [f"{fold}:{row}" for row in range(table.n_rows)]
    all_values = np.concatenate(values)
    part = LogPart(
        source=folds[0][1].path,
        files=tuple(file.path for _, file in folds),
        model=model,
        task=task,
        metric="acc",
        items=items,
        values=all_values,
        missing=ERROR,
        reasons=dict.fromkeys(np.flatnonzero(np.isnan(all_values)).tolist(), "no prediction"),
        item_hash=np.concatenate(truths),
        hashed="truth",
        run=name,
        created=created,
    )
    return [part]


# AMLB's results: scores of frameworks by task and fold. `result` is turned, so that higher is
# better, where its metric begins with neg_. Older files hold the loss itself, and the oldest do
# not name the metric: it is the column that `result` repeats.


#: Metrics of the benchmark, those that it optimises first.
_METRICS = (
    *("auc", "logloss", "rmse", "acc", "balacc", "f1", "mae", "r2", "rmsle", "mse"),
    *("pac", "auc_ovo", "auc_ovr", "mase", "smape", "wql"),
)


def _read_results(files: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    """Read all files together: how they name a metric is settled for all."""
    rows_by_file = [(_rows_of(file, options), file) for file in files]
    metrics = {name for rows, _ in rows_by_file for name in rows.metric.texts}
    return [part for rows, file in rows_by_file for part in _parts(rows, file, metrics, options)]


def _rows_of(file: LogFile, options: LogOptions) -> Rows:
    """Scores as they stand in a file."""
    names = file.columns
    others = [name for name in ("metric", "info", "constraint") if name in names]
    metric_columns = [name for name in _METRICS if name in names]
    table = LogTable(
        file,
        ["task", "framework", "fold", *others],
        values=["result", *metric_columns],
        limit=options.memory_limit,
    )
    values = table.values("result")
    task = table.labels("task", complete=True)
    if options.metric in metric_columns:  # a column of its own
        metric = constant(str(options.metric), values.size)
        values = table.values(str(options.metric))
    elif "metric" in names:  # a row of a failure names none, but others of its task do
        metric = table.labels("metric")
        of_task = np.full(len(task.texts), -1)
        rows = np.flatnonzero(metric.codes >= 0)
        of_task[task.codes[rows]] = metric.codes[rows]
        codes = np.where(metric.codes < 0, of_task[task.codes], metric.codes)
        if (codes < 0).any():
            lost = task.at(np.flatnonzero(codes < 0)[:1])[0]
            raise ValueError(f"{file.path}: no row of task {lost} names its metric")
        metric = Labels(codes, metric.texts)
    else:
        metric = _guessed(table, task, values, metric_columns)
    model = table.labels("framework", complete=True)
    if "constraint" in others and len((limits := table.labels("constraint")).texts) > 1:
        pairs = zip(model.at(), limits.at(), strict=True)
        model = as_labels([f"{name} ({limit})" for name, limit in pairs])
    info = table.labels("info").at() if "info" in others else [""] * values.size
    failed = np.flatnonzero(np.isnan(values)).tolist()
    return Rows(
        model=model,
        item=task,
        repeats=as_whole_numbers(table.labels("fold", complete=True), file.path, "fold"),
        values=values,
        metric=metric,
        reasons={row: info[row] or "no result" for row in failed},
    )


def _guessed(
    table: LogTable, task: Labels, values: Floats, metric_columns: Sequence[str]
) -> Labels:
    """The metric of each task: the column that `result` repeats wherever it has a value."""
    columns = [table.values(name) for name in metric_columns]
    of_task = np.full(len(task.texts), -1)
    scored = ~np.isnan(values)
    for i in range(len(task.texts)):
        rows = (task.codes == i) & scored
        for place, column in enumerate(columns):
            there = rows & ~np.isnan(column)
            if there.any() and np.isclose(values[there], column[there], 1e-6).all():
                of_task[i] = place
                break
        if of_task[i] < 0 and rows.any():
            raise ValueError(
                f"{table.path} has no column 'metric', and result of task "
                f"{task.texts[i]} is none of its columns ({', '.join(metric_columns)}): it "
                "cannot be told whether less or more is better; add a column 'metric'"
            )
    if (of_task < 0).all():  # no run came to an end
        return constant("result", values.size)
    of_task = np.where(of_task < 0, of_task.max(), of_task)  # tasks all of whose runs failed
    used, of_task = np.unique(of_task, return_inverse=True)
    return Labels(of_task[task.codes], tuple(metric_columns[i] for i in used))


def _losses(values: Floats, metric: Labels, file: LogFile) -> Flags:
    """Which rows hold losses whose sign is not turned."""
    is_loss = np.zeros(values.size, np.bool_)
    for code, name in enumerate(metric.texts):
        rows = metric.codes == code
        above, below = (values[rows] > 0).any(), (values[rows] < 0).any()
        is_turned = name.startswith("neg_")
        if name.removeprefix("neg_") not in ERRORS or not above:
            continue
        if below or is_turned:
            what = "and below it in others" if below else "and must not be"
            raise ValueError(
                f"{file.path}: {name} is above 0 in some rows, {what}: losses of "
                "before and after their sign was turned may be mixed"
            )
        is_loss[rows] = True
    return is_loss


def _parts(
    rows: Rows, file: LogFile, metrics: Collection[str], options: LogOptions
) -> list[LogPart]:
    """Cut into parts; where each task has a metric of its own, all are `result`."""
    turned = {name: f"neg_{name}" for name in metrics if f"neg_{name}" in metrics}
    names = tuple(turned.get(name, name) for name in rows.metric.texts)
    several = len({turned.get(name, name) for name in metrics}) > 1
    remarks: tuple[str, ...] = ()
    metric, losses = Labels(rows.metric.codes, names), _losses(rows.values, rows.metric, file)
    negated = losses
    if several and options.metric not in metrics:
        metric = constant("result", rows.values.size)
        remarks += (
            f"{file.path}: tasks have metrics of their own "
            f"({', '.join(sorted(set(names)))}): their results can be ranked, but "
            "their means say nothing",
        )
    else:
        both = [i for i, name in enumerate(rows.metric.texts) if name in turned]
        negated = losses & np.isin(rows.metric.codes, both)
    if negated.any():
        remarks += (
            f"{file.path}: {np.count_nonzero(negated)} losses are negated, so "
            "that higher is better",
        )
    values = np.where(negated, -rows.values, rows.values)
    template = LogPart(source=file.path, unit="task", missing=ERROR, remarks=remarks)
    parts = parts_of_rows(replace(rows, values=values, metric=metric), template)
    lower = {names[code] for code in np.unique(rows.metric.codes[losses & ~negated])}
    lower -= set(turned.values())
    return [replace(part, lower_is_better=part.metric in lower) for part in parts]


# ARFF, as OpenML and its clients write predictions.


_TEXT = r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|"""
#: A cell in quotes, or up to the next comma.
_CELL = re.compile(_TEXT + r"([^,]*?))\s*(?:,|$)", re.DOTALL)
_NAME = re.compile(_TEXT + r"(\S+))\s*(.*)", re.DOTALL)
_BLANK = frozenset(" \t'\"{%")
_NUMERIC = ("numeric", "real", "integer")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Arff:
    """The head of a file, and its columns."""

    relation: str
    #: Names of the attributes, and the values of those that are nominal; () for text,
    #: None for numbers.
    attributes: dict[str, tuple[str, ...] | None]
    #: Cells of the columns, None for `?`.
    columns: dict[str, list[str | None]]


def read_arff(path: Path) -> Arff:
    """Read a file as a whole; sparse data are refused."""
    try:
        with path.open(encoding="utf-8-sig", newline=None) as file:
            relation, attributes = _head(file, path)
            text = file.read()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    columns = _plain_columns(text, list(attributes))
    if columns is None:
        rows = list(_rows(text, path, len(attributes)))
        if not rows:
            raise NoRowsError(path)
        columns = list(map(list, zip(*rows, strict=True)))
    return Arff(relation, attributes, dict(zip(attributes, columns, strict=True)))


def _plain_columns(text: str, names: list[str]) -> list[list[str | None]] | None:
    """Read rows without quotes, comments and blanks by pyarrow; None where it fails."""
    if not _BLANK.isdisjoint(text):
        return None
    types = dict.fromkeys(names, pa.string())
    try:
        table = csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=["?"], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.to_pylist() for column in table.columns]


def _head(file: TextIO, path: Path) -> tuple[str, dict[str, tuple[str, ...] | None]]:
    relation = ""
    attributes: dict[str, tuple[str, ...] | None] = {}
    for line in file:
        text = line.strip()
        word, _, declaration = text.partition(" ") if " " in text else text.partition("\t")
        match word.lower():
            case "@relation":
                relation = _name(declaration)[0]
            case "@attribute":
                name, kind = _name(declaration)
                if name in attributes:
                    raise ValueError(f"{path} has two attributes named {name!r}")
                nominal = _cells(kind[1:].rpartition("}")[0]) if kind.startswith("{") else []
                categories = tuple(cell for cell in nominal if cell is not None)
                attributes[name] = None if kind.lower() in _NUMERIC else categories
            case "@data":
                return relation, attributes
    raise ValueError(f"{path} has no line @DATA: it is no ARFF, or cut off")


def _name(text: str) -> tuple[str, str]:
    match = _NAME.fullmatch(text)
    if match is None:
        return "", ""
    single, double, plain, remainder = match.groups()
    quoted = single if single is not None else double
    return (plain if quoted is None else _unescaped(quoted)), remainder.strip()


def _rows(text: str, path: Path, n: int) -> Iterator[Sequence[str | None]]:
    for number, line in enumerate(text.split("\n"), 1):
        row = line.strip()
        if not row or row[0] == "%":
            continue
        if row[0] == "{":
            raise ValueError(f"{path} holds sparse data ({row[:20]!r}), which are not read")
        cells = _cells(row)
        if len(cells) != n:
            raise ValueError(
                f"{path}: row {number} of the data has {len(cells)} cells, and there "
                f"are {n} attributes: the file may be cut off"
            )
        yield cells


def _cells(text: str) -> list[str | None]:
    """Cut a row at its commas, but for those in quotes."""
    if "'" not in text and '"' not in text:
        plain = [cell.strip() for cell in text.split(",")]
        return [None if cell == "?" else cell for cell in plain]
    cells: list[str | None] = []
    place = 0
    while place <= len(text):
        match = _CELL.match(text, place)
        if match is None:
            return []  # a quote is left open
        single, double, bare = match.groups()
        quoted = single if single is not None else double
        if quoted is not None:
            cells.append(_unescaped(quoted))
        elif bare[:1] in ("'", '"'):
            return []
        else:
            cells.append(None if bare == "?" else bare)
        place = match.end()
        if not match[0].endswith(","):
            break
    return cells


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _CONTROL.get(match[1], match[1]), text)


# OpenML: predictions of a run, predictions.arff.


_TASK = re.compile(r"task[_-]?(\d+)", re.IGNORECASE)
_CONFIDENCE = "confidence."
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")


def _read_openml(file: LogFile, files: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    check_size(file, options.memory_limit)
    path = file.path
    arff = read_arff(path)
    columns = arff.columns
    row_id = next((name for name in ("row_id", "rowid") if name in columns), None)
    if row_id is None or "prediction" not in columns:
        raise ValueError(f"{path} has no columns row_id and prediction: no predictions")
    correct = _truth(arff, path)
    samples = set(columns.get("sample", ())) - {None}
    if len(samples) > 1:
        raise ValueError(
            f"{path} holds a learning curve, {len(samples)} samples, each with "
            "predictions of its own: keep the rows of one"
        )
    predicted = _plain(columns["prediction"])
    _check_labels(predicted, correct, arff, path)
    if swapped := _swapped(arff, predicted, correct, path):
        raise ValueError(f"{path}: {_differing(arff, correct, files, path)}{swapped}")
    absent = np.array([label is None for label in predicted])
    right = [a == b for a, b in zip(predicted, correct, strict=True)]
    items = as_labels(_plain(columns[row_id]))
    items.check_complete(path, row_id)
    # The task is named by the relation, or by a folder.
    named = map(_TASK.search, (arff.relation, *reversed(path.absolute().parent.parts)))
    task = next((match[1] for match in named if match), "")
    remarks = ["OpenML: models are named by their folders"]
    if not task:
        remark = f"{path}: neither its relation ({arff.relation}) nor a folder names the task"
        remarks.insert(0, remark)
    repeats = None
    if "repeat" in columns:
        repeats = as_whole_numbers(as_labels(columns["repeat"]), path, "repeat")
    part = LogPart(
        source=path,
        model=path.absolute().parent.name,
        task=task,
        metric="acc",
        items=items.at(),
        values=np.where(absent, np.nan, np.array(right, np.float64)),
        repeats=repeats if repeats is not None and repeats.any() else None,
        missing=ERROR,
        reasons=dict.fromkeys(np.flatnonzero(absent).tolist(), "no prediction"),
        item_hash=as_labels(correct).prints(),
        hashed="correct",
        remarks=tuple(remarks),
    )
    return [part]


def _plain(cells: Sequence[str | None]) -> list[str | None]:
    """Write whole numbers in one way, as 1 for 1.0."""
    spellings = {
        cell: str(int(cell.partition(".")[0]))
        if cell is not None and _WHOLE.fullmatch(cell)
        else cell
        for cell in set(cells)
    }
    return [spellings[cell] for cell in cells]


def _truth(arff: Arff, path: Path) -> list[str | None]:
    """The truth; regression is refused, and files that do not hold it."""
    has_confidences = any(name.startswith(_CONFIDENCE) for name in arff.columns)
    is_number = arff.attributes["prediction"] is None
    if not has_confidences and ("truth" in arff.columns or is_number):
        raise ValueError(
            f"{path} holds predictions of a regression task: there is no right or "
            "wrong; compute a value an item, such as the negative absolute error, and "
            "pass a long table"
        )
    name = next((x for x in ("correct", "truth") if x in arff.columns), None)
    if name is None:
        raise ValueError(
            f"{path} has no column 'correct', so it does not hold the truth: take it "
            "from the task and add the column, or compare labels (compare_all)"
        )
    if None in arff.columns[name]:
        row = arff.columns[name].index(None)
        raise ValueError(f"{path}: {name!r} is missing (?) in row {row}")
    return _plain(arff.columns[name])


def _check_labels(
    predicted: Sequence[str | None], correct: Sequence[str | None], arff: Arff, path: Path
) -> None:
    """Refuse indexes of classes in the place of labels."""
    names = [x.removeprefix(_CONFIDENCE) for x in arff.columns if _CONFIDENCE in x]
    nominal = arff.attributes.get("correct") or ()
    classes = {label for label in (*names, *nominal, *correct) if label is not None}
    allowed = classes.union(_plain(sorted(classes)))
    strange = sorted(x for x in set(predicted) - allowed if x is not None)
    if strange and all(label.isdecimal() for label in strange):
        raise ValueError(
            f"{path}: 'prediction' holds {', '.join(strange[:3])}, indexes of classes, "
            f"and 'correct' labels ({', '.join(sorted(classes)[:3])}), as some "
            "versions of openml-python wrote them (its issue 1366): write the labels"
        )


def _swapped(
    arff: Arff, predicted: Sequence[str | None], correct: Sequence[str | None], path: Path
) -> str:
    """The problem if confidences fit the truth better than predictions do, or an empty text."""
    names = [name for name in arff.columns if name.startswith(_CONFIDENCE)]
    if len(names) < 2:
        return ""
    try:
        table = np.array([[float(x or "nan") for x in arff.columns[name]] for name in names])
    except ValueError as error:
        raise ValueError(f"{path}: confidences must be numbers: {error}") from None
    table = np.where(np.isnan(table), -np.inf, table)
    highest = table.max(axis=0)
    is_clear = ((table == highest).sum(axis=0) == 1) & np.isfinite(highest)
    labels = _plain([name.removeprefix(_CONFIDENCE) for name in names])
    clear_rows = np.flatnonzero(is_clear).tolist()
    likeliest = [labels[best] for best in np.argmax(table, axis=0)[is_clear].tolist()]
    n_correct, n_predicted = (
        sum(label == column[i] for label, i in zip(likeliest, clear_rows, strict=True))
        for column in (correct, predicted)
    )
    if n_correct <= n_predicted:
        return ""
    return (
        f"in {path.absolute().parent.name} the confidences agree with correct "
        f"({n_correct} of {len(clear_rows)} rows), not with prediction ({n_predicted}): the "
        "two are swapped, as openml-python up to 0.13.0 wrote them (its pull request "
        "1209); exchange the names of the two columns"
    )


def _differing(
    arff: Arff, correct: Sequence[str | None], files: Sequence[LogFile], path: Path
) -> str:
    """In how many rows the truth differs from that of another file of the task, in words."""
    keys = ("repeat", "row_id", "rowid")

    def truth(predictions: Arff, labels: Sequence[str | None]) -> dict[Any, str | None]:
        columns = [_plain(predictions.columns[key]) for key in keys if key in predictions.columns]
        return dict(zip(zip(*columns, strict=True), labels, strict=True))

    here = truth(arff, correct)
    for file in files:
        if file.path == path:
            continue
        other = read_arff(file.path)
        if other.relation != arff.relation or "correct" not in other.columns:
            continue
        there = truth(other, _plain(other.columns["correct"]))
        shared = here.keys() & there.keys()
        n = sum(here[key] != there[key] for key in shared)
        if n:
            return f"correct differs between the models ({n} of {len(shared)} rows); "
    return ""


FORMATS = (
    LogFormat(
        name="openml",
        title="OpenML",
        values=(Sign(holds=(b"prediction",), pattern=rb"(?i)(?:\A|[\r\n])\s*@relation\s"),),
        read=_read_openml,
        group=lambda values, *_: [(file, values) for file in values],
        names=r".*\.arff",
    ),
    LogFormat(
        name="amlb_predictions",
        title="predictions of the AutoML benchmark",
        values=(Sign(columns="predictions truth"),),
        beside=(Sign(keys="framework fold", name=r"metadata\.json"),),
        read=_read_folds,
        group=_group_folds,
    ),
    LogFormat(
        name="amlb_results",
        title="results of the AutoML benchmark",
        values=(Sign(columns="task framework fold result"),),
        read=_read_results,
        group=lambda values, *_: [(values,)],
    ),
)
