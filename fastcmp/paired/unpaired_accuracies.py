"""Two models on different samples: accuracies as two independent proportions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import ALTERNATIVES, are_counts_given, as_counts, as_numbers, choose
from fastcmp.core.records import unwrap
from fastcmp.inputs.labels import encode
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.unpaired_result import METHODS, SHIFTED, SMALL, UnpairedResult, evaluate_counts


def accuracy_unpaired(
    y_a: ArrayLike | None = None,
    pred_a: ArrayLike | None = None,
    y_b: ArrayLike | None = None,
    pred_b: ArrayLike | None = None,
    *,
    counts: Sequence[ArrayLike] | None = None,
    method: str = "score",
    alternative: str = "two-sided",
    null_difference: ArrayLike = 0.0,
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
    counts : sequence of four array-like of int, optional
        In the place of labels: samples that model a classified correctly, and all that
        it was tested on; the same of model b. They are broadcast against each other.
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
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    UnpairedResult
        The test, and both accuracies. For "score" z = difference / sqrt(p (1 - p)
        (1 / n_a + 1 / n_b)), p the accuracy over both sets; 0 and p-value 1 where all or
        no samples are right. Of counts arrays of their shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If lengths differ, there is no sample, a prediction is missing, counts are
        negative, fractional or above 2**53, more samples are right than there are, shapes
        do not fit, a difference or a margin is impossible, an option is unknown, or there
        are more than 5,000 samples of a model for an exact test.
    TypeError
        If labels cannot be compared, counts are no numbers, or both or neither are given.

    See Also
    --------
    fastcmp.compare_unpaired : The same with a decision, also of means and AUCs.
    fastcmp.mcnemar : Two models on the same samples, with more power.
    fastcmp.delong_unpaired : Areas under two curves on different samples.
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
    >>> from fastcmp import accuracy_unpaired
    >>> y_a, pred_a = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 1, 0]
    >>> y_b, pred_b = [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]
    >>> round(accuracy_unpaired(y_a, pred_a, y_b, pred_b).pvalue, 4)
    0.0261
    >>> result = accuracy_unpaired(counts=(84, 100, 92, 100))
    >>> round(result.statistic, 3), round(result.pvalue, 3)
    (-1.741, 0.082)
    """
    against = read_margin(margin, alpha, 1.0)
    shift, options = _read_options(method, alternative, two_sided, null_difference)
    data = {"y_a": y_a, "pred_a": pred_a, "y_b": y_b, "pred_b": pred_b}
    labels_only = {"classes": classes, "missing": None if missing == "raise" else missing}
    if are_counts_given(data, {"counts": counts}, labels_only):
        cells, shift = _read_counts(counts, shift)
        return with_margin(_test(cells, shift, options), against)  # type: ignore[no-any-return]
    if shift.ndim:
        raise ValueError(f"null_difference must be one number, got shape {shift.shape}")
    parts = [
        encode(y, {name: pred}, classes=classes, missing=missing, truth=truth, least=1)
        for truth, y, name, pred in (("y_a", y_a, "pred_a", pred_a), ("y_b", y_b, "pred_b", pred_b))
    ]
    right = [
        x
        for part in parts
        for x in (np.count_nonzero(part.y_true == part.preds[0]), part.n_samples)
    ]
    dropped = {
        "n_missing": sum(part.n_missing for part in parts),
        "n_excluded": sum(part.n_excluded for part in parts),
    }
    return with_margin(_test(right, shift, options, **dropped), against)  # type: ignore[no-any-return]


def _read_counts(counts: Any, shift: NDArray[np.float64]) -> tuple[list[Any], NDArray[np.float64]]:
    """Right answers and samples of both models, and differences under H0, of one shape."""
    names = ("correct_a", "n_a", "correct_b", "n_b")
    if not hasattr(counts, "__len__") or len(counts) != len(names):
        raise TypeError(f"counts must be a tuple ({', '.join(names)}), got {counts!r}")
    given = [as_counts(raw, name) for name, raw in zip(names, counts, strict=True)]
    try:
        right_a, all_a, right_b, all_b, shift = np.broadcast_arrays(*given, shift)
    except ValueError:
        shapes = ", ".join(map(str, (np.shape(x) for x in (*given, shift))))
        raise ValueError(f"counts must broadcast to one shape, got shapes {shapes}") from None
    for model, correct, n in (("a", right_a, all_a), ("b", right_b, all_b)):
        if (n < 1).any():
            raise ValueError(f"n_{model} must be at least 1, got {n.min()}")
        if (correct > n).any():
            raise ValueError(
                f"correct_{model} must be at most n_{model}, got {correct[correct > n].flat[0]}"
            )
    return [right_a, all_a, right_b, all_b], shift


def _read_options(
    method: str, alternative: str, two_sided: str, null_difference: ArrayLike
) -> tuple[NDArray[np.float64], dict[str, str]]:
    """Check differences under H0, and the options of the test."""
    method = choose(method, "method", METHODS)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    two_sided = choose(two_sided, "two_sided", ("ordering", "doubled"))
    shift = as_numbers(null_difference, "null_difference").astype(np.float64)
    if not np.all(np.abs(shift) < 1.0):
        bad = shift[~(np.abs(shift) < 1.0)].flat[0]
        raise ValueError(f"null_difference must lie in (-1, 1), got {bad:g}")
    if np.any(shift) and method not in SHIFTED:
        raise ValueError(
            f"null_difference must be 0 with method={method!r}, which tests equality: "
            f"choose one of {SHIFTED}"
        )
    return shift, {"method": method, "alternative": alternative, "two_sided": two_sided}


def _test(
    counts: list[Any], shift: NDArray[np.float64], options: dict[str, str], **dropped: Any
) -> UnpairedResult:
    n_a, n_b = counts[1], counts[3]
    if options["method"] == "auto":
        method = "barnard" if np.any(shift) else "boschloo"
        if max(np.max(n_a, initial=0), np.max(n_b, initial=0)) > SMALL:
            method = "miettinen-nurminen"
        options |= {"method": method}
    statistic, pvalue, status = evaluate_counts(np.array(counts, np.int64), shift, **options)
    names = ("correct_a", "n_a", "correct_b", "n_b", "null_difference")
    cells = [unwrap(np.array(x), shift.shape) for x in (*counts, shift)]
    fields: dict[str, Any] = dict(zip(names, cells, strict=True)) | options | dropped
    return UnpairedResult(statistic=statistic, pvalue=pvalue, status=status, **fields)
