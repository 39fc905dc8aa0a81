"""Many models compared by saved scores of folds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_numbers, as_positive, check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import LESS_IS_BETTER, same
from fastcmp.core.typing import Floats
from fastcmp.crossval.comparison_result import CVDatasetsResult
from fastcmp.crossval.comparisons import pair_fields, read_pairs
from fastcmp.crossval.fold_tests import FOLD_TESTS_CITE, fold_test
from fastcmp.inputs.columns import read_values
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns
from fastcmp.pairwise.result import PairwiseResult


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldComparison(PairwiseResult):
    """Many models compared in pairs by their scores in the folds of one data set."""

    _pilot = ""
    _cites = (("method", FOLD_TESTS_CITE),)

    #: Shape (M, R, K): repetitions and folds; R is 1 for random splits.
    fold_scores: Floats
    #: Samples tested over samples trained on in a split.
    test_train_ratio: float

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size: outside 0 to 1 they are."""
        return bool(np.abs(self.fold_scores).max() > 1)

    def fold_table(self) -> tuple[Floats, tuple[str, ...], tuple[str, ...], Floats]:
        """The scores as `fastcmp.datasets.task_table` takes them.

        Returns
        -------
        tuple of ndarray, names, tasks, ndarray
            As of `CVDatasetsResult`, with one data set.
        """
        table = self.fold_scores[:, None]
        return table, self.names, ("data",), np.array([self.test_train_ratio])

    @property
    def _each_pair(self) -> str:
        ratio = f"ratio of test to training samples {self.test_train_ratio:.4g}"
        return f"corrected resampled t test, {ratio}"

    @property
    def _score_intervals(self) -> str:
        return "corrected resampled t"


# Saved scores of folds: arrays, columns of models, and what scikit-learn gives.


_SPLIT = re.compile(r"split([0-9]+)_test_(.+)")


class FoldScores(NamedTuple):
    """Scores of M models in the folds of one data set."""

    names: tuple[str, ...]
    #: Shape (M, R, K).
    scores: Floats
    #: Whether repetitions and folds are known, not only splits.
    has_folds: bool
    #: The name of the score, where it is known.
    metric: str | None = None
    #: Samples tested over samples trained on, where the splits are known.
    ratio: float | None = None


def is_several(raw: object) -> bool:
    """Whether scores are a mapping of data sets, not the scores of one."""
    if not isinstance(raw, Mapping) or not raw or _is_search(raw):
        return False
    return all(
        _is_search(value)
        or (has_names(value) and not isinstance(value, Mapping))
        or (isinstance(value, Mapping) and not _validated(value))
        or getattr(value, "ndim", 0) == 3
        for value in raw.values()
    )


def read_fold_scores(raw: object, metric: object, where: str = "scores") -> FoldScores:
    """Scores of one data set, of the same folds for all models; all are numbers."""
    if metric is not None and not isinstance(metric, str):
        raise BadTypeError("`metric` must be the name of a score of scikit-learn", repr(metric))
    score_name: str | None = None
    ratio: float | None = None
    columns: dict[str, Floats] = {}
    if _is_search(raw):
        by_name = dict(named_columns(raw, where))
        splits: dict[str, dict[int, Any]] = {}
        for key, column in by_name.items():
            if match := _SPLIT.fullmatch(key):
                splits.setdefault(match[2], {})[int(match[1])] = column
        score_name = _choose(metric, list(splits), where)
        numbers = sorted(splits[score_name])
        if numbers != list(range(len(numbers))):
            raise BadValueError(f"`{where}` must hold all splits from 0 on", numbers)
        rows = [
            read_values(splits[score_name][k], f"column split{k}_test_{score_name}")
            for k in numbers
        ]
        if "params" not in by_name:
            raise BadValueError(f"`{where}` must have a column params, which names the models")
        params = by_name["params"]
        to_list = getattr(params, "to_pylist", None) or getattr(params, "to_list", None)
        models = [
            ", ".join(f"{key}={value}" for key, value in entry.items()) or "default"
            if isinstance(entry, Mapping)
            else str(entry)
            for entry in list(to_list() if callable(to_list) else params)
        ]
        check_distinct_names(models, f"params of {where}")
        columns = dict(zip(models, np.stack(rows, axis=1), strict=True))
    elif isinstance(raw, Mapping) and raw and all(map(_validated, raw.values())):
        metrics = set()
        for name, one in raw.items():
            score_names = [key.removeprefix("test_") for key in _keys(one) if key[:5] == "test_"]
            score_name = _choose(metric, score_names, f"{where} of {name}")
            columns[str(name)] = read_values(one[f"test_{score_name}"], f"{where} of {name}")
            metrics.add(score_name)
        if len(metrics) > 1:
            raise BadValueError(f"`{where}` must have one metric for all models", metrics)
        if all("indices" in one for one in raw.values()):
            ratio = _ratio_of({str(name): one["indices"] for name, one in raw.items()}, where)
    elif metric is not None:
        raise BadValueError(
            f"`metric={metric!r}` is for answers of scikit-learn",
            f"{where} of {type(raw).__name__}",
        )
    elif has_names(raw) or isinstance(raw, (list, tuple)):
        for name, one in named_columns(raw, where):
            listed = isinstance(one, (list, tuple)) and one and isinstance(one[0], (list, tuple))
            read = as_numbers if listed or getattr(one, "ndim", 1) == 2 else read_values
            columns[name] = read(one, f"{where} of {name}").astype(np.float64)
    else:
        array = as_numbers(raw, where).astype(np.float64)
        if array.ndim not in (2, 3):
            raise BadValueError(
                f"`{where}` must be of shape (M, J) or (M, R, K)",
                array.shape,
                ": for several data sets pass {name: scores}, or fastcmp.datasets.task_table",
            )
        columns = {f"model_{i}": row for i, row in enumerate(array)}
    check_size(len(columns), where, "models")
    shapes = {name: x.shape for name, x in columns.items()}
    if len(set(shapes.values())) > 1:
        raise BadValueError(f"`{where}` must be of the same folds for all models", shapes)
    table = np.stack(list(columns.values()))
    check_size(table[0].size, where, "folds")
    names = tuple(columns)
    if (bad := np.argwhere(~np.isfinite(table))).size:
        model, *fold = bad[0].tolist()
        raise BadValueError(
            f"`{where}` must be finite",
            f"{table[tuple(bad[0])]} for {names[model]} in fold {', '.join(map(str, fold))} "
            f"({len(bad)} in all)",
            ": a fit that failed has no score; repeat it, or leave the model out",
        )
    has_folds = table.ndim == 3
    return FoldScores(names, table if has_folds else table[:, None], has_folds, score_name, ratio)


def _ratio_of(indices: dict[str, Any], where: str) -> float:
    """Samples tested over samples trained on, in splits that are the same for all models."""
    first, *others = indices
    for name in others:
        for part in ("train", "test"):
            splits = indices[first][part], indices[name][part]
            if not same(*([np.asarray(x) for x in folds] for folds in splits)):
                raise BadValueError(
                    f"`{where}` must be of the same splits for all models, and those of {first!r} "
                    f"and {name!r} differ: pass the same cv to both, with a random_state"
                )
    n_train, n_test = (sum(map(len, indices[first][part])) for part in ("train", "test"))
    return n_test / n_train


def _keys(raw: object) -> list[str]:
    if isinstance(raw, Mapping):
        return [str(key) for key in raw]
    return [name for name, _ in named_columns(raw, "scores")] if has_names(raw) else []


def _is_search(raw: object) -> bool:
    """Whether scores are ``cv_results_`` of a search, as a mapping or a frame."""
    return any(map(_SPLIT.fullmatch, _keys(raw)))


def _validated(raw: object) -> bool:
    """Whether it is an answer of `sklearn.model_selection.cross_validate`."""
    keys = _keys(raw) if isinstance(raw, Mapping) else []
    return "fit_time" in keys and any(key.startswith("test_") for key in keys)


def _choose(metric: str | None, score_names: list[str], where: str) -> str:
    """Name of the score to compare among those of an answer of scikit-learn."""
    if metric is None and len(score_names) == 1:
        return score_names[0]
    if metric not in score_names:
        raise BadValueError(f"`metric` must be one of {score_names} of {where}", repr(metric))
    return str(metric)


def compare_folds(
    scores: Any,
    *,
    test_train_ratio: float | None = None,
    metric: str | None = None,
    lower_is_better: bool = False,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
) -> FoldComparison | CVDatasetsResult:
    """Compare many models by scores of folds that were saved, all pairs at once.

    Parameters
    ----------
    scores : array-like, shape (M, R, K) or (M, J), mapping or frame
        Scores of M models in the K folds of each of R repetitions, or in J splits, the
        same for all models. A mapping name -> scores, or a frame with a column a model;
        ``cv_results_`` of a search of scikit-learn, whose models are its parameters; or
        a mapping name -> answer of its ``cross_validate``, whose ``indices`` are compared
        where all have them. For several data sets a mapping name -> any of these but
        (M, J), with the same models.
    test_train_ratio : float, optional
        Samples tested over samples trained on in a split: 1 / (K - 1) for K folds.
        That is the default for scores of shape (M, R, K), and what ``indices`` of splits
        say; else it must be given, since scores of splits do not tell.
    metric : str, optional
        Which score of scikit-learn's answer, where there are several.
    lower_is_better : bool
        Whether scores are errors or losses; those of scikit-learn never are.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`.
    alpha : float
        Error rate of the decisions, in (0, 1).
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.

    Returns
    -------
    FoldComparison or CVDatasetsResult
        Differences, p-values, decisions and leaderboard; for several data sets a record
        of these, which compares the models over data sets.

    Raises
    ------
    ValueError
        If a score is missing or infinite, models or folds are fewer than two, data sets
        have different models, splits differ, or the ratio is needed and not given.
    TypeError
        If scores are not numbers.

    See Also
    --------
    compare_cv_all : Fits the models itself, with a choice of tests.
    fold_test : The test of each pair, "nadeau-bengio-t".

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp import compare_folds
    >>> scores = {"forest": [0.91, 0.93, 0.90, 0.94, 0.92], "tree": [0.84, 0.87, 0.85, 0.86, 0.83]}
    >>> result = compare_folds(scores, test_train_ratio=1 / 4)
    >>> result.pvalue.round(4).tolist(), result.best
    ([0.0027], ('forest',))
    """
    lower_is_better = as_flag(lower_is_better, "lower_is_better")
    if test_train_ratio is not None:
        test_train_ratio = as_positive(test_train_ratio, "test_train_ratio")
    several = is_several(scores)
    tables = (
        {str(name): read_fold_scores(x, metric, str(name)) for name, x in scores.items()}
        if several
        else {"scores": read_fold_scores(scores, metric)}
    )
    (first, *others) = tables.items()
    for name, table in others:
        if set(table.names) != set(first[1].names):
            lacking = sorted(set(table.names) ^ set(first[1].names))
            raise BadValueError(
                f"`scores` must be of the same models on all data sets, and {lacking[:4]} are "
                f"in one of {first[0]!r} and {name!r} only"
            )
    names = first[1].names
    options = read_pairs(names, adjust, alpha, pairs, control)
    results: dict[str, Any] = {}
    for name, table in tables.items():
        scores = table.scores[[table.names.index(model) for model in names]]
        n_folds = scores.shape[2]
        ratio = table.ratio if test_train_ratio is None else test_train_ratio
        if ratio is None:
            if not table.has_folds or n_folds < 2:
                raise BadValueError(
                    "`test_train_ratio` must be given: samples tested over samples trained on "
                    "in a split, 1 / (K - 1) for K-fold cross-validation"
                )
            ratio = 1.0 / (n_folds - 1)
        measure = "loss" if lower_is_better else table.metric or "score"
        if not lower_is_better and measure in LESS_IS_BETTER:  # scikit-learn's: more is better
            measure = "score"
        flat = scores.reshape(len(names), -1)
        i, j = options["pairs"].T
        differences = flat[i] - flat[j]
        # Of equal decimals: no difference.
        differences[np.abs(differences) <= 8.0 * np.spacing(np.abs(flat).max())] = 0.0
        record, alone = (
            fold_test(x, "nadeau-bengio-t", n_train=1.0, n_test=ratio) for x in (differences, flat)
        )
        ends = np.stack(alone.confidence_interval(1 - options["alpha"]), axis=-1)
        ends[alone.status != kernels.OK] = np.nan
        results[name] = FoldComparison(
            **pair_fields(options, record, np.asarray(alone.estimate)),
            score_interval=ends,
            measure=measure,
            n_samples=flat.shape[1],
            test="folds",
            method="nadeau-bengio-t",
            fold_scores=scores,
            test_train_ratio=ratio,
        )
    return CVDatasetsResult(results=results) if several else results["scores"]
