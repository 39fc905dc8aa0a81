"""The record of all pairs: ranking, ties, matrices, frames and what is printed."""

import copy
import json
import pickle
import re
import sys
from dataclasses import FrozenInstanceError, replace
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import modest

from fastcmp import compare_all, load_digits

FIELDS = (
    *("only_a", "only_b", "difference", "statistic"),
    *("pvalue", "pvalue_adjusted", "significant"),
)


def simulate(n_models, n=400, seed=0, names=None):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(3, size=n)
    skill = np.linspace(0.35, 0.95, n_models)[:, None]
    right = rng.random((n_models, n)) < skill
    preds = np.where(right, y_true, (y_true + 1) % 3)
    names = names or [f"m{i}" for i in range(n_models)]
    return y_true, dict(zip(names, preds, strict=True))


@pytest.fixture(scope="module")
def digits():
    return compare_all(*load_digits())


# The leaderboard.


@modest(40)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=9))
def test_the_leaderboard_is_ordered_by_accuracy(correct):
    y_true = np.zeros(6, int)
    preds = np.array([[0] * right + [1] * (6 - right) for right in correct])
    board = compare_all(y_true, preds).leaderboard
    accuracy = np.array(correct) / 6
    expect = sorted(range(len(correct)), key=lambda i: (-correct[i], i))
    assert board.models.tolist() == expect
    assert board.names == tuple(f"model_{i}" for i in expect)
    assert board.score.tolist() == accuracy[expect].tolist()
    ranks = [1 + sum(other > correct[i] for other in correct) for i in expect]
    assert board.rank.tolist() == ranks


def test_equal_accuracies_share_a_rank():
    y_true = [0] * 5
    preds = {"d": [1] * 5, "b": [0, 0, 0, 0, 1], "a": [0] * 5, "c": [1, 0, 0, 0, 0]}
    board = compare_all(y_true, preds).leaderboard
    assert board.names == ("a", "b", "c", "d")
    assert board.rank.tolist() == [1, 2, 2, 4]


def test_the_leaderboard_belongs_to_the_decisions(digits):
    board = digits.leaderboard
    n = len(digits.names)
    wins, losses = np.zeros(n, int), np.zeros(n, int)
    for (i, j), d, told in zip(
        digits.pairs, digits.difference, digits.significant, strict=True
    ):
        if told:
            wins[i if d > 0 else j] += 1
            losses[j if d > 0 else i] += 1
    assert told_apart(digits) == wins.sum() > 0
    expect = np.stack([1 + losses, n - wins], axis=1)[board.models]
    assert board.rank_interval.tolist() == expect.tolist()
    assert (board.rank_interval[:, 0] <= board.rank_interval[:, 1]).all()
    assert board.interval.tolist() == digits.score_interval[board.models].tolist()
    assert (board.interval[:, 0] < board.score).all()
    assert (board.interval[:, 1] > board.score).all()


def told_apart(result):
    return int(result.significant.sum())


def test_pvalues_at_alpha_are_decisions(digits):
    alpha = float(np.sort(digits.pvalue_adjusted)[5])
    at = replace(digits, alpha=alpha)
    assert at.significant.tolist() == (digits.pvalue_adjusted <= alpha).tolist()
    assert told_apart(at) >= 6


def test_best_and_ties(digits):
    tied = tied_names(digits)
    names = digits.leaderboard.names
    expect = [name for name in names if name == names[0] or (names[0], name) in tied]
    assert digits.best == tuple(expect)
    assert digits.tie_groups_complete
    for group in digits.tie_groups:
        assert all(pair in tied for pair in combinations(group, 2))
        outside = [n for n in names if n not in group]
        assert not any(all((n, g) in tied for g in group) for n in outside)
    assert digits.tie_groups[0][0] == names[0]


def tied_names(result):
    pairs = [
        (result.names[i], result.names[j])
        for (i, j), told in zip(result.pairs, result.significant, strict=True)
        if not told
    ]
    return {*pairs, *((b, a) for a, b in pairs)}


def test_pairs_that_were_not_tested_are_no_ties():
    y_true, preds = simulate(5)
    result = compare_all(y_true, preds, control="m4", alpha=1e-12)
    tied = tied_names(result)
    assert all("m4" in pair for pair in tied)
    for group in result.tie_groups:
        assert len(group) == 1 or "m4" in group
        assert len(group) <= 2
    best = compare_all(y_true, preds, pairs=[("m0", "m1")]).best
    assert best == ("m4",)


# Matrices and frames.


@pytest.mark.parametrize("field", FIELDS)
def test_matrices(digits, field):
    matrix = digits.matrix(field)
    values = getattr(digits, field)
    n = len(digits.names)
    assert matrix.shape == (n, n)
    assert matrix.dtype == values.dtype
    i, j = digits.pairs.T
    assert matrix[i, j].tolist() == values.tolist()
    if field == "difference":
        expect = -matrix
    else:
        partner = {"only_a": "only_b", "only_b": "only_a"}.get(field, field)
        expect = digits.matrix(partner)
    assert matrix.T.tolist() == expect.tolist()
    diagonal = 1 if field.startswith("pvalue") else 0
    assert np.diag(matrix).tolist() == [diagonal] * n


@pytest.mark.parametrize("field", FIELDS)
def test_matrices_with_pairs_that_were_not_tested(field):
    y_true, preds = simulate(4)
    result = compare_all(y_true, preds, pairs=[("m2", "m0"), (1, 3)])
    matrix = result.matrix(field)
    tested = np.zeros((4, 4), bool)
    tested[[2, 0, 1, 3], [0, 2, 3, 1]] = True
    empty = matrix[~tested & ~np.eye(4, dtype=bool)]
    if matrix.dtype.kind == "f":
        assert np.isnan(empty).all()
    else:
        assert empty.tolist() == [False if field == "significant" else -1] * 8
    assert matrix[2, 0] == getattr(result, field)[0]
    everything = compare_all(y_true, preds, adjust="none")
    if field != "significant" and not field.endswith("adjusted"):
        assert matrix[tested].tolist() == everything.matrix(field)[tested].tolist()


def test_unknown_matrices_list_the_known_ones(digits):
    with pytest.raises(
        ValueError, match=r"^field must be one of .*, got 'p'$"
    ) as caught:
        digits.matrix("p")
    assert all(repr(field) in str(caught.value) for field in FIELDS)


COLUMNS = [
    *["model_a", "model_b", "only_a", "only_b", "difference", "low", "high"],
    *["statistic", "pvalue", "pvalue_adjusted", "significant"],
]


def test_columns(digits):
    columns = digits.columns()
    assert list(columns) == COLUMNS
    i, j = digits.pairs.T
    assert columns["model_a"] == [digits.names[k] for k in i]
    assert columns["model_b"] == [digits.names[k] for k in j]
    assert np.array_equal(
        np.stack([columns["low"], columns["high"]], 1), digits.interval
    )
    for name in ("only_a", "only_b", "difference", *COLUMNS[7:]):
        assert columns[name].tolist() == getattr(digits, name).tolist()


@pytest.mark.parametrize(
    ("library", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_frames(digits, library, kind):
    frame = digits.to_frame(library)
    assert isinstance(frame, kind)
    rows = {
        "pandas": lambda: frame.to_dict("list"),
        "polars": lambda: frame.to_dict(as_series=False),
        "pyarrow": frame.to_pydict if library == "pyarrow" else None,
    }[library]()
    assert list(rows) == COLUMNS
    for name, values in digits.columns().items():
        assert list(rows[name]) == list(values), name
    assert type(digits.to_frame()) is pd.DataFrame


def test_unknown_and_absent_frames(digits, monkeypatch):
    with pytest.raises(ValueError, match=r"^library must be one of .*, got 'dask'$"):
        digits.to_frame("dask")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs polars: pip install polars$"):
        digits.to_frame("polars")


@pytest.mark.parametrize("options", [{}, {"control": 0}, {"alpha": np.float64(0.01)}])
def test_a_dictionary_is_ready_for_json(options):
    result = compare_all(*load_digits(), **options)
    told = result.to_dict()
    again = json.loads(json.dumps(told, allow_nan=False))
    assert again == told
    assert told["leaderboard"]["model"] == list(result.leaderboard.names)
    assert told["leaderboard"]["accuracy"] == result.leaderboard.score.tolist()
    assert told["pairs"]["pvalue"] == result.pvalue.tolist()
    assert list(told["pairs"]) == COLUMNS
    assert told["best"] == list(result.best)
    assert told["tie_groups"] == [list(group) for group in result.tie_groups]
    assert (told["n_samples"], told["adjust"]) == (899, "holm")


def test_nan_becomes_none_in_a_dictionary(digits):
    pvalue = digits.pvalue.copy()
    pvalue[3] = np.nan
    told = replace(digits, pvalue=pvalue).to_dict()
    assert told["pairs"]["pvalue"][3] is None
    assert told["pairs"]["pvalue"][2] == pvalue[2]
    json.dumps(told, allow_nan=False)


# Printing.


@pytest.mark.parametrize("n_models", [2, 10, 60])
def test_printing(n_models):
    result = compare_all(*simulate(n_models))
    text = str(result)
    n_pairs = n_models * (n_models - 1) // 2
    assert f"{n_models} models on 400 samples, {n_pairs} pairs, " in text
    assert f"{told_apart(result)} told apart." in text
    assert f"Best: {result.best[0]}" in text
    board = text[text.index("Leaderboard") : text.index("Who beats whom")]
    rows = [line for line in board.splitlines() if re.match(r"^ +\d+ ", line)]
    assert len(rows) == min(n_models, 20)
    for row, name in zip(rows, result.leaderboard.names, strict=False):
        assert re.search(rf"\b{name}\b", row)
    assert ("... and 40 more models." in board) == (n_models == 60)
    assert max(map(len, text.splitlines())) < 250
    page = result._repr_html_()
    assert page.count("<tr>") == 2 * (min(n_models, 20) + 1)
    assert result.rule in text
    assert result.rule in page.replace("&#x27;", "'")


def test_a_single_winner_and_a_single_tie_are_told():
    y_true, preds = simulate(2, n=2000)
    assert "Best: m1." in str(compare_all(y_true, preds))
    same = {"x": preds["m0"], "y": preds["m0"]}
    assert "Best: x, not told apart from y." in str(compare_all(y_true, same))


def test_too_many_ties_are_told(digits, monkeypatch):
    result = compare_all(*simulate(60, n=30))
    if result.tie_groups_complete:
        monkeypatch.setattr("fastcmp.ranking._MAX_GROUPS", 0)
        result = compare_all(*simulate(60, n=30))
    assert not result.tie_groups_complete
    assert "runs of the ranking" in str(result)
    assert result.to_dict()["tie_groups_complete"] is False


NASTY = ["<b>&'\"", "a|b\\c", "%x_{y}$", "tab\there"]


def test_names_are_escaped_in_html():
    result = compare_all(*simulate(4, names=NASTY))
    page = result._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;&#x27;&quot;" in page


def test_names_with_line_breaks_keep_the_table_in_shape():
    names = ["one", "two\nlines", "three"]
    text = str(compare_all(*simulate(3, names=names)))
    plain = str(compare_all(*simulate(3, names=["one", "two lines", "three"])))
    assert len(text.splitlines()) == len(plain.splitlines())


def test_dropped_samples_are_told():
    y_true = ["a", "b", None, "c", "a", "b"]
    preds = {"m": ["a", "b", "a", "a", "b", "b"], "k": ["b", "b", "a", "c", "a", "b"]}
    text = str(compare_all(y_true, preds, classes=["a", "b"]))
    assert "1 samples without a true label were dropped." in text
    assert "1 samples of other classes were dropped." in text


# The record itself.


def test_records_are_frozen_and_can_be_copied(digits):
    with pytest.raises(FrozenInstanceError):
        digits.pvalue = None
    for other in (copy.deepcopy(digits), pickle.loads(pickle.dumps(digits))):
        assert str(other) == str(digits)
        assert other.to_dict() == digits.to_dict()


def test_two_records_can_be_compared(digits):
    again = compare_all(*load_digits())
    assert (digits == again) in (True, False)  # and not an error of NumPy's
    assert digits != 3
