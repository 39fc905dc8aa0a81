"""McNemar's test by e-values: reference values, laws, and agreement with intervals."""

import math
import re

import numpy as np
import pytest
import reference_cases
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import expected

import fastcmp
from fastcmp import sequential, stream
from fastcmp.sequential import McNemarLooks

counts = st.integers(0, 300)
Y = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 6)
A, B = (np.where(np.arange(60) % k, Y, 1 - Y) for k in (9, 4))


# Reference.


@reference_cases.parametrize("mcnemar_evalue")
def test_evalues(case):
    result = sequential.mcnemar(**case["input"], **case["options"])
    assert result.evalue == expected(case, "evalue")
    assert result.pvalue == expected(case, "pvalue_anytime")


@reference_cases.parametrize("mcnemar_confidence_sequence")
def test_proportions_of_discordant_samples(case):
    options = case["options"]
    result = sequential.mcnemar(**case["input"], prior=options["prior"])
    low, high = result.discordant_interval(1 - options["alpha"])
    assert low == expected(case, "lower")
    assert high == expected(case, "upper")


METHODS = {"mixture of constant bets, arcsine": "bets", "Dirichlet mixture, projected": "dirichlet"}


@reference_cases.parametrize("paired_difference_confidence_sequence")
def test_differences(case):
    a, b, n = (case["input"][name] for name in ("only_a", "only_b", "n"))
    method = METHODS[case["options"]["method"]]
    options = {"method": method, "prior": case["options"].get("prior")}
    result = sequential.mcnemar(only_a=a, only_b=b, both_right=n - a - b, both_wrong=0)
    low, high = result.confidence_interval(1 - case["options"]["alpha"], **options)
    assert low == expected(case, "lower")
    assert high == expected(case, "upper")
    for key in case["expected"]:
        if at := re.fullmatch(r"log_evalue_at_(\d+(?:_\d+)?)", key):
            difference = float(at[1].replace("_", "."))
            assert result.log_evalue_at(difference, **options) == expected(case, key)


@reference_cases.parametrize("mcnemar_looks")
def test_looks(case):
    only_a, only_b = np.array(case["input"]["looks"]).T
    options = case["options"]
    result = sequential.mcnemar_looks(only_a, only_b, **options)
    check_looks(result, case)
    state = McNemarLooks(**options)
    for a, b in case["input"]["looks"]:
        result = state.look([[0, a], [b, 0]])
    check_looks(result, case)


def check_looks(result, case):
    assert result.evalue.tolist() == expected(case, "evalues")
    assert result.pvalue.tolist() == expected(case, "pvalue_anytime")
    assert result.first_rejection == case["expected"]["first_rejection"]


# Laws.


@given(counts, counts, counts, st.floats(0.6, 0.999))
def test_interval_and_test_agree(a, b, ties, level):
    result = sequential.mcnemar(only_a=a, only_b=b, both_right=ties, both_wrong=1)
    distance = result.log_evalue + math.log1p(-level)
    if abs(distance) < 1e-9:
        return
    low, high = result.confidence_interval(level)
    assert (low < 0 < high) == (distance < 0)
    low, high = result.discordant_interval(level)
    assert (low < 0.5 < high) == (distance < 0)


def test_labels_and_counts_are_one_path():
    result = sequential.mcnemar(Y, A, B, alternative="greater", prior=(1, 2))
    table = fastcmp.mcnemar_table(Y, A, B)
    again = sequential.mcnemar(table=table, alternative="greater", prior=[1, 2])
    assert result.log_evalue == again.log_evalue
    state = McNemarLooks(alternative="greater", prior=(1, 2))
    looks = state.update(Y, A, B).look()
    assert looks.log_evalue.tolist() == [result.log_evalue]
    assert looks.difference == result.difference
    pairs = stream.PairCounts().update(Y, [A, B])
    assert McNemarLooks().look(pairs).n_samples.tolist() == [60]
    assert sequential.mcnemar(table=pairs).only_a == result.only_a


def test_arrays_of_comparisons():
    result = sequential.mcnemar(
        only_a=[[3, 10], [0, 1]], only_b=[2, 9], both_right=50, both_wrong=[[1], [2]]
    )
    assert np.shape(result.evalue) == (2, 2)
    low, high = result.confidence_interval(0.9, "dirichlet", (1, 1, 1))
    one = sequential.mcnemar(only_a=10, only_b=9, both_right=50, both_wrong=1)
    assert (low[0, 1], high[0, 1]) == one.confidence_interval(0.9, "dirichlet", (1, 1, 1))
    assert result.log_evalue_at(0.2)[0, 1] == one.log_evalue_at(0.2)
    assert result.discordant_interval().low.shape == (2, 2)
    assert str(result).endswith("4 tests, shape (2, 2)")


def test_refusals_of_the_record():
    result = sequential.mcnemar(only_a=3, only_b=4, both_right=1, both_wrong=0)
    two = sequential.mcnemar(only_a=3, only_b=4)
    for method, given_, message in (
        (two.confidence_interval, {}, "needs all four counts"),
        (two.log_evalue_at, {"difference": 0.1}, "needs all four counts"),
        (result.confidence_interval, {"prior": (1, 1, 1)}, r"prior= is for method='dirichlet'"),
        (result.confidence_interval, {"method": "dirichlet", "prior": (1, 1)}, "prior must be 3"),
        (result.log_evalue_at, {"difference": 1.5}, "difference must lie in"),
    ):
        with pytest.raises(ValueError, match=message):
            method(**given_)


# Looks.


def test_the_first_of_many_looks_decides():
    looks = sequential.mcnemar_looks([1, 9, 12, 14], [1, 1, 9, 13], n_samples=[9, 50, 90, 120])
    assert looks.first_rejection is None
    assert looks.decision.startswith("Not decided at 120 samples: E = 0.155")
    looks = sequential.mcnemar_looks([1, 19, 20], [1, 1, 19], n_samples=[9, 50, 90])
    assert (looks.first_rejection, looks.decided) == (1, True)
    assert looks.decision.startswith("Decided at 50 samples: model a is more accurate")
    assert (np.diff(looks.pvalue) <= 0).all()
    assert looks.log_evalue[2] < looks.log_evalue[1]
    less = sequential.mcnemar_looks([0], [40], alternative="less")
    assert "model b is more accurate" in less.decision
    assert "discordant samples" in str(less)
    assert less.estimate.shape == (1,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([3, 2], [1, 1]), "only_a must not be negative or shrink"),
        (([3, 4], [1, 0]), "only_b must not be negative or shrink"),
        (([[3]], [[1]]), "only_a must be one number a look"),
        (([3], [1, 2]), "only_b must be one number a look"),
        (([3, 4], [1, 2], [10, 9]), "n_samples less only_a and only_b must not"),
        (([3, 4], [1, 2], [3, 20]), "n_samples less only_a and only_b must not"),
    ],
)
def test_looks_out_of_order(given, message):
    *counts_, n_samples = given if len(given) > 2 else (*given, None)
    with pytest.raises(ValueError, match=message):
        sequential.mcnemar_looks(*counts_, n_samples=n_samples)


def test_a_state_counts_and_looks():
    state = McNemarLooks(alpha=0.01)
    for part in (slice(0, 20), slice(20, 45), slice(45, 60)):
        result = state.update(Y[part], A[part], B[part]).look()
    assert state.look() == result  # the same samples are the same look
    assert state.n_looks == 3
    assert result.n_samples.tolist() == [20, 45, 60]
    np.testing.assert_array_equal(state.table, fastcmp.mcnemar_table(Y, A, B))
    whole = sequential.mcnemar(Y, A, B)
    assert result.log_evalue[-1] == whole.log_evalue
    low, high = whole.confidence_interval(0.99)
    assert (result.low[-1], result.high[-1]) == (low, high)


def test_a_look_must_not_shrink():
    state = McNemarLooks().update(Y, A, B)
    table = state.table
    state.look(table + 1)
    for cell in range(4):
        less = state.table
        less.flat[cell] -= 1
        with pytest.raises(ValueError, match="counts must not shrink"):
            state.look(less)
    assert state.n_looks == 1
    with pytest.raises(ValueError, match=r"counts must be of two models"):
        state.look(stream.PairCounts().update(Y, [A, B, A]))


def test_parts_add_up():
    parts = [slice(0, 13), slice(13, 40), slice(40, 60)]
    states = [McNemarLooks().update(Y[p], A[p], B[p]) for p in parts]
    assert sum(states) == states[2] + states[0] + states[1] == McNemarLooks().update(Y, A, B)
    first = states[0].copy()
    first.look()
    merged = first.merge(states[1]).merge(states[2]).look()
    assert merged.n_samples.tolist() == [13, 60]
    for other, message in (
        (first, "merge before the other one has looked"),
        (McNemarLooks(prior=(1, 1)), "merge where prior agrees"),
        (McNemarLooks(alternative="less"), "merge where alternative agrees"),
        (sequential.MeanLooks(), "merges with its own kind"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            states[1].merge(other)


def test_what_was_dropped_is_said():
    result = McNemarLooks(classes=["x", "y"]).update(
        ["x", "y", "z", None], ["x", "y", "x", "x"], ["x", "x", "x", "x"]
    )
    assert (result.look().n_excluded, result.look().n_missing) == (1, 1)
    assert "1 samples without a true label were dropped." in str(result.look())
