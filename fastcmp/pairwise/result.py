"""The record of many models compared in pairs, as matrices, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.core.plain import readable
from fastcmp.core.record_parts import Pilot
from fastcmp.core.render import plain_columns
from fastcmp.pairwise.decisions import PairDecisions
from fastcmp.pairwise.margins import decision_matrix, margin_columns
from fastcmp.pairwise.summary import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.sections import Section

_MATRIX_FIELDS = (
    "only_a",
    "only_b",
    "difference",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "significant",
    "decision",
)
#: Distributions of statistics that have the sign of the difference.
_SIGNED = ("normal", "t", "studentized-range")
_PICTURES = {
    "leaderboard": "leaderboard",
    "pvalues": "pvalue_map",
    "critical-difference": "critical_difference",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairwiseResult(Pilot, PairDecisions):
    """Many models on the same samples, compared in pairs.

    Arrays of length P have one entry for each pair (a, b) that was kept; those of
    length M one for each model. The rankings follow from all pairs that were tested,
    kept or not; they are worked out when they are first asked for. A pair that was not
    tested, because of `control` or chosen pairs, or whose test has no answer (its
    p-value is NaN), is neither a tie nor a win.
    """

    def matrix(self, field: str) -> NDArray[Any]:
        """Write one field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            "difference", "pvalue", "pvalue_adjusted", "significant", "statistic",
            "only_a" or "only_b"; with a margin also "decision", in words.

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not tested or not kept are NaN (-1 for counts, False for `significant`; see
            `decisions`); the diagonal is 0, of p-values 1.

        Raises
        ------
        ValueError
            If there is no such field.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.matrix("difference").tolist()
        [[0.0, 0.25], [-0.25, 0.0]]
        """
        field = choose(field, "field", _MATRIX_FIELDS)
        if field == "decision":
            return decision_matrix(self)
        values = getattr(self, field)
        if values is None:
            raise ValueError(
                f"field {field!r} is not known: models were compared by "
                f"{self.measure}, without counting"
            )
        mirrored = values
        signed = field == "statistic" and self.distribution in _SIGNED
        if field == "difference" or signed:
            mirrored = -values
        elif field in ("only_a", "only_b"):
            mirrored = self.only_b if field == "only_a" else self.only_a
        empty = {"f": np.nan, "i": -1, "b": False}[values.dtype.kind]
        matrix = np.full((len(self.names), len(self.names)), empty, values.dtype)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = values, mirrored
        np.fill_diagonal(matrix, 1 if field.startswith("pvalue") else 0)
        return matrix

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        names = np.array(self.names, dtype=object)
        counts = {"only_a": self.only_a, "only_b": self.only_b}
        return {
            "model_a": names[self.pairs[:, 0]].tolist(),
            "model_b": names[self.pairs[:, 1]].tolist(),
            **{name: x for name, x in counts.items() if x is not None},
            "difference": self.difference,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "significant": self.significant,
            **margin_columns(self),
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        control = None if self.control is None else self.against_control()
        return {
            "test": self.test,
            "measure": self.measure,
            "method": self.method,
            "distribution": self.distribution,
            "df": readable(self.df),
            "adjust": self.adjust,
            "alpha": self.alpha,
            "rule": self.rule,
            "adjust_draws": self.adjust_draws,
            "adjust_resamples": self.adjust_resamples,
            "adjust_seed": self.adjust_seed,
            "critical_value": self.critical_value,
            "n_samples": self.n_samples,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
            "n_outside": list(self.n_outside),
            "n_pairs": self.n_pairs,
            "n_significant": self.n_significant,
            "all_pairs_tested": self.all_pairs_tested,
            "control": self.control,
            "n_clusters": self.n_clusters,
            "n_strata": self.n_strata,
            "cautions": list(self.cautions),
            "margins": None if self.margins is None else self.margins.sentence,
            "kept": self.kept if isinstance(self.kept, (int, str)) else str(self.kept),
            "leaderboard": plain_columns(self.leaderboard.columns()),
            "tie_groups": [list(group) for group in self.tie_groups],
            "tie_groups_complete": self.tie_groups_complete,
            "best": list(self.best),
            "against_control": None if control is None else plain_columns(control),
            "pairs": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, the decisions, and how to read them; with a
            control a table of the others against it.
        """
        return describe(self)

    def plot(self, kind: str = "leaderboard", **options: Any) -> Any:
        """Draw the comparison; needs matplotlib.

        Parameters
        ----------
        kind : {"leaderboard", "pvalues", "critical-difference"}
            `fastcmp.plot.leaderboard`, `fastcmp.plot.pvalue_map` or
            `fastcmp.plot.critical_difference`.
        **options
            Those of the function, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the picture.

        Raises
        ------
        ValueError
            If there is no such picture.
        ImportError
            If matplotlib is not installed.
        """
        kind = choose(kind, "kind", tuple(_PICTURES))
        draw = getattr(import_module("fastcmp.plot"), _PICTURES[kind])
        return draw(self, **options)
