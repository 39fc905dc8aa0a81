"""Options that several comparisons of many models have, and their tables."""

import numpy as np
import pytest

from fastcmp import adjust, cochrans_q, compare_all, compare_predictions, load_digits


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
    **dict.fromkeys(("fdr_bh", "BH", "Benjamini-Hochberg", "fdr"), "bh"),
    "fdr_by": "by",
    "holm_sidak": "holm-sidak",
    "simes-hochberg": "hochberg",
}


def test_adjustments_by_any_name():
    y_true, preds = simulate(4)
    for spelling, method in ADJUSTMENTS.items():
        expect = adjust([0.01, 0.02, 0.03, 0.5], method=method)
        assert adjust([0.01, 0.02, 0.03, 0.5], method=spelling).tolist() == expect.tolist()
    for compare in (compare_all, compare_predictions, cochrans_q):
        options = {"post_hoc": "mid_p"} if compare is cochrans_q else {}
        found = compare(y_true, preds, adjust=spelling, **options)
        assert found == compare(y_true, preds, adjust=method, **options)
    assert compare_all(y_true, preds, method="continuity").method == "corrected"


def test_names_of_models():
    y_true, preds = simulate(3)
    rows = np.array(list(preds.values()))
    for compare in (compare_all, compare_predictions, cochrans_q):
        expect = compare(y_true, dict(zip("xyz", rows, strict=True)))
        assert compare(y_true, rows, names=["x", "y", "z"]) == expect
        assert compare(y_true, preds, names=["x", "y", "z"]) == expect


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
