"""Confusion matrices of many models, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool
from fastcmp.counts.label_counts import count_cells
from fastcmp.counts.pairs import model_index
from fastcmp.inputs.binary_labels import positive_label
from fastcmp.inputs.labels import Labels
from fastcmp.stream.accumulator import accuracy_table, check_names
from fastcmp.stream.class_counts import ClassCounts, Tally, is_dense

_LARGEST_ARRAY = 1 << 28  # entries: 2 GB


class ConfusionCounts(ClassCounts):
    """Confusion matrices: samples by true and predicted class, for each model.

    Give blocks of samples to `update`; combine parts with `merge`, ``+`` or ``sum``.
    `matrix` is the confusion matrix of one model, and
    `classification_table_from_counts` takes the counts of one model and two classes.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Classes to count, in this order; samples whose true label is another one are
        left out, and a prediction of another one is refused. By default all labels
        that occur, sorted.

    Raises
    ------
    ValueError
        If names or classes repeat.
    TypeError
        If names are not strings.

    See Also
    --------
    LabelCounts : Two models by their predictions together, as tests of pairs need.

    Notes
    -----
    A model takes 8 K**2 bytes up to 1,448 classes (and 2 GB for all models); beyond,
    32 bytes for each cell that holds samples. A missing true label drops the sample,
    and a missing prediction is an error.

    Examples
    --------
    >>> from fastcmp.stream import ConfusionCounts
    >>> counts = ConfusionCounts()
    >>> _ = counts.update(["x", "y", "y"], {"a": ["x", "y", "x"]})
    >>> _ = counts.update(["z"], {"a": ["x"]})
    >>> counts.classes
    ('x', 'y', 'z')
    >>> counts.matrix("a").tolist()
    [[1, 0, 0], [1, 1, 0], [1, 0, 0]]
    """

    _AXES: ClassVar[int] = 2

    def __init__(
        self, names: int | Sequence[str] | None = None, *, classes: Sequence[Any] | None = None
    ) -> None:
        self._begin(check_names(names), classes)

    def matrix(self, model: str | int) -> NDArray[np.int64]:
        """Get the confusion matrix of one model.

        Parameters
        ----------
        model : str or int
            Its name or place.

        Returns
        -------
        ndarray of int64, shape (K, K)
            ``[t, p]``: samples of class t for which it predicted p, by the classes in
            `classes`; a copy.

        Raises
        ------
        ValueError
            If there is no such model, or the matrix would take more than 2 GB.

        Examples
        --------
        >>> from fastcmp.stream import ConfusionCounts
        >>> ConfusionCounts().update([0, 1], {"a": [1, 1]}).matrix("a").tolist()
        [[0, 1], [0, 1]]
        """
        i = model_index(model, self.names or (), "model")
        tally, k = self._state.tally, self.n_classes
        if tally.cells is None:
            return np.array(tally.counts[i])
        if k * k > _LARGEST_ARRAY:
            raise ValueError(
                f"a confusion matrix of {k} classes needs {8 * k**2 / 1e9:.3g} GB: "
                "name fewer by classes="
            )
        own = tally.cells[:, 0] == i
        table = np.zeros((k, k), np.int64)
        table[tuple(tally.cells[own, 1:].T)] = tally.counts[own]
        return table

    @property
    def correct(self) -> NDArray[np.int64]:
        """Correctly classified samples of each model, shape (M,)."""
        cells, counts = self._state.tally.nonzero()
        right = cells[:, 1] == cells[:, 2]
        correct = np.zeros(self.n_models, np.int64)
        np.add.at(correct, cells[right, 0], counts[right])
        return correct

    def two_class_counts(self, positive: Any = None) -> tuple[dict[str, int], tuple[Any, Any]]:
        """Count true and false positives and negatives of a single model.

        Parameters
        ----------
        positive : label, optional
            The positive class; of two numbers or booleans the larger one by default.

        Returns
        -------
        tuple of dict and two labels
            "tp", "fp", "fn" and "tn"; the positive label and the other one.

        Raises
        ------
        ValueError
            If there is not one model, or not two classes, or it is not known which of
            them is positive.

        Examples
        --------
        >>> from fastcmp.stream import ConfusionCounts
        >>> counts = ConfusionCounts().update([0, 1, 1], {"a": [1, 1, 0]})
        >>> counts.two_class_counts()
        ({'tp': 1, 'fp': 1, 'fn': 1, 'tn': 0}, (1, 0))
        """
        if self.n_models != 1 or self.n_classes != 2:
            raise ValueError(
                f"counts must be of 1 model and 2 classes, got {self.n_models} and "
                f"{self.n_classes}: count one model, with its two classes="
            )
        labels = list(self.classes)
        yes, no = positive_label(labels, positive)
        (tn, fp), (fn, tp) = self.matrix(0)[
            np.ix_(*[[labels.index(no), labels.index(yes)]] * 2)
        ].tolist()
        return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}, (yes, no)

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        return accuracy_table(self.names, self.correct, self.n_samples)

    @classmethod
    def _made_anew(cls, settings: dict[str, Any]) -> Self:
        classes = None if settings["found"] else settings["classes"]
        return cls(settings["names"], classes=classes)

    @classmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        return len(names)

    def _count(self, block: Labels, threads: int) -> Tally:
        m, k = len(block.preds), len(block.classes)
        shape = (m, k, k)
        if is_dense(shape):
            tables = np.zeros(shape, np.int64)

            def count(i: int) -> None:
                kernels.count_agreement(block.y_true, block.preds[i], tables[i])

            with ThreadPool(threads) as pool:
                pool.run(count, range(m))
            return Tally(shape, tables)
        found = [count_cells((block.y_true, pred), k) for pred in block.preds]
        return Tally.of_tables(shape, found)
