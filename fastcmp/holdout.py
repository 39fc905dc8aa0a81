"""Two models on one held-out set: which to keep? The doors of MATLAB's users.

`compare_labels` is their testcholdout, `compare_holdout` their compareHoldout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.checks import as_share, check_choice
from fastcmp.columns import Column, read_column
from fastcmp.cost import cost_test as _cost_test
from fastcmp.differences import METHODS as COST_TESTS
from fastcmp.holdout_result import HoldoutResult
from fastcmp.paired import ALTERNATIVES, METHODS, mcnemar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


def compare_labels(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    /,
    *,
    test: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    cost: Any = None,
    cost_test: str = "likelihood",
) -> HoldoutResult:
    """Decide which of two columns of predicted labels is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    test : {"midp", "exact", "asymptotic", "corrected", "unconditional"}, optional
        Variant of McNemar's test, "midp" by default. With `cost` only "asymptotic",
        the default there.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better. With `cost` only "two-sided".
    alpha : float
        Significance level, in (0, 1).
    classes : sequence, optional
        Order of the classes in `cost`; samples whose true label is another are left
        out. A prediction of another is wrong, and with `cost` refused.
    cost : array-like of shape (K, K), mapping or frame, optional
        Compare expected costs instead of error rates: ``cost[t, p]`` is the cost of
        predicting p when the truth is t, as in `fastcmp.cost_test`.
    cost_test : {"likelihood", "chi-square"}
        Which cost-sensitive test.

    Returns
    -------
    HoldoutResult
        The decision, p-value, both losses, an interval and what was counted.

    Raises
    ------
    ValueError
        If an option is unknown or does not go with a cost matrix, or labels do not fit.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    mcnemar : The test of error rates, with its table.
    fastcmp.cost_test : The test of expected costs, with all its options.

    Examples
    --------
    >>> from fastcmp import compare_labels, load_digits
    >>> y_true, models = load_digits()
    >>> result = compare_labels(y_true, models["knn_3"], models["decision_tree"])
    >>> result.reject, f"{result.pvalue:.1e}"
    (True, '7.4e-31')
    """
    alpha = as_share(alpha, "alpha")
    check_choice(alternative, "alternative", tuple(ALTERNATIVES))
    check_choice(test, "test", (*METHODS, None))
    check_choice(cost_test, "cost_test", COST_TESTS)
    if cost is None:
        chosen = "midp" if test is None else test
        return HoldoutResult(
            comparison=mcnemar(
                y_true,
                pred_a,
                pred_b,
                method=chosen,
                alternative=alternative,
                classes=classes,
            ),
            test=chosen,
            alternative=alternative,
            alpha=alpha,
        )
    if test not in (None, "asymptotic"):
        message = f"cost permits only test='asymptotic', got {test!r}"
        raise ValueError(message)
    if alternative != "two-sided":
        message = f"cost permits only alternative='two-sided', got {alternative!r}"
        raise ValueError(message)
    return HoldoutResult(
        comparison=_cost_test(
            y_true, pred_a, pred_b, cost, method=cost_test, classes=classes
        ),
        test=cost_test,
        alternative=alternative,
        alpha=alpha,
    )


def compare_holdout(  # noqa: PLR0913  # options, all by keyword
    model_a: Any,
    model_b: Any,
    X_a: Any,  # noqa: N803  # scikit-learn's name
    X_b: Any,  # noqa: N803
    y: Any,
    /,
    *,
    test: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    cost: Any = None,
    cost_test: str = "likelihood",
) -> HoldoutResult:
    """Decide which of two fitted models is better on a held-out set.

    Parameters
    ----------
    model_a, model_b : object
        Fitted classifiers with a method ``predict``, or functions from X to labels.
    X_a, X_b : array, sparse matrix or frame, n rows
        What each model predicts from: the same samples in the same order, perhaps
        other columns.
    y : array-like of shape (n,), or str
        True labels, or the name of their column in both frames, which is then taken
        away from the predictors.
    test : str, optional
        As in `compare_labels`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    alpha : float
        Significance level, in (0, 1).
    classes : sequence, optional
        As in `compare_labels`.
    cost : array-like of shape (K, K), mapping or frame, optional
        As in `compare_labels`.
    cost_test : {"likelihood", "chi-square"}
        As in `compare_labels`.

    Returns
    -------
    HoldoutResult
        The decision, p-value, both losses, an interval and what was counted.

    Raises
    ------
    ValueError
        If rows do not match, the column of the labels is missing or differs, a model
        returns anything but one label a row, or as in `compare_labels`.
    TypeError
        If a model can neither predict nor be called.

    See Also
    --------
    compare_labels : The same from predicted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp import compare_holdout
    >>> X = np.arange(12).reshape(6, 2)
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> def first(X):
    ...     return (X[:, 0] > 5).astype(int)
    >>> def never(X):
    ...     return np.zeros(len(X), int)
    >>> result = compare_holdout(first, never, X, X, y)
    >>> result.loss_a, result.loss_b, result.pvalue
    (0.0, 0.5, 0.125)
    """
    if isinstance(y, str):
        true_a, X_a = _split(X_a, y, "X_a")  # noqa: N806
        true_b, X_b = _split(X_b, y, "X_b")  # noqa: N806
        _check_same(true_a, true_b, y)
        y = true_a
    n = _rows(y)
    for name, X in (("X_a", X_a), ("X_b", X_b)):  # noqa: N806
        if _rows(X) != n:
            message = f"{name} has {_rows(X)} rows, y has {n} labels"
            raise ValueError(message)
    return compare_labels(
        y,
        _predict(model_a, X_a, n, "a"),
        _predict(model_b, X_b, n, "b"),
        test=test,
        alternative=alternative,
        alpha=alpha,
        classes=classes,
        cost=cost,
        cost_test=cost_test,
    )


def _rows(data: Any) -> int:
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape else len(data)


def _split(frame: Any, name: str, argument: str) -> tuple[Any, Any]:
    """Take the column of true labels out of a frame."""
    library = type(frame).__module__.partition(".")[0]
    names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    if library not in ("pandas", "polars", "pyarrow") or not names:
        kind = type(frame).__name__
        message = (
            f"y={name!r} names a column, so {argument} must be a pandas, polars or "
            f"pyarrow frame, got {kind}"
        )
        raise TypeError(message)
    if names.count(name) != 1:
        message = (
            f"{argument} must have one column {name!r} (y), got {names.count(name)} "
            f"among {names[:10]}"
        )
        raise ValueError(message)
    if library == "pandas":
        return frame[name], frame.drop(columns=name)
    if library == "polars":
        return frame.get_column(name), frame.drop(name)
    return frame.column(name), frame.drop_columns([name])


def _check_same(first: Any, second: Any, name: str) -> None:
    columns = [read_column(first, "X_a"), read_column(second, "X_b")]
    if len(columns[0]) != len(columns[1]):
        message = f"X_a has {len(columns[0])} rows, X_b has {len(columns[1])}"
        raise ValueError(message)
    codes = _shared_codes(columns[0].factorized(), columns[1].factorized())
    different = np.flatnonzero(codes[0] != codes[1])
    if different.size:
        message = (
            f"column {name!r} (y) differs between X_a and X_b, first in row "
            f"{different[0]}: both must hold the same samples in the same order"
        )
        raise ValueError(message)


def _shared_codes(first: Column, second: Column) -> list[Any]:
    index: dict[Any, int] = {}
    codes = []
    for column in (first, second):
        own = [index.setdefault(label, len(index)) for label in column.distinct]
        codes.append(np.array([*own, -1])[column.positions()])
    return codes


def _predict(model: Any, X: Any, n: int, which: str) -> Any:  # noqa: N803
    call = getattr(model, "predict", model)
    if isinstance(model, type) or not callable(call):
        got = f"the class {model.__name__}" if isinstance(model, type) else repr(model)
        message = (
            f"model_{which} must be a fitted model with a method predict, or a "
            f"function, got {got}"
        )
        raise TypeError(message)
    try:
        labels = call(X)
    except Exception as error:
        error.add_note(f"(raised while model_{which} predicted from X_{which})")
        raise
    if getattr(labels, "ndim", 1) == 2 and labels.shape[1] == 1:
        labels = np.asarray(labels)[:, 0]
    shape = getattr(labels, "shape", None) or np.shape(labels)
    if shape != (n,) and not (len(shape) == 1 and len(labels) == n):
        message = (
            f"model_{which} must predict one label a row, an array of shape ({n},), "
            f"got shape {tuple(shape)}"
        )
        raise ValueError(message)
    return labels
