"""Plans as records: passed again they are the same, and they print what they say."""

import re

import numpy as np
import pytest

from fastcmp import planning

SOLVERS = {
    "n": (planning.sample_size, "power"),
    "power": (planning.power, "n"),
    "difference": (planning.detectable_difference, "n"),
}
CELLS = {"p10": 0.15, "p01": 0.05}
MEAN = {"test": "mean", "sd": 0.5}
AUC = {"test": "auc", "ratio": 3}
CURVES = {"correlation_positives": 0.5, "correlation_negatives": 0.4, "ratio": 2}
PAIR = {"test": "auc-paired", "auc_a": 0.85, "auc_b": 0.75, **CURVES}
CV = {"test": "cv", "n_resamples": 50, "rng": 1}
BOARD = {"test": "leaderboard", "n_resamples": 50, "rng": 1}
PLANS = {
    "mcnemar": ("n", CELLS),
    "arrays": ("n", {"difference": [0.02, 0.1], "discordant": 0.2}),
    "right": ("n", CELLS | {"tails": "right-direction"}),
    "conditional": ("power", CELLS | {"n": 100, "conditional": True}),
    "pilot": ("power", {"n": 100, "pilot": (12, 5, 80)}),
    "pilots": ("n", {"pilot": ([12, 14], [5, 4], [80, 90])}),
    "so far": ("power", CELLS | {"n": 100, "so_far": (12, 5, 80)}),
    "accuracies": ("n", {"accuracy_a": 0.8, "accuracy_b": 0.85}),
    "labels": ("n", {"accuracy_a": 0.8, "accuracy_b": 0.85, "label_agreement": 0.9}),
    "detectable": ("difference", {"n": [100, 300], "agreement": 0.85}),
    "margin": ("n", {"p10": 0.1, "p01": 0.1, "margin": 0.05}),
    "mean": ("n", MEAN | {"difference": [0.05, 0.1]}),
    "clusters": (
        "power",
        MEAN | {"difference": 0.1, "n": 200} | {"cluster_size": 4, "intraclass_correlation": 0.1},
    ),
    "detectable mean": ("difference", MEAN | {"n": 200}),
    "auc": ("n", AUC | {"auc": 0.7, "tails": "both"}),
    "detectable auc": ("difference", AUC | {"n": [40, 90]}),
    "two aucs": ("n", PAIR),
    "detectable of two aucs": ("difference", PAIR | {"n": 100}),
    "folds": ("power", CV | {"accuracy_a": 0.9, "accuracy_b": 0.8, "n": 100}),
    "folds, detectable": ("difference", CV | {"agreement": 0.8, "n": 100}),
    "leaderboard": ("n", BOARD | {"accuracies": [0.9, 0.8, 0.7], "agreement": 0.8}),
}


@pytest.mark.parametrize("what", PLANS)
def test_inputs_passed_again_give_the_same_plan(what):
    solved_for, options = PLANS[what]
    solve, given = SOLVERS[solved_for]
    plan = solve(**options)
    rest = {given: options[given]} if given in options else {}
    rest |= {"hypothesis": plan.hypothesis, "margin": plan.margin}
    again = solve(plan.test, method=plan.method, **rest, **dict(plan.inputs))
    for name in ("n", "power", "difference", "assurance"):
        first, second = getattr(plan, name), getattr(again, name)
        if first is not None:
            np.testing.assert_allclose(second, first, rtol=1e-12, err_msg=name)


RATES = "to detect a difference of"
SENTENCES = {
    f"With 1 sample, 0% power {RATES} 10 percentage points (": ("power", CELLS | {"n": 1}),
    f"With 700 samples, more than 99.9% power {RATES} 10": ("power", CELLS | {"n": 700}),
    f"No number of samples gives 80% power {RATES} 0": ("sample_size", {"p10": 0.1, "p01": 0.1}),
    f"80% power {RATES} -5 percentage points (McNemar's mid-p test, one-sided, greater": (
        *("sample_size", {"p10": 0.05, "p01": 0.1, "alternative": "greater"}),
    ),
    "With 20 samples, no possible difference is detected with 80% power (": (
        *("detectable_difference", {"n": 20, "discordant": 0.1}),
    ),
    f"power {RATES} 1 percentage point (": (
        *("power", {"n": 20, "difference": 0.01, "discordant": 0.1}),
    ),
    f"With 27 positives and 54 negatives, 84.7% power {RATES} 0.2": (
        *("power", {"test": "auc", "n": 27, "n_negatives": 54, "auc": 0.7}),
    ),
}


@pytest.mark.parametrize("words", SENTENCES)
def test_sentences(words):
    solve, options = SENTENCES[words]
    assert words in " ".join(str(getattr(planning, solve)(**options)).split())


def test_tables_hold_what_differs_and_say_the_rest():
    plan = planning.sample_size(difference=[0.02, 0.05], discordant=0.15, power=[[0.8], [0.9]])
    lines = str(plan).splitlines()
    assert lines[0] == "Sample size (McNemar's mid-p test, two-sided, alpha 0.05)"
    assert lines[1] == "4 plans (2 x 2)"
    assert lines[2].split() == ["n", "power", "difference", "p10", "p01"]
    assert lines[3].split() == ["2,934", "0.8001", "0.02", "0.085", "0.065"]
    assert plan.columns()["p10"] == pytest.approx([0.085, 0.1, 0.085, 0.1])
    assert plan.columns()["alpha"] == [0.05] * 4


HURRIED = {
    "p10 must lie in [0, 1], got 15: write 0.15 for 15%": {"p10": 15, "p01": 5},
    "power must lie in (0, 1), got 80: write 0.8 for 80%": CELLS | {"power": 80},
    "alpha must lie in (0, 1), got 5: write 0.05 for 5%": CELLS | {"alpha": 5},
    "difference must lie in [-1, 1], got 2: write 0.02 for 2%": {"difference": 2}
    | {"discordant": 0.1},
    "margin must lie in (0, 1) for accuracies, got 5: write 0.05 for 5 percentage points": (
        CELLS | {"margin": 5}
    ),
    "method='tango' is not for hypothesis='difference', which has: midp, exact, "
    "asymptotic, corrected, connor, miettinen, lachenbruch; it is for 'noninferiority', "
    "'superiority', 'equivalence', with margin=": CELLS | {"method": "tango"},
    "method='chow' is not for hypothesis='noninferiority', which has: t, normal; it is for "
    "'equivalence', with margin=": {"test": "mean", "sd": 0.4, "difference": 0, "margin": 0.05}
    | {"method": "chow"},
    "hypothesis='equivalence' needs margin=": CELLS | {"hypothesis": "equivalence"},
    "sd must be > 0 and finite, got -0.5": {"test": "mean", "sd": -0.5, "difference": 0.1},
}


@pytest.mark.parametrize("message", HURRIED)
def test_hurried_inputs_are_told_what_to_write(message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        planning.sample_size(**HURRIED[message])


def known(**options):
    """The names that an error lists."""
    with pytest.raises(ValueError, match=r"which knows: |must be one of ") as caught:
        planning.power(n=50, **options)
    text = str(caught.value)
    if "which knows: " in text:
        return text.partition("which knows: ")[2].split(", ")
    return re.findall(r"'([^']+)'", text.partition("(")[2].partition(")")[0])


def test_help_lists_all_inputs_and_methods():
    """`help(planning.sample_size)` is enough to plan each test."""
    notes = planning.sample_size.__doc__.split("Notes\n")[1]
    tests = known(test="nope")
    assert len(tests) == 10
    for test in tests:
        [own] = [part for part in re.split(r'\n\n    (?=")', notes) if f'"{test}"' in part[:25]]
        missing = [name for name in known(test=test, nope=1) if f"`{name}`" not in own]
        if "16 tests on folds" not in own:
            methods = known(test=test, method="nope")
            missing += [x for x in methods if f'"{x}"' not in own and f"'{x}'" not in own]
        assert missing == []
        for other in (planning.power, planning.detectable_difference):
            assert f'"{test}"' in other.__doc__
