"""Who is right together with whom: all that McNemar's tests of many models ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from fastcmp import kernels
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.counts.pairs import all_pairs, tiles_of
from fastcmp.kernels.bits import LINE_WORDS, TILE_ROWS, allocate_words, common_tile
from fastcmp.stream.accumulator import BlockCounts, stored
from fastcmp.stream.blocks import (
    check_classes,
    check_names,
    choose_columns,
    encode_block,
)
from fastcmp.stream.saved_checks import (
    check_totals,
    check_within,
    require,
    saved_labels,
    saved_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.inputs.labels import Labels
    from fastcmp.stream.accumulator import Arrays

_TILE = 128  # models a side, at most; a multiple of TILE_ROWS
_PACKED = 1 << 22  # samples whose packing is one task
_WORDS = 1 << 22  # words of a block that are packed at a time: 32 MB
_THREADS_PAY = 1 << 24  # samples to pack; below it one thread is faster
_GRAM = 256  # pairs of samples that cost as much as packing one


class _State(NamedTuple):
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    names: tuple[str, ...] | None
    #: Samples counted, without a true label, and of other classes.
    totals: NDArray[np.int64]
    #: Samples that both got right, for i <= j; 0 below the diagonal.
    upper: NDArray[np.int64]


class PairCounts(BlockCounts):
    """How many samples each model, and each pair of models, got right.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Count only samples whose true label is one of these; a prediction outside them
        is an error.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.

    Raises
    ------
    ValueError
        If names or classes repeat, or an option is unknown.
    TypeError
        If names are no strings.

    Notes
    -----
    For M models the state takes 8 M**2 bytes whatever the number of samples, and half
    of it in a file; as much again while a block is counted, and 32 MB for its packed
    samples. A thousand models and more ask for large blocks.

    Examples
    --------
    >>> from fastcmp import mcnemar_from_counts
    >>> from fastcmp.stream import PairCounts
    >>> counts = PairCounts()
    >>> _ = counts.update([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 0]})
    >>> counts.update([1, 0], {"a": [1, 0], "b": [0, 1]})
    <PairCounts: 5 samples>
    >>> counts.correct.tolist()
    [5, 1]
    >>> mcnemar_from_counts(counts).pvalue
    0.0625
    """

    _state: _State
    _JOINED: ClassVar[frozenset[str]] = frozenset({"names"})

    def __init__(
        self,
        names: int | Sequence[str] | None = None,
        *,
        classes: Sequence[Any] | None = None,
        missing: str = "raise",
    ) -> None:
        known = check_names(names)
        self._classes = check_classes(classes, missing)
        self._missing = missing
        self._state = _State(
            known, np.zeros(3, np.int64), _square(0 if known is None else len(known))
        )

    @property
    def n_excluded(self) -> int:
        """Number of samples dropped because the true label is not a chosen class."""
        return int(self._state.totals[2])

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes."""
        return self._state.upper.nbytes + self._state.totals.nbytes

    @property
    def correct(self) -> NDArray[np.int64]:
        """Rightly classified samples of each model, shape (M,); a copy."""
        return self._state.upper.diagonal().copy()

    @property
    def joint(self) -> NDArray[np.int64]:
        """What both models got right, in samples, shape (M, M), symmetric; a copy."""
        upper = self._state.upper
        joint = upper + upper.T
        np.fill_diagonal(joint, upper.diagonal())
        return joint

    @property
    def joint_upper(self) -> NDArray[np.int64]:
        """Upper triangle of `joint`, 0 below the diagonal; a view to read."""
        view = self._state.upper.view()
        view.flags.writeable = False
        return view

    def update(self, y_true: Any, preds: Any, *, workers: int | None = None) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels, of any number of samples. Those with a missing one are dropped
            and counted.
        preds : array-like of shape (M, n), mapping or frame
            Predicted labels, as in `compare_all`. Columns with names may come in any
            order, rows without names come in that of `names`.
        workers : int, optional
            Threads; by default as many as there are processors.

        Returns
        -------
        PairCounts
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ or labels are missing; nothing
            of it is counted then.
        TypeError
            If labels cannot be compared.

        Notes
        -----
        O(M n) to encode and pack, M**2 n / 128 popcounts.

        Examples
        --------
        >>> from fastcmp.stream import PairCounts
        >>> counts = PairCounts(2).update(["x", "y"], [["x", "y"], ["x", "x"]])
        >>> counts.joint.tolist()
        [[2, 1], [1, 1]]
        """
        threads = check_workers(workers)
        with self._lock:
            state = self._state
            columns = choose_columns(preds, state.names)
            block = encode_block(y_true, columns, self._classes, self._missing)
            upper = _count(block, threads)
            if state.names is not None:
                upper += state.upper
            totals = (block.n_samples, block.n_missing, block.n_excluded)
            self._state = _State(block.names, state.totals + totals, upper)
        return self

    def paired_counts(self) -> dict[str, Any]:
        """Count on which samples two models are right, for all pairs.

        Returns
        -------
        dict
            "both_right", "only_a", "only_b" and "both_wrong": arrays in the order of
            ``np.triu_indices(M, 1)``, numbers for two models.

        Raises
        ------
        ValueError
            If there are fewer than two models.

        Examples
        --------
        >>> from fastcmp.stream import PairCounts
        >>> counts = PairCounts(2).update([0, 1, 1], [[0, 1, 1], [0, 0, 0]])
        >>> counts.paired_counts()
        {'both_right': 1, 'only_a': 2, 'only_b': 0, 'both_wrong': 0}
        """
        _, totals, upper = self._state
        m, n = len(upper), int(totals[0])
        if m < 2:
            message = f"PairCounts must hold at least 2 models, got {m}"
            raise ValueError(message)
        first, second = all_pairs(m).T
        correct = upper.diagonal()
        both = upper[first, second]
        counts = {
            "both_right": both,
            "only_a": correct[first] - both,
            "only_b": correct[second] - both,
            "both_wrong": n - correct[first] - correct[second] + both,
        }
        if m == 2:
            return {name: int(count[0]) for name, count in counts.items()}
        return counts

    def _settings(self) -> dict[str, Any]:
        return {
            "names": self._state.names,
            "classes": self._classes,
            "missing": self._missing,
        }

    def _arrays(self) -> Arrays:
        _, totals, upper = self._state
        rows = [upper[i, i:] for i in range(len(upper))]
        joint = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        return {"totals": totals, "joint": joint}

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        names = saved_names(settings)
        m = len(names or ())
        triangle = stored(arrays, "joint", (m * (m + 1) // 2,))
        classes = saved_labels(settings, "classes")
        made = cls(names, classes=classes, missing=settings["missing"])
        upper = made._state.upper
        place = 0
        for i in range(m):
            upper[i, i:] = triangle[place : place + m - i]
            place += m - i
        made._state = made._state._replace(totals=stored(arrays, "totals", (3,)))
        return made

    def _check(self) -> None:
        names, totals, upper = self._state
        check_totals(totals, begun=names is not None)
        n, right = int(totals[0]), upper.diagonal()
        check_within(right, 0, n, "joint")
        for i, common in enumerate(upper):
            most = np.minimum(right[i], right[i:])
            check_within(common[i:], right[i] + right[i:] - n, most, "joint")
            check_within(common[i:], 0, n, "joint")
        wrong = f"{totals[2]} samples of other classes, of which none are chosen"
        require(self._classes is not None or not totals[2], wrong)

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        mine, theirs = self.names, other.names
        if mine is None or theirs is None or mine == theirs:
            return
        what = "names agree"
        if sorted(mine) == sorted(theirs):
            what = "names come in the same order (pass names= to both)"
        message = f"PairCounts merge where {what}, got {mine[:3]} and {theirs[:3]}"
        raise ValueError(message)

    def _join(self, other: Self) -> None:
        names, totals, upper = self._state
        theirs = other._state
        if theirs.names is None:
            return
        upper = theirs.upper.copy() if names is None else upper + theirs.upper
        self._state = _State(theirs.names, totals + theirs.totals, upper)


def _square(m: int) -> NDArray[np.int64]:
    return np.zeros((m, m), np.int64)


def _count(block: Labels, threads: int) -> NDArray[np.int64]:
    """Count the samples that both of i <= j got right."""
    m, n = len(block.names), block.n_samples
    upper = _square(m)
    if n == 0:
        return upper
    if m * n * (1 + m / _GRAM) < _THREADS_PAY:
        threads = 1
    # Large tiles, but several for each thread.
    rows = -(-m // (TILE_ROWS * (1 if threads == 1 else 4 * threads)))
    tiles = tiles_of(m, min(_TILE, rows * TILE_ROWS))
    line = 64 * LINE_WORDS
    step = max(line, 64 * _WORDS // m // line * line)
    with ThreadPool(threads) as pool:
        for part in parts(n, step):
            words = _pack(block, part, pool)

            def count(tile: tuple[int, int, int, int], words: Any = words) -> None:
                i0, i1, j0, j1 = tile
                common_tile(words, tile, upper[i0:i1, j0:j1])

            pool.run(count, tiles)
    return upper


def _pack(block: Labels, part: slice, pool: ThreadPool) -> NDArray[np.uint64]:
    """Pack some samples of all models."""
    m, n = len(block.names), part.stop - part.start
    words = allocate_words(m, n)
    y_true = block.y_true[part]

    def pack(models: slice) -> None:
        for i in range(models.start, models.stop):
            kernels.pack_equal(y_true, block.preds[i][part], words[i])

    pool.run(pack, parts(m, max(1, min(_PACKED // n, -(-m // pool.threads)))))
    return words
