"""Values of any size, divided by a power of two so that their powers can be computed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.records import ConfidenceInterval, Record

#: Values up to 2**100 have fourth powers, and from 2**-100 on, that floats can hold.
_SAFE = 100
_OF_MARGINS = ("margin", "difference", "standard_error", "interval", "inner_interval")


def scale_exponent(*arrays: NDArray[Any] | float) -> int:
    """Exponent e for which values / 2**e are at most 1; 0 where they need no scaling.

    Divide by ``np.ldexp(values, -e)``, which is exact, and multiply results that have
    the unit of the values by `scaled_back`. NaN is passed over; values must be finite.
    """
    largest = max(float(np.fmax.reduce(np.abs(x), axis=None)) for x in arrays if np.size(x))
    exponent = math.frexp(largest)[1] if math.isfinite(largest) else 0
    return exponent if largest > 0.0 and abs(exponent) > _SAFE else 0


def scaled_back(record: Any, exponent: int, names: tuple[str, ...]) -> Any:
    """Multiply the fields of a record that have the unit of the values by 2**exponent."""
    if not exponent:
        return record
    return replace(record, **{name: times(getattr(record, name), exponent) for name in names})


def times(value: Any, exponent: int) -> Any:
    """Multiply a number, array, interval or margin tests by 2**exponent; None stays None."""
    if value is None:
        return None
    if isinstance(value, Record):  # of margin tests
        return scaled_back(value, exponent, _OF_MARGINS)
    if isinstance(value, ConfidenceInterval):
        return ConfidenceInterval(*(times(end, exponent) for end in value))
    with np.errstate(over="ignore"):
        product = np.ldexp(value, exponent)
    return product if np.ndim(product) else float(product)
