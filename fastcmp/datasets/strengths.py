"""Models ranked by battles: Bradley and Terry's model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import as_finite, as_flag, as_proportion, as_resamples, as_seed, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import Record, TaskScores
from fastcmp.core.threads import Progress, blas_for, check_progress, check_workers
from fastcmp.core.typing import ColumnLike, Floats, ModelsLike, Seed
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.datasets.battles import (
    davidson_problem,
    find_components,
    read_rows,
    read_scores,
    read_win_tables,
)
from fastcmp.datasets.bradley_terry_model import (
    COVARIANCES,
    TIES,
    Estimate,
    Model,
    RowBattles,
    TableBattles,
    fit,
    inverse,
    pair_errors,
)
from fastcmp.datasets.bradley_terry_result import BradleyTerry
from fastcmp.pairwise.adjust import OF_PAIRS, adjust_checked, check_all_pairs, promise

NamedPairs = Sequence[tuple[int | str, int | str]] | None

_FEW_CLUSTERS = 20


def _rank(
    names: tuple[str, ...],
    wins: Floats,
    ties: Floats,
    covariance: object,
    possible: tuple[str, ...],
    *,
    battles: TableBattles | RowBattles | None = None,
    ties_as: object,
    ridge: object,
    n_resamples: Any = 2,
    rng: Seed = 0,
    workers: Any = None,
    progress: Any = None,
    adjust: str,
    alpha: float,
    pairs: NamedPairs,
    control: int | str | None,
    n_dropped: int = 0,
) -> BradleyTerry:
    """Estimated strengths, with decisions about pairs.

    `known` are the covariances that the battles allow.
    """
    m = len(names)
    covariance = choose(covariance, "covariance", COVARIANCES)
    if covariance not in possible:
        raise BadValueError(
            f"`covariance={covariance!r}` needs to know which battles belong together",
            remedy=f": take one of {possible}, or pass scores, or a table of battles with a group",
        )
    model = Model(ties_as=choose(ties_as, "ties_as", TIES), ridge=as_finite(ridge, "ridge", 0.0))
    check_workers(workers)
    check_progress(progress)
    n_resamples, seed = as_resamples(n_resamples, 2), as_seed(rng)
    adjust, alpha = choose(adjust, "adjust", OF_PAIRS), as_proportion(alpha, "alpha")
    pair_indices = choose_pairs(names, pairs, control)
    check_all_pairs(adjust, m, some=pair_indices is not None)
    cautions = _check_exists(names, wins, ties, model)
    n_clusters = None
    if battles is not None and covariance in ("clustered", "bootstrap"):
        n_clusters = battles.n_clusters
        if n_clusters < 2:
            raise BadValueError(
                "`groups` must be at least 2",
                "battles of one cluster only, whose standard errors are unknown",
                ": pass `covariance='sandwich'` if battles are independent",
            )
        if n_clusters <= _FEW_CLUSTERS:
            cautions += (
                f"Only {n_clusters} clusters of battles: standard errors from so few are too "
                "small on average, and normal tails too light.",
            )
    with blas_for(float(m) ** 3):
        theta, factor = fit(model, wins, ties)
        bread = inverse(factor, m)
        estimate = Estimate(
            model=model, wins=wins, ties=ties, theta=theta, bread=bread, battles=battles
        )
        drawn: dict[str, Any] = {}
        if covariance != "bootstrap":
            errors = estimate.covariance(covariance)
        else:
            resampled = estimate.resampled(n_resamples, seed, workers, progress)
            finite = resampled[np.isfinite(resampled).all(axis=1)]
            n_failed = len(resampled) - len(finite)
            if len(finite) < 2:
                raise BadValueError(
                    f"`n_resamples={len(resampled)}` draws of clusters gave {len(finite)} "
                    "estimates",
                    remedy=": pass `covariance='clustered'`",
                )
            if n_failed:
                cautions += (
                    f"{n_failed} of {len(resampled)} draws of clusters had no "
                    "estimate, and are left out.",
                )
            errors = np.atleast_2d(np.cov(finite.T))
            ends = np.quantile(finite[:, :m], [alpha / 2, 1 - alpha / 2], axis=0)
            drawn = {
                "n_resamples": len(resampled),
                "n_failed": n_failed,
                "seed": seed,
                "percentile_interval": ends.T,
            }
    tested = all_pairs(m) if pair_indices is None else pair_indices
    strength, z = theta[:m], -kernels.ndtri(alpha / 2)
    error = np.sqrt(np.maximum(np.diagonal(errors), 0.0))
    difference = np.subtract(*strength.take(tested.T))
    error_of_pairs = pair_errors(errors, tested, bread)
    # Equal up to the rounding of sums; without spread p is 0, or 1 for equal ones.
    difference[np.abs(difference) < 1e-12] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0, difference / error_of_pairs)
    pvalue = np.minimum(t_tail(statistic, "two-sided"), 1.0)
    reach, reach_of_pairs = z * error[:m], z * error_of_pairs
    interval = np.empty((len(tested), 2))
    np.subtract(difference, reach_of_pairs, out=interval[:, 0])
    np.add(difference, reach_of_pairs, out=interval[:, 1])
    n_battles = float(wins.sum() + ties.sum() / 2)
    return BradleyTerry(
        **drawn,
        statistic=statistic,
        pvalue=pvalue,
        pvalue_adjusted=adjust_checked(pvalue, adjust),
        difference=difference,
        interval=interval,
        difference_standard_error=error_of_pairs,
        distribution="normal",
        pairs=tested,
        names=names,
        score=strength,
        score_interval=np.stack([strength - reach, strength + reach], axis=1),
        measure="strength",
        n_samples=round(n_battles),
        test="bradley-terry",
        method=model.ties_as,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        control=None if pair_indices is None or control is None else names[pair_indices[0, 0]],
        n_clusters=n_clusters,
        cautions=cautions,
        standard_error=error[:m],
        covariance=np.ascontiguousarray(errors[:m, :m]),
        covariance_method=covariance,
        ties_as=model.ties_as,
        n_battles=n_battles,
        n_ties=float(ties.sum() / 2),
        ridge=model.ridge,
        log_nu=float(theta[m]) if model.has_nu else np.nan,
        log_nu_standard_error=float(error[m]) if model.has_nu else np.nan,
        n_dropped=n_dropped,
    )


def _check_exists(
    names: tuple[str, ...], wins: Floats, ties: Floats, model: Model
) -> tuple[str, ...]:
    """Refuse strengths, or a nu, that are not finite; beware of those of a ridge."""
    linked = wins if model.ties_as == "ignored" else wins + ties
    groups = find_components(names, linked)
    if not groups.mle_exists and not model.ridge:
        what = " (ties are ignored)" if model.ties_as == "ignored" and ties.any() else ""
        raise BadValueError(
            f"`wins` do not determine the strengths{what}: {groups.problem}",
            remedy="; compare the models of one group, or pass `ridge=` for a penalised fit "
            "(win_components lists the groups)",
        )
    if model.has_nu:
        bounded = model.ridge > 0 and wins.any() and ties.any()
        problem = "" if bounded else davidson_problem(wins, ties)
        if problem:
            raise BadValueError(f"`ties_as='davidson'` has no finite estimate: {problem}")
    if groups.mle_exists:
        return ()
    return (
        "The ridge decides, not the battles: without it there is no estimate, as "
        f"{groups.problem}.",
    )


def bradley_terry(
    wins: ArrayLike,
    ties: ArrayLike | None = None,
    *,
    ties_as: str = "half",
    ridge: float = 0.0,
    covariance: str = "information",
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: NamedPairs = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
) -> BradleyTerry:
    """Rank models by wins and ties, counted for each two of them.

    Parameters
    ----------
    wins : array-like, shape (M, M)
        How often the model of the row beat that of the column; 0 on the diagonal. A
        pandas frame with equal index and columns names the models.
    ties : array-like, shape (M, M), optional
        How often each two tied, the same on both sides of the diagonal.
    ties_as : {"half", "ignored", "davidson"}
        What is made of ties: half a win for both, nothing, or a parameter nu of their
        own, with P(tie) = nu sqrt(p q) / (p + q + nu sqrt(p q)) for strengths log p and
        log q.
    ridge : float
        The penalty ridge / 2 times the sum of squared strengths, as if they were drawn
        from a normal distribution of variance 1 / ridge; 0 for none.
    covariance : {"information", "sandwich"}
        Where standard errors come from: the inverse information, which assumes the
        model, or the sandwich, which only assumes that battles are independent.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`.
    alpha : float
        Error rate of the decisions, in (0, 1); intervals are at the level 1 - alpha.
    pairs : sequence of pairs, optional
        Decide about only these, by name or index.
    control : int or str, optional
        Decide about the pairs of this model only.
    names : sequence of str, optional
        What to call the models.

    Returns
    -------
    BradleyTerry
        Strengths, their covariance, decisions about all pairs, and Elo ratings.

    Raises
    ------
    ValueError
        If models are not all linked by wins in both directions (see `win_components`),
        so that strengths are infinite, unless there is a ridge; Davidson's nu is
        infinite or zero; shapes differ, a count is negative or not finite, or an option
        is unknown.
    TypeError
        If counts are not numbers.

    See Also
    --------
    bradley_terry_from_scores : From scores of models on tasks.
    bradley_terry_from_battles : From a table of battles.

    Notes
    -----
    Newton's method, O(M**3) a step. Battles of one task or item are not independent:
    standard errors from counts alone are then too small; pass scores or battles.

    References
    ----------
    .. [1] R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs",
       Biometrika 39 (1952) 324-345.
    .. [2] R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in
       paired comparison experiments", JASA 65 (1970) 317-328.

    Examples
    --------
    >>> from fastcmp.datasets import bradley_terry
    >>> wins = [[0, 9, 8], [3, 0, 7], [2, 4, 0]]
    >>> result = bradley_terry(wins, names=["large", "medium", "small"])
    >>> result.strength.round(3).tolist()
    [0.841, -0.177, -0.665]
    >>> result.elo().rating.round().tolist()
    [1146.0, 969.0, 885.0]
    """
    named, won, tied = read_win_tables(wins, ties, names)
    return _rank(
        *(named, won, tied, covariance, ("information", "sandwich")),
        ties_as=ties_as,
        ridge=ridge,
        adjust=adjust,
        alpha=alpha,
        pairs=pairs,
        control=control,
    )


def bradley_terry_from_scores(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: bool = False,
    missing: str = "raise",
    groups: ColumnLike | None = None,
    ties_as: str = "half",
    ridge: float = 0.0,
    covariance: str = "clustered",
    n_resamples: int = 1000,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: NamedPairs = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    rng: Seed = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> BradleyTerry:
    """Rank models by battles of each two of them on each task, or item.

    Parameters
    ----------
    scores : array-like, shape (M, D), mapping, frame, ItemTable or results of tasks
        Scores of M models on D tasks; a mapping name -> column or a frame has a column
        a model. Or 1 and 0 for right and wrong answers to items: a model wins where
        only it is right. What has ``task_scores()``, such as `fastcmp.read_results`
        gives, is as good.
    lower_is_better : bool
        Whether scores are errors or losses.
    missing : {"raise", "pairs", "tasks", "worst"}
        What to make of a missing score (NaN): refuse it; let both models of a pair meet
        on the tasks of both; drop tasks that a model lacks; or count it as lost, and
        two missing ones as a tie.
    groups : array-like, shape (D,), optional
        Tasks or items that belong together, such as those of one benchmark.
    ties_as, ridge : str, float
        As in `bradley_terry`.
    covariance : {"clustered", "sandwich", "information", "bootstrap"}
        Where standard errors come from. "clustered": the sandwich in which battles of
        one task, or of one of the groups, belong together. "bootstrap": such clusters
        are drawn with replacement, with two Newton steps from the estimate. The others
        take all battles as independent, and are as a rule too small.
    n_resamples : int
        Draws of the bootstrap.
    adjust, alpha, pairs, control, names : object
        As in `bradley_terry`.
    rng : int or numpy.random.Generator, optional
        Source of the draws.
    workers : int, optional
        Threads that draw; all processors by default.
    progress : bool or callable, optional
        True draws a bar; a function is called with the draws done and all draws.

    Returns
    -------
    BradleyTerry
        As from `bradley_terry`.

    Raises
    ------
    ValueError
        As in `bradley_terry`; if a score is missing without a policy; or there is one
        cluster only.
    TypeError
        If scores are not numbers.

    Notes
    -----
    O(M**2 D) and Newton's method. Scores of a task within 8 units in the last place of
    the largest are ties, as those of equal decimals are.

    References
    ----------
    .. [1] R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs",
       Biometrika 39 (1952) 324-345.

    Examples
    --------
    >>> from fastcmp.datasets import bradley_terry_from_scores
    >>> scores = {
    ...     "forest": [0.81, 0.92, 0.75, 0.66, 0.88, 0.71],
    ...     "svm": [0.79, 0.93, 0.71, 0.60, 0.85, 0.70],
    ...     "tree": [0.70, 0.90, 0.76, 0.61, 0.80, 0.69],
    ... }
    >>> result = bradley_terry_from_scores(scores)
    >>> result.strength.round(3).tolist(), result.n_clusters
    ([1.089, -0.278, -0.811], 6)
    """
    named, battles, n_dropped = read_scores(
        scores,
        lower_is_better=as_flag(lower_is_better, "lower_is_better"),
        missing=missing,
        groups=groups,
        names=names,
    )
    return _rank(
        *(named, *battles.count(), covariance, COVARIANCES),
        battles=battles,
        ties_as=ties_as,
        ridge=ridge,
        n_resamples=n_resamples,
        rng=rng,
        workers=workers,
        progress=progress,
        adjust=adjust,
        alpha=alpha,
        pairs=pairs,
        control=control,
        n_dropped=n_dropped,
    )


def bradley_terry_from_battles(
    battles: ModelsLike | Record,
    *,
    model_a: str = "model_a",
    model_b: str = "model_b",
    result: str = "result",
    group: str | None = "item",
    weight: str | None = "weight",
    ties_as: str = "half",
    ridge: float = 0.0,
    covariance: str | None = None,
    n_resamples: int = 1000,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: NamedPairs = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    rng: Seed = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> BradleyTerry:
    """Rank models by a table of battles, a row a battle.

    Parameters
    ----------
    battles : pandas.DataFrame, polars.DataFrame, pyarrow.Table, mapping or record
        Columns of equal length, by name.
    model_a, model_b : str
        Columns with the two models of a battle.
    result : str
        Column with 1 where the first model won, 0.5 for a tie, 0 where the second won.
    group : str or None
        Column with what battles have in common, such as the item (prompt): battles of a
        group belong together. "item" is used where there is such a column.
    weight : str or None
        Column with weights >= 0: a battle of weight 2 counts as two equal ones that
        belong together. "weight" is used where there is such a column.
    ties_as, ridge : str, float
        As in `bradley_terry`.
    covariance : {"clustered", "sandwich", "information", "bootstrap"}, optional
        As in `bradley_terry_from_scores`, with groups for tasks; "clustered" by default
        where there are groups, else "sandwich". Without groups the bootstrap draws
        battles.
    n_resamples : int
        As in `bradley_terry_from_scores`.
    adjust, alpha, pairs, control : object
        As in `bradley_terry`.
    names : sequence of str, optional
        The models in the order wanted; by default that in which they are first seen.
    rng : int or numpy.random.Generator, optional
        As in `bradley_terry_from_scores`.
    workers : int, optional
        As in `bradley_terry_from_scores`.
    progress : bool or callable, optional
        As in `bradley_terry_from_scores`.

    Returns
    -------
    BradleyTerry
        As from `bradley_terry`.

    Raises
    ------
    ValueError
        As in `bradley_terry`; if a column is missing, a result is not 1, 0.5 or 0, or a
        model meets itself.
    TypeError
        If results are not numbers, or the table has no named columns.

    Notes
    -----
    The order of the battles does not matter, as it does for ratings that are updated
    battle by battle.

    References
    ----------
    .. [1] R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs",
       Biometrika 39 (1952) 324-345.

    Examples
    --------
    >>> from fastcmp.datasets import bradley_terry_from_battles
    >>> battles = {
    ...     "model_a": ["large", "large", "small", "small", "large"],
    ...     "model_b": ["small", "small", "large", "large", "small"],
    ...     "result": [1, 1, 1, 0.5, 1],
    ... }
    >>> result = bradley_terry_from_battles(battles)
    >>> round(result.win_probability("large", "small"), 6)
    0.7
    """
    columns: dict[str, str | None] = {"model_a": model_a, "model_b": model_b, "result": result}
    named, rows, grouped = read_rows(battles, columns | {"group": group, "weight": weight}, names)
    if covariance is None:
        covariance = "clustered" if grouped else "sandwich"
    possible = COVARIANCES if grouped else ("information", "sandwich", "bootstrap")
    return _rank(
        *(named, *rows.count(), covariance, possible),
        battles=rows,
        ties_as=ties_as,
        ridge=ridge,
        n_resamples=n_resamples,
        rng=rng,
        workers=workers,
        progress=progress,
        adjust=adjust,
        alpha=alpha,
        pairs=pairs,
        control=control,
    )
