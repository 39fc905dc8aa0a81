"""The leaderboard: models from best to worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.report import Section, format_interval, interval_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Measures of any size; the others lie between -1 and 1.
_ANY_SIZE = ("mean", "mean loss")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Leaderboard(Record):
    """Models from best to worst; all arrays in that order."""

    names: tuple[str, ...]
    #: Position of each model in the input, shape (M,).
    models: NDArray[np.int64]
    #: 1 + the number of better models, shape (M,).
    rank: NDArray[np.int64]
    #: What the models are ranked by: "accuracy", or "cost" where less is better.
    measure: str
    score: NDArray[np.float64]
    #: Interval for the score of each model alone, shape (M, 2).
    interval: NDArray[np.float64]
    #: Of these intervals.
    confidence_level: float
    #: Lowest and highest rank that the decisions allow, shape (M, 2). None where the
    #: adjustment does not bound the probability of a false decision ("bh", "by",
    #: "none").
    rank_interval: NDArray[np.int64] | None

    def columns(self) -> dict[str, Any]:
        """Give the leaderboard as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Names, ranks, scores and their intervals; the ends of the intervals of ranks
            are None where there are none.
        """
        ranks: Any = self.rank_interval
        low, high = [[None] * len(self.names)] * 2 if ranks is None else ranks.T
        return {
            "model": list(self.names),
            "rank": self.rank,
            self.measure: self.score,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "rank_low": low,
            "rank_high": high,
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One table.
        """
        return [table_of(self, len(self.names))]


def table_of(board: Leaderboard, shown: int) -> Section:
    """Make a table of the first models of a leaderboard."""
    measure = board.measure
    columns = {
        "rank": [str(rank) for rank in board.rank[:shown]],
        "model": list(board.names[:shown]),
        measure: [format_score(x, measure) for x in board.score[:shown]],
        interval_name(board.confidence_level): [
            format_ends(ends, measure) for ends in board.interval[:shown]
        ],
    }
    if board.rank_interval is not None:
        columns["ranks"] = [_span(*ends) for ends in board.rank_interval[:shown]]
    more = len(board.names) - shown
    return Section(
        title="Leaderboard",
        columns=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        notes=(f"... and {more} more models.",) if more > 0 else (),
    )


def format_score(value: float, measure: str) -> str:
    """Write a score, accuracies in per cent."""
    if measure == "accuracy":
        return f"{100 * value:.2f}%"
    if measure == "cost":
        return f"{value:.4g}"
    return f"{value:#.4g}" if measure in _ANY_SIZE else f"{value:.4f}"


def format_difference(value: float, measure: str) -> str:
    """Write a difference of two scores, of accuracies in percentage points."""
    if np.isnan(value):
        return "-"
    if measure == "accuracy":
        return f"{100 * value:+.2f}"
    if measure == "cost":
        return f"{value:+.4g}"
    return f"{value:+#.4g}" if measure in _ANY_SIZE else f"{value:+.4f}"


def format_ends(ends: Any, measure: str, sign: str = "") -> str:
    """Write an interval for a score or a difference."""
    if np.isnan(ends).any():
        return "-"
    if measure in _ANY_SIZE:
        low, high = ends
        return f"[{low:{sign}#.4g}, {high:{sign}#.4g}]"
    scale, digits = (100, 2) if measure == "accuracy" else (1, 4)
    low, high = scale * np.asarray(ends)
    return format_interval(low, high, digits=digits, sign=sign)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"
