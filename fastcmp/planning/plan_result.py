"""The record of a plan: samples, power, and the difference to be detected."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastcmp.core.records import ConfidenceInterval, Drawn, Record, column
from fastcmp.core.sections import Section
from fastcmp.core.sentences import headline_of, how

#: What is shown, by hypothesis.
_CLAIMS = {
    "noninferiority": "that a is not worse than b by {margin} or more",
    "superiority": "that a is better than b by more than {margin}",
    "equivalence": "that a and b differ by less than {margin}",
}
_SIDES = {"two-sided": "two-sided", "greater": "one-sided, greater", "less": "one-sided, less"}
#: What a dash in a table means, by what the plan is for.
_NONE = {
    "n": "no number is enough",
    "difference": "no possible difference is detected",
    "power": "the models do not differ",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Plan(Drawn, Record):
    """A planned comparison of two models: samples, power and difference.

    Numbers are arrays of one shape where the inputs were.
    """

    _picture: ClassVar[str] = "power_curve"
    _blocks = "two_models:plan"
    _opening = "The plan is for this test: {record.test_name}."

    _cites = (
        ("test", {"mcnemar": "mcnemar", "auc-paired": "delong sun", "mean-unpaired": "welch"}),
        (
            "method",
            {
                "midp": "fagerland",
                "corrected": "edwards",
                "unconditional": "suissa",
                "tango": "tango",
                "hanley-mcneil": "hanley",
                "bcv-mcnemar": "yang-bcv",
                "miettinen-nurminen": "miettinen",
                "boschloo": "boschloo",
            },
        ),
        lambda self: dict(self.inputs).get("adjust", ""),
    )

    #: The family of tests, such as "mcnemar".
    test: str
    #: How power was worked out, such as "midp".
    method: str
    #: Name of the test in words.
    test_name: str
    #: "difference", "noninferiority", "superiority" or "equivalence".
    hypothesis: str
    #: What the plan is the answer for: "power", "n" or "difference".
    solved_for: str
    #: Samples, whole; infinity where no number is enough.
    n: Any
    #: The real number that `n` was rounded up from, where it has a closed form.
    n_exact: Any = None
    #: Probability that the test rejects, at `n` samples.
    power: Any
    #: Standard error of a power that was simulated, and the seed that repeats it.
    power_standard_error: Any = None
    seed: int | None = None
    #: The true difference to be found: the measure of a minus that of b; NaN where
    #: `n` samples find none with that power.
    difference: Any
    alpha: Any
    alternative: str
    #: For hypotheses with a margin, else None.
    margin: Any = None
    #: What differs, such as "accuracy".
    measure: str = "accuracy"
    #: What `n` counts.
    unit: str = "samples"
    #: Negatives, where `n` counts positives, else None.
    n_negatives: Any = None
    #: What is found, where that is not a difference of two models.
    claim: str | None = None
    #: Name and value of what the plan was made from.
    inputs: tuple[tuple[str, Any], ...] = ()
    #: Mean of the power over what a pilot leaves open; None without a pilot.
    assurance: Any = None
    #: 95% interval of what was solved for, given the pilot; None without one.
    interval: ConfidenceInterval | None = None
    cautions: tuple[str, ...] = ()
    #: A `fastcmp.kernels.Status`: ``UNDEFINED`` where there is no answer.
    status: Any = 0

    def columns(self) -> dict[str, Any]:
        """The main table as columns.

        Returns
        -------
        dict of str to list
            A row for each plan.
        """
        shape = np.shape(self.power)
        known = {k: x for k, x in self.inputs if k != "rng"}  # that is the seed
        shown = {**self._fields(), **{k: self._whole(x) for k, x in known.items()}}
        if self.interval is not None:
            shown |= {f"interval_{k}": x for k, x in self.interval._asdict().items()}
        skipped = ("inputs", "interval", "cautions", "status")
        columns = {
            name: column(value, shape)
            for name, value in shown.items()
            if name not in skipped and not isinstance(value, (tuple, bool))
        }
        return {name: rows for name, rows in columns.items() if rows is not None}

    def _whole(self, value: Any) -> Any:
        """An input with one value a plan, where it has fewer."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
            return value
        shape = np.shape(self.power)
        with suppress(ValueError):  # what belongs to models, not to plans
            if self.test != "leaderboard":
                return np.broadcast_to(value, shape)
        return None

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A sentence for a single plan; a table for arrays.
        """
        levels = np.unique(self.alpha)
        alpha = f"alpha {levels[0]:g}" if len(levels) == 1 else ""
        sides = _SIDES[self.alternative] if self.hypothesis == "difference" else ""
        test = ", ".join(filter(None, (self.test_name, sides, alpha)))
        titles = {"n": "Sample size", "power": "Power", "difference": "Difference"}
        title = titles[self.solved_for]
        if np.ndim(self.power):
            return [self._table(f"{title} ({test})")]
        text = (f"{self._sentence()} ({test}).", *self._pilot_sentences())
        return [Section(title=title, text=text, notes=self.cautions)]

    def _headline(self) -> str:
        """What is planned; of several plans, from what to what."""
        if not np.ndim(self.power):
            return headline_of(self)
        values = np.asarray(getattr(self, self.solved_for), np.float64)
        known = values[np.isfinite(values)]
        lead = f"{values.size:,} plans ({self.test_name})"
        if not known.size:
            return f"{lead}: none is possible."
        style, scale, unit, what = {
            "n": (",.0f", 1.0, f" {self.unit}", ""),
            "power": (".1f", 100.0, "%", "power "),
            "difference": (".4g", 1.0, "", "difference "),
        }[self.solved_for]
        if self.solved_for == "difference" and self.measure == "accuracy":
            scale, unit = 100.0, " percentage points"
        low, high = (format(scale * x, style) for x in (known.min(), known.max()))
        ends = f"{low}{unit}" if low == high else f"from {low} to {high}{unit}"
        return f"{lead}: {what}{ends}."

    def _sentence(self) -> str:
        """Say the plan in one sentence, without its end."""
        power = f"{format_percent(self.power)} power"
        if not np.isfinite(self.n):
            return f"No number of {self.unit} gives {power} to {self._aim()}"
        n = f"{int(self.n):,} {self.unit}"
        if self.n_negatives is not None:
            n += f" and {int(np.ceil(self.n_negatives)):,} negatives"
        elif self.n == 1:
            n = n.removesuffix("s")
        if np.isnan(self.difference):
            return f"With {n}, no possible difference is detected with {power}"
        return f"With {n}, {power} to {self._aim()}"

    def _aim(self) -> str:
        """Say what is to be detected or shown."""
        if self.claim is not None:
            return self.claim
        gap = self.difference
        if self.hypothesis != "difference":
            margin = _amount(self.margin, self.measure)
            claim = _CLAIMS[self.hypothesis].format(margin=margin)
            return f"show {claim}, where a minus b is {_amount(gap, self.measure)}"
        gap = abs(gap) if self.alternative == "two-sided" else gap
        return f"detect a difference of {_amount(gap, self.measure)}"

    def _pilot_sentences(self) -> tuple[str, ...]:
        """Say what a pilot leaves open."""
        text = []
        if self.assurance is not None:
            text.append(
                "Over all that the pilot leaves open, the power is "
                f"{format_percent(self.assurance)} on average."
            )
        if self.interval is not None:
            ends = {
                "power": format_percent,
                "n": lambda x: f"{x:,.0f}",
                "difference": lambda x: _amount(x, self.measure),
            }[self.solved_for]
            what = {"n": self.unit, "power": "power", "difference": "difference"}
            low, high = map(ends, self.interval)
            text.append(
                f"The pilot leaves open (95%): {what[self.solved_for]} from {low} to {high}."
            )
        return tuple(text)

    def _table(self, title: str) -> Section:
        """Make a table of plans: of what differs; the rest is said above it."""
        columns = {
            name: rows
            for name, rows in self.columns().items()
            if not isinstance(rows[0], str) and name != "n_exact"
        }
        first = {"n", "power", self.solved_for}
        same = {
            name: rows[0]
            for name, rows in columns.items()
            if name not in first and len(set(rows)) == 1
        }
        shown = {name: rows for name, rows in columns.items() if name not in same}
        n_plans = int(np.size(self.power))
        sizes = " x ".join(map(str, np.shape(self.power)))
        grid = f" ({sizes})" if np.ndim(self.power) > 1 else ""
        constant = ", ".join(
            f"{name} {_cell(value)}" for name, value in same.items() if name != "alpha"
        )
        cells = (map(_cell, rows) for rows in shown.values())
        notes = self.cautions
        if self.claim is not None:
            notes = (how(f"power: the probability to {self.claim}."), *notes)
        if np.any(np.not_equal(self.status, 0)):
            notes = (f"-: {_NONE[self.solved_for]}.", *notes)
        return Section(
            title=title,
            text=(f"{n_plans:,} plans{grid}" + (f": {constant}" if constant else ""),),
            columns=tuple(shown),
            rows=tuple(zip(*cells, strict=True)),
            most=40,
            notes=notes,
        )


def _cell(value: Any) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.4g}"


def format_percent(power: float) -> str:
    """Write a probability in percent, never as 0 or 100 by rounding."""
    shown = 100 * power
    if 0 < shown < 0.05:
        return "less than 0.1%"
    if 99.95 <= shown < 100:
        return "more than 99.9%"
    digits = 0 if abs(shown - round(shown)) < 0.05 else 1
    return f"{shown:.{digits}f}%"


def _amount(value: float, measure: str) -> str:
    """Write a difference: in percentage points where it is of accuracies."""
    if measure != "accuracy":
        return f"{value:.4g}"
    points = f"{100 * value:.4g}"
    return f"{points} percentage point{'' if points in ('1', '-1') else 's'}"
