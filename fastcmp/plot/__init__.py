"""Pictures by matplotlib: axes in, axes out.

Nothing is shown on a screen, and no setting of matplotlib is changed.
"""

from fastcmp.plot.curves import curve, evidence, folds, power_curve, roc_band
from fastcmp.plot.maps import task_scores
from fastcmp.plot.pairwise import leaderboard, pvalue_map
from fastcmp.plot.probabilities import calibration, decision_curve, reliability
from fastcmp.plot.ranks import critical_difference, rank_distribution
from fastcmp.plot.scores import cutoffs, lift, precision_recall, roc
from fastcmp.plot.tradeoffs import pareto, slice_map

__all__ = [
    "calibration",
    "critical_difference",
    "curve",
    "cutoffs",
    "decision_curve",
    "evidence",
    "folds",
    "leaderboard",
    "lift",
    "pareto",
    "power_curve",
    "precision_recall",
    "pvalue_map",
    "rank_distribution",
    "reliability",
    "roc",
    "roc_band",
    "slice_map",
    "task_scores",
]
