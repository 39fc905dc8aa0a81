"""The record of McNemar's test by e-values, at one look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_finite, as_proportion, choose
from fastcmp.core.records import Compared, ConfidenceInterval, Record, unwrap
from fastcmp.core.sections import (
    Section,
    dropped_sentences,
    format_interval,
    format_pvalue,
    outside_sentences,
)
from fastcmp.kernels.difference_evalues import BETS, DIRICHLET, anytime_difference_interval_many
from fastcmp.paired.mcnemar_result import HYPOTHESES
from fastcmp.sequential.evalues import read_prior

Floats = NDArray[np.float64]

#: Confidence sequences for the difference, with the code that kernels take.
METHODS = {"bets": BETS, "dirichlet": DIRICHLET}
_THIRDS = (0.5, 0.5, 0.5)


def pvalue_of(log_evalue: Any) -> Any:
    """Turn e-values into p-values that are valid at every look."""
    pvalue = np.exp(-np.maximum(log_evalue, 0.0))
    return pvalue if np.ndim(pvalue) else float(pvalue)


def evalue_of(log_evalue: Any) -> Any:
    """Turn logarithms into e-values; those beyond floats are infinite."""
    with np.errstate(over="ignore"):
        evalue = np.exp(log_evalue)
    return evalue if np.ndim(evalue) else float(evalue)


def format_evalue(log_evalue: float) -> str:
    """Write an e-value, of which only the size matters."""
    if not -20.0 < log_evalue < 600.0:
        return f"10^{log_evalue / np.log(10.0):.0f}"
    return f"{np.exp(log_evalue):.3g}"


def read_difference_method(method: str, prior: Any) -> tuple[int, tuple[float, float, float]]:
    """Check which confidence sequence is meant, and its prior."""
    chosen = choose(method, "method", METHODS)
    if prior is None:
        return METHODS[chosen], _THIRDS
    if chosen != "dirichlet":
        raise ValueError(f"prior= is for method='dirichlet', got method={method!r}")
    s, t, r = read_prior(prior, 3)
    return METHODS[chosen], (s, t, r)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EvalueResult(Compared, Record):
    """McNemar's test of two models by an e-value, which may be looked at any time.

    All numbers are arrays of one shape where the counts were.
    """

    #: Natural logarithm of the e-value.
    log_evalue: Any
    #: Samples that only model a, only model b, classified correctly.
    only_a: Any
    only_b: Any
    #: Samples that both classified correctly, wrongly; None where they were not given.
    both_right: Any = None
    both_wrong: Any = None
    #: Beta prior of the proportion of discordant samples that a alone gets right.
    prior: tuple[float, float]
    alternative: str
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()

    @property
    def evalue(self) -> Any:
        """Evidence against the null hypothesis: its expectation there is at most 1."""
        return evalue_of(self.log_evalue)

    @property
    def pvalue(self) -> Any:
        """A p-value that is valid at every look: 1 / `evalue`, at most 1."""
        return pvalue_of(self.log_evalue)

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        names = np.array([None, "a", "b"], dtype=object)
        return names[np.sign(self.only_a - self.only_b)]

    @property
    def n_samples(self) -> Any:
        """All samples; needs `both_right` and `both_wrong`."""
        if self.both_right is None or self.both_wrong is None:
            raise ValueError(
                "n_samples needs all four counts: pass both_right= and both_wrong= to "
                "mcnemar_from_counts"
            )
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = np.divide(self.only_a - self.only_b, self.n_samples)
        return difference if np.ndim(difference) else float(difference)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "bets", prior: Any = None
    ) -> ConfidenceInterval:
        """Interval for `difference` that is valid at every look.

        All such intervals of one stream hold the difference together, with the
        probability `confidence_level`. They are two-sided whatever `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"bets", "dirichlet"}
            Mixture of constant bets, which agrees with the two-sided e-value of the
            prior (1/2, 1/2); or a Dirichlet mixture, which is wider.
        prior : sequence of 3 floats, optional
            Of the Dirichlet mixture: only a right, only b right, all others; by default
            1/2 each.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``.

        Raises
        ------
        ValueError
            If an option is unknown or out of range, or the concordant counts were not
            given.
        TypeError
            If the prior is not made of numbers.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar_from_counts
        >>> result = mcnemar_from_counts(10, 2, both_right=15, both_wrong=3)
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (-0.0751, 0.5803)
        """
        level = as_proportion(confidence_level, "confidence_level")
        code, thirds = read_difference_method(method, prior)
        counts = (self.only_a, self.only_b, self.n_samples)
        a, b, n = (np.ascontiguousarray(x, np.int64).ravel() for x in counts)
        low, high = np.empty((2, a.size))
        options = (code, level, thirds)
        anytime_difference_interval_many(a, b, n, options, low, high)
        shape = np.shape(self.log_evalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    def log_evalue_at(self, difference: float, *, method: str = "bets", prior: Any = None) -> Any:
        """Logarithm of the e-value against another difference than 0.

        Parameters
        ----------
        difference : float
            The accuracy of a minus that of b under the null hypothesis, in [-1, 1].
        method : {"bets", "dirichlet"}
            As in `confidence_interval`, whose ends are where it is -log(1 -
            confidence_level).
        prior : sequence of 3 floats, optional
            Of the Dirichlet mixture.

        Returns
        -------
        float or ndarray
            Log e-values, in the shape of the counts.

        Raises
        ------
        ValueError
            If an option is unknown or out of range, or the concordant counts were not
            given.
        TypeError
            If a number is none.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar_from_counts
        >>> result = mcnemar_from_counts(10, 2, both_right=15, both_wrong=3)
        >>> round(result.log_evalue_at(0.1), 6)
        -0.209782
        """
        delta = as_finite(difference, "difference")
        if not -1.0 <= delta <= 1.0:
            raise ValueError(f"difference must lie in [-1, 1], got {difference}")
        code, thirds = read_difference_method(method, prior)
        counts = (self.only_a, self.only_b, self.n_samples)
        rows = zip(*(np.ravel(x).tolist() for x in counts), strict=True)
        if code == BETS:
            found = [kernels.difference_log_evalue(a, b, n, delta) for a, b, n in rows]
        else:
            evaluate = kernels.dirichlet_log_evalue
            found = [evaluate(a, b, n, delta, thirds) for a, b, n in rows]
        return unwrap(np.array(found, np.float64), np.shape(self.log_evalue))

    def discordant_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for the proportion of discordant samples that a alone gets right.

        It needs no concordant counts, is valid at every look, and excludes one half
        where the two-sided e-value is 1 / (1 - confidence_level) or more.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``.

        Raises
        ------
        ValueError
            If the level is out of range.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar_from_counts
        >>> low, high = mcnemar_from_counts(10, 2).discordant_interval()
        >>> round(low, 4), round(high, 4)
        (0.4133, 0.9927)
        """
        level = as_proportion(confidence_level, "confidence_level")
        rows = zip(np.ravel(self.only_a), np.ravel(self.only_b), strict=True)
        ends = [kernels.anytime_proportion_interval(a, b, *self.prior, level) for a, b in rows]
        low, high = np.array(ends).reshape(-1, 2).T
        shape = np.shape(self.log_evalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    def _shown(self) -> dict[str, Any]:
        shown = {"evalue": self.evalue, "pvalue": self.pvalue, **self._fields()}
        shown |= {"measure": self.measure, "better": self.better}
        if self.both_right is not None and self.both_wrong is not None:
            shown["difference"] = self.difference
        return shown

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        title = f"McNemar's test by an e-value ({self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.log_evalue):
            shape = np.shape(self.log_evalue)
            text = (f"{np.size(self.log_evalue)} tests, shape {shape}",)
            return [Section(title=title, text=text)]
        text = (
            f"Only a is right on {self.only_a} samples, only b on {self.only_b}.",
            f"E = {format_evalue(self.log_evalue)}, p = {format_pvalue(self.pvalue)} "
            f"({HYPOTHESES[self.alternative]}), valid at every look.",
        )
        if None not in (self.both_right, self.both_wrong) and self.n_samples:
            low, high = (100.0 * end for end in self.confidence_interval())
            shown = format_interval(low, high, digits=2, sign="+")
            effect = (
                f"Accuracy of a minus b: {100 * self.difference:+.2f} percentage points"
                f", 95% CI at every look {shown}, on {self.n_samples} samples."
            )
            outside = outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
            text = (effect, *text, *outside)
        text += dropped_sentences(self.n_missing, self.n_excluded)
        return [Section(title=title, text=text)]
