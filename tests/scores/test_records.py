"""What all records of scores have: unpacking, tables, pictures, JSON, statistics."""

import json
import pickle

import matplotlib as mpl
import numpy as np
import pytest

import fastcmp
from fastcmp.core.record_parts import Compared, Drawn, Unpacked
from fastcmp.stream import RocSketch

mpl.use("Agg")

RNG = np.random.default_rng(4)
Y = (np.arange(60) % 3 == 0).astype(int)
SCORES = {"new": (RNG.normal(size=60) + Y).round(1), "old": RNG.normal(size=60) + Y}
A, B = SCORES.values()
WEIGHTS = RNG.integers(1, 4, 60)
DELONG = fastcmp.delong(Y, SCORES)
BOOT = {"n_resamples": 30, "rng": 2}
PARTIAL = {"fpr_range": (0, 0.5), **BOOT}
CALLS = fastcmp.compare_sensitivity_specificity(Y, (A > 0) * 1, (B > 0) * 1)
CURVES = {
    "roc": fastcmp.roc_curve(Y, A),
    "roc, weighted": fastcmp.roc_curve(Y, A, sample_weight=WEIGHTS),
    "roc of an infinite score": fastcmp.roc_curve([0, 1, 1], [0, 1, np.inf]),
    "roc, sketched": RocSketch().update(Y, A).curve(),
    "precision and recall": fastcmp.precision_recall_curve(Y, A),
    "det": fastcmp.det_curve(Y, A),
    "gain": fastcmp.gain_curve(Y, A),
}
RECORDS = CURVES | {
    "sweep": fastcmp.threshold_sweep(Y, A),
    "concordance": fastcmp.concordance(Y, A),
    "table": fastcmp.classification_table(Y, A, cutoff=0.3),
    "table of words": fastcmp.classification_table(
        np.array(["ill", "well"])[Y], np.array(["ill", "well"])[Y], positive="ill"
    ),
    "weighted table": fastcmp.classification_table(Y, A, sample_weight=WEIGHTS),
    "table from counts": fastcmp.classification_table_from_counts(tp=0, fp=0, fn=3, tn=1),
    "cutoff": fastcmp.optimal_cutpoint(Y, A, **BOOT),
    "cutoff of a function": fastcmp.optimal_cutpoint(
        Y, A, criterion=lambda tp, fp, tn, fn: tp * tn - fp * fn
    ),
    "measures": CALLS,
    "predictive values": CALLS.ppv_score,
    "delong": DELONG,
    "delong of one": fastcmp.delong(Y, A),
    "clusters": fastcmp.delong(Y, SCORES, groups=np.arange(60) // 4),
    "pairs": DELONG.pairwise(),
    "delong compared": DELONG.compare("old", "new", alternative="less", margin=0.1),
    "unpaired": fastcmp.delong_unpaired(Y, A, Y, B),
    "Student's t": fastcmp.delong_unpaired(Y, A, Y, B, method="t"),
    "without variance": fastcmp.delong([0, 0, 1, 1], [[1, 2, 3, 4]] * 2).compare(),
    "contrast": DELONG.contrast([1, -1]),
    "contrasts": DELONG.contrast([[1, -1], [0, 1]]),
    "bootstrap": fastcmp.auc_bootstrap(Y, SCORES, **BOOT),
    "bootstrap compared": fastcmp.auc_bootstrap(Y, SCORES, **BOOT).compare(),
    "partial": fastcmp.auc_bootstrap(Y, SCORES, **PARTIAL),
    "partial compared": fastcmp.auc_bootstrap(Y, SCORES, **PARTIAL).compare(),
    "permutation": fastcmp.auc_permutation_test(Y, A, B, **BOOT),
    "venkatraman": fastcmp.venkatraman(Y, A, B, **BOOT),
    "band": fastcmp.roc_band(Y, SCORES, specificity=[0.5, 0.9], **BOOT),
    "bands": fastcmp.roc_band(Y, SCORES, **BOOT),
    "rates compared": fastcmp.roc_band(Y, SCORES, sensitivity=0.9, **BOOT).compare(),
    "lift": fastcmp.lift_table(Y, A),
    "weighted lift": fastcmp.lift_table(Y, A, groups=4, sample_weight=WEIGHTS),
    "ks": fastcmp.ks_statistic(Y, A),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_read_back_and_printed(name):
    record = RECORDS[name]
    plain = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    again = fastcmp.from_dict(plain)
    assert again == record == pickle.loads(pickle.dumps(record))
    assert str(again) == str(record)
    assert "\n" not in repr(record)
    assert len(repr(record)) < 300
    lines = str(record).splitlines()
    assert len(lines) < 100
    assert max(map(len, lines)) <= 80
    assert record.to_markdown()
    assert record.to_html() == record.to_html()
    frame = record.to_frame()
    assert list(frame.columns) == list(record.columns())


@pytest.mark.parametrize("name", CURVES)
def test_curves_unpack_and_have_a_row_a_point(name):
    curve = CURVES[name]
    assert isinstance(curve, Unpacked)
    parts = tuple(curve)
    assert len(curve) == len(parts) == len(curve._parts())
    for k, part in enumerate(parts):
        assert curve[k] is part
    assert curve[-1] is parts[-1]
    assert curve[:2] == parts[:2]
    assert len(curve.to_frame()) == parts[0].size
    assert f"{parts[0].size} points" in str(curve)
    assert len(str(curve).splitlines()) == 2


def test_the_area_of_a_curve_is_the_auc():
    assert CURVES["roc"].auc == pytest.approx(fastcmp.auc(Y, A), rel=1e-12)
    wanted = fastcmp.auc(Y, A, sample_weight=WEIGHTS)
    assert CURVES["roc, weighted"].auc == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", [x for x in RECORDS if isinstance(RECORDS[x], Drawn)])
def test_records_draw_themselves(name):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    record = RECORDS[name]
    _, ax = pyplot.subplots()
    assert record.plot(ax=ax) is ax
    if isinstance(record, Unpacked):
        x, y = ax.lines[0].get_data()
        assert {x.size, y.size} == {record[0].size}
        assert any(np.array_equal(part, x) for part in record)
        assert any(np.array_equal(part, y) for part in record)
    pyplot.close("all")


def test_only_curves_are_drawn_as_curves():
    plot = pytest.importorskip("fastcmp.plot")
    with pytest.raises(TypeError, match="curve draws a curve such as RocCurve, got Ks"):
        plot.curve(RECORDS["ks"])


def test_statistics_have_the_sign_of_the_difference():
    names = ("delong compared", "unpaired", "Student's t", "predictive values")
    for name in (*names, "bootstrap compared", "partial compared", "rates compared"):
        record = RECORDS[name]
        assert isinstance(record, Compared)
        shifted = record.difference - getattr(record, "margin", 0.0)
        assert np.sign(record.statistic) == np.sign(shifted)
        margin = record.margin if hasattr(record, "margin") else 0
        by_t = name == "Student's t" or (margin and record.alternative != "two-sided")
        assert record.distribution == ("t" if by_t else "normal")
        assert record.better == ("a" if record.difference > 0 else "b")
    contrast = RECORDS["contrast"]
    assert contrast.statistic == pytest.approx(DELONG.compare().statistic)
    assert (contrast.distribution, contrast.df) == ("normal", None)
    assert (RECORDS["contrasts"].distribution, RECORDS["contrasts"].df) == ("chi2", 2)
    for name in ("permutation", "venkatraman"):
        record = RECORDS[name]
        assert record.distribution == "permutation"
        assert record.difference == fastcmp.auc(Y, A) - fastcmp.auc(Y, B)


def test_measures_are_named():
    found = {
        name: (RECORDS[name].measure, RECORDS[name].at)
        for name in ("delong compared", "partial compared", "rates compared")
    }
    assert found == {
        "delong compared": ("AUC", ""),
        "partial compared": ("partial AUC", "FPR 0 to 0.5"),
        "rates compared": ("specificity", "at sensitivity 0.9"),
    }
    assert "specificity (at sensitivity 0.9) of new" in str(RECORDS["rates compared"])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("auc_bootstrap", {"scores": SCORES}),
        ("roc_band", {"scores": A, "specificity": 0.5}),
        ("auc_permutation_test", {"score_a": A, "score_b": B}),
        ("venkatraman", {"score_a": A, "score_b": B}),
        ("optimal_cutpoint", {"score": A}),
    ],
)
def test_seeds_repeat_and_progress_is_told(name, data):
    steps = []
    options = {"y_true": Y, **data, "n_resamples": 200}
    function = getattr(fastcmp, name)
    first = function(**options, progress=lambda *done: steps.append(done))
    assert steps[-1] == (200, 200)
    for workers in (1, 4):
        assert function(**options, rng=first.seed, workers=workers) == first
    assert function(**options, rng=np.random.default_rng(first.seed)) != first
    with pytest.raises(TypeError, match="rng must be a whole number"):
        function(**options, rng="1")
    assert first.n_resamples == 200


def test_options_are_spelled_freely():
    for a, b in (
        (
            fastcmp.optimal_cutpoint(Y, A, criterion="Closest_TopLeft", **BOOT),
            fastcmp.optimal_cutpoint(Y, A, criterion="closest-topleft", **BOOT),
        ),
        (
            fastcmp.optimal_cutpoint(Y, A, criterion="WEIGHTED YOUDEN", cost_fn=3),
            fastcmp.optimal_cutpoint(Y, A, criterion="weighted-youden", cost_fn=3),
        ),
        (
            fastcmp.auc_permutation_test(Y, A, B, alternative="larger", **BOOT),
            fastcmp.auc_permutation_test(Y, A, B, alternative="greater", **BOOT),
        ),
        (DELONG.compare(alternative="two_sided"), DELONG.compare(alternative="two-sided")),
        (DELONG.compare(alternative="Less"), DELONG.compare(alternative="less")),
        (DELONG.pairwise(adjust="fdr_bh"), DELONG.pairwise(adjust="bh")),
        (
            fastcmp.delong_unpaired(Y, A, Y, B, method="T"),
            fastcmp.delong_unpaired(Y, A, Y, B, method="t"),
        ),
        (
            fastcmp.classification_table(Y, A, interval="Clopper_Pearson"),
            fastcmp.classification_table(Y, A, interval="clopper-pearson"),
        ),
        (fastcmp.lift_table(Y, A, ties="Worse"), fastcmp.lift_table(Y, A, ties="worse")),
        (
            fastcmp.compare_sensitivity_specificity(Y, Y, 1 - Y, method="Mid-P"),
            fastcmp.compare_sensitivity_specificity(Y, Y, 1 - Y, method="midp"),
        ),
    ):
        assert a == b
    table = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]]
    for options in ({"method": "OvO"}, {"average": "Micro"}, {"average": "Samples"}):
        plain = {name: word.lower() for name, word in options.items()}
        found = fastcmp.auc_multiclass(list("abcc"), table, **options)
        assert found == fastcmp.auc_multiclass(list("abcc"), table, **plain)
    assert fastcmp.auc(Y, A, ties="Concordant") == fastcmp.auc(Y, A, ties="concordant")
    assert RECORDS["concordance"].area("HALF") == RECORDS["concordance"].auc
    ends = DELONG.confidence_interval(method="Logit")
    np.testing.assert_array_equal(ends, DELONG.confidence_interval(method="logit"))
