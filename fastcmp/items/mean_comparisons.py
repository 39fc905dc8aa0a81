"""What comparisons of many means share: options, draws, and the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.core.checks import as_proportion
from fastcmp.core.memory import read_size
from fastcmp.core.options import choose
from fastcmp.items.means_result import MeansResult
from fastcmp.pairwise.adjust import JOINT, OF_MODELS
from fastcmp.pairwise.comparing import draw_for, record_of, with_ranks
from fastcmp.pairwise.engine import KeptPairs, Options, read_keep
from fastcmp.pairwise.metric_options import DRAWN

if TYPE_CHECKING:
    from fastcmp.items.mean_data import MeanOptions
    from fastcmp.pairwise.pair_tests import PairTests


class _Source(NamedTuple):
    """What a record says of the labels, of which there are none."""

    names: tuple[str, ...]
    n_missing: int = 0
    n_excluded: int = 0


def engine_options(  # those of the engine
    method: str,
    lower_is_better: bool,  # noqa: FBT001
    adjust: str,
    alpha: float,
    keep: Any,
    memory_limit: Any,
) -> Options:
    """Check the options of the comparison of all pairs."""
    return Options(
        test="means",
        method=method,
        adjust=choose(adjust, "adjust", OF_MODELS),
        alpha=as_proportion(alpha, "alpha"),
        keep=read_keep(keep),
        memory_limit=None if memory_limit is None else read_size(memory_limit),
        lower_is_better=lower_is_better,
    )


def draw_together(options: Options, spec: MeanOptions, simultaneous: Any, rng: Any) -> Options:
    """Add the draws of all models together; refuse what has none."""
    seed = None if rng is None and spec.method not in DRAWN else spec.seed
    options, _ = draw_for(options, simultaneous, spec.n_resamples, seed)
    if options.joint and (spec.method == "wilcoxon" or spec.missing == "pairwise"):
        given, advice = "method='wilcoxon'", "method='permutation'"
        if spec.missing == "pairwise":
            given, advice = "missing='pairwise'", "missing='common'"
        what = "simultaneous=True"
        if options.adjust in JOINT:
            what = f"adjust={options.adjust!r}"
        raise ValueError(f"{what} needs means on the same items, not {given}: use {advice}")
    return options


def rank_together(options: Options, spec: MeanOptions, rank_intervals: str) -> Options:
    """Read where intervals of ranks come from; refuse means over different items."""
    options = with_ranks(options, rank_intervals, spec.seed)
    if options.all_together and spec.missing == "pairwise":
        raise ValueError(
            f"rank_intervals={rank_intervals!r} needs means on the same items, not "
            "missing='pairwise': use missing='common'"
        )
    return options


def name_control(names: tuple[str, ...], chosen: Any, control: int | str | None) -> str | None:
    """Name the control, which is the first of each chosen pair."""
    return None if control is None else names[chosen[0, 0]]


def means_record(
    tests: PairTests,
    kept: KeptPairs,
    names: tuple[str, ...],
    options: Options,
    control: str | None,
    more: dict[str, Any],
) -> MeansResult:
    """Make the record."""
    source = _Source(names)
    made = record_of(tests, kept, source, options, control, MeansResult, more)
    assert isinstance(made, MeansResult)
    return made
