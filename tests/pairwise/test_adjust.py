"""Adjusted p-values, held against statsmodels, SciPy, R and the definitions."""

import warnings
from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given
from reference_cases import parametrize
from scipy import stats
from statsmodels.stats.multitest import multipletests
from strategies import pvalues

from fastcmp import adjust
from fastcmp.pairwise import adjust as adjustments
from fastcmp.pairwise.adjust import ADJUSTMENTS, OF_PAIRS, adjust_rows, promise

PEERS = {
    "bonferroni": "bonferroni",
    "sidak": "sidak",
    "holm": "holm",
    "holm-sidak": "holm-sidak",
    "hochberg": "simes-hochberg",
    "hommel": "hommel",
    "bh": "fdr_bh",
    "by": "fdr_by",
}
METHODS = [*PEERS, "none"]


def ordered_and_plain(m, seed):
    """Draw p-values with ties, among them 0 and 1."""
    rng = np.random.default_rng(seed)
    values = rng.beta(0.3, 1.5, size=m)
    values[rng.random(m) < 0.3] = rng.choice([0.0, 1.0, 0.01, 0.5])
    return np.where(rng.random(m) < 0.3, values.round(2), values)


@pytest.mark.parametrize("m", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("method", PEERS)
def test_statsmodels_agrees(method, m):
    for seed in range(2):
        values = ordered_and_plain(m, seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            peer = multipletests(values, method=PEERS[method])[1]
        np.testing.assert_allclose(adjust(values, method=method), peer, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_scipy_agrees(method):
    for seed in range(20):
        values = ordered_and_plain(57, seed)
        peer = stats.false_discovery_control(values, method=method)
        np.testing.assert_allclose(adjust(values, method=method), peer, rtol=1e-12)


@parametrize("p_adjust")
def test_references_agree(case):
    for name, values in case["expected"].items():
        found = adjust(case["input"]["pvalues"], method=name.lower())
        np.testing.assert_allclose(found, values, rtol=1e-10, atol=0, err_msg=name)


@given(pvalues())
def test_definitions_agree(values):
    for method in (*PEERS, "finner", "li"):
        name = method.upper() if method in {"bh", "by"} else method
        oracle = naive.adjust(values, name)
        found = adjust(values, method=method)
        np.testing.assert_allclose(found, oracle, rtol=1e-9, atol=1e-307, err_msg=method)


@given(pvalues())
def test_laws(values):
    p = np.array(values)
    order = np.random.default_rng(p.size).permutation(p.size)
    found = {method: adjust(p, method=method) for method in METHODS}
    for method, adjusted in found.items():
        assert (adjusted >= p * (1 - 1e-12)).all(), method
        assert (adjusted <= 1).all(), method
        assert (np.diff(adjusted[np.argsort(p)]) >= -1e-15).all(), method
        np.testing.assert_array_equal(adjust(p[order], method=method), adjusted[order])
    powers = ["bonferroni", "holm", "hochberg", "hommel", "bh", "none"]
    for weak, strong in pairwise(powers):
        assert (found[strong] <= found[weak] * (1 + 1e-12)).all(), (weak, strong)
    assert (found["holm-sidak"] <= found["sidak"] * (1 + 1e-12)).all()


def test_the_default_is_holm():
    values = [0.01, 0.02, 0.04]
    assert adjust(values).tolist() == adjust(values, method="holm").tolist()
    assert adjust(values).tolist() == pytest.approx([0.03, 0.04, 0.04])


@pytest.mark.parametrize("method", METHODS)
def test_nan_stays_and_is_not_counted(method):
    values = np.array([[0.01, np.nan, 0.03], [np.nan, 0.02, 0.5]])
    adjusted = adjust(values, method=method)
    assert np.isnan(adjusted).tolist() == np.isnan(values).tolist()
    known = values[~np.isnan(values)]
    np.testing.assert_array_equal(adjusted[~np.isnan(values)], adjust(known, method=method))
    assert np.isnan(values).sum() == 2  # the input is left alone


@pytest.mark.parametrize("method", METHODS)
def test_shapes_are_kept(method):
    values = np.random.default_rng(1).random((3, 4, 5))
    adjusted = adjust(values, method=method)
    assert adjusted.shape == (3, 4, 5)
    np.testing.assert_array_equal(adjusted.ravel(), adjust(values.ravel(), method=method))
    transposed = adjust(values.T, method=method)
    np.testing.assert_array_equal(transposed, adjusted.T)
    assert adjust([], method=method).shape == (0,)
    assert adjust(np.zeros((2, 0)), method=method).shape == (2, 0)
    assert np.isnan(adjust([np.nan, np.nan], method=method)).tolist() == [True, True]


@pytest.mark.parametrize("method", METHODS)
def test_one_number(method):
    for number in (0.03, 0.0, 1.0, 1):
        adjusted = adjust(number, method=method)
        assert isinstance(adjusted, float)
        assert adjusted == pytest.approx(number)
    assert np.isnan(adjust(float("nan"), method=method))


@pytest.mark.parametrize("method", METHODS)
def test_the_input_is_never_the_output(method):
    values = np.array([0.5, 0.25])
    adjust(values, method=method)[:] = 7
    assert values.tolist() == [0.5, 0.25]
    values.flags.writeable = False
    assert adjust(values, method=method).size == 2


@pytest.mark.parametrize("method", METHODS)
def test_extremes(method):
    assert adjust([0.0, 1.0, 0.0], method=method).tolist() == [0.0, 1.0, 0.0]
    tiny = adjust([1e-300, 1e-200], method=method)
    assert (tiny > 0).all()
    assert (tiny < 1e-199).all()


@pytest.mark.parametrize(
    ("bad", "said"),
    [(-0.1, "-0.1"), (1.5, "1.5"), (float("inf"), "inf"), (float("-inf"), "-inf")],
)
def test_outside_0_and_1(bad, said):
    for values in (bad, [0.5, bad], [[float("nan"), bad]]):
        with pytest.raises(ValueError, match=rf"^pvalues must lie in \[0, 1\], got {said}$"):
            adjust(values)


@pytest.mark.parametrize(
    "bad",
    ["x", ["0.1", "0.2"], [0.1, "a"], [1j], [[0.1], [0.1, 0.2]], object(), {}, "0.5"],
)
def test_what_is_no_number(bad):
    with pytest.raises(TypeError, match=r"^pvalues must be numbers, got "):
        adjust(bad)


def test_unknown_methods_list_the_known_ones():
    with pytest.raises(ValueError, match=r"^method must be one of .*, got 'fwer'$") as caught:
        adjust([0.1], method="fwer")
    assert all(repr(method) in str(caught.value) for method in METHODS)
    others = {"finner", "li"}  # tests/datasets
    assert set(ADJUSTMENTS) - others == set(METHODS)


def test_promises():
    said = {method: promise(method, 0.05) for method in METHODS}
    assert all("0.05" in sentence for sentence in said.values())
    assert said["bh"] == said["by"]
    assert said["holm"] == said["bonferroni"] == said["hommel"] == said["sidak"]
    assert len({said["bh"], said["holm"], said["none"]}) == 3
    assert "expected proportion of false decisions" in said["bh"]
    assert "nothing holds for all" in said["none"]


# Many p-values are sorted in another way.


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_many_as_few(method, monkeypatch):
    values = np.random.default_rng(5).random(2_000)
    values[:1_000] = 10.0 ** (-330 * values[:1_000])  # zeros and subnormals among them
    values[::7] = np.nan
    few = adjust(values, method=method)
    monkeypatch.setattr(adjustments, "_LARGE", 1)
    monkeypatch.setattr(adjustments, "_PART", 300)
    np.testing.assert_array_equal(adjust(values, method=method), few)
    kept = values.copy()
    adjusted = adjustments.adjust_checked(values, method, in_place=True)
    assert adjusted is values
    np.testing.assert_array_equal(adjusted, few)
    assert np.array_equal(np.isnan(kept), np.isnan(values))


@pytest.mark.parametrize("method", ADJUSTMENTS)
@pytest.mark.parametrize("values", [[0.0, 0.0], [np.nan], [], [0.0, np.nan, -0.0]])
def test_nothing_to_sort(values, method):
    np.testing.assert_array_equal(adjust(values, method=method), np.array(values, float))


@pytest.mark.parametrize("method", OF_PAIRS)
def test_rows_are_families_of_their_own(method):
    rows = np.stack([ordered_and_plain(10, seed) for seed in range(7)])
    wanted = [adjust(row, method=method) for row in rows]
    np.testing.assert_array_equal(adjust_rows(rows, method), wanted)
