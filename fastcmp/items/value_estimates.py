"""From values per item to estimates, their covariance, and bootstrap draws of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.memory import check_draws
from fastcmp.core.options import choose
from fastcmp.core.threads import no_step, parts
from fastcmp.counts.pair_moments import PairMoments
from fastcmp.counts.value_sums import pair_moments, unit_sums
from fastcmp.items.cautions import FEW_UNITS
from fastcmp.items.mean_data import Items, MeanData, read_data, read_options
from fastcmp.items.mean_methods import pack_right
from fastcmp.kernels.bits import cross_counts
from fastcmp.kernels.item_bootstrap import count_units, draw_units
from fastcmp.pairwise.model_estimates import Estimates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.counts.unit_sums import UnitSums

    Floats = NDArray[np.float64]

_POLICIES = ("raise", "common", "wrong")
_DRAWS = 512  # that are multiplied together
_COUNTED = 64  # models that one task counts; a multiple of four


class ReadItems(NamedTuple):
    """What is known of the items beside their values, and how values are read."""

    groups: Any
    missing: str
    names: Sequence[str] | None
    lower_is_better: bool


class ValueEstimates(NamedTuple):
    """The estimates, and the values that they are means of."""

    estimates: Estimates
    data: MeanData

    @property
    def n_units(self) -> int:
        """Number of clusters, or of items where there are none."""
        return self.data.plan.n_units

    def resample(self, indices: Any, n_draws: int, seed: int, pool: ThreadPool) -> Floats:
        """Draw items, or clusters, with replacement, and give the estimates' errors.

        Shape (M, B), turned so that more is better. `indices` are the items of each
        draw, (B, n), in the place of random ones.
        """
        data = self.data
        if data.plan.across is not None:
            raise ValueError("resampling='bootstrap' needs groups that lie within strata")
        units = unit_sums(data.values, data.plan, pool)
        errors = _residuals(units)
        if self.estimates.lower_is_better:
            errors = -errors
        if indices is not None:
            return _multiply(errors, _counts_of(indices, data))
        check_draws(n_draws, len(errors), of=f" of {len(errors)} models")
        found = np.empty((len(errors), n_draws))

        def draw(some: slice) -> None:
            counts = np.empty((some.stop - some.start, units.sizes.size))
            draw_units(units.strata, seed, some.start, counts)
            found[:, some] = _multiply(errors, counts)

        pool.run(draw, parts(n_draws, _DRAWS), steps=no_step)
        return found


def estimate_values(values: Any, items: ReadItems, pool: ThreadPool) -> ValueEstimates:
    """Read values, and work out means and their covariance."""
    missing = choose(items.missing, "missing", _POLICIES)
    options = read_options(
        method="t",
        variance=None,
        df="satterthwaite",
        studentized=False,
        interval=None,
        repeats="mean",
        k=None,
        average="items",
        missing=missing,
        lower_is_better=items.lower_is_better,
        n_resamples=1,
        rng=0,
    )
    data = read_data(values, items.names, Items(items.groups), options)
    counted = data.values.binary and data.plan.plain
    moments = (_counted_moments if counted else _moments)(data, pool)
    relative = moments.mean if moments.relative is None else moments.relative
    clusters = data.groups.clusters
    estimates = Estimates(
        names=data.values.names,
        value=moments.mean,
        merit=-relative if options.lower_is_better else relative,
        covariance=moments.covariance,
        variance=moments.variance,
        df=float(np.min(moments.df)),
        lower_is_better=options.lower_is_better,
        n_items=moments.n_items,
        n_clusters=None if clusters is None else moments.n_units,
        cautions=_cautions(data),
        exponent=data.values.exponent,
    )
    return ValueEstimates(estimates, data)


def _moments(data: MeanData, pool: ThreadPool) -> PairMoments:
    return pair_moments(data.values, data.plan, pool)


def _counted_moments(data: MeanData, pool: ThreadPool) -> PairMoments:
    """Count items that each two models have right: values are 0 or 1."""
    bits, plan, n = pack_right(data.values, pool), data.plan, data.values.n_items
    m, words = len(data.values.names), bits.words
    joint = np.empty((len(words), len(words)), np.int64)

    def count(rows: slice) -> None:
        cross_counts(words[rows], words, joint[rows])

    pool.run(count, parts(len(words), _COUNTED), steps=no_step)
    # Whole numbers up to the last step: n is below 2**31.
    joint = n * joint[:m, :m] - np.outer(bits.correct, bits.correct)
    scale = float(plan.strata[0].factors[0]) / float(n) ** 3
    covariance = np.asarray(joint * scale, np.float64)
    variance = np.diagonal(covariance).copy()
    return PairMoments(
        n_items=n,
        n_units=n,
        mean=bits.correct / n,
        variance=variance,
        covariance=covariance,
        df=plan.shared_degrees,
        largest=plan.largest,
        scale=variance,
    )


def _cautions(data: MeanData) -> tuple[str, ...]:
    """Say that the normal approximation needs more items, and which are missing."""
    n, dropped = data.plan.n_units, data.values.n_dropped
    found = []
    if n < FEW_UNITS:
        units = "items" if data.groups.clusters is None else "clusters"
        found.append(
            f"With {n} {units} what is promised holds roughly only: means are taken as normal."
        )
    if dropped:
        found.append(f"{dropped} items that some model lacks were dropped.")
    elif any(data.values.n_missing):
        n_missing = sum(data.values.n_missing)
        found.append(f"{n_missing} values are missing, and count as 0.")
    return tuple(found)


def _residuals(units: UnitSums) -> Floats:
    """Give what each unit adds to the error of each mean, shape (M, G)."""
    n_strata = units.weights.size
    starts = np.searchsorted(units.strata, np.arange(n_strata))
    sizes = np.add.reduceat(units.sizes, starts)
    means = np.add.reduceat(units.sums, starts, axis=1) / sizes
    errors = units.sums - means[:, units.strata] * units.sizes
    return np.asarray(errors * (units.weights / sizes)[units.strata])


def _counts_of(indices: Any, data: MeanData) -> Floats:
    """Count the items of draws that the user gave."""
    n = data.values.n_items
    if not data.plan.plain:
        raise ValueError("bootstrap_indices are items: they need no groups, strata or weights")
    try:
        rows = np.asarray(indices)
    except ValueError:
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu":
        raise ValueError(
            f"bootstrap_indices must be whole numbers of shape (B, {n}), the items of "
            f"each draw, got {rows.dtype} values of shape {rows.shape}"
        )
    if not rows.size or rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"bootstrap_indices must be positions of items, from 0 to {n - 1}")
    counts = np.empty((len(rows), n))
    count_units(np.ascontiguousarray(rows, np.int64), counts)
    return counts


def _multiply(errors: Floats, counts: Floats) -> Floats:
    """Add up the errors of the units that were drawn."""
    return np.asarray(errors @ counts.T)
