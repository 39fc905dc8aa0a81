"""Clusters and strata of samples whose labels are encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.inputs.item_groups import ItemGroups, read_item_groups
from fastcmp.paired.cluster_variance import CROSSED, WITH_STRATA, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels

    Ints = NDArray[np.int64]


class Sampling(NamedTuple):
    """What the user says of the samples, as it came."""

    groups: Any = None
    strata: Any = None
    stratum_weights: Any = "items"

    @property
    def plain(self) -> bool:
        """Whether there are neither clusters nor strata."""
        return self.groups is None and self.strata is None

    def read(self, y_true: Any, labels: Labels) -> ItemGroups:
        """Read the clusters and strata of the samples that are compared."""
        n = labels.n_samples if labels.kept is None else labels.kept.size
        return read_item_groups(n, **self._asdict(), keep=labels.kept, indexed=("y_true", y_true))

    def refuse_weights(self) -> None:
        """Refuse weights of strata where there are no strata."""
        if self.stratum_weights != "items":
            raise ValueError(
                f"stratum_weights={self.stratum_weights!r} is for strata: pass strata="
            )


#: Neither clusters nor strata.
EVERY_SAMPLE = Sampling()


class SampleUnits(NamedTuple):
    """The unit of each sample: a cluster, or the part of a cluster in a stratum."""

    codes: Ints
    units: Units
    #: Names of the strata; empty where there are none.
    strata: tuple[str, ...]


def units_of(found: ItemGroups) -> SampleUnits:
    """Make units of clusters, and perhaps strata."""
    clusters, layers = found.clusters, found.strata
    assert clusters is not None
    if layers is None:
        sizes = np.bincount(clusters.codes)
        return SampleUnits(clusters.codes, Units(sizes.astype(np.float64)), ())
    # A unit is a cluster in a stratum, in the order of the strata.
    both = layers.codes * len(clusters.labels) + clusters.codes
    kinds, codes, sizes = np.unique(both, return_inverse=True, return_counts=True)
    stratum, cluster = np.divmod(kinds, len(clusters.labels))
    weights = found.stratum_weights
    units = Units(sizes.astype(np.float64), cluster, stratum, weights)
    names = tuple(map(str, layers.labels))
    return SampleUnits(codes.reshape(-1).astype(np.int64), units, names)


def check_defined(method: str, units: Units, strata: tuple[str, ...]) -> None:
    """Refuse a method that is not defined for these strata."""
    if strata and method not in WITH_STRATA:
        raise ValueError(
            f"method={method!r} is not defined for clusters in strata: use one of "
            f"{WITH_STRATA}, or leave out strata="
        )
    if units.crossed and method not in CROSSED:
        raise ValueError(
            f"method={method!r} needs clusters that lie within strata, and some lie in "
            "several: use method='cr1'"
        )


def default_method(units: Units) -> str:
    """Choose CR2, or CR1 where clusters lie in several strata."""
    return "cr1" if units.crossed else "cr2"
