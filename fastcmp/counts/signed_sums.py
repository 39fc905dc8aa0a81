"""Sums of the units of many models with random signs, or with all signs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastcmp.core.memory import check_draws
from fastcmp.core.threads import no_step, parts
from fastcmp.kernels.sign_flips import flip_sums, random_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool

    Floats = NDArray[np.float64]

# Measured: tables of signs are paid back by some thousand draws, and columns of models
# are summed 40 at a time.
_DRAWS, _COLUMNS, _WORDS = 4096, 40, 256


class SignDraws(NamedTuple):
    """Which signs are drawn."""

    n_draws: int
    seed: int
    #: The draws are all signs.
    complete: bool

    @classmethod
    def of(cls, n_units: int, most: int, n_resamples: int, seed: int) -> SignDraws:
        """Draw signs of units, or take all where these are no more than `most`."""
        complete = n_units < 30 and 2**n_units <= max(most, n_resamples)
        return cls(2**n_units if complete else n_resamples, seed, complete)

    def words(self, draws: slice, units: slice, start: int) -> NDArray[np.uint64]:
        """Give the signs of some units in some draws; word `start` is their first."""
        n_words = -(-(units.stop - units.start) // 64)
        if self.complete:
            each = np.arange(draws.start, draws.stop, dtype=np.uint64)
            return (each >> np.uint64(units.start))[None]
        words = np.empty((n_words, draws.stop - draws.start), np.uint64)
        random_signs(self.seed, draws.start, start, words)
        return words


def signed_sums(
    rows: Floats, units: slice, start: int, signs: SignDraws, pool: ThreadPool
) -> Floats:
    """Sum rows over some units with the signs of each draw, shape (K, R)."""
    n_rows = len(rows)
    check_draws(signs.n_draws, n_rows)
    out = np.empty((n_rows, signs.n_draws))
    n_parts = -(-signs.n_draws // _DRAWS)
    # In eights, as they are summed.
    n_columns = -(-n_rows // (8 * -(-n_rows // _COLUMNS))) * 8
    tasks = product(parts(n_rows, n_columns), parts(signs.n_draws, -(-signs.n_draws // n_parts)))

    def work(task: tuple[slice, slice]) -> None:
        models, draws = task
        sums = np.zeros((models.stop - models.start, draws.stop - draws.start))
        some = np.empty_like(sums)
        for part in parts(units.stop - units.start, 64 * _WORDS):
            own = slice(units.start + part.start, units.start + part.stop)
            words = signs.words(draws, own, start + part.start // 64)
            flip_sums(np.ascontiguousarray(rows[models, own].T), words, some)
            sums += some
        out[models, draws] = sums

    pool.run(work, tasks, steps=no_step)
    return out
