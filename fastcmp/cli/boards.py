"""Several records in one answer: a leaderboard a task, and one over tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastcmp.core.records import Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from fastcmp.counts.roc_points import RocCurve
    from fastcmp.pairwise.decisions import PairDecisions

#: Curves that can be distinguished in one picture.
MOST_CURVES = 8
#: Title of the section that explains a record.
HOW = "How to read this"
_WHERE = (
    "Difference, interval and p-value of each pair: --pairs all, or --pairs A:B; also in "
    "--format csv and --report FILE."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Headed(Record):
    """A record below a line that says what is compared, for readers."""

    record: Record
    title: str

    def sections(self) -> list[Section]:
        """Describe the record below the line."""
        return [Section(title=self.title), *self.record.sections()]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WithPairs(Record):
    """A comparison of many models with a table of pairs, or where to find them."""

    record: PairDecisions
    #: "all", or pairs as A:B; empty for none.
    pairs: Sequence[str]

    def sections(self) -> list[Section]:
        """Describe the comparison, with the pairs before how to read it."""
        from fastcmp.pairwise.result import pairs_table

        sections = self.record.sections()
        if len(self.record.names) == 2 or not sections or sections[-1].title != HOW:
            return sections
        if not self.pairs:
            if self.record.control is not None:
                return sections
            return [*sections[:-1], replace(sections[-1], text=(*sections[-1].text, _WHERE))]
        return [*sections[:-1], pairs_table(self.record, self._chosen()), sections[-1]]

    def _chosen(self) -> Any:
        """Rows of the pairs that --pairs names."""
        names = self.record.names
        rows = {frozenset(pair): k for k, pair in enumerate(self.record.pairs.tolist())}
        if list(self.pairs) == ["all"]:
            return list(rows.values())
        pair_rows = []
        for word in self.pairs:
            cuts = [i for i, letter in enumerate(word) if letter == ":"]
            parts = [(word[:i], word[i + 1 :]) for i in cuts]
            candidates = [pair for pair in parts if {*pair} <= {*names} and pair[0] != pair[1]]
            if not candidates:
                raise ValueError(
                    f"--pairs takes all, or A:B of two of {', '.join(names[:10])}; got {word}"
                )
            row = rows.get(frozenset(map(names.index, candidates[0])))
            if row is None:
                message = f"--pairs {word}: that pair is not among those tested (--control) or kept"
                raise ValueError(f"{message} (--keep)")
            pair_rows.append(row)
        return pair_rows


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Boards(Record):
    """Records by their titles, written below each other."""

    boards: Mapping[str, Record]

    def sections(self) -> list[Section]:
        """Describe all records below their titles; how to read equal ones only once."""
        records = list(self.boards.values())
        sections = []
        for i, (title, record) in enumerate(self.boards.items()):
            board_sections, after = record.sections(), records[i + 1 : i + 2]
            following = [section for record in after for section in record.sections()]
            sections.append(Section(title=title))
            sections += [
                section
                for section in board_sections
                if section.title != HOW or section not in following
            ]
        return sections

    def to_dict(self) -> dict[str, Any]:
        """Each record as a dict, from which `fastcmp.from_dict` makes it again."""
        boards = {title: record.to_dict() for title, record in self.boards.items()}
        return {"record": "Boards", "boards": boards}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RocCurves(Record):
    """The ROC curves of several models on the same samples, for a report."""

    _blocks = "scores:roc_curves"

    #: Those of the largest areas.
    curves: Mapping[str, RocCurve]
    n_models: int
    n_positives: int
    n_negatives: int
    #: Points to mark, by model: false and true positive rate, and a text.
    marks: Mapping[str, tuple[tuple[float, float, str], ...]]

    def sections(self) -> list[Section]:
        """List the areas under the curves, the largest first."""
        areas = {name: curve.auc for name, curve in self.curves.items()}
        best = sorted(areas, key=lambda name: -areas[name])
        whose = "" if len(best) == 1 else f" of {best[0]}, the largest,"
        sizes = f"{self.n_positives:,} positives and {self.n_negatives:,} negatives"
        text = f"The area under the ROC curve{whose} is {areas[best[0]]:.4f} on {sizes}."
        rows = tuple((name, f"{areas[name]:.4f}") for name in best)
        return [Section(title="Curves", text=(text,), columns=("model", "AUC"), rows=rows)]
