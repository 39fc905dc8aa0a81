"""Which blocks a record consists of, by its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.report.blocks import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.core.records import Record
    from fastcmp.report.blocks import Block

#: What makes the blocks of records that have more than text, by the class's name.
CONTENTS: dict[str, Callable[[Any], list[Block]]] = {}


def blocks_of(record: Record) -> list[Block]:
    """Give the blocks of a record: its own, or what it says in words and tables."""
    make = CONTENTS.get(type(record).__name__, _said)
    return make(record)


def _said(record: Record) -> list[Block]:
    return [Text(title=each.title, section=each) for each in record.sections()]
