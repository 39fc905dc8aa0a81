"""The status of a kernel's answer, and the codes of its options.

Kernels never raise. If there is no answer they return NaN together with a status.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple


class Status(IntEnum):
    """How far an answer can be trusted."""

    #: Computed by the formula.
    OK = 0
    #: The data hold no information (no discordant sample, all models identical);
    #: the value is the convention that the function documents.
    DEGENERATE = 1
    #: An iteration ended before its tolerance was met.
    NOT_CONVERGED = 2
    #: The input has no meaning (a negative count, a level outside (0, 1)); NaN.
    INVALID = 3
    #: The data admit no answer (an equation without a root); NaN.
    UNDEFINED = 4


# Plain integers: numba freezes them, and they cost no extra signatures.
OK: Final = 0
DEGENERATE: Final = 1
NOT_CONVERGED: Final = 2
INVALID: Final = 3
UNDEFINED: Final = 4

TWO_SIDED: Final = 0
GREATER: Final = 1
LESS: Final = -1


class Outcome(NamedTuple):
    """The answer of a test."""

    statistic: float
    pvalue: float
    status: int


class Interval(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float
