"""Many models on the same samples, all pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import are_counts_given, choose, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import LabelledCounts, PairedCounts, are_labelled, are_paired
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import Classes, ColumnLike, ModelsLike, Seed
from fastcmp.counts.pairs import choose_pairs
from fastcmp.inputs.cost_matrix import check_fit, read_cost, refuse_cost, required_cost
from fastcmp.inputs.item_groups import read_grouping
from fastcmp.inputs.labels import Labels, encode
from fastcmp.inputs.model_names import with_names
from fastcmp.paired.cost_test import check_options
from fastcmp.paired.mcnemar_counts import METHODS, WEIGHTED
from fastcmp.paired.units import CLUSTERED, EVERY_SAMPLE, Sampling
from fastcmp.pairwise.accuracy_tests import accuracy_tests, sampled_tests
from fastcmp.pairwise.cost_tests import cost_tests, cost_tests_from_counts, encode_costs
from fastcmp.pairwise.engine import DRAWN, compare_pairs, read_options
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.slice_sums import Items, SliceSums
from fastcmp.pairwise.slices import with_slices
from fastcmp.stream.class_counts import LabelCounts
from fastcmp.stream.dask_blocks import are_collections, gather, models_of, refuse_options, renamed
from fastcmp.stream.pair_counts import PairCounts

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric, MetricLike

TESTS = ("mcnemar", "cost")
_COUNTED = 1 << 22  # labels of all models whose counting is worth threads
_COUNTED_PAIRS = 1 << 14  # pairs from counts that are worth threads
_THREADS_PAY = 1 << 22  # words of pairs; below them one thread is faster
#: Tests of a pair by a metric; the first is the default, with clusters the second.
_BY_METRIC = ("jackknife", "delta", "pooled", *DRAWN)


def compare_all(
    y_true: ColumnLike | None = None,
    preds: ModelsLike | None = None,
    *,
    counts: PairedCounts | LabelledCounts | None = None,
    test: str = "mcnemar",
    metric: MetricLike | None = None,
    method: str | None = None,
    cost: ColumnLike | Mapping[Any, Any] | None = None,
    n_resamples: int = 9999,
    rng: Seed = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    margin: float | None = None,
    slices: ModelsLike | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Classes | None = None,
    missing: str = "raise",
    groups: ColumnLike | None = None,
    strata: ColumnLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    names: Sequence[str] | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> PairwiseResult:
    """Compare many models on the same samples, all pairs at once.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models. Dask's arrays and
        frames are counted where they are, as by `fastcmp.stream.gather`.
    counts : fastcmp.stream.PairCounts or fastcmp.stream.LabelCounts, optional
        In their place, what a stream has counted: samples that each two models got
        right, for accuracies; or by true and predicted classes, for costs or a metric.
    test : {"mcnemar", "cost"}
        What is compared: accuracies, or expected costs.
    metric : str, callable or Metric, optional
        Compare by a metric of the confusion matrix instead: its name, such as
        "f1_macro" or "mcc", a function of the matrix, or what `make_metric` made.
    method : str, optional
        Variant of the test: "midp" (default), "exact", "asymptotic", "corrected" or
        "unconditional", with `groups` "cr2" (default), "obuchowski", ..., with weighted
        `strata` "asymptotic" (default), "exact" or "midp", all as in `mcnemar`; for
        costs "likelihood" (default) or "chi-square", as in `cost_test`. For a metric
        "jackknife" (default) or "delta", z tests by the standard errors of these;
        "pooled", "permutation" or "bootstrap", as in `compare_metric`. With `groups`
        "delta" (default), a t test, "permutation" or "bootstrap".
    cost : array-like of shape (K, K), mapping or frame, optional
        For ``test="cost"``: the cost of each mistake, as in `cost_test`.
    n_resamples : int
        Draws of ``adjust="maxt"`` and of simultaneous intervals; for a metric those of
        permutation and bootstrap too.
    rng : int, numpy.random.Generator or None
        Where they come from; each pair has the same.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
        "maxt" (step-down) and "single-step" draw all models at once, so that they know
        how alike these are, and have more power: by flips of which of two models is
        right, sample by sample or cluster by cluster; for costs and metrics by normal
        numbers with the covariance of the models.
    alpha : float
        Error rate of the decisions, in (0, 1); `adjust` says what it bounds. Intervals
        have the level 1 - alpha.
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once: difference +-
        c standard errors, where c is the quantile of the largest of all.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks in the leaderboard come from: what the decisions
        allow, where `adjust` bounds the probability of even one false one; sets of
        ranks that hold for all models at once, as `rank_sets` finds them; or for each
        model alone. Only these know how alike the models are.
    margin : float, optional
        The largest difference that does not matter, in units of the measure: adds tests
        of non-inferiority and equivalence of all pairs, adjusted together, and a
        decision about each, as ``margins``; needs ``keep="all"``. By Tango's score or
        exact, with `groups` or weighted `strata` by Gaffke's bound, as in `mcnemar`;
        by a metric as in `compare_metric`, whose interval is then that of the pair; else
        by differences and their standard errors.
    slices : mapping, frame, or array-like of shape (n,) or (S, n), optional
        Parts of the samples, which may overlap, in which accuracies, or the metric, are
        compared once more, by t as in `compare_slices`: the answer is ``slices``.
    pairs : sequence of pairs, optional
        Compare only these, by name or index. All others are "not tested": no letters
        of ties are given, and `best` are the tested models that lost no tested pair.
    control : int or str, optional
        Compare only this model with all others: the answer is a table against it.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error, and refused where it would need a cost.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient, as in `mcnemar`. All
        intervals are then of the same standard errors as the tests. "durkalski" and
        "cluster-weighted" rank models by their mean accuracy over clusters.
    strata : array-like, shape (n,), optional
        Stratum of each sample, such as its task. The variance of a metric is then that
        within strata.
    stratum_weights : {"items", "equal"} or mapping, optional
        What strata count in the accuracies: by their samples, equally, or a weight for
        each. A metric is then that of the weighted counts.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    keep : {"all", "significant"}, int or Path
        Which pairs the record keeps. Ten thousand models are fifty million pairs, and
        6 GB: "significant" keeps those that are significantly different, a number k
        those among the k best models, and a path writes all to a ``.npy`` file, which
        the record then maps into memory, or to a ``.parquet`` file. Decisions, ranking
        and ties follow from all pairs in any case, at 44 bytes a pair while they are
        worked out.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that the answer may take; by default what the machine
        has left. What would take more is refused before the work begins; for
        significant pairs, when their number is known.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs. Where
        not all is kept, pairs that are kept or written are tested, and counted, twice.

    Returns
    -------
    PairwiseResult
        Counts, differences, p-values, decisions, leaderboard and groups of ties; by a
        metric a `MetricsResult`. From counts to the bit what labels give, of a metric to
        rounding, but for the draws of "maxt", which are then normal numbers; `n_outside`
        is empty, for blocks do not know all labels of the truth.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, names repeat,
        labels are missing, an option is unknown, or the answer does not fit into
        memory.
    TypeError
        If labels cannot be compared.
    OSError
        If a file cannot be written.

    Notes
    -----
    O(M n) to encode and pack, M**2 n / 128 popcounts, O(P log P) to adjust. Memory:
    n / 8 bytes a model, 72 bytes a pair that is kept and 44 while it is adjusted. By a
    metric O(M n + M**2 n) for one matrix product; beyond 8e9 products these are in
    single precision, and standard errors have 4 digits at least. For few classes, or
    few pairs, pairs are counted instead.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian J. Statistics 6 (1979) 65-70.

    Examples
    --------
    >>> from fastcmp import compare_all, load_digits
    >>> result = compare_all(*load_digits())
    >>> result.best
    ('svm_rbf', 'knn_3', 'extra_trees', 'random_forest', 'mlp')
    >>> from fastcmp.stream import PairCounts
    >>> compare_all(counts=PairCounts().update(*load_digits())).best[0]
    'svm_rbf'
    """
    test = choose(test, "test", TESTS)
    sampling = Sampling(groups, strata, stratum_weights)
    by = None if metric is None else read_metric(metric, test, cost)
    kind = test if by is None else "metric"
    options = read_options(
        kind,
        check_method(kind, method, sampling),
        adjust=adjust,
        alpha=alpha,
        keep=keep,
        memory_limit=memory_limit,
        margin=margin,
        simultaneous=simultaneous,
        rank_intervals=rank_intervals,
        n_resamples=n_resamples,
        rng=rng,
        lower_is_better=by is not None and by.lower_is_better,
    )
    threads = check_workers(workers)
    matrix = None
    if kind == "cost":
        matrix = required_cost(cost, classes, missing)
    elif cost is not None:
        refuse_cost(cost)
    if slices is not None and (kind == "cost" or strata is not None):
        raise BadValueError(
            "`slices=` compares accuracies, or a metric",
            remedy=": leave out `test=` and `strata=`, or pass the samples of each slice alone",
        )
    labels_only = {"groups": groups, "strata": strata, "classes": classes, "names": names}
    labels_only["missing"] = None if missing == "raise" else missing
    source: Any
    if are_counts_given({"y_true": y_true, "preds": preds}, {"counts": counts}, labels_only):
        check_counts(counts)
        _check_kind(counts, kind)
        source = counts
        if kind == "cost":
            matrix = read_cost(cost, source.classes)
    elif are_collections(y_true, preds):
        models = renamed(preds, names)
        if (model_names := models_of(models)) is not None:  # before anything is computed
            choose_pairs(model_names, pairs, control)
        accumulator: PairCounts | LabelCounts = PairCounts(classes=classes, missing=missing)
        if kind != "mcnemar":
            check_counted(missing)
            accumulator = LabelCounts(classes=classes if matrix is None else matrix.classes)
        refuse_options({"groups": groups, "strata": strata})
        source = gather(accumulator, y_true, models)
        check_counts(source)
        if matrix is not None:
            check_fit(matrix, source.classes, source.n_excluded, classes)
    else:
        models = preds if names is None else with_names(preds, names, "preds")
        if matrix is not None:
            source = encode_costs(y_true, models, matrix, classes)
        else:
            source = encode(y_true, models, classes=classes, missing=missing)
    labels = source if isinstance(source, Labels) else None
    if slices is not None and labels is None:
        raise BadTypeError("`slices=` needs labels sample by sample, not what was counted of them")
    pair_indices = choose_pairs(source.names or (), pairs, control)
    m, n = len(source.names or ()), source.n_samples
    n_pairs = m * (m - 1) // 2 if pair_indices is None else len(pair_indices)
    together = options.all_together
    if options.draws is None and not together:
        many = m * m >= _COUNTED_PAIRS
        if labels is not None:
            many = (by is not None and m * n >= _COUNTED) or threads_pay(n_pairs, n)
        threads = threads if many else 1
    level = 1 - options.alpha
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        # To draw models together, all pairs say how alike they are.
        tested_pairs = None if together else pair_indices
        record: type[PairwiseResult] = PairwiseResult
        about: Any = {}
        if by is not None:
            from fastcmp.pairwise.metric_tests import MetricsResult, metric_tests

            draws = options.draws if options.method in DRAWN else None
            how = by, options.method, level, draws, classes
            tests, about = metric_tests(source, y_true, sampling, *how, tested_pairs, pool)
            record = MetricsResult
        elif matrix is not None:
            equal = check_options(options.method)
            if labels is None:
                tests = cost_tests_from_counts(source, matrix, equal, level)
            else:
                tests = cost_tests(labels, matrix, equal, level, n_pairs, pool)
        elif labels is None:
            tests = accuracy_tests(source.joint, n, options.method, level)
        else:
            tests, about = sampled_tests(
                labels, y_true, sampling, options.method, level, tested_pairs, pool
            )
        result: PairwiseResult = compare_pairs(
            *(tests, source, pair_indices, options, pool),
            control=control,
            record=record,
            more=about,
        )
        if slices is None or labels is None:
            return result
        n = labels.n_samples if labels.kept is None else labels.kept.size
        clusters = read_grouping(groups, "groups", n, labels.kept)
        right = np.stack([codes == labels.y_true for codes in labels.preds]).view(np.uint8)
        items = Items(labels.names, right, binary=True, clusters=clusters)
        sums: Any = SliceSums
        if by is not None:
            from fastcmp.pairwise.metric_models import MetricSums, metric_samples

            sums = partial(MetricSums, samples=metric_samples(labels, by, classes, pool))
        sliced: PairwiseResult = with_slices(
            *(result, slices, items, labels.kept, pair_indices, options, pool, sums),
            indexed=("y_true", y_true),
        )
    return sliced


_COUNTS: dict[str, Callable[[Any], bool]] = {"PairCounts": are_paired, "LabelCounts": are_labelled}
_NEVER_RIGHT = 100  # samples of which each model should get one right


def check_counts(
    counts: Any, kinds: Mapping[str, Callable[[Any], bool]] = _COUNTS
) -> tuple[str, ...]:
    """Names of the models; refuses what does not hold counts, or too few."""
    if not any(are_such(counts) for are_such in kinds.values()):
        expected = " or ".join(f"fastcmp.stream.{name}" for name in kinds)
        kind = f"{type(counts).__module__}.{type(counts).__name__}"
        raise BadTypeError(f"`counts` must be a {expected}", kind)
    names = counts.names or ()
    if len(names) < 2 or counts.n_samples < 2:
        raise BadValueError(
            "`counts` must hold at least 2 models and 2 samples",
            f"{len(names)} and {counts.n_samples}",
        )
    if are_paired(counts) and counts.n_samples >= _NEVER_RIGHT:
        never = [names[i] for i in np.flatnonzero(counts.correct == 0)]
        if never:
            warn(
                f"{', '.join(never[:3])} ({len(never)} of {len(names)} models) got "
                f"none of {counts.n_samples} samples right: are the labels spelled as "
                "those of `y_true` (case, spaces, type)?"
            )
    return names


def _check_kind(counts: object, kind: str) -> None:
    """Refuse counts that do not know what is compared."""
    if are_paired(counts) and kind != "mcnemar":
        what = "metric=" if kind == "metric" else "test='cost'"
        raise BadValueError(
            f"`{what}` needs counts by class, fastcmp.stream.LabelCounts; PairCounts know only "
            "which samples are right"
        )
    if not are_paired(counts) and kind == "mcnemar":
        raise BadValueError(
            "LabelCounts need `metric=`, such as 'accuracy', or `test='cost'` with `cost=`, "
            "the matrix of costs"
        )


# Options.


def check_method(test: str, method: str | None, sampling: Sampling = EVERY_SAMPLE) -> str:
    """Check the variant of a test; "" where the samples decide."""
    clusters, strata = sampling.groups is not None, sampling.strata is not None
    plain = not (clusters or strata)
    if plain and sampling.stratum_weights != "items":
        sampling.refuse_weights()
    if test == "metric":
        variant = str(choose(method or _BY_METRIC[clusters], "method", _BY_METRIC))
        fit: tuple[str, ...] = _BY_METRIC
        option = ""
        if clusters:
            fit, option = ("delta", *DRAWN), "groups"
        if strata:
            fit, option = (("delta",) if clusters else ("jackknife", "delta")), "strata"
        if variant not in fit:
            raise BadValueError(
                f"`method={variant!r}` does not go with `{option}=`: use one of {fit}"
            )
        return variant
    if test == "cost":
        if not plain:
            name = "groups" if clusters else "strata"
            raise BadValueError(
                f"`{name}=` is for `test='mcnemar'`, costs know no clusters or strata"
            )
        return check_options("likelihood" if method is None else method).method
    if method is None and not plain:
        return ""
    methods = CLUSTERED if clusters else (*METHODS, *WEIGHTED) if strata else METHODS
    return str(choose("midp" if method is None else method, "method", methods))


def read_metric(metric: Any, test: str, cost: object) -> Metric:
    """Read the metric; refuse another test, and costs, beside it."""
    if test != "mcnemar":
        raise BadValueError(f"pass `metric=` or `test={test!r}`, not both")
    if cost is not None:
        raise BadValueError(
            "`cost=` is for `test='cost'`: with `metric=` pass make_metric('cost', `cost=...`)"
        )
    if isinstance(metric, (list, tuple)):
        raise BadTypeError("`metric` must be one metric to compare models by", repr(metric))
    # Not needed for accuracies, and a seventh of the time of the import.
    from fastcmp.metrics.choice import make_metric

    return make_metric(metric)


def check_counted(missing: str) -> None:
    """Refuse missing predictions where samples are counted by class."""
    if missing != "raise":
        raise BadValueError(
            "`missing` must be 'raise' where samples are counted by class in blocks: a missing "
            "prediction has no class",
            repr(missing),
        )


def threads_pay(n_pairs: int, n_samples: int) -> bool:
    """Whether pairs take so long that several threads are faster than one."""
    return n_pairs * n_samples // 64 >= _THREADS_PAY
