"""Pilots whose record holds a difference with its standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcmp.core.record_parts import LESS_IS_BETTER
from fastcmp.counts.label_table import LabelTable
from fastcmp.paired.cost_differences import cell_differences, fold
from fastcmp.planning.pilots import PilotInputs


def read_pilot(record: Any) -> PilotInputs:
    """Read the difference, its standard error and the size of a pilot."""
    return _READERS[type(record).__name__](record)


def _error(error: Any) -> Any:
    """Check a standard error, of which a plan is a multiple."""
    error = np.asarray(error, np.float64)
    if not np.all((error > 0.0) & np.isfinite(error)):
        message = (
            "the pilot must have a standard error > 0 to plan from, got "
            f"{np.ravel(error)[0]:g}: its difference does not vary"
        )
        raise ValueError(message)
    return error


def _mean(record: Any) -> PilotInputs:
    """Read a mean difference; with clusters, degrees of freedom are theirs."""
    inputs = {
        "difference": record.difference,
        "standard_error": _error(record.standard_error),
        "n_pilot": record.n_items,
        "lower_is_better": record.measure in LESS_IS_BETTER,
    }
    if record.n_clusters is not None:
        inputs["cluster_size"] = max(record.n_items / record.n_clusters, 1.0)
    method = "normal" if record.distribution == "normal" else "t"
    options = {"alternative": record.alternative, "method": method}
    return PilotInputs("mean", inputs, options)


def _metric(record: Any) -> PilotInputs:
    inputs = {
        "difference": record.difference,
        "standard_error": _error(record.standard_error),
        "n_pilot": record.n_samples,
        "lower_is_better": np.asarray(record.lower_is_better, np.bool_)[()],
    }
    return PilotInputs("metric", inputs, {"alternative": record.alternative})


def _cost(record: Any) -> PilotInputs:
    """Read costs: V / n, with V the variance of the difference of one sample."""
    n = np.asarray(record.n_samples, np.float64)
    if isinstance(record.counts, LabelTable):
        d, samples = fold(record.counts, record.cost)
    else:
        d = cell_differences(record.cost)
        samples = record.counts.reshape(*np.shape(n), d.size)
    square = samples @ np.square(d) / n - np.square(record.difference)
    error = _error(np.sqrt(np.maximum(square, 0.0) / n))
    inputs = {
        "difference": record.difference,
        "standard_error": error,
        "n_pilot": record.n_samples,
        "lower_is_better": True,
    }
    return PilotInputs("cost", inputs)


def _delong(record: Any) -> PilotInputs:
    """Read two areas with their covariance."""
    if record.auc.size != 2:
        message = (
            f"this pilot has {record.auc.size} models: power and sample_size are those "
            "of two, which compare(a, b) gives"
        )
        raise ValueError(message)
    return _area(record.compare(0, 1))


def _area(record: Any) -> PilotInputs:
    if record.n_positives is None or record.measure != "AUC":
        message = (
            "this pilot must be a comparison of two AUCs on the same samples by "
            "delong, of which it is known how the variance falls"
        )
        raise ValueError(message)
    inputs = {
        "difference": record.difference,
        "standard_error": _error(record.standard_error),
        "pilot_positives": record.n_positives,
        "pilot_negatives": record.n_negatives,
    }
    return PilotInputs("auc-paired", inputs, {"alternative": record.alternative})


def _pairs(record: Any) -> PilotInputs:
    """Read all pairs of models on the same samples, and how they were adjusted."""
    return PilotInputs("leaderboard", {"pilot": record, "adjust": record.adjust})


def _folds(_: Any) -> PilotInputs:
    message = (
        "this pilot is of a cross-validation, of which no more samples can be planned: "
        "use planning.power(test='cv', ...)"
    )
    raise ValueError(message)


_READERS = {
    "AUCComparison": _area,
    "CVPairwiseResult": _folds,
    "CostResult": _cost,
    "DelongResult": _delong,
    "MeanDifference": _mean,
    "MeansResult": _pairs,
    "MetricComparison": _metric,
    "MetricsResult": _pairs,
    "PairwiseResult": _pairs,
}
