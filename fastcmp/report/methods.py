"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from fastcmp.core.records import Compared, Record
from fastcmp.core.sections import attribute
from fastcmp.core.sentences import Sentence, names_of, of_models
from fastcmp.paired.margin_result import METHOD_NAMES
from fastcmp.pairwise.adjust import PROCEDURES_CITE, adjusted_by
from fastcmp.pairwise.margins import other_errors
from fastcmp.pairwise.result import PairwiseResult, noun_of
from fastcmp.report.references import REFERENCES

Paragraph = tuple[str, list[str]]

_PLAIN = "Numbers were computed from the data as given; there is no test."


def _size(record: Record) -> str:
    """A sentence on the number of samples, or an empty text where it is not known."""
    noun = "items" if hasattr(record, "n_items") else "samples"
    with suppress(ValueError):  # counts that are not known
        n = getattr(record, f"n_{noun}", None)
        if isinstance(record, Compared) and isinstance(n, int):
            clusters = getattr(record, "n_clusters", getattr(record, "n_groups", None))
            inside = f" in {clusters:,} clusters" if isinstance(clusters, int) else ""
            return f"There were {n:,} {noun}{inside}."
    return ""


def _marked(record: Record, excluded: Collection[str] = ()) -> Iterator[str]:
    """What sentences say of how it was done, ended and begun with a capital."""
    lines = (line for part in record.sections() for line in (*part.text, *part.notes))
    for line in lines:
        if isinstance(line, Sentence) and line.how and line not in excluded:
            ended = line.how if line.how.endswith((".", ".)")) else f"{line.how}."
            yield ended[0].upper() + ended[1:]


def cited(record: Any) -> list[str]:
    """The keys of the works that a record cites for how it was made, in order."""
    keys: list[str] = []
    for entry in record._cites:
        if callable(entry):
            keys += entry(record).split()
        elif isinstance(entry, str):
            keys += entry.split()
        else:
            name, by = entry
            value = attribute(record, name)
            if isinstance(by, str):
                keys += by.split() if value is not None and np.any(value) else []
                continue
            several = value if isinstance(value, (tuple, dict)) else np.atleast_1d(value).tolist()
            keys += [key for x in several for key in by.get(x, "").split()]
    return [*dict.fromkeys(keys)]


# How many models were compared in pairs, for the methods section of a paper.


def paragraphs_of_pairs(result: PairwiseResult) -> Iterator[Paragraph]:
    """What was tested, then which error rates are controlled, each with its references."""
    yield " ".join([_compared(result), _tested(result)]), cited(result)
    alone = result.n_pairs == 1 and not result._drawn and result.slices is None
    adjusted = [] if alone else _of_adjustment(result)
    margins = [] if result.margins is None else cited(result.margins)
    yield " ".join(_promised(result)), [*adjusted, *margins]
    described, keys = [], []
    if result.control is None and result._score_intervals:
        described = [
            f"Intervals of {result.measure} at the level {100 * (1 - result.alpha):.9g}% are "
            f"each for one model alone ({result._score_intervals})."
        ]
        keys += ["wilson"] * (result._score_intervals == "Wilson")
    if result.control is None and result.leaderboard.rank_interval is not None:
        described.append(result.leaderboard.rank_promise)
        keys.append("mogstad")
    described += _marked(result)
    if described:
        yield " ".join(described), keys


def _of_adjustment(record: object) -> list[str]:
    """The works that the adjustment of a record is from; none where nothing was tested."""
    if not getattr(record, "n_tests", 1):
        return []
    drawn = ["phipson"] * ("sign flips" in (getattr(record, "adjust_draws", None) or ""))
    return [*PROCEDURES_CITE.get(getattr(record, "adjust", ""), "").split(), *drawn]


def _compared(result: PairwiseResult) -> str:
    inside = ""
    if result.n_clusters is not None:
        inside += f" in {result.n_clusters:,} clusters"
    if result.n_strata is not None:
        inside += f" in {result.n_strata:,} strata"
    against = "" if result.control is None else f" with the control {result.control}"
    return (
        f"{len(result.names):,} models were compared{against} by {result.measure} on "
        f"{result.n_samples:,} {noun_of(result)}{inside}."
    )


def _tested(result: PairwiseResult) -> str:
    n = len(result.names)
    pairs, were = f"Each of the {result.n_pairs:,} pairs of models", "was"
    if result.control is not None and not result.all_pairs_tested:
        pairs, were = "Each other model and the control", "were"
    elif not result.all_pairs_tested:
        pairs = f"Each of {result.n_pairs:,} pairs chosen from {n * (n - 1) // 2:,}"
    if n == 2:
        pairs, were = "The two models", "were"
    return f"{pairs} {were} compared by this test: {result._each_pair}."


def _promised(result: PairwiseResult) -> Iterator[str]:
    if result.n_pairs == 1 and not result._drawn and result.adjust != "none":
        yield "There is one comparison: its p-value needs no adjustment."
    else:
        what = f"for {result.n_pairs:,} comparison{'s' * (result.n_pairs != 1)}"
        yield f"P-values were {adjusted_by(result.adjust, what, result._drawn)}."
    adjective = "" if result.adjust == "none" else "adjusted "
    yield (
        f"Two models are called significantly different where the {adjective}p-value is "
        f"at most {result.alpha:g}: {result.rule}."
    )
    if result.margins is not None:
        how = METHOD_NAMES[result.margins.method]
        yield (
            f"Differences were tested against a margin of {result.margins.amount} by "
            f"two one-sided tests of each pair ({how})."
        )
        yield from other_errors(result)


def methods_of(record: Record) -> tuple[str, ...]:
    """Paragraphs on how a record was made: test, adjustment, intervals, what is promised."""
    return tuple(text for text, _ in paragraphs_of(record))


def paragraphs_of(record: Record) -> list[Paragraph]:
    """The same with the works that each paragraph cites."""
    record = record._reported
    pairs = record if isinstance(record, PairwiseResult) else record._pairs
    further = [] if pairs is None else list(paragraphs_of_pairs(pairs))
    if pairs is not record:
        texts, keys = _of_one(record, pairs)
        first = further[:1]
        text = " ".join(dict.fromkeys([*texts, *(text for text, _ in first)]))
        further = [(text, [*keys, *(key for _, more in first for key in more)]), *further[1:]]
    return further


def _of_one(record: Any, pairs: PairwiseResult | None) -> tuple[list[str], list[str]]:
    """Sentences on how a record was made, without its decisions about pairs, and references."""
    inner = getattr(record, "comparison", None)  # what a decision was made from
    source = record if inner is None else inner
    a, b = names = names_of(record)
    if names == ("a", "b"):
        a, b = "model a", "model b"
    level, title = 100 * getattr(source, "confidence_level", 0.95), source.sections()[0].title
    words = {"record": source, "title": title, "a": a, "b": b, "level": f"{level:.9g}%"}
    lead = source._opening.format(**words)
    of_pairs = [] if pairs is None else [x for y in pairs.sections() for x in (*y.text, *y.notes)]
    sentences = [
        lead.replace("model a", "Model a", 1) if lead[:7] == "model a" else lead,
        _size(source),
        *(of_models(line, names) for line in _marked(source, of_pairs)),
        source._closing.format(**words),
    ]
    texts = list(filter(None, sentences)) or [_PLAIN]
    keys = cited(source) + ([] if pairs is not None else _of_adjustment(record))
    if inner is not None:
        level = getattr(record, "alpha", 0.05)
        texts.append(f"The difference is called significant where p is at most {level:g}.")
    margins = getattr(record, "margins", None)
    if margins is not None:
        texts.append(margin_paragraph(margins, names))
        keys += cited(margins)
    return texts, keys


def margin_paragraph(margins: Any, names: tuple[str, str] = ("a", "b")) -> str:
    """How differences were tested against a margin, in a paragraph."""
    a, b = names
    levels = np.unique(margins.alpha)
    level = f" at the level {levels[0]:g} each" if len(levels) == 1 else ""
    many = "margins" if np.unique(margins.margin).size > 1 else "a margin"
    how = " and ".join(METHOD_NAMES[method] for method in np.unique(margins.method))
    return (
        f"Differences were tested against {many} of {margins.amount} by two "
        f"one-sided tests{level} ({how}): {a} is called not worse than {b} where the "
        "test that it is worse by the margin or more rejects, and equivalent where "
        "both tests reject."
    )


def numbered(records: Mapping[str, Record]) -> tuple[list[dict[str, Any]], list[str]]:
    """Make one list of the works that several records cite.

    Gives the heading and the paragraphs of each, each a text with the numbers of works, and the
    references.
    """
    paragraphs_by_name = {name: paragraphs_of(record) for name, record in records.items()}
    every = [
        key for paragraphs in paragraphs_by_name.values() for _, keys in paragraphs for key in keys
    ]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(every), 1)}
    parts = [
        {
            "heading": name,
            "paragraphs": [
                (text, [numbers[key] for key in dict.fromkeys(keys)]) for text, keys in paragraphs
            ],
        }
        for name, paragraphs in paragraphs_by_name.items()
    ]
    return parts, [_printed(REFERENCES[key]) for key in numbers]


def _printed(reference: str) -> str:
    """Set quotation marks and ranges of pages as printers do."""
    quoted = re.sub(r'"(.*?)"', "\u201c\\1\u201d", reference)
    return re.sub(r"(?<=\d)-(?=\d)", "\u2013", quoted).replace("'", "\u2019")
