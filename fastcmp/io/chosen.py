"""Which columns of prediction files are the truth, the ids, the models, and none."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastcmp.core.render import visible
from fastcmp.io.formats import family, model_name

Types = dict[str, Any]  # of the columns of a table, by name

#: Columns of true labels and of ids, unless the user names others.
TARGET = "y_true"
ID = "id"
#: What pandas calls an index that it writes or reads as a column.
_INDEX = re.compile(r"|Unnamed: [\d.]+|index|level_\d+|__index_level_\d+__")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which columns of several tables are compared."""

    #: Column of the true labels.
    target: str
    #: Column by which the tables are joined; None for one table without ids.
    id_column: str | None
    #: Tables that hold the true labels, at least one.
    targets: tuple[int, ...]
    #: The models, in order, and the table that holds each.
    models: dict[str, int]
    #: The column of each model: another name where models are named by their files.
    columns: dict[str, str]
    #: Whether the ids are a column that only looks like an index.
    guessed: bool = False
    #: What the user should know of this choice.
    remarks: tuple[str, ...] = ()


def plan_columns(
    types: list[Types],
    paths: list[str],
    target: str | None,
    models: Sequence[str] | None,
    id_column: str | None,
    *,
    drop: Sequence[str] = (),
    option: str = "--models",
    names: Sequence[str | None] = (),
) -> Plan:
    """Choose the columns to compare; `names` are those of the models of some files."""
    target = TARGET if target is None else target
    where = ", ".join(paths)
    _check_drop(drop, types, where, (target, id_column, *(models or ())))
    types = [_without(file_types, drop) for file_types in types]
    if id_column is None and all(ID in file_types for file_types in types):
        id_column = ID
    index: list[str] = []
    remarks: tuple[str, ...] = ()
    if models is None:
        index = index_columns(types, (target, id_column))
        if index and id_column is None and len(types) == 1:
            id_column, types, remarks = _take_index(types[0], index, paths[0])
        else:
            remarks = tuple(_left_out(name, types) for name in index)
            types = [_without(file_types, index) for file_types in types]
    if len(paths) > 1 and id_column is None:
        message = "several files are joined by sample ids: name their column (--id)"
        if index:
            message += f"; if {titled(index[0])} holds them, {shlex.join(['--id', index[0]])}"
        raise ValueError(message)
    all_names = dict.fromkeys(name for file_types in types for name in file_types)
    for i, file_types in enumerate(types):
        if id_column is not None and id_column not in file_types:
            raise ValueError(no_column(id_column, file_types, paths[i], "--id"))
    if target not in all_names:
        raise ValueError(no_column(target, all_names, where, "--target"))
    given_models = models if any(name in all_names for name in models or ()) else None
    homes, columns, about = _models(types, paths, (target, id_column), given_models, names)
    renamed = given_models is not None and any(name != columns[name] for name in columns)
    named = list(homes) if models is None or renamed else models
    for name in named:
        if name not in homes:
            raise ValueError(no_column(name, [*all_names, *homes], where, option))
    return Plan(
        target=target,
        id_column=id_column,
        targets=tuple(i for i, file_types in enumerate(types) if target in file_types),
        models={name: homes[name] for name in named},
        columns=columns,
        guessed=id_column in index,
        remarks=(*remarks, *about),
    )


def _models(
    types: list[Types],
    paths: list[str],
    used: Collection[str | None],
    models: Sequence[str] | None,
    names: Sequence[str | None],
) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """Home and column of each model; models of one column name are named by their files."""
    names_by_file = [[name for name in file_models if name not in used] for file_models in types]
    models_by_file = [
        [name for name in file_models if models is None or name in models]
        for file_models in names_by_file
    ]
    times = Counter(name for file_models in models_by_file for name in file_models)
    by_file = _file_names(paths)
    homes: dict[str, int] = {}
    columns: dict[str, str] = {}
    for i, file_models in enumerate(models_by_file):
        own_name = names[i] if names else None
        if own_name is not None and len(file_models) != 1:
            raise ValueError(
                f"{paths[i]} must have one column for its model {own_name!r}, got "
                f"{len(file_models)} ({visible(', '.join(file_models))}): name it "
                "(--models COL), or leave others out (--drop)"
            )
        for column in file_models:
            name = own_name or column
            if own_name is None and times[column] > 1:
                if len(file_models) > 1:
                    other = next(j for j, x in enumerate(models_by_file) if column in x and j != i)
                    first, second = sorted((i, other))
                    raise ValueError(
                        f"model {column!r} is in both {paths[first]} and {paths[second]}: rename "
                        f"one, leave one out, or name files of one model each as NAME={paths[i]}"
                    )
                name = by_file[i]
            if name in homes:
                raise ValueError(
                    f"two models are called {name!r}, of {paths[homes[name]]} and {paths[i]}: "
                    f"name one as NAME={paths[i]}"
                )
            homes[name], columns[name] = i, column
    renamed = [name for name, column in columns.items() if name != column and name not in names]
    if not renamed:
        return homes, columns, ()
    column = columns[renamed[0]]
    remark = f"models are named by their files, each with {titled(column)}: {', '.join(renamed)}"
    return homes, columns, (remark,)


def _file_names(paths: Sequence[str]) -> list[str]:
    """Names of models by files: the file's, with its folder or path where others have it."""
    files = [Path(path) for path in paths]
    stems = [model_name(file) for file in files]
    for candidates in (
        stems,
        [f"{file.parent.name}/{x}" for file, x in zip(files, stems, strict=True)],
    ):
        if len(set(candidates)) == len(candidates):
            return candidates
    return list(paths)


def plan_values(
    types: Types,
    path: str,
    *,
    models: Sequence[str] | None,
    id_column: str | None,
    others: Mapping[str, str],
    drop: Sequence[str] = (),
) -> tuple[list[str], tuple[str, ...]]:
    """Choose the columns of a table of values that are models; give remarks, too.

    `others` are columns that say something else of the items, by their options.
    """
    used = (id_column, *others.values())
    _check_drop(drop, [types], path, (*used, *(models or ())))
    types = _without(types, drop)
    named = others if id_column is None else {**others, "--id": id_column}
    for option, name in named.items():
        if name not in types:
            raise ValueError(no_column(name, types, path, option))
    types = _without(types, [*named.values(), ID])
    if models is not None:
        for name in models:
            if name not in types:
                raise ValueError(no_column(name, types, path, "--models"))
        return list(models), ()
    if TARGET in types:
        raise ValueError(
            f"{path} has a column {TARGET!r}: predicted labels are compared without "
            f"--values; if the others are values, leave it out ({advice(TARGET)})"
        )
    index = index_columns([types], ())
    remarks = tuple(_left_out(name, [types]) for name in index)
    return [name for name in types if name not in index], remarks


def check_models(names: Collection[str], least: int, where: str) -> None:
    """Refuse fewer models than a comparison needs."""
    if len(names) < least:
        named = f": {', '.join(names)}" if names else ""
        needed = "1 model" if least == 1 else f"{least} models"
        raise ValueError(
            f"there must be at least {needed}, got {len(names)}{named} (columns of {where})"
        )


def _check_drop(
    drop: Sequence[str], types: list[Types], where: str, used: Collection[str | None]
) -> None:
    all_names = list(dict.fromkeys(name for file_types in types for name in file_types))
    for name in drop:
        if name not in all_names:
            raise ValueError(no_column(name, all_names, where, "--drop"))
        if name in used:
            message = f"--drop leaves out {name!r}, which another option asks for"
            if name == TARGET:
                message = f"--drop leaves out {name!r}, the true labels (--target)"
            raise ValueError(message)


def _without(types: Types, names: Collection[str]) -> Types:
    return {name: kind for name, kind in types.items() if name not in names}


def index_columns(types: list[Types], used: Collection[str | None]) -> list[str]:
    """List the columns that look like an index of pandas."""
    names = dict.fromkeys(name for file_types in types for name in file_types)
    return [name for name in names if name not in used and _INDEX.fullmatch(name)]


def _take_index(
    types: Types, index: list[str], path: str
) -> tuple[str | None, list[Types], tuple[str, ...]]:
    """Take the first such column with values as the ids, and leave out the others."""
    filled = [name for name in index if family(types[name])]
    id_column = filled[0] if filled else None
    remarks = [_left_out(name, [types]) for name in index if name != id_column]
    if id_column is not None:
        remarks.insert(
            0,
            f"{path}: {titled(id_column)} looks like a row index and is taken as the row "
            f"id, not as a model ({advice(id_column)} leaves it out)",
        )
    others = [name for name in index if name != id_column]
    return id_column, [_without(types, others)], tuple(remarks)


def _left_out(name: str, types: list[Types]) -> str:
    why = "holds no values"
    if any(name in file_types and family(file_types[name]) for file_types in types):
        why = "looks like a row index"
    return f"{titled(name)} {why}: it is left out"


def titled(name: str) -> str:
    """Name a column in a sentence."""
    if not name.strip():
        return f"the column without a name ({name!r})"
    return f"column {name!r}"


def advice(*names: str) -> str:
    """Write the option that leaves columns out, as a shell takes it."""
    return shlex.join(["--drop", *names])


@contextmanager
def repeats(plan: Plan) -> Iterator[None]:
    """Add to an error on ids that repeat what to do, if they were only taken for an index."""
    try:
        yield
    except ValueError as error:
        if not plan.guessed or plan.id_column is None:
            raise
        raise ValueError(
            f"{error}; {titled(plan.id_column)} looks like a row index, but does not "
            f"identify rows: leave it out ({advice(plan.id_column)})"
        ) from None


def other_truth(target: str, first: str, second: str) -> str:
    """The message that true labels are not the same."""
    return f"{target!r} differs between {first} and {second}"


def no_column(
    name: str, columns: Iterable[str], where: str, option: str, what: str = "column"
) -> str:
    """The message that a column which an option names is not there."""
    listed = visible(", ".join(columns)) or "none"
    return f"{where} has no {what} {name!r} ({option}); there are: {listed}"
