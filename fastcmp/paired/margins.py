"""Margin tests from a difference and its standard error, and the decision."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_counts, as_flag, as_numbers, as_proportion
from fastcmp.paired.margin_statistics import (
    Estimated,
    MarginOptions,
    decide,
    margins_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastcmp.paired.margin_result import MarginDecision, MarginTests

    Floats = NDArray[np.float64]

_LOWER = "lower_is_better"


def as_margin(value: Any, limit: float = np.inf, name: str = "margin") -> float:
    """Check a margin: above 0, and below the largest possible difference."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number above 0, got {value!r}")
    return float(_checked(np.array(float(value)), limit, name))


def as_margins(value: ArrayLike, limit: float = np.inf) -> Floats:
    """Check margins of any shape."""
    margins = as_numbers(value, "margin", "numbers above 0").astype(np.float64)
    return _checked(margins, limit, "margin")


def _checked(margins: Floats, limit: float, name: str) -> Floats:
    if not np.all((margins > 0.0) & np.isfinite(margins)):
        bad = margins[~((margins > 0.0) & np.isfinite(margins))].flat[0]
        raise ValueError(f"{name} must be above 0 and finite, got {bad:g}")
    if np.any(margins >= limit):
        raise ValueError(
            f"{name} must be below {limit:g}, the largest possible difference, got "
            f"{margins.max():g}"
        )
    return margins


def as_margin_alpha(value: Any) -> float:
    """Check the level of margin tests: 1 - 2 alpha must be a level too."""
    alpha = as_proportion(value, "alpha")
    if alpha >= 0.5:
        raise ValueError(f"alpha must be below 0.5 for margin tests, got {value}")
    return alpha


def read_margin(margin: Any, alpha: Any = 0.05, limit: float = np.inf) -> MarginOptions | None:
    """Check a margin, and the level of its tests, before the work; None for none."""
    level = as_margin_alpha(alpha)
    return None if margin is None else MarginOptions(as_margin(margin, limit), level)


def with_margin(result: Any, options: MarginOptions | None, limit: float = np.inf) -> Any:
    """Test the difference of a record against a checked margin, if there is one.

    `limit` is the largest possible difference where it was not known before.
    """
    if options is None:
        return result
    as_margins(options.margin, limit)
    return replace(result, margins=result._margin_tests(options))


def margin_decision(
    interval: ArrayLike,
    inner_interval: ArrayLike,
    margin: ArrayLike,
    *,
    strict: bool = False,
    lower_is_better: bool = False,
) -> MarginDecision:
    """Decide from two intervals for a difference and a margin.

    The first that holds: "better" (the interval lies above 0), "worse" (below 0),
    "equivalent" (the inner interval lies between -margin and margin), "not worse" (it
    lies above -margin), "cannot tell".

    Parameters
    ----------
    interval : ConfidenceInterval or array-like, shape (2, ...)
        Lower and upper ends of the interval for the difference a minus b, of the level
        1 - alpha.
    inner_interval : ConfidenceInterval or array-like, shape (2, ...)
        Those of the interval of the level 1 - 2 alpha, whose ends are those of
        one-sided tests with the error rate alpha.
    margin : array-like
        The largest difference that does not matter, above 0.
    strict : bool
        Whether all claims follow from `interval`, and are right together with the
        probability 1 - alpha. Else each claim is wrong with at most alpha.
    lower_is_better : bool
        Whether the difference is one of costs or losses.

    Returns
    -------
    MarginDecision
        ``decision``, ``within_margin`` (the difference is smaller than the margin) and
        ``margin_met`` (a is not worse by the margin): "worse" may lie within the
        margin.

    Raises
    ------
    ValueError
        If the margin is not above 0, or shapes do not fit.
    TypeError
        If they are not numbers.

    Examples
    --------
    >>> from fastcmp import margin_decision
    >>> margin_decision((-0.013, 0.015), (-0.010, 0.012), 0.02).decision
    'equivalent'
    >>> margin_decision((-0.013, 0.025), (-0.010, 0.022), 0.02)
    MarginDecision(decision='not worse', within_margin=False, margin_met=True)
    """
    margins = as_margins(margin)
    low, high = _read_ends(interval, "interval")
    inner = (low, high)
    if not as_flag(strict, "strict"):
        inner = _read_ends(inner_interval, "inner_interval")
    if as_flag(lower_is_better, _LOWER):
        low, high, inner = -high, -low, (-inner[1], -inner[0])
    met = inner[0] > -margins
    return decide(low > 0.0, high < 0.0, met & (inner[1] < margins), met)


def _read_ends(interval: ArrayLike, name: str) -> tuple[Floats, Floats]:
    ends = as_numbers(interval, name).astype(np.float64)
    if ends.ndim == 0 or ends.shape[0] != 2:
        raise ValueError(f"{name} must be a lower and an upper end, got shape {ends.shape}")
    if np.any(ends[0] > ends[1]):
        raise ValueError(f"{name} must have its lower end first")
    return ends[0], ends[1]


def margin_tests(
    difference: ArrayLike,
    standard_error: ArrayLike,
    margin: ArrayLike,
    *,
    df: ArrayLike | None = None,
    alpha: float = 0.05,
    strict: bool = False,
    lower_is_better: bool = False,
    n_samples: ArrayLike | None = None,
) -> MarginTests:
    """Test a difference against a margin: non-inferiority, superiority, equivalence.

    Parameters
    ----------
    difference : array-like
        The measure of model a minus that of b. All arrays are broadcast.
    standard_error : array-like
        Of the difference, at least 0.
    margin : array-like
        The largest difference that does not matter, above 0.
    df : array-like, optional
        Degrees of freedom of t tests; without, z tests.
    alpha : float
        Error rate of each claim, in (0, 0.5).
    strict : bool
        Whether all claims follow from the one interval of the level 1 - alpha, and are
        right together with that probability.
    lower_is_better : bool
        Whether the measure is a cost or a loss.
    n_samples : array-like of int, optional
        Samples behind the difference, from which follows how many more could tell.

    Returns
    -------
    MarginTests
        Statistics, p-values, intervals and the decision.

    Raises
    ------
    ValueError
        If a margin is not above 0, a standard error is negative, or shapes do not fit.
    TypeError
        If they are not numbers.

    Notes
    -----
    With the difference D, statistics are (D + margin) / standard_error and
    (D - margin) / standard_error. Equivalence is shown by two one-sided tests (TOST),
    and its p-value is the larger of theirs. A standard error of 0 measures nothing:
    statistics and p-values are NaN, and the decision is "cannot tell".

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the
       power approach for assessing the equivalence of average bioavailability", J.
       Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.

    Examples
    --------
    >>> from fastcmp import margin_tests
    >>> tests = margin_tests(-0.002, 0.006, 0.02)
    >>> tests.decision, round(tests.equivalence_pvalue, 5)
    ('equivalent', 0.00135)
    """
    margins = as_margins(margin)
    alpha = as_margin_alpha(alpha)
    found = as_numbers(difference, "difference").astype(np.float64)
    errors = as_numbers(standard_error, "standard_error").astype(np.float64)
    if np.any(errors < 0.0):
        raise ValueError(f"standard_error must be at least 0, got {errors.min():g}")
    degrees = None if df is None else as_numbers(df, "df").astype(np.float64)
    if degrees is not None and not np.all(degrees > 0.0):
        raise ValueError(f"df must be above 0, got {degrees.min():g}")
    counts = None
    if n_samples is not None:
        counts = as_counts(n_samples, "n_samples").astype(np.float64)
    options = MarginOptions(
        margins, alpha, as_flag(strict, "strict"), as_flag(lower_is_better, _LOWER)
    )
    return margins_of(Estimated(found, errors, degrees, counts), options)
