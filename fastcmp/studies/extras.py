"""The one place that asks for scikit-learn."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


def scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn.

    Parameters
    ----------
    module : str
        Its name within the package.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.

    Examples
    --------
    >>> from fastcmp.studies.extras import scikit_learn
    >>> scikit_learn("tree").DecisionTreeClassifier.__name__
    'DecisionTreeClassifier'
    """
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        message = "this study needs scikit-learn: pip install 'fastcmp[cv]'"
        raise ImportError(message) from None


def one_thread() -> Any:
    """Keep numerical libraries to one thread within a ``with`` block.

    Data sets of a few hundred records are too small to share: logistic regression on
    two threads takes three to ten times as long. And sums do not depend on the machine.

    Returns
    -------
    context manager
        Of threadpoolctl, which scikit-learn brings along.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.

    Examples
    --------
    >>> from fastcmp.studies.extras import one_thread
    >>> with one_thread():
    ...     pass
    """
    return _controller().limit(limits=1)


@cache
def _controller() -> Any:
    # What is loaded later is not held back: load the parts that algorithms use first.
    for module in ("linear_model", "neighbors", "svm", "tree"):
        scikit_learn(module)
    return import_module("threadpoolctl").ThreadpoolController()
