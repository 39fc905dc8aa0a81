"""A plan of McNemar's test, read: what is asked, and the form of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag
from fastcmp.core.options import choose

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastcmp.planning.family import Floats, Inputs, Question

#: Which rejections of a two-sided test count.
TAILS = ("both", "right-direction")


class Design(NamedTuple):
    """What is asked, with the options that not all methods know."""

    question: Question
    #: One of `TAILS`; None is the method's own.
    tails: str | None = None
    #: Whether n counts discordant samples only.
    conditional: bool = False
    #: Discordant counts of samples that the test will include: only a, only b right.
    so_far: tuple[Floats, Floats] | None = None

    @property
    def sign(self) -> float:
        """Which side is tested: -1 for "less"."""
        return -1.0 if self.question.alternative == "less" else 1.0

    def gain(self, difference: Floats) -> Floats:
        """Give the difference in the direction in which it is found."""
        if self.question.alternative == "two-sided":
            return np.abs(difference)
        return self.sign * difference


class Solver(NamedTuple):
    """How a method answers, from arrays that broadcast."""

    #: powers(design, p10, p01, n)
    powers: Callable[[Design, Floats, Floats, Floats], Floats]
    #: sizes(design, p10, p01, power): real numbers, or whole ones.
    sizes: Callable[[Design, Floats, Floats, Floats], Floats]
    #: differences(design, discordant, n, power): NaN where there is none.
    differences: Callable[[Design, Floats, Floats, Floats], Floats]
    #: Whether `sizes` is a closed form, to be rounded up.
    closed: bool = False


def read_design(question: Question, inputs: Inputs) -> Design:
    """Check the options among the inputs."""
    tails = inputs.get("tails")
    if tails is not None:
        tails = choose(tails, "tails", TAILS)
        if question.alternative != "two-sided" or question.hypothesis != "difference":
            message = f"tails={tails!r} is for two-sided tests of a difference"
            raise ValueError(message)
    conditional = as_flag(inputs.get("conditional", False), "conditional")
    return Design(question, tails, conditional)


def refuse(design: Design, what: str, *names: str) -> None:
    """Refuse options that have no meaning for a method."""
    for name in names:
        if getattr(design, name) not in (None, False):
            message = (
                f"{name}={getattr(design, name)!r} has no meaning with {what}, "
                f"got method={design.question.method!r}"
            )
            raise ValueError(message)


def check_enumerable(n: Any, method: str, most: float, instead: str) -> None:
    """Refuse samples of which the outcomes take minutes and more to sum over."""
    finite = np.where(np.isfinite(n), n, 0.0)
    if np.max(finite, initial=0.0) > most:
        message = (
            f"method={method!r} sums over the outcomes of at most {most:.0e} samples, and this "
            f"is about {np.max(finite):.3g}: pass method={instead!r}, which is as good there"
        )
        raise ValueError(message)


def evaluate(kernel: Callable[..., float], rows: tuple[Any, ...], *options: Any) -> Floats:
    """Call a kernel for each plan, of arrays that broadcast."""
    arrays = np.broadcast_arrays(*rows)
    plans = zip(*(each.astype(np.float64).ravel().tolist() for each in arrays), strict=True)
    values = np.array([kernel(*plan, *options) for plan in plans], np.float64)
    return values.reshape(arrays[0].shape)
