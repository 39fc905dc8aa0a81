"""Where the values of wanted keys stand in JSON lines, without parsing the rest.

A walk over the bytes checks the grammar of a line as a whole: what it accepts,
`json.loads` accepts, and the wanted values are the same. Whatever is rare (a wanted key
twice, keys with escapes, deep nesting) or wrong is left to the caller: the line is
marked as unsure. Within strings eight bytes are looked at together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastcmp._jit import kernel, load_byte, load_word, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.kernels.typing import IntArray

    ByteArray: TypeAlias = NDArray[np.uint8]
    #: Wanted keys: the addresses of their names and of the table, and their number.
    Keys: TypeAlias = tuple[int, int, int]

#: Kinds of values. The span of a text is what stands between its quotes.
ABSENT, TEXT, ESCAPED, NUMBER, TRUE, FALSE, NULL = 0, 1, 2, 3, 4, 5, 6
NAN, INFINITY, MINUS_INFINITY, OBJECT, ARRAY = 7, 8, 9, 10, 11

_DEEPEST = 60  # brackets; one bit each
_LONGEST = 300  # bytes of a number; Python refuses more than 4300 digits

_ZERO, _ONE, _63 = np.uint64(0), np.uint64(1), np.uint64(63)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_QUOTES = np.uint64(0x2222222222222222)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
_SPACES = np.uint64(0x2020202020202020)


@kernel
def _to_special(text: int, i: int) -> Any:
    """Find the next quote, backslash or control character; there is one."""
    while True:
        word = load_word(text, i)
        quote, backslash = word ^ _QUOTES, word ^ _BACKSLASHES
        # The high bit of each byte that is found; above the first, it may be wrong.
        found = (
            ((quote - _ONES) & ~quote)
            | ((backslash - _ONES) & ~backslash)
            | ((word - _SPACES) & ~word)
        ) & _HIGHS
        if found:
            return i + (popcount((found - _ONE) & ~found) >> 3)
        i += 8


@kernel
def _is_hex(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 70 or 97 <= byte <= 102


@kernel
def _text_end(text: int, i: int) -> tuple[int, bool]:
    """Find the quote that ends a text; -1: it does not end, or is wrong."""
    plain = True
    while True:
        i = _to_special(text, i)
        if load_byte(text, i) == 34:
            return i, plain
        if load_byte(text, i) != 92:
            return -1, plain
        plain = False
        byte = load_byte(text, i + 1)
        if byte == 117:  # \u and four digits
            for j in range(i + 2, i + 6):
                if not _is_hex(load_byte(text, j)):
                    return -1, plain
            i += 6
        elif byte in (34, 92, 47, 98, 102, 110, 114, 116):
            i += 2
        else:
            return -1, plain


@kernel
def _digits(text: int, i: int) -> int:
    while 48 <= load_byte(text, i) <= 57:
        i += 1
    return i


@kernel
def _number_end(text: int, i: int) -> int:
    """Find where a number ends; -1: it is none."""
    start = i
    if load_byte(text, i) == 45:
        i += 1
    begin = i
    i = _digits(text, i)
    if i == begin or (load_byte(text, begin) == 48 and i > begin + 1):
        return -1
    if load_byte(text, i) == 46:
        begin = i + 1
        i = _digits(text, begin)
        if i == begin:
            return -1
    if load_byte(text, i) == 101 or load_byte(text, i) == 69:
        begin = i + 1
        if load_byte(text, begin) == 43 or load_byte(text, begin) == 45:
            begin += 1
        i = _digits(text, begin)
        if i == begin:
            return -1
    return i if i - start <= _LONGEST else -1


@kernel
def _is_word(text: int, i: int, word: int, n: int) -> bool:
    """Tell whether `n` bytes, at most 8, are those of a number, the first lowest."""
    j = 0
    while j < n and load_byte(text, i + j) == (word >> (8 * j)) & 255:
        j += 1
    return j == n


@kernel
def _scalar(text: int, i: int) -> tuple[int, int]:
    """Find where a value that is no text or container ends, and its kind."""
    byte = load_byte(text, i)
    if byte == 45 and load_byte(text, i + 1) == 73:
        if _is_word(text, i + 2, 0x7974696E69666E, 7):
            return i + 9, MINUS_INFINITY
    elif byte == 45 or 48 <= byte <= 57:
        return _number_end(text, i), NUMBER
    elif _is_word(text, i, 0x65757274, 4):
        return i + 4, TRUE
    elif _is_word(text, i, 0x65736C6166, 5):
        return i + 5, FALSE
    elif _is_word(text, i, 0x6C6C756E, 4):
        return i + 4, NULL
    elif _is_word(text, i, 0x4E614E, 3):
        return i + 3, NAN
    elif byte == 73 and _is_word(text, i + 1, 0x7974696E69666E, 7):
        return i + 8, INFINITY
    return -1, ABSENT


@kernel
def _find_key(text: int, start: int, stop: int, scope: int, keys: Keys) -> int:
    """Find which wanted key of a scope stands here; -1: none."""
    names, table, n_keys = keys
    n = stop - start
    for k in range(n_keys):
        row = 32 * k
        if np.int64(load_word(table, row + 8)) == n:
            name: Any = names + np.int64(load_word(table, row))
            j = 0
            while j < n and load_byte(text, start + j) == load_byte(name, j):
                j += 1
            if j == n and np.int64(load_word(table, row + 16)) == scope:
                return k
    return -1


@kernel
def _space(text: int, i: int) -> int:
    """Skip white space that does not end the line."""
    while load_byte(text, i) <= 32 and (
        load_byte(text, i) == 32 or load_byte(text, i) == 9 or load_byte(text, i) == 13
    ):
        i += 1
    return i


@kernel
def _key_end(text: int, i: int, scope: int, keys: Keys) -> tuple[int, int]:
    """Find where the value of a key begins, -1 if unsure, and which wanted key it is.

    A scope of -2 holds no wanted keys.
    """
    if load_byte(text, i) != 34:
        return -1, -1
    end, plain = _text_end(text, i + 1)
    slot = -1
    if scope > -2:
        if not plain:
            return -1, -1
        slot = _find_key(text, i + 1, end, scope, keys)
    if end < 0:
        return -1, -1
    i = _space(text, end + 1)
    return (_space(text, i + 1), slot) if load_byte(text, i) == 58 else (-1, -1)


@kernel
def _walk_line(text: int, i: int, keys: Keys, spans: IntArray, kinds: ByteArray) -> int:
    """Walk over a line, and note the values of wanted keys; -1: unsure."""
    depth, slot, outer, inner = 0, -1, -1, -1
    objects = _ZERO  # bit d: bracket d is that of an object
    in_object = False
    if load_byte(text, i) != 123:
        return -1
    while True:
        if in_object:
            scope = -2
            if depth == 1:
                scope = -1
            elif depth == 2 and outer >= 0 and load_word(keys[1], 32 * outer + 24):
                scope = outer
            i, slot = _key_end(text, i, scope, keys)
            if i < 0 or (slot >= 0 and kinds[slot] != ABSENT):
                return -1
        byte = load_byte(text, i)
        if byte == 34:
            end, plain = _text_end(text, i + 1)
            if end < 0:
                return -1
            if slot >= 0:
                spans[slot, 0], spans[slot, 1] = i + 1, end
                kinds[slot] = TEXT if plain else ESCAPED
                slot = -1
            i = end + 1
        elif byte in (123, 91):
            if slot >= 0:
                spans[slot, 0] = i
                kinds[slot] = OBJECT if byte == 123 else ARRAY
                if depth == 1:
                    outer = slot
                else:
                    inner = slot
                slot = -1
            depth += 1
            if depth > _DEEPEST:
                return -1
            in_object = byte == 123
            bit = _ONE << np.uint64(depth)
            objects = (objects | bit) if in_object else (objects & ~bit)
            i = _space(text, i + 1)
            if load_byte(text, i) != byte + 2:  # not empty
                continue
        else:
            end, kind = _scalar(text, i)
            if end < 0:
                return -1
            if slot >= 0:
                spans[slot, 0], spans[slot, 1] = i, end
                kinds[slot] = kind
                slot = -1
            i = end
        while True:
            i = _space(text, i)
            byte = load_byte(text, i)
            if byte == 44:
                i = _space(text, i + 1)
                break
            if byte != (125 if in_object else 93):
                return -1
            depth -= 1
            i += 1
            if depth == 0:
                i = _space(text, i)
                return i if load_byte(text, i) == 10 else -1
            in_object = (objects >> np.uint64(depth)) & _ONE != _ZERO
            if depth == 2 and inner >= 0:
                spans[inner, 1] = i
                inner = -1
            elif depth == 1 and outer >= 0:
                spans[outer, 1] = i
                outer = -1


@kernel
def scan_lines(
    data: ByteArray,
    limits: tuple[int, int],
    names: ByteArray,
    table: IntArray,
    spans: IntArray,
    kinds: ByteArray,
    lines: IntArray,
) -> tuple[int, int, int]:
    """Scan lines from the first limit to the second, where a line feed must stand.

    Behind the second limit there must be 16 bytes more. A row of `table` is a wanted
    key: where it begins in `names`, its length, which wanted key has the object that
    holds it as its value (-1: none, it is a key of the line), and whether it is the key
    of such an object, 1 or 0. For each line that is not empty: where the wanted
    values begin and end, their kinds, and in `lines` where it begins and ends, how many
    lines stand before it, and 1 if it is unsure. Return the rows filled, where the next
    line begins (there may be more lines than rows), and how many stand before it.
    """
    text: Any = np.int64(data.ctypes.data)
    addresses: Any = (np.int64(names.ctypes.data), np.int64(table.ctypes.data), table.shape[0])
    i, stop = limits
    row = 0
    before = 0
    while i < stop and row < lines.shape[0]:
        start = i
        first = _space(text, i)
        if load_byte(text, first) == 10:
            i = first + 1
            before += 1
            continue
        kinds[row, :] = ABSENT
        i = _walk_line(text, first, addresses, spans[row], kinds[row])
        lines[row, 3] = i < 0
        if i < 0:
            i = first
            while load_byte(text, i) != 10:
                i += 1
        lines[row, 0], lines[row, 1], lines[row, 2] = start, i, before
        row += 1
        before += 1
        i += 1
    return row, i, before
