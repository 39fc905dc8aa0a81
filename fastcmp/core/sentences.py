"""Sentences: what marks the answer and how it was done, and those that many records share."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from fastcmp.core.records import Compared, ConfidenceInterval, Record, less_is_better
from fastcmp.core.sections import format_interval, format_pvalue, interval_name


class Sentence(str):
    """A sentence, and what reports take it for; the methods of str give plain strings."""

    __slots__ = ("answer", "how", "says")

    #: What a page begins with where this sentence has the answer, else "".
    answer: str
    #: What a methods section says where this sentence says how it was done, else "".
    how: str
    #: What it says; a page whose headline has that already leaves the sentence out.
    says: str

    def __new__(
        cls, text: str, *, answer: str = "", how: str = "", says: str | None = None
    ) -> Sentence:
        """Mark a sentence."""
        sentence = super().__new__(cls, text)
        sentence.answer, sentence.how = answer, how
        sentence.says = text if says is None else says
        return sentence


def answer(text: str) -> Sentence:
    """Mark the sentence, or the title, that answers what was asked."""
    return Sentence(text, answer=text)


def how(text: str) -> Sentence:
    """Mark a sentence that says how it was done."""
    return Sentence(text, how=text)


def with_null(statistic: str, null: str, *, more: str = "", end: str = "") -> Sentence:
    """What a test gives, with its null hypothesis, which calls two models {a} and {b}."""
    text = f"{statistic} (H0: {of_models(null)}{more}){end}"
    return Sentence(text, how=f"The null hypothesis is that {null}.", says=statistic)


def null_sentence(null: str, end: str = "") -> Sentence:
    """The null hypothesis as a sentence of its own."""
    return Sentence(f"H0: {null}{end}", how=f"The null hypothesis is that {null}.")


def of_models(text: str, names: tuple[str, str] = ("a", "b")) -> str:
    """Name the models in a text that calls them {a} and {b}."""
    return text.replace("{a}", names[0]).replace("{b}", names[1])


def with_pvalue(text: str, pvalue: float) -> Sentence:
    """Mark a sentence that answers together with the p-value."""
    return Sentence(text, answer=f"{text.rstrip('.')}; p = {format_pvalue(pvalue)}.")


def headline_of(record: Record) -> str:
    """The answer that is marked; else of two models their difference, or what is said first."""
    if record._pairs is not None:
        return str(record._pairs._headline())
    sections = record.sections()
    lines = [line for part in sections for line in part.text]
    marked = (x.answer for x in (sections[0].title, *lines) if isinstance(x, Sentence))
    answer = next(filter(None, marked), "")
    if isinstance(record, Compared) and not answer:
        several = np.ndim(getattr(record, "pvalue", 0.0))
        return several_sentence(record) if several else difference_sentence(record)
    return _ended(answer or [*lines, sections[0].title][0])


def _ended(text: str) -> str:
    return text if text.endswith((".", ")", "?")) else f"{text}."


# Sentences that many records share: who did better, and what was left out.


#: Proportion of predictions that may not be labels of the truth before it is said.
MUCH_OUTSIDE = 0.1


def effect_sentence(difference: float, interval: ConfidenceInterval, alternative: str) -> str:
    """Which model did better, and how surely.

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
    interval_text = format_interval(low, high, digits=2, sign="+")
    return f"{lead} (a minus b, {interval_name(0.95, alternative)} {interval_text})."


#: What is tested of two accuracies; and, one-sided, of all measures of which more is better.
EQUALLY_ACCURATE = ("{a} and {b} are equally accurate", "{a} is not {better} than {b}")
_SIDES = {
    "greater": {"more": "higher", "better": "better", "beyond": "below"},
    "less": {"more": "lower", "better": "worse", "beyond": "above"},
}
#: Statistics in words, by their distributions.
STATISTICS = {"t": "t", "F": "F", "normal": "z", "chi2": "chi-square"}


def null_hypothesis(record: Any) -> str:
    """What a test of two models tests, of {a} and {b} where these have no names."""
    a, b = getattr(record, "names", None) or ("{a}", "{b}")
    alternative, null = record.alternative, getattr(record, "null_difference", 0.0)
    if null and record.measure == "accuracy":
        return null_value(alternative, f"{a} minus {b}", f"{100 * null:+.4g} percentage points")
    if null:
        return null_value(alternative, f"{a} minus {b}", f"{null:+.4g}")
    text, side = record._nulls[alternative != "two-sided"], _SIDES.get(alternative, {})
    return str(text.format(a=a, b=b, measure=record.measure, **side))


def statistic_text(record: Any) -> str:
    """The statistic, where it is no count, and the p-value of a test, in words."""
    text, name = f"p = {format_pvalue(record.pvalue)}", STATISTICS.get(record.distribution)
    if name is None or isnan(record.statistic):
        return text
    df = f", df = {record.df:.4g}" if name == "t" else ""
    return f"{name} = {record.statistic:.4g}{df}, {text}"


def sentence_of_test(record: Any, end: str = "") -> Sentence:
    """What the test of two models gives, with its null hypothesis."""
    return with_null(statistic_text(record), null_hypothesis(record), end=end)


def direction_of(record: Any) -> str:
    """A clause: which of two models has more of the measure."""
    (a, b), measure = record.names, record.measure
    if isnan(record.difference):
        return f"{measure} of {a} and {b} cannot be compared"
    if record.difference == 0.0:
        return f"{a} and {b} have the same {measure}"
    return f"{a} has a {'higher' if record.difference > 0 else 'lower'} {measure} than {b}"


def estimate_sentence(record: Any) -> str:
    """The difference of two models, its interval and its standard error."""
    low, high = record.interval
    name = interval_name(record.confidence_level, record.alternative)
    interval = "" if isnan(low) else f", {name} [{low:+.4g}, {high:+.4g}]"
    error = f"standard error {record.standard_error:.3g}"
    return f"Difference {record.difference:+.4g}{interval}, {error}."


def several_tests(record: Any) -> str:
    """How many tests a record holds, and in which shape."""
    return f"{np.size(record.pvalue)} tests, shape {np.shape(record.pvalue)}"


def null_value(alternative: str, what: str, value: str) -> str:
    """What a test of a number tests: that it is `value`, at most, or at least."""
    relation = {"two-sided": "is", "greater": "is at most", "less": "is at least"}
    return f"{what} {relation[alternative]} {value}"


def answer_of(result: Any) -> str:
    """A clause: whether the difference of a record, or its one-sided claim, is significant."""
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
    """Sentences on samples without a true label, and on those of classes not chosen."""
    sentences = []
    if n_missing:
        sentences.append(how(f"{n_missing} samples without a true label were dropped."))
    if n_excluded:
        sentences.append(how(f"{n_excluded} samples of other classes were dropped."))
    return tuple(sentences)


def outside_sentences(
    n_outside: Sequence[int], names: Sequence[str], n_samples: int
) -> tuple[str, ...]:
    """Sentences on models that predict many labels which the truth does not hold.

    `n_outside` has such predictions of each model, or is empty where they were not
    counted.
    """
    much = [i for i, n in enumerate(n_outside) if n > MUCH_OUTSIDE * n_samples]
    sentences = [
        how(
            f"{100 * n_outside[i] / n_samples:.1f}% of the predictions of {names[i]} are "
            "labels that the truth does not hold; they count as wrong."
        )
        for i in much[:3]
    ]
    if len(much) > 3:
        sentences.append(how(f"So are many of those of {len(much) - 3} more models."))
    return tuple(sentences)


# The answer in one sentence, of records of one kind.


#: What the p-values of records that decide nothing are held against.
USUAL_ALPHA = 0.05
#: Measures that are spoken of in other words.
SPOKEN = {"ppv": "positive predictive value", "npv": "negative predictive value"}
_MOST_NAMES = 5


def names_of(record: object) -> tuple[str, str]:
    """The names of two models, "a" and "b" where these have none."""
    names: Sequence[str] = getattr(record, "names", None) or ()
    first, second = names if len(names) == 2 else ("a", "b")
    return str(first), str(second)


def named(names: Sequence[str]) -> str:
    """List models in a sentence, the first few by name."""
    listed, more = list(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    if more > 0:
        return f"{', '.join(listed)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def several_sentence(record: Any) -> str:
    """Count small p-values of tests that were made side by side."""
    values = np.asarray(record.pvalue)
    n_small = np.count_nonzero(values <= USUAL_ALPHA)
    return f"In {n_small} of {values.size} tests p is at most {USUAL_ALPHA}, unadjusted."


def adjusted_sentence(pvalue_adjusted: object, alpha: float) -> str:
    """Count comparisons that are significant after adjustment."""
    adjusted = np.asarray(pvalue_adjusted)
    n_small = np.count_nonzero(adjusted <= round(alpha, 9))
    compared = "comparison" if adjusted.size == 1 else "comparisons"
    lead = f"In {n_small} of {adjusted.size} {compared}"
    return f"{lead} the adjusted p is at most {round(alpha, 9):g}."


def difference_sentence(record: Any) -> str:
    """A sentence: which of two models did better by what measure, and p."""
    amount, unit = abs(record.difference), ""
    if record.measure == "accuracy":
        amount, unit = 100 * amount, " percentage points"
    pvalue = f"p = {format_pvalue(record.pvalue)}"
    at = f" {record.at}" if getattr(record, "at", "") else ""
    measure, (a, b) = SPOKEN.get(record.measure, record.measure), names_of(record)
    unnamed = (a, b) == ("a", "b")
    if isnan(record.difference):
        return f"The {measure}{at} of {a} and {b} cannot be compared; {pvalue}."
    if record.better is None:
        return f"{'Models ' * unnamed}{a} and {b} have the same {measure}{at}; {pvalue}."
    more = "lower" if less_is_better(record) else "higher"
    who = "Model " * unnamed + (a if record.better == "a" else b)
    ends, interval = getattr(record, "interval", None), ""
    if isinstance(ends, tuple) and not np.isnan(ends).any():
        level = getattr(record, "confidence_level", 0.95)
        kind = interval_name(level, getattr(record, "alternative", "two-sided"))
        interval = f" ({a} minus {b}, {kind} [{ends[0]:+.4g}, {ends[1]:+.4g}])"
    return f"{who} has a {more} {measure}{at}, by {amount:.4g}{unit}{interval}; {pvalue}."


def differ_sentence(record: Any) -> str:
    """A sentence: whether any of the models of a test differ."""
    do = "differ" if record.pvalue <= USUAL_ALPHA else "do not differ"
    return f"The {len(record.names)} models {do} significantly{against_usual(record.pvalue)}."


def against_usual(pvalue: float) -> str:
    """The end of a sentence: p, beside the usual level of records that have none."""
    if isnan(pvalue):
        return ": the test has no answer"
    relation = "at most" if pvalue <= USUAL_ALPHA else "above"
    return f"; p = {format_pvalue(pvalue)}, {relation} {USUAL_ALPHA}"
