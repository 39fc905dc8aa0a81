"""The record of AUCs with their covariance: intervals, tests, all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import as_numbers, as_proportion, choose
from fastcmp.core.numbers import normal_tail
from fastcmp.core.records import ConfidenceInterval, Pilot, Record
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import MODEL, Column, Section
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.pairs import Block, PairColumns, choose_pairs, tile_side
from fastcmp.inputs.model_names import position_of
from fastcmp.inputs.scores import direction_sentences
from fastcmp.paired.margin_result import MarginTests
from fastcmp.paired.margins import MarginOptions
from fastcmp.pairwise.engine import PairTests, compare_pairs, read_options
from fastcmp.pairwise.joint_draws import standardize
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.scores.auc_test import (
    ROUNDING,
    Areas,
    AUCComparison,
    ContrastResult,
    area_interval,
    area_margins,
    area_tail,
    areas_sentence,
    compare_estimates,
)

Floats = NDArray[np.float64]


def pair_tests(areas: DelongResult, level: float) -> PairTests:
    """Tests of pairs by z; where nothing varies by limits of the areas (MOVER)."""
    own = np.diag(areas.covariance)
    scale = own[:, np.newaxis] + own
    variances = scale - 2.0 * areas.covariance
    variances = np.where(variances > ROUNDING * scale, variances, 0.0)
    quantile = -kernels.ndtri((1.0 - level) / 2)

    def test(pairs: NDArray[np.int32]) -> tuple[Floats, Floats, Floats, Floats]:
        """Differences, standard errors, z and p-values."""
        i, j = pairs.T
        difference, error = areas.auc[i] - areas.auc[j], np.sqrt(variances[i, j])
        z, _ = standardize(difference, error**2)
        pvalue = np.asarray(normal_tail(z, "two-sided"))
        if (still := error == 0.0).any():
            from scipy.special import ndtri

            both = _areas_of(areas, pairs[still])
            tails = area_tail(both, 0.0)[1], area_tail(both.mirrored, 0.0)[1]
            pvalue[still] = np.where(z[still] == 0.0, 1.0, 2.0 * np.minimum(*tails))
            z[still] = np.sign(difference[still]) * -ndtri(pvalue[still] / 2) + 0.0
            low, high = area_interval(both, 0.95)
            error[still] = np.maximum(high - difference[still], difference[still] - low) / 1.96
        return difference, error, z, pvalue

    def columns(block: Block) -> PairColumns:
        difference, error, z, pvalue = test(block.pairs)
        low, high = (np.clip(difference + k * error, -1.0, 1.0) for k in (-quantile, quantile))
        none = np.zeros(len(z), np.int64)
        return PairColumns(none, none, difference, low, high, z, pvalue)

    def spread(block: Block) -> tuple[Floats, Floats, float]:
        difference, error, _, _ = test(block.pairs)
        return difference, error**2, np.inf

    def margins(made: PairwiseResult, options: MarginOptions) -> MarginTests:
        return area_margins(
            _areas_of(areas, made.pairs),
            options,
            test(made.pairs)[1],
            n_samples=made.n_samples,
            measure=made.measure,
            pvalue=made.pvalue_adjusted,
        )

    return PairTests(
        n_samples=areas.n_positives + areas.n_negatives,
        correct=None,
        score=areas.auc,
        score_interval=np.stack(areas.confidence_interval(level, "logit"), axis=1),
        distribution="normal",
        df=None,
        side=tile_side(0),
        pvalues=lambda block: test(block.pairs)[-1],
        columns=columns,
        is_quick=True,
        spread=spread,
        limits=(-1.0, 1.0),
        margins=margins,
    )


def _areas_of(areas: DelongResult, pairs: NDArray[np.int32]) -> Areas:
    """Both areas of each pair, with their variances."""
    i, j = pairs.T
    own = np.maximum(np.diag(areas.covariance), 0.0)
    both = np.sqrt(own[i] * own[j])
    correlation = areas.covariance[i, j] / np.where(both > 0.0, both, np.inf)
    n = areas.n_rarer
    return Areas(areas.auc[i], areas.auc[j], own[i], own[j], np.clip(correlation, -1, 1), n, n)


_INTERVALS = ("wald", "logit")
_PAIR = ("model_a", "model_b", "difference", "low", "high", "statistic", "pvalue")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DelongResult(Pilot, Record):
    """AUCs of models on the same samples, with DeLong's covariance."""

    _blocks = "scores:areas"
    _opening = (
        "Areas under ROC curves have DeLong's standard errors and covariances; their intervals "
        "are symmetric on the logit scale."
    )
    _cites = ("delong sun", ("n_clusters", "obuchowski-roc"))

    #: Shape (M,).
    auc: NDArray[np.float64]
    #: Shape (M, M).
    covariance: NDArray[np.float64]
    names: tuple[str, ...]
    n_positives: int
    n_negatives: int
    #: The labels of positives and of negatives.
    labels: tuple[Any, Any]
    #: Independent clusters of samples; None where samples are independent.
    n_clusters: int | None = None
    #: Clusters that hold positives, and that hold negatives.
    class_clusters: tuple[int, int] | None = None
    n_missing: int = 0
    #: Of the intervals that are printed and in the table.
    confidence_level: float = 0.95

    _columns = (
        MODEL,
        Column("auc", form=".4f", head="AUC"),
        Column("standard_error", form=".4f", head="std. error"),
        Column("low high", lambda self: self._intervals(), ".4f", "{level} (logit)"),
    )

    def _intervals(self) -> NDArray[np.float64]:
        return np.transpose(self.confidence_interval(self.confidence_level, "logit"))

    @property
    def n_rarer(self) -> int:
        """Samples of the rarer class, or clusters that hold some."""
        return min(self.class_clusters or (self.n_positives, self.n_negatives))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of each AUC, shape (M,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "wald"
    ) -> ConfidenceInterval:
        """Interval for each AUC on its own.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"wald", "logit"}
            On the AUC's own scale, clipped to [0, 1]; or on that of its log odds, which
            stays inside and is better near the ends; for an area of 0 or 1 Wilson's
            interval of as many samples as the rarer class has.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``, shape (M,).

        Raises
        ------
        ValueError
            If an option is unknown.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong([0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]])
        >>> result.confidence_interval(method="logit").low.round(3).tolist()
        [0.249, 0.249]
        """
        method = choose(method, "method", _INTERVALS)
        level = as_proportion(confidence_level, "confidence_level")
        z = -kernels.ndtri((1 - level) / 2)
        if method == "wald":
            spread = z * self.standard_error
            return ConfidenceInterval(
                np.maximum(self.auc - spread, 0.0), np.minimum(self.auc + spread, 1.0)
            )
        inside = (self.auc > 0) & (self.auc < 1)
        area = np.where(inside, self.auc, 0.5)
        logit = np.log(area / (1 - area))
        spread = z * self.standard_error / (area * (1 - area))
        ends = (1 / (1 + np.exp(-(logit + side * spread))) for side in (-1, 1))
        k = z**2 / self.n_rarer
        low, high = (
            np.where(inside, end, (self.auc + k * e) / (1 + k)) for e, end in enumerate(ends)
        )
        return ConfidenceInterval(low, high)

    def compare(
        self,
        a: int | str = 0,
        b: int | str = 1,
        *,
        alternative: str = "two-sided",
        margin: float = 0.0,
        alpha: float = 0.05,
    ) -> AUCComparison:
        """Test whether two models have the same AUC.

        Parameters
        ----------
        a, b : int or str
            The models, by name or position.
        alternative : {"two-sided", "greater", "less"}
            "greater": a is better.
        margin : float
            The largest difference that does not matter, in (0, 1): adds tests of
            non-inferiority, superiority by the margin and equivalence, and a decision,
            as ``margins``. With "greater" the test itself is of non-inferiority:
            whether a is worse by less than this.
        alpha : float
            Error rate of each claim about the margin, in (0, 0.5).

        Returns
        -------
        AUCComparison
            Score, p-value and interval.

        Raises
        ------
        ValueError
            If there is no such model, or an option is unknown.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong([0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]])
        >>> round(result.compare(0, 1).pvalue, 4)
        0.8084
        """
        i, j = position_of(a, self.names), position_of(b, self.names)
        test = compare_estimates(
            float(self.auc[i]),
            float(self.auc[j]),
            self.covariance[np.ix_([i, j], [i, j])],
            alternative=alternative,
            margin=margin,
            alpha=alpha,
            names=(self.names[i], self.names[j]),
            n_rarer=(self.n_rarer, self.n_rarer),
            n_samples=self.n_positives + self.n_negatives,
        )
        return replace(test, n_positives=self.n_positives, n_negatives=self.n_negatives)

    def contrast(self, matrix: ArrayLike) -> ContrastResult:
        """Test whether linear combinations of the AUCs are 0.

        Parameters
        ----------
        matrix : array-like, shape (M,) or (R, M)
            A row a combination, such as (1, -1, 0).

        Returns
        -------
        ContrastResult
            For one combination z, as `compare` has it; for several chi-square with as
            many degrees of freedom as the rank of their covariance.

        Raises
        ------
        ValueError
            If the shape does not fit.
        TypeError
            If it holds no numbers.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong([0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]])
        >>> round(result.contrast([1, -1]).statistic, 4)
        0.2425
        """
        rows = np.atleast_2d(as_numbers(matrix, "matrix")).astype(np.float64)
        if not np.isfinite(rows).all():
            raise ValueError("matrix must be finite")
        if rows.ndim != 2 or rows.shape[1] != self.auc.size or not len(rows):
            raise ValueError(
                f"matrix must have {self.auc.size} columns, one for each model, got "
                f"shape {np.shape(matrix)}"
            )
        estimate = rows @ self.auc
        covariance = rows @ self.covariance @ rows.T
        scale = ROUNDING * len(rows) * (rows**2 @ np.diag(self.covariance)).max()
        if len(rows) == 1:
            z = np.nan  # without variance a difference has no scale
            if covariance[0, 0] > scale:
                z = estimate[0] / np.sqrt(covariance[0, 0])
            elif abs(estimate[0]) <= 1e-12:
                z = 0.0
            pvalue = 1.0 if z == 0.0 else float(normal_tail(z, "two-sided"))
            return ContrastResult(
                statistic=float(z), pvalue=pvalue, distribution="normal", estimate=estimate
            )
        values, vectors = np.linalg.eigh(covariance)
        used = values > scale
        projected = vectors.T @ estimate
        statistic = float((projected[used] ** 2 / values[used]).sum())
        df = int(used.sum())
        pvalue = kernels.chdtrc(float(df), statistic) if df else 1.0
        # What has no variance and is not 0 has no scale.
        if np.any(np.abs(projected[~used]) > 1e-12):
            statistic, pvalue = np.nan, np.nan
        return ContrastResult(
            statistic=statistic, pvalue=float(pvalue), distribution="chi2", df=df, estimate=estimate
        )

    def pairwise(
        self,
        *,
        control: int | str | None = None,
        n_resamples: int = 9999,
        rng: Any = None,
        adjust: str = "holm",
        alpha: float = 0.05,
        simultaneous: bool = False,
        margin: float | None = None,
    ) -> PairwiseResult:
        """Compare all pairs of models, or all models with one of them.

        Parameters
        ----------
        control : int or str, optional
            A model by name or position: only pairs of it and another one are compared.
        n_resamples : int
            Draws of ``adjust="maxt"`` and of simultaneous intervals.
        rng : int, numpy.random.Generator or None
            Where the draws come from.
        adjust : str
            Adjustment for the number of pairs, as in `fastcmp.adjust`; "maxt"
            (step-down) and "single-step" by normal numbers with the covariance.
        alpha : float
            Error rate of the decisions, in (0, 1).
        simultaneous : bool
            Whether the intervals of differences hold for all pairs at once.
        margin : float, optional
            The largest difference that does not matter, in (0, 1): adds tests of all
            pairs against it, adjusted together, and a decision about each, as
            ``margins``.

        Returns
        -------
        PairwiseResult
            Decisions, leaderboard by AUC, rank intervals and groups of ties. The
            statistic is z, as `compare` has it.

        Raises
        ------
        ValueError
            If there are fewer than two models, or a model or an option is unknown.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong([0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]])
        >>> result.pairwise().best
        ('model_0', 'model_1')
        """
        options = read_options(
            *("delong", "delong"),
            adjust=adjust,
            alpha=alpha,
            margin=margin,
            simultaneous=simultaneous,
            n_resamples=n_resamples,
            rng=rng,
        )
        if len(self.names) < 2:
            raise ValueError("pairwise needs at least 2 models, got 1")
        made: PairwiseResult = compare_pairs(
            *(pair_tests(self, 1 - alpha), self, choose_pairs(self.names, None, control)),
            *(options, ThreadPool(1)),
            control=control,
            more={"measure": "AUC"},
        )
        return made

    def _entries(self) -> dict[str, Any]:
        """The entries of `to_dict` that are for reading."""
        shown: dict[str, Any] = {
            "n_positives": self.n_positives,
            "n_negatives": self.n_negatives,
            "n_missing": self.n_missing,
            "n_clusters": self.n_clusters,
            "labels": self.labels,
            "confidence_level": self.confidence_level,
            "models": self.columns(),
            "covariance": self.covariance,
        }
        if self.auc.size == 2:
            test = self.compare(0, 1)
            shown["difference"] = test.difference
            shown["statistic"] = test.statistic
            shown["pvalue"] = test.pvalue
        if self.auc.size <= 2:
            shown["pairs"] = self._pair_columns()
        return {name: readable(value) for name, value in shown.items()}

    def _pair_columns(self) -> dict[str, list[Any]]:
        """The comparison of two models as columns; of one they are empty."""
        row: dict[str, Any] = dict.fromkeys(_PAIR)
        if self.auc.size < 2:
            return {name: [] for name in row}
        test = self.compare(0, 1)
        low, high = test.confidence_interval(self.confidence_level)
        row |= {"model_a": self.names[0], "model_b": self.names[1]}
        row |= {"difference": test.difference, "low": low, "high": high}
        row["statistic"] = test.statistic
        row["pvalue"] = test.pvalue
        return {name: [value] for name, value in row.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the models, and for two models their comparison.
        """
        text = (
            f"{self.n_positives} positives ({self.labels[0]!r}), {self.n_negatives} "
            f"negatives ({self.labels[1]!r})"
            + (f", in {self.n_clusters} clusters" if self.n_clusters else ""),
            *direction_sentences(self),
            *dropped_sentences(self.n_missing, 0),
        )
        found = [self._printed("AUC", text=text, most=None)]
        if self.auc.size == 2:
            test = self.compare(0, 1)
            found += replace(test, confidence_level=self.confidence_level).sections()
        return found

    def _headline(self) -> str:
        return areas_sentence(self) if self.auc.size < 3 else self.pairwise()._headline()
