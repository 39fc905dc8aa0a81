"""Values of wanted keys as numbers and hashes, where `json_fields` found them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp._jit import kernel, load_word
from fastcmp.kernels.json_fields import (
    ABSENT,
    FALSE,
    INFINITY,
    MINUS_INFINITY,
    NAN,
    NULL,
    NUMBER,
    TRUE,
)
from fastcmp.kernels.rng import _mix

if TYPE_CHECKING:
    from fastcmp.kernels.json_fields import ByteArray
    from fastcmp.kernels.typing import FloatArray, IntArray, WordArray

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@kernel
def read_whole(data: ByteArray, spans: IntArray, kinds: ByteArray, out: IntArray) -> bool:
    """Read whole numbers; False if a value is none, or has more than 18 digits."""
    for row in range(kinds.size):
        i, stop = spans[row, 0], spans[row, 1]
        if kinds[row] != NUMBER or stop - i > 18:
            return False
        negative = data[i] == 45
        if negative:
            i += 1
        number: Any = 0
        while i < stop:
            digit = np.int64(data[i]) - 48
            if not 0 <= digit <= 9:
                return False
            number = 10 * number + digit
            i += 1
        out[row] = -number if negative else number
    return True


@kernel
def _decimal(data: ByteArray, i: int, stop: int) -> tuple[float, bool]:
    """Read a number whose digits and power of ten are exact as float64.

    Clinger, How to read floating point numbers accurately, 1990: one rounding.
    """
    negative = data[i] == 45
    if negative:
        i += 1
    digits: Any = 0
    decimals, after, n = 0, False, 0
    while i < stop:
        byte = data[i]
        if byte == 46:
            after = True
        elif 48 <= byte <= 57:
            digits = 10 * digits + (np.int64(byte) - 48)
            n += digits > 0
            decimals += after
        else:
            break
        i += 1
        if n > 16:
            return 0.0, False
    if i < stop or digits > 9007199254740992 or decimals > 22:
        return 0.0, False
    power = 1.0
    for _ in range(decimals):
        power *= 10.0  # exact up to 1e22
    value = digits / power
    return (-value if negative else value), True


@kernel
def read_numbers(
    data: ByteArray, spans: IntArray, kinds: ByteArray, out: FloatArray, left: ByteArray
) -> int:
    """Read numbers; true is 1, false 0, null and absent NaN. Return how many are left.

    `left` is 1 for what is no number, and numbers with an exponent or many digits.
    """
    n_left = 0
    for row in range(kinds.size):
        kind = kinds[row]
        left[row] = 0
        out[row] = np.nan
        if kind == NUMBER:
            value, done = _decimal(data, spans[row, 0], spans[row, 1])
            if done:
                out[row] = value
            else:
                left[row] = 1
        elif kind == TRUE:
            out[row] = 1.0
        elif kind == FALSE:
            out[row] = 0.0
        elif kind == INFINITY:
            out[row] = np.inf
        elif kind == MINUS_INFINITY:
            out[row] = -np.inf
        elif kind not in (NULL, ABSENT, NAN):
            left[row] = 1
        n_left += left[row]
    return n_left


@kernel
def hash_bytes(data: ByteArray, start: int, stop: int) -> Any:
    """Hash bytes to 64 bits, never 0."""
    text: Any = np.int64(data.ctypes.data)
    mixed = np.uint64(_mix(np.uint64(stop - start)))
    i = start
    while i + 8 <= stop:
        mixed = np.uint64(_mix(mixed ^ load_word(text, i)))
        i += 8
    rest = np.uint64(0)
    for j in range(stop - i):
        rest |= np.uint64(data[i + j]) << np.uint64(8 * j)
    mixed = np.uint64(_mix(mixed ^ rest))
    return mixed if mixed != _ZERO else _ONE


@kernel
def hash_spans(data: ByteArray, spans: IntArray, kinds: ByteArray, out: WordArray) -> None:
    """Hash values as they are written; 0 for null and for what is absent."""
    for row in range(kinds.size):
        if kinds[row] == NULL or kinds[row] == ABSENT:
            out[row] = np.uint64(0)
        else:
            out[row] = hash_bytes(data, spans[row, 0], spans[row, 1])
