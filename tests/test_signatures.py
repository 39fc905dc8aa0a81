"""Public functions are called in one way, by the table of conventions.md."""

import inspect
from functools import cache

from public_names import MODULES, public_functions, refuse

#: What a user brings: by position or by keyword, before everything else.
DATA = {
    *("y_true", "y_a", "y_b", "y", "X", "X_a", "X_b"),
    *("pred_a", "pred_b", "preds", "score", "scores", "score_a", "score_b"),
    *("score_or_label", "values", "differences", "x", "tables"),
    *("values_a", "values_b", "a", "b"),
    *("counts", "table", "only_a", "only_b", "n", "cost"),
    *("both_right", "both_wrong"),
    *("both_positive", "only_a_positive", "only_b_positive"),
    *("rater_a", "rater_b", "ratings", "rating_counts"),
    *("correct_a", "correct_b", "n_a", "n_b", "auc", "n_positives", "n_negatives"),
    *("model_a", "model_b", "models", "pvalues", "data", "result", "plain", "path"),
    *("frame", "n_correct", "n_samples", "probabilities", "masks", "accumulator"),
    *("moments", "pred", "metric", "comparisons"),
    *("estimates", "covariance", "evalues", "variances", "stats", "truth", "predicted"),
    *("difference", "standard_error", "margin", "interval"),
    *("inner_interval",),
    *("scores_a", "scores_b", "n_rope", "rank_sum_difference"),
    *("n_models", "n_tasks", "not_different", "wins"),
    *("ties", "battles", "judge", "human", "slices", "group", "criteria"),
}
#: Options that mean the same everywhere, with their default.
DEFAULTS = {"alpha": 0.05, "alternative": "two-sided", "classes": None, "confidence_level": 0.95}
DEFAULTS |= {"control": None, "groups": None, "missing": "raise", "pairs": None, "positive": None}
DEFAULTS |= {"progress": None, "strata": None, "stratum_weights": "items", "rng": None}
DEFAULTS |= {"sample_weight": None, "workers": None}
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


HERE = "in tests/test_signatures.py"


@cache
def functions():
    """Public functions that are not kernels, nor another library's names."""
    skipped = "fastcmp.kernels", "fastcmp.compat.mlxtend"
    return dict(pair for x in MODULES if x not in skipped for pair in public_functions(x))


def top_functions():
    return {n: f for n, f in functions().items() if n.count(".") == 1 or ".dask." in n}


def parameters(function):
    signature = dict(inspect.signature(function).parameters)
    signature.pop("self", None)
    return signature


def test_data_come_first_and_all_else_by_keyword():
    wrong, top = [], top_functions()
    for name, function in functions().items():
        for parameter in parameters(function).values():
            where, kind = f"{name}({parameter.name}=)", parameter.kind
            by_keyword = kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                wrong += [f"{where} cannot be given by keyword: remove the / behind it"]
            elif isinstance(parameter.default, bool) and not by_keyword:
                wrong += [f"{where} is a positional boolean: put it behind the *"]
            elif name in top and parameter.name not in DATA | {"method"} and not by_keyword:
                wrong += [f"{where} is positional: new data argument? add it to DATA {HERE}"]
                wrong[-1] += "; an option? put it behind the *"
    refuse(wrong)


def test_one_name_and_one_default_for_one_thing():
    wrong, top = [], top_functions()
    for name, function in functions().items():
        short, known = name.rpartition(".")[2], parameters(function)
        foreign = FOREIGN & {*known}
        wrong += [f"{name}({x}=): the word of fastcmp is in DEFAULTS {HERE}" for x in foreign]
        if "test" in known and short not in FAMILIES and name in top:
            wrong += [f"{name}(test=): call it method=, or add {short!r} to FAMILIES {HERE}"]
        for option in DEFAULTS.keys() & {*known} - {o for s, o in OTHER_DEFAULTS if s == short}:
            allowed = [DEFAULTS[option], inspect.Parameter.empty]
            if option == "confidence_level" and "self" in inspect.signature(function).parameters:
                allowed += [None]  # the level of the record
            if (default := known[option].default) not in allowed:
                wrong += [f"{name}({option}={default!r}): elsewhere it is {DEFAULTS[option]!r}"]
                wrong[-1] += f"; a reason? add it to OTHER_DEFAULTS {HERE}"
    refuse(wrong)


def test_what_siblings_have():
    wrong = []
    for name, function in top_functions().items():
        known, wanted = set(parameters(function)), set()
        if any(x.kind is x.VAR_KEYWORD for x in parameters(function).values()):
            continue  # options are passed on
        labelled = {"y_true", "pred_a"} <= known or {"y_true", "preds"} <= known
        if labelled and "positive" not in known:
            needs = name.rpartition(".")[2] in NEED_CLASSES
            wanted |= {"classes"} if needs else {"classes", "missing"}
        # What makes values of labels is over before a thread has started.
        quick = name.rpartition(".")[2] in ("correct_values", "group_gaps")
        if "preds" in known and "data" not in known and not quick:
            wanted |= {"names", "workers", "progress"}
        if "n_resamples" in known:  # Dask has workers of its own
            wanted |= {"rng", "workers"} - ({"workers"} if "data" in known else set())
        if "adjust" in known and "comparisons" not in known:  # these have a level
            wanted |= {"alpha"}
        wrong += [f"{name} has no {option}=, as its siblings have" for option in wanted - known]
    refuse(wrong)
