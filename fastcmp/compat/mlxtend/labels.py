"""Scores of predicted labels, and tests of two or more models on the same samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.checks import choose
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike, Floats, Ints, Label
from fastcmp.inputs.columns import Column, kind_of, read_column
from fastcmp.inputs.labels import Labels, encode, sorted_codes
from fastcmp.paired import mcnemar as paired
from fastcmp.pairwise.cochran import cochrans_q as _cochrans_q
from fastcmp.pairwise.compare_all import compare_all


def shared_codes(columns: Mapping[str, ColumnLike]) -> tuple[list[NDArray[np.intp]], list[Any]]:
    """Encode columns of any lengths: the codes of each, and the classes in order."""
    read = [read_column(raw, name).factorized() for name, raw in columns.items()]
    for column in read:
        if not len(column):
            raise BadValueError(f"`{column.name}` must hold at least 1 label", "none")
        _refuse_missing(column)
        if column.kind() != read[0].kind():
            raise BadTypeError(
                f"`{column.name}` holds {column.kind()} labels and {read[0].name} "
                f"{read[0].kind()} labels, which can never be equal: convert one of them"
            )
    index: dict[Any, int] = {}
    coded = []
    for column in read:
        places = [index.setdefault(label, len(index)) for label in column.distinct]
        coded.append(np.array(places, np.intp)[column.positions()])
    labels = list(index)
    used = sorted_codes(labels, np.unique(np.concatenate(coded)))
    rank = np.zeros(len(labels), np.intp)
    rank[used] = np.arange(len(used))
    return [rank[codes] for codes in coded], [labels[code] for code in used]


def _refuse_missing(column: Column) -> None:
    """Refuse missing labels, which no option of mlxtend's treats."""
    missing = column.missing()
    if missing is not None:
        raise BadValueError(
            f"`{column.name}` has no label at row {missing.argmax()} "
            f"({np.count_nonzero(missing)} missing in all): drop such samples first"
        ) from None


# Tests of two or more models.


def mcnemar(
    ary: ArrayLike, corrected: bool = True, exact: bool = False
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
        raise BadValueError("`ary` must be a 2 x 2 table", f"shape {table.shape}")
    method = "corrected" if corrected else "asymptotic"
    try:
        result = paired.mcnemar(table=table, method="exact" if exact else method)
    except ArgumentError as error:
        raise error.but(demand=f"`ary` must hold counts: {error.args[0]}") from None
    chi2 = None if exact else np.float64(result.statistic)
    return chi2, np.float64(result.pvalue)


def mcnemar_table(y_target: ColumnLike, y_model1: ColumnLike, y_model2: ColumnLike) -> Ints:
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


def mcnemar_tables(y_target: ColumnLike, *y_model_predictions: ColumnLike) -> dict[str, Floats]:
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
    # The method and the adjustment that take least time: p-values are not used.
    labels = _encode_many(y_target, y_model_predictions)
    counted = compare_all(*labels, method="asymptotic", adjust="bonferroni")
    both_right = counted.correct[counted.pairs[:, 0]] - counted.only_a
    both_wrong = counted.n_samples - both_right - counted.only_a - counted.only_b
    cells = np.stack([both_right, counted.only_a, counted.only_b, both_wrong], axis=1)
    tables = cells.astype(np.float64).reshape(-1, 2, 2)
    return {
        f"model_{i} vs model_{j}": table.copy()
        for (i, j), table in zip(counted.pairs.tolist(), tables, strict=True)
    }


def cochrans_q(y_target: ColumnLike, *y_model_predictions: ColumnLike) -> tuple[float, float]:
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
    result = _cochrans_q(*_encode_many(y_target, y_model_predictions))
    return np.float64(result.statistic), np.float64(result.pvalue)


def ftest(y_target: ColumnLike, *y_model_predictions: ColumnLike) -> tuple[float, float]:
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
    result = _cochrans_q(*_encode_many(y_target, y_model_predictions))
    return np.float64(result.f_statistic), np.float64(result.f_pvalue)


def _encode_many(
    y_target: ColumnLike, predictions: tuple[ColumnLike, ...]
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """The arguments of a function of many models."""
    if len(predictions) < 2:
        raise BadValueError("`y_model_predictions` must be 2 or more", len(predictions))
    labels = _encode(y_target, {f"model_{i}": raw for i, raw in enumerate(predictions)})
    return labels.y_true, dict(zip(labels.names, labels.preds, strict=True))


def _encode(y_target: ColumnLike, models: dict[str, ColumnLike]) -> Labels:
    """Encode without dropping a sample."""
    lacks: ValueError = BadValueError("`y_target` lacks labels")
    try:
        labels = encode(y_target, models, truth="y_target")
        if not labels.n_missing:
            return labels
    except ValueError as error:
        lacks = error
    # For a missing prediction it would recommend an option that mlxtend lacks.
    for name, raw in {"y_target": y_target, **models}.items():
        _refuse_missing(read_column(raw, name))
    raise lacks


# Scores.


_METHODS = ("standard", "binary", "average", "balanced")
#: Metrics of labels of any number of classes, and the method of `accuracy_score`.
_ACCURACIES = {
    "accuracy": "standard",
    "error": "standard",
    "average per-class accuracy": "average",
    "average per-class error": "average",
    "balanced accuracy": "balanced",
}


class _Counts(NamedTuple):
    """Samples by the true and the predicted class, as whole numbers of Python."""

    tn: int
    fp: int
    fn: int
    tp: int


def accuracy_score(
    y_target: ColumnLike,
    y_predicted: ColumnLike,
    method: str = "standard",
    pos_label: Label = 1,
    normalize: bool = True,
) -> float:
    """Accuracy in four meanings, like `mlxtend.evaluate.accuracy_score`.

    Parameters
    ----------
    y_target, y_predicted : array-like, shape (n,)
        True and predicted labels.
    method : {"standard", "binary", "average", "balanced"}
        "standard" is the proportion of samples that are right, and "binary" the same
        for `pos_label` against all others. "average" is the mean of the latter over all
        classes of `y_target`, and "balanced" the mean recall of these classes.
    pos_label : label
        For "binary".
    normalize : bool
        False counts the samples that are right, for "standard" and "binary".

    Returns
    -------
    float or int
        Proportion, or number.

    Raises
    ------
    ValueError
        If lengths differ, there are no samples, a label is missing, `method` is
        unknown, or `pos_label` is not among the true labels.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.compare_all : Accuracies of many models with intervals and tests.

    Notes
    -----
    mlxtend 0.25 raises TypeError for lists with "balanced", and AttributeError where
    this raises ValueError.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import accuracy_score
    >>> float(accuracy_score([0, 0, 1, 2], [0, 1, 1, 2]))
    0.75
    >>> balanced = accuracy_score([0, 0, 1, 2], [0, 1, 1, 2], method="balanced")
    >>> round(float(balanced), 4)
    0.8333
    """
    method = choose(method, "method", _METHODS)
    (true, pred), classes = _read_both(y_target, y_predicted)
    right = true == pred
    present = np.unique(true)
    if method == "balanced":
        return np.float64(np.mean([right[true == k].mean() for k in present]))
    if method == "average":
        return _average(true, pred, present)
    if method == "binary":
        at = _position(pos_label, classes)
        if at not in present:
            raise BadValueError("`pos_label` must be among the true labels", repr(pos_label))
        right = (true == at) == (pred == at)
    return np.float64(right.mean()) if normalize else right.sum()


def confusion_matrix(
    y_target: ColumnLike, y_predicted: ColumnLike, binary: bool = False, positive_label: Label = 1
) -> Ints:
    """Count samples by true and predicted class, like `mlxtend.evaluate`.

    Parameters
    ----------
    y_target, y_predicted : array-like, shape (n,)
        True and predicted labels.
    binary : bool
        Count `positive_label` against all others.
    positive_label : label
        The positive class.

    Returns
    -------
    ndarray of int64, shape (K, K)
        ``[t, p]``: samples of class t that were predicted p, classes in order. A single
        class gets a second one without samples: 0 before 1, and any other class is
        followed by it.

    Raises
    ------
    ValueError
        If lengths differ, there are no samples, a label is missing, or labels of two
        classes or of another type do not hold `positive_label`.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.classification_table : Measures of such a table with intervals.
    fastcmp.count_labels : Counts by class for two models.

    Notes
    -----
    For labels such as "yes" and "no" and the default ``positive_label=1``, mlxtend 0.25
    counts all samples as negative, and as right.

    O(n + K**2), where mlxtend goes K**2 times through a list of pairs.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import confusion_matrix
    >>> confusion_matrix([0, 0, 1, 2], [0, 1, 1, 2]).tolist()
    [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> confusion_matrix([0, 0, 1, 2], [0, 1, 1, 2], binary=True).tolist()
    [[2, 1], [0, 1]]
    """
    if binary:
        tn, fp, fn, tp = _count(y_target, y_predicted, positive_label)
        return np.array([[tn, fp], [fn, tp]])
    (true, pred), classes = _read_both(y_target, y_predicted)
    n = len(classes)
    if n == 1:
        n, shift = 2, int(classes[0] != 0)
        true, pred = true + shift, pred + shift
    return np.bincount(n * true + pred, minlength=n * n).reshape(n, n)


def lift_score(
    y_target: ColumnLike, y_predicted: ColumnLike, binary: bool = True, positive_label: Label = 1
) -> float:
    """Precision divided by prevalence, like `mlxtend.evaluate.lift_score`.

    Parameters
    ----------
    y_target, y_predicted : array-like, shape (n,)
        True and predicted labels.
    binary : bool
        Count `positive_label` against all others; otherwise labels must be 0 and 1.
    positive_label : label
        The positive class; 1 if `binary` is false.

    Returns
    -------
    float
        1 where predictions are independent of the truth; NaN where no sample is
        positive, or none is predicted positive.

    Raises
    ------
    ValueError
        If lengths differ, there are no samples, a label is missing, or labels are not
        those that the options say.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.lift_table : Lift of scores by groups, with intervals.

    Notes
    -----
    With ``binary=False`` mlxtend 0.25 refuses labels above 1, but counts -1, 0.5 and
    the like as negative; here they are refused. It takes tables of labels too.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import lift_score
    >>> round(float(lift_score([0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0])), 4)
    1.3333
    """
    if not binary:
        _, classes = _read_both(y_target, y_predicted)
        strange = [label for label in classes if label not in (0, 1)]
        if strange:
            raise BadValueError(
                "`y_target` and y_predicted must hold 0 and 1 with binary=False", repr(strange[0])
            )
        positive_label = 1
    _, fp, fn, tp = counts = _count(y_target, y_predicted, positive_label)
    return _divide(tp * sum(counts), (tp + fn) * (tp + fp))


def scoring(
    y_target: ColumnLike,
    y_predicted: ColumnLike,
    metric: str = "error",
    positive_label: Label = 1,
    unique_labels: Any = "auto",
) -> float:
    """Score predicted labels, like `mlxtend.evaluate.scoring`.

    Parameters
    ----------
    y_target, y_predicted : array-like, shape (n,)
        True and predicted labels.
    metric : str
        Of any classes: "accuracy", "error", "average per-class accuracy", "average
        per-class error" or "balanced accuracy", as in `accuracy_score`. Of two:
        "precision", "recall" ("sensitivity", "true_positive_rate"), "specificity"
        ("true_negative_rate"), "false_positive_rate", "f1" or "matthews_corr_coef".
    positive_label : label
        The positive class of a metric of two.
    unique_labels : sequence, optional
        The classes to average over; by default those of `y_target`.

    Returns
    -------
    float
        NaN for 0 / 0, as for the precision of a model that predicts no positive.

    Raises
    ------
    ValueError
        If lengths differ, there are no samples, a label is missing, `metric` is
        unknown, or there are more than two classes for a metric of two.
    TypeError
        If labels can never be equal.

    See Also
    --------
    fastcmp.classification_table : The measures of two classes, with intervals.

    Notes
    -----
    mlxtend 0.25 differs where

    - "matthews_corr_coef" is computed from some 100,000 samples: the product of four
      sums overflows 64 bits, and the result is NaN or above 1.
    - "f1" is that of a model without a true positive: mlxtend divides 0 by 0, though F1
      is 0 as soon as there is a false one.
    - `unique_labels` is given for "average per-class accuracy": mlxtend ignores it.
    - labels are such as "yes" and "no", and ``positive_label=1``: see
      `confusion_matrix`.

    Examples
    --------
    >>> from fastcmp.compat.mlxtend import scoring
    >>> y_target, y_predicted = [1, 1, 1, 0, 0, 2, 0, 3], [1, 0, 1, 0, 0, 2, 1, 3]
    >>> float(scoring(y_target, y_predicted))
    0.25
    >>> round(float(scoring([1, 1, 0, 0], [1, 0, 0, 0], metric="f1")), 4)
    0.6667
    """
    metric = choose(metric, "metric", (*_ACCURACIES, *_BINARY))
    (true, pred), classes = _read_both(y_target, y_predicted)
    averaged = np.unique(true)
    if not isinstance(unique_labels, str):
        averaged = np.array([_position(label, classes) for label in unique_labels])
    elif unique_labels != "auto":
        raise BadValueError("`unique_labels` must be 'auto' or labels", repr(unique_labels))
    if metric in _ACCURACIES:
        if _ACCURACIES[metric] == "average":
            accuracy = _average(true, pred, averaged)
        else:
            accuracy = accuracy_score(y_target, y_predicted, _ACCURACIES[metric])
        return 1.0 - accuracy if metric.endswith("error") else accuracy
    if len(averaged) > 2 or len(np.unique(pred)) > 2:
        raise BadValueError(f"`metric` {metric!r} is for two classes", classes)
    return _binary_metric(metric, _count(y_target, y_predicted, positive_label))


def _binary_metric(metric: str, counts: _Counts) -> float:
    tn, fp, fn, tp = counts
    parts = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "false_positive_rate": (fp, tn + fp),
        "f1": (2 * tp, 2 * tp + fp + fn),
        # Whole numbers of Python: the product may exceed 64 bits.
        "matthews_corr_coef": (
            tp * tn - fp * fn,
            math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        ),
    }
    return _divide(*parts[_BINARY[metric]])


#: Metrics of two classes by each of their names.
_BINARY = {
    "false_positive_rate": "false_positive_rate",
    "true_positive_rate": "recall",
    "recall": "recall",
    "sensitivity": "recall",
    "true_negative_rate": "specificity",
    "specificity": "specificity",
    "precision": "precision",
    "f1": "f1",
    "matthews_corr_coef": "matthews_corr_coef",
}


def _divide(part: float, whole: float) -> float:
    return np.float64(part / whole if whole else math.nan)


def _average(true: NDArray[np.intp], pred: NDArray[np.intp], averaged: NDArray[np.intp]) -> float:
    """Average over classes the accuracy of one class against all others."""
    return np.float64(np.mean([((true == k) == (pred == k)).mean() for k in averaged]))


def _position(label: Any, classes: Sequence[Any]) -> int:
    """Place of a label among classes; -1 where it is none of them."""
    return next((i for i, name in enumerate(classes) if name == label), -1)


def _count(y_target: ColumnLike, y_predicted: ColumnLike, positive: Any) -> _Counts:
    (true, pred), classes = _read_both(y_target, y_predicted)
    at = _position(positive, classes)
    # 1 may be missing among samples that are all 0, but not among "yes" and "no".
    if at < 0 and (len(classes) > 1 or kind_of(classes[0]) != kind_of(positive)):
        raise BadValueError(f"`positive_label` must be one of the labels {classes}", repr(positive))
    cells = 2 * (true == at) + (pred == at)
    return _Counts(*np.bincount(cells, minlength=4).tolist())


def _read_both(
    y_target: ColumnLike, y_predicted: ColumnLike
) -> tuple[list[NDArray[np.intp]], list[Any]]:
    codes, classes = shared_codes({"y_target": y_target, "y_predicted": y_predicted})
    true, pred = codes
    if true.size != pred.size:
        raise BadValueError(f"`y_predicted` has {pred.size} labels, y_target has {true.size}")
    return codes, classes
