"""What data sets are drawn from, and what true errors are measured on.

A sample is a pure function of (seed, replicate), so that a study gives the same numbers
in any order and on any number of processes. ``dataclasses.replace(population, n=150)``
is the same population with data sets of another size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp.core.options import choose
from fastcmp.studies.records import BUNDLED, Bundled, Letter, Mnist
from fastcmp.studies.sources import Population
from fastcmp.studies.synthetic import Epsilon, Exp6, Simple

if TYPE_CHECKING:
    from os import PathLike

    Path = str | PathLike[str]

__all__ = [
    "NAMES",
    "Bundled",
    "Epsilon",
    "Exp6",
    "Letter",
    "Mnist",
    "Population",
    "Simple",
    "load",
]

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
    >>> from fastcmp.studies.populations import load
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
