"""The Bayesian sign test: posterior probabilities without draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_counts, as_proportion
from fastcmp.core.options import choose
from fastcmp.datasets.bayes_options import PLACES, not_negative, read_rope
from fastcmp.datasets.bayes_result import BayesComparison
from fastcmp.datasets.score_pairs import read_score_pair
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.kernels.dirichlet import dirichlet_largest
from fastcmp.kernels.special import betainc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_ORDER = ("a", "rope", "b")


class SignPrior(NamedTuple):
    """How many tasks the prior is worth, and where it is."""

    strength: float
    place: str

    @classmethod
    def read(cls, strength: Any, place: Any) -> SignPrior:
        """Check what a user chose."""
        return cls(
            not_negative(strength, "prior_strength"),
            choose(place, "prior_place", PLACES),
        )

    def add_to(self, counts: NDArray[np.int64]) -> Floats:
        """Add the prior to counts of a, rope and b, shape (..., 3)."""
        alpha = counts.astype(np.float64)
        alpha[..., _ORDER.index(self.place)] += self.strength
        return alpha


def bayes_sign(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    rope: float | None = None,
    prior_strength: float = 1.0,
    prior_place: str = "rope",
    threshold: float = 0.95,
    lower_is_better: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian sign test of two models over tasks.

    Each task counts for a, for b, or for neither where the scores differ by no more
    than the rope. The proportions of such tasks have a Dirichlet distribution.

    Parameters
    ----------
    scores_a, scores_b : array-like, shape (D,)
        One score for each task, in the same order; not of folds, which are not tasks.
    rope : float, optional
        Differences up to here mean nothing in practice; 0.01 where all scores are
        between 0 and 1, else it must be given.
    prior_strength : float
        How many tasks the prior is worth.
    prior_place : {"rope", "a", "b"}
        Where these tasks are.
    threshold : float
        Probability from which on there is a decision.
    lower_is_better : bool
        Whether scores are losses.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        Probabilities that the proportion of a, of the rope, or of b is the largest.

    Raises
    ------
    ValueError
        If lengths differ, scores are missing or infinite, there are fewer than two
        tasks, or no rope is given for scores that are not between 0 and 1.
    TypeError
        If scores are not numbers.

    Notes
    -----
    Nothing is drawn: P(a is largest) is one integral over gamma densities, and
    P(a > b) is a beta distribution function. Differences are those of the decimals
    written, so that 0.62 - 0.64 is within a rope of 0.02.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", JMLR 18
       (2017) 1-36, section 4.2.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_sign
    >>> a = [0.91, 0.88, 0.73, 0.95, 0.81, 0.86, 0.79, 0.92]
    >>> b = [0.87, 0.85, 0.74, 0.91, 0.79, 0.80, 0.75, 0.92]
    >>> found = bayes_sign(a, b)
    >>> found.counts, round(found.p_a, 4), found.decision
    ((6, 2, 0), 0.8555, None)
    """
    pair = read_score_pair(scores_a, scores_b, lower_is_better=lower_is_better, names=names)
    width = read_rope(rope, pair.a, pair.b)
    n_a, n_rope, n_b = count_differences(pair.units, pair.in_units(width))
    return _make(
        (n_a, n_rope, n_b),
        SignPrior.read(prior_strength, prior_place),
        rope=width,
        threshold=as_proportion(threshold, "threshold"),
        names=pair.names,
        measure=pair.measure,
        difference=pair.difference,
    )


def bayes_sign_from_counts(
    n_a: int,
    n_rope: int,
    n_b: int,
    *,
    rope: float = 0.0,
    prior_strength: float = 1.0,
    prior_place: str = "rope",
    threshold: float = 0.95,
    names: Sequence[str] = ("a", "b"),
) -> BayesComparison:
    """Bayesian sign test from the numbers of tasks.

    Parameters
    ----------
    n_a, n_rope, n_b : int
        Tasks on which a is better, neither, and b.
    rope : float
        What these were counted by, for the record.
    prior_strength : float
        How many tasks the prior is worth.
    prior_place : {"rope", "a", "b"}
        Where these tasks are.
    threshold : float
        Probability from which on there is a decision.
    names : sequence of two str
        Names of the models.

    Returns
    -------
    BayesComparison
        As of `bayes_sign`.

    Raises
    ------
    ValueError
        If a number is negative, or all are 0.
    TypeError
        If a number is not whole.

    Examples
    --------
    >>> from fastcmp.datasets import bayes_sign_from_counts
    >>> found = bayes_sign_from_counts(21, 4, 5)
    >>> round(found.p_a, 6), round(found.p_a_above_b, 6)
    (0.999098, 0.999545)
    """
    given = {"n_a": n_a, "n_rope": n_rope, "n_b": n_b}
    counts = []
    for name, raw in given.items():
        found = as_counts(raw, name)
        if found.ndim:
            raise ValueError(f"{name} must be one whole number, got shape {found.shape}")
        counts.append(int(found))
    if not sum(counts):
        raise ValueError("n_a, n_rope and n_b must hold one task at least, got none")
    return _make(
        (counts[0], counts[1], counts[2]),
        SignPrior.read(prior_strength, prior_place),
        rope=not_negative(rope, "rope"),
        threshold=as_proportion(threshold, "threshold"),
        names=read_pair_names(names),
        measure="score",
        difference=float("nan"),
    )


def count_differences(units: tuple[Floats, float], rope: float) -> tuple[int, int, int]:
    """Count what is above the rope, within it, and below it."""
    d, tolerance = units
    n_a = int(np.count_nonzero(d > rope + tolerance))
    n_b = int(np.count_nonzero(d < -rope - tolerance))
    return n_a, d.size - n_a - n_b, n_b


def sign_probabilities(alpha: Floats) -> tuple[float, float, float, float]:
    """Give P(a is largest), P(rope), P(b), and P(a > b), half where both are 0."""
    a, rope, b = (float(x) for x in alpha)
    above = betainc(b, a, 0.5) if a > 0 and b > 0 else 0.5 * (1 + (a > 0) - (b > 0))
    return (
        dirichlet_largest(a, rope, b),
        dirichlet_largest(rope, a, b),
        dirichlet_largest(b, a, rope),
        float(above),
    )


def _make(counts: tuple[int, int, int], prior: SignPrior, **known: Any) -> BayesComparison:
    """Work out the posterior."""
    alpha = prior.add_to(np.array(counts))
    p_a, p_rope, p_b, above = sign_probabilities(alpha)
    return BayesComparison(
        method="sign",
        p_a=p_a,
        p_rope=p_rope,
        p_b=p_b,
        p_a_above_b=above,
        n=sum(counts),
        counts=counts,
        posterior_mean=alpha / alpha.sum(),
        alpha=alpha,
        prior_strength=prior.strength,
        prior_place=prior.place,
        **known,
    )
