"""Reliability diagrams: frequencies by probability, with bands of chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastcmp.core.checks import as_proportion, as_resamples, as_seed, choose
from fastcmp.core.records import Drawn, Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Section, table_of, written
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints, Label, ModelsLike, Seed
from fastcmp.estimates.calibration import read_problems
from fastcmp.estimates.calibration_parts import Ordered, isotonic_means

BANDS = ("consistency", "confidence")
METHODS = ("auto", "binomial", "resampling")
_FEW = 20  # distinct probabilities
_POINTS = 512  # of a model, at most
_CELLS = 1 << 20  # numbers that are drawn at once
_SHOWN = 20  # rows that are printed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReliabilityDiagram(Drawn, Record):
    """Frequencies by probability, isotonic ones too, with a pointwise band.

    A row a model and probability, R of them in all.
    """

    _picture: ClassVar[str] = "reliability"
    _blocks = "scores:reliability"
    _cites = ("dimitriadis",)

    #: Name of the model, shape (R,).
    model: tuple[str, ...]
    probability: Floats
    #: Items with this probability, and the frequency among them.
    n_with: Ints
    observed: Floats
    #: Isotonic regression of the frequency on the probability.
    recalibrated: Floats
    #: Where frequencies may be expected: about the diagonal with "consistency", about
    #: `recalibrated` with "confidence".
    band_low: Floats
    band_high: Floats
    names: tuple[str, ...]
    band: str
    #: "binomial" or "resampling" of each model.
    methods: tuple[str, ...]
    confidence_level: float
    n_items: int
    n_resamples: int
    seed: int

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A table of probabilities and frequencies.
        """
        level = f"{100 * self.confidence_level:.9g}%"
        about = "calibrated" if self.band == "consistency" else "as the isotonic line says"
        rows = np.unique(np.linspace(0, len(self.model) - 1, _SHOWN).round().astype(int))
        columns = {
            "model": written(self.model, visible),
            "p": written(self.probability, ".4g"),
            "items": written(self.n_with),
            "frequency": written(self.observed, ".4f"),
            "isotonic": written(self.recalibrated, ".4f"),
            f"{level} band": written(np.transpose([self.band_low, self.band_high]), ".4f"),
        }
        more = len(self.model) - len(rows)
        text = (
            f"Frequencies by probability on {self.n_items} items. In a {level} band lies "
            f"what may be expected if the probabilities are {about}, at each probability "
            "alone.",
        )
        notes = (f"... and {more} more rows.",) if more else ()
        return [
            table_of("Reliability diagram", columns, text=text, notes=notes, order=rows, most=None)
        ]


def reliability_diagram(
    y_true: ColumnLike,
    probabilities: ModelsLike,
    *,
    band: str = "consistency",
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    classes: Classes | None = None,
    positive: Label = None,
    names: Sequence[str] | None = None,
    rng: Seed = None,
    workers: int | None = None,
) -> ReliabilityDiagram:
    """Estimate frequencies by probability, by isotonic regression, with a band of chance.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, none of them missing.
    probabilities : array-like, or mapping or frame of models
        As in `calibration`; of more than two classes the most probable one counts, and
        whether it is right.
    band : {"consistency", "confidence"}
        About the diagonal, as if the probabilities were right; or about the isotonic line.
    method : {"auto", "binomial", "resampling"}
        Quantiles of the binomial distribution of each probability, for up to 20 different
        ones; or of isotonic fits to drawn outcomes.
    confidence_level : float
        Of the band, at each probability alone.
    n_resamples : int
        Draws of outcomes.
    classes : sequence, optional
        Labels of the K columns; the sorted labels of ``y_true`` where not given.
    positive : label, optional
        The positive class; of numbers the larger one where not given.
    names : sequence of str, optional
        Names of the models, in the place of those that `probabilities` has.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    workers : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    ReliabilityDiagram
        Of each model a row for each of its probabilities, for 512 of them at most.

    Raises
    ------
    TypeError
        If probabilities are not numbers.
    ValueError
        If one is missing or outside [0, 1], a true label is missing, or shapes do not
        fit.

    Notes
    -----
    Isotonic regression needs no bins, and so no choice of them. O(n log n + B n).

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting, A. I. Jordan, "Stable reliability diagrams for
       probabilistic classifiers", PNAS 118 (2021) e2016191118.
    .. [2] J. Broecker, L. A. Smith, "Increasing the reliability of reliability diagrams",
       Weather and Forecasting 22 (2007) 651-661.

    Examples
    --------
    >>> from fastcmp import reliability_diagram
    >>> diagram = reliability_diagram([0, 1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.6, 0.6, 0.6], rng=1)
    >>> diagram.observed.round(3).tolist(), diagram.band_high.round(3).tolist()
    ([0.333, 0.667], [0.667, 1.0])
    """
    band, method = choose(band, "band", BANDS), choose(method, "method", METHODS)
    level, seed = as_proportion(confidence_level, "confidence_level"), as_seed(rng)
    n_resamples = as_resamples(n_resamples)
    model_names, problems, _, _ = read_problems(
        *(y_true, probabilities, "top-label", classes, positive, names)
    )
    tables: list[dict[str, Any]] = [{}] * len(problems)
    methods, tail = [method] * len(problems), 0.5 - 0.5 * level

    def work(m: int) -> None:
        """The rows of one model."""
        p, y = problems[m][0]
        ordered = Ordered.of(p)
        k, sizes = ordered.values.size, ordered.sizes
        sums = np.bincount(ordered.place, y, k)
        recalibrated = isotonic_means(sums[np.newaxis].astype(np.float64), sizes)[0]
        centre = ordered.values if band == "consistency" else recalibrated
        if method == "auto":
            methods[m] = "binomial" if k <= _FEW else "resampling"
        places = np.unique(np.linspace(0, k - 1, min(k, _POINTS)).round().astype(np.int64))
        if methods[m] == "binomial":
            n_some, chance = sizes[places], centre[places]
            low, high = (binomial_quantile(q, n_some, chance) / n_some for q in (tail, 1.0 - tail))
        else:
            rng, drawn = np.random.default_rng([seed, m]), []
            rows = max(1, _CELLS // k)
            for start in range(0, n_resamples, rows):
                shape = (min(rows, n_resamples - start), k)
                outcomes = rng.binomial(sizes.astype(np.int64), centre, shape)
                drawn.append(isotonic_means(outcomes.astype(np.float64), sizes)[:, places])
            low, high = np.quantile(np.concatenate(drawn), [tail, 1.0 - tail], axis=0)
        tables[m] = {
            "probability": ordered.values[places],
            "n_with": sizes.astype(np.int64)[places],
            "observed": (sums / sizes)[places],
            "recalibrated": recalibrated[places],
            "band_low": low,
            "band_high": high,
        }

    n = problems[0][0].y.size
    with ThreadPool(check_workers(workers)) as pool:
        pool.run(work, range(len(problems)), steps=0, here=len(problems) * n < 1 << 10)
    columns = {name: np.concatenate([x[name] for x in tables]) for name in tables[0]}
    sizes = [x["observed"].size for x in tables]
    return ReliabilityDiagram(
        model=tuple(np.repeat(np.array(model_names, object), sizes)),
        names=model_names,
        band=band,
        methods=tuple(methods),
        confidence_level=level,
        n_items=n,
        n_resamples=n_resamples,
        seed=seed,
        **columns,
    )


def binomial_quantile(q: float, n: Floats, p: Floats) -> Floats:
    """The least k with P(X <= k) >= q for X of binomial distributions."""
    from scipy.special import bdtr, bdtrik

    inside = (p > 0.0) & (p < 1.0)
    chance = np.where(inside, p, 0.5)
    k = np.ceil(bdtrik(q, n, chance))
    k = np.clip(np.where(np.isfinite(k), k, 0.0), 0.0, n)
    below = np.maximum(k - 1.0, 0.0)
    k = np.where((k > 0.0) & (bdtr(below, n.astype(np.int64), chance) >= q), below, k)
    return np.where(inside, k, np.where(p <= 0.0, 0.0, n))
