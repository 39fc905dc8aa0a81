"""Many models in a report: the tables and pictures, and what is packed for scripts.

What is packed is unpacked here as boards.js does it, and compared with the record.
"""

import base64
import json
import zlib

import numpy as np
import pytest
from board_examples import EXAMPLES, many, record

from fastcmp.pairwise.decisions import BETTER, EVEN, TIED, UNTESTED, WORSE
from fastcmp.report import matrix
from fastcmp.report.matrix import matrix_of

KINDS = [TIED, BETTER, WORSE, EVEN, UNTESTED]
MIRRORED = {BETTER: WORSE, WORSE: BETTER}


def inflated(letters):
    return np.frombuffer(zlib.decompress(base64.b64decode(letters)), np.uint8)


def wholes(column):
    width = column["width"]
    planes = inflated(column["packed"]).reshape(width, -1).astype(np.int64)
    codes = sum(plane << (8 * k) for k, plane in enumerate(planes))
    known = codes != 256**width - 1
    return np.where(known, codes + column["least"], np.nan)


def unpacked(column):
    """Read a column, apart from stepped ones, as boards.js does."""
    codes = wholes(column)
    if column["kind"] == "words":
        return np.array(column["words"])[codes.astype(int)]
    if column["kind"] == "pvalue":
        small = codes - 10_000
        exponent = np.ceil(small / 90)
        leading = 10 + 90 * exponent - small
        parts = zip(np.nan_to_num(leading), np.nan_to_num(exponent), strict=True)
        tiny = [float(f"{m:.0f}e{-e - 1:.0f}") for m, e in parts]
        return np.where(codes > 10_000, tiny, codes / 10_000)
    if column["kind"] == "rounded":
        tens = 10 ** (column["digits"] - 1)
        size = np.abs(codes) - 1
        exponent = column["first"] + size // (9 * tens) - column["digits"] + 1
        number = np.sign(codes) * (size % (9 * tens) + tens) * 10.0**exponent
        return np.where(codes == 0, 0.0, number)
    return codes


def read(result):
    """The numbers that a page has of pairs, by the two models of the record."""
    data = json.loads(json.dumps(matrix.pair_data(result)))
    order = result.leaderboard.models
    keys = np.cumsum(wholes(data["keys"]).astype(int))
    low, high = np.divmod(keys, len(order))
    swapped = wholes(data["swapped"]).astype(bool)
    first, second = np.where(swapped, high, low), np.where(swapped, low, high)
    step = data["numbers"]["difference"]["step"]
    scores = np.array([np.nan if x is None else x for x in data["scores"]])
    gap = np.nan_to_num(scores[first] - scores[second])
    steps = wholes(data["numbers"]["difference"]) + np.floor(gap / step + 0.5)
    found = {"pairs": np.stack([order[first], order[second]], 1)}
    found["difference"] = steps * step
    for name in ("low", "high"):
        column = data["numbers"][name]
        found[name] = (np.nan_to_num(steps) + column["sign"] * wholes(column)) * step
    for row in data["rows"]:
        values = unpacked(row)
        if row.get("from") == "lesser":
            values = values + np.minimum(found["only_a"], found["only_b"])
        if row.get("from") == "correct":
            correct = np.array(data["correct"])
            values = values + found["only_a"] - (correct[first] - correct[second])
        found[row["name"]] = values
    return data, found


Y, PREDS = many(8)


@pytest.fixture(params=EXAMPLES)
def result(request):
    return record(request.param)


class TestPacked:
    @pytest.mark.parametrize("digits", [3, 4])
    def test_rounded(self, digits):
        rng = np.random.default_rng(digits)
        x = np.append(rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300), 0.0)
        found = unpacked(matrix.rounded(np.append(x, np.nan), digits))
        want = [float(f"{each:.{digits - 1}e}") for each in x]
        np.testing.assert_allclose(found[:-1], want, rtol=1e-12)
        assert np.isnan(found[-1])

    def test_pvalues(self):
        rng = np.random.default_rng(5)
        p = 10.0 ** -rng.uniform(0, 300, 500)
        p = np.append(p, [0.0, 1.0, 0.05, 1e-3, 9.99e-4, 5e-324, np.nextafter(1e-3, 0)])
        found = unpacked(matrix.pvalues(np.append(p, np.nan)))
        want = [float(f"{x:.1e}") if x < 1e-3 else round(x, 4) for x in p]
        np.testing.assert_allclose(found[:-1], want, rtol=1e-9)
        assert np.isnan(found[-1])

    @pytest.mark.parametrize("most", [1, 254, 255, 65534, 65535, 10**9])
    def test_whole(self, most):
        x = np.array([0, most, most // 2])
        known = np.array([True, True, False])
        found = wholes(matrix.whole(x - 7, known))
        np.testing.assert_array_equal(found, [-7, most - 7, np.nan])


class TestNumbers:
    def test_are_those_of_the_record(self, result):
        data, found = read(result)
        want = result.columns()
        where = {tuple(pair): k for k, pair in enumerate(result.pairs.tolist())}
        k = [where[tuple(pair)] for pair in found["pairs"].tolist()]
        assert sorted(k) == list(range(len(result.pairs)))
        step = data["numbers"]["difference"]["step"]
        for name in ("difference", "low", "high"):
            close = np.isclose(found[name], want[name][k], rtol=0, atol=0.501 * step)
            assert (close | (np.isnan(found[name]) & np.isnan(want[name][k]))).all()
        for row in data["rows"]:
            name = row["name"]
            if name == "decision_b":
                continue
            column = np.asarray(want[name])[k]
            if row["kind"] == "words":
                assert found[name].tolist() == column.tolist()
                continue
            tolerance = {"pvalue": {"rtol": 0.051, "atol": 5.1e-5}}
            limits = tolerance.get(row["kind"], {"rtol": 6e-4})
            np.testing.assert_allclose(found[name], column, **limits)

    def test_decisions(self, result):
        data = matrix.pair_data(result)
        order = result.leaderboard.models
        n = len(order)
        found = np.full((n, n), UNTESTED)
        codes = inflated(data["decisions"])
        rows, columns = np.triu_indices(n, 1)
        found[rows, columns] = np.array(KINDS)[codes]
        found[columns, rows] = [MIRRORED.get(x, x) for x in found[rows, columns]]
        np.testing.assert_array_equal(found, result.decisions[np.ix_(order, order)])

    def test_of_very_many_pairs_are_those_of_the_best(self, monkeypatch):
        result = record("accuracies")
        monkeypatch.setattr(matrix, "MOST_PAIRS", 11)
        data, found = read(result)
        assert data["best"] == 5
        assert len(found["pairs"]) == 10
        assert set(found["pairs"].ravel()) == set(result.leaderboard.models[:5])
        assert "among the 5 best models" in matrix_of(result).note


class TestMatrix:
    def test_cells(self, result):
        matrix = matrix_of(result)
        order = result.leaderboard.models
        for i, row in enumerate(matrix.cells):
            for j, cell in enumerate(row):
                if i == j:
                    assert cell is None
                    continue
                assert (cell.row, cell.column) == (i, j)
                decided = result.decisions[order[i], order[j]]
                words = {BETTER: "better", WORSE: "worse", TIED: "tied",
                         EVEN: "even", UNTESTED: "untested"}  # fmt: skip
                assert cell.kind == words[decided]

    def test_difference_of_row_and_column(self):
        result = record("accuracies")
        cell = matrix_of(result).cells[0][7]
        first, last = result.leaderboard.models[[0, 7]]
        want = result.matrix("difference")[first, last]
        assert cell.text == f"{100 * want:+.2f}"
        assert matrix_of(result).cells[7][0].text == f"{-100 * want:+.2f}"
