"""Blocks of samples in Dask's collections: aligned, but not looked into."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastcmp.core.checks import as_whole
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns
from fastcmp.stream.accumulator import Accumulator, check_names

Names = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What is to be counted, block by block."""

    #: Of each block: a pair of delayed arrays, or a delayed pair or frame.
    parts: tuple[Any, ...]
    #: What to call each block in an error.
    places: tuple[str, ...]
    #: The models to be read, in this order; None for those of the first block.
    names: Names
    #: The column of true labels, where blocks are frames.
    target: str | None

    def samples_of(self, part: Any) -> tuple[Any, Any]:
        """Read a block on a worker."""
        return _samples_of(part, self.target, self.names)

    def without_parts(self) -> Blocks:
        """What a worker needs to know to read its part."""
        return Blocks(parts=(), places=(), names=self.names, target=self.target)


def load_dask() -> Any:
    """Import Dask."""
    try:
        import dask
    except ImportError:
        raise ImportError("fastcmp.dask needs Dask: pip install 'fastcmp[dask]'") from None
    return dask


def read_blocks(data: Any, models: Any, *, target: Any = None, names: Any = None) -> Blocks:
    """Find the blocks of a collection."""
    load_dask()
    chosen = check_names(names)
    if hasattr(data, "divisions"):
        return _of_frame(data, models, target, chosen)
    if models is not None:
        if target is not None:
            raise TypeError(f"target is for frames, got {target!r} with arrays")
        return _of_arrays(data, models, chosen)
    if isinstance(data, (list, tuple)):
        return _of_delayed(data, target, chosen)
    raise TypeError(
        "data must be a Dask array with another one of what models say, a Dask "
        f"DataFrame with target=, or a list of delayed blocks, got {type(data)}"
    )


def read_item_blocks(values: Any, others: Mapping[str, Any], *, names: Any = None) -> Blocks:
    """Find the blocks of values of models, with what else is known of the items.

    Each part is a pair of values and a mapping from the names of `others`, or a frame
    of which `others` name columns.
    """
    load_dask()
    chosen = check_names(names)
    given = {name: raw for name, raw in others.items() if raw is not None}
    if hasattr(values, "divisions"):
        return _of_value_frame(values, given, chosen)
    if isinstance(values, (list, tuple)):
        blocks = _of_delayed(values, None, chosen)
        for name, raw in given.items():
            _check_column_name(name, raw)
        return blocks
    if not isinstance(values, Mapping):
        if not hasattr(values, "chunks"):
            raise TypeError(
                "data must be a Dask array, a mapping to Dask arrays, a Dask DataFrame "
                f"or a list of delayed blocks, got {type(values)}"
            )
        values = _array(values, "data", (2,))
    listed, chunks, chosen = models_of_arrays(values, chosen, "data")
    rows = {
        name: _delayed(_aligned(_array(raw, name, (1,)), chunks, name))
        for name, raw in given.items()
    }
    parts = tuple(
        (part, {name: column[i] for name, column in rows.items()}) for i, part in enumerate(listed)
    )
    return Blocks(parts=parts, places=_places_of(chunks), names=chosen, target=None)


def _of_value_frame(frame: Any, others: Mapping[str, Any], names: Names) -> Blocks:
    check_distinct_names([str(column) for column in frame.columns], "the frame")
    columns = {str(column): column for column in frame.columns}
    for name, raw in others.items():
        _check_column_name(name, raw)
        _check_present((raw,), columns, "the frame")
    used = tuple(others.values())
    names = names or tuple(name for name in columns if name not in used)
    _check_present(names, columns, "the frame")
    parts = frame[[columns[name] for name in (*used, *names)]].to_delayed()
    places = tuple(f"partition {i}" for i in range(len(parts)))
    return Blocks(parts=tuple(parts), places=places, names=names, target=None)


def _check_column_name(name: str, raw: Any) -> None:
    if not isinstance(raw, str):
        raise TypeError(f"{name} must name a column where data are frames, got {type(raw)}")


def two_models(blocks: Blocks, a: Any, b: Any) -> Blocks:
    """Take two models of each block, and call them pred_a and pred_b."""
    reader = load_dask().delayed(blocks.without_parts(), traverse=False)
    take = load_dask().delayed(_take_two)
    parts = [
        take(reader, part, place, (a, b))
        for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    names = ("pred_a", "pred_b")
    return Blocks(parts=tuple(parts), places=blocks.places, names=names, target=None)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Say in which block something was wrong."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = f"{place}: {error}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(message) from error


def _of_frame(frame: Any, models: Any, target: Any, names: Names) -> Blocks:
    if models is not None or frame.ndim != 2:
        raise TypeError(
            "of a Dask DataFrame pass target=, the name of the column of true labels, "
            "and nothing else; make a column of a Series of its own"
        )
    check_distinct_names([str(column) for column in frame.columns], "the frame")
    columns = {str(column): column for column in frame.columns}
    if target is None or str(target) not in columns:
        raise ValueError(
            "target must name the column of true labels, one of "
            f"{list(columns)[:10]}, got {target!r}"
        )
    target = str(target)
    names = names or tuple(name for name in columns if name != target)
    if target in names:
        raise ValueError(f"names must be those of models, got the target {target!r}")
    _check_present(names, columns, "the frame")
    # Of a Parquet file only these columns are read then.
    parts = frame[[columns[name] for name in (target, *names)]].to_delayed()
    places = tuple(f"partition {i}" for i in range(len(parts)))
    return Blocks(parts=tuple(parts), places=places, names=names, target=target)


def _of_arrays(y_true: Any, models: Any, names: Names) -> Blocks:
    import dask.array as da

    truth = _array(y_true, "y_true", (1,))
    array = None if isinstance(models, Mapping) else _array(models, "preds", (1, 2))
    if array is not None and array.ndim == 2:
        _refuse_samples_first(array, truth)
    listed, chunks, names = models_of_arrays(models if array is None else array, names, "preds")
    truth = _aligned(da.asarray(truth), chunks, "y_true")
    parts = zip(_delayed(truth), listed, strict=True)
    places = _places_of(chunks)
    return Blocks(parts=tuple(parts), places=places, names=names, target=None)


def _refuse_samples_first(array: Any, truth: Any) -> None:
    if array.shape[0] == truth.shape[0] != array.shape[1]:
        raise ValueError(
            f"preds is of shape {array.shape}, y_true has {truth.shape[0]} labels; "
            "models come first: pass preds.T"
        )


def models_of_arrays(
    models: Any, names: Names, argument: str
) -> tuple[list[Any], tuple[Any, ...], Names]:
    """The blocks of an array or a mapping, their sizes, and the models' names."""
    if isinstance(models, Mapping):
        if not models:
            raise ValueError(f"{argument} must hold at least one model, got none")
        check_distinct_names([str(name) for name in models], argument)
        rows = {str(k): _array(v, str(k), (1,)) for k, v in models.items()}
        if names is not None:
            _check_present(names, rows, argument)
            rows = {name: rows[name] for name in names}
        chunks = next(iter(rows.values())).chunks[-1]
        rows = {name: _aligned(row, chunks, name) for name, row in rows.items()}
        columns = {name: _delayed(row) for name, row in rows.items()}
        listed = [
            dict(zip(columns, block, strict=True)) for block in zip(*columns.values(), strict=True)
        ]
        return listed, chunks, names or tuple(columns)
    array = models
    if array.ndim == 2 and len(array.chunks[0]) != 1:
        array = array.rechunk({0: -1})  # a block holds all models
    if array.ndim == 2 and names is None and not math.isnan(array.shape[0]):
        names = tuple(f"model_{i}" for i in range(array.shape[0]))
    return _delayed(array), array.chunks[-1], names


def _array(raw: Any, name: str, dimensions: tuple[int, ...]) -> Any:
    import dask.array as da

    array = raw if hasattr(raw, "to_delayed") else da.asarray(raw)
    if not hasattr(array, "chunks") or array.ndim not in dimensions:
        wanted = " or ".join(str(d) for d in dimensions)
        shape = getattr(array, "shape", None)
        raise ValueError(
            f"{name} must be a Dask array of {wanted} dimensions, got {type(raw)} of shape {shape}"
        )
    return array


def _aligned(array: Any, chunks: tuple[Any, ...], name: str) -> Any:
    """Cut the samples of an array where the models are cut."""
    own = array.chunks[-1]
    if any(math.isnan(size) for size in (*own, *chunks)):
        if len(own) == len(chunks):
            return array  # a worker compares their lengths
        raise ValueError(
            f"{name} has {len(own)} blocks of unknown sizes against {len(chunks)} of "
            "the models: call compute_chunk_sizes() on these arrays"
        )
    if sum(own) != sum(chunks):
        raise ValueError(
            f"{name} has {sum(own)} entries, the models have {sum(chunks)}; arrays "
            "have models first"
        )
    return array if own == chunks else array.rechunk({array.ndim - 1: chunks})


def _delayed(array: Any) -> list[Any]:
    # Not optimized one by one: arrays that come of the same source share it.
    return list(array.to_delayed(optimize_graph=False).ravel())


def _places_of(chunks: tuple[Any, ...]) -> tuple[str, ...]:
    places, start = [], 0.0
    for i, size in enumerate(chunks):
        known = "" if math.isnan(start + size) else f" (from sample {int(start)})"
        places.append(f"block {i}{known}")
        start += size
    return tuple(places)


def _of_delayed(blocks: Sequence[Any], target: Any, names: Names) -> Blocks:
    if not blocks:
        raise ValueError("data must hold at least one delayed block, got none")
    for block in blocks:
        if not hasattr(block, "key"):  # neither delayed nor a future
            raise TypeError(
                "data must be a list of delayed blocks, each a pair (y_true, preds) or "
                f"a frame, got {type(block)} in it"
            )
    places = tuple(f"block {i}" for i in range(len(blocks)))
    target = None if target is None else str(target)
    return Blocks(parts=tuple(blocks), places=places, names=names, target=target)


def _samples_of(part: Any, target: str | None, names: Names) -> tuple[Any, Any]:
    if target is None:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise TypeError(
                f"a block must be a pair (y_true, preds), or a frame with target=, got {type(part)}"
            )
        y_true, models = part
        return y_true, _choose(models, names)
    columns = dict(named_columns(part, "frame"))
    if target not in columns:
        raise ValueError(f"the block has no column {target!r}, only {list(columns)[:10]}")
    y_true = columns.pop(target)
    return y_true, _choose(columns, names)


def _take_two(blocks: Blocks, part: Any, place: str, models: Any) -> Any:
    with naming(place):
        y_true, preds = blocks.samples_of(part)
        columns = named_columns(preds, "preds")
        names = [name for name, _ in columns]
        taken = []
        for model in models:
            at = names.index(model) if model in names else model
            if isinstance(at, str) or not 0 <= at < len(names):
                raise ValueError(f"there is no model {model!r}; there are {names[:10]}")
            taken.append(columns[at][1])
        return y_true, dict(zip(("pred_a", "pred_b"), taken, strict=True))


def _choose(models: Any, names: Names) -> Any:
    """Pass over columns that are not asked for."""
    if names is None or not has_names(models):
        return models
    columns = dict(named_columns(models, "preds"))
    _check_present(names, columns, "the block")
    return {name: columns[name] for name in names}


def _check_present(names: Iterable[str], columns: Mapping[str, Any], what: str) -> None:
    if absent := [name for name in names if name not in columns]:
        raise ValueError(f"{what} has no columns {absent[:3]}, only {list(columns)[:10]}")


# From blocks to one accumulator: a task a block, and a tree of merges.


def count_blocks(blocks: Blocks, start: Callable[[], Accumulator], split_every: int) -> Any:
    """Count all blocks, where Dask computes."""
    dask = load_dask()
    split_every = as_whole(split_every, "split_every", 2)
    reader = dask.delayed(blocks.without_parts(), traverse=False)
    make = dask.delayed(start, traverse=False)
    count = dask.delayed(count_block)
    parts = [
        count(make, reader, part, place)
        for part, place in zip(blocks.parts, blocks.places, strict=True)
    ]
    return merge_tree(parts, merge_counts, split_every).compute()


def merge_tree(parts: Sequence[Any], merge: Callable[[list[Any]], Any], split_every: int) -> Any:
    """Merge neighbouring parts, level by level, until one is left."""
    task = load_dask().delayed(merge)
    parts = list(parts)
    while len(parts) > 1:
        parts = [task(parts[i : i + split_every]) for i in range(0, len(parts), split_every)]
    return parts[0]


def count_block(
    start: Callable[[], Accumulator], blocks: Blocks, part: Any, place: str
) -> Accumulator:
    """Count one block, in the one thread that Dask gave it."""
    with naming(place):
        y_true, models = blocks.samples_of(part)
        counts: Any = start()
        return counts.update(y_true, models, workers=1)  # type: ignore[no-any-return]


def merge_counts(parts: list[Any]) -> Any:
    """Merge accumulators into a new one: Dask may need the old ones again."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].copy()
    for part in parts[1:]:
        total.merge(part)
    return total
