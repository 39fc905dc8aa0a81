"""Margin tests of two accuracies on the same samples, from the four counts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import LARGEST_COUNT, as_counts, as_flag, choose
from fastcmp.core.records import ConfidenceInterval, are_paired, unwrap
from fastcmp.kernels.intervals import tango_margin_many
from fastcmp.kernels.margins_exact import tango_exact_margins
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    as_margin_alpha,
    as_margins,
    make_tests,
    plain,
    samples_needed,
)

Floats = NDArray[np.float64]

CELLS = ("both_right", "only_a", "only_b", "both_wrong")  # of a table, in its order

Ints = NDArray[np.int64]


def read_counts(**counts: Any) -> tuple[dict[str, Ints], dict[str, Any]]:
    """Check counts and give them one shape; and how many samples a stream dropped."""
    counts = {name: x for name, x in counts.items() if x is not None}
    first, dropped = counts.get("only_a"), {}
    if "only_b" not in counts and first is not None and not are_paired(first):
        with suppress(ValueError):  # ragged lists
            if np.shape(first) == (2, 2):
                counts["table"] = counts.pop("only_a")
    if are_paired(first):
        if len(counts) > 1:
            raise TypeError(f"pass PairCounts, or {', '.join([*counts][1:])}, not both")
        dropped = {"n_missing": first.n_missing, "n_excluded": first.n_excluded}
        counts = first.paired_counts()
    elif "table" in counts:
        if len(counts) > 1:
            raise TypeError(f"a table holds all four counts: it comes alone, not {[*counts]}")
        cells = as_counts(counts["table"], "table")
        if cells.shape[-2:] != (2, 2):
            raise ValueError(f"table must be of shape (..., 2, 2), got {cells.shape}")
        counts = cells_of(cells)
    elif not {"only_a", "only_b"} <= set(counts):
        raise TypeError(
            f"{'only_b' if 'only_a' in counts else 'only_a'} must be whole numbers, got "
            "None: counts come as only_a and only_b, or as table=, of shape (2, 2)"
        )
    checked = {name: as_counts(raw, name) for name, raw in counts.items()}
    try:
        # Copies: numba asks broadcast arrays whether they can be written; NumPy warns.
        arrays = [np.array(x) for x in np.broadcast_arrays(*checked.values())]
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in checked.items())
        raise ValueError(f"counts must broadcast to one shape, got {shapes}") from None
    total = sum(x.astype(np.float64) for x in arrays)
    if np.size(total) and np.max(total) > LARGEST_COUNT:
        names = " + ".join(checked)
        raise ValueError(f"{names} must be at most 2**53, got {np.max(total):.6g}")
    return dict(zip(checked, arrays, strict=True)), dropped


def cells_of(table: Ints) -> dict[str, Ints]:
    """Take the four counts out of one or more tables, of shape (..., 2, 2)."""
    flat = table.reshape(*table.shape[:-2], 4)
    return {name: flat[..., i] for i, name in enumerate(CELLS)}


METHODS = ("auto", "score", "exact")
#: Samples up to which the default is the exact test: the score test's size is above its
#: level there, 0.053 to 0.071 for 0.05.
SMALL: Final = 200
_WORK = 2e6  # steps of exact tests that nobody asked for: two seconds
_MOST_WORK = 4e8  # that somebody did: a few minutes


def margin_tests_from_counts(
    only_a: ArrayLike | None = None,
    only_b: ArrayLike | None = None,
    *,
    margin: ArrayLike,
    table: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    method: str = "auto",
    alpha: float = 0.05,
    gamma: float = 0.0,
    strict: bool = False,
) -> MarginTests:
    """Test the difference of two accuracies on the same samples against a margin.

    Non-inferiority, superiority by the margin and equivalence, and one decision: model
    a is better than b, worse, equivalent, not worse, or the samples cannot tell.

    Parameters
    ----------
    only_a, only_b : array-like of int
        As in `mcnemar_from_counts`; a table or counts of a stream hold all of them.
    margin : array-like
        The largest difference that does not matter, in (0, 1).
    table : array-like of int, shape (..., 2, 2), optional
        As in `mcnemar_from_counts`.
    both_right, both_wrong : array-like of int, optional
        As in `mcnemar_from_counts`; needed here.
    method : {"auto", "score", "exact"}
        "score": Tango's test, which is also Nam's, and his interval. "exact": the exact
        unconditional test by Tango's score, and the interval that inverts it. "auto":
        exact up to 200 samples, unless there are very many tables, else the score.
    alpha : float
        Error rate of each claim, in (0, 0.5).
    gamma : float
        For exact tests: above 0, maximise over an interval of the level 1 - gamma for
        the probability of a discordant sample, and add gamma (Berger and Boos).
    strict : bool
        Whether all claims follow from the one interval of the level 1 - alpha, and are
        right together with that probability.

    Returns
    -------
    MarginTests
        Statistics, p-values, intervals and the decision. Whether a is better or worse
        follows from the interval.

    Raises
    ------
    ValueError
        If counts or the margin are impossible, or an option is unknown; for exact tests
        also if there are more than 10,000 samples, or too many tables.
    TypeError
        If counts are not numbers, are absent, or are given twice.

    See Also
    --------
    fastcmp.mcnemar : Its option `margin` gives these tests beside McNemar's.

    Notes
    -----
    Wald's test is not offered: at the 5% level it errs in 9% to 21% of samples of 30 to
    200. The exact p-value is the largest over all values of an unknown probability, the
    ends of its range included; a search of the range without them can miss it.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design", Statistics in Medicine 17 (1998)
       891-908.
    .. [2] J.-M. Nam, "Establishing equivalence of two treatments and sample size
       requirements in matched-pairs design", Biometrics 53 (1997) 1422-1430.
    .. [3] H.-M. Hsueh, J.-P. Liu, J. J. Chen, "Unconditional exact tests for
       equivalence or noninferiority for paired binary endpoints", Biometrics 57 (2001)
       478-483.

    Examples
    --------
    >>> from fastcmp import margin_tests_from_counts
    >>> tests = margin_tests_from_counts([[9000, 210], [190, 600]], margin=0.02)
    >>> tests.decision, f"{tests.equivalence_pvalue:.1e}"
    ('equivalent', '4.8e-17')
    >>> tests = margin_tests_from_counts([[80, 5], [6, 9]], margin=0.05)
    >>> tests.decision, tests.n_more
    ('cannot tell', 355)
    """
    chosen = choose(method, "method", METHODS)
    options = MarginOptions(
        as_margins(margin, 1.0), as_margin_alpha(alpha), as_flag(strict, "strict")
    )
    if isinstance(gamma, bool) or not isinstance(gamma, Real):
        raise TypeError(f"gamma must be a number in [0, 1), got {gamma!r}")
    gamma = float(gamma)
    if not 0.0 <= gamma < 1.0:
        raise ValueError(f"gamma must lie in [0, 1), got {gamma:g}")
    if gamma and chosen == "score":
        raise ValueError(f"gamma is for method='exact', got {gamma:g} for 'score'")
    counts, _ = read_counts(
        only_a=only_a, only_b=only_b, table=table, both_right=both_right, both_wrong=both_wrong
    )
    if len(counts) < len(CELLS):
        raise TypeError("margin tests need all four counts: pass both_right and both_wrong")
    n = sum(counts.values(), np.zeros((), np.int64))
    cells = (counts["only_a"], counts["only_b"], n)
    return accuracy_margins(cells, options, method=chosen, gamma=gamma)


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
