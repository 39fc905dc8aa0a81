"""Files of values per item: wide ones in blocks or as a whole, long ones as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.progress import Progress, reporting
from fastcmp.inputs.values import as_values
from fastcmp.io.chosen import advice, no_column, plan_values, titled
from fastcmp.io.counting import plain
from fastcmp.io.formats import no_rows
from fastcmp.io.kinds import family, value_type
from fastcmp.io.sources import Source
from fastcmp.io.text import LateValueError
from fastcmp.io.text_types import id_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fastcmp.stream import ValueMoments

_ENOUGH = 8  # rows for each model that are summed up at once: their products pay
_MOST = 64_000_000  # bytes of values that are gathered for it
_ITEM = re.compile(r" for item (\d+) \((\d+) of \d+ items\)")


class ValueFile:
    """A wide file: a row an item, a column a model."""

    def __init__(
        self,
        path: Path,
        *,
        models: Sequence[str] | None = None,
        id_column: str | None = None,
        others: Mapping[str, str] | None = None,
        weights: str | None = None,
        drop: Sequence[str] = (),
    ) -> None:
        #: Columns that say something else of the items, by their options.
        self.others = dict(others or {})
        self._path = str(path)
        self._weights = weights
        self._chosen: dict[str, Any] = {
            "models": models,
            "id_column": id_column,
            "drop": drop,
        }
        labels = [name for name in self.others.values() if name != weights]
        self.source = Source(path, labels)
        self._settle()

    def _settle(self) -> None:
        """Choose columns and their types."""
        types, chosen = self.source.types, self._chosen
        self.names, self.remarks = plan_values(types, self._path, others=self.others, **chosen)
        if len(self.names) < 2:
            named = f": {', '.join(self.names)}" if self.names else ""
            raise ValueError(
                f"there must be at least 2 models, got {len(self.names)}{named} "
                f"(columns of {self._path})"
            )
        numbers = [*self.names, *([self._weights] if self._weights else [])]
        advised = "leave it out ({}), or say what it is (see --help)"
        read_numbers(self.source, numbers, self._path, advised)
        _read_labels(self.source, set(self.others.values()) - {self._weights})
        some = set(self._columns()) != set(types)  # JSON has others then
        self.source.expect(None, named=some)

    def size_in_memory(self) -> int:
        """Estimate what it would take to read the file as a whole."""
        return 2 * self.source.size_in_memory()

    def table(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the whole file: values of models, and what else is known, by option."""
        try:
            table = self.source.table(self._columns())
        except LateValueError:
            self.source.learn()
            self._settle()
            table = self.source.table(self._columns())
        values = {name: table.column(name) for name in self.names}
        return values, {k: table.column(x) for k, x in self.others.items()}

    def sum_up(
        self, moments: ValueMoments, *, progress: bool | Progress | None = None
    ) -> ValueMoments:
        """Read the file block by block."""
        with reporting(progress, "reading", unit="rows") as report:
            done = 0
            for values, others, fraction in self._gathered():
                n = next(iter(values.values())).size
                try:
                    moments.update(
                        values,
                        groups=others.get("--groups"),
                        weights=others.get("--weights"),
                    )
                except (ValueError, TypeError) as error:
                    raise type(error)(_in_file(str(error), done, n)) from None
                done += n
                report(done, self.source.n_rows or round(done / fraction))
        if not done:
            raise ValueError(no_rows(self.source.path))
        return moments

    def _columns(self) -> list[str]:
        return [*self.names, *self.others.values()]

    def _gathered(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], float]]:
        """Join blocks that are too small for the products of all pairs."""
        m = len(self.names)
        held: list[dict[str, Any]] = []
        n, fraction = 0, 0.0
        least = min(_ENOUGH * m, max(1, _MOST // (8 * m)))
        for _, block, fraction in self.source.blocks(self._columns()):
            held.append(block.cut(0, block.n_rows))
            n += block.n_rows
            if n >= least:
                yield (*self._joined(held), fraction)
                held, n = [], 0
        if n:
            yield (*self._joined(held), fraction)

    def _joined(self, held: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        import pyarrow as pa

        values = {
            name: np.concatenate([as_values(plain(own[name]), name) for own in held])
            for name in self.names
        }
        others = {
            option: plain(pa.chunked_array([own[name] for own in held]))
            for option, name in self.others.items()
        }
        return values, others


def read_long(path: Path, columns: Mapping[str, str | None], labels: Sequence[str]) -> Any:
    """Read columns of a long table, by their options; `labels` are not numbers."""
    named = {option: name for option, name in columns.items() if name is not None}
    of_labels = [named[option] for option in labels if option in named]
    source = Source(path, of_labels)

    def settle() -> None:
        for option, name in named.items():
            if name not in source.types:
                raise ValueError(no_column(name, source.types, str(path), option))
        numbers = [name for name in named.values() if name not in of_labels]
        read_numbers(source, numbers, str(path), "name another column (see --help)")
        _read_labels(source, set(of_labels))
        source.expect(None, named=True)

    settle()
    wanted = list(dict.fromkeys(named.values()))
    try:
        return source.table(wanted)
    except LateValueError:
        source.learn()
        settle()
        return source.table(wanted)


def long_size(path: Path) -> int:
    """Estimate what it would take to read a long table."""
    return 3 * Source(path).size_in_memory()


def read_numbers(source: Source, names: Sequence[str], path: str, advised: str) -> None:
    """Read columns of text files as numbers; refuse other columns."""
    import pyarrow as pa

    for name in names:
        kind = value_type(source.types[name])
        if family(kind) not in ("", "number"):
            what = "text" if family(kind) == "string" else f"values of type {kind}"
            raise TypeError(
                f"{path}: {titled(name)} holds {what}, and values must be numbers: "
                f"{advised.format(advice(name))}"
            )
        if not pa.types.is_boolean(kind):
            source.read_as(name, pa.float64())


def _read_labels(source: Source, names: set[str]) -> None:
    for name in names:
        source.read_as(name, id_types([source.seen(name)])[0])


def _in_file(message: str, first: int, n: int) -> str:
    """Count the items that a message names from the first of the file."""

    def counted(found: re.Match[str]) -> str:
        item = first + int(found[1])
        return f" for item {item} ({found[2]} in items {first} to {first + n - 1})"

    return _ITEM.sub(counted, message)
