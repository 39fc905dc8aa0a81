"""Judged values of all items, labels of some, and their design: as users pass them, and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Floats
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, with_names
from fastcmp.inputs.values import as_values

Items = NDArray[np.int64]

_LARGE = 1 << 20  # values, from which on there are several threads
NOTHING = 1e-13  # of the squares that a judge adds and takes away: rounding
_LARGEST = 1e100  # squares of squares stay finite


class Judged(NamedTuple):
    """Judged values of all items and labels of some, of each model."""

    names: tuple[str, ...]
    judged: list[Floats]
    #: Means of these.
    means: list[float]
    #: NaN where there is no label.
    human: list[Floats]
    #: Items with labels; the same array where they are the same.
    labelled: list[Items]
    #: Judged values and labels of these.
    labels: list[tuple[Floats, Floats]]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.judged[0].size)

    @property
    def same_labels(self) -> bool:
        """Whether all models have labels of the same items."""
        first = self.labelled[0]
        return all(first is x or np.array_equal(first, x) for x in self.labelled)


def dot(a: Floats, b: Floats) -> float:
    """Sum of products, in one thread: BLAS would wait for others more than it gains."""
    return float(np.einsum("i,i", a, b))


class Design(NamedTuple):
    """How items make up units and strata, and how those with labels were drawn."""

    #: Number of clusters, or of items.
    n_units: int
    #: Cluster of each item; None where each is its own.
    clusters: Items | None
    #: Stratum of each unit, shape (G,); None for one.
    strata: Items | None
    #: Weights of the strata, which add up to 1, shape (H,).
    shares: Floats
    #: Of each item, shape (N,).
    weights: Floats
    #: With which each item was to be labelled; 1 where all had the same, shape (N,).
    probabilities: Floats
    #: Whether units are items that count alike, in one stratum.
    plain: bool
    #: Strata by which the labels alone were drawn.
    n_drawn: int

    @property
    def layers(self) -> Items:
        """Stratum of each unit, shape (G,)."""
        return np.zeros(self.n_units, np.int64) if self.strata is None else self.strata

    def units(self, items: Items) -> Items:
        """The units of some items."""
        return items if self.clusters is None else np.unique(self.clusters[items])

    def sums(self, column: Floats, items: Items | None = None) -> Floats:
        """Sums by unit of a column of all items, (G,), or of some, of the units that have them."""
        if self.clusters is None:
            return column
        if items is None:
            return np.bincount(self.clusters, column).astype(np.float64)
        sums = np.bincount(self.clusters[items], column, self.n_units).astype(np.float64)
        return sums[self.units(items)]


def read_judged(judge: Any, human: Any, names: object) -> Judged:
    """Checked judged values and labels; one column of each is one model."""
    axes = [2 if has_names(x) else _n_axes(x) for x in (judge, human)]
    for name, raw, n_axes in zip(("judge", "human"), (judge, human), axes, strict=True):
        if not n_axes:
            raise BadTypeError(f"`{name}` must hold one number an item", repr(raw))
    if axes[1] not in (axes[0], axes[0] + 1):
        raise BadValueError(
            "`judge` and human must both be of one model, shape (N,), or of the same M models, "
            "shape (M, N): each model has labels of its own answers"
        )
    columns = []
    for raw, argument in ((judge, "judge"), (human, "human")):
        named = {"model_0": raw} if axes[0] == 1 else raw
        if argument == "human" and axes[1] == 3:
            named = {f"model_{i}": labels for i, labels in enumerate(raw)}
        columns.append(dict(named_columns(with_names(named, names, argument), argument)))
    judges, labels = columns
    check_size(len(judges), "judge", "model", 1)
    if set(judges) != set(labels):
        raise BadValueError(
            f"`human` must have the models of judge, {list(judges)[:10]}", list(labels)[:10]
        )
    check_indexes([*judges.items(), *((f"human of {k}", x) for k, x in labels.items())])
    titles = [visible(name) for name in judges]
    judged = [
        np.asarray(as_values(x, f"judge of {title}"), np.float64)
        for x, title in zip(judges.values(), titles, strict=True)
    ]
    human_labels = [
        _labels(labels[x], f"human of {title}") for x, title in zip(judges, titles, strict=True)
    ]
    size = judged[0].size
    for title, f, y in zip(titles, judged, human_labels, strict=True):
        if not f.size == y.size == size or size < 2:
            raise BadValueError(
                "`judge` and human must have an entry for each of at least 2 items, the same "
                "for all models",
                f"{f.size} and {y.size} of {title}: None where there is no label",
            )
    if len(titles) > size and not has_names(judge):
        warn(
            f"judge holds {len(titles)} models on {size} items: models come first; pass judge.T "
            "and human.T if rows are items"
        )
    means, lacking = np.zeros(len(titles)), [np.zeros(0, np.bool_)] * len(titles)

    def look(models: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for m in range(models.start, models.stop):
                means[m] = np.einsum("i->", judged[m]) / size
                lacking[m] = np.isnan(human_labels[m])

    in_threads(look, len(titles), size)
    data = Judged(tuple(judges), judged, means.tolist(), human_labels, [], [])
    for m, (title, f, y) in enumerate(zip(titles, judged, human_labels, strict=True)):
        if m == 0 or not np.array_equal(lacking[m], lacking[m - 1]):
            items = np.flatnonzero(~lacking[m])
        if not items.size:
            raise BadValueError(
                f"`human` holds no labels of {title}: nothing corrects the judge",
                remedy="; label some items (arrays have one row a model)",
            )
        if not np.isfinite(means[m]) and not np.isfinite(f).all():
            bad = int(np.flatnonzero(~np.isfinite(f))[0])
            raise BadValueError(
                f"`judge` must score every item, and has {f[bad]} for item {bad} of {title}: "
                "let it judge these items, or leave them out"
            )
        pair = f[items], y[items]
        if not np.isfinite(pair[1]).all():
            raise BadValueError(f"`human` must be finite where it is not missing, {title} is not")
        for what, values, mean in (("judge", pair[0], means[m]), ("human", pair[1], 0.0)):
            extreme = max(-values.min(), values.max(), abs(mean))
            if not 1.0 / _LARGEST < extreme < _LARGEST and extreme != 0.0:
                raise BadValueError(
                    f"`{what}` must hold values between 1e-100 and 1e100 in size",
                    f"{extreme:g} of {title}: multiply or divide them all by a number",
                )
        data.labelled.append(items)
        data.labels.append(pair)
    return data


def in_threads(work: Callable[[slice], None], n_models: int, n_items: int) -> None:
    """Do the work of some models, in several threads where there are many values."""
    workers = check_workers(None) if n_models * n_items > _LARGE else 1
    with ThreadPool(workers) as pool:
        pool.run(work, parts(n_models, -(-n_models // workers)), steps=0)


def _n_axes(raw: object) -> int:
    """Number of axes of an array or of nested lists."""
    if isinstance(raw, (list, tuple)):
        return 1 + _n_axes(next((x for x in raw if x is not None), 0.0))
    shape = getattr(raw, "shape", None)
    if shape is not None:
        return len(shape)
    return int(hasattr(raw, "__len__") and not isinstance(raw, (str, bytes)))


def _labels(raw: Any, title: str) -> Floats:
    """Labels of one model; of several of an item their mean."""
    if _n_axes(raw) < 2:
        return np.asarray(as_values(raw, title), np.float64)
    rows = [as_values(row, title) for row in raw]
    present = [row[~np.isnan(row)] for row in rows]
    return np.array([row.mean() if row.size else np.nan for row in present], np.float64)


def correlated(f: Floats, y: Floats) -> float:
    """Correlation of judged values and labels; NaN where one of them does not vary."""
    if f.size < 2 or (f == f[0]).all() or (y == y[0]).all():
        return float("nan")
    a, b = f - f.mean(), y - y.mean()
    r = float(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)))
    return r if abs(r) < 1.0 - 1e-14 else float(np.sign(r))


def texts(column: Any, form: str) -> list[str]:
    """Numbers as text, "-" for NaN."""
    return ["-" if np.isnan(x) else format(x, form) for x in column]
