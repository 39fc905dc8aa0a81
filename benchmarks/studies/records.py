"""Populations that are collections of real records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_whole, choose

from .readers import read_letter, read_mnist
from .sources import Codes, Population, Records, pick, scikit_learn

Path = str | PathLike[str]

_LARGEST = 300  # of a default sample of bundled records
#: Records that come with scikit-learn: their function, title and number.
BUNDLED = {
    "digits": ("load_digits", "Handwritten digits (8 x 8 pixels)", 1797),
    "breast-cancer": ("load_breast_cancer", "Breast cancer (Wisconsin)", 569),
    "wine": ("load_wine", "Wine recognition", 178),
    "iris": ("load_iris", "Iris", 150),
}


@dataclass(frozen=True)
class Letter(Population):
    """UCI's letters, drawn with replacement from a local copy; 26 classes."""

    #: The file letter-recognition.data.
    path: Path
    #: Records in a data set.
    n: int = 300
    name: ClassVar[str] = "letter"
    title: ClassVar[str] = "UCI letter"

    def __post_init__(self) -> None:
        as_whole(self.n, "n", 2)
        _ = self._records  # refused here, not in the middle of a study

    def evaluation(self) -> Records:
        return self._records

    def _draw(self, generator: np.random.Generator) -> Records:
        n_all = len(self._records[1])
        return pick(self._records, generator.integers(0, n_all, self.n))

    @cached_property
    def _records(self) -> Records:
        return read_letter(self.path)


@dataclass(frozen=True)
class Mnist(Population):
    """The training set of MNIST, drawn without replacement from local files.

    The source does not say how it draws; here no image is in the training and the test
    part of a data set at once.
    """

    #: The folder of the files, or mnist.npz.
    path: Path
    #: Records in a data set.
    n: int = 10_000
    name: ClassVar[str] = "mnist"
    title: ClassVar[str] = "MNIST"

    def __post_init__(self) -> None:
        as_whole(self.n, "n", 2)
        _at_most(self.n, len(self._images[1]))

    def evaluation(self) -> Records:
        images, y = self._images
        return images.astype(np.float64), y

    def _draw(self, generator: np.random.Generator) -> Records:
        n_all = len(self._images[1])
        return pick(self._images, generator.choice(n_all, self.n, replace=False))

    @cached_property
    def _images(self) -> tuple[NDArray[np.uint8], Codes]:
        return read_mnist(self.path)  # bytes: as float64 they would fill 376 MB


@dataclass(frozen=True)
class Bundled(Population):
    """Records that come with scikit-learn.

    Examples
    --------
    >>> from benchmarks.studies.populations import Bundled
    >>> Bundled("wine").n
    89
    """

    #: "digits", "breast-cancer", "wine" or "iris".
    name: str  # type: ignore[misc]  # of each instance, not of the class
    #: Records in a data set; by default 300, or half of all if these are fewer. Without
    #: replacement n must leave some out, or nothing would vary.
    n: int = None  # type: ignore[assignment]  # a number once it is made
    #: Whether to draw with replacement.
    replace: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", choose(self.name, "name", tuple(BUNDLED)))
        n_all = BUNDLED[self.name][2]
        if self.n is None:
            object.__setattr__(self, "n", min(_LARGEST, n_all // 2))
        as_whole(self.n, "n", 2)
        if not self.replace:
            _at_most(self.n, n_all - 1)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heading of a table."""
        return BUNDLED[self.name][1]

    def evaluation(self) -> Records:
        return self._records

    def _draw(self, generator: np.random.Generator) -> Records:
        n_all = len(self._records[1])
        chosen = generator.choice(n_all, self.n, replace=self.replace)
        return pick(self._records, chosen)

    @cached_property
    def _records(self) -> Records:
        loader = getattr(scikit_learn("datasets"), BUNDLED[self.name][0])
        predictors, y = loader(return_X_y=True)
        return predictors.astype(np.float64), y.astype(np.int16)


def _at_most(n: int, most: int) -> None:
    if n > most:
        raise ValueError(f"n must be at most {most} without replacement, got {n}")
