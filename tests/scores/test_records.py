"""What records of scores have in common: unpacking, pictures, signs, seeds."""

from functools import cache

import numpy as np
import pytest

import fastcmp
from fastcmp import stream

BOOT = {"n_resamples": 30, "rng": 2}
PARTIAL = {"fpr_range": (0, 0.5), **BOOT}


@cache
def data():
    """Labels, scores of two models, and weights."""
    rng = np.random.default_rng(4)
    y = (np.arange(60) % 3 == 0).astype(int)
    a, b = (rng.normal(size=60) + y).round(1), rng.normal(size=60) + y
    return y, a, b, rng.integers(1, 4, 60)


CURVES = {
    "roc": fastcmp.roc_curve,
    "roc, weighted": lambda y, a: fastcmp.roc_curve(y, a, sample_weight=data()[3]),
    "roc of an infinite score": lambda *_: fastcmp.roc_curve([0, 1, 1], [0, 1, np.inf]),
    "roc, sketched": lambda y, a: stream.RocSketch().update(y, a).curve(),
    "precision and recall": fastcmp.precision_recall_curve,
    "det": fastcmp.det_curve,
    "gain": fastcmp.gain_curve,
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_unpack_draw_themselves_and_have_a_row_a_point(name):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    curve = CURVES[name](*data()[:2])
    parts = tuple(curve)
    assert len(curve) == len(parts)
    assert all(curve[k] is part for k, part in enumerate(parts))
    assert curve[:2] == parts[:2]
    assert len(curve.to_frame()) == parts[0].size
    assert f"{parts[0].size} points" in str(curve)
    assert fastcmp.from_dict(curve.to_dict()) == curve
    ax = plt.figure().add_subplot()
    assert curve.plot(ax=ax) is ax
    for drawn in ax.lines[0].get_data():
        assert any(np.array_equal(part, drawn) for part in parts)
    plt.close("all")
    if name in ("roc", "roc, weighted"):
        weights = data()[3] if "weighted" in name else None
        area = fastcmp.auc(*data()[:2], sample_weight=weights)
        assert curve.auc == pytest.approx(area, rel=1e-12)


def test_statistics_have_the_sign_of_the_difference():
    y, a, b, _ = data()
    scores = {"new": a, "old": b}
    by_margin = fastcmp.delong(y, scores).compare("old", "new", alternative="less", margin=0.1)
    by_t = fastcmp.delong_unpaired(y, a, y, b, method="t")
    calls = fastcmp.compare_sensitivity_specificity(y, (a > 0) * 1, (b > 0) * 1)
    partial = fastcmp.auc_bootstrap(y, scores, **PARTIAL).compare()
    rates = fastcmp.roc_band(y, scores, sensitivity=0.9, **BOOT).compare()
    for record in (
        *(by_margin, by_t, fastcmp.delong_unpaired(y, a, y, b), calls.ppv_score),
        *(fastcmp.auc_bootstrap(y, scores, **BOOT).compare(), partial, rates),
    ):
        shifted = record.difference - (getattr(record, "margin", 0.0) or 0.0)
        assert np.sign(record.statistic) == np.sign(shifted)
        is_t = record is by_t or record is by_margin
        assert record.distribution == ("t" if is_t else "normal")
        assert record.better == ("a" if record.difference > 0 else "b")
    for test in (fastcmp.auc_permutation_test, fastcmp.venkatraman):
        record = test(y, a, b, **BOOT)
        assert record.distribution == "permutation"
        assert record.difference == fastcmp.auc(y, a) - fastcmp.auc(y, b)
    assert (partial.measure, partial.at) == ("partial AUC", "FPR 0 to 0.5")
    assert (rates.measure, rates.at) == ("specificity", "at sensitivity 0.9")
    assert "specificity (at sensitivity 0.9) of new" in str(rates)


def test_seeds_repeat_and_progress_is_told():
    y, a, b, _ = data()
    pair = {"score_a": a, "score_b": b}
    for name, own in (
        ("auc_bootstrap", {"scores": {"new": a, "old": b}}),
        ("roc_band", {"scores": a, "specificity": 0.5}),
        ("optimal_cutpoint", {"score": a}),
        ("auc_permutation_test", pair),
        ("venkatraman", pair),
    ):
        steps, function = [], getattr(fastcmp, name)
        options = {"y_true": y, "n_resamples": 200} | own
        first = function(**options, progress=lambda *done, to=steps: to.append(done))
        assert steps[-1] == (200, 200)
        assert function(**options, rng=first.seed, workers=4) == first
        assert function(**options, rng=np.random.default_rng(first.seed)) != first
