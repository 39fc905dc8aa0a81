"""Which blocks a record consists of, by its class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fastcmp.report.blocks import said
from fastcmp.report.headline import headline

if TYPE_CHECKING:
    from fastcmp.core.records import Record
    from fastcmp.report.blocks import Block

#: What makes the blocks of a record that has more than words and tables, by the name of
#: its class: ``"module:function"`` of a function of the record.
CONTENTS: dict[str, str] = {
    **dict.fromkeys(
        (
            *("PairwiseResult", "MeansResult", "MetricsResult", "DatasetsResult"),
            *("CVPairwiseResult", "BradleyTerry", "EvaluePairs"),
        ),
        "fastcmp.report.boards:blocks_of_pairs",
    ),
}


def blocks_of(record: Record) -> list[Block]:
    """Give the blocks of a record: its own, or what it says in words and tables."""
    place = CONTENTS.get(type(record).__name__)
    if place is None:
        return [*said(record, headline(record))]
    module, _, name = place.partition(":")
    blocks: list[Block] = getattr(import_module(module), name)(record)
    return blocks
