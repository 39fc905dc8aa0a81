"""Public functions are called in one way, by the table of conventions.md."""

import inspect

import pytest
from public_names import MODULES, public_functions

#: What a user brings: by position or by keyword, before everything else.
DATA = {
    *("y_true", "y_a", "y_b", "y", "X", "X_a", "X_b"),
    *("pred_a", "pred_b", "preds", "score", "scores", "score_a", "score_b"),
    *("score_or_label", "values", "differences", "half_differences", "folds", "tables"),
    *("values_a", "values_b", "a", "b"),
    *("counts", "table", "only_a", "only_b", "errors_a", "errors_b", "n", "cost"),
    *("both_right", "both_wrong"),
    *("both_positive", "only_a_positive", "only_b_positive"),
    *("rater_a", "rater_b", "ratings", "rating_counts"),
    *("correct_a", "correct_b", "n_a", "n_b", "auc", "n_positives", "n_negatives"),
    *("model_a", "model_b", "models", "pvalues", "data", "result", "plain", "path"),
    *("frame", "n_correct", "n_samples", "probabilities"),
    *("moments", "pred", "metric", "comparisons"),
    *("estimate", "covariance", "evalues", "variances"),
    *("difference", "standard_error", "margin", "interval"),
    *("inner_interval",),
    *("scores_a", "scores_b", "n_rope", "rank_sum_difference"),
    *("n_models", "n_tasks", "not_different", "wins"),
    *("ties", "battles"),
}
#: Options that mean the same everywhere, with their default.
DEFAULTS = {
    "alpha": 0.05,
    "alternative": "two-sided",
    "classes": None,
    "confidence_level": 0.95,
    "control": None,
    "groups": None,
    "missing": "raise",
    "pairs": None,
    "positive": None,
    "progress": None,
    "strata": None,
    "stratum_weights": "items",
    "rng": None,
    "sample_weight": None,
    "workers": None,
}
#: Other names of the same things.
FOREIGN = {
    *("n_jobs", "n_threads", "num_workers", "random_state", "seed", "n_boot", "n_iter"),
    *("conf_level", "level", "ci", "sides", "tail", "correction", "verbose"),
}
#: Where `test` chooses a family of tests.
FAMILIES = {"compare_all", "compare_cv", "compare_cv_all", "folds"}
#: Where a missing prediction can only be refused: it has no class to count, no cost.
NEED_CLASSES = {"cost_test", "count_labels"}
#: What `groups` means elsewhere, and what `CVComparison.test` takes from its record.
OTHER_DEFAULTS = {("lift_table", "groups"), ("test", "alternative")}


def functions():
    """List public functions that are not kernels, nor another library's names."""
    for module in MODULES:
        if module not in ("fastcmp.kernels", "fastcmp.compat.mlxtend"):
            yield from public_functions(module)


FUNCTIONS = dict(functions())
TOP = {n: f for n, f in FUNCTIONS.items() if n.count(".") == 1 or ".dask." in n}


def parameters(function):
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_data_come_first_and_all_else_by_keyword(name):
    for parameter in parameters(FUNCTIONS[name]).values():
        assert parameter.kind is not parameter.POSITIONAL_ONLY, parameter.name
        if name in TOP and parameter.name not in DATA and parameter.name != "method":
            assert parameter.kind is parameter.KEYWORD_ONLY, (
                f"{parameter.name}: new data argument? add it to DATA in {__file__}"
            )
        if isinstance(parameter.default, bool):
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_name_and_one_default_for_one_thing(name):
    short = name.rpartition(".")[2]
    found = parameters(FUNCTIONS[name])
    assert not FOREIGN & set(found)
    assert "test" not in found or short in FAMILIES or name not in TOP
    for option, default in DEFAULTS.items():
        if option in found and (short, option) not in OTHER_DEFAULTS:
            allowed = (default, inspect.Parameter.empty)
            if (
                option == "confidence_level"
                and "self" in inspect.signature(FUNCTIONS[name]).parameters
            ):
                allowed += (None,)  # the level of the record
            assert found[option].default in allowed, option


@pytest.mark.parametrize("name", TOP)
def test_what_siblings_have(name):
    found = set(parameters(TOP[name]))
    if {"y_true", "pred_a"} <= found or {"y_true", "preds"} <= found:
        binary = {"positive"} & found
        wanted = {"classes"} if name.rpartition(".")[2] in NEED_CLASSES else set()
        assert binary or (wanted or {"classes", "missing"}) <= found
    # What makes values of labels is over before a thread has started.
    quick = name.rpartition(".")[2] == "correct_values"
    if "preds" in found and "data" not in found and not quick:
        assert {"names", "workers", "progress"} <= found
    if "n_resamples" in found:  # Dask has workers of its own
        assert {"rng", "workers"} - ({"workers"} if "data" in found else set()) <= found
    if "adjust" in found and "comparisons" not in found:  # these have a level
        assert {"alpha"} <= found
