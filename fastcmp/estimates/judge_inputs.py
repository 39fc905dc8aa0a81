"""Judged values of all items, and labels of some: as users pass them, read and checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.render import visible
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, with_names
from fastcmp.inputs.values import as_values

Floats = NDArray[np.float64]


class Judged(NamedTuple):
    """Judged values of all items and labels of some, of each model."""

    names: tuple[str, ...]
    judged: list[Floats]
    #: Means of these.
    means: list[float]
    #: NaN where there is no label.
    human: list[Floats]
    #: Items with labels.
    labelled: list[NDArray[np.int64]]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.judged[0].size)

    def labels(self) -> list[tuple[Floats, Floats]]:
        """Judged values and labels of the items that have both, of each model."""
        given = zip(self.judged, self.human, self.labelled, strict=True)
        return [(f[items], y[items]) for f, y, items in given]

    @property
    def same_labels(self) -> bool:
        """Whether all models have labels of the same items."""
        first = self.labelled[0]
        return all(np.array_equal(first, other) for other in self.labelled[1:])


def read_judged(judge: Any, human: Any, names: Any) -> Judged:
    """Read and check judged values and labels; one column of each is one model."""
    one = [_is_column(x, name) for x, name in ((judge, "judge"), (human, "human"))]
    if one[0] and not one[1] and np.ndim(human) == 2 and np.shape(human)[0] == len(judge):
        one[1] = True  # several labels of each item
    if one[0] != one[1]:
        raise ValueError(
            "judge and human must both be of one model, shape (N,), or of the same M models, "
            "shape (M, N): each model has labels of its own answers"
        )
    columns = []
    for raw, argument in ((judge, "judge"), (human, "human")):
        named = {"model_0": raw} if one[0] else raw
        columns.append(dict(named_columns(with_names(named, names, argument), argument)))
    judges, labels = columns
    if not judges or set(judges) != set(labels):
        raise ValueError(
            f"human must have the models of judge, {list(judges)[:10]}, got {list(labels)[:10]}"
        )
    check_indexes([*judges.items(), *((f"human of {k}", x) for k, x in labels.items())])
    judged: list[Floats] = []
    means, given, places = [], [], []
    for name in judges:
        title = visible(name)
        f = np.asarray(as_values(judges[name], f"judge of {title}"), np.float64)
        y = _labels(labels[name], f"human of {title}")
        size = judged[0].size if judged else f.size
        if not f.size == y.size == size or size < 2:
            raise ValueError(
                f"judge and human must have an entry for each of at least 2 items, the same for "
                f"all models, got {f.size} and {y.size} of {title}: None where there is no label"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            means.append(float(f.mean()))
        if not np.isfinite(means[-1]) and not np.isfinite(f).all():
            bad = int(np.flatnonzero(~np.isfinite(f))[0])
            raise ValueError(
                f"judge must score every item, and has {f[bad]} for item {bad} of {title}: let it "
                "judge these items, or leave them out"
            )
        some = np.flatnonzero(~np.isnan(y))
        if not some.size:
            raise ValueError(
                f"human holds no labels of {title}: nothing corrects the judge; label some items"
            )
        if not np.isfinite(y[some]).all():
            raise ValueError(f"human must be finite where it is not missing, {title} is not")
        judged.append(f)
        given.append(y)
        places.append(some)
    return Judged(tuple(judges), judged, means, given, places)


def _is_column(raw: Any, name: str) -> bool:
    """Tell one column of numbers from those of several models."""
    if has_names(raw):
        return False
    if isinstance(raw, (list, tuple)):
        return all(x is None or np.isscalar(x) for x in raw)
    shape = getattr(raw, "shape", None)
    if shape is None and not hasattr(raw, "__len__"):
        raise TypeError(f"{name} must hold one number an item, got {raw!r}")
    return shape is None or len(shape) == 1


def _labels(raw: Any, title: str) -> Floats:
    """Labels of one model; of several of an item their mean."""
    shape = np.shape(raw) if isinstance(raw, np.ndarray) else ()
    nested = isinstance(raw, (list, tuple)) and any(isinstance(x, (list, tuple)) for x in raw)
    if len(shape) != 2 and not nested:
        return np.asarray(as_values(raw, title), np.float64)
    rows = [as_values(row, title) for row in raw]
    known = [row[~np.isnan(row)] for row in rows]
    return np.array([row.mean() if row.size else np.nan for row in known], np.float64)


def correlated(f: Floats, y: Floats) -> float:
    """Correlation of judged values and labels; NaN where one of them does not vary."""
    if f.size < 2 or (f == f[0]).all() or (y == y[0]).all():
        return float("nan")
    a, b = f - f.mean(), y - y.mean()
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def number(x: float, form: str) -> str:
    """A number as text, "-" for NaN."""
    return "-" if np.isnan(x) else format(x, form)
