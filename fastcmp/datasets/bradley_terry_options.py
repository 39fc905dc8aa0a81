"""Options of Bradley and Terry's model."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_resamples, as_seed
from fastcmp.core.options import choose
from fastcmp.core.progress import check_progress
from fastcmp.core.threads import check_workers
from fastcmp.datasets.bradley_terry_errors import COVARIANCES, Draws
from fastcmp.datasets.bradley_terry_model import TIES, Model

#: What battles allow whose clusters are not known.
OF_COUNTS = ("information", "sandwich")
OF_ROWS = ("information", "sandwich", "bootstrap")


class Deciding(NamedTuple):
    """Which pairs to decide about, and how."""

    adjust: Any
    alpha: Any
    pairs: Any
    control: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BTOptions:
    """The model, where standard errors come from, and decisions."""

    model: Model
    covariance: str
    deciding: Deciding
    #: None where nothing is drawn.
    draws: Draws | None = None


def read_options(
    ties_as: Any,
    ridge: Any,
    covariance: Any,
    known: tuple[str, ...],
    deciding: Deciding,
    draws: Draws | None = None,
) -> BTOptions:
    """Check options; `known` are the covariances that the battles allow."""
    covariance = choose(covariance, "covariance", COVARIANCES)
    if covariance not in known:
        raise ValueError(
            f"covariance={covariance!r} needs to know which battles belong together: "
            f"take one of {known}, or pass scores, or a table of battles with a group"
        )
    ties_as = choose(ties_as, "ties_as", TIES)
    return BTOptions(
        model=Model(ties_as=ties_as, ridge=_as_ridge(ridge)),
        covariance=covariance,
        deciding=deciding,
        draws=draws if covariance == "bootstrap" else None,
    )


def read_draws(n_resamples: Any, rng: Any, workers: Any, progress: Any) -> Draws:
    """Check how often clusters are drawn."""
    check_workers(workers)
    check_progress(progress)
    return Draws(
        n_resamples=as_resamples(n_resamples, 2),
        seed=as_seed(rng),
        workers=workers,
        progress=progress,
    )


def _as_ridge(value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"ridge must be a number >= 0, got {value!r}")
    if not 0.0 <= float(value) < np.inf:
        raise ValueError(f"ridge must be finite and >= 0, got {value}")
    return float(value)
