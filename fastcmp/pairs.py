"""Which pairs of models to compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcomes:
    """What is found of M models and P pairs of them."""

    #: Models of each pair, shape (P, 2).
    pairs: NDArray[np.int32]
    #: Samples on which the first, or the second, did better, shape (P,).
    only_a: NDArray[np.int64]
    only_b: NDArray[np.int64]
    statistic: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    #: Score of the first minus that of the second, shape (P,), and its interval.
    difference: NDArray[np.float64]
    interval: NDArray[np.float64]
    #: Rightly classified samples of each model, shape (M,).
    correct: NDArray[np.int64]
    #: What the models are ranked by, shape (M,), and its interval, shape (M, 2).
    score: NDArray[np.float64]
    score_interval: NDArray[np.float64]


def all_pairs(n_models: int) -> NDArray[np.int32]:
    """List all pairs i < j.

    Parameters
    ----------
    n_models : int
        How many models (M).

    Returns
    -------
    ndarray of int32, shape (P, 2)
        In the order of ``np.triu_indices(M, 1)``.
    """
    pairs = np.empty((n_models * (n_models - 1) // 2, 2), np.int32)
    start = 0
    for i in range(n_models - 1):
        end = start + n_models - 1 - i
        pairs[start:end, 0] = i
        pairs[start:end, 1] = np.arange(i + 1, n_models)
        start = end
    return pairs


def choose_pairs(
    names: tuple[str, ...],
    pairs: Sequence[tuple[int | str, int | str]] | None,
    control: int | str | None,
) -> NDArray[np.int32] | None:
    """Read which pairs the user wants.

    Parameters
    ----------
    names : tuple of str
        Names of the models.
    pairs : sequence of pairs or None
        Models by name or index.
    control : int, str or None
        One model, to be compared with all others.

    Returns
    -------
    ndarray of int32, shape (P, 2), or None
        Indices; None for all pairs.

    Raises
    ------
    ValueError
        If a model is unknown, a pair is of one model or repeated, or both are given.
    TypeError
        If `pairs` is no sequence.
    """
    if pairs is not None and control is not None:
        message = "pairs and control exclude each other: pass one of them"
        raise ValueError(message)
    if control is not None:
        first = _model_index(control, names, "control")
        others = [i for i in range(len(names)) if i != first]
        return np.array([(first, i) for i in others], np.int32)
    if pairs is None:
        return None
    if not isinstance(pairs, Iterable):
        message = f"pairs must be a sequence of pairs of models, got {pairs!r}"
        raise TypeError(message)
    chosen = [_pair_indices(pair, names) for pair in pairs]
    if not chosen:
        message = "pairs must name at least one pair, got none"
        raise ValueError(message)
    unordered = [frozenset(pair) for pair in chosen]
    if len(set(unordered)) < len(unordered):
        twice = next(
            p for p, u in zip(chosen, unordered, strict=True) if unordered.count(u) > 1
        )
        message = (
            f"pairs must differ, got {names[twice[0]]} and {names[twice[1]]} twice"
        )
        raise ValueError(message)
    return np.array(chosen, np.int32)


def _pair_indices(pair: Any, names: tuple[str, ...]) -> tuple[int, int]:
    if isinstance(pair, str) or np.size(pair) != 2:
        message = f"pairs must be pairs of models, got {pair!r}"
        raise ValueError(message)
    i, j = (_model_index(model, names, "pairs") for model in pair)
    if i == j:
        message = f"pairs must be of two models, got {names[i]} with itself"
        raise ValueError(message)
    return i, j


def _model_index(model: int | str, names: tuple[str, ...], argument: str) -> int:
    if isinstance(model, Integral) and not isinstance(model, bool):
        if 0 <= model < len(names):
            return int(model)
    elif model in names:
        return names.index(model)
    known = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    message = f"{argument} names no model {model!r}; there are {known}"
    raise ValueError(message)
