"""The record of models compared within slices of the items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_ppf
from fastcmp.core.records import Drawn, Record, keep_intervals
from fastcmp.core.sections import (
    Column,
    Section,
    beware,
    format_pvalue,
    interval_name,
    table_of,
    written,
)
from fastcmp.core.sentences import Sentence, how
from fastcmp.core.typing import Flags, Floats, Ints, Pairs
from fastcmp.paired.margin_result import MarginTests
from fastcmp.pairwise.adjust import adjusted_by, promise

_COLUMNS = 10  # slices beside each other
#: The title of the first section.
IN_SLICES = "Which model is better in which slice?"
INTERACTIONS = ("auto", "wald", "welch-f", "none")
_TESTS = {"wald": "Wald's chi-square", "welch-f": "Welch's F"}


class Shrunk(NamedTuple):
    """Differences in slices that lend strength to each other: for display, not for tests."""

    #: Shape (P, S); NaN of slices that were not tested.
    difference: Floats
    standard_error: Floats
    #: Common mean, variance between slices, and Cochran's Q, shape (P,).
    mean: Floats
    tau2: Floats
    q: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SlicesResult(Drawn, Record):
    """Models compared in pairs within slices of the items.

    S slices, M models, P pairs; a difference is the first of a pair minus the second.
    """

    _blocks = "datasets:slices"
    _picture = "slice_map"

    names: tuple[str, ...]
    slices: tuple[str, ...]
    #: Shape (S,).
    n_items_of_slices: Ints
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: Pairs
    #: Mean of each model in each slice, shape (M, S).
    mean: Floats
    #: Within each slice, shape (P, S); NaN of slices too small to be tested.
    difference: Floats
    standard_error: Floats
    #: Degrees of freedom of t, shape (S,).
    df: Floats
    statistic: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    #: Shape (P, S, 2).
    interval: Floats
    #: Items on which only one of the two is right, (P, S); None of other values.
    n_discordant: Ints | None
    #: The difference in a slice minus that of all other items, shape (P, S): Welch's t.
    rest_difference: Floats
    rest_standard_error: Floats
    rest_df: Floats
    rest_pvalue: Floats
    rest_pvalue_adjusted: Floats
    #: Whether no item is in two slices.
    disjoint: bool
    #: "wald", "welch-f" or "none": whether differences are the same in all slices.
    interaction: str
    #: Shape (P,), and the degrees of freedom, (P, 2): infinite for chi-square.
    interaction_statistic: Floats
    interaction_df: Floats
    interaction_pvalue: Floats
    interaction_pvalue_adjusted: Floats
    #: Slice in which the first, and the second, of a pair does worst beside the other,
    #: shape (P, 2); by how much it is better there, and the interval of the true worst,
    #: (P, 2, 2).
    worst: Ints
    worst_difference: Floats
    worst_interval: Floats
    #: With a margin: the tests of each slice and pair against it, shape (P, S); and p-values
    #: of "not worse by it in any slice", and of "worse by it in some", of the first and the
    #: second, shape (P, 2).
    margins: MarginTests | None
    not_worse_pvalue: Floats | None
    worse_pvalue: Floats | None
    adjust: str
    alpha: float
    lower_is_better: bool
    n_items: int
    n_clusters: int | None
    distribution: str = "t"
    #: What was drawn for "maxt" and "single-step", how often, and the seed that repeats it.
    adjust_draws: str | None = None
    adjust_resamples: int | None = None
    adjust_seed: int | None = None
    cautions: tuple[str, ...] = ()

    _columns = (
        Column("slice", lambda self: list(self.slices) * len(self.pairs)),
        Column(
            "n_items", lambda self: np.tile(self.n_items_of_slices, len(self.pairs)), head="items"
        ),
        Column("model_a", lambda self: self._models(0), head="model a"),
        Column("model_b", lambda self: self._models(1), head="model b"),
        Column("difference", lambda self: self.difference.ravel(), "+.4g"),
        Column("standard_error", lambda self: self.standard_error.ravel()),
        Column("low high", lambda self: np.reshape(self.interval, (-1, 2)), "+.4g", "{level}"),
        Column("statistic", lambda self: self.statistic.ravel()),
        Column("df", lambda self: np.tile(self.df, len(self.pairs))),
        Column("pvalue", lambda self: self.pvalue.ravel(), format_pvalue, "p"),
        Column(
            "pvalue_adjusted",
            lambda self: self.pvalue_adjusted.ravel(),
            format_pvalue,
            "adjusted p",
        ),
        Column("slice_minus_rest", lambda self: self.rest_difference.ravel()),
        Column("rest_pvalue", lambda self: self.rest_pvalue.ravel()),
        Column(
            "rest_pvalue_adjusted",
            lambda self: self.rest_pvalue_adjusted.ravel(),
            format_pvalue,
            "unlike the rest",
        ),
    )

    def _models(self, place: int) -> list[str]:
        return [self.names[i] for i in np.repeat(self.pairs[:, place], len(self.slices))]

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval", "worst_interval")

    @property
    def significant(self) -> Flags:
        """Whether each slice and pair is significantly different, shape (P, S)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.pvalue_adjusted <= self.alpha)

    def detectable_difference(self, power: float = 0.8) -> Floats:
        """Smallest true differences that a slice alone would show with some power.

        Parameters
        ----------
        power : float
            Probability wanted.

        Returns
        -------
        numpy.ndarray of float64, shape (P, S)
            By the standard errors, at two-sided `alpha` without adjustment.

        Raises
        ------
        ValueError
            If `power` is not in (0, 1).

        Examples
        --------
        >>> from fastcmp import compare_slices
        >>> values = [[1, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 0]]
        >>> result = compare_slices(values, ["s", "s", "s", "t", "t", "t"])
        >>> result.detectable_difference().round(2).tolist()
        [[0.93, 0.93]]
        """
        reach = -t_ppf(self.alpha / 2.0, None) + t_ppf(as_proportion(power, "power"), None)
        return np.asarray(reach * self.standard_error)

    def shrunk(self, method: str = "paule-mandel") -> Shrunk:
        """The differences, shrunk towards their common mean, for display.

        Parameters
        ----------
        method : {"paule-mandel", "dersimonian-laird"}
            How the variance between slices is estimated.

        Returns
        -------
        Shrunk
            Differences, standard errors, common mean and variance between slices.

        Raises
        ------
        ValueError
            If slices overlap, or the method is unknown.

        Notes
        -----
        Best linear unbiased predictions of a normal model; tests use the differences as
        they are.

        References
        ----------
        .. [1] R. C. Paule, J. Mandel, "Consensus values and weighting factors", J. Research
           of the National Bureau of Standards 87 (1982) 377-385.

        Examples
        --------
        >>> from fastcmp import compare_slices
        >>> values = [[1, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 0]]
        >>> result = compare_slices(values, ["s", "s", "s", "t", "t", "t"])
        >>> result.shrunk().difference.round(2).tolist()
        [[0.33, 0.33]]
        """
        method = choose(method, "method", ("paule-mandel", "dersimonian-laird"))
        if not self.disjoint:
            raise BadValueError(
                "`slices` overlap, and shrinkage is for slices that do not: cut them up"
            )
        # In units of the largest error, so that no square is beyond floats.
        unit = float(np.nanmax(self.standard_error, initial=0.0)) or 1.0
        rows = [
            _shrink(d / unit, (e / unit) ** 2, method)
            for d, e in zip(self.difference, self.standard_error, strict=True)
        ]
        shrunk, error, mean, tau2, q = (np.stack(x) for x in zip(*rows, strict=True))
        with np.errstate(over="ignore"):
            return Shrunk(shrunk * unit, error * unit, mean * unit, tau2 * unit * unit, q)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            What differs where, the interaction, the worst slices, and tables.
        """
        p, n_slices = self.difference.shape
        n_tested = int(np.count_nonzero(~np.isnan(self.df)))
        where = f" in {self.n_clusters} clusters" if self.n_clusters is not None else ""
        kind = "that do not overlap" if self.disjoint else "that overlap"
        less = " Lower values are better." if self.lower_is_better else ""
        tested = (
            f"{len(self.names)} models, {n_slices} slices {kind}, {self.n_items} items{where}: "
            f"{n_tested * p} differences tested"
        )
        rule = f"{self.alpha:g}: {promise(self.adjust, self.alpha)}"
        text: list[str] = [
            Sentence(
                f"{tested}, {int(self.significant.sum())} significant at {rule}.{less}",
                how=f"{tested} at {rule}.{less}",
            )
        ]
        if self.interaction != "none":
            pvalues = self.interaction_pvalue_adjusted
            n_differ = int(np.count_nonzero(pvalues <= self.alpha))
            text_of_p = f"adjusted p from {format_pvalue(np.fmin.reduce(pvalues))}"
            if p == 1:
                text_of_p = f"p {format_pvalue(float(self.interaction_pvalue[0]))}"
            text.append(
                f"Are differences the same in all slices? {_TESTS[self.interaction]} says no for "
                f"{n_differ} of {p} {'pair' if p == 1 else 'pairs'} ({text_of_p})."
            )
        order = np.lexsort((self.pvalue.ravel(), self.pvalue_adjusted.ravel()))
        columns = "slice n_items model_a model_b difference low pvalue pvalue_adjusted"
        notes = (
            how(f"P-values {adjusted_by(self.adjust, 'for all slices and pairs together')}."),
            how(
                "Unlike the rest: adjusted p of the difference in the slice minus that of all "
                "other items."
            ),
        )
        means = {"model": list(self.names)}
        for k, name in enumerate(self.slices[:_COLUMNS]):
            means[name] = written(self.mean[:, k], ".4g")
        left = n_slices - _COLUMNS
        more = (f"... and {left} more slices.",) if left > 0 else ()
        return [
            Section(title=IN_SLICES, text=tuple(text)),
            *beware(self),
            table_of("Means", means, notes=more),
            self._printed(
                "Differences", f"{columns} rest_pvalue_adjusted", order=order, notes=notes
            ),
            self._worst_table(interval_name(1.0 - self.alpha)),
        ]

    def _worst_table(self, level: str) -> Section:
        """A row a model and opponent: where it does worst."""
        places, worst = np.concatenate([self.pairs, self.pairs[:, ::-1]]), self.worst.T.ravel()
        has_worst = worst >= 0

        def sides(field: object) -> Any:
            return np.concatenate(np.moveaxis(np.asarray(field), 1, 0))[has_worst]

        columns = {
            "model": [self.names[i] for i in places[has_worst, 0]],
            "against": [self.names[j] for j in places[has_worst, 1]],
            "worst slice": [self.slices[s] for s in worst[has_worst]],
            "lead there": written(sides(self.worst_difference), "+.4g"),
            level: written(sides(self.worst_interval), "+.4g"),
        }
        if self.margins is not None:
            title = f"p: not worse by {self.margins.margin:g} anywhere"
            columns[title] = list(map(format_pvalue, sides(self.not_worse_pvalue)))
            columns["p: worse somewhere"] = list(map(format_pvalue, sides(self.worse_pvalue)))
        note = (
            "Lead: by how much the model is better, below 0 where it is worse. The interval is "
            "for the slice that is truly worst, which need not be the one that looks so."
        )
        return table_of("Worst slices", columns, notes=(note,))


def _shrink(d: Floats, variance: Floats, method: str) -> tuple[Any, ...]:
    """Differences of one pair, shrunk: with errors, mean, variance between slices, and Q."""
    shrunk, error = np.full((2, d.size), np.nan)
    used = variance > 0.0
    d, v, k = d[used], variance[used], int(used.sum())
    if k < 2:
        shrunk[used], error[used] = d, np.sqrt(v)
        return shrunk, error, np.nan, np.nan, np.nan

    def spread(tau2: float) -> tuple[float, float]:
        w = 1.0 / (v + tau2)
        mean = float((w * d).sum() / w.sum())
        return mean, float((w * (d - mean) ** 2).sum())

    q, w = spread(0.0)[1], 1.0 / v
    tau2 = max(0.0, (q - (k - 1)) / float(w.sum() - (w**2).sum() / w.sum()))
    if method == "paule-mandel" and tau2 >= 0.0:
        low, high = 0.0, max(tau2, float(v.max()))
        while spread(high)[1] > k - 1:
            high *= 2.0
        if spread(0.0)[1] <= k - 1:
            high = 0.0
        for _ in range(200):
            tau2 = 0.5 * (low + high)
            low, high = (tau2, high) if spread(tau2)[1] > k - 1 else (low, tau2)
    mean, w = spread(tau2)[0], 1.0 / (v + tau2)
    share = tau2 / (v + tau2)
    shrunk[used] = share * d + (1.0 - share) * mean
    error[used] = np.sqrt(share * v + (1.0 - share) ** 2 / w.sum())
    return shrunk, error, mean, tau2, q
