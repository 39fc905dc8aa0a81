"""Types of the columns of a text file, inferred from the rows read so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from fastcmp.io.formats import DELIMITERS
from fastcmp.io.parsing import parse_rows
from fastcmp.io.text_types import (
    BEYOND,
    NUMBER,
    WHOLE,
    has_codes,
    in_numbers,
    in_words,
    label_type,
    score_type,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


class InferredTypes:
    """What the columns of a text file hold, so far, and their types."""

    def __init__(self, kind: str, labels: Container[str] | None) -> None:
        self._kind = kind
        self._is_csv = kind in DELIMITERS
        self._labels = labels
        #: Types of the columns, in their order.
        self.types: dict[str, Any] = {}
        # None where JSON has a type that no labels have.
        self._found: dict[str, int | None] = {}
        # Whole numbers that are not written as pyarrow reads them, such as 1.0.
        self._by_text: set[str] = set()

    def is_label(self, name: str) -> bool:
        """Tell whether a column holds labels or ids."""
        return self._labels is None or name in self._labels

    def found_in(self, name: str) -> int | None:
        """Tell what a column holds, so far."""
        return self._found[name] if self._is_csv else None

    def look(self, data: bytes, table: Any, names: Sequence[str] | None) -> None:
        """Note what the columns of some rows hold, and choose types for it."""
        for name in table.column_names:  # in this order
            self.types.setdefault(name, pa.null())
        codes = self.may_merge(data)
        unsure = []
        for name, column in zip(table.column_names, table.columns, strict=True):
            found = in_numbers(column)
            may_merge = found == NUMBER
            if self._is_csv and self.is_label(name):
                is_code = codes and pa.types.is_integer(column.type)
                may_merge = is_code or bool(found and pa.types.is_floating(column.type))
            if may_merge:
                unsure.append(name)
            else:
                self._note(name, column.type, found)
        if unsure and self._is_csv:
            asked = dict.fromkeys(unsure, pa.string())
            texts = parse_rows(data, self._kind, asked, names=names)
        for name in unsure:
            if self._is_csv:
                words = texts.column(name).unique()
                self._note(name, table.column(name).type, in_words(words))
            else:
                self._note(name, pa.float64(), self._in_json(data, name))

    def _in_json(self, data: bytes, name: str) -> int:
        """Tell whether whole numbers that pyarrow reads as floats fit another type."""
        asked = {name: pa.uint64()}
        try:
            table = parse_rows(data, self._kind, asked, others="ignore")
        except pa.ArrowInvalid:
            return NUMBER
        return in_numbers(table.column(name))

    def _note(self, name: str, kind: Any, found: int | None) -> None:
        """Add to what was found in a column, and choose its type."""
        if not self._is_csv and pa.types.is_nested(kind):
            found = None
        before = self._found.get(name, 0)
        if found is None or before is None:
            self._found[name], self.types[name] = None, kind
            return
        choose = score_type
        if self._is_csv and self.is_label(name):
            choose = label_type
            if pa.types.is_floating(kind):
                self._by_text.add(name)
        elif pa.types.is_floating(kind) and found & ~(WHOLE | BEYOND):
            found = NUMBER  # however it is written
        self._found[name] = found | before
        self.types[name] = choose(found | before)

    def merge(self, other: Self) -> None:
        """Add what was found in another file."""
        for name, found in other._found.items():
            self._note(name, other.types[name], found)
        self._by_text |= other._by_text

    def adopt(self, first: Self, names: Sequence[str]) -> None:
        """Take over what was found in another file."""
        self.types = {name: first.types.get(name, pa.null()) for name in names}
        self._found = {name: first._found.get(name, 0) for name in names}
        self._by_text = set(first._by_text)

    def may_merge(self, data: bytes) -> bool:
        """Tell whether pyarrow may read different texts as one whole number."""
        return self._is_csv and (self._labels is not None or has_codes(data))

    def asked(self, wanted: dict[str, Any], *, careful: bool) -> dict[str, Any]:
        """Choose the types to ask pyarrow for: text where it might merge texts."""
        asked = {}
        for name, kind in wanted.items():
            is_text = pa.types.is_integer(kind) and (careful or name in self._by_text)
            if pa.types.is_floating(kind):
                is_text = not (self._found[name] or 0) & NUMBER
            is_text = is_text and self._is_csv and self.is_label(name)
            asked[name] = pa.string() if is_text else kind
        return asked

    def be_careful(self, names: Sequence[str]) -> None:
        """Ask for text wherever whole numbers are."""
        self._by_text.update(names)
