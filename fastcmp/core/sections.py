"""What a record says of itself: sections of sentences and tables, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, sentences and perhaps a table."""

    title: str = ""
    #: Sentences above the table.
    text: tuple[str, ...] = ()
    #: Column names; empty where there is no table.
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    #: Sentences below the table.
    notes: tuple[str, ...] = ()
    #: Rows that suffice where a table is read in passing; None: all.
    most: int | None = None

    def is_numeric(self, column: int) -> bool:
        """Whether all cells of a column are numbers or intervals."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(cell[0] in "+-[<.0123456789" for cell in cells)


#: How an entry of a table is written: a format, or a function of the entry.
Form = str | Callable[[Any], str]


class Column(NamedTuple):
    """A column of a record's main table: in frames and JSON, and how it is printed.

    In names and headings, ``{self...}`` is an attribute of the record, and ``{level}`` the name
    of its intervals.
    """

    #: Its name in frames and JSON; two of them for the ends of an interval.
    name: str
    #: The attribute that it shows, or a function of the record; by default as it is named. A
    #: record in which it is None has no such column.
    source: str | Callable[[Any], Any] = ""
    form: Form = ""
    #: Heading where it is printed; by default its name.
    head: str = ""

    @classmethod
    def each(cls, names: str, form: Form = "") -> tuple[Column, ...]:
        """Columns of the attributes of these names, all written in one way."""
        return tuple(cls(name, form=form) for name in names.split())

    def of(self, record: object) -> Any:
        """The entries of a record; rows of two for an interval."""
        if callable(self.source):
            return self.source(record)
        parts = [attribute(record, name) for name in (self.source or self.name).split()]
        return parts[0] if len(parts) == 1 else np.transpose(parts)


def attribute(record: object, path: str) -> Any:
    """An attribute, perhaps of an attribute; None where one on the way is None."""
    for name in path.split("."):
        record = None if record is None else getattr(record, name)
    return record


def main_table(name: str) -> Column:
    """The entry for reading that holds the main table of a record."""
    return Column(name, methodcaller("columns"))


def columns_of(record: object, table: Iterable[Column]) -> dict[str, Any]:
    """The columns of a table of a record, by their names."""
    columns: dict[str, Any] = {}
    for column in table:
        entries = column.of(record)
        names = [filled(name, record) for name in column.name.split()]
        if entries is None:
            continue
        if len(names) == 2:
            ends = np.asarray(entries)
            columns |= {name: ends[..., k].ravel() for k, name in enumerate(names)}
        else:
            columns[names[0]] = list(entries) if isinstance(entries, tuple) else entries
    return columns


def printed(
    record: Any, table: Iterable[Column], title: str, names: str = "", **about: Any
) -> Section:
    """A table of a record as it is printed.

    Parameters
    ----------
    record : Record
        Whose table.
    table : iterable of Column
        How it is made.
    title : str
        Of the section.
    names : str
        Names of the columns to print, the first of two for an interval; by default all.
    **about
        As in `table_of`.
    """
    columns_by_name = {column.name.split()[0]: column for column in table}
    columns = {}
    for name in names.split() or columns_by_name:
        column = columns_by_name[name]
        entries = column.of(record)
        if entries is not None:
            columns[heading(column, record)] = written(entries, column.form)
    return table_of(title, columns, **about)


def heading(column: Column, record: object) -> str:
    """What stands above a column of a record where it is printed."""
    return filled(column.head or column.name.replace("_", " "), record)


def filled(text: str, record: object) -> str:
    """A heading or a name with what it says of a record."""
    if "{" not in text:
        return text
    return text.format(self=record, level=level_of(record) if "{level}" in text else "")


def level_of(record: Any) -> str:
    """Name the intervals of a record by its confidence level, or its alpha."""
    level = getattr(record, "confidence_level", None)
    level = 1.0 - record.alpha if level is None else level
    return interval_name(level, getattr(record, "alternative", "two-sided"))


def table_of(
    title: str,
    columns: Mapping[str, Sequence[str]],
    *,
    text: Iterable[str] = (),
    notes: Iterable[str] = (),
    order: Any = None,
    most: int | None = 20,
) -> Section:
    """Make a section with a table.

    Parameters
    ----------
    title : str
        Of the section.
    columns : mapping of str to sequence of str
        The cells below each heading.
    text, notes : iterable of str
        Sentences above and below the table.
    order : sequence of int, optional
        Which rows, in this order; by default all.
    most : int, optional
        Rows that suffice where a table is read in passing.
    """
    rows = list(zip(*columns.values(), strict=True))
    return Section(
        title=title,
        text=tuple(text),
        columns=tuple(columns),
        rows=tuple(rows if order is None else [rows[i] for i in order]),
        notes=tuple(notes),
        most=most,
    )


def written(entries: Any, form: Form = "") -> list[str]:
    """Write the entries of a column; "-" for NaN and for intervals that are not known."""
    if isinstance(entries, np.ndarray):
        entries = entries.view(np.ndarray).tolist()
    return [_cell(entry, form) for entry in entries]


def _cell(entry: object, form: Form) -> str:
    if callable(form):
        return form(entry)
    if isinstance(entry, (list, tuple)):
        ends = [_cell(end, form) for end in entry]
        return "-" if "-" in ends else f"[{', '.join(ends)}]"
    return "-" if isinstance(entry, float) and math.isnan(entry) else format(entry, form)


def first_of_pairs(record: Any) -> list[str]:
    """The first model of each pair."""
    names: list[str] = np.array(record.names, object)[record.pairs[:, 0]].tolist()
    return names


def second_of_pairs(record: Any) -> list[str]:
    """The second model of each pair."""
    names: list[str] = np.array(record.names, object)[record.pairs[:, 1]].tolist()
    return names


#: Where the columns of a table of pairs begin.
PAIR = (
    Column("model_a", first_of_pairs, head="model a"),
    Column("model_b", second_of_pairs, head="model b"),
)
#: Where the columns of a table of models begin.
MODEL = Column("model", "names")


def span(ends: Sequence[int]) -> str:
    """Write the lowest and the highest of whole numbers, such as "2-5"."""
    low, high = ends
    return str(low) if low == high else f"{low}-{high}"


def yes(entry: object) -> str:
    """Mark what is so."""
    return "yes" if entry else ""


def beware(record: Any) -> list[Section]:
    """What makes the answer of a record doubtful, a section where there is something."""
    return [Section(title="Cautions", text=record.cautions)] if record.cautions else []


def format_pvalue(pvalue: float) -> str:
    """Write a p-value with two or three digits that tell, "-" for NaN."""
    if math.isnan(pvalue):
        return "-"
    if pvalue >= 0.9995:
        return "1"
    return f"{pvalue:.3f}" if pvalue >= 0.001 else f"{pvalue:.1e}"


def format_interval(low: float, high: float, *, digits: int, sign: str = "") -> str:
    """Write the two ends of an interval in brackets, such as "[+0.5, +2.1]"."""
    return f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def interval_name(confidence_level: float, alternative: str = "two-sided") -> str:
    """Name an interval by its level and its side, such as "one-sided 95% CI"."""
    side = "" if alternative == "two-sided" else "one-sided "
    return f"{side}{100 * confidence_level:.9g}% CI"
