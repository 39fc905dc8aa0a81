"""Values of labels and probabilities, one for each item: right or wrong, and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_numbers, warn
from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.core.typing import Classes, ColumnLike, Label, ModelsLike
from fastcmp.inputs.labels import encode
from fastcmp.inputs.model_names import has_names, with_names
from fastcmp.inputs.ratings import (
    Probabilities,
    check_range,
    check_sums,
    mark_positives,
    read_probabilities,
    read_true_labels,
    true_columns,
)


def correct_values(
    y_true: ColumnLike,
    preds: ModelsLike,
    *,
    classes: Classes | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
) -> Any:
    """Whether each model is right on each item: 1 or 0.

    Values for `compare_means`, `best_set`, `rank_sets` and others; their means are
    accuracies.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels of M models, as in `compare_all`.
    classes : sequence, optional
        Only samples whose true label is one of these count.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.

    Returns
    -------
    ndarray of float64, shape (M, n), or dict
        Of an array without `names` an array, else a dict from names to arrays of shape
        (n,). NaN for samples that do not count: those without a true label, or of other
        classes; ``missing="common"`` leaves them out where values are compared.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, names repeat, or
        labels are missing.
    TypeError
        If labels cannot be compared.

    Examples
    --------
    >>> from fastcmp import correct_values
    >>> correct_values([0, 1, 1], {"a": [0, 1, 0], "b": [1, 1, 1]})["a"].tolist()
    [1.0, 1.0, 0.0]
    """
    named = names is not None or has_names(preds)
    labels = encode(y_true, with_names(preds, names, "preds"), classes=classes, missing=missing)
    kept = labels.kept
    n = len(labels.y_true) if kept is None else kept.size
    values = np.full((len(labels.names), n), np.nan)
    for row, codes in zip(values, labels.preds, strict=True):
        row[slice(None) if kept is None else kept] = codes == labels.y_true
    return dict(zip(labels.names, values, strict=True)) if named else values


def brier_values(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    classes: Classes | None = None,
    positive: Label = None,
) -> Any:
    """Brier score of each item: the squared error of its probabilities.

    Values for `compare_means` with ``lower_is_better=True``; their mean is
    `sklearn.metrics.brier_score_loss`.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, none of them missing.
    probabilities : array-like, or mapping or frame of models
        Of one model: of shape (n,), the probability of the positive class; or (n, K), a
        column a class, as ``predict_proba`` gives them. Of M models: an array of shape
        (M, n) or (M, n, K), a mapping from names to arrays, or a frame with a column
        a model.
    classes : sequence, optional
        Labels of the K columns; the sorted labels of ``y_true`` where not given, as in
        scikit-learn.
    positive : label, optional
        The positive class; of numbers the larger one where not given.

    Returns
    -------
    ndarray of float64, shape (n,) or (M, n), or dict
        Losses; for a mapping or frame a dict from names to arrays of shape (n,). With
        two classes (p - y)**2, from 0 to 1, also where both have a column; with more
        the sum of (p - y)**2 over the classes, from 0 to 2.

    Raises
    ------
    TypeError
        If probabilities are not numbers.
    ValueError
        If one is missing or outside [0, 1], those of an item do not add up to 1, a true
        label is missing or not among the classes, or shapes do not fit.

    References
    ----------
    .. [1] G. W. Brier, "Verification of forecasts expressed in terms of probability",
       Monthly Weather Review 78 (1950) 1-3.

    Examples
    --------
    >>> from fastcmp import brier_values
    >>> brier_values([0, 1, 1], [0.1, 0.9, 0.4]).round(2).tolist()
    [0.01, 0.01, 0.36]
    >>> brier_values(
    ...     ["cat", "owl"], [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], classes=["cat", "dog", "owl"]
    ... ).round(2).tolist()
    [0.38, 0.06]
    """
    read = read_probabilities(y_true, probabilities)
    column = read_true_labels(y_true)
    losses = []
    for name, table in zip(read.names, read.tables, strict=True):
        check_range(table, name)
        wide = np.asarray(table, np.float64)
        if table.ndim == 1:
            losses.append(np.square(wide - mark_positives(column, positive, classes)))
            continue
        codes = true_columns(column, table, classes, positive, name)
        check_sums(table, name)
        wide = wide.copy()
        wide[np.arange(len(codes)), codes] -= 1.0
        values = np.square(wide).sum(axis=1)
        losses.append(values / 2.0 if table.shape[1] == 2 else values)
    return _shaped(losses, read)


def log_loss_values(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    classes: Classes | None = None,
    positive: Label = None,
    eps: float | None = None,
) -> Any:
    """Log loss of each item: minus the logarithm of its true label's probability.

    Values for `compare_means` with ``lower_is_better=True``; their mean is
    `sklearn.metrics.log_loss`.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, none of them missing.
    probabilities : array-like, or mapping or frame of models
        Of one model: of shape (n,), the probability of the positive class; or (n, K), a
        column a class, as ``predict_proba`` gives them. Of M models: an array of shape
        (M, n) or (M, n, K), a mapping from names to arrays, or a frame with a column
        a model.
    classes : sequence, optional
        Labels of the K columns; the sorted labels of ``y_true`` where not given, as in
        scikit-learn.
    positive : label, optional
        The positive class; of numbers the larger one where not given.
    eps : float, optional
        Probabilities are clipped to [eps, 1 - eps]. By default, as in scikit-learn, the
        precision of their type: 2.2e-16 for float64, 1.2e-7 for float32. With 0 none is
        clipped, and an infinite loss is refused.

    Returns
    -------
    ndarray of float64, shape (n,) or (M, n), or dict
        Losses in nats; for a mapping or frame a dict from names to arrays of shape
        (n,).

    Raises
    ------
    TypeError
        If probabilities or ``eps`` are not numbers.
    ValueError
        If a probability is missing or outside [0, 1], those of an item do not add up to
        1, a true label is missing or not among the classes, shapes do not fit, or a
        loss is infinite.

    Warns
    -----
    UserWarning
        If the probability of a true label was below ``eps``: its loss, and so the mean,
        is a matter of ``eps``.

    Examples
    --------
    >>> from fastcmp import log_loss_values
    >>> log_loss_values([0, 1, 1], [0.1, 0.9, 0.4]).round(3).tolist()
    [0.105, 0.105, 0.916]
    """
    eps = check_eps(eps)
    read = read_probabilities(y_true, probabilities)
    column = read_true_labels(y_true)
    losses, below = [], []
    for name, table in zip(read.names, read.tables, strict=True):
        check_range(table, name)
        if table.ndim == 1:
            is_positive = mark_positives(column, positive, classes)
            # In the type of the probabilities, as scikit-learn does.
            chance = np.where(is_positive, table, 1 - table)
        else:
            codes = true_columns(column, table, classes, positive, name)
            check_sums(table, name)
            chance = table[np.arange(len(codes)), codes]
        least = float(np.finfo(table.dtype).eps) if eps is None else eps
        below.append(int(np.count_nonzero(chance < least)) if least else 0)
        _refuse_infinite(chance, least, name)
        wide = chance.astype(np.float64)
        losses.append(-np.log(np.clip(wide, least, 1 - least)))
    _warn_clipped(below, read.names, losses)
    return _shaped(losses, read)


def check_eps(eps: object) -> float | None:
    """The checked distance of clipped probabilities from 0 and 1; None stays None."""
    if eps is None:
        return None
    value = as_numbers(eps, "eps", "a number")
    if value.ndim or not 0.0 <= value < 0.5:
        raise BadValueError("`eps` must be a number in [0, 0.5)", repr(eps))
    return float(value)


# What comes out.


def _refuse_infinite(chance: NDArray[Any], least: float, name: str) -> None:
    if least > 0.0 or (chance > 0.0).all():
        return
    items = np.flatnonzero(chance == 0.0)
    raise BadValueError(
        f"log loss is infinite for {items.size} items of {visible(name)}, the first of them "
        f"{', '.join(map(str, items[:3]))}: probabilities of their true labels are 0; clip "
        "them with `eps=`, or compare Brier scores"
    )


def _warn_clipped(below: list[int], names: tuple[str, ...], losses: list[NDArray[Any]]) -> None:
    """The sentence about models whose probabilities of true labels were raised to eps."""
    clipped = [i for i, n in enumerate(below) if n]
    if not clipped:
        return
    listed = ", ".join(
        f"{visible(names[i])} ({below[i]}, to a loss of {losses[i].max():.4g})" for i in clipped[:3]
    )
    more = f" and {len(clipped) - 3} more models" if len(clipped) > 3 else ""
    warn(
        f"probabilities of true labels below eps were clipped, for {listed}{more}: "
        "such losses, and means of them, depend on eps; Brier scores do not"
    )


def _shaped(losses: list[Any], read: Probabilities) -> Any:
    """Losses in the form of the probabilities: of one model, of an array, or by name."""
    if read.single:
        return losses[0]
    return dict(zip(read.names, losses, strict=True)) if read.named else np.array(losses)
