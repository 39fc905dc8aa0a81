"""The record of a classification report, of one model or of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.records import Record
from fastcmp.core.sections import Section, beware, format_pvalue, interval_name, main_table
from fastcmp.core.sentences import Sentence, dropped_sentences, how
from fastcmp.core.typing import Flags, Floats, Ints
from fastcmp.pairwise.adjust import adjusted_by

_MOST_LINES = 40  # of a table with the averages below the classes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClassificationReport(Record):
    """Rates of each class and their averages, of one model or of several.

    There are M models, and E numbers of each.
    """

    _blocks = "scores:class_report"
    _opening = (
        "All numbers of the report are of the same samples, with {level} intervals of each "
        "number on its own."
    )
    _cites = (("exact", "chung"),)

    #: The models; differences are to the control, where there is one.
    names: tuple[str, ...]
    control: str | None
    #: What each number is of, (E,): a class, or "macro avg" and the like.
    rows: tuple[str, ...]
    #: "class", "average" or "overall", (E,).
    kinds: tuple[str, ...]
    #: Such as "f1", and as it is shown, such as "F1", (E,).
    metrics: tuple[str, ...]
    titles: tuple[str, ...]
    lower_is_better: Flags
    #: Samples that each number is of, (E,).
    support: Ints
    #: Values and the ends of their intervals, (M, E); NaN where there is none.
    value: Floats
    low: Floats
    high: Floats
    #: Value less that of the control, and two-sided p-values, (M, E); NaN for the
    #: control itself. None without a control, as all that follows.
    difference: Floats | None
    pvalue: Floats | None
    #: Adjusted over all numbers and models.
    pvalue_adjusted: Floats | None
    #: Whether the test is the exact one, (M, E).
    exact: Flags | None
    adjust: str
    alpha: float
    #: What decisions at alpha promise, the end of a sentence.
    rule: str
    confidence_level: float
    #: Decimal places that are printed.
    digits: int
    n_samples: int
    #: Classes that occur, or are listed.
    n_classes: int
    n_missing: int = 0
    n_excluded: int = 0
    #: What to beware of.
    cautions: tuple[str, ...] = ()

    _read = (
        main_table("numbers"),
        *("names", "control", "adjust", "alpha", "rule", "n_tests", "confidence_level"),
        *("n_samples", "n_classes", "n_missing", "n_excluded", "cautions"),
    )

    @property
    def n_tests(self) -> int:
        """Number of tests that p-values are adjusted for."""
        return 0 if self.pvalue is None else int((~np.isnan(self.pvalue)).sum())

    @property
    def marks(self) -> NDArray[Any]:
        """Decisions, (M, E): "+" significantly better than the control, "-" worse."""
        marks = np.zeros(self.value.shape, np.int64)
        if self.pvalue_adjusted is not None and self.difference is not None:
            gain = np.sign(self.difference) * np.where(self.lower_is_better, -1, 1)
            decided = self.pvalue_adjusted <= self.alpha
            marks[decided] = gain[decided]
        return np.array(["", "+", "-"])[marks]

    def columns(self) -> dict[str, Any]:
        """A row for each number of each model.

        Returns
        -------
        dict of str to list
            Model, class, kind, metric, value, ends of the interval and support; with a
            control the difference, p-values, test and mark, None for the control.
        """
        m = len(self.names)
        columns: dict[str, Any] = {
            "model": [name for name in self.names for _ in self.rows],
            "class": list(self.rows) * m,
            "kind": list(self.kinds) * m,
            "metric": list(self.metrics) * m,
            "value": self.value.ravel().tolist(),
            "low": self.low.ravel().tolist(),
            "high": self.high.ravel().tolist(),
            "support": self.support.tolist() * m,
        }
        if self.pvalue is None or self.exact is None:
            return columns
        tests = np.where(self.exact, "exact", "pooled")
        tests[np.isnan(self.pvalue)] = ""
        of_tests: dict[str, Any] = {
            "difference": self.difference,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "test": tests,
            "mark": self.marks,
        }
        return columns | {title: x.ravel().tolist() for title, x in of_tests.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            Of one model scikit-learn's table; of several a table of averages and one
            for each metric, marked. Then what differs significantly from the control,
            and what to beware of.
        """
        cells = self._cells()
        sections = self._one_model(cells[0]) if len(self.names) == 1 else self._many_models(cells)
        if self.control is not None:
            sections.append(self._differences())
        return [*sections, *beware(self)]

    def _headline(self) -> str:
        """The best model by the first number that is of all classes."""
        i = next((i for i, kind in enumerate(self.kinds) if kind != "class"), 0)
        name, value = self.rows[i], self.value[:, i]
        if self.kinds[i] != "overall":
            name += f" {self.titles[i]}"
        if np.isnan(value).all():
            return f"The {name} is undefined."
        best = int(np.nanargmax(value))
        if len(value) == 1:
            return f"The {name} is {value[0]:.4f}."
        return f"{self.names[best]} has the highest {name}, {value[best]:.4f}."

    def _cells(self) -> list[list[str]]:
        """All numbers as text, with marks and intervals."""
        numbers = (x.tolist() for x in (self.value, self.marks, self.low, self.high))
        return [
            [self._cell(*one) for one in zip(*row, strict=True)]
            for row in zip(*numbers, strict=True)
        ]

    def _cell(self, value: float, mark: str, low: float, high: float) -> str:
        text = _written(value, self.digits) + mark
        if math.isnan(low) or math.isnan(high):
            return text
        ends = (_written(end, self.digits) for end in (low, high))
        return f"{text} [{', '.join(ends)}]"

    def _lead(self) -> tuple[str, ...]:
        """A sentence on what the numbers are of."""
        return (
            f"{self.n_samples} samples of {self.n_classes} classes. In brackets: "
            f"{interval_name(self.confidence_level)}.",
        )

    def _one_model(self, cells: list[str]) -> list[Section]:
        """Lay the numbers out as scikit-learn does; of many classes, averages first."""
        n, titles = self._n_rates, self._headings
        lines = [
            (self.rows[i], *cells[i : i + len(titles)], str(self.support[i]))
            for i in range(0, n, len(titles))
        ]
        others: dict[str, dict[str, str]] = {}
        for i in range(n, len(cells)):
            overall = self.kinds[i] == "overall"
            entries = others.setdefault(self.rows[i], {"": str(self.support[i])})
            entries[titles[-1] if overall else self.titles[i]] = cells[i]
        below = [
            (row, *(entries.get(title, "") for title in titles), entries[""])
            for row, entries in others.items()
        ]
        columns = ("class", *titles, "support")
        title = f"Classification report of {self.names[0]}"
        few = len(lines) + len(below) <= _MOST_LINES
        first = Section(
            title=title,
            text=self._lead(),
            columns=columns,
            rows=tuple(lines + below if few else below),
            notes=dropped_sentences(self.n_missing, self.n_excluded),
        )
        if few:
            return [first]
        return [first, Section(title="Classes", columns=columns, rows=tuple(lines))]

    def _many_models(self, cells: list[list[str]]) -> list[Section]:
        """Lay the numbers out with a column a model: averages, then each metric."""
        n, titles, table = self._n_rates, self._headings, list(zip(*cells, strict=True))
        names = tuple(f"{name} (control)" if name == self.control else name for name in self.names)
        overall = [
            (self.rows[i], "" if kind == "overall" else self.titles[i], *table[i])
            for i, kind in enumerate(self.kinds)
            if kind != "class"
        ]
        sections = [
            Section(
                title=f"Classification report of {len(names)} models",
                text=self._lead(),
                columns=("all classes", "metric", *names),
                rows=tuple(overall),
                notes=(*self._marking(), *dropped_sentences(self.n_missing, self.n_excluded)),
            )
        ]
        for j, title in enumerate(titles):
            rows = [
                (self.rows[i], *table[i], str(self.support[i])) for i in range(j, n, len(titles))
            ]
            columns = ("class", *names, "support")
            sections.append(Section(title=title, columns=columns, rows=tuple(rows)))
        return sections

    def _marking(self) -> tuple[str, ...]:
        """Sentences that explain the marks."""
        if self.pvalue is None or self.exact is None:
            return ()
        n_exact, n = int(self.exact.sum()), self.n_tests
        tests = {
            n: "Exact permutation tests.",
            0: "z tests by the influence of each cell at the counts of both models.",
        }.get(
            n_exact,
            f"Exact permutation tests for {n_exact} of them, and for the others z "
            "tests by the influence of each cell at the counts of both models.",
        )
        what = f"over all {n} differences of all models and numbers of this report"
        note = f"p-values {adjusted_by(self.adjust, what)}; {self.rule}."
        marks = f"+ significantly better than {self.control}, - significantly worse"
        return Sentence(f"{marks}: {note}", how=note), how(tests)

    def _differences(self) -> Section:
        """List the significant differences from the control."""
        assert self.difference is not None
        assert self.pvalue is not None
        assert self.pvalue_adjusted is not None
        rows = [
            (
                self.names[m],
                self.rows[i],
                "" if self.kinds[i] == "overall" else self.titles[i],
                f"{self.difference[m, i]:+.{self.digits + 1}f}",
                format_pvalue(self.pvalue[m, i]),
                format_pvalue(self.pvalue_adjusted[m, i]),
            )
            for m, i in np.argwhere(self.marks != "").tolist()
        ]
        title = f"Significant differences from {self.control}"
        if not rows:
            return Section(title=title, text=("None.",))
        columns = ("model", "class", "metric", "difference", "p", "adjusted p")
        return Section(title=title, columns=columns, rows=tuple(rows))

    @property
    def _n_rates(self) -> int:
        """Count the numbers that are rates of classes: they come first."""
        return self.kinds.count("class")

    @property
    def _headings(self) -> tuple[str, ...]:
        """The metrics of classes."""
        return tuple(dict.fromkeys(self.titles[: self._n_rates]))


def _written(value: float, digits: int) -> str:
    """A number with some decimal places as text, "-" for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.4g}"
