"""The only imports of scikit-learn."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


def scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise ImportError("this study needs scikit-learn: pip install 'fastcmp[cv]'") from None


def one_thread() -> Any:
    """Keep numerical libraries to one thread within a ``with`` block.

    On a few hundred records two threads take three to ten times as long, and sums
    should not depend on the machine.
    """
    return _controller().limit(limits=1)


@cache
def _controller() -> Any:
    # What is loaded later is not held back: load the parts that algorithms use first.
    for module in ("linear_model", "neighbors", "svm", "tree"):
        scikit_learn(module)
    return import_module("threadpoolctl").ThreadpoolController()
