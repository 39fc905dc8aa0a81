"""Counts of a pilot, or of samples so far: read, and what they leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_counts

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats, Question

#: Draws of the probabilities that a pilot leaves open.
N_DRAWS = 1000
#: Fewer discordant samples than these leave nearly everything open.
_FEW = 20
_NOTHING = (
    "{name} has no discordant sample, so it does not say how often just one of the "
    "models is right: take a larger pilot, or plan from p10 and p01"
)


class PilotCounts(NamedTuple):
    """Samples that only a, and only b, got right, and all samples."""

    only_a: Floats
    only_b: Floats
    n: Floats

    @property
    def p10(self) -> Floats:
        """Proportion that only a got right."""
        return self.only_a / self.n

    @property
    def p01(self) -> Floats:
        """Proportion that only b got right."""
        return self.only_b / self.n

    @property
    def plain(self) -> tuple[Any, ...]:
        """The counts as the user may pass them again."""
        return tuple(each.astype(np.int64) if each.ndim else int(each) for each in self)

    def draws(self, asked: Floats, question: Question) -> tuple[Floats, Floats]:
        """Draw p10 and p01 where their prior is Dirichlet(1/2, 1/2, 1/2).

        The draws are the same each time, along a new first axis before all those of
        the counts, of what is asked, and of the question.
        """
        rng = np.random.default_rng(0)
        rest = self.n - self.only_a - self.only_b
        shapes = np.stack([self.only_a, self.only_b, rest], axis=0) + 0.5
        gammas = rng.standard_gamma(shapes, (N_DRAWS, *shapes.shape))
        parts = gammas / gammas.sum(axis=1, keepdims=True)
        margin = 0.0 if question.margin is None else question.margin
        n_axes = np.broadcast(self.n, asked, question.alpha, margin).ndim
        shape = (N_DRAWS, *(1,) * (n_axes - self.n.ndim), *self.n.shape)
        return parts[:, 0].reshape(shape), parts[:, 1].reshape(shape)


def read_counts(value: Any, name: str) -> PilotCounts:
    """Read counts from a record of McNemar's test, or (only_a, only_b, n)."""
    if all(hasattr(value, field) for field in ("only_a", "only_b", "n_samples")):
        parts = (value.only_a, value.only_b, value.n_samples)
    elif isinstance(value, (tuple, list)) and len(value) == 3:
        parts = tuple(value)
    else:
        message = (
            f"{name} must be a record of McNemar's test, or (only_a, only_b, n), got {value!r}"
        )
        raise TypeError(message)
    names = ("only_a", "only_b", "n")
    counts = [as_counts(part, f"{each} of {name}") for part, each in zip(parts, names, strict=True)]
    arrays = [each.astype(np.float64) for each in np.broadcast_arrays(*counts)]
    found = PilotCounts(*arrays)
    if np.any(found.only_a + found.only_b > found.n):
        message = f"{name} has more discordant samples than samples"
        raise ValueError(message)
    if np.any(found.only_a + found.only_b == 0):
        raise ValueError(_NOTHING.format(name=name))
    return found


def pilot_cautions(counts: PilotCounts) -> tuple[str, ...]:
    """Say where a pilot is small."""
    least = int(np.min(counts.only_a + counts.only_b))
    if least >= _FEW:
        return ()
    some = f"only {least} discordant sample{'' if least == 1 else 's'}"
    return (f"The pilot has {some}: plan with its interval, not its estimate alone.",)
