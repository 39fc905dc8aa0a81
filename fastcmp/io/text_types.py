"""What the columns of a text file hold, and the types in which no two texts merge.

Text has no types. Two labels are equal where their texts are the same, or where both
are whole numbers of one value (1, +1, 1.0). Numbers are but a faster form of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

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

_DIGITS = 15
_EXACT = 2**53
_WHOLE = r"^[ \t]*[+-]?(0|[1-9][0-9]*)(\.0*)?[ \t]*$"
_LONG = r"[0-9]{16}"
_DECIMAL = r"^-?(0|[1-9][0-9]*)\.[0-9]*[1-9]$"
_NUMBER = r"^[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?$"
_TRUTH = r"^(true|True|TRUE|false|False|FALSE)$"
_AFTER_0 = {bytes([code]) for code in b"0123456789xX"}
_PIECE = 1 << 18  # bytes that stay in a processor's cache


@dataclass(frozen=True, slots=True)
class Seen:
    """A column of labels or ids, as the beginning of its file shows it."""

    #: Its type.
    kind: Any
    #: What was found in it; None where the file itself says the type.
    found: int | None


def in_words(texts: Any) -> int:
    """Tell what cells hold, each value once."""
    import pyarrow.compute as pc

    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    rest = texts.drop_null()
    is_whole = pc.match_substring_regex(rest, _WHOLE)
    numbers, rest = rest.filter(is_whole), rest.filter(pc.invert(is_whole))
    negative = pc.match_substring_regex(numbers, "-0*[1-9]")  # -0 is 0
    found = BELOW if pc.any(negative).as_py() else 0
    is_long = pc.match_substring_regex(numbers, _LONG)
    for number in set(map(_whole, numbers.filter(is_long).to_pylist())):
        found |= _found_long(number)
    if not pc.all(is_long).as_py() and len(numbers):
        found |= SHORT
    for pattern, kind in ((_TRUTH, TRUTH), (_DECIMAL, DECIMAL), (_NUMBER, NUMBER)):
        if not len(rest):
            break
        fits = pc.match_substring_regex(rest, pattern)
        if kind == DECIMAL:
            digits = pc.subtract(pc.utf8_length(rest), 1)
            fits = pc.and_(fits, pc.less_equal(digits, _DIGITS))
        if kind == NUMBER:
            fits = _half(rest, fits)
        found |= kind if pc.any(fits).as_py() else 0
        rest = rest.filter(pc.invert(fits))
    return found | (WORD if len(rest) else 0)


def _half(texts: Any, fits: Any) -> Any:
    """Leave out numbers that are whole but not written so, such as 1e3."""
    import pyarrow.compute as pc

    plain = pc.utf8_ltrim(pc.if_else(fits, texts, "0"), characters="+")
    try:
        values = plain.cast(pa.float64())
    except pa.ArrowInvalid:  # such as "." and "e5"
        return pa.array([_is_half(text) for text in plain.to_pylist()], pa.bool_())
    return pc.and_(pc.is_finite(values), pc.not_equal(values, pc.floor(values)))


def _is_half(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def _whole(text: str) -> int:
    return int(text.strip().partition(".")[0])


def _found_long(number: int) -> int:
    if -(2**63) <= number < 2**63:
        return SHORT if abs(number) < 10**_DIGITS else LONG
    return BEYOND if 2**63 <= number < 2**64 else WORD


def in_numbers(column: Any) -> int:
    """Tell what a column of numbers or truths holds."""
    import pyarrow.compute as pc

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


def label_type(found: int) -> Any:
    """Choose the type of a column of labels."""
    if not found:
        return pa.null()
    if not found & ~WHOLE:
        return pa.int64()
    if not found & ~(SHORT | LONG | BEYOND):
        return pa.uint64()
    if not found & ~(SHORT | BELOW | DECIMAL):
        return pa.float64()
    return pa.bool_() if found == TRUTH else pa.string()


def score_type(found: int) -> Any:
    """Choose the type of a column of numbers that are no labels."""
    kind = label_type(found)
    if kind == pa.string() and not found & (TRUTH | WORD):
        return pa.float64()
    return kind


def shared_types(truths: Sequence[Seen], models: Sequence[Seen]) -> list[Any]:
    """Choose types in which true and predicted labels compare."""
    columns = [*truths, *models]
    is_number = all(
        family(seen.kind) in ("", "number")
        and (seen.found is None or not seen.found & (DECIMAL | NUMBER))
        for seen in truths
    )

    def is_score(seen: Seen) -> bool:
        found = seen.found or 0
        return is_number and bool(found & NUMBER) and not found & (TRUTH | WORD)

    says_numbers = is_number and any(seen.found is None for seen in truths)
    as_text = not says_numbers and any(
        value_type(seen.kind) == pa.string() and not is_score(seen) for seen in columns
    )
    kinds = []
    for seen in columns:
        kind = seen.kind
        if seen.found and as_text:
            kind = pa.string()
        elif is_score(seen):
            kind = pa.float64()
        kinds.append(kind)
    return kinds


def id_types(columns: Sequence[Seen]) -> list[Any]:
    """Choose types in which ids of several files compare."""
    found = 0
    for seen in columns:
        own = value_type(seen.kind) == pa.string()
        found |= seen.found or (WORD if own else 0)
    common = label_type(found)
    if not pa.types.is_integer(common):
        common = pa.string()
    for seen in columns:  # dates are written in one way
        if seen.found is None and pa.types.is_temporal(value_type(seen.kind)):
            common = value_type(seen.kind)
    return [common if seen.found else seen.kind for seen in columns]


def has_codes(data: bytes) -> bool:
    """Tell whether there may be numbers with a 0 in front, or in base 16."""
    codes = np.frombuffer(data, np.uint8)
    for start in range(0, len(data), _PIECE):
        piece = codes[max(start - 1, 0) : start + _PIECE + 1]
        after = piece[2:]
        wanted = (after - ord("0")) < 10
        base_16 = (after | 0x20) == ord("x")
        if base_16.any():
            wanted |= base_16
        here = wanted & (piece[1:-1] == ord("0"))
        if here.any():
            # A sign, a quote, a blank, a comma or a line break; neither "." nor "/".
            here &= piece[:-2] < ord(".")
            if here.any():
                return True
    # Of the first cell of a block nothing stands before it.
    return data[:1] == b"0" and data[1:2] in _AFTER_0


def converted(texts: Any, kind: Any) -> tuple[Any, int | None]:
    """Convert cells of a text file, if all of them fit a type."""
    import pyarrow.compute as pc

    coded = texts.dictionary_encode()
    words = coded.dictionary
    if kind == pa.string():
        plain = _with_plain_numbers(words)
        if plain is words:
            return coded, None
        coded = pa.DictionaryArray.from_arrays(coded.indices, plain)
        return coded.dictionary_decode().dictionary_encode(), None
    if not _fits(in_words(words), kind):
        bad = next(i for i in range(len(words)) if not _fits(in_words(words[i : i + 1]), kind))
        return None, int(pc.index(coded.indices, bad).as_py())
    plain = _with_plain_numbers(words)
    return plain.cast(kind).take(coded.indices), None


def _fits(found: int, kind: Any) -> bool:
    widened = {
        pa.int64(): WHOLE,
        pa.uint64(): SHORT | LONG | BEYOND,
        pa.float64(): SHORT | BELOW | DECIMAL,
    }
    return not found & ~widened[kind]


def _with_plain_numbers(words: Any) -> Any:
    """Write whole numbers in one way, as 1 for +1 and 1.0."""
    import pyarrow.compute as pc

    is_whole = pc.match_substring_regex(words, _WHOLE)
    if not pc.any(is_whole).as_py():
        return words
    texts = words.to_pylist()
    plain = [
        str(_whole(text)) if fits else text
        for text, fits in zip(texts, is_whole.to_pylist(), strict=True)
    ]
    return words if plain == texts else pa.array(plain, pa.string())
