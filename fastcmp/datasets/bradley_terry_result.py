"""The record of models ranked by battles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_finite, as_proportion
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import t_interval
from fastcmp.core.sections import Column, Section, format_interval, interval_name
from fastcmp.core.typing import Floats
from fastcmp.inputs.model_names import position_of
from fastcmp.pairwise.result import PairwiseResult

_TIES = {
    "half": "a tie as half a win for both",
    "ignored": "ties left out",
    "davidson": "ties by Davidson's model",
}
_ERRORS = {
    "information": "inverse information, battles independent",
    "sandwich": "sandwich, battles independent",
    "clustered": "sandwich, battles in a cluster dependent",
    "bootstrap": "bootstrap of clusters",
}


class EloRatings(NamedTuple):
    """Strengths on the scale of Elo's ratings, with intervals; each of shape (M,)."""

    rating: Any
    low: Any
    high: Any


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BradleyTerry(PairwiseResult):
    """Models ranked by battles: strengths of Bradley and Terry's model.

    A `PairwiseResult`: `score` holds the strengths, `difference` their differences.
    """

    _pilot = ""
    _cites = (
        "bradley",
        ("ties_as", {"davidson": "davidson"}),
        ("covariance_method", {"bootstrap": "efron"}),
    )

    #: Of each strength, shape (M,).
    standard_error: Floats
    #: Of each difference, shape (P,).
    difference_standard_error: Floats
    #: Of the strengths, shape (M, M).
    covariance: Floats
    #: "information", "sandwich", "clustered" or "bootstrap".
    covariance_method: str
    #: "half", "ignored" or "davidson".
    ties_as: str
    #: Sum of the weights of all battles, and of those that were ties.
    n_battles: float
    n_ties: float
    ridge: float = 0.0
    #: Logarithm of Davidson's nu and its standard error; NaN for other models.
    log_nu: float = float("nan")
    log_nu_standard_error: float = float("nan")
    #: Draws of clusters, how many of them had no estimate, and the seed.
    n_resamples: int | None = None
    n_failed: int = 0
    seed: int | None = None
    #: Quantiles of the strengths in these draws at the level 1 - alpha, shape (M, 2).
    percentile_interval: Any = None
    #: Tasks dropped for missing scores.
    n_dropped: int = 0

    _columns = (
        *PairwiseResult._columns,
        Column("standard_error", "difference_standard_error"),
        Column("win_probability", lambda self: self.win_probability()[tuple(self.pairs.T)]),
    )
    _read = (
        *PairwiseResult._read,
        *("covariance_method", "ties_as", "n_battles", "n_ties", "ridge"),
        *("log_nu", "log_nu_standard_error", "n_resamples", "n_failed", "seed", "n_dropped"),
        Column(
            "strengths",
            lambda self: {
                "model": self.names,
                "strength": self.score,
                "standard_error": self.standard_error,
            },
        ),
        Column("elo", lambda self: self.elo()._asdict()),
    )

    @property
    def any_size(self) -> bool:
        """Whether scores may be of any size: strengths may."""
        return True

    @property
    def strength(self) -> Floats:
        """Strength of each model, shape (M,); they add up to zero."""
        return self.score

    @property
    def nu(self) -> float:
        """Davidson's nu: odds of a tie between equals are nu to 2; NaN for others."""
        return float(np.exp(self.log_nu))

    def win_probability(
        self, first: int | str | None = None, second: int | str | None = None
    ) -> Any:
        """The probability that one model beats another.

        Parameters
        ----------
        first, second : int or str, optional
            Two models; by default all.

        Returns
        -------
        float or ndarray, shape (M, M)
            That the model of the row beats that of the column. Ties count as in
            `ties_as`: for "half" as half a win; for "davidson" a tie is no win.

        Raises
        ------
        ValueError
            If there is no such model, or only one is given.

        Examples
        --------
        >>> from fastcmp.datasets import bradley_terry
        >>> result = bradley_terry([[0, 6], [2, 0]], names=["a", "b"])
        >>> round(result.win_probability("a", "b"), 6)
        0.75
        """
        return self._probability(first, second, ties=False)

    def tie_probability(
        self, first: int | str | None = None, second: int | str | None = None
    ) -> Any:
        """The probability of a tie by Davidson's model; 0 by the others.

        Parameters
        ----------
        first, second : int or str, optional
            Two models; by default all.

        Returns
        -------
        float or ndarray, shape (M, M)
            Of each two models.

        Raises
        ------
        ValueError
            If there is no such model, or only one is given.
        """
        return self._probability(first, second, ties=True)

    def _probability(self, first: object, second: object, *, ties: bool) -> Any:
        from scipy.special import expit

        if (first is None) != (second is None):
            raise BadValueError("`first` and second go together", f"{first!r} and {second!r}")
        gap = self.score[:, None] - self.score
        if self.ties_as == "davidson":
            largest = np.maximum(np.abs(gap) / 2, self.log_nu)
            parts = [np.exp(x - largest) for x in (gap / 2, self.log_nu, -gap / 2)]
            probability = parts[int(ties)] / (parts[0] + parts[1] + parts[2])
        else:
            probability = np.zeros_like(gap) if ties else expit(gap)
        if first is None:
            return probability
        i, j = (position_of(model, self.names) for model in (first, second))
        return float(probability[i, j])

    def elo(
        self,
        *,
        scale: float = 400.0,
        base: float = 10.0,
        centre: float = 1000.0,
        confidence_level: float | None = None,
    ) -> EloRatings:
        """Strengths on the scale of Elo's ratings.

        Parameters
        ----------
        scale, base : float
            A model that is `scale` above another has odds of `base` to 1 against it.
        centre : float
            Mean rating.
        confidence_level : float, optional
            Of the intervals; by default 1 - alpha.

        Returns
        -------
        EloRatings
            ``centre + scale / log(base) * strength``, and intervals for each alone.

        Raises
        ------
        ValueError
            If a number is not finite, the scale is not positive or the base not above
            1, or the level is not in (0, 1).
        TypeError
            If one is not a number.

        Examples
        --------
        >>> from fastcmp.datasets import bradley_terry
        >>> bradley_terry([[0, 10], [1, 0]]).elo().rating.round(6).tolist()
        [1200.0, 800.0]
        """
        as_finite(centre, "centre")
        for name, value, least in (("scale", scale, 0.0), ("base", base, 1.0)):
            as_finite(value, name, above=least)
        level = 1.0 - self.alpha
        if confidence_level is not None:
            level = as_proportion(confidence_level, "confidence_level")
        unit = scale / np.log(base)
        ends = (self.score, *t_interval(self.score, self.standard_error, level))
        return EloRatings(*(centre + unit * x for x in ends))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            As `PairwiseResult`, with the ratings on Elo's scale.
        """
        sections = super().sections()
        sections.insert(-1, self._elo_section())
        return sections

    @property
    def _each_pair(self) -> str:
        ties, ridge = _TIES[self.ties_as], f", ridge {self.ridge:g}" if self.ridge else ""
        return f"z of the difference of strengths ({ties}{ridge}); standard errors: {self._errors}"

    @property
    def _score_intervals(self) -> str:
        return "normal"

    @property
    def _errors(self) -> str:
        text = _ERRORS[self.covariance_method]
        if self.covariance_method != "bootstrap":
            return text
        return f"{text}, {self.n_resamples} draws, seed {self.seed}"

    def _elo_section(self) -> Section:
        ratings = self.elo()
        rows = tuple(
            (
                self.names[i],
                f"{ratings.rating[i]:.1f}",
                format_interval(ratings.low[i], ratings.high[i], digits=1),
            )
            for i in self.leaderboard.models
        )
        notes: tuple[str, ...] = (
            "Strengths are logits and add up to zero: of two models the one that is "
            "stronger by 1 has odds of 2.72 to 1. Elo's rating is 1000 + 400 / ln 10 "
            "times the strength.",
        )
        if self.ties_as == "davidson":
            notes += (
                f"Davidson's nu is {self.nu:.4g} (log nu {self.log_nu:.4g}, standard "
                f"error {self.log_nu_standard_error:.4g}).",
            )
        return Section(
            title="Elo scale",
            columns=("model", "rating", interval_name(1 - self.alpha)),
            rows=rows,
            notes=notes,
            most=20,
        )
