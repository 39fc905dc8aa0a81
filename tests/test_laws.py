"""Laws of all functions and records: each test holds for whatever `calls` and `test_records` list."""

import re
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import pytest
from calls import COST, FUNCTIONS, arguments, function, parameters
from cases import case
from same_bits import assert_same
from test_records import RECORDS, example

import fastcmp

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
POINTS_IN = {"PairedRatio": ("ratio",), "Plan": ("n",), "SignedRankResult": ("estimate",)}
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
        except (
            AttributeError,
            TypeError,
            ValueError,
        ):  # of a property: counts alone have no difference
            continue
    return None


def intervals(record, *level):
    """All intervals of a record: what it is, what they are of, low and high, as arrays."""
    for name, points in POINTS.items():
        ends = getattr(record, name, None)
        if callable(ends):
            try:
                ends = ends(*level)
            except (ValueError, TypeError):  # there is none, or one of several must be named
                continue
        elif level:
            continue
        point = point_of(record, POINTS_IN.get(type(record).__name__, points))
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
                known = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(point)
                assert (np.isnan(low) == np.isnan(high)).all()
                assert (low - slack <= point)[known].all()
                assert (point <= high + slack)[known].all()


def pvalues_are_adjusted(answer):
    """By `adjust`, as many as were tested."""
    for where, record in parts(answer):
        adjusted, method = (getattr(record, x, None) for x in ("pvalue_adjusted", "adjust"))
        if adjusted is None or np.shape(adjusted) != np.shape(record.pvalue):
            continue
        with case(where, method, record.pvalue, adjusted):
            assert (np.isnan(record.pvalue) == np.isnan(adjusted)).all()
            if method in ADJUSTMENTS:
                wanted = fastcmp.adjust(record.pvalue, method=method)
                np.testing.assert_allclose(adjusted, wanted, rtol=1e-12)


ADJUSTMENTS = (
    *("bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel", "bh", "by", "finner"),
    *("li", "none", "shaffer", "bergmann-hommel"),
)


# --------------------------------------------------------------------------- options

#: Another value of an option, for each that is no choice of words.
OTHER = {
    "alpha": 0.2, "confidence_level": 0.6, "margin": 0.1, "n_resamples": 250, "rng": 7,
    "groups": GROUPS, "strata": STRATA, "sample_weight": WEIGHTS, "weights": WEIGHTS,
    "positive": 0, "classes": [0], "labels": [0, 1], "stratum_weights": "equal", "cost": COST,
    "control": 1, "pairs": [(1, 0)], "names": ("x", "y"), "keep": 2, "metric": "mcc",
    "target_names": ["x", "y"], "digits": 2, "overall": ["mcc"], "metrics": ["recall"],
    "prevalence": 0.3, "beta": 0.5, "null_difference": 0.1, "gamma": 0.01, "df": 5.0,
    "fpr_range": (0, 0.5), "tpr_range": (0.5, 1), "max_fpr": 0.5, "zero_division": 1,
    "cutoff": 0.4, "smoothing": 0.5, "cost_fp": 3.0, "cost_fn": 3.0, "eps": 0.3,
    "rope": 0.05, "threshold": 0.6, "prior_strength": 3.0, "z0": 0.5, "ridge": 2.0,
    "rho": 0.3, "rho1": 0.1, "rho2": 0.1, "n_train": 80, "n_test": 20, "runs": 2,
    "test_train_ratio": 0.5, "baseline": 1, "top_k": 2, "prior": (2.0, 2.0), "mean0": 0.1,
    "bounds": (-2, 2), "bets": [0.1] * 12, "truncation": 0.4, "projection_critical": 3.0,
    "test_size": 0.4, "n_repeats": 3, "n_folds": 3, "n_halves": 4, "m": 3, "power": 0.9,
    "sensitivity": 0.5, "specificity": 0.5, "tasks": list("abcdefghijkl"),
    "bootstrap_indices": [[*range(12)] * 1, [0] * 12, [*range(6)] * 2], "models": [1],
    "n_samples": 99, "ties": [[0, 3], [3, 0]], "step_down": False, "k": 2, "y": None,
}
#: What an option needs beside it to matter; the first that is taken counts.
NEEDS = {
    "alpha": [{"margin": 0.1}],
    **dict.fromkeys(
        ("n_resamples", "rng"),
        [{"method": "bootstrap"}, {"method": "permutation", "groups": None}]
        + [{"adjust": "maxt"}, {"adjust": "single-step"}, {"method": "monte-carlo"}],
    ),
    "df": [{"groups": GROUPS}],
    "variance": [{"groups": GROUPS}],
    "stratum_weights": [{"strata": STRATA}],
    "standardize": [{"fpr_range": (0, 0.5)}],
    "studentized": [{"method": "permutation"}],
    "interval": [{"method": "bootstrap"}],
    "average": [{"groups": GROUPS}],
    "cost": [{"test": "cost"}, {"metric": "cost"}],
    "rho1": [{"rho2": 0.1}],
    "rho2": [{"rho1": 0.1}],
    "n_train": [{"n_test": 20}],
    "n_test": [{"n_train": 80}],
    "cost_fp": [{"criterion": "cost"}],
    "cost_fn": [{"criterion": "cost"}],
    "prevalence": [{"criterion": "weighted-youden"}],
    "nonnegative": [{"method": "chi-square", "smoothing": 0}],
    "smoothing": [{"method": "chi-square"}],
    "beta": [{"metric": "fbeta"}],
    "null_difference": [{"method": "miettinen-nurminen"}],
}
#: Options that change how an answer is made, not what it is.
SILENT = {"workers", "progress", "memory_limit", "checkpoint"}


def call(name, **options):
    """The answer to a proper call with further options, where draws are the same."""
    given = arguments(name) | options
    if "rng" in parameters(name):
        given.setdefault("rng", 1)
    return function(name)(**given)


@cache
def others(name, option):
    """Other values of an option: those that its refusal lists, or that of `OTHER`."""
    default = parameters(name)[option].default
    if isinstance(default, bool):
        return [not default]
    if option in OTHER and not isinstance(default, str):
        return [OTHER[option]]
    try:
        call(name, **{option: "no such word"})
    except (ValueError, TypeError) as error:
        _, _, words = str(error).partition("one of (")
        listed = re.findall(r"'([^']+)'", words.partition(")")[0])
        return [x for x in listed if x != default and x[0] != "_"] or [OTHER.get(option)]
    return []


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


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_options_matter(name):
    for option, parameter in parameters(name).items():
        if parameter.default is parameter.empty or option in SILENT:
            continue
        answers = [(needed, answer) for x, _, needed, answer in variants(name) if x == option]
        with case(option):
            assert any(differs(answer, call(name, **needed)) for needed, answer in answers) or (
                (name, option) in UNSEEN or option in UNSEEN
            ), "a new option? add another value of it to OTHER in this file"


UNSEEN = {}


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.filterwarnings("ignore::UserWarning")
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
@pytest.mark.filterwarnings("ignore::UserWarning")
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


NO_INTERVAL = {}


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_sides_of_a_test(name):
    """The tails add up to 1, and the observed; an interval's end goes with its side."""
    if "alternative" not in parameters(name):
        return
    options = SIDES.get(name, {})
    answers = {x: call(name, alternative=x, **options) for x in ("two-sided", "greater", "less")}
    for parts_of_sides in zip(*(list(parts(x)) for x in answers.values()), strict=True):
        (where, two), (_, greater), (_, less) = parts_of_sides
        if not hasattr(two, "pvalue") or not hasattr(two, "alternative"):
            continue
        p, p_greater, p_less = (np.asarray(x.pvalue) for x in (two, greater, less))
        with case(where, type(two).__name__, p, p_greater, p_less):
            known = ~np.isnan(p)
            assert (p_greater + p_less >= 1 - 1e-12)[known].all()
            if name not in DISCRETE:
                np.testing.assert_allclose((p_greater + p_less)[known], 1, rtol=1e-12)
                np.testing.assert_allclose(p, 2 * np.minimum(p_less, p_greater), rtol=1e-9)
            assert (p >= np.minimum(p_less, p_greater) - 1e-12)[known].all()
            assert (p_greater != p_less).any()
            assert [x.alternative for x in (two, greater, less)] == [*answers]
            for (what, _, low, high), (_, _, low_g, high_g), (_, _, low_l, high_l) in zip(
                intervals(two), intervals(greater), intervals(less), strict=True
            ):
                with case(what, low, high, low_g, high_g, low_l, high_l):
                    assert (low_g >= low - 1e-12).all()
                    assert (high_l <= high + 1e-12).all()
                    assert (high_g >= high - 1e-12).all()
                    assert (low_l <= low + 1e-12).all()


SIDES = {}
DISCRETE = {}
