"""The record of many models compared in pairs: decisions, ranking and ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.checks import check_choice
from fastcmp.ranking import Leaderboard, TieGroups, letters, rank_intervals, tie_groups
from fastcmp.report import Section, format_interval
from fastcmp.results import METHOD_NAMES, Printed, dropped_sentences

_SHOWN = 20  # models of a leaderboard that are printed
_MATRIX_FIELDS = (
    "only_a",
    "only_b",
    "difference",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "significant",
)
_TEST_NAMES = {"mcnemar": "McNemar's test"}
_FRAMES = ("pandas", "polars", "pyarrow")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairwiseResult(Printed):
    """Many models on the same samples, compared in pairs.

    Arrays of length P hold one entry a pair (a, b); those of length M one a model.
    The rankings are worked out when they are first asked for, and kept.
    """

    #: McNemar's statistic of each pair, shape (P,).
    statistic: Floats
    pvalue: Floats
    #: P-values after `adjust`, to be held against `alpha`, shape (P,).
    pvalue_adjusted: Floats
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Samples that only the first, only the second, classified rightly, shape (P,).
    only_a: Ints
    only_b: Ints
    #: Accuracy of the first minus that of the second, shape (P,).
    difference: Floats
    #: Newcombe's interval for each difference by itself, shape (P, 2).
    interval: Floats
    names: tuple[str, ...]
    #: Rightly classified samples of each model, shape (M,).
    correct: Ints
    #: Wilson's interval for each accuracy by itself, shape (M, 2).
    accuracy_interval: Floats
    n_samples: int
    test: str
    method: str
    adjust: str
    alpha: float
    #: What a decision at `alpha` promises, in words.
    rule: str
    n_missing: int = 0
    n_excluded: int = 0

    @property
    def accuracy(self) -> Floats:
        """Share of samples that each model classified rightly, shape (M,)."""
        return self.correct / self.n_samples

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """Which pairs are told apart at `alpha`, shape (P,)."""
        return self.pvalue_adjusted <= self.alpha

    @cached_property
    def _decided(self) -> tuple[Ints, Ints]:
        """The winner and the loser of each pair that is told apart."""
        first = self.difference[self.significant] > 0
        pairs = self.pairs[self.significant]
        better = np.where(first, pairs[:, 0], pairs[:, 1])
        return better, np.where(first, pairs[:, 1], pairs[:, 0])

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The ranking from best to worst, with intervals for accuracy and rank."""
        order = np.argsort(-self.correct, kind="stable")
        ranks = rank_intervals(len(self.names), *self._decided)
        ascending = np.sort(-self.correct)
        return Leaderboard(
            names=tuple(self.names[i] for i in order),
            models=order,
            rank=1 + np.searchsorted(ascending, -self.correct[order]),
            accuracy=self.accuracy[order],
            interval=self.accuracy_interval[order],
            rank_interval=ranks[order],
        )

    @cached_property
    def _tied(self) -> NDArray[np.bool_]:
        """Which pairs were tested and not told apart, shape (M, M)."""
        tied = np.zeros((len(self.names), len(self.names)), bool)
        i, j = self.pairs[~self.significant].T
        tied[i, j] = tied[j, i] = True
        return tied

    @cached_property
    def _groups(self) -> TieGroups:
        return tie_groups(self.leaderboard.models, self._tied)

    @property
    def tie_groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of models in which no pair is told apart, best first.

        Where there are too many to list, the maximal runs of neighbours in the
        ranking; `tie_groups_complete` tells.
        """
        groups = self._groups.groups
        return tuple(tuple(self.names[i] for i in group) for group in groups)

    @property
    def tie_groups_complete(self) -> bool:
        """Whether `tie_groups` lists all maximal sets."""
        return self._groups.complete

    @property
    def best(self) -> tuple[str, ...]:
        """The most accurate model, and all that were tested and not told from it."""
        order = self.leaderboard.models
        top = order[0]
        return tuple(self.names[i] for i in order if i == top or self._tied[top, i])

    def matrix(self, field: str) -> NDArray[Any]:
        """Lay out one field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            "difference", "pvalue", "pvalue_adjusted", "significant", "statistic",
            "only_a" or "only_b".

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not tested are NaN (-1 for counts, False for decisions), and so is the
            diagonal, but for differences and counts (0) and p-values (1).

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
        check_choice(field, "field", _MATRIX_FIELDS)
        values = getattr(self, field)
        mirrored = values
        if field == "difference":
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
        """Lay out the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models and all fields.
        """
        names = np.array(self.names, dtype=object)
        return {
            "model_a": names[self.pairs[:, 0]].tolist(),
            "model_b": names[self.pairs[:, 1]].tolist(),
            "only_a": self.only_a,
            "only_b": self.only_b,
            "difference": self.difference,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "significant": self.significant,
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """Make a frame of the pairs.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A row a pair.

        Raises
        ------
        ValueError
            If the library is unknown.
        ImportError
            If it is not installed.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.to_frame("pyarrow").num_rows
        1
        """
        check_choice(library, "library", _FRAMES)
        try:
            module = __import__(library)
        except ImportError:
            message = f"to_frame({library!r}) needs {library}: pip install {library}"
            raise ImportError(message) from None
        make = module.table if library == "pyarrow" else module.DataFrame
        return make(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python objects, ready for JSON.

        Returns
        -------
        dict
            Options, leaderboard, tie groups and pairs; NaN is None.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.to_dict()["pairs"]["pvalue"]
        [0.5]
        """
        board = self.leaderboard
        return {
            "test": self.test,
            "method": self.method,
            "adjust": self.adjust,
            "alpha": self.alpha,
            "rule": self.rule,
            "n_samples": self.n_samples,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
            "leaderboard": {
                "model": list(board.names),
                "rank": board.rank.tolist(),
                "accuracy": board.accuracy.tolist(),
                "low": board.interval[:, 0].tolist(),
                "high": board.interval[:, 1].tolist(),
                "rank_low": board.rank_interval[:, 0].tolist(),
                "rank_high": board.rank_interval[:, 1].tolist(),
            },
            "tie_groups": [list(group) for group in self.tie_groups],
            "tie_groups_complete": self.tie_groups_complete,
            "best": list(self.best),
            "pairs": {name: _plain(x) for name, x in self.columns().items()},
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The question, the leaderboard, who beats whom, and the rule.
        """
        return [
            self._summary(),
            self._leaderboard_section(),
            self._decisions(),
            Section(title="How to read this", text=self._explanations()),
        ]

    def _summary(self) -> Section:
        best = self.best
        told = int(self.significant.sum())
        lead = f"Best: {best[0]}."
        if len(best) == 2:
            lead = f"Best: {best[0]}, not told apart from {best[1]}."
        elif len(best) > 2:
            others = _listed(best[1:])
            lead = f"Best: {best[0]}, not told apart from {len(best) - 1}: {others}."
        text = (
            f"{len(self.names)} models on {self.n_samples} samples, "
            f"{len(self.pairs)} pairs, {told} told apart.",
            lead,
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return Section(title="Which model is better?", text=text)

    def _leaderboard_section(self) -> Section:
        board = self.leaderboard
        marks = letters(self._groups.groups, len(self.names))
        shown = min(len(self.names), _SHOWN)
        level = f"{100 * (1 - self.alpha):g} %"
        rows = tuple(
            (
                str(board.rank[i]),
                board.names[i],
                f"{100 * board.accuracy[i]:.2f} %",
                format_interval(*(100 * board.interval[i]), digits=2),
                _span(*board.rank_interval[i]),
                marks[board.models[i]],
            )
            for i in range(shown)
        )
        notes = []
        if shown < len(self.names):
            notes.append(f"... and {len(self.names) - shown} more models.")
        if not any(marks):
            notes.append(f"{len(self._groups.groups)} groups of ties: see tie_groups.")
        columns = ("rank", "model", "accuracy", level, "ranks", "ties")
        return Section(
            title="Leaderboard", columns=columns, rows=rows, notes=tuple(notes)
        )

    def _decisions(self) -> Section:
        better, worse = self._decided
        order = self.leaderboard.models
        rows = []
        for i in order[:_SHOWN]:
            beaten = np.isin(order, worse[better == i])
            rows.append(
                (
                    self.names[i],
                    _listed([self.names[j] for j in order[beaten]]),
                    _listed([self.names[j] for j in order[self._tied[i, order]]]),
                )
            )
        return Section(
            title="Who beats whom",
            columns=("model", "beats", "not told apart from"),
            rows=tuple(rows),
        )

    def _explanations(self) -> tuple[str, ...]:
        ties = "Models share a letter of ties where no pair among them is told apart."
        if not self._groups.complete:
            ties = (
                "All groups of ties are too many to list: the letters mark runs of the "
                "ranking without a decided pair, so some ties share no letter."
            )
        level = f"{100 * (1 - self.alpha):g} %"
        return (
            f"Told apart at {self.alpha:g}: {self.rule}.",
            f"Each pair: {_TEST_NAMES[self.test]} ({METHOD_NAMES[self.method]}); "
            f"p-values adjusted for {len(self.pairs)} pairs ({self.adjust}).",
            f"{ties} Ranks are those that the decisions leave open.",
            f"{level} intervals of accuracy are for each model alone (Wilson); overlap "
            "of two says nothing about their pair.",
        )


def _plain(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    if values.dtype.kind == "f" and np.isnan(values).any():
        return [None if np.isnan(x) else x for x in values.tolist()]
    plain: list[Any] = values.tolist()
    return plain


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    if len(names) <= 8:
        return ", ".join(names)
    return f"{', '.join(names[:6])} and {len(names) - 6} more"
