"""All pairs, and all models, for samples in clusters and strata."""

from functools import cache

import numpy as np
import pytest
from libraries import stats
from reference_cases import agree, parametrize

from fastcmp import cochrans_q, compare_all, mcnemar

SANDWICH = ("cr2", "cr0", "cr1", "cr3")
WEIGHTED = ("durkalski", "cluster-weighted")
CLUSTERED = (*SANDWICH, "obuchowski", "yang", *WEIGHTED, "eliasziw", "mcnemar")
N = 300
METHODS = {
    "clusters": CLUSTERED,
    "within strata": SANDWICH,
    "across strata": ("cr1", "cr0"),
    "strata": ("asymptotic", "exact", "midp"),
    "strata of equal samples": ("midp", "exact", "corrected"),
}


@cache
def labels():
    """True labels, and predictions of five models, two of which are one."""
    rng = np.random.default_rng(20)
    y = rng.integers(0, 2, N)
    preds = np.stack([np.where(rng.random(N) < q, y, 1 - y) for q in (0.6, 0.7, 0.7, 0.85, 0.9)])
    preds[2] = preds[1]
    return y, preds


@cache
def clusters():
    return np.random.default_rng(21).integers(0, 25, N) ** 2 // 25


def options_of(kind):
    groups, weights = clusters(), {0: 3, 1: 2, 2: 2.5}
    nested, crossed = groups % 3, np.arange(N) * 7 % 3
    return {
        "clusters": {"groups": groups},
        "within strata": {"groups": groups, "strata": nested, "stratum_weights": "equal"},
        "across strata": {"groups": groups, "strata": crossed, "stratum_weights": weights},
        "strata": {"strata": nested, "stratum_weights": weights},
        "strata of equal samples": {"strata": nested},
    }[kind]


@pytest.mark.parametrize(
    ("kind", "method"), [(kind, method) for kind in METHODS for method in METHODS[kind]]
)
def test_each_pair_is_that_of_two_models(kind, method):
    y, preds = labels()
    options = options_of(kind) | {"method": method}
    everything = compare_all(y, preds, **options)
    chosen = compare_all(y, preds, pairs=[(3, 0), (1, 2), (4, 3)], **options)
    for found in (everything, chosen):
        for p, (i, j) in enumerate(found.pairs):
            one = mcnemar(y, preds[i], preds[j], **options)
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
    for kind, methods in METHODS.items():
        assert compare_all(*labels(), **options_of(kind)).method == methods[0], kind


@pytest.mark.parametrize("kind", METHODS)
def test_less_than_everything(kind, tmp_path):
    y, preds = labels()
    options = options_of(kind)
    serial = compare_all(y, preds, **options)
    kept = compare_all(y, preds, keep="significant", **options)
    assert kept.pvalue.tolist() == serial.pvalue[serial.significant].tolist()
    if np.ndim(serial.df):
        assert kept.df.tolist() == serial.df[serial.significant].tolist()
    on_disk = compare_all(y, preds, keep=tmp_path / "all.npy", **options)
    assert on_disk.pvalue.tolist() == serial.pvalue.tolist()


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
    y, preds = labels()
    found = compare_all(*labels(), groups=clusters())
    for pred, score, ends in zip(preds, found.score, found.score_interval.tolist(), strict=True):
        # A model that is always wrong is the other: the difference is the accuracy.
        alone = mcnemar(y, pred, 1 - y, groups=clusters())
        assert score == pytest.approx(alone.accuracy_a)
        # Wilson's ends, from which the accuracy is t standard errors away, of at most N samples.
        t = stats.t.ppf(0.975, alone.df)
        size = min(score * (1 - score) / alone.standard_error**2, N)
        for end in ends:
            assert abs(score - end) == pytest.approx(t * np.sqrt(end * (1 - end) / size))


def test_what_is_printed():
    y, preds = labels()
    found = compare_all(*labels(), groups=np.arange(N) // 100)
    text = " ".join(str(found).split())
    for part in ("in 3 clusters", "degrees of freedom", "clusters, CR2", "Student's t"):
        assert part in text
    assert found.cautions
    assert compare_all(y, preds).cautions == ()


def test_nearly_equal_models_keep_their_digits():
    rng = np.random.default_rng(5)
    n = 4000
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < 0.7, y, 1 - y)
    preds = np.stack([a, a, 1 - a])
    preds[1, 17] = 1 - preds[1, 17]
    groups = np.arange(n) // 5
    found = compare_all(y, preds, groups=groups)
    one = mcnemar(y, preds[0], preds[1], groups=groups)
    assert found.pvalue[0] == pytest.approx(one.pvalue, rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "options", "wanted"),
    [
        ("clusters", {"method": "midp"}, "method must be one of"),
        (None, {"method": "cr2"}, "method must be one of"),
        ("clusters", {"test": "cost", "cost": [[0, 1], [5, 0]]}, "groups="),
        ("strata", {"test": "cost", "cost": [[0, 1], [5, 0]]}, "strata="),
        ("across strata", {"method": "cr2"}, "within strata"),
        ("within strata", {"method": "yang"}, "not defined"),
    ],
)
def test_refused(kind, options, wanted):
    with pytest.raises(ValueError, match=wanted):
        compare_all(*labels(), **(options_of(kind) if kind else {}), **options)


# Cochran's Q.


def q_of_case(case, **options):
    values = np.array(case["input"]["values"])
    preds = values.T
    y = np.ones(len(values), int)
    return cochrans_q(y, preds, groups=case["input"]["cluster"], **options)


@parametrize("clustered_cochran_q")
def test_q_against_references(case):
    found = q_of_case(case)
    agree(case, found, "statistic", "pvalue", "df", "wald_statistic", "wald_pvalue")
    wald = q_of_case(case, method="wald-f")
    m, g = len(found.names), found.n_clusters
    f = found.wald_statistic * (g - m + 1) / ((g - 1) * (m - 1))
    assert (wald.statistic, wald.distribution) == (pytest.approx(f), "F")
    assert wald.pvalue == pytest.approx(stats.f.sf(f, m - 1, g - m + 1), rel=1e-9)
    assert wald.df == (m - 1, g - m + 1)


def test_q_where_wald_has_no_answer():
    y, preds = labels()
    found = cochrans_q(y, preds, groups=clusters())  # two models are one
    assert np.isnan(found.wald_statistic)
    assert 0 < found.pvalue < 1
    with pytest.raises(ValueError, match="wald-f"):
        cochrans_q(y, preds, groups=clusters(), method="wald-f")
    same = cochrans_q(y, preds[[1, 2]], groups=clusters())
    assert (same.statistic, same.pvalue) == (0, 1)
    with pytest.raises(ValueError, match="method must be one of"):
        cochrans_q(y, preds, groups=clusters(), method="exact")


def test_graded_answers_are_pointed_to_compare_means():
    y, preds = labels()
    rng = np.random.default_rng(5)
    graded = np.where(rng.random(N) < 0.3, 0.5, preds[0])
    for classes in (None, [0, 1]):
        with pytest.raises(ValueError, match=r"0\.5.*compare_means"):
            compare_all(y, [graded, preds[1]], classes=classes)
        with pytest.raises(ValueError, match=r"0\.5.*compare_means"):
            mcnemar(y, graded, preds[1], classes=classes)
