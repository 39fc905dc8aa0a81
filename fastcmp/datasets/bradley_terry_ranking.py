"""From wins and ties to a record: whether there is an estimate, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.core.tails import normal_tail
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.datasets.bradley_terry_errors import Estimate, pair_errors
from fastcmp.datasets.bradley_terry_model import fit, inverse
from fastcmp.datasets.bradley_terry_result import BradleyTerry
from fastcmp.datasets.linked_models import davidson_problem, find_components
from fastcmp.pairwise.adjust import OF_PAIRS, adjust_checked, promise
from fastcmp.pairwise.logical_adjust import check_all_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.datasets.battle_sources import Battles
    from fastcmp.datasets.bradley_terry_model import Model
    from fastcmp.datasets.bradley_terry_options import BTOptions
    from fastcmp.datasets.win_tables import WinTables

    Floats = NDArray[np.float64]

_FEW_CLUSTERS = 20


def rank(
    tables: WinTables,
    battles: Battles | None,
    options: BTOptions,
    *,
    n_dropped: int = 0,
) -> BradleyTerry:
    """Estimate strengths, and decide about pairs."""
    names, wins, ties = tables
    adjust, alpha, pairs, control = options.deciding
    adjust, alpha = choose(adjust, "adjust", OF_PAIRS), as_proportion(alpha, "alpha")
    which = choose_pairs(names, pairs, control)
    check_all_pairs(adjust, len(names), chosen=which is not None)
    cautions = _check_exists(tables, options.model)
    by_cluster = options.covariance in ("clustered", "bootstrap")
    n_clusters = battles.n_clusters if by_cluster and battles is not None else None
    cautions += _check_clusters(n_clusters)
    theta, information = fit(options.model, wins, ties)
    estimate = Estimate(
        model=options.model,
        wins=wins,
        ties=ties,
        theta=theta,
        bread=inverse(information, len(names)),
        battles=battles,
    )
    covariance, drawn = _errors(estimate, options, alpha)
    cautions += _failures(drawn)
    chosen = all_pairs(len(names)) if which is None else which
    tests = _pair_tests(estimate, covariance, chosen, adjust, alpha)
    m, errors = len(names), np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    reach = -kernels.ndtri(alpha / 2) * errors[:m]
    strength = theta[:m]
    has_nu = options.model.has_nu
    return BradleyTerry(
        **tests,
        **drawn,
        distribution="normal",
        pairs=chosen,
        names=names,
        score=strength,
        score_interval=np.stack([strength - reach, strength + reach], axis=1),
        measure="strength",
        n_samples=round(float(wins.sum() + ties.sum() / 2)),
        test="bradley-terry",
        method=options.model.ties_as,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        control=None if control is None else names[chosen[0, 0]],
        n_clusters=n_clusters,
        cautions=cautions,
        standard_error=errors[:m],
        covariance=covariance[:m, :m].copy(),
        covariance_method=options.covariance,
        ties_as=options.model.ties_as,
        n_battles=float(wins.sum() + ties.sum() / 2),
        n_ties=float(ties.sum() / 2),
        ridge=options.model.ridge,
        log_nu=float(theta[m]) if has_nu else np.nan,
        log_nu_standard_error=float(errors[m]) if has_nu else np.nan,
        n_dropped=n_dropped,
    )


def _check_exists(tables: WinTables, model: Model) -> tuple[str, ...]:
    """Refuse strengths, or a nu, that are not finite; beware of those of a ridge."""
    names, wins, ties = tables
    linked = wins if model.ties_as == "ignored" else wins + ties
    found = find_components(names, linked)
    if not found.mle_exists and not model.ridge:
        what = " (ties are ignored)" if model.ties_as == "ignored" and ties.any() else ""
        raise ValueError(
            f"wins do not determine the strengths{what}: {found.problem}; compare the "
            "models of one group, or pass ridge= for a penalised fit (win_components "
            "lists the groups)"
        )
    if model.has_nu:
        bounded = model.ridge > 0 and wins.any() and ties.any()
        problem = "" if bounded else davidson_problem(wins, ties)
        if problem:
            raise ValueError(f"ties_as='davidson' has no finite estimate: {problem}")
    if found.mle_exists:
        return ()
    return (
        f"The ridge decides, not the battles: without it there is no estimate, as {found.problem}.",
    )


def _check_clusters(n_clusters: int | None) -> tuple[str, ...]:
    if n_clusters is None or n_clusters > _FEW_CLUSTERS:
        return ()
    if n_clusters < 2:
        raise ValueError(
            "groups must be at least 2, got battles of one cluster only, whose "
            "standard errors are unknown: pass covariance='sandwich' if battles are "
            "independent"
        )
    return (
        f"Only {n_clusters} clusters of battles: standard errors from so few are too "
        "small on average, and normal tails too light.",
    )


def _errors(estimate: Estimate, options: BTOptions, alpha: float) -> tuple[Floats, dict[str, Any]]:
    """Give the covariance of all parameters, and what a record says of draws."""
    if options.draws is None:
        return estimate.covariance(options.covariance), {}
    found = estimate.resampled(options.draws)
    known = found[np.isfinite(found).all(axis=1)]
    if len(known) < 2:
        raise ValueError(
            f"n_resamples={len(found)} draws of clusters gave {len(known)} estimates: "
            "pass covariance='clustered'"
        )
    strengths = known[:, : estimate.n_models]
    ends = np.quantile(strengths, [alpha / 2, 1 - alpha / 2], axis=0)
    return np.atleast_2d(np.cov(known.T)), {
        "n_resamples": len(found),
        "n_failed": len(found) - len(known),
        "seed": options.draws.seed,
        "percentile_interval": ends.T,
    }


def _failures(drawn: dict[str, Any]) -> tuple[str, ...]:
    if not drawn.get("n_failed"):
        return ()
    return (
        f"{drawn['n_failed']} of {drawn['n_resamples']} draws of clusters had no "
        "estimate, and are left out.",
    )


def _pair_tests(
    estimate: Estimate,
    covariance: Floats,
    pairs: NDArray[Any],
    adjust: str,
    alpha: float,
) -> dict[str, Any]:
    """Test the difference of each pair; without spread p is 0, or 1 for equal ones."""
    strength = estimate.theta[: estimate.n_models]
    difference = strength[pairs[:, 0]] - strength[pairs[:, 1]]
    errors = pair_errors(covariance, pairs, estimate.bread)
    # Equal up to the rounding of sums.
    difference[np.abs(difference) < 1e-12] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0, difference / errors)
    reach = -kernels.ndtri(alpha / 2) * errors
    pvalue = np.minimum(normal_tail(statistic, "two-sided"), 1.0)
    return {
        "statistic": statistic,
        "pvalue": pvalue,
        "pvalue_adjusted": adjust_checked(pvalue, adjust),
        "difference": difference,
        "interval": np.stack([difference - reach, difference + reach], axis=1),
        "difference_standard_error": errors,
    }
