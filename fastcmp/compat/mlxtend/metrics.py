"""Scores of predicted labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.compat.mlxtend.codes import shared_codes
from fastcmp.core.checks import choose
from fastcmp.inputs.columns import kind_of

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
    y_target: ArrayLike,
    y_predicted: ArrayLike,
    method: str = "standard",
    pos_label: Any = 1,
    normalize: bool = True,  # noqa: FBT001, FBT002  # mlxtend's signature
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
            raise ValueError(f"pos_label must be among the true labels, got {pos_label!r}")
        right = (true == at) == (pred == at)
    return np.float64(right.mean()) if normalize else right.sum()


def confusion_matrix(
    y_target: ArrayLike,
    y_predicted: ArrayLike,
    binary: bool = False,  # noqa: FBT001, FBT002
    positive_label: Any = 1,
) -> NDArray[np.int64]:
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
    y_target: ArrayLike,
    y_predicted: ArrayLike,
    binary: bool = True,  # noqa: FBT001, FBT002
    positive_label: Any = 1,
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
            raise ValueError(
                f"y_target and y_predicted must hold 0 and 1 with binary=False, got {strange[0]!r}"
            )
        positive_label = 1
    _, fp, fn, tp = counts = _count(y_target, y_predicted, positive_label)
    return _divide(tp * sum(counts), (tp + fn) * (tp + fp))


def scoring(
    y_target: ArrayLike,
    y_predicted: ArrayLike,
    metric: str = "error",
    positive_label: Any = 1,
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
    chosen = np.unique(true)
    if not isinstance(unique_labels, str):
        chosen = np.array([_position(label, classes) for label in unique_labels])
    elif unique_labels != "auto":
        raise ValueError(f"unique_labels must be 'auto' or labels, got {unique_labels!r}")
    if metric in _ACCURACIES:
        if _ACCURACIES[metric] == "average":
            accuracy = _average(true, pred, chosen)
        else:
            accuracy = accuracy_score(y_target, y_predicted, _ACCURACIES[metric])
        return 1.0 - accuracy if metric.endswith("error") else accuracy
    if len(chosen) > 2 or len(np.unique(pred)) > 2:
        raise ValueError(f"metric {metric!r} is for two classes, got {classes}")
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


def _average(true: NDArray[np.intp], pred: NDArray[np.intp], chosen: NDArray[np.intp]) -> float:
    """Average over classes the accuracy of one class against all others."""
    return np.float64(np.mean([((true == k) == (pred == k)).mean() for k in chosen]))


def _position(label: Any, classes: Sequence[Any]) -> int:
    """Find a label among classes; -1 where it is none of them."""
    return next((i for i, known in enumerate(classes) if known == label), -1)


def _count(y_target: ArrayLike, y_predicted: ArrayLike, positive: Any) -> _Counts:
    (true, pred), classes = _read_both(y_target, y_predicted)
    at = _position(positive, classes)
    # 1 may be missing among samples that are all 0, but not among "yes" and "no".
    if at < 0 and (len(classes) > 1 or kind_of(classes[0]) != kind_of(positive)):
        raise ValueError(f"positive_label must be one of the labels {classes}, got {positive!r}")
    cells = 2 * (true == at) + (pred == at)
    return _Counts(*np.bincount(cells, minlength=4).tolist())


def _read_both(
    y_target: ArrayLike, y_predicted: ArrayLike
) -> tuple[list[NDArray[np.intp]], list[Any]]:
    codes, classes = shared_codes({"y_target": y_target, "y_predicted": y_predicted})
    true, pred = codes
    if true.size != pred.size:
        raise ValueError(f"y_predicted has {pred.size} labels, y_target has {true.size}")
    return codes, classes
