"""Models compared by their labels, on blocks that Dask holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

from fastcmp.core.checks import as_flag, as_proportion, as_resamples, as_seed, as_whole, choose
from fastcmp.core.threads import read_size
from fastcmp.counts.label_counts import LabelTable
from fastcmp.counts.pairs import choose_pairs
from fastcmp.counts.units import DEGREES, VARIANCES
from fastcmp.dask.blocks import (
    Blocks,
    count_blocks,
    load_dask,
    merge_counts,
    merge_tree,
    naming,
    read_blocks,
    read_item_blocks,
    two_models,
)
from fastcmp.inputs.cost_matrix import check_fit, refuse_cost, required_cost
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.items.compare_means import MeansResult, compare_means_from_moments
from fastcmp.paired.mcnemar_result import METHODS
from fastcmp.pairwise import cochran
from fastcmp.pairwise.adjust import JOINT, OF_MODELS, OF_PAIRS
from fastcmp.pairwise.cochran import CochranResult
from fastcmp.pairwise.compare_all import compare_all_from_counts
from fastcmp.pairwise.comparing import check_method
from fastcmp.pairwise.engine import read_keep
from fastcmp.pairwise.margins import read_pair_margin
from fastcmp.pairwise.metric_options import check_counted, read_draws, read_metric
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.stream.label_counts import LabelCounts as PairLabels
from fastcmp.stream.pair_counts import PairCounts
from fastcmp.stream.value_moments import ValueMoments


def compare_all(
    data: Any,
    preds: Any = None,
    *,
    target: str | None = None,
    names: int | Sequence[str] | None = None,
    test: str = "mcnemar",
    metric: Any = None,
    method: str | None = None,
    cost: Any = None,
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    margin: float | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    split_every: int = 8,
) -> PairwiseResult:
    """Compare many models on blocks of samples, all pairs at once.

    Parameters
    ----------
    data : dask.array, dask.dataframe or list of delayed
        True labels, shape (n,); or a frame that holds them and the models; or delayed
        blocks, each a pair of true labels and predictions, or a frame.
    preds : dask.array of shape (M, n), or mapping to dask.array, optional
        Predicted labels, where `data` is an array.
    target : str, optional
        The column of true labels, where there are frames.
    names : int or sequence of str, optional
        Columns of frames that are models, all others by default; or what to call the
        rows of an array.
    test : {"mcnemar", "cost"}
        What is compared: accuracies, or expected costs.
    metric : str, callable or Metric, optional
        Compare by a metric instead, as in `fastcmp.compare_all`.
    method : str, optional
        Variant of the test, as in `fastcmp.compare_all`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For ``test="cost"``: the cost of each mistake.
    n_resamples : int
        Draws, as in `fastcmp.compare_all_from_counts`.
    rng : int, numpy.random.Generator or None
        Where they come from.
    adjust : str
        Adjustment for the number of pairs, as in `fastcmp.compare_all_from_counts`.
    alpha : float
        Error rate of the decisions, in (0, 1).
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once.
    margin : float, optional
        As in `fastcmp.compare_all`.
    pairs : sequence of pairs, optional
        Compare only these.
    control : int or str, optional
        Compare only this model with all others: the answer is a table against it.
    classes : sequence, optional
        Compare only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    keep : str, int or Path
        Which pairs to keep, as in `fastcmp.compare_all`.
    memory_limit : int or str, optional
        What the answer may take here, as in `fastcmp.compare_all`.
    split_every : int
        How many blocks' counts a task merges; each takes 8 M**2 bytes, or for costs
        and metrics 4 M**2 K**3.

    Returns
    -------
    PairwiseResult
        To the bit what `fastcmp.compare_all` finds on the same samples; by a metric to
        rounding. "maxt" adjusts by normal draws.

    Raises
    ------
    ValueError
        If a block is refused, which the message names, blocks do not fit together, or
        an option is unknown.
    TypeError
        If labels cannot be compared, or `data` is no collection of Dask.
    ImportError
        If Dask is missing.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import fastcmp
    >>> import fastcmp.dask
    >>> y_true, preds = fastcmp.load_digits()
    >>> blocks = {name: da.from_array(x, chunks=300) for name, x in preds.items()}
    >>> result = fastcmp.dask.compare_all(da.from_array(y_true, chunks=300), blocks)
    >>> np.array_equal(result.pvalue, fastcmp.compare_all(y_true, preds).pvalue)
    True
    """
    # Before anything is computed.
    test = choose(test, "test", ("mcnemar", "cost"))
    if metric is not None:
        metric = read_metric(metric, test, cost)
        check_counted(missing)
    how = check_method(test if metric is None else "metric", method)
    adjust = choose(adjust, "adjust", OF_MODELS)
    joint = as_flag(simultaneous, "simultaneous") or adjust in JOINT
    draws = read_draws(how, n_resamples, rng, joint=joint)
    as_proportion(alpha, "alpha")
    read_pair_margin(margin, alpha, keep=read_keep(keep))
    if memory_limit is not None:
        read_size(memory_limit)
    matrix = None
    if test == "cost":
        matrix = required_cost(cost, classes, missing)
    else:
        refuse_cost(cost)
    blocks = read_blocks(data, preds, target=target, names=names)
    if blocks.names is not None:
        choose_pairs(blocks.names, pairs, control)
    counts: Any
    if metric is not None:
        start = partial(PairLabels, blocks.names, classes=classes)
        start()  # refuses classes that repeat
        counts = count_blocks(blocks, start, split_every)
    elif matrix is None:
        counts = _count_pairs(blocks, classes, missing, split_every)
    else:
        start = partial(PairLabels, blocks.names, classes=matrix.classes)
        counts = count_blocks(blocks, start, split_every)
        check_fit(matrix, counts.classes, counts.n_excluded, classes)
    return compare_all_from_counts(
        counts,
        metric=metric,
        method=method,
        n_resamples=n_resamples,
        rng=None if draws is None else draws.seed,
        cost=None if matrix is None else matrix.values,
        adjust=adjust,
        alpha=alpha,
        simultaneous=simultaneous,
        margin=margin,
        pairs=pairs,
        control=control,
        keep=keep,
        memory_limit=memory_limit,
    )


def cochrans_q(
    data: Any,
    preds: Any = None,
    *,
    target: str | None = None,
    names: int | Sequence[str] | None = None,
    method: str = "asymptotic",
    post_hoc: str | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    split_every: int = 8,
) -> CochranResult:
    """Cochran's Q test that all models are equally accurate, on blocks of samples.

    Parameters
    ----------
    data : dask.array, dask.dataframe or list of delayed
        As in `compare_all`.
    preds : dask.array of shape (M, n), or mapping to dask.array, optional
        As in `compare_all`.
    target : str, optional
        As in `compare_all`.
    names : int or sequence of str, optional
        As in `compare_all`.
    method : {"asymptotic", "f"}
        Where the p-value comes from; the exact method needs all samples at once.
    post_hoc : str, optional
        Compare all pairs too, by this variant of McNemar's test.
    adjust : str
        Adjustment of the pairs' p-values.
    alpha : float
        Error rate of the pairs' decisions.
    classes : sequence, optional
        As in `compare_all`.
    missing : {"raise", "wrong"}
        As in `compare_all`.
    split_every : int
        As in `compare_all`.

    Returns
    -------
    CochranResult
        To the bit what `fastcmp.cochrans_q` finds on the same samples.

    Raises
    ------
    ValueError
        As `compare_all`.
    TypeError
        As `compare_all`.
    ImportError
        If Dask is missing.

    Examples
    --------
    >>> import dask
    >>> import fastcmp
    >>> import fastcmp.dask
    >>> whole = dask.delayed(fastcmp.load_digits)()
    >>> round(fastcmp.dask.cochrans_q([whole]).statistic, 1)
    795.1
    """
    method = choose(method, "method", ("asymptotic", "f"))
    post_hoc = choose(post_hoc, "post_hoc", (None, *METHODS))
    adjust = choose(adjust, "adjust", OF_PAIRS)
    as_proportion(alpha, "alpha")
    blocks = read_blocks(data, preds, target=target, names=names)
    return cochran.cochrans_q(
        counts=_count_pairs(blocks, classes, missing, split_every),
        method=method,
        post_hoc=post_hoc,
        adjust=adjust,
        alpha=alpha,
    )


def count_labels(
    data: Any,
    pred_a: Any = 0,
    pred_b: Any = 1,
    *,
    target: str | None = None,
    classes: Sequence[Any] | None = None,
    split_every: int = 8,
) -> LabelTable:
    """Count samples by true class and by the classes that two models predicted.

    Parameters
    ----------
    data : dask.array, dask.dataframe or list of delayed
        True labels, shape (n,); or what holds them and the models, as in `compare_all`.
    pred_a, pred_b : dask.array of shape (n,), str or int
        Predicted labels, where `data` is an array; else two models by name, or two rows
        of delayed blocks.
    target : str, optional
        As in `compare_all`.
    classes : sequence, optional
        Classes to count, in this order; by default all that are found, sorted.
    split_every : int
        How many blocks' counts a task merges; each takes 8 K**3 bytes.

    Returns
    -------
    fastcmp.records.LabelTable
        What `fastcmp.count_labels` finds on the same samples.

    Raises
    ------
    ValueError
        As `compare_all`, or if there are fewer than two samples.
    TypeError
        As `compare_all`.
    ImportError
        If Dask is missing.

    Examples
    --------
    >>> import dask.array as da
    >>> import fastcmp.dask
    >>> y_true, a, b = da.from_array([[0, 1, 1], [0, 1, 0], [0, 0, 0]], chunks=(3, 2))
    >>> fastcmp.dask.count_labels(y_true, a, b).counts[1].tolist()
    [[1, 0], [1, 0]]
    """
    if not isinstance(pred_a, (str, Integral)):
        models = {"pred_a": pred_a, "pred_b": pred_b}
        blocks = read_blocks(data, models, target=target)
    else:
        by_name = isinstance(pred_a, str) and isinstance(pred_b, str)
        chosen = (pred_a, pred_b) if by_name else None
        blocks = read_blocks(data, None, target=target, names=chosen)
        blocks = two_models(blocks, pred_a, pred_b)
    start = partial(PairLabels, blocks.names, classes=classes)
    start()  # refuses classes that repeat
    counts: Any = count_blocks(blocks, start, split_every)
    if counts.n_samples < 2:
        raise ValueError(f"y_true must hold at least 2 samples, got {counts.n_samples}")
    return counts.label_table()  # type: ignore[no-any-return]


def _count_pairs(
    blocks: Blocks, classes: Sequence[Any] | None, missing: str, split_every: int
) -> PairCounts:
    start = partial(PairCounts, blocks.names, classes=classes, missing=missing)
    start()  # refuses options before anything is computed
    counts: Any = count_blocks(blocks, start, split_every)
    return counts  # type: ignore[no-any-return]


# Models compared by the means of their values per item, on blocks that Dask holds.


def compare_means(
    data: Any,
    *,
    groups: Any = None,
    weights: Any = None,
    names: int | Sequence[str] | None = None,
    lower_is_better: bool = False,
    variance: str | None = None,
    df: str = "satterthwaite",
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    margin: float | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    split_every: int = 8,
) -> MeansResult:
    """Compare many models by the means of their values, on blocks of items.

    Parameters
    ----------
    data : dask.array of shape (M, n), mapping to dask.array, dask.dataframe or list
        Values, as `fastcmp.compare_means` takes them: a frame has a column a model; a
        list is of delayed blocks, each an array of shape (M, b), a mapping or a frame.
    groups : dask.array of shape (n,) or str, optional
        The cluster of each item, or the column that holds it. Blocks may split
        clusters.
    weights : dask.array of shape (n,) or str, optional
        Importance of each item, or the column that holds it.
    names : int or sequence of str, optional
        Columns of frames that are models, all others by default; or what to call the
        rows of an array.
    lower_is_better : bool
        Whether values are losses.
    variance : {"cr0", "cr1", "cr2", "cr3"}, optional
        Of the mean difference, as in `fastcmp.compare_means`; for weights without
        groups "cr0" and "cr1" only, "cr1" by default.
    df : {"satterthwaite", "clusters", "normal"}
        Degrees of freedom.
    n_resamples : int
        Draws of ``adjust="maxt"`` and of simultaneous intervals.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    adjust : str
        Adjustment for the number of pairs, as in `fastcmp.compare_means_from_moments`.
    alpha : float
        Error rate of the decisions, in (0, 1).
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once.
    margin : float, optional
        As in `fastcmp.compare_means`.
    pairs : sequence of pairs, optional
        Compare only these.
    control : int or str, optional
        Compare only this model with all others.
    keep : str, int or Path
        Which pairs to keep, as in `fastcmp.compare_all`.
    memory_limit : int or str, optional
        What the answer may take here, as in `fastcmp.compare_all`.
    split_every : int
        How many blocks' moments a task merges; each takes 16 M**2 bytes, or with groups
        16 M for each of them.

    Returns
    -------
    MeansResult
        What `fastcmp.compare_means` finds on the same values by the t test, but for
        rounding.

    Raises
    ------
    ValueError
        If a block is refused, which the message names, blocks do not fit together, or
        an option is unknown.
    TypeError
        If values are no numbers, or `data` is no collection of Dask.
    ImportError
        If Dask is missing.

    Examples
    --------
    >>> import dask.array as da
    >>> import fastcmp.dask
    >>> values = da.from_array([[1.0, 0.5, 1.0], [0.5, 0.2, 0.6]], chunks=(2, 2))
    >>> fastcmp.dask.compare_means(values).best
    ('model_0',)
    """
    # Before anything is computed.
    variance = choose(variance, "variance", (None, *VARIANCES))
    df = choose(df, "df", DEGREES)
    adjust = choose(adjust, "adjust", OF_MODELS)
    as_proportion(alpha, "alpha")
    as_flag(simultaneous, "simultaneous")
    as_resamples(n_resamples)
    seed = as_seed(rng)
    read_pair_margin(margin, alpha, keep=read_keep(keep))
    if memory_limit is not None:
        read_size(memory_limit)
    others = {"groups": groups, "weights": weights}
    blocks = read_item_blocks(data, others, names=names)
    if blocks.names is not None:
        choose_pairs(blocks.names, pairs, control)
    return compare_means_from_moments(
        _sum_blocks(blocks, others, split_every),
        lower_is_better=lower_is_better,
        variance=variance,
        df=df,
        n_resamples=n_resamples,
        rng=seed,
        adjust=adjust,
        alpha=alpha,
        simultaneous=simultaneous,
        margin=margin,
        pairs=pairs,
        control=control,
        keep=keep,
        memory_limit=memory_limit,
    )


def _sum_blocks(blocks: Blocks, others: dict[str, Any], split_every: int) -> Any:
    """Sum up all blocks, where Dask computes."""
    dask = load_dask()
    split_every = as_whole(split_every, "split_every", 2)
    kind = None if others["groups"] is None else "ids"
    start = partial(ValueMoments, blocks.names, groups=kind)
    columns = {k: raw for k, raw in others.items() if isinstance(raw, str)}
    reader = dask.delayed((start, columns, blocks.names), traverse=False)
    task = dask.delayed(_sum_block)
    parts = [
        task(reader, part, place) for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    return merge_tree(parts, merge_counts, split_every).compute()


def _sum_block(
    reader: tuple[Callable[[], ValueMoments], dict[str, str], tuple[str, ...] | None],
    part: Any,
    place: str,
) -> ValueMoments:
    """Sum up one block, where it is."""
    start, columns, names = reader
    with naming(place):
        values, others = part, {}
        if isinstance(part, tuple) and isinstance(part[-1], dict):
            values, others = part
        elif columns or has_names(part):
            values, others = _of_frame(part, columns, names)
        return start().update(values, **others, workers=1)


def _of_frame(
    frame: Any, columns: dict[str, str], names: tuple[str, ...] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a frame into values of models, and what else is known of the items."""
    found = dict(named_columns(frame, "frame"))
    wanted = (*columns.values(), *(names or ()))
    if absent := [name for name in wanted if name not in found]:
        raise ValueError(f"the block has no columns {absent[:3]}, only {list(found)[:10]}")
    others = {k: found[name] for k, name in columns.items()}
    rest = [name for name in found if name not in columns.values()]
    return {name: found[name] for name in names or rest}, others
