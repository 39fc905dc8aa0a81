"""The tests that can be planned: name -> module, and what in it is the family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastcmp.core.options import choose

if TYPE_CHECKING:
    from fastcmp.planning.family import Family

_MODULES = {
    "mcnemar": "fastcmp.planning.mcnemar",
    "mean": "fastcmp.planning.mean_plans:MEANS",
    "mean-unpaired": "fastcmp.planning.mean_plans:MEANS_UNPAIRED",
    "accuracy-unpaired": "fastcmp.planning.accuracy_plans",
    "metric": "fastcmp.planning.mean_plans:METRICS",
    "cost": "fastcmp.planning.mean_plans:COSTS",
    "auc": "fastcmp.planning.auc_plans",
    "auc-paired": "fastcmp.planning.auc_pair_plans",
    "cv": "fastcmp.planning.folds",
    "leaderboard": "fastcmp.planning.leaderboard",
}
TESTS = tuple(_MODULES)


def family_of(test: Any) -> tuple[str, Family]:
    """Give the known name of a test, and its family."""
    name = choose(test, "test", TESTS)
    module, _, family = _MODULES[name].partition(":")
    return name, getattr(import_module(module), family or "FAMILY")
