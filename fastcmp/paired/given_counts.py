"""The four counts of two models, in the ways that users give them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import LARGEST_COUNT, as_counts
from fastcmp.core.protocols import are_paired

CELLS = ("both_right", "only_a", "only_b", "both_wrong")  # of a table, in its order

Ints = NDArray[np.int64]


def read_counts(**given: Any) -> tuple[dict[str, Ints], dict[str, Any]]:
    """Check counts and give them one shape; and how many samples a stream dropped."""
    found, dropped = _given_counts(given)
    checked = {name: as_counts(raw, name) for name, raw in found.items()}
    counts = _broadcast(checked)
    _check_total(counts)
    return counts, dropped


def _given_counts(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Collect the counts by name, and how many samples a stream dropped."""
    given = {name: counts for name, counts in given.items() if counts is not None}
    first = given.get("only_a")
    if are_paired(first):
        if len(given) > 1:
            raise TypeError(f"pass PairCounts, or {', '.join([*given][1:])}, not both")
        dropped = {"n_missing": first.n_missing, "n_excluded": first.n_excluded}
        return first.paired_counts(), dropped
    if "only_b" not in given and _is_table(first):
        given["table"] = given.pop("only_a")
    if "table" in given:
        if len(given) > 1:
            raise TypeError(f"a table holds all four counts: it comes alone, not {[*given]}")
        cells = as_counts(given["table"], "table")
        if cells.shape[-2:] != (2, 2):
            raise ValueError(f"table must be of shape (..., 2, 2), got {cells.shape}")
        return cells_of(cells), {}
    if not {"only_a", "only_b"} <= set(given):
        raise TypeError(
            f"{'only_b' if 'only_a' in given else 'only_a'} must be whole numbers, got "
            "None: counts come as only_a and only_b, or as table=, of shape (2, 2)"
        )
    return given, {}


def _is_table(counts: Any) -> bool:
    """Tell a 2 x 2 table from counts of one kind."""
    with suppress(ValueError):  # ragged lists
        return counts is not None and np.shape(counts) == (2, 2)
    return False


def cells_of(table: Ints) -> dict[str, Ints]:
    """Take the four counts out of one or more tables, of shape (..., 2, 2)."""
    flat = table.reshape(*table.shape[:-2], 4)
    return {name: flat[..., i] for i, name in enumerate(CELLS)}


def _broadcast(counts: dict[str, Ints]) -> dict[str, Ints]:
    """Give all counts one shape."""
    try:
        # Copies: numba asks broadcast arrays whether they can be written; NumPy warns.
        arrays = [np.array(x) for x in np.broadcast_arrays(*counts.values())]
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in counts.items())
        raise ValueError(f"counts must broadcast to one shape, got {shapes}") from None
    return dict(zip(counts, arrays, strict=True))


def _check_total(counts: dict[str, Ints]) -> None:
    """Refuse counts that add up to more than 2**53."""
    total = sum(x.astype(np.float64) for x in counts.values())
    if np.size(total) and np.max(total) > LARGEST_COUNT:
        names = " + ".join(counts)
        raise ValueError(f"{names} must be at most 2**53, got {np.max(total):.6g}")
