"""Models ranked by battles: Bradley and Terry's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_flag
from fastcmp.datasets.battle_inputs import read_rows, read_scores
from fastcmp.datasets.bradley_terry_errors import COVARIANCES
from fastcmp.datasets.bradley_terry_options import (
    OF_COUNTS,
    OF_ROWS,
    Deciding,
    read_draws,
    read_options,
)
from fastcmp.datasets.bradley_terry_ranking import rank
from fastcmp.datasets.win_tables import WinTables, read_win_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fastcmp.core.progress import Progress
    from fastcmp.datasets.bradley_terry_result import BradleyTerry

    Pairs = Sequence[tuple[int | str, int | str]] | None


def bradley_terry(
    wins: ArrayLike,
    ties: ArrayLike | None = None,
    *,
    ties_as: str = "half",
    ridge: float = 0.0,
    covariance: str = "information",
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Pairs = None,
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
    tables = read_win_tables(wins, ties, names)
    deciding = Deciding(adjust, alpha, pairs, control)
    return rank(tables, None, read_options(ties_as, ridge, covariance, OF_COUNTS, deciding))


def bradley_terry_from_scores(
    scores: Any,
    *,
    lower_is_better: bool = False,
    missing: str = "raise",
    groups: ArrayLike | None = None,
    ties_as: str = "half",
    ridge: float = 0.0,
    covariance: str = "clustered",
    n_resamples: int = 1000,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Pairs = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    rng: Any = None,
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
    options = read_options(
        ties_as,
        ridge,
        covariance,
        COVARIANCES,
        Deciding(adjust, alpha, pairs, control),
        read_draws(n_resamples, rng, workers, progress),
    )
    found, battles, n_dropped = read_scores(
        scores,
        lower_is_better=as_flag(lower_is_better, "lower_is_better"),
        missing=missing,
        groups=groups,
        names=names,
    )
    return rank(WinTables(found, *battles.count()), battles, options, n_dropped=n_dropped)


def bradley_terry_from_battles(
    battles: Any,
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
    pairs: Pairs = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    rng: Any = None,
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
        As in `bradley_terry`; if a column is not there, a result is none of 1, 0.5 and
        0, or a model meets itself.
    TypeError
        If results are not numbers, or `battles` has no named columns.

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
    found, rows, grouped = read_rows(battles, columns | {"group": group, "weight": weight}, names)
    if covariance is None:
        covariance = "clustered" if grouped else "sandwich"
    options = read_options(
        ties_as,
        ridge,
        covariance,
        COVARIANCES if grouped else OF_ROWS,
        Deciding(adjust, alpha, pairs, control),
        read_draws(n_resamples, rng, workers, progress),
    )
    return rank(WinTables(found, *rows.count()), rows, options)
