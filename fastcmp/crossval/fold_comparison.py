"""Many models compared by saved scores of folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag
from fastcmp.core.record_parts import LESS_IS_BETTER
from fastcmp.crossval.fold_comparison_result import FoldComparison
from fastcmp.crossval.fold_inputs import as_positive
from fastcmp.crossval.fold_scores import FoldScores, is_several, read_fold_scores
from fastcmp.crossval.plans import PairOptions
from fastcmp.crossval.several_result import CVDatasetsResult
from fastcmp.crossval.t_tests import nadeau_bengio_t

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    nadeau_bengio_t : The test of each pair.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from fastcmp import compare_folds
    >>> scores = {
    ...     "forest": [0.91, 0.93, 0.90, 0.94, 0.92],
    ...     "tree": [0.84, 0.87, 0.85, 0.86, 0.83],
    ... }
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
    record = nadeau_bengio_t(differences, n_train=1.0, n_test=ratio)
    alone = nadeau_bengio_t(flat, n_train=1.0, n_test=ratio)
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
