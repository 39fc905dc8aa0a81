"""McNemar's test over two-fold cross-validations, and checks of the data of folds."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    LARGEST_COUNT,
    as_counts,
    as_number,
    as_positive,
    as_proportion,
    as_within,
    choose,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.records import Compared, ConfidenceInterval, Record, unwrap
from fastcmp.core.sections import Section
from fastcmp.core.sentences import (
    EQUALLY_ACCURATE,
    effect_sentence,
    sentence_of_test,
    several_tests,
    with_pvalue,
)
from fastcmp.core.typing import Floats, Ints, Numbers
from fastcmp.kernels.fold_tables import bcv_mcnemar_many


def _number(x: Numbers) -> Any:
    return x if np.ndim(x) else float(x)


def _proportion(part: Numbers, others: Numbers) -> Any:
    """A part as a proportion of itself and the others; NaN for 0 / 0."""
    with np.errstate(invalid="ignore"):
        return _number(np.divide(part, part + others))


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
        >>> from fastcmp.records import BetaPosterior
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

    _closing = (
        "Counts of all folds were averaged, and their variance was corrected for what folds "
        "have in common."
    )
    _cites = ("yang-bcv",)
    _nulls = EQUALLY_ACCURATE

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
        return _proportion(*self._kinds["a"])

    @property
    def accuracy_b(self) -> Any:
        """Proportion of the tested samples that model b classified correctly."""
        return _proportion(*self._kinds["b"])

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
        return _proportion(*self._kinds["e"])

    @property
    def error_where_one_right(self) -> Any:
        """Error rate of a where exactly one of the models is right (R).

        One half under the null hypothesis, and NaN where there is no such sample.
        """
        return _proportion(*self._kinds["r"])

    @property
    def error_where_b_right(self) -> Any:
        """Error rate of a where b is right (Q_a); NaN if b is never right."""
        return _proportion(*self._kinds["qa"])

    @property
    def error_where_b_wrong(self) -> Any:
        """Error rate of a where b is wrong (Q_b); NaN if b is never wrong."""
        return _proportion(*self._kinds["qb"])

    @property
    def _cells(self) -> tuple[Any, Any, Any, Any]:
        table = self.mean_table
        return table[..., 0, 0], table[..., 0, 1], table[..., 1, 0], table[..., 1, 1]

    @property
    def _kinds(self) -> dict[str, tuple[Any, Any]]:
        """Mean counts of which a probability is the first one's part, by its letter."""
        both_right, only_a, only_b, both_wrong = self._cells
        return {
            "a": (both_right + only_a, only_b + both_wrong),
            "b": (both_right + only_b, only_a + both_wrong),
            "e": (only_a + only_b, both_right + both_wrong),
            "r": (only_b, only_a),
            "qa": (only_b, both_right),
            "qb": (both_wrong, only_a),
        }

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
            If `prior` is not a number.

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
        counts = (self.effective_factor * x + prior for x in self._kinds[which])
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
        _, only_a, only_b, _ = self._cells
        # Proportions; the variance of one sample's difference is s - d**2.
        apart = (only_a + only_b) / self._total
        difference = (only_a - only_b) / self._total
        variance = np.maximum(apart - difference**2, 0.0) / self.n_effective
        error, limits = np.sqrt(variance), (-1.0, 1.0)
        return t_interval(difference, error, confidence_level, self.alternative, None, limits)

    def columns(self) -> dict[str, Any]:
        """The main table as columns.

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
            return [Section(title=title, text=(several_tests(self),))]
        text = (
            with_pvalue(
                effect_sentence(self.difference, self.confidence_interval(), self.alternative),
                self.pvalue,
            ),
            sentence_of_test(self),
            f"accuracy a {self.accuracy_a:.4f}, b {self.accuracy_b:.4f}, means of "
            f"{2 * self.n_replicates} folds that are worth {self.n_effective:.1f} "
            f"independent samples (rho1 = {self.rho1:g}, rho2 = {self.rho2:g})",
        )
        if self.status == kernels.DEGENERATE:
            text += ("both are right on the same samples: p is a convention",)
        return [Section(title=title, text=text)]


def bcv_mcnemar(
    tables: ArrayLike, *, rho1: float = 0.5, rho2: float = 0.5, alternative: str = "two-sided"
) -> BCVMcNemarResult:
    """McNemar's test of two models over m two-fold cross-validations.

    Parameters
    ----------
    tables : array-like of int, shape (..., m, 2, 2, 2)
        For each of m >= 2 cuts of the samples in two halves, and for each half,
        ``table[a is wrong, b is wrong]`` of the samples that were tested in it:
        [0, 1] counts those that only a got right, [1, 0] those that only b got right.
        Leading axes hold other pairs of models.
    rho1 : float
        Correlation of the disagreements of a and b in the two halves of one cut, in
        (-1, 1].
    rho2 : float
        Correlation of those in halves of different cuts, in [0, (1 + rho1) / 2].
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.

    Returns
    -------
    BCVMcNemarResult
        Statistic, p-value, mean table, effective table and what follows from it.

    Raises
    ------
    ValueError
        If the shape is another one, counts are negative, fractional or more than
        2**53, a table is empty, or an option is outside its bounds.
    TypeError
        If counts or correlations are not numbers.

    Notes
    -----
    The tables are correlated. Their mean is multiplied by t = 2 m / (1 + rho1 + 2 (m -
    1) rho2), which makes the effective table, and that one is tested with a continuity
    correction: t max(abs(d) - 1/t, 0)**2 / s, where d is the difference and s the sum
    of the two discordant mean counts, has a chi-square distribution with one degree of
    freedom. One-sided tests use its root with the sign of d.

    The larger the correlations, the smaller t. Correlations within the bounds are
    possible for any m; 1/2 for both is the paper's choice, on the safe side of what was
    observed. The paper has m = 5 and cuts whose halves overlap in a quarter of the
    samples; other m are fastcmp's extension of its equation (8). Its misprints are
    listed under C1 to C10 of the errata.

    References
    ----------
    .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms", equations (8), (11)
       and (14).

    Examples
    --------
    >>> from fastcmp import bcv_mcnemar
    >>> tables = [[[[123, 7], [13, 7]], [[116, 7], [18, 9]]]] * 5
    >>> result = bcv_mcnemar(tables)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (5.1073, 0.0238)
    >>> round(result.effective_factor, 4), round(result.n_effective, 1)
    (1.8182, 272.7)
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    rho1, rho2 = as_correlations(rho1, rho2)
    counts = check_axes(as_counts(tables, "tables"), "tables", "m, 2, 2, 2")
    m = counts.shape[-4]
    if m < 2:
        raise BadValueError("`tables` must hold m >= 2 two-fold cross-validations", m)
    check_tables(counts, "tables", 4)
    shape = counts.shape[:-4]
    factor = kernels.bcv_factor(m, rho1, rho2)
    flat = counts.reshape(-1, 2 * m, 2, 2)
    means = np.empty((len(flat), 2, 2))
    results, status = np.empty((len(flat), 2)), np.empty(len(flat), np.uint8)
    bcv_mcnemar_many(flat, factor, ALTERNATIVES[alternative], means, results, status)
    return BCVMcNemarResult(
        statistic=unwrap(results[:, 0].copy(), shape),
        pvalue=unwrap(results[:, 1].copy(), shape),
        status=unwrap(status, shape),
        mean_table=means.reshape(*shape, 2, 2),
        effective_factor=factor,
        rho1=rho1,
        rho2=rho2,
        alternative=alternative,
        n_replicates=m,
    )


def check_tables(counts: Ints, name: str, n_axes: int) -> None:
    """Refuse a table without a sample, and too many samples in the last axes together."""
    # Sums over axes of two would cost more than the test.
    cells = counts.reshape(-1, 4)
    empty = (cells[:, 0] | cells[:, 1] | cells[:, 2] | cells[:, 3]) == 0
    if empty.any():
        first = np.unravel_index(empty.argmax(), counts.shape[:-2])
        place = f"{name}[{', '.join(map(str, first))}]" if first else name
        raise BadValueError(f"`{name}` must hold a sample in each table", f"an empty {place}")
    totals = counts.reshape(-1, prod(counts.shape[-n_axes:])).sum(1, dtype=np.float64)
    if totals.size and totals.max() > LARGEST_COUNT:
        raise BadValueError(f"`{name}` must add up to at most 2**53", f"{totals.max():.6g}")


def check_axes(array: NDArray[Any], name: str, axes: str) -> NDArray[Any]:
    """Refuse an array whose last axes are not those wanted: numbers, or any but 0."""
    sizes = axes.split(", ")
    last = array.shape[-len(sizes) :]
    # "0" stands for a size of 0, and no axis is that long: letters fit all others.
    last_axes = [
        str(n) if axis.isdigit() or not n else axis for n, axis in zip(last, sizes, strict=False)
    ]
    if last_axes != sizes:
        hint = ", table[a is wrong, b is wrong] of each fold" if axes.endswith("2, 2") else ""
        raise BadValueError(f"`{name}` must have shape (..., {axes}){hint}", f"shape {array.shape}")
    return array


def as_correlations(rho1: object, rho2: object) -> tuple[float, float]:
    """Check correlations within a cut and between cuts: possible for any m."""
    between = as_number(rho2, "rho2")
    # At -1 the mean would have no variance.
    within = float(as_within(as_number(rho1, "rho1"), "rho1", -1, 1, "(]"))
    largest = (1 + within) / 2
    if not 0 <= between <= largest:
        raise BadValueError(f"`rho2` must lie in [0, (1 + rho1) / 2] = [0, {largest:g}]", rho2)
    return within, between
