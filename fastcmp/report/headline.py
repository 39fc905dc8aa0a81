"""The answer of a record in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastcmp.core.records import Record


def headline(record: Record) -> str:
    """Give the sentence that answers what was asked, as the record says it."""
    return next((line for part in record.sections() for line in part.text), "")
