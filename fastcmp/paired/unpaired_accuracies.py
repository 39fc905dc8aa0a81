"""Two models on different samples: accuracies as two independent proportions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import ALTERNATIVES, as_counts, as_numbers, choose
from fastcmp.core.records import unwrap
from fastcmp.inputs.labels import encode
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.unpaired_result import (
    METHODS,
    SHIFTED,
    UnpairedOptions,
    UnpairedResult,
    choose_method,
    evaluate_counts,
)


def accuracy_unpaired(
    y_a: ArrayLike,
    pred_a: ArrayLike,
    y_b: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str = "score",
    alternative: str = "two-sided",
    null_difference: float = 0.0,
    two_sided: str = "ordering",
    margin: float | None = None,
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> UnpairedResult:
    """Compare the accuracies of two models on different samples.

    Parameters
    ----------
    y_a : array-like, shape (n_a,)
        True labels of the samples of model a. Samples with a missing one are dropped.
    pred_a : array-like, shape (n_a,)
        What model a predicted.
    y_b, pred_b : array-like, shape (n_b,)
        The same of model b.
    method : str
        "score" (default), "miettinen-nurminen", "boschloo", "barnard",
        "barnard-unpooled" or "auto", as in `accuracy_unpaired_from_counts`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    null_difference : float
        The accuracy of a minus that of b under H0, in (-1, 1).
    two_sided : {"ordering", "doubled"}
        How an exact test is two-sided.
    margin : float, optional
        The largest difference that does not matter, in (0, 1): adds tests of
        non-inferiority, superiority by the margin and equivalence at `alpha`, and a
        decision, as ``margins``.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    UnpairedResult
        The test, and both accuracies.

    Raises
    ------
    ValueError
        If lengths differ, there are fewer than two samples, a prediction is missing, or
        an option is unknown.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    fastcmp.compare_unpaired : The same with a decision, also of means and AUCs.
    fastcmp.mcnemar : Two models on the same samples, with more power.
    fastcmp.delong_unpaired : Areas under two curves on different samples.

    Examples
    --------
    >>> from fastcmp import accuracy_unpaired
    >>> y_a, pred_a = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 1, 0]
    >>> y_b, pred_b = [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]
    >>> round(accuracy_unpaired(y_a, pred_a, y_b, pred_b).pvalue, 4)
    0.0261
    """
    options = _read_options(method, alternative, two_sided)
    against = read_margin(margin, alpha, 1.0)
    shift = _read_shift(null_difference, options.method)
    if shift.ndim:
        raise ValueError(f"null_difference must be one number, got shape {shift.shape}")
    parts = [
        encode(y, {name: pred}, classes=classes, missing=missing, truth=truth, least=1)
        for truth, y, name, pred in (("y_a", y_a, "pred_a", pred_a), ("y_b", y_b, "pred_b", pred_b))
    ]
    counts = [
        x
        for part in parts
        for x in (np.count_nonzero(part.y_true == part.preds[0]), part.n_samples)
    ]
    dropped = {
        "n_missing": sum(part.n_missing for part in parts),
        "n_excluded": sum(part.n_excluded for part in parts),
    }
    return with_margin(_test(counts, shift, options, **dropped), against)  # type: ignore[no-any-return]


def accuracy_unpaired_from_counts(
    correct_a: ArrayLike,
    n_a: ArrayLike,
    correct_b: ArrayLike,
    n_b: ArrayLike,
    *,
    method: str = "score",
    alternative: str = "two-sided",
    null_difference: ArrayLike = 0.0,
    two_sided: str = "ordering",
    margin: float | None = None,
    alpha: float = 0.05,
) -> UnpairedResult:
    """Compare two accuracies from counts on different samples.

    Parameters
    ----------
    correct_a, n_a : array-like of int
        Samples that model a classified correctly, and all that it was tested on.
        Arguments are broadcast against each other.
    correct_b, n_b : array-like of int
        The same of model b.
    method : {"score", "miettinen-nurminen", "boschloo", "barnard", "barnard-unpooled",\
            "auto"}
        "score": the pooled score test. "miettinen-nurminen": the score test of any
        difference. "boschloo", "barnard" and "barnard-unpooled": exact unconditional
        tests that order tables by Fisher's p-value, or by z with a pooled or unpooled
        variance. "auto", recommended: "boschloo" ("barnard" where `null_difference` is
        not 0) if neither model has more than 200 samples, else "miettinen-nurminen".
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    null_difference : array-like
        The accuracy of a minus that of b under H0, in (-1, 1); if it is not 0, `method`
        must be "miettinen-nurminen", "barnard" (which is then Chan's test) or "auto".
    two_sided : {"ordering", "doubled"}
        How an exact test is two-sided: tables are ordered by the size of z, or by
        Fisher's two-sided p-value; or the smaller one-sided p-value is doubled, as
        SciPy does for Boschloo's test.
    margin : float, optional
        The largest difference that does not matter, in (0, 1): adds tests of
        non-inferiority, superiority by the margin and equivalence at `alpha`, and a
        decision, as ``margins``. By Miettinen and Nurminen's test; beside an exact test,
        and where one of two small sets has over four times as many samples as the
        other, by Chan's exact test.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    UnpairedResult
        For "score" z = difference / sqrt(p (1 - p) (1 / n_a + 1 / n_b)), p the accuracy
        over both sets; 0 and p-value 1 where all or no samples are right.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, more samples are right than
        there are, there is no sample, shapes do not fit, a difference or a margin is
        impossible, an option is unknown, or there are more than 5,000 samples of a
        model for an exact test.
    TypeError
        If counts are not numbers.

    See Also
    --------
    fastcmp.fold_test : "proportion-z" is the same test, for one set of samples.

    Notes
    -----
    The score test of two independent proportions: its square is Pearson's chi-square of
    the 2 x 2 table, without correction. Miettinen and Nurminen's statistic for H0 of
    equality is sqrt((N - 1) / N) times it, N the samples of both. Exact tests take the
    largest p-value over all accuracies under H0; with 200 samples of each model a
    millisecond, with 5,000 half a second.

    References
    ----------
    .. [1] O. Miettinen, M. Nurminen, "Comparative analysis of two rates", Statistics in
       Medicine 4 (1985) 213-226.
    .. [2] R. D. Boschloo, "Raised conditional level of significance for the 2 x 2 table
       when testing the equality of two probabilities", Statistica Neerlandica 24 (1970)
       1-9.
    .. [3] G. A. Barnard, "Significance tests for 2 x 2 tables", Biometrika 34 (1947)
       123-138.
    .. [4] I. S. F. Chan, "Exact tests of equivalence and efficacy with a non-zero lower
       bound for comparative studies", Statistics in Medicine 17 (1998) 1403-1413.

    Examples
    --------
    >>> from fastcmp import accuracy_unpaired_from_counts
    >>> result = accuracy_unpaired_from_counts(84, 100, 92, 100)
    >>> round(result.statistic, 3), round(result.pvalue, 3)
    (-1.741, 0.082)
    >>> result = accuracy_unpaired_from_counts(9, 10, 3, 10, method="boschloo")
    >>> round(result.pvalue, 6)
    0.007956
    """
    options = _read_options(method, alternative, two_sided)
    against = read_margin(margin, alpha, 1.0)
    shift = _read_shift(null_difference, options.method)
    given = {"correct_a": correct_a, "n_a": n_a, "correct_b": correct_b, "n_b": n_b}
    counts = [as_counts(raw, name) for name, raw in given.items()]
    try:
        right_a, all_a, right_b, all_b, shift = np.broadcast_arrays(*counts, shift)
    except ValueError:
        shapes = ", ".join(map(str, (np.shape(x) for x in (*counts, shift))))
        raise ValueError(f"counts must broadcast to one shape, got shapes {shapes}") from None
    for model, correct, n in (("a", right_a, all_a), ("b", right_b, all_b)):
        if (n < 1).any():
            raise ValueError(f"n_{model} must be at least 1, got {n.min()}")
        if (correct > n).any():
            raise ValueError(
                f"correct_{model} must be at most n_{model}, got {correct[correct > n].flat[0]}"
            )
    result = _test([right_a, all_a, right_b, all_b], shift, options)
    return with_margin(result, against)  # type: ignore[no-any-return]


def _read_options(method: str, alternative: str, two_sided: str) -> UnpairedOptions:
    return UnpairedOptions(
        choose(method, "method", METHODS),
        choose(alternative, "alternative", ALTERNATIVES),
        choose(two_sided, "two_sided", ("ordering", "doubled")),
    )


def _read_shift(null_difference: ArrayLike, method: str) -> NDArray[np.float64]:
    """Check differences under H0."""
    shift = as_numbers(null_difference, "null_difference").astype(np.float64)
    if not np.all(np.abs(shift) < 1.0):
        bad = shift[~(np.abs(shift) < 1.0)].flat[0]
        raise ValueError(f"null_difference must lie in (-1, 1), got {bad:g}")
    if np.any(shift) and method not in SHIFTED:
        raise ValueError(
            f"null_difference must be 0 with method={method!r}, which tests equality: "
            f"choose one of {SHIFTED}"
        )
    return shift


def _test(
    counts: list[Any], shift: NDArray[np.float64], options: UnpairedOptions, **dropped: Any
) -> UnpairedResult:
    method = choose_method(options.method, counts[1], counts[3], shift)
    options = options._replace(method=method)
    found = evaluate_counts(np.array(counts, np.int64), shift, options)
    cells = [unwrap(np.array(x), shift.shape) for x in (*counts, shift)]
    return UnpairedResult(
        **found._asdict(),
        **options._asdict(),
        correct_a=cells[0],
        n_a=cells[1],
        correct_b=cells[2],
        n_b=cells[3],
        null_difference=cells[4],
        **dropped,
    )
