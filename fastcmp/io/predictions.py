"""Predictions of several models from files, read as a whole.

Several files are joined by the sample's id, never by the order of their rows.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fastcmp.core.errors import ArgumentError, BadValueError
from fastcmp.core.threads import Progress, reporting
from fastcmp.inputs.values import as_values
from fastcmp.io.chosen import (
    ID,
    TARGET,
    Plan,
    advice,
    check_models,
    no_column,
    other_truth,
    plan_columns,
    plan_values,
    repeats,
    titled,
)
from fastcmp.io.counting import plain
from fastcmp.io.formats import NoRowsError, check_ids, decoded, family, value_type
from fastcmp.io.sources import Source
from fastcmp.io.text_types import id_types, shared_types
from fastcmp.stream import ValueMoments

Table: TypeAlias = Any
Column: TypeAlias = tuple[Source, str]

_NAMED = 5  # ids that an error message lists
_WAY_OUT = (
    "; --missing common compares on the samples that all files have, --missing wrong counts "
    "absent ones as errors"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """True labels and the labels that each model predicted."""

    y_true: Any
    preds: dict[str, Any]
    #: Remarks for the user about columns and how they were read.
    remarks: tuple[str, ...] = ()


def read_predictions(
    paths: Sequence[str | Path],
    *,
    target: str | None = None,
    models: Sequence[str] | None = None,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    option: str = "--models",
    names: Sequence[str | None] = (),
    scores: bool = False,
    missing: str | None = None,
) -> Predictions:
    """Read true and predicted labels from one or several files.

    `names` are those of the models of some files. `missing` says what to make of samples
    that a file lacks: "raise"; "wrong", which leaves predictions empty; or "common", which
    leaves out the samples without an answer of each model. With None no policy is advised.
    """
    where = [str(path) for path in paths]
    labels = (target or TARGET, id_column or ID) if scores else None
    sources = [Source(Path(path), labels) for path in paths]

    types = [source.types for source in sources]
    plan = plan_columns(
        types, where, target, models, id_column, drop=drop, option=option, names=names
    )
    for source in sources:
        source.expect(plan.id_column, named=models is not None)
    tables = [source.table(columns_of(plan, i)) for i, source in enumerate(sources)]
    settle_types(sources, plan, scores=scores)
    tables = [source.settled(table) for source, table in zip(sources, tables, strict=True)]
    n = [table.num_rows for table in tables]
    if plan.id_column is not None:
        with repeats(plan):
            tables = align_tables(tables, where, plan.id_column, missing)
    first, *others = plan.targets
    y_true = tables[first].column(plan.target)
    for i in others:
        other = tables[i].column(plan.target)
        if missing == "wrong":  # where both files have the sample
            both = pc.and_(pc.is_valid(y_true), pc.is_valid(other))
            same = same_columns(y_true.filter(both), other.filter(both))
            y_true = pc.coalesce(decoded_chunks(y_true), decoded_chunks(other))
        else:
            same = same_columns(y_true, other)
        if not same:
            raise ValueError(other_truth(plan.target, where[first], where[i]))
    preds = {name: tables[i].column(plan.columns[name]) for name, i in plan.models.items()}
    remarks = plan.remarks
    if missing == "common":
        answered = functools.reduce(pc.and_, map(pc.is_valid, preds.values()))
        y_true = y_true.filter(answered)
        preds = {name: pred.filter(answered) for name, pred in preds.items()}
        if lost := max(n) - len(y_true):
            remarks += (f"{lost} samples that some models have no prediction of are left out",)
    elif missing == "wrong":
        lacking = {path: len(y_true) - k for path, k in zip(where, n, strict=True)}
        remarks += tuple(
            f"{path} lacks {k} samples, which its models have wrong"
            for path, k in lacking.items()
            if k
        )
    return Predictions(y_true=y_true, preds=preds, remarks=remarks)


def decoded_chunks(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write a column out, if it is a dictionary."""
    return pa.chunked_array([decoded(column.combine_chunks())])


def columns_of(plan: Plan, i: int) -> list[str]:
    """List the columns that are read of a table."""
    columns = [plan.columns[name] for name, home in plan.models.items() if home == i]
    if i in plan.targets:
        columns.insert(0, plan.target)
    if plan.id_column is not None:
        columns.insert(0, plan.id_column)
    return columns


def settle_types(sources: Sequence[Source], plan: Plan, *, scores: bool = False) -> bool:
    """Choose types of what text files hold in which labels, and ids, compare."""
    truths = [(sources[i], plan.target) for i in plan.targets]
    models = [(sources[i], plan.columns[name]) for name, i in plan.models.items()]
    named = plan.id_column
    ids = [] if named is None else [(source, named) for source in sources]
    return settle_columns(truths, [] if scores else models, ids)


def settle_columns(
    truths: Sequence[Column], models: Sequence[Column], ids: Sequence[Column]
) -> bool:
    """Choose types of text columns in which labels, and ids, compare; whether labels are texts."""
    labels, named = [*truths, *models], [source.seen(name) for source, name in ids]
    label_columns = [source.seen(name) for source, name in labels]
    # Text of files with types is as it is written.
    is_typed_text = any(
        x.meanings is None and value_type(x.kind) == pa.string() for x in label_columns
    )
    kinds = shared_types(label_columns[: len(truths)], label_columns[len(truths) :])
    for (source, name), kind in zip(labels, kinds, strict=True):
        source.read_as(name, kind, truths=not is_typed_text)
    for (source, name), kind in zip(ids, id_types(named), strict=True):
        source.read_as(name, kind)
    return any(
        x.meanings and kind == pa.string() for x, kind in zip(label_columns, kinds, strict=True)
    )


def same_columns(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    """Whether two columns are equal, however they are stored."""
    one, two = (decoded(column.combine_chunks()) for column in (first, second))
    return bool(one.equals(two))


def align_tables(
    tables: list[Table], paths: list[str], id_column: str, missing: str | None = None
) -> list[Table]:
    """Bring the rows of all tables into the order of the first one's ids.

    Where `missing` is "common" these are the ids that all tables have; where it is
    "wrong", the ids that any has, with nulls in the rows that a table lacks.
    """
    ids = []
    for table, path in zip(tables, paths, strict=True):
        check_ids(path, id_column, table.schema.field(id_column).type)
        ids.append(decoded(table.column(id_column).combine_chunks()))
        check_distinct(ids[-1], path)
    check_one_type(ids, paths, id_column)
    for path, other_ids in zip(paths[1:], ids[1:], strict=True):
        if missing not in ("common", "wrong"):
            way_out = "" if missing is None else _WAY_OUT
            _refuse_unknown(ids[0], other_ids, id_column, (paths[0], path), way_out)
            _refuse_unknown(other_ids, ids[0], id_column, (path, paths[0]), way_out)
    order = ids[0]
    for other_ids in ids[1:]:
        if missing == "common":
            order = order.filter(pc.is_in(order, value_set=other_ids))
        elif missing == "wrong":
            order = pa.concat_arrays(
                [order, other_ids.filter(pc.invert(pc.is_in(other_ids, order)))]
            )
    if not len(order):
        raise ValueError(f"{' and '.join(paths)} have no {id_column} in common")
    places = (pc.index_in(order, value_set=other_ids) for other_ids in ids)
    return [table.take(place) for table, place in zip(tables, places, strict=True)]


def check_one_type(ids: Sequence[Any], paths: Sequence[str], id_column: str) -> None:
    """Refuse ids of files that can never be equal."""
    for path, file_ids in zip(paths, ids, strict=True):
        if file_ids.type != ids[0].type:
            raise BadValueError(
                f"ids differ in type: {id_column!r} is {ids[0].type} in {paths[0]} and "
                f"{file_ids.type} in {path}"
            )


def check_distinct(ids: pa.Array, path: str) -> None:
    """Refuse ids that are missing or repeated."""
    if ids.null_count:
        row = pc.index(pc.is_null(ids), value=True).as_py()
        raise ValueError(f"{path}: {ids.null_count} rows have no id, the first is row {row}")
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    if len(repeated):
        raise ValueError(f"{path}: ids must differ, more than one row has {_listed(repeated)}")


def _refuse_unknown(
    ids: pa.Array, within: pa.Array, id_column: str, paths: Sequence[str], way_out: str
) -> None:
    absent = ids.filter(pc.invert(pc.is_in(ids, value_set=within)))
    if len(absent):
        raise ValueError(
            f"{paths[1]} lacks samples of {paths[0]}: {id_column} {_listed(absent)}{way_out}"
        )


def _listed(ids: pa.Array) -> str:
    named = ", ".join(map(str, ids[:_NAMED].to_pylist()))
    return named if len(ids) <= _NAMED else f"{named} and {len(ids) - _NAMED} more"


# Two files of one model each: labels, or values, of the same samples.


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModels:
    """What two files hold of the same samples."""

    #: True labels; None where values are compared.
    y_true: Any
    #: Predictions or values of the first and the second file.
    models: tuple[Any, Any]
    #: What else is known of each sample, by the option that asked for it.
    others: dict[str, Any]


def read_two(
    paths: Sequence[Path],
    *,
    target: str | None,
    models: Sequence[str] | None = None,
    id_column: str | None = None,
    others: Mapping[str, str],
    drop: Sequence[str] = (),
) -> TwoModels:
    """Read two files of one model each, joined by ids; of values where there is no `target`."""
    ids = ID if id_column is None else id_column
    labels = None if target is not None else (ids, *others.values())
    sources, where = [Source(path, labels) for path in paths], [str(path) for path in paths]
    if id_column is None and any(ids not in source.types for source in sources):
        raise ValueError("files are joined by sample ids: name their column (--id)")
    for name, option in ((ids, "--id"), (target, "--target")):
        for source, path in zip(sources, where, strict=True):
            if name is not None and name not in source.types:
                raise ValueError(no_column(name, source.types, path, option))
    homes = {name: [x for x in sources if name in x.types] for name in others.values()}
    for option, name in others.items():
        if not homes[name]:
            raise ValueError(no_column(name, sources[0].types, where[0], option))
    used = {ids, target, *others.values(), *drop}
    two_models = [
        _one_model(source, used, None if models is None else models[i])
        for i, source in enumerate(sources)
    ]
    tables = []
    for source, model in zip(sources, two_models, strict=True):
        source.expect(ids, named=True)
        needed = dict.fromkeys([ids, target, *others.values(), model])
        tables.append(source.table([name for name in needed if name in source.types]))
        if target is None:
            types = {model: tables[-1].schema.field(model).type}
            advised = "name another column (--models BASE NEW)"
            check_numbers(types, [model], str(source.path), advised)
    truths = [] if target is None else [(source, target) for source in sources]
    columns = list(zip(sources, two_models, strict=True)) if truths else []
    settle_columns(truths, columns, [(source, ids) for source in sources])
    for name, holders in homes.items():
        kinds = id_types([source.seen(name) for source in holders])
        for source, kind in zip(holders, kinds, strict=True):
            source.read_as(name, kind)
    tables = [source.settled(table) for source, table in zip(sources, tables, strict=True)]
    tables = align_tables(tables, where, ids)

    def shared(name: str) -> Any:
        columns_named = [table.column(name) for table in tables if name in table.column_names]
        if len(columns_named) > 1 and not same_columns(*columns_named):
            raise ValueError(other_truth(name, *where))
        return columns_named[0]

    return TwoModels(
        y_true=None if target is None else shared(target),
        models=(tables[0].column(two_models[0]), tables[1].column(two_models[1])),
        others={option: shared(name) for option, name in others.items()},
    )


def _one_model(source: Source, used: Collection[str | None], named: str | None) -> str:
    """The column of the one model of a file."""
    if named is not None:
        if named not in source.types:
            raise ValueError(no_column(named, source.types, str(source.path), "--models"))
        return named
    candidates = [name for name in source.types if name not in used]
    if len(candidates) == 1:
        return candidates[0]
    listed = f" ({', '.join(candidates[:10])})" if candidates else ""
    raise ValueError(
        f"{source.path} must have one column for its model, got {len(candidates)}{listed}: "
        "name that of each file (--models BASE NEW), or leave columns out (--drop)"
    )


# Files of values per item: wide ones in blocks or as a whole, long ones as a whole.


_ENOUGH = 8  # rows for each model that are summed up at once: their products pay
_MOST = 64_000_000  # bytes of values that are gathered for it


class ValueFile:
    """A wide file: a row an item, a column a model."""

    def __init__(
        self,
        path: Path,
        *,
        models: Sequence[str] | None = None,
        id_column: str | None = None,
        others: Mapping[str, str] | None = None,
        weights: str | None = None,
        drop: Sequence[str] = (),
    ) -> None:
        #: Columns that say something else of the items, by their options.
        self.others = dict(others or {})
        self._path = str(path)
        self._weights = weights
        self._kinds: dict[str, Any] = {}  # of the last block
        self._labels = {*self.others.values()} - {weights}
        self.source = Source(path, self._labels)
        types = self.source.types
        self.names, self.remarks = plan_values(
            types, self._path, models=models, id_column=id_column, others=self.others, drop=drop
        )
        check_models(self.names, 2, self._path)
        self._check(types)
        is_subset = set(self._columns()) != set(types)  # JSON has others then
        self.source.expect(None, named=is_subset)

    def _check(self, types: Mapping[str, Any]) -> None:
        numbers = [*self.names, *([self._weights] if self._weights else [])]
        advised = "leave it out ({}), or say what it is (see --help)"
        check_numbers(types, numbers, self._path, advised)

    def size_in_memory(self) -> int:
        """Estimate what it would take to read the file as a whole."""
        return 2 * self.source.size_in_memory()

    def table(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the whole file: values of models, and what else is known, by option."""
        table = self.source.table(self._columns())
        self._check(dict(zip(table.schema.names, table.schema.types, strict=True)))
        self.source.read_as_ids(self._labels)
        table = self.source.settled(table)
        values = {name: table.column(name) for name in self.names}
        return values, {k: table.column(x) for k, x in self.others.items()}

    def sum_up(
        self, moments: ValueMoments, *, progress: bool | Progress | None = None
    ) -> ValueMoments:
        """Read the file block by block."""
        with reporting(progress, "reading", unit="rows") as report:
            done = 0
            for values, others, fraction in self._gathered():
                n = next(iter(values.values())).size
                try:
                    moments.update(
                        values, groups=others.get("--groups"), weights=others.get("--weights")
                    )
                except ArgumentError as error:
                    if error.row is None:
                        raise
                    among = f" in items {done} to {done + n - 1}"
                    raise error.but(row=done + error.row, among=among) from None
                done += n
                report(done, self.source.n_rows or round(done / fraction))
        if not done:
            raise NoRowsError(self.source.path)
        return moments

    def _columns(self) -> list[str]:
        return [*self.names, *self.others.values()]

    def _gathered(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], float]]:
        """Join blocks that are too small for the products of all pairs."""
        m = len(self.names)
        blocks: list[dict[str, Any]] = []
        n, fraction = 0, 0.0
        least = min(_ENOUGH * m, max(1, _MOST // (8 * m)))
        for _, block, fraction in self.source.blocks(self._columns()):
            self._check({name: column.type for name, column in block.columns.items()})
            self.source.note(block.columns)
            blocks.append(block.columns)
            n += block.n_rows
            if n >= least:
                yield (*self._joined(blocks), fraction)
                blocks, n = [], 0
        if n:
            yield (*self._joined(blocks), fraction)

    def _joined(self, blocks: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        values = {
            name: np.concatenate([as_values(plain(block[name]), name) for block in blocks])
            for name in self.names
        }
        self.source.read_as_ids(self._labels)
        others = {name: [block[name] for block in blocks] for name in self.others.values()}
        settled = self.source.settled({x: pa.chunked_array(chunks) for x, chunks in others.items()})
        for name, column in settled.items():
            kind, before = value_type(column.type), self._kinds.get(name)
            if kind == pa.string() and before is not None and pa.types.is_integer(before):
                raise ValueError(
                    f"{self._path}: column {name!r} holds words after whole numbers: write ids of "
                    "one kind, or pass a larger --memory-limit"
                )
            self._kinds[name] = kind
        return values, {option: plain(settled[name]) for option, name in self.others.items()}


def read_long(path: Path, columns: Mapping[str, str | None], labels: Sequence[str]) -> Any:
    """Read columns of a long table, by their options; `labels` are not numbers."""
    named = {option: name for option, name in columns.items() if name is not None}
    of_labels = [named[option] for option in labels if option in named]
    source = Source(path, of_labels)
    for option, name in named.items():
        if name not in source.types:
            raise ValueError(no_column(name, source.types, str(path), option))
    source.expect(None, named=True)
    table = source.table(list(dict.fromkeys(named.values())))
    numbers = [name for name in named.values() if name not in of_labels]
    types = dict(zip(table.schema.names, table.schema.types, strict=True))
    check_numbers(types, numbers, str(path), "name another column (see --help)")
    source.read_as_ids(of_labels)
    return source.settled(table)


def long_size(path: Path) -> int:
    """Estimate what it would take to read a long table."""
    return 3 * Source(path).size_in_memory()


def check_numbers(types: Mapping[str, Any], names: Sequence[str], path: str, advised: str) -> None:
    """Refuse columns that hold no numbers."""
    for name in names:
        kind = value_type(types[name])
        if family(kind) not in ("", "number"):
            what = "text" if family(kind) == "string" else f"values of type {kind}"
            raise TypeError(
                f"{path}: {titled(name)} holds {what}, and values must be numbers: "
                f"{advised.format(advice(name))}"
            )
