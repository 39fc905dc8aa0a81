"""McNemar's test of two models while samples come in: counts, and looks at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_counts, as_proportion
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.protocols import are_paired
from fastcmp.inputs.labels import encode
from fastcmp.sequential.looks_result import LooksResult, mcnemar_looks_of
from fastcmp.sequential.options import read_prior
from fastcmp.stream.accumulator import BlockCounts
from fastcmp.stream.blocks import check_classes
from fastcmp.stream.saved_checks import (
    check_totals,
    check_within,
    require,
    saved_labels,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.core.protocols import PairedCounts
    from fastcmp.stream.accumulator import Arrays

    Ints = NDArray[np.int64]

_NAMES = ("a", "b")
_WORDS = ("right", "wrong")


class _State(NamedTuple):
    """What one assignment replaces, so that an interrupt never leaves half a block."""

    #: Samples counted, without a true label, and of other classes.
    totals: Ints
    #: Rows a right, a wrong; columns b right, b wrong.
    table: Ints
    #: The table at each look, shape (L, 2, 2).
    looks: Ints

    @property
    def names(self) -> tuple[str, ...]:
        return _NAMES


class McNemarLooks(BlockCounts):
    """Two models compared by McNemar's e-value while samples come in.

    Give blocks of samples to `update`, and `look` whenever you like: each look adds an
    e-value, and the p-value so far stays valid.

    Parameters
    ----------
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        As in `fastcmp.sequential.mcnemar`.
    alpha : float
        Probability of a false decision at any look, in (0, 1).
    classes : sequence, optional
        Count only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        Whether a missing prediction is an error or counts as a wrong one.

    Raises
    ------
    ValueError
        If an option is unknown or out of range.
    TypeError
        If the prior is not made of numbers.

    See Also
    --------
    PairLooks : All pairs of many models.
    MeanLooks : Values instead of labels.

    Notes
    -----
    Counts of several machines add up by `merge`, and are looked at together then: what
    others have looked at on their own cannot be merged, since the largest of two
    e-values is no e-value.

    Examples
    --------
    >>> from fastcmp import load_digits
    >>> from fastcmp.sequential import McNemarLooks
    >>> y_true, preds = load_digits()
    >>> state = McNemarLooks()
    >>> for start in range(0, len(y_true), 300):
    ...     rows = slice(start, start + 300)
    ...     block = y_true[rows], preds["svm_rbf"][rows], preds["naive_bayes"][rows]
    ...     result = state.update(*block).look()
    >>> result.first_rejection, result.n_samples.tolist()
    (0, [300, 600, 899])
    """

    _state: _State
    _JOINED: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        *,
        alternative: str = "two-sided",
        prior: Sequence[float] = (0.5, 0.5),
        alpha: float = 0.05,
        classes: Sequence[Any] | None = None,
        missing: str = "raise",
    ) -> None:
        self._alternative = choose(alternative, "alternative", ALTERNATIVES)
        s, t = read_prior(prior)
        self._prior = (s, t)
        self._alpha = as_proportion(alpha, "alpha")
        self._missing = choose(missing, "missing", ("raise", "wrong"))
        self._classes = check_classes(classes, self._missing)
        table = np.zeros((2, 2), np.int64)
        self._state = _State(np.zeros(3, np.int64), table, np.zeros((0, 2, 2), np.int64))

    @property
    def n_looks(self) -> int:
        """How many looks were taken."""
        return len(self._state.looks)

    @property
    def table(self) -> Ints:
        """Samples by who is right, shape (2, 2): rows a right, a wrong; a copy."""
        return self._state.table.copy()

    def update(self, y_true: ArrayLike, pred_a: ArrayLike, pred_b: ArrayLike) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels, of any number of samples.
        pred_a, pred_b : array-like, shape (n,)
            Labels that the two models predicted.

        Returns
        -------
        McNemarLooks
            This state.

        Raises
        ------
        ValueError
            If lengths differ or labels are missing; nothing is counted then.
        TypeError
            If labels cannot be compared.

        Examples
        --------
        >>> from fastcmp.sequential import McNemarLooks
        >>> McNemarLooks().update([0, 1, 1], [0, 1, 1], [0, 0, 0]).table.tolist()
        [[1, 2], [0, 0]]
        """
        options: Any = {"classes": self._classes, "missing": self._missing}
        models = {"pred_a": pred_a, "pred_b": pred_b}
        block = encode(y_true, models, **options, least=0)
        table = np.zeros((2, 2), np.int64)
        codes_a, codes_b = block.preds
        kernels.count_paired(block.y_true, codes_a, codes_b, table)
        totals = (block.n_samples, block.n_missing, block.n_excluded)
        with self._lock:
            state = self._state
            self._state = state._replace(totals=state.totals + totals, table=state.table + table)
        return self

    def look(self, counts: ArrayLike | PairedCounts | None = None) -> LooksResult:
        """Look at the evidence so far; without new samples the last look is repeated.

        Parameters
        ----------
        counts : array-like of int of shape (2, 2), or PairCounts, optional
            All samples so far, where they are counted elsewhere: the table of two
            models, as `fastcmp.mcnemar_table` gives it. It takes the place of what was
            counted here.

        Returns
        -------
        LooksResult
            This look, and those before.

        Raises
        ------
        ValueError
            If a count has become smaller: looks come in the order of the samples.
        TypeError
            If counts are not numbers.

        Examples
        --------
        >>> from fastcmp.sequential import McNemarLooks
        >>> state = McNemarLooks()
        >>> state.look([[80, 9], [2, 9]]).evalue.round(4).tolist()
        [2.5898]
        >>> state.look([[60, 10], [3, 9]])
        Traceback (most recent call last):
        ...
        ValueError: counts must not shrink: looks come in the order of the samples...
        """
        with self._lock:
            state = self._state
            if counts is not None:
                state = _grown(state, counts)
            if not len(state.looks) or (state.looks[-1] != state.table).any():
                looks = np.concatenate([state.looks, state.table[np.newaxis]])
                state = state._replace(looks=looks)
            self._state = state
        _, only_a, only_b, _ = state.looks.reshape(-1, 4).T.copy()
        return mcnemar_looks_of(
            *(only_a, only_b, state.looks.sum(axis=(1, 2))),
            (self._alternative, self._prior),
            self._alpha,
            n_missing=int(state.totals[1]),
            n_excluded=int(state.totals[2]),
        )

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        table = self._state.table.tolist()
        rows = [(f"a {word}", *map(str, row)) for word, row in zip(_WORDS, table, strict=True)]
        return ("", "b right", "b wrong"), tuple(rows)

    def _settings(self) -> dict[str, Any]:
        return {
            "alternative": self._alternative,
            "prior": self._prior,
            "alpha": self._alpha,
            "classes": self._classes,
            "missing": self._missing,
        }

    def _arrays(self) -> Arrays:
        return self._state._asdict()

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        classes = saved_labels(settings, "classes")
        made = cls(**{**settings, "classes": classes})
        found = arrays.get("looks")
        n_looks = len(found) if found is not None and found.ndim else 0
        made._state = _State(
            stored(arrays, "totals", (3,)),
            stored(arrays, "table", (2, 2)),
            stored(arrays, "looks", (n_looks, 2, 2)),
        )
        return made

    def _check(self) -> None:
        totals, table, looks = self._state
        check_totals(totals, begun=True)
        check_within(table, 0, totals[0], "table")
        require(int(table.sum()) == totals[0], "the table is of other samples")
        steps = np.diff(looks, axis=0, prepend=0, append=table[np.newaxis])
        require((steps >= 0).all(), "looks must be numbers of samples that grow")

    def _check_fit(self, other: Self) -> None:
        super()._check_fit(other)
        if other.n_looks:
            message = (
                "McNemarLooks merge before the other one has looked: add the counts "
                "first, and look at their sum"
            )
            raise ValueError(message)

    def _join(self, other: Self) -> None:
        state, theirs = self._state, other._state
        self._state = _State(state.totals + theirs.totals, state.table + theirs.table, state.looks)


def _grown(state: _State, counts: Any) -> _State:
    """Put counts of all samples so far in place of those before, if they have grown."""
    totals = state.totals.copy()
    if are_paired(counts):
        cells = counts.paired_counts()
        raw = [cells[x] for x in ("both_right", "only_a", "only_b", "both_wrong")]
        totals[1:] = counts.n_missing, counts.n_excluded
    else:
        raw = counts
    table = as_counts(raw, "counts")
    if table.size != 4 or not (are_paired(counts) or table.shape == (2, 2)):
        message = f"counts must be of two models, shape (2, 2), got {table.shape}"
        raise ValueError(message)
    table = table.reshape(2, 2)
    if (table < state.table).any():
        message = (
            "counts must not shrink: looks come in the order of the samples, and each "
            f"counts all samples so far; got {table.tolist()} after "
            f"{state.table.tolist()}"
        )
        raise ValueError(message)
    totals[0] = table.sum()
    return _State(totals, table, state.looks)
