"""Cochran's Q from labels: its p-values, its pairs, and what it refuses."""

import time
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from libraries import stats
from reference_cases import agree, parametrize
from strategies import right_matrices

from fastcmp import cochrans_q, compare_all, load_digits
from fastcmp.kernels import DEGENERATE


def labels_of(right):
    """Make true labels and predictions that are right where a matrix says so."""
    right = np.asarray(right, bool)
    y_true = np.arange(right.shape[1]) % 3
    return y_true, np.where(right, y_true, (y_true + 1) % 3)


def matrix(case):
    patterns = case["input"]["patterns"]
    rows = [p["pattern"] for p in patterns]
    return np.repeat(rows, [p["count"] for p in patterns], axis=0).T


def enumerate_exact(right):
    """Go through every permutation of right and wrong within each sample."""
    right = np.asarray(right, int)
    k = len(right)
    ways = [
        [[int(m in chosen) for m in range(k)] for chosen in combinations(range(k), size)]
        for size in right.sum(axis=0)
    ]
    observed = (right.sum(axis=1) ** 2).sum()
    sums = [np.sum(rows, axis=0) for rows in product(*ways)]
    return np.mean([(s**2).sum() >= observed for s in sums])


@parametrize("cochran_q")
def test_asymptotic_against_references(case):
    result = cochrans_q(*labels_of(matrix(case)))
    agree(case, result, "statistic", "pvalue", "df", effect_size="eta2_Q")
    assert result.correct.tolist() == case["input"]["column_correct"]
    assert result.n_samples == case["input"]["n"]


@parametrize("cochran_q_exact")
def test_exact_against_references(case):
    result = cochrans_q(*labels_of(matrix(case)), method="exact")
    agree(case, result, "pvalue", "statistic")


_Z = "permutation-variance z (Sheskin / Marascuilo-McSweeney / NCSS ch. 521)"


@parametrize("cochran_q_posthoc", {_Z: "not offered"})
def test_pairs_against_references(case):
    y_true, preds = labels_of(matrix(case))
    pairs = cochrans_q(y_true, preds, post_hoc="exact", adjust="holm").post_hoc
    assert pairs.pairs.tolist() == case["expected"]["pairs"]
    np.testing.assert_allclose(pairs.pvalue, case["expected"]["pvalue"], rtol=1e-9)
    adjusted = case["expected"]["pvalue_adjusted"]
    np.testing.assert_allclose(pairs.pvalue_adjusted, adjusted, rtol=1e-9)


@given(right_matrices())
def test_both_statistics_by_either_method(right):
    assume(right.shape[1] > 1)
    result = cochrans_q(*labels_of(right))
    assert result.correct.tolist() == right.sum(axis=1).tolist()
    by_f = cochrans_q(*labels_of(right), method="f")
    assert (by_f.pvalue, by_f.statistic) == (result.f_pvalue, result.f_statistic)
    assert by_f.q_statistic == result.statistic
    assert by_f.df == (len(right) - 1, (len(right) - 1) * (right.shape[1] - 1))


@pytest.mark.parametrize(("n_models", "n"), [(70, 10_000), (3, 63), (5, 64), (130, 65)])
def test_many_models_against_plain_numpy(n_models, n):
    rng = np.random.default_rng(n)
    right = rng.random((n_models, n)) < rng.random((1, n)) * 0.6 + 0.35
    result = cochrans_q(*labels_of(right))
    of_model, of_sample = right.sum(axis=1), right.sum(axis=0)
    spread = n_models * (of_model**2).sum() - of_model.sum() ** 2
    within = n_models * of_model.sum() - (of_sample**2).sum()
    q = (n_models - 1) * spread / within
    assert result.statistic == pytest.approx(q, rel=1e-12)
    assert result.pvalue == pytest.approx(stats.chi2.sf(q, n_models - 1), rel=1e-9)
    assert result.df == n_models - 1
    assert result.accuracy.tolist() == (of_model / n).tolist()


@pytest.mark.parametrize("method", ["asymptotic", "f", "exact"])
def test_identical_models(method):
    y_true = [0, 1, 1, 0, 1]
    result = cochrans_q(y_true, [[0, 1, 0, 0, 0]] * 4, method=method)
    assert (result.statistic, result.pvalue, result.effect_size) == (0.0, 1.0, 0.0)
    assert (result.f_statistic, result.f_pvalue) == (0.0, 1.0)
    assert result.status == DEGENERATE
    text = {
        "asymptotic": "Q = 0 with 3 d.o.f., p = 1 (asymptotic)",
        "f": "Looney's F = 0, p = 1",
        "exact": "Q = 0, p = 1 (exact)",
    }
    assert text[method] in str(result)


@pytest.mark.parametrize(("n_models", "n"), [(2, 9), (3, 7), (4, 5), (5, 4)])
def test_exact_against_full_enumeration(n_models, n):
    for seed in range(6):
        right = np.random.default_rng(seed).random((n_models, n)) < [[0.3 + 0.1 * seed]]
        result = cochrans_q(*labels_of(right), method="exact")
        assert result.pvalue == pytest.approx(enumerate_exact(right), rel=1e-12), seed


@pytest.mark.parametrize(("n_models", "n"), [(12, 400), (70, 9)])
def test_exact_refuses_what_takes_too_long(n_models, n):
    right = np.random.default_rng(0).random((n_models, n)) < 0.5
    wanted = rf"^method='exact' takes too long for {n_models} models and \d+ samples on "
    start = time.process_time()
    with pytest.raises(ValueError, match=wanted) as caught:
        cochrans_q(*labels_of(right), method="exact")
    assert time.process_time() - start < 5
    assert "use method='asymptotic'" in str(caught.value)


def test_exact_of_many_models_takes_no_great_memory():
    one = np.arange(25)[:, None] < np.array([[25, 12]])
    with pytest.raises(ValueError, match="takes too long for 25 models and 1 samples"):
        cochrans_q(*labels_of(one), method="exact")
    result = cochrans_q(*labels_of(one[:16]), method="exact")
    assert result.pvalue == 1.0


def test_pairs_are_those_of_compare_all():
    options = {"adjust": "bh", "alpha": 0.2}
    for method in ("midp", "exact", "asymptotic", "corrected"):
        pairs = cochrans_q(*load_digits(), post_hoc=method, **options).post_hoc
        assert pairs == compare_all(*load_digits(), method=method, **options)


def test_pairs_with_missing_and_other_classes():
    y_true = ["a", "b", "a", "b", "c", None]
    preds = {"m": ["a", "b", None, "c", "c", "a"], "k": ["a", "b", "a", "c", "a", "b"]}
    options = {"classes": ["b", "a"], "missing": "wrong"}
    result = cochrans_q(y_true, preds, post_hoc="midp", **options)
    assert (result.n_missing, result.n_excluded, result.n_samples) == (1, 1, 4)
    assert result.correct.tolist() == [2, 3]
    assert result.post_hoc.only_a.tolist() == [0]
    assert result.post_hoc.only_b.tolist() == [1]
    assert result.post_hoc.n_samples == 4
    assert "1 samples without a true label were dropped." in str(result)


def test_the_record():
    result = cochrans_q(*load_digits(), post_hoc="midp")
    text = str(result)
    assert text.startswith("Cochran's Q test\n10 models on 899 samples, accuracies from")
    assert f"Q = {result.statistic:.4g} with 9 d.o.f., p = " in text
    assert f"Looney's F = {result.f_statistic:.4g}, p = " in text
