"""Which columns of prediction files are the truth, the ids, the models, and none."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.escaping import visible
from fastcmp.io.kinds import family

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
) -> Plan:
    """Choose the columns to compare."""
    target = TARGET if target is None else target
    where = ", ".join(paths)
    _check_drop(drop, types, where, (target, id_column, *(models or ())))
    types = [_without(own, drop) for own in types]
    if id_column is None and all(ID in own for own in types):
        id_column = ID
    index: list[str] = []
    remarks: tuple[str, ...] = ()
    if models is None:
        index = _index_columns(types, (target, id_column))
        if index and id_column is None and len(types) == 1:
            id_column, types, remarks = _take_index(types[0], index, paths[0])
        else:
            remarks = tuple(_left_out(name, types) for name in index)
            types = [_without(own, index) for own in types]
    if len(paths) > 1 and id_column is None:
        message = "several files are joined by sample ids: name their column (--id)"
        raise ValueError(message)
    found = _homes(types, paths, target, id_column)
    if target not in found:
        raise ValueError(no_column(target, found, where, "--target"))
    targets = tuple(i for i, own in enumerate(types) if target in own)
    del found[target]
    for name in models or ():
        if name not in found:
            raise ValueError(no_column(name, found, where, option))
    return Plan(
        target=target,
        id_column=id_column,
        targets=targets,
        models=found if models is None else {name: found[name] for name in models},
        guessed=id_column in index,
        remarks=remarks,
    )


def plan_values(
    own: Types,
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
    _check_drop(drop, [own], path, (*used, *(models or ())))
    own = _without(own, drop)
    named = others if id_column is None else {**others, "--id": id_column}
    for option, name in named.items():
        if name not in own:
            raise ValueError(no_column(name, own, path, option))
    own = _without(own, [*named.values(), ID])
    if models is not None:
        for name in models:
            if name not in own:
                raise ValueError(no_column(name, own, path, "--models"))
        return list(models), ()
    if TARGET in own:
        message = (
            f"{path} has a column {TARGET!r}: predicted labels are compared without "
            f"--values; if the others are values, leave it out ({advice(TARGET)})"
        )
        raise ValueError(message)
    index = _index_columns([own], ())
    remarks = tuple(_left_out(name, [own]) for name in index)
    return [name for name in own if name not in index], remarks


def _homes(
    types: list[Types], paths: list[str], target: str, id_column: str | None
) -> dict[str, int]:
    """Find in which table each column is, except the ids."""
    found: dict[str, int] = {}
    for i, own in enumerate(types):
        if id_column is not None and id_column not in own:
            raise ValueError(no_column(id_column, own, paths[i], "--id"))
        for name in own:
            if name in found and name not in (target, id_column):
                message = f"model {name!r} is both in {paths[found[name]]} and in {paths[i]}"
                raise ValueError(message)
            found.setdefault(name, i)
    if id_column is not None:
        found.pop(id_column)
    return found


def _check_drop(
    drop: Sequence[str], types: list[Types], where: str, used: Collection[str | None]
) -> None:
    known = list(dict.fromkeys(name for own in types for name in own))
    for name in drop:
        if name not in known:
            raise ValueError(no_column(name, known, where, "--drop"))
        if name in used:
            message = f"--drop leaves out {name!r}, which another option asks for"
            if name == TARGET:
                message = f"--drop leaves out {name!r}, the true labels (--target)"
            raise ValueError(message)


def _without(own: Types, names: Collection[str]) -> Types:
    return {name: kind for name, kind in own.items() if name not in names}


def _index_columns(types: list[Types], used: Collection[str | None]) -> list[str]:
    """List the columns that look like an index of pandas."""
    names = dict.fromkeys(name for own in types for name in own)
    return [name for name in names if name not in used and _INDEX.fullmatch(name)]


def _take_index(
    own: Types, index: list[str], path: str
) -> tuple[str | None, list[Types], tuple[str, ...]]:
    """Take the first such column with values as the ids, and leave out the others."""
    filled = [name for name in index if family(own[name])]
    chosen = filled[0] if filled else None
    remarks = [_left_out(name, [own]) for name in index if name != chosen]
    if chosen is not None:
        remarks.insert(
            0,
            f"{path}: {titled(chosen)} looks like a row index and is taken as the row "
            f"id, not as a model ({advice(chosen)} leaves it out)",
        )
    others = [name for name in index if name != chosen]
    return chosen, [_without(own, others)], tuple(remarks)


def _left_out(name: str, types: list[Types]) -> str:
    why = "holds no values"
    if any(name in own and family(own[name]) for own in types):
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
    """Say of ids that repeat, and were only taken for an index, what to do."""
    try:
        yield
    except ValueError as error:
        if not plan.guessed or plan.id_column is None:
            raise
        message = (
            f"{error}; {titled(plan.id_column)} looks like a row index, but does not "
            f"identify rows: leave it out ({advice(plan.id_column)})"
        )
        raise ValueError(message) from None


def other_truth(target: str, first: str, second: str) -> str:
    """Say that true labels are not the same."""
    return f"{target!r} differs between {first} and {second}"


def no_column(name: str, columns: Iterable[str], where: str, option: str) -> str:
    """Say that a column which an option names is not there."""
    known = visible(", ".join(columns)) or "none"
    return f"{where} has no column {name!r} ({option}); there are: {known}"
