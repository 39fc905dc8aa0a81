"""The record of standard errors split into items and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_whole
from fastcmp.core.escaping import visible
from fastcmp.core.records import Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VarianceComponents(Record):
    """Standard errors of M models and P pairs, split into items and answers.

    Variances between items are unbiased, and below 0 at times: then the answers alone
    explain more than all there is to explain.
    """

    names: tuple[str, ...]
    n_items: int
    #: Items left out because a model has no answer to them.
    n_dropped: int
    #: How the answers to an item became its value, and the k of pass@k and pass^k.
    repeats: str
    k: int | None
    #: Least and largest number of answers to an item, shape (M, 2).
    n_answers: NDArray[np.int64]
    #: Mean of each model over the items, and its standard error, shape (M,).
    mean: Floats
    mean_se: Floats
    #: Variance of the items' true values, of each model, shape (M,).
    between_items: Floats
    #: Variance of one answer to an item, averaged over items, shape (M,); None for
    #: pass@k and pass^k.
    within_item: Floats | None
    #: Variance of an item's value from one set of answers to the next, averaged over
    #: items, shape (M,).
    sampling: Floats
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Mean of a minus mean of b, and its standard error, shape (P,).
    difference: Floats
    se: Floats
    #: Variance of the true difference between items, shape (P,).
    omega2: Floats

    @property
    def se_items(self) -> Floats:
        """Standard error of a difference with unlimited answers per item, (P,)."""
        return _root(np.maximum(self.omega2, 0.0) / self.n_items)

    @property
    def se_same_items(self) -> Floats:
        """Standard error if the same items were asked again: no new items, (P,)."""
        return _root(self._sum_of_pair(self.sampling) / self.n_items)

    @property
    def mean_se_items(self) -> Floats:
        """Standard error of a mean with unlimited answers per item, (M,)."""
        return _root(np.maximum(self.between_items, 0.0) / self.n_items)

    @property
    def mean_se_same_items(self) -> Floats:
        """Standard error of a mean if the same items were asked again, (M,)."""
        return _root(self.sampling / self.n_items)

    def _sum_of_pair(self, of_model: Floats) -> Floats:
        first, second = self.pairs.T
        total: Floats = of_model[first] + of_model[second]
        return total

    def se_planned(
        self,
        answers_a: int,
        answers_b: int | None = None,
        *,
        n_items: int | None = None,
    ) -> Floats:
        """Predict the standard error of each difference in a planned experiment.

        Parameters
        ----------
        answers_a : int
            Answers of the first model to each item.
        answers_b : int, optional
            Of the second model; as many where not given.
        n_items : int, optional
            Items of the same kind; as many as there are where not given.

        Returns
        -------
        ndarray of float64, shape (P,)
            The root of (omega2 + within_a / answers_a + within_b / answers_b)
            / n_items, where an omega2 below 0 counts as 0.

        Raises
        ------
        TypeError
            If a number is not whole.
        ValueError
            If it is below 1, or the record is of pass@k or pass^k.
        """
        within = self._within()
        first, second = self.pairs.T
        many_a = as_whole(answers_a, "answers_a", 1)
        many_b = many_a if answers_b is None else as_whole(answers_b, "answers_b", 1)
        noise = within[first] / many_a + within[second] / many_b
        return _root((np.maximum(self.omega2, 0.0) + noise) / self._planned(n_items))

    def mean_se_planned(self, answers: int, *, n_items: int | None = None) -> Floats:
        """Predict the standard error of each model's mean in a planned experiment.

        Parameters
        ----------
        answers : int
            Answers to each item.
        n_items : int, optional
            Items of the same kind; as many as there are where not given.

        Returns
        -------
        ndarray of float64, shape (M,)
            Standard errors.

        Raises
        ------
        TypeError
            If a number is not whole.
        ValueError
            If it is below 1, or the record is of pass@k or pass^k.
        """
        noise = self._within() / as_whole(answers, "answers", 1)
        variance = np.maximum(self.between_items, 0.0) + noise
        return _root(variance / self._planned(n_items))

    def _within(self) -> Floats:
        if self.within_item is None:
            raise ValueError(
                f"other numbers of answers can be planned for repeats='mean', not for "
                f"{self.repeats!r}"
            )
        return self.within_item

    def _planned(self, n_items: Any) -> int:
        return self.n_items if n_items is None else as_whole(n_items, "n_items", 1)

    def columns(self) -> dict[str, list[Any]]:
        """Give a row a pair, or a model where there is one only.

        Returns
        -------
        dict of str to list
            Models, the difference (or mean), its standard error, the variance between
            items, and standard errors of the same items asked again and with unlimited
            answers per item.
        """
        if not len(self.pairs):
            return self._model_columns()
        first, second = self.pairs.T.tolist()
        return {
            "model_a": [self.names[i] for i in first],
            "model_b": [self.names[i] for i in second],
            "difference": self.difference.tolist(),
            "se": self.se.tolist(),
            "omega2": self.omega2.tolist(),
            "se_same_items": self.se_same_items.tolist(),
            "se_items": self.se_items.tolist(),
        }

    def _model_columns(self) -> dict[str, list[Any]]:
        return {
            "model": list(self.names),
            "mean": self.mean.tolist(),
            "se": self.mean_se.tolist(),
            "between_items": self.between_items.tolist(),
            "sampling": self.sampling.tolist(),
            "se_same_items": self.mean_se_same_items.tolist(),
            "se_items": self.mean_se_items.tolist(),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A section with a row a model, and one with a row a pair.
        """
        least, most = int(self.n_answers.min()), int(self.n_answers.max())
        number = f"{most}" if least == most else f"{least} to {most}"
        of = "mean" if self.k is None else self.repeats.replace("k", str(self.k))
        title = f"{self.n_items} items, {number} answers to each ({of} of the answers)"
        notes: tuple[str, ...] = ()
        if self.n_dropped:
            notes = (f"{self.n_dropped} items that a model did not answer were left out.",)
        one = not len(self.pairs)
        text = self._advice(self.mean_se, self.mean_se_items) if one else ()
        headings = (
            *("variance between items", "variance of answers"),
            *("SE, same items", "SE, unlimited answers"),
        )
        models = Section(
            title=title,
            text=text,
            columns=("model", "mean", "SE", *headings),
            rows=_rows(self._model_columns(), 1),
            notes=notes,
        )
        if one:
            return [models]
        columns = self.columns()
        return [
            models,
            Section(
                title="Differences (a minus b)",
                text=self._advice(self.se, self.se_items),
                columns=("a", "b", "difference", "SE", headings[0], *headings[2:]),
                rows=_rows(columns, 2),
                notes=self._doubts(),
            ),
        ]

    def _advice(self, se: Floats, limit: Floats) -> tuple[str, ...]:
        """Say what more answers, and more items, would do."""
        if len(se) > 1:
            return (
                "'SE, unlimited answers' is the standard error with unlimited answers per "
                "item; only more items reduce it further.",
            )
        now, least = se[0], limit[0]
        below = "; only more items reduce it further" if least > 0.0 else ""
        return (
            "With unlimited answers per item the standard error would fall from "
            f"{now:.4g} to {least:.4g}{below}.",
            "With twice as many items, answered as often as now, it would fall to "
            f"{now / np.sqrt(2.0):.4g}.",
        )

    def _doubts(self) -> tuple[str, ...]:
        """Say where the variance between items is estimated below 0."""
        below = int(np.count_nonzero(self.omega2 < 0.0))
        if not below:
            return ()
        return (
            f"The variance between items is estimated below 0 for {below} of "
            f"{len(self.omega2)} pairs, and counts as 0 in plans: the answers alone "
            "explain what differs.",
        )


def _root(variance: Floats) -> Floats:
    root: Floats = np.sqrt(variance)
    return root


def _rows(columns: dict[str, list[Any]], n_names: int) -> tuple[tuple[str, ...], ...]:
    """Write columns as rows of a table, the first of them names."""
    return tuple(
        (*map(visible, row[:n_names]), *(f"{x:.4g}" for x in row[n_names:]))
        for row in zip(*columns.values(), strict=True)
    )
