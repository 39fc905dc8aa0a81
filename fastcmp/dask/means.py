"""Models compared by the means of their values per item, on blocks that Dask holds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_flag, as_proportion, as_resamples, as_seed, as_whole
from fastcmp.core.memory import read_size
from fastcmp.core.options import choose
from fastcmp.counts.item_units import DEGREES, VARIANCES
from fastcmp.counts.pairs import choose_pairs
from fastcmp.dask.blocks import Blocks, load_dask, naming, read_item_blocks
from fastcmp.dask.merge import merge_counts, merge_tree
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.items.compare_moments import compare_means_from_moments
from fastcmp.pairwise.adjust import OF_MODELS
from fastcmp.pairwise.engine import read_keep
from fastcmp.pairwise.margins import read_pair_margin
from fastcmp.stream.value_moments import ValueMoments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fastcmp.items.means_result import MeansResult


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
