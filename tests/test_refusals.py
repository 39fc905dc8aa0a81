"""Wrong input to every public function is refused, by the name of the argument.

`WRONG` holds what no argument of a name can be. Every argument of every function is tried with all
of it: a `ValueError` or `TypeError` that fastcmp itself raises, and that names the argument. A new
argument gets a line in `WRONG`.
"""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np
import pytest
from calls import (
    ACCUMULATORS,
    FUNCTIONS,
    LONG,
    A,
    B,
    S,
    T,
    Y,
    arguments,
    function,
    made,
    parameters,
)
from cases import case
from same_bits import assert_same

import fastcmp
from fastcmp import planning, stream
from fastcmp.core.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
HERE = str(Path(fastcmp.__file__).parent)
#: As `to_dict` of a record begins.
RECORD = {"record": "McNemarResult", "version": 1, "fields": {}}


class Nothing:
    """An object that no function knows."""

    def __repr__(self):
        return "Nothing()"


_LABELS = {"None": None, "a number": 3, "a string": "abcabcabcabc", "empty": []}
_LABELS |= {"two dimensions": [Y, Y, Y], "too short": Y[:-1], "mixed types": ["a", 1] * 6}
_LABELS |= {"complex": np.array([1j] * 12), "dicts": [{}] * 12, "unknown object": Nothing()}
_LABELS |= {"all missing": [None] * 12}
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


def _no_moments():
    return stream.ValueMoments()


_JUDGED = {"a number": 3, "words": list("abcdefghijklmn"), "infinite": {"a": [np.inf] * 12}}
_JUDGED |= {"one model": {"a": A}, "none": {"a": [None] * 12, "b": [None] * 12}}
_OF_STRATA = {"a number": 3, "words": ["a", "b"], "negative": [-1, 2], "alone": [5]}
_FLAG = {"a word": "yes", "a number": 1}
_PROPORTION = {"above 1": 1.5, "a string": "x", "NaN": np.nan}

#: What an argument of a name cannot be, in whatever function.
WRONG = {
    **dict.fromkeys(("y_true", "y", "y_a", "y_b", "pred_a", "pred", "pred_b", "rater_a"), _LABELS),
    **dict.fromkeys(("rater_b", "score_or_label"), _LABELS),
    "preds": {k: v for k, v in _MODELS.items() if k != "one name twice"},
    "ratings": _MODELS | {"one rater": {"a": A}, "missing": {"a": A, "b": [None] * 12}},
    "accumulator": _OBJECT,
    "target": {"of no frame": 3, "unknown": "abc"},
    "split_every": _WHOLE | {"1": 1},
    "multiclass": _CHOICE,
    "empty": {"a string": "abc", "2": 2, "negative": -1, "a list": [1.0, 0.5]},
    "masks": {"a number": 3, "halves": {"a": [[0.5]]}, "too few": {"a": [[1, 0, 1]]}, "none": {}},
    "truth": _VALUES | {"two dimensions": [S, T]},
    "predicted": _NUMBERS | {"one dimension": S, "no models": {}, "too short": {"a": S[:-1]}},
    "stats": _OBJECT
    | {"empty": {}, "one model": {"a": [[1, 2], [2, 3]]}, "items alone": [[1, 2], [3, 4]]}
    | {"NaN": [[[1, np.nan], [2, 3]]] * 2, "of items x sums": [[[1, 2, 3], [4, 5, 6]]] * 2}
    | {"negative": [[[1, -2], [2, 3]]] * 2, "one item": [[[1, 2]]] * 2},
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
    **dict.fromkeys(("score", "score_a", "score_b", "scores"), _SCORES),
    "values": _NUMBERS
    | {"a number": 3, "one dimension": S, "infinite": [[np.inf] * 12] * 2}
    | {"no models": {}, "too short": {"a": S[:-1], "b": S}},
    **dict.fromkeys(
        "ab",
        _OBJECT
        | {"one column": Y, "too short": (Y, A[:-1]), "a mapping": {0: Y, 1: A}}
        | {"three": (Y, A, B), "two numbers": (3, 2.5), "counts that cannot be": (3, 2)},
    ),
    "null_difference": {
        "NaN": np.nan,
        "infinite": np.inf,
        "a string": "x",
        "unknown object": Nothing(),
    },
    **dict.fromkeys(("two_sided", "side", "recentring", "rank_intervals", "resampling"), _CHOICE),
    **dict.fromkeys(("alternative", "method", "test", "adjust", "missing", "ties"), _CHOICE),
    **dict.fromkeys(("omnibus", "rule", "criterion", "reference", "average", "scale"), _CHOICE),
    **dict.fromkeys(("variance", "interval", "df", "step", "support", "zero_method"), _CHOICE),
    **dict.fromkeys(("cost_test", "post_hoc", "scoring", "on_single_class", "kind"), _CHOICE),
    **dict.fromkeys(("grid", "repeats", "measure", "hypothesis", "items", "errors"), _CHOICE),
    **dict.fromkeys(("runs", "format", "imputed", "prior_place", "ties_as", "boundary"), _CHOICE),
    "rank_by": _CHOICE,
    **dict.fromkeys(("values_a", "values_b", "scores_a", "scores_b"), _VALUES),
    "moments": _OBJECT | {"empty": _no_moments},
    "estimate": _NUMBERS | {"one": [0.5], "a number": 3, "infinite": [0.5, np.inf]},
    "covariance": _NUMBERS
    | {"a number": 3, "too short": [1.0], "negative": [1.0, -1.0]}
    | {"not a covariance": [[1.0, 2.0], [2.0, 1.0]], "not square": [[1.0, 0.5]]}
    | {"infinite": [[np.inf, 0.0], [0.0, 1.0]]},
    **dict.fromkeys(("step_down", "within_classes", "simultaneous", "studentized"), _FLAG),
    "projection_critical": _NUMBER | {"0": 0.0, "a list": [2.0]},
    "bootstrap_indices": _NUMBERS
    | {"a number": 3, "too short": [[0, 1]], "fractions": [[0.5] * 12]}
    | {"out of range": [[12] * 12], "negative": [[-1] * 12], "empty": []},
    "weights": _NUMBERS | {"negative": [-1.0] * 12, "too short": [1.0] * 11},
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
    **dict.fromkeys(("differences", "x", "half_differences"), _FOLDS),
    "folds": {"None": None, "fractions": [0.5] * 10, "too short": [0, 1], "words": "ab"},
    "tables": _TABLE,
    "table": _TABLE,
    "pvalues": _NUMBERS | {"above 1": [0.5, 1.5], "negative": [-0.1]},
    **dict.fromkeys(("counts", "model_a", "model_b", "result"), _OBJECT),
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
    "exact": {"a number": 1, "a string": "yes"},
    "rank_sum_difference": _NUMBERS | {"a fraction": 0.5, "too large": 99},
    **dict.fromkeys(("n_models", "n_tasks", "workers", "n_positives", "n_negatives"), _WHOLE),
    **dict.fromkeys(("n_repeats", "n_halves", "m"), _WHOLE),
    "not_different": _OBJECT | {"outside": [(0, 9)], "itself": [(1, 1)], "one": [(1,)]},
    "metrics": {"unknown": "nope", "a number": 3, "empty": [], "of all": ["mcc"]}
    | {"an average": "f1_macro", "one twice": ["f1", "f1"]},
    "overall": {"unknown": "nope", "a number": 3, "None": None, "of None": [None]},
    "target_names": {"a string": "ab", "one": ["a"], "a number": 3},
    "digits": {k: v for k, v in _WHOLE.items() if k != "0"} | {"many": 99},
    "metric": {"unknown": "nope", "None": None, "a number": 3, "empty": []},
    "zero_division": {"a word": "nope", "a fraction": 0.5, "a list": [0]},
    "beta": {"0": 0, "a word": "two", "of F1": 2},
    "continuity": {"a number": 1, "a string": "yes", "None": None},
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
    "mean0": {"outside": 1.5, "NaN": np.nan, "a string": "0", "bool": True, "None": None},
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
    **dict.fromkeys(("truncation", "alpha", "confidence_level", "prevalence", "threshold"), _SHARE),
    "running_intersection": {"a number": 1, "a word": "yes", "None": None},
    "cutoff": {"a string": "x", "NaN": np.nan, "a list": [0.5, 0.6]},
    "comparisons": _OBJECT | {"none": {}, "without margins": {"x": RECORD}},
    "margin": _MARGIN,
    "gamma": _NUMBER | {"1": 1, "negative": -0.1},
    "difference": _NUMBERS,
    "standard_error": _NUMBERS | {"negative": -0.1},
    "inner_interval": _ENDS,
    **dict.fromkeys(("cost_fp", "cost_fn", "smoothing", "rope", "prior_strength"), _NUMBER),
    "ridge": _NUMBER,
    "n_resamples": {k: v for k, v in _WHOLE.items() if k != "0"} | {"endless": 10**12},
    "memory_limit": {"negative": -1, "a word": "much", "a list": [1]},
    "progress": {"a word": "yes", "a number": 3},
    "rng": {"negative": -1, "a fraction": 1.5, "a string": "x", "huge": 2**64},
    "fpr_range": _RANGE,
    "tpr_range": _RANGE,
    "max_fpr": {"0": 0, "above 1": 1.5, "a string": "x", "NaN": np.nan},
    **dict.fromkeys(("specificity", "sensitivity", "rho1", "rho2"), _PROPORTION),
    "n_train": {"0": 0, "negative": -1, "a string": "x", "NaN": np.nan},
    "n_test": {"0": 0, "negative": -1, "a string": "x", "NaN": np.nan},
    "auc": _SHARE | {"0": -1, "1": 2},
    "both_positive": _COUNT | {"a list": [1, 2]},
    "only_a_positive": _COUNT | {"a list": [1, 2]},
    "only_b_positive": _COUNT | {"a list": [1, 2]},
    **dict.fromkeys(("only_a", "only_b", "both_right", "both_wrong", "tp", "fp", "fn"), _COUNT),
    **dict.fromkeys(("tn", "n_rope"), _COUNT),
    "n": _COUNT | {"0": 0},
    "n_a": _COUNT | {"0": 0},
    "n_b": _COUNT | {"0": 0},
    "correct_a": _COUNT | {"more than n": 13},
    "correct_b": _COUNT | {"more than n": 11},
    "models": _OBJECT | {"one": {"a": Nothing()}},
    "X": {"None": None, "too short": [[0.0, 1.0]] * 11, "words": "ab"},
    "X_a": {"None": None, "too short": [[0.0, 1.0]] * 11, "words": "ab"},
    "X_b": {"None": None, "too short": [[0.0, 1.0]] * 11, "words": "ab"},
    "n_folds": _WHOLE | {"1": 1, "huge": 2**40},
    "test_size": {"0": 0, "1.0": 1.0, "negative": -0.1, "a string": "x", "NaN": np.nan},
    "ax": {"a number": 3, "a string": "x", "unknown object": Nothing()},
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
    "inputs": {"unknown": 3},
    "path": {"a number": 3, "None": None, "unknown object": Nothing(), "empty": []},
    "task": {"unknown": "nope", "a number": 3, "empty": [], "numbers": [3]},
    "filter": {"a number": 3, "of another format": "strict-match"},
    "ids": {"a number": 3, "of another format": ["a"]},
    "columns": {"a number": 3, "a list": ["item"], "unknown": {"item": "nope"}}
    | {"of nothing": {"nope": "item"}, "numbers": {"item": 3}},
    "power": {"0": 0, "1": 1, "below alpha": 0.04, "NaN": np.nan, "a string": "0.8"},
    "wins": {k: v for k, v in _TABLE.items() if k != "fractions"},
    "battles": _OBJECT | {"no columns": {}},
    "test_train_ratio": _NUMBER | {"0": 0, "none for each": [0.1, 0.2, 0.3]},
    "baseline": {"unknown": "z", "out of range": 9, "a fraction": 0.5},
    "checkpoint": {"a number": 3, "for one data set": "here"},
    "z0": {k: v for k, v in _NUMBER.items() if k != "negative"},
    "rho": _NUMBER | {"1": 1},
    "top_k": _WHOLE | {"more than models": 9},
    "nested": {"a word": "yes", "a number": 1, "without items": True},
    "tasks": {"one": ("a",), "a string": "ab", "equal": ["a"] * 12, "a number": 3},
    "estimates": {"numbers": [0.8, 0.7], "a word": "yes"},
    "influences": {"one dimension": [1.0, 2.0], "NaN": [[1.0, np.nan], [1.0, 2.0]]},
    "n_items": {"0": 0, "1": 1, "half": 2.5, "a string": "x"},
    **dict.fromkeys(("judge", "human"), _JUDGED),
    "tune": _CHOICE | {"a number": np.nan, "infinite": np.inf},
    "convention": _CHOICE,
    "label_strata": {"too short": [1] * 11, "missing": [None] * 12, "unknown": Nothing()},
    "calibration": _OBJECT | {"of another name": {"positives": 3}},
    "half_width": _NUMBER | {"0": 0.0, "a list": [0.1]},
    "sd": _NUMBER | {"0": 0.0, "a list": [0.1]},
    "correlation": {"above 1": 1.5, "NaN": np.nan, "a string": "x"},
    **dict.fromkeys(("cost_label", "cost_item"), _NUMBER | {"0": 0.0}),
    "distribution": _CHOICE,
    "worth": _WHOLE | {"1": 1},
    **dict.fromkeys(("stratum_sizes", "stratum_sd", "stratum_costs", "item_sd"), _OF_STRATA),
    "minimum": _WHOLE,
    "uniform": {"0": 0.0, "above 1": 1.5, "a string": "x"},
    **dict.fromkeys(("bins", "hosmer_lemeshow_groups"), _WHOLE),
    **dict.fromkeys(("binning", "threshold_density"), _CHOICE),
    **dict.fromkeys(("fitted", "strategies", "standardised"), _FLAG),
    "thresholds": {k: x for k, x in _NUMBERS.items() if k != "None"}
    | {"0": 0.0, "1": [0.5, 1.0], "percent": [5.0, 10.0], "empty": [], "a table": [[0.5]]},
    "prevalence_se": _NUMBER | {"without a prevalence": 0.1},
    "design": {"a number": 5, "a word": "kfold", "unknown object": Nothing()},
    "slices": _OBJECT
    | {"too short": [0] * 11, "ids": [*range(12)], "without items": {"s": [0] * 12}}
    | {"empty": {}, "dates": np.ones((2, 12), "M8[D]")},
    "interaction": _CHOICE,
    "min_items": _WHOLE | {"1": 1},
    "rate": _CHOICE | {"one twice": ["tpr", "tpr"], "none": []},
    "criteria": _OBJECT
    | {"one": {"x": {"a": S, "b": T}}, "numbers": {"x": S, "y": T}, "empty": {}}
    | {"other models": {"x": {"a": S, "b": T}, "y": {"a": S, "c": T}}}
    | {"missing values": {"x": [S, T], "y": [[np.nan] * 12] * 2}},
    "margins": {"a number": 0.1, "unknown": {"nope": 1}, "lacking": {"score": 0.1}}
    | {"negative": {"score": -0.1, "time": 0.1}, "a word": "ab"},
}
#: Flags, and arguments that take any object.
FREE = {
    *("blocked", "band", "cumulative", "standardize", "lower_is_better", "strict", "nonnegative"),
    *("stratify", "drop_intermediate", "options"),
}
#: For `lift_table` groups is a number.
WRONG_IN = {
    ("planning.labels", "rate"): _SHARE,
    ("pareto_set", "limits"): _CHOICE,
    ("pareto_set", "lower_is_better"): {"unknown": ["nope"], "a flag": True, "lacking": {}}
    | {"a word": "time", "words": {"score": "no", "time": "yes"}, "None": None},
    ("group_gaps", "group"): {"too short": [1] * 11, "missing": [None] * 12, "one": [1] * 12}
    | {"None": None, "ids": [*range(12)], "unknown": Nothing()},
    ("compare", "data"): {"labels alone": {"a": ["x", "y"], "b": ["x", "x"]}, "a number": 3},
    ("compare", "y_true"): {"numbers": [0.1, 0.7] * 6, "one": [1], "a string": "y"},
    ("compare", "y"): {"without X": [0, 1] * 6},
    ("compare", "preds"): {"a path": "preds.csv"},
    ("compare", "measure"): {"unknown": "accuracies", "a number": 3},
    ("Estimates", "limits"): {"a number": 1.0, "turned": (1, 0), "too near": (0.0, 0.5)},
    ("calibration", "score"): _CHOICE,
    ("reliability_diagram", "band"): _CHOICE,
    ("Estimates", "df"): {"0": 0, "negative": -1.0, "a string": "x", "NaN": np.nan},
    ("margin_decision", "interval"): _ENDS,
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
    ("datasets.task_bootstrap", "items"): {"not asked for": [[S, T]], "a number": 3},
    ("datasets.bayes_correlated_t", "runs"): _WHOLE | {"no divisor": 5},
    ("datasets.task_noise", "tasks"): {
        "one": ("x",),
        "a string": "ab",
        "equal": ["x"] * 2,
        "a number": 3,
    },
    ("margin_tests", "df"): {"0": 0, "negative": -1, "a string": "9", "NaN": np.nan},
    ("margin_tests", "n_samples"): _COUNT,
    ("stream.gather", "data"): _OBJECT | {"empty": [], "no blocks": [1, 2]},
    ("margin_tests", "margin"): _MARGIN | {"0": 0},
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
        for name in ("cohen_kappa",)
    },
    ("compare_sensitivity_specificity", "positive"): {"unknown": 7, "another kind": "yes"},
    ("variance_components", "k"): {"with a mean": 2},
    ("rank_sets", "models"): {
        "a number": 3,
        "unknown": ["z"],
        "a string": "ab",
        "one twice": [0, 0],
        "empty": [],
    },
    **{
        (name, argument): wrong
        for name in ("inspect_results", "read_results")
        for argument, wrong in {
            "metric": {"unknown": "nope", "a number": 3, "empty": []},
            "values": {"a word": "yes", "a number": 1, "None": None},
        }.items()
    },
    ("read_battles", "path"): {"a number": 3, "None": None, "unknown object": Nothing()},
    # How many models there are, a number may say.
    **{
        (f"stream.{kind}", "names"): {"equal": ("a", "a"), "0": 0, "a fraction": 1.5}
        for kind in ACCUMULATORS
    },
}
#: Other names under which an argument may be known in a message.
ALSO = {"classes": ("name the positive class",), "preds": ("model", "labels, y_true has")}
ALSO |= {"scores": ("model",), "values": ("model",), "model_a": ("model 'a'",)}
ALSO |= {"model_b": ("model 'b'",), "models": ("model",), "differences": ("folds",)}
ALSO |= {"result": ("draws a",), "table": ("draws a",), "cutoff": ("criterion",)}
ALSO |= {"frame": ("item=",), "score_or_label": ("scores has 0 scores",)}
ALSO |= {"counts": ("ConfusionCounts",), "plain": ("record must be", "fields of")}
#: Models of the calls, and arguments of what a function calls, by which it is refused.
PARTS = {"a", "b", "model_0", "model_1", "y_true", "score", "scores", "values"}
PART_OF = {"a": ("y_a", "pred_a"), "b": ("y_b", "pred_b"), "cutoff": ("criterion",)}
PART_OF |= {"model_a": ("model",), "model_b": ("model",), "plain": ("record", "fields")}
#: What a function takes although it looks wrong, with the reason.
TAKEN = {
    **{
        ("margin_tests", name, "NaN"): "stays NaN, and nothing can be told"
        for name in ("difference", "standard_error")
    },
    **{
        (name, "labels", "one"): "an average over one class"
        for name in ("classification_report", "compare_metric", "make_metric", "metric")
    },
    ("classification_report", "preds", "one dimension"): "the labels of one model",
    ("group_gaps", "preds", "one dimension"): "the same",
    ("exact", "values", "one dimension"): "a number for each model",
    ("Estimates", "measure", "unknown"): "the name of what the user measured",
    ("Estimates", "measure", "empty"): "the same",
    ("classification_report", "classes", "another kind"): "names of the classes of an array",
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
    ("rogan_gladen", "judge", "one model"): "each model has its rate",
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
    ("sequential.e_adjust", "evalues", "NaN"): "stays NaN, and is not counted as a test",
    ("sequential.McNemarLooks", "classes", "another kind"): "no label has come yet",
    ("sequential.McNemarLooks.update", "y_true", "all missing"): "dropped, and counted",
    ("sequential.MeanLooks.update", "differences", "empty"): "a block of no values",
    **{
        (f"stream.{kind}.update", "y_true", "all missing"): "dropped, and counted"
        for kind in ACCUMULATORS
    },
}


def wrong_values(name, argument):
    """What an argument cannot be, by kind."""
    wrong = WRONG_IN.get((name, argument)) or WRONG.get(argument)
    assert wrong or argument in FREE, (
        f"a new argument? add what {argument} of {name} cannot be to WRONG in {__file__}"
    )
    return {} if argument in FREE and (name, argument) not in WRONG_IN else wrong


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_proper_call_is_answered(name):
    assert function(name)(**arguments(name)) is not None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_input_is_refused_by_name(name):
    """By an error whose field `argument` is an argument of the function, or a model in one."""
    for argument, parameter in parameters(name).items():
        for what, wrong in wrong_values(name, argument).items():
            with case(argument, what):
                if wrong is not None or parameter.default is not None:
                    refuses(name, argument, what, made({what: wrong})[what])


def refuses(name, argument, what, wrong):
    given = arguments(name, argument) | {argument: wrong}
    if (name, argument, what) in TAKEN:
        function(name)(**given)
        return
    with pytest.raises((ValueError, TypeError)) as caught:
        function(name)(**given)
    message = str(caught.value)
    raised_in = traceback.extract_tb(caught.tb)[-1].filename
    assert raised_in.startswith(HERE), f"{raised_in}: {message}"
    known = (argument, *ALSO.get(argument, ()))
    assert any(word in message for word in known), message
    assert isinstance(caught.value, ArgumentError), message
    assert caught.value.argument in {*parameters(name), *PARTS, *PART_OF.get(argument, ())}, message
    assert len(message) > 15


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "." not in name])
def test_words_are_known_in_any_case_and_with_any_hyphens(name):
    given = arguments(name) | ({"rng": 1} if "rng" in parameters(name) else {})
    for argument, parameter in parameters(name).items():
        if WRONG.get(argument) is _CHOICE and isinstance(parameter.default, str):
            word = given.get(argument, parameter.default)
            spelled = {argument: word.upper().replace("-", "_")}
            ours, theirs = (function(name)(**given | x) for x in (spelled, {argument: word}))
            assert_same(ours, theirs, argument)


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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_of_pandas_are_never_matched_by_position(name):
    given = arguments(name)
    columns = [key for key in given if key in COLUMNS and np.size(given[key]) > 0]
    if len(columns) < 2:
        return
    index = np.arange(12)
    same = {key: with_index(given[key], index) for key in columns}
    function(name)(**(given | same))
    for other, said in ((index[::-1], r"index.* in another order"), (index + 5, "index")):
        wrong = with_index(given[columns[-1]], other)
        with pytest.raises(ValueError, match=said):
            function(name)(**(given | same | {columns[-1]: wrong}))
