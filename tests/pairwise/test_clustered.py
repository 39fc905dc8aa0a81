"""All pairs, and all models, for samples in clusters and strata."""

import numpy as np
import pytest
from libraries import stats
from reference_cases import expected, parametrize

from fastcmp import cochrans_q, compare_all, mcnemar

SANDWICH = ("cr2", "cr0", "cr1", "cr3")
WEIGHTED = ("durkalski", "cluster-weighted")
CLUSTERED = (*SANDWICH, "obuchowski", "yang", *WEIGHTED, "eliasziw", "mcnemar")
RNG = np.random.default_rng(20)
N = 300
Y = RNG.integers(0, 2, N)
PREDS = np.stack([np.where(RNG.random(N) < q, Y, 1 - Y) for q in (0.6, 0.7, 0.7, 0.85, 0.9)])
PREDS[2] = PREDS[1]
GROUPS = RNG.integers(0, 25, N) ** 2 // 25
NESTED, CROSSED = GROUPS % 3, RNG.integers(0, 3, N)
WEIGHTS = {0: 3, 1: 2, 2: 2.5}
KINDS = {
    "clusters": ({"groups": GROUPS}, CLUSTERED),
    "within strata": (
        {"groups": GROUPS, "strata": NESTED, "stratum_weights": "equal"},
        SANDWICH,
    ),
    "across strata": (
        {"groups": GROUPS, "strata": CROSSED, "stratum_weights": WEIGHTS},
        ("cr1", "cr0"),
    ),
    "strata": (
        {"strata": NESTED, "stratum_weights": WEIGHTS},
        ("asymptotic", "exact", "midp"),
    ),
    "strata of equal samples": ({"strata": NESTED}, ("midp", "exact", "corrected")),
}


@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, method) for kind, (_, methods) in KINDS.items() for method in methods],
)
def test_each_pair_is_that_of_two_models(kind, method):
    options = KINDS[kind][0] | {"method": method}
    everything = compare_all(Y, PREDS, **options)
    chosen = compare_all(Y, PREDS, pairs=[(3, 0), (1, 2), (4, 3)], **options)
    for found in (everything, chosen):
        for p, (i, j) in enumerate(found.pairs):
            one = mcnemar(Y, PREDS[i], PREDS[j], **options)
            for name in ("statistic", "pvalue", "difference"):
                wanted = pytest.approx(getattr(one, name), rel=1e-9, abs=1e-13)
                assert getattr(found, name)[p] == wanted, name
            assert found.only_a[p] == np.sum(one.only_a)
            df = found.df if np.ndim(found.df) == 0 else found.df[p]
            assert df == (None if one.df is None else pytest.approx(one.df))
            assert found.distribution == one.distribution
            if method in SANDWICH or found.n_strata:
                ends = pytest.approx(tuple(one.confidence_interval()), abs=1e-12)
                assert tuple(found.interval[p]) == ends
    assert everything.pvalue[everything.pairs.tolist().index([1, 2])] == 1


def test_defaults():
    for kind, (options, methods) in KINDS.items():
        assert compare_all(Y, PREDS, **options).method == methods[0], kind


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_and_less_than_everything(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("fastcmp.pairwise.compare_all.threads_pay", lambda *_: True)
    options = KINDS[kind][0]
    serial = compare_all(Y, PREDS, workers=1, **options)
    for workers in (4, 7):
        assert compare_all(Y, PREDS, workers=workers, **options) == serial
    kept = compare_all(Y, PREDS, keep="significant", **options)
    assert kept.pvalue.tolist() == serial.pvalue[serial.significant].tolist()
    if np.ndim(serial.df):
        assert kept.df.tolist() == serial.df[serial.significant].tolist()
    on_disk = compare_all(Y, PREDS, keep=tmp_path / "all.npy", **options)
    assert on_disk.pvalue.tolist() == serial.pvalue.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_samples_in_another_order(kind):
    order = RNG.permutation(N)
    options = KINDS[kind][0]
    moved = {k: x[order] if isinstance(x, np.ndarray) else x for k, x in options.items()}
    found, wanted = (
        compare_all(Y[order], PREDS[:, order], **moved),
        compare_all(Y, PREDS, **options),
    )
    np.testing.assert_allclose(found.pvalue, wanted.pvalue, rtol=1e-9)


def test_the_direction_is_that_of_what_is_tested():
    # Model a is right in a large cluster, b in many small ones.
    groups = np.repeat(np.arange(9), [40, *[3] * 8])
    a, b = (groups == 0) * 1, (groups > 0) * 1
    y = np.ones(64, int)
    with pytest.warns(UserWarning, match="does not hold"):
        found = compare_all(y, {"a": a, "b": b}, groups=groups, method="cluster-weighted")
    assert found.best[0] == "b"
    assert found.score.tolist() == pytest.approx([1 / 9, 8 / 9])
    assert found.correct.tolist() == [40, 24]


def test_intervals_of_scores():
    found = compare_all(Y, PREDS, groups=GROUPS)
    for pred, score, ends in zip(PREDS, found.score, found.score_interval.tolist(), strict=True):
        # A model that is always wrong is the other: the difference is the accuracy.
        alone = mcnemar(Y, pred, 1 - Y, groups=GROUPS)
        assert score == pytest.approx(alone.accuracy_a)
        # Wilson's ends, from which the accuracy is t standard errors away, of at most N samples.
        t = stats.t.ppf(0.975, alone.df)
        size = min(score * (1 - score) / alone.standard_error**2, N)
        for end in ends:
            assert abs(score - end) == pytest.approx(t * np.sqrt(end * (1 - end) / size))


def test_what_is_printed():
    found = compare_all(Y, PREDS, groups=np.arange(N) // 100)
    text = " ".join(str(found).split())
    for part in ("in 3 clusters", "degrees of freedom", "clusters, CR2", "Student's t"):
        assert part in text
    assert found.cautions
    assert compare_all(Y, PREDS).cautions == ()


def test_nearly_equal_models_keep_their_digits():
    n = 4000
    y = RNG.integers(0, 2, n)
    a = np.where(RNG.random(n) < 0.7, y, 1 - y)
    preds = np.stack([a, a, 1 - a])
    preds[1, 17] = 1 - preds[1, 17]
    groups = np.arange(n) // 5
    found = compare_all(y, preds, groups=groups)
    one = mcnemar(y, preds[0], preds[1], groups=groups)
    assert found.pvalue[0] == pytest.approx(one.pvalue, rel=1e-10)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"method": "midp", "groups": GROUPS}, "method must be one of"),
        ({"method": "cr2"}, "method must be one of"),
        ({"stratum_weights": "equal"}, r"stratum_weights=.* is for strata: pass strata="),
        ({"test": "cost", "cost": [[0, 1], [5, 0]], "groups": GROUPS}, "groups="),
        ({"test": "cost", "cost": [[0, 1], [5, 0]], "strata": NESTED}, "strata="),
        ({"groups": GROUPS, "strata": CROSSED, "method": "cr2"}, "within strata"),
        ({"groups": GROUPS, "strata": NESTED, "method": "yang"}, "not defined"),
        ({"groups": np.zeros(N)}, "at least 2 clusters"),
        ({"strata": NESTED, "method": "nope"}, "method must be one of"),
    ],
)
def test_refused(options, wanted):
    with pytest.raises(ValueError, match=wanted):
        compare_all(Y, PREDS, **options)


# Cochran's Q.


def q_of_case(case, **options):
    values = np.array(case["input"]["values"])
    preds = values.T
    y = np.ones(len(values), int)
    return cochrans_q(y, preds, groups=case["input"]["cluster"], **options)


@parametrize("clustered_cochran_q")
def test_q_against_references(case):
    found = q_of_case(case)
    assert found.statistic == expected(case, "statistic")
    assert found.pvalue == expected(case, "pvalue")
    assert found.df == case["expected"]["df"]
    assert found.wald_statistic == expected(case, "wald_statistic")
    assert found.wald_pvalue == expected(case, "wald_pvalue")
    wald = q_of_case(case, method="wald-f")
    m, g = len(found.names), found.n_clusters
    f = found.wald_statistic * (g - m + 1) / ((g - 1) * (m - 1))
    assert (wald.statistic, wald.distribution) == (pytest.approx(f), "F")
    assert wald.pvalue == pytest.approx(stats.f.sf(f, m - 1, g - m + 1), rel=1e-9)
    assert wald.df == (m - 1, g - m + 1)


def test_q_of_clusters_of_one_is_cochrans():
    preds = PREDS[[0, 1, 3, 4]]
    found = cochrans_q(Y, preds, groups=np.arange(N))
    plain = cochrans_q(Y, preds)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert found.effect_size == pytest.approx(plain.effect_size, rel=1e-12)


def test_q_of_two_models_is_the_square_of_the_cluster_sums():
    found = cochrans_q(Y, PREDS[[0, 3]], groups=GROUPS, post_hoc="obuchowski")
    sums = np.bincount(GROUPS, (PREDS[0] == Y) * 1.0 - (PREDS[3] == Y))
    sums = sums[np.bincount(GROUPS) > 0]
    assert found.statistic == pytest.approx(sums.sum() ** 2 / (sums**2).sum())
    k = sums.size
    assert found.post_hoc.statistic[0] == pytest.approx(found.statistic * (k - 1) / k)


def test_q_where_wald_has_no_answer():
    found = cochrans_q(Y, PREDS, groups=GROUPS)  # two models are one
    assert np.isnan(found.wald_statistic)
    assert 0 < found.pvalue < 1
    with pytest.raises(ValueError, match="wald-f"):
        cochrans_q(Y, PREDS, groups=GROUPS, method="wald-f")
    same = cochrans_q(Y, PREDS[[1, 2]], groups=GROUPS)
    assert (same.statistic, same.pvalue) == (0, 1)
    with pytest.raises(ValueError, match="method must be one of"):
        cochrans_q(Y, PREDS, groups=GROUPS, method="exact")


def test_graded_answers_are_pointed_to_compare_means():
    graded = np.where(RNG.random(N) < 0.3, 0.5, PREDS[0])
    for classes in (None, [0, 1]):
        with pytest.raises(ValueError, match=r"0\.5.*compare_means"):
            compare_all(Y, [graded, PREDS[1]], classes=classes)
        with pytest.raises(ValueError, match=r"0\.5.*compare_means"):
            mcnemar(Y, graded, PREDS[1], classes=classes)
