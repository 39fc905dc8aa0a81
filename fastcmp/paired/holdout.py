"""Two models on one held-out set: which to keep?

MATLAB's users know `compare_labels` as testcholdout, `compare_holdout` as
compareHoldout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, choose
from fastcmp.core.errors import BadTypeError, BadValueError, Spelled
from fastcmp.core.sentences import dropped_sentences, how, outside_sentences
from fastcmp.core.typing import Classes, ColumnLike
from fastcmp.inputs.columns import Column, count_rows, read_column
from fastcmp.inputs.model_names import check_indexes, known_frame, read_pair_names
from fastcmp.paired.cost_test import METHOD_NAMES as COST_NAMES
from fastcmp.paired.cost_test import METHODS as COST_METHODS
from fastcmp.paired.cost_test import CostResult, cost_test
from fastcmp.paired.decided import Decided, of_comparison, read_alpha
from fastcmp.paired.margin_result import margin_sentences
from fastcmp.paired.margins import MarginOptions, read_margin, with_margin
from fastcmp.paired.mcnemar import mcnemar
from fastcmp.paired.mcnemar_counts import METHODS
from fastcmp.paired.mcnemar_result import McNemarResult


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HoldoutResult(Decided):
    """Two models on one held-out set, compared by accuracy or by cost."""

    #: The test itself, with its counts: McNemar's, or one of costs.
    comparison: McNemarResult | CostResult

    _each = ("loss_a", "loss_b")
    _counted = ("n_samples", "n_missing", "n_excluded", "n_outside_a", "n_outside_b")
    _of_some = ("only_a", "only_b")

    method = of_comparison("method", "A variant of McNemar's test, or a cost-sensitive test.")
    n_samples = of_comparison("n_samples", "Number of samples that were compared.")
    n_excluded = of_comparison("n_excluded", "Samples dropped because of another true class.")

    @property
    def loss_a(self) -> float:
        """Error rate of a, or its expected cost; lower is better."""
        return self._losses[0]

    @property
    def loss_b(self) -> float:
        """Error rate of b, or its expected cost; lower is better."""
        return self._losses[1]

    @property
    def n_outside_a(self) -> int:
        """How many predictions of a are labels that the truth does not hold."""
        return (*self.comparison.n_outside, 0)[0]

    @property
    def n_outside_b(self) -> int:
        """How many predictions of b are labels that the truth does not hold."""
        return (*self.comparison.n_outside, 0, 0)[1]

    @property
    def _losses(self) -> tuple[float, float]:
        result = self.comparison
        if isinstance(result, CostResult):
            return result.loss_a, result.loss_b
        n = result.n_samples
        return (result.both_wrong + result.only_b) / n, (result.both_wrong + result.only_a) / n

    @property
    def _sizes(self) -> list[tuple[str, str]]:
        return [("samples", f"{self.n_samples}")]

    def _notes(self) -> tuple[str, ...]:
        a, b = self.names
        result = self.comparison
        outside = (self.n_outside_a, self.n_outside_b)
        if isinstance(result, CostResult):
            of_margins = margin_sentences(self.margins, COST_NAMES[self.method])
            notes = [*of_margins, how("Lower is better."), *result.remarks]
        else:
            notes = [
                *margin_sentences(self.margins),
                f"Only {a} is right on {result.only_a} samples, only {b} on {result.only_b}.",
            ]
        return (
            *notes,
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(outside, self.names, self.n_samples),
        )


_NAMES = ("a", "b")


def compare_labels(
    y_true: ColumnLike,
    pred_a: ColumnLike,
    pred_b: ColumnLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    classes: Classes | None = None,
    cost: ColumnLike | Mapping[Any, Any] | None = None,
    missing: str = "raise",
    margin: float | None = None,
    names: tuple[str, str] = _NAMES,
) -> HoldoutResult:
    """Decide which of two columns of predicted labels is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    method : str, optional
        Variant of McNemar's test: "midp" (default), "exact", "asymptotic", "corrected"
        or "unconditional". With `cost` the test of equal costs: "likelihood" (default)
        or "chi-square".
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
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong. With `cost`
        only "raise".
    margin : float, optional
        The largest difference of accuracies, or of costs, that does not matter: adds
        tests of non-inferiority, superiority by the margin and equivalence at `alpha`,
        and a decision, as ``margins``.
    names : tuple of two str
        What to call the models where the record is printed.

    Returns
    -------
    HoldoutResult
        The decision, p-value, both losses, an interval and what was counted.

    Raises
    ------
    ValueError
        If an option is unknown or does not fit a comparison with or without costs, or
        labels do not fit.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    mcnemar : The test of accuracies, with its table.
    fastcmp.cost_test : The test of expected costs, with all its options.

    Examples
    --------
    >>> from fastcmp import compare_labels, load_digits
    >>> y_true, models = load_digits()
    >>> result = compare_labels(y_true, models["knn_3"], models["decision_tree"])
    >>> result.reject, f"{result.pvalue:.1e}"
    (True, '5.1e-41')
    """
    method, alternative, missing = _choose(method, alternative, missing, cost)
    alpha = read_alpha(alpha, alternative)
    against, largest = _read_margin(margin, alpha, cost), 1.0
    names = read_pair_names(names)
    comparison: McNemarResult | CostResult
    if cost is None:
        comparison = mcnemar(
            y_true,
            pred_a,
            pred_b,
            method=method,
            alternative=alternative,
            classes=classes,
            missing=missing,
        )
    else:
        comparison = cost_test(y_true, pred_a, pred_b, cost, method=method, classes=classes)
        largest = comparison.cost.max()
    comparison = with_margin(comparison, against, largest)
    return HoldoutResult(comparison=comparison, alpha=alpha, names=names)


def _read_margin(margin: object, alpha: float, cost: object) -> MarginOptions | None:
    """Check a margin and the level of its tests; costs know their largest later."""
    if margin is None:
        return None
    return read_margin(margin, alpha, 1.0 if cost is None else np.inf)


def _choose(
    method: str | None, alternative: str, missing: str, cost: object
) -> tuple[str, str, str]:
    """Method, alternative and rule for missing labels; those that do not fit are refused."""
    methods, others = (METHODS, COST_METHODS) if cost is None else (COST_METHODS, METHODS)
    default = methods[0]
    method = choose(method, "method", (*methods, *others, None)) or default
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    missing = choose(missing, "missing", ("raise", "wrong"))
    if method in others:
        word = "without" if cost is None else "with"
        raise BadValueError(
            "`method` must be one of", Spelled(f"{method!r} {word} `cost=`"), choices=methods
        )
    only = {"alternative": "two-sided", "missing": "raise"}
    for name, value in {"alternative": alternative, "missing": missing}.items():
        if cost is not None and value != only[name]:
            raise BadValueError(f"`cost` permits only `{name}={only[name]!r}`", repr(value))
    return method, alternative, missing


def compare_holdout(
    model_a: Any,
    model_b: Any,
    X_a: Any,
    X_b: Any,
    y: ColumnLike,
    *,
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    classes: Classes | None = None,
    cost: ColumnLike | Mapping[Any, Any] | None = None,
    missing: str = "raise",
    margin: float | None = None,
    names: tuple[str, str] = _NAMES,
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
    method : str, optional
        Variant of McNemar's test, or of the test of equal costs, as in
        `compare_labels`.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    alpha : float
        Significance level, in (0, 1).
    classes : sequence, optional
        As in `compare_labels`.
    cost : array-like of shape (K, K), mapping or frame, optional
        As in `compare_labels`.
    missing : {"raise", "wrong"}
        As in `compare_labels`.
    margin : float, optional
        As in `compare_labels`.
    names : tuple of two str
        As in `compare_labels`.

    Returns
    -------
    HoldoutResult
        The decision, p-value, both losses, an interval and what was counted.

    Raises
    ------
    ValueError
        If rows or their pandas indexes do not match, the column of the labels is
        missing or differs, a model returns anything but one label a row, or as in
        `compare_labels`.
    TypeError
        If a model can neither predict nor be called, or is a regressor.

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
    # Options are checked before models take their time.
    method, alternative, missing = _choose(method, alternative, missing, cost)
    _read_margin(margin, read_alpha(alpha, alternative), cost)
    if isinstance(y, str):
        true_a, X_a = _split(X_a, y, "X_a")
        true_b, X_b = _split(X_b, y, "X_b")
        _check_same(true_a, true_b, y)
        y = true_a
    n = count_rows(y, "y")
    for name, X in (("X_a", X_a), ("X_b", X_b)):
        if count_rows(X, name) != n:
            raise BadValueError(f"`{name}` has {count_rows(X, name)} rows, y has {n} labels")
    check_indexes([("y", y), ("X_a", X_a), ("X_b", X_b)])
    return compare_labels(
        y,
        _predict(model_a, X_a, n, "a"),
        _predict(model_b, X_b, n, "b"),
        method=method,
        alternative=alternative,
        alpha=alpha,
        classes=classes,
        cost=cost,
        missing=missing,
        margin=margin,
        names=names,
    )


def _split(frame: Any, name: str, argument: str) -> tuple[Any, Any]:
    """The column of true labels of a frame, and the frame without it."""
    frame = known_frame(frame)
    library = type(frame).__module__.partition(".")[0]
    reader = {"pandas": "iloc", "polars": "get_column", "pyarrow": "column"}
    if not hasattr(frame, reader.get(library, "")) or not hasattr(frame, "columns"):
        kind = type(frame).__name__
        raise BadTypeError(
            f"`y={name!r}` names a column, so {argument} must be a pandas, polars or pyarrow frame",
            kind,
        )
    names = list(frame.column_names if library == "pyarrow" else frame.columns)
    if names.count(name) != 1:
        raise BadValueError(
            f"`{argument}` must have one column {name!r} (y)",
            f"{names.count(name)} among {names[:10]}",
        )
    if library == "pandas":
        return frame[name], frame.drop(columns=name)
    if library == "polars":
        return frame.get_column(name), frame.drop(name)
    return frame.column(name), frame.drop_columns([name])


def _check_same(first: object, second: object, name: str) -> None:
    columns = [read_column(first, "X_a"), read_column(second, "X_b")]
    if len(columns[0]) != len(columns[1]):
        raise BadValueError(f"`X_a` has {len(columns[0])} rows, X_b has {len(columns[1])}")
    codes = _shared_codes(columns[0].factorized(), columns[1].factorized())
    different = np.flatnonzero(codes[0] != codes[1])
    if different.size:
        raise BadValueError(
            f"column {name!r} (y) differs between `X_a` and `X_b`, first in row "
            f"{different[0]}: both must hold the same samples in the same order"
        )


def _shared_codes(first: Column, second: Column) -> list[Any]:
    index: dict[Any, int] = {}
    codes = []
    for column in (first, second):
        column_codes = [index.setdefault(label, len(index)) for label in column.distinct]
        codes.append(np.array([*column_codes, -1])[column.positions()])
    return codes


def refuse_regressor(model: Any, name: str) -> None:
    """Refuse a regressor of scikit-learn."""
    if not hasattr(model, "get_params"):
        return
    try:
        from sklearn.base import is_regressor

        is_regression = is_regressor(model)
    except (ImportError, AttributeError):
        return
    if is_regression:
        raise BadTypeError(
            f"`{name}` must be a classifier", f"{model!r}, which predicts numbers and not labels"
        )


def _predict(model: Any, X: Any, n: int, letter: str) -> Any:
    call = getattr(model, "predict", model)
    if isinstance(model, type) or not callable(call):
        got = f"the class {model.__name__}" if isinstance(model, type) else repr(model)
        raise BadTypeError(
            f"`model_{letter}` must be a fitted model with a method predict, or a function", got
        )
    refuse_regressor(model, f"model_{letter}")
    try:
        labels = call(X)
    except Exception as error:
        error.add_note(f"(raised while model_{letter} predicted from X_{letter})")
        raise
    if getattr(labels, "ndim", 1) == 2 and labels.shape[1] == 1:
        labels = np.asarray(labels)[:, 0]
    try:
        shape = getattr(labels, "shape", None) or np.shape(labels)
    except ValueError:
        raise BadValueError(
            f"`model_{letter}` must predict one label a row", "ragged lists"
        ) from None
    if shape != (n,) and not (len(shape) == 1 and len(labels) == n):
        raise BadValueError(
            f"`model_{letter}` must predict one label a row, an array of shape ({n},)",
            f"shape {tuple(shape)}",
        )
    return labels
