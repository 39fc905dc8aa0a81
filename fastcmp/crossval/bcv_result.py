"""The record of McNemar's test of m two-fold cross-validations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_level, as_proportion, keep_side
from fastcmp.core.options import choose
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import effect_sentence
from fastcmp.crossval.fold_inputs import as_positive

Floats = NDArray[np.float64]

_HYPOTHESES = {
    "two-sided": "H0: a and b are equally accurate",
    "greater": "H0: a is not better than b",
    "less": "H0: a is not worse than b",
}


def _number(x: Any) -> Any:
    return x if np.ndim(x) else float(x)


def _proportion(part: Any, rest: Any) -> Any:
    """Divide a part by the part and the rest; NaN for nothing."""
    with np.errstate(invalid="ignore"):
        return _number(np.divide(part, part + rest))


class BetaPosterior(NamedTuple):
    """A beta distribution of a probability, or an array of them."""

    alpha: Any
    beta: Any

    @property
    def mean(self) -> Any:
        """Expectation."""
        return _proportion(self.alpha, self.beta)

    @property
    def mode(self) -> Any:
        """Most probable value; NaN where neither parameter is above 1."""
        above = np.subtract(self.alpha, 1.0), np.subtract(self.beta, 1.0)
        return _proportion(*(np.maximum(x, 0.0) for x in above))

    def interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval with equal probabilities below and above.

        Parameters
        ----------
        confidence_level : float
            Its probability, in (0, 1).

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``.

        Examples
        --------
        >>> from fastcmp import BetaPosterior
        >>> low, high = BetaPosterior(13.5, 24.1).interval(0.9)
        >>> round(low, 3), round(high, 3)
        (0.236, 0.49)
        """
        from scipy.special import betainccinv, betaincinv

        tail = (1 - as_proportion(confidence_level, "confidence_level")) / 2
        low, high = (f(self.alpha, self.beta, tail) for f in (betaincinv, betainccinv))
        return ConfidenceInterval(_number(low), _number(high))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BCVMcNemarResult(Compared, Record):
    """McNemar's test of two models over m two-fold cross-validations.

    All numbers are arrays of one shape where there were tables of many pairs.
    """

    #: The reference distribution of `statistic`, and its degrees of freedom.
    distribution: ClassVar[str] = "chi2"
    df: ClassVar[int] = 1

    #: Chi-square of `effective_table`, with a continuity correction. One-sided p-values
    #: are those of its root, with the sign of the difference.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any
    #: Mean of the 2 m tables, ``table[a is wrong, b is wrong]``, shape (..., 2, 2).
    mean_table: Floats
    #: How many independent tables the 2 m tables are worth: the t of the paper.
    effective_factor: float
    #: Assumed correlation of the two folds of one cut.
    rho1: float
    #: Assumed correlation of folds of different cuts.
    rho2: float
    alternative: str = "two-sided"
    #: How often the samples were cut in two halves: m.
    n_replicates: int

    @property
    def measure(self) -> str:
        """What the models are compared by: "accuracy"."""
        return "accuracy"

    @property
    def effective_table(self) -> Floats:
        """The counts that the 2 m tables are worth together, shape (..., 2, 2)."""
        return self.effective_factor * self.mean_table

    @property
    def n_effective(self) -> Any:
        """Sum of `effective_table`: the number of samples for the test."""
        return _number(self.effective_factor * self._total)

    @property
    def accuracy_a(self) -> Any:
        """Proportion of the tested samples that model a classified correctly."""
        both_right, only_a, only_b, both_wrong = self._cells
        return _proportion(both_right + only_a, only_b + both_wrong)

    @property
    def accuracy_b(self) -> Any:
        """Proportion of the tested samples that model b classified correctly."""
        both_right, only_a, only_b, both_wrong = self._cells
        return _proportion(both_right + only_b, only_a + both_wrong)

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        _, only_a, only_b, _ = self._cells
        return _number((only_a - only_b) / self._total)

    # The paper writes the table as n00 (both wrong), n01 (only a wrong), n10 (only b
    # wrong) and n11, and names the estimates below E, R, Q_a and Q_b.

    @property
    def disagreement(self) -> Any:
        """Proportion of the samples that exactly one model classified correctly (E)."""
        both_right, only_a, only_b, both_wrong = self._cells
        return _proportion(only_a + only_b, both_right + both_wrong)

    @property
    def error_where_one_right(self) -> Any:
        """Error rate of a where exactly one of the models is right (R).

        One half under the null hypothesis, and NaN where there is no such sample.
        """
        _, only_a, only_b, _ = self._cells
        return _proportion(only_b, only_a)

    @property
    def error_where_b_right(self) -> Any:
        """Error rate of a where b is right (Q_a); NaN if b is never right."""
        both_right, _, only_b, _ = self._cells
        return _proportion(only_b, both_right)

    @property
    def error_where_b_wrong(self) -> Any:
        """Error rate of a where b is wrong (Q_b); NaN if b is never wrong."""
        _, only_a, _, both_wrong = self._cells
        return _proportion(both_wrong, only_a)

    @property
    def _cells(self) -> tuple[Any, Any, Any, Any]:
        table = self.mean_table
        return table[..., 0, 0], table[..., 0, 1], table[..., 1, 0], table[..., 1, 1]

    @property
    def _total(self) -> Any:
        both_right, only_a, only_b, both_wrong = self._cells
        # In an order that is the same with the models exchanged.
        return (both_right + both_wrong) + (only_a + only_b)

    def posterior(self, which: str, prior: float = 1.0) -> BetaPosterior:
        """Distribution of a probability, given the effective table.

        Parameters
        ----------
        which : {"e", "r", "qa", "qb"}
            The probability that `disagreement`, `error_where_one_right`,
            `error_where_b_right` or `error_where_b_wrong` estimates.
        prior : float
            Both parameters of the beta distribution before the data, above 0. With 1,
            all values are equally probable, and the mode afterwards is the estimate.

        Returns
        -------
        BetaPosterior
            Its parameters: the effective counts of either kind, plus `prior`.

        Raises
        ------
        ValueError
            If `which` is unknown, or `prior` is not positive and finite.
        TypeError
            If `prior` is no number.

        References
        ----------
        .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
           McNemar's test for comparing two classification algorithms", Lemma 2 and
           Theorem 3.

        Examples
        --------
        >>> from fastcmp import bcv_mcnemar
        >>> tables = [[[[123, 7], [13, 7]], [[116, 7], [18, 9]]]] * 5
        >>> posterior = bcv_mcnemar(tables).posterior("r")
        >>> round(posterior.mode, 4), round(posterior.mean, 4)
        (0.6889, 0.6801)
        """
        which = choose(which, "which", ("e", "r", "qa", "qb"))
        prior = as_positive(prior, "prior")
        both_right, only_a, only_b, both_wrong = self._cells
        kinds = {
            "e": (only_a + only_b, both_right + both_wrong),
            "r": (only_b, only_a),
            "qa": (only_b, both_right),
            "qb": (both_wrong, only_a),
        }[which]
        counts = (self.effective_factor * x + prior for x in kinds)
        return BetaPosterior(*map(_number, counts))

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Wald's for two paired proportions, from the effective table, clipped to
            [-1, 1].
            For "greater" `high` is 1, for "less" `low` is -1.

        Notes
        -----
        The paper gives no interval; this one is fastcmp's. It takes the effective
        table for counts of independent samples, as the test does. It has no continuity
        correction, so it may exclude 0 where the test does not reject. Its width is 0
        without discordant samples.

        Examples
        --------
        >>> from fastcmp import bcv_mcnemar
        >>> tables = [[[[123, 7], [13, 7]], [[116, 7], [18, 9]]]] * 5
        >>> low, high = bcv_mcnemar(tables).confidence_interval()
        >>> round(low, 4), round(high, 4)
        (-0.1021, -0.0112)
        """
        level = as_level(confidence_level, self.alternative)
        _, only_a, only_b, _ = self._cells
        # Proportions; the variance of one sample's difference is s - d**2.
        apart = (only_a + only_b) / self._total
        difference = (only_a - only_b) / self._total
        variance = np.maximum(apart - difference**2, 0.0) / self.n_effective
        spread = -kernels.ndtri((1 - level) / 2) * np.sqrt(variance)
        low = np.maximum(difference - spread, -1.0)
        high = np.minimum(difference + spread, 1.0)
        return ConfidenceInterval(*keep_side((low, high), self.alternative, (-1.0, 1.0)))

    def columns(self) -> dict[str, Any]:
        """Give the main table as columns.

        Returns
        -------
        dict of str to sequence
            A row a test; without the tables of counts.
        """
        tests = {name: np.ravel(x) for name, x in self._tests().items()}
        return {name: np.resize(x, np.size(self.pvalue)) for name, x in tests.items()}

    def _tests(self) -> dict[str, Any]:
        low, high = self.confidence_interval()
        return {
            "statistic": self.statistic,
            "df": self.df,
            "pvalue": self.pvalue,
            "difference": self.difference,
            "low": low,
            "high": high,
            "better": self.better,
            "accuracy_a": self.accuracy_a,
            "accuracy_b": self.accuracy_b,
            "n_effective": self.n_effective,
        }

    def _shown(self) -> dict[str, Any]:
        about = {"distribution": self.distribution, "measure": self.measure}
        return {**self._tests(), **about, **self._fields()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section; for arrays, what they hold.
        """
        title = f"{self.n_replicates}x2 BCV McNemar's test ({self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",)
            return [Section(title=title, text=text)]
        text = (
            effect_sentence(self.difference, self.confidence_interval(), self.alternative),
            f"chi-square = {self.statistic:.4g}, p = {format_pvalue(self.pvalue)} "
            f"({_HYPOTHESES[self.alternative]})",
            f"accuracy a {self.accuracy_a:.4f}, b {self.accuracy_b:.4f}, means of "
            f"{2 * self.n_replicates} folds that are worth {self.n_effective:.1f} "
            f"independent samples (rho1 = {self.rho1:g}, rho2 = {self.rho2:g})",
        )
        if self.status == kernels.DEGENERATE:
            text += ("both are right on the same samples: p is a convention",)
        return [Section(title=title, text=text)]
