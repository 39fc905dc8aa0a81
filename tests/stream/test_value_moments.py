"""Means and covariances of values in blocks, against the formulas for all at once."""

import copy
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from cases import refuses
from hypothesis import given
from hypothesis import strategies as st
from item_designs import one_stratum
from libraries import pa, pd, pl
from reference_cases import parametrize

from fastcmp import stream
from fastcmp.stream import ValueMoments

KINDS = (None, "whole", "ids")
ALL = pytest.mark.parametrize("kind", KINDS)


def table(seed, m=4, n=60, g=7):
    """Draw values that hang together, groups of unequal size, and weights."""
    rng = np.random.default_rng(seed)
    groups = np.sort(rng.integers(g, size=n) ** 2 // g)
    difficulty = rng.normal(size=n) + rng.normal(size=g)[groups] + 3
    return rng.normal(size=(m, n)) + difficulty, groups, rng.random(n) + 0.1


def variances(found):
    c = found.covariance
    own = c.diagonal()
    return own[:, None] + own - 2 * c


def naive(values, groups, weights, kind):
    """The variance of each mean difference by matrices, and its degrees of freedom."""
    pairs = np.ndindex(len(values), len(values))
    found = [
        one_stratum(values[a] - values[b], weights, groups, kind, "satterthwaite") for a, b in pairs
    ]
    return np.reshape([x.variance for x in found], (len(values), -1)), found[0].df


def close(one, two, rel=1e-12):
    scale = np.abs(two).max()
    np.testing.assert_allclose(one, two, rtol=0, atol=rel * scale)


def fed(kind, values, groups, weights=None, edges=(), order=None, **options):
    """Feed blocks between edges, perhaps in another order."""
    edges = [0, *edges, values.shape[1]]
    blocks = list(pairwise(edges))
    moments = ValueMoments(groups=kind, **options)
    for i in order or range(len(blocks)):
        part = slice(*blocks[i])
        moments.update(
            values[:, part],
            groups=None if kind is None else groups[part],
            weights=None if weights is None else weights[part],
        )
    return moments


def edges_of(kind, groups, cuts):
    """Cut anywhere; between groups, where these must not be split."""
    n = groups.size
    cuts = sorted({min(cut, n) for cut in cuts})
    if kind == "whole":
        cuts = sorted({int(np.searchsorted(groups, groups[min(c, n - 1)])) for c in cuts})
    return cuts


@pytest.mark.parametrize("variance", ["cr0", "cr1", "cr2", "cr3"])
@pytest.mark.parametrize("weighted", [False, True])
@ALL
def test_each_variance_against_its_definition(kind, variance, weighted):
    values, groups, weights = table(1)
    given = weights if weighted else None
    used = weights if weighted else np.ones(groups.size)
    units = np.arange(groups.size) if kind is None else groups
    moments = fed(kind, values, groups, given, edges_of(kind, groups, [13, 14, 40]))
    if variance in ("cr2", "cr3") and (kind == "whole" or (weighted and kind is None)):
        with pytest.raises(ValueError, match=r"^variance must be one of \('cr0', 'cr1'\)"):
            moments.pair_moments(variance=variance)
        return
    assert moments.variance == ("cr1" if kind == "whole" or (weighted and not kind) else "cr2")
    found = moments.pair_moments(variance=variance)
    wanted, df = naive(values, units, used, variance)
    close(variances(found), wanted)
    assert found.df == pytest.approx(df, rel=1e-10)
    design = moments.pair_moments(variance=variance, df="clusters")
    assert design.df == np.unique(units).size - 1 == found.n_units - 1
    close(found.mean, np.average(values, axis=1, weights=used))
    alone = np.vstack([values, np.zeros_like(values[:1])])  # a model that is 0
    close(found.variance, naive(alone, units, used, variance)[0][-1, :-1])
    sizes = np.bincount(units, used)
    assert found.largest == pytest.approx(sizes.max() / used.sum(), rel=1e-12)
    own = values - values.mean(axis=0)
    sums = np.array([np.bincount(units, used * row) for row in own])
    if variance in ("cr0", "cr1"):
        n = found.n_units
        factor = {"cr0": 1, "cr1": n / (n - 1)}[variance]
        want = factor * (sums**2).sum(axis=1) / used.sum() ** 2
        close(found.scale, want, 1e-5)
    close(found.relative - found.relative[0], found.mean - found.mean[0])


@ALL
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 70),
    cuts=st.lists(st.integers(0, 70), max_size=4),
    order=st.randoms(use_true_random=False),
    weighted=st.booleans(),
)
def test_blocks_in_any_order_and_parts_are_all_at_once(kind, seed, n, cuts, order, weighted):
    values, groups, weights = table(seed, n=n)
    given = weights if weighted else None
    whole = fed(kind, values, groups, given)
    edges = edges_of(kind, groups, cuts)
    blocks = list(range(len(edges) + 1))
    order.shuffle(blocks)
    one = fed(kind, values, groups, given, edges, blocks)
    spans = list(pairwise([0, *edges, n]))
    parts = [
        fed(kind, *(x if x is None else x[..., a:b] for x in (values, groups, given)))
        for a, b in (spans[i] for i in blocks)
    ]
    before = copy.deepcopy(parts)
    for other in (one, sum(parts), sum(parts[::-1])):
        same_but_for_rounding(other, whole)
    assert parts == before


def same_but_for_rounding(one, two, rel=1e-13):
    assert (one.n_items, one.n_units, one.names) == (two.n_items, two.n_units, two.names)
    if two.n_units < 2:
        return
    ours, theirs = (x.pair_moments(variance="cr1") for x in (one, two))
    scale = np.abs(variances(theirs)).max()
    assert np.abs(variances(ours) - variances(theirs)).max() <= rel * scale
    close(ours.variance, theirs.variance, rel)
    close(ours.mean, theirs.mean, 1e-15)
    assert ours.df == pytest.approx(theirs.df, rel=1e-11)


@ALL
def test_merge_commutes_and_has_a_neutral(kind):
    x, y = (fed(kind, *table(seed, n=n)[:2]) for seed, n in ((1, 30), (2, 9)))
    empty = ValueMoments(groups=kind)
    assert x + y == y + x
    assert empty + x == x == x + empty
    assert ValueMoments(4, groups=kind) + x == x
    assert empty + empty == empty
    assert x != y
    assert x.copy().merge(y) == x + y


@ALL
@pytest.mark.parametrize("n", [None, 0, 30])
def test_copies_pickles_and_files_are_the_same(kind, n, tmp_path):
    values, groups, weights = table(3, n=n or 2)
    moments = ValueMoments(groups=kind)
    if n is not None:
        moments = fed(kind, values[:, :n], groups[:n], weights[:n])
    moments.save(tmp_path / "file")
    values, groups, _ = table(4, n=8)
    more = fed(kind, values, groups)
    for other in (
        moments.copy(),
        copy.deepcopy(moments),
        pickle.loads(pickle.dumps(moments)),
        stream.load(tmp_path / "file"),
        ValueMoments.load(tmp_path / "file"),
    ):
        assert other == moments
        assert other + more == moments + more
    assert moments.n_items == (n or 0)


@pytest.mark.parametrize("seed", range(20))
def test_one_item_is_saved_though_its_scatter_is_rounding(seed, tmp_path):
    rng = np.random.default_rng(seed)
    moments = ValueMoments().update(rng.normal(size=(3, 1)) + 5, weights=rng.random(1))
    moments.save(tmp_path / "file")
    assert stream.load(tmp_path / "file") == moments


@ALL
def test_a_large_offset_leaves_the_differences(kind):
    values, groups, _ = table(5)
    far = values + 2.0**30
    blocks = edges_of(kind, groups, [20, 40])
    one, two = (
        fed(kind, each, groups, None, blocks).pair_moments(variance="cr1")
        for each in (far, far - 2.0**30)
    )
    close(variances(one), variances(two))
    close(one.relative - one.relative[0], two.relative - two.relative[0])
    close(one.variance, two.variance, 1e-6)  # of which the offset takes digits


@ALL
def test_duplicates_and_constant_differences_have_no_variance(kind):
    values, groups, _ = table(6)
    values[1] = values[0]
    values[2] = values[0] + 0.3
    found = fed(kind, values, groups, None, edges_of(kind, groups, [9, 30])).pair_moments()
    small = 1e-12 * found.scale
    assert (variances(found)[:3, :3] <= small[:3]).all()
    assert (variances(found)[3, :3] > 1e6 * small[:3]).all()


@ALL
def test_large_blocks_in_any_order(kind):
    values, groups, weights = table(7, m=90, n=9000, g=50)  # several chunks
    small = fed(kind, values, groups, weights, edges_of(kind, groups, range(0, 9000, 900)))
    same_but_for_rounding(fed(kind, values, groups, weights), small)
    order = np.random.default_rng(1).permutation(groups.size)
    mixed = fed(kind, values[:, order], groups[order], weights[order])
    same_but_for_rounding(mixed, small)


FORMS = {
    "dict": dict,
    "pandas": lambda d: pd.DataFrame(d),  # noqa: PLW0108  # imports pandas late
    "nullable": lambda d: pd.DataFrame(d).convert_dtypes(),
    "polars": lambda d: pl.DataFrame(d),  # noqa: PLW0108
    "arrow": lambda d: pa.table(d),  # noqa: PLW0108
    "float32": lambda d: {name: row.astype("f4") for name, row in d.items()},
    "repeats": lambda d: {n: np.stack([x - 1, x + 1], axis=1) for n, x in d.items()},
    "lists": lambda d: {name: row.tolist() for name, row in d.items()},
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_whose_columns_come_in_any_order(name):
    form = FORMS[name]
    values = np.round(table(9)[0] * 8) / 8
    named = dict(zip("abcd", values, strict=True))
    moments = ValueMoments().update(form({k: x[:20] for k, x in named.items()}))
    moments.update(form({k: named[k][20:] for k in "cabd"}))
    assert moments.names == tuple("abcd")
    assert moments == ValueMoments(list("abcd")).update(values[:, :20]).update(values[:, 20:])


def test_right_and_wrong_and_repeats():
    rng = np.random.default_rng(2)
    right = rng.random((3, 50)) < 0.7
    moments = ValueMoments().update(right)
    assert moments.mean.tolist() == (right.sum(axis=1) / 50).tolist()
    for other in (right.astype(np.uint8), right.astype(float), right[:, :, None]):
        assert ValueMoments().update(other) == moments
    halves = ValueMoments(groups="ids")
    for part in (slice(20), slice(20, 50)):
        halves.update(right[:, part], groups=np.arange(50)[part] % 6)
    assert halves.mean.tolist() == moments.mean.tolist()
    sums = [right[:, g::6].sum(axis=1).tolist() for g in range(6)]
    assert halves.unit_sums().sums.T.tolist() == sums


def test_groups_by_any_name():
    values, groups, _ = table(10)
    names = np.array([f"g{i}" for i in groups])
    want = fed("ids", values, groups)
    for other in (names, names.tolist(), pd.Series(names).astype("category")):
        moments = ValueMoments(groups="ids").update(values, groups=other)
        same_but_for_rounding(moments, want)
    sums = want.unit_sums()
    assert sums.sizes.tolist() == np.unique(groups, return_counts=True)[1].tolist()
    close(sums.sums[0], [values[0, groups == g].sum() for g in np.unique(groups)])
    with pytest.raises(TypeError, match="groups must be of one kind in all blocks"):
        want.update(values, groups=names)
    refuses(ValueError, "groups must be kept by their names", ValueMoments(2).unit_sums)


def test_equal_sizes_give_all_variances_from_sums():
    values, _, _ = table(11)
    groups = np.repeat(np.arange(12), 5)
    whole, by_name = (fed(kind, values, groups) for kind in ("whole", "ids"))
    for variance in ("cr0", "cr1", "cr2", "cr3"):
        one, two = (x.pair_moments(variance=variance) for x in (whole, by_name))
        close(variances(one), variances(two))
        assert one.df == 11.0 == pytest.approx(two.df, rel=1e-14)


def test_items_of_weight_0_add_nothing():
    values, groups, weights = table(12)
    weights[groups == groups[0]] = 0
    kept = weights > 0
    for kind in KINDS:
        edges = edges_of(kind, groups, [3, 40])
        moments = fed(kind, values, groups, weights, edges)
        other = fed(kind, values[:, kept], groups[kept], weights[kept])
        assert (moments.n_items, moments.n_units > other.n_units) == (60, True)
        one, two = (x.pair_moments(variance="cr0") for x in (moments, other))
        close(one.covariance, two.covariance)
        assert one.df == pytest.approx(two.df)
        none = fed(kind, values, groups, weights * 0)
        refuses(ValueError, r"^weights must not be 0 for all items$", none.pair_moments)
        assert none + other == other + none
        assert np.isnan(none.mean).all()
        assert str(none).endswith("-")


VALUES = [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]
REFUSED = {
    "values": {
        "NaN": ([[1, np.nan, 3], [0, np.nan, 0]], r"^model_0 has nan for item 1 \(1 of 3"),
        "infinite": ([[1, 2, 3], [0, 1, np.inf]], r"^model_1 has inf for item 2"),
        "models": ({"a": [1], "c": [1]}, r"^values must hold the 2 models that are"),
        "lengths": ([[1, 2], [1]], r"^model_1 has 1 values, model_0 has 2"),
        "text": ([["a", "b"], ["a", "b"]], r"^model_0 must hold numbers or booleans"),
        "one row": ([1.0, 2.0], r"^values must be of shape \(M, n\)"),
        "missing": ({"model_0": [1, None], "model_1": [0, 1]}, "has nan"),
    },
    "weights": {
        "negative": ([1, -1, 1], r"^weights must be finite and >= 0, got -1.0 for item 1"),
        "length": ([1, 1], r"^weights must be of shape \(3,\)"),
    },
    "groups": {
        "missing": (["a", None, "b"], r"^groups has no entry for 1 items, such as \[1\]"),
        "length": ([1, 1], r"^groups has 2 entries, values have 3 items"),
        "none": (None, r"^groups must be given where"),
        "mixed": (["a", 1, "b"], r"^groups mixes "),
    },
}


@pytest.mark.parametrize(
    ("argument", "what"), [(a, w) for a, them in REFUSED.items() for w in them]
)
@pytest.mark.parametrize("kind", ["whole", "ids"])
def test_a_bad_block_changes_nothing(kind, argument, what):
    wrong, message = REFUSED[argument][what]
    good = {"values": VALUES, "groups": ["a", "a", "b"], "weights": [1, 2, 1]}
    moments = ValueMoments(groups=kind).update(**good)
    before = moments.copy()
    refuses((ValueError, TypeError), message, moments.update, **good | {argument: wrong})
    assert moments == before


def test_what_is_refused():
    for few in (ValueMoments(), ValueMoments(1)):
        refuses(ValueError, r"must hold at least 2 models", few.pair_moments)
    with pytest.raises(ValueError, match=r"must hold at least 2 items, got 1$"):
        ValueMoments(2).update([[1], [2]]).pair_moments()
    with pytest.raises(ValueError, match=r"must hold at least 2 groups, got 1$"):
        ValueMoments(2, groups="ids").update(VALUES, groups=[1, 1, 1]).pair_moments()
    refuses(ValueError, r"^groups must be one of ", ValueMoments, groups="some")
    with pytest.raises(TypeError, match=r"^groups must be given where"):
        ValueMoments().update(VALUES, groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"^ValueMoments merge where groups agrees"):
        ValueMoments(groups="ids") + ValueMoments()
    with pytest.raises(ValueError, match=r"names come in the same order"):
        ValueMoments(["a", "b"]) + ValueMoments(["b", "a"])
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}, index=[3, 4])
    with pytest.raises(ValueError, match="different indexes"):
        ValueMoments(groups="ids").update(frame, groups=pd.Series([1, 2]))


def test_what_is_printed():
    moments = ValueMoments(groups="ids").update(
        {"a": [1, 0, 1], "<b>": [0, 0, 1]}, groups=[1, 1, 2]
    )
    assert ValueMoments().variance == "cr2"
    assert repr(moments) == "<ValueMoments: 3 items in 2 groups of 2 models>"
    assert str(moments).splitlines()[1:] == [
        "  model      mean  standard error",
        "  a      0.666667          0.2357",
        "  <b>    0.333333          0.4714",
    ]
    assert "&lt;b&gt;" in moments._repr_html_()
    assert str(ValueMoments(1)).endswith("model_0     -               -")
    assert str(ValueMoments()) == "ValueMoments: 0 items"


@parametrize("items_clustered_mean")
def test_clusters_as_other_programs(case):
    given, options = case["input"], case["options"]
    moments = ValueMoments(groups="ids")
    moments.update([given["a"], given["b"]], groups=given["cluster"])
    df = "satterthwaite" if options["df"] == "satterthwaite" else "clusters"
    found = moments.pair_moments(variance=options["variance"], df=df)
    rtol = case["tolerance"]["rtol"]
    error = np.sqrt(variances(found)[0, 1])
    if (1e-12 * found.scale >= variances(found)[0, 1]).any():
        error = 0.0
    assert error == pytest.approx(case["expected"]["se"], rel=rtol)
    if "df" in case["expected"]:
        assert found.df == pytest.approx(case["expected"]["df"], rel=rtol)


@parametrize("weighted_mean")
def test_weights_as_other_programs(case):
    given, expected = case["input"], case["expected"]
    groups = given.get("cluster")
    moments = ValueMoments(groups=None if groups is None else "ids").update(
        [given["a"], given["b"]], groups=groups, weights=given["weights"]
    )
    design = case["options"]["df"] != "satterthwaite"
    found = moments.pair_moments(
        variance=case["options"]["variance"], df="clusters" if design else "satterthwaite"
    )
    rtol = case["tolerance"]["rtol"]
    assert found.mean[0] - found.mean[1] == pytest.approx(expected["difference"], rel=rtol)
    error = np.sqrt(variances(found)[0, 1])
    assert error == pytest.approx(expected["se"], rel=rtol)
    assert found.df == pytest.approx(expected["df"], rel=rtol)


@given(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=30), st.randoms())
def test_means_are_those_of_fractions(numbers, order):
    want = float(sum(map(Fraction, numbers)) / len(numbers))
    slack = 1e-28 * sum(map(abs, numbers)) + np.spacing(abs(want))
    for _ in range(2):
        moments = ValueMoments(2)
        for number in numbers:
            moments.update([[number], [0.0]])
        assert abs(moments.mean[0] - want) <= slack
        order.shuffle(numbers)
