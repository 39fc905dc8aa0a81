"""The answer of a record in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fastcmp.core.records import Record, less_is_better
from fastcmp.core.sections import format_pvalue, interval_name
from fastcmp.pairwise.decisions import BETTER, WORSE, PairDecisions
from fastcmp.pairwise.leaderboard import format_score, style_of
from fastcmp.report.wording import in_words, names_of

_MOST_NAMES = 5
#: What the p-values of records that decide nothing are held against.
_USUAL = 0.05
_MEASURES = {"ppv": "positive predictive value", "npv": "negative predictive value"}
#: How what was planned is written: format, factor and unit.
_PLANNED = {
    "n": (",.0f", 1.0, ""),
    "power": (".1f", 100.0, "%"),
    "difference": (".4g", 100.0, " percentage points"),
}
#: The beginning of the sentence that answers, where it is not the first.
_ANSWERS = {
    "BestSet": "May be the best",
    "ModelConfidenceSet": "In the set",
    "RankSets": "With ",
    "WinnerEstimate": "Corrected",
    "OmnibusTest": "",
    "LiftTable": "The ",
    "CutpointResult": "Youden|Largest|Smallest",
    "BayesPairs": "Of ",
    "TaskNoise": "Variance",
    "LeftOutTasks": "Ranks|No ",
    "VarianceComponents": "With unlimited",
}
#: Records whose title says what they are, and that answer nothing.
_TITLED = (
    *("RocBand", "PrecisionRecallCurve", "DetCurve", "GainCurve", "ThresholdSweep"),
    *("ItemTable", "LogContents", "Results", "LabelTable", "Leaderboard", "TieGroups"),
    "TaskTable",
)
#: The beginnings of sentences to which the p-value is added.
_WITHOUT_P = ("Model ", "Both models", "Only a")
#: Beginnings of sentences that are no names.
_SMALL = re.compile("kappa = |chi-square = |mean difference |difference ")
_SEVERAL = re.compile(r"\d+ tests, shape")
_PVALUE = re.compile(r"\bp (=|<|>) ([\d.e-]+)(?: |\.|,|$)")


def headline(record: Record) -> str:
    """The sentence that answers what was asked."""
    return in_words(_answer(record))


def _answer(record: Record) -> str:
    """Choose what answers, by the class of the record."""
    if isinstance(record, PairDecisions):
        return _of_control(record) if record.control is not None else _of_all(record)
    make = _BY_CLASS.get(type(record).__name__)
    if make is _better and np.ndim(getattr(record, "pvalue", 0.0)):
        return _of_several(record)
    return make(record) if make is not None else _said(record)


def _said(record: Record) -> str:
    """Choose a sentence of the record; p-values come with a difference."""
    sections = record.sections()
    lines = _lines(record)
    if type(record).__name__ in _TITLED or not lines:
        return _sentence(sections[0].title)
    begin = re.compile(_ANSWERS.get(type(record).__name__, ""))
    chosen = next((line for line in lines if begin.match(line)), lines[0])
    pvalue: Any = getattr(record, "pvalue", None)
    if _SEVERAL.match(chosen) and pvalue is not None:
        return _of_several(record)
    shown = _PVALUE.search(chosen) or pvalue is None or np.ndim(pvalue)
    if not shown and chosen.startswith(_WITHOUT_P):
        chosen = f"{chosen.rstrip('.')}; p = {format_pvalue(pvalue)}."
    return _sentence(chosen)


def _lines(record: Record) -> list[str]:
    return [line for part in record.sections() for line in part.text]


def _of_several(record: Any) -> str:
    """Count small p-values of tests that were made side by side."""
    pvalue = np.asarray(record.pvalue)
    n_found = np.count_nonzero(pvalue <= 0.05)
    return f"In {n_found} of {pvalue.size} tests p is at most 0.05, unadjusted."


def _sentence(text: str) -> str:
    """End a sentence, and begin it with a capital where it begins with no name."""
    if _SMALL.match(text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", ")", "?")) else f"{text}."


def _of_all(result: PairDecisions) -> str:
    """Name the best model, its score, and those that may be as good."""
    best = result.best
    if not result.n_pairs:
        return "No test has an answer: which model is better is not known."
    if not best:
        return "Each model is significantly worse than another one: none is the best."
    if not result.all_pairs_tested:
        return (
            f"As far as {result.n_pairs:,} tested pairs of models say, "
            f"{_listed(best)} may be the best."
        )
    board = result.leaderboard
    style = style_of(result.measure, any_size=result.any_size)
    most = "lowest" if result.less_is_better else "highest"
    score = format_score(board.score[0], style)
    first = f"{best[0]} has the {most} {result.measure}, {score}"
    if len(best) == 1:
        others = "the other" if len(result.names) == 2 else "all others"
        decided = result.decisions[board.models[0], board.models[1:]]
        how = "better than" if (decided == BETTER).all() else "different from"
        return f"{first}, and is significantly {how} {others}."
    if len(best) == len(result.names):
        other = "the other" if len(best) == 2 else "any other"
        return f"{first}, but is not significantly different from {other}."
    return f"{first}. Not significantly different from it: {_listed(best[1:])}."


def _article(measure: str) -> str:
    """Name a measure with its article."""
    spoken = measure.partition(" ")[0]
    vowels = "AEFHILMNORSX" if spoken.isupper() else "aeio"
    return f"{'an' if spoken[:1] in vowels else 'a'} {measure}"


def _of_control(result: PairDecisions) -> str:
    """Say how many models are better or worse than the control."""
    control = result.control
    found = result.decisions[:, result.names.index(control or "")]
    order = result.leaderboard.models
    better = [result.names[i] for i in order if found[i] == BETTER]
    n_others, n_worse = len(result.names) - 1, np.count_nonzero(found == WORSE)
    worse = f"{n_worse:,} of {n_others:,} significantly worse"
    if not better:
        return f"No model is significantly better than {control}; {worse}."
    verb = "is" if len(better) == 1 else "are"
    return f"{_listed(better)} {verb} significantly better than {control}; {worse}."


def _listed(names: Any) -> str:
    """List names, the first few by name."""
    shown, more = list(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _better(record: Any) -> str:
    """Say which of two models did better in what, and p."""
    amount, unit = abs(record.difference), ""
    if record.measure == "accuracy":
        amount, unit = 100 * amount, " percentage points"
    pvalue = f"p = {format_pvalue(record.pvalue)}"
    at = f" {record.at}" if getattr(record, "at", "") else ""
    measure, (a, b) = _MEASURES.get(record.measure, record.measure), names_of(record)
    unnamed = (a, b) == ("a", "b")
    if np.isnan(record.difference):
        return f"The {measure}{at} of {a} and {b} cannot be compared; {pvalue}."
    if record.better is None:
        return f"{'Models ' * unnamed}{a} and {b} have the same {measure}{at}; {pvalue}."
    more = "lower" if less_is_better(record) else "higher"
    who = "Model " * unnamed + (a if record.better == "a" else b)
    return (
        f"{who} has {_article(f'{more} {measure}')}{at}, by "
        f"{amount:.4g}{unit}{_interval(record)}; {pvalue}."
    )


def _interval(record: Any) -> str:
    """The interval of a minus b, where it is a field."""
    ends = getattr(record, "interval", None)
    if not isinstance(ends, tuple) or np.isnan(ends).any():
        return ""
    level = getattr(record, "confidence_level", 0.95)
    a, b = names_of(record)
    kind = interval_name(level, getattr(record, "alternative", "two-sided"))
    return f" ({a} minus {b}, {kind} [{ends[0]:+.4g}, {ends[1]:+.4g}])"


def _symmetric(record: Any) -> str:
    """Say what a test of a square table found."""
    if "symmetry" in record.test:
        no = "" if record.pvalue <= _USUAL else "not "
        what = "Exchanges of classes between both models are"
        return f"{what} {no}significantly asymmetric{_against_usual(record)}."
    do = "differ" if record.pvalue <= _USUAL else "do not differ"
    what = f"The two models {do} significantly in how often they predict each class"
    return f"{what}{_against_usual(record)}."


def _against_usual(record: Any) -> str:
    """Give p, and the level that a record without one is held against."""
    if record.pvalue <= _USUAL:
        return f"; p = {format_pvalue(record.pvalue)}, at most {_USUAL}"
    if np.isnan(record.pvalue):
        return ": the test has no answer"
    return f"; p = {format_pvalue(record.pvalue)}, above {_USUAL}"


def _of_areas(record: Any) -> str:
    """Say how areas compare; a model is the best only if a test shows it."""
    auc, measure = np.atleast_1d(record.auc), getattr(record, "measure", "AUC")
    if len(auc) == 1:
        return f"The {measure} is {auc[0]:.4f}."
    if len(auc) == 2:
        test = record.compare(0, 1)
        doubt = "" if test.pvalue <= _USUAL else ", not significant"
        return f"{_better(test).rstrip('.')}{doubt}."
    if hasattr(record, "pairwise"):
        return _of_all(record.pairwise())
    best = record.names[int(np.argmax(auc))]
    return f"{best} has the highest {measure} in this sample, {auc.max():.4f}: not a test."


def _superior(record: Any) -> str:
    names = np.array(record.names, dtype=object)
    shown = list(names[np.asarray(record.pvalue_adjusted) <= record.alpha])
    if not shown:
        return f"No model is shown to be better than {record.control}."
    return f"Shown to be better than {record.control}: {_listed(shown)}."


def _differ(record: Any) -> str:
    """Say whether any of the models differ."""
    which = "differ" if record.pvalue <= _USUAL else "do not differ"
    models = f"The {len(record.names)} models"
    return f"{models} {which} significantly{_against_usual(record)}."


def _of_pairs_in(record: Any) -> str:
    return headline(record.compared)


def _over_datasets(record: Any) -> str:
    return headline(record.over_datasets()) if len(record.results) > 1 else _said(record)


def _shifted(record: Any) -> str:
    """The estimate of a shift, and p."""
    line = next(x for x in record.sections()[0].text if x.startswith("Hodges-Lehmann"))
    text = line.replace("Hodges-Lehmann:", "Hodges-Lehmann estimate of", 1)
    text = re.sub(r"(minus \S+) (?=[-+])", r"\1: ", text)
    return f"{text.rstrip('.')}; p = {format_pvalue(record.pvalue)}."


def _of_bounds(record: Any) -> str:
    return f"The AUC lies between {record.low:.4f} and {record.high:.4f}."


def _of_ratio(record: Any) -> str:
    measure = record.measure.replace("_", " ")
    text = next(x for x in _lines(record) if x.startswith("a / b"))
    text = text.replace("a / b =", "a over b,", 1).rstrip(".")
    name = _MEASURES.get(measure, measure)
    return f"Ratio of the {name}, {text}; p = {format_pvalue(record.pvalue)}."


def _of_plan(record: Any) -> str:
    """Say what is planned; of several plans, from what to what."""
    if not np.ndim(record.power):
        return _said(record)
    found = np.asarray(getattr(record, record.solved_for), np.float64)
    known = found[np.isfinite(found)]
    lead = f"{found.size:,} plans ({record.test_name})"
    if not known.size:
        return f"{lead}: none is possible."
    form, scale, unit = _PLANNED[record.solved_for]
    if record.solved_for == "n":
        unit = f" {record.unit}"
    if record.solved_for == "difference" and record.measure != "accuracy":
        form, scale, unit = ".4g", 1.0, ""
    low, high = (format(scale * x, form) for x in (known.min(), known.max()))
    what = {"n": "", "power": "power ", "difference": "difference "}[record.solved_for]
    ends = f"{low}{unit}" if low == high else f"from {low} to {high}{unit}"
    return f"{lead}: {what}{ends}."


def _of_metrics(record: Any) -> str:
    """The first metric, with its interval."""
    title, value = np.atleast_1d(record.title)[0], np.atleast_1d(record.value)[0]
    low, high = (np.atleast_1d(end)[0] for end in record.interval)
    level = 100 * record.confidence_level
    return f"{title} is {value:.4f}, {level:.9g}% CI [{low:.4f}, {high:.4f}]."


def _of_curve(record: Any) -> str:
    return f"The area under the ROC curve is {record.auc:.4f}."


def _of_table(record: Any) -> str:
    """The first measure of a table of two classes."""
    name, value, interval = record.sections()[1].rows[0][:3]
    level = 100 * record.confidence_level
    return f"The {name} is {value}, {level:.9g}% CI {interval}."


def _of_report(record: Any) -> str:
    """Name the best model by the first number of a report."""
    name = " ".join(filter(None, record.sections()[0].rows[0][:2]))
    best = int(np.nanargmax(record.value[:, 0]))
    return f"{record.names[best]} has the highest {name}, {record.value[best, 0]:.4f}."


def _of_measures(record: Any) -> str:
    """The differences of sensitivity and specificity."""
    shown = [f"{row[0]} {row[4]} (p = {row[6]})" for row in record.sections()[0].rows[:2]]
    return f"a minus b: {' and '.join(shown)}."


def _count(record: Any) -> str:
    """Say how many of several comparisons are significant."""
    adjusted = np.asarray(record.pvalue_adjusted)
    level = round(1.0 - getattr(record, "confidence_level", 1.0 - _USUAL), 9)
    n_found = np.count_nonzero(adjusted <= level)
    compared = "comparison" if adjusted.size == 1 else "comparisons"
    found = f"In {n_found} of {adjusted.size} {compared}"
    return f"{found} the adjusted p is at most {level:g}."


_BY_CLASS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(
        (
            *("FoldTestResult", "PermutationResult", "VenkatramanResult"),
            *("AUCComparison", "CostResult", "MeanDifference", "UnpairedMeans"),
            *("MetricComparison", "PredictiveValueTest"),
        ),
        _better,
    ),
    **dict.fromkeys(("OmnibusTest", "CochranResult", "MetricEquality"), _differ),
    "SymmetryResult": _symmetric,
    **dict.fromkeys(("DelongResult", "BootstrapResult"), _of_areas),
    "RocCurve": _of_curve,
    "ClassificationTable": _of_table,
    "ClassificationReport": _of_report,
    "MeasureComparison": _of_measures,
    **dict.fromkeys(("MaxTResult", "SimultaneousPairs"), _count),
    "SuperiorAbility": _superior,
    "SignedRankResult": _shifted,
    "AreaBounds": _of_bounds,
    "PairedRatio": _of_ratio,
    "Plan": _of_plan,
    "PairLooksResult": _of_pairs_in,
    "CVDatasetsResult": _over_datasets,
    "MetricResult": _of_metrics,
}
