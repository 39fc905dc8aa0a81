"""What is known of items beside their values: clusters, strata, and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_numbers, as_weights, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import scale_exponent
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.inputs.columns import count_rows, plain_number, read_column
from fastcmp.inputs.model_names import check_indexes

_RULES = ("items", "equal")
_ALONE = np.ones(1)  # the weights of a single stratum


class Grouping(NamedTuple):
    """To which of some groups each item belongs."""

    #: From 0, int64, shape (n,); each number occurs.
    codes: Ints
    labels: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroups:
    """Clusters, strata and weights of n items."""

    n_items: int
    #: Clusters; None where each item is its own.
    clusters: Grouping | None = None
    strata: Grouping | None = None
    #: Weights of the strata, which add up to 1, shape (H,); [1] without strata.
    stratum_weights: Floats
    #: Weights of the items, shape (n,); None where all are 1.
    weights: Floats | None = None

    @property
    def n_units(self) -> int:
        """Number of clusters, or of items where there are none."""
        return self.n_items if self.clusters is None else len(self.clusters.labels)

    @property
    def plain(self) -> bool:
        """Whether there are no clusters, strata or weights."""
        return self.clusters is None and self.strata is None and self.weights is None

    @property
    def crossed(self) -> bool:
        """Whether a cluster has items of several strata."""
        if self.clusters is None or self.strata is None:
            return False
        groups, strata = self.clusters.codes, self.strata.codes
        of_group = np.zeros(len(self.clusters.labels), np.int64)
        of_group[groups] = strata
        return bool((of_group[groups] != strata).any())


def read_item_groups(
    n_items: int,
    *,
    groups: object = None,
    strata: object = None,
    stratum_weights: object = "items",
    weights: object = None,
    keep: Flags | None = None,
    indexed: tuple[str, Any] | None = None,
) -> ItemGroups:
    """Groups and weights of `n_items` items, of which those of `keep` are used.

    `indexed` is the name and the value of an argument whose pandas index the others
    must have. There must be two clusters, and two units in each stratum.
    """
    if groups is None and strata is None and weights is None:
        n_used = n_items if keep is None else int(np.count_nonzero(keep))
        alone = read_stratum_weights(stratum_weights, None, _ALONE)
        return ItemGroups(n_items=n_used, stratum_weights=alone)
    columns = {"groups": groups, "strata": strata, "weights": weights}
    others = [] if indexed is None else [indexed]
    check_indexes([*others, *((k, x) for k, x in columns.items() if x is not None)])
    clusters = read_grouping(groups, "groups", n_items, keep)
    layers = read_grouping(strata, "strata", n_items, keep)
    if layers is not None and keep is not None:
        _check_kept(strata, n_items, layers)
    importance = _read_weights(weights, n_items, keep)
    if clusters is not None and len(clusters.labels) < 2:
        raise BadValueError(
            "`groups` must hold at least 2 clusters",
            "1",
            ": with a single cluster no variance can be estimated",
        )
    n_used = n_items if keep is None else int(np.count_nonzero(keep))
    sizes = _stratum_sizes(layers, importance, n_used)
    units = ItemGroups(
        n_items=n_used,
        clusters=clusters,
        strata=layers,
        stratum_weights=read_stratum_weights(stratum_weights, layers, sizes),
        weights=importance,
    )
    if layers is not None:
        _check_strata(units, layers)
    elif importance is not None:
        _check_weighted(units, importance)
    return units


def read_grouping(raw: object, name: str, n: int, keep: Flags | None = None) -> Grouping | None:
    """The group of each of n items, of which those of `keep` are used; None for None."""
    if raw is None:
        return None
    if isinstance(raw, (str, bytes)):
        raise BadTypeError(f"`{name}` must hold one label an item", repr(raw))
    n_labels = count_rows(raw, name)
    if n_labels != n:
        raise BadValueError(
            f"`{name}` must hold one label for each of {n} items",
            f"{n_labels} (arrays of values have one row a model)",
        )
    column = read_column(raw, name)
    column.refuse_missing(
        "`{name}` has no label for item {row} ({n} in all): drop these items, or give them a "
        "label of their own"
    )
    column.kind()
    column = (column if keep is None else column.take(keep)).trimmed()
    codes = column.positions().astype(np.int64, copy=False)
    return Grouping(codes, tuple(map(plain_number, column.distinct)))


def _check_kept(raw: object, n: int, kept: Grouping) -> None:
    """Refuse that a stratum lost all its items, and with them its weight."""
    whole = read_grouping(raw, "strata", n, None)
    assert whole is not None
    lost = [label for label in whole.labels if label not in kept.labels]
    if lost:
        raise BadValueError(
            f"`strata` must keep items, and none of stratum {lost[0]!r} is left that all "
            f"models have a value for ({len(lost)} such strata in all)",
            remedy=": leave the stratum out, or the model that lacks it",
        )


def _read_weights(raw: object, n: int, keep: Flags | None) -> Floats | None:
    if raw is None:
        return None
    array = as_weights(raw, "weights", n)
    array = array if keep is None else array[keep]
    if not array.any():
        raise BadValueError("`weights` must not be 0 for all items")
    return np.ascontiguousarray(np.ldexp(array, -scale_exponent(array)))


def _stratum_sizes(strata: Grouping | None, weights: Floats | None, n: int) -> Floats:
    if strata is None:
        return np.array([float(n)])
    sizes = np.bincount(strata.codes, weights, len(strata.labels))
    return sizes.astype(np.float64)


def read_stratum_weights(raw: object, strata: Grouping | None, sizes: Floats) -> Floats:
    """Read the weights of the strata: by items, equal, or given for each label."""
    if strata is None:
        if raw is not None and not (isinstance(raw, str) and raw == "items"):
            raise BadValueError(
                f"`stratum_weights={raw!r}` is for strata", remedy=": pass `strata=`"
            )
        return _ALONE
    if isinstance(raw, Mapping):
        by_label = {plain_number(label): weight for label, weight in raw.items()}
        lacking = [label for label in strata.labels if label not in by_label]
        foreign = [label for label in by_label if label not in strata.labels]
        if lacking or foreign:
            what = f"lacks {lacking[:3]}" if lacking else f"names {foreign[:3]} as well"
            raise BadValueError(
                "`stratum_weights` must give a weight to each stratum, "
                f"{list(strata.labels[:5])}, and {what}"
            )
        listed = [by_label[label] for label in strata.labels]
        weights = as_numbers(listed, "stratum_weights").astype(np.float64)
        bad = ~(np.isfinite(weights) & (weights >= 0))
        if weights.ndim != 1 or bad.any() or not weights.any():
            raise BadValueError("`stratum_weights` must be finite, >= 0, and not all 0", listed)
    elif not isinstance(raw, str):
        raise BadTypeError(
            f"`stratum_weights` must be one of {_RULES}, or a mapping from strata to weights",
            repr(raw),
        )
    elif choose(raw, "stratum_weights", _RULES) == "equal":
        weights = np.ones(sizes.size)
    else:
        weights = sizes
    weights = np.ldexp(weights, -scale_exponent(weights))
    return np.asarray(weights / weights.sum())


def _check_weighted(groups: ItemGroups, weights: Floats) -> None:
    """Refuse that all weight is in one unit."""
    of_units, units = weights, "item"
    if groups.clusters is not None:
        of_units = np.bincount(groups.clusters.codes, weights).astype(np.float64)
        units = "cluster"
    if np.count_nonzero(of_units) < 2:
        raise BadValueError(
            f"`weights` must not be 0 for all {units}s but one: no variance can be estimated"
        )


def _check_strata(groups: ItemGroups, strata: Grouping) -> None:
    """Refuse a stratum without weight, or from which no variance can be estimated."""
    sizes = _stratum_sizes(strata, groups.weights, groups.n_items)
    if not sizes.all():
        label = strata.labels[int(np.argmin(sizes))]
        raise BadValueError(f"`weights` must not be 0 for all items of stratum {label!r}")
    codes, units, of_units = strata.codes, "item", groups.weights
    if groups.clusters is not None:
        if groups.crossed:
            return
        units = "cluster"
        codes = np.zeros(groups.n_units, np.int64)
        codes[groups.clusters.codes] = strata.codes
        of_units = np.bincount(groups.clusters.codes, groups.weights).astype(np.float64)
    if of_units is not None:  # without weight a unit says nothing
        codes = codes[of_units > 0]
    n_units = np.bincount(codes, minlength=len(strata.labels))
    if (n_units < 2).any():
        few = [strata.labels[i] for i in np.flatnonzero(n_units < 2)]
        raise BadValueError(
            f"`strata` must have at least 2 {units}s each, and stratum {few[0]!r} has one "
            f"{units} ({len(few)} such strata in all): no variance can be estimated there",
            remedy="; merge it with another stratum, or leave it out",
        )
