"""Amounts on the command line: numbers, perhaps in percent or percentage points."""

from __future__ import annotations

import re

#: Suffix -> how it is explained.
POINTS = ("pp", "0.005, or 0.5pp for percentage points")
PERCENT = ("%", "0.15, or 15%")
_NUMBER = r"\s*([0-9.eE_+-]+)\s*"


def read_amount(text: str, option: str, suffix: tuple[str, str] | None = POINTS) -> float:
    """Read a number; with the suffix it is one of hundredths.

    Examples
    --------
    >>> from fastcmp.cli.amounts import read_amount
    >>> read_amount("0.5pp", "--margin")
    0.005
    """
    unit, written = suffix or ("", "")
    hundredths = re.fullmatch(_NUMBER + unit, text) if unit else None
    try:
        # The quotient is the number that people write: 0.29, where 29 * 0.01 is not.
        return float(hundredths[1]) / 100 if hundredths else float(text)
    except ValueError:
        such = f" such as {written}" if written else ""
        raise ValueError(f"{option} must be a number{such}, got {text!r}") from None
