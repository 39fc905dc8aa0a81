"""Many models compared by moments of their values that a stream has gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_flag
from fastcmp.core.options import choose
from fastcmp.core.progress import Progress, reporting
from fastcmp.core.protocols import are_valued
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.counts.item_units import DEGREES, VARIANCES
from fastcmp.counts.pairs import choose_pairs
from fastcmp.items.cautions import cautions_of_moments
from fastcmp.items.mean_comparisons import engine_options, means_record, name_control
from fastcmp.pairwise.comparing import draw_for, with_ranks
from fastcmp.pairwise.engine import run_tests
from fastcmp.pairwise.margins import against
from fastcmp.pairwise.mean_tests import moment_tests
from fastcmp.pairwise.rank_intervals import rank_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastcmp.core.protocols import ValueCounts
    from fastcmp.items.means_result import MeansResult


def compare_means_from_moments(
    moments: ValueCounts,
    *,
    lower_is_better: bool = False,
    variance: str | None = None,
    df: str = "satterthwaite",
    n_resamples: int = 9999,
    rng: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rank_intervals: str = "decisions",
    margin: float | None = None,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    keep: str | int | Path = "all",
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> MeansResult:
    """Compare many models by moments of their values that a stream has gathered.

    Parameters
    ----------
    moments : fastcmp.stream.ValueMoments
        What was added up of the values of all models.
    lower_is_better : bool
        Whether values are losses.
    variance : {"cr0", "cr1", "cr2", "cr3"}, optional
        As in `compare_means`; by default CR2, and CR1 where the moments do not know
        the single clusters.
    df : {"satterthwaite", "clusters", "normal"}
        As in `compare_means`.
    n_resamples : int
        Draws of ``adjust="maxt"`` and of simultaneous intervals.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    adjust : str
        Adjustment for the number of pairs, as in `compare_means`; "maxt" by normal
        numbers that have the covariance of the models.
    alpha : float
        Error rate of the decisions, in (0, 1).
    simultaneous : bool
        Whether the intervals of differences hold for all pairs at once.
    rank_intervals : {"decisions", "simultaneous", "marginal"}
        Where the intervals of ranks come from, as in `compare_all`.
    margin : float, optional
        As in `compare_means`.
    pairs : sequence of pairs, optional
        Compare only these.
    control : int or str, optional
        Compare only this model with all others.
    keep : str, int or Path
        Which pairs to keep, as in `compare_all`.
    memory_limit : int or str, optional
        As in `compare_all`.
    workers : int, optional
        Threads.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    MeansResult
        What `compare_means` finds on the same values by the t test, to rounding.

    Raises
    ------
    ValueError
        If there are fewer than two models, items or clusters, the moments do not hold
        what the variance needs, or an option is unknown.
    TypeError
        If `moments` is something else.

    Examples
    --------
    >>> from fastcmp import compare_means_from_moments
    >>> from fastcmp.stream import ValueMoments
    >>> moments = ValueMoments().update({"a": [1.0, 0.5, 1.0], "b": [0.5, 0.2, 0.6]})
    >>> compare_means_from_moments(moments).best
    ('a',)
    """
    if not are_valued(moments):
        kind = f"{type(moments).__module__}.{type(moments).__name__}"
        raise TypeError(f"moments must be fastcmp.stream.ValueMoments, got {kind}")
    names = moments.names or ()
    if len(names) < 2 or moments.n_samples < 2:
        raise ValueError(
            "moments must hold at least 2 models and 2 items, got "
            f"{len(names)} and {moments.n_samples}"
        )
    lower_is_better = as_flag(lower_is_better, "lower_is_better")
    variance = choose(variance, "variance", (None, *VARIANCES))
    df = choose(df, "df", DEGREES)
    options = engine_options("t", lower_is_better, adjust, alpha, keep, memory_limit)
    options = against(options, margin)
    options, _ = draw_for(options, simultaneous, n_resamples, rng)
    options = with_ranks(options, rank_intervals, rng)
    chosen = choose_pairs(names, pairs, control)
    found = moments.pair_moments(variance=variance, df=df)
    tests = moment_tests(found, 1 - options.alpha)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(check_workers(workers), report) as pool,
    ):
        kept = run_tests(tests, chosen, names, options, pool)
        ranks = rank_fields(tests, options, pool)
    clusters = getattr(moments, "groups", None) is not None
    more: dict[str, Any] = {
        "measure": "mean loss" if lower_is_better else "mean",
        "n_clusters": found.n_units if clusters else None,
        "variance": variance or getattr(moments, "variance", "cr2"),
        "cautions": cautions_of_moments(found, clusters=clusters, df=df),
        **ranks,
    }
    control = name_control(names, chosen, control)
    return means_record(tests, kept, names, options, control, more)
