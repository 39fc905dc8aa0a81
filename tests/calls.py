"""A proper call of each public function, for laws and refusals that hold for all of them.

A new function gets a line in `GOOD`. Nothing is computed before it is asked for: a function in
place of an argument makes it.
"""

import inspect
import os
from functools import cache
from pathlib import Path

import numpy as np

import fastcmp
from fastcmp import Estimates, datasets, designs, planning, plot, sequential, stream

os.environ.setdefault("MPLBACKEND", "agg")
FORMATS = Path(__file__).parent / "reference" / "formats"

Y = [0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
A = [0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0]
B = [1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
S = [0.1, 0.8, 0.7, 0.2, 0.6, 0.3, 0.9, 0.4, 0.5, 0.55, 0.35, 0.15]
T = [0.2, 0.7, 0.9, 0.1, 0.4, 0.3, 0.8, 0.4, 0.5, 0.6, 0.65, 0.05]
THREE = {"a": A, "b": B, "c": A[::-1]}
VALUES = {"a": S, "b": T, "c": S[::-1]}
K3 = [0, 1, 2] * 4
CRITERIA = {"score": VALUES, "time": {"a": T, "b": S[::-1], "c": S}}
COST = [[0, 1], [5, 0]]
FOLD_TABLES = [[[9, 8], [1, 2]], [[7, 3], [6, 4]], [[9, 0], [0, 2]]]

LONG = {"item": Y + A, "model": ["a", "b"] * 12, "value": S + T, "r": [*range(24)]}
SUMS = {"item": [*range(12)] * 3, "model": ["a"] * 12 + ["b"] * 12 + ["c"] * 12}
SUMS |= {"errors": [*A, *B, *[3, 0, 1] * 4], "words": [5, 4, 7, 6, 5, 9, 3, 8, 6, 5, 4, 7] * 3}

#: What a judge says of the answers of two models, and labels of some of these.
JUDGE = {"a": A, "b": B}
HUMAN = {"a": [*Y[:8], *[None] * 4], "b": [None, *B[1:5], 0, 1, 1, *[None] * 4]}
JUDGED = {"judge": JUDGE, "human": HUMAN}
OF_STRATA = {"stratum_sd": [0.3, 0.5], "stratum_sizes": [5, 7], "item_sd": S}

LABELS = {"y_true": Y, "pred_a": A, "pred_b": B}
SCORE = {"y_true": Y, "score": S}
SCORES = {"y_true": Y, "scores": {"a": S, "b": T}}
RISKS = {"y_true": Y, "probabilities": {"a": S, "b": T}}
TWO_SCORES = {"y_true": Y, "score_a": S, "score_b": T}


def pair_counts():
    return stream.PairCounts().update(Y, THREE)


def label_counts():
    return stream.LabelCounts(classes=[0, 1]).update(Y, {"a": A, "b": B})


def score_counts():
    return stream.ScoreCounts(stream.ScoreMap([0.3, 0.5])).update(Y, S)


def moments():
    return stream.ValueMoments().update(VALUES)


def pairwise():
    return fastcmp.compare_all(Y, {"a": A, "b": B})


def looks():
    return sequential.mcnemar_looks([3, 9, 15], [1, 2, 4])


def record():
    return fastcmp.mcnemar(only_a=11, only_b=1).to_dict()


def five_by_two():
    return np.random.default_rng(1).normal(0.01, 0.02, (5, 2))


def ten():
    return np.random.default_rng(2).normal(0.01, 0.02, (10, 10))


def answers():
    return np.array([Y, A, B, A, Y, B, A, B], float).reshape(2, 12, 4)


def X(n=12):
    return np.random.default_rng(3).normal(size=(n, 2))


def models():
    from sklearn.dummy import DummyClassifier
    from sklearn.tree import DecisionTreeClassifier

    return DummyClassifier(), DecisionTreeClassifier()


def no_counts():
    return stream.PairCounts()


def delayed_blocks():
    import dask

    return [dask.delayed((Y, THREE))]


def fitted():
    return tuple(model.fit(X(), Y) for model in models())


CV = {"X": X, "y": Y, "design": lambda: designs.two_fold(2, blocked=True, rng=1), "rng": 1}
HOLDOUT = {"X_a": X, "X_b": X, "y": Y}
HOLDOUT |= {"model_a": lambda: fitted()[0], "model_b": lambda: fitted()[1]}

#: A proper call of each function: its arguments by keyword.
GOOD = {
    "accuracy_unpaired": {"y_a": Y, "pred_a": A, "y_b": Y, "pred_b": B},
    "adjust": {"pvalues": [0.01, 0.2]},
    "auc": SCORES,
    "auc_bootstrap": SCORES | {"n_resamples": 5, "rng": 1},
    "auc_permutation_test": TWO_SCORES | {"n_resamples": 5, "rng": 1},
    "average_precision": SCORE,
    "bcv_mcnemar": {"tables": [FOLD_TABLES[:2]] * 3},
    "classification_report": {"y_true": Y, "preds": THREE},
    "classification_table": {"y_true": Y, "score_or_label": S},
    "cochrans_q": {"y_true": Y, "preds": THREE},
    "compare": {"data": VALUES, "rng": 1},
    "compare_all": {"y_true": Y, "preds": THREE},
    "compare_cv": CV | {"model_a": lambda: models()[0], "model_b": lambda: models()[1]},
    "compare_cv_all": CV | {"models": lambda: dict(zip("ab", models(), strict=True))},
    "compare_holdout": HOLDOUT,
    "compare_labels": LABELS,
    "compare_metric": {"y_true": Y, "pred_a": A, "pred_b": B, "metric": "f1", "rng": 1},
    "compare_sums": {"stats": SUMS, "metric": "ratio", "rng": 1},
    "regression_sums": {"truth": S, "predicted": {"a": T, "b": S[::-1]}},
    "compare_datasets": {"scores": VALUES},
    "compare_means": {"values": VALUES, "rng": 1},
    "compare_slices": {"values": VALUES, "slices": K3, "rng": 1},
    **{
        name: {"values": VALUES, "n_resamples": 299, "rng": 1}
        for name in ("best_set", "rank_sets", "model_confidence_set", "winner_estimate")
    },
    "symmetry": {"pred_a": A, "pred_b": B},
    "superior_ability": {"values": VALUES, "control": 0, "rng": 1},
    "Estimates": {"values": [0.9, 0.8], "covariance": [0.001, 0.002]},
    "correct_values": {"y_true": Y, "preds": THREE},
    "compare_predictions": {"y_true": Y, "preds": THREE},
    "compare_sensitivity_specificity": LABELS,
    "compare_unpaired": {"a": (Y, A), "b": (Y[::-1], B)},
    "cohen_kappa": {"rater_a": A, "rater_b": B},
    "concordance": SCORE,
    "cost_test": LABELS | {"cost": COST},
    "count_labels": LABELS,
    "delong": SCORES,
    "dice_values": {
        "y_true": [[1, 1, 0], [0, 0, 0]],
        "masks": {"a": [[1, 0, 0], [0, 0, 0]], "b": [[1, 1, 1], [0, 1, 0]]},
    },
    "delong_unpaired": {"y_a": Y, "score_a": S, "y_b": Y, "score_b": T},
    "det_curve": SCORE,
    "gain_curve": SCORE,
    "group_gaps": {"y_true": Y, "preds": THREE, "group": list("uuuuvvvvvuuv")},
    "hanley_mcneil": {"auc": 0.8, "n_positives": 5, "n_negatives": 6},
    "ks_statistic": SCORE,
    "inspect_results": {"path": FORMATS / "long" / "values.csv"},
    "lift_table": SCORE | {"groups": 3},
    "fleiss_kappa": {"ratings": {"a": A, "b": B, "c": Y}},
    "exact": {"values": [0.5, 2.0]},
    "fold_test": {"x": five_by_two, "method": "bouckaert-frank-t"},
    "from_dict": {"plain": record},
    "gate": {"comparisons": lambda: {"all": fastcmp.mcnemar(Y, A, B, margin=0.1)}},
    "judged_values": JUDGED,
    "judge_agreement": JUDGED,
    "rogan_gladen": {
        "judge": JUDGE,
        "calibration": {"positives": 9, "judged_right": 8, "negatives": 7, "judged_wrong": 6},
    },
    "brier_values": {"y_true": Y, "probabilities": S},
    "calibration": RISKS | {"n_resamples": 9, "rng": 1},
    "decision_curve": RISKS | {"thresholds": [0.2, 0.4], "n_resamples": 99, "rng": 1},
    "net_benefit_values": RISKS | {"threshold": 0.3},
    "reliability_diagram": RISKS | {"n_resamples": 9, "rng": 1},
    "log_loss_values": {"y_true": Y, "probabilities": S},
    "load_digits_values": {"measure": "brier"},
    "from_long": {"frame": LONG, "repeat": "r"},
    "g_pass_at_k": {"n_correct": 2, "n_samples": 8, "k": 4, "tau": 0.5},
    "pass_at_k": {"n_correct": 2, "n_samples": 8, "k": 4},
    "pass_hat_k": {"n_correct": 2, "n_samples": 8, "k": 4},
    "pass_variance": {"n_correct": 2, "n_samples": 8, "k": 4},
    "variance_components": {"values": answers, "names": ["a", "b"]},
    "make_metric": {"metric": "f1"},
    "metric": {"y_true": Y, "pred": A, "metric": "f1", "rng": 1},
    "metric_equality": {"y_true": Y, "preds": THREE, "metric": "f1"},
    "max_t": {"differences": {"a - b": S, "a - c": T}, "rng": 1},
    "simultaneous_pairs": {
        "estimates": Estimates([0.8, 0.7], [[2e-4, 1e-4], [1e-4, 2e-4]]),
        "n_resamples": 99,
        "rng": 1,
    },
    "mean_difference": {"values_a": S, "values_b": T, "rng": 1},
    "means_unpaired": {"values_a": S, "values_b": T},
    "mcnemar": LABELS,
    "margin_decision": {
        "interval": (-0.01, 0.02),
        "inner_interval": (-0.005, 0.015),
        "margin": 0.03,
    },
    "margin_tests": {"difference": 0.01, "standard_error": 0.02, "margin": 0.03},
    "mcnemar_table": LABELS,
    "optimal_cutpoint": SCORE,
    "pareto_set": {"criteria": CRITERIA, "lower_is_better": ["time"]},
    "precision_recall_curve": SCORE,
    "roc_band": SCORES | {"n_resamples": 5, "rng": 1},
    "roc_curve": SCORE,
    "screen_positive_ratio": {"both_positive": 10, "only_a_positive": 21, "only_b_positive": 24},
    "signed_rank": {"values_a": S, "values_b": T},
    "threshold_sweep": SCORE,
    "venkatraman": TWO_SCORES | {"n_resamples": 5, "rng": 1},
}
TASK_SCORES = {"scores": VALUES}
WINS = [[0, 9], [3, 0]]
BATTLES = {"model_a": ["a", "b"] * 6, "model_b": ["b", "a"] * 6, "result": A}
BATTLES |= {"item": [*range(6)] * 2, "weight": S}
GOOD |= {
    "datasets.bayes_correlated_t": {"scores_a": S, "scores_b": T},
    "datasets.bayes_datasets": TASK_SCORES | {"n_resamples": 99, "rng": 1},
    "datasets.bayes_sign": {"scores_a": S, "scores_b": T},
    "datasets.bayes_signed_rank": {"scores_a": S, "scores_b": T, "n_resamples": 99, "rng": 1},
    "bradley_terry": {"wins": WINS, "ties": [[0, 1], [1, 0]]},
    "compare_folds": {"scores": lambda: {"a": ten(), "b": ten().T}},
    "datasets.bradley_terry_from_battles": {"battles": BATTLES, "rng": 1},
    "datasets.bradley_terry_from_scores": TASK_SCORES | {"rng": 1},
    "datasets.task_table": {"scores": lambda: np.stack([[ten(), ten().T], [ten().T, ten()]])},
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
        f"datasets.{name}": {"scores": VALUES}
        for name in (*("aligned_ranks", "compare_datasets", "friedman", "quade"), "skillings_mack")
    },
    "datasets.friedman_pair_exact": {"rank_sum_difference": [3, 5], "n_models": 4, "n_tasks": 5},
    "datasets.maximal_cliques": {"n_models": 3, "not_different": [(0, 1)]},
    "datasets.normalised_scores": {"scores": {"a": S, "b": T}},
    "datasets.shaffer_counts": {"n_models": 5},
    "planning.detectable_difference": {"n": 300, "discordant": 0.2},
    "planning.labels": {"n": 10, "n_items": 12, "correlation": 0.7} | OF_STRATA,
    "planning.power": {"n": 100, "p10": 0.15, "p01": 0.05},
    "planning.sample_size": {"p10": 0.15, "p01": 0.05},
    "plot.calibration": {"result": lambda: fastcmp.calibration(Y, [S, T])},
    "plot.critical_difference": {"result": pairwise},
    "plot.curve": {"result": lambda: fastcmp.roc_curve(Y, S)},
    "plot.cutoffs": SCORE,
    "plot.decision_curve": {"result": lambda: fastcmp.decision_curve(Y, [S, T], rng=1)},
    "plot.evidence": {"result": looks},
    "plot.folds": {"result": lambda: fastcmp.compare_cv(**arguments("compare_cv"))},
    "plot.leaderboard": {"result": pairwise},
    "plot.lift": {"table": lambda: fastcmp.lift_table(Y, S, groups=3)},
    "plot.pareto": {"result": lambda: fastcmp.pareto_set(**arguments("pareto_set"))},
    "plot.slice_map": {"result": lambda: fastcmp.compare_slices(VALUES, K3)},
    "plot.power_curve": {"result": lambda: planning.sample_size(p10=0.15, p01=0.05)},
    "plot.precision_recall": SCORES,
    "plot.pvalue_map": {"result": pairwise},
    "plot.rank_distribution": {
        "result": lambda: datasets.task_bootstrap(**TASK_SCORES, n_resamples=99, rng=1)
    },
    "plot.reliability": {"result": lambda: fastcmp.reliability_diagram(Y, [S, T], rng=1)},
    "plot.roc": SCORES,
    "plot.roc_band": {"result": lambda: fastcmp.roc_band(Y, S, n_resamples=5, rng=1)},
    "plot.task_scores": TASK_SCORES,
    "sequential.McNemarLooks": {},
    "sequential.McNemarLooks.look": {"counts": [[5, 2], [1, 3]]},
    "sequential.McNemarLooks.update": LABELS,
    "sequential.MeanLooks": {},
    "sequential.MeanLooks.update": {"differences": lambda: np.subtract(S, T)},
    "sequential.PairLooks": {},
    "sequential.PairLooks.look": {"counts": pair_counts},
    "sequential.e_adjust": {"evalues": [0.5, 30.0]},
    "sequential.mcnemar": LABELS,
    "sequential.mcnemar_looks": {"only_a": [1, 3], "only_b": [0, 9]},
    "sequential.mean_test": {"differences": lambda: np.subtract(S, T)},
    "sequential.normal_mixture_boundary": {"variances": 50, "optimal_variance": 50},
    "stream.ConfusionCounts": {},
    "stream.ConfusionCounts.update": {"y_true": Y, "preds": THREE},
    "stream.gather": {"accumulator": no_counts, "data": delayed_blocks},
    "stream.LabelCounts": {},
    "stream.LabelCounts.update": {"y_true": Y, "preds": THREE},
    "stream.PairCounts": {},
    "stream.PairCounts.update": {"y_true": Y, "preds": THREE},
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
    "RocSketch": {"map": lambda: stream.ScoreMap([0.3, 0.5])},
    "ScoreCounts": {"map": lambda: stream.ScoreMap([0.3, 0.5])},
    "ValueMoments": {},
}
#: States of `fastcmp.sequential`, and their methods that take data.
STATES = {"McNemarLooks": ("update", "look"), "MeanLooks": ("update",), "PairLooks": ("look",)}
#: Made by a method of another; and a reader of files, with tests of its own.
NOT_CALLED = {"ScoreRefinement", "load"}
#: Functions without arguments.
NO_ARGUMENTS = {"load_demsar", "load_digits", "load_digits_scores"}


def function_names():
    """Names of all public functions, and of what updates an accumulator, without loading any."""
    modules = {path.stem for path in Path(fastcmp.__file__).parent.iterdir()}
    for module in (fastcmp, datasets, designs, planning, plot):
        stem = "" if module is fastcmp else f"{module.__name__.split('.')[1]}."
        for name in module.__all__:
            twice = module is datasets and name in fastcmp.__all__
            if (name.islower() or name == "Estimates") and not twice and name not in modules:
                yield stem + name
    yield from (f"stream.{name}" for name in stream.__all__ if name not in NOT_CALLED)
    yield from (f"stream.{name}.update" for name in ACCUMULATORS)
    yield from (f"sequential.{name}" for name in sequential.__all__ if name[0].islower())
    for name, methods in STATES.items():
        yield from (f"sequential.{name}", *(f"sequential.{name}.{x}" for x in methods))


FUNCTIONS = sorted(set(function_names()) - NO_ARGUMENTS - {"__version__"})


def made(options):
    """Arguments with what functions in their place make."""
    return {k: v() if inspect.isfunction(v) else v for k, v in options.items()}


@cache
def function(name):
    """A public function by its name; for a method, one that calls it on a new accumulator."""
    names = name.split(".")
    value = fastcmp
    for part in names[:2]:
        value = getattr(value, part)
    if len(names) < 3:
        return value
    options = ACCUMULATORS.get(names[1], {})

    def method(**given):
        return getattr(value(**made(options)), names[2])(**given)

    method.__signature__ = inspect.signature(getattr(value(**made(options)), names[2]))
    return method


#: Calls with counts in the place of data.
BY_COUNTS = {
    "accuracy_unpaired": {"counts": (9, 12, 7, 10)},
    "auc": {"counts": score_counts},
    "classification_table": {"tp": 9, "fp": 2, "fn": 1, "tn": 8},
    "compare_all": {"counts": pair_counts},
    "compare_means": {"values": moments},
    "cost_test": {"counts": label_counts, "cost": COST},
    "datasets.bayes_sign": {"counts": (9, 2, 4)},
    "margin_tests": {"table": [[80, 3], [9, 4]], "margin": 0.1, "method": "auto", "gamma": 0.0},
    "mcnemar": {"table": [[80, 3], [9, 4]]},
    "sequential.mcnemar": {"table": [[80, 3], [9, 4]]},
    "classification_report": {"counts": [[9, 2], [1, 8]], "classes": [0, 1]},
    "cochrans_q": {"counts": pair_counts},
    "compare_sensitivity_specificity": {"counts": [[[9, 2], [1, 8]], [[3, 4], [2, 7]]]},
    "cohen_kappa": {"table": [[9, 2], [1, 8]]},
    "compare_metric": {
        "counts": [[[3, 1], [2, 1]], [[1, 0], [2, 4]]],
        "classes": [0, 1],
        "metric": "f1",
        "rng": 1,
    },
    "fleiss_kappa": {"rating_counts": [[3, 0], [1, 2], [0, 3]]},
    "metric": {"table": [[5, 2], [1, 4]], "classes": [0, 1], "metric": "f1", "rng": 1},
    "symmetry": {"table": [[5, 2], [1, 4]]},
}
#: Functions whose answer is a number for each item, and no record.
PER_ITEM = {
    *("brier_values", "correct_values", "dice_values", "log_loss_values", "net_benefit_values")
}


def arguments(name, argument=None):
    """The arguments of a proper call, of one that has this argument."""
    by_counts = BY_COUNTS.get(name, {})
    if argument in by_counts and argument not in GOOD[name]:
        return made(by_counts)
    assert name in GOOD, f"a new function? add a proper call of {name} to GOOD in {__file__}"
    return made(GOOD[name])


def parameters(name):
    """The parameters of a function by name."""
    return inspect.signature(function(name)).parameters
