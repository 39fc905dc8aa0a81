"""Several comparisons of two models, each with a margin, decided together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margin_statistics import decide
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked
from fastcmp.pairwise.gate_result import GateResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_SIZES = (("n_samples",), ("n_items",), ("n_a", "n_b"), ("n_positives", "n_negatives"))
#: Of what records of two models have one value a model.
_VALUES = tuple((f"{x}_a", f"{x}_b") for x in ("accuracy", "value", "mean", "auc", "loss"))


def gate(
    comparisons: Mapping[str, Any],
    *,
    adjust: str = "holm",
    names: Sequence[str] = ("a", "b"),
) -> GateResult:
    """Decide whether model a is not worse than b in all of several comparisons.

    Parameters
    ----------
    comparisons : mapping of str to record
        What was compared, such as ``{"accuracy": mcnemar(..., margin=0.01)}``: records
        of the same two models, each made with `margin` and two-sided.
    adjust : str
        Adjustment of the tests of equality, from which "better" and "worse" follow,
        for the number of comparisons, as in `adjust`.
    names : sequence of str
        Names of a and b.

    Returns
    -------
    GateResult
        A decision for each comparison, and the outcome: "not worse" where every margin
        is met, "worse" where a is significantly worse and its margin is not met, else
        "cannot tell".

    Raises
    ------
    ValueError
        If there is no comparison, one is of several differences, or is one-sided, their
        `alpha` differ, or `adjust` is unknown.
    TypeError
        If the comparisons are not a mapping of records with margins.

    Notes
    -----
    The gate passes only if each margin test is significant. A false pass needs a false
    decision where the true loss is a margin or more, so its probability is at most
    alpha without any adjustment: this is an intersection-union test. That one of
    several comparisons shows "worse" by chance is what `adjust` guards against.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling",
       Technometrics 24 (1982) 295-300.

    Examples
    --------
    >>> from fastcmp import gate, mcnemar_from_counts
    >>> result = gate(
    ...     {
    ...         "all": mcnemar_from_counts(table=[[880, 40], [38, 42]], margin=0.03),
    ...         "hard": mcnemar_from_counts(table=[[80, 20], [30, 40]], margin=0.03),
    ...     }
    ... )
    >>> result.outcome, result.decision.tolist()
    ('cannot tell', ['equivalent', 'cannot tell'])
    """
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    if not isinstance(comparisons, Mapping):
        raise TypeError(
            "comparisons must be a mapping from names to records of two models, got "
            f"{type(comparisons).__name__}"
        )
    if not comparisons:
        raise ValueError("comparisons must hold at least one record of two models, got none")
    models = read_pair_names(names)
    tests = [_margins_of(name, record) for name, record in comparisons.items()]
    alpha = tests[0].alpha
    if any(each.alpha != alpha for each in tests):
        raise ValueError(f"comparisons must have one alpha, got {sorted({x.alpha for x in tests})}")
    records = list(comparisons.values())
    adjusted = adjust_checked(_column(records, "pvalue"), adjust)
    differs = adjusted <= alpha
    better = differs & np.array([record.better == "a" for record in records])
    worse = differs & np.array([record.better == "b" for record in records])
    pvalue = _column(tests, "noninferiority_pvalue")
    # Without variance there is no test of the margin, but one of equality.
    met = np.array([bool(each.margin_met) for each in tests]) | (better & np.isnan(pvalue))
    within = np.array([bool(each.within_margin) for each in tests])
    return GateResult(
        names=tuple(comparisons),
        models=models,
        measures=tuple(each.measure for each in tests),
        n_samples=np.array([_first_of(record, _SIZES).sum() for record in records]),
        values=np.array([_first_of(record, _VALUES) for record in records]),
        methods=tuple(each.method for each in tests),
        difference=_column(tests, "difference"),
        margin=_column(tests, "margin"),
        interval=np.array([tuple(each.inner_interval) for each in tests]),
        pvalue=pvalue,
        equality_pvalue=adjusted,
        decision=decide(better, worse, within, met).decision,
        margin_met=met,
        n_more=tuple(each.n_more for each in tests),
        adjust=adjust,
        alpha=alpha,
        cautions=_cautions(comparisons),
    )


def _cautions(comparisons: Mapping[str, Any]) -> tuple[str, ...]:
    """Cautions of the records; of several comparisons with their names."""
    named: dict[str, list[str]] = {}
    for name, record in comparisons.items():
        for caution in getattr(record, "cautions", ()):
            named.setdefault(caution, []).append(name)
    n = len(comparisons)
    return tuple(
        caution if len(where) == n else f"{', '.join(where)}: {caution}"
        for caution, where in named.items()
    )


def _first_of(record: Any, kinds: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Take the first attributes of these kinds that a record has; else NaN."""
    for names in kinds:
        with suppress(ValueError):  # counts that were not given
            values = [getattr(record, name, None) for name in names]
            if None not in values:
                return np.array(values, np.float64)
    return np.full(2, np.nan)


def _margins_of(name: str, record: Any) -> MarginTests:
    """Take the margin tests of a record; refuse what cannot be decided by."""
    margins = getattr(record, "margins", None)
    if not isinstance(margins, MarginTests):
        raise TypeError(
            f"comparisons must be records of two models that were compared with "
            f"margin=, {name!r} is {type(record).__name__} without"
        )
    if np.ndim(margins.decision):
        raise ValueError(f"{name!r} holds many differences: pass one record for each")
    if getattr(record, "alternative", "two-sided") != "two-sided":
        raise ValueError(
            f"{name!r} is a one-sided test (alternative={record.alternative!r}): "
            "compare with alternative='two-sided'"
        )
    return margins


def _column(records: Sequence[Any], name: str) -> NDArray[np.float64]:
    return np.array([float(getattr(record, name)) for record in records])
