"""Pictures by matplotlib: axes in, axes out.

Nothing is shown on a screen, and no setting of matplotlib is changed.
"""

from fastcmp.plot.curves import curve, evidence, folds, power_curve, roc_band
from fastcmp.plot.maps import task_scores
from fastcmp.plot.pairwise import leaderboard, pvalue_map
from fastcmp.plot.ranks import critical_difference, rank_distribution
from fastcmp.plot.scores import cutoffs, lift, precision_recall, roc

__all__ = [
    "critical_difference",
    "curve",
    "cutoffs",
    "evidence",
    "folds",
    "leaderboard",
    "lift",
    "power_curve",
    "precision_recall",
    "pvalue_map",
    "rank_distribution",
    "roc",
    "roc_band",
    "task_scores",
]
