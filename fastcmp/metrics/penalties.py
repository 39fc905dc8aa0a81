"""What disagreements count: costs, and the weights of kappa."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.inputs.cost_matrix import read_cost

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

_POWERS = {"kappa_linear": 1.0, "kappa_quadratic": 2.0}


def choose_penalties(name: str, spelled: str, cost: Any, weights: Any) -> tuple[str, Any]:
    """Check costs, or the weights of kappa; give the metric's name, and a matrix."""
    if weights is not None and name != "kappa":
        raise ValueError(f"weights are for metric 'kappa', got {name!r}")
    if cost is not None and name != "cost":
        raise ValueError(f"cost is for metric 'cost', got {name!r}")
    if spelled == "weighted_kappa" and weights is None:
        raise ValueError(
            "metric 'weighted_kappa' needs weights: take kappa_linear or kappa_quadratic"
        )
    if name == "cost" and cost is None:
        raise ValueError("metric 'cost' needs cost=, the matrix of costs")
    if isinstance(weights, str):
        return f"kappa_{choose(weights, 'weights', ('linear', 'quadratic'))}", None
    matrix = cost if weights is None else weights
    if matrix is not None:
        with _naming(name):
            read = read_cost(matrix)
        if read.classes is None:
            matrix = read.values  # a copy
    return name, matrix


def penalties_of(name: str, matrix: Any, classes: Sequence[Any]) -> NDArray[np.float64]:
    """Tell what each disagreement counts; empty where all count alike."""
    if name in _POWERS:
        places = np.arange(float(len(classes)))
        apart = np.abs(np.subtract.outer(places, places))
        return np.asarray(apart ** _POWERS[name])
    if matrix is None:
        return np.empty((0, 0))
    with _naming(name):
        return read_cost(matrix, classes).values


@contextmanager
def _naming(name: str) -> Generator[None, None, None]:
    """Say of weights of kappa what would be said of costs."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if name == "cost":
            raise
        raise type(error)(
            f"{str(error).replace('cost', 'weights')} (weights say what a disagreement "
            "counts, and are 0 on the diagonal)"
        ) from None
