"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.report.references import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastcmp.core.records import Record

_CITATION = re.compile(r"\[@([a-z0-9-]+)\]")


@dataclass(frozen=True, kw_only=True)
class Methods:
    """Paragraphs, in which ``[@key]`` cites a work, and the keys of all works cited."""

    paragraphs: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Give the keys of all works cited, in the order of their first citation."""
        return tuple(dict.fromkeys(_CITATION.findall(" ".join(self.paragraphs))))


def methods_of(record: Record) -> Methods:
    """Say how a record was made: test, adjustment, intervals, and what is promised."""
    return Methods(paragraphs=record.sections()[-1].text)


def numbered(
    records: Mapping[str, Record],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Number the references of several records through.

    Gives the heading and the paragraphs of each, a paragraph as texts with the number
    that follows (0 for none), and the references.
    """
    numbers: dict[str, int] = {}
    parts = []
    for name, record in records.items():
        methods = methods_of(record)
        for key in methods.references:
            numbers.setdefault(key, len(numbers) + 1)
        cut = [_cut(paragraph, numbers) for paragraph in methods.paragraphs]
        parts.append({"heading": name, "paragraphs": cut})
    return parts, [REFERENCES[key] for key in numbers]


def _cut(paragraph: str, numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    pieces = _CITATION.split(paragraph)
    cited = [numbers[key] for key in pieces[1::2]]
    return list(zip(pieces[::2], [*cited, 0], strict=True))
