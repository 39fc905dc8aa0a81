"""Many models compared by saved scores of folds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_numbers
from fastcmp.core.records import LESS_IS_BETTER
from fastcmp.crossval.comparison_result import CVDatasetsResult
from fastcmp.crossval.comparisons import PairOptions
from fastcmp.crossval.fold_tests import fold_test
from fastcmp.crossval.mcnemar import as_positive
from fastcmp.inputs.columns import read_values
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns
from fastcmp.pairwise.result import PairwiseResult, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.sections import Section


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldComparison(PairwiseResult):
    """Many models compared in pairs by their scores in the folds of one data set."""

    #: Shape (M, R, K): repetitions and folds; R is 1 for random splits.
    fold_scores: NDArray[np.float64]
    #: Samples tested over samples trained on in a split.
    test_train_ratio: float

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size: outside 0 to 1 they are."""
        return bool(np.abs(self.fold_scores).max() > 1)

    def fold_table(
        self,
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
        """Give the scores as `fastcmp.datasets.task_table` takes them.

        Returns
        -------
        tuple of ndarray, names, tasks, ndarray
            As of `CVDatasetsResult`, with one data set.
        """
        table = self.fold_scores[:, None]
        return table, self.names, ("data",), np.array([self.test_train_ratio])

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, which models beat which, and the rule.
        """
        ratio = f"ratio of test to training samples {self.test_train_ratio:.4g}"
        return describe(
            self,
            each_pair=f"corrected resampled t test, {ratio}",
            intervals="corrected resampled t",
        )


# Saved scores of folds: arrays, columns of models, and what scikit-learn gives.


_SPLIT = re.compile(r"split([0-9]+)_test_(.+)")


class FoldScores(NamedTuple):
    """Scores of M models in the folds of one data set."""

    names: tuple[str, ...]
    #: Shape (M, R, K).
    scores: NDArray[np.float64]
    #: Whether repetitions and folds are known, not only splits.
    has_folds: bool
    #: The name of the score, where it is known.
    metric: str | None = None


def is_several(raw: Any) -> bool:
    """Tell a mapping of data sets from the scores of one."""
    if not isinstance(raw, Mapping) or not raw or _is_search(raw):
        return False
    return all(
        _is_search(value)
        or _is_frame(value)
        or (isinstance(value, Mapping) and not _validated(value))
        or getattr(value, "ndim", 0) == 3
        for value in raw.values()
    )


def read_fold_scores(raw: Any, metric: Any, where: str = "scores") -> FoldScores:
    """Read the scores of one data set."""
    if metric is not None and not isinstance(metric, str):
        raise TypeError(f"metric must be the name of a score of scikit-learn, got {metric!r}")
    if _is_search(raw):
        return _of_search(raw, metric, where)
    if isinstance(raw, Mapping) and raw and all(map(_validated, raw.values())):
        found = {
            str(name): _of_validation(one, metric, f"{where} of {name}")
            for name, one in raw.items()
        }
        chosen = {key for key, _ in found.values()}
        if len(chosen) > 1:
            raise ValueError(f"{where} must have one metric for all models, got {chosen}")
        return _stacked({n: x for n, (_, x) in found.items()}, where, chosen.pop())
    if metric is not None:
        message = f"metric={metric!r} is for answers of scikit-learn, got {where}"
        raise ValueError(message + f" of {type(raw).__name__}")
    if has_names(raw) or isinstance(raw, (list, tuple)):
        named = named_columns(raw, where)
        columns = {name: _of_model(x, f"{where} of {name}") for name, x in named}
        return _stacked(columns, where)
    array = as_numbers(raw, where).astype(np.float64)
    if array.ndim not in (2, 3):
        raise ValueError(
            f"{where} must be of shape (M, J) or (M, R, K), got {array.shape}: for "
            "several data sets pass {name: scores}, or fastcmp.datasets.task_table"
        )
    names = [f"model_{i}" for i in range(len(array))]
    return _stacked(dict(zip(names, array, strict=True)), where)


def _is_frame(raw: Any) -> bool:
    return has_names(raw) and not isinstance(raw, Mapping)


def _keys(raw: Any) -> list[str]:
    if isinstance(raw, Mapping):
        return [str(key) for key in raw]
    return [name for name, _ in named_columns(raw, "scores")] if has_names(raw) else []


def _is_search(raw: Any) -> bool:
    """Tell ``cv_results_`` of a search, as a mapping or a frame."""
    return any(map(_SPLIT.fullmatch, _keys(raw)))


def _validated(raw: Any) -> bool:
    """Tell an answer of `sklearn.model_selection.cross_validate`."""
    keys = _keys(raw) if isinstance(raw, Mapping) else []
    return "fit_time" in keys and any(key.startswith("test_") for key in keys)


def _of_search(raw: Any, metric: str | None, where: str) -> FoldScores:
    columns = dict(named_columns(raw, where))
    splits: dict[str, dict[int, Any]] = {}
    for key, column in columns.items():
        if found := _SPLIT.fullmatch(key):
            splits.setdefault(found[2], {})[int(found[1])] = column
    chosen = _choose(metric, list(splits), where)
    numbers = sorted(splits[chosen])
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{where} must hold all splits from 0 on, got {numbers}")
    scores = np.stack(
        [read_values(splits[chosen][k], f"column split{k}_test_{chosen}") for k in numbers], axis=1
    )
    if "params" not in columns:
        raise ValueError(f"{where} must have a column params, which names the models")
    names = [_params(entry) for entry in _listed(columns["params"])]
    check_distinct_names(names, f"params of {where}")
    return _stacked(dict(zip(names, scores, strict=True)), where, chosen)


def _listed(column: Any) -> list[Any]:
    made = getattr(column, "to_pylist", None) or getattr(column, "to_list", None)
    return list(made() if callable(made) else column)


def _params(entry: Any) -> str:
    """Name a model by its parameters."""
    if isinstance(entry, Mapping):
        return ", ".join(f"{key}={value}" for key, value in entry.items()) or "default"
    return str(entry)


def _of_validation(raw: Any, metric: str | None, where: str) -> tuple[str, NDArray[np.float64]]:
    known = [key.removeprefix("test_") for key in _keys(raw) if key[:5] == "test_"]
    chosen = _choose(metric, known, where)
    return chosen, read_values(raw[f"test_{chosen}"], where)


def _choose(metric: str | None, known: list[str], where: str) -> str:
    """Find the score that is meant among those of an answer of scikit-learn."""
    if metric is None and len(known) == 1:
        return known[0]
    if metric not in known:
        raise ValueError(f"metric must be one of {known} of {where}, got {metric!r}")
    return str(metric)


def _of_model(raw: Any, where: str) -> NDArray[np.float64]:
    if getattr(raw, "ndim", 1) == 2:
        return as_numbers(raw, where).astype(np.float64)
    if isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], (list, tuple)):
        return as_numbers(raw, where).astype(np.float64)
    return read_values(raw, where)


def _stacked(
    columns: dict[str, NDArray[np.float64]], where: str, metric: str | None = None
) -> FoldScores:
    """Check that all models have the same folds, and all scores are numbers."""
    if len(columns) < 2:
        raise ValueError(f"{where} must hold at least 2 models, got {len(columns)}")
    shapes = {name: x.shape for name, x in columns.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"{where} must be of the same folds for all models, got {shapes}")
    table = np.stack(list(columns.values()))
    if table[0].size < 2:
        raise ValueError(f"{where} must hold at least 2 folds, got {table[0].size}")
    names = tuple(columns)
    if (bad := np.argwhere(~np.isfinite(table))).size:
        model, *fold = bad[0].tolist()
        raise ValueError(
            f"{where} must be finite, got {table[tuple(bad[0])]} for {names[model]} in "
            f"fold {', '.join(map(str, fold))} ({len(bad)} in all): a fit that failed "
            "has no score; repeat it, or leave the model out"
        )
    has_folds = table.ndim == 3
    return FoldScores(names, table if has_folds else table[:, None], has_folds, metric)


# Many models compared by saved scores of folds.


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
        a mapping name -> answer of its ``cross_validate``. For several data sets a
        mapping name -> any of these but (M, J), with the same models.
    test_train_ratio : float, optional
        Samples tested over samples trained on in a split: 1 / (K - 1) for K folds.
        That is the default for scores of shape (M, R, K); else it must be given, since
        splits do not tell.
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
        have different models, or the ratio is needed and not given.
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
            raise ValueError(
                "scores must be of the same models on all data sets, and "
                f"{lacking[:4]} are in one of {first[0]!r} and {name!r} only"
            )
    names = first[1].names
    options = PairOptions.read(names, adjust, alpha, pairs, control)
    results = {
        name: _compare(_in_order(table, names), options, test_train_ratio, lower=lower_is_better)
        for name, table in tables.items()
    }
    return CVDatasetsResult(results=results) if several else results["scores"]


def _in_order(table: FoldScores, names: tuple[str, ...]) -> FoldScores:
    order = [table.names.index(name) for name in names]
    return table._replace(names=names, scores=table.scores[order])


def _measure(metric: str | None, *, lower: bool) -> str:
    """Name what is compared; of a score of scikit-learn more is always better."""
    if lower:
        return "loss"
    return "score" if metric is None or metric in LESS_IS_BETTER else metric


def _compare(
    table: FoldScores, options: PairOptions, ratio: float | None, *, lower: bool
) -> FoldComparison:
    n_folds = table.scores.shape[2]
    if ratio is None:
        if not table.has_folds or n_folds < 2:
            raise ValueError(
                "test_train_ratio must be given: samples tested over samples trained "
                "on in a split, 1 / (K - 1) for K-fold cross-validation"
            )
        ratio = 1.0 / (n_folds - 1)
    flat = table.scores.reshape(len(table.names), -1)
    i, j = options.pairs.T
    differences = flat[i] - flat[j]
    # Of equal decimals: no difference.
    differences[np.abs(differences) <= 8.0 * np.spacing(np.abs(flat).max())] = 0.0
    record = fold_test(differences, "nadeau-bengio-t", n_train=1.0, n_test=ratio)
    alone = fold_test(flat, "nadeau-bengio-t", n_train=1.0, n_test=ratio)
    ends = np.stack(alone.confidence_interval(1 - options.alpha), axis=-1)
    ends[alone.status != kernels.OK] = np.nan
    return FoldComparison(
        **options.fields(record, np.asarray(alone.estimate)),
        names=table.names,
        score_interval=ends,
        measure=_measure(table.metric, lower=lower),
        n_samples=flat.shape[1],
        test="folds",
        method="nadeau-bengio-t",
        fold_scores=table.scores,
        test_train_ratio=ratio,
    )
