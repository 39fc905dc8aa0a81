"""The record of AUCs with their covariance, and what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_numbers, as_share
from fastcmp.core.options import choose
from fastcmp.core.records import ConfidenceInterval, Record
from fastcmp.core.report import Section, format_interval
from fastcmp.core.sentences import dropped_sentences
from fastcmp.core.tails import normal_tail
from fastcmp.counts.pairs import all_pairs
from fastcmp.inputs.model_names import position_of
from fastcmp.inputs.score_direction import direction_sentences
from fastcmp.pairwise.adjust import ADJUSTMENTS, promise
from fastcmp.pairwise.adjust import adjust as adjust_pvalues
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.scores.auc_test import (
    AUCComparison,
    ContrastResult,
    compare_estimates,
)
from fastcmp.scores.classification_result import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_INTERVALS = ("wald", "logit")
_PAIR = ("model_a", "model_b", "difference", "low", "high", "zscore", "pvalue")
_ROUNDING = 1e-13  # of a variance, relative to what was subtracted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DelongResult(Record):
    """AUCs of models on the same samples, with DeLong's covariance."""

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
    n_missing: int = 0
    #: Of the intervals that are printed and laid out.
    confidence_level: float = 0.95

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of each AUC, shape (M,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "wald"
    ) -> ConfidenceInterval:
        """Interval for each AUC by itself.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"wald", "logit"}
            On the AUC's own scale, clipped to [0, 1]; or on that of its log odds, which
            stays inside and is better near the ends. At 0 and 1 it has no width.

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
        >>> result = delong(
        ...     [0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]]
        ... )
        >>> result.confidence_interval(method="logit").low.round(3).tolist()
        [0.249, 0.249]
        """
        method = choose(method, "method", _INTERVALS)
        level = as_share(confidence_level, "confidence_level")
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
        low, high = (np.where(inside, end, self.auc) for end in ends)
        return ConfidenceInterval(low, high)

    def compare(
        self,
        a: int | str = 0,
        b: int | str = 1,
        *,
        alternative: str = "two-sided",
        margin: float = 0.0,
    ) -> AUCComparison:
        """Test whether two models have the same AUC.

        Parameters
        ----------
        a, b : int or str
            The models, by name or position.
        alternative : {"two-sided", "greater", "less"}
            "greater": a is better.
        margin : float
            Non-inferiority: with "greater", whether a is worse by less than this.

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
        >>> result = delong(
        ...     [0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]]
        ... )
        >>> round(result.compare(0, 1).pvalue, 4)
        0.8084
        """
        i, j = position_of(a, self.names), position_of(b, self.names)
        v = self.covariance
        scale = v[i, i] + v[j, j]
        return compare_estimates(
            float(self.auc[i]),
            float(self.auc[j]),
            float(scale - v[i, j] - v[j, i]),
            _ROUNDING * float(scale),
            alternative=alternative,
            margin=margin,
            names=(self.names[i], self.names[j]),
        )

    def contrast(self, matrix: ArrayLike) -> ContrastResult:
        """Test whether linear combinations of the AUCs are 0.

        Parameters
        ----------
        matrix : array-like, shape (M,) or (R, M)
            A row a combination, such as (1, -1, 0).

        Returns
        -------
        ContrastResult
            Chi-square with as many degrees of freedom as the rank of their covariance.

        Raises
        ------
        ValueError
            If the shape does not fit.
        TypeError
            If it holds no numbers.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong(
        ...     [0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]]
        ... )
        >>> result.contrast([1, -1]).df
        1
        """
        rows = np.atleast_2d(as_numbers(matrix, "matrix")).astype(np.float64)
        if not np.isfinite(rows).all():
            message = "matrix must be finite"
            raise ValueError(message)
        if rows.ndim != 2 or rows.shape[1] != self.auc.size or not len(rows):
            message = (
                f"matrix must have {self.auc.size} columns, one a model, got shape "
                f"{np.shape(matrix)}"
            )
            raise ValueError(message)
        estimate = rows @ self.auc
        values, vectors = np.linalg.eigh(rows @ self.covariance @ rows.T)
        scale = (rows**2 @ np.diag(self.covariance)).max()
        used = values > _ROUNDING * len(rows) * scale
        projected = vectors.T @ estimate
        statistic = float((projected[used] ** 2 / values[used]).sum())
        df = int(used.sum())
        # What has no variance and is not 0 contradicts equality with certainty.
        if np.any(np.abs(projected[~used]) > 1e-12):
            return ContrastResult(
                statistic=float("inf"), pvalue=0.0, df=max(df, 1), estimate=estimate
            )
        pvalue = kernels.chdtrc(float(df), statistic) if df else 1.0
        return ContrastResult(
            statistic=statistic, pvalue=float(pvalue), df=df, estimate=estimate
        )

    def pairwise(self, *, adjust: str = "holm", alpha: float = 0.05) -> PairwiseResult:
        """Compare all pairs of models.

        Parameters
        ----------
        adjust : str
            Adjustment for the number of pairs, as in `fastcmp.adjust`.
        alpha : float
            Error rate of the decisions, in (0, 1).

        Returns
        -------
        PairwiseResult
            Decisions, leaderboard by AUC, rank intervals and groups of ties.

        Raises
        ------
        ValueError
            If there are fewer than two models, or an option is unknown.

        Examples
        --------
        >>> from fastcmp import delong
        >>> result = delong(
        ...     [0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 4, 5], [3, 1, 2, 2, 3, 4]]
        ... )
        >>> result.pairwise().best
        ('model_0', 'model_1')
        """
        adjust = choose(adjust, "adjust", ADJUSTMENTS)
        alpha = as_share(alpha, "alpha")
        if self.auc.size < 2:
            message = "pairwise needs at least 2 models, got 1"
            raise ValueError(message)
        pairs = all_pairs(self.auc.size)
        i, j = pairs.T
        v = self.covariance
        scale = v[i, i] + v[j, j]
        variance = scale - 2 * v[i, j]
        variance = np.where(variance > _ROUNDING * scale, variance, 0.0)
        difference = self.auc[i] - self.auc[j]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = difference / np.sqrt(variance)
        z = np.where((difference == 0) & (variance == 0), 0.0, z)
        pvalue = normal_tail(z, "two-sided")
        spread = -kernels.ndtri(alpha / 2) * np.sqrt(variance)
        ends = np.stack([difference - spread, difference + spread], axis=1)
        return PairwiseResult(
            statistic=z,
            distribution="normal",
            pvalue=pvalue,
            pvalue_adjusted=adjust_pvalues(pvalue, method=adjust),
            pairs=pairs,
            difference=difference,
            interval=np.clip(ends, -1.0, 1.0),
            names=self.names,
            score=self.auc,
            score_interval=np.stack(
                self.confidence_interval(1 - alpha, "logit"), axis=1
            ),
            measure="AUC",
            n_samples=self.n_positives + self.n_negatives,
            test="delong",
            method="delong",
            adjust=adjust,
            alpha=alpha,
            rule=promise(adjust, alpha),
            n_missing=self.n_missing,
        )

    def columns(self) -> dict[str, Any]:
        """Lay out the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Names, areas, standard errors and intervals on the logit scale.
        """
        low, high = self.confidence_interval(self.confidence_level, "logit")
        return {
            "model": list(self.names),
            "auc": self.auc,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        told: dict[str, Any] = {
            "n_positives": self.n_positives,
            "n_negatives": self.n_negatives,
            "n_missing": self.n_missing,
            "n_clusters": self.n_clusters,
            "labels": plain(self.labels),
            "confidence_level": self.confidence_level,
            "models": {
                name: list(map(_plain, x)) for name, x in self.columns().items()
            },
            "covariance": self.covariance.tolist(),
        }
        if self.auc.size == 2:
            test = self.compare(0, 1)
            told["difference"] = test.difference
            told["zscore"] = test.zscore if np.isfinite(test.zscore) else None
            told["pvalue"] = test.pvalue
        if self.auc.size <= 2:
            told["pairs"] = self._pair_columns()
        return told

    def _pair_columns(self) -> dict[str, list[Any]]:
        """Lay out the comparison of two models as columns; of one they are empty."""
        row: dict[str, Any] = dict.fromkeys(_PAIR)
        if self.auc.size < 2:
            return {name: [] for name in row}
        test = self.compare(0, 1)
        low, high = test.confidence_interval(self.confidence_level)
        row |= {"model_a": self.names[0], "model_b": self.names[1]}
        row |= {"difference": test.difference, "low": low, "high": high}
        row["zscore"] = test.zscore if np.isfinite(test.zscore) else None
        row["pvalue"] = test.pvalue
        return {name: [value] for name, value in row.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of the models, and for two models their comparison.
        """
        low, high = self.confidence_interval(self.confidence_level, "logit")
        rows = tuple(
            (
                self.names[k],
                f"{self.auc[k]:.4f}",
                f"{self.standard_error[k]:.4f}",
                format_interval(low[k], high[k], digits=4),
            )
            for k in range(self.auc.size)
        )
        text = (
            f"{self.n_positives} positives ({self.labels[0]!r}), {self.n_negatives} "
            f"negatives ({self.labels[1]!r})"
            + (f", in {self.n_clusters} clusters" if self.n_clusters else ""),
            *direction_sentences(self),
            *dropped_sentences(self.n_missing, 0),
        )
        level = f"{100 * self.confidence_level:.6g} %"
        columns = ("model", "AUC", "std. error", f"{level} (logit)")
        found = [Section(title="AUC", text=text, columns=columns, rows=rows)]
        if self.auc.size == 2:
            test = self.compare(0, 1)
            found += replace(test, confidence_level=self.confidence_level).sections()
        return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)
