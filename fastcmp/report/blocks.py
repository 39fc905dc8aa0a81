"""What a page consists of: blocks, each with the template that writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from fastcmp.core.render import shortened

if TYPE_CHECKING:
    from fastcmp.core.records import Record
    from fastcmp.core.sections import Section

#: Rows of a table that stand on a page.
MOST_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class Block:
    """A titled part of a page.

    The page writes the heading and what surrounds the block. The template writes only
    what is inside, with `block`, with `uid` to begin all ids with, and with `level`,
    that of its heading. The page's policy forbids the attribute ``style`` and handlers
    of events in attributes: use classes, SVG's own attributes, and `addEventListener`.
    """

    #: File in `templates` that writes the block.
    template: ClassVar[str]
    #: Files in `templates` that the block needs beside `style.css` and `page.js`.
    styles: ClassVar[tuple[str, ...]] = ()
    scripts: ClassVar[tuple[str, ...]] = ()
    #: Whether it shows nothing, or too much, without a script: notebooks run none.
    needs_script: ClassVar[bool] = False
    title: str = ""

    @property
    def kind(self) -> str:
        """Name the class of style of what surrounds the block."""
        return "caution" if self.title == "Cautions" else ""


@dataclass(frozen=True, kw_only=True)
class Text(Block):
    """Paragraphs, and perhaps a table, as a record says them."""

    template: ClassVar[str] = "text.html.j2"
    section: Section


def said(record: Record) -> list[Text]:
    """What a record says as blocks, without what the page says before them.

    That is the title of the first section and the headline.
    """
    blocks, answer = [], record._reported._headline()
    for i, section in enumerate(record.sections()):
        new_lines = tuple(
            line
            for line in section.text
            if getattr(line, "says", line).lower().rstrip(".") not in answer.lower()
        )
        title = section.title if i else ""
        if new_lines or section.columns or section.notes:
            shortened_section = shortened(replace(section, text=new_lines), MOST_ROWS, "")
            blocks.append(Text(title=title, section=shortened_section))
    return blocks


def blocks_of(record: Record) -> list[Block]:
    """The blocks of a record: its own, or what it says in words and tables."""
    if not record._blocks:
        return [*said(record)]
    module, _, name = record._blocks.partition(":")
    make = getattr(import_module(f"fastcmp.report.{module}"), name)
    blocks: list[Block] = make(record)
    return blocks
