"""The record of one comparison at several looks: e-values over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastcmp.core.records import Compared, Drawn, Record
from fastcmp.core.sections import Column, Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import answer, dropped_sentences
from fastcmp.core.typing import Floats, Ints
from fastcmp.sequential.evalues import evalue_of, format_evalue, pvalue_of

_SHOWN = 12  # looks that are printed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LooksResult(Drawn, Compared, Record):
    """Two models compared at several looks at a growing set of samples.

    All arrays have one entry a look, in order, shape (L,).
    """

    _picture: ClassVar[str] = "evidence"
    _blocks = "sequential:looks"
    _closing = (
        "Evidence is measured by e-values, and intervals are confidence sequences: what they "
        "promise holds at all looks at once, however often one looks."
    )

    _cites = (lambda self: "mcnemar lindon" if self.measure == "accuracy" else "waudby", "ramdas")

    #: Natural logarithm of the e-value at each look.
    log_evalue: Floats
    #: All samples up to each look; of McNemar's test without them the discordant ones.
    n_samples: Ints
    #: Samples that only model a, only model b, classified correctly; None for means.
    only_a: Any = None
    only_b: Any = None
    #: What is compared: the accuracy of a minus that of b, or a mean. NaN where the
    #: number of samples is not known.
    estimate: Floats
    #: Ends of the interval for it at 1 - alpha, which hold at all looks together.
    low: Floats
    high: Floats
    #: "accuracy" or "mean".
    measure: str
    #: The value of the null hypothesis.
    null: float = 0.0
    alternative: str
    alpha: float
    n_missing: int = 0
    n_excluded: int = 0

    _columns = Column.each("n_samples only_a only_b estimate low high log_evalue evalue pvalue")

    @property
    def evalue(self) -> Floats:
        """The e-value at each look."""
        return np.asarray(evalue_of(self.log_evalue))

    @property
    def log_evalue_max(self) -> Floats:
        """The largest logarithm of an e-value up to each look."""
        return np.maximum.accumulate(self.log_evalue)

    @property
    def pvalue(self) -> Floats:
        """The p-value up to each look: 1 over the largest e-value, at most 1."""
        return np.asarray(pvalue_of(self.log_evalue_max))

    @property
    def first_rejection(self) -> int | None:
        """The first look, from 0, at which E reached 1 / alpha; None for none."""
        rejections = np.flatnonzero(self.log_evalue >= -math.log(self.alpha))
        return int(rejections[0]) if rejections.size else None

    @property
    def decided(self) -> bool:
        """Whether E reached 1 / alpha at any look: it stays so."""
        return self.first_rejection is not None

    @property
    def difference(self) -> float:
        """What was estimated at the last look."""
        return float(self.estimate[-1])

    def _shown(self) -> dict[str, Any]:
        entries = {"evalue": self.evalue, "pvalue": self.pvalue, **self._fields()}
        return entries | {"first_rejection": self.first_rejection}

    @property
    def decision(self) -> str:
        """What the looks have shown, in a sentence."""
        first = self.first_rejection
        n, threshold = self.n_samples[-1], 1.0 / self.alpha
        last = format_evalue(self.log_evalue[-1])
        if first is None:
            most = format_evalue(self.log_evalue_max[-1])
            return (
                f"Not decided at {n} {self._unit}: E = {last}, at most {most} so far, "
                f"and {threshold:.4g} decides."
            )
        later = f" Now, at {n}: E = {last}." if first < len(self.log_evalue) - 1 else ""
        then = format_evalue(self.log_evalue[first])
        if self.measure == "accuracy":
            gain = float(self.only_a[first]) - float(self.only_b[first])
        else:
            gain = self.estimate[first] - self.null
        rises = self.alternative == "greater" or (self.alternative == "two-sided" and gain > 0)
        winner = f"the mean is {'above' if rises else 'below'} {self.null:g}"
        if self.measure == "accuracy":
            winner = f"model {'a' if rises else 'b'} is more accurate"
        return (
            f"Decided at {self.n_samples[first]} {self._unit}: {winner} "
            f"(E = {then}, {threshold:.4g} decides).{later}"
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The decision, and a table of the last looks.
        """
        counted = self.measure == "accuracy"
        what = "McNemar's test" if counted else "Test of a bounded mean"
        n_looks = len(self.log_evalue)
        looks = f"{n_looks} look{'s' * (n_looks > 1)}"
        unit = "Percentage points. " if counted and self._has_sizes else ""
        columns = {self._unit: list(map(str, self.n_samples))}
        if self._has_sizes:
            scale, digits, name = (100.0, 2, "a minus b") if counted else (1.0, 4, "mean")
            ends = zip(scale * self.low, scale * self.high, strict=True)
            columns[name] = [f"{scale * x:+.{digits}f}" for x in self.estimate]
            columns[interval_name(1 - self.alpha)] = [
                format_interval(*pair, digits=digits, sign="+") for pair in ends
            ]
        columns["E"] = list(map(format_evalue, self.log_evalue))
        columns["p so far"] = list(map(format_pvalue, self.pvalue))
        rows = tuple(zip(*columns.values(), strict=True))[-_SHOWN:]
        notes = (
            f"{unit}All intervals hold together with a probability of "
            f"{1 - self.alpha:g}, and p-values at every look.",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        table: dict[str, Any] = {"columns": tuple(columns), "rows": rows}
        title = f"{what}, {looks} ({self.alternative})"
        return [Section(title=title, text=(answer(self.decision),), notes=notes, **table)]

    @property
    def _has_sizes(self) -> bool:
        """Whether all samples were counted, not only discordant ones."""
        return not np.isnan(self.low).any()

    @property
    def _unit(self) -> str:
        """What `n_samples` counts."""
        return "samples" if self._has_sizes else "discordant samples"
