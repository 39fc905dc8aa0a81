"""Tests of two or more models from their predictions on the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.compat.mlxtend.codes import refuse_missing
from fastcmp.inputs.columns import read_column
from fastcmp.inputs.labels import Labels, encode
from fastcmp.paired import mcnemar as paired
from fastcmp.pairwise.cochran import CochranResult
from fastcmp.pairwise.cochran import cochrans_q as _cochrans_q
from fastcmp.pairwise.compare_all import compare_all

__all__ = ["cochrans_q", "ftest", "mcnemar", "mcnemar_table", "mcnemar_tables"]


def mcnemar(
    ary: ArrayLike,
    corrected: bool = True,  # noqa: FBT001, FBT002  # mlxtend's signature
    exact: bool = False,  # noqa: FBT001, FBT002
) -> tuple[float | None, float]:
    """McNemar's test from a 2 x 2 table, like `mlxtend.evaluate.mcnemar`.

    Parameters
    ----------
    ary : array-like of int, shape (2, 2)
        Rows: model 1 right, wrong; columns: model 2 right, wrong. `mcnemar_table` makes
        it.
    corrected : bool
        Apply Edwards' continuity correction to the chi-square.
    exact : bool
        Take the p-value from the binomial distribution; `corrected` is then ignored.

    Returns
    -------
    chi2 : float or None
        The statistic; None if `exact`.
    p : float
        The two-sided p-value.

    Raises
    ------
    ValueError
        If the table is not 2 x 2, or its counts are negative, fractional or NaN.
    TypeError
        If the table does not hold numbers.

    See Also
    --------
    fastcmp.mcnemar : More variants, one-sided tests and intervals.

    Notes
    -----
    With b = ``ary[0, 1]`` and c = ``ary[1, 0]``, mlxtend 0.25 differs where

    - b = c = 0, as for identical models: it returns (inf, 0) with the correction and
      (nan, nan) without. Nothing suggests a difference: here (0, 1).
    - b = c > 0 with the correction: (0 - 1)**2 / (b + c) makes its p-value less than 1.
      The correction must not exceed the difference: here (0, 1).
    - the counts are unsigned and b < c: its difference wraps around.
    - counts are negative, fractional or NaN: it returns a number, here ValueError.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import mcnemar
    >>> chi2, p = mcnemar([[9945, 25], [15, 15]])
    >>> print(f"{chi2:.3f} {p:.4f}")
    2.025 0.1547
    >>> chi2, p = mcnemar([[9959, 11], [1, 29]], exact=True)
    >>> print(chi2, round(p, 8))
    None 0.00634766
    """
    table = np.asarray(ary)
    if table.shape != (2, 2):
        raise ValueError(f"ary must be a 2 x 2 table, got shape {table.shape}")
    method = "corrected" if corrected else "asymptotic"
    try:
        result = paired.mcnemar(table=table, method="exact" if exact else method)
    except (TypeError, ValueError) as error:
        raise type(error)(f"ary must hold counts: {error}") from None
    chi2 = None if exact else np.float64(result.statistic)
    return chi2, np.float64(result.pvalue)


def mcnemar_table(
    y_target: ArrayLike, y_model1: ArrayLike, y_model2: ArrayLike
) -> NDArray[np.int64]:
    """Count on which samples two models are right, like `mlxtend.evaluate`.

    Parameters
    ----------
    y_target : array-like, shape (n,)
        True labels.
    y_model1, y_model2 : array-like, shape (n,)
        Labels that the two models predicted.

    Returns
    -------
    ndarray of int64, shape (2, 2)
        Rows: model 1 right, wrong; columns: model 2 right, wrong.

    Raises
    ------
    ValueError
        If an argument is not one-dimensional, lengths differ, a label is missing, or
        there are fewer than two samples.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.mcnemar_table : The same with more options.

    Notes
    -----
    The table is that of mlxtend's code and legend. For the labels below its user guide
    prints [[4, 1], [2, 3]], which exchanges the two models.

    O(n).

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import mcnemar_table
    >>> y_target = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> y_model1 = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0]
    >>> y_model2 = [0, 0, 1, 1, 0, 1, 1, 0, 0, 0]
    >>> mcnemar_table(y_target, y_model1, y_model2).tolist()
    [[4, 2], [1, 3]]
    """
    labels = _encode(y_target, {"y_model1": y_model1, "y_model2": y_model2})
    return paired.mcnemar_table(labels.y_true, *labels.preds)


def mcnemar_tables(
    y_target: ArrayLike, *y_model_predictions: ArrayLike
) -> dict[str, NDArray[np.float64]]:
    """Count on which samples all pairs are right, like `mlxtend.evaluate`.

    Parameters
    ----------
    y_target : array-like, shape (n,)
        True labels.
    *y_model_predictions : array-like, shape (n,)
        Labels that each of M models predicted.

    Returns
    -------
    dict of ndarray of float64, shape (2, 2)
        Tables as from `mcnemar_table`, under the keys "model_0 vs model_1",
        "model_0 vs model_2" and so on.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, an argument is not
        one-dimensional, lengths differ, or a label is missing.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.compare_all : All pairs with p-values, intervals and a ranking.

    Notes
    -----
    The tables are those of mlxtend's code and legend. Its docstring and its user guide
    print the first one below as [[4, 1], [2, 3]], and wrong ones for other pairs.

    M**2 n / 128 popcounts, where mlxtend compares 2 M**2 n labels.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import mcnemar_tables
    >>> y_target = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> y_mod0 = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0]
    >>> y_mod1 = [0, 0, 1, 1, 0, 1, 1, 0, 0, 0]
    >>> tables = mcnemar_tables(y_target, y_mod0, y_mod1)
    >>> {pair: table.tolist() for pair, table in tables.items()}
    {'model_0 vs model_1': [[4.0, 2.0], [1.0, 3.0]]}
    """
    labels = _encode_many(y_target, y_model_predictions)
    # The method and the adjustment that take least time: p-values are not used.
    counted = compare_all(*_codes(labels), method="asymptotic", adjust="bonferroni")
    both_right = counted.correct[counted.pairs[:, 0]] - counted.only_a
    both_wrong = counted.n_samples - both_right - counted.only_a - counted.only_b
    cells = np.stack([both_right, counted.only_a, counted.only_b, both_wrong], axis=1)
    tables = cells.astype(np.float64).reshape(-1, 2, 2)
    return {
        f"model_{i} vs model_{j}": table.copy()
        for (i, j), table in zip(counted.pairs.tolist(), tables, strict=True)
    }


def cochrans_q(y_target: ArrayLike, *y_model_predictions: ArrayLike) -> tuple[float, float]:
    """Cochran's Q test, like `mlxtend.evaluate.cochrans_q`.

    Parameters
    ----------
    y_target : array-like, shape (n,)
        True labels.
    *y_model_predictions : array-like, shape (n,)
        Labels that each of M models predicted.

    Returns
    -------
    q : float
        The statistic.
    p : float
        Upper tail of chi-square with M - 1 degrees of freedom.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, an argument is not
        one-dimensional, lengths differ, or a label is missing.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.cochrans_q : Exact p-values, effect size and post-hoc tests.

    Notes
    -----
    Where all models are right on the same samples, mlxtend 0.25 returns (nan, nan) for
    0 / 0. Nothing suggests a difference: here (0, 1).

    O(M n) on packed bits. mlxtend searches the samples for each of the 2**M sets of
    models that may be right: every further model doubles its time.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import cochrans_q
    >>> y_target = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> y_model1 = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0]
    >>> y_model2 = [0, 0, 1, 1, 0, 1, 1, 0, 0, 0]
    >>> y_model3 = [0, 0, 1, 0, 0, 1, 1, 1, 1, 1]
    >>> q, p = cochrans_q(y_target, y_model1, y_model2, y_model3)
    >>> print(f"{q:.3f} {p:.3f}")
    4.333 0.115
    """
    result = _cochran(y_target, y_model_predictions)
    return np.float64(result.statistic), np.float64(result.pvalue)


def ftest(y_target: ArrayLike, *y_model_predictions: ArrayLike) -> tuple[float, float]:
    """Looney's F test, like `mlxtend.evaluate.ftest`.

    Parameters
    ----------
    y_target : array-like, shape (n,)
        True labels.
    *y_model_predictions : array-like, shape (n,)
        Labels that each of M models predicted.

    Returns
    -------
    f : float
        The statistic.
    p : float
        Upper tail of F with M - 1 and (M - 1)(n - 1) degrees of freedom.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, an argument is not
        one-dimensional, lengths differ, or a label is missing.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.cochrans_q : The same test with more options, as ``method="f"``.

    Notes
    -----
    mlxtend 0.25 divides the interaction's sum of squares by (M - 1)(n - 1), its degrees
    of freedom, but then looks the p-value up with (M - 1) n of them. That makes p too
    small: for F = 1, M = 2 and n = 4 it says 0.374, and 0.391 is right. The statistics
    are the same.

    Where all models are right on the same samples, mlxtend returns (nan, nan), or what
    rounding leaves of 0 / 0; here (0, 1). Where some models are right on every sample
    and the others on none, F is infinite and p is 0; mlxtend may return 3e16 instead.

    O(M n) on packed bits. mlxtend searches the samples for each of the 2**M sets of
    models that may be right: every further model doubles its time.

    References
    ----------
    .. [1] S. W. Looney, "A statistical technique for comparing the accuracies of
       several classifiers", Pattern Recognition Letters 8 (1988) 5-9.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import ftest
    >>> y_target = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> y_model1 = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0]
    >>> y_model2 = [0, 0, 1, 1, 0, 1, 1, 0, 0, 0]
    >>> y_model3 = [0, 0, 1, 0, 0, 1, 1, 1, 1, 1]
    >>> f, p = ftest(y_target, y_model1, y_model2, y_model3)
    >>> print(f"{f:.3f} {p:.3f}")
    2.489 0.111
    """
    result = _cochran(y_target, y_model_predictions)
    return np.float64(result.f_statistic), np.float64(result.f_pvalue)


def _cochran(y_target: ArrayLike, predictions: tuple[ArrayLike, ...]) -> CochranResult:
    return _cochrans_q(*_codes(_encode_many(y_target, predictions)))


def _codes(labels: Labels) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """The arguments of a function of many models."""
    return labels.y_true, dict(zip(labels.names, labels.preds, strict=True))


def _encode_many(y_target: ArrayLike, predictions: tuple[ArrayLike, ...]) -> Labels:
    if len(predictions) < 2:
        raise ValueError(f"y_model_predictions must be 2 or more, got {len(predictions)}")
    return _encode(y_target, {f"model_{i}": raw for i, raw in enumerate(predictions)})


def _encode(y_target: ArrayLike, models: dict[str, ArrayLike]) -> Labels:
    """Encode without dropping a sample."""
    columns = {"y_target": y_target, **models}
    try:
        labels = encode(y_target, models, truth="y_target")
    except ValueError:
        # For a missing prediction it would recommend an option that mlxtend lacks.
        _refuse_missing(columns)
        raise
    if labels.n_missing:
        _refuse_missing(columns)
    return labels


def _refuse_missing(columns: dict[str, ArrayLike]) -> None:
    for name, raw in columns.items():
        refuse_missing(read_column(raw, name))
