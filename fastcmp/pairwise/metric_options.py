"""Options of comparisons by a metric of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.core.checks import as_resamples, as_seed, choose

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric
    from fastcmp.paired.units import Sampling

#: Tests of a pair; the first is the default, with clusters the second.
METHODS = ("jackknife", "delta", "pooled", "permutation", "bootstrap")
DRAWN = ("permutation", "bootstrap")
_WITH_GROUPS = ("delta", *DRAWN)
_WITH_STRATA = ("jackknife", "delta")


class Draws(NamedTuple):
    """Random draws, and the seed that repeats them."""

    n: int
    seed: int


def check_metric_method(method: str | None, sampling: Sampling) -> str:
    """Choose how pairs are tested; refuse what the samples do not permit."""
    clusters = sampling.groups is not None
    found = str(choose(method or METHODS[clusters], "method", METHODS))
    fit: tuple[str, ...] = METHODS
    given = ""
    if clusters:
        fit, given = _WITH_GROUPS, "groups"
    if sampling.strata is not None:
        fit, given = (("delta",) if clusters else _WITH_STRATA), "strata"
    if found not in fit:
        raise ValueError(f"method={found!r} does not go with {given}=: use one of {fit}")
    return found


def read_draws(method: str, n_resamples: Any, rng: Any, *, joint: bool = False) -> Draws | None:
    """Read how many draws there are, and their seed; None where nothing is drawn.

    By the method, or, `joint`, of all models together.
    """
    n = as_resamples(n_resamples)
    if method not in DRAWN and not joint:
        if rng is not None:
            as_seed(rng)
        return None
    return Draws(n, as_seed(rng))


def read_metric(metric: Any, test: str, cost: Any) -> Metric:
    """Read the metric; refuse another test, and costs, beside it."""
    # Not needed for accuracies, and a seventh of the time of the import.

    if test != "mcnemar":
        raise ValueError(f"pass metric= or test={test!r}, not both")
    if cost is not None:
        raise ValueError(
            "cost= is for test='cost': with metric= pass make_metric('cost', cost=...)"
        )
    if isinstance(metric, (list, tuple)):
        raise TypeError(f"metric must be one metric to compare models by, got {metric!r}")
    # Not needed for accuracies, and a seventh of the time of the import.
    from fastcmp.metrics.choice import make_metric

    return make_metric(metric)


def check_counted(missing: str) -> None:
    """Refuse missing predictions where samples are counted by class."""
    if missing != "raise":
        raise ValueError(
            "missing must be 'raise' where samples are counted by class in blocks: a "
            f"missing prediction has no class, got {missing!r}"
        )
