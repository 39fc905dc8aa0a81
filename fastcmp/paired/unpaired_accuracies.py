"""Two models on different samples: accuracies as two independent proportions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    are_counts_given,
    as_counts,
    as_level,
    as_within,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import Compared, ConfidenceInterval, Record, unwrap
from fastcmp.core.sections import Section
from fastcmp.core.sentences import (
    EQUALLY_ACCURATE,
    dropped_sentences,
    effect_sentence,
    sentence_of_test,
    several_tests,
    with_pvalue,
)
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints, Numbers
from fastcmp.inputs.labels import encode
from fastcmp.kernels.status import GREATER, LESS, Interval
from fastcmp.kernels.unpaired import miettinen_nurminen_many, unpaired_interval_many
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    Estimated,
    MarginOptions,
    make_tests,
    read_margin,
    samples_needed,
    with_margin,
)
from fastcmp.paired.mcnemar_result import ratio

#: Those that enumerate all tables.
EXACT: Final = ("boschloo", "barnard", "barnard-unpooled")
METHODS: Final = ("score", "miettinen-nurminen", *EXACT, "auto")
#: Those with which H0 may be a difference.
SHIFTED: Final = ("miettinen-nurminen", "barnard", "auto")
INTERVALS: Final = ("newcombe", "miettinen-nurminen", "exact")
#: Samples of either model up to which "auto" takes an exact test.
SMALL: Final = 200


def evaluate_counts(
    counts: Ints,
    null_difference: Floats,
    method: str,
    alternative: str,
    two_sided: str = "ordering",
) -> tuple[Any, Any, Any]:
    """Statistics, p-values and statuses of counts, shape (4, ...): right and all of a, then b."""
    shape = null_difference.shape
    if method == "score":
        correct_a, n_a, correct_b, n_b = counts
        z = np.asarray(score_statistic(correct_a / n_a, correct_b / n_b, n_a, n_b))
        right = correct_a + correct_b
        same = (right == 0) | (right == n_a + n_b)
        pvalue = np.where(same, 1.0, t_tail(z, alternative))
        status = np.where(same, kernels.DEGENERATE, kernels.OK).astype(np.uint8)
        return unwrap(z, shape), unwrap(pvalue, shape), unwrap(status, shape)
    flat = np.ascontiguousarray(counts.reshape(4, -1))
    shift = np.array(null_difference).ravel()  # a copy of what was broadcast
    code = ALTERNATIVES[alternative]
    if method == "miettinen-nurminen":
        z, pvalue = np.empty(shift.size), np.empty(shift.size)
        status = np.empty(shift.size, np.uint8)
        miettinen_nurminen_many(flat, shift, code, z, pvalue, status)
    else:
        doubled = alternative == "two-sided" and two_sided == "doubled"

        def exact(a: int, n_a: int, b: int, n_b: int, shift: float) -> tuple[float, float, int]:
            sides = []
            for side in (GREATER, LESS) if doubled else (code,):
                if method == "boschloo":
                    test = kernels.boschloo_exact(a, n_a, b, n_b, side)
                elif shift:
                    test = kernels.score_exact(a, n_a, b, n_b, shift, side)
                else:
                    test = kernels.barnard_exact(a, n_a, b, n_b, side, method == "barnard")
                sides.append(test)
            statistic, pvalue, status = min(sides, key=itemgetter(1))
            return statistic, min(2.0 * pvalue, 1.0) if doubled else pvalue, status

        _check_few(counts, method)
        z, pvalue, status = _by_column(np.vstack([flat, shift]), 3, exact)
        status = status.astype(np.uint8)
    return unwrap(z, shape), unwrap(pvalue, shape), unwrap(status, shape)


def _by_column(
    tables: NDArray[Any], n_answers: int, function: Callable[..., Sequence[float]]
) -> Floats:
    """Call a function once for each different column, the first four whole numbers."""
    distinct, where = np.unique(tables, axis=1, return_inverse=True)
    answers = np.empty((n_answers, distinct.shape[1]))
    for k, x in enumerate(distinct.T.tolist()):
        answers[:, k] = function(*map(int, x[:4]), *x[4:])
    return answers[:, where.ravel()]


def _check_few(counts: Ints, method: str) -> None:
    """Refuse more samples than exact tests take."""
    most = max(counts[1].max(initial=0), counts[3].max(initial=0))
    if most > kernels.UNPAIRED_EXACT_MAX_N:
        raise BadValueError(
            f"`method={method!r}` takes at most {kernels.UNPAIRED_EXACT_MAX_N} samples of a model",
            most,
            ": use 'miettinen-nurminen', which is close there",
        )


def score_statistic(rate_a: Numbers, rate_b: Numbers, n_a: Numbers, n_b: Numbers) -> Any:
    """A difference of independent proportions over its standard error under H0."""
    pooled = (rate_a * n_a + rate_b * n_b) / (n_a + n_b)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 0.0) * (1 / n_a + 1 / n_b))
    difference = np.subtract(rate_a, rate_b)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(difference == 0, 0.0, difference / error)
    return z if z.ndim else float(z)


def interval_of(counts: Ints, method: str, level: float) -> tuple[Any, Any]:
    """Two-sided intervals for the differences of counts, shape (4, ...)."""
    flat = np.ascontiguousarray(counts.reshape(4, -1))
    low, high = np.empty(flat.shape[1]), np.empty(flat.shape[1])
    if method == "exact":
        _check_few(counts, method)

        def interval(a: int, n_a: int, b: int, n_b: int) -> Interval:
            return kernels.score_exact_interval(a, n_a, b, n_b, level)

        low, high = _by_column(flat, 2, interval)
    else:
        options = (INTERVALS.index(method), level)
        unpaired_interval_many(flat, options, low, high)
    shape = counts.shape[1:]
    return unwrap(low, shape), unwrap(high, shape)


def ratio_interval_of(counts: Ints, level: float) -> tuple[Any, Any]:
    """Two-sided score intervals for accuracy a over accuracy b, shape (4, ...)."""
    from scipy.special import ndtri

    a, n_a, b, n_b = counts.reshape(4, -1).astype(np.float64)
    critical, n = float(-ndtri((1.0 - level) / 2.0)), n_a + n_b

    def score(log_ratio: Floats) -> Floats:
        ratio = np.exp(log_ratio)
        linear = n_a * ratio + a + n_b + b * ratio
        root = np.sqrt(np.maximum(linear**2 - 4.0 * n * ratio * (a + b), 0.0))
        rate_b = 2.0 * (a + b) / (linear + root)  # the likeliest under H0
        rate_a = np.minimum(ratio * rate_b, 1.0)
        variance = rate_a * (1.0 - rate_a) / n_a + ratio**2 * rate_b * (1.0 - rate_b) / n_b
        distance = a / n_a - ratio * b / n_b
        with np.errstate(divide="ignore", invalid="ignore"):
            z = distance / np.sqrt(variance * n / (n - 1.0))
        return np.where(distance == 0.0, 0.0, z)

    ends = []
    for z in (critical, -critical):
        low, high = np.full(a.size, -60.0), np.full(a.size, 60.0)
        for _ in range(100):
            middle = 0.5 * (low + high)
            above = score(middle) > z
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        ends.append(np.exp(low))
    ends[0] = np.where(a == 0.0, 0.0, ends[0])
    ends[1] = np.where(b == 0.0, np.inf, ends[1])
    low, high = (unwrap(end, counts.shape[1:]) for end in ends)
    return low, high


def odds_ratio_interval_of(counts: Ints, level: float) -> tuple[Any, Any]:
    """Exact conditional intervals for odds ratios of counts, shape (4, ...)."""

    def interval(a: int, n_a: int, b: int, n_b: int) -> tuple[float, float]:
        from scipy.special import gammaln

        right = a + b
        k = np.arange(max(0, right - n_b), min(n_a, right) + 1.0)
        x, y = n_a - k, right - k
        log_ways = -(gammaln(k + 1) + gammaln(x + 1) + gammaln(y + 1) + gammaln(n_b - y + 1))
        ends = [0.0, np.inf]
        for side, (tail, open_) in enumerate(((k >= a, a == k[0]), (k <= a, a == k[-1]))):
            if open_:
                continue
            low, high = -700.0, 700.0
            for _ in range(100):
                middle = 0.5 * (low + high)
                log_weight = log_ways + middle * (k - a)
                weight = np.exp(log_weight - log_weight.max())
                rare = weight[tail].sum() / weight.sum() < (1.0 - level) / 2.0
                low, high = (middle, high) if rare == (side == 0) else (low, middle)
            ends[side] = float(np.exp(0.5 * (low + high)))
        return ends[0], ends[1]

    low, high = _by_column(counts.reshape(4, -1), 2, interval)
    shape = counts.shape[1:]
    return unwrap(low, shape), unwrap(high, shape)


# Margin tests of two accuracies on different samples, from their counts.


def unpaired_margins(
    counts: tuple[Any, ...],
    options: MarginOptions,
    *,
    exact: bool,
    pvalue: object,
    alternative: str,
    measure: str = "accuracy",
) -> MarginTests:
    """Test counts, right and all of a, then of b, against checked margins.

    By Miettinen and Nurminen's score test, or by Chan's exact test, which orders tables
    by that score. `pvalue` is that of the test of equality, with its alternative, from
    which better and worse follow; for None they follow from the interval.
    """
    arrays = np.broadcast_arrays(*counts, options.margin)
    cells, margin = np.array(arrays[:4]), np.array(arrays[4], np.float64)
    method = "barnard" if exact else "miettinen-nurminen"

    beyond = (-margin, "less") if options.lower_is_better else (margin, "greater")
    lower, upper, more = (
        evaluate_counts(cells, shift, method, side)
        for shift, side in ((-margin, "greater"), (margin, "less"), beyond)
    )
    tails = (lower[0], upper[0], lower[1], upper[1], more[1])
    inverted = "exact" if exact else method
    intervals = (
        ConfidenceInterval(*interval_of(cells, inverted, 1.0 - options.alpha)),
        ConfidenceInterval(*interval_of(cells, inverted, 1.0 - 2.0 * options.alpha)),
    )
    difference = cells[0] / cells[1] - cells[2] / cells[3]
    of = Estimated(
        difference,
        None,
        n_samples=cells[1] + cells[3],
        pvalue=pvalue,
        alternative=alternative,
        measure=measure,
    )
    gain = options.gain(difference)
    towards = np.where(options.lower_is_better, np.negative(upper[0]), lower[0])
    a, n_a, b, n_b = cells
    n = n_a + n_b
    pooled, rate_a, rate_b = (a + b) / n, a / n_a, b / n_b
    equal = pooled * (1.0 - pooled) * (1.0 / n_a + 1.0 / n_b)
    observed = np.sqrt(rate_a * (1.0 - rate_a) / n_a + rate_b * (1.0 - rate_b) / n_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.divide(gain + margin, towards)
        at_margin = np.where(np.equal(towards, 0.0), observed, reach)
    root = np.sqrt(n)  # standard errors are scaled to one sample
    spreads = (np.sqrt(equal) * root, at_margin * root, observed * root)
    needed = samples_needed(gain, margin, spreads, options)
    return make_tests(
        *(of, options, tails, intervals, needed), method="exact" if exact else "miettinen-nurminen"
    )


_UNEVEN = 100_000  # tables of two sets of uneven sizes that are enumerated for a margin
METHOD_NAMES: Final = {
    "score": "score",
    "miettinen-nurminen": "Miettinen and Nurminen's score",
    "boschloo": "Boschloo's exact",
    "barnard": "Barnard's exact",
    "barnard-unpooled": "Barnard's exact unpooled",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedResult(Compared, Record):
    """A test of two accuracies from different samples.

    All numbers are arrays of one shape where the counts were.
    """

    _nulls = EQUALLY_ACCURATE
    _value = "accuracy"
    _closing = "The {level} interval of the difference of accuracies: {record._interval_named}."

    _cites = (
        (
            "method",
            {
                "score": "newcombe-unpaired",
                "miettinen-nurminen": "miettinen",
                "boschloo": "boschloo",
                "barnard": "barnard",
                "barnard-unpooled": "barnard",
            },
        ),
    )

    #: The difference, less that of H0, in standard errors under H0; 0 where there is
    #: none. For "boschloo" Fisher's p-value.
    statistic: Any
    pvalue: Any
    #: A `fastcmp.kernels.Status`.
    status: Any = 0
    #: Samples that each model classified correctly, of all that it was tested on.
    correct_a: Any
    n_a: Any
    correct_b: Any
    n_b: Any
    method: str = "score"
    alternative: str
    #: The accuracy of a minus that of b under H0.
    null_difference: Any = 0.0
    #: How an exact test is two-sided: "ordering" or "doubled".
    two_sided: str = "ordering"
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    _derived = (
        *("accuracy_a", "accuracy_b", "difference", "ratio", "odds_ratio"),
        *("measure", "better", "distribution"),
    )

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "normal", or "binomial" of exact tests."""
        return "binomial" if self.method in EXACT else "normal"

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def accuracy_a(self) -> Any:
        """Proportion of its samples that model a classified correctly."""
        return self.correct_a / self.n_a

    @property
    def accuracy_b(self) -> Any:
        """Proportion of its samples that model b classified correctly."""
        return self.correct_b / self.n_b

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        return self.accuracy_a - self.accuracy_b

    @property
    def _test_name(self) -> str:
        return f"{METHOD_NAMES[self.method]} test"

    @property
    def _interval_named(self) -> str:
        """How the interval of the difference is made, in words."""
        return {
            "score": "Newcombe's hybrid of two Wilson intervals",
            "miettinen-nurminen": "Miettinen and Nurminen's score interval",
        }.get(self.method, "the values that exact tests do not reject")

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str | None = None
    ) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"newcombe", "miettinen-nurminen", "exact"}, optional
            Newcombe's hybrid of two Wilson intervals, by default for the test "score";
            Miettinen and Nurminen's, the differences that their test does not reject,
            by default for all other tests; or Chan and Zhang's, which inverts an exact
            test and takes a second for 5,000 samples.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``; for "greater" `high` is 1, for "less" `low` is -1.

        Raises
        ------
        ValueError
            If an option is unknown, the level is not above one half for a one-sided
            interval, or there are more than 5,000 samples for "exact".

        References
        ----------
        .. [1] R. G. Newcombe, "Interval estimation for the difference between
           independent proportions: comparison of eleven methods", Statistics in
           Medicine 17 (1998) 873-890, method 10.
        .. [2] O. Miettinen, M. Nurminen, "Comparative analysis of two rates",
           Statistics in Medicine 4 (1985) 213-226.
        .. [3] I. S. F. Chan, Z. Zhang, "Test-based exact confidence intervals for the
           difference of two binomial proportions", Biometrics 55 (1999) 1202-1209.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired
        >>> result = accuracy_unpaired(counts=(56, 70, 48, 80))
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.0524, 0.3339)
        >>> low, high = result.confidence_interval(method="miettinen-nurminen")
        >>> round(low, 4), round(high, 4)
        (0.0528, 0.3382)
        """
        interval_method = choose(method, "method", (*INTERVALS, None))
        if interval_method is None:
            interval_method = INTERVALS[self.method != "score"]
        level = as_level(confidence_level, self.alternative)
        ends = interval_of(self._counts(), interval_method, level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (-1.0, 1.0)))

    @property
    def ratio(self) -> Any:
        """The accuracy of a over that of b, the relative risk of being right; 0 / 0 is NaN."""
        return ratio(self.accuracy_a, self.accuracy_b)

    @property
    def odds_ratio(self) -> Any:
        """The odds of a to be right over those of b; 0 / 0 is NaN."""
        wrong_a, wrong_b = (np.subtract(self.n_a, self.correct_a), self.n_b - self.correct_b)
        return ratio(
            np.multiply(self.correct_a, 1.0) * wrong_b, np.multiply(self.correct_b, 1.0) * wrong_a
        )

    def ratio_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `ratio`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            The ratios that Miettinen and Nurminen's score test does not reject
            (Koopman's with a correction). `low` is 0 where a is never right, `high` is
            infinite where b never is, and both where neither is.

        References
        ----------
        .. [1] P. A. R. Koopman, "Confidence intervals for the ratio of two binomial
           proportions", Biometrics 40 (1984) 513-517.
        .. [2] O. Miettinen, M. Nurminen, "Comparative analysis of two rates",
           Statistics in Medicine 4 (1985) 213-226.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired
        >>> result = accuracy_unpaired(counts=(56, 70, 48, 80))
        >>> low, high = result.ratio_interval()
        >>> round(result.ratio, 4), round(low, 4), round(high, 4)
        (1.3333, 1.079, 1.6721)
        """
        level = as_level(confidence_level, self.alternative)
        ends = ratio_interval_of(self._counts(), level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (0.0, np.inf)))

    def odds_ratio_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Exact interval for the odds ratio, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Cornfield's exact interval given the margins of the table, as SciPy's
            ``odds_ratio(kind="conditional")`` has it.

        References
        ----------
        .. [1] J. Cornfield, "A statistical problem arising from retrospective studies",
           Proceedings of the Third Berkeley Symposium 4 (1956) 135-148.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired
        >>> result = accuracy_unpaired(counts=(56, 70, 48, 80))
        >>> low, high = result.odds_ratio_interval()
        >>> round(result.odds_ratio, 4), round(low, 4), round(high, 4)
        (2.6667, 1.2091, 6.0399)
        """
        level = as_level(confidence_level, self.alternative)
        ends = odds_ratio_interval_of(self._counts(), level)
        return ConfidenceInterval(*keep_side(ends, self.alternative, (0.0, np.inf)))

    def _counts(self) -> Ints:
        counts = (self.correct_a, self.n_a, self.correct_b, self.n_b)
        return np.array(np.broadcast_arrays(*counts))

    def _margin_tests(self, options: MarginOptions) -> MarginTests:
        """Test the difference against a margin."""
        # With sets of very different sizes, the smaller one small, score tests find a
        # model that is worse by the margin not worse in up to 10% of samples.
        sizes = np.sort([np.max(self.n_a), np.max(self.n_b)])
        uneven = sizes[1] > 4 * sizes[0] and sizes.prod() <= _UNEVEN
        return unpaired_margins(
            (self.correct_a, self.n_a, self.correct_b, self.n_b),
            options,
            exact=self.method in EXACT or bool(uneven and not np.ndim(self.pvalue)),
            pvalue=None if np.any(self.null_difference) else self.pvalue,
            alternative=self.alternative,
        )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        name = METHOD_NAMES[self.method]
        title = f"Two accuracies on different samples ({name} test, {self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (several_tests(self), *margin_sentences(self.margins))
            return [Section(title=title, text=text)]
        text = (
            with_pvalue(
                effect_sentence(self.difference, self.confidence_interval(), self.alternative),
                self.pvalue,
            ),
            f"Accuracy of a {self.accuracy_a:.4f} on {self.n_a} samples, "
            f"of b {self.accuracy_b:.4f} on {self.n_b}.",
            sentence_of_test(self),
            *margin_sentences(self.margins),
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return [Section(title=title, text=text)]


def accuracy_unpaired(
    y_a: ColumnLike | None = None,
    pred_a: ColumnLike | None = None,
    y_b: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    counts: Sequence[ArrayLike] | None = None,
    method: str = "score",
    alternative: str = "two-sided",
    null_difference: ArrayLike = 0.0,
    two_sided: str = "ordering",
    margin: float | None = None,
    alpha: float = 0.05,
    classes: Classes | None = None,
    missing: str = "raise",
) -> UnpairedResult:
    """Compare the accuracies of two models on different samples.

    Parameters
    ----------
    y_a : array-like, shape (n_a,)
        True labels of the samples of model a. Samples with a missing one are dropped.
    pred_a : array-like, shape (n_a,)
        What model a predicted.
    y_b, pred_b : array-like, shape (n_b,)
        The same of model b.
    counts : sequence of four array-like of int, optional
        In the place of labels: samples that model a classified correctly, and all that
        it was tested on; the same of model b. They are broadcast against each other.
    method : {"score", "miettinen-nurminen", "boschloo", "barnard", "barnard-unpooled",\
            "auto"}
        "score": the pooled score test. "miettinen-nurminen": the score test of any
        difference. "boschloo", "barnard" and "barnard-unpooled": exact unconditional
        tests that order tables by Fisher's p-value, or by z with a pooled or unpooled
        variance. "auto", recommended: "boschloo" ("barnard" where `null_difference` is
        not 0) if neither model has more than 200 samples, else "miettinen-nurminen".
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    null_difference : array-like
        The accuracy of a minus that of b under H0, in (-1, 1); if it is not 0, `method`
        must be "miettinen-nurminen", "barnard" (which is then Chan's test) or "auto".
    two_sided : {"ordering", "doubled"}
        How an exact test is two-sided: tables are ordered by the size of z, or by
        Fisher's two-sided p-value; or the smaller one-sided p-value is doubled, as
        SciPy does for Boschloo's test.
    margin : float, optional
        The largest difference that does not matter, in (0, 1): adds tests of
        non-inferiority, superiority by the margin and equivalence at `alpha`, and a
        decision, as ``margins``. By Miettinen and Nurminen's test; beside an exact test,
        and where one of two small sets has over four times as many samples as the
        other, by Chan's exact test.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    UnpairedResult
        The test, and both accuracies. For "score" z = difference / sqrt(p (1 - p)
        (1 / n_a + 1 / n_b)), p the accuracy over both sets; 0 and p-value 1 where all or
        no samples are right. Of counts arrays of their shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If lengths differ, there is no sample, a prediction is missing, counts are
        negative, fractional or above 2**53, more samples are right than there are, shapes
        do not fit, a difference or a margin is impossible, an option is unknown, or there
        are more than 5,000 samples of a model for an exact test.
    TypeError
        If labels cannot be compared, counts are not numbers, or both or neither are given.

    See Also
    --------
    fastcmp.compare_unpaired : The same with a decision, also of means and AUCs.
    fastcmp.mcnemar : Two models on the same samples, with more power.
    fastcmp.delong_unpaired : Areas under two curves on different samples.
    fastcmp.fold_test : "proportion-z" is the same test, for one set of samples.

    Notes
    -----
    The score test of two independent proportions: its square is Pearson's chi-square of
    the 2 x 2 table, without correction. Miettinen and Nurminen's statistic for H0 of
    equality is sqrt((N - 1) / N) times it, N the samples of both. Exact tests take the
    largest p-value over all accuracies under H0; with 200 samples of each model a
    millisecond, with 5,000 half a second.

    References
    ----------
    .. [1] O. Miettinen, M. Nurminen, "Comparative analysis of two rates", Statistics in
       Medicine 4 (1985) 213-226.
    .. [2] R. D. Boschloo, "Raised conditional level of significance for the 2 x 2 table
       when testing the equality of two probabilities", Statistica Neerlandica 24 (1970)
       1-9.
    .. [3] G. A. Barnard, "Significance tests for 2 x 2 tables", Biometrika 34 (1947)
       123-138.
    .. [4] I. S. F. Chan, "Exact tests of equivalence and efficacy with a non-zero lower
       bound for comparative studies", Statistics in Medicine 17 (1998) 1403-1413.

    Examples
    --------
    >>> from fastcmp import accuracy_unpaired
    >>> y_a, pred_a = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 1, 0]
    >>> y_b, pred_b = [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]
    >>> round(accuracy_unpaired(y_a, pred_a, y_b, pred_b).pvalue, 4)
    0.0261
    >>> result = accuracy_unpaired(counts=(84, 100, 92, 100))
    >>> round(result.statistic, 3), round(result.pvalue, 3)
    (-1.741, 0.082)
    """
    against = read_margin(margin, alpha, 1.0)
    method = choose(method, "method", METHODS)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    two_sided = choose(two_sided, "two_sided", ("ordering", "doubled"))
    shift = as_within(null_difference, "null_difference", -1, 1, "()")
    if np.any(shift) and method not in SHIFTED:
        raise BadValueError(
            f"`null_difference` must be 0 with `method={method!r}`, which tests equality",
            remedy=f": choose one of {SHIFTED}",
        )
    data = {"y_a": y_a, "pred_a": pred_a, "y_b": y_b, "pred_b": pred_b}
    labels_only = {"classes": classes, "missing": None if missing == "raise" else missing}
    dropped: dict[str, int] = {}
    if are_counts_given(data, {"counts": counts}, labels_only):
        cells, shift = _read_counts(counts, shift)
    elif shift.ndim:
        raise BadValueError("`null_difference` must be one number", f"shape {shift.shape}")
    else:
        cells, dropped = [], {"n_missing": 0, "n_excluded": 0}
        of_labels: dict[str, Any] = {"classes": classes, "missing": missing, "least": 1}
        for model, y, pred in (("a", y_a, pred_a), ("b", y_b, pred_b)):
            part = encode(y, {f"pred_{model}": pred}, truth=f"y_{model}", **of_labels)
            cells += [np.count_nonzero(part.y_true == part.preds[0]), part.n_samples]
            dropped["n_missing"] += part.n_missing
            dropped["n_excluded"] += part.n_excluded
    if method == "auto":
        most = max(np.max(cells[1], initial=0), np.max(cells[3], initial=0))
        exact = "barnard" if np.any(shift) else "boschloo"
        method = exact if most <= SMALL else "miettinen-nurminen"
    options = {"method": method, "alternative": alternative, "two_sided": two_sided}
    statistic, pvalue, status = evaluate_counts(np.array(cells, np.int64), shift, **options)
    names = ("correct_a", "n_a", "correct_b", "n_b", "null_difference")
    numbers = [unwrap(np.array(x), shift.shape) for x in (*cells, shift)]
    fields: dict[str, Any] = dict(zip(names, numbers, strict=True)) | options | dropped
    result = UnpairedResult(statistic=statistic, pvalue=pvalue, status=status, **fields)
    return with_margin(result, against)  # type: ignore[no-any-return]


def _read_counts(counts: Any, shift: Floats) -> tuple[list[Any], Floats]:
    """Right answers and samples of both models, and differences under H0, of one shape."""
    names = ("correct_a", "n_a", "correct_b", "n_b")
    if not hasattr(counts, "__len__") or len(counts) != len(names):
        raise BadTypeError(f"`counts` must be a tuple ({', '.join(names)})", repr(counts))
    arrays = [as_counts(raw, name) for name, raw in zip(names, counts, strict=True)]
    try:
        right_a, all_a, right_b, all_b, shift = np.broadcast_arrays(*arrays, shift)
    except ValueError:
        shapes = ", ".join(map(str, (np.shape(x) for x in (*arrays, shift))))
        raise BadValueError("`counts` must broadcast to one shape", f"shapes {shapes}") from None
    for model, correct, n in (("a", right_a, all_a), ("b", right_b, all_b)):
        if (n < 1).any():
            raise BadValueError(f"n_{model} must be at least 1", n.min(), argument="counts")
        if (correct > n).any():
            raise BadValueError(
                f"correct_{model} must be at most n_{model}",
                correct[correct > n].flat[0],
                argument="counts",
            )
    return [right_a, all_a, right_b, all_b], shift
