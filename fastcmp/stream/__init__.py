"""Counts that grow block by block: update, merge, add, pickle, save and load.

What does not fit in memory, or lies on several machines, is counted in parts. The parts
add up to the bit: ``update(x + y)`` is ``update(x)`` merged with ``update(y)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastcmp.stream.accumulator import load
    from fastcmp.stream.confusion_counts import ConfusionCounts
    from fastcmp.stream.label_counts import LabelCounts
    from fastcmp.stream.pair_counts import PairCounts
    from fastcmp.stream.roc_sketch import RocSketch
    from fastcmp.stream.score_counts import ScoreCounts
    from fastcmp.stream.score_map import ScoreMap
    from fastcmp.stream.score_refinement import ScoreRefinement

#: Where each public name lives; loaded when it is first asked for.
_HOMES = {
    "ConfusionCounts": "confusion_counts",
    "LabelCounts": "label_counts",
    "PairCounts": "pair_counts",
    "RocSketch": "roc_sketch",
    "ScoreCounts": "score_counts",
    "ScoreMap": "score_map",
    "ScoreRefinement": "score_refinement",
    "load": "accumulator",
}

__all__ = [
    "ConfusionCounts",
    "LabelCounts",
    "PairCounts",
    "RocSketch",
    "ScoreCounts",
    "ScoreMap",
    "ScoreRefinement",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'fastcmp.stream' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"fastcmp.stream.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
