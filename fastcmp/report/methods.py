"""How it was done, in words fit for the methods section of a paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastcmp.core.records import Record


@dataclass(frozen=True, kw_only=True)
class Methods:
    """Paragraphs, in which ``[@key]`` cites a work, and the keys of all works cited."""

    paragraphs: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


def methods_of(record: Record) -> Methods:
    """Say how a record was made: test, adjustment, intervals, and what is promised."""
    return Methods(paragraphs=record.sections()[-1].text)
