"""Plans from a pilot's record: what its `power` and `sample_size` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Compared, less_is_better
from fastcmp.planning import plan
from fastcmp.planning.plan import Plan

if TYPE_CHECKING:
    from fastcmp.items.mean_difference import MeanDifference
    from fastcmp.paired.cost_test import CostResult
    from fastcmp.paired.mcnemar_result import McNemarResult
    from fastcmp.pairwise.compare_metric import MetricComparison
    from fastcmp.pairwise.result import PairwiseResult
    from fastcmp.scores.delong import AUCComparison, DelongResult

#: Keywords of a plan: the test with its inputs; and the options that the record's test had,
#: such as its method.
_Read = tuple[dict[str, Any], dict[str, Any]]


def plan_from(record: object, solve_for: str, options: dict[str, Any]) -> Plan:
    """Plan the test that a record holds, again with new samples.

    Parameters
    ----------
    record : Record
        One that declares how it is read: its `_pilot`.
    solve_for : {"power", "sample_size", "detectable_difference"}
        A function of `fastcmp.planning`.
    options : dict
        Its keywords; those of the record's own test are the default, unless there is a
        margin.

    Returns
    -------
    Plan
        What the function gives.

    Raises
    ------
    TypeError
        If nothing can be planned from such a record.
    """
    if not (kind := getattr(record, "_pilot", "")):
        raise TypeError(
            f"nothing is planned from a {type(record).__name__}: pass what is known of the "
            f"models to fastcmp.planning.{solve_for}"
        )
    inputs, margins = READERS[kind](record)
    margins = {} if "margin" in options else margins
    made: Plan = getattr(plan, solve_for)(**inputs | margins | options)
    return made


def _mcnemar(record: McNemarResult) -> _Read:
    """Read counts, and the method where that can be planned."""
    if record.design != "samples":
        raise TypeError(
            f"nothing is planned from McNemar's test of {record.design}: pass what is known "
            "of the models to fastcmp.planning"
        )
    options: dict[str, Any] = {"alternative": record.alternative}
    if record.method != "unconditional":
        options["method"] = record.method
    return {"test": "mcnemar", "pilot": record}, options


def _estimate(test: str, record: Compared, error: object, **more: object) -> dict[str, Any]:
    """Inputs of a difference with a standard error, of which a plan is a multiple."""
    error = np.asarray(error, np.float64)
    if not np.all((error > 0.0) & np.isfinite(error)):
        raise ValueError(
            "the pilot must have a standard error > 0 to plan from, got "
            f"{np.ravel(error)[0]:g}: its difference does not vary"
        )
    return {"test": test, "difference": record.difference, "standard_error": error, **more}


def _mean(record: MeanDifference) -> _Read:
    """Read a mean difference; with clusters, degrees of freedom are theirs."""
    more: dict[str, Any] = {"n_pilot": record.n_items, "lower_is_better": less_is_better(record)}
    if record.n_clusters is not None:
        more["cluster_size"] = max(record.n_items / record.n_clusters, 1.0)
    method = "normal" if record.distribution == "normal" else "t"
    inputs = _estimate("mean", record, record.standard_error, **more)
    return inputs, {"alternative": record.alternative, "method": method}


def _metric(record: MetricComparison) -> _Read:
    lower = np.asarray(record.lower_is_better, np.bool_)[()]
    more = {"n_pilot": record.n_samples, "lower_is_better": lower}
    inputs = _estimate("metric", record, record.standard_error, **more)
    return inputs, {"alternative": record.alternative}


def _cost(record: CostResult) -> _Read:
    """Read costs: V / n, with V the variance of the difference of one sample."""
    from fastcmp.counts.label_counts import LabelTable
    from fastcmp.paired.cost_test import cell_differences, fold

    n = np.asarray(record.n_samples, np.float64)
    if isinstance(record.counts, LabelTable):
        d, samples = fold(record.counts, record.cost)
    else:
        d = cell_differences(record.cost)
        samples = record.counts.reshape(*np.shape(n), d.size)
    square = samples @ np.square(d) / n - np.square(record.difference)
    error = np.sqrt(np.maximum(square, 0.0) / n)
    return _estimate("cost", record, error, n_pilot=record.n_samples, lower_is_better=True), {}


def _delong(record: DelongResult) -> _Read:
    """Read two areas with their covariance."""
    if record.auc.size != 2:
        raise ValueError(
            f"this pilot has {record.auc.size} models: power and sample_size are those "
            "of two, which compare(a, b) gives"
        )
    return _area(record.compare(0, 1))


def _area(record: AUCComparison) -> _Read:
    if record.n_positives is None or record.measure != "AUC":
        raise ValueError(
            "this pilot must be a comparison of two AUCs on the same samples by "
            "delong, of which it is known how the variance falls"
        )
    more = {"pilot_positives": record.n_positives, "pilot_negatives": record.n_negatives}
    inputs = _estimate("auc-paired", record, record.standard_error, **more)
    return inputs, {"alternative": record.alternative}


def _pairs(record: PairwiseResult) -> _Read:
    """Read all pairs of models on the same samples, and how they were adjusted."""
    return {"test": "leaderboard", "pilot": record, "adjust": record.adjust}, {}


def _folds(_: object) -> _Read:
    raise BadValueError(
        "this pilot is of a cross-validation, of which no more samples can be planned",
        remedy=": use planning.power(`test='cv'`, ...)",
    )


#: By what a class of records declares as its `_pilot`.
READERS: dict[str, Callable[[Any], _Read]] = {
    "mcnemar": _mcnemar,
    "cost": _cost,
    "mean": _mean,
    "metric": _metric,
    "auc": _area,
    "areas": _delong,
    "leaderboard": _pairs,
    "folds": _folds,
}
