"""The record of a cost-sensitive test, and its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.core.record_parts import Compared, Pilot
from fastcmp.core.records import ConfidenceInterval, Record, unwrap
from fastcmp.core.sections import Section, format_interval, interval_name
from fastcmp.core.sentences import dropped_sentences, outside_sentences
from fastcmp.core.threads import parts
from fastcmp.counts.label_table import LabelTable
from fastcmp.paired.bounded_margins import BoundedUnits, bounded_margins
from fastcmp.paired.cost_differences import (
    METHOD_NAMES,
    cell_differences,
    fold,
    groups_of,
    intervals_many,
)
from fastcmp.paired.margin_result import margin_entries, margin_sentences
from fastcmp.paired.margin_statistics import Estimated, plain
from fastcmp.paired.mcnemar_result import describe_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.paired.margin_result import MarginTests
    from fastcmp.paired.margin_statistics import MarginOptions

_TABLES = 1 << 10  # pairs whose differences are held at once
_INTERVALS = ("profile", "wald")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CostResult(Pilot, Compared, Record):
    """A cost-sensitive test of two models on the same samples.

    All numbers are arrays of one shape where there were counts of many pairs.
    """

    #: Likelihood ratio or chi-square statistic, one degree of freedom.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Average cost of a sample; lower is better.
    loss_a: Any
    loss_b: Any
    #: Lagrange's multiplier m of equal costs. Fitted counts are w / (1 + m d) by the
    #: likelihood ratio and w (1 - m d) by the chi-square, for w samples whose
    #: difference of costs is d.
    multiplier: Any
    #: Whether m is at the end of its range. The fitted distribution then has mass on an
    #: unobserved difference (likelihood), or none on an observed one (chi-square).
    at_bound: Any
    #: Samples by true class and predicted classes, or an array (..., K, K, K).
    counts: Any
    #: ``cost[t, p]``, shape (K, K).
    cost: NDArray[np.float64]
    method: str
    #: What was added to each of the K**3 cells for the test, and only for the test.
    smoothing: float
    nonnegative: bool = False
    support: str = "all"
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "chi2"."""
        return "chi2"

    @property
    def df(self) -> int:
        """Degrees of freedom of the chi-square distribution: 1."""
        return 1

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "cost"."""
        return "cost"

    @property
    def difference(self) -> Any:
        """Cost of a minus that of b, per sample: negative where a is better."""
        return self.loss_a - self.loss_b

    @property
    def standard_error(self) -> Any:
        """Standard error of `difference`, that of Wald's interval."""
        largest = float(self.cost.max())
        if isinstance(self.counts, LabelTable):
            d, w = fold(self.counts, self.cost)
            squares = w @ (d / largest) ** 2
        else:
            d = cell_differences(self.cost / largest)
            squares = self.counts.reshape(*np.shape(self.pvalue), -1) @ d**2
        with np.errstate(divide="ignore", invalid="ignore"):
            n = np.asarray(self.n_samples, np.float64)
            spread = squares / n - (self.difference / largest) ** 2
            error = largest * np.sqrt(np.maximum(spread, 0.0) / n)
        return plain(error)

    @property
    def n_samples(self) -> Any:
        """Number of samples."""
        if isinstance(self.counts, LabelTable):
            return self.counts.n_samples
        return self.counts.sum(axis=(-3, -2, -1))

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "profile"
    ) -> ConfidenceInterval:
        """Interval for `difference`, without smoothing.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"profile", "wald"}
            Profile likelihood, which agrees with the likelihood ratio test; or Wald's,
            which is too narrow for small samples.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; NaN without samples.

        Raises
        ------
        ValueError
            If an option is unknown.

        Examples
        --------
        >>> from fastcmp import cost_test_from_counts
        >>> counts = [[[90, 6], [3, 0]], [[9, 2], [8, 82]]]
        >>> result = cost_test_from_counts(counts, [[0, 1], [5, 0]])
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (-0.3428, -0.0127)
        """
        method = choose(method, "method", _INTERVALS)
        level = as_proportion(confidence_level, "confidence_level")
        if isinstance(self.counts, LabelTable):
            interval = getattr(kernels, f"cost_{method}_interval")
            d, w = fold(self.counts, self.cost)
            largest = float(self.cost.max())
            return ConfidenceInterval(*interval(d, w, self.n_samples, largest, level))
        tables = self.counts.reshape(-1, self.cost.size * len(self.cost))
        low, high = intervals_many(tables, groups_of(self.cost), method, level).T
        shape = np.shape(self.pvalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    @property
    def n_outside(self) -> tuple[int, int]:
        """Predictions of a, and of b, that are labels which the truth does not hold."""
        if not isinstance(self.counts, LabelTable):
            return 0, 0
        t, a, b, counts = self.counts.nonzero()
        true = np.zeros(self.counts.n_classes, np.bool_)
        true[t] = True
        return int(counts[~true[a]].sum()), int(counts[~true[b]].sum())

    @property
    def remarks(self) -> list[str]:
        """What a reader should know of the answer, in sentences."""
        remarks = []
        if self.status == kernels.UNDEFINED:
            remarks.append(
                "All observed differences have one sign, so no distribution on them "
                "alone has equal costs. support='all' has an answer."
            )
        if self.at_bound and self.method == "likelihood":
            remarks.append(
                "The most likely distribution with equal costs has mass on a "
                "difference that was not observed: the sample is small for its costs."
            )
        if self.smoothing:
            n_cells = self.smoothing * len(self.cost) ** 3
            remarks.append(
                f"The test added {self.smoothing:g} to each cell, {n_cells:g} in all, "
                f"to {self.n_samples} samples."
            )
        return remarks

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin.

        By Gaffke's bound of differences between plus and minus the largest cost: with
        standard errors a rare, expensive failure that was not observed is no failure.
        """
        largest = float(self.cost.max())
        of = Estimated(
            self.difference,
            self.standard_error,
            n_samples=self.n_samples,
            pvalue=self.pvalue,
            measure=self.measure,
        )
        options = options._replace(lower_is_better=True)
        return bounded_margins(self._units(largest), of, options, "samples", largest)

    def _units(self, largest: float) -> Iterator[BoundedUnits]:
        """Differences of costs over the largest, and how many samples have each."""
        if isinstance(self.counts, LabelTable):
            d, w = fold(self.counts, self.cost)
            same = self.n_samples - w.sum()
            gain, count = np.append(d / largest, 0.0), np.append(w, same)
            yield BoundedUnits(gain[np.newaxis], np.ones((1, 1)), count[np.newaxis])
            return
        d, where = np.unique(cell_differences(self.cost / largest), return_inverse=True)
        tables = self.counts.reshape(-1, where.size)
        for part in parts(len(tables), _TABLES):
            count = np.stack([np.bincount(where, row, d.size) for row in tables[part]])
            yield BoundedUnits(d[np.newaxis], np.ones((1, 1)), count)

    def _shown(self) -> dict[str, Any]:
        derived = (
            "difference",
            "standard_error",
            "measure",
            "better",
            "distribution",
            "df",
            "n_samples",
            "n_outside",
        )
        shown = {**self._fields(), **{name: getattr(self, name) for name in derived}}
        del shown["counts"], shown["cost"]
        return shown | margin_entries(self.margins)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        title = f"Cost-sensitive test ({METHOD_NAMES[self.method]}, two-sided)"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",)
            text += margin_sentences(self.margins, METHOD_NAMES[self.method])
            return [Section(title=title, text=text)]
        low, high = self.confidence_interval()
        text = (
            f"a costs {self.loss_a:.4g}, b {self.loss_b:.4g} per sample (lower is "
            f"better; {self.n_samples} samples)",
            f"cost of a minus b {self.difference:+.4g}, {interval_name(0.95)} "
            f"{format_interval(low, high, digits=4, sign='+')}",
            f"{describe_test(self)} (H0: a and b cost the same)",
            *margin_sentences(self.margins, METHOD_NAMES[self.method]),
            *self.remarks,
            *dropped_sentences(self.counts.n_missing, self.counts.n_excluded),
            *outside_sentences(self.n_outside, ("a", "b"), self.n_samples),
        )
        return [Section(title=title, text=text)]
