"""One column of labels, from whatever library it comes.

A column is read either as plain integers, which need no further work, or as codes into
its distinct values with -1 for what is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Flags, Floats, Ints

_BOOLEANS = (bool, np.bool_)
INTEGRAL_LIMIT = 2.0**53

#: Before NumPy 2.2 equal dates of different units have different hashes.
_HASHED_BY_UNIT = hash(np.datetime64(1, "D")) != hash(np.datetime64(24, "h"))


def kind_of(label: object) -> str:
    """Kind of a label, such as "number"; only labels of a kind compare."""
    if isinstance(label, str):
        return "str"
    if isinstance(label, bytes):
        return "bytes"
    if isinstance(label, (Number, np.bool_)):
        return "number"
    return type(label).__name__


def is_missing(label: object) -> bool:
    """Whether a label is None, NaN, NaT or NA."""
    if label is None:
        return True
    unequal = label != label  # noqa: PLR0124  # NaN and NaT differ from themselves
    if isinstance(unequal, (bool, np.bool_)):
        return bool(unequal)
    return type(label).__name__ == "NAType"  # pandas.NA answers every question with NA


def plain_number(x: Any) -> Any:
    """The Python number that equals a number of NumPy; other labels stay.

    Whole floats that are exact in 53 bits become int, and so do whole long doubles,
    whose hash is not that of the int that they equal. Long doubles that equal no int
    and no float stay.
    """
    if isinstance(x, np.longdouble):
        if np.isfinite(x) and x == np.trunc(x):
            return int(x)
        with np.errstate(over="ignore"):
            return float(x) if x == np.float64(x) else x
    if isinstance(x, np.number) and not isinstance(x, np.timedelta64):
        x = x.item()
    whole = isinstance(x, float) and abs(x) < INTEGRAL_LIMIT and x == int(x)
    return int(x) if whole else x


def hashable(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Labels of which equal ones have equal hashes: NumPy's dates and times in one unit."""
    if _HASHED_BY_UNIT:
        return tuple(map(_in_nanoseconds, labels))
    return tuple(labels)


def _in_nanoseconds(x: object) -> Any:
    """A date or time in nanoseconds, where that is exact."""
    if not isinstance(x, (np.datetime64, np.timedelta64)):
        return x
    unit = np.dtype(f"{x.dtype.kind}8[ns]")
    if not np.can_cast(x.dtype, unit, "same_kind"):  # years and months of no fixed length
        return x
    fine = x.astype(unit)
    return fine if fine.astype(x.dtype) == x and fine == x else x


def distinct(labels: Iterable[Any]) -> list[Any]:
    """Labels without repetition, in the order in which they came.

    Of equal ones of different types, such as True and 1, the number is kept, and of
    numbers the plainest type.
    """
    kept: dict[Any, Any] = {}
    for label in labels:
        kept[label] = max(kept.get(label, label), label, key=_rank)
    return list(kept.values())


def _rank(label: object) -> int:
    kinds: tuple[Any, ...] = (_BOOLEANS, int, float)
    return next((i for i, k in enumerate(kinds) if isinstance(label, k)), len(kinds))


def ascending(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Different labels of one kind, ascending.

    Labels without an order, such as members of an Enum, are sorted by what `repr`
    writes.
    """
    entries = list(labels)
    try:
        in_order = sorted(entries)
        if all(one < two for one, two in pairwise(in_order)):
            return tuple(in_order)
    except TypeError:
        pass
    return tuple(sorted(entries, key=repr))


_HASHING_PAYS = 20_000  # samples; below it a sort is faster than importing pyarrow
_WHOLE = (int, np.integer, np.bool_)


@dataclass(slots=True, kw_only=True)
class Column:
    """Labels of one model, or the true ones.

    Exactly one of `integers` and `codes` is given.
    """

    #: What to call it in an error: a model's name with control characters escaped.
    name: str
    #: The labels themselves, an integer or bool array without missing values.
    integers: NDArray[Any] | None = None
    #: Positions in `distinct`, -1 where missing.
    codes: NDArray[Any] | None = None
    #: The distinct labels, as Python objects.
    distinct: tuple[Any, ...] = ()

    def __len__(self) -> int:
        """Count the samples."""
        return len(self.integers if self.integers is not None else self.positions())

    def positions(self) -> NDArray[Any]:
        """The codes of a factorized column, -1 where missing."""
        assert self.codes is not None
        return self.codes

    def missing(self) -> Flags | None:
        """Which labels are missing; None where all are there."""
        if self.integers is not None:
            return None
        mask = self.positions() < 0
        return mask if mask.any() else None

    def take(self, keep: Flags) -> Column:
        """The column of some samples."""
        if self.integers is not None:
            return Column(name=self.name, integers=self.integers[keep])
        return Column(name=self.name, codes=self.positions()[keep], distinct=self.distinct)

    def factorized(self) -> Column:
        """Return the same labels as codes into their distinct values."""
        if self.integers is None:
            return self
        codes, distinct = _factorize_integers(self.integers)
        return Column(name=self.name, codes=codes, distinct=tuple(distinct.tolist()))

    def trimmed(self) -> Column:
        """The same labels as codes into those that occur: a category may not."""
        column = self.factorized()
        codes = column.positions()
        counts = np.bincount(codes[codes >= 0], minlength=len(column.distinct))
        if counts.all():
            return column
        place = np.append(np.cumsum(counts > 0) - 1, -1)
        distinct = tuple(column.distinct[code] for code in np.flatnonzero(counts))
        return Column(name=self.name, codes=place[codes], distinct=distinct)

    def places(self, labels: Sequence[Any]) -> Ints:
        """The place of each sample's label among some labels, -1 where it is not among them."""
        column, place = self.factorized(), {label: i for i, label in enumerate(labels)}
        places = [place.get(label, -1) for label in column.distinct]
        return np.asarray(np.array([*places, -1], np.int64)[column.positions()])

    def labels(self) -> list[Any]:
        """The labels that occur, ascending."""
        return list(ascending(self.trimmed().distinct))

    def examples(self) -> str:
        """The first four labels in words, and how many there are."""
        return listed(self.labels())

    def refuse_missing(self, message: str, kept: Flags | None = None, remedy: str = "") -> None:
        """Refuse missing labels, with a message that has places for what is known of them.

        These are ``{name}``, the first ``{row}``, up to three ``{rows}``, their number ``{n}``
        ``{among}``, and that of all labels ``{size}``; rows are those of all samples, of which
        some were `kept`.
        """
        if (absent := self.missing()) is not None:
            rows = np.flatnonzero(absent) if kept is None else np.flatnonzero(kept)[absent]
            examples = ", ".join(map(str, rows[:3]))
            places = {"name": self.name, "row": "{row}", "rows": examples, "n": rows.size}
            text = message.format(**places, size=absent.size, among="{among}")
            raise BadValueError(text, remedy=remedy, row=int(rows[0]), among=" in all")

    def kind(self) -> str:
        """Kind of the labels, such as "number"; "" where all are missing."""
        if self.integers is not None:
            return "number" if len(self.integers) else ""
        kinds = {kind_of(label): type(label).__name__ for label in self.distinct}
        if len(kinds) > 1:
            types = " and ".join(sorted(kinds.values()))
            raise BadTypeError(f"`{self.name}` mixes {types} labels, which cannot be compared")
        return next(iter(kinds), "")


def listed(labels: Sequence[Any]) -> str:
    """Text of the first four labels, and of how many there are."""
    first = ", ".join(map(repr, labels[:4]))
    return f"{first}, ... ({len(labels)} in all)" if len(labels) > 4 else first


def check_kinds(columns: Sequence[Column]) -> None:
    """Refuse columns whose labels can never equal those of the first."""
    kind_of_first = columns[0].kind()
    for column in columns[1:]:
        if (kind := column.kind()) != kind_of_first and "" not in (kind, kind_of_first):
            raise BadTypeError(
                f"`{column.name}` holds {kind} labels and `{columns[0].name}` {kind_of_first} "
                "labels, which can never be equal: convert one of them "
                f"({column.examples()} against {columns[0].examples()})"
            )


def read_known(raw: object, name: str) -> tuple[Column, Flags | None]:
    """A column without missing labels, and which samples were kept: None for all."""
    column = read_column(raw, name)
    if (absent := column.missing()) is None:
        return column, None
    return column.take(~absent), ~absent


def count_rows(raw: Any, name: str) -> int:
    """Count the rows of a list, array, sparse matrix or frame."""
    shape = getattr(raw, "shape", None)
    if shape:
        return int(shape[0])
    try:
        return len(raw)
    except TypeError:
        raise BadTypeError(f"`{name}` must hold one row a sample", type(raw).__name__) from None


def read_column(raw: Any, name: str) -> Column:
    """Read labels of any supported type from any supported library."""
    if not name.isprintable():
        name = visible(name)
    if type(raw) is np.ndarray:  # the usual case, first: a stream has many columns
        if raw.ndim == 1 and raw.dtype.kind in "biu":
            return Column(name=name, integers=raw)
        return _read_array(raw, name)
    library = type(raw).__module__.partition(".")[0]
    if library == "pandas":
        return _read_pandas(raw, name)
    if library == "polars":
        return _read_polars(raw, name)
    if library == "pyarrow":
        return _read_arrow(raw, name)
    if isinstance(raw, np.ma.MaskedArray):
        return _read_masked(raw, name)
    if isinstance(raw, (str, bytes)) or np.ndim(raw if hasattr(raw, "shape") else 0) > 1:
        return _read_array(np.asarray(raw), name)
    if isinstance(raw, (list, tuple)):
        return _read_list(raw, name)
    return _read_array(np.asarray(raw), name)


def _read_list(raw: list[Any] | tuple[Any, ...], name: str) -> Column:
    types = set(map(type, raw))
    # np.asarray would turn [1, "1"] into two equal strings, drop the zero at the end of
    # "a\0", and round [2**63, -1] to floats: only plain numbers are left to it.
    if np.timedelta64 not in types and all(issubclass(t, _WHOLE) for t in types):
        try:
            return _read_array(np.array(raw, dtype=np.int64), name)
        except OverflowError:
            pass
    elif all(issubclass(t, (float, np.float32)) for t in types):
        return _read_array(np.array(raw, dtype=np.float64), name)
    if any(issubclass(t, (list, tuple, np.ndarray)) for t in types):
        shape = np.array(raw, dtype=object).shape
        if len(shape) > 1:
            _refuse_shape(shape, name)
    return _read_objects(_as_objects(raw), name)


def _as_objects(raw: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    array = np.empty(len(raw), dtype=object)
    array[:] = raw
    return array


def _refuse_shape(shape: tuple[int, ...], name: str) -> None:
    raise BadValueError(f"`{name}` must be one-dimensional", f"shape {shape}")


def _read_array(array: NDArray[Any], name: str) -> Column:
    if array.ndim != 1:
        _refuse_shape(array.shape, name)
    match array.dtype.kind:
        case "b" | "i" | "u":
            return Column(name=name, integers=array)
        case "f":
            return _read_floats(array, name)
        case "U" | "S":
            return _coded(name, *_factorize_strings(array))
        case "M" | "m":
            return _coded(name, *_factorize_sorted(array, np.isnat(array)))
        case "O" | "T":
            return _read_objects(array.astype(object, copy=False), name)
    raise BadTypeError(f"`{name}` holds labels of type {array.dtype}, which cannot be compared")


def _coded(name: str, codes: NDArray[Any], distinct: Any) -> Column:
    return Column(name=name, codes=codes, distinct=tuple(distinct))


def _read_floats(array: NDArray[Any], name: str) -> Column:
    with np.errstate(over="ignore"):
        doubles = array.astype(np.float64, copy=False)
    if not np.array_equal(doubles, array, equal_nan=True):
        return _read_objects(_as_objects(list(array)), name)  # long doubles
    array = doubles
    missing = np.isnan(array)
    if not missing.any():
        whole = np.abs(array) < INTEGRAL_LIMIT
        if whole.all() and np.array_equal(array, np.trunc(array)):
            return Column(name=name, integers=array.astype(np.int64))
    codes, distinct = _factorize_sorted(array, missing)
    return _coded(name, codes, map(plain_number, distinct.tolist()))


def _factorize_sorted(array: NDArray[Any], missing: Flags) -> tuple[Ints, NDArray[Any]]:
    distinct, positions = np.unique(array[~missing], return_inverse=True)
    codes = np.full(array.size, -1, np.int64)
    codes[~missing] = positions
    return codes, distinct


def _read_masked(array: np.ma.MaskedArray[Any, Any], name: str) -> Column:
    column = _read_array(np.asarray(array.data), name).factorized()
    codes = np.where(np.ma.getmaskarray(array), -1, column.positions())
    return Column(name=name, codes=codes, distinct=column.distinct)


def _factorize_integers(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if high - low >= max(1024, array.size) or high > np.iinfo(np.int64).max:
        distinct, codes = np.unique(array, return_inverse=True)
        return codes, distinct
    offset = array.astype(np.int64) - low
    present = np.bincount(offset, minlength=high - low + 1) > 0
    rank = np.cumsum(present) - 1
    return rank[offset], np.flatnonzero(present) + low


def _factorize_strings(array: NDArray[Any]) -> tuple[NDArray[Any], list[Any]]:
    if array.size >= _HASHING_PAYS:
        try:
            import pyarrow as pa
        except ImportError:
            if (hashed := _factorize_hashed(array.tolist())) is not None:
                return hashed
        else:  # hashed as they lie in memory, all of one width
            raw = pa.py_buffer(np.ascontiguousarray(array).view(np.uint8))
            whole = pa.Array.from_buffers(pa.binary(array.itemsize), array.size, [None, raw])
            coded = whole.dictionary_encode()
            codes, memory = coded.indices.to_numpy().astype(np.int64), coded.dictionary.buffers()[1]
            return codes, np.frombuffer(memory, array.dtype, len(coded.dictionary)).tolist()
    distinct, codes = np.unique(array, return_inverse=True)
    return codes, distinct.tolist()


def _factorize_hashed(labels: list[Any]) -> tuple[NDArray[Any], list[Any]] | None:
    """Factorize strings with pyarrow or pandas; None where neither can."""
    try:
        import pyarrow as pa
    except ImportError:
        pass
    else:
        try:
            return _dictionary_parts(pa.array(labels))
        except (pa.ArrowException, UnicodeError):  # surrogates are no UTF-8
            return None
    try:
        import pandas as pd
    except ImportError:
        return None
    if not _pandas_reads_all():
        return None
    codes, distinct = pd.factorize(_as_objects(labels))
    return codes, list(distinct)


@cache
def _pandas_reads_all() -> bool:
    """Whether pandas reads text beyond a zero byte: before 3 it does not."""
    distinct_texts: list[Any] = sys.modules["pandas"].factorize(_as_objects(["a", "a\0"]))[1]
    return len(distinct_texts) == 2


def _read_objects(array: NDArray[Any], name: str) -> Column:
    labels = array.tolist()
    if array.size >= _HASHING_PAYS and set(map(type, labels)) <= {str, type(None)}:
        hashed = _factorize_hashed(labels)
        if hashed is not None:
            return _coded(name, *hashed)
    if any(issubclass(kind, np.number) for kind in set(map(type, labels))):
        labels = [plain_number(x) for x in labels]
    try:
        distinct_labels = dict.fromkeys(labels)
        present = [label for label in distinct_labels if not is_missing(label)]
    except (TypeError, ValueError):
        for row, label in enumerate(labels):
            try:
                is_missing(label)
                hash(label)
            except (TypeError, ValueError):
                raise BadTypeError(
                    f"`{name}` holds a label of type {type(label).__name__} at row {{row}}, "
                    "which cannot be compared",
                    row=row,
                ) from None
        raise
    place = dict.fromkeys(distinct_labels, -1) | {label: i for i, label in enumerate(present)}
    codes = np.fromiter(map(place.__getitem__, labels), np.int64, len(labels))
    return _coded(name, codes, present)


def _read_pandas(raw: Any, name: str) -> Column:
    if getattr(raw, "ndim", 1) != 1:
        _refuse_shape(raw.shape, name)
    dtype = raw.dtype
    if type(dtype).__name__ == "CategoricalDtype":
        values = raw.cat if hasattr(raw, "cat") else raw
        codes, distinct = np.asarray(values.codes), dtype.categories.tolist()
        return _coded(name, *_without_missing(codes, distinct))
    if isinstance(dtype, np.dtype):
        return _read_array(raw.to_numpy(), name)
    if getattr(dtype, "storage", "") == "python" and not _pandas_reads_all():
        return _read_objects(raw.to_numpy(object, na_value=None), name)
    codes, distinct = sys.modules["pandas"].factorize(raw)
    # Arrow and nullable columns may hold NaN that is not null.
    labels = _coded(name, *_without_missing(codes, distinct.tolist()))
    return _as_integers(labels) or labels


def _as_integers(column: Column) -> Column | None:
    """Undo the coding of whole numbers, so that they compare with plain arrays."""
    if column.missing() is not None or not column.distinct:
        return None
    if not all(type(label) in (int, bool) for label in column.distinct):
        return None
    values = np.asarray(column.distinct)
    if values.dtype.kind not in "biu":
        return None
    return Column(name=column.name, integers=values[column.positions()])


def _read_polars(raw: Any, name: str) -> Column:
    if not hasattr(raw, "dtype"):
        _refuse_shape(raw.shape, name)
    kind = str(raw.dtype)
    if kind.lstrip("U").startswith(("Int", "Float")) and "128" not in kind:
        if raw.null_count() == 0:
            return _read_array(raw.to_numpy(), name)
    elif kind == "Object" or "128" in kind:
        return _read_list(raw.to_list(), name)
    try:
        return _read_arrow(raw.to_arrow(), name)
    except ImportError:  # polars is here without pyarrow
        return _read_list(raw.to_list(), name)


def _read_arrow(raw: Any, name: str) -> Column:
    import pyarrow as pa

    if not isinstance(raw, (pa.Array, pa.ChunkedArray)):
        _refuse_shape(getattr(raw, "shape", ()), name)
    kind = raw.type
    if raw.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return _read_array(raw.to_numpy(), name)
    if raw.null_count == 0 and pa.types.is_boolean(kind):
        return _read_array(np.asarray(raw.to_numpy(zero_copy_only=False)), name)
    try:
        return _coded(name, *_dictionary_parts(raw))
    except pa.ArrowNotImplementedError:
        return _read_objects(_as_objects(raw.to_pylist()), name)


def _dictionary_parts(raw: Any) -> tuple[NDArray[Any], list[Any]]:
    """Codes of an Arrow array, -1 for null, and the labels that they stand for."""
    import pyarrow as pa

    if not pa.types.is_dictionary(raw.type):
        raw = raw.dictionary_encode()
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.unify_dictionaries().combine_chunks()
    if isinstance(raw, pa.ChunkedArray):  # of no or several chunks, by version
        raw = pa.concat_arrays(raw.chunks) if raw.num_chunks else pa.array([], raw.type)
    indices = raw.indices.cast(pa.int64()).fill_null(-1)
    codes = indices.to_numpy(zero_copy_only=False)
    return _without_missing(codes, raw.dictionary.to_pylist())


def _without_missing(codes: NDArray[Any], labels: list[Any]) -> tuple[NDArray[Any], list[Any]]:
    """Codes and labels, -1 for a null or NaN that was among the distinct labels."""
    is_present = np.array([not is_missing(label) for label in labels], bool)
    if not is_present.all():
        place = np.where(is_present, np.cumsum(is_present) - 1, -1)
        codes = np.append(place, -1)[codes]
        labels = [label for label in labels if not is_missing(label)]
    return codes, labels


# One column of values, from whatever library it comes.


def read_values(raw: object, name: str) -> Floats:
    """Numbers or booleans as float64, NaN where one is missing."""
    if isinstance(raw, np.ma.MaskedArray):
        values = read_values(np.asarray(raw.data), name)
        return np.where(np.ma.getmaskarray(raw), np.nan, values)
    try:
        array = np.asarray(_of_library(raw))
    except ValueError:
        raise BadValueError(
            f"`{name}` must be one-dimensional", "lists of different lengths"
        ) from None
    if array.ndim != 1:
        raise BadValueError(f"`{name}` must be one-dimensional", f"shape {array.shape}")
    if array.dtype.kind == "O":
        array = _of_objects(array, name)
    if array.dtype.kind not in "biuf":
        _refuse(name, f"{array.dtype} values such as {array[:1].tolist()}")
    return np.ascontiguousarray(array, np.float64)


def _of_library(raw: Any) -> Any:
    """Numbers of a column of pandas, polars or pyarrow, null as NaN."""
    library = type(raw).__module__.partition(".")[0]
    if library == "pandas" and not isinstance(raw.dtype, np.dtype):
        types = sys.modules["pandas"].api.types
        if types.is_numeric_dtype(raw.dtype) and not isinstance(raw, types.CategoricalDtype):
            return raw.to_numpy(dtype=np.float64, na_value=np.nan)
        return raw.to_numpy(dtype=object)
    if library == "polars":
        if raw.dtype.is_numeric() or str(raw.dtype) in ("Boolean", "Null"):
            return raw.cast(sys.modules["polars"].Float64).to_numpy()
        return raw.to_list()
    if library == "pyarrow":
        types = sys.modules["pyarrow"].types
        numeric = (
            *(types.is_integer, types.is_floating, types.is_boolean),
            *(types.is_decimal, types.is_null),
        )
        if any(is_kind(raw.type) for is_kind in numeric):
            return raw.cast("float64").to_numpy(zero_copy_only=False)
        return raw.to_pylist()
    return raw


def _of_objects(array: NDArray[Any], name: str) -> Floats:
    """Python's numbers, None and NaN as an array."""
    values = np.full(array.size, np.nan)
    for i, entry in enumerate(array.tolist()):
        if isinstance(entry, (Real, np.bool_, Decimal)):
            values[i] = entry
        elif not is_missing(entry):
            _refuse(name, f"{type(entry).__name__} {str(entry)[:40]!r}")
    return values


def _refuse(name: str, content: str) -> None:
    raise BadTypeError(
        f"`{name}` must hold numbers or booleans, one value an item",
        f"{content}: labels belong to compare_all, a long table (a row a value) to from_long, "
        "and ids are left out",
    )
