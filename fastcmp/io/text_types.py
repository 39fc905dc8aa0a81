"""What the columns of a text file hold, and the types in which no two texts merge.

Text has no types. Two labels are equal where their texts are the same, or where both
are whole numbers of one value (1, +1, 1.0) or one truth value (true, True). Numbers are
but a faster form of that, chosen by what all distinct texts of a column are.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fastcmp.io.formats import family, value_type

# What was found in a column, as a sum.
SHORT = 1  # whole numbers of at most 15 digits, which float64 holds
LONG = 2  # others within int64
BELOW = 4  # some of these are negative
BEYOND = 8  # whole numbers from 2^63 to below 2^64
DECIMAL = 16  # others of at most 15 digits, and no zero at the end: one text a value
NUMBER = 32  # other numbers that are not whole
TRUTH = 64  # true and false
WORD = 128  # all other text, such as 007, 0x10, 1e3 and dates
WHOLE = SHORT | LONG | BELOW

#: Distinct texts of a column, with a code for each cell.
TEXTS = pa.dictionary(pa.int32(), pa.string())

_DIGITS = 15
_EXACT = 2**53
_WHOLE = r"[ \t]*[+-]?(?:0|[1-9][0-9]*)(?:\.0*)?[ \t]*"
_MEANING = re.compile(
    rf"(?P<whole>{_WHOLE})|(?P<truth>true|True|TRUE|false|False|FALSE)"
    r"|(?P<decimal>-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])"
    r"|(?P<number>[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)"
)
_PIECE = 1 << 18  # bytes that stay in a processor's cache
_FEW = 100  # distinct texts up to which what they are is remembered
_LONGEST = 4000  # digits; Python reads no longer numbers
_HEAD = 100  # ids that are looked at first


@dataclass(frozen=True, slots=True)
class Seen:
    """A column of labels or ids, as far as its file is read."""

    #: Its type.
    kind: pa.DataType
    #: What was found in it; None where the file itself says the type.
    meanings: int | None


def found_in(column: pa.Array | pa.ChunkedArray) -> int:
    """What the cells of a column of a text file are, as a sum."""
    if pa.types.is_integer(column.type):
        return in_numbers(column)
    if isinstance(column, pa.ChunkedArray):
        return reduce(operator.or_, map(found_in, column.chunks), 0)
    if pa.types.is_dictionary(column.type):
        words = tuple(column.dictionary.to_pylist())
        return _remembered(words) if len(words) <= _FEW else _meanings(words)
    if pa.types.is_string(column.type):
        return _in_ids(column)
    return in_numbers(column)


def _meanings(words: Sequence[str]) -> int:
    meanings = 0
    for text in words:
        meanings |= _meaning(text)
    return meanings


_remembered = lru_cache(maxsize=1 << 10)(_meanings)


def _meaning(text: str) -> int:
    """What a text is: one of the bits above, and BELOW for negative whole numbers."""
    kind = _what(text)
    if kind == "whole":
        number = _whole(text)
        return _found_long(number) | (BELOW if number < 0 else 0)
    if kind == "truth":
        return TRUTH
    if kind == "decimal" and len(text) - 1 <= _DIGITS:
        return DECIMAL
    try:  # "." and "e5" are none, and 1e3 is whole but not written so
        return NUMBER if kind and not float(text).is_integer() else WORD
    except (ValueError, OverflowError):
        return WORD


def _what(text: str) -> str | None:
    """The name of the pattern that a text fits; None for words."""
    match = _MEANING.fullmatch(text) if len(text) < _LONGEST else None
    return match and match.lastgroup


def _whole(text: str) -> int:
    return int(text.strip().partition(".")[0])


def _found_long(number: int) -> int:
    if -(2**63) <= number < 2**63:
        return SHORT if abs(number) < 10**_DIGITS else LONG
    return BEYOND if 2**63 <= number < 2**64 else WORD


def _in_ids(texts: pa.Array) -> int:
    """What ids are: whole numbers, or words, whatever these are."""
    for sample in (texts[:_HEAD], texts):
        if pc.all(pc.match_substring_regex(sample, f"^{_WHOLE}$")).as_py() is False:
            return WORD
    with suppress(pa.ArrowInvalid):
        return in_numbers(texts.cast(pa.int64()))
    return _meanings(texts.drop_null().to_pylist())


def in_numbers(column: pa.Array | pa.ChunkedArray) -> int:
    """What a column of numbers or truths holds."""
    kind, types = column.type, pa.types
    if len(column) == column.null_count:
        return 0
    if types.is_boolean(kind):
        return TRUTH
    if not (types.is_integer(kind) or types.is_floating(kind)):
        return WORD
    low, high = (x.as_py() for x in pc.min_max(column).values())
    if types.is_floating(kind):
        return DECIMAL if max(-low, high) < _EXACT else NUMBER
    return _found_long(low) | _found_long(high) | (BELOW if low < 0 else 0)


def label_type(meanings: int) -> Any:
    """Choose the type of a column of labels."""
    if not meanings:
        return pa.null()
    if not meanings & ~WHOLE:
        return pa.int64()
    if not meanings & ~(SHORT | LONG | BEYOND):
        return pa.uint64()
    if not meanings & ~(SHORT | BELOW | DECIMAL):
        return pa.float64()
    return pa.bool_() if meanings == TRUTH else pa.string()


def shared_types(truths: Sequence[Seen], models: Sequence[Seen]) -> list[Any]:
    """Choose types in which true and predicted labels compare."""
    columns = [*truths, *models]
    is_number = all(
        family(column.kind) in ("", "number")
        and (column.meanings is None or not column.meanings & (DECIMAL | NUMBER))
        for column in truths
    )

    def is_score(column: Seen) -> bool:
        meanings = column.meanings or 0
        return is_number and bool(meanings & NUMBER) and not meanings & (TRUTH | WORD)

    says_numbers = is_number and any(column.meanings is None for column in truths)
    as_text = not says_numbers and any(
        value_type(column.kind) == pa.string() and not is_score(column) for column in columns
    )
    kinds = []
    for column in columns:
        kind = column.kind
        if column.meanings and as_text:
            kind = pa.string()
        elif is_score(column):
            kind = pa.float64()
        kinds.append(kind)
    return kinds


def id_types(columns: Sequence[Seen]) -> list[Any]:
    """Choose types in which ids of several files compare."""
    meanings = 0
    for column in columns:
        is_text = value_type(column.kind) == pa.string()
        meanings |= column.meanings or (WORD if is_text else 0)
    common = label_type(meanings)
    if not pa.types.is_integer(common):
        common = pa.string()
    for column in columns:  # dates are written in one way
        if column.meanings is None and pa.types.is_temporal(value_type(column.kind)):
            common = value_type(column.kind)
    return [common if column.meanings else column.kind for column in columns]


def has_codes(data: bytes) -> bool:
    """Whether there may be numbers with a 0 in front, or in base 16."""
    codes = np.frombuffer(data, np.uint8)
    for start in range(0, len(data), _PIECE):
        before, here, after = (
            codes[start + i : start + i + _PIECE][: len(data) - start - 2] for i in range(3)
        )
        # After a sign, a quote, a blank, a comma or a line break; not after "." or "/".
        code = (here == ord("0")) & (before < ord("."))
        code &= ((after - ord("0")) < 10) | ((after | 0x20) == ord("x"))
        if code.any():
            return True
    # Of the first cell of a block nothing stands before it.
    return re.match(rb"0[0-9xX]", data) is not None


def converted(column: pa.Array | pa.ChunkedArray, kind: pa.DataType, *, truths: bool = True) -> Any:
    """Convert a column of a text file to a type; text is coded.

    Without `truths` true and True are two texts. Raises LookupError, with the text and its
    row, where a text does not fit.
    """
    if isinstance(column, pa.ChunkedArray):
        chunks, n = [], 0
        for chunk in column.chunks:
            try:
                chunks.append(converted(chunk, kind, truths=truths))
            except LookupError as error:
                text, row = error.args
                raise LookupError(text, n + row) from None
            n += len(chunk)
        chunk_type = chunks[0].type if chunks else kind
        return pa.chunked_array(chunks, chunk_type).unify_dictionaries()
    if kind == column.type:
        return column
    if column.null_count == len(column):
        return pa.nulls(len(column), TEXTS if kind == pa.string() else kind)
    if not pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type):
        texts = column.cast(kind)
        return texts.dictionary_encode() if kind == pa.string() else texts
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = coded.dictionary
    labels = _labels_of(words, kind, truths=truths)
    if labels.null_count:
        code = pc.index(pc.is_null(labels), value=True).as_py()
        raise LookupError(words[code].as_py(), pc.index(coded.indices, code).as_py())
    if kind == pa.string():
        return column if labels.equals(words) else labels.take(coded.indices).dictionary_encode()
    return labels.take(coded.indices)


def _labels_of(words: pa.Array, kind: pa.DataType, *, truths: bool) -> Any:
    """The label that each text stands for; null where it is none of a type."""
    if len(words) <= _FEW:
        return _remembered_labels(tuple(words.to_pylist()), kind, truths=truths)
    if pa.types.is_integer(kind):
        with suppress(pa.ArrowInvalid):
            return words.cast(kind)
    return _labels(words.to_pylist(), kind, truths=truths)


def _labels(texts: Sequence[str], kind: object, *, truths: bool) -> Any:
    def label(text: str) -> Any:
        what = _what(text)
        if kind == pa.string():
            if what == "whole":
                return str(_whole(text))
            return text.capitalize() if what == "truth" and truths else text
        try:
            if pa.types.is_boolean(kind):
                return text.lower() == "true"
            if pa.types.is_integer(kind):
                return _whole(text)
            return float(text) if kind == pa.float64() else pa.scalar(text).cast(kind).as_py()
        except ValueError:
            return None

    return pa.array(map(label, texts), kind)


_remembered_labels = lru_cache(maxsize=1 << 10)(_labels)


def as_type(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> Any:
    """A block of a column in the type of the whole column."""
    if column.type == kind:
        return column
    if kind == TEXTS:
        return column.cast(pa.string()).dictionary_encode()
    return column.cast(kind, safe=not pa.types.is_floating(kind))


def text_of(label: object) -> str:
    """The text that a label has where a later block shows that labels are texts."""
    if isinstance(label, float):
        return np.format_float_positional(label, trim="-")
    return str(label)
