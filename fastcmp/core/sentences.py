"""Sentences that many records share: who did better, and what was left out."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from fastcmp.core.record_parts import LESS_IS_BETTER
from fastcmp.core.sections import format_interval, interval_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.core.records import ConfidenceInterval

#: Proportion of predictions that may not be labels of the truth before it is said.
MUCH_OUTSIDE = 0.1


def effect_sentence(difference: float, interval: ConfidenceInterval, alternative: str) -> str:
    """Say which model did better, and how surely.

    Parameters
    ----------
    difference : float
        Accuracy of a minus that of b.
    interval : ConfidenceInterval
        For it, at the level 0.95.
    alternative : str
        Of the test that the interval belongs to.

    Returns
    -------
    str
        A sentence.
    """
    low, high = (100 * end for end in interval)
    if difference == 0:
        lead = "Both models are right equally often"
    else:
        lead = (
            f"Model {'a' if difference > 0 else 'b'} is more accurate by "
            f"{abs(100 * difference):.2f} percentage points"
        )
    shown = format_interval(low, high, digits=2, sign="+")
    return f"{lead} (a minus b, {interval_name(0.95, alternative)} {shown})."


def answer_of(result: Any) -> str:
    """Say whether a record's difference is significant, or its one-sided claim."""
    if isnan(result.pvalue):
        return "the test has no answer here"
    if result.alternative == "two-sided":
        return f"the difference is {'' if result.reject else 'not '}significant"
    first, second = result.names
    more_is_better = result.measure not in LESS_IS_BETTER
    if (result.alternative == "greater") != more_is_better:
        first, second = second, first
    how = "is significantly" if result.reject else "is not significantly"
    return f"{first} {how} better than {second}"


def dropped_sentences(n_missing: int, n_excluded: int) -> tuple[str, ...]:
    """Say how many samples have no true label, or one of classes not chosen."""
    sentences = []
    if n_missing:
        sentences.append(f"{n_missing} samples without a true label were dropped.")
    if n_excluded:
        sentences.append(f"{n_excluded} samples of other classes were dropped.")
    return tuple(sentences)


def outside_sentences(
    n_outside: Sequence[int], names: Sequence[str], n_samples: int
) -> tuple[str, ...]:
    """Say which models predict many labels that the truth does not hold.

    `n_outside` has such predictions of each model, or is empty where they were not
    counted.
    """
    much = [i for i, n in enumerate(n_outside) if n > MUCH_OUTSIDE * n_samples]
    sentences = [
        f"{100 * n_outside[i] / n_samples:.1f}% of the predictions of {names[i]} are "
        "labels that the truth does not hold; they count as wrong."
        for i in much[:3]
    ]
    if len(much) > 3:
        sentences.append(f"So are many of those of {len(much) - 3} more models.")
    return tuple(sentences)
