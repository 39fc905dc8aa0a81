"""One call for all data: what they are taken for, and the comparison made for such."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record, are_paired, are_task_scores, are_valued, same
from fastcmp.core.sections import Section
from fastcmp.core.typing import ColumnLike, ModelsLike
from fastcmp.inputs.model_names import has_names, known_frame, named_columns, with_names
from fastcmp.inputs.values import ItemTable
from fastcmp.pairwise.model_estimates import estimates_of
from fastcmp.stream import load
from fastcmp.stream.dask_blocks import are_collections

#: Names of columns, in lower case, that say what a table is.
_TASKS = ("task", "dataset", "data set", "data_set", "dataset_name", "benchmark")
_MODELS = ("model", "method", "framework", "classifier_name", "classifier")
_SCORES = ("value", "score", "accuracy", "correct")
_ITEMS = ("item", "item_id", "sample", "sample_id", "question", "case")
_IDS = ("id", "", "index")
_LOSSES = {"brier": "brier_values", "log-loss": "log_loss_values"}
#: Measures that are no metrics of counts.
_MEASURES = ("accuracy", "cost", "auc", "mean", "folds", *_LOSSES)
_STATE = b"fastcmp "  # how a saved state begins
#: Options of `read_results`, where logs are compared.
_OF_LOGS = ("task", "models", "items", "errors", "runs", "format", "filter", "columns")
#: Metrics of skore's reports of which less is better.
_ERRORS = ("log_loss", "brier_score", "rmse", "mae", "mape", "fit_time", "predict_time")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recognised(Record):
    """A comparison, and what the data were taken for: its fields are those of `result`."""

    #: What the function that was chosen found.
    result: Record
    #: What the data were taken for, and what was chosen for such, and why.
    taken_for: str
    test: str
    why: str
    #: The call that does the same without guessing.
    call: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "result":
            raise AttributeError(name)
        return getattr(self.result, name)

    def columns(self) -> dict[str, Any]:
        """The main table of the result.

        Returns
        -------
        dict of str to sequence
            Its columns.
        """
        return self.result.columns()

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What the data were taken for, and the result.
        """
        text = (
            f"Taken for {self.taken_for}.",
            f"{self.test}, as {self.why}.",
            f"The same without guessing: {self.call}",
        )
        return [Section(title="What was compared", text=text), *self.result.sections()]

    @property
    def _reported(self) -> Record:
        return self.result


class _Choice(NamedTuple):
    """What is called, with which data, and the words for it."""

    function: Callable[..., Any]
    data: dict[str, Any]
    #: How the call is written, without options.
    written: str
    taken_for: str
    test: str
    why: str
    #: Options that follow from the data.
    options: Mapping[str, Any] = {}
    #: What `measure` may say of such data.
    measures: Container[str] = ()
    #: The function that says which options there are; None for `function`.
    takes: Callable[..., Any] | None = None


def compare(
    data: Any,
    preds: ModelsLike | None = None,
    y: ColumnLike | None = None,
    *,
    y_true: ColumnLike | None = None,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Recognised:
    """Compare two models or many: what is compared, and how, follows from the data.

    Parameters
    ----------
    data : any
        One of: predicted labels or scores, with the truth as `y_true` or as a column of
        that name; true labels, with `preds`; values per item (a mapping from names to
        columns, a frame, or an array (M, n)); a long table with columns such as model,
        item and value; a table with a column of tasks or data sets; answers of
        scikit-learn's ``cross_validate``, or a search of its kind; skore's
        ``ComparisonReport``, or a mapping from names to its reports; counts and moments
        of `fastcmp.stream`, or the path of a saved one; the path of a file of
        predictions, or of logs; Inspect's frame of samples with their models; what
        `read_results` gave; Dask's collections; `Estimates`, or a record that has them;
        fitted estimators of scikit-learn's kind (a mapping from names, or a list).
    preds : any, optional
        Predictions or scores, where the first argument is the true labels; X, where it is
        fitted estimators.
    y : array-like, shape (n,), optional
        True labels, after X.
    y_true : array-like, shape (n,), optional
        True labels.
    measure : str, optional
        What to compare: of labels "accuracy", "cost" (with ``cost=``) or the name of a
        metric; of scores "auc", "brier" or "log-loss"; of values "mean"; of logs, and of
        reports of cross-validation, their metric. Where data could be two things it says which.
    names : sequence of str, optional
        Names of the models.
    **options
        Passed on: ``control``, ``groups``, ``strata``, ``weights``, ``margin``,
        ``adjust``, ``alpha``, ``lower_is_better``, ``missing``, ... Of a frame
        ``groups``, ``strata`` and ``weights`` may be names of columns; of logs also what
        `read_results` takes, such as ``task`` and ``errors``.

    Returns
    -------
    Recognised
        What the data were taken for, which test was chosen and why, and its answer, whose
        fields it has.

    Raises
    ------
    TypeError
        If an option does not go with what the data are.
    ValueError
        If the data could be two things: the error names both, and how to say which; or
        as the function that was chosen.

    See Also
    --------
    compare_all : Labels of many models.
    compare_means : Values of many models.

    Examples
    --------
    >>> import fastcmp
    >>> y, models = fastcmp.load_digits()
    >>> result = fastcmp.compare(models, y_true=y)
    >>> result.best[0]
    'svm_rbf'
    >>> result.call
    'fastcmp.compare_all(y_true, preds)'
    >>> two = {name: models[name] for name in ("svm_rbf", "mlp")}
    >>> two_models = fastcmp.compare(two, y_true=y)
    >>> two_models.call
    "fastcmp.compare_labels(y_true, pred_a, pred_b, names=('svm_rbf', 'mlp'))"
    >>> round(two_models.pvalue, 4)
    0.0025
    """
    options = {name: value for name, value in options.items() if value is not None}
    if _is_report(data) or (isinstance(data, Mapping) and any(map(_is_report, data.values()))):
        if any(argument is not None for argument in (preds, y, y_true)):
            raise BadTypeError("reports have their `X` and `y`: pass them alone", argument="data")
        data, preds, y, measure = _of_reports(data, measure, options)
    elif preds is None and callable(getattr(data, "fit", None)) and hasattr(data, "cv_results_"):
        if data.cv is None or isinstance(data.cv, int):  # K folds, else nothing says of what size
            options.setdefault("test_train_ratio", 1.0 / (data.n_splits_ - 1))
        data = data.cv_results_
    if _are_estimators(data):
        if preds is None or y is None or y_true is not None:
            raise BadTypeError(
                "of fitted estimators pass `X` and `y` too: compare(estimators, X, y)"
            )
        data, y_true = _predictions(data, preds, measure), y
    elif y is not None:
        raise BadTypeError("`y` is for fitted estimators, after X", remedy=": pass `y_true=`")
    elif preds is not None:
        if y_true is not None:
            raise BadTypeError("pass the truth as the first argument or as `y_true=`, not both")
        if isinstance(preds, (str, os.PathLike)):
            raise BadTypeError(
                "`preds` must be predictions or scores beside the true labels",
                f"{preds!r}: a file is passed alone, as the first argument",
            )
        data, y_true = preds, data
    plain = str(measure).lower().replace("_", "-").replace(" ", "-")
    measure = plain if plain in _MEASURES else measure
    choice = _recognise(data, y_true, measure, names, options)
    if measure is not None and measure not in choice.measures:
        raise BadValueError(
            f"`measure` must be one of {choice.measures} for {choice.taken_for}", repr(measure)
        )
    parameters = inspect.signature(choice.takes or choice.function).parameters
    for name in options:
        if name not in parameters:
            takes = ", ".join(x for x, p in parameters.items() if p.kind is p.KEYWORD_ONLY)
            raise BadTypeError(f"`{name}=` does not go with {choice.taken_for}; what does: {takes}")
    arguments = {**choice.options, **options}
    words = ", ".join(f"{name}={_written(value, name)}" for name, value in arguments.items())
    comma = "" if choice.written.endswith("()") or not words else ", "
    return Recognised(
        result=choice.function(**choice.data, **arguments),
        taken_for=choice.taken_for,
        test=choice.test,
        why=choice.why,
        call=f"{choice.written[:-1]}{comma}{words})",
    )


def _are_estimators(data: Any) -> bool:
    """Whether these are objects that predict."""
    models = data.values() if isinstance(data, Mapping) else data
    return isinstance(data, (Mapping, list, tuple)) and any(
        callable(getattr(model, "predict", None)) for model in models
    )


def _is_report(data: object) -> bool:
    """Whether this is a report of skore, of one model or several."""
    return callable(getattr(data, "get_predictions", None))


def _of_reports(data: object, measure: str | None, options: dict[str, Any]) -> tuple[Any, ...]:
    """Fitted estimators, X and y of reports; of cross-validation the scores of the same splits."""
    reports = getattr(data, "reports_", None) if _is_report(data) else data
    if not isinstance(reports, Mapping) or not all(map(_is_report, reports.values())):
        raise BadTypeError(
            "`data` must be a report of several models: pass a ComparisonReport, or a mapping "
            "from names to reports of one kind",
            type(data).__name__,
        )
    first = next(iter(reports.values()))
    is_validated = hasattr(first, "split_indices")
    parts = ("X", "y") if is_validated else ("X_test", "y_test")
    for part in parts:
        for name, report in reports.items():
            values = [getattr(pair_report, part, None) for pair_report in (first, report)]
            if values[0] is None or not same(*map(_dense, values)):
                raise BadValueError(
                    f"reports must be of the same samples in one order: {part} of {name!r} is "
                    "missing or not that of the first; if these are the same samples with "
                    "other columns, pass the predictions, with `y_true=`"
                )
    if not is_validated:
        return (
            {name: report.estimator_ for name, report in reports.items()},
            *(getattr(first, part) for part in parts),
            measure,
        )
    metric = measure or ("accuracy" if "classification" in first.ml_task else "r2")
    if metric in _ERRORS:
        options.setdefault("lower_is_better", True)
    scores = {}
    for name, report in reports.items():
        values = [getattr(fold.metrics, metric, lambda: None)() for fold in report.reports_]
        if not all(isinstance(value, (int, float)) for value in values):
            raise BadValueError(
                f"`measure={metric!r}` must be a metric of the report of {name!r} with one "
                "number a fold, such as 'accuracy', 'log_loss' or 'rmse'",
                repr(values[0]),
            )
        train, test = zip(*report.split_indices, strict=True)
        indices = {"train": train, "test": test}
        scores[name] = {"fit_time": (), f"test_{metric}": values, "indices": indices}
    return scores, None, None, "folds"


def _dense(values: object) -> NDArray[Any]:
    """Columns or a matrix as an array."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _predictions(models: Any, X: Any, measure: object) -> dict[str, Any]:
    """What estimators predict: labels, or of scores what ranks the samples."""
    if not isinstance(models, Mapping):
        classes = [type(model).__name__ for model in models]
        names = [x if classes.count(x) == 1 else f"{x}_{i}" for i, x in enumerate(classes)]
        models = dict(zip(names, models, strict=True))
    from fastcmp.paired.holdout import refuse_regressor

    predicted = {}
    for name, model in models.items():
        if not callable(getattr(model, "predict", None)):
            raise BadTypeError(
                f"estimators must have predict: {name} is {type(model).__name__}", argument="data"
            )
        refuse_regressor(model, str(name))
        if str(measure).lower() not in ("auc", "brier", *_LOSSES):
            predicted[str(name)] = model.predict(X)
        elif callable(getattr(model, "predict_proba", None)):
            predicted[str(name)] = np.asarray(model.predict_proba(X))[:, -1]
        elif measure == "auc" and callable(getattr(model, "decision_function", None)):
            predicted[str(name)] = model.decision_function(X)
        else:
            raise BadTypeError(f"`measure={measure!r}` needs predict_proba, which {name} lacks")
    return predicted


def _written(value: object, name: str) -> str:
    """An option as it is typed: itself, or its name where it is long."""
    short = isinstance(value, (str, int, float)) or (isinstance(value, tuple) and len(value) < 4)
    return repr(value) if short else name


def _public(name: str) -> Callable[..., Any]:
    """A function of the package, loaded when it is needed."""
    function: Callable[..., Any] = getattr(import_module("fastcmp"), name)
    return function


def _recognise(
    data: Any, y_true: object, measure: str | None, names: object, options: dict[str, Any]
) -> _Choice:
    """What the data are, by their type first, then by their columns."""
    data = known_frame(data)
    several = isinstance(data, (list, tuple)) and data and isinstance(data[0], os.PathLike)
    if isinstance(data, (str, os.PathLike)) or several:
        return _of_files(data if several else [data], y_true, measure, names, options)
    if (estimates := estimates_of(data)) is not None:
        return _Choice(
            function=_public("compare_means"),
            data={"values": data},
            written="fastcmp.compare_means(data)",
            taken_for=f"estimates of {len(estimates.names)} models",
            test="A test of the differences of the estimates",
            why="their covariance says how they vary together",
        )
    if are_paired(data):
        return _Choice(
            function=_public("compare_all"),
            data={"counts": data},
            written="fastcmp.compare_all(counts=data)",
            taken_for=f"counts of {data.n_samples} samples",
            test="McNemar's test",
            why="these are counts of right and wrong labels",
        )
    if are_task_scores(data) and hasattr(data, "compare"):
        return _of_results(data)
    if are_valued(data) or isinstance(data, ItemTable):
        return _of_values(data, "values of the same items")
    if measure == "folds" or _are_folds(data):
        return _Choice(
            function=_public("compare_folds"),
            data={"scores": data},
            written="fastcmp.compare_folds(scores)",
            taken_for="scores of folds",
            test="Nadeau and Bengio's corrected t test",
            why="folds of one cross-validation share training data",
            measures=("folds",),
        )
    return _of_table(data, y_true, measure, names, options)


def _are_folds(data: Any) -> bool:
    """Whether these are scikit-learn's: a search's results, or answers of cross-validation."""
    if has_names(data) and "mean_test_score" in data:
        return True
    answers = (data, *data.values()) if isinstance(data, Mapping) else ()
    return any(isinstance(answer, Mapping) and "fit_time" in answer for answer in answers)


def _of_table(
    data: object, y_true: Any, measure: str | None, names: object, options: dict[str, Any]
) -> _Choice:
    """The comparison of a table, which is recognised by the names of its columns."""
    if getattr(data, "ndim", 2) == 3:
        if measure is None:
            raise BadValueError(
                "`data` of shape (M, n, R) may be R answers to each of n items, or scores of R "
                "folds in n repetitions",
                remedy=": pass `measure='mean'` or `measure='folds'`",
            )
        return _of_values(data, "several answers to each item")
    if has_names(data) and not are_collections(data):
        columns = dict(named_columns(data, "data"))
        if {"sample_id", "eval_id"} <= columns.keys() and not isinstance(data, Mapping):
            return _of_logs(data, "data", measure, options)
        named = {name.lower(): name for name in columns}

        def find(words: Sequence[str]) -> str | None:
            """The first column that has one of these names."""
            return next((named[word] for word in words if word in named), None)

        item, task = find(_ITEMS), find(_TASKS)
        model, score, truth = find(_MODELS), find(_SCORES), find(("y_true",))
        if model and score and (item or task) and not truth:
            return _of_long(data, model, score, item, task)
        if truth and y_true is None:
            y_true = columns.pop(truth)
        for option in ("groups", "strata", "weights"):
            if isinstance(options.get(option), str) and options[option] in columns:
                options[option] = columns.pop(options[option])
        columns = {name: x for name, x in columns.items() if name.lower() not in _IDS}
        if y_true is None and task and len(columns) > 1:
            tasks = [str(x) for x in np.asarray(columns.pop(task)).tolist()]
            return _of_tasks(columns, {"tasks": tasks})
        data = columns
    data = with_names(data, names, "data")
    if are_collections(data, y_true):
        choice = _of_values(data, "Dask's values of the same items")
        return choice if y_true is None else _of_labels(y_true, data, measure, options)
    models = dict(named_columns(data, "data"))
    kinds = {_kind(column) for column in models.values()}
    if y_true is None:
        if "labels" in kinds:
            raise BadValueError(
                "`data` hold labels, and without the truth nothing is right or wrong",
                remedy=": pass `y_true=`",
            )
        if "whole" in kinds and kinds <= {"whole", "binary"} and measure is None:
            raise BadValueError(
                "`data` hold whole numbers, which may be grades of items, or labels whose "
                "truth is missing",
                remedy=": pass `measure='mean'` for grades, `y_true=` for labels",
            )
        what = "right and wrong answers" if kinds == {"binary"} else "values"
        return _of_values(data, f"{what} of the same items", models, options)
    if _kind(y_true) in ("fractions", "numbers"):
        raise BadValueError(
            "`y_true` holds numbers that are no labels: for regression pass a loss of each "
            "item, such as (prediction - `y_true`)**2, without `y_true` and with "
            "`lower_is_better=True`"
        )
    if kinds & {"fractions", "numbers"} or measure in ("auc", *_LOSSES):
        return _of_scores(y_true, models, measure, options)
    return _of_labels(y_true, models, measure, options)


def _kind(raw: ArrayLike) -> str:
    """What a column holds: "labels", "binary", "whole", "fractions" or "numbers"."""
    array: NDArray[Any] = np.asarray(raw)
    if array.dtype.kind == "O":
        entries = [x for x in array.ravel().tolist() if x is not None]
        array = np.asarray(entries) if entries else array
    if array.dtype.kind not in "biuf":
        return "labels"
    numbers = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if np.isin(numbers, (0, 1)).all():
        return "binary"
    if array.dtype.kind in "iu" or (numbers == np.trunc(numbers)).all():
        return "whole"
    return "fractions" if numbers.min() >= 0.0 and numbers.max() <= 1.0 else "numbers"


def _of_labels(
    y_true: object, preds: object, measure: str | None, options: Mapping[str, Any]
) -> _Choice:
    """Accuracies, costs or a metric; two models by the function that says most of a pair."""
    models = dict(named_columns(preds, "data"))
    by_metric = measure not in (None, "accuracy", "cost")
    metric_options: dict[str, Any] = {"metric": measure} if by_metric else {}
    test, name = ("McNemar's test", "compare_labels")
    if by_metric:
        test, name = f"A test of {measure}", "compare_metric"
    elif measure == "cost":
        test, name = "The likelihood-ratio test of costs", "compare_labels"
    reason = f"measure={measure!r} asks for it"
    choice = _Choice(
        function=_public("compare_all"),
        data={"y_true": y_true, "preds": preds},
        written="fastcmp.compare_all(y_true, preds)",
        taken_for=f"labels that {len(models)} models predicted",
        test=test,
        why=reason if by_metric or measure == "cost" else "the models labelled the same samples",
        measures=("accuracy", "cost", str(measure)),  # a metric that is unknown is refused later
        options=metric_options | ({"test": "cost"} if measure == "cost" else {}),
    )
    if len(models) != 2 or not _fits(name, options):
        return choice
    pred_a, pred_b = models.values()
    return choice._replace(
        function=_public(name),
        data={"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b},
        written=f"fastcmp.{name}(y_true, pred_a, pred_b)",
        options={**metric_options, "names": tuple(models)},
    )


def _fits(name: str, options: Mapping[str, Any]) -> bool:
    """Whether a function takes these options."""
    return options.keys() <= inspect.signature(_public(name)).parameters.keys()


def _of_scores(
    y_true: object, scores: dict[str, Any], measure: str | None, options: dict[str, Any]
) -> _Choice:
    """Areas under ROC curves, or losses of probabilities."""
    of_areas = () if measure in _LOSSES else ("groups",)
    first = {x: options.pop(x) for x in ("positive", *of_areas) if x in options}
    what = f"scores of {len(scores)} models"
    if measure in _LOSSES:
        loss_values = _public(_LOSSES[measure])(y_true, scores, **first)
        losses = _of_values(loss_values, what, scores, options)
        return losses._replace(
            written=losses.written.replace(
                "values)", f"fastcmp.{_LOSSES[measure]}(y_true, scores))"
            ),
            taken_for=what,
            why=f"measure={measure!r} asks for it",
            measures=tuple(_LOSSES),
            options={**losses.options, "lower_is_better": True},
        )
    areas = _public("delong")(y_true, scores, **first)
    words = "".join(f", {name}={_written(value, name)}" for name, value in first.items())
    method = "compare" if len(scores) == 2 else "pairwise"
    return _Choice(
        function=getattr(areas, method),
        data={},
        written=f"fastcmp.delong(y_true, scores{words}).{method}()",
        taken_for=what,
        test="DeLong's test of areas under ROC curves",
        why="scores rank the samples; measure='brier' compares probabilities",
        measures=("auc", *_LOSSES),
    )


def _of_values(
    data: object, what: str, models: Any = None, options: Mapping[str, Any] | None = None
) -> _Choice:
    """Means of values per item; of two models all about the one difference."""
    choice = _Choice(
        function=_public("compare_means"),
        data={"values": data},
        written="fastcmp.compare_means(values)",
        taken_for=what,
        test="The paired t test of means",
        why="all models have the same items",
        measures=("mean",),
    )
    if models is None or len(models) != 2 or not _fits("mean_difference", options or {}):
        return choice
    (name_a, values_a), (name_b, values_b) = named_columns(data, "data")
    return choice._replace(
        function=_public("mean_difference"),
        data={"values_a": values_a, "values_b": values_b},
        written="fastcmp.mean_difference(values_a, values_b)",
        options={"names": (name_a, name_b)},
    )


def _of_tasks(scores: object, options: dict[str, Any]) -> _Choice:
    """Scores of models on data sets."""
    return _Choice(
        function=_public("compare_datasets"),
        data={"scores": scores},
        written="fastcmp.compare_datasets(scores)",
        taken_for="scores on data sets",
        test="Wilcoxon's signed-rank test over data sets",
        why="each row is a data set",
        options=options,
    )


def _of_long(data: object, model: str, score: str, item: str | None, task: str | None) -> _Choice:
    """A row for each model and item, or for each model and data set."""
    columns = {"item": item or task, "model": model, "value": score}
    if item and task:
        columns["stratum"] = task
    table = _public("from_long")(data, **columns)
    if not item:
        scores = dict(zip(table.names, table.values, strict=True))
        return _of_tasks(scores, {"tasks": [str(x) for x in table.items.tolist()]})
    words = ", ".join(f"{name}={column!r}" for name, column in columns.items())
    return _of_values(table, "a long table of values of items")._replace(
        written=f"fastcmp.compare_means(fastcmp.from_long(data, {words}))"
    )


def _of_results(results: Any) -> _Choice:
    """What logs of evaluation tools hold."""
    n_models, n_items = len(results.names), len(results.items)
    what = f"logs of {n_models} models, {results.metric} of {n_items} items"
    if results.unit == "task" or (results.unit == "split" and len(results.tasks) > 1):
        return _of_tasks(results, {})._replace(
            taken_for=what, written="fastcmp.compare_datasets(results)"
        )
    by_labels = results.is_right_or_wrong and results.is_answered_once
    return _Choice(
        function=results.compare,
        data={},
        written="results.compare()",
        taken_for=what,
        test="McNemar's test" if by_labels else "The paired t test of means",
        why="each item was right or wrong, once" if by_labels else "items have values or repeats",
        takes=_public("compare_all" if by_labels else "compare_means"),
    )


def _of_logs(data: object, read: str, measure: str | None, options: dict[str, Any]) -> _Choice:
    """What `read_results` reads, with those of the options that are its own."""
    read_options = {} if measure is None else {"metric": measure}
    read_options |= {name: options.pop(name) for name in _OF_LOGS if name in options}
    words = "".join(f", {name}={_written(value, name)}" for name, value in read_options.items())
    choice = _of_results(_public("read_results")(data, **read_options))
    call = choice.written.replace("results", f"fastcmp.read_results({read}{words})", 1)
    return choice._replace(written=call, measures=(str(measure),))


def _of_files(
    data: Sequence[Any], y_true: object, measure: str | None, names: object, options: dict[str, Any]
) -> _Choice:
    """A saved state, a table, files of predictions, or logs."""
    paths = [Path(name) for name in data]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"data: there is no file or folder {str(path)!r}")
    one_file = len(paths) == 1 and paths[0].is_file()
    files = str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
    if one_file:
        with paths[0].open("rb") as file:
            is_state = file.read(len(_STATE)) == _STATE
        if is_state:
            return _recognise(load(paths[0]), y_true, measure, names, options)
    # What reads files needs pyarrow.
    from fastcmp.io.formats import kind_of
    from fastcmp.io.logs.files import find_files
    from fastcmp.io.logs.format import LogOptions
    from fastcmp.io.logs.reading import recognise
    from fastcmp.io.predictions import read_predictions
    from fastcmp.io.sources import read_table

    recognition = recognise(find_files(paths).files, LogOptions(), None)
    formats = [logs.format.name for logs in recognition.recognised]
    read = ", ".join(repr(str(path)) for path in paths[:3])
    if formats == ["battles"]:
        from fastcmp.datasets import bradley_terry_from_battles

        return _Choice(
            function=bradley_terry_from_battles,
            data={"battles": _public("read_battles")(paths[0])},
            written=f"fastcmp.datasets.bradley_terry_from_battles(fastcmp.read_battles({read}))",
            taken_for=f"battles in {files}",
            test="Bradley and Terry's model",
            why="answers of two models were judged against each other",
        )
    is_table = one_file and kind_of(paths[0]) is not None
    if is_table and formats in ([], ["wide"], ["long"]):
        table = read_table(paths[0], labels=("y_true",))  # what else is decimal is a number
        if "y_true" in table.column_names and str(table.schema.field("y_true").type)[:4] == "dict":
            table = read_table(paths[0])  # labels that look like decimals are no numbers
        choice = _of_table(table, y_true, measure, names, options)
    elif formats in ([], ["wide"]):
        predictions = read_predictions(paths)
        choice = _of_labels(predictions.y_true, predictions.preds, measure, options)
    else:
        return _of_logs(paths, f"[{read}]", measure, options)
    return choice._replace(taken_for=f"{choice.taken_for}, in {files}")
