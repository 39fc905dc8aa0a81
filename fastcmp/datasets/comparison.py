"""Many models compared over many data sets, all pairs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_flag, as_proportion, as_resamples, as_seed, choose
from fastcmp.core.numbers import scale_exponent
from fastcmp.core.threads import Progress, ThreadPool, check_workers, parts, read_size, reporting
from fastcmp.counts.pairs import Block, choose_pairs
from fastcmp.datasets.datasets_result import DatasetsResult
from fastcmp.datasets.friedman_ranks import Draws, friedman_of_ranks
from fastcmp.datasets.omnibus import AlignedRanks, quade_of_ranks, skillings_of_ranks
from fastcmp.datasets.rank_pairs import (
    POOLED,
    VARIANCES,
    Answers,
    PairData,
    PairKind,
    critical_difference,
    pair_tests,
    rank_pair_tests,
    ratio,
    signed_rank_of,
    tail,
)
from fastcmp.datasets.reading import POLICIES, read_data
from fastcmp.datasets.task_ranks import rank_tasks, wins_of
from fastcmp.items.signed_rank import FEW_ITEMS, ZERO_METHODS, RankOptions, signed_rank_tests
from fastcmp.paired.mcnemar_result import evaluate_counts
from fastcmp.pairwise.adjust import OF_PAIRS
from fastcmp.pairwise.comparing import record_of
from fastcmp.pairwise.engine import Options, read_keep, run_tests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fastcmp.datasets.friedman_ranks import OmnibusTest
    from fastcmp.datasets.reading import TaskData
    from fastcmp.pairwise.engine import PairTests

    Floats = NDArray[np.float64]
    Pairs = NDArray[np.int32]

_CELLS = 1 << 20  # differences that are looked at together


def sign_tests(data: PairData) -> PairTests:
    """Test pairs by the tasks that each won, without ties."""

    def found(pairs: Pairs) -> Answers:
        i, j = pairs.T
        wins, losses = data.wins[i, j], data.wins[j, i]
        size = np.int64(data.gains.n_tasks)
        side = data.alternative
        _, pvalue, _ = evaluate_counts(wins, losses, size, "exact", side)
        statistic = np.minimum(wins, losses).astype(np.float64)
        return Answers(statistic, pvalue, (wins - losses).astype(np.float64))

    return pair_tests(data, found, PairKind("binomial"))


def t_tests(data: PairData) -> PairTests:
    """Test pairs by Student's t of the differences of their scores."""
    gains, n = data.gains.gains, data.gains.n_tasks
    tolerance = data.gains.tolerance

    def found(pairs: Pairs) -> Answers:
        statistic, size = np.empty(len(pairs)), np.empty(len(pairs))
        for part in parts(len(pairs), max(1, _CELLS // n)):
            i, j = pairs[part].T
            d = gains[i] - gains[j]
            d[np.abs(d) <= tolerance] = 0.0
            size[part] = np.count_nonzero(~np.isnan(d), axis=1)
            statistic[part] = _t_of_rows(d, size[part])
        df = np.maximum(size - 1.0, 1.0)
        pvalue = tail(statistic, df, data.alternative)
        return Answers(statistic, pvalue, statistic.copy())

    df: Any = n - 1
    if not data.gains.complete:
        df = None
    return pair_tests(data, found, PairKind("t", df))


def _t_of_rows(d: Floats, size: Floats) -> Floats:
    """Give t of each row of differences; NaN for fewer than two."""
    with np.errstate(divide="ignore", invalid="ignore"):
        d = np.ldexp(d, -scale_exponent(d))
        mean = np.nansum(d, axis=1) / size
        d -= mean[:, None]
        squares = np.nansum(d * d, axis=1)
        # What is left of equal differences is rounding.
        squares[squares <= size * (1e-14 * mean) ** 2] = 0.0
        error = np.sqrt(squares / (size - 1.0) / size)
    statistic = ratio(mean, error)
    statistic[size < 2] = np.nan
    return statistic


def wilcoxon_tests(data: PairData, options: RankOptions) -> PairTests:
    """Test pairs by Wilcoxon's signed ranks; all are exact, or none."""
    exact = options.is_exact(data.gains.n_tasks, FEW_ITEMS)
    kind = PairKind("permutation" if exact else "normal")
    if not data.gains.complete or data.alternative != "two-sided":
        return pair_tests(data, _one_by_one(data, options, exact=exact), kind)
    base = pair_tests(data, _nothing, kind)
    values = data.gains.gains
    z = signed_rank_tests(values, base, _with(options, "asymptotic"))
    w = signed_rank_tests(values, base, _with(options, "exact")) if exact else z

    def found(pairs: Pairs) -> Answers:
        block = Block(slice(0, len(pairs)), pairs)
        by_z = z.columns(block)
        if not exact:
            return Answers(by_z.statistic, by_z.pvalue, by_z.statistic)
        by_w = w.columns(block)
        return Answers(by_w.statistic, by_w.pvalue, by_z.statistic)

    return pair_tests(data, found, kind)


def _with(options: RankOptions, method: str) -> RankOptions:
    return RankOptions(zero_method=options.zero_method, method=method, continuity=False)


def _nothing(pairs: Pairs) -> Answers:
    """Stand for a test where another one follows."""
    none = np.full(len(pairs), np.nan)
    return Answers(none, none, none)


def _one_by_one(data: PairData, options: RankOptions, *, exact: bool) -> Any:
    """Make a test of each pair on its own tasks, or of one side."""
    gains = data.gains.gains
    side = ALTERNATIVES[data.alternative]
    options = _with(options, "exact" if exact else "asymptotic")

    def found(pairs: Pairs) -> Answers:
        statistic, pvalue, z = np.full((3, len(pairs)), np.nan)
        for p, pair in enumerate(pairs.tolist()):
            test = signed_rank_of(gains, pair, options, side)
            if test is not None:
                statistic[p], pvalue[p] = test["statistic"], test["pvalue"]
                z[p] = test["zscore"]
        return Answers(statistic, pvalue, z)

    return found


# Many models compared over many data sets, all pairs at once.


_OWN = ("wilcoxon", "sign", "t")
METHODS = (*_OWN, *POOLED)
_FRIEDMAN = ("auto", "exact", "chi2", "iman-davenport", "monte-carlo")
_OMNIBUS = (*_FRIEDMAN, "quade", "aligned", "skillings-mack")
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
    given = _Given.read(method, omnibus, zero_method, exact, variance, alternative)
    options = _engine_options(given.method, adjust, alpha, keep, memory_limit)
    draws = _read_draws(given.omnibus, n_resamples, rng)
    data = read_data(
        scores,
        lower_is_better=lower_is_better,
        missing=missing,
        names=names,
        tasks=tasks,
        policies=POLICIES,
    )
    _check_together(given, data, options)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        known = data.gains.names
        chosen = choose_pairs(known, pairs, control)
        _check_side(given, chosen is not None, len(known))
        ranks = rank_tasks(data.gains, pool)
        side = given.alternative
        if data.table.lower_is_better:  # the tests are of gains, of which more is better
            side = {"greater": "less", "less": "greater"}.get(side, side)
        compared = PairData(data.gains, ranks, wins_of(ranks, pool), side)
        tests = _tests(compared, given, options.alpha)
        kept = run_tests(tests, chosen, known, options, pool)
        omnibus_test = _omnibus(compared, draws, pool)
    more = _fields(compared, data, given, omnibus_test)
    n_tests = len(known) * (len(known) - 1) // 2 if chosen is None else len(chosen)
    more["critical_difference"] = _critical(compared, given, options, n_tests)
    first = None if control is None or chosen is None else known[chosen[0, 0]]
    source = _Source(known)
    made = record_of(tests, kept, source, options, first, DatasetsResult, more)
    assert isinstance(made, DatasetsResult)
    return made


class _Source(NamedTuple):
    """What a record says of the labels, of which there are none."""

    names: tuple[str, ...]
    n_missing: int = 0
    n_excluded: int = 0


@dataclass(frozen=True)
class _Given:
    """Which tests, checked."""

    method: str
    omnibus: str
    rank_options: RankOptions
    variance: str
    alternative: str

    @classmethod
    def read(
        cls,
        method: Any,
        omnibus: Any,
        zero_method: Any,
        exact: Any,
        variance: Any,
        alternative: Any,
    ) -> _Given:
        """Check what a user chose."""
        method = choose(method, "method", METHODS)
        how = "auto"
        if exact is not None:
            how = "exact" if as_flag(exact, "exact") else "asymptotic"
        default = "permutation" if method == "aligned" else "published"
        if variance is None:
            variance = default
        return cls(
            method,
            choose(omnibus, "omnibus", _OMNIBUS),
            RankOptions(
                zero_method=choose(zero_method, "zero_method", tuple(ZERO_METHODS)),
                method=how,
                continuity=False,
            ),
            choose(variance, "variance", VARIANCES),
            choose(alternative, "alternative", tuple(ALTERNATIVES)),
        )


def _engine_options(method: str, adjust: Any, alpha: Any, keep: Any, memory_limit: Any) -> Options:
    """Check the options of the comparison of all pairs."""
    if method == "nemenyi":
        if adjust is not None and choose(adjust, "adjust", OF_PAIRS) != "none":
            raise ValueError(
                "adjust is not for method='nemenyi', whose p-values are adjusted already, "
                f"got {adjust!r}: leave it out, or use method='normal'"
            )
        adjust = "nemenyi"
    else:
        adjust = choose("holm" if adjust is None else adjust, "adjust", OF_PAIRS)
    return Options(
        test="tasks",
        method=method,
        adjust=adjust,
        alpha=as_proportion(alpha, "alpha"),
        keep=read_keep(keep),
        memory_limit=None if memory_limit is None else read_size(memory_limit),
        lower_is_better=True,  # ranks
    )


def _read_draws(omnibus: str, n_resamples: Any, rng: Any) -> Draws:
    n_resamples = as_resamples(n_resamples)
    return Draws(omnibus, n_resamples, as_seed(rng))


def _check_together(given: _Given, data: TaskData, options: Options) -> None:
    """Refuse tests that the policy for missing scores leaves without sense."""
    gaps = bool(data.n_missing.any())
    if data.missing == "pairs" and gaps:
        if given.method in POOLED:
            raise ValueError(
                f"method={given.method!r} ranks all models on each task: with "
                "missing='pairs' use 'wilcoxon', 'sign' or 't', or missing='tasks'"
            )
        if given.omnibus not in ("auto", "skillings-mack"):
            raise ValueError(
                f"omnibus={given.omnibus!r} needs a score of each model on each task: "
                "with missing='pairs' use 'skillings-mack', or missing='tasks'"
            )
    if data.missing == "worst" and gaps:
        sized = [x for x in (given.method, given.omnibus) if x in _SIZED]
        if sized:
            raise ValueError(
                f"missing='worst' gives a model the last rank, and {sized[0]!r} needs "
                "scores: use method='sign', 'nemenyi' or 'normal' and a Friedman test"
            )
    if options.adjust in ("shaffer", "bergmann-hommel") and given.method in _OWN:
        raise ValueError(
            f"adjust={options.adjust!r} takes from a = b and b = c that a = c, which "
            f"holds for ranks among all models, not for method={given.method!r}: use "
            "'holm', or method='normal'"
        )


def _check_side(given: _Given, some: bool, n_models: int) -> None:  # noqa: FBT001
    if given.alternative == "two-sided":
        return
    if not some and n_models > 2:
        raise ValueError(
            f"alternative={given.alternative!r} needs control= or pairs=, which say "
            "which model is the first of each pair"
        )
    if given.method == "nemenyi":
        raise ValueError(
            f"alternative={given.alternative!r} is not for method='nemenyi', the range "
            "of all models: use method='normal'"
        )


def _tests(compared: PairData, given: _Given, alpha: float) -> PairTests:
    if given.method == "wilcoxon":
        return wilcoxon_tests(compared, given.rank_options)
    if given.method == "sign":
        return sign_tests(compared)
    if given.method == "t":
        return t_tests(compared)
    return rank_pair_tests(compared, given.method, given.variance, alpha)


def _omnibus(compared: PairData, draws: Draws, pool: ThreadPool) -> OmnibusTest:
    """Test that all models do equally well."""
    names, ranks = compared.gains.names, compared.ranks
    if draws.method == "skillings-mack" or not compared.gains.complete:
        return skillings_of_ranks(ranks, names)
    if draws.method == "quade":
        return quade_of_ranks(ranks, compared.gains)
    if draws.method == "aligned":
        return AlignedRanks.of(compared.gains).test(names)
    return friedman_of_ranks(ranks, names, draws, pool)


def _critical(compared: PairData, given: _Given, options: Options, n_tests: int) -> float | None:
    """Give the least significant difference of mean ranks, where there is one."""
    two_sided = given.alternative == "two-sided"
    dunn = (given.method, options.adjust) == ("normal", "bonferroni")
    if given.method != "nemenyi" and not (dunn and two_sided):
        return None
    error = given.variance
    return critical_difference(compared, given.method, error, options.alpha, n_tests)


def _fields(
    compared: PairData, data: TaskData, given: _Given, omnibus: OmnibusTest
) -> dict[str, Any]:
    """Give what the record says beside the tests."""
    scores = data.table.scores
    known = ~np.isnan(scores)
    by_ranks = given.method in ("nemenyi", "normal", "aligned")
    return {
        "measure": "mean rank",
        "tasks": data.table.tasks,
        "scores": scores,
        "ranks": compared.ranks,
        "mean_score": np.where(known, scores, 0.0).sum(axis=1) / known.sum(axis=1),
        "omnibus": omnibus,
        "wins": compared.wins,
        "lower_is_better": data.table.lower_is_better,
        "alternative": given.alternative,
        "zero_method": (given.rank_options.zero_method if given.method == "wilcoxon" else None),
        "variance": given.variance if by_ranks else None,
        "missing": data.missing,
        "n_missing_values": tuple(data.n_missing.tolist()) * bool(data.n_missing.any()),
        "n_dropped": data.n_dropped,
    }
