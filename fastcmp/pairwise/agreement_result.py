"""The record of how alike many models predict, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.options import choose
from fastcmp.core.records import Record
from fastcmp.core.render import plain_columns
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences, outside_sentences

_SHOWN = 5  # most alike pairs that are printed, and most different ones
_SHOWN_EXCHANGES = 10
#: Fields that `matrix` lays out, with what a model has in common with itself; None
#: stands for its errors.
_DIAGONALS = {
    "disagreement": 0,
    "kappa": 1,
    "q_statistic": 1,
    "correlation": 1,
    "double_fault": None,
    "only_a": 0,
    "only_b": 0,
    "bowker_statistic": 0,
    "bowker_df": 0,
    "bowker_pvalue": 1,
    "bowker_pvalue_adjusted": 1,
    "stuart_maxwell_statistic": 0,
    "stuart_maxwell_df": 0,
    "stuart_maxwell_pvalue": 1,
    "stuart_maxwell_pvalue_adjusted": 1,
}

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgreementResult(Record):
    """How alike many models predict on the same samples, pair by pair.

    Arrays of length P hold one entry a pair (a, b). What is undefined is NaN.
    """

    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Proportion of samples for which a and b predict different classes, shape (P,).
    disagreement: Floats
    #: Cohen's kappa of the predicted classes, shape (P,).
    kappa: Floats
    #: Samples on which only the first, only the second is right, shape (P,).
    only_a: Ints
    only_b: Ints
    #: Yule's Q, and the correlation, of right and wrong; and the proportion of
    #: samples on which both are wrong; shape (P,).
    q_statistic: Floats
    correlation: Floats
    double_fault: Floats
    #: Bowker's test: is (i by a, j by b) as frequent as (j by a, i by b)? Shape (P,).
    bowker_statistic: Floats
    bowker_df: Ints
    bowker_pvalue: Floats
    bowker_pvalue_adjusted: Floats
    #: Stuart and Maxwell's test: do both predict each class equally often? Shape (P,).
    stuart_maxwell_statistic: Floats
    stuart_maxwell_df: Ints
    stuart_maxwell_pvalue: Floats
    stuart_maxwell_pvalue_adjusted: Floats
    #: The least symmetric exchange of each pair, shape (P, 2): more often than the
    #: reverse a predicts the first class where b predicts the second. -1 for none.
    exchange: Ints
    #: Samples of that exchange, and of its reverse, shape (P, 2).
    exchange_counts: Ints
    #: Rightly classified samples of each model, shape (M,).
    correct: Ints
    names: tuple[str, ...]
    #: The label of each class.
    classes: tuple[Any, ...]
    n_samples: int
    adjust: str
    alpha: float
    #: The error rate that decisions at `alpha` keep, in words.
    rule: str
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()

    @property
    def accuracy(self) -> Floats:
        """Proportion of samples that each model classified rightly, shape (M,)."""
        return np.asarray(self.correct / self.n_samples)

    @property
    def distribution(self) -> str:
        """Reference distribution of both tests: "chi2"."""
        return "chi2"

    @cached_property
    def asymmetric(self) -> NDArray[np.bool_]:
        """Which pairs exchange classes asymmetrically by Bowker's test, shape (P,)."""
        return self.bowker_pvalue_adjusted <= self.alpha

    @cached_property
    def unlike_margins(self) -> NDArray[np.bool_]:
        """Which pairs do not predict all classes equally often, shape (P,)."""
        return self.stuart_maxwell_pvalue_adjusted <= self.alpha

    def matrix(self, field: str) -> NDArray[Any]:
        """Write one field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            A field of one number a pair, such as "kappa" or "bowker_pvalue_adjusted".

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not compared are NaN (-1 for counts). The diagonal compares a model with
            itself: 0 for disagreement, counts and statistics, 1 for p-values, kappa,
            Q and correlation, its error rate for double faults.

        Raises
        ------
        ValueError
            If there is no such field.

        Examples
        --------
        >>> from fastcmp import compare_predictions
        >>> result = compare_predictions([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.matrix("kappa").tolist()
        [[1.0, 0.5], [0.5, 1.0]]
        """
        field = choose(field, "field", tuple(_DIAGONALS))
        values = getattr(self, field)
        mirrored = values
        if field in ("only_a", "only_b"):
            mirrored = self.only_b if field == "only_a" else self.only_a
        empty = -1 if values.dtype.kind == "i" else np.nan
        matrix = np.full((len(self.names), len(self.names)), empty, values.dtype)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = values, mirrored
        diagonal = _DIAGONALS[field]
        np.fill_diagonal(matrix, 1 - self.accuracy if diagonal is None else diagonal)
        return matrix

    def columns(self) -> dict[str, Any]:
        """Give the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Names of both models, all fields of one number a pair, and the least
            symmetric exchange: the classes that a and b predict (None for none), and
            the numbers of samples of this exchange and of its reverse.
        """
        names = np.array(self.names, dtype=object)
        class_a, class_b = (
            [None if code < 0 else self.classes[code] for code in codes]
            for codes in self.exchange.T.tolist()
        )
        return {
            "model_a": names[self.pairs[:, 0]].tolist(),
            "model_b": names[self.pairs[:, 1]].tolist(),
            **{field: getattr(self, field) for field in _DIAGONALS},
            "class_a": class_a,
            "class_b": class_b,
            "exchanged": self.exchange_counts[:, 0],
            "reversed": self.exchange_counts[:, 1],
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        return {
            "distribution": self.distribution,
            "adjust": self.adjust,
            "alpha": self.alpha,
            "rule": self.rule,
            "n_samples": self.n_samples,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
            "n_outside": list(self.n_outside),
            "classes": list(self.classes),
            "models": plain_columns({"model": self.names, "accuracy": self.accuracy}),
            "pairs": plain_columns(self.columns()),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The most alike and the most different pairs, the asymmetric ones, and how
            to read all this.
        """
        order = np.argsort(self.disagreement, kind="stable")
        n_pairs = len(order)
        # With few pairs each is listed once.
        n_alike = min(_SHOWN, -(-n_pairs // 2))
        n_different = min(_SHOWN, n_pairs - n_alike)
        sections = [self._summary(), self._likeness("Most alike", order[:n_alike])]
        if n_different:
            most = order[::-1][:n_different]
            sections.append(self._likeness("Most different", most))
        return [*sections, self._exchanges(), self._explanations()]

    def _summary(self) -> Section:
        n_all = len(self.names) * (len(self.names) - 1) // 2
        tested = f"{len(self.pairs)} of {n_all}" if len(self.pairs) < n_all else n_all
        text = (
            f"{len(self.names)} models on {self.n_samples} samples of "
            f"{len(self.classes)} classes, {tested} pairs; on average a pair "
            f"disagrees on {100 * self.disagreement.mean():.2f}% of the samples.",
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(self.n_outside, self.names, self.n_samples),
        )
        return Section(title="How alike do the models predict?", text=text)

    def _pair(self, p: int) -> tuple[str, str]:
        i, j = self.pairs[p]
        return self.names[i], self.names[j]

    def _likeness(self, title: str, shown: NDArray[Any]) -> Section:
        rows = tuple(
            (
                *self._pair(p),
                f"{100 * self.disagreement[p]:.2f}%",
                _number(self.kappa[p]),
                _number(self.q_statistic[p]),
                _number(self.correlation[p]),
                f"{100 * self.double_fault[p]:.2f}%",
            )
            for p in shown
        )
        columns = ("a", "b", "disagree", "kappa", "Q", "correlation", "both wrong")
        return Section(title=title, columns=columns, rows=rows)

    def _exchanges(self) -> Section:
        title = "Asymmetric exchanges of classes"
        found = np.flatnonzero(self.asymmetric)
        if not found.size:
            text = (f"No pair at {self.alpha:g} ({self.adjust}).",)
            return Section(title=title, text=text)
        found = found[np.argsort(self.bowker_pvalue_adjusted[found], kind="stable")]
        rows = []
        for p in found[:_SHOWN_EXCHANGES]:
            class_a, class_b = (str(self.classes[code]) for code in self.exchange[p])
            times, reverse = self.exchange_counts[p]
            pvalues = (
                format_pvalue(self.bowker_pvalue_adjusted[p]),
                format_pvalue(self.stuart_maxwell_pvalue_adjusted[p]),
            )
            rows.append((*self._pair(p), class_a, class_b, str(times), str(reverse), *pvalues))
        left = found.size - len(rows)
        return Section(
            title=title,
            columns=(
                *("a", "b", "class by a", "class by b", "times", "reversed"),
                *("Bowker p", "Stuart-Maxwell p"),
            ),
            rows=tuple(rows),
            notes=(f"... and {left} more pairs.",) if left else (),
        )

    def _explanations(self) -> Section:
        text = (
            "Kappa compares the predicted classes: 0 for chance, 1 for the same. Q and "
            "the correlation compare right and wrong, and are lower for models that "
            "err on different samples.",
            "Bowker's test, H0: two models exchange classes symmetrically. Stuart and "
            "Maxwell's test, H0: they predict each class equally often. The least "
            "symmetric exchange of each pair is shown.",
            f"P-values are adjusted for {len(self.pairs)} pairs ({self.adjust}), "
            f"separately for each test: {self.rule}.",
        )
        return Section(title="How to read this", text=text)


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"
