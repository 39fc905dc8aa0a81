"""Two models compared by the means of their values on different samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import (
    ALTERNATIVES,
    as_finite,
    as_flag,
    as_level,
    as_proportion,
    check_size,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import scale_exponent, scaled_back, times
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.sections import Section, beware
from fastcmp.core.sentences import direction_of, estimate_sentence, how, sentence_of_test
from fastcmp.core.typing import Floats
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.inputs.values import ItemTable, as_values
from fastcmp.kernels.cluster_means import mean_t, t_quantile
from fastcmp.kernels.status import DEGENERATE, UNDEFINED
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    as_margin,
    margins_of,
    mirrored,
    read_margin,
    with_margin,
)
from fastcmp.paired.unpaired_accuracies import unpaired_margins


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedMeans(Compared, Record):
    """Two models compared by the means of their values on different samples."""

    _opening = "The means of {a} and {b} on different samples were compared."
    _cites = ("welch",)

    #: Welch's t: the difference, less that of H0, in standard errors. Infinite, or 0
    #: without a difference, where no value varies; NaN with one value of a model.
    statistic: float
    pvalue: float
    #: Degrees of freedom, of Welch and Satterthwaite.
    df: float
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "mean", where more is better, or "mean loss".
    measure: str
    #: Mean of a minus that of b, its standard error, and the interval for it.
    difference: float
    standard_error: float
    interval: ConfidenceInterval
    mean_a: float
    mean_b: float
    #: Of each mean alone.
    standard_error_a: float
    standard_error_b: float
    #: Values of each model that were compared.
    n_a: int
    n_b: int
    alternative: str
    #: The mean of a minus that of b under H0.
    null_difference: float = 0.0
    confidence_level: float
    names: tuple[str, str]
    missing: str = "raise"
    #: Missing values of each model.
    n_missing_values: tuple[int, int] = (0, 0)
    #: What to beware of.
    cautions: tuple[str, ...] = ()
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    _derived = ("better", "distribution")

    #: What the p-value comes from.
    distribution: ClassVar[str] = "t"
    _test_name = "Welch's t test"
    _value = "mean"

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        of = Estimated(
            self.difference,
            self.standard_error,
            df=self.df,
            n_samples=self.n_a + self.n_b,
            pvalue=None if self.null_difference else self.pvalue,
            alternative="two-sided" if self.null_difference else self.alternative,
            measure=self.measure,
        )
        return margins_of(of, options._replace(lower_is_better=self.measure == "mean loss"))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The answer, and what to beware of.
        """
        text = [
            f"{direction_of(self)}: {self.mean_a:.4g} on {self.n_a} samples, {self.mean_b:.4g} on "
            f"{self.n_b} others.",
            estimate_sentence(self),
            sentence_of_test(self, end="."),
            how(f"Test: {self._test_name}."),
            *margin_sentences(self.margins),
            *self._missing_sentences(),
        ]
        sections = [Section(title="Two means on different samples", text=tuple(text))]
        return [*sections, *beware(self)]

    def _missing_sentences(self) -> tuple[str, ...]:
        n = sum(self.n_missing_values)
        what = {"drop": "they were left out", "wrong": "they count as 0"}
        return (f"{n} values are missing: {what[self.missing]}.",) if n else ()


POLICIES = ("raise", "drop", "wrong")
_ROUNDING = 1e-12  # of a difference without variance, beside that of H0
#: Fields in the unit of the values.
_IN_UNITS = (
    *("difference", "standard_error", "interval", "mean_a", "mean_b", "null_difference"),
    *("standard_error_a", "standard_error_b", "margins"),
)


class _Mean(NamedTuple):
    """A mean of independent values; its variance is NaN of one value."""

    mean: float
    variance: float
    n: int


def means_unpaired(
    values_a: ArrayLike,
    values_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    null_difference: float = 0.0,
    margin: float | None = None,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: Sequence[str] = ("a", "b"),
) -> UnpairedMeans:
    """Compare two models by the means of their values on different samples.

    Parameters
    ----------
    values_a : array-like, shape (n_a,)
        Values of model a, numbers or booleans, one for each of its samples.
    values_b : array-like, shape (n_b,)
        The same of model b, for other samples.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a has the higher mean, also where lower is better.
    null_difference : float
        The mean of a minus that of b under H0.
    margin : float, optional
        The largest difference that does not matter, above 0: adds tests of
        non-inferiority, superiority by the margin and equivalence at `alpha`, and a
        decision, as ``margins``. By t; values of 0 and 1 as in `accuracy_unpaired`.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).
    confidence_level : float
        Of the interval, in (0, 1).
    lower_is_better : bool
        Whether values are losses. They are never re-signed.
    missing : {"raise", "drop", "wrong"}
        What to make of missing values: refuse them, leave them out, or count them as 0.
    names : sequence of str
        What to call the two models.

    Returns
    -------
    UnpairedMeans
        Welch's t test, both means, and an interval for their difference.

    Raises
    ------
    ValueError
        If there is no value, one is missing or infinite, or an option is unknown.
    TypeError
        If values are not numbers.

    See Also
    --------
    fastcmp.mean_difference : Two models on the same items, with more power.
    fastcmp.compare_unpaired : The same with a decision, also of accuracies and AUCs.

    Notes
    -----
    Where no value of either model varies, the p-value is 1 without a difference, and with
    one that of the exact permutation test. One value has no variance: the test has no
    answer.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of 'Student's' problem when several
       different population variances are involved", Biometrika 34 (1947) 28-35.

    Examples
    --------
    >>> from fastcmp import means_unpaired
    >>> result = means_unpaired([0.9, 0.8, 0.7, 0.9], [0.5, 0.7, 0.6])
    >>> round(result.statistic, 4), round(result.df, 3), round(result.pvalue, 4)
    (3.0, 4.331, 0.0361)
    """
    from scipy.special import gammaln

    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_proportion(confidence_level, "confidence_level")
    level = as_level(confidence_level, alternative)
    shift = as_finite(null_difference, "null_difference")
    missing = choose(missing, "missing", POLICIES)
    against = read_margin(margin, alpha)
    measure = "mean loss" if as_flag(lower_is_better, "lower_is_better") else "mean"
    pair = read_pair_names(names)
    raw_a, missing_a = _values_of(values_a, "values_a", missing)
    raw_b, missing_b = _values_of(values_b, "values_b", missing)
    exponent = scale_exponent(raw_a, raw_b)
    shift = times(shift, -exponent)
    a, b = (_mean_of(np.ldexp(x, -exponent)) for x in (raw_a, raw_b))
    rates = bool(np.isin(np.concatenate([raw_a, raw_b]), (0.0, 1.0)).all())
    limits = (-1.0, 1.0) if rates else (-np.inf, np.inf)
    variance, df = a.variance + b.variance, np.nan
    if variance == 0.0:
        df = float(a.n + b.n - 2)
    elif not np.isnan(variance):
        parts = (a.variance / variance) ** 2 / (a.n - 1)
        df = 1.0 / (parts + (b.variance / variance) ** 2 / (b.n - 1))
    difference = a.mean - b.mean
    gap = difference - shift
    if variance == 0.0 and abs(gap) <= _ROUNDING * abs(shift):
        gap = 0.0  # 0.85 - 0.9 + 0.05 is not 0, but rounding
    t, pvalue, status = np.nan, np.nan, UNDEFINED
    spread = np.nan
    if not np.isnan(variance):
        t, pvalue, status = mean_t(gap, variance, df, ALTERNATIVES[alternative])
        spread = t_quantile(df, level) * variance**0.5
    if variance == 0.0 and gap != 0.0:
        # Of all ways to deal out the values, this one, and of equal sizes its mirror image.
        log_ways = gammaln(a.n + b.n + 1) - gammaln(a.n + 1) - gammaln(b.n + 1)
        pvalue, status, spread = float(np.exp(-log_ways)), DEGENERATE, np.nan
        if alternative == "two-sided":
            pvalue *= 1.0 + (a.n == b.n)
        elif (alternative == "greater") != (gap > 0.0):
            pvalue = 1.0
    ends = (difference - spread, difference + spread)
    low, high = np.clip(keep_side(ends, alternative, limits), *limits).tolist()
    cautions = []
    if 1 in (a.n, b.n):
        cautions.append("A model with one value has no variance: the test has no answer.")
    elif a.variance == b.variance == 0.0 and a.mean != b.mean:
        cautions.append("No variance was observed: the p-value is of the exact permutation test.")
    if rates:
        cautions.append(
            "All values are 0 or 1: accuracy_unpaired compares such means with better intervals."
        )
    result = UnpairedMeans(
        statistic=float(t),
        pvalue=float(pvalue),
        df=df,
        status=int(status),
        measure=measure,
        difference=difference,
        standard_error=variance**0.5,
        interval=ConfidenceInterval(low, high),
        mean_a=a.mean,
        mean_b=b.mean,
        standard_error_a=a.variance**0.5,
        standard_error_b=b.variance**0.5,
        n_a=a.n,
        n_b=b.n,
        alternative=alternative,
        null_difference=shift,
        confidence_level=confidence_level,
        names=pair,
        missing=missing,
        n_missing_values=(missing_a, missing_b),
        cautions=tuple(cautions),
    )
    if against is not None and rates:
        # As accuracies; of losses as those of b and a.
        as_margin(against.margin, 1.0)
        losses = measure == "mean loss"
        rows = (raw_b, raw_a) if losses else (raw_a, raw_b)
        turned = {"greater": "less", "less": "greater"} if losses else {}
        tests = unpaired_margins(
            tuple(n for x in rows for n in (int(x.sum()), x.size)),
            against,
            exact=False,
            pvalue=None if shift else result.pvalue,
            alternative=turned.get(alternative, alternative),
        )
        tests = mirrored(tests) if losses else tests
        return replace(result, margins=replace(tests, measure=measure))
    if against is not None:
        against = against._replace(margin=times(against.margin, -exponent))
    scaled: UnpairedMeans = scaled_back(with_margin(result, against), exponent, _IN_UNITS)
    return scaled


def _values_of(raw: object, name: str, missing: str) -> tuple[Floats, int]:
    """Values of one model, and how many are missing."""
    if isinstance(raw, ItemTable):
        raise BadTypeError(f"`{name}` must be values of one model", "an ItemTable")
    values = np.asarray(as_values(raw, name), np.float64)
    absent = np.isnan(values)
    n_missing = int(np.count_nonzero(absent))
    if n_missing and missing == "raise":
        raise BadValueError(
            f"`{name}`: {n_missing} values are missing (first: sample {int(absent.argmax())})",
            remedy="; pass `missing='drop'` to leave them out, or 'wrong' to count them as 0",
        )
    if n_missing:
        values = values[~absent] if missing == "drop" else np.nan_to_num(values)
    check_size(values.size, name, "value", 1)
    if np.isinf(values).any():
        raise BadValueError(f"`{name}` must be finite", values[np.isinf(values)][0])
    return values, n_missing


def _mean_of(values: Floats) -> _Mean:
    if (values == values[0]).all():  # whose mean may differ from them by rounding
        variance = np.nan if values.size == 1 else 0.0
        return _Mean(float(values[0]), variance, values.size)
    return _Mean(float(values.mean()), float(values.var(ddof=1)) / values.size, values.size)
