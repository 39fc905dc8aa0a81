"""Do raters agree more than by chance? Cohen's kappa of two, weighted or not, and Fleiss'."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    are_counts_given,
    as_counts,
    as_level,
    as_numbers,
    check_size,
    check_total,
    choose,
    keep_side,
    warn,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import ConfidenceInterval, LabelledCounts, Record, are_labelled
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section, format_interval, format_pvalue, interval_name
from fastcmp.core.sentences import Sentence, null_value, statistic_text, with_null
from fastcmp.core.typing import ColumnLike, Floats, Ints, ModelsLike
from fastcmp.counts.label_counts import LabelTable
from fastcmp.inputs.columns import kind_of
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.inputs.ratings import read_label_order, read_ratings
from fastcmp.kernels.special import ndtri
from fastcmp.kernels.status import DEGENERATE, UNDEFINED
from fastcmp.paired.symmetry import read_agreement

INTERVALS = ("atanh", "wald")
METHODS = {"cohen": "Cohen's kappa", "scott": "Scott's pi"}


#: Of their size: a spread below it is rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Agreement(Record):
    """A coefficient of agreement beyond chance, with a test that there is none."""

    _blocks = "scores:kappa"
    _opening = "Test: {title}."

    #: z: `value` over `standard_error_null`.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: The coefficient: 1 where raters agree, 0 for as much agreement as by chance.
    value: float
    #: By the delta method over the items; 0 where all raters agree.
    standard_error: float
    #: Of raters who label by chance, with the same margins.
    standard_error_null: float
    #: For `value`, at `confidence_level`; NaN where the standard error is 0.
    interval: ConfidenceInterval
    confidence_level: float
    #: "atanh" or "wald".
    interval_method: str
    alternative: str


def _read_options(interval: str, alternative: str, confidence_level: float) -> dict[str, Any]:
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_level(confidence_level, alternative)
    return {
        "interval_method": choose(interval, "interval", INTERVALS),
        "alternative": alternative,
        "confidence_level": float(confidence_level),
    }


def _tested(value: float, error: float, null: float, options: dict[str, Any]) -> dict[str, Any]:
    """The test of a coefficient, and its interval: on the scale of atanh, or of the value.

    The slope of atanh is 1 / (1 - value**2). No interval for an error of 0.
    """
    side, status = options["alternative"], kernels.UNDEFINED
    statistic = pvalue = math.nan
    if null == 0.0:
        status, statistic, pvalue = kernels.DEGENERATE, 0.0, 1.0
    elif null > 0.0:
        status, statistic = kernels.OK, value / null
        pvalue = float(t_tail(statistic, side))
    slope, ends = (1.0 - value) * (1.0 + value), (math.nan, math.nan)
    if error > 0.0 and slope > 0.0:
        level = as_level(options["confidence_level"], side)
        half = -ndtri(0.5 * (1.0 - level)) * error
        ends = value - half, value + half
        if options["interval_method"] == "atanh":
            middle, half = math.atanh(value), half / slope
            ends = math.tanh(middle - half), math.tanh(middle + half)
        ends = keep_side(ends, side, (-1.0, 1.0))
    return options | {
        "statistic": statistic,
        "pvalue": pvalue,
        "status": int(status),
        "value": value,
        "standard_error": error,
        "standard_error_null": null,
        "interval": ConfidenceInterval(*ends),
    }


def describe_agreement(result: KappaResult | FleissResult, symbol: str) -> tuple[str, ...]:
    """A coefficient, its interval and its test, in sentences."""
    if result.status == UNDEFINED:
        why = "by chance alone the raters would always agree"
        return (f"{symbol} is undefined: {why if result.n_items else 'no items'}.",)
    level = interval_name(result.confidence_level, result.alternative)
    ends = format_interval(*result.interval, digits=4).replace("nan", "-")
    error = "-"
    if not math.isnan(result.standard_error):
        error = f"{result.standard_error:.4f}"
    coefficient = f"{symbol} = {result.value:.4f}, {level} {ends}, standard error {error}"
    text: tuple[str, ...] = (
        Sentence(coefficient, answer=coefficient[0].upper() + coefficient[1:]),
        with_null(statistic_text(result), null_value(result.alternative, "the coefficient", "0")),
    )
    if result.status == DEGENERATE:
        text += ("A rater who gives one label only agrees as by chance.",)
    elif result.standard_error == 0.0:
        text += ("The standard error is 0 here, which gives no interval.",)
    return text


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KappaResult(Agreement):
    """Agreement of two raters beyond chance, with a test that there is none."""

    _cites = (("method", {"cohen": "cohen fleiss-cohen"}),)

    #: "cohen" or "scott".
    method: str
    #: None, "linear", "quadratic", or what each disagreement weighs, shape (K, K).
    weights: Any
    #: ``table[i, j]`` items that a labelled i and b j.
    table: Ints
    labels: tuple[Any, ...]
    #: Items with a label that was not chosen.
    n_excluded: int = 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.table.sum())

    @property
    def agreement(self) -> float:
        """Proportion of items with equal labels."""
        n = self.n_items
        return int(np.trace(self.table)) / n if n else math.nan

    def _shown(self) -> dict[str, Any]:
        fields = self._fields()
        fields |= {"agreement": self.agreement, "n_items": self.n_items}
        for name in ("table", "labels", "weights"):
            del fields[name]
        return fields

    def _entries(self) -> dict[str, Any]:
        more = {name: getattr(self, name) for name in ("table", "labels", "weights")}
        return {name: readable(x) for name, x in (self._shown() | more).items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        title = METHODS[self.method]
        if self.weights is not None:
            named = isinstance(self.weights, str)
            title += f" ({self.weights if named else 'own'} weights)"
        symbol = "kappa" if self.method == "cohen" else "pi"
        text = describe_agreement(self, symbol)
        if self.n_items:
            text += (f"The raters agree on {100 * self.agreement:.1f}% of {self.n_items} items.",)
        if self.n_excluded:
            text += (f"{self.n_excluded} items with other labels were left out.",)
        if isinstance(self.weights, str) and _has_gap(self.labels):
            text += (
                "Weights count places among the labels, which are not consecutive "
                "numbers: labels= with all of them keeps the gaps.",
            )
        return [Section(title=title, text=text)]


def _has_gap(labels: tuple[Any, ...]) -> bool:
    """Whether whole numbers leave out some between them."""
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in labels):
        return False
    return bool(max(labels) - min(labels) >= len(labels))


_NAMED = (None, "linear", "quadratic")


def cohen_kappa(
    rater_a: ColumnLike | None = None,
    rater_b: ColumnLike | None = None,
    *,
    table: ArrayLike | LabelTable | LabelledCounts | None = None,
    weights: str | ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    method: str = "cohen",
    interval: str = "atanh",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> KappaResult:
    """Cohen's kappa of two raters, or of a model and the truth, with interval and test.

    Parameters
    ----------
    rater_a, rater_b : array-like, shape (n,)
        Labels of the same items.
    table : array-like of int, shape (K, K), or LabelTable, optional
        In their place: ``table[i, j]`` items that a labelled i and b j; or counts by class,
        as from `count_labels`, or a `fastcmp.stream.LabelCounts`, of two models, whose
        agreement with one another is measured. Weights go by the places in the table.
    weights : {None, "linear", "quadratic"} or array-like, shape (K, K)
        What disagreements weigh: all the same; as many as the labels are places apart;
        the square of that; or ``weights[i, j]`` of label i by a and j by b, 0 for equal
        labels.
    labels : sequence, optional
        The labels in their order, also such as never occur, so that weights keep the
        gap; items with any other label are left out. By default all labels, sorted.
        Words have no order of their own: with "linear" and "quadratic" weights of three
        or more, `labels` is needed.
    method : {"cohen", "scott"}
        Chance agreement from the margins of both raters, or, Scott's pi, from one
        distribution for both.
    interval : {"atanh", "wald"}
        Interval on the scale of atanh, or symmetric as other programs print it.
    alternative : {"two-sided", "greater", "less"}
        "greater": the raters agree more than by chance.
    confidence_level : float
        Level of the interval, in (0, 1).

    Returns
    -------
    KappaResult
        Value, standard errors, interval, z and p-value of no agreement beyond chance.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, there are more than 4096 labels, labels
        have no order for weights, or weights are no matrix of disagreement; if a table is
        not square, its counts are negative, fractional or add up to more than 2**53.
    TypeError
        If labels cannot be compared, or there are not either two raters or a table.

    Notes
    -----
    With v the weights and o and e the means of v that are observed and expected from
    the margins, kappa is 1 - o / e. The standard error for the interval is that of the
    delta method, with divisor n [1]_, and the one for the test holds for raters who
    label independently. The interval on the scale of atanh stays within (-1, 1), and is
    closer to its level: in simulations of two classes and 50 samples 92 % for 95 %,
    where Wald's had 90; with 1000 both have about 95.

    Kappa is undefined where chance alone always agrees (NaN, ``UNDEFINED``): both give
    one and the same label. Where one rater gives one label only it is 0, whatever the
    other does: z is 0 and p is 1 (``DEGENERATE``). Where all labels agree, the standard
    error is 0 and there is no interval.

    References
    ----------
    .. [1] J. L. Fleiss, J. Cohen, B. S. Everitt, "Large sample standard errors of kappa
       and weighted kappa", Psychological Bulletin 72 (1969) 323-327.

    Examples
    --------
    >>> from fastcmp import cohen_kappa
    >>> a = [1, 2, 3, 3, 2, 1, 2, 3, 1, 2]
    >>> b = [1, 2, 3, 2, 2, 1, 1, 3, 1, 3]
    >>> result = cohen_kappa(a, b, weights="linear")
    >>> round(result.value, 4), round(result.pvalue, 4)
    (0.6591, 0.0071)
    >>> result = cohen_kappa(table=[[57, 4, 10], [3, 43, 6], [3, 2, 22]])
    >>> round(result.value, 4), [round(end, 4) for end in result.interval]
    (0.7094, [0.6008, 0.7923])
    """
    options = {"method": choose(method, "method", METHODS)}
    options |= _read_options(interval, alternative, confidence_level)
    raters = {"rater_a": rater_a, "rater_b": rater_b}
    if are_counts_given(raters, {"table": table}, {"labels": labels}):
        counts = read_agreement(table)
        k = len(counts)
        names: tuple[Any, ...] = tuple(range(k))
        if are_labelled(table):
            table = table.label_table()
        if isinstance(table, LabelTable) and table.n_classes == k:
            names = table.classes
        return _kappa(counts, names, _check_weights(weights, k), options, 0)
    ratings = read_ratings(list(raters.items()), labels)
    k = len(ratings.labels)
    words = any(kind_of(label) in ("str", "bytes") for label in ratings.labels)
    if isinstance(weights, str) and labels is None and k > 2 and words:
        raise BadValueError(
            f"`labels` must be given in their order for {weights} weights",
            f"the words {list(ratings.labels)[:10]}, which are sorted as in a dictionary",
            ": pass `labels=`",
        )
    first, second = ratings.codes
    counts = np.bincount(first * k + second, minlength=k * k).reshape(k, k)
    checked_weights = _check_weights(weights, k)
    return _kappa(counts, ratings.labels, checked_weights, options, ratings.n_excluded)


def _check_weights(weights: object, k: int) -> tuple[Any, Floats]:
    """The weights as they are kept, and as a matrix."""
    if weights is None or isinstance(weights, str):
        name = choose(weights, "weights", _NAMED)
        apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
        power = {None: 0.0, "linear": 1.0, "quadratic": 2.0}[name]
        return name, np.where(apart > 0.0, apart**power, 0.0)
    matrix = as_numbers(weights, "weights").astype(np.float64)
    if matrix.shape != (k, k):
        raise BadValueError(f"`weights` must be of shape ({k}, {k})", matrix.shape)
    if not (np.isfinite(matrix).all() and (matrix >= 0.0).all() and matrix.any()):
        raise BadValueError("`weights` must be finite, nowhere negative and somewhere positive")
    if np.diagonal(matrix).any():
        raise BadValueError(
            "`weights` must be 0 on the diagonal, for they weigh disagreements: for weights w "
            "of agreement pass 1 - w"
        )
    return matrix, matrix


def _kappa(
    table: Ints,
    labels: tuple[Any, ...],
    weights: tuple[Any, Floats],
    options: dict[str, Any],
    n_excluded: int,
) -> KappaResult:
    kept, matrix = weights
    estimates = _cohen(table, matrix, pooled=options["method"] == "scott")
    fields = _tested(*estimates, options)
    return KappaResult(**fields, weights=kept, table=table, labels=labels, n_excluded=n_excluded)


def _cohen(table: Ints, v: Floats, *, pooled: bool) -> tuple[float, float, float]:
    """Kappa and both its standard errors; NaN where chance always agrees."""
    n = float(table.sum())
    proportions = table / max(n, 1.0)
    r, c = proportions.sum(axis=1), proportions.sum(axis=0)
    if pooled:
        r = c = 0.5 * (r + c)
    row, column = v @ c, r @ v
    expected = float(r @ row)
    if expected == 0.0:
        return math.nan, math.nan, math.nan
    # What a sample at (i, j) adds to the expected disagreement, by its margins.
    if pooled:
        row = column = 0.5 * (row + column)
    margins = row[:, np.newaxis] + column
    largest = float(v.max())
    spread = np.sqrt(r @ (margins - v - expected) ** 2 @ c)
    if spread <= _ROUNDING * math.sqrt(expected * largest):
        return 0.0, 0.0, 0.0
    observed = float((v * proportions).sum())
    ratio = observed / expected
    influence = (ratio * margins - v - observed) / expected
    error = math.sqrt(float((proportions * influence**2).sum()))
    if error <= _ROUNDING * math.sqrt(largest / expected):
        error = 0.0
    root = math.sqrt(n)
    return 1.0 - ratio, error / root, float(spread) / expected / root


# Many raters.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FleissResult(Agreement):
    """Agreement of many raters beyond chance, with a test that there is none."""

    _cites = ("fleiss",)

    n_items: int
    n_raters: int
    labels: tuple[Any, ...]
    #: Proportion of all ratings that each label has, shape (K,).
    label_shares: Floats
    #: Kappa of each label against all others, and p-values of no agreement on it beyond
    #: chance, shape (K,); NaN for a label that never occurs.
    label_kappas: Floats
    label_pvalues: Floats
    #: Items with a label that was not chosen.
    n_excluded: int = 0

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row a label.
        """
        text = describe_agreement(self, "kappa")
        text += (f"{self.n_raters} raters of {self.n_items} items.",)
        if self.n_excluded:
            text += (f"{self.n_excluded} items with other labels were left out.",)
        rows = tuple(
            (
                str(label),
                f"{100 * proportion:.1f}%",
                "-" if math.isnan(kappa) else f"{kappa:.4f}",
                format_pvalue(pvalue),
            )
            for label, proportion, kappa, pvalue in zip(
                self.labels,
                self.label_shares.tolist(),
                self.label_kappas.tolist(),
                self.label_pvalues.tolist(),
                strict=True,
            )
        )
        return [
            Section(
                title=f"Fleiss' kappa ({self.alternative})",
                text=text,
                columns=("label", "ratings", "kappa", "p"),
                rows=rows,
            )
        ]


def fleiss_kappa(
    ratings: ModelsLike | None = None,
    *,
    rating_counts: ArrayLike | None = None,
    multiplicity: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    interval: str = "atanh",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> FleissResult:
    """Fleiss' kappa of M raters of the same items, with interval and test.

    Parameters
    ----------
    ratings : array-like, shape (M, n), mapping or frame
        Labels, a row a rater; or a mapping from names to columns, or a frame whose
        columns are raters. None may be missing.
    rating_counts : array-like of int, shape (n, K), optional
        In their place: ``rating_counts[i, k]`` raters who gave item i the label k; as many
        in each row.
    multiplicity : array-like of int, shape (n,), optional
        How many items have the counts of each row; 1 by default.
    labels : sequence, optional
        Labels to count; items with any other label are left out. By default all. Of
        `rating_counts` what the columns are called; 0, 1, ... by default.
    interval : {"atanh", "wald"}
        Interval on the scale of atanh, or symmetric as other programs print it.
    alternative : {"two-sided", "greater", "less"}
        "greater": the raters agree more than by chance.
    confidence_level : float
        Level of the interval, in (0, 1).

    Returns
    -------
    FleissResult
        Value, standard errors, interval, z and p-value of no agreement beyond chance,
        and a kappa for each label.

    Raises
    ------
    ValueError
        If there are fewer than two raters, lengths differ, or a label is missing; if
        items have different numbers of ratings, or counts are negative or fractional.
    TypeError
        If labels cannot be compared, or there are not either ratings or counts.

    Notes
    -----
    Kappa is 1 - D / S: D is the proportion of pairs of raters of an item who disagree,
    S that of two labels drawn from all. The test has the standard error under chance
    [2]_; the interval that of linearization over the items, with divisor n (n - 1)
    [3]_, which holds for other items as well, not for other raters. Where all labels
    are the same kappa is undefined (NaN, ``UNDEFINED``); where all raters agree on
    different labels it is 1, with a standard error of 0 and no interval.

    References
    ----------
    .. [1] J. L. Fleiss, "Measuring nominal scale agreement among many raters",
       Psychological Bulletin 76 (1971) 378-382.
    .. [2] J. L. Fleiss, J. C. M. Nee, J. R. Landis, "Large sample variance of kappa in
       the case of different sets of raters", Psychological Bulletin 86 (1979) 974-977.
    .. [3] K. L. Gwet, "Computing inter-rater reliability and its variance in the
       presence of high agreement", British J. Mathematical and Statistical Psychology
       61 (2008) 29-48.

    Examples
    --------
    >>> from fastcmp import fleiss_kappa
    >>> ratings = [
    ...     ["x", "y", "y", "x", "z", "z"],
    ...     ["x", "y", "x", "x", "z", "y"],
    ...     ["x", "y", "y", "y", "z", "z"],
    ... ]
    >>> result = fleiss_kappa(ratings)
    >>> round(result.value, 4), round(result.standard_error, 4)
    (0.4953, 0.2312)
    >>> result = fleiss_kappa(rating_counts=[[3, 0], [1, 2], [0, 3], [3, 0]])
    >>> round(result.value, 4), round(result.pvalue, 4)
    (0.6571, 0.0228)
    """
    options = _read_options(interval, alternative, confidence_level)
    data, of_counts = {"ratings": ratings}, {"multiplicity": multiplicity}
    if are_counts_given(data, {"rating_counts": rating_counts}, of_counts=of_counts):
        counts = as_counts(rating_counts, "rating_counts")
        if counts.ndim != 2 or not counts.size:
            raise BadValueError(
                "`rating_counts` must be of shape (n, K), a row an item and a column a label",
                counts.shape,
            )
        check_total(counts, "rating_counts", 2)
        n, k = counts.shape
        times = np.ones(n, np.int64)
        if multiplicity is not None:
            times = as_counts(multiplicity, "multiplicity")
            if times.shape != (n,) or not times.any():
                raise BadValueError(
                    f"`multiplicity` must hold {n} numbers, not all 0", f"shape {times.shape}"
                )
            check_total(times, "multiplicity", 1)
        counts, times = counts[times > 0], times[times > 0]
        _check_raters(counts.sum(axis=1))
        names: tuple[Any, ...] = tuple(range(k))
        if labels is not None:
            names = read_label_order(labels).distinct
            if len(names) != k:
                raise BadValueError(f"`labels` must name the {k} columns", len(names))
        return _fleiss(counts, times, names, options, 0)
    named = has_names(ratings)
    raters = [
        (f"ratings[{name!r}]" if named else f"ratings[{i}]", column)
        for i, (name, column) in enumerate(named_columns(ratings, "ratings"))
    ]
    check_size(len(raters), "ratings", "raters")
    read = read_ratings(raters, labels)
    m, n = read.codes.shape
    if m > n and not named:
        warn(
            f"ratings holds {m} raters of {n} items: raters come first; pass ratings.T "
            "if its rows are items"
        )
    counts = np.zeros((n, len(read.labels)), np.int64)
    for codes in read.codes:
        counts[np.arange(n), codes] += 1
    return _fleiss(counts, np.ones(n, np.int64), read.labels, options, read.n_excluded)


def _check_raters(raters: Ints) -> None:
    """Refuse items that were rated by different numbers of raters, or by one."""
    if raters.min() != raters.max():
        raise BadValueError(
            "`rating_counts` must add up to the same number of raters in each row",
            f"{raters.min()} and {raters.max()}",
            "; pass labels of raters as `ratings=`",
        )
    check_size(raters[0], "rating_counts", "raters an item")


def _fleiss(
    counts: Ints, times: Ints, labels: tuple[Any, ...], options: dict[str, Any], n_excluded: int
) -> FleissResult:
    """Kappa, of all labels and of each, with its tests."""
    rated, weight = counts.astype(np.float64), times.astype(np.float64)
    m, n = float(rated[0].sum()), float(weight.sum())
    totals = weight @ rated
    p, q = totals / (m * n), (m * n - totals) / (m * n)
    pairs = m * (m - 1.0)
    chance, again = float(p @ q), float(p @ p)
    # Proportion of pairs of raters of an item of whom one gives the label.
    split = rated * (m - rated) / pairs
    by_label = weight @ split / n
    used = p * q > 0.0
    kappas = np.where(used, 1.0 - by_label / np.where(used, p * q, 1.0), math.nan)
    value = error = null = math.nan
    if chance > 0.0:
        value = 1.0 - float(by_label.sum()) / chance
        # The variance of 1{equal} - p_i - p_j for independent labels, as a sum of squares.
        equal = np.eye(p.size) - p[:, np.newaxis] - p + again
        null = math.sqrt(2.0 * float(p @ equal**2 @ p) / (pairs * n)) / chance
        apart = split.sum(axis=1)
        influence = float(weight @ apart) / n - apart
        influence -= 2.0 * (1.0 - value) * (rated @ p / m - again)
        spread = math.sqrt(float(weight @ influence**2) / n)
        if n > 1.0:
            error = spread / chance / math.sqrt(n - 1.0)
            error = error if spread > _ROUNDING * math.sqrt(chance) else 0.0
    return FleissResult(
        **_tested(value, error, null, options),
        n_items=int(n),
        n_raters=int(m),
        labels=labels,
        label_shares=p,
        label_kappas=kappas,
        label_pvalues=t_tail(kappas * math.sqrt(n * pairs / 2), options["alternative"]),
        n_excluded=n_excluded,
    )
