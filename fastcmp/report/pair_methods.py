"""How many models were compared in pairs, for the methods section of a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastcmp.core.sentences import dropped_sentences
from fastcmp.paired.margin_result import METHOD_NAMES
from fastcmp.report.wording import ADJUSTMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastcmp.pairwise.decisions import PairDecisions

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
