"""Several records in one answer: a leaderboard a task, and one over tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.records import Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Title of the section that explains a record.
HOW = "How to read this"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Headed(Record):
    """A record below a line that says what is compared, for readers."""

    record: Record
    title: str

    def sections(self) -> list[Section]:
        """Describe the record below the line."""
        return [Section(title=self.title), *self.record.sections()]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Boards(Record):
    """Records by their titles, written below each other."""

    boards: Mapping[str, Record]

    def sections(self) -> list[Section]:
        """Describe all records below their titles; how to read equal ones only once."""
        records = list(self.boards.values())
        found = []
        for i, (title, record) in enumerate(self.boards.items()):
            own, after = record.sections(), records[i + 1 : i + 2]
            following = [each for record in after for each in record.sections()]
            found.append(Section(title=title))
            found += [
                each for each in own if each.title != HOW or each not in following
            ]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give each record, from which `fastcmp.from_dict` makes it again."""
        boards = {title: record.to_dict() for title, record in self.boards.items()}
        return {"record": "Boards", "boards": boards}
