"""What data sets are drawn from, and what true errors are measured on.

A sample is a pure function of (seed, replicate), so that a study gives the same numbers
in any order and on any number of processes. ``dataclasses.replace(population, n=150)``
is the same population with data sets of another size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from numbers import Real
from os import PathLike
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from fastcmp.core.checks import as_whole, choose

from .epsilon_folds import epsilon_losses
from .records import BUNDLED, Bundled, Letter, Mnist
from .sources import Population, Records, pick

Path = str | PathLike[str]

_HALF = 50_000  # evaluation records of a class of the simple population
_EDGE = 151  # points along an edge of the grid of EXP6


@dataclass(frozen=True)
class Exp6(Population):
    """Six classes in a square, cut by a parabola, a sine and another parabola.

    The predictors are drawn from the points of a grid of step 0.1 over [0, 15]^2, all
    of which are the evaluation set. On 166 of its 22,801 points two of the printed
    rules hold at once (the third and the sixth on 162, the first and the fifth on 4);
    here the rule that is printed first counts. Classes are numbered from 0 in their
    order.

    References
    ----------
    .. [1] J. Yang, R. Wang, Y. Song, J. Li, "Block-regularized 5x2 cross-validated
       McNemar's test for comparing two classification algorithms", equations (16)
       and (17).

    Examples
    --------
    >>> from benchmarks.studies.populations import Exp6
    >>> X, y = Exp6().sample(1, 0)
    >>> X.shape, Exp6().evaluation()[0].shape
    ((300, 2), (22801, 2))
    """

    #: Records in a data set.
    n: int = 300
    name: ClassVar[str] = "exp6"
    title: ClassVar[str] = "EXP6"

    def __post_init__(self) -> None:
        as_whole(self.n, "n", 2)

    def evaluation(self) -> Records:
        return self._grid

    def _draw(self, generator: np.random.Generator) -> Records:
        return pick(self._grid, generator.integers(0, _EDGE**2, self.n))

    @cached_property
    def _grid(self) -> Records:
        # In tenths, so that the parabolas are compared without rounding.
        i, j = (axis.ravel() for axis in np.indices((_EDGE, _EDGE)))
        points = np.stack([i, j], axis=1) / 10
        above_1 = 10 * j >= i**2 - 40 * i + 600
        above_2 = points[:, 1] >= 4 * np.sin(points[:, 0] / 2) + 8
        above_3 = 250 * j >= -(i**2) + 1080 * i - 23600
        rules = [
            above_1 & above_2,
            ~above_1 & above_2 & above_3,
            above_1 & ~above_2,
            ~above_1 & ~above_2 & above_3,
            above_2 & ~above_3,
            ~above_2 & ~above_3,
        ]
        return points, np.argmax(rules, axis=0).astype(np.int16)


@dataclass(frozen=True)
class Simple(Population):
    """Two equally likely classes and one normal predictor, whose mean they differ in.

    The evaluation set is no sample: it holds quantiles of both classes, 50,000 each, so
    that the error of a rule with one threshold is exact to 0.00001.

    Examples
    --------
    >>> from benchmarks.studies.populations import Simple
    >>> round(Simple(delta=1.0).threshold_error(0.5), 4)
    0.3085
    """

    #: Mean of class 1; that of class 0 is 0, and both variances are 1.
    delta: float = 0.0
    #: Records in a data set.
    n: int = 1000
    name: ClassVar[str] = "simple"
    title: ClassVar[str] = "Simple"

    def __post_init__(self) -> None:
        as_whole(self.n, "n", 2)
        if isinstance(self.delta, bool) or not isinstance(self.delta, Real):
            raise TypeError(f"delta must be a number, got {self.delta!r}")
        if not isfinite(self.delta):
            raise ValueError(f"delta must be finite, got {self.delta}")

    def evaluation(self) -> Records:
        quantiles = ndtri((np.arange(_HALF) + 0.5) / _HALF)
        x = np.concatenate([quantiles, quantiles + self.delta])
        return x[:, None], np.repeat(np.array([0, 1], np.int16), _HALF)

    def threshold_error(self, threshold: float, *, above: int = 1) -> float:
        """Compute the true error of a rule with one threshold.

        Parameters
        ----------
        threshold : float
            Where the prediction changes.
        above : {1, 0}
            The class that is predicted above it.

        Returns
        -------
        float
            By the normal distribution function.

        Examples
        --------
        >>> from benchmarks.studies.populations import Simple
        >>> Simple(delta=0.0).threshold_error(1.5)
        0.5
        """
        error = float(ndtr(-threshold) + ndtr(threshold - self.delta)) / 2
        return error if above else 1 - error

    def _draw(self, generator: np.random.Generator) -> Records:
        # The same noise for every delta: a power curve over it is smoother so.
        y = generator.integers(0, 2, self.n).astype(np.int16)
        x = generator.standard_normal(self.n) + self.delta * y
        return x[:, None], y


@dataclass(frozen=True)
class Epsilon:
    """Losses of two equally good algorithms, drawn without records.

    Examples
    --------
    >>> from benchmarks.studies.populations import Epsilon
    >>> wrong_a, wrong_b = Epsilon().losses(1, 0)
    >>> wrong_a.shape
    (300,)
    """

    #: Losses of each algorithm.
    n: int = 300
    #: Error rate of both, in [0, 2/3].
    epsilon: float = 0.1
    name: ClassVar[str] = "epsilon"
    title: ClassVar[str] = "Epsilon"

    def __post_init__(self) -> None:
        as_whole(self.n, "n", 2)
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, Real):
            raise TypeError(f"epsilon must be a number, got {self.epsilon!r}")
        if not 0 <= self.epsilon * 1.5 <= 1:
            raise ValueError(f"epsilon must lie in [0, 2/3], got {self.epsilon}")

    def losses(self, seed: int, replicate: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Draw which records the algorithms get wrong.

        Parameters
        ----------
        seed, replicate : int
            What the losses are a function of, not negative; the seed below 2**63.

        Returns
        -------
        wrong_a : ndarray of uint8, shape (n,)
            1 where algorithm A errs.
        wrong_b : ndarray of uint8, shape (n,)
            1 where algorithm B errs.

        Raises
        ------
        ValueError
            If a number is negative.
        TypeError
            If one is no whole number.
        """
        seed = as_whole(seed, "seed", 0)
        replicate = as_whole(replicate, "replicate", 0)
        wrong_a, wrong_b = np.empty(self.n, np.uint8), np.empty(self.n, np.uint8)
        epsilon_losses(seed, replicate, float(self.epsilon), wrong_a, wrong_b)
        return wrong_a, wrong_b


__all__ = ["NAMES", "Bundled", "Epsilon", "Exp6", "Letter", "Mnist", "Population", "Simple", "load"]

#: What `load` knows.
NAMES = ("exp6", "simple", "letter", "mnist", *BUNDLED)


def load(name: str, path: Path | None = None) -> Population:
    """Make a population by its name, with data sets as large as the source's.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    path : path, optional
        Where the files are, for "letter" and "mnist", which do not come along; the
        others need none.

    Returns
    -------
    Population
        Of the class that describes it.

    Raises
    ------
    ValueError
        If the name is unknown, a path is missing, or files are not of that kind.
    FileNotFoundError
        If there are no such files.

    Examples
    --------
    >>> from benchmarks.studies.populations import load
    >>> load("digits").title
    'Handwritten digits (8 x 8 pixels)'
    """
    name = choose(name, "name", NAMES)
    if name in {"letter", "mnist"}:
        if path is None:
            wanted = {
                "letter": "the file letter-recognition.data",
                "mnist": "mnist.npz, or the folder of train-images-idx3-ubyte",
            }
            raise ValueError(f"{name} needs path: where {wanted[name]} is")
        return Letter(path) if name == "letter" else Mnist(path)
    if name == "exp6":
        return Exp6()
    return Simple() if name == "simple" else Bundled(name)
