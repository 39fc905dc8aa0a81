"""All pairs of estimates with a known covariance, adjusted for all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastcmp.core.checks import (
    ALTERNATIVES,
    Draws,
    as_level,
    as_resamples,
    as_seed,
    choose,
    keep_side,
)
from fastcmp.core.errors import BadTypeError
from fastcmp.core.numbers import t_tail, times
from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.sections import PAIR, Column, Section, format_pvalue, main_table
from fastcmp.core.sentences import adjusted_sentence, how
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Floats, Pairs, Seed
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.pairwise.joint_draws import normal_joint, standardize
from fastcmp.pairwise.max_t import critical_value, joint_pvalues
from fastcmp.pairwise.model_estimates import Estimates, estimates_of

_STEPS = {"single": "single-step max-T", "down": "step-down max-T"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimultaneousPairs(Record):
    """All pairs of estimates, with p-values and intervals that hold at once."""

    _blocks = "selection:simultaneous"
    _cites = (("step", {"single": "hothorn", "down": "westfall"}),)

    #: Differences in standard errors, shape (P,).
    statistic: Floats
    #: Of each pair alone, and adjusted for all, shape (P,).
    pvalue: Floats
    pvalue_adjusted: Floats
    #: Degrees of freedom of t; None for the normal distribution.
    df: float | None
    #: "normal" or "t".
    distribution: str
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: Pairs
    #: Estimate of the first minus that of the second, shape (P,), and its standard
    #: error.
    difference: Floats
    standard_error: Floats
    #: Intervals that all contain the true differences at once with the confidence
    #: level, shape (P, 2).
    interval: Floats
    #: Standard errors that an interval reaches to either side.
    critical_value: float
    #: Shape (M,).
    estimate: Floats
    names: tuple[str, ...]
    alternative: str
    #: "single" or "down".
    step: str
    confidence_level: float
    n_resamples: int
    seed: int
    #: The model that all others were compared with; None for all pairs.
    control: str | None = None

    _columns = (
        *PAIR,
        Column("difference", form="+.4g"),
        Column("standard_error"),
        Column("low high", "interval", "+.4g", "simultaneous {level}"),
        Column("statistic"),
        Column("pvalue", form=format_pvalue, head="p"),
        Column("pvalue_adjusted", form=format_pvalue, head="adjusted p"),
    )
    _read = (
        *("critical_value", "distribution", "df", "alternative", "step"),
        *("confidence_level", "n_resamples", "seed", "control"),
        Column("estimates", lambda self: {"model": self.names, "estimate": self.estimate}),
        main_table("pairs"),
    )

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval")

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The pairs, and what holds for all of them.
        """
        left = len(self.pairs) - 20
        letter = "z" if self.df is None else f"t with {self.df:.4g} degrees of freedom"
        text = (
            f"{len(self.names)} models, {len(self.pairs)} pairs"
            + (f" with {self.control}." if self.control else "."),
        )
        notes = (
            f"Adjusted p: {_STEPS[self.step]} of {letter} ({self.n_resamples} draws, "
            f"seed {self.seed}).",
            f"Intervals: {self.critical_value:.3f} standard errors; all contain the "
            f"true differences with a probability of {100 * self.confidence_level:g}%.",
        )
        more = (f"... and {left} more pairs.",) if left > 0 else ()
        table = self._printed(
            "Which estimates differ?",
            "model_a model_b difference low pvalue pvalue_adjusted",
            text=text,
            notes=(*more, *map(how, notes)),
            most=None,
        )
        return [replace(table, rows=table.rows[:20])]

    def _headline(self) -> str:
        return adjusted_sentence(self.pvalue_adjusted, 1.0 - self.confidence_level)


STEPS = ("single", "down")


def simultaneous_pairs(
    estimates: Estimates,
    *,
    control: int | str | None = None,
    step: str = "single",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 100_000,
    rng: Seed = None,
    workers: int | None = None,
) -> SimultaneousPairs:
    """Compare all pairs of estimates whose covariance is known, all at once.

    P-values and intervals are those of the largest of all statistics, which are jointly
    normal, or t: they know how the estimates are correlated, as Tukey's and Dunnett's
    do for independent ones.

    Parameters
    ----------
    estimates : Estimates
        What is compared, such as accuracies, areas or coefficients of a regression, with
        its covariance, which may be singular, and its degrees of freedom.
    control : int or str, optional
        Compare only this model with all others.
    step : {"single", "down"}
        Whether all p-values are adjusted by the largest statistic of all pairs, as the
        intervals are, or each by the largest of the less extreme ones, which has more
        power.
    alternative : {"two-sided", "greater", "less"}
        "greater": the first of a pair is larger. One-sided intervals have one end.
    confidence_level : float
        Probability with which all intervals contain the true differences.
    n_resamples : int
        Draws. Only their directions are random, and evenly spread: with 100,000 of them
        the standard errors of p-values are at most 0.0001 for 5 models, 0.0002 for 10.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    workers : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    SimultaneousPairs
        Differences, statistics, p-values, intervals and the critical value.

    Raises
    ------
    ValueError
        If there is no such control, or an option is unknown.
    TypeError
        If ``estimates`` is something else.

    Notes
    -----
    O(M**2 B). Up to 10 million pairs times draws lengths are integrated; beyond,
    p-values are (1 + c) / (1 + B), with c of B draws as extreme.

    References
    ----------
    .. [1] T. Hothorn, F. Bretz, P. Westfall, "Simultaneous inference in general
       parametric models", Biometrical Journal 50 (2008) 346-363.
    .. [2] I. Deak, "Three digit accurate multiple normal probabilities", Numerische
       Mathematik 35 (1980) 369-380.

    Examples
    --------
    >>> from fastcmp import Estimates, simultaneous_pairs
    >>> covariance = [[2e-4, 1e-4, 5e-5], [1e-4, 2e-4, 1e-4], [5e-5, 1e-4, 2e-4]]
    >>> result = simultaneous_pairs(Estimates([0.8, 0.77, 0.75], covariance), rng=1)
    >>> result.pvalue_adjusted.round(3).tolist(), round(result.critical_value, 2)
    ([0.084, 0.011, 0.33], 2.34)
    """
    step = choose(step, "step", STEPS)
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    level = as_level(confidence_level, alternative)
    draws = Draws(as_resamples(n_resamples), as_seed(rng))
    raw, estimates = estimates, estimates_of(estimates)  # type: ignore[assignment]
    if estimates is None:
        raise BadTypeError(
            "`estimates` must be fastcmp.Estimates",
            type(raw).__name__,
            ": pass Estimates(values, covariance)",
        )
    degrees, exponent = estimates.df, estimates.exponent
    variances = estimates.errors() ** 2
    indices = choose_pairs(estimates.names, None, control)
    pairs = all_pairs(estimates.values.size) if indices is None else indices
    i, j = pairs.T
    difference, variance = estimates.values[i] - estimates.values[j], variances[i, j]
    statistic, inverse = standardize(difference, variance)
    pvalue = np.asarray(t_tail(statistic, alternative, degrees))
    side: Any = {"alternative": alternative}
    with ThreadPool(check_workers(workers)) as pool:
        joint = normal_joint(variances, draws, degrees, pool)
        adjusted = joint_pvalues(
            *(joint, pairs, statistic, inverse, pool), down=step == "down", integrated=True, **side
        )
        # By Boole's inequality at most so much; and never less than the pair alone.
        adjusted = np.clip(adjusted, pvalue, np.minimum(1.0, len(pairs) * pvalue))
        one = 0.5 + 0.5 * level if alternative != "two-sided" else level
        critical = critical_value(joint, pairs, inverse, one, pool, **side)
    half = critical * np.sqrt(variance)
    ends = keep_side((difference - half, difference + half), alternative, (-math.inf, math.inf))
    return SimultaneousPairs(
        statistic=statistic,
        pvalue=pvalue,
        pvalue_adjusted=adjusted,
        df=None if math.isinf(degrees) else degrees,
        distribution="normal" if math.isinf(degrees) else "t",
        pairs=pairs,
        difference=times(difference, exponent),
        standard_error=times(np.sqrt(variance), exponent),
        interval=times(np.stack(ends, axis=1), exponent),
        critical_value=critical,
        estimate=times(estimates.values, exponent),
        names=estimates.names,
        alternative=alternative,
        step=step,
        confidence_level=float(confidence_level),
        n_resamples=draws.n,
        seed=draws.seed,
        control=None if control is None else estimates.names[pairs[0, 0]],
    )
