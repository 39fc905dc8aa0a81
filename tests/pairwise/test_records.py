"""Options that several comparisons of many models have, and their tables."""

import numpy as np
import pytest

from fastcmp import adjust, cochrans_q, compare_all, compare_predictions, load_digits
from fastcmp.stream import PairCounts


def simulate(n_models, n=500, seed=3):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(4, size=n)
    right = rng.random((n_models, n)) < np.linspace(0.5, 0.9, n_models)[:, None]
    preds = np.where(right, y_true, (y_true + 1) % 4)
    return y_true, {f"model {i} of {n_models}": row for i, row in enumerate(preds)}


def test_the_leaderboard_is_a_table():
    result = compare_all(*load_digits())
    frame = result.leaderboard.to_frame()
    assert frame["model"].tolist() == list(result.leaderboard.names)
    assert frame["accuracy"].tolist() == result.leaderboard.score.tolist()
    low_high = frame[["rank_low", "rank_high"]].to_numpy().tolist()
    assert low_high == result.leaderboard.rank_interval.tolist()
    assert result.leaderboard.confidence_level == 0.95


def test_groups_of_ties_by_name():
    result = compare_all(*load_digits())
    assert result.groups.named == result.tie_groups
    table = result.groups.columns()
    first = [name for k, name in zip(*table.values(), strict=True) if k == 1]
    assert tuple(first) == result.tie_groups[0]


ADJUSTMENTS = {
    "bh": ("fdr_bh", "BH", "Benjamini-Hochberg", "fdr"),
    "by": ("fdr_by",),
    "holm-sidak": ("holm_sidak",),
    "bonferroni": ("Bonferroni",),
    "hochberg": ("simes-hochberg",),
}


@pytest.mark.parametrize(
    ("spelling", "method"), [(s, m) for m, x in ADJUSTMENTS.items() for s in x]
)
def test_adjustments_by_any_name(spelling, method):
    pvalues = [0.01, 0.02, 0.03, 0.5]
    expect = adjust(pvalues, method=method)
    assert adjust(pvalues=pvalues, method=spelling).tolist() == expect.tolist()
    y_true, preds = simulate(4)
    result = compare_all(y_true, preds, adjust=spelling)
    assert result == compare_all(y_true, preds, adjust=method)
    assert result.adjust == method
    assert compare_all(y_true, preds, method="continuity").method == "corrected"
    assert compare_predictions(y_true, preds, adjust=spelling).adjust == method
    assert cochrans_q(y_true, preds, post_hoc="midp", adjust=spelling) == cochrans_q(
        y_true, preds, post_hoc="mid_p", adjust=method
    )


def test_names_of_models():
    y_true, preds = simulate(3)
    rows = np.array(list(preds.values()))
    for compare in (compare_all, compare_predictions, cochrans_q):
        expect = compare(y_true, dict(zip("xyz", rows, strict=True)))
        assert compare(y_true, rows, names=["x", "y", "z"]) == expect
        assert compare(y_true, preds, names=["x", "y", "z"]) == expect


def test_cochrans_q_with_workers_and_progress():
    y_true, preds = simulate(30, 5000)
    seen = []
    expect = cochrans_q(y_true, preds, post_hoc="midp", workers=1)
    found = cochrans_q(
        y_true, preds, post_hoc="midp", workers=3, progress=lambda *x: seen.append(x)
    )
    assert found == expect
    assert seen[-1] == (435, 435)
    counts = PairCounts().update(y_true, preds)
    options = {"post_hoc": "midp", "workers": 2, "progress": False}
    streamed = cochrans_q(counts=counts, **options)
    assert streamed.post_hoc.pvalue.tolist() == found.post_hoc.pvalue.tolist()


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    result = compare_all(*simulate(3))
    _, ax = plt.subplots()
    assert result.plot(ax=ax) is ax
    assert "Accuracy" in ax.get_xlabel()
    assert "significantly different" in result.plot("p-values").get_xlabel()
    assert "bars join" in result.plot(kind="critical_difference").get_xlabel()
    with pytest.raises(ValueError, match=r"kind must be one of .*'pvalues'.*'bars'"):
        result.plot("bars")
    plt.close("all")
