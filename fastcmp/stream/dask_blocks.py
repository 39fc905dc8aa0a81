"""Samples that Dask holds: each block is counted where it is, and the counts are merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from fastcmp.core.checks import as_whole, check_size
from fastcmp.core.errors import ArgumentError, BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike, ModelsLike
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns, read_names
from fastcmp.stream.accumulator import Accumulator, check_names
from fastcmp.stream.value_moments import ValueMoments

Names = tuple[str, ...] | None
SPLIT_EVERY = 8  # blocks' counts that a task merges
Counts = TypeVar("Counts", bound=Accumulator)

_LOCAL = "a dask array, a mapping to dask arrays, a Dask DataFrame or a list of delayed blocks"


def are_collections(*data: object) -> bool:
    """Whether some of these are Dask's collections, or mappings to such."""
    for x in data:
        first = next(iter(x.values()), None) if isinstance(x, Mapping) else x
        if hasattr(first, "__dask_graph__"):
            return True
    return False


def gather(
    accumulator: Counts,
    data: Any,
    preds: ModelsLike | None = None,
    *,
    target: str | None = None,
    groups: ColumnLike | None = None,
    weights: ColumnLike | None = None,
    split_every: int = SPLIT_EVERY,
) -> Counts:
    """Count blocks of samples that Dask holds, where they are.

    Parameters
    ----------
    accumulator : PairCounts, LabelCounts, ConfusionCounts, ScoreCounts or ValueMoments
        An empty one, or another with `update` and `merge`, with the options that are
        wanted, `ScoreCounts` with a map. Its `names`, where it has some, choose columns
        of frames and mappings.
    data : dask.array, dask.dataframe or list of delayed
        True labels, shape (n,), as an array or a Series; or a frame that holds them and
        the models; or delayed blocks or futures, each a pair of true labels and models,
        or a frame. For `ValueMoments` the values: an array of shape (M, n), a mapping to
        arrays, a frame with a column a model, or delayed blocks of these.
    preds : dask.array of shape (n,) or (M, n), mapping or dask.dataframe, optional
        Predicted labels or scores, where `data` is true labels.
    target : str, optional
        The column of true labels, where `data` holds frames; the others are models.
    groups, weights : dask.array of shape (n,) or str, optional
        For `ValueMoments`: the cluster and the importance of each item, or the columns
        that hold them. Blocks may split clusters.
    split_every : int
        How many blocks' counts a task merges.

    Returns
    -------
    Accumulator
        A new one with the samples of all blocks: give it as ``counts=`` to `compare_all`,
        `compare_metric`, `cochrans_q` and others.

    Raises
    ------
    ValueError
        If a block is refused, which the message names, or blocks do not fit together.
    TypeError
        If labels cannot be compared, or `data` is no collection of Dask.
    ImportError
        If Dask is missing.

    See Also
    --------
    fastcmp.compare_all : Takes Dask's arrays and frames as they are.

    Notes
    -----
    Each block is counted by the worker that holds it, counts are merged in a tree, and
    only their sum is returned: to the bit that of all samples in memory. Nothing is
    started: the work is done by the open ``distributed.Client``, else by Dask's threads.

    Examples
    --------
    >>> import dask
    >>> import fastcmp
    >>> from fastcmp.stream import PairCounts, gather
    >>> blocks = [dask.delayed(fastcmp.load_digits)()]
    >>> counts = gather(PairCounts(), blocks)
    >>> round(fastcmp.cochrans_q(counts=counts).statistic, 1)
    795.1
    """
    dask = load_dask()
    split_every = as_whole(split_every, "split_every", 2)
    if not isinstance(accumulator, Accumulator):
        raise BadTypeError(
            "`accumulator` must be an empty one, such as PairCounts()", type(accumulator)
        )
    if not isinstance(target, (str, type(None))):
        raise BadTypeError("`target` must be the name of a column", repr(target))
    if accumulator.n_samples:
        raise BadValueError(
            "`accumulator` must be empty", repr(accumulator), ": add what it holds with + later"
        )
    others = {
        name: x for name, x in {"groups": groups, "weights": weights}.items() if x is not None
    }
    names = accumulator.names
    if isinstance(accumulator, ValueMoments):
        if preds is not None or target is not None:
            raise BadTypeError(
                "ValueMoments count values", remedy=": pass them as data, not preds or `target=`"
            )
        if not isinstance(data, (Mapping, list, tuple)) and not (
            _is_frame(data) or hasattr(data, "chunks")
        ):
            raise BadTypeError(f"`data` must be {_LOCAL}", type(data))
        blocks = read_blocks(data, others, names=names)
    elif others:
        raise BadTypeError(f"`{next(iter(others))}=` is for ValueMoments", type(accumulator))
    elif preds is not None:
        if target is not None:
            raise BadTypeError("`target` is for frames with true labels in a column", repr(target))
        blocks = read_blocks(preds, {"y_true": data}, names=names, argument="preds")
    else:
        if _is_frame(data):
            columns = [str(column) for column in data.columns]
            if target not in columns:
                raise BadValueError(
                    f"`target` must name the column of true labels, one of {columns[:10]}",
                    repr(target),
                )
        elif not isinstance(data, (list, tuple)):
            raise BadTypeError(
                "`data` must be a Dask array with another one of what models say, a Dask "
                "DataFrame with `target=`, or a list of delayed blocks",
                type(data),
            )
        blocks = read_blocks(data, {} if target is None else {"y_true": target}, names=names)
    start = dask.delayed((accumulator.copy(), blocks.without_parts()), traverse=False)
    count = dask.delayed(count_block)
    parts = [count(start, *block) for block in zip(blocks.parts, blocks.places, strict=True)]
    return merge_tree(parts, merge_counts, split_every).compute()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What is to be counted, block by block."""

    #: Of each block: delayed models and others, or what is delayed as a whole.
    parts: tuple[Any, ...]
    #: What to call each block in an error.
    places: tuple[str, ...]
    #: The models to be read, in this order; None for those of the first block.
    names: Names
    #: The columns of frames that are not models, by argument.
    columns: dict[str, str] = field(default_factory=dict)
    #: Whether a part is a pair of models and a mapping of all else, by argument.
    paired: bool = False

    def read(self, part: Any, *, labelled: bool = True) -> tuple[Any, dict[str, Any]]:
        """Models of a block, and what else is known of the samples, by argument.

        What came delayed as a whole is a frame, a pair of true labels and models where samples are
        `labelled`, or an array of models.
        """
        others: dict[str, Any] = {}
        if self.paired:
            models, others = part
        elif "y_true" in self.columns or (not labelled and (self.columns or has_names(part))):
            by_name = dict(named_columns(part, "frame"))
            for argument, name in self.columns.items():
                if name not in by_name:
                    what = "target" if argument == "y_true" else argument
                    choices = f"one of {list(by_name)[:10]}"
                    raise BadValueError(
                        f"`{what}` must name a column of the block, {choices}", repr(name)
                    )
            others = {argument: by_name[name] for argument, name in self.columns.items()}
            apart = self.columns.values()
            models = {name: column for name, column in by_name.items() if name not in apart}
        elif not labelled:
            models = part
        elif isinstance(part, (tuple, list)) and len(part) == 2:
            others["y_true"], models = part
        else:
            raise BadTypeError(
                "a block must be a pair (y_true, preds), or a frame with `target=`", type(part)
            )
        if self.names is not None and has_names(models):
            columns = dict(named_columns(models, "preds"))
            _check_present(self.names, columns, "the block")
            models = {name: columns[name] for name in self.names}
        return models, others

    def without_parts(self) -> Blocks:
        """What a worker needs to know to read its part."""
        return replace(self, parts=(), places=())


def renamed(models: Any, names: object, others: Iterable[Any] = ()) -> Any:
    """Models in Dask's collections with the names that the user chose.

    Columns of a frame that `others` name are no models.
    """
    if names is None:
        return models
    if _is_frame(models):
        other = [x for x in others if isinstance(x, str)]
        columns = [column for column in models.columns if str(column) not in other]
        return models.rename(
            columns=dict(zip(columns, read_names(names, len(columns)), strict=True))
        )
    if isinstance(models, Mapping):
        rows = list(models.values())
    elif has_names(models) and not hasattr(models, "divisions"):
        return models  # a frame in memory, which is refused later
    else:
        rows = [models] if getattr(models, "ndim", 2) == 1 else list(models)
    return dict(zip(read_names(names, len(rows)), rows, strict=True))


def models_of(models: Any, others: Iterable[Any] = ()) -> Names:
    """Names of models that are known before anything is computed; None where they are not."""
    if has_names(models):
        other = [x for x in others if isinstance(x, str)]
        names = (str(x) for x in getattr(models, "columns", models))
        return tuple(name for name in names if name not in other)
    shape: tuple[Any, ...] = getattr(models, "shape", ())
    if len(shape) != 2 or math.isnan(shape[0]):
        return None
    return tuple(f"model_{i}" for i in range(shape[0]))


def refuse_options(options: Mapping[str, Any]) -> None:
    """Refuse what is not counted block by block."""
    for name, value in options.items():
        if value is not None:
            raise BadTypeError(f"`{name}=` needs all samples in memory", "a collection of Dask")


def load_dask() -> Any:
    """Import Dask."""
    try:
        import dask
    except ImportError:
        raise ImportError("Dask is missing: pip install 'fastcmp[dask]'") from None
    return dask


def read_blocks(
    models: Any, others: Mapping[str, Any], *, names: Any = None, argument: str = "data"
) -> Blocks:
    """Blocks of models, with what else is known of the samples, by argument.

    As ``data`` models may be frames or delayed blocks, whose columns `others` name.
    """
    order = check_names(names)
    delayed = isinstance(models, (list, tuple))
    if argument == "data" and (delayed or _is_frame(models)):
        for name, raw in others.items():
            if not isinstance(raw, str):
                raise BadTypeError(f"`{name}` must name a column where data are frames", type(raw))
        read = _of_delayed if delayed else _of_frame
        return read(models, dict(others), order)
    listed, chunks, order = _cut_models(models, order, argument, others.get("y_true"))
    rows = {name: _cut_column(raw, chunks, name) for name, raw in others.items()}
    parts = tuple(
        (part, {name: column[i] for name, column in rows.items()}) for i, part in enumerate(listed)
    )
    places, start = [], 0.0
    for i, size in enumerate(chunks):
        position = "" if math.isnan(start + size) else f" (from sample {int(start)})"
        places.append(f"block {i}{position}")
        start += size
    return Blocks(parts=parts, places=tuple(places), names=order, paired=True)


def _of_delayed(blocks: Sequence[Any], columns: dict[str, str], names: Names) -> Blocks:
    check_size(len(blocks), "data", "delayed block", 1)
    for block in blocks:
        if not hasattr(block, "key"):  # neither delayed nor a future
            raise BadTypeError(
                "`data` must be a list of delayed blocks, each a pair (y_true, preds) or a frame",
                f"{type(block)} in it",
            )
    places = tuple(f"block {i}" for i in range(len(blocks)))
    return Blocks(parts=tuple(blocks), places=places, names=names, columns=columns)


def _of_frame(frame: Any, columns: dict[str, str], names: Names) -> Blocks:
    """Blocks of a frame; of a Parquet file only the columns that are needed are read."""
    by_name = _named(frame, "the frame")
    _check_present(columns.values(), by_name, "the frame")
    names = names or tuple(name for name in by_name if name not in columns.values())
    if twice := [name for name in columns.values() if name in names]:
        raise BadValueError("`names` must be those of models", repr(twice[0]))
    _check_present(names, by_name, "the frame")
    parts = frame[[by_name[name] for name in (*columns.values(), *names)]].to_delayed()
    places = tuple(f"partition {i}" for i in range(len(parts)))
    return Blocks(parts=tuple(parts), places=places, names=names, columns=columns)


def _is_frame(data: Any) -> bool:
    """Whether this is a frame of Dask, and no Series."""
    return hasattr(data, "divisions") and data.ndim == 2


def _named(frame: Any, what: str) -> dict[str, Any]:
    """Columns of a frame by their names as text."""
    check_distinct_names([str(column) for column in frame.columns], what)
    return {str(column): column for column in frame.columns}


def _cut_models(
    models: Any, names: Names, argument: str, truth: object
) -> tuple[list[Any], tuple[float, ...], Names]:
    """The blocks of models, the sizes of these, NaN if unknown, and the models' names."""
    if _is_frame(models):
        by_name = _named(models, argument)
        names = names or tuple(by_name)
        _check_present(names, by_name, argument)
        parts = _delayed(models[[by_name[name] for name in names]])
        return parts, (math.nan,) * len(parts), names
    if isinstance(models, Mapping):
        check_size(len(models), argument, "model", 1)
        check_distinct_names([str(name) for name in models], argument)
        rows = {str(name): raw for name, raw in models.items()}
        if names is not None:
            _check_present(names, rows, argument)
            rows = {name: rows[name] for name in names}
        first, raw = next(iter(rows.items()))
        chunks = _sizes_of(_array(raw, first, (1,)))
        columns = {name: _cut_column(row, chunks, name) for name, row in rows.items()}
        blocks = zip(*columns.values(), strict=True)
        listed = [dict(zip(columns, block, strict=True)) for block in blocks]
        return listed, chunks, tuple(columns)
    array = _array(models, argument, (1, 2) if argument == "preds" else (2,))
    if array.ndim == 2:
        n = getattr(truth, "shape", (None,))[0]
        if truth is not None and array.shape[0] == n != array.shape[1]:
            raise BadValueError(
                f"`{argument}` is of shape {array.shape}, y_true has {n} labels; models come "
                f"first: pass {argument}.T"
            )
        if len(array.chunks[0]) != 1:
            array = array.rechunk({0: -1})  # a block holds all models
        if names is None and not math.isnan(array.shape[0]):
            names = tuple(f"model_{i}" for i in range(array.shape[0]))
    return _delayed(array), _sizes_of(array), names


def _array(raw: Any, name: str, dimensions: tuple[int, ...]) -> Any:
    """A Dask array or Series."""
    import dask.array as da

    if has_names(raw) and not hasattr(raw, "to_delayed"):
        raise BadTypeError(f"`{name}` must be a collection of Dask, as the other data", type(raw))
    array = raw if hasattr(raw, "to_delayed") else da.from_array(np.asarray(raw), chunks=-1)
    if array.ndim not in dimensions:
        allowed = " or ".join(str(d) for d in dimensions)
        raise BadValueError(
            f"`{name}` must be a Dask array of {allowed} dimensions",
            f"{type(raw)} of shape {array.shape}",
        )
    return array


def _sizes_of(array: Any) -> tuple[Any, ...]:
    """Samples of each block, NaN where they are unknown."""
    if hasattr(array, "divisions"):
        return (math.nan,) * int(array.npartitions)
    return tuple(array.chunks[-1])


def _cut_column(raw: object, chunks: tuple[float, ...], name: str) -> list[Any]:
    """The blocks of a column, cut where the models are cut."""
    array = _array(raw, name, (1,))
    sizes = _sizes_of(array)
    if any(math.isnan(size) for size in (*sizes, *chunks)):
        if len(sizes) != len(chunks):
            raise BadValueError(
                f"`{name}` has {len(sizes)} blocks of unknown sizes against {len(chunks)} of "
                "the models: call compute_chunk_sizes() on these arrays"
            )
        return _delayed(array)  # a worker compares their lengths
    if sum(sizes) != sum(chunks):
        raise BadValueError(
            f"`{name}` has {sum(sizes)} entries, the models have {sum(chunks)}; arrays have "
            "models first"
        )
    return _delayed(array if sizes == chunks else array.rechunk({0: chunks}))


def _delayed(array: Any) -> list[Any]:
    # Not optimized one by one: blocks of the same source share it, and partitions of
    # a Parquet file, which Dask would join by how wide columns are, stay as they are.
    if hasattr(array, "divisions"):
        return list(array.simplify().to_delayed(optimize_graph=False))
    return list(array.to_delayed(optimize_graph=False).ravel())


def _check_present(names: Iterable[str], columns: Mapping[str, Any], what: str) -> None:
    if absent := [name for name in names if name not in columns]:
        raise BadValueError(f"`{what}` has no columns {absent[:3]}, only {list(columns)[:10]}")


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Name the block in which something was wrong."""
    try:
        yield
    except ArgumentError as error:
        raise error.but(demand=f"{place}: {error.args[0]}") from error
    except (TypeError, ValueError) as error:
        message = f"{place}: {error}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(message) from error


def merge_tree(parts: Sequence[Any], merge: Callable[[list[Any]], Any], split_every: int) -> Any:
    """Merge neighbouring parts, level by level, until one is left."""
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph

    # One layer: by `dask.delayed` each merge would go through the graphs of all that it merges.
    layer = f"merge-{uuid4().hex}"
    tasks: dict[str, Any] = {}
    keys = [part.key for part in parts]
    while len(keys) > 1:
        level = [keys[i : i + split_every] for i in range(0, len(keys), split_every)]
        keys = [f"{layer}-{len(tasks) + i}" for i in range(len(level))]
        tasks |= {key: (merge, group) for key, group in zip(keys, level, strict=True)}
    if not tasks:
        return parts[0]
    graph = HighLevelGraph.from_collections(layer, tasks, dependencies=parts)
    return Delayed(keys[0], graph, layer=layer)


def count_block(start: tuple[Counts, Blocks], part: object, place: str) -> Counts:
    """Count one block, in the one thread that Dask gave it."""
    accumulator, blocks = start
    with naming(place):
        counts: Any = accumulator.copy()
        labelled = not isinstance(counts, ValueMoments)
        models, others = blocks.read(part, labelled=labelled)
        first = [others.pop("y_true")] if labelled else []
        return counts.update(*first, models, **others, workers=1)  # type: ignore[no-any-return]


def merge_counts(parts: list[Any]) -> Any:
    """Merge accumulators into a new one: Dask may need the old ones again."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total
