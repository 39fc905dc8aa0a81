"""Laws of all functions and records, for whatever `calls` and `examples` list."""

import re
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import pytest
from calls import (
    BY_COUNTS,
    COST,
    FUNCTIONS,
    K3,
    PER_ITEM,
    THREE,
    A,
    B,
    S,
    T,
    Y,
    answers,
    arguments,
    function,
    label_counts,
    made,
    moments,
    pair_counts,
    parameters,
)
from cases import case
from examples import RECORDS, example
from libraries import stats
from same_bits import assert_same

import fastcmp
from fastcmp import Estimates, designs, stream

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

GROUPS = [0, 1, 2, 2] * 3
STRATA = [0, 0, 1, 1, 1, 1] * 2
WEIGHTS = [1.0, 2.0, 3.0] * 4
CALLED = [name for name in FUNCTIONS if not name.startswith("plot.")]

# --------------------------------------------------------------------------- what holds of records

#: Where an interval is, and what it is of: the first that a record has.
POINTS = {
    "interval": ("median", "value", "difference", "score", "rate"),
    "naive_interval": ("estimate",),
    "percentile_interval": ("score",),
    "score_interval": ("score",),
    "ratio_interval": ("ratio",),
    "odds_ratio_interval": ("odds_ratio",),
    "rank_interval": ("rank",),
    "confidence_interval": ("auc", "estimate", "difference", "mean"),
}
POINTS_IN = {"PairedRatio": ("ratio",), "Plan": (), "SignedRankResult": ("estimate",)}
POINTS_IN |= {"JudgedValues": ("estimate",), "RoganGladen": ("estimate",)}
#: Ends that are two fields.
ENDS = {("low", "high"): ("value", "auc", "mean"), ("lower", "upper"): ("rank",)}


def parts(value, where=""):
    """A record and all records within it, each with its place."""
    if is_dataclass(value) and hasattr(value, "sections"):
        yield where, value
        for field in fields(value):
            yield from parts(getattr(value, field.name), f"{where}.{field.name}")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from parts(part, f"{where}[{key!r}]")
    elif isinstance(value, (list, tuple)) and len(value) < 10:
        for i, part in enumerate(value):
            yield from parts(part, f"{where}[{i}]")


def point_of(record, names):
    """The first of some fields that a record has, or None."""
    for name in names:
        try:
            return np.asarray(getattr(record, name), float)
        except (AttributeError, TypeError, ValueError):  # counts alone have no difference
            continue
    return None


def intervals(record, *level):
    """All intervals of a record: what it is, what they are of, low and high, as arrays."""
    for name, names in POINTS.items():
        points = POINTS_IN.get(type(record).__name__, names)
        ends = getattr(record, name, None)
        if callable(ends):
            try:
                ends = ends(*level)
            except TypeError:  # of a table: one of several must be named
                points, ends = ("sensitivity",), ends("sensitivity")
            except ValueError:  # there is none
                continue
        elif level:
            continue
        point = point_of(record, points)
        if ends is not None and not isinstance(ends, str) and point is not None:
            low, high = (ends.low, ends.high) if hasattr(ends, "low") else np.moveaxis(ends, -1, 0)
            yield name, point, np.asarray(low, float), np.asarray(high, float)
    for names, points in ENDS.items():
        point = None if level else point_of(record, points)
        if point is not None and all(hasattr(record, x) for x in names):
            yield names, point, *(np.asarray(getattr(record, x), float) for x in names)


def intervals_hold_their_estimates(answer):
    for where, record in parts(answer):
        for name, point, low, high in intervals(record):
            with case(where, name, point, low, high):
                slack = 1e-9 * (1 + np.abs(np.nan_to_num(point)))
                assert not (low > high).any()
                assert (np.isnan(low) == np.isnan(high)).all()  # one end says nothing
                if type(record).__name__ not in ("BootstrapResult", "RocBand"):  # quantiles
                    assert not (low > point + slack).any()
                    assert not (high < point - slack).any()


def pvalues_are_adjusted(answer):
    """By `adjust`, as many as were tested."""
    for where, record in parts(answer):
        adjusted, method = (getattr(record, x, None) for x in ("pvalue_adjusted", "adjust"))
        if adjusted is None or np.shape(adjusted) != np.shape(record.pvalue):
            continue
        if getattr(record, "kept", "all") != "all":  # adjusted among all
            continue
        with case(where, method, record.pvalue, adjusted):
            assert (np.isnan(record.pvalue) == np.isnan(adjusted)).all()
            if method in ADJUSTMENTS:
                # Pairs that exact numbers refute are no tests.
                some = getattr(record, "is_open", ...)
                adjusted = adjusted[some]
                wanted = fastcmp.adjust(record.pvalue[some], method=method)
                np.testing.assert_allclose(adjusted, wanted, rtol=1e-12)


ADJUSTMENTS = (
    *("bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel", "bh", "by", "finner"),
    *("li", "none", "shaffer", "bergmann-hommel"),
)


# --------------------------------------------------------------------------- options

#: Another value of an option, for each that is no choice of words.
OTHER = {"alpha": 0.2, "confidence_level": 0.6, "margin": 0.1, "n_resamples": 250, "rng": 7}
OTHER |= {"groups": GROUPS, "strata": STRATA, "sample_weight": WEIGHTS, "weights": WEIGHTS}
OTHER |= {"positive": 0, "classes": [0, 1], "labels": [1], "stratum_weights": "equal", "cost": COST}
OTHER |= {"control": 1, "pairs": [(1, 0)], "keep": 2, "metric": "mcc", "target_names": ["x", "y"]}
OTHER |= {"digits": 4, "overall": ["mcc"], "metrics": ["recall"], "prevalence": 0.3, "beta": 0.5}
OTHER |= {"null_difference": 0.1, "gamma": 0.01, "df": 5.0, "fpr_range": (0, 0.5)}
OTHER |= {"tpr_range": (0.5, 1), "max_fpr": 0.5, "zero_division": 1, "cutoff": 0.4}
OTHER |= {"smoothing": 0.5, "cost_fp": 3.0, "cost_fn": 3.0, "eps": 0.3, "rope": 0.05}
OTHER |= {"threshold": 0.6, "prior_strength": 3.0, "z0": 0.5, "ridge": 2.0, "rho": 0.3, "rho1": 0.1}
OTHER |= {"rho2": 0.1, "n_train": 80, "n_test": 20, "runs": 2, "test_train_ratio": 0.5}
OTHER |= {"baseline": 1, "top_k": 2, "prior": (2.0, 2.0), "mean0": 0.1, "bounds": (-2, 2)}
OTHER |= {"bets": [0.1] * 12, "truncation": 0.4, "projection_critical": 3.0, "test_size": 0.4}
OTHER |= {"n_repeats": 3, "n_folds": 3, "n_halves": 4, "m": 3, "power": 0.9, "sensitivity": 0.5}
OTHER |= {"specificity": 0.5, "tasks": list("abcdefghijkl"), "models": [1], "n_samples": 99}
OTHER |= {"slices": [0, 0, 1] * 4}
OTHER |= {"ties": [[0, 3], [3, 0]], "step_down": False, "k": 2, "y": None}
OTHER |= {"bootstrap_indices": [[*range(12)] * 1, [0] * 12, [*range(6)] * 2]}
#: Other values in one function.
OTHER_IN = {
    ("lift_table", "groups"): [4],
    ("compare_slices", "min_items"): [5],
    ("pareto_set", "margins"): [{"score": 0.2, "time": 0.3}],
    ("dice_values", "empty"): [0.5],
    ("judged_values", "tune"): ["common", "slope", 0.5],
    ("judged_values", "label_strata"): [STRATA],
    ("judged_values", "probabilities"): [[0.5, 0.9] * 6],
    ("planning.labels", "stratum_weights"): [[1, 1]],
    ("planning.labels", "stratum_costs"): [[1, 9]],
    ("planning.labels", "uniform"): [0.5],
    ("planning.labels", "sd"): [2.0],
    ("planning.labels", "minimum"): [4],
    ("calibration", "folds"): [3],
    ("calibration", "bins"): [4],
    ("calibration", "hosmer_lemeshow_groups"): [3],
    ("decision_curve", "prevalence_se"): [0.1],
    ("Estimates", "measure"): ["F1"],
    ("Estimates", "limits"): [(0, 1)],
    ("cohen_kappa", "weights"): [[[0, 2], [1, 0]]],
    ("cohen_kappa", "labels"): [[1, 0]],
    ("fleiss_kappa", "labels"): [[1, 0]],
    ("sequential.mcnemar_looks", "n_samples"): [[9, 99]],
    ("stream.LabelCounts", "pairs"): ["all"],
    ("stream.ValueMoments", "groups"): ["ids"],
    ("make_metric", "weights"): ["linear"],
    ("compare_cv", "scoring"): ["accuracy", "f1"],
    ("compare_cv_all", "scoring"): ["accuracy", "f1"],
    ("winner_estimate", "beta"): [0.01],
    ("compare_sums", "lower_is_better"): [True],
}
FOLDS = {"design": lambda: designs.repeated_kfold(2, 3, rng=1), "test": "bouckaert-frank-t"}
CONCORDANT = {"both_right": 60, "both_wrong": 9}
ASKED = {"values_a": [[1, 0, 1]] * 6, "values_b": [[0, 1, 0], [1, 1, 1]] * 3}
#: What an option needs beside it to matter.
NEEDS = {
    "alpha": [{"margin": 0.1}],
    "test": [{"cost": COST}],
    "n_resamples": [
        *({"method": x} for x in ("bootstrap", "permutation", "monte-carlo")),
        *({"adjust": x} for x in ("maxt", "single-step")),
        *({"covariance": "bootstrap"}, {"metric": "f1", "adjust": "single-step"}),
    ],
    "df": [{"groups": GROUPS}],
    "variance": [{"groups": GROUPS}, {"method": "bayle-z", "x": S, "folds": [0, 1] * 6}],
    "stratum_weights": [{"strata": STRATA}],
    "standardize": [{"fpr_range": (0, 0.5)}],
    "studentized": [{"method": "permutation"}],
    "interval": [{"method": "bootstrap"}],
    "average": [{"groups": GROUPS}],
    "cost": [{"test": "cost"}, {"metric": "cost"}],
    "rho1": [{"rho2": 0.1}, {"rho2": 0.1, "method": "blocked-t"}],
    "rho2": [{"rho1": 0.1}, {"rho1": 0.1, "method": "blocked-t"}],
    "n_train": [{"n_test": 20}],
    "n_test": [{"n_train": 80}],
    "cost_fp": [{"criterion": "cost"}],
    "cost_fn": [{"criterion": "cost"}],
    "prevalence": [{"criterion": "weighted-youden"}],
    "nonnegative": [{"method": "chi-square", "smoothing": 0}],
    "smoothing": [{"method": "chi-square"}],
    "beta": [{"metric": "fbeta"}],
    "null_difference": [{"method": "miettinen-nurminen"}],
    "adjust": [{"post_hoc": "midp"}],
    "classes": [{"y_true": K3}, {"y_a": K3}, {"y": K3}, {"a": (K3, A)}, {"pred_a": K3}],
    "labels": [{"metric": "f1_macro"}],
    "k": [{"values": answers, "repeats": "pass@k"}, {"repeats": "pass@k"} | ASKED],
    "repeats": [{"values": answers, "k": 2}, ASKED | {"k": 2}],
    "weights": [{"metric": "kappa"}],
    "lower_is_better": [{"measure": "mean", "a": S, "b": T}],
    "hypothesis": [{"margin": 0.02}],
    "zero_division": [{"pred": [0] * 12, "metric": "precision"}, {"preds": {"a": [0] * 12}}],
    "groups": [FOLDS],
    "scoring": [FOLDS],
    "margin": [CONCORDANT],
    "method": [CONCORDANT],
    "drop_intermediate": [{"score": [0.5] * 4 + S[4:]}],
    "projection_critical": [{"method": "projection"}],
    "positive": [{"measure": "auc", "a": (Y, S), "b": (Y, T)}],
    "alternative": [{"control": 1}],
    "ties": [{"preds": THREE}],
    "names": [],
    "fitted": [{"hosmer_lemeshow_groups": 3}],
    "prevalence_se": [{"prevalence": 0.3}],
    "threshold_density": [{"threshold": (0.2, 0.6)}],
}
NEEDS["alpha"] += [CONCORDANT | {"margin": 0.1}, {"post_hoc": "midp"}]
NEEDS["cost"] += [{"counts": label_counts, "test": "cost"}]
NEEDS["rng"] = [*NEEDS["n_resamples"], {"n_resamples": 41}, {"n_resamples": 250}]
#: Options that change how an answer is made, not what it is.
SILENT = {"workers", "progress", "memory_limit", "checkpoint"}


def call(name, **options):
    """The answer to a proper call with further options, where draws are the same, and few."""
    given = arguments(name) | made(options)
    for option, value in (("rng", 1), ("n_resamples", 299)):
        if option in parameters(name):
            given.setdefault(option, value)
    return function(name)(**given)


@cache
def others(name, option):
    """Other values of an option: those that its refusal lists, or that of `OTHER`."""
    default = parameters(name)[option].default
    if (name, option) in OTHER_IN:
        return OTHER_IN[name, option]
    if isinstance(default, bool):
        return [not default]
    if option in OTHER and not isinstance(default, str):
        return [OTHER[option]]
    if option == "names":
        return [tuple("xy"), tuple("xyz")]
    for needed in ({}, *NEEDS.get(option, ())):
        try:
            call(name, **needed | {option: "no such word"})
        except (ValueError, TypeError) as error:
            _, _, words = str(error).partition("one of (")
            listed = re.findall(r"'([^']+)'", words.partition(")")[0])
            if words:
                return [x for x in listed if x != default and x[0] != "_"]
    return [OTHER[option]] if option in OTHER else []


@cache
def variants(name):
    """Answers to a proper call with one option changed: option, value, needed options, answer."""
    found = []
    for option, parameter in parameters(name).items():
        if parameter.default is parameter.empty or option in SILENT:
            continue
        for value in others(name, option):
            for needed in ({}, *NEEDS.get(option, ())):
                if set(needed) <= set(parameters(name)):
                    try:
                        answer = call(name, **needed | {option: value})
                    except (ValueError, TypeError):
                        continue
                    found.append((option, value, needed, answer))
    return found


def differs(first, second):
    try:
        assert_same(first, second)
    except AssertionError:
        return True
    return False


#: Options that change nothing here: data by another name, and what needs data of its own.
UNSEEN = {
    *("both_right", "both_wrong", "only_a", "only_b", "table", "counts", "tp", "fp", "fn", "tn"),
    *("score_or_label", "scores", "y", "item", "model", "value", "repeat", "group", "stratum"),
    *("weight", "model_a", "model_b", "result", "columns", "filter", "ids", "format", "task"),
    *("values", "map", "grid", "design", "items", "nested", "multiplicity", "missing"),
}
UNSEEN_IN = {
    "auc": {"on_single_class", "average", "classes", "multiclass"},
    "compare": {"preds", "y", "y_true", "measure"},
    "compare_cv": {"stratify"},
    "compare_cv_all": {"stratify"},
    "average_precision": {"average", "classes"},
    "classification_report": {"labels"},
    "classification_table": {"positive"},
    "compare_all": {"metric", "cost"},
    "compare_sums": {"beta", "labels"},
    "compare_datasets": {"exact", "variance", "n_resamples", "rng"},
    "compare_folds": {"metric"},
    "cost_test": {"classes"},
    "stream.LabelCounts": {"pairs"},
    "stream.gather": {"groups", "preds", "split_every", "target", "weights"},
    "datasets.bayes_datasets": {"prior_place"},
    "datasets.bradley_terry_from_battles": {"names"},
    "datasets.task_bootstrap": {"method"},
    "datasets.win_components": {"ties"},
    "det_curve": {"drop_intermediate"},
    "fold_test": {"folds", "half_differences"},
    "load_digits_values": {"measure"},
    "margin_decision": {"strict", "lower_is_better"},
    "Estimates": {"covariance", "influences", "groups", "n_items"},
    "max_t": {"n_resamples", "rng"},
    "metric_equality": {"classes"},
    "rogan_gladen": {"human"},
    "planning.labels": {
        *("half_width", "difference", "power", "rate", "sensitivity", "specificity"),
        *("cost_label", "cost_item", "worth"),
    },
    "read_results": {"metric", "models", "runs", "imputed"},
    "sequential.mean_test": {"truncation", "running_intersection"},
    "stream.ValueMoments.update": {"groups"},
    "variance_components": {"k", "repeats"},
    "calibration": {"classes", "multiclass"},
    "reliability_diagram": {"classes"},
    "compare_metric": {"labels"},
    "metric": {"labels", "positive"},  # both classes have the same counts here
    **{x: {"classes"} for x in PER_ITEM - {"correct_values"}},
    **{f"datasets.{x}": {"tasks"} for x in ("aligned_ranks", "friedman", "quade")},
    **{f"datasets.{x}": {"tasks"} for x in ("skillings_mack", "task_noise", "task_table")},
}


def matters(name, option):
    for changed, _, needed, answer in variants(name):
        if changed == option:
            try:
                without = call(name, **needed)
            except (ValueError, TypeError):  # needs the option
                return True
            if differs(answer, without):
                return True
    return False


@pytest.mark.parametrize("name", CALLED)
def test_options_matter(name):
    unseen = SILENT | UNSEEN | UNSEEN_IN.get(name, set())
    options = {x for x, given in parameters(name).items() if given.default is not given.empty}
    options -= {*arguments(name), *BY_COUNTS.get(name, ())}
    silent = [option for option in sorted(options - unseen) if not matters(name, option)]
    assert not silent, f"forgotten on the way? or new: add another value to OTHER in {__file__}"


@pytest.mark.parametrize("name", CALLED)
def test_intervals_hold_their_estimates_and_pvalues_are_adjusted(name):
    for option, value, needed, answer in variants(name):
        with case(option, value, needed):
            intervals_hold_their_estimates(answer)
            pvalues_are_adjusted(answer)


@pytest.mark.parametrize("name", RECORDS)
def test_records_hold_their_estimates_and_adjusted_pvalues(name):
    intervals_hold_their_estimates(example(name))
    pvalues_are_adjusted(example(name))


# --------------------------------------------------------------------------- levels and sides


@pytest.mark.parametrize("name", CALLED)
def test_a_higher_level_is_a_wider_interval(name):
    if "confidence_level" not in parameters(name):
        return
    narrow, wide = (call(name, confidence_level=level) for level in (0.6, 0.9))
    wider = 0
    for (where, low_level), (_, high_level) in zip(parts(narrow), parts(wide), strict=True):
        for (what, _, *inner), (_, _, *outer) in zip(
            intervals(low_level), intervals(high_level), strict=True
        ):
            with case(where, what, inner, outer):
                known = ~np.isnan(inner[0] + inner[1])
                assert (outer[0] <= inner[0])[known].all()
                assert (inner[1] <= outer[1])[known].all()
                wider += ((outer[1] - outer[0]) > (inner[1] - inner[0]))[known].any()
    assert wider or name in NO_INTERVAL
    assert getattr(wide, "confidence_level", 0.9) == 0.9


NO_INTERVAL = {"lift_table", "optimal_cutpoint", "datasets.task_bootstrap"}
#: With a method for intervals, and with bands.
NO_INTERVAL |= {"best_set", "rank_sets", "calibration", "reliability_diagram"}


@pytest.mark.parametrize("name", CALLED)
def test_sides_of_a_test(name):
    """The tails add up to 1, and the observed; an interval's end goes with its side."""
    if "alternative" not in parameters(name) or name.startswith("planning."):
        return
    ways = [SIDES.get(name, {})]
    ways += [needed | {x: value} for x, value, needed, _ in variants(name) if x in OF_PVALUES]
    for way in ways:
        try:
            sides = {x: call(name, alternative=x, **way) for x in ("two-sided", "greater", "less")}
        except ValueError:  # that way is two-sided
            continue
        for parts_of_sides in zip(*(list(parts(x)) for x in sides.values()), strict=True):
            (where, two), (_, greater), (_, less) = parts_of_sides
            if hasattr(two, "pvalue") and hasattr(two, "alternative"):
                with case(where, type(two).__name__, way):
                    sides_of_a_record(two, greater, less, way.get("null_difference"))


def sides_of_a_record(two, greater, less, null=0):
    p, p_greater, p_less = (np.asarray(x.pvalue) for x in (two, greater, less))
    observed = p_greater + p_less - 1
    with case(two.distribution if hasattr(two, "distribution") else "", p, p_greater, p_less):
        method = getattr(two, "method", "")
        if getattr(two, "design", "") == "samples" and method == "exact":
            both = two.only_a + two.only_b
            np.testing.assert_allclose(observed, stats.binom.pmf(two.only_a, both, 0.5))
        elif getattr(two, "distribution", None) in DISCRETE and method != "midp":
            assert (observed > 0).all() or method == "boschloo"
        elif not type(two).__name__.endswith(("EvalueResult", "LooksResult")):
            np.testing.assert_allclose(observed, 0, atol=1e-12)
            np.testing.assert_allclose(p, 2 * np.minimum(p_less, p_greater), rtol=1e-9)
        assert (p >= np.minimum(p_less, p_greater) - 1e-12).all()
        difference = point_of(two, ("difference", "estimate"))
        ranks = type(two).__name__ in ("DatasetsResult", "PairedRatio")  # of another sign
        if difference is not None and not ranks and not null:
            assert not ((difference > 0) & (p_greater > p_less + 1e-12)).any()
            assert not ((difference < 0) & (p_greater < p_less - 1e-12)).any()
        assert [x.alternative for x in (two, greater, less)] == ["two-sided", "greater", "less"]
    if type(two).__name__ == "PairedRatio" and two.lower_is_better:
        greater, less = less, greater
    for (what, _, low, high), (_, _, low_g, high_g), (_, _, low_l, high_l) in zip(
        *map(intervals, (two, greater, less)), strict=True
    ):
        with case(what, low, high, low_g, high_g, low_l, high_l):
            assert not (low_g < low - 1e-12).any()
            assert not (high_l > high + 1e-12).any()
            assert not (high_g < high - 1e-12).any()
            assert not (low_l > low + 1e-12).any()


FLIPS = {"method": "permutation"}


@pytest.mark.parametrize("way", [{}, FLIPS, FLIPS | {"studentized": True}], ids=str)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("name", ["mean_difference", "means_unpaired"])
def test_intervals_end_where_tests_reject(name, alternative, way):
    """0 is within the interval of level 1 - p and a little more, and not of a little less."""
    if not set(way) <= set(parameters(name)):
        return
    for shift in (-0.07, 0.07):
        given = way | {"values_b": np.add(T, shift), "alternative": alternative}
        p = call(name, **given).pvalue
        if p < 0.6:
            for level, within in ((1 - 0.999 * p, True), (1 - 1.001 * p, False)):
                low, high = call(name, **given, confidence_level=level).interval
                with case(shift, p, level, low, high):
                    assert (low <= 0 <= high) == within
        if way:  # no signs of 12 items can say so much
            ends = call(name, **given, confidence_level=1 - 1e-6).interval
            assert np.isinf([*ends]).all()


SIDES = {"compare_datasets": {"control": 1}, "compare_cv": FOLDS}
SIDES["sequential.mean_test"] = {"differences": [0.9] * 12}
#: Options that choose where p-values come from.
OF_PVALUES = {"method", "test", "groups", "strata", "df", "variance", "studentized", "measure"}
OF_PVALUES |= {"positive", "weights", "stratum_weights", "null_difference"}
#: Where the tails overlap; but those of Boschloo's test have an order each, and need not.
DISCRETE = {"binomial", "trinomial", "permutation", "bootstrap"}


#: Arguments of model a, which change places with those of model b.
OF_A = (
    *("pred_a", "score_a", "values_a", "scores_a", "y_a", "correct_a", "n_a", "only_a", "errors_a"),
)
OF_A += ("a", "model_a", "X_a", "only_a_positive", "n_a")


@pytest.mark.parametrize("name", CALLED)
def test_models_that_change_places(name):
    """The difference is the other way round, and so is the side of a test."""
    given = arguments(name)
    pairs = [(x, x.replace("_a", "_b") if "_a" in x else "b") for x in OF_A if x in given]
    if not pairs:
        return
    swap = {a: given[b] for a, b in pairs} | {b: given[a] for a, b in pairs}
    sides = ("two-sided", "less", "greater") if "alternative" in parameters(name) else ("",)
    for side in sides:
        turn = {"less": "greater", "greater": "less"}.get(side, side)
        ours = call(name, **({"alternative": side} if side else {}))
        theirs = call(name, **swap | ({"alternative": turn} if side else {}))
        for (where, first), (_, second) in zip(parts(ours), parts(theirs), strict=True):
            with case(side, where, first, second):
                if getattr(first, "pvalue", None) is not None:
                    np.testing.assert_allclose(first.pvalue, second.pvalue, rtol=1e-9)
                difference = point_of(first, ("difference",))
                if difference is not None:
                    np.testing.assert_allclose(difference, -second.difference, atol=1e-12)
                    for (what, _, low, high), (_, _, *ends) in zip(
                        intervals(first), intervals(second), strict=True
                    ):
                        with case(what, low, high, ends):
                            is_ratio = "ratio" in what or type(first).__name__ == "PairedRatio"
                            with np.errstate(divide="ignore"):
                                turned = np.divide(1, ends) if is_ratio else np.negative(ends)
                            np.testing.assert_allclose(
                                (low, high), turned[::-1], rtol=1e-7, atol=1e-9
                            )
                better = getattr(first, "better", None)
                if better in ("a", "b"):
                    assert second.better == {"a": "b", "b": "a"}[better]


#: Arguments with an entry for each item, and for each model.
OF_ITEMS = {
    *("y_true", "pred_a", "pred_b", "preds", "score", "scores", "score_a", "score_b", "values"),
    *("values_a", "values_b", "rater_a", "rater_b", "ratings", "differences", "probabilities"),
    *("pred", "score_or_label", "folds", "scores_a", "scores_b", "slices", "group", "criteria"),
}


def of_items(value, order):
    if isinstance(value, dict):
        return {key: of_items(column, order) for key, column in value.items()}
    return np.asarray(value)[order]


def assert_close(ours, theirs, where="answer"):
    """Two answers with the same numbers but for rounding, in whatever they are held."""
    if is_dataclass(theirs):
        for field in fields(theirs):
            if field.name not in ("seed", "cluster", "stratum"):
                pair = (getattr(answer, field.name) for answer in (ours, theirs))
                assert_close(*pair, f"{where}.{field.name}")
    elif isinstance(theirs, dict):
        for key in theirs:
            assert_close(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(theirs, (list, tuple)) and not np.isscalar(theirs):
        assert len(ours) == len(theirs), where
        for i, value in enumerate(theirs):
            assert_close(ours[i], value, f"{where}[{i}]")
    elif isinstance(theirs, (float, np.ndarray)) and np.asarray(theirs).dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=where)
    elif isinstance(theirs, (int, str, np.ndarray)):
        assert np.array_equal(ours, theirs), where


@pytest.mark.parametrize("name", CALLED)
def test_the_order_of_items_does_not_matter(name):
    given = arguments(name)
    columns = OF_ITEMS & set(given)
    if (
        not columns
        or name in ORDERED
        or any(np.shape(given[x])[-1:] not in ((), (12,)) for x in columns)
    ):
        return
    order = np.random.default_rng(5).permutation(12)
    assert_close(call(name, **{x: of_items(given[x], order) for x in columns}), call(name))


#: Where the answer is one of each item, random, or of items that are not the same of both models.
ORDERED = PER_ITEM | {
    *("auc_bootstrap", "auc_permutation_test", "roc_band", "venkatraman", "compare_folds"),
    *("accuracy_unpaired", "delong_unpaired", "compare_datasets"),
    *("datasets.task_noise", "datasets.task_bootstrap"),
    *(f"datasets.bayes_{x}" for x in ("datasets", "signed_rank")),
    *("datasets.leave_one_task_out", "datasets.normalised_scores"),
}


@pytest.mark.parametrize("name", CALLED)
def test_the_order_of_models_does_not_matter(name):
    given = arguments(name)
    for column in ("preds", "scores", "values"):
        if not isinstance(given.get(column), dict) or name.startswith("stream."):
            continue
        control = {"control": "a"} if "control" in given else {}
        ours = call(name, **{column: dict(reversed(given[column].items()))}, **control)
        theirs = call(name, **control)
        for field in OF_MODELS:
            if isinstance(value := getattr(theirs, field, None), np.ndarray):
                with case(field):
                    np.testing.assert_allclose(getattr(ours, field), value[::-1], rtol=1e-9)
        if getattr(theirs, "pairs", None) is None:
            continue
        m = len(theirs.names)
        places = {tuple(pair): i for i, pair in enumerate(np.asarray(ours.pairs).tolist())}
        at = [places[m - 1 - j, m - 1 - i] for i, j in np.asarray(theirs.pairs).tolist()]
        for field, sign in OF_PAIRS.items():
            if isinstance(value := getattr(theirs, field, None), np.ndarray):
                with case(field):
                    turned = sign * getattr(ours, field)[at]
                    np.testing.assert_allclose(turned, value, rtol=1e-9, atol=1e-12)
        for (what, _, *ends), (_, _, *others) in zip(
            intervals(ours), intervals(theirs), strict=True
        ):
            with case(what, ends, others):
                array = np.array(ends)
                turned = -array[::-1, at] if what == "interval" else array[:, ::-1]
                np.testing.assert_allclose(turned, others, rtol=1e-9, atol=1e-12)


#: Fields with an entry for each model, and for each pair with the sign of a change of places.
OF_MODELS = ("score", "auc", "correct", "estimate", "mean_score", "mean_rank")
OF_PAIRS = {"difference": -1, "pvalue": 1, "pvalue_adjusted": 1, "difference_standard_error": 1}


# --------------------------------------------------------------------------- the same by two ways


@pytest.mark.parametrize("name", CALLED)
def test_workers_and_memory_do_not_matter(name):
    for option, values in (("workers", (1, 3)), ("memory_limit", ("100 kB", "1 GB"))):
        if option not in parameters(name) or name.startswith("compare_cv"):  # processes: slow
            continue
        ways = [{}, *({"method": x} for x in ("permutation", "bootstrap"))]
        ways += [{"adjust": "maxt", "simultaneous": True}, {"metric": "f1", "adjust": "maxt"}]
        for way in ways:
            if set(way) <= set(parameters(name)):
                try:
                    theirs = call(name, **way)
                except (ValueError, TypeError):  # it has no such method
                    continue
                for value in values:
                    with case(option, value, way):
                        assert_same(call(name, **way | {option: value}), theirs)


def pair_tensor():
    return fastcmp.count_labels(Y, A, B)


def twin(first, second=None, given=(), place="", **of_second):
    """Two calls of one answer: what the first is given in other arguments, and the second."""
    return first, given, second or first, of_second, place


def table_of(y, pred):
    return np.histogram2d(y, pred, 2)[0].astype(int)


IN, OF_AREAS = "comparison", {"a": (Y, S), "b": (Y, T), "measure": "auc"}
COUNTED = {"counts": pair_tensor, "classes": None}
OF_TABLE = {"table": lambda: fastcmp.mcnemar_table(Y, A, B)}
OF_LABEL_COUNTS = {"counts": label_counts, "classes": None}
OF_TWO, MEANS = {"a": (Y, A), "b": (Y[::-1], B)}, {"a": S, "b": T, "measure": "mean"}
#: Functions of data in two forms; where the answer of the second stands in that of the first.
TWINS = {
    "labels": twin("compare_labels", "mcnemar", {}, IN),
    "costs of labels": twin("compare_labels", "cost_test", {"cost": COST}, IN),
    "unpaired": twin(
        *("compare_unpaired", "accuracy_unpaired", OF_TWO, IN), y_b=Y[::-1], method="boschloo"
    ),
    "unpaired means": twin("compare_unpaired", "means_unpaired", MEANS, IN),
    "unpaired areas": twin("compare_unpaired", "delong_unpaired", OF_AREAS, IN, method="t"),
    "table": twin("mcnemar", given=OF_TABLE),
    "looks": twin("sequential.mcnemar", given=OF_TABLE),
    "pairs": twin("compare_all", given={"counts": pair_counts}),
    "moments": twin("compare_means", given={"values": moments}),
    "q": twin("cochrans_q", given={"counts": pair_counts}),
    "report": twin("classification_report", given=OF_LABEL_COUNTS, preds={"a": A, "b": B}),
    "kappa": twin("cohen_kappa", given={"table": lambda: table_of(A, B)}),
    "costs": twin("cost_test", given={"counts": label_counts, "cost": COST}),
    "metrics": twin("compare_metric", given=COUNTED),
    "metric": twin("metric", given={"table": lambda: table_of(Y, A)}),
    "sensitivity": twin("compare_sensitivity_specificity", given={"counts": pair_tensor}),
    "dask pairs": twin("compare_all", given=("y_true", "preds")),
    "dask q": twin("cochrans_q", given=("y_true", "preds")),
    "dask areas": twin("delong", given=("y_true", "scores")),
    "dask means": twin("compare_means", given=("values",)),
}


def in_blocks(given, names):
    """The same data in Dask's arrays of several blocks, and the names of models."""
    import dask.array as da

    models = given.get("preds") or given.get("scores") or given["values"]
    rows = np.array([*models.values()])
    columns = [rows] if names == ("values",) else [np.array(Y), rows]
    made = {k: da.from_array(x, chunks=5) for k, x in zip(names, columns, strict=True)}
    if names[-1] == "scores":
        return made | {"scores": {x: made["scores"][i] for i, x in enumerate(models)}}
    return made | {"names": [*models]}


@pytest.mark.parametrize("name", TWINS)
def test_two_ways_to_one_answer(name):
    """With every option that both have."""
    first, of_first, second, of_second, place = TWINS[name]
    given = arguments(second) | made(of_second)
    if "dask" in name:
        pytest.importorskip("dask.array")
        data = in_blocks(given, of_first)
    else:
        data = arguments(first, next(iter(of_first), None)) | made(of_first)
    both = (parameters(first).keys() & parameters(second).keys()) - SILENT
    options = both - set(data) - set(given) | (both & {"metric"})
    of_labels = {"groups", "sample_weight", "strata", "stratum_weights", "average", "repeats", "k"}
    of_labels |= {"slices"}
    of_labels |= {"studentized"} if first == "compare_means" else set()
    of_labels |= {"labels"} if first == "cohen_kappa" else set()
    if "dask" not in name:
        of_labels |= {"classes", "missing", "names", "weights"}
    by_counts = of_labels if first == second else set()
    fixed = {k: v for k, v in (("rng", 1), ("n_resamples", 299)) if k in both}
    cases = [
        (option, value, needed)
        for option in sorted(options)
        for value in others(second, option)
        for needed in ({}, *NEEDS.get(option, ()))
        if by_counts.isdisjoint({option, *needed})
        if set(needed) <= options
    ]
    for option, value, needed in [("", None, {}), *cases]:
        changed = made(fixed | needed | ({option: value} if option else {}))
        if {*changed, *map(str, changed.values())} & NOT_ALIKE.get(first, set()):
            continue
        if option in ("weights", "groups") and "variance" in both:  # blocks have no other
            changed["variance"] = "cr1"
        with case(option, value, needed):
            try:
                theirs = function(second)(**given | changed)
            except (ValueError, TypeError) as error:
                with pytest.raises(type(error)):
                    function(first)(**data | changed)
                continue
            ours = function(first)(**data | changed)
            if getattr(theirs, "margins", None) is not None:
                assert_close(ours.margins, theirs.margins)
            compared = [*shared(getattr(ours, place) if place else ours, theirs)]
            assert compared
            for field, x, y in compared:
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=field)


#: Options and values that need items, or stand for something else.
NOT_ALIKE = {
    "compare_all": {"maxt", "single-step", "metric", "cost", "slices"},
    "compare_means": {"maxt", "single-step", "permutation", "bootstrap", "wilcoxon"}
    | {"missing", "interval", "slices"},
    "cochrans_q": {"exact"},
    "compare_unpaired": {"alpha"},
}


def shared(ours, theirs):
    """The numbers that answer, of fields that both have, and of records within both."""
    inner = dict(parts(ours))
    for place, second in parts(theirs):
        if place in inner:
            yield from ((f"{place}.{x}", *pair) for x, *pair in shared_by(inner[place], second))


def shared_by(ours, theirs):
    for field in ("pvalue", "pvalue_adjusted", "statistic", "difference", "value", "df", "score"):
        first, second = (point_of(answer, (field,)) for answer in (ours, theirs))
        if first is not None and second is not None:
            yield field, first, second
    for (name, *first), (other, *second) in zip(intervals(ours), intervals(theirs), strict=False):
        if name == other:
            yield name, first, second
    for field in ("alternative", "method", "adjust", "alpha", "confidence_level", "names"):
        if hasattr(ours, field) and hasattr(theirs, field):
            assert getattr(ours, field) == getattr(theirs, field), field


# --------------------------------------------------------------------------- scale, labels, gaps


@pytest.mark.parametrize("name", CALLED)
def test_an_item_of_weight_0_is_none(name):
    """Without some items, and without a class."""
    given = arguments(name)
    option = next((x for x in ("sample_weight", "weights") if x in parameters(name)), None)
    columns = OF_ITEMS & set(given)
    if option is None or not columns or "." in name or "kappa" in name:
        return
    for kept in ([0, 1, 2, 4, 5, 6, 7, 9, 10, 11], np.flatnonzero(Y)):
        weights = np.zeros(12)
        weights[kept] = np.array(WEIGHTS)[kept]
        fewer = {x: of_items(given[x], kept) for x in columns}
        with case(kept):
            try:
                theirs = call(name, **fewer, **{option: weights[kept]})
            except ValueError:
                with pytest.raises(ValueError):  # noqa: PT011
                    call(name, **{option: weights})
                continue
            ours = call(name, **{option: weights})
            assert is_dataclass(ours) or not differs(ours, theirs)
            for field, x, y in shared(ours, theirs):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=field)


#: What data are in the unit of values: arguments, and fields of answers.
VALUES_IN_UNITS = {"values", "values_a", "values_b", "differences", "half_differences"}
VALUES_IN_UNITS |= {"scores_a", "scores_b"}
FIELDS_IN_UNITS = ("difference", "mean_a", "mean_b", "standard_error", "difference_standard_error")
FREE_OF_UNITS = ("pvalue", "pvalue_adjusted", "statistic", "df", "may_be_best")
NO_UNIT = {"variance_components", "sequential.mean_test", "sequential.MeanLooks.update"}


def times(value, unit):
    if isinstance(value, dict):
        return {key: np.multiply(column, unit) for key, column in value.items()}
    return (
        [np.multiply(row, unit) for row in value]
        if np.ndim(value[-1])
        else np.multiply(value, unit)
    )


@pytest.mark.parametrize("name", CALLED)
def test_the_unit_of_values_does_not_matter(name):
    given = arguments(name)
    columns = VALUES_IN_UNITS & set(given)
    if not columns or name in NO_UNIT or "bayes" in name or name.startswith("stream."):
        return
    ways = [{}, {"groups": GROUPS}, {"method": "permutation"}, {"method": "bootstrap"}]
    for way in ways:
        if not set(way) <= set(parameters(name)):
            continue
        try:
            plain = call(name, **way)
        except ValueError:  # it has no such method
            continue
        for unit in (2.0**-30, 2.0**40):
            scaled = call(name, **{x: times(given[x], unit) for x in columns}, **way)
            for (where, theirs), (_, ours) in zip(parts(plain), parts(scaled), strict=True):
                with case(way, unit, where, theirs, ours):
                    of_unit = FIELDS_IN_UNITS  # the statistic of draws is the difference
                    if getattr(theirs, "method", "") == "permutation":
                        of_unit += ("statistic",)
                    for field in (*FIELDS_IN_UNITS, *FREE_OF_UNITS):
                        if (value := point_of(theirs, (field,))) is not None:
                            factor = unit if field in of_unit else 1
                            np.testing.assert_allclose(
                                point_of(ours, (field,)),
                                factor * value,
                                rtol=1e-9,
                                atol=1e-12 * factor,
                                err_msg=field,
                            )
                    for (what, *ends), (_, *others) in zip(
                        intervals(theirs), intervals(ours), strict=True
                    ):
                        if what not in ("rank_interval", ("lower", "upper")):
                            np.testing.assert_allclose(others, unit * np.array(ends), rtol=1e-7)


def stretched(value):
    """Scores of which the least is 0 and the largest 1."""
    if isinstance(value, dict):
        return {key: stretched(column) for key, column in value.items()}
    value = np.array(value, float)
    return (value - value.min()) / np.ptp(value)


@pytest.mark.parametrize("name", CALLED)
def test_scores_from_0_to_1_may_be_0_and_1(name):
    given = arguments(name)
    columns = {"score", "scores", "score_a", "score_b", "probabilities", "scores_a", "scores_b"}
    if columns & set(given) and "table" not in name and not name.startswith("compare_folds"):
        call(name, **{x: stretched(given[x]) for x in columns & set(given)})


#: Arguments with labels of classes.
OF_LABELS = {"y_true", "pred_a", "pred_b", "preds", "pred", "rater_a", "rater_b", "ratings"}
OF_LABELS |= {"y_a", "y_b"}


def relabel(value, words):
    if isinstance(value, dict):
        return {key: relabel(column, words) for key, column in value.items()}
    return [words[x] for x in value]


@pytest.mark.parametrize("name", CALLED)
def test_names_of_classes_do_not_matter(name):
    """Neither other words in their order, nor in another where the positive one is named."""
    given = arguments(name)
    columns = OF_LABELS & set(given)
    if not columns or "." in name or {"classes", "cost"} & set(given) or name in BY_CLASS:
        return
    theirs = call(name)
    named = "positive" in parameters(name)
    for no, yes in [("no", "yes"), *([("no", "maybe")] if named and name not in OF_DRAWS else [])]:
        new = {x: relabel(given[x], {0: no, 1: yes, 2: "z"}) for x in columns}
        with case(no, yes):
            ours = call(name, **new, **({"positive": yes} if named else {}))
            assert is_dataclass(theirs) or not differs(ours, theirs)
            for field, x, y in shared(ours, theirs):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=field)


#: Where an answer has a row for each class, and where draws have the order of classes.
BY_CLASS, OF_DRAWS = (
    {"classification_report", "dice_values", "metric_equality"},
    {"compare_metric", "metric"},
)

#: Arguments in which a value may be missing.
MAY_LACK = ("pred_b", "preds", "values", "values_a", "scores", "b", "pred_a", "differences")


def with_a_gap(value):
    """The same with a missing value of the first model or item."""
    if isinstance(value, dict):
        first, *rest = value
        return {first: with_a_gap(value[first])} | {name: value[name] for name in rest}
    if isinstance(value, tuple):
        return (*value[:-1], with_a_gap(value[-1]))
    value = np.array(value, float)
    value.flat[1] = np.nan
    return value


@pytest.mark.parametrize("name", CALLED)
def test_policies_for_what_is_missing(name):
    """All say the same where nothing is; where something is, each something else."""
    if "missing" not in parameters(name) or name in ("compare_holdout", "compare_predictions"):
        return
    options = {"method": "sign"} if name == "compare_datasets" else {}
    theirs, policies = call(name, **options), []
    for policy in others(name, "missing"):
        try:
            ours = call(name, missing=policy, **options)
        except ValueError:  # of another method or measure
            continue
        policies.append(policy)
        with case(policy):
            for field, x, y in shared(ours, theirs):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-15, err_msg=field)
    given = arguments(name)
    column = next((x for x in MAY_LACK if x in given), None)
    if column is None or name == "variance_components":  # which counts what there is
        return
    gap = {column: with_a_gap(given[column])}
    with pytest.raises(ValueError, match=r"missing|NaN"):
        call(name, **gap)
    answers = [call(name, **gap, missing=policy, **options) for policy in policies]
    for i, ours in enumerate(answers):
        with case(policies[i]):
            assert differs(ours, theirs)
            alike = name == "mean_difference" and policies[i] == "pairwise"  # a pair has the same
            assert alike or all(differs(ours, other) for other in answers[:i])


# --------------------------------------------------------------------------- draws, and no answer


@cache
def many():
    """Data of 48 items, too many to look at all assignments."""
    rng = np.random.default_rng(1)
    values = {
        k: rng.normal(mean, 1, 48).round(2) for k, mean in zip("abc", (0, 0.2, 0.5), strict=True)
    }
    y_true, a, b, c = (rng.random((4, 48)) < 0.6).astype(int)
    rows = {"values": values, "values_a": values["a"], "values_b": values["b"]}
    rows |= {"y_true": y_true, "preds": {"a": a, "b": b, "c": c}, "pred": a, "pred_a": a}
    scores = {"score": values["a"], "scores": values, "score_a": values["a"], "pred_b": b}
    differences = {x: values["a"] - values[x] for x in "bc"}
    rows |= {"slices": [0, 1, 2] * 16, "group": [0, 1] * 24}
    return rows | scores | {"score_b": values["b"], "differences": differences}


def of_many(name):
    """The arguments of a call by 48 items, or none."""
    given = arguments(name)
    data = {x: value for x, value in many().items() if x in given}
    return {} if "folds" in given or set(given) & set(OF_ITEMS) - set(data) else data


@pytest.mark.parametrize("name", CALLED)
def test_random_answers_say_so(name):
    """What another seed changes is said to be drawn; what it does not is all there is."""
    if "rng" not in parameters(name) or "." in name:
        return
    ways = [{}, {"method": "permutation"}, {"method": "bootstrap"}, {"adjust": "maxt"}]
    some, few = {"groups": [i // 2 for i in range(48)]}, {"groups": GROUPS}
    for data, groups in (({}, few), (of_many(name), some)):
        if data == {} and groups is some:
            continue
        for way in [*ways, *(way | groups for way in ways)]:
            if not set(way) <= set(parameters(name)):
                continue
            try:
                ours, theirs = (call(name, **data | way, rng=rng) for rng in (1, 2))
            except ValueError:  # it has no such method
                continue
            with case(way, "many" if data else "few", ours):
                changed = [
                    field
                    for field, x, y in shared(ours, theirs)
                    if not np.array_equal(x, y, equal_nan=True)
                ]
                if name == "compare_slices":
                    assert ours.adjust_draws == ("normal draws" if "adjust" in way else None)
                elif "maxt" in way.values():
                    by_all = "normal draws" if name == "compare_sums" else "all sign flips"
                    assert (ours.adjust_draws == by_all) == (not data)
                elif hasattr(ours, "seed"):
                    assert not changed or ours.seed == 1
                    assert not getattr(ours, "exact", False) or ours.seed is None
                    if ours.seed is not None:
                        assert_same(call(name, **data | way, rng=ours.seed), ours)


@pytest.mark.parametrize("name", CALLED)
def test_step_down_is_not_single_step(name):
    """No p-value is larger, the least is the same, and some are smaller."""
    values = [x.default for x in parameters(name).values() if x.name == "step"]
    option, single, down = ("step", "single", "down") if values else ("adjust", *STEPS)
    if option not in parameters(name) or single not in others(name, option) + values:
        return
    data = of_many(name)
    if "moments" in arguments(name):
        data = {"moments": stream.ValueMoments().update(many()["values"])}
    if name == "simultaneous_pairs":
        data = {"estimates": Estimates([0.1, 0.13, 0.16], [2e-4, 1e-4, 3e-4])}
    sided = values and "alternative" in parameters(name)  # else adjustments are two-sided
    for side in ("two-sided", "greater", "less") if sided else ("",):
        way = data | ({"alternative": side} if side else {})
        one, two = (call(name, **way, **{option: x}).pvalue_adjusted for x in (single, down))
        with case(side, one, two):
            assert (two <= one + 1e-12).all()
            assert np.isclose(two.min(), one.min())
            assert (two < one).any()
            assert (two >= call(name, **way, **{option: down}).pvalue - 0.02).all()


STEPS = ("single-step", "maxt")


@pytest.mark.parametrize("name", CALLED)
def test_no_answer_is_no_decision(name):
    """NaN is no tie, no win and nothing significant, in fields and in words."""
    found = variants(name)
    if "zero_division" in parameters(name) and "pred_a" in parameters(name):
        no_value = {"pred_a": [0] * 12, "metric": "precision", "zero_division": np.nan}
        found = [*found, ("pred_a", 0, {}, call(name, **no_value))]
    for option, value, needed, answer in found:
        for where, record in parts(answer):
            with case(option, value, needed, where, record):
                no_answer_is_no_decision(record)


def no_answer_is_no_decision(record):
    pvalue = getattr(record, "pvalue", None)
    if pvalue is None or not np.isnan(np.asarray(pvalue, float)).any():
        return
    unknown = np.isnan(np.asarray(pvalue, float))
    for field in ("significant", "rejected"):
        decided = getattr(record, field, None)
        if decided is not None and not callable(decided):
            assert not np.asarray(decided)[unknown].any()
    if np.ndim(pvalue) == 0:
        assert getattr(record, "status", 1) != 0
        if np.isnan(getattr(record, "difference", 0)):
            assert getattr(record, "better", None) is None
            assert not re.search("the same|higher|lower|better", str(record).split("H0")[0][23:])
