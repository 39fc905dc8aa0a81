"""Many models compared over many data sets, all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_flag, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import ScoreTable, TaskScores
from fastcmp.core.sections import Column, Section
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import Floats, Ints, ModelsLike, Seed
from fastcmp.counts.pairs import choose_pairs
from fastcmp.datasets import omnibus as tests_of_all
from fastcmp.datasets.omnibus import OmnibusTest
from fastcmp.datasets.rank_pairs import (
    METHODS,
    POOLED,
    VARIANCES,
    PairData,
    count_wins_of,
    pair_tests,
    signed_rank_sums,
)
from fastcmp.datasets.reading import POLICIES, gains_of, rank_tasks, read_data
from fastcmp.items.signed_rank import ZERO_METHODS, RankOptions
from fastcmp.pairwise.adjust import OF_PAIRS
from fastcmp.pairwise.engine import compare_pairs, read_options
from fastcmp.pairwise.leaderboard import format_score
from fastcmp.pairwise.result import DF_OF_PAIRS, PairwiseResult

_TESTS = {
    "wilcoxon": "Wilcoxon's signed-rank test over the data sets",
    "sign": "sign test of the data sets that each won",
    "t": "paired t test over the data sets",
    "nemenyi": "Nemenyi's test of mean ranks",
    "normal": "normal test of mean ranks",
    "conover": "Conover's t test of rank sums",
    "quade": "Quade's t test of weighted rank sums",
    "aligned": "normal test of mean aligned ranks",
    "exact": "exact test of rank sums",
}
_COMMENSURABLE = ("quade", "aligned", "t")


def test_name(result: DatasetsResult) -> str:
    """Name of the test of a pair."""
    name = _TESTS[result.method]
    details = []
    if result.method == "wilcoxon":
        exact = result.distribution == "permutation"
        details.append("exact" if exact else "normal approximation")
        if result.zero_method != "wilcox":
            details.append(f"zeros: {result.zero_method}")
    if result.alternative != "two-sided":
        better = (result.alternative == "greater") != result.lower_is_better
        details.append(f"one-sided: the first is {'better' if better else 'worse'}")
    return f"{name} ({', '.join(details)})" if details else name


def tasks_sentences(result: DatasetsResult) -> tuple[str, ...]:
    """Sentences on the test of all models, and on missing scores."""
    omnibus = result.omnibus
    sentences = [omnibus.sentence]
    if not omnibus.pvalue <= result.alpha:
        sentences.append(
            f"That test does not reject at {result.alpha:g} that all models do equally "
            "well. Decisions about pairs do not wait for it: their adjustment needs no "
            "test before it."
        )
    if result.critical_difference is not None:
        sentences.append(
            "Critical difference of two mean ranks at "
            f"{result.alpha:g}: {result.critical_difference:.4g}."
        )
    if result.method in POOLED:
        sentences.append(
            "Ranks are among all models of this comparison: a decision about two may "
            "change with the others."
        )
    if result.method in _COMMENSURABLE:
        sentences.append("This test takes scores of different data sets as comparable.")
    n_missing = int(np.sum(result.n_missing_values))
    if n_missing:
        what = {
            "tasks": f"{result.n_dropped} data sets that some model lacks were dropped",
            "pairs": "each pair is compared on the data sets of both",
            "worst": "such a model ranks last",
        }[result.missing]
        sentences.append(f"{n_missing} scores are missing: {what}.")
    gap = result.mean_rank[:, None] - result.mean_rank
    against = int(np.count_nonzero((result.decisions == 1) & (gap > 1e-12)))
    if against:
        sentences.append(
            f"{against} significant pair{'s' * (against > 1)}: the test favours the "
            "model with the worse mean rank."
        )
    return tuple(sentences)


def beside_ranks(result: DatasetsResult, section: Section) -> Section:
    """The leaderboard with mean scores, and wins, ties and losses, beside the mean ranks."""
    if section.title.startswith("Against") and np.isnan(result.interval).all():
        left = tuple((*row[:3], *row[4:]) for row in section.rows)
        heads = (*section.columns[:3], *section.columns[4:])
        return replace(section, columns=heads, rows=left)
    if section.title != "Leaderboard":
        return section
    place = section.columns.index("mean rank") + 1
    models = result.leaderboard.models[: len(section.rows)].tolist()
    rows = []
    for row, model in zip(section.rows, models, strict=True):
        cells = (
            format_score(result.mean_score[model], "digits"),
            "/".join(map(str, result.win_tie_loss[model].tolist())),
        )
        rows.append((*row[:place], *cells, *row[place:]))
    title = "mean score" + (" (lower is better)" if result.lower_is_better else "")
    columns = (*section.columns[:place], title, "won/tied/lost")
    note = (
        "Mean scores are descriptive only: scores of different data sets may not be "
        "comparable. Won, tied and lost: data sets, against all others."
    )
    return replace(
        section,
        columns=(*columns, *section.columns[place:]),
        rows=tuple(rows),
        notes=(*section.notes, note),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetsResult(PairwiseResult):
    """Many models compared in pairs by one score on each of many data sets (tasks).

    A `PairwiseResult`: `score` holds the mean ranks, 1 for the best, and `difference`
    those of the first of a pair minus those of the second. `only_a` and `only_b` count
    the tasks that the first, and the second, won. Who is better in a pair the test
    itself decides, by the sign of its statistic, whatever the mean ranks.
    """

    _pilot = ""
    _blocks = "datasets:datasets"

    _cites = (
        "demsar",
        ("method", {"wilcoxon": "wilcoxon", "nemenyi": "nemenyi", "quade": "quade"}),
    )

    #: Names of the tasks, D of them.
    tasks: tuple[str, ...]
    #: As they came, shape (M, D); NaN where there is none.
    scores: Floats
    #: Ranks within each task, shape (M, D), 1 for the best.
    ranks: Floats
    #: Mean over the tasks that have the model, shape (M,). Of different measures it has
    #: no meaning.
    mean_score: Floats
    #: The test that all models do equally well.
    omnibus: OmnibusTest
    #: On how many tasks the model of the row is better than that of the column, (M, M).
    wins: Ints
    lower_is_better: bool = False
    #: The least difference of mean ranks that is significant, of "nemenyi" and, with
    #: Bonferroni's adjustment, of "normal"; None for other tests.
    critical_difference: float | None = None
    alternative: str = "two-sided"
    #: Of Wilcoxon's test; None for others.
    zero_method: str | None = None
    #: Of tests by mean ranks: "published" or "permutation".
    variance: str | None = None
    #: What was made of missing scores, how many each model has, and how many tasks were
    #: dropped for them.
    missing: str = "raise"
    n_missing_values: tuple[int, ...] = ()
    n_dropped: int = 0
    #: Tasks of both models of each kept pair, shape (P,), where these differ.
    n_tasks_of_pairs: Any = None

    _columns = (
        *(column for column in PairwiseResult._columns if not column.name.startswith("only_")),
        *(Column("wins", "only_a"), Column("losses", "only_b"), DF_OF_PAIRS),
        Column("n_tasks", "n_tasks_of_pairs"),
    )
    _read = (
        *PairwiseResult._read,
        *("tasks", "lower_is_better", "critical_difference", "alternative"),
        *("zero_method", "variance", "missing", "n_missing_values", "n_dropped"),
        Column("omnibus", lambda self: self.omnibus._entries()),
        *("wins", "mean_score"),
    )

    @property
    def mean_rank(self) -> Floats:
        """Mean rank of each model, shape (M,), 1 for the best."""
        return self.score

    @property
    def n_tasks(self) -> int:
        """Number of tasks, D."""
        return len(self.tasks)

    @cached_property
    def ties(self) -> Ints:
        """On how many tasks each two models tie, shape (M, M); 0 on the diagonal."""
        present = (~np.isnan(self.ranks)).astype(np.float64)
        both = np.rint(present @ present.T).astype(np.int64)
        ties = both - self.wins - self.wins.T
        np.fill_diagonal(ties, 0)
        return ties

    @cached_property
    def win_tie_loss(self) -> Ints:
        """Tasks that each model won, tied and lost against all others, shape (M, 3)."""
        wins, losses = self.wins.sum(axis=1), self.wins.sum(axis=0)
        return np.stack([wins, self.ties.sum(axis=1), losses], axis=1)

    @cached_property
    def _rank_sums(self) -> Floats:
        table = ScoreTable(self.names, self.tasks, self.scores, self.lower_is_better)
        gains = gains_of(table).values
        return signed_rank_sums(gains, self.pairs, self.zero_method or "wilcox")

    @property
    def rank_sum_plus(self) -> Floats:
        """Wilcoxon's sum of the ranks of tasks that favour the first, shape (P,)."""
        return self._rank_sums[:, 0]

    @property
    def zscore(self) -> Floats:
        """Normal score of each pair, shape (P,): positive where the first is better.

        Of Wilcoxon's test, also where its p-value is exact, and of tests by mean ranks;
        the statistic of all others.
        """
        if self.method == "wilcoxon":
            return self._rank_sums[:, 2]
        return self.statistic

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, the test of all models, the leaderboard by mean rank, the
            decisions, and how to read them.
        """
        sections = super().sections()
        first = sections[0]
        text = (*first.text, *tasks_sentences(self))
        sections[0] = replace(first, text=text)
        return [beside_ranks(self, section) for section in sections]

    @property
    def _each_pair(self) -> str:
        return test_name(self)

    @property
    def _score_intervals(self) -> str:
        return ""


_OMNIBUS = (*tests_of_all.METHODS, "quade", "aligned", "skillings-mack")
#: Methods that need scores, not ranks alone.
_SIZED = ("wilcoxon", "t", "quade", "aligned")


def compare_datasets(
    scores: ModelsLike | TaskScores,
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
    rng: Seed = None,
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
        If scores are not numbers.
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
            raise BadValueError(
                "`adjust` is not for `method='nemenyi'`, whose p-values are adjusted already",
                repr(adjust),
                ": leave it out, or use `method='normal'`",
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
            raise BadValueError(
                f"`method={method!r}` ranks all models on each task: with `missing='pairs'` "
                "use 'wilcoxon', 'sign' or 't', or `missing='tasks'`"
            )
        if omnibus not in ("auto", "skillings-mack"):
            raise BadValueError(
                f"`omnibus={omnibus!r}` needs a score of each model on each task: with "
                "`missing='pairs'` use 'skillings-mack', or `missing='tasks'`"
            )
    if data.missing == "worst" and gaps:
        sized = [x for x in (method, omnibus) if x in _SIZED]
        if sized:
            raise BadValueError(
                f"`missing='worst'` gives a model the last rank, and {sized[0]!r} needs scores",
                remedy=": use `method='sign'`, 'nemenyi' or 'normal' and a Friedman test",
            )
    if adjust in ("shaffer", "bergmann-hommel") and method not in POOLED:
        raise BadValueError(
            f"`adjust={adjust!r}` takes from a = b and b = c that a = c, which holds for ranks "
            f"among all models, not for `method={method!r}`",
            remedy=": use 'holm', or `method='normal'`",
        )
    table = data.table
    n_models = len(table.names)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        pair_indices = choose_pairs(table.names, pairs, control)
        if alternative != "two-sided" and pair_indices is None and n_models > 2:
            raise BadValueError(
                f"`alternative={alternative!r}` needs `control=` or `pairs=`, which say which "
                "model is the first of each pair"
            )
        if alternative != "two-sided" and method == "nemenyi":
            raise BadValueError(
                f"`alternative={alternative!r}` is not for `method='nemenyi'`, the range of "
                "all models",
                remedy=": use `method='normal'`",
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
            n_tests = n_models * (n_models - 1) // 2 if pair_indices is None else len(pair_indices)
            critical = compared.critical_difference(options.alpha, n_tests)
        is_known = ~np.isnan(table.scores)
        more = {
            "measure": "mean rank",
            "tasks": table.tasks,
            "scores": table.scores,
            "ranks": ranks,
            "mean_score": np.where(is_known, table.scores, 0.0).sum(axis=1) / is_known.sum(axis=1),
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
        result: DatasetsResult = compare_pairs(
            *(tests, table.names, pair_indices, options, pool),
            control=control,
            record=DatasetsResult,
            more=more,
        )
    return result
