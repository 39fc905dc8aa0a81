"""On which samples two models are both right: all that McNemar's tests need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np

from fastcmp.core.checks import choose
from fastcmp.core.threads import ThreadPool, check_workers, parts
from fastcmp.core.typing import Classes, ColumnLike, Ints, ModelsLike
from fastcmp.counts.pairs import RightBits, Tile, all_pairs, tiles_of
from fastcmp.inputs.labels import Labels, encode
from fastcmp.inputs.model_names import ordered_columns
from fastcmp.kernels.bits import LINE_WORDS, TILE_ROWS, common_tile
from fastcmp.stream.accumulator import (
    NAMES,
    BlockCounts,
    State,
    check_classes,
    check_names,
    check_totals,
    check_within,
    require,
    summed,
)

_TILE = 128  # models a side, at most; a multiple of TILE_ROWS
_WORDS = 1 << 22  # words of a block that are packed at a time: 32 MB
_THREADS_PAY = 1 << 24  # samples to pack; below it one thread is faster
_GRAM = 256  # pairs of samples that cost as much as packing one


@dataclass(frozen=True, kw_only=True, eq=False)
class _State(State):
    names: Annotated[tuple[str, ...] | None, NAMES] = None
    #: Samples counted, without a true label, and of other classes.
    totals: Annotated[Ints, summed(3)]
    #: Samples that both got right, for i <= j; 0 below the diagonal.
    joint: Annotated[Ints, summed("m", "m", form="upper")]


class PairCounts(BlockCounts):
    """How many samples each model, and each pair of models, got right.

    From this follow the accuracies and, for all pairs, the four counts of McNemar's
    test: `mcnemar`, `compare_all` and `cochrans_q` take it in place of
    labels. Give blocks of samples to `update`; combine parts, which may be counted in
    other processes, with `merge`, ``+`` or ``sum``. The result is that of all samples
    at once, to the last bit.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    classes : sequence, optional
        Count only samples whose true label is one of these; a prediction of another
        class is an error.
    missing : {"raise", "wrong"}
        Whether a missing prediction is an error or counts as a wrong one. A missing
        true label drops the sample.

    Raises
    ------
    ValueError
        If names or classes repeat, or an option is unknown.
    TypeError
        If names are not strings.

    See Also
    --------
    LabelCounts : By classes too, for costs and symmetry.
    load : Read what ``save`` wrote.

    Notes
    -----
    For M models the state takes 8 M**2 bytes whatever the number of samples, and half
    of it in a file; while a block is counted as much again, and 32 MB for its packed
    samples. With a thousand models or more, large blocks are faster.

    Examples
    --------
    >>> from fastcmp import mcnemar
    >>> from fastcmp.stream import PairCounts
    >>> counts = PairCounts()
    >>> _ = counts.update([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 0]})
    >>> counts.update([1, 0], {"a": [1, 0], "b": [0, 1]})
    <PairCounts: 5 samples of 2 models>
    >>> counts.correct.tolist()
    [5, 1]
    >>> mcnemar(table=counts).pvalue
    0.0625
    """

    _state: _State

    def __init__(
        self,
        names: int | Sequence[str] | None = None,
        *,
        classes: Classes | None = None,
        missing: str = "raise",
    ) -> None:
        listed = check_names(names)
        missing = choose(missing, "missing", ("raise", "wrong"))
        self._options = {"classes": check_classes(classes, missing), "missing": missing}
        self._state = _State.begin({"m": len(listed or ())}, names=listed)

    @property
    def correct(self) -> Ints:
        """Correctly classified samples of each model, shape (M,); a copy."""
        return self._state.joint.diagonal().copy()

    @property
    def joint(self) -> Ints:
        """Samples that both models got right, shape (M, M), symmetric; a copy."""
        upper = self._state.joint
        joint = upper + upper.T
        np.fill_diagonal(joint, upper.diagonal())
        return joint

    @property
    def joint_upper(self) -> Ints:
        """Upper triangle of `joint`, 0 below the diagonal; a view to read."""
        view = self._state.joint.view()
        view.flags.writeable = False
        return view

    def update(self, y_true: ColumnLike, preds: ModelsLike, *, workers: int | None = None) -> Self:
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
            columns = ordered_columns(preds, state.names, "preds")
            block = encode(y_true, columns, **self._options, least=0)
            joint = _count(block, threads)
            if state.names is not None:
                joint += state.joint
            totals = (block.n_samples, block.n_missing, block.n_excluded)
            self._state = _State(names=block.names, totals=state.totals + totals, joint=joint)
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
        upper, n = self._state.joint, self.n_samples
        m = len(upper)
        if m < 2:
            raise ValueError(f"PairCounts must hold at least 2 models, got {m}")
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

    def _check(self) -> None:
        totals, joint = self._state.totals, self._state.joint
        check_totals(totals, begun=self.names is not None)
        n, right = int(totals[0]), joint.diagonal()
        check_within(right, 0, n, "joint")
        for i, common in enumerate(joint):
            most = np.minimum(right[i], right[i:])
            check_within(common[i:], right[i] + right[i:] - n, most, "joint")
            check_within(common[i:], 0, n, "joint")
        wrong = f"{totals[2]} samples of other classes, of which none are chosen"
        require(self._options["classes"] is not None or not totals[2], wrong)


def _count(block: Labels, threads: int) -> Ints:
    """Count the samples that both models i <= j got right."""
    m, n = len(block.names), block.n_samples
    upper = np.zeros((m, m), np.int64)
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
            preds = tuple(pred[part] for pred in block.preds)
            labels = replace(block, y_true=block.y_true[part], preds=preds)
            words = RightBits.pack(labels, pool).words

            def count(tile: Tile, words: Any = words) -> None:
                i0, i1, j0, j1 = tile
                common_tile(words, tile, upper[i0:i1, j0:j1])

            pool.run(count, tiles)
    return upper
