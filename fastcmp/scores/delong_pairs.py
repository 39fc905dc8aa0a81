"""All pairs of AUCs with DeLong's covariance, or all models and one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_flag, as_proportion
from fastcmp.core.options import choose
from fastcmp.core.tails import normal_tail
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.pairwise.adjust import JOINT, OF_MODELS, adjust_checked, promise
from fastcmp.pairwise.comparing import drawn_fields
from fastcmp.pairwise.logical_adjust import check_all_pairs
from fastcmp.pairwise.max_t import critical_value, joint_pvalues
from fastcmp.pairwise.metric_options import read_draws
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.simultaneous import normal_joint, standardize
from fastcmp.scores.auc_margins import Areas, area_interval, area_margins, area_tail
from fastcmp.scores.auc_test import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions
    from fastcmp.pairwise.metric_options import Draws
    from fastcmp.scores.delong_result import DelongResult

    Floats = NDArray[np.float64]


class _Pairs(NamedTuple):
    """Pairs of models, and how they differ."""

    pairs: NDArray[np.int32]
    #: Variances of all differences, (M, M).
    variances: Floats
    difference: Floats
    #: Shape (P,).
    error: Floats
    statistic: Floats
    pvalue: Floats


def compare_pairs(
    areas: DelongResult,
    *,
    control: int | str | None,
    n_resamples: int,
    rng: Any,
    adjust: str,
    alpha: float,
    simultaneous: bool,
) -> PairwiseResult:
    """Compare all pairs of models, or all models with the control."""
    adjust = choose(adjust, "adjust", OF_MODELS)
    alpha = as_proportion(alpha, "alpha")
    joint = as_flag(simultaneous, "simultaneous") or adjust in JOINT
    draws = read_draws("delong", n_resamples, rng, joint=joint)
    names = areas.names
    if len(names) < 2:
        raise ValueError("pairwise needs at least 2 models, got 1")
    chosen = choose_pairs(names, None, control)
    check_all_pairs(adjust, len(names), chosen=chosen is not None)
    found = _find(areas, all_pairs(len(names)) if chosen is None else chosen)
    quantile, fields = -kernels.ndtri(alpha / 2), dict[str, Any]()
    if draws is not None:
        fields = _draw(found, draws, adjust, 1 - alpha if simultaneous else None)
        quantile = fields.get("critical_value", quantile)
    if adjust not in JOINT:
        fields["pvalue_adjusted"] = adjust_checked(found.pvalue, adjust)
    spread = quantile * found.error
    ends = np.stack([found.difference - spread, found.difference + spread], axis=1)
    return PairwiseResult(
        statistic=found.statistic,
        distribution="normal",
        pvalue=found.pvalue,
        pairs=found.pairs,
        difference=found.difference,
        interval=np.clip(ends, -1.0, 1.0),
        names=names,
        score=areas.auc,
        score_interval=np.stack(areas.confidence_interval(1 - alpha, "logit"), axis=1),
        measure="AUC",
        n_samples=areas.n_positives + areas.n_negatives,
        test="delong",
        method="delong",
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        n_missing=areas.n_missing,
        control=None if control is None else names[found.pairs[0, 0]],
        **fields,
    )


def pair_margins(areas: DelongResult, made: PairwiseResult, options: MarginOptions) -> MarginTests:
    """Test the differences of all pairs against a margin."""
    return area_margins(
        _areas_of(areas, made.pairs),
        options,
        _find(areas, made.pairs).error,
        n_samples=made.n_samples,
        measure=made.measure,
        pvalue=made.pvalue_adjusted,
    )


def _areas_of(areas: DelongResult, pairs: NDArray[np.int32]) -> Areas:
    """Both areas of each pair, with their variances."""
    i, j = pairs.T
    own = np.maximum(np.diag(areas.covariance), 0.0)
    both = np.sqrt(own[i] * own[j])
    correlation = areas.covariance[i, j] / np.where(both > 0.0, both, np.inf)
    n = areas.n_rarer
    return Areas(areas.auc[i], areas.auc[j], own[i], own[j], np.clip(correlation, -1, 1), n, n)


def _find(areas: DelongResult, pairs: NDArray[np.int32]) -> _Pairs:
    """Test pairs by z; where nothing varies by limits of the areas (MOVER)."""
    from scipy.special import ndtri

    i, j = pairs.T
    own = np.diag(areas.covariance)
    scale = own[:, np.newaxis] + own
    variances = scale - 2.0 * areas.covariance
    variances = np.where(variances > ROUNDING * scale, variances, 0.0)
    difference = areas.auc[i] - areas.auc[j]
    error = np.sqrt(variances[i, j])
    z, _ = standardize(difference, error**2)
    pvalue = np.asarray(normal_tail(z, "two-sided"))
    if (still := error == 0.0).any():
        which = _areas_of(areas, pairs[still])
        tails = area_tail(which, 0.0)[1], area_tail(which.mirrored, 0.0)[1]
        pvalue[still] = np.where(z[still] == 0.0, 1.0, 2.0 * np.minimum(*tails))
        z[still] = np.sign(difference[still]) * -ndtri(pvalue[still] / 2) + 0.0
        low, high = area_interval(which, 0.95)
        error[still] = np.maximum(high - difference[still], difference[still] - low) / 1.96
    return _Pairs(pairs, variances, difference, error, z, pvalue)


def _draw(found: _Pairs, draws: Draws, adjust: str, level: float | None) -> dict[str, Any]:
    """Draw all models together: adjusted p-values, and what a level asks for."""
    pairs, fields = found.pairs, dict[str, Any]()
    z, inverse = found.statistic, standardize(found.difference, found.error**2)[1]
    with ThreadPool(1) as pool:
        joint = normal_joint(found.variances, draws, np.inf, pool)
        if level is not None:
            fields["critical_value"] = critical_value(joint, pairs, inverse, level, pool)
        if adjust in JOINT:
            down = adjust == "maxt"
            adjusted = joint_pvalues(joint, pairs, z, inverse, pool, down=down)
            fields |= drawn_fields(joint)
            fields["pvalue_adjusted"] = np.maximum(adjusted, found.pvalue)
    return fields
