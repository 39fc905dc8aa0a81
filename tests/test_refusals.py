"""Wrong input to every public function is refused, by the name of the argument.

`GOOD` holds a proper call of each function, `WRONG` what no argument of a name can be.
Every argument of every function is tried with all of it: a `ValueError` or `TypeError`
that fastcmp itself raises, and that names the argument. A new function, or a new
argument, without a line here fails.
"""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from cases import case

import fastcmp
from fastcmp import datasets, designs, planning, plot, sequential, stream
from fastcmp.core.fields import same

mpl.use("Agg")
HERE = str(Path(fastcmp.__file__).parent)
FORMATS = Path(__file__).parent / "reference" / "formats"

Y = [0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
A = [0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0]
B = [1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
S = [0.1, 0.8, 0.7, 0.2, 0.6, 0.3, 0.9, 0.4, 0.5, 0.55, 0.35, 0.15]
T = [0.2, 0.7, 0.9, 0.1, 0.4, 0.3, 0.8, 0.45, 0.5, 0.6, 0.65, 0.05]
K3 = [0, 1, 2] * 4
COST = [[0, 1], [5, 0]]
PAIR_COUNTS = stream.PairCounts().update(Y, {"a": A, "b": B})
LABEL_COUNTS = stream.LabelCounts(classes=[0, 1]).update(Y, {"a": A, "b": B})
CONFUSION = stream.ConfusionCounts(classes=[0, 1]).update(Y, {"a": A})
SCORE_COUNTS = stream.ScoreCounts(stream.ScoreMap([0.3, 0.5])).update(Y, S)
MOMENTS = stream.ValueMoments().update({"a": S, "b": T})
PAIRWISE = fastcmp.compare_all(Y, {"a": A, "b": B})
LOOKS = sequential.mcnemar_looks([3, 9, 15], [1, 2, 4])
RECORD = fastcmp.mcnemar_from_counts(11, 1).to_dict()
FIVE_BY_TWO = np.random.default_rng(1).normal(0.01, 0.02, (5, 2))
TEN = np.random.default_rng(2).normal(0.01, 0.02, (10, 10))
FOLD_TABLES = np.array([[[9, 8], [1, 2]], [[7, 3], [6, 4]], [[9, 0], [0, 2]]])

LONG = {"item": Y + A, "model": ["a", "b"] * 12, "value": S + T, "r": [*range(24)]}
ANSWERS = np.array([Y, A, B, A, Y, B, A, B], float).reshape(2, 12, 4)

LABELS = {"y_true": Y, "pred_a": A, "pred_b": B}
SCORE = {"y_true": Y, "score": S}
SCORES = {"y_true": Y, "scores": {"a": S, "b": T}}
TWO_SCORES = {"y_true": Y, "score_a": S, "score_b": T}


class Nothing:
    """An object that no function knows."""

    def __repr__(self):
        return "Nothing()"


def X(n=12):
    return np.random.default_rng(3).normal(size=(n, 2))


def models():
    from sklearn.dummy import DummyClassifier
    from sklearn.tree import DecisionTreeClassifier

    return DummyClassifier(), DecisionTreeClassifier()


def fitted():
    return tuple(model.fit(X(), Y) for model in models())


CV = {"X": X(), "y": Y, "design": designs.two_fold(2, blocked=True, rng=1), "rng": 1}
HOLDOUT = {"X_a": X(), "X_b": X(), "y": Y}

#: A proper call of each function: its arguments by keyword.
GOOD = {
    "accuracy_unpaired": {"y_a": Y, "pred_a": A, "y_b": Y, "pred_b": B},
    "accuracy_unpaired_from_counts": {
        "correct_a": 9,
        "n_a": 12,
        "correct_b": 7,
        "n_b": 10,
    },
    "adjust": {"pvalues": [0.01, 0.2]},
    "alpaydin_f": {"differences": FIVE_BY_TWO},
    "auc": SCORES,
    "auc_bootstrap": SCORES | {"n_resamples": 5, "rng": 1},
    "auc_from_counts": {"counts": SCORE_COUNTS},
    "auc_multiclass": {"y_true": K3, "scores": np.eye(3)[K3]},
    "auc_permutation_test": TWO_SCORES | {"n_resamples": 5, "rng": 1},
    "average_precision": SCORE,
    "bayle_z": {"differences": TEN[0], "folds": [0, 1] * 5},
    "bcv_mcnemar": {"tables": np.stack([FOLD_TABLES[:2]] * 3)},
    "blocked_t": {"differences": FIVE_BY_TWO},
    "bouckaert_frank_t": {"differences": TEN},
    "bouckaert_t": {"differences": TEN},
    "bhapkar": {"pred_a": A, "pred_b": B},
    "bhapkar_from_counts": {"table": [[9, 2], [1, 8]]},
    "bowker": {"pred_a": A, "pred_b": B},
    "bowker_from_counts": {"table": [[9, 2], [1, 8]]},
    "calibrated_f": {"differences": FIVE_BY_TWO},
    "classification_report": {"y_true": Y, "preds": {"a": A, "b": B}},
    "classification_report_from_counts": {"counts": LABEL_COUNTS},
    "classification_table": {"y_true": Y, "score_or_label": S},
    "classification_table_from_counts": {"tp": 9, "fp": 2, "fn": 1, "tn": 8},
    "cochrans_q": {"y_true": Y, "preds": {"a": A, "b": B}},
    "cochrans_q_from_counts": {"counts": PAIR_COUNTS},
    "compare_all": {"y_true": Y, "preds": {"a": A, "b": B}},
    "compare_all_from_counts": {"counts": PAIR_COUNTS},
    "compare_cv": CV,
    "compare_cv_all": CV,
    "compare_holdout": HOLDOUT,
    "compare_labels": LABELS,
    "compare_metric": {
        "y_true": Y,
        "pred_a": A,
        "pred_b": B,
        "metric": "f1",
        "rng": 1,
    },
    "compare_metric_from_counts": {
        "counts": [[[3, 1], [2, 1]], [[1, 0], [2, 4]]],
        "metric": "f1",
        "rng": 1,
    },
    "compare_datasets": {"scores": {"a": S, "b": T, "c": S[::-1]}},
    "compare_means": {"values": {"a": S, "b": T}, "rng": 1},
    "compare_means_from_moments": {"moments": MOMENTS},
    **{
        name: {"values": {"a": S, "b": T}, "n_resamples": 299, "rng": 1}
        for name in ("best_set", "rank_sets", "model_confidence_set", "winner_estimate")
    },
    "superior_ability": {"values": {"a": S, "b": T}, "control": 0, "rng": 1},
    **{
        name: {"estimate": [0.9, 0.8], "covariance": [0.001, 0.002], "rng": 1}
        for name in (
            "best_set_from_moments",
            "rank_sets_from_moments",
            "model_confidence_set_from_moments",
            "winner_estimate_from_moments",
        )
    },
    "superior_ability_from_moments": {
        "estimate": [0.9, 0.8],
        "covariance": [0.001, 0.002],
        "n": 50,
        "control": "model_0",
        "rng": 1,
    },
    "correct_values": {"y_true": Y, "preds": {"a": A, "b": B}},
    "compare_predictions": {"y_true": Y, "preds": {"a": A, "b": B}},
    "compare_sensitivity_specificity": LABELS,
    "compare_sensitivity_specificity_from_counts": {"counts": [[[9, 2], [1, 8]], [[3, 4], [2, 7]]]},
    "compare_unpaired": {"a": (Y, A), "b": (Y[::-1], B)},
    "cohen_kappa": {"rater_a": A, "rater_b": B},
    "cohen_kappa_from_counts": {"table": [[9, 2], [1, 8]]},
    "concordance": SCORE,
    "conservative_z": {
        "differences": TEN,
        "half_differences": np.stack([TEN, TEN], 1)[:, np.newaxis],
    },
    "cost_test": LABELS | {"cost": COST},
    "cost_test_from_counts": {"counts": LABEL_COUNTS, "cost": COST},
    "count_labels": LABELS,
    "delong": SCORES,
    "delong_unpaired": {"y_a": Y, "score_a": S, "y_b": Y, "score_b": T},
    "det_curve": SCORE,
    "dietterich_t": {"differences": FIVE_BY_TWO},
    "gain_curve": SCORE,
    "hanley_mcneil": {"auc": 0.8, "n_positives": 5, "n_negatives": 6},
    "kfold_t": {"differences": TEN[0]},
    "ks_statistic": SCORE,
    "inspect_results": {"path": FORMATS / "long" / "values.csv"},
    "lift_table": SCORE | {"groups": 3},
    "fleiss_kappa": {"ratings": {"a": A, "b": B, "c": Y}},
    "fleiss_kappa_from_counts": {"rating_counts": [[3, 0], [1, 2], [0, 3]]},
    "from_dict": {"plain": RECORD},
    "gate": {"comparisons": {"all": fastcmp.mcnemar(Y, A, B, margin=0.1)}},
    "brier_values": {"y_true": Y, "probabilities": S},
    "log_loss_values": {"y_true": Y, "probabilities": S},
    "load_digits_values": {"measure": "brier"},
    "from_long": {"frame": LONG, "repeat": "r"},
    "g_pass_at_k": {"n_correct": 2, "n_samples": 8, "k": 4, "tau": 0.5},
    "pass_at_k": {"n_correct": 2, "n_samples": 8, "k": 4},
    "pass_hat_k": {"n_correct": 2, "n_samples": 8, "k": 4},
    "pass_variance": {"n_correct": 2, "n_samples": 8, "k": 4},
    "variance_components": {"values": ANSWERS, "names": ["a", "b"]},
    "make_metric": {"metric": "f1"},
    "metric": {"y_true": Y, "pred": A, "metric": "f1", "rng": 1},
    "metric_equality": {"y_true": Y, "preds": {"a": A, "b": B}, "metric": "f1"},
    "metric_from_counts": {"table": [[5, 2], [1, 4]], "metric": "f1", "rng": 1},
    "max_t": {"differences": {"a - b": S, "a - c": T}, "rng": 1},
    "simultaneous_pairs": {
        "estimate": [0.8, 0.7],
        "covariance": [[2e-4, 1e-4], [1e-4, 2e-4]],
        "n_resamples": 99,
        "rng": 1,
    },
    "mean_difference": {"values_a": S, "values_b": T, "rng": 1},
    "means_unpaired": {"values_a": S, "values_b": T},
    "mcnemar": LABELS,
    "mcnemar_clustered_from_counts": {
        "both_right": [3, 2, 1, 4],
        "only_a": [0, 1, 0, 0],
        "only_b": [1, 2, 1, 0],
        "both_wrong": [0, 0, 2, 1],
    },
    "margin_decision": {
        "interval": (-0.01, 0.02),
        "inner_interval": (-0.005, 0.015),
        "margin": 0.03,
    },
    "margin_tests": {"difference": 0.01, "standard_error": 0.02, "margin": 0.03},
    "margin_tests_from_counts": {
        "only_a": 3,
        "only_b": 9,
        "both_right": 80,
        "both_wrong": 4,
        "margin": 0.1,
    },
    "mcnemar_from_counts": {"only_a": 3, "only_b": 9},
    "mcnemar_stratified_from_counts": {
        "only_a": [6, 3, 9],
        "only_b": [2, 4, 1],
        "both_right": [9, 8, 7],
        "both_wrong": [3, 1, 2],
    },
    "mcnemar_table": LABELS,
    "nadeau_bengio_t": {"differences": TEN[0], "n_train": 90, "n_test": 10},
    "naive_mcnemar": {"tables": FOLD_TABLES},
    "optimal_cutpoint": SCORE,
    "precision_recall_curve": SCORE,
    "proportion_z": {"errors_a": 5, "errors_b": 9, "n": 60},
    "resampled_t": {"differences": TEN[0]},
    "roc_band": SCORES | {"n_resamples": 5, "rng": 1},
    "roc_curve": SCORE,
    "screen_positive_ratio": {
        "both_positive": 10,
        "only_a_positive": 21,
        "only_b_positive": 24,
    },
    "signed_rank": {"values_a": S, "values_b": T},
    "stuart_maxwell": {"pred_a": A, "pred_b": B},
    "stuart_maxwell_from_counts": {"table": [[9, 2], [1, 8]]},
    "threshold_sweep": SCORE,
    "venkatraman": TWO_SCORES | {"n_resamples": 5, "rng": 1},
    "yildiz_t": {"differences": FIVE_BY_TWO},
}
TASK_SCORES = {"scores": {"a": S, "b": T}}
WINS = [[0, 9], [3, 0]]
BATTLES = {"model_a": ["a", "b"] * 6, "model_b": ["b", "a"] * 6, "result": A}
BATTLES |= {"item": [*range(6)] * 2, "weight": S}
GOOD |= {
    "datasets.bayes_correlated_t": {"scores_a": S, "scores_b": T},
    "datasets.bayes_datasets": TASK_SCORES | {"n_resamples": 99, "rng": 1},
    "datasets.bayes_sign": {"scores_a": S, "scores_b": T},
    "datasets.bayes_sign_from_counts": {"n_a": 9, "n_rope": 2, "n_b": 4},
    "datasets.bayes_signed_rank": {
        "scores_a": S,
        "scores_b": T,
        "n_resamples": 99,
        "rng": 1,
    },
    "bradley_terry": {"wins": WINS, "ties": [[0, 1], [1, 0]]},
    "compare_folds": {"scores": {"a": TEN, "b": TEN.T}},
    "datasets.bradley_terry_from_battles": {"battles": BATTLES, "rng": 1},
    "datasets.bradley_terry_from_scores": TASK_SCORES | {"rng": 1},
    "datasets.task_table": {"scores": np.stack([[TEN, TEN.T], [TEN.T, TEN]])},
    "datasets.win_components": {"wins": WINS},
    "datasets.leave_one_task_out": TASK_SCORES,
    "datasets.task_bootstrap": TASK_SCORES | {"n_resamples": 99, "rng": 1},
    "datasets.task_noise": {"differences": [[0.1, 0.3, 0.2], [0.0, -0.1]]},
    "designs.kfold": {},
    "designs.paired_halves": {},
    "designs.repeated_holdout": {},
    "designs.repeated_kfold": {},
    "designs.two_fold": {},
    **{
        f"datasets.{name}": {"scores": {"a": S, "b": T, "c": S[::-1]}}
        for name in (
            *("aligned_ranks", "compare_datasets", "friedman", "quade"),
            "skillings_mack",
        )
    },
    "datasets.friedman_pair_exact": {
        "rank_sum_difference": [3, 5],
        "n_models": 4,
        "n_tasks": 5,
    },
    "datasets.maximal_cliques": {"n_models": 3, "not_different": [(0, 1)]},
    "datasets.normalised_scores": {"scores": {"a": S, "b": T}},
    "datasets.shaffer_counts": {"n_models": 5},
    "planning.detectable_difference": {"n": 300, "discordant": 0.2},
    "planning.power": {"n": 100, "p10": 0.15, "p01": 0.05},
    "planning.sample_size": {"p10": 0.15, "p01": 0.05},
    "plot.critical_difference": {"result": PAIRWISE},
    "plot.curve": {"result": fastcmp.roc_curve(Y, S)},
    "plot.cutoffs": SCORE,
    "plot.evidence": {"result": LOOKS},
    "plot.folds": {"result": None},
    "plot.leaderboard": {"result": PAIRWISE},
    "plot.lift": {"table": fastcmp.lift_table(Y, S, groups=3)},
    "plot.power_curve": {"result": planning.sample_size(p10=0.15, p01=0.05)},
    "plot.precision_recall": SCORES,
    "plot.pvalue_map": {"result": PAIRWISE},
    "plot.rank_distribution": {
        "result": datasets.task_bootstrap(**TASK_SCORES, n_resamples=99, rng=1)
    },
    "plot.roc": SCORES,
    "plot.roc_band": {"result": fastcmp.roc_band(Y, S, n_resamples=5, rng=1)},
    "plot.task_scores": TASK_SCORES,
    "sequential.McNemarLooks": {},
    "sequential.McNemarLooks.look": {"counts": [[5, 2], [1, 3]]},
    "sequential.McNemarLooks.update": LABELS,
    "sequential.MeanLooks": {},
    "sequential.MeanLooks.update": {"differences": np.subtract(S, T)},
    "sequential.PairLooks": {},
    "sequential.PairLooks.look": {"counts": PAIR_COUNTS},
    "sequential.e_adjust": {"evalues": [0.5, 30.0]},
    "sequential.mcnemar": LABELS,
    "sequential.mcnemar_from_counts": {"only_a": 3, "only_b": 9},
    "sequential.mcnemar_looks": {"only_a": [1, 3], "only_b": [0, 9]},
    "sequential.mean_test": {"differences": np.subtract(S, T)},
    "sequential.normal_mixture_boundary": {"variances": 50, "optimal_variance": 50},
    "stream.ConfusionCounts": {},
    "stream.ConfusionCounts.update": {"y_true": Y, "preds": {"a": A, "b": B}},
    "stream.LabelCounts": {},
    "stream.LabelCounts.update": {"y_true": Y, "preds": {"a": A, "b": B}},
    "stream.PairCounts": {},
    "stream.PairCounts.update": {"y_true": Y, "preds": {"a": A, "b": B}},
    "stream.RocSketch": {},
    "stream.RocSketch.update": SCORES,
    "stream.ScoreCounts": {},
    "stream.ScoreCounts.update": SCORES,
    "stream.ScoreMap": {"edges": [0.3, 0.5]},
    "read_battles": {"path": FORMATS / "battles" / "battles.csv"},
    "read_results": {"path": FORMATS / "long" / "values.csv"},
    "stream.ValueMoments": {},
    "stream.ValueMoments.update": {"values": {"a": S, "b": S}, "weights": S},
}
#: What an accumulator that is updated is made with.
ACCUMULATORS = {
    "ConfusionCounts": {"classes": [0, 1]},
    "LabelCounts": {"classes": [0, 1]},
    "PairCounts": {},
    "RocSketch": {"map": stream.ScoreMap([0.3, 0.5])},
    "ScoreCounts": {"map": stream.ScoreMap([0.3, 0.5])},
    "ValueMoments": {},
}
#: States of `fastcmp.sequential`, and their methods that take data.
STATES = {
    "McNemarLooks": ("update", "look"),
    "MeanLooks": ("update",),
    "PairLooks": ("look",),
}
#: Made by a method of another; and a reader of files, with tests of its own.
NOT_CALLED = {"ScoreRefinement", "load"}
#: Functions without arguments.
NO_ARGUMENTS = {"load_demsar", "load_digits", "load_digits_scores"}

_LABELS = {
    "None": None,
    "a number": 3,
    "a string": "abcabcabcabc",
    "empty": [],
    "two dimensions": [Y, Y, Y],
    "too short": Y[:-1],
    "mixed types": ["a", 1] * 6,
    "complex": np.array([1j] * 12),
    "dicts": [{}] * 12,
    "unknown object": Nothing(),
    "all missing": [None] * 12,
}
_NUMBERS = {
    "None": None,
    "strings": list("abcdefghijkl"),
    "complex": np.array([1j] * 12),
    "unknown object": Nothing(),
    "ragged": [[1.0], [2.0, 3.0]],
    "NaN": [np.nan] * 12,
}
_SCORES = _NUMBERS | {"empty": [], "too short": S[:-1], "three dimensions": [[[S]]]}
_FOLDS = _NUMBERS | {"infinite": [[np.inf, 1.0]] * 5, "empty": [], "a number": 0.5}
_VALUES = _NUMBERS | {
    "a number": 3,
    "infinite": [np.inf] * 12,
    "too short": S[:-1],
    "three dimensions": [[S]],
    "labels": ["yes", "no"] * 6,
}
_OBJECT = {"None": None, "a number": 3, "a string": "abc", "unknown object": Nothing()}
_CHOICE = {"unknown": "nope", "a number": 3, "empty": "", "a list": ["midp"]}
_SHARE = {
    "0": 0,
    "1": 1,
    "percent": 95,
    "negative": -0.05,
    "NaN": np.nan,
    "a string": "0.95",
    "a list": [0.9],
    "bool": True,
}
_WHOLE = {"0": 0, "negative": -1, "a fraction": 1.5, "a string": "2", "bool": True}
_MARGIN = {
    "negative": -0.05,
    "NaN": np.nan,
    "infinite": np.inf,
    "a string": "0.02",
    "bool": True,
    "percent of what": [[0.1], [0.2, 0.3]],
}
_ENDS = {
    "None": None,
    "a number": 0.1,
    "three": (0.1, 0.2, 0.3),
    "turned": (0.2, 0.1),
    "strings": ("0.1", "0.2"),
}
_COUNT = {
    "negative": -1,
    "a fraction": 1.5,
    "a string": "2",
    "huge": 2**60,
    "NaN": np.nan,
    "unknown object": Nothing(),
}
_NUMBER = {
    "negative": -1.0,
    "NaN": np.nan,
    "infinite": np.inf,
    "a string": "1",
    "unknown object": Nothing(),
}
_TABLE = _OBJECT | {
    "negative": [[-1, 2], [3, 4]],
    "fractions": [[0.5, 2], [3, 4]],
    "not square": [[1, 2, 3], [4, 5, 6]],
    "huge": [[2**60, 1], [1, 2**60]],
}
_RANGE = {"descending": (0.5, 0.2), "one": (0.5,), "outside": (0, 1.5), "words": "ab"}
_MODELS = {
    "None": None,
    "a number": 3,
    "one dimension": Y,
    "too short": {"a": A[:-1], "b": B},
    "no models": {},
    "one name twice": fastcmp,
}

_COLUMN_NAME = {"a number": 3, "unknown": "nope", "a list": ["item"], "None": None}

#: What an argument of a name cannot be, in whatever function.
WRONG = {
    "y_true": _LABELS,
    "y": _LABELS,
    "y_a": _LABELS,
    "y_b": _LABELS,
    "pred_a": _LABELS,
    "pred": _LABELS,
    "pred_b": _LABELS,
    "preds": {k: v for k, v in _MODELS.items() if k != "one name twice"},
    "rater_a": _LABELS,
    "rater_b": _LABELS,
    "ratings": _MODELS | {"one rater": {"a": A}, "missing": {"a": A, "b": [None] * 12}},
    "rating_counts": _OBJECT
    | {"negative": [[-1, 4]], "fractions": [[0.5, 2.5]], "uneven": [[3, 0], [1, 1]]},
    "multiplicity": {"a number": 3, "too short": [1], "negative": [-1] * 3}
    | {"all 0": [0] * 3, "fractions": [0.5] * 3, "words": list("abc")},
    "labels": {
        "a number": 3,
        "a string": "ab",
        "empty": [],
        "one": [1],
        "one twice": [1, 1],
        "missing": [0, None],
    },
    "score": _SCORES,
    "score_a": _SCORES,
    "score_b": _SCORES,
    "scores": _SCORES,
    "values": _NUMBERS
    | {"a number": 3, "one dimension": S, "infinite": [[np.inf] * 12] * 2}
    | {"no models": {}, "too short": {"a": S[:-1], "b": S}},
    **dict.fromkeys(
        "ab",
        _OBJECT
        | {"one column": Y, "too short": (Y, A[:-1]), "a mapping": {0: Y, 1: A}}
        | {
            "three": (Y, A, B),
            "two numbers": (3, 2.5),
            "counts that cannot be": (3, 2),
        },
    ),
    "null_difference": {
        "NaN": np.nan,
        "infinite": np.inf,
        "a string": "x",
        "unknown object": Nothing(),
    },
    "two_sided": _CHOICE,
    "values_a": _VALUES,
    "values_b": _VALUES,
    "moments": _OBJECT | {"empty": stream.ValueMoments()},
    "estimate": _NUMBERS | {"one": [0.5], "a number": 3, "infinite": [0.5, np.inf]},
    "covariance": _NUMBERS
    | {"a number": 3, "too short": [1.0], "negative": [1.0, -1.0]}
    | {"not a covariance": [[1.0, 2.0], [2.0, 1.0]], "not square": [[1.0, 0.5]]}
    | {"infinite": [[np.inf, 0.0], [0.0, 1.0]]},
    "side": _CHOICE,
    "recentring": _CHOICE,
    "rank_intervals": _CHOICE,
    "resampling": _CHOICE,
    "step_down": {"a word": "yes", "a number": 1},
    "projection_critical": _NUMBER | {"0": 0.0, "a list": [2.0]},
    "bootstrap_indices": _NUMBERS
    | {"a number": 3, "too short": [[0, 1]], "fractions": [[0.5] * 12]}
    | {"out of range": [[12] * 12], "negative": [[-1] * 12], "empty": []},
    "weights": _NUMBERS | {"negative": [-1.0] * 12, "too short": [1.0] * 11},
    "score_or_label": _LABELS,
    "sample_weight": _NUMBERS
    | {"negative": [-1.0] * 12, "too short": [1.0] * 11, "all 0": [0.0] * 12},
    "strata": {"too short": [1] * 11, "missing": [None] * 12, "unknown": Nothing()},
    "stratum_weights": {
        "a word": "nope",
        "a number": 3,
        "without strata": "equal",
        "unknown": {"z": 1},
    },
    "groups": {"too short": [1] * 11, "missing": [None] * 12, "unknown": Nothing()},
    "differences": _FOLDS,
    "half_differences": _FOLDS,
    "folds": {
        "None": None,
        "fractions": [0.5] * 10,
        "too short": [0, 1],
        "words": "ab",
    },
    "tables": _TABLE,
    "table": _TABLE,
    "pvalues": _NUMBERS | {"above 1": [0.5, 1.5], "negative": [-0.1]},
    "counts": _OBJECT,
    "plain": _OBJECT
    | {
        "empty": {},
        "another version": {**RECORD, "version": 99},
        "no such record": {**RECORD, "record": "Nobody"},
        "other fields": {**RECORD, "fields": {"statistic": 1.0}},
    },
    "cost": {
        "not square": [[0, 1]],
        "negative": [[0, -1], [1, 0]],
        "NaN": [[0, np.nan], [1, 0]],
        "a diagonal": [[1, 1], [1, 0]],
        "strings": [["0", "1"], ["1", "0"]],
        "unknown object": Nothing(),
    },
    "classes": {
        "a number": 3,
        "empty": [],
        "one": [1],
        "one twice": [1, 1],
        "another kind": ["a", "b"],
    },
    "positive": {"unknown": 7, "another kind": "yes", "a list": [1]},
    "pairs": {
        "a number": 3,
        "unknown": [("a", "z")],
        "itself": [("a", "a")],
        "empty": [],
        "out of range": [(0, 9)],
        "three": [("a", "b", "a")],
    },
    "control": {"unknown": "z", "out of range": 9, "a fraction": 0.5},
    "names": {"one": ("a",), "a string": "ab", "equal": ("a", "a"), "a number": 3},
    "alternative": _CHOICE,
    "method": _CHOICE,
    "test": _CHOICE,
    "adjust": _CHOICE,
    "missing": _CHOICE,
    "ties": _CHOICE,
    "omnibus": _CHOICE,
    "exact": {"a number": 1, "a string": "yes"},
    "rank_sum_difference": _NUMBERS | {"a fraction": 0.5, "too large": 99},
    "n_models": _WHOLE,
    "n_tasks": _WHOLE,
    "not_different": _OBJECT | {"outside": [(0, 9)], "itself": [(1, 1)], "one": [(1,)]},
    "rule": _CHOICE,
    "criterion": _CHOICE,
    "reference": _CHOICE,
    "average": _CHOICE,
    "metrics": {"unknown": "nope", "a number": 3, "empty": [], "of all": ["mcc"]}
    | {"an average": "f1_macro", "one twice": ["f1", "f1"]},
    "overall": {"unknown": "nope", "a number": 3, "None": None, "of None": [None]},
    "target_names": {"a string": "ab", "one": ["a"], "a number": 3},
    "digits": {k: v for k, v in _WHOLE.items() if k != "0"} | {"many": 99},
    "metric": {"unknown": "nope", "None": None, "a number": 3, "empty": []},
    "zero_division": {"a word": "nope", "a fraction": 0.5, "a list": [0]},
    "scale": _CHOICE,
    "within_classes": {"a word": "yes", "a number": 1},
    "beta": {"0": 0, "a word": "two", "of F1": 2},
    "variance": _CHOICE,
    "interval": _CHOICE,
    "df": _CHOICE,
    "step": _CHOICE,
    "simultaneous": {"a word": "yes", "a number": 1},
    "studentized": {"a word": "yes", "a number": 1},
    "support": _CHOICE,
    "zero_method": _CHOICE,
    "continuity": {"a number": 1, "a string": "yes", "None": None},
    "cost_test": _CHOICE,
    "post_hoc": _CHOICE,
    "scoring": _CHOICE,
    "on_single_class": _CHOICE,
    "keep": {"unknown": "some", "1": 1, "a fraction": 2.5, "bool": True},
    "evalues": _NUMBERS | {"negative": [1.0, -0.5], "labels": ["yes", "no"], "a string": "12"},
    "variances": _NUMBERS | {"negative": [-1.0], "infinite": np.inf},
    "optimal_variance": _NUMBER | {"0": 0, "bool": True, "a list": [1.0]},
    "prior": {
        "a number": 0.5,
        "a string": "ab",
        "one": [0.5],
        "three": [0.5] * 3,
        "0": [0.5, 0.0],
        "negative": [-1.0, 1.0],
        "infinite": [np.inf, 1.0],
        "words": ["a", "b"],
        "None": None,
    },
    "mean0": {
        "outside": 1.5,
        "NaN": np.nan,
        "a string": "0",
        "bool": True,
        "None": None,
    },
    "bounds": {
        "a number": 1.0,
        "a string": "ab",
        "descending": (1, -1),
        "three": (-1, 0, 1),
        "infinite": (-np.inf, 1),
        "equal": (0, 0),
        "narrow": (-0.01, 0.01),
        "None": None,
    },
    "bets": {
        "a number": 0.5,
        "empty": [],
        "too large": [0.5, 1.5],
        "NaN": [np.nan],
        "words": ["a"],
        "unknown object": Nothing(),
        "two dimensions": [[0.5]],
    },
    "truncation": _SHARE,
    "running_intersection": {"a number": 1, "a word": "yes", "None": None},
    "alpha": _SHARE,
    "confidence_level": _SHARE,
    "prevalence": _SHARE,
    "cutoff": {"a string": "x", "NaN": np.nan, "a list": [0.5, 0.6]},
    "comparisons": _OBJECT | {"none": {}, "without margins": {"x": RECORD}},
    "margin": _MARGIN,
    "gamma": _NUMBER | {"1": 1, "negative": -0.1},
    "difference": _NUMBERS,
    "standard_error": _NUMBERS | {"negative": -0.1},
    "inner_interval": _ENDS,
    "cost_fp": _NUMBER,
    "cost_fn": _NUMBER,
    "smoothing": _NUMBER,
    "n_resamples": {k: v for k, v in _WHOLE.items() if k != "0"} | {"endless": 10**12},
    "workers": _WHOLE,
    "n_positives": _WHOLE,
    "n_negatives": _WHOLE,
    "memory_limit": {"negative": -1, "a word": "much", "a list": [1]},
    "progress": {"a word": "yes", "a number": 3},
    "rng": {"negative": -1, "a fraction": 1.5, "a string": "x", "huge": 2**64},
    "fpr_range": _RANGE,
    "tpr_range": _RANGE,
    "max_fpr": {"0": 0, "above 1": 1.5, "a string": "x", "NaN": np.nan},
    "specificity": {"above 1": 1.5, "a string": "x", "NaN": np.nan},
    "sensitivity": {"above 1": 1.5, "a string": "x", "NaN": np.nan},
    "rho1": {"above 1": 1.5, "a string": "x", "NaN": np.nan},
    "rho2": {"above 1": 1.5, "a string": "x", "NaN": np.nan},
    "n_train": {"0": 0, "negative": -1, "a string": "x", "NaN": np.nan},
    "n_test": {"0": 0, "negative": -1, "a string": "x", "NaN": np.nan},
    "auc": _SHARE | {"0": -1, "1": 2},
    "both_positive": _COUNT | {"a list": [1, 2]},
    "only_a_positive": _COUNT | {"a list": [1, 2]},
    "only_b_positive": _COUNT | {"a list": [1, 2]},
    "only_a": _COUNT,
    "only_b": _COUNT,
    "both_right": _COUNT,
    "both_wrong": _COUNT,
    "tp": _COUNT,
    "fp": _COUNT,
    "fn": _COUNT,
    "tn": _COUNT,
    "errors_a": _COUNT | {"more than n": 61},
    "errors_b": _COUNT | {"more than n": 61},
    "n": _COUNT | {"0": 0},
    "n_a": _COUNT | {"0": 0},
    "n_b": _COUNT | {"0": 0},
    "correct_a": _COUNT | {"more than n": 13},
    "correct_b": _COUNT | {"more than n": 11},
    "model_a": _OBJECT,
    "model_b": _OBJECT,
    "models": _OBJECT | {"one": {"a": Nothing()}},
    "X": {"None": None, "too short": X(11), "words": "ab"},
    "X_a": {"None": None, "too short": X(11), "words": "ab"},
    "X_b": {"None": None, "too short": X(11), "words": "ab"},
    "n_folds": _WHOLE | {"1": 1, "huge": 2**40},
    "n_repeats": _WHOLE,
    "n_halves": _WHOLE,
    "m": _WHOLE,
    "test_size": {"0": 0, "1.0": 1.0, "negative": -0.1, "a string": "x", "NaN": np.nan},
    "result": _OBJECT,
    "ax": {"a number": 3, "a string": "x", "unknown object": Nothing()},
    "kind": _CHOICE,
    "grid": _CHOICE,
    "edges": _NUMBERS | {"descending": [0.5, 0.3], "two dimensions": [[0.3], [0.5]]},
    "map": {"a number": 3, "a string": "x", "unknown object": Nothing()},
    "frame": _OBJECT | {"no columns": {}, "empty": {x: [] for x in LONG}},
    **dict.fromkeys(
        ("item", "model", "value", "repeat", "group", "stratum", "weight"), _COLUMN_NAME
    ),
    "probabilities": _SCORES | {"above 1": [1.5] * 12},
    "eps": {"negative": -0.1, "1": 1, "a string": "x", "NaN": np.nan},
    "n_correct": _COUNT | {"more than all": 9},
    "n_samples": _COUNT | {"fewer than right": 1},
    "k": _WHOLE | {"None": None, "more than all": 9},
    "tau": {"above 1": 1.5, "negative": -0.5, "a string": "x", "NaN": np.nan},
    "repeats": _CHOICE,
    "measure": _CHOICE,
    "hypothesis": _CHOICE,
    "inputs": {"unknown": 3},
    "path": {"a number": 3, "None": None, "unknown object": Nothing(), "empty": []},
    "task": {"unknown": "nope", "a number": 3, "empty": [], "numbers": [3]},
    "items": _CHOICE,
    "errors": _CHOICE,
    "runs": _CHOICE,
    "format": _CHOICE,
    "imputed": _CHOICE,
    "filter": {"a number": 3, "of another format": "strict-match"},
    "ids": {"a number": 3, "of another format": ["a"]},
    "columns": {"a number": 3, "a list": ["item"], "unknown": {"item": "nope"}}
    | {"of nothing": {"nope": "item"}, "numbers": {"item": 3}},
    "power": {"0": 0, "1": 1, "below alpha": 0.04, "NaN": np.nan, "a string": "0.8"},
    "scores_a": _VALUES,
    "scores_b": _VALUES,
    "rope": _NUMBER,
    "threshold": _SHARE,
    "prior_strength": _NUMBER,
    "prior_place": _CHOICE,
    "wins": {k: v for k, v in _TABLE.items() if k != "fractions"},
    "ties_as": _CHOICE,
    "ridge": _NUMBER,
    "battles": _OBJECT | {"no columns": {}},
    "test_train_ratio": _NUMBER | {"0": 0, "none for each": [0.1, 0.2, 0.3]},
    "baseline": {"unknown": "z", "out of range": 9, "a fraction": 0.5},
    "checkpoint": {"a number": 3, "for one data set": "here"},
    "z0": {k: v for k, v in _NUMBER.items() if k != "negative"},
    "boundary": _CHOICE,
    "rho": _NUMBER | {"1": 1},
    "rank_by": _CHOICE,
    "top_k": _WHOLE | {"more than models": 3},
    "nested": {"a word": "yes", "a number": 1, "without items": True},
    "tasks": {"one": ("a",), "a string": "ab", "equal": ["a"] * 12, "a number": 3},
    "n_rope": _COUNT,
    "design": {"a number": 5, "a word": "kfold", "unknown object": Nothing()},
}
#: Flags, and arguments that take any object.
FREE = {
    "blocked",
    "band",
    "cumulative",
    "standardize",
    "lower_is_better",
    "strict",
    "nonnegative",
    "stratify",
    "drop_intermediate",
}
#: For `lift_table` groups is a number.
WRONG_IN = {
    ("simultaneous_pairs", "df"): {
        "0": 0,
        "negative": -1.0,
        "a string": "x",
        "NaN": np.nan,
    },
    ("margin_decision", "interval"): _ENDS,
    **{
        ("datasets.bayes_sign_from_counts", name): _COUNT | {"a list": [1, 2]}
        for name in ("n_a", "n_rope", "n_b")
    },
    **{
        (f"datasets.bradley_terry_from_{kind}", "covariance"): _CHOICE
        for kind in ("battles", "scores")
    },
    **{
        (name, "ties"): {"a number": 3, "a string": "abc", "unknown object": Nothing()}
        | {"negative": [[0, -1], [-1, 0]], "of one side": [[0, 1], [2, 0]]}
        for name in ("bradley_terry", "datasets.win_components")
    },
    ("bradley_terry", "covariance"): _CHOICE | {"of clusters": "clustered"},
    **{
        ("datasets.bradley_terry_from_battles", name): {
            k: v for k, v in _COLUMN_NAME.items() if k != "None"
        }
        for name in ("group", "weight")
    },
    ("compare_folds", "metric"): {"unknown": "nope", "a number": 3, "empty": []},
    ("datasets.task_bootstrap", "items"): {
        "not asked for": [[S, T]],
        "a number": 3,
    },
    ("datasets.bayes_correlated_t", "runs"): _WHOLE | {"no divisor": 5},
    ("datasets.task_noise", "tasks"): {
        "one": ("x",),
        "a string": "ab",
        "equal": ["x"] * 2,
        "a number": 3,
    },
    ("margin_tests", "df"): {"0": 0, "negative": -1, "a string": "9", "NaN": np.nan},
    ("margin_tests", "n_samples"): _COUNT,
    ("margin_tests_from_counts", "margin"): _MARGIN | {"0": 0, "1": 1, "above": 2},
    ("mcnemar", "margin"): _MARGIN | {"0": 0, "1": 1, "above": 2},
    ("compare_metric", "margin"): _MARGIN | {"0": 0, "1": 1, "two": [0.1, 0.1]},
    ("lift_table", "groups"): _WHOLE | {"too many": 10**9},
    ("compare_cv", "workers"): _WHOLE | {"negative": -2},
    ("compare_cv_all", "workers"): _WHOLE | {"negative": -2},
    ("plot.curve", "label"): {"a number": 3, "unknown object": Nothing()},
    ("plot.lift", "table"): _OBJECT,
    # No value has come yet.
    ("sequential.MeanLooks", "bounds"): {"a number": 1.0, "descending": (1, -1)},
    **{
        (f"planning.{name}", "alpha"): {k: v for k, v in _SHARE.items() if k != "a list"}
        for name in planning.__all__
    },
    **{
        (name, "weights"): {
            "unknown": "nope",
            "a number": 3,
            "negative": [[0, -1], [1, 0]],
            "of agreement": [[1, 0], [0, 1]],
            "too large": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
            "words": [["a", "b"], ["c", "d"]],
        }
        for name in ("cohen_kappa", "cohen_kappa_from_counts")
    },
    ("compare_sensitivity_specificity_from_counts", "positive"): {
        "unknown": 7,
        "another kind": "yes",
    },
    ("variance_components", "k"): {"with a mean": 2},
    **{
        (name, "models"): {
            "a number": 3,
            "unknown": ["z"],
            "a string": "ab",
            "one twice": [0, 0],
            "empty": [],
        }
        for name in ("rank_sets", "rank_sets_from_moments")
    },
    **{
        (name, argument): wrong
        for name in ("inspect_results", "read_results")
        for argument, wrong in {
            "metric": {"unknown": "nope", "a number": 3, "empty": []},
            "values": {"a word": "yes", "a number": 1, "None": None},
        }.items()
    },
    ("read_battles", "path"): {
        "a number": 3,
        "None": None,
        "unknown object": Nothing(),
    },
    # How many models there are, a number may say.
    **{
        (f"stream.{kind}", "names"): {"equal": ("a", "a"), "0": 0, "a fraction": 1.5}
        for kind in ACCUMULATORS
    },
}
#: Other names under which an argument may be known in a message.
ALSO = {
    "classes": ("name the positive class",),
    "preds": ("model", "labels, y_true has"),
    "scores": ("model",),
    "values": ("model",),
    "model_a": ("model 'a'",),
    "model_b": ("model 'b'",),
    "models": ("model",),
    "differences": ("folds",),
    "result": ("draws a",),
    "table": ("draws a",),
    "cutoff": ("criterion",),
    "frame": ("item=",),
    "score_or_label": ("scores has 0 scores",),
    "counts": ("ConfusionCounts",),
    "plain": ("record must be", "fields of"),
}
#: What a function takes although it looks wrong, with the reason.
TAKEN = {
    **{
        ("margin_tests", name, "NaN"): "stays NaN, and nothing can be told"
        for name in ("difference", "standard_error")
    },
    **{
        (name, "labels", "one"): "an average over one class"
        for name in (
            "classification_report",
            "classification_report_from_counts",
            "compare_metric",
            "compare_metric_from_counts",
            "make_metric",
            "metric",
            "metric_from_counts",
        )
    },
    ("classification_report", "preds", "one dimension"): "the labels of one model",
    **{("means_unpaired", name, "too short"): "other samples" for name in ("values_a", "values_b")},
    ("make_metric", "prevalence", "a list"): "proportions, as many as classes",
    **{
        ("make_metric", "positive", what): "no label has come yet"
        for what in ("unknown", "another kind", "a list")
    },
    **{
        ("inspect_results", argument, what): "stands among the problems"
        for argument, what in (
            *(("metric", "unknown"), ("task", "unknown")),
            *(("columns", "unknown"), ("columns", "of nothing")),
            *(("filter", "of another format"), ("ids", "of another format")),
        )
    },
    ("adjust", "pvalues", "NaN"): "stays NaN, and is not counted as a test",
    **{
        (f"stream.{kind}", "classes", "another kind"): "no label has come yet"
        for kind in ("ConfusionCounts", "LabelCounts", "PairCounts")
    },
    **{
        (f"stream.{kind}", "positive", what): "no label has come yet"
        for kind in ("RocSketch", "ScoreCounts")
        for what in ("unknown", "another kind", "a list")
    },
    (
        "sequential.e_adjust",
        "evalues",
        "NaN",
    ): "stays NaN, and is not counted as a test",
    ("sequential.McNemarLooks", "classes", "another kind"): "no label has come yet",
    ("sequential.McNemarLooks.update", "y_true", "all missing"): "dropped, and counted",
    ("sequential.MeanLooks.update", "differences", "empty"): "a block of no values",
    **{
        (f"stream.{kind}.update", "y_true", "all missing"): "dropped, and counted"
        for kind in ACCUMULATORS
    },
}


def public_functions():
    """Every public function, and the update of every accumulator, by name."""
    found = {}
    for module in (fastcmp, datasets, designs, planning, plot):
        stem = "" if module is fastcmp else f"{module.__name__.split('.')[1]}."
        for name in module.__all__:
            twice = module is datasets and name in fastcmp.__all__
            if inspect.isfunction(value := getattr(module, name)) and not twice:
                found[stem + name] = value
    for name in stream.__all__:
        value = getattr(stream, name)
        if inspect.isclass(value) and name in ACCUMULATORS:
            found[f"stream.{name}"] = value
            found[f"stream.{name}.update"] = _update(value, ACCUMULATORS[name])
        elif name not in NOT_CALLED:
            found[f"stream.{name}"] = value
    for name in sequential.__all__:
        value = getattr(sequential, name)
        if name in STATES or inspect.isfunction(value):
            found[f"sequential.{name}"] = value
        for method in STATES.get(name, ()):
            found[f"sequential.{name}.{method}"] = _update(value, {}, method)
    return {name: found[name] for name in sorted(found) if name not in NO_ARGUMENTS}


def _update(kind, made_of, method="update"):
    """The method of a new accumulator."""

    def update(**given):
        return getattr(kind(**made_of), method)(**given)

    update.__signature__ = inspect.signature(getattr(kind(**made_of), method))
    return update


FUNCTIONS = public_functions()


def arguments(name):
    given = dict(GOOD[name])
    if name == "compare_cv":
        given["model_a"], given["model_b"] = models()
    if name == "compare_cv_all":
        given["models"] = dict(zip("ab", models(), strict=True))
    if name == "plot.folds":
        given["result"] = fastcmp.compare_cv(**arguments("compare_cv"))
    if name == "compare_holdout":
        given["model_a"], given["model_b"] = fitted()
    return given


def wrong_values(name):
    for argument in inspect.signature(FUNCTIONS[name]).parameters:
        if argument in FREE:
            continue
        wrong = WRONG_IN.get((name, argument)) or WRONG.get(argument, {})
        for what in wrong or ["nothing listed"]:
            yield argument, what


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_proper_call_is_answered(name):
    assert FUNCTIONS[name](**arguments(name)) is not None


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wrong_input_is_refused_by_name(name):
    for argument, what in wrong_values(name):
        with case(argument, what):
            refuses(name, argument, what)


def refuses(name, argument, what):
    wrong = (WRONG_IN.get((name, argument)) or WRONG[argument])[what]
    if (name, argument, what) in TAKEN:
        FUNCTIONS[name](**(arguments(name) | {argument: wrong}))
        return
    default = inspect.signature(FUNCTIONS[name]).parameters[argument].default
    if wrong is None and default is None:
        return
    with pytest.raises((ValueError, TypeError)) as caught:
        FUNCTIONS[name](**(arguments(name) | {argument: wrong}))
    message = str(caught.value)
    raised_in = traceback.extract_tb(caught.tb)[-1].filename
    assert raised_in.startswith(HERE), f"{raised_in}: {message}"
    known = (argument, *ALSO.get(argument, ()))
    assert any(word in message for word in known), message
    assert len(message) > 15


WORDS = [
    (name, argument)
    for name, function in FUNCTIONS.items()
    for argument, given in inspect.signature(function).parameters.items()
    if WRONG.get(argument) is _CHOICE and isinstance(given.default, str) and "." not in name
]


@pytest.mark.parametrize(("name", "argument"), WORDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_words_are_known_in_any_case_and_with_any_hyphens(name, argument):
    function, given = FUNCTIONS[name], arguments(name)
    if "rng" in inspect.signature(function).parameters:
        given["rng"] = 1
    word = inspect.signature(function).parameters[argument].default
    word = given.setdefault(argument, word)
    spelled = given | {argument: word.upper().replace("-", "_")}
    assert same(function(**spelled), function(**given))


# Columns of pandas.

#: Arguments that are one column a sample.
COLUMNS = {
    *("y_true", "y", "pred_a", "pred_b", "score", "score_a", "score_b", "y_a", "y_b"),
    *("preds", "scores", "score_or_label"),
}


def with_index(value, index):
    """The same columns as pandas objects."""
    pd = pytest.importorskip("pandas")
    if isinstance(value, dict):
        return {name: with_index(own, index) for name, own in value.items()}
    make = pd.DataFrame if np.ndim(value) == 2 else pd.Series
    return make(np.asarray(value), index=index)


def columns_of(name):
    given = arguments(name)
    return [key for key in given if key in COLUMNS and np.size(given[key]) > 0]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if len(columns_of(name)) > 1])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_of_pandas_are_never_matched_by_position(name):
    given, columns = arguments(name), columns_of(name)
    index = np.arange(12)
    same = {key: with_index(given[key], index) for key in columns}
    FUNCTIONS[name](**(given | same))
    for other in (index[::-1], index + 5):
        wrong = with_index(given[columns[-1]], other)
        with pytest.raises(ValueError, match="index"):
            FUNCTIONS[name](**(given | same | {columns[-1]: wrong}))
