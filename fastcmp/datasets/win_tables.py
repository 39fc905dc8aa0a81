"""Wins and ties of each two models as a user counted them: read and checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import LARGEST_COUNT, as_numbers
from fastcmp.core.memory import check_memory
from fastcmp.inputs.model_names import check_distinct_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_ARRAYS = 16  # of M x M numbers, at the same time while strengths are estimated


class WinTables(NamedTuple):
    """Wins and ties of M models."""

    names: tuple[str, ...]
    #: Wins of the model of the row over that of the column, shape (M, M).
    wins: Floats
    #: Ties, on both sides of the diagonal, shape (M, M).
    ties: Floats


def read_win_tables(wins: Any, ties: Any, names: Any) -> WinTables:
    """Check both tables, and find the names of the models."""
    table, own = _read_table(wins, "wins")
    n_models = len(table)
    if n_models < 2:
        raise ValueError(f"wins must be of at least 2 models, got shape {table.shape}")
    tied = np.zeros_like(table)
    if ties is not None:
        tied, labels = _read_table(ties, "ties")
        if tied.shape != table.shape:
            raise ValueError(f"ties must have the shape of wins, {table.shape}, got {tied.shape}")
        if own is not None and labels is not None and labels != own:
            raise ValueError("ties must have the models of wins in the same order (pandas)")
        if (different := np.argwhere(tied != tied.T)).size:
            i, j = different[0].tolist()
            raise ValueError(
                "ties must be symmetric, each tie on both sides of the diagonal, got "
                f"{tied[i, j]:g} at [{i}, {j}] and {tied[j, i]:g} at [{j}, {i}]"
            )
    if not table.sum() + tied.sum() <= LARGEST_COUNT:
        raise ValueError("wins and ties must add up to at most 2**53")
    return WinTables(read_names(names, own, n_models), table, tied)


def read_names(names: Any, own: list[str] | None, n_models: int) -> tuple[str, ...]:
    """Give the models the names that the user chose, or those that data have."""
    if names is None:
        found = [f"model_{i}" for i in range(n_models)] if own is None else own
        return tuple(found)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a sequence of names of models, got {names!r}")
    chosen = [str(name) for name in names]
    if len(chosen) != n_models:
        raise ValueError(f"names must name each of {n_models} models, got {len(chosen)} names")
    check_distinct_names(chosen, "names")
    return tuple(chosen)


def _read_table(raw: Any, name: str) -> tuple[Floats, list[str] | None]:
    """Read a square table of numbers >= 0 with 0 on the diagonal, and its labels."""
    labels = None
    if hasattr(raw, "iloc") and getattr(raw, "ndim", 0) == 2:  # pandas
        labels = [str(column) for column in raw.columns]
        if [str(label) for label in raw.index] != labels and list(raw.index) != [*range(len(raw))]:
            raise ValueError(
                f"{name} must have the same models as index and as columns, in the "
                f"same order (pandas), got {list(raw.index)[:4]} and {labels[:4]}"
            )
        check_distinct_names(labels, name)
        raw = raw.to_numpy()
    table = as_numbers(raw, name).astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"{name} must be of shape (M, M), got {table.shape}")
    check_memory(
        8.0 * _ARRAYS * table.size,
        None,
        f"battles of {len(table)} models",
        "take fewer models",
    )
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0)))
    if len(bad):
        i, j = bad[0].tolist()
        raise ValueError(f"{name} must be finite and >= 0, got {table[i, j]} at [{i}, {j}]")
    own = np.flatnonzero(np.diagonal(table))
    if own.size:
        raise ValueError(
            f"{name} must be 0 on the diagonal (no model meets itself), got "
            f"{table[own[0], own[0]]:g} for model {own[0]}"
        )
    return table, labels
