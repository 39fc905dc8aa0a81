"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.records import Compared, Record
from fastcmp.core.sections import Section, dropped_sentences
from fastcmp.paired.margin_result import METHOD_NAMES
from fastcmp.pairwise.decisions import PairDecisions
from fastcmp.report.references import REFERENCES, cited
from fastcmp.report.wording import ADJUSTMENTS, in_words, names_of

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
    if name in _ADDED and getattr(record, "design", "samples") == "samples":
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
    """A null hypothesis, with the names of the two models."""
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


# How many models were compared in pairs, for the methods section of a paper.


_EACH_PAIR = re.compile(r"^Each pair: (.*); p-values adjusted for .*?\((.*)\)\.$")
_INTERVAL = re.compile(r"^Each .*% CI of .* is for that model alone \((.*)\);")
#: What is said of the intervals of differences.
_DIFFERENCES = re.compile(" standard errors: all contain|^Difference: ")
_NOUNS = {"means": "items", "tasks": "data sets", "bradley-terry": "battles"}


def paragraphs_of_pairs(result: PairDecisions) -> Iterator[str]:
    """Say what was tested, then how much is promised."""
    lines = [line for part in result.sections() for line in part.text]
    tests = [found for line in lines if (found := _EACH_PAIR.search(line))]
    intervals = [found for line in lines if (found := _INTERVAL.search(line))]
    each_pair = tests[0][1] if tests else result.method
    yield " ".join([_compared(result), _tested(result, each_pair)])
    yield " ".join(_promised(result, tests[0][2] if tests else "", lines))
    described = [
        f"Intervals of {result.measure} at the level "
        f"{100 * (1 - result.alpha):.9g}% are each for one model alone ({x[1]})."
        for x in intervals
    ]
    if result.control is None and result.leaderboard.rank_interval is not None:
        described.append(result.leaderboard.rank_promise)
    described += [line for line in lines if _DIFFERENCES.search(line)]
    described += dropped_sentences(result.n_missing, result.n_excluded)
    if described:
        yield " ".join(described)


def _compared(result: PairDecisions) -> str:
    noun = "folds" if result.test == "folds" else _NOUNS.get(result.test, "samples")
    inside = ""
    if result.n_clusters is not None:
        inside += f" in {result.n_clusters:,} clusters"
    if result.n_strata is not None:
        inside += f" in {result.n_strata:,} strata"
    against = "" if result.control is None else f" with the control {result.control}"
    return (
        f"{len(result.names):,} models were compared{against} by {result.measure} on "
        f"{result.n_samples:,} {noun}{inside}."
    )


def _tested(result: PairDecisions, each_pair: str) -> str:
    n = len(result.names)
    pairs = f"Each of the {result.n_pairs:,} pairs of models"
    if result.control is not None and not result.all_pairs_tested:
        pairs = "Each other model and the control"
    elif not result.all_pairs_tested:
        pairs = f"Each of {result.n_pairs:,} pairs chosen from {n * (n - 1) // 2:,}"
    if n == 2:
        pairs = "The two models"
    were = "were" if n == 2 or pairs.startswith("Each other") else "was"
    return f"{pairs} {were} compared by this test: {each_pair}."


def _promised(result: PairDecisions, adjustment: str, lines: list[str]) -> Iterator[str]:
    name = ADJUSTMENTS.get(result.adjust, result.adjust)
    drawn = adjustment.partition(": ")[2]
    drawn = f" ({drawn})" if drawn else ""
    if result.adjust == "none":
        yield "P-values were not adjusted for the number of tests."
    elif result.n_pairs == 1 and not drawn:
        yield "There is one comparison: its p-value needs no adjustment."
    else:
        yield (
            f"P-values were adjusted for {result.n_pairs:,} "
            f"comparison{'s' * (result.n_pairs != 1)} by {name}{drawn}."
        )
    adjusted = "" if result.adjust == "none" else "adjusted "
    yield (
        f"Two models are called significantly different where the {adjusted}p-value is "
        f"at most {result.alpha:g}: {result.rule}."
    )
    if result.margins is not None:
        how = METHOD_NAMES[result.margins.method]
        yield (
            f"Differences were tested against a margin of {result.margins.amount} by "
            f"two one-sided tests of each pair ({how})."
        )
        yield from (line for line in lines if line.startswith("They use the standard"))


@dataclass(frozen=True, kw_only=True)
class Methods:
    """Paragraphs of a methods section."""

    paragraphs: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The keys of all works cited, in the order of their first citation."""
        pieces = [piece for text in self.paragraphs for piece in cited(text)]
        return tuple(dict.fromkeys(key for _, keys in pieces for key in keys))


def methods_of(record: Record) -> Methods:
    """Say how a record was made: test, adjustment, intervals, and what is promised."""
    if isinstance(record, PairDecisions):
        return Methods(paragraphs=tuple(map(in_words, paragraphs_of_pairs(record))))
    pairs = _pairs_of(record)
    further = [] if pairs is None else list(paragraphs_of_pairs(pairs))
    first = " ".join(dict.fromkeys([*_of_one(record, pairs), *further[:1]]))
    return Methods(paragraphs=tuple(map(in_words, [first, *further[1:]])))


def _of_one(record: Any, pairs: PairDecisions | None) -> Iterator[str]:
    """Say how a record was made, without the decisions about pairs that it holds."""
    inner = getattr(record, "comparison", None)  # what a decision was made from
    known = [] if pairs is None else pairs.sections()
    yield from sentences_of(
        record if inner is None else inner,
        names=names_of(record),
        known={line for part in known for line in (*part.text, *part.notes)},
    )
    if inner is not None:
        level = getattr(record, "alpha", 0.05)
        yield f"The difference is called significant where p is at most {level:g}."
    margins = getattr(record, "margins", None)
    if margins is not None:
        yield margin_paragraph(margins, names_of(record))


def _pairs_of(record: Any) -> PairDecisions | None:
    """Find the decisions about all pairs that a record holds."""
    if type(record).__name__ == "CVDatasetsResult" and len(record.results) > 1:
        pairs: PairDecisions = record.over_datasets()
        return pairs
    found: PairDecisions | None = getattr(record, "post_hoc", None)
    return found


def margin_paragraph(margins: Any, names: tuple[str, str] = ("a", "b")) -> str:
    """Say how differences were tested against a margin."""
    a, b = names
    levels = np.unique(margins.alpha)
    level = f" at the level {levels[0]:g} each" if len(levels) == 1 else ""
    many = "margins" if np.unique(margins.margin).size > 1 else "a margin"
    how = " and ".join(METHOD_NAMES[each] for each in np.unique(margins.method))
    return (
        f"Differences were tested against {many} of {margins.amount} by two "
        f"one-sided tests{level} ({how}): {a} is called not worse than {b} where the "
        "test that it is worse by the margin or more rejects, and equivalent where "
        "both tests reject."
    )


def numbered(records: Mapping[str, Record]) -> tuple[list[dict[str, Any]], list[str]]:
    """Make one list of the works that several records cite.

    Gives the heading and the paragraphs of each, a paragraph as texts with the numbers
    that follow, and the references.
    """
    methods = {name: methods_of(record) for name, record in records.items()}
    keys = dict.fromkeys(key for each in methods.values() for key in each.references)
    numbers = {key: number for number, key in enumerate(keys, 1)}
    parts = [
        {
            "heading": name,
            "paragraphs": [
                [(text, [numbers[key] for key in found]) for text, found in cited(line)]
                for line in each.paragraphs
            ],
        }
        for name, each in methods.items()
    ]
    return parts, [_printed(REFERENCES[key]) for key in keys]


def _printed(reference: str) -> str:
    """Set quotation marks and ranges of pages as printers do."""
    quoted = re.sub(r'"(.*?)"', "\u201c\\1\u201d", reference)
    return re.sub(r"(?<=\d)-(?=\d)", "\u2013", quoted).replace("'", "\u2019")
