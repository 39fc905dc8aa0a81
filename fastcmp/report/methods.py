"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.paired.margin_result import METHOD_NAMES
from fastcmp.pairwise.decisions import PairDecisions
from fastcmp.report.pair_methods import paragraphs_of_pairs
from fastcmp.report.record_methods import sentences_of
from fastcmp.report.references import REFERENCES, cited
from fastcmp.report.wording import in_words, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fastcmp.core.records import Record


@dataclass(frozen=True, kw_only=True)
class Methods:
    """Paragraphs of a methods section."""

    paragraphs: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Give the keys of all works cited, in the order of their first citation."""
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
