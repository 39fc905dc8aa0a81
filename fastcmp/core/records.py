"""The base of all records: how a result prints, is written, and is read back.

Thus `paired` and `pairwise` take the counts of `fastcmp.stream` without importing it.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import MISSING, Field, fields
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

import fastcmp
from fastcmp.core import render
from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.saved_states import make_record, readable, to_plain
from fastcmp.core.sections import Column, Section, columns_of, printed
from fastcmp.core.typing import Floats, Label

#: Measures of which less is better.
LESS_IS_BETTER = ("cost", "error", "loss", "mean loss", "mean rank")


class Drawn:
    """A record of which `fastcmp.plot` has a picture, or several."""

    __slots__ = ()

    #: The function of `fastcmp.plot` that draws it; of several pictures by their kinds,
    #: the usual one first.
    _picture: ClassVar[str | dict[str, str]]

    def plot(self, kind: str | None = None, **options: object) -> Any:
        """Draw the record; needs matplotlib.

        Parameters
        ----------
        kind : str, optional
            Which picture, where there are several: of models compared in pairs
            "leaderboard", "pvalues" or "critical-difference".
        **options
            Those of the function of `fastcmp.plot` that draws this record, such as
            ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the picture; also `ax_`.

        Raises
        ------
        ValueError
            If there is no such picture.
        ImportError
            If matplotlib is not installed.
        """
        name = self._picture
        if not isinstance(name, str):
            name = name[choose(kind or next(iter(name)), "kind", tuple(name))]
        elif kind is not None:
            raise BadValueError("`kind=` is for records with several pictures", repr(kind))
        axes = getattr(fastcmp.plot, name)(self, **options)
        object.__setattr__(self, "_axes", axes)
        return axes

    @property
    def ax_(self) -> Any:
        """The axes that `plot` drew on last."""
        axes = getattr(self, "_axes", None)
        if axes is None:
            raise AttributeError("ax_ and figure_ are there when plot() has drawn")
        return axes

    @property
    def figure_(self) -> Any:
        """The figure that `plot` drew on last."""
        return self.ax_.figure

    def __getstate__(self) -> Any:
        """All but the axes."""
        return self.__dict__


class Pilot:
    """A record from which the same test of more samples can be planned."""

    __slots__ = ()
    #: How it is read, a row of `fastcmp.planning.pilots.READERS`; "" where it cannot be.
    _pilot: ClassVar[str] = ""

    def power(self, *, n: object, **options: object) -> Any:
        """Work out how probably n new samples find what this record estimates.

        Parameters
        ----------
        n : int or array-like of int
            New samples.
        **options
            Those of `fastcmp.planning.power`; by default those of this test.

        Returns
        -------
        fastcmp.planning.Plan
            With ``power`` at the estimates, ``assurance``, the mean of the power over
            what this pilot leaves open, and an ``interval``.
        """
        return fastcmp.plan_from(self, "power", {"n": n, **options})

    def sample_size(self, *, power: object = 0.8, **options: object) -> Any:
        """The number of new samples that gives the test the power wanted.

        Parameters
        ----------
        power : float or array-like
            Probability wanted.
        **options
            Those of `fastcmp.planning.sample_size`; by default those of this test.

        Returns
        -------
        fastcmp.planning.Plan
            With ``n`` at the estimates, ``assurance``, the mean of the power at that n
            over what this pilot leaves open, and an ``interval`` of n.
        """
        return fastcmp.plan_from(self, "sample_size", {"power": power, **options})


def less_is_better(record: Any) -> bool:
    """Whether the better model has the lower value: by the measure's name, or as recorded."""
    recorded = getattr(record, "lower_is_better", False)
    return record.measure in LESS_IS_BETTER or (not np.ndim(recorded) and bool(recorded))


class Compared:
    """A record of two models, a and b: which did better?"""

    __slots__ = ()

    #: What was measured, such as "accuracy" or "cost".
    measure: Any
    #: The measure of a minus that of b.
    difference: Any
    _opening: ClassVar[str] = "Test: {title}."
    _blocks: ClassVar[str] = "two_models:two_models"
    #: What attributes with the measure of a and of b begin with, such as "accuracy".
    _value: ClassVar[str]
    #: What is tested, two-sided and one-sided, by the words of `sentences.null_hypothesis`.
    _nulls: ClassVar[tuple[str, str]] = (
        "{a} and {b} have the same {measure}",
        "the {measure} of {a} is not {more}",
    )

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        lower = getattr(self, "lower_is_better", False)
        if not np.ndim(lower):
            lower = less_is_better(self)
        gain = np.sign(self.difference) * np.where(lower, -1.0, 1.0)
        if np.ndim(gain):
            names = np.array(["b", None, "a"], dtype=object)
            return names[np.nan_to_num(gain).astype(int) + 1]
        return {1.0: "a", -1.0: "b"}.get(float(gain))


class Unpacked:
    """A record that unpacks into its first fields, as a tuple of arrays would."""

    __slots__ = ()

    #: How many of the fields.
    _n_unpacked: ClassVar[int]

    def _parts(self) -> tuple[Any, ...]:
        names = [field.name for field in fields(self)[: self._n_unpacked]]  # type: ignore[arg-type]
        return tuple(getattr(self, name) for name in names)

    def __iter__(self) -> Iterator[Any]:
        """Unpack."""
        return iter(self._parts())

    def __len__(self) -> int:
        """Count the parts."""
        return self._n_unpacked

    def __getitem__(self, index: int | slice) -> Any:
        """A part by its number."""
        return self._parts()[index]


# The fields of records: compared, written in brief, and as columns of a table.


def same(first: object, second: object) -> bool:
    """Whether two fields are equal, where NaN equals NaN."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return (
            isinstance(first, np.ndarray)
            and isinstance(second, np.ndarray)
            and first.shape == second.shape
            and _same_entries(first, second)
        )
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, (tuple, list)) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second) or (is_nan(first) and is_nan(second))


def _same_entries(first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.dtype.kind == "O":
        return all(map(same, first.ravel().tolist(), second.ravel().tolist()))
    return np.array_equal(first, second, equal_nan=first.dtype.kind in "fmM")


def is_nan(value: object) -> bool:
    """Whether a value is a number or a time that does not equal itself."""
    scalar = isinstance(value, (float, np.generic, Decimal))
    return scalar and bool(value != value)  # noqa: PLR0124


def column(value: object, shape: tuple[int, ...]) -> list[Any] | None:
    """A field as a column of the main table, or None where it cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int, float)):
        return [value] * math.prod(shape)
    if isinstance(value, np.ndarray) and value.shape == shape:
        return value.ravel().tolist()
    return list(value) if type(value) is tuple and shape == (len(value),) else None


def brief(value: object) -> str:
    """Write a field in a few letters."""
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, tuple) and len(value) > 4 and type(value) is tuple:
        return f"<{len(value)} entries>"
    if isinstance(value, tuple) and type(value) is tuple:
        inner = ", ".join(map(brief, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if hasattr(value, "sections"):  # a record
        return f"<{type(value).__name__}>"
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"<{type(value).__name__}>"


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
    def T(self) -> NDArray[Any]:  # type: ignore[override]
        """Lower and upper ends, shape (2, P)."""
        return np.asarray(self).T

    def __iter__(self) -> Iterator[Any]:
        """The ends of one interval; several cannot be unpacked as if they were one."""
        if self.ndim > 1:
            raise TypeError(
                f"these are {len(self)} intervals, shape {self.shape}: take .low and .high, or "
                "interval[i] of one; rows are in .tolist()"
            )
        return iter(np.asarray(self))


def keep_intervals(record: object, *names: str) -> None:
    """Make arrays of intervals, in a new record, such as cannot be unpacked by mistake."""
    for name in names:
        value = getattr(record, name)
        if isinstance(value, np.ndarray):
            object.__setattr__(record, name, value.view(Intervals))


def _quick_init(cls: type[Record], slow: Any) -> Any:
    """An `__init__` that sets the fields of a record while it is not frozen.

    That of a frozen dataclass calls `object.__setattr__` for each, and takes three times as long.
    """
    if any(field.default_factory is not MISSING for field in fields(cls)):
        return slow
    names = slow.__code__.co_varnames[1 : 1 + slow.__code__.co_kwonlyargcount]
    quick = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    thawed = type(cls.__name__, (cls,), {"__slots__": (), **quick})
    scope = {"slow": slow, "cls": cls, "thawed": thawed, "become": object.__setattr__}
    lines = [
        f"def __init__(self, *, {', '.join(names)}):",
        f"if type(self) is not cls: return slow(self, {', '.join(f'{x}={x}' for x in names)})",
        "become(self, '__class__', thawed)",
        *(f"self.{name} = {name}" for name in names),
        "self.__class__ = cls",
        *(["self.__post_init__()"] if hasattr(cls, "__post_init__") else []),
    ]
    exec("\n    ".join(lines), scope)  # as `dataclass` does
    init: Any = functools.wraps(slow)(scope["__init__"])
    init.__kwdefaults__ = slow.__kwdefaults__
    return init


class Record:
    """What a function returns: a frozen dataclass that prints, and becomes a table.

    A subclass gives `sections`, and declares its main table, where that is not one row of its
    fields, what `to_dict` has for reading, and its page.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __slots__ = ("_axes",)  # of the last picture of one that is `Drawn`

    #: The columns of the main table, in frames and as they are printed.
    _columns: ClassVar[tuple[Column, ...]] = ()
    #: Properties that are shown after the fields, and fields that are not shown.
    _derived: ClassVar[tuple[str, ...]] = ()
    _hidden: ClassVar[tuple[str, ...]] = ()
    #: What `to_dict` has for reading, where that is not what is shown: names of attributes, or
    #: names with where they come from.
    _read: ClassVar[tuple[str | Column, ...]] = ()

    #: What was done, the first sentence of its methods section, and the last one. They are
    #: written with ``record``, its ``title``, the names ``a`` and ``b``, and the ``level``.
    _opening: ClassVar[str] = ""
    _closing: ClassVar[str] = ""
    #: Works that its methods section cites, by keys of `report.references`: always, by the values
    #: of an attribute (or where it is not empty), or as a function of the record says.
    _cites: ClassVar[tuple[str | tuple[str, Any] | Callable[[Any], str], ...]] = ()
    #: What makes the blocks of its page, "module:function" of `fastcmp.report`; empty where
    #: these are its words and tables.
    _blocks: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Let the first record of a class with slots compile a quicker `__init__`."""
        super().__init_subclass__()
        slow: Any = vars(cls).get("__init__")
        if slow is None or slow.__code__.co_argcount > 1:
            return  # `dataclass` makes the class anew with slots, after `__init__`

        @functools.wraps(slow)
        def first(self: Record, *args: object, **fields: object) -> None:
            type.__setattr__(cls, "__init__", _quick_init(cls, slow))
            cls.__init__(self, *args, **fields)

        type.__setattr__(cls, "__init__", first)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What there is to say, in order.
        """
        raise NotImplementedError(f"{type(self).__name__} must say what it holds")

    @property
    def _reported(self) -> Record:
        """The record that a methods section is about."""
        return self

    @property
    def _pairs(self) -> Any:
        """The decisions about pairs that the record holds, None without."""
        return None

    def _headline(self) -> str:
        """The answer in one sentence, which a page begins with."""
        from fastcmp.core.sentences import headline_of

        return headline_of(self)

    def columns(self) -> dict[str, Any]:
        """The main table as columns.

        Returns
        -------
        dict of str to list
            Columns of equal length: a row for each p-value where these are an array,
            else one row.
        """
        if self._columns:
            return columns_of(self, self._columns)
        values = {name: x for name, x in self._shown().items() if name not in _NOT_SHOWN}
        shape = np.shape(values.get("pvalue", next(iter(values.values()))))
        columns: dict[str, Any] = {}
        for name, value in values.items():
            ends = {name: value}
            if isinstance(value, ConfidenceInterval):
                ends = {f"{name}_{end}": x for end, x in value._asdict().items()}
            columns |= {key: column(x, shape) for key, x in ends.items()}
        return {name: entries for name, entries in columns.items() if entries is not None}

    def _printed(self, title: str, names: str = "", **about: object) -> Section:
        """The main table, or some of its columns, as a section: see `sections.printed`."""
        return printed(self, self._columns, title, names, **about)

    def summary(self) -> str:
        """Everything in words and tables, of any width and length.

        Returns
        -------
        str
            Lines of text.
        """
        return render.to_text(self.sections())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python objects, ready for JSON.

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

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the main table to what reads Arrow's streams: polars, DuckDB, pandas."""
        return self.to_frame("pyarrow").__arrow_c_stream__(requested_schema)

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
        >>> from fastcmp import mcnemar
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "report.html")
        ...     mcnemar(only_a=11, only_b=1).report(path)
        ...     "McNemar" in path.read_text(encoding="utf-8")
        True
        """
        fastcmp.write_report({"": self}, path, title=title, command=getattr(self, "call", ""))

    def _fields(self) -> dict[str, Any]:
        """All fields, by name."""
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names}

    def _shown(self) -> dict[str, Any]:
        """What `columns` and `to_dict` show, by name."""
        values = {name: x for name, x in self._fields().items() if name not in self._hidden}
        values |= {name: getattr(self, name) for name in self._derived}
        if isinstance(self, Compared):
            with suppress(ValueError):  # the difference needs counts that are unknown
                names = ("measure", "difference", "better")
                values |= {name: getattr(self, name) for name in names}
            if values.get("margins") is not None:
                values |= values["margins"]._beside()
        return values

    def _entries(self) -> dict[str, Any]:
        """The entries of `to_dict` that are for reading."""
        if not self._read:
            return {name: readable(x) for name, x in self._shown().items()}
        entries = {}
        for entry in self._read:
            if isinstance(entry, str):
                entries[entry] = readable(getattr(self, entry))
            else:
                entries[entry.name] = readable(entry.of(self))
        return entries

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
        texts = [f"{name}={brief(x)}" for name, x in self._fields().items()]
        ends = np.cumsum([len(field) + 2 for field in texts])
        if ends[-1] > _LONGEST:
            texts = [*texts[: int(np.sum(ends <= _LONGEST))], "..."]
        return f"{type(self).__name__}({', '.join(texts)})"

    def __str__(self) -> str:
        """Render as text, as wide as the terminal."""
        sections = render.in_passing(self.sections())
        return render.to_text(sections, render.terminal_width())

    def _repr_html_(self) -> str:
        """The tables and pictures of the report; without Jinja2 the tables alone."""
        try:
            return fastcmp.to_fragment(self)
        except ImportError:
            return render.to_html(render.in_passing(self.sections()))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook chooses from; text is what `print` shows."""
        forms = {
            "text/plain": self.__str__,
            "text/markdown": lambda: render.to_markdown(render.in_passing(self.sections())),
            "text/html": self._repr_html_,
        }
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        active = shell.display_formatter.active_types if shell else forms  # of a terminal: text
        mime_types = set(include or active) - set(exclude or ())
        return {name: make() for name, make in forms.items() if name in mime_types}


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
    >>> from fastcmp import from_dict, mcnemar
    >>> result = mcnemar(only_a=11, only_b=1)
    >>> from_dict(json.loads(json.dumps(result.to_dict()))) == result
    True
    """
    if not isinstance(plain, dict) or not {"record", "version", "fields"} <= set(plain):
        raise BadValueError(
            "`plain` must be what a record's to_dict() gave, with record, version and fields",
            brief(plain),
        )
    if plain["version"] != VERSION:
        raise BadValueError(
            f"`plain` has version {plain['version']!r} of the format, and this fastcmp reads "
            f"version {VERSION}: compute it again"
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


# What counts offer: functions that take them ask for a method, not for a class.


class ScoreTable(NamedTuple):
    """One score for each model and task."""

    #: Models, M of them, and tasks, D.
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    #: NaN where a model has none, shape (M, D).
    scores: Floats
    lower_is_better: bool = False


class Counts(Protocol):
    """What all counts of several models know."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the models; None before the first block."""

    @property
    def n_samples(self) -> int:
        """Samples that were counted."""

    @property
    def n_missing(self) -> int:
        """Samples dropped because the true label is missing."""

    @property
    def n_excluded(self) -> int:
        """Samples dropped because the true label is not among the classes."""


class PairedCounts(Counts, Protocol):
    """On which samples two models are right, such as `fastcmp.stream.PairCounts`."""

    @property
    def correct(self) -> NDArray[Any]:
        """Samples that each model got right, shape (M,)."""

    @property
    def joint(self) -> NDArray[Any]:
        """Samples that both of two models got right, shape (M, M)."""

    @property
    def joint_upper(self) -> NDArray[Any]:
        """The same for i < j, 0 below the diagonal."""

    def paired_counts(self) -> dict[str, Any]:
        """The four counts of the only pair, by name."""


class LabelledCounts(Counts, Protocol):
    """Samples by true and predicted classes, such as `fastcmp.stream.LabelCounts`."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels of the classes."""

    @property
    def is_dense(self) -> bool:
        """Whether `counts` has all cells."""

    @property
    def counts(self) -> NDArray[Any]:
        """Samples by true class and both predictions, (P, K, K, K)."""

    def cells(self, pair: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Cells that occur for a pair, and their counts."""

    def label_table(self) -> Any:
        """The counts of the only pair."""


class TwoClassCounts(Counts, Protocol):
    """Counts of one model, such as `fastcmp.stream.ConfusionCounts`."""

    def two_class_counts(self, positive: Label = None) -> tuple[dict[str, int], tuple[Any, Any]]:
        """True and false positives and negatives, and the labels of both classes."""


class ConfusionMatrices(Counts, Protocol):
    """Confusion matrices of models, such as `fastcmp.stream.ConfusionCounts`."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels of the classes."""

    def matrix(self, model: str | int) -> NDArray[Any]:
        """The confusion matrix of a model."""


class ValueCounts(Counts, Protocol):
    """Moments of values, such as `fastcmp.stream.ValueMoments`."""

    def pair_moments(self, *, variance: str | None = None, df: str = "satterthwaite") -> Any:
        """Means and covariances, and the degrees of freedom of pairs."""


class TaskScores(Protocol):
    """Scores of models on tasks, such as those of `fastcmp.read_results`."""

    def task_scores(self) -> ScoreTable:
        """One score a model and task."""


# The class is asked: a frame has an attribute for each of its columns.


def are_paired(counts: object) -> TypeGuard[PairedCounts]:
    """Whether these are counts of pairs of models."""
    return hasattr(type(counts), "paired_counts")


def are_labelled(counts: object) -> TypeGuard[LabelledCounts]:
    """Whether these are counts by true and predicted classes."""
    return hasattr(type(counts), "label_table")


def are_two_class(counts: object) -> TypeGuard[TwoClassCounts]:
    """Whether these are counts of true and false positives and negatives."""
    return hasattr(type(counts), "two_class_counts")


def are_confusions(counts: object) -> TypeGuard[ConfusionMatrices]:
    """Whether these are confusion matrices of models."""
    return are_two_class(counts) and hasattr(type(counts), "matrix")


def are_valued(counts: object) -> TypeGuard[ValueCounts]:
    """Whether these are moments of values."""
    return hasattr(type(counts), "pair_moments")


def are_task_scores(scores: object) -> TypeGuard[TaskScores]:
    """Whether these are scores of models on tasks."""
    return hasattr(type(scores), "task_scores")
