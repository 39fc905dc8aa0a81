"""McNemar's test by e-values: looked at whenever, and as often as, one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_counts, as_proportion
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import unwrap
from fastcmp.kernels.evalues import mcnemar_log_evalue_many
from fastcmp.paired.mcnemar import mcnemar as plain_mcnemar
from fastcmp.paired.mcnemar import mcnemar_from_counts as plain_from_counts
from fastcmp.sequential.evalue_result import EvalueResult
from fastcmp.sequential.looks_result import LooksResult, mcnemar_looks_of
from fastcmp.sequential.options import read_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fastcmp.core.protocols import PairedCounts
    from fastcmp.paired.mcnemar_result import McNemarResult


def mcnemar(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    prior: Sequence[float] = (0.5, 0.5),
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> EvalueResult:
    """McNemar's test of two models, valid whenever and however often one looks.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of all samples so far. Samples with a missing one are dropped and
        counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        Beta prior of the proportion of discordant samples that a alone gets right; a
        one-sided test cuts it off at one half.
    classes : sequence, optional
        Compare only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    EvalueResult
        The e-value, counts, and intervals that are valid at every look.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two, or an option is unknown
        or out of range.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    E = 2**m B(b + s, c + t) / B(s, t), where m = b + c samples are discordant and B(s,
    t) is the prior. Under the null hypothesis P(E >= 1 / alpha at any look) <= alpha.

    References
    ----------
    .. [1] M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
       NeurIPS 35 (2022).
    .. [2] A. Ramdas, P. Grunwald, V. Vovk, G. Shafer, "Game-theoretic statistics and
       safe anytime-valid inference", Statistical Science 38 (2023) 576-601.

    Examples
    --------
    >>> from fastcmp import load_digits, sequential
    >>> y_true, preds = load_digits()
    >>> result = sequential.mcnemar(y_true, preds["svm_rbf"], preds["mlp"])
    >>> result.only_a, result.only_b, round(result.evalue, 2)
    (20, 5, 19.49)
    """
    options = _read_options(alternative, prior)
    counted = plain_mcnemar(y_true, pred_a, pred_b, classes=classes, missing=missing)
    return _evaluate(counted, *options)


def mcnemar_from_counts(
    only_a: ArrayLike | PairedCounts | None = None,
    only_b: ArrayLike | None = None,
    *,
    table: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    alternative: str = "two-sided",
    prior: Sequence[float] = (0.5, 0.5),
) -> EvalueResult:
    """McNemar's test by e-values from counts so far, of any shape.

    Parameters
    ----------
    only_a, only_b : array-like of int
        Samples that only model a, only model b, classified correctly, as in
        `fastcmp.mcnemar_from_counts`; or a `fastcmp.stream.PairCounts`, or a 2 x 2
        table, alone.
    table : array-like of int, shape (..., 2, 2), optional
        All four counts at once.
    both_right, both_wrong : array-like of int, optional
        Samples that both classified correctly, wrongly. Differences need them.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        As in `mcnemar`.

    Returns
    -------
    EvalueResult
        Arrays of the broadcast shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, do not broadcast, or an
        option is unknown or out of range.
    TypeError
        If counts are not numbers, are absent, or are given twice.

    Examples
    --------
    >>> from fastcmp.sequential import mcnemar_from_counts
    >>> mcnemar_from_counts([10, 150, 0], [2, 90, 0]).evalue.round(4).tolist()
    [4.1006, 100.7808, 1.0]
    """
    options = _read_options(alternative, prior)
    given: dict[str, Any] = {
        "table": table,
        "both_right": both_right,
        "both_wrong": both_wrong,
    }
    counted = plain_from_counts(only_a, only_b, **given, method="asymptotic")
    return _evaluate(counted, *options)


def _read_options(alternative: str, prior: Any) -> tuple[str, tuple[float, float]]:
    s, t = read_prior(prior)
    return choose(alternative, "alternative", ALTERNATIVES), (s, t)


def _evaluate(counted: McNemarResult, alternative: str, prior: tuple[float, float]) -> EvalueResult:
    """Find the e-values of counts, which McNemar's test has checked."""
    shape = np.shape(counted.only_a)
    only_a = np.ascontiguousarray(counted.only_a, np.int64).ravel()
    only_b = np.ascontiguousarray(counted.only_b, np.int64).ravel()
    found, code = np.empty(only_a.size), ALTERNATIVES[alternative]
    mcnemar_log_evalue_many(only_a, only_b, prior, code, found)
    kept = ("only_a", "only_b", "both_right", "both_wrong", "n_missing", "n_excluded")
    return EvalueResult(
        log_evalue=unwrap(found, shape),
        **{name: getattr(counted, name) for name in kept},
        n_outside=counted.n_outside,
        prior=prior,
        alternative=alternative,
    )


def mcnemar_looks(
    only_a: ArrayLike,
    only_b: ArrayLike,
    *,
    n_samples: ArrayLike | None = None,
    alternative: str = "two-sided",
    prior: Sequence[float] = (0.5, 0.5),
    alpha: float = 0.05,
) -> LooksResult:
    """McNemar's test at several looks at one growing set of samples.

    Parameters
    ----------
    only_a, only_b : array-like of int, shape (L,)
        Samples up to each look that only model a, only model b, classified correctly.
    n_samples : array-like of int, shape (L,), optional
        All samples up to each look. Differences need them.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        As in `mcnemar`.
    alpha : float
        Probability of a false decision at any look, in (0, 1).

    Returns
    -------
    LooksResult
        E-values and intervals at each look, the p-value so far, and the first look at
        which the test is decided.

    Raises
    ------
    ValueError
        If counts shrink from one look to the next, or are not numbers of samples, or an
        option is unknown or out of range.
    TypeError
        If counts are not numbers.

    Examples
    --------
    >>> from fastcmp.sequential import mcnemar_looks
    >>> looks = mcnemar_looks([3, 9, 15, 17, 30], [1, 2, 4, 9, 12], alpha=0.2)
    >>> looks.pvalue.round(3).tolist(), looks.first_rejection
    ([1.0, 0.386, 0.187, 0.187, 0.152], 2)
    """
    options = _read_options(alternative, prior)
    level = as_proportion(alpha, "alpha")
    given: dict[str, Any] = {"only_a": only_a, "only_b": only_b}
    if n_samples is not None:
        given["n_samples"] = n_samples
    counts = {name: as_counts(raw, name) for name, raw in given.items()}
    length = counts["only_a"].shape
    for name, column in counts.items():
        if column.ndim != 1 or column.shape != length or not column.size:
            message = f"{name} must be one number a look, as only_a is, got shape {column.shape}"
            raise ValueError(message)
    cells = {"only_a": counts["only_a"], "only_b": counts["only_b"]}
    if n_samples is not None:
        cells["n_samples less only_a and only_b"] = (
            counts["n_samples"] - counts["only_a"] - counts["only_b"]
        )
    for name, column in cells.items():
        if column[0] < 0 or np.any(np.diff(column) < 0):
            message = (
                f"{name} must not be negative or shrink: looks come in the order of "
                "the samples, and each counts all samples so far"
            )
            raise ValueError(message)
    total = counts.get("n_samples")
    return mcnemar_looks_of(counts["only_a"], counts["only_b"], total, options, level)
