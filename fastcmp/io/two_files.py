"""Two files of one model each: labels, or values, of the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.io.chosen import ID, TARGET, no_column, other_truth
from fastcmp.io.predictions import align_tables, same_columns, settle_columns
from fastcmp.io.sources import Source
from fastcmp.io.text import LateValueError
from fastcmp.io.text_types import id_types
from fastcmp.io.values import read_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Column = tuple[Source, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModels:
    """What two files hold of the same samples."""

    #: True labels; None where values are compared.
    y_true: Any
    #: Predictions or values of the first and the second file.
    models: tuple[Any, Any]
    #: What else is known of each sample, by the option that asked for it.
    others: dict[str, Any]

    @property
    def subsets(self) -> Any:
        """Subset of each sample; None where none was asked for."""
        return self.others.get("--by")


class TwoFiles:
    """Which columns of two files are read, and by which ids they are joined."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        target: str | None = TARGET,
        models: Sequence[str] | None = None,
        id_column: str | None = None,
        others: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
    ) -> None:
        #: Column of the true labels; None where values are compared.
        self.target, self.others = target, dict(others or {})
        self.ids = ID if id_column is None else id_column
        labels = None if target is not None else (self.ids, *self.others.values())
        self.sources = [Source(path, labels) for path in paths]
        self._check(named=id_column is not None)
        self.models = [
            self._model_of(source, None if models is None else models[i], drop)
            for i, source in enumerate(self.sources)
        ]

    def _check(self, *, named: bool) -> None:
        """Refuse files without ids, truth or subsets."""
        for source in self.sources:
            if self.ids not in source.types and not named:
                raise ValueError("files are joined by sample ids: name their column (--id)")
        for name, option in ((self.ids, "--id"), (self.target, "--target")):
            for source in self.sources:
                if name is not None and name not in source.types:
                    raise ValueError(no_column(name, source.types, str(source.path), option))
        for option, name in self.others.items():
            if not self._homes(name):
                first = self.sources[0]
                raise ValueError(no_column(name, first.types, str(first.path), option))

    def _model_of(self, source: Source, named: str | None, drop: Sequence[str]) -> str:
        """Find the column of the one model of a file."""
        path = str(source.path)
        if named is not None:
            if named not in source.types:
                raise ValueError(no_column(named, source.types, path, "--models"))
            return named
        used = {self.ids, self.target, *self.others.values(), *drop}
        found = [name for name in source.types if name not in used]
        if len(found) == 1:
            return found[0]
        listed = f" ({', '.join(found[:10])})" if found else ""
        raise ValueError(
            f"{path} must have one column for its model, got {len(found)}{listed}: "
            "name that of each file (--models BASE NEW), or leave columns out (--drop)"
        )

    def _homes(self, name: str) -> list[Source]:
        return [source for source in self.sources if name in source.types]

    def read(self) -> TwoModels:
        """Read both files whole."""
        try:
            return self._read()
        except LateValueError:
            for source in self.sources:
                source.learn()
            return self._read()

    def _read(self) -> TwoModels:
        self._settle()
        where = [str(source.path) for source in self.sources]
        tables = []
        for source, model in zip(self.sources, self.models, strict=True):
            source.expect(self.ids, named=True)
            wanted = [self.ids, self.target, *self.others.values(), model]
            known = [x for x in dict.fromkeys(wanted) if x in source.types]
            tables.append(source.table(known))
        tables = align_tables(tables, where, self.ids)
        first, second = (
            table.column(name) for table, name in zip(tables, self.models, strict=True)
        )
        return TwoModels(
            y_true=self._shared(self.target, tables, where),
            models=(first, second),
            others={
                option: self._shared(name, tables, where) for option, name in self.others.items()
            },
        )

    def _settle(self) -> None:
        """Choose types of text columns in which they compare."""
        models = list(zip(self.sources, self.models, strict=True))
        ids = [(source, self.ids) for source in self.sources]
        if self.target is not None:
            settle_columns([(x, self.target) for x in self.sources], models, ids)
        else:
            settle_columns([], [], ids)
            for source, model in models:
                advised = "name another column (--models BASE NEW)"
                read_numbers(source, [model], str(source.path), advised)
        for name in self.others.values():
            homes = self._homes(name)
            kinds = id_types([source.seen(name) for source in homes])
            for source, kind in zip(homes, kinds, strict=True):
                source.read_as(name, kind)

    @staticmethod
    def _shared(name: str | None, tables: list[Any], where: list[str]) -> Any:
        """Take a column that must be the same where both files have it."""
        homes = [i for i, table in enumerate(tables) if name in table.column_names]
        if name is None or not homes:
            return None
        found = tables[homes[0]].column(name)
        if len(homes) > 1 and not same_columns(found, tables[1].column(name)):
            raise ValueError(other_truth(name, *where))
        return found
