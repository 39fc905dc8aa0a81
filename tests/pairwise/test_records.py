"""Records of many models in all variants: JSON and back, width, tables, options."""

import json

import numpy as np
import pytest

from fastcmp import (
    adjust,
    cochrans_q,
    cochrans_q_from_counts,
    compare_all,
    compare_all_from_counts,
    compare_predictions,
    from_dict,
    load_digits,
    mcnemar,
)
from fastcmp.stream import PairCounts


def simulate(n_models, n=500, seed=3):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(4, size=n)
    right = rng.random((n_models, n)) < np.linspace(0.5, 0.9, n_models)[:, None]
    preds = np.where(right, y_true, (y_true + 1) % 4)
    return y_true, {f"model {i} of {n_models}": row for i, row in enumerate(preds)}


COST = {"test": "cost", "cost": 1 - np.eye(4), "classes": range(4)}
RECORDS = {
    "pairs": lambda m: compare_all(*simulate(m)),
    "exact": lambda m: compare_all(*simulate(m), method="exact", adjust="bh"),
    "asymptotic": lambda m: compare_all(*simulate(m), method="asymptotic"),
    "costs": lambda m: compare_all(*simulate(m), **COST),
    "control": lambda m: compare_all(*simulate(m), control=1, keep="significant"),
    "some": lambda m: compare_all(*simulate(m), pairs=[(0, 1), (2, 1)]),
    "leaderboard": lambda m: compare_all(*simulate(m)).leaderboard,
    "no ranks": lambda m: compare_all(*simulate(m), adjust="none").leaderboard,
    "ties": lambda m: compare_all(*simulate(m)).groups,
    "agreement": lambda m: compare_predictions(*simulate(m)),
    "Cochran": lambda m: cochrans_q(*simulate(m)),
    "Looney": lambda m: cochrans_q(*simulate(m), method="f", post_hoc="midp"),
}


@pytest.fixture(scope="module", params=RECORDS)
def record(request):
    return RECORDS[request.param](4)


def test_json_and_back(record):
    plain = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    again = from_dict(plain)
    assert type(again) is type(record)
    assert again == record
    assert str(again) == str(record)
    assert again.to_dict() == record.to_dict()


@pytest.mark.parametrize("n_models", [3, 10, 30])
@pytest.mark.parametrize("name", RECORDS)
def test_lines_of_a_terminal(name, n_models):
    text = str(RECORDS[name](n_models))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("\n") < 80


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


@pytest.mark.parametrize(
    ("method", "distribution", "df"),
    [
        ("midp", "binomial", None),
        ("mid-p", "binomial", None),
        ("Exact", "binomial", None),
        ("asymptotic", "chi2", 1),
        ("continuity", "chi2", 1),
    ],
)
def test_statistics_of_pairs_by_any_spelling(method, distribution, df):
    y_true, preds = simulate(3)
    result = compare_all(y_true, preds, method=method)
    assert (result.distribution, result.df) == (distribution, df)
    rows = list(preds.values())
    for p, (i, j) in enumerate(result.pairs):
        pair = mcnemar(y_true, rows[i], rows[j], method=result.method)
        smaller = min(pair.only_a, pair.only_b)
        assert result.statistic[p] == (pair.statistic if df else smaller)
        assert result.pvalue[p] == pair.pvalue


@pytest.mark.parametrize(
    ("spelling", "method"),
    [
        ("fdr_bh", "bh"),
        ("BH", "bh"),
        ("Benjamini-Hochberg", "bh"),
        ("fdr", "bh"),
        ("fdr_by", "by"),
        ("holm_sidak", "holm-sidak"),
        ("Bonferroni", "bonferroni"),
        ("simes-hochberg", "hochberg"),
    ],
)
def test_adjustments_by_any_name(spelling, method):
    pvalues = [0.01, 0.02, 0.03, 0.5]
    expect = adjust(pvalues, method=method)
    assert adjust(pvalues=pvalues, method=spelling).tolist() == expect.tolist()
    y_true, preds = simulate(4)
    result = compare_all(y_true, preds, adjust=spelling)
    assert result == compare_all(y_true, preds, adjust=method)
    assert result.adjust == method
    assert compare_predictions(y_true, preds, adjust=spelling).adjust == method
    assert cochrans_q(y_true, preds, post_hoc="midp", adjust=spelling) == cochrans_q(
        y_true, preds, post_hoc="mid_p", adjust=method
    )


def test_data_by_keyword():
    y_true, preds = simulate(3)
    assert compare_all(y_true=y_true, preds=preds) == compare_all(y_true, preds)
    assert compare_predictions(y_true=y_true, preds=preds).names == tuple(preds)
    assert cochrans_q(y_true=y_true, preds=preds).names == tuple(preds)
    counts = PairCounts().update(y_true, preds)
    assert compare_all_from_counts(counts=counts).names == tuple(preds)
    with pytest.raises(TypeError, match="positional"):
        adjust([0.5], "holm")


def test_names_of_models():
    y_true, preds = simulate(3)
    rows = np.array(list(preds.values()))
    for compare in (compare_all, compare_predictions, cochrans_q):
        expect = compare(y_true, dict(zip("xyz", rows, strict=True)))
        assert compare(y_true, rows, names=["x", "y", "z"]) == expect
        assert compare(y_true, preds, names=["x", "y", "z"]) == expect
        with pytest.raises(ValueError, match="names must name each of the 3 models"):
            compare(y_true, rows, names=["x"])
        with pytest.raises(ValueError, match="names must have one name a model, got"):
            compare(y_true, rows, names=["x", "y", "x"])
        with pytest.raises(TypeError, match="names must be a sequence of names"):
            compare(y_true, rows, names="xyz")


def test_agreement_needs_all_predictions():
    with pytest.raises(ValueError, match=r"missing must be one of \('raise',\)"):
        compare_predictions([0, 1], [[0, None], [1, 1]], missing="wrong")


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
    streamed = cochrans_q_from_counts(counts, **options)
    assert streamed.post_hoc.pvalue.tolist() == found.post_hoc.pvalue.tolist()
    for call in (
        lambda **x: cochrans_q(y_true, preds, **x),
        lambda **x: cochrans_q_from_counts(counts, **x),
    ):
        with pytest.raises(ValueError, match="workers must be at least 1, got 0"):
            call(workers=0)


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
