"""Clusters, strata and weights of items: what is read, and what is refused."""

import numpy as np
import pytest

from fastcmp.inputs.item_groups import read_item_groups

N = 8
PAIRS = np.repeat(["x", "y", "z", "w"], 2)


def refused(*words, n=N, kind=ValueError, **given):
    with pytest.raises(kind) as caught:
        read_item_groups(n, **given)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize("kind", ["strings", "numbers", "floats", "pandas", "polars"])
def test_labels_of_any_kind(kind):
    labels = {
        "strings": PAIRS,
        "numbers": np.repeat([7, -1, 10**12, 0], 2),
        "floats": np.repeat([0.5, 1.5, 2.5, -1.0], 2),
    }.get(kind)
    if labels is None:
        labels = pytest.importorskip(kind).Series(PAIRS)
    found = read_item_groups(N, groups=labels)
    codes = found.clusters.codes
    assert codes.dtype == np.int64
    assert (codes[::2] == codes[1::2]).all()
    assert found.n_units == len(set(codes.tolist())) == 4
    assert not found.plain
    assert [found.clusters.labels[c] for c in codes] == list(labels)


def test_nothing_known():
    found = read_item_groups(N)
    assert found.plain
    assert (found.n_units, found.n_items, found.crossed) == (N, N, False)
    assert found.stratum_weights.tolist() == [1.0]


def test_only_items_that_are_kept():
    keep = np.arange(N) != 0
    found = read_item_groups(N, groups=PAIRS, weights=np.arange(N) + 1.0, keep=keep)
    assert sorted(np.bincount(found.clusters.codes).tolist()) == [1, 2, 2, 2]
    assert found.weights.tolist() == list(range(2, N + 1))
    keep = np.arange(N) > 1
    words = ("none of stratum 'x' is left", "1 such strata")
    refused(*words, strata=PAIRS, keep=keep)


def test_lengths_and_missing_labels():
    for name in ("groups", "strata"):
        refused(name, "8 items, got 7", **{name: PAIRS[:7]})
        refused(
            f"{name} has no label for item 1 (2 in all)",
            **{name: [1, None, 2, None, *[3] * 4]},
        )
        refused(name, "item 0", **{name: [np.nan, *[1.0] * 7]})
        refused(name, "one label an item", kind=TypeError, **{name: "abcdefgh"})
        refused(name, "one-dimensional", **{name: np.zeros((N, 2), int)})
        refused(name, "mixes", kind=TypeError, **{name: [1, "a"] * 4})
    refused("one row a model", n=3, groups=PAIRS)


def test_one_cluster():
    refused("groups must hold at least 2 clusters, got 1", groups=["x"] * N)
    keep = np.arange(N) < 2
    refused("at least 2 clusters", groups=PAIRS, keep=keep)


def test_small_strata():
    strata = np.array([*"aaaaaaab"])
    refused("at least 2 items each", "stratum 'b' has one item", strata=strata)
    refused("2 clusters each", "4 such strata", strata=PAIRS, groups=PAIRS)
    # A cluster of two strata is not estimated from one of them.
    assert read_item_groups(N, strata=strata, groups=[0, 1] * 4).crossed
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

    def found(rule, **more):
        return read_item_groups(N, strata=strata, stratum_weights=rule, **more).stratum_weights

    assert found("items").tolist() == [0.25, 0.75]
    assert found("items", weights=[3, 3, *[1] * 6]).tolist() == [0.5, 0.5]
    assert found("Equal").tolist() == [0.5, 0.5]
    assert found({"b": 3, "a": 1}).tolist() == [0.25, 0.75]
    refused("lacks ['b']", strata=strata, stratum_weights={"a": 1})
    refused("names ['c'] as well", strata=strata, stratum_weights={"a": 1, "b": 1, "c": 1})
    refused("finite, >= 0", strata=strata, stratum_weights={"a": 1, "b": -1})
    refused("finite, >= 0", strata=strata, stratum_weights={"a": 0, "b": 0})
    refused("stratum_weights must be one of", strata=strata, stratum_weights="size")
    refused("is for strata: pass strata=", stratum_weights="equal")


def test_indexes_of_pandas():
    pd = pytest.importorskip("pandas")
    values = pd.DataFrame({"a": np.arange(N), "b": np.arange(N)})
    groups = pd.Series(PAIRS, index=np.arange(N)[::-1])
    refused("groups has the index of values", groups=groups, indexed=("values", values))
    refused(
        "strata",
        "different indexes",
        groups=groups,
        strata=pd.Series(PAIRS, index=np.arange(N) + 5),
    )
    read_item_groups(N, groups=groups.sort_index(), indexed=("values", values))
