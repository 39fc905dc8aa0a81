"""How one record was made, in sentences: what was done, H0, intervals, draws."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastcmp.core.record_parts import Compared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fastcmp.core.records import Record
    from fastcmp.core.sections import Section

#: Sentences of a record that say how it was made.
_HOW = re.compile(
    r"confidence|adjusted|^Adjusted|max-T|\bdraws\b|\bseed\b|^Tests?:|[Ii]ntervals?:|"
    r"of even one|^Each |\bPrior:|^By |is tested by|[Ii]n brackets|clusters|strata\b|"
    r"were dropped|count as wrong|no test of|is better\.|Less is better|"
    r"[Kk]appa compares|H0: |random order|^False-pass |^Exact |^Corrected resampled"
)
#: Those that say what was found.
_FOUND = re.compile(
    r"\b(?:p|z|t|F|Q|D|E|chi-square|W\+) (?:=|<) |Accuracy of a \d|[-+]\d+\.\d|too few|"
    r"\bplans\b|% power to |: significantly better than |"
    r"predicted differently"
)
#: How sentences of a record begin that a methods section says otherwise.
_SAID_OTHERWISE = re.compile(
    r"^\d+ samples of \d+ classes\. In brackets: [^.]*\.$|"
    r"^Shown at [\d.]+, step down: .*?\. (?=The)|"
    r"^[+] significantly better than .*?, - significantly worse: (?=p-values)"
)
_NULL = re.compile(r"\(H0: ([^);]*)|^H0: (.*?)(?: p = .*|\.?)$")
#: How null hypotheses begin that call the models a and b.
_OF_A_AND_B = ("a and b ", "a is ", "a does not ", "a costs ")
_BAYESIAN = re.compile(r"\((Bayesian .*?), \d")
#: What was done, by class, where the title of the record does not say it.
_LEADS = {
    "MetricResult": "Each metric was estimated from all samples; the table names how "
    "its interval was made.",
    "MetricComparison": "{a} and {b} were compared by metrics of their predictions "
    "for the same samples.",
    "MetricEquality": "The metric of all models was compared at once by a Wald test "
    "with the covariances of the estimates.",
    "MeanDifference": "The means of {a} and {b} on the same items were compared.",
    "UnpairedMeans": "The means of {a} and {b} on different samples were compared.",
    "BestSet": "Each model was compared with the best of the others.",
    "ModelConfidenceSet": "Models were eliminated step by step, until the test that "
    "those left are equal did not reject.",
    "RankSets": "Sets of ranks come from tests of the differences of all models.",
    "SuperiorAbility": "Each model was compared with the control {record.control}.",
    "WinnerEstimate": "The estimate of the winner was corrected for having been picked "
    "as the largest.",
    "GateResult": "The new model passes where it is shown, in every comparison, not to "
    "be worse than the old one by the margin.",
    "MarginTests": "The difference was tested against a margin by two one-sided tests.",
    "Plan": "The plan is for this test: {record.test_name}.",
    "DelongResult": "Areas under ROC curves have DeLong's standard errors and "
    "covariances; their intervals are symmetric on the logit scale.",
    "BootstrapResult": "Intervals are percentiles over samples drawn again.",
    "RocBand": "Intervals of the rates are percentiles over samples drawn again.",
    "ClassificationReport": "All numbers of the report are of the same samples, with "
    "{level} intervals of each number on its own.",
    "ClassificationTable": "Each measure is a ratio of the four counts; intervals of "
    "proportions: {record.interval}.",
    "CutpointResult": "The cutoff was chosen by this criterion: {record.criterion}. A "
    "sample is called positive where its score is {record.rule} the cutoff.",
    "BayesPairs": "Probabilities are of the posterior of this test of each pair: "
    "Bayesian {record.method} test.",
    "TaskTable": "Each model was compared with {record.baseline}, task by task.",
    "AgreementResult": "The predictions of each two models were compared with each other.",
    "MeasureComparison": "{a} and {b} were compared on the same samples, measure by measure.",
    "AreaBounds": "Scores were counted in bins, and pairs of scores in one bin left "
    "open: the bounds hold whatever their order.",
    "LabelTable": "Samples were counted by their true class and by what the two models predict.",
    "TaskBootstrap": "Tasks were drawn again with replacement, and models ranked anew each time.",
    "LeftOutTasks": "Each task was left out in turn, and models ranked anew.",
}
_LEADS |= dict.fromkeys(
    ("RocCurve", "PrecisionRecallCurve", "DetCurve", "GainCurve", "ThresholdSweep"),
    "Each point of the curve is one cutoff: scores that reach it are called positive.",
)
#: What else there is to say, by class.
_ADDED = {
    "McNemarResult": "The {level} interval of the difference of accuracies is "
    "Newcombe's hybrid of two score intervals (method 10).",
    "CostResult": "The {level} interval of the difference of costs is of profile "
    "likelihood: the costs that the test does not reject.",
    "BCVMcNemarResult": "Counts of all folds were averaged, and their variance was "
    "corrected for what folds have in common.",
    "AUCComparison": "Standard errors come from the placements of the scores of one "
    "class among those of the other.",
    "LiftTable": "Response has Wilson's intervals; intervals of lift and of captured "
    "events take into account that the scores themselves cut the groups.",
    "EvalueResult": "Evidence is measured by e-values of the samples on which only one "
    "of both models is right. If H0 is true, the probability that the e-value ever "
    "reaches 1 / alpha is at most alpha, however often one looks.",
    "SymmetryResult": "The test compares the predictions of two models with each "
    "other, not with the truth.",
}
_ADDED |= dict.fromkeys(
    ("LooksResult", "MeanEvalueResult", "PairLooksResult"),
    "Evidence is measured by e-values, and intervals are confidence sequences: what "
    "they promise holds at all looks at once, however often one looks.",
)
_UNPAIRED = {
    "score": "Newcombe's hybrid of two Wilson intervals",
    "miettinen-nurminen": "Miettinen and Nurminen's score interval",
}
_PLAIN = "Numbers were computed from the data as given; there is no test."


def sentences_of(
    record: Record, *, names: tuple[str, str] = ("a", "b"), known: Collection[str] = ()
) -> Iterator[str]:
    """Sentences on what was done, then those of the record that describe the method.

    `names` are those of two models; sentences that are `known` are left out.
    """
    sections = [part for part in record.sections() if part.title != "Cautions"]
    told = [_lead(record, sections, names), _size(record)]
    lines = (line for part in sections for line in (*part.text, *part.notes))
    for line in (_SAID_OTHERWISE.sub("", line) for line in lines if line not in known):
        null = _NULL.search(line)
        if null is not None:
            told.append(f"The null hypothesis is that {_null(null, names)}.")
        elif _HOW.search(line) and not _FOUND.search(line):
            told.append(_sentence(line))
    name = type(record).__name__
    level = f"{100 * getattr(record, 'confidence_level', 0.95):.9g}%"
    if name in _ADDED:
        told.append(_ADDED[name].format(level=level))
    if name == "UnpairedResult":
        kind = _UNPAIRED.get(record.method, "the values that exact tests do not reject")  # type: ignore[attr-defined]
        told.append(f"The {level} interval of the difference of accuracies: {kind}.")
    told = list(filter(None, told))
    yield from told or [_PLAIN]


def _size(record: Record) -> str:
    """Say on how many samples two models were compared, where that is known."""
    noun = "items" if hasattr(record, "n_items") else "samples"
    with suppress(ValueError):  # counts that are not known
        n = getattr(record, f"n_{noun}", None)
        if isinstance(record, Compared) and isinstance(n, int):
            clusters = getattr(record, "n_clusters", getattr(record, "n_groups", None))
            inside = f" in {clusters:,} clusters" if isinstance(clusters, int) else ""
            return f"There were {n:,} {noun}{inside}."
    return ""


def _null(found: re.Match[str], names: tuple[str, str]) -> str:
    """Give a null hypothesis, with the names of the two models."""
    text = (found[1] or found[2]).rstrip(".")
    if not text.startswith(_OF_A_AND_B):
        return text
    return names[0] + re.sub(r"\bb\b", lambda _: names[1], text[1:])


def _lead(record: Any, sections: list[Section], names: tuple[str, str]) -> str:
    """Say what was done; nothing where the title is a question."""
    name, first = type(record).__name__, sections[0]
    if name in _LEADS:
        a, b = names if names != ("a", "b") else ("model a", "model b")
        level = f"{100 * getattr(record, 'confidence_level', 0.95):.9g}%"
        lead = _LEADS[name].format(record=record, a=a, b=b, level=level)
        return lead.replace("model a", "Model a", 1) if lead[:7] == "model a" else lead
    if name == "CVComparison":
        tests = "; ".join(f"{row[0]} on {row[1]}" for row in sections[0].rows)
        a, b = names
        return f"{a} and {b} were compared by cross-validation: {tests}."
    if name == "OmnibusTest":
        return f"All models were compared at once by {first.text[2].partition(':')[0]}."
    bayesian = _BAYESIAN.search(" ".join(first.text))
    if bayesian is not None:
        return f"Probabilities are of the posterior of this test: {bayesian[1]}."
    if first.title.endswith("?"):
        return ""
    tested = hasattr(record, "pvalue") or hasattr(record, "log_evalue")
    return f"Test: {first.title.replace(') (', '; ')}." if tested else ""


def _sentence(line: str) -> str:
    """End a sentence, and begin it with a capital."""
    ended = line if line.endswith((".", ".)")) else f"{line}."
    return ended[0].upper() + ended[1:]
