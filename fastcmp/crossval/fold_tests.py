"""Tests of two models on the folds of a resampling design: one row each, and their record.

The tests of score differences differ in how much they enlarge the variance for training
sets that overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    as_counts,
    as_level,
    as_numbers,
    as_positive,
    check_size,
    choose,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.records import Compared, ConfidenceInterval, Record, unwrap
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import STATISTICS, null_hypothesis, several_tests, with_null
from fastcmp.core.typing import Floats, Ints
from fastcmp.crossval.designs import (
    Design,
    kfold,
    paired_halves,
    repeated_holdout,
    repeated_kfold,
    two_fold,
)
from fastcmp.crossval.mcnemar import as_correlations, bcv_mcnemar, check_axes, check_tables
from fastcmp.kernels import fold_tables, fold_tests
from fastcmp.paired.mcnemar import mcnemar

_ESTIMATES = {"dietterich-t": "first difference", "proportion-z": "difference of accuracies"}
#: By what the name of a test ends with.
_DISTRIBUTIONS = {"t": "t", "f": "F", "z": "normal", "mcnemar": "chi2"}


#: What tests of folds cite.
FOLD_TESTS_CITE = {
    **dict.fromkeys(("resampled-t", "kfold-t", "dietterich-t"), "dietterich"),
    **dict.fromkeys(("nadeau-bengio-t", "conservative-z"), "nadeau"),
    "bouckaert-frank-t": "bouckaert-frank nadeau",
    "bouckaert-t": "bouckaert",
    "yildiz-t": "yildiz",
    "blocked-t": "wang-t",
    "alpaydin-f": "alpaydin",
    "calibrated-f": "wang-f",
    "bayle-z": "bayle",
    "holdout-mcnemar": "mcnemar",
    "bcv-mcnemar": "yang-bcv",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FoldTestResult(Compared, Record):
    """A test of two models on the folds of a resampling design.

    All numbers but the degrees of freedom are arrays of one shape where the data had
    leading axes.

    Notes
    -----
    Differences are without spread where each lies within 1e-12 of what it should vary
    about, in units of the largest difference: scores are rounded. If what is tested is
    0 too, the statistic is 0, p is 1 and `status` ``DEGENERATE``. Otherwise nothing
    measures the estimate: statistic and p are NaN, and `status` is ``UNDEFINED``.
    """

    _cites = (("test", FOLD_TESTS_CITE),)
    _nulls = ("{a} and {b} score equally well", "{a} does not score {more} than {b}")

    #: Student's t, Snedecor's F, a normal z or a chi-square: see `distribution`.
    statistic: Any
    pvalue: Any
    #: Mean score of a minus that of b.
    difference: Any
    #: What is tested against zero: `difference`, except that it is the first difference
    #: for Dietterich's t, and NaN for chi-square.
    estimate: Any
    #: ``statistic`` = `estimate` / `standard_error` for t and z; NaN for the others.
    standard_error: Any
    #: Degrees of freedom: a number for t and chi-square, a pair for F, None for z.
    df: float | tuple[float, float] | None
    #: A `fastcmp.kernels.Status`; not ``OK`` where the differences have no spread.
    status: Any
    #: Which test, such as "alpaydin-f" or "blocked-t".
    test: str
    #: The same in words.
    title: str
    #: What the models are scored by: "score" where only differences are known.
    measure: str = "score"
    alternative: str = "two-sided"
    #: Number of folds that the estimate is made of.
    n_folds: int

    @property
    def distribution(self) -> str:
        """The reference distribution: "t", "F", "normal" or "chi2"."""
        return _DISTRIBUTIONS[self.test.rpartition("-")[2]]

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for what `estimate` estimates, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            `estimate` plus and minus a quantile, of t or of the normal distribution,
            times `standard_error`; NaN where that is 0. For "greater" `high` is
            infinite, for "less" `low`.

        Raises
        ------
        ValueError
            For a test that has no standard error (F and chi-square), and for a
            one-sided interval at a level that is not above one half.

        Examples
        --------
        >>> from fastcmp import fold_test
        >>> result = fold_test([0.02, 0.01, 0.03, 0.02], "kfold-t")
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.007, 0.033)
        """
        if self.distribution not in ("t", "normal"):
            as_level(confidence_level, self.alternative)
            raise BadValueError(
                f"`test` {self.test!r} gives no interval: its statistic is no estimate divided "
                "by a standard error, as it is for the t and z tests"
            )
        error = np.asarray(self.standard_error, np.float64)
        error = np.where(error > 0.0, error, np.nan)
        return t_interval(self.estimate, error, confidence_level, self.alternative, self.df)

    def _shown(self) -> dict[str, Any]:
        df, df2 = self.df if isinstance(self.df, tuple) else (self.df, None)
        entries = {**self._fields(), "df": df, "df2": df2}
        return {**entries, "distribution": self.distribution, "better": self.better}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section; for arrays, what they hold.
        """
        if np.ndim(self.pvalue):
            title = f"{self.title}, {self.alternative}"
            return [Section(title=title, text=(several_tests(self),))]
        text = []
        if not np.isnan(self.estimate):
            what = _ESTIMATES.get(self.test, "mean difference")
            effect = f"{what} (a minus b) {self.estimate:+.4f}"
            if self.distribution in {"t", "normal"} and self.standard_error > 0.0:
                low, high = self.confidence_interval()
                interval = format_interval(low, high, digits=4, sign="+")
                effect += f", {interval_name(0.95, self.alternative)} {interval}"
            text.append(effect if self.n_folds == 1 else f"{effect}, {self.n_folds} folds")
        degrees = ""
        if self.df is not None:
            pair = self.df if isinstance(self.df, tuple) else (self.df,)
            degrees = f" with {' and '.join(f'{df:.4g}' for df in pair)} degree"
            degrees += " of freedom" if pair == (1,) else "s of freedom"
        statistic = f"{STATISTICS[self.distribution]} = {self.statistic:.4g}{degrees}"
        pvalue = format_pvalue(self.pvalue)
        text.append(with_null(f"{statistic}, p = {pvalue}", null_hypothesis(self)))
        if self.status == kernels.DEGENERATE:
            text.append("the differences have no spread: p is a convention")
        elif self.status == kernels.UNDEFINED:
            text.append("the differences have no spread: nothing measures the estimate, no answer")
        return [Section(title=self.title, text=tuple(text))]


class FoldOutcomes(NamedTuple):
    """Two models on the folds of one design, or many pairs of models at once."""

    design: Design
    #: Score of a minus that of b in each fold, shape (..., R, K).
    differences: Floats
    #: ``table[a is wrong, b is wrong]`` of each fold, shape (..., R, K, 2, 2); None
    #: where the score is not accuracy.
    tables: Any
    #: Samples that the first fold trained on, and tested.
    n_train: int
    n_test: int


def differences_of(tables: Ints) -> Floats:
    """Differences of the accuracies in each fold."""
    gain = tables[..., 0, 1] - tables[..., 1, 0]
    return np.asarray(gain / tables.sum(axis=(-2, -1)))


class Splits(NamedTuple):
    """The designs that a test is made for: a family, with so many repetitions."""

    #: These designs in words.
    wanted: str
    family: str
    #: Makes the one that the authors describe; called with `stratify` and `rng`.
    design: Callable[..., Design]
    least: float = 1
    most: float = inf
    n_folds: int | None = None


@dataclass(frozen=True, slots=True)
class CVTest:
    """A test and the splits that it is made for."""

    name: str
    title: str
    #: The last axes of the data of one test, as in `fold_test`; "" where it has a function
    #: of its own.
    axes: str
    splits: Splits
    _: KW_ONLY
    #: Whether it counts right and wrong predictions, so that it takes no other score.
    counts: bool = False
    #: Whether it has one-sided forms.
    one_sided: bool = True

    def accepts(self, design: Design) -> bool:
        """Whether a design can be used."""
        splits = self.splits
        return (
            design.family == splits.family
            and splits.least <= design.n_repeats <= splits.most
            and splits.n_folds in (None, design.n_folds)
        )

    def check_design(self, design: Design) -> None:
        """Refuse folds of another design."""
        if not self.accepts(design):
            raise BadValueError(f"`test` {self.name!r} needs {self.splits.wanted}", design)

    def check_options(self, alternative: str, *, counted: bool) -> None:
        """Refuse an alternative, or a score, that the test does not take."""
        if alternative != "two-sided" and not self.one_sided:
            raise BadValueError(
                f"`test` {self.name!r} is two-sided only", f"`alternative={alternative!r}`"
            )
        if self.counts and not counted:
            raise BadValueError(
                f"`test` {self.name!r} counts right and wrong predictions: it takes no scoring"
            )

    def run(self, outcomes: FoldOutcomes, alternative: str = "two-sided") -> Any:
        """Test the outcomes of a design; arrays of the leading axes."""
        design, x, tables, n_train, n_test = outcomes
        self.check_design(design)
        self.check_options(alternative, counted=tables is not None)
        if self.name == "bcv-mcnemar":
            return bcv_mcnemar(tables, alternative=alternative)
        if self.name == "holdout-mcnemar":
            table = tables[..., 0, 0, :, :]
            return mcnemar(table=table, method="corrected", alternative=alternative)
        options: dict[str, Any] = {}
        if self.axes == "2, 2":
            x = tables[..., 0, 0, :, :]
        elif self.axes == "K, 2, 2":
            x = tables[..., 0, :, :, :]
        elif "," not in self.axes:  # all folds of all repetitions in a row
            x = x.reshape(*x.shape[:-2], -1)
        if self.name == "nadeau-bengio-t":
            options = {"n_train": n_train, "n_test": n_test}
        elif self.name == "conservative-z":
            n = design.n_repeats
            halves = x[..., n:].reshape(*x.shape[:-1], design.n_halves, 2, n)
            x, options = x[..., :n], {"half_differences": halves}
        elif self.name == "bayle-z":
            # The samples of each fold in a row: only a right, only b right, all others.
            # Their order within a fold does not matter.
            tables = tables[..., 0, :, :, :]
            sizes = tables.sum((-2, -1)).reshape(-1, tables.shape[-3])[0]
            only_a, only_b = tables[..., 0, 1, None], tables[..., 1, 0, None]
            samples = []
            for fold, size in enumerate(sizes):
                at = np.arange(size)
                first = at < only_a[..., fold, :]
                samples.append(2.0 * first - (at < (only_a + only_b)[..., fold, :]))
            x = np.concatenate(samples, axis=-1)
            options = {"folds": np.repeat(np.arange(len(sizes)), sizes)}
        return fold_test(x, self.name, alternative=alternative, **options)


_RANDOM = Splits(
    "repeated_holdout(n_repeats), 2 random splits or more", "holdout", repeated_holdout, 2
)
_TENTHS = _RANDOM._replace(design=partial(repeated_holdout, test_size=0.1))
_HOLDOUT = Splits(
    "repeated_holdout(1), a single random split", "holdout", partial(repeated_holdout, 1), 1, 1
)
_KFOLD = Splits("kfold(n_folds), one K-fold cross-validation", "kfold", kfold, 1, 1)
_KFOLDS = Splits("repeated_kfold(n_repeats, n_folds)", "kfold", repeated_kfold)
_10X10 = Splits("repeated_kfold(10, 10)", "kfold", repeated_kfold, 10, 10, 10)
_CUTS = Splits("two_fold(5), 5 random cuts in halves", "two-fold", partial(two_fold, 5), 5, 5)
_blocked = partial(two_fold, blocked=True)
_BALANCED = Splits("two_fold(m, blocked=True) with m >= 2", "blocked-two-fold", _blocked, 2)
_BALANCED_3 = _BALANCED._replace(design=partial(_blocked, 3))
_BALANCED_5 = _BALANCED._replace(wanted="two_fold(5, blocked=True)", least=5, most=5)
_HALVES = Splits("paired_halves(n_halves, n_repeats)", "paired-halves", paired_halves)
_ROWS = (
    CVTest("resampled-t", "Resampled t", "J", _RANDOM),
    CVTest("kfold-t", "K-fold CV t", "K", _KFOLD),
    CVTest("dietterich-t", "5x2 CV t (Dietterich)", "5, 2", _CUTS),
    CVTest("nadeau-bengio-t", "Corrected resampled t (Nadeau, Bengio)", "J", _TENTHS),
    CVTest("bouckaert-frank-t", "Corrected repeated K-fold t (Bouckaert, Frank)", "r, k", _KFOLDS),
    CVTest("bouckaert-t", "10x10 CV t, calibrated (Bouckaert)", "10, 10", _10X10),
    CVTest("yildiz-t", "Combined 5x2 CV t (Yildiz)", "5, 2", _CUTS),
    CVTest("blocked-t", "Blocked 3x2 CV t", "m, 2", _BALANCED_3),
    CVTest("alpaydin-f", "Combined 5x2 CV F (Alpaydin)", "5, 2", _CUTS, one_sided=False),
    CVTest("calibrated-f", "Calibrated 5x2 BCV F", "5, 2", _BALANCED_5, one_sided=False),
    CVTest("proportion-z", "Difference of proportions, hold-out", "2, 2", _HOLDOUT, counts=True),
    CVTest("conservative-z", "Conservative Z (Nadeau, Bengio)", "J", _HALVES),
    CVTest("bayle-z", "K-fold CV-CI Z (Bayle et al.)", "n", _KFOLD, counts=True),
    CVTest("holdout-mcnemar", "McNemar, hold-out", "", _HOLDOUT, counts=True),
    CVTest(
        "naive-mcnemar", "Naive K-fold CV McNemar", "K, 2, 2", _KFOLD, counts=True, one_sided=False
    ),
    CVTest("bcv-mcnemar", "5x2 BCV McNemar", "", _BALANCED, counts=True),
)
#: All tests by name, those of the t family first.
TESTS = {test.name: test for test in _ROWS}
_METHODS = tuple(test.name for test in _ROWS if test.axes)
#: The 5 x 2 tests: code for the kernel, and degrees of freedom.
_FIVE_BY_TWO: dict[str, tuple[int, Any]] = {
    "dietterich-t": (fold_tests.DIETTERICH_T, 5),
    "yildiz-t": (fold_tests.YILDIZ_T, 5),
    "alpaydin-f": (fold_tests.ALPAYDIN_F, (10, 5)),
    "calibrated-f": (fold_tests.CALIBRATED_F, (7, 5)),
}
#: What the first axis of the data holds, of which two are needed.
_NOUNS = {"J": "splits", "K": "folds", "m": "cuts in halves", "n": "samples"}


def find_test(name: str) -> CVTest:
    """The test of a name."""
    return TESTS[choose(name, "test", TESTS)]


def fold_test(
    x: ArrayLike,
    method: str,
    *,
    n_train: float | None = None,
    n_test: float | None = None,
    rho1: float | None = None,
    rho2: float | None = None,
    folds: ArrayLike | None = None,
    variance: str | None = None,
    half_differences: ArrayLike | None = None,
    alternative: str = "two-sided",
) -> FoldTestResult:
    """Test two models by their scores, or their tables of counts, in the folds of a design.

    Parameters
    ----------
    x : array-like
        Score of a minus that of b in each fold, or each split into training and test
        set; for "naive-mcnemar" and "proportion-z" ``table[a is wrong, b is wrong]``,
        where [0, 1] counts the samples that only a got right. Its last axes are those
        of the table of methods below; leading axes hold many tests.
    method : str
        The test: see the table below. Those of `compare_cv` that are not in it have
        functions of their own, `bcv_mcnemar` and `mcnemar`.
    n_train, n_test : float, optional
        Samples trained and tested on in each split, or their proportions: only the
        ratio counts. Needed for "nadeau-bengio-t"; for "bouckaert-frank-t" by default
        those of k equal folds, k - 1 and 1.
    rho1, rho2 : float, optional
        For "blocked-t": correlations of the differences of one cut, in (-1, 1], and of
        different cuts, in [0, (1 + rho1) / 2]. Without them it is the test of 2014.
    folds : array-like of int, shape (n,), optional
        For "bayle-z": the fold in which each sample was tested, numbered from 0 without
        gaps.
    variance : {"out", "in"}, optional
        For "bayle-z": of all samples about the common mean, the default; or the mean of
        the variances within the folds, which need two samples each. Folds of unequal
        size count alike.
    half_differences : array-like, shape (..., M, 2, J), optional
        For "conservative-z": the differences in J splits of either half, with as many
        samples to test on, for M random cuts of the samples in two halves.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better. F tests and "naive-mcnemar" have no sides.

    Returns
    -------
    FoldTestResult
        Statistic, p-value, degrees of freedom, and for t and z an interval. See there
        for differences without spread.

    Raises
    ------
    ValueError
        If the last axes are others, or hold fewer than two differences; if one is not
        finite; if counts are negative, fractional or more than 2**53, or a table of
        "proportion-z" is empty; if an option is unknown, out of bounds, lacking, or one
        of another method.
    TypeError
        If `x` or an option does not hold numbers.

    See Also
    --------
    compare_cv : Fits the models itself, on the splits that a test is made for.
    compare_folds : Many models, by "nadeau-bengio-t".
    bcv_mcnemar : McNemar's test over two-fold cross-validations, with its posteriors.

    Notes
    -----
    =================== =========== ============================================ ======
    method              axes of `x` test                                         source
    =================== =========== ============================================ ======
    "resampled-t"       J           t with J - 1 df of random splits, as if they [1]_
                                    were independent
    "kfold-t"           K           t with K - 1 df of one cross-validation, as  [1]_
                                    if folds were independent
    "dietterich-t"      5, 2        t with 5 df of the first difference; 5 cuts  [1]_
                                    in halves
    "nadeau-bengio-t"   J           t with J - 1 df; the variance of the mean is [2]_
                                    (1 / J + n_test / n_train) s**2
    "bouckaert-frank-t" r, k        the same for r repetitions of k folds        [3]_
    "bouckaert-t"       10, 10      t with 10 df; the variance of the mean is    [4]_
                                    s**2 / 11
    "yildiz-t"          5, 2        t with 5 df of the mean of all ten           [5]_
    "blocked-t"         m, 2        t with 2 m - 1 df, or those of `rho1` and    [6]_
                                    `rho2`; m balanced cuts in halves
    "alpaydin-f"        5, 2        F with 10 and 5 df                           [7]_
    "calibrated-f"      5, 2        F with 7 and 5 df; balanced cuts, whose      [8]_
                                    halves share a quarter of the samples
    "conservative-z"    J           z; the variance comes from splits of halves  [2]_
    "bayle-z"           n           z; a difference for each sample: for         [9]_
                                    accuracy 1 where only a is right, -1 where
                                    only b is
    "proportion-z"      2, 2        z of two accuracies, without regard to       [1]_
                                    pairing
    "naive-mcnemar"     K, 2, 2     chi-square with K df, the sum over the folds [10]_
    =================== =========== ============================================ ======

    "resampled-t", "kfold-t" and "yildiz-t" ignore that the training sets overlap: the
    variance is estimated too small, and equally good models are found different far too
    often. So does "naive-mcnemar", whose chi-squares are not independent: it is here to be
    compared with. "proportion-z" has the variance of two independent sets of samples, so
    it misses differences that `mcnemar` finds. "dietterich-t" depends on the order of cuts
    and halves. "conservative-z" tends to have too large a variance, as models trained on
    half of the samples vary more; its authors take J = 15 and M = 10.

    "nadeau-bengio-t" guesses the correlation of two splits as n_test / (n_train + n_test).
    Bouckaert chose 10 degrees of freedom by simulation; MATLAB's ``testckfold`` calls
    "bouckaert-t" ``"10x10t"``. "blocked-t" divides the mean by C sqrt(V), with V the mean
    squared deviation from it. C = 1 and 5 degrees of freedom for m = 3 are the
    configuration in the authors' own programs; the article was not at hand, and for other
    m the default is our extension. With correlations, C**2 = (1 + rho1 + 2 (m - 1) rho2) /
    (2 m - 1 - rho1 - 2 (m - 1) rho2), known from those programs only, as
    `fastcmp.kernels.blocked_constants` gives it. The degrees of freedom of "calibrated-f"
    are those of the article's abstract; that the statistic is Alpaydin's without another
    constant is our reading. "bayle-z" tests the mean over the models of this
    cross-validation; that folds of unequal size count alike is our extension. Each
    chi-square of "naive-mcnemar" has a continuity correction that does not exceed the
    difference; a fold without discordant samples adds 0 and keeps its degree of freedom
    (equation (5); see C1 and C2 of the errata).

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998) 1895-1923.
    .. [2] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003) 239-281.
    .. [3] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance
       tests for comparing learning algorithms", PAKDD (2004) 3-12.
    .. [4] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", ICML (2003) 51-58.
    .. [5] O. T. Yildiz, "Omnivariate rule induction using a novel pairwise statistical
       test", IEEE Transactions on Knowledge and Data Engineering 25 (2013) 2105-2118.
    .. [6] Y. Wang, R. Wang, H. Jia, J. Li, "Blocked 3 x 2 cross-validated t-test for
       comparing supervised classification learning algorithms", Neural Computation 26
       (2014) 208-235.
    .. [7] E. Alpaydin, "Combined 5 x 2 cv F test for comparing supervised
       classification learning algorithms", Neural Computation 11 (1999) 1885-1892.
    .. [8] Y. Wang, J. Li, Y. Li, "Choosing between two classification learning
       algorithms based on calibrated balanced 5 x 2 cross-validated F-test", Neural
       Processing Letters 46 (2017) 1-13.
    .. [9] P. Bayle, A. Bayle, L. Janson, L. Mackey, "Cross-validation confidence
       intervals for test error", Advances in Neural Information Processing Systems 33
       (2020).
    .. [10] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms".

    Examples
    --------
    >>> from fastcmp import fold_test
    >>> result = fold_test([0.02, 0.01, 0.03, 0.02], "nadeau-bengio-t", n_train=90, n_test=30)
    >>> round(result.statistic, 4), round(result.pvalue, 4), result.df
    (3.2071, 0.0491, 3)
    >>> halves = [[0.04, 0.01], [0.02, 0.03], [0.0, 0.02], [0.03, 0.03], [0.01, 0.02]]
    >>> round(fold_test(halves, "alpaydin-f").pvalue, 4)
    0.0768
    """
    test = TESTS[choose(method, "method", _METHODS)]
    name, axes = test.name, test.axes
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    test.check_options(alternative, counted=True)
    sized = ("nadeau-bengio-t", "bouckaert-frank-t")
    # What was given, the methods that take it, and the one that needs it.
    options: dict[str, tuple[Any, tuple[str, ...], str]] = {
        "n_train": (n_train, sized, "nadeau-bengio-t"),
        "n_test": (n_test, sized, "nadeau-bengio-t"),
        "rho1": (rho1, ("blocked-t",), ""),
        "rho2": (rho2, ("blocked-t",), ""),
        "folds": (folds, ("bayle-z",), "bayle-z"),
        "variance": (variance, ("bayle-z",), ""),
        "half_differences": (half_differences, ("conservative-z",), "conservative-z"),
    }
    for option, (value, methods, needing) in options.items():
        if value is None and name == needing:
            raise BadValueError(f"`method` {name!r} needs `{option}=`")
        if value is not None and name not in methods:
            takers = " and ".join(methods)
            raise BadValueError(f"`{option}` is an option of {takers}, not of method {name!r}")
    tabled = axes.endswith("2, 2")
    array = check_axes(as_counts(x, "x") if tabled else as_numbers(x, "x"), "x", axes)
    rank = axes.count(",") + 1
    shape, sizes = array.shape[:-rank], array.shape[-rank:]
    array = np.ascontiguousarray(array, np.int64 if tabled else np.float64)
    rows = array.reshape(prod(shape), *sizes)
    n = n_folds = prod(sizes)
    if axes[0] in _NOUNS and name != "conservative-z":
        check_size(sizes[0], "x", _NOUNS[axes[0]])
    out, status = np.empty((4, len(rows))), np.empty(len(rows), np.uint8)
    tail, title, difference = ALTERNATIVES[alternative], test.title, out[2]
    halves: Any = None
    df, factor = None, 0.0
    if axes == "5, 2":
        code, df = _FIVE_BY_TWO[name]
        fold_tests.two_fold_many(rows, code, tail, out, status)
        difference = rows.mean(axis=(1, 2))
    elif name == "conservative-z":
        halves = as_numbers(options["half_differences"][0], "half_differences")
        check_axes(halves, "half_differences", "M, 2, J")
        if halves.shape[:-3] != shape or halves.shape[-1] != n:
            needed = ", ".join([*map(str, shape), "M", "2", str(n)])
            raise BadValueError(
                f"`half_differences` must have shape ({needed}) beside x of shape {array.shape}",
                f"shape {halves.shape}",
            )
        halves = np.ascontiguousarray(halves, np.float64)
        blocks = halves.reshape(len(rows), *halves.shape[-3:])
        fold_tests.conservative_z_many(rows, blocks, tail, out, status)
    elif name == "naive-mcnemar":
        df = n_folds = sizes[0]
        fold_tables.naive_mcnemar_many(rows, out, status)
        gains = (rows[..., 0, 1] - rows[..., 1, 0]).sum(axis=1)
        with np.errstate(invalid="ignore"):  # NaN where there is no sample
            difference = gains / rows.sum(axis=(1, 2, 3))
    elif name == "proportion-z":
        check_tables(array, "x", 2)
        n_folds = 1
        fold_tables.proportion_z_many(rows, tail, out, status)
    elif name == "bayle-z":
        variance = choose(variance or "out", "variance", ("out", "in"))
        title += f", variance {variance}"
        fold_of, n_tested = _read_folds(folds, n)
        n_folds = n_tested.size
        if variance == "out":
            factor = 1.0 / (float(n) * float(n))
        elif n_tested.min() < 2:
            raise BadValueError(
                "`variance='in'` needs 2 samples in each fold", f"1 in fold {n_tested.argmin()}"
            )
        else:
            fold_tests.bayle_z_many(rows, fold_of, n_folds, tail, out, status)
    elif name == "bouckaert-t":
        df, factor = 10, 1.0 / (11.0 * 99.0)
    elif name == "blocked-t":
        constant, df = 1.0, 2 * sizes[0] - 1
        title = title.replace("3x2", f"{sizes[0]}x2")
        if (rho1 is None) != (rho2 is None):
            raise BadValueError("give both `rho1` and `rho2`, or neither", f"{rho1!r} and {rho2!r}")
        if rho1 is not None:
            rho1, rho2 = as_correlations(rho1, rho2)
            constant, df, solved = kernels.blocked_constants(sizes[0], rho1, rho2)
            if solved != kernels.OK:
                raise BadValueError(
                    f"`rho1={rho1}` and `rho2={rho2}` leave no variance to divide by: one of "
                    "the mean and the deviations from it would be constant"
                )
        factor = constant * constant / n
    else:
        if name == "bouckaert-frank-t":
            check_size(n, "x", "folds")
        if (n_train is None) != (n_test is None):
            raise BadValueError("give both `n_train` and `n_test`", f"{n_train!r} and {n_test!r}")
        if name == "bouckaert-frank-t" and n_train is None:
            if sizes[1] < 2:
                raise BadValueError(
                    "`x` must hold at least 2 folds a repetition",
                    f"shape {array.shape}: for other splits give n_train and n_test",
                )
            n_train, n_test = sizes[1] - 1, 1
        ratio = 0.0
        if n_train is not None:
            # Two finite sizes can have a ratio that is not.
            ratio = as_positive(n_test, "n_test") / as_positive(n_train, "n_train")
            as_positive(ratio, "n_test / n_train")
        df, factor = n - 1, kernels.corrected_factor(n, ratio)
    if factor:  # Student's t, or for the variance over all samples a normal z, of the mean
        reference = inf if df is None else float(df)
        fold_tests.fold_t_many(rows.reshape(-1, n), factor, reference, tail, out, status)
    # The kernels saw every number, so the data need no pass of their own before.
    if (status == kernels.INVALID).any():
        finite = np.isfinite(array).all()
        what, numbers = ("half_differences", halves) if finite else ("x", array)
        where = np.argwhere(~np.isfinite(numbers))[0].tolist()
        place = ", ".join(map(str, where))
        raise BadValueError(f"`{what}` must be finite", f"{numbers[tuple(where)]} at [{place}]")
    statistic, pvalue, estimate, standard_error = (unwrap(row, shape) for row in out)
    return FoldTestResult(
        statistic=statistic,
        pvalue=pvalue,
        difference=unwrap(difference, shape),
        estimate=estimate,
        standard_error=standard_error,
        df=df,
        status=unwrap(status, shape),
        test=name,
        title=title,
        measure="accuracy" if tabled else "score",
        alternative=alternative,
        n_folds=n_folds,
    )


def _read_folds(raw: object, n: int) -> tuple[Ints, Ints]:
    """Check the fold of each sample, and count the samples of each."""
    folds = as_numbers(raw, "folds", "whole numbers")
    if folds.dtype.kind == "f":
        raise BadTypeError("`folds` must be whole numbers", f"{folds.dtype} values")
    if folds.shape != (n,):
        raise BadValueError(f"`folds` must have shape ({n},), one for each sample", folds.shape)
    if not 0 <= folds.min() <= folds.max() < n:
        bad = folds.min() if folds.min() < 0 else folds.max()
        raise BadValueError(f"`folds` must be numbered from 0 and below {n}", bad)
    number = np.ascontiguousarray(folds, np.int64)
    sizes = np.bincount(number)
    if not sizes.all():
        raise BadValueError(
            "`folds` must be numbered from 0 without gaps", f"no sample in fold {sizes.argmin()}"
        )
    check_size(sizes.size, "folds", "folds")
    return number, sizes
