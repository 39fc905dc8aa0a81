"""What a page consists of: blocks, each with the template that writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from fastcmp.core.sections import Section


@dataclass(frozen=True, kw_only=True)
class Block:
    """A titled part of a page."""

    #: File in `templates` that writes the block, as `block`.
    template: ClassVar[str]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Text(Block):
    """Paragraphs, and perhaps a table, as a record says them."""

    template: ClassVar[str] = "text.html.j2"
    section: Section
