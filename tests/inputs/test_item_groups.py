"""Clusters, strata and weights of items: what is read, and what is refused."""

import numpy as np
import pytest
from libraries import pd

from fastcmp import compare_means

N = 8
PAIRS = np.repeat(["x", "y", "z", "w"], 2)
A, B = np.array([[0.5, 1.0, 0.25, 0.0, 2.0, 1.5, 0.5, 3.0], [1.0, 0.0, 0.5, 0.0, 1.0, 2.5, 0, 1]])


def refused(*words, n=N, kind=ValueError, keep=None, **given):
    a = np.resize(A, n)
    values = {"a": a if keep is None else np.where(keep, a, np.nan), "b": np.resize(B, n)}
    missing = {} if keep is None else {"missing": "common"}
    with pytest.raises(kind) as caught:
        compare_means(values, **missing, **given)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_only_items_that_are_kept():
    keep = np.arange(N) > 1
    words = ("none of stratum 'x' is left", "1 such strata")
    refused(*words, strata=PAIRS, keep=keep)


def test_lengths_and_missing_labels():
    for name in ("groups", "strata"):
        refused(name, "8 items, got 7", **{name: PAIRS[:7]})
        refused(
            f"{name} has no label for item 1 (2 in all)", **{name: [1, None, 2, None, *[3] * 4]}
        )
        refused(name, "item 0", **{name: [np.nan, *[1.0] * 7]})
        refused(name, "one label an item", kind=TypeError, **{name: "abcdefgh"})
        refused(name, "one-dimensional", **{name: np.zeros((N, 2), int)})
        refused(name, "mixes", kind=TypeError, **{name: [1, "a"] * 4})


def test_one_cluster():
    refused("groups must hold at least 2 clusters, got 1", groups=["x"] * N)
    keep = np.arange(N) < 2
    refused("at least 2 clusters", groups=PAIRS, keep=keep)


def test_small_strata():
    strata = np.array([*"aaaaaaab"])
    refused("at least 2 items each", "stratum 'b' has one item", strata=strata)
    refused("2 clusters each", "4 such strata", strata=PAIRS, groups=PAIRS)
    # A cluster of two strata is not estimated from one of them.
    assert compare_means([A, B], strata=strata, groups=[0, 1] * 4).pvalue < 1
    heavy = np.where(np.arange(N) == 1, 0.0, 1.0)
    refused("stratum 'x' has one item", strata=PAIRS, weights=heavy)
    refused("0 for all items of stratum 'x'", strata=PAIRS, weights=[0, 0, *[1] * 6])


def test_weights():
    refused("weights", "(8,)", "(7,)", weights=[1.0] * 7)
    refused(
        "weights must be finite and >= 0, got -1.0 for item 2 (1 in all)",
        weights=[1, 1, -1, *[1] * 5],
    )
    refused("nan for item 0", weights=[np.nan, *[1] * 7])
    refused("inf", weights=[np.inf] * N)
    refused("not be 0 for all items", weights=[0.0] * N)
    refused("all items but one", weights=[1, *[0] * 7])
    refused("all clusters but one", groups=PAIRS, weights=[1, 1, *[0] * 6])
    refused("weights must be numbers", weights=["a"] * N, kind=TypeError)


def test_weights_of_strata():
    strata = [*"aab", *"bbbbb"]
    refused("lacks ['b']", strata=strata, stratum_weights={"a": 1})
    refused("names ['c'] as well", strata=strata, stratum_weights={"a": 1, "b": 1, "c": 1})
    refused("finite, >= 0", strata=strata, stratum_weights={"a": 1, "b": -1})
    refused("finite, >= 0", strata=strata, stratum_weights={"a": 0, "b": 0})
    refused("is for strata: pass strata=", stratum_weights="equal")


def test_indexes_of_pandas():
    values = pd.DataFrame({"a": A, "b": B})
    groups = pd.Series(PAIRS, index=np.arange(N)[::-1])
    with pytest.raises(ValueError, match="groups has the index of values"):
        compare_means(values, groups=groups)
    other = pd.Series(PAIRS, index=np.arange(N) + 5)
    refused("strata", "different indexes", groups=groups, strata=other)
    compare_means(values, groups=groups.sort_index())
