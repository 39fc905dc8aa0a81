"""Clusters and strata of samples, as users hand them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.inputs.columns import read_column
from fastcmp.inputs.label_values import ascending
from fastcmp.inputs.model_names import check_indexes
from fastcmp.paired.cluster_variance import CROSSED, SANDWICH, WITH_STRATA, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


class Grouping(NamedTuple):
    """Which of some groups each sample is in: clusters, or strata."""

    #: From 0 on, each of them used, shape (n,).
    codes: Ints
    #: The name of each.
    names: tuple[Any, ...]
    #: Samples in each.
    sizes: Ints


class SampleUnits(NamedTuple):
    """The unit of each sample: a cluster, or the part of a cluster in a stratum."""

    codes: Ints
    units: Units
    #: Names of the strata; empty where there are none.
    strata: tuple[str, ...]


def read_grouping(raw: Any, name: str, y_true: Any, labels: Labels) -> Grouping:
    """Read clusters or strata of the samples that are compared, in order of labels."""
    column = read_column(raw, name)
    check_indexes([("y_true", y_true), (name, raw)])
    n = labels.n_samples if labels.kept is None else labels.kept.size
    if len(column) != n:
        message = f"{name} has {len(column)} entries, y_true has {n}"
        raise ValueError(message)
    if labels.kept is not None:
        column = column.take(labels.kept)
    if (absent := column.missing()) is not None:
        message = (
            f"{name} must say where each sample belongs, got {np.count_nonzero(absent)}"
            " missing entries"
        )
        raise ValueError(message)
    column = column.factorized()
    column.kind()  # refuses labels of several kinds
    position = {label: i for i, label in enumerate(column.distinct)}
    order = [position[label] for label in ascending(column.distinct)]
    used = np.bincount(column.positions(), minlength=len(order))[order]
    place = np.full(len(order), -1)
    place[order] = np.where(used > 0, np.cumsum(used > 0) - 1, -1)
    names = [column.distinct[i] for i, size in zip(order, used, strict=True) if size]
    codes = place[column.positions()].astype(np.int64)
    return Grouping(codes, tuple(names), used[used > 0].astype(np.int64))


def read_clusters(raw: Any, y_true: Any, labels: Labels) -> Grouping:
    """Read at least two clusters."""
    found = read_grouping(raw, "groups", y_true, labels)
    if len(found.names) < 2:
        message = (
            f"groups must hold at least 2 clusters, got 1 ({found.names[0]!r}): its "
            "samples may all depend on each other, and say nothing of others"
        )
        raise ValueError(message)
    return found


def read_weights(raw: Any, strata: Grouping) -> Floats:
    """Read what each stratum counts in the mean: weights that add up to 1."""
    sizes, names = strata.sizes, strata.names
    wanted = "stratum_weights must be 'items', 'equal' or a weight for each stratum"
    if raw is None or (isinstance(raw, str) and raw.lower() == "items"):
        return np.asarray(sizes / sizes.sum())
    if isinstance(raw, str) and raw.lower() == "equal":
        return np.full(sizes.size, 1.0 / sizes.size)
    if not isinstance(raw, Mapping):
        message = f"{wanted}, as a mapping, got {raw!r}"
        raise (ValueError if isinstance(raw, str) else TypeError)(message)
    if set(raw) != set(names):
        odd = sorted(map(str, set(raw) ^ set(names)))
        message = f"{wanted}: {', '.join(odd[:3])} is a stratum or a weight, not both"
        raise ValueError(message)
    found = checked_weights(np.array([raw[name] for name in names]), "stratum_weights")
    return np.asarray(found / found.sum())


def checked_weights(weights: NDArray[Any], name: str) -> Floats:
    """Refuse weights that are negative, not finite, or all 0."""
    if weights.dtype.kind not in "iuf":
        message = f"{name} must be numbers, got {weights.dtype} values"
        raise TypeError(message)
    weights = weights.astype(np.float64)
    total = weights.sum()
    if not np.isfinite(total) or weights.min(initial=0.0) < 0.0 or total <= 0.0:
        message = (
            f"{name} must be finite, not negative and not all 0, got "
            f"{weights.tolist()[:10]}"
        )
        raise ValueError(message)
    return weights


def read_units(
    groups: Any, strata: Any, stratum_weights: Any, y_true: Any, labels: Labels
) -> SampleUnits:
    """Read the units of samples in clusters, and perhaps strata."""
    clusters = read_clusters(groups, y_true, labels)
    if strata is None:
        refuse_weights(stratum_weights)
        units = Units(clusters.sizes.astype(np.float64))
        return SampleUnits(clusters.codes, units, ())
    layers = read_grouping(strata, "strata", y_true, labels)
    weights = read_weights(stratum_weights, layers)
    # A unit is a cluster in a stratum, in the order of the strata.
    both = layers.codes * len(clusters.names) + clusters.codes
    kinds, codes, sizes = np.unique(both, return_inverse=True, return_counts=True)
    stratum, cluster = np.divmod(kinds, len(clusters.names))
    alone = np.flatnonzero(np.bincount(stratum) < 2)
    if alone.size:
        message = (
            f"strata must hold at least 2 clusters each, {layers.names[alone[0]]!r} "
            "has 1: put it together with another stratum"
        )
        raise ValueError(message)
    units = Units(sizes.astype(np.float64), cluster, stratum, weights)
    return SampleUnits(codes.astype(np.int64), units, tuple(map(str, layers.names)))


def refuse_weights(stratum_weights: Any) -> None:
    """Refuse weights of strata where there are no strata."""
    if stratum_weights is not None:
        message = "stratum_weights needs strata=, the stratum of each sample"
        raise ValueError(message)


def check_defined(method: str, units: Units, strata: tuple[str, ...]) -> None:
    """Refuse a method that is not defined for these strata."""
    if strata and method not in WITH_STRATA:
        message = (
            f"method={method!r} is not defined for clusters in strata: use one of "
            f"{SANDWICH}, or leave out strata="
        )
        raise ValueError(message)
    if units.crossed and method not in CROSSED:
        message = (
            f"method={method!r} needs clusters that lie within strata, and some lie in "
            "several: use method='cr1'"
        )
        raise ValueError(message)


def default_method(units: Units) -> str:
    """Choose CR2, or CR1 where clusters lie in several strata."""
    return "cr1" if units.crossed else "cr2"
