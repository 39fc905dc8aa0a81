"""Counts by true and predicted classes of one pair of models, or of all, in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.counts.label_counts import LabelTable, add_cells, count_dense
from fastcmp.counts.pair_tables import all_label_cells, all_label_counts
from fastcmp.counts.pairs import model_index, places_of
from fastcmp.inputs.labels import Labels
from fastcmp.stream.accumulator import check_names, saved_names
from fastcmp.stream.class_counts import ClassCounts, Tally, is_dense


class LabelCounts(ClassCounts):
    """Samples by true class and by the classes that two models predicted.

    For each pair of models, or for one, this holds the table ``[t, a, b]``: samples of
    class t for which the first model predicted a and the second b. Tests of costs and
    of symmetry (`cost_test`, `symmetry`) take it, and `compare_all` for all
    pairs. Give blocks of samples to `update`; combine parts with `merge`, ``+`` or
    ``sum``.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Classes to count, in this order; samples whose true label is another one are
        left out, and a prediction of another one is refused. By default all labels
        that occur, sorted.
    pairs : "all" or pair of models
        Count all pairs of models, or only one, given by two names, or by two places in
        `names`. Other columns of a block are not read then.

    Raises
    ------
    ValueError
        If names or classes repeat, or `pairs` is neither.
    TypeError
        If names are not strings.

    See Also
    --------
    fastcmp.count_labels : The same for two models whose samples fit in memory.
    PairCounts : Enough for accuracies and McNemar's test, and much smaller.
    ConfusionCounts : Each model by itself.

    Notes
    -----
    A table of K classes takes 8 K**3 bytes. With more than 128 classes, or 2 GB for all
    tables, only cells that hold samples are kept, with 40 bytes each. A missing true
    label drops the sample, and a missing prediction is an error.

    Examples
    --------
    >>> from fastcmp import cost_test
    >>> from fastcmp.stream import LabelCounts
    >>> counts = LabelCounts(pairs=("a", "b"))
    >>> _ = counts.update([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 1]})
    >>> _ = counts.update([0, 1, 0], {"b": [0, 0, 1], "a": [1, 1, 0]})
    >>> counts.record().counts.tolist()
    [[[1, 1], [1, 0]], [[0, 0], [2, 1]]]
    >>> result = cost_test(counts=counts, cost=[[0, 1], [5, 0]])
    >>> round(result.loss_a, 4), round(result.loss_b, 4)
    (0.1667, 1.8333)
    """

    _AXES: ClassVar[int] = 3
    _LEAST: ClassVar[int] = 2

    def __init__(
        self,
        names: int | Sequence[str] | None = None,
        *,
        classes: Sequence[Any] | None = None,
        pairs: str | tuple[int | str, int | str] = "all",
    ) -> None:
        rows = check_names(names)
        everything = isinstance(pairs, str) and pairs.lower() == "all"
        self._pair = None if everything else _read_pair(pairs, rows)
        self._options = {"pair": self._pair, "rows": rows if self._pair else None}
        self._begin(self._pair or rows, classes)
        if self.names is not None and len(self.names) < 2:
            raise ValueError(f"preds must hold at least 2 models, got {len(self.names)}")

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are counted, P."""
        return self._state.tally.shape[0]

    @property
    def correct(self) -> NDArray[np.int64]:
        """Correctly classified samples of each model, shape (M,)."""
        # The first model is in the first pair, each other one in a pair with the first.
        cells, counts = self._state.tally.nonzero()
        correct = np.zeros(self.n_models, np.int64)
        first = (cells[:, 0] == 0) & (cells[:, 1] == cells[:, 2])
        correct[:1] = counts[first].sum()
        other = (cells[:, 0] < self.n_models - 1) & (cells[:, 1] == cells[:, 3])
        np.add.at(correct, cells[other, 0] + 1, counts[other])
        return correct

    @property
    def counts(self) -> NDArray[np.int64]:
        """All counts ``[pair, t, a, b]``, shape (P, K, K, K); a read-only view."""
        tally = self._state.tally
        if tally.cells is not None:
            raise ValueError(
                f"counts of {self.n_pairs} pairs and {self.n_classes} classes are "
                "sparse: take a pair by record()"
            )
        view = tally.counts.view()
        view.flags.writeable = False
        return view

    def record(self, a: int | str = 0, b: int | str = 1) -> LabelTable:
        """Get the counts of one pair, as `count_labels` gives them.

        Parameters
        ----------
        a, b : str or int
            Names of two models, or their places.

        Returns
        -------
        fastcmp.records.LabelTable
            Counts ``[t, a, b]`` by the classes of this accumulator.

        Raises
        ------
        ValueError
            If there are no such models, or they are the same.

        Examples
        --------
        >>> from fastcmp.stream import LabelCounts
        >>> counts = LabelCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]})
        >>> counts.record("b", "a").errors
        (0.5, 0.0)
        """
        names = self.names or ()
        i, j = (model_index(model, names, "a or b") for model in (a, b))
        if i == j:
            raise ValueError(f"a and b must be two models, got {names[i]!r} twice")
        (pair,) = places_of(np.array([(min(i, j), max(i, j))]), len(names)).tolist()
        cells, counts = self.cells(pair)
        if i > j:
            cells = cells[:, [0, 2, 1]]
        return self._recorded(cells, counts)

    def label_table(self) -> LabelTable:
        """Get the counts of the only pair, as `count_labels` gives them.

        Returns
        -------
        fastcmp.records.LabelTable
            As from `record`.

        Raises
        ------
        ValueError
            If there are more pairs, or none.

        Examples
        --------
        >>> from fastcmp.stream import LabelCounts
        >>> counts = LabelCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]})
        >>> counts.label_table().n_samples
        2
        """
        if self.n_pairs != 1:
            raise ValueError(
                f"counts must be of one pair of models, got {self.n_pairs} pairs: take "
                "one by record(a, b)"
            )
        return self.record()

    @property
    def is_dense(self) -> bool:
        """Whether all cells are kept, so that there are `counts`."""
        return self._state.tally.cells is None

    def cells(self, pair: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """List the cells of a pair that hold samples.

        Parameters
        ----------
        pair : int
            Its place among ``np.triu_indices(M, 1)``.

        Returns
        -------
        tuple of ndarray of int64, shapes (C, 3) and (C,)
            True class, class predicted by the first and by the second model; and the
            samples in each cell.
        """
        tally = self._state.tally
        if tally.cells is None:
            cells = np.argwhere(tally.counts[pair])
            return cells, tally.counts[pair][tuple(cells.T)]
        start, end = np.searchsorted(tally.cells[:, 0], [pair, pair + 1])
        return tally.cells[start:end, 1:], tally.counts[start:end]

    def _recorded(self, cells: NDArray[np.int64], counts: NDArray[np.int64]) -> LabelTable:
        k = self.n_classes
        common: dict[str, Any] = {
            "classes": self.classes,
            "n_missing": self.n_missing,
            "n_excluded": self.n_excluded,
        }
        if is_dense((1, k, k, k)):
            dense = np.zeros((k, k, k), np.int64)
            dense[tuple(cells.T)] = counts
            return LabelTable(counts=dense, **common)
        cells, counts = add_cells([cells], [counts])
        return LabelTable(cells=cells, counts=counts, **common)

    @classmethod
    def _n_tables(cls, names: tuple[str, ...]) -> int:
        return len(names) * (len(names) - 1) // 2

    def _count(self, block: Labels, threads: int) -> Tally:
        m, k = len(block.preds), len(block.classes)
        shape = (m * (m - 1) // 2, k, k, k)
        if not is_dense(shape):
            return Tally.of_tables(shape, all_label_cells(block))
        if m == 2 and block.n_samples:
            columns = (block.y_true, *block.preds)
            return Tally(shape, count_dense(columns, k, threads)[None])  # type: ignore[index]
        return Tally(shape, all_label_counts(block, threads))

    @classmethod
    def _constructor(cls, settings: dict[str, Any]) -> dict[str, Any]:
        names, pair = saved_names(settings, "rows"), saved_names(settings, "pair")
        return {**super()._constructor(settings), "names": names, "pairs": pair or "all"}


def _read_pair(pairs: Any, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Read the names of the only pair."""
    wanted = 'pairs must be "all" or two models'
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        raise ValueError(f"{wanted}, got {pairs!r}")
    if names is None and all(isinstance(model, str) for model in pairs):
        pair = tuple(map(str, pairs))
    elif names is None:
        raise ValueError(f"pairs by place need names, got pairs={pairs!r} and names=None")
    else:
        pair = tuple(names[model_index(model, names, "pairs")] for model in pairs)
    if pair[0] == pair[1]:
        raise ValueError(f"{wanted}, got {pair[0]!r} twice")
    return pair
