"""Is one of two models cheaper, where mistakes do not all cost the same? Tests, intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    are_counts_given,
    as_counts,
    as_finite,
    as_flag,
    as_proportion,
    check_total,
    choose,
)
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import (
    Compared,
    ConfidenceInterval,
    LabelledCounts,
    Pilot,
    Record,
    are_labelled,
    unwrap,
)
from fastcmp.core.sections import Section, format_interval, interval_name
from fastcmp.core.sentences import (
    dropped_sentences,
    outside_sentences,
    sentence_of_test,
    several_tests,
)
from fastcmp.core.threads import parts
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints
from fastcmp.counts.label_counts import LabelTable, count_labels
from fastcmp.inputs.cost_matrix import CostMatrix, check_fit, in_units, naming_cost, read_cost
from fastcmp.kernels import CostOutcome
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import (
    BoundedUnits,
    Estimated,
    MarginOptions,
    bounded_margins,
    plain,
    read_margin,
    with_margin,
)

METHOD_NAMES = {"likelihood": "likelihood ratio", "chi-square": "chi-square"}
METHODS = tuple(METHOD_NAMES)
_SUPPORTS = ("all", "observed")
_LEVELS = 2048  # different costs whose differences are all listed
_CELLS = 1 << 24  # cells whose differences are all listed


class CostOptions(NamedTuple):
    """Which test of equal costs, checked."""

    method: str
    smoothing: float
    nonnegative: bool
    support: str


def check_options(
    method: str, smoothing: float | None = None, *, nonnegative: bool = False, support: str = "all"
) -> CostOptions:
    """Check the options of `fastcmp.cost_test`, and fill in the default smoothing."""
    method = choose(method, "method", METHODS)
    support = choose(support, "support", _SUPPORTS)
    nonnegative = as_flag(nonnegative, "nonnegative")
    if nonnegative and method == "likelihood":
        raise BadValueError(
            "`nonnegative=True` is for `method='chi-square'`: those of the likelihood ratio "
            "are never negative"
        )
    if support == "observed" and method == "chi-square":
        raise BadValueError("`support='observed'` is for `method='likelihood'`")
    if smoothing is None:
        smoothing = 0.0 if method == "likelihood" else 1.0
    smoothing = as_finite(smoothing, "smoothing", 0.0)
    return CostOptions(method, smoothing, nonnegative, support)


def fold(counts: LabelTable, cost: Floats) -> tuple[Floats, Floats]:
    """List the differences of the cells where the costs differ, and their samples."""
    t, a, b, samples = counts.nonzero()
    d = cost[t, a] - cost[t, b]
    return d[d != 0], samples[d != 0].astype(np.float64)


def cell_differences(cost: Floats) -> Floats:
    """List cost[t, a] - cost[t, b] of all K**3 cells, in C order of [t, a, b]."""
    return (cost[:, :, None] - cost[:, None, :]).ravel()


def evaluate(values: Floats, weights: Floats, cost: Floats, options: CostOptions) -> CostOutcome:
    """Test one pair of models from the lists that `fold` gives."""
    largest, smoothing = float(cost.max()), options.smoothing
    if not weights.any():
        # Smoothing is symmetric: alone it shows no difference.
        return kernels.cost_chi_square(values, weights, nonnegative=False)
    if options.method == "likelihood":
        values, weights = _smoothed(values, weights, cost, smoothing)
        reach = largest if options.support == "all" else 0.0
        return kernels.cost_likelihood(values, weights, reach)
    # The statistic needs only the sum of d**2 over the cells that smoothing fills, and
    # the sign condition only the largest d. So two values stand for all of them.
    unit = cost / largest
    square = 2.0 * (len(cost) * (unit**2).sum() - (unit.sum(axis=1) ** 2).sum())
    pair = np.full(2, 0.5 * smoothing * square)
    outcome = kernels.cost_chi_square(
        np.append(values, [-largest, largest]), np.append(weights, pair), options.nonnegative
    )
    if outcome.at_bound and smoothing:
        values, weights = _smoothed(values, weights, cost, smoothing)
        outcome = kernels.cost_chi_square(values, weights, nonnegative=True)
    return outcome


def _smoothed(
    values: Floats, weights: Floats, cost: Floats, smoothing: float
) -> tuple[Floats, Floats]:
    """Append the differences of all cells, with what smoothing adds to each."""
    if smoothing == 0.0:
        return values, weights
    d, cells = _positive_differences(cost)
    values = np.concatenate([values, d, -d])
    return values, np.concatenate([weights, smoothing * cells, smoothing * cells])


def _positive_differences(cost: Floats) -> tuple[Floats, Floats]:
    """List differences above 0, and how many of the K**3 cells have each.

    The negative ones mirror them. Cells are counted by the two costs that they
    subtract, from how often each cost stands in each row, without listing the cells.
    """
    k = len(cost)
    levels, code = np.unique(cost, return_inverse=True)
    if levels.size <= _LEVELS:
        present = np.zeros((k, levels.size))
        np.add.at(present, (np.arange(k)[:, None], code.reshape(k, k)), 1.0)
        cells = np.tril(present.T @ present, -1)
        high, low = np.nonzero(cells)
        return levels[high] - levels[low], cells[high, low]
    if k**3 <= _CELLS:
        d = cell_differences(cost)
        d = d[d > 0]
        return d, np.ones(d.size)
    raise BadValueError(
        f"`smoothing` needs too much memory for a cost matrix of {k} classes with "
        f"{levels.size} different costs",
        remedy=": use `smoothing=0`",
    )


class CostGroups(NamedTuple):
    """Cells of a table, grouped by their difference of costs."""

    #: The distinct differences, ascending, shape (D,).
    values: Floats
    #: Position in `values` of each cell's difference, shape (C,).
    group: Ints
    #: What smoothing of 1 adds to each difference, shape (D,).
    cells: Floats
    #: The largest cost.
    largest: float


def group_cells(differences: Floats, cells: Floats, largest: float) -> CostGroups:
    """Group the cells of a table once, for many tables.

    `cells` says how many of the K**3 cells each one stands for.
    """
    values, group = np.unique(differences, return_inverse=True)
    group = group.ravel()
    counted = np.bincount(group, cells, values.size).astype(np.float64)
    return CostGroups(values, group, counted, largest)


def groups_of(cost: Floats) -> CostGroups:
    """Group the cells [t, a, b] of a tensor of counts, in C order."""
    d = cell_differences(cost)
    return group_cells(d, np.ones(d.size), float(cost.max()))


def evaluate_many(
    counts: Ints, groups: CostGroups, options: CostOptions
) -> tuple[Floats, NDArray[np.uint8]]:
    """Test many pairs of models, counts (P, C), against one cost matrix.

    Gives (P, 4): statistics, p-values, multipliers, whether at a bound; and statuses.
    """
    from fastcmp.kernels.cost import CHI_SQUARE, LIKELIHOOD, cost_test_many

    results = np.empty((len(counts), 4))
    status = np.empty(len(counts), np.uint8)
    code = LIKELIHOOD if options.method == "likelihood" else CHI_SQUARE
    reach = groups.largest if options.support == "all" else 0.0
    cost_test_many(
        counts,
        groups.group,
        groups.values,
        options.smoothing * groups.cells,
        (code, reach, options.nonnegative),
        results,
        status,
    )
    return results, status


def intervals_many(
    counts: Ints, groups: CostGroups, method: str, confidence_level: float
) -> Floats:
    """Bound the differences of many pairs, counts (P, C): both ends, shape (P, 2)."""
    from fastcmp.kernels.cost import COST_PROFILE, COST_WALD, cost_interval_many

    ends = np.empty((len(counts), 2))
    code = COST_PROFILE if method == "profile" else COST_WALD
    options = (code, groups.largest, confidence_level)
    cost_interval_many(counts, groups.group, groups.values, options, ends)
    return ends


_TABLES = 1 << 10  # pairs whose differences are held at once
_INTERVALS = ("profile", "wald")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CostResult(Pilot, Compared, Record):
    """A cost-sensitive test of two models on the same samples.

    All numbers are arrays of one shape where there were counts of many pairs.
    """

    _pilot = "cost"
    _closing = (
        "The {level} interval of the difference of costs is of profile likelihood: the costs "
        "that the test does not reject."
    )
    _cites = (("method", {"likelihood": "owen"}),)
    _value = "loss"
    _nulls = ("{a} and {b} cost the same", "")

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
    cost: Floats
    method: str
    #: What was added to each of the K**3 cells for the test, and only for the test.
    smoothing: float
    nonnegative: bool = False
    support: str = "all"
    #: Tests against a margin, and the decision; None without a margin.
    margins: MarginTests | None = None

    _hidden = ("counts", "cost")
    _derived = (
        *("difference", "standard_error", "measure", "better", "distribution", "df"),
        *("n_samples", "n_outside"),
    )

    #: What the p-value comes from, its degrees of freedom, and which alternative was tested.
    distribution: ClassVar[str] = "chi2"
    df: ClassVar[int] = 1
    alternative: ClassVar[str] = "two-sided"

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "cost"."""
        return "cost"

    @property
    def difference(self) -> Any:
        """Cost of a minus that of b, per sample: negative where a is better."""
        return self.loss_a - self.loss_b

    @property
    def _test_name(self) -> str:
        return f"{METHOD_NAMES[self.method]} test"

    @property
    def standard_error(self) -> Any:
        """Standard error of `difference`, that of Wald's interval."""
        largest = float(self.cost.max())
        d, samples = self._by_cell()
        squares = (samples @ (d / largest) ** 2).reshape(np.shape(self.pvalue))
        with np.errstate(divide="ignore", invalid="ignore"):
            n = np.asarray(self.n_samples, np.float64)
            spread = squares / n - (self.difference / largest) ** 2
            error = largest * np.sqrt(np.maximum(spread, 0.0) / n)
        return plain(error)

    @property
    def n_missing(self) -> int:
        """Samples dropped because the true label is missing."""
        return self.counts.n_missing if isinstance(self.counts, LabelTable) else 0

    @property
    def n_excluded(self) -> int:
        """Samples dropped because the true label is not a chosen class."""
        return self.counts.n_excluded if isinstance(self.counts, LabelTable) else 0

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
        >>> from fastcmp import cost_test
        >>> counts = [[[90, 6], [3, 0]], [[9, 2], [8, 82]]]
        >>> result = cost_test(counts=counts, cost=[[0, 1], [5, 0]])
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
        _, tables = self._by_cell()
        low, high = intervals_many(tables, groups_of(self.cost), method, level).T
        shape = np.shape(self.pvalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    def _by_cell(self) -> tuple[Floats, Ints]:
        """Differences of cost by cell, shape (C,), and the samples of each pair, (P, C)."""
        if isinstance(self.counts, LabelTable):
            t, a, b, samples = self.counts.nonzero()
            d = np.append(self.cost[t, a] - self.cost[t, b], 0.0)  # a cell where all are empty
            return d, np.append(samples, 0)[np.newaxis]
        d = cell_differences(self.cost)
        return d, self.counts.reshape(-1, d.size)

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
        d, samples = self._by_cell()
        order = np.argsort(d, kind="stable")
        values, starts = np.unique(d[order] / largest, return_index=True)
        for part in parts(len(samples), _TABLES):
            count = np.add.reduceat(samples[part][:, order], starts, axis=1, dtype=np.float64)
            yield BoundedUnits(values[np.newaxis], np.ones((1, 1)), count)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        title = f"Cost-sensitive test ({METHOD_NAMES[self.method]}, two-sided)"
        if np.ndim(self.pvalue):
            of_margins = margin_sentences(self.margins, METHOD_NAMES[self.method])
            return [Section(title=title, text=(several_tests(self), *of_margins))]
        low, high = self.confidence_interval()
        text = (
            f"a costs {self.loss_a:.4g}, b {self.loss_b:.4g} per sample (lower is "
            f"better; {self.n_samples} samples)",
            f"cost of a minus b {self.difference:+.4g}, {interval_name(0.95)} "
            f"{format_interval(low, high, digits=4, sign='+')}",
            sentence_of_test(self),
            *margin_sentences(self.margins, METHOD_NAMES[self.method]),
            *self.remarks,
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(self.n_outside, ("a", "b"), self.n_samples),
        )
        return [Section(title=title, text=text)]


_ROWS = 1 << 12  # tables that are multiplied at once


def cost_test(
    y_true: ColumnLike | None = None,
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    cost: ColumnLike | Mapping[Any, Any] | None = None,
    *,
    counts: ArrayLike | LabelTable | LabelledCounts | None = None,
    method: str = "likelihood",
    smoothing: float | None = None,
    nonnegative: bool = False,
    support: str = "all",
    classes: Classes | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
) -> CostResult:
    """Test whether two models have the same expected cost.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted; none may be missing.
    cost : array-like of shape (K, K), mapping or frame
        ``cost[t, p]`` is the cost of predicting p when the truth is t: 0 where p is t,
        nowhere negative, somewhere positive. The order is that of `classes`, or of all
        labels, sorted. Mappings ``{true: {predicted: cost}}`` and frames name theirs.
    counts : array-like of int, shape (..., K, K, K), or LabelTable, optional
        In the place of labels: ``counts[..., t, a, b]`` samples of class t for which a
        predicted a and b predicted b, of one pair of models or of many; or what
        `count_labels` or a `fastcmp.stream.LabelCounts` of two models has counted.
    method : {"likelihood", "chi-square"}
        Likelihood ratio test, or the chi-square test of Neyman's kind.
    smoothing : float, optional
        What to add to each of the K**3 cells of counts; by default 0 for the likelihood
        ratio and 1, Laplace's term, for the chi-square.
    nonnegative : bool
        For the chi-square: whether the fitted counts must not be negative.
    support : {"all", "observed"}
        For the likelihood ratio: fit a distribution on all cells, or only on those with
        samples, which has no solution where a is never better (or never worse).
    classes : sequence, optional
        Order of the classes in `cost`; samples whose true label is another are left
        out, and a prediction of another is refused.
    margin : float, optional
        The largest difference of costs per sample that does not matter: adds tests of
        non-inferiority, superiority by the margin and equivalence, by the difference
        and its standard error, and a decision, as ``margins``.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    CostResult
        Statistic, p-value, the cost of both models, the counts and intervals; arrays of
        the leading shape of `counts`, where it has one.

    Raises
    ------
    ValueError
        If the matrix is no cost matrix of these classes, lengths differ, a prediction
        is missing or not among the classes, counts are negative, fractional, of other
        shapes or above 2**53 in all, or options do not go together.
    TypeError
        If labels cannot be compared, counts are not numbers, or both or neither are given.

    Notes
    -----
    Both tests are asymptotic and two-sided, with one degree of freedom. With two
    classes of equal cost and no smoothing the chi-square is McNemar's. Smoothing adds
    K**3 samples that nobody observed; with many classes they outweigh the data.

    References
    ----------
    .. [1] A. B. Owen, "Empirical likelihood ratio confidence intervals for a single
       functional", Biometrika 75 (1988) 237-249.
    .. [2] J. Neyman, "Contribution to the theory of the chi-square test", Proc. First
       Berkeley Symposium (1949) 239-273.

    Examples
    --------
    >>> from fastcmp import cost_test
    >>> y_true = ["ill", "ill", "ill", "well", "well", "well", "well", "well"]
    >>> pred_a = ["ill", "ill", "ill", "ill", "ill", "well", "well", "well"]
    >>> pred_b = ["well", "ill", "ill", "well", "well", "well", "well", "well"]
    >>> cost = {"ill": {"well": 5}, "well": {"ill": 1}}
    >>> result = cost_test(y_true, pred_a, pred_b, cost)
    >>> result.loss_a, result.loss_b, round(result.pvalue, 3)
    (0.25, 0.625, 0.482)
    >>> counts = [[[77, 12], [9, 24]], [[8, 11], [5, 69]]]
    >>> result = cost_test(counts=counts, cost=[[0, 1], [5, 0]])
    >>> round(result.statistic, 4), round(result.loss_a, 4), round(result.loss_b, 4)
    (1.7812, 0.5953, 0.4698)
    """
    options = check_options(method, smoothing, nonnegative=nonnegative, support=support)
    against = read_margin(margin, alpha)
    data: dict[str, Any] = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    by_counts = are_counts_given(data, {"counts": counts}, {"classes": classes})
    if cost is None:
        raise BadTypeError("`cost` must be given: cost[t, p] of predicting p when the truth is t")
    source = counts.label_table() if are_labelled(counts) else counts
    if not by_counts:
        table, matrix = count_costs(**data, cost=cost, classes=classes)
        result = _test_counts(table, matrix.values, options)
    elif isinstance(source, LabelTable):
        check_total(source.counts, "counts", source.counts.ndim)
        matrix = read_cost(cost, source.classes)
        result = _test_counts(source, matrix.values, options)
    else:
        matrix = read_cost(cost)
        tensor, k = as_counts(source, "counts"), len(matrix.values)
        if tensor.ndim < 3 or tensor.shape[-3:] != (k, k, k):
            raise BadValueError(
                f"`counts` must be of shape (..., {k}, {k}, {k}) for a {k} x {k} cost matrix",
                tensor.shape,
            )
        check_total(tensor, "counts", 3)
        if tensor.ndim == 3:
            names = tuple(range(k)) if matrix.classes is None else matrix.classes
            dense = LabelTable(counts=tensor, classes=names)
            result = _test_counts(dense, matrix.values, options)
        else:
            result = _test_tensors(tensor, matrix.values, options)
    return with_margin(result, against, matrix.values.max())  # type: ignore[no-any-return]


def count_costs(
    y_true: Any, pred_a: ColumnLike, pred_b: ColumnLike, cost: object, classes: Classes | None
) -> tuple[LabelTable, CostMatrix]:
    """Count labels in the order of a cost matrix; gives both, of the same classes."""
    matrix = read_cost(cost, classes)
    with naming_cost(matrix, classes):
        counts = count_labels(y_true, pred_a, pred_b, classes=matrix.classes)
    check_fit(matrix, counts.classes, counts.n_excluded, classes)
    return counts, matrix


def _test_counts(counts: LabelTable, cost: Floats, options: CostOptions) -> CostResult:
    loss_a, loss_b = counts._losses(cost)
    outcome = evaluate(*fold(counts, cost), cost, options)
    return CostResult(
        statistic=outcome.statistic,
        pvalue=outcome.pvalue,
        status=outcome.status,
        loss_a=loss_a,
        loss_b=loss_b,
        multiplier=outcome.multiplier,
        at_bound=bool(outcome.at_bound),
        counts=counts,
        cost=cost,
        **options._asdict(),
    )


def _test_tensors(tensor: Ints, cost: Floats, options: CostOptions) -> CostResult:
    shape = tensor.shape[:-3]
    tables = np.ascontiguousarray(tensor).reshape(-1, cost.size * len(cost))
    results, status = evaluate_many(tables, groups_of(cost), options)
    statistic, pvalue, multiplier, at_bound = results.T.copy()
    # Cost of a, cost of b and 1 for each cell [t, a, b]: one product sums all three.
    ones = np.ones((1, 1, len(cost)))
    units, exponent = in_units(cost)
    prices = np.stack(
        [
            (units[:, :, None] * ones).ravel(),
            (units[:, None, :] * ones.reshape(1, -1, 1)).ravel(),
            np.ones(cost.size * len(cost)),
        ],
        axis=1,
    )
    # In parts, whose copies as float64 stay in the cache.
    sums = np.concatenate(
        [tables[part] @ prices for part in parts(len(tables), _ROWS) or [slice(0)]]
    )
    with np.errstate(invalid="ignore"):  # NaN without samples
        loss_a, loss_b = np.ldexp(sums[:, :2] / sums[:, 2:], exponent).T
    return CostResult(
        statistic=unwrap(statistic, shape),
        pvalue=unwrap(pvalue, shape),
        status=unwrap(status, shape),
        loss_a=unwrap(loss_a, shape),
        loss_b=unwrap(loss_b, shape),
        multiplier=unwrap(multiplier, shape),
        at_bound=unwrap(at_bound.astype(bool), shape),
        counts=tensor,
        cost=cost,
        **options._asdict(),
    )
