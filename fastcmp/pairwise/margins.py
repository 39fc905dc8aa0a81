"""Margin tests of all pairs of models, adjusted together, and their decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf, times
from fastcmp.core.threads import parts
from fastcmp.counts.pairs import Block
from fastcmp.paired.margin_result import (
    BETTER,
    CANNOT_TELL,
    EQUIVALENT,
    METHOD_NAMES,
    NOT_WORSE,
    WORSE,
    MarginTests,
    count_decisions,
)
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    accuracy_margins,
    as_margin,
    as_margin_alpha,
    bounded_margins,
    decide,
    margins_of,
)
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, adjusted_by

if TYPE_CHECKING:
    from fastcmp.pairwise.decisions import PairDecisions
    from fastcmp.pairwise.engine import PairTests


_SPAN = 1 << 16
_UNITS = 1 << 10  # pairs whose units are held at once
#: What is a proportion where samples that only one model has right are counted.
_PROPORTIONS = ("accuracy", "mean", "mean loss")


def read_pair_margin(margin: object, alpha: float, keep: object) -> float:
    """Check a margin for all pairs, and the level of its tests."""
    as_margin_alpha(alpha)
    if keep != "all":
        raise BadValueError(
            "`margin=` adjusts the tests of all pairs together, and needs `keep='all'`",
            f"`keep={keep!r}`",
        )
    return as_margin(margin)


def with_pair_margins(result: Any, tests: PairTests, margin: float | None) -> Any:
    """Add margin tests to a record of all pairs, if there is a margin."""
    if margin is None:
        return result
    options = MarginOptions(margin, result.alpha, lower_is_better=bool(result.less_is_better))
    n_samples = getattr(result, "n_items_of_pairs", None)
    shared: dict[str, Any] = {"pvalue": result.pvalue_adjusted, "measure": result.measure}
    single = (result.n_clusters, result.n_strata) == (None, None)
    counted = result.only_a is not None and result.measure in _PROPORTIONS
    if tests.margins is not None:
        margins = tests.margins(result, options)
        result = replace(result, interval=np.stack(margins.interval, axis=1))
    elif counted and single and n_samples is None:
        counts = (result.only_a, result.only_b, result.n_samples)
        margins = accuracy_margins(counts, options, **shared)
    else:
        error, df = _errors(result, tests)
        exponent = tests.exponent
        difference, error = (times(x, -exponent) for x in (result.difference, error))
        n_samples = result.n_samples if n_samples is None else n_samples
        of = Estimated(difference, error, df, n_samples, limits=tests.limits, **shared)
        options = options._replace(margin=times(margin, -exponent))
        if tests.bounded is None:
            margins = times(margins_of(of, options), exponent)
        else:
            spans = parts(len(result.pairs), _UNITS)
            units = (tests.bounded(Block(span, result.pairs[span])) for span in spans)
            unit = "samples" if result.n_clusters is None else "clusters"
            largest = tests.limits[1] if np.isfinite(tests.limits[1]) else 1.0
            margins = bounded_margins(units, of._replace(df=None), options, unit, largest)
    return replace(result, margins=_adjusted(margins, result))


def _errors(result: PairDecisions, tests: PairTests) -> tuple[Any, Any]:
    """The standard errors that the record has, or the tests, and their d.o.f."""
    se: Any = getattr(result, "standard_error", None)
    df: Any = np.inf
    if tests.spread is not None:
        spans = parts(len(result.pairs), _SPAN)
        spreads = [tests.spread(Block(span, result.pairs[span])) for span in spans]
        df = np.concatenate([np.broadcast_to(spread[2], spread[1].shape) for spread in spreads])
        variance = np.concatenate([spread[1] for spread in spreads])
        se = np.sqrt(variance) if se is None else se
    if result.distribution == "t":
        df = result.df
    if se is None:  # of the interval, which is normal; one end may be cut
        low, high = result.interval.T
        half = np.maximum(high - result.difference, result.difference - low)
        se = half / -t_ppf(result.alpha / 2, None)
    return se, df


def _adjusted(margins: MarginTests, result: PairDecisions) -> MarginTests:
    """Adjust both one-sided tests of all pairs together, and decide again."""
    method = margin_adjustment(result.adjust)
    both = np.concatenate([margins.pvalue_lower, margins.pvalue_upper])
    lower, upper = np.split(adjust_checked(both, method), 2)
    difference = margins.difference
    gain = -difference if margins.lower_is_better else difference
    sure = result.pvalue_adjusted <= result.alpha
    met = (upper if margins.lower_is_better else lower) <= result.alpha
    within = np.maximum(lower, upper) <= result.alpha
    decided = decide(sure & (gain > 0.0), sure & (gain < 0.0), within, met)
    return replace(
        margins,
        pvalue_lower_adjusted=lower,
        pvalue_upper_adjusted=upper,
        n_more=margins.n_more if method == "none" else None,
        **decided._asdict(),
    )


def margin_adjustment(adjust: str) -> str:
    """Name the adjustment of margin tests: Holm's where `adjust` knows equality only.

    Joint draws and logical relations are those of models that are equal.
    """
    return adjust if adjust in ADJUSTMENTS else "holm"


def mirrored_decisions(result: Any) -> NDArray[Any]:
    """Decide about the second model of each pair beside the first."""
    margins = result.margins
    other = (
        margins.pvalue_lower_adjusted if margins.lower_is_better else margins.pvalue_upper_adjusted
    )
    words = margins.decision
    first = [words == BETTER, words == WORSE, words == EQUIVALENT]
    first.append(other <= result.alpha)
    return np.select(first, [WORSE, BETTER, EQUIVALENT, NOT_WORSE], CANNOT_TELL)


def decision_matrix(result: PairDecisions) -> NDArray[np.object_]:
    """Write the decisions as a matrix of models: the row beside the column."""
    if result.margins is None:
        raise BadValueError("field 'decision' needs a comparison that was made with `margin=`")
    m = len(result.names)
    matrix = np.full((m, m), "", object)
    i, j = result.pairs.T
    matrix[i, j], matrix[j, i] = result.margins.decision, mirrored_decisions(result)
    return matrix


def margin_sentences_of(result: PairDecisions) -> tuple[str, ...]:
    """Say how often there is which decision, and how margins were tested."""
    margins = result.margins
    if margins is None:
        return ()
    words, whose = margins.decision, "the first of a pair beside the second"
    if result.control is not None:
        words, whose = mirrored_decisions(result), f"models beside {result.control}"
    method = margin_adjustment(result.adjust)
    tests = METHOD_NAMES[margins.method]
    sentences: tuple[str, ...] = (
        f"Decisions with a margin of {margins.amount}, {whose}: {count_decisions(words)}.",
        f"The {2 * len(words)} one-sided tests against the margin are {tests}, "
        f"{adjusted_by(method, 'together')}.",
    )
    if margins.reason:
        sentences += (f"No decision where {margins.reason}.",)
    return (*sentences, *other_errors(result))


def other_errors(result: PairDecisions) -> tuple[str, ...]:
    """Say that tests against a margin are not of the kind that tells differences."""
    assert result.margins is not None
    if result.margins.method not in ("z", "t") or result.distribution in ("normal", "t"):
        return ()
    what = "They use the standard errors of the differences"
    return (f"{what}, not the test that tells which models differ.",)
