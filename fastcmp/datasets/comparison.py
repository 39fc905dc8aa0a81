"""Many models compared over many data sets, all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_flag, choose
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.counts.pairs import choose_pairs
from fastcmp.datasets import omnibus as tests_of_all
from fastcmp.datasets.datasets_result import DatasetsResult
from fastcmp.datasets.rank_pairs import (
    METHODS,
    POOLED,
    VARIANCES,
    PairData,
    count_wins_of,
    pair_tests,
)
from fastcmp.datasets.reading import POLICIES, rank_tasks, read_data
from fastcmp.items.signed_rank import ZERO_METHODS, RankOptions
from fastcmp.pairwise.adjust import OF_PAIRS
from fastcmp.pairwise.engine import compare_pairs, read_options

_OMNIBUS = (*tests_of_all.METHODS, "quade", "aligned", "skillings-mack")
#: Methods that need scores, not ranks alone.
_SIZED = ("wilcoxon", "t", "quade", "aligned")


def compare_datasets(
    scores: Any,
    *,
    method: str = "wilcoxon",
    omnibus: str = "auto",
    lower_is_better: bool = False,
    missing: str = "raise",
    zero_method: str = "wilcox",
    exact: bool | None = None,
    variance: str | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str | None = None,
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    names: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> DatasetsResult:
    """Compare many models by one score on each of many data sets (tasks).

    Parameters
    ----------
    scores : array-like of shape (M, D), mapping, frame or results
        One score for each model and task, of any measure: one row a model, or a mapping
        from names to columns, or a frame whose columns are models and rows tasks, or
        what `fastcmp.read_results` gives. Means over folds, never the folds.
    method : str
        The test of a pair. By its own scores: "wilcoxon" (signed ranks), "sign" or "t"
        (comparable scores only). By ranks among all models: "nemenyi" (the range of all
        mean ranks, already adjusted for all pairs), "normal" (of mean ranks; with
        `control` and ``adjust="bonferroni"`` Dunn's), "conover", "quade", "aligned"
        (the last two with comparable scores only) or "exact" (all orders in each task).
    omnibus : str
        The test of all models: one of `friedman`'s methods, "auto" by default, "quade",
        "aligned" or "skillings-mack", the only one with ``missing="pairs"``.
    lower_is_better : bool
        Whether scores are errors or losses.
    missing : {"raise", "tasks", "pairs", "worst"}
        What to make of a model without a score on some task: an error; only the tasks
        that all models have; each pair on the tasks of both (tests by own scores only);
        or the last rank, as of a run that failed (tests by ranks alone). Never 0.
    zero_method : {"wilcox", "pratt", "zsplit"}
        Of Wilcoxon's test, as in `signed_rank`.
    exact : bool, optional
        Whether p-values of Wilcoxon's test are exact; by default up to 50 tasks.
    variance : {"published", "permutation"}, optional
        Of tests by mean ranks: as published, by default, or what orders within tasks
        give, with their ties; the default for "aligned", whose published one is too
        small.
    alternative : {"two-sided", "greater", "less"}
        With `control` or `pairs`: "greater", the scores of the first, or the control, are
        greater, also where lower is better.
    n_resamples : int
        Draws of ``omnibus="monte-carlo"``.
    rng : int, numpy.random.Generator or None
        Where they come from.
    adjust : str, optional
        Adjustment for the number of pairs, as in `adjust`; "holm" by default, and none
        for "nemenyi". Of others against a control also "finner", "holland" and "li";
        "shaffer" and "bergmann-hommel" with tests by ranks.
    alpha : float
        Error rate of the decisions, in (0, 1).
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    names, tasks : sequence of str, optional
        Names of the models, and of the tasks, in the place of those of `scores`.
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps, as in `compare_all`.
    memory_limit : int or str, optional
        As in `compare_all`.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    DatasetsResult
        Decisions, leaderboard by mean rank, groups of ties, and the test of all models.

    Raises
    ------
    ValueError
        If scores are missing without a policy, infinite or on fewer than two tasks,
        there are fewer than two models, or options are unknown or do not go together.
    TypeError
        If scores are no numbers.
    OSError
        If a file cannot be written.

    Notes
    -----
    Statistics are positive where the first of a pair is better. Scores tie as the
    decimals that were written: 0.7 - 0.6 and 0.6 - 0.5 are equal. No decision about
    pairs is withheld where the test of all models does not reject; the record says so.
    Wilcoxon's test costs a sort of D numbers a pair.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
       J. Machine Learning Research 7 (2006) 1-30.
    .. [2] A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc tests
       based on mean-ranks?", J. Machine Learning Research 17 (2016) 1-10.

    Examples
    --------
    >>> from fastcmp.datasets import compare_datasets
    >>> scores = {
    ...     "forest": [0.91, 0.85, 0.79, 0.88, 0.93, 0.77, 0.81],
    ...     "tree": [0.84, 0.80, 0.71, 0.85, 0.90, 0.70, 0.79],
    ...     "line": [0.86, 0.79, 0.74, 0.83, 0.87, 0.71, 0.75],
    ... }
    >>> result = compare_datasets(scores)
    >>> result.mean_rank.round(3).tolist(), result.best
    ([1.0, 2.429, 2.571], ('forest',))
    """
    method = choose(method, "method", METHODS)
    omnibus = choose(omnibus, "omnibus", _OMNIBUS)
    how = "auto"
    if exact is not None:
        how = "exact" if as_flag(exact, "exact") else "asymptotic"
    zero_method = choose(zero_method, "zero_method", tuple(ZERO_METHODS))
    if variance is None:
        variance = "permutation" if method == "aligned" else "published"
    variance = choose(variance, "variance", VARIANCES)
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    options = read_options(
        "tasks",
        method,
        adjust="holm" if adjust is None else adjust,
        alpha=alpha,
        keep=keep,
        memory_limit=memory_limit,
        adjustments=OF_PAIRS,
        lower_is_better=True,  # ranks
    )
    if method == "nemenyi":
        if adjust is not None and options.adjust != "none":
            raise ValueError(
                "adjust is not for method='nemenyi', whose p-values are adjusted already, "
                f"got {adjust!r}: leave it out, or use method='normal'"
            )
        options = replace(options, adjust="nemenyi")
    adjust = options.adjust
    draws = tests_of_all.read_draws(n_resamples, rng)
    data = read_data(
        scores,
        lower_is_better=lower_is_better,
        missing=missing,
        names=names,
        tasks=tasks,
        policies=POLICIES,
    )
    gaps = bool(data.n_missing.any())
    if data.missing == "pairs" and gaps:
        if method in POOLED:
            raise ValueError(
                f"method={method!r} ranks all models on each task: with "
                "missing='pairs' use 'wilcoxon', 'sign' or 't', or missing='tasks'"
            )
        if omnibus not in ("auto", "skillings-mack"):
            raise ValueError(
                f"omnibus={omnibus!r} needs a score of each model on each task: "
                "with missing='pairs' use 'skillings-mack', or missing='tasks'"
            )
    if data.missing == "worst" and gaps:
        sized = [x for x in (method, omnibus) if x in _SIZED]
        if sized:
            raise ValueError(
                f"missing='worst' gives a model the last rank, and {sized[0]!r} needs "
                "scores: use method='sign', 'nemenyi' or 'normal' and a Friedman test"
            )
    if adjust in ("shaffer", "bergmann-hommel") and method not in POOLED:
        raise ValueError(
            f"adjust={adjust!r} takes from a = b and b = c that a = c, which "
            f"holds for ranks among all models, not for method={method!r}: use "
            "'holm', or method='normal'"
        )
    table = data.table
    n_models = len(table.names)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        chosen = choose_pairs(table.names, pairs, control)
        if alternative != "two-sided" and chosen is None and n_models > 2:
            raise ValueError(
                f"alternative={alternative!r} needs control= or pairs=, which say "
                "which model is the first of each pair"
            )
        if alternative != "two-sided" and method == "nemenyi":
            raise ValueError(
                f"alternative={alternative!r} is not for method='nemenyi', the range "
                "of all models: use method='normal'"
            )
        side = alternative
        if table.lower_is_better:  # the tests are of gains, of which more is better
            side = {"greater": "less", "less": "greater"}.get(side, side)
        ranks = rank_tasks(data.gains, pool)
        compared = PairData(
            gains=data.gains,
            ranks=ranks,
            wins=count_wins_of(ranks, pool),
            method=method,
            variance=variance,
            rank_options=RankOptions(zero_method=zero_method, method=how, continuity=False),
            alternative=side,
        )
        tests = pair_tests(compared, options.alpha)
        of_all = tests_of_all.omnibus_test(omnibus, data.gains, ranks, pool, draws=draws)
        critical = None
        dunn = (method, adjust, alternative) == ("normal", "bonferroni", "two-sided")
        if method == "nemenyi" or dunn:
            n_tests = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
            critical = compared.critical_difference(options.alpha, n_tests)
        known = ~np.isnan(table.scores)
        more = {
            "measure": "mean rank",
            "tasks": table.tasks,
            "scores": table.scores,
            "ranks": ranks,
            "mean_score": np.where(known, table.scores, 0.0).sum(axis=1) / known.sum(axis=1),
            "omnibus": of_all,
            "wins": compared.wins,
            "lower_is_better": table.lower_is_better,
            "critical_difference": critical,
            "alternative": alternative,
            "zero_method": zero_method if method == "wilcoxon" else None,
            "variance": variance if method in ("nemenyi", "normal", "aligned") else None,
            "missing": data.missing,
            "n_missing_values": tuple(data.n_missing.tolist()) * gaps,
            "n_dropped": data.n_dropped,
        }
        made: DatasetsResult = compare_pairs(
            *(tests, table.names, chosen, options, pool),
            control=control,
            record=DatasetsResult,
            more=more,
        )
    return made
