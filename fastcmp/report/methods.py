"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.pairwise.decisions import PairDecisions
from fastcmp.report.pair_methods import paragraphs_of_pairs
from fastcmp.report.record_methods import sentences_of
from fastcmp.report.references import REFERENCES, cited

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        return Methods(paragraphs=tuple(paragraphs_of_pairs(record)))
    inner = getattr(record, "comparison", None)  # what a decision was made from
    texts = list(sentences_of(record if inner is None else inner))
    if inner is not None:
        level = getattr(record, "alpha", 0.05)
        texts.append(
            f"The difference is called significant where p is at most {level:g}."
        )
    margins = getattr(record, "margins", None)
    if margins is not None:
        texts.append(margin_paragraph(margins))
    return Methods(paragraphs=(" ".join(dict.fromkeys(texts)),))


def margin_paragraph(margins: Any) -> str:
    """Say how differences were tested against a margin."""
    levels = np.unique(margins.alpha)
    level = f" of level {levels[0]:g} each" if len(levels) == 1 else ""
    return (
        f"Whether a difference is smaller than the margin of {margins.amount} was "
        f"decided by two one-sided tests{level}: a is not worse than b where one "
        "rejects, and equivalent where both do."
    )


def numbered(
    records: Mapping[str, Record],
) -> tuple[list[dict[str, Any]], list[str]]:
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
