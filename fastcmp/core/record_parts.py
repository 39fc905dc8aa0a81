"""What records of a kind have in common: a picture, a plan, two models, unpacking."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Measures of which less is better.
LESS_IS_BETTER = ("cost", "error", "loss", "mean loss", "mean rank")


class Drawn:
    """A record of which `fastcmp.plot` has a picture."""

    __slots__ = ()

    #: The function of `fastcmp.plot` that draws it.
    _picture: ClassVar[str]

    def plot(self, **options: Any) -> Any:
        """Draw the record; needs matplotlib.

        Parameters
        ----------
        **options
            Those of the function of `fastcmp.plot` that draws this record, such as
            ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the picture.
        """
        return getattr(import_module("fastcmp.plot"), self._picture)(self, **options)


class Pilot:
    """A record from which the same test of more samples can be planned."""

    __slots__ = ()

    def power(self, *, n: Any, **options: Any) -> Any:
        """Work out how probably n new samples find what this record estimates.

        Parameters
        ----------
        n : int or array-like of int
            New samples.
        **options
            Those of `fastcmp.planning.power`; by default those of this test.

        Returns
        -------
        fastcmp.planning.Plan
            With ``power`` at the estimates, ``assurance``, the mean of the power over
            what this pilot leaves open, and an ``interval``.
        """
        planned = import_module("fastcmp.planning.pilots").plan_from
        return planned(self, "power", {"n": n, **options})

    def sample_size(self, *, power: Any = 0.8, **options: Any) -> Any:
        """Find how many new samples give the test the power wanted.

        Parameters
        ----------
        power : float or array-like
            Probability wanted.
        **options
            Those of `fastcmp.planning.sample_size`; by default those of this test.

        Returns
        -------
        fastcmp.planning.Plan
            With ``n`` at the estimates, ``assurance``, the mean of the power at that n
            over what this pilot leaves open, and an ``interval`` of n.
        """
        planned = import_module("fastcmp.planning.pilots").plan_from
        return planned(self, "sample_size", {"power": power, **options})


class Compared:
    """A record of two models, a and b: which did better?"""

    __slots__ = ()

    #: What was measured, such as "accuracy" or "cost".
    measure: Any
    #: The measure of a minus that of b.
    difference: Any

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        gain = np.sign(self.difference)
        if self.measure in LESS_IS_BETTER:
            gain = -gain
        if np.ndim(gain):
            names = np.array(["b", None, "a"], dtype=object)
            known = np.where(np.isnan(gain), 0, gain).astype(int)
            return names[known + 1]
        return {1: "a", -1: "b"}.get(gain)


class Unpacked:
    """A record that unpacks into its first fields, as a tuple of arrays would."""

    __slots__ = ()

    #: How many of the fields.
    _n_unpacked: ClassVar[int]

    def _parts(self) -> tuple[Any, ...]:
        names = [field.name for field in fields(self)[: self._n_unpacked]]  # type: ignore[arg-type]
        return tuple(getattr(self, name) for name in names)

    def __iter__(self) -> Iterator[Any]:
        """Unpack."""
        return iter(self._parts())

    def __len__(self) -> int:
        """Count the parts."""
        return self._n_unpacked

    def __getitem__(self, index: Any) -> Any:
        """Give a part by its number."""
        return self._parts()[index]
