"""The base of all records: how a result prints, is written, and is read back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core import render
from fastcmp.core.fields import brief, column, is_nan, same
from fastcmp.core.options import choose
from fastcmp.core.plain import make_record, readable, to_plain
from fastcmp.core.record_parts import Compared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from fastcmp.core.sections import Section

#: Version of what `Record.to_dict` gives; `from_dict` refuses any other.
VERSION = 1

_FRAMES = ("pandas", "polars", "pyarrow")
_LONGEST = 200  # letters of a repr
_NOT_SHOWN = ("status", "n_missing", "n_excluded", "n_outside")  # in tables


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval, numbers or arrays of one shape."""

    low: Any
    high: Any


class Intervals(np.ndarray[Any, Any]):
    """Intervals of many, shape (P, 2): two of them are never unpacked as one low and high."""

    @property
    def low(self) -> NDArray[Any]:
        """Lower ends, shape (P,)."""
        return np.asarray(self)[..., 0]

    @property
    def high(self) -> NDArray[Any]:
        """Upper ends, shape (P,)."""
        return np.asarray(self)[..., 1]

    @property
    def T(self) -> NDArray[Any]:  # type: ignore[override]  # noqa: N802
        """Lower and upper ends, shape (2, P)."""
        return np.asarray(self).T

    def __iter__(self) -> Iterator[Any]:
        """Give the ends of one interval; refuse to unpack several as if they were one."""
        if self.ndim > 1:
            raise TypeError(
                f"these are {len(self)} intervals, shape {self.shape}: take .low and .high, or "
                "interval[i] of one; rows are in .tolist()"
            )
        return iter(np.asarray(self))


def keep_intervals(record: Any, *names: str) -> None:
    """Make arrays of intervals, in a new record, such as cannot be unpacked by mistake."""
    for name in names:
        value = getattr(record, name)
        if isinstance(value, np.ndarray):
            object.__setattr__(record, name, value.view(Intervals))


class Record:
    """What a function returns: a frozen dataclass that prints, and becomes a table.

    A subclass gives `sections`, and `columns` where its main table is not one row of
    its fields.
    """

    __slots__ = ()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What there is to say, in order.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it holds")

    def columns(self) -> dict[str, Any]:
        """Give the main table as columns.

        Returns
        -------
        dict of str to list
            Columns of equal length: a row for each p-value where these are an array,
            else one row.
        """
        shown = {name: x for name, x in self._shown().items() if name not in _NOT_SHOWN}
        shape = np.shape(shown.get("pvalue", next(iter(shown.values()))))
        columns: dict[str, Any] = {}
        for name, value in shown.items():
            ends = {name: value}
            if isinstance(value, ConfidenceInterval):
                ends = {f"{name}_{end}": x for end, x in value._asdict().items()}
            columns |= {key: column(x, shape) for key, x in ends.items()}
        return {name: entries for name, entries in columns.items() if entries is not None}

    def summary(self) -> str:
        """Say everything in words and tables, of any width and length.

        Returns
        -------
        str
            Lines of text.
        """
        return render.to_text(self.sections())

    def to_dict(self) -> dict[str, Any]:
        """Give plain Python objects, ready for JSON.

        Returns
        -------
        dict
            ``record`` and ``version``; entries to be read, in which what is not finite
            is None; and ``fields``, from which `fastcmp.from_dict` makes the record
            again, the same to the bit.
        """
        return {
            "record": type(self).__name__,
            "version": VERSION,
            **self._entries(),
            "fields": {name: to_plain(x) for name, x in self._fields().items()},
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """Make a frame of the main table.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The table that `columns` gives.

        Raises
        ------
        ValueError
            If the library is unknown.
        ImportError
            If it is not installed.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.to_frame("pyarrow").num_rows
        1
        """
        library = choose(library, "library", _FRAMES)
        try:
            module = import_module(library)
        except ImportError:
            raise ImportError(
                f"to_frame({library!r}) needs {library}: pip install {library}"
            ) from None
        make = module.table if library == "pyarrow" else module.DataFrame
        return make(self.columns())

    def to_markdown(self) -> str:
        """Write as GitHub's markdown.

        Returns
        -------
        str
            Headings, paragraphs and pipe tables.
        """
        return render.to_markdown(self.sections())

    def to_latex(self) -> str:
        """Write as LaTeX tables for the booktabs package.

        Returns
        -------
        str
            One table environment a table.
        """
        return render.to_latex(self.sections())

    def to_html(self) -> str:
        """Write as HTML, as a notebook shows it.

        Returns
        -------
        str
            A fragment of a page.
        """
        return render.to_html(self.sections())

    def report(self, path: str | Path, *, title: str = "") -> None:
        """Write a report: one file of HTML to open, print or send; needs Jinja2.

        Parameters
        ----------
        path : str or Path
            Where to write, such as ``"report.html"``: its extension is ``.html`` or
            ``.htm``. A file there is replaced.
        title : str
            Of the page.

        Raises
        ------
        TypeError
            If `path` is no path, such as an open file, or `title` is no text.
        ValueError
            If `path` has another extension.
        ImportError
            If Jinja2 is not installed.
        OSError
            If the file cannot be written.

        Notes
        -----
        Tables, pictures and scripts are in the file: nothing is loaded from elsewhere.
        The same record gives the same bytes.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from fastcmp import mcnemar_from_counts
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "report.html")
        ...     mcnemar_from_counts(11, 1).report(path)
        ...     "McNemar" in path.read_text(encoding="utf-8")
        True
        """
        write_report = import_module("fastcmp.report.page").write_report
        write_report({"": self}, path, title=title)

    def _fields(self) -> dict[str, Any]:
        """Give all fields, by name."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names}

    def _shown(self) -> dict[str, Any]:
        """Give what `columns` and `to_dict` show, by name."""
        shown = self._fields()
        if isinstance(self, Compared):
            with suppress(ValueError):  # the difference needs counts that are unknown
                names = ("measure", "difference", "better")
                shown |= {name: getattr(self, name) for name in names}
        return shown

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        return {name: readable(x) for name, x in self._shown().items()}

    def __eq__(self, other: object) -> bool:
        """Compare all fields; arrays are equal where all entries are, NaN included."""
        if type(other) is not type(self):
            return NotImplemented
        mine, its = self._fields().values(), other._fields().values()
        return all(map(same, mine, its))

    def __hash__(self) -> int:
        """Hash all fields; arrays have no hash."""
        values = self._fields().values()
        return hash(tuple(None if is_nan(value) else value for value in values))

    def __repr__(self) -> str:
        """Name the record and its fields, in one line."""
        shown = [f"{name}={brief(x)}" for name, x in self._fields().items()]
        ends = np.cumsum([len(field) + 2 for field in shown])
        if ends[-1] > _LONGEST:
            shown = [*shown[: int(np.sum(ends <= _LONGEST))], "..."]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        """Render as text, as wide as the terminal."""
        shown = render.shortened(self.sections())
        return render.to_text(shown, render.terminal_width())

    def _repr_html_(self) -> str:
        return render.to_html(render.shortened(self.sections()))


def from_dict(plain: dict[str, Any]) -> Any:
    """Make a record again from what `to_dict` gave.

    Parameters
    ----------
    plain : dict
        From a record's ``to_dict()``, perhaps through JSON.

    Returns
    -------
    Record
        Equal to the record that it came from.

    Raises
    ------
    ValueError
        If it is no such mapping, of another version, its fields are not those of the
        record, or one cannot be read.

    Notes
    -----
    Only ``record``, ``version`` and ``fields`` are read: the other entries are for
    people and other programs.

    Examples
    --------
    >>> import json
    >>> from fastcmp import from_dict, mcnemar_from_counts
    >>> result = mcnemar_from_counts(11, 1)
    >>> from_dict(json.loads(json.dumps(result.to_dict()))) == result
    True
    """
    if not isinstance(plain, dict) or not {"record", "version", "fields"} <= set(plain):
        raise ValueError(
            "plain must be what a record's to_dict() gave, with record, version and "
            f"fields, got {brief(plain)}"
        )
    if plain["version"] != VERSION:
        raise ValueError(
            f"plain has version {plain['version']!r} of the format, and this fastcmp "
            f"reads version {VERSION}: compute it again"
        )
    try:
        return make_record(plain["record"], plain["fields"])
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(
            f"fields of plain cannot be read ({error}): pass what to_dict() gave, unchanged"
        ) from error


def unwrap(flat: NDArray[Any], shape: tuple[int, ...]) -> Any:
    """Answers in the shape of the input: a Python number for ``()``."""
    return flat.reshape(shape) if shape else flat.item()
