"""Do many raters agree more than by chance? Fleiss' kappa."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import (
    ALTERNATIVES,
    are_counts_given,
    as_counts,
    as_level,
    check_total,
    choose,
    warn,
)
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.inputs.model_names import has_names, named_columns
from fastcmp.inputs.ratings import read_label_order, read_ratings
from fastcmp.metrics.kappa import INTERVALS, agreement_interval, describe_agreement

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FleissResult(Record):
    """Agreement of many raters beyond chance, with a test that there is none."""

    _blocks = "scores:kappa"
    _opening = "Test: {title}."
    _cites = ("fleiss",)

    #: z: `value` over `standard_error_null`.
    statistic: float
    pvalue: float
    distribution: str = "normal"
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Kappa: 1 where all raters agree, 0 for as much agreement as by chance.
    value: float
    #: By linearization over the items; 0 where all raters agree.
    standard_error: float
    #: Of raters who label by chance.
    standard_error_null: float
    #: For `value`, at `confidence_level`; NaN where the standard error is 0.
    interval: ConfidenceInterval
    confidence_level: float
    #: "atanh" or "wald".
    interval_method: str
    alternative: str
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


#: Of their size: a spread below it is rounding.
_ROUNDING = 1e-14


def fleiss_kappa(
    ratings: Any = None,
    *,
    rating_counts: Any = None,
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
    options = _check_options(interval, alternative, confidence_level)
    data, of_counts = {"ratings": ratings}, {"multiplicity": multiplicity}
    if are_counts_given(data, {"rating_counts": rating_counts}, of_counts=of_counts):
        counts = as_counts(rating_counts, "rating_counts")
        if counts.ndim != 2 or not counts.size:
            raise ValueError(
                "rating_counts must be of shape (n, K), a row an item and a column a "
                f"label, got {counts.shape}"
            )
        check_total(counts, "rating_counts", 2)
        n, k = counts.shape
        times = np.ones(n, np.int64)
        if multiplicity is not None:
            times = as_counts(multiplicity, "multiplicity")
            if times.shape != (n,) or not times.any():
                raise ValueError(
                    f"multiplicity must hold {n} numbers, not all 0, got shape {times.shape}"
                )
            check_total(times, "multiplicity", 1)
        counts, times = counts[times > 0], times[times > 0]
        _check_raters(counts.sum(axis=1))
        names: tuple[Any, ...] = tuple(range(k))
        if labels is not None:
            names = read_label_order(labels).distinct
            if len(names) != k:
                raise ValueError(f"labels must name the {k} columns, got {len(names)}")
        return _kappa(counts, times, names, options, 0)
    named = has_names(ratings)
    raters = [
        (f"ratings[{name!r}]" if named else f"ratings[{i}]", column)
        for i, (name, column) in enumerate(named_columns(ratings, "ratings"))
    ]
    if len(raters) < 2:
        raise ValueError(f"ratings must hold at least 2 raters, got {len(raters)}")
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
    return _kappa(counts, np.ones(n, np.int64), read.labels, options, read.n_excluded)


def _check_raters(raters: NDArray[np.int64]) -> None:
    """Refuse items that were rated by different numbers of raters, or by one."""
    if raters.min() != raters.max():
        raise ValueError(
            "rating_counts must add up to the same number of raters in each row, got "
            f"{raters.min()} and {raters.max()}; pass labels of raters as ratings="
        )
    if raters[0] < 2:
        raise ValueError(f"rating_counts must hold at least 2 raters an item, got {raters[0]}")


def _check_options(interval: str, alternative: str, confidence_level: float) -> dict[str, Any]:
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    as_level(confidence_level, alternative)
    return {
        "interval_method": choose(interval, "interval", INTERVALS),
        "alternative": alternative,
        "confidence_level": float(confidence_level),
    }


def _kappa(
    counts: NDArray[np.int64],
    times: NDArray[np.int64],
    labels: tuple[Any, ...],
    options: dict[str, Any],
    n_excluded: int,
) -> FleissResult:
    m, n = int(counts[0].sum()), int(times.sum())
    found = _estimate(counts.astype(np.float64), times.astype(np.float64))
    side, level = options["alternative"], options["confidence_level"]
    statistic = found.value / found.error_null
    by_label = found.kappas * math.sqrt(n * m * (m - 1) / 2)
    known = not math.isnan(found.value)
    return FleissResult(
        statistic=statistic,
        pvalue=float(normal_tail(statistic, side)),
        status=int(kernels.OK if known else kernels.UNDEFINED),
        value=found.value,
        standard_error=found.error,
        standard_error_null=found.error_null,
        interval=agreement_interval(
            found.value, found.error, options["interval_method"], level, side
        ),
        n_items=n,
        n_raters=m,
        labels=labels,
        label_shares=found.proportions,
        label_kappas=found.kappas,
        label_pvalues=normal_tail(by_label, side),
        n_excluded=n_excluded,
        **options,
    )


class _Estimate(NamedTuple):
    value: float
    error: float
    error_null: float
    proportions: Floats
    kappas: Floats


def _estimate(rated: Floats, weight: Floats) -> _Estimate:
    """Estimate kappa, of all labels and of each, and both standard errors."""
    m, n = float(rated[0].sum()), float(weight.sum())
    totals = weight @ rated
    p, q = totals / (m * n), (m * n - totals) / (m * n)
    pairs = m * (m - 1.0)
    chance, again = float(p @ q), float(p @ p)
    if chance == 0.0:
        unknown = np.full(p.size, math.nan)
        return _Estimate(math.nan, math.nan, math.nan, p, unknown)
    # Proportion of pairs of raters of an item of whom one gives the label.
    split = rated * (m - rated) / pairs
    by_label = weight @ split / n
    value = 1.0 - float(by_label.sum()) / chance
    used = p * q > 0.0
    kappas = np.where(used, 1.0 - by_label / np.where(used, p * q, 1.0), math.nan)
    # The variance of 1{equal} - p_i - p_j for independent labels, as a sum of squares.
    equal = np.eye(p.size) - p[:, np.newaxis] - p + again
    null = math.sqrt(2.0 * float(p @ equal**2 @ p) / (pairs * n)) / chance
    apart = split.sum(axis=1)
    influence = float(weight @ apart) / n - apart
    influence -= 2.0 * (1.0 - value) * (rated @ p / m - again)
    spread = math.sqrt(float(weight @ influence**2) / n)
    error = math.nan
    if n > 1.0:
        error = spread / chance / math.sqrt(n - 1.0)
        error = error if spread > _ROUNDING * math.sqrt(chance) else 0.0
    return _Estimate(value, error, null, p, kappas)
