"""Other ways of correcting judged values of one model, each as its influences.

With u, taken and of_all those of the mean of the labels, and of the judge's means over the labelled
and over all, the corrected mean has u + lam (of_all - taken).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats, Numbers
from fastcmp.estimates.judge_inputs import NOTHING, Design, Items, dot


class Other(NamedTuple):
    """What another way of correcting makes of one model."""

    #: The mean of the labels, and what the judge adds to it.
    mean: float
    added: float
    #: Influences of the corrected mean, and of that of the labels alone.
    row: Floats
    alone: Floats
    #: Of the strata, or of all.
    slopes: Any
    n_tuned: int = 0


def by_label_strata(
    judged: Floats, y: Floats, items: Items, strata: Items, lam: float | None, *, plain: bool
) -> Other:
    """The correction where only the labels, `y`, were drawn by stratum.

    `plain` is without the factors for small samples, with the divisor N**2.
    """
    n, here, f, n_tuned = judged.size, strata[items], judged[items], 0.0
    sizes, labels = np.bincount(strata), np.bincount(here).astype(np.float64)

    def influences(column: Floats, factor: Numbers = 1.0) -> Floats:
        means = np.bincount(here, column) / labels
        values = (means - sizes @ means / n)[strata]
        values[items] += factor * (sizes / labels)[here] * (column - means[here])
        return values

    y_mean, f_mean = (float(sizes @ (np.bincount(here, x) / labels) / n) for x in (y, f))
    of_all = judged - judged.mean()
    if lam is None:
        taken = influences(f)
        v = of_all - taken
        n_tuned = float(dot(v, v) > NOTHING * (dot(of_all, of_all) + dot(taken, taken)))
        lam = max(-dot(influences(y), v) / dot(v, v), 0.0) if n_tuned else 0.0
    spare, small, tuning = labels.sum() - labels.size, np.ones(here.size), 1.0
    if not plain:
        with np.errstate(divide="ignore", invalid="ignore"):
            small = np.sqrt(labels / (labels - 1.0) * (sizes - 1.0) / sizes)[here]
            tuning = np.sqrt(spare / (spare - n_tuned))
    back = np.sqrt((n - 1.0) / n) if plain else 1.0
    u, taken, alone = (
        back * influences(*x) for x in ((y, small * tuning), (f, small * tuning), (y, small))
    )
    added = lam * float(judged.mean() - f_mean)
    row = u + lam * (back * of_all - taken)
    return Other(y_mean, added, row, alone, lam, int(n_tuned))


def of_these_items(judged: Floats, y: Floats, items: Items, lam: float | None) -> Other:
    """The corrected mean of these items alone: only which of them have labels is random.

    Without a given slope it is that of the regression, by whose weights residuals count.
    """
    size, n, weights, n_tuned = judged.size, np.float64(items.size), 1.0, 0
    f = judged[items] - judged[items].mean()
    gap = float(judged.mean() - judged[items].mean())
    if lam is None:
        lam = 0.0
        if f @ f > NOTHING * (judged[items] @ judged[items]):
            lam, n_tuned = float(f @ y / (f @ f)), 1
            weights = 1.0 + gap * f * (n / (f @ f))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt((1.0 - n / size) * size * (size - 1.0) / (n * (n - 1.0)))
        u, alone = np.zeros(size), np.zeros(size)
        u[items] = scale * weights * (y - y.mean() - lam * f)
        alone[items] = scale * (y - y.mean())
    return Other(float(y.mean()), lam * gap, u + 0.0, alone, lam, n_tuned)  # no -0


def by_probabilities(
    judged: Floats, y: Floats, items: Items, lam: float | None, probabilities: Floats
) -> Other:
    """Horvitz and Thompson's estimate: labels over the probabilities of having them."""
    u, taken = np.zeros(judged.size), np.zeros(judged.size)
    u[items], taken[items] = y / probabilities[items], judged[items] / probabilities[items]
    mean, gap = float(u.mean()), float(judged.mean() - taken.mean())
    u, v = u - mean, judged - taken - gap
    if lam is None:
        lam = -dot(u, v) / dot(v, v) if dot(v, v) > 0.0 else 0.0
    return Other(mean, lam * gap, u + lam * v, u, lam)


def outside(
    judged: Floats, human: Floats, items: Items, design: Design, lam: float | None, name: str
) -> Other:
    """The published convention: the judge's mean is over units without labels.

    `judged` are those of units. Divisors and slopes are those of the programs that published it: n
    and N - n and a slope within [0, 1] of independent units, one less and any slope with strata or
    clusters.
    """
    sizes, labels = design.sums(np.ones(human.size)), design.sums(np.ones(items.size), items)
    units, n_units, alone = design.units(items), design.n_units, np.nan_to_num(human)
    if (labels < sizes[units]).any():
        raise BadValueError(
            "`groups` must have labels of all their items or of none with `convention='ppi'`, "
            f"and one of {name} has some",
            remedy=": use `convention='inside'`",
        )
    less = int(design.strata is not None or design.clusters is not None)
    has_labels, human = np.isin(np.arange(n_units), units), design.sums(alone) / sizes
    influences, mean, added, slopes = np.zeros((4, n_units)), 0.0, 0.0, []
    for h, share in enumerate(design.shares):
        here = design.layers == h
        places, others = np.flatnonzero(here & has_labels), np.flatnonzero(here & ~has_labels)
        n, m, f, y, slope = places.size, others.size, judged[places], human[places], lam
        if min(n, m) < 2:
            raise BadValueError(
                "`human` must have 2 units with labels and 2 without in each stratum with "
                f"`convention='ppi'`, {name} has not",
                remedy=": use `convention='inside'`",
            )
        if slope is None:
            spread = float(np.var(judged[here], ddof=1)) * (1.0 + n / m)
            cov = float((f - f.mean()) @ (y - y.mean())) / (n - less)
            slope = cov / spread if spread > 0.0 else 0.0
            slope = slope if less else min(max(slope, 0.0), 1.0)
        for k, (at, x) in enumerate(((places, y), (places, f), (others, judged[others]))):
            stretch = share * np.sqrt(n_units * (n_units - 1.0) / (x.size * (x.size - less)))
            influences[k, at] = stretch * (x - x.mean())
        influences[3, here] = slope
        mean += share * float(y.mean())
        added += share * slope * float(judged[others].mean() - f.mean())
        slopes.append(slope)
    u, taken, of_all, lams = influences
    return Other(mean, added, u + lams * (of_all - taken), u, slopes)
