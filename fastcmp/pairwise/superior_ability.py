"""Hansen's test of superior predictive ability, and its step-down models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from fastcmp.core.checks import as_flag, as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scaled_back
from fastcmp.core.records import Record
from fastcmp.core.sections import MODEL, Column, Section, beware, format_pvalue, table_of, written
from fastcmp.core.sentences import Sentence, how, named
from fastcmp.core.threads import ThreadPool
from fastcmp.core.typing import Floats
from fastcmp.inputs.model_names import position_of
from fastcmp.pairwise.max_t import SAME, as_t, gaussian_draws
from fastcmp.pairwise.model_estimates import (
    Estimates,
    basis,
    direction,
    distribution_of,
    drawn,
    format_drawn,
    listed,
    of_record,
)

_CENTRES = {
    "lower": "models worse than the control count as they seem",
    "consistent": "models clearly worse than the control do not count",
    "upper": "all models count as equal to the control",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SuperiorAbility(Record):
    """Whether any model is better than the control, and which are.

    Arrays have one entry for each other model, (M - 1,), in the order of the input.
    Differences are the model minus the control, turned so that more is better.
    """

    _blocks = "selection:superior_ability"
    _opening = "Each model was compared with the control {record.control}."
    _cites = ("hansen romano",)

    control: str
    names: tuple[str, ...]
    estimate: Floats
    #: Of the control.
    control_estimate: float
    difference: Floats
    standard_error: Floats
    #: What the largest is taken of: the difference, or it over its standard error.
    statistic: Floats
    #: P-value of each model, adjusted for all of them, step down.
    pvalue_adjusted: Floats
    #: P-values of H0: no model is better than the control.
    pvalue_lower: float
    pvalue_consistent: float
    pvalue_upper: float
    #: Which of the three `pvalue` is, and `pvalue_adjusted` follows.
    recentring: str
    studentized: bool
    alpha: float
    #: What statistics are compared with: draws from the "normal" distribution, of "t"
    #: with `df` degrees of freedom, or a "bootstrap".
    distribution: str
    df: float | None
    lower_is_better: bool
    #: Draws, and the seed that repeats them; None where draws were given.
    n_resamples: int
    seed: int | None
    #: Items, and clusters of them; None where only moments were given.
    n_items: int | None = None
    n_clusters: int | None = None
    #: What makes the test doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        MODEL,
        Column("estimate", form=".4g"),
        Column("difference", form="+.4g"),
        Column("standard_error", form=".3g"),
        Column("statistic"),
        Column("pvalue_adjusted", form=format_pvalue, head="adjusted p"),
        Column("superior", lambda self: self.pvalue_adjusted <= self.alpha),
    )

    @property
    def n_models(self) -> int:
        """Number of models, the control among them."""
        return len(self.names) + 1

    @property
    def pvalue(self) -> float:
        """P-value of H0 with the recentring that was chosen."""
        pvalues = {
            "lower": self.pvalue_lower,
            "consistent": self.pvalue_consistent,
            "upper": self.pvalue_upper,
        }
        return pvalues[self.recentring]

    @property
    def superior(self) -> tuple[str, ...]:
        """The models shown to be better than the control, best first."""
        is_superior = self.pvalue_adjusted <= self.alpha
        return tuple(self.names[i] for i in self._order() if is_superior[i])

    def _order(self) -> list[int]:
        order: list[int] = np.argsort(-self.difference, kind="stable").tolist()
        return order

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test of all at once, and the models.
        """
        superior = self.superior
        pvalues = (self.pvalue_lower, self.pvalue_consistent, self.pvalue_upper)
        three = [format_drawn(self, pvalue) for pvalue in pvalues]
        conclusion = f"better than {self.control}: {listed(superior)}" if superior else "none"
        null = f"no model is better than {self.control}"
        promised = f"The probability of even one false decision is at most {self.alpha:g}."
        text = (
            how(f"{basis(self)}.{direction(self)}"),
            Sentence(
                f"H0: {null}. p = {format_drawn(self, self.pvalue)} ({self.recentring}: "
                f"{_CENTRES[self.recentring]}); lower {three[0]}, consistent {three[1]}, "
                f"upper {three[2]}.",
                how=f"The null hypothesis is that {null}.",
            ),
            Sentence(f"Shown at {self.alpha:g}, step down: {conclusion}. {promised}", how=promised),
            drawn(self),
        )
        columns = {
            "model": self.names,
            "estimate": written(self.estimate, ".4g"),
            "difference": written(self.difference, "+.4g"),
            "standard error": written(self.standard_error, ".3g"),
            "adjusted p": [format_drawn(self, pvalue) for pvalue in self.pvalue_adjusted],
        }
        return [
            Section(title=f"Is any model better than {self.control}?", text=text),
            *beware(self),
            table_of(f"Against {self.control}", columns, order=self._order()),
        ]

    def _headline(self) -> str:
        if not self.superior:
            return f"No model is shown to be better than {self.control}."
        return f"Shown to be better than {self.control}: {named(self.superior)}."


RECENTRINGS = ("lower", "consistent", "upper")
_TIE = 1e-9


def find_control(control: int | str, names: tuple[str, ...]) -> int:
    """The position of the control, by name or position."""
    try:
        return position_of(control, names)
    except ValueError as error:
        raise BadValueError(f"`control` must be one of the models: {error}") from None


def make_superior_ability(
    estimates: Estimates,
    control: int | str,
    resampled: Floats | None,
    pool: ThreadPool,
    *,
    recentring: str,
    studentized: bool,
    alpha: float,
    n_resamples: int,
    seed: int | None,
) -> SuperiorAbility:
    """The record of the test of all models against a control.

    Bootstrap draws of the estimates about themselves, `resampled` of shape (M, B), take
    the place of normal draws; standard errors are then theirs.
    """
    recentring = choose(recentring, "recentring", RECENTRINGS)
    studentized, alpha = as_flag(studentized, "studentized"), as_proportion(alpha, "alpha")
    first, n = find_control(control, estimates.names), estimates.n_units
    if n is None:
        raise BadValueError(
            "superior_ability needs the number of items, which decides which models are "
            "clearly worse",
            remedy=": pass Estimates(..., `n_items=`)",
        )
    others = np.delete(np.arange(estimates.merit.size), first)
    gain = estimates.merit[others] - estimates.merit[first]
    values = resampled
    if values is None:
        values = gaussian_draws(estimates.covariance, n_resamples, seed or 0, pool)
    drawn = values[others] - values[first]
    errors = estimates.errors()[first, others]
    if resampled is not None:
        errors = np.sqrt((drawn**2).mean(axis=1))
        errors[errors**2 <= SAME * (values[others] ** 2).mean(axis=1)] = 0.0
    elif math.isfinite(estimates.df):  # normal numbers turned into t, one by one
        unit = np.where(errors > 0.0, errors, 1.0)[:, None]
        normal = np.linspace(-9.0, 9.0, 4001)
        drawn = unit * np.interp(drawn / unit, normal, as_t(normal, estimates.df))
    bootstrap, varies = resampled is not None, errors > 0.0
    unit = np.where(varies, errors, 1.0) if studentized else np.ones_like(errors)
    # What does not vary is certain.
    sure = np.select([gain > 0.0, gain < 0.0], [np.inf, -np.inf], 0.0)
    statistic = np.where(varies, gain / unit, sure)
    bound = -errors * np.sqrt(2.0 * np.log(max(np.log(n), 1.0)))
    #: What is subtracted from drawn differences.
    centres = {
        "lower": np.maximum(gain, 0.0),
        "consistent": np.where(gain >= bound, gain, 0.0),
        "upper": gain,
    }
    tie = _TIE
    if not studentized:  # statistics have the unit of the values
        tie *= float(np.min(errors, where=varies, initial=np.inf))

    def simulated(recentring: str) -> Floats:
        """The statistics of the draws, shape (M - 1, B)."""
        shifted: Floats = drawn + (gain - centres[recentring])[:, None]
        shifted /= unit[:, None]
        # A model that does not vary is certain: it is what it seems.
        shifted[~varies & (gain < 0.0)] = -np.inf
        return shifted

    def pvalue(largest: Floats, statistic: float) -> float:
        size = 0.0 if np.isinf(statistic) else tie
        if bootstrap:
            return float(np.mean(largest > statistic + size))
        reached = np.count_nonzero(largest >= statistic - size)
        return float((1.0 + reached) / (1.0 + largest.size))

    largest = float(statistic.max())
    of_all = {name: pvalue(simulated(name).max(axis=0), largest) for name in centres}
    # Each model together with those that are not better; step down.
    order = np.argsort(-statistic, kind="stable")
    maxima = np.maximum.accumulate(simulated(recentring)[order][::-1])[::-1]
    steps = [pvalue(row, float(statistic[i])) for row, i in zip(maxima, order, strict=True)]
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(steps)
    of_models = of_record(estimates) | {
        "names": tuple(estimates.names[i] for i in others),
        "estimate": estimates.values[others],
    }
    record = SuperiorAbility(
        **of_models,
        pvalue_lower=of_all["lower"],
        pvalue_consistent=of_all["consistent"],
        pvalue_upper=of_all["upper"],
        control=estimates.names[first],
        control_estimate=float(estimates.values[first]),
        difference=gain,
        standard_error=errors,
        statistic=statistic,
        pvalue_adjusted=adjusted,
        recentring=recentring,
        studentized=studentized,
        alpha=alpha,
        **distribution_of(estimates, bootstrap=bootstrap),
        n_resamples=n_resamples,
        seed=seed,
    )
    in_unit: tuple[str, ...] = ("estimate", "control_estimate", "difference", "standard_error")
    if not studentized:
        in_unit = (*in_unit, "statistic")
    return cast("SuperiorAbility", scaled_back(record, estimates.exponent, in_unit))
