"""Populations: sources of samples, with a set to measure errors on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_whole

Codes = NDArray[np.int16]
Records = tuple[NDArray[np.float64], Codes]


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


class Population(ABC):
    """A source of data sets for a study."""

    #: As `load` knows it.
    name: ClassVar[str]
    #: As a heading of a table.
    title: ClassVar[str]
    #: Records in a data set.
    n: int

    def sample(self, seed: int, replicate: int) -> Records:
        """Draw a data set.

        Parameters
        ----------
        seed, replicate : int
            What it is a function of, not negative.

        Returns
        -------
        X : ndarray of float64, shape (n, p)
            Predictors.
        y : ndarray of int16, shape (n,)
            Classes, numbered from 0.

        Raises
        ------
        ValueError
            If a number is negative.
        TypeError
            If one is no whole number.
        """
        seed = as_whole(seed, "seed", 0)
        replicate = as_whole(replicate, "replicate", 0)
        return self._draw(np.random.default_rng([seed, replicate]))

    @abstractmethod
    def evaluation(self) -> Records:
        """Return the large set on which true errors are measured.

        Returns
        -------
        X : ndarray of float64, shape (N, p)
            Predictors.
        y : ndarray of int16, shape (N,)
            Classes, numbered from 0.
        """

    @abstractmethod
    def _draw(self, generator: np.random.Generator) -> Records: ...


def pick(records: tuple[NDArray[Any], Codes], chosen: NDArray[np.int64]) -> Records:
    """Take records by their positions."""
    return records[0][chosen].astype(np.float64), records[1][chosen]
