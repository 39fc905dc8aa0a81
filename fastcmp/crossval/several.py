"""Classifiers compared by cross-validation on each of several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import LARGEST_SEED
from fastcmp.core.progress import reporting
from fastcmp.crossval.checkpoints import Checkpoint, settings_of
from fastcmp.crossval.several_result import CVDatasetsResult

if TYPE_CHECKING:
    from fastcmp.core.progress import Progress
    from fastcmp.crossval.plans import CVPlan
    from fastcmp.crossval.runs import CVRuns


def refuse_several(X: Any, checkpoint: Any) -> None:  # noqa: N803  # scikit-learn's name
    """Refuse what is for several data sets where one came."""
    if isinstance(X, Mapping):
        message = "X must be the predictors of one data set where y is given: for "
        message += "several data sets pass {name: (X, y)} alone"
        raise TypeError(message)
    if checkpoint is not None:
        raise ValueError("checkpoint is for several data sets: pass {name: (X, y)} as X")


def seed_of(seed: int, name: str) -> int:
    """Give the seed of a data set: a function of the seed of all and its name."""
    digest = blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LARGEST_SEED


def compare_data_sets(
    plan: CVPlan,
    X: Any,  # noqa: N803  # scikit-learn's name
    groups: Any,
    *,
    seed: int,
    workers: int | None,
    progress: bool | Progress | None,
    checkpoint: Any,
) -> CVDatasetsResult:
    """Fit all models on all data sets that are not finished, and compare them."""
    data = _read_data(X, groups)
    kept = None if checkpoint is None else Checkpoint.open(checkpoint)
    seeds = {name: seed_of(seed, name) for name in data}
    found: dict[str, CVRuns] = {}
    settings: dict[str, Any] = {}
    with reporting(progress, "fitting") as report:
        if kept is not None:  # before any fit, so that no mismatch comes after hours
            for name, each in data.items():
                settings[name] = settings_of(plan, name, each, seeds[name])
                runs = kept.load(name, settings[name])
                if runs is not None:
                    found[name] = runs
        for name in [name for name in data if name not in found]:

            def part(done: int, total: int, before: int = len(found)) -> None:
                report(before * total + done, len(data) * total)

            options = {"workers": workers, "progress": part}
            found[name] = _fit(plan, name, data[name], seeds[name], **options)
            if kept is not None:
                kept.save(name, settings[name], found[name])
    return CVDatasetsResult(results={name: plan.compare(found[name]) for name in data}, seed=seed)


def _fit(plan: CVPlan, name: str, data: tuple[Any, ...], seed: int, **options: Any) -> CVRuns:
    """Fit on one data set; errors say which."""
    x, y, groups = data
    try:
        return plan.fit(x, y, seed, groups=groups, **options)
    except (ValueError, TypeError, RuntimeError) as error:
        message = f"data set {name!r}: {error}"
        kinds = (RuntimeError, TypeError, ValueError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(message) from error


def _read_data(X: Any, groups: Any) -> dict[str, tuple[Any, ...]]:  # noqa: N803
    """Read X, y and groups of each data set."""
    if not isinstance(X, Mapping):
        raise TypeError(
            "y must be given with X; or X is a mapping {name: (X, y)} of several data "
            f"sets, got {type(X).__name__}"
        )
    if not X:
        raise ValueError("X must hold at least one data set, got none")
    if groups is not None and not isinstance(groups, Mapping):
        raise TypeError(
            f"groups must be a mapping from data sets to their groups, got {type(groups).__name__}"
        )
    of_data = {} if groups is None else {str(key): g for key, g in groups.items()}
    found: dict[str, tuple[Any, ...]] = {}
    for key, pair in X.items():
        name = str(key)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"X must hold a pair (X, y) for each data set, got "
                f"{type(pair).__name__} for {name!r}"
            )
        if name in found:
            raise ValueError(f"X must name data sets differently, got {name!r} twice")
        found[name] = (*pair, of_data.pop(name, None))
    if of_data:
        raise ValueError(f"groups must be of the data sets, got {sorted(of_data)[:4]} as well")
    return found
