"""The leaderboard: models from best to worst."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastcmp.core.records import Record, keep_intervals
from fastcmp.core.sections import MODEL, Column, Section, format_interval, interval_name, span
from fastcmp.core.sentences import how
from fastcmp.core.typing import Floats, Ints

#: How scores are written: in per cent, with four decimals, or with four digits.
_STYLES = {"accuracy": "percent", "cost": "short", "mean": "digits", "mean loss": "digits"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Leaderboard(Record):
    """Models from best to worst; all arrays in that order."""

    _cites = (("rank_method", "mogstad"),)

    names: tuple[str, ...]
    #: Position of each model in the input, shape (M,).
    models: Ints
    #: 1 + the number of better models, shape (M,).
    rank: Ints
    #: What the models are ranked by: "accuracy", or "cost" where less is better.
    measure: str
    score: Floats
    #: Interval for the score of each model alone, shape (M, 2).
    interval: Floats
    #: Of these intervals.
    confidence_level: float
    #: Lowest and highest rank that a model may have, shape (M, 2). None where they come
    #: from decisions, and the adjustment does not bound the probability of a false one
    #: ("bh", "by", "none").
    rank_interval: Ints | None
    #: Whether scores may be of any size, not between -1 and 1.
    any_size: bool = False
    #: What `rank_interval` is: of "decisions", "simultaneous" or "marginal"; None where
    #: there is none.
    rank_method: str | None = None

    _columns = (
        MODEL,
        Column("rank"),
        Column("{self.measure}", "score"),
        Column("low high", "interval"),
        Column("rank_low rank_high", lambda self: self._rank_ends),
    )

    @property
    def _rank_ends(self) -> Any:
        """Ends of the intervals of ranks, None where there are none."""
        nowhere = np.full((len(self.names), 2), None)
        return nowhere if self.rank_interval is None else self.rank_interval

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval")

    @property
    def style(self) -> str:
        """How scores are written."""
        return style_of(self.measure, any_size=self.any_size)

    @property
    def rank_promise(self) -> str:
        """What the intervals of ranks promise, in a sentence."""
        level = f"{100 * self.confidence_level:.9g}%"
        promises = {
            "decisions": f"Ranks consistent with the tests: with {level} confidence all true "
            "ranks lie within these intervals at once.",
            "simultaneous": f"Ranks: with {level} confidence all true ranks lie within "
            "these intervals at once, whatever the decisions about pairs.",
            "marginal": "Ranks: each interval holds the true rank of its model with "
            f"{level} confidence, of that model alone.",
            None: "No intervals of ranks.",
        }
        return promises[self.rank_method]

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One table, and what the intervals of ranks promise.
        """
        table = table_of(self)
        return [replace(table, notes=(*table.notes, how(self.rank_promise)))]


def table_of(board: Leaderboard) -> Section:
    """The table of the models of a leaderboard."""
    measure, style = board.measure, board.style
    columns = {
        "rank": [str(rank) for rank in board.rank],
        "model": list(board.names),
        measure: [format_score(x, style) for x in board.score],
    }
    if not np.isnan(board.interval).all():
        columns[interval_name(board.confidence_level)] = [
            format_ends(ends, style) for ends in board.interval.tolist()
        ]
    if board.rank_interval is not None:
        columns["ranks"] = [span(ends) for ends in board.rank_interval]
    return Section(
        title="Leaderboard",
        columns=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        most=20,
    )


def style_of(measure: str, *, any_size: bool = False) -> str:
    """The style in which scores of a measure are written."""
    return "digits" if any_size else _STYLES.get(measure, "decimals")


#: The factor, and the format, of a score in each style.
_FORMATS = {
    "percent": (100, ".2f"),
    "short": (1, ".4g"),
    "digits": (1, "#.4g"),
    "decimals": (1, ".4f"),
}


def format_score(value: float, style: str) -> str:
    """A score in words, accuracies in per cent."""
    factor, form = _FORMATS[style]
    unit = "%" if style == "percent" else ""
    return "-" if np.isnan(value) else f"{factor * value:{form}}{unit}"


def format_difference(value: float, style: str) -> str:
    """A difference of two scores in words, of accuracies in percentage points."""
    factor, form = _FORMATS[style]
    return "-" if np.isnan(value) else f"{factor * value:+{form}}"


def format_ends(ends: Any, style: str, sign: str = "") -> str:
    """The interval of a score or a difference, as text."""
    if np.isnan(ends).any():
        return "-"
    if style == "digits":
        low, high = ends
        return f"[{low:{sign}#.4g}, {high:{sign}#.4g}]"
    scale, digits = (100, 2) if style == "percent" else (1, 4)
    low, high = scale * np.asarray(ends)
    return format_interval(low, high, digits=digits, sign=sign)
