"""What a record says of itself: sections of sentences and tables, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from fastcmp.core.records import ConfidenceInterval, less_is_better


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, sentences and perhaps a table."""

    title: str = ""
    #: Sentences above the table.
    text: tuple[str, ...] = ()
    #: Column names; empty where there is no table.
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    #: Sentences below the table.
    notes: tuple[str, ...] = ()

    def is_numeric(self, column: int) -> bool:
        """Tell whether all cells of a column are numbers or intervals."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(cell[0] in "+-[<.0123456789" for cell in cells)


def format_pvalue(pvalue: float) -> str:
    """Write a p-value with two or three digits that tell, "-" for NaN."""
    if math.isnan(pvalue):
        return "-"
    if pvalue >= 0.9995:
        return "1"
    return f"{pvalue:.3f}" if pvalue >= 0.001 else f"{pvalue:.1e}"


def format_interval(low: float, high: float, *, digits: int, sign: str = "") -> str:
    """Write the two ends of an interval in brackets, such as "[+0.5, +2.1]"."""
    return f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def interval_name(confidence_level: float, alternative: str = "two-sided") -> str:
    """Name an interval by its level and its side, such as "one-sided 95% CI"."""
    side = "" if alternative == "two-sided" else "one-sided "
    return f"{side}{100 * confidence_level:.9g}% CI"


# Sentences that many records share: who did better, and what was left out.


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


def null_hypothesis(
    alternative: str, equal: str, names: Sequence[str] = ("a", "b"), measure: str = ""
) -> str:
    """What a test of two models tests: `equal`, or that a is not better, or not worse.

    With a `measure` that it is not higher, or not lower.
    """
    (a, b), greater = names, alternative == "greater"
    if alternative == "two-sided":
        return equal
    if measure:
        return f"the {measure} of {a} is not {'higher' if greater else 'lower'}"
    return f"{a} is not {'better' if greater else 'worse'} than {b}"


def null_value(alternative: str, what: str, value: str) -> str:
    """What a test of a number tests: that it is `value`, at most, or at least."""
    relation = {"two-sided": "is", "greater": "is at most", "less": "is at least"}
    return f"{what} {relation[alternative]} {value}"


def answer_of(result: Any) -> str:
    """Say whether a record's difference is significant, or its one-sided claim."""
    if isnan(result.pvalue):
        return "the test has no answer here"
    if result.alternative == "two-sided":
        return f"the difference is {'' if result.reject else 'not '}significant"
    first, second = result.names
    more_is_better = not less_is_better(result)
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
