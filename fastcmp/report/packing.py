"""Columns of numbers packed for a page: rounded, compressed, and read by boards.js."""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: P-values below this have digits; others have so many steps between 0 and 1.
_SMALL, _DECIMALS = 1e-3, 10_000
_SMALLEST = -323  # exponent of the smallest numbers that are not 0


def compressed(parts: Iterable[bytes]) -> str:
    """Compress bytes, and write them in letters."""
    packer = zlib.compressobj(6)
    packed = [packer.compress(part) for part in parts]
    return base64.b64encode(b"".join([*packed, packer.flush()])).decode()


def whole(values: Ints, known: Any = None, **how: Any) -> dict[str, Any]:
    """Pack whole numbers in as few bytes each as hold them; NaN where not `known`.

    The first bytes of all numbers come before the second ones: they compress better.
    """
    known = np.ones(values.shape, bool) if known is None else known
    found = values[known]
    least, most = (int(found.min()), int(found.max())) if found.size else (0, 0)
    width = next(w for w in (1, 2, 4) if most - least + 1 < 256**w)
    unknown = 256**width - 1
    moved = np.where(known, values - least, unknown).astype(f"<u{width}")
    planes = np.ascontiguousarray(moved).view(np.uint8).reshape(-1, width).T
    packed = compressed([planes.tobytes()])
    return {"kind": "whole", "width": width, "least": least, "packed": packed, **how}


def stepped(values: Floats, step: float, base: Ints, sign: int = 1) -> dict[str, Any]:
    """Pack numbers as whole steps beyond those of `base`, or short of them."""
    known = np.isfinite(values)
    steps = in_steps(np.where(known, values, 0.0), step)
    return whole(sign * (steps - base), known, kind="stepped", step=step, sign=sign)


def in_steps(values: Any, step: float) -> Ints:
    """Round to whole steps as a page's script does, halves up."""
    steps: Ints = np.floor(values / step + 0.5).astype(np.int64)
    return steps


def rounded(values: Floats, digits: int) -> dict[str, Any]:
    """Pack numbers rounded to so many significant digits.

    A number is its sign, its exponent of ten and its digits, counted as one: 0 is 0.
    """
    known = np.isfinite(values)
    size = np.abs(np.where(known, values, 0.0))
    is_zero = size == 0.0
    logs = np.log10(np.where(is_zero, 1.0, size))
    exponents = np.floor(logs).astype(np.int64)
    tens = 10 ** (digits - 1)
    leading = np.rint(10.0 ** (logs - exponents) * tens).astype(np.int64)
    up = leading == 10 * tens
    exponents, leading = exponents + up, np.where(up, tens, leading)
    first = int(exponents[~is_zero].min()) if not is_zero.all() else 0
    codes = 1 + (exponents - first) * 9 * tens + leading - tens
    codes = np.where(is_zero, 0, codes)
    codes = np.where(values < 0.0, -codes, codes)
    return whole(codes, known, kind="rounded", digits=digits, first=first)


def pvalues(values: Floats) -> dict[str, Any]:
    """Pack p-values to four decimals, those below 0.001 to two digits; 0 stays 0."""
    known = np.isfinite(values)
    pvalue = np.where(known, values, 1.0)
    is_small = (pvalue > 0.0) & (pvalue < _SMALL)
    logs = np.log10(np.where(is_small, pvalue, _SMALL))
    exponents = np.floor(logs).astype(np.int64)
    leading = np.rint(10.0 ** (logs - exponents + 1)).astype(np.int64)  # 10 to 100
    steps = (-exponents * 90) - (leading - 10)  # 100 is 10 of the next exponent
    codes = np.where(is_small, _DECIMALS + steps, np.rint(pvalue * _DECIMALS))
    return whole(codes.astype(np.int64), known, kind="pvalue")


def step_of(values: Any, *, digits: int = 5) -> float:
    """Find the power of ten that leaves so many digits of the largest number."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0:
        return 10.0**-digits
    return float(10.0 ** max(math.floor(math.log10(largest)) + 1 - digits, _SMALLEST))
