"""Margin tests of two accuracies on the same samples, from the four counts."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_counts, as_flag, as_numbers, choose
from fastcmp.core.records import ConfidenceInterval, PairedCounts, unwrap
from fastcmp.kernels.intervals import tango_margin_many
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    as_margin_alpha,
    as_margins,
    make_tests,
    margins_of,
    plain,
    samples_needed,
)
from fastcmp.paired.mcnemar_counts import CELLS, COUNTS, read_counts

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


METHODS = ("auto", "score", "exact")
#: Samples up to which the default is the exact test: the score test's size is above its
#: level there, 0.053 to 0.071 for 0.05.
SMALL: Final = 200
_WORK = 2e6  # steps of exact tests that nobody asked for: two seconds
_MOST_WORK = 4e8  # that somebody did: a few minutes


def margin_tests(
    difference: ArrayLike | None = None,
    standard_error: ArrayLike | None = None,
    margin: ArrayLike | None = None,
    *,
    table: ArrayLike | PairedCounts | None = None,
    only_a: ArrayLike | None = None,
    only_b: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    df: ArrayLike | None = None,
    n_samples: ArrayLike | None = None,
    method: str | None = None,
    gamma: float | None = None,
    alpha: float = 0.05,
    strict: bool = False,
    lower_is_better: bool = False,
) -> MarginTests:
    """Test a difference against a margin: non-inferiority, superiority, equivalence.

    One decision follows: model a is better than b, worse, equivalent, not worse, or the
    samples cannot tell.

    Parameters
    ----------
    difference : array-like
        The measure of model a minus that of b. All arrays are broadcast.
    standard_error : array-like
        Of the difference, at least 0.
    margin : array-like
        The largest difference that does not matter, above 0; of counts below 1.
    table : array-like of int, shape (..., 2, 2), or PairCounts, optional
        In the place of an estimate, the samples that two models have right, as in
        `mcnemar`: tests of the difference of their accuracies.
    only_a, only_b, both_right, both_wrong : array-like of int, optional
        In the place of a table, as in `mcnemar`; all four.
    df : array-like, optional
        Degrees of freedom of t tests; without, z tests.
    n_samples : array-like of int, optional
        Samples behind the difference, from which follows how many more could tell.
    method : {"auto", "score", "exact"}, optional
        Of counts. "score": Tango's test, which is also Nam's, and his interval. "exact":
        the exact unconditional test by Tango's score, and the interval that inverts it.
        "auto" (default): exact up to 200 samples, unless there are very many tables, else
        the score.
    gamma : float, optional
        For exact tests: above 0 (default), maximise over an interval of the level
        1 - gamma for the probability of a discordant sample, and add gamma (Berger and
        Boos).
    alpha : float
        Error rate of each claim, in (0, 0.5).
    strict : bool
        Whether all claims follow from the one interval of the level 1 - alpha, and are
        right together with that probability.
    lower_is_better : bool
        Whether the measure is a cost or a loss.

    Returns
    -------
    MarginTests
        Statistics, p-values, intervals and the decision. Of counts, whether a is better or
        worse follows from the interval.

    Raises
    ------
    ValueError
        If a margin is not above 0, a standard error is negative, counts are impossible,
        shapes do not fit, or an option is unknown; for exact tests also if there are more
        than 10,000 samples, or too many tables.
    TypeError
        If they are not numbers, or estimates and counts are both given, or neither.

    See Also
    --------
    fastcmp.mcnemar : Its option `margin` gives these tests beside McNemar's.

    Notes
    -----
    With the difference D, statistics are (D + margin) / standard_error and
    (D - margin) / standard_error. Equivalence is shown by two one-sided tests (TOST),
    and its p-value is the larger of theirs. A standard error of 0 measures nothing:
    statistics and p-values are NaN, and the decision is "cannot tell".

    Of counts Wald's test is not offered: at the 5% level it errs in 9% to 21% of samples
    of 30 to 200. The exact p-value is the largest over all values of an unknown
    probability, the ends of its range included; a search of the range without them can
    miss it.

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the
       power approach for assessing the equivalence of average bioavailability", J.
       Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    .. [2] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.
    .. [3] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.
    .. [4] H.-M. Hsueh, J.-P. Liu, J. J. Chen, "Unconditional exact tests for
       equivalence or noninferiority for paired binary endpoints", Biometrics 57 (2001)
       478-483.

    Examples
    --------
    >>> from fastcmp import margin_tests
    >>> tests = margin_tests(-0.002, 0.006, 0.02)
    >>> tests.decision, round(tests.equivalence_pvalue, 5)
    ('equivalent', 0.00135)
    >>> tests = margin_tests(table=[[9000, 210], [190, 600]], margin=0.02)
    >>> tests.decision, f"{tests.equivalence_pvalue:.1e}"
    ('equivalent', '4.8e-17')
    >>> tests = margin_tests(table=[[80, 5], [6, 9]], margin=0.05)
    >>> tests.decision, tests.n_more
    ('cannot tell', 355)
    """
    if margin is None:
        raise TypeError("margin must be given: the largest difference that does not matter")
    counted = dict(zip(COUNTS, (table, only_a, only_b, both_right, both_wrong), strict=True))
    data: dict[str, Any] = {"difference": difference, "standard_error": standard_error}
    with_errors, with_counts = (
        {"df": df, "n_samples": n_samples},
        {"method": method, "gamma": gamma},
    )
    by_counts = are_counts_given(data, counted, with_errors, with_counts)
    options = MarginOptions(
        as_margins(margin, 1.0) if by_counts else as_margins(margin),
        as_margin_alpha(alpha),
        as_flag(strict, "strict"),
        as_flag(lower_is_better, "lower_is_better"),
    )
    if by_counts:
        chosen = choose("auto" if method is None else method, "method", METHODS)
        gamma = 0.0 if gamma is None else gamma
        if isinstance(gamma, bool) or not isinstance(gamma, Real):
            raise TypeError(f"gamma must be a number in [0, 1), got {gamma!r}")
        gamma = float(gamma)
        if not 0.0 <= gamma < 1.0:
            raise ValueError(f"gamma must lie in [0, 1), got {gamma:g}")
        if gamma and chosen == "score":
            raise ValueError(f"gamma is for method='exact', got {gamma:g} for 'score'")
        counts, _ = read_counts(**counted)
        if len(counts) < len(CELLS):
            raise TypeError("margin tests need all four counts: pass both_right and both_wrong")
        n = sum(counts.values(), np.zeros((), np.int64))
        cells = (counts["only_a"], counts["only_b"], n)
        return accuracy_margins(cells, options, method=chosen, gamma=gamma)
    estimate = as_numbers(data["difference"], "difference").astype(np.float64)
    errors = as_numbers(data["standard_error"], "standard_error").astype(np.float64)
    if np.any(errors < 0.0):
        raise ValueError(f"standard_error must be at least 0, got {errors.min():g}")
    degrees = None if df is None else as_numbers(df, "df").astype(np.float64)
    if degrees is not None and not np.all(degrees > 0.0):
        raise ValueError(f"df must be above 0, got {degrees.min():g}")
    sizes = None
    if n_samples is not None:
        sizes = as_counts(n_samples, "n_samples").astype(np.float64)
    return margins_of(Estimated(estimate, errors, degrees, sizes), options)


def accuracy_margins(
    counts: tuple[Any, Any, Any],
    options: MarginOptions,
    *,
    method: str = "auto",
    gamma: float = 0.0,
    pvalue: Any = None,
    alternative: str = "two-sided",
    measure: str = "accuracy",
) -> MarginTests:
    """Test checked counts, only a, only b and all, against checked margins.

    `pvalue` is that of a test of equality, with its alternative, from which better and
    worse follow; for None they follow from the interval. Of losses the counts are those
    of 1 for a alone, and for b alone.
    """
    if options.lower_is_better:
        turned = {"greater": "less", "less": "greater"}
        return mirrored(
            accuracy_margins(
                (counts[1], counts[0], counts[2]),
                options._replace(lower_is_better=False),
                method=method,
                gamma=gamma,
                pvalue=pvalue,
                alternative=turned.get(alternative, alternative),
                measure=measure,
            )
        )
    arrays = np.broadcast_arrays(*counts, options.margin)
    a, b, n, margin = (np.array(x) for x in arrays)
    flat = (a.ravel(), b.ravel(), n.ravel(), margin.ravel())
    found = np.empty((10, a.size))
    tango_margin_many(*flat, options.alpha, found)
    answers = _exact(flat, method, options.alpha, gamma)
    if answers is not None:
        found[:9] = answers
    rows = [unwrap(row.copy(), a.shape) for row in found]
    intervals = ConfidenceInterval(*rows[5:7]), ConfidenceInterval(*rows[7:9])
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, discordant = (a - b) / n, (a + b) / n
        spreads = (
            np.sqrt(discordant),
            np.sqrt(rows[9] / n),
            np.sqrt(np.maximum(discordant - difference**2, 0.0)),
        )
    needed = samples_needed(difference, margin, spreads, options)
    of = Estimated(
        difference, None, n_samples=n, pvalue=pvalue, alternative=alternative, measure=measure
    )
    return make_tests(
        of,
        options,
        tuple(rows[:5]),
        intervals,
        needed,
        method="score" if answers is None else "exact",
    )


def mirrored(tests: MarginTests) -> MarginTests:
    """Turn tests of right answers into those of losses: differences change sign."""
    outer, inner = (
        ConfidenceInterval(plain(0.0 - x.high), plain(0.0 - x.low))
        for x in (tests.interval, tests.inner_interval)
    )
    return replace(
        tests,
        difference=plain(0.0 - tests.difference),
        statistic_lower=plain(0.0 - tests.statistic_upper),
        statistic_upper=plain(0.0 - tests.statistic_lower),
        pvalue_lower=tests.pvalue_upper,
        pvalue_upper=tests.pvalue_lower,
        interval=outer,
        inner_interval=inner,
        lower_is_better=True,
    )


def _exact(tables: tuple[Any, ...], method: str, alpha: float, gamma: float) -> Floats | None:
    """Test each different table once; None where the score is to be used."""
    a, b, n, margin = tables
    largest = int(n.max(initial=0))
    limit = kernels.MARGIN_EXACT_MAX_N
    if method == "score" or (method == "auto" and largest > SMALL):
        return None
    if largest > limit:
        raise ValueError(
            f"method='exact' takes at most {limit} samples, got {largest}: use "
            "method='score', which is close at that size"
        )
    known, which = np.unique(margin, return_inverse=True)
    keys = np.ravel_multi_index((which, n, a, b), (known.size, *[limit + 1] * 3))
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    work = float(np.sum(n[first] * (13.0 * np.sqrt(n[first]) + 64.0)))
    if work > _WORK and method == "auto":
        return None
    if work > _MOST_WORK:
        raise ValueError(
            f"method='exact' takes too long for {first.size} different tables of up to "
            f"{largest} samples: use method='score'"
        )
    answers = np.empty((first.size, 9))
    # Run as Python that calls machine code: Ctrl-C is answered between the parts.
    test = tango_exact_margins.py_func  # type: ignore[attr-defined]
    for k, found in zip(first, answers, strict=True):
        test(a[k], b[k], n[k], margin[k], alpha, gamma, found)
    return answers[where.ravel()].T
