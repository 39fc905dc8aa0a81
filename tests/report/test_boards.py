"""Many models in a report: the tables and pictures, and what is packed for scripts.

What is packed is unpacked here as boards.js does it, and compared with the record.
"""

import base64
import json
import re
import zlib
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

import fastcmp
from fastcmp.pairwise.ranking import BETTER, EVEN, TIED, UNTESTED, WORSE
from fastcmp.report import boards, packing, pair_data
from fastcmp.report.matrix import matrix_of
from fastcmp.report.page import to_page
from fastcmp.report.rank_diagram import diagram_of
from fastcmp.report.subsets import subsets_of

KINDS = [TIED, BETTER, WORSE, EVEN, UNTESTED]
MIRRORED = {BETTER: WORSE, WORSE: BETTER}
NAMES = (
    *("<script>alert(1)</script>", "a" * 300, "same_beginning_" * 6 + "1"),
    *("same_beginning_" * 6 + "2", "\u0645\u0648\u062f\u0644", "\U0001f680 x"),
    *("to\u202eleft", "a&b\"'"),
)


def many(m, n=400, seed=1):
    """Labels and predictions of models from good to bad."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    wrong = rng.random((m, n)) < np.linspace(0.1, 0.5, m)[:, None]
    return y, np.where(wrong, (y + 1) % 5, y)


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
    """Give the numbers that a page has of pairs, by the two models of the record."""
    data = json.loads(json.dumps(pair_data.pair_data(result)))
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
VALUES = np.random.default_rng(2).normal(size=(6, 40)) * 1e-3
VALUES[1] = VALUES[0]
SCORES = np.random.default_rng(3).normal(size=(5, 9)).round(1)
COST = 1.0 - np.eye(5)
UNDEFINED = {"a": [0, 0, 1, 1], "b": [0, 0, 0, 0], "c": [0, 1, 1, 1]}
EXAMPLES = {
    "two": lambda: fastcmp.compare_all(Y, PREDS[:2]),
    "accuracies": lambda: fastcmp.compare_all(Y, PREDS),
    "chi-squared": lambda: fastcmp.compare_all(Y, PREDS, method="asymptotic"),
    "control": lambda: fastcmp.compare_all(Y, PREDS, control=3, margin=0.05),
    "margin": lambda: fastcmp.compare_all(Y, PREDS, margin=0.05, adjust="bh"),
    "some pairs": lambda: fastcmp.compare_all(Y, PREDS, pairs=[(5, 1), (1, 2), (7, 0)]),
    "significant": lambda: fastcmp.compare_all(Y, PREDS, keep="significant"),
    "best": lambda: fastcmp.compare_all(Y, PREDS, keep=3),
    "equal": lambda: fastcmp.compare_all(Y, [PREDS[0]] * 4),
    "undefined": lambda: fastcmp.compare_all([0, 0, 1, 1], UNDEFINED, metric="markedness"),
    "means": lambda: fastcmp.compare_means(VALUES),
    "far means": lambda: fastcmp.compare_means(VALUES * 1e9),
    "tasks": lambda: fastcmp.compare_datasets(SCORES, method="wilcoxon"),
    "ranks": lambda: fastcmp.compare_datasets(SCORES, method="nemenyi"),
    "costs": lambda: fastcmp.compare_all(Y, PREDS, test="cost", cost=COST),
}


@cache
def record(name):
    return EXAMPLES[name]()


@pytest.fixture(params=EXAMPLES)
def result(request):
    return record(request.param)


class Page(HTMLParser):
    """Tags of a page, and the text of elements that are asked for."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.data = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


class TestPacked:
    @pytest.mark.parametrize("digits", [3, 4])
    def test_rounded(self, digits):
        rng = np.random.default_rng(digits)
        x = np.append(rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300), 0.0)
        found = unpacked(packing.rounded(np.append(x, np.nan), digits))
        want = [float(f"{each:.{digits - 1}e}") for each in x]
        np.testing.assert_allclose(found[:-1], want, rtol=1e-12)
        assert np.isnan(found[-1])

    def test_pvalues(self):
        rng = np.random.default_rng(5)
        p = 10.0 ** -rng.uniform(0, 300, 500)
        p = np.append(p, [0.0, 1.0, 0.05, 1e-3, 9.99e-4, 5e-324, np.nextafter(1e-3, 0)])
        found = unpacked(packing.pvalues(np.append(p, np.nan)))
        want = [float(f"{x:.1e}") if x < 1e-3 else round(x, 4) for x in p]
        np.testing.assert_allclose(found[:-1], want, rtol=1e-9)
        assert np.isnan(found[-1])

    @pytest.mark.parametrize("most", [1, 254, 255, 65534, 65535, 10**9])
    def test_whole(self, most):
        x = np.array([0, most, most // 2])
        known = np.array([True, True, False])
        found = wholes(packing.whole(x - 7, known))
        np.testing.assert_array_equal(found, [-7, most - 7, np.nan])

    def test_nothing(self):
        assert wholes(packing.whole(np.zeros(0, np.int64))).size == 0
        assert np.isnan(unpacked(packing.rounded(np.array([np.nan]), 4))).all()


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
        data = pair_data.pair_data(result)
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
        monkeypatch.setattr(pair_data, "MOST_PAIRS", 11)
        data, found = read(result)
        assert data["best"] == 5
        assert len(found["pairs"]) == 10
        assert set(found["pairs"].ravel()) == set(result.leaderboard.models[:5])
        assert "among the 5 best models" in matrix_of(result).note


class TestBoard:
    def test_rows_are_the_leaderboard(self, result):
        if result.control is not None:
            return
        (board,) = [
            block for block in boards.blocks_of_pairs(result) if block.title == "Leaderboard"
        ]
        assert tuple(row[1] for row in board.section.rows) == result.leaderboard.names
        assert board.values[0] == tuple(result.leaderboard.rank.tolist())
        for picture in board.pictures.values():
            assert len(picture.bars) == len(result.names)
            for bar in picture.bars:
                place = [float((x or "nan").rstrip("%")) for x in (bar.low, bar.point)]
                assert not place[1] < place[0]

    def test_control(self):
        result = record("control")
        board = boards.blocks_of_pairs(result)[1]
        assert board.title == f"Against {result.control}"
        assert board.section.rows[0][0] == result.control
        assert board.section.columns[-1] == "decision"
        (picture,) = board.pictures.values()
        assert [kind for _, kind in picture.lines] == ["zero", "margin", "margin"]
        kinds = {row[-2]: bar.kind for row, bar in zip(
            board.section.rows, picture.bars, strict=True)}  # fmt: skip
        assert kinds["better"] == "best"
        assert kinds["worse"] == "worse"

    def test_very_many_models_are_searched(self, monkeypatch):
        monkeypatch.setattr(boards, "MOST_ROWS", 5)
        board = boards.blocks_of_pairs(record("accuracies"))[1]
        assert len(board.section.rows) == 5
        assert len(board.more) == 3
        page = to_page({"": record("accuracies")})
        assert "Find any of the 8 models" in page

    def test_untested_models_are_neither_best_nor_worse(self):
        result = record("some pairs")
        (board,) = [x for x in boards.blocks_of_pairs(result) if x.title == "Leaderboard"]
        kinds = {
            row[1]: bar.kind
            for row, bar in zip(board.section.rows, board.pictures[3].bars, strict=True)
        }
        assert {name for name, kind in kinds.items() if kind == "untested"} == {
            result.names[i] for i in (3, 4, 6)
        }


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

    def test_many_models_have_a_map(self):
        matrix = matrix_of(fastcmp.compare_all(*many(21)))
        assert matrix.cells == ()
        assert len(matrix.data["names"]) == 21


class TestDiagramAndSubsets:
    def test_bars_are_the_groups(self):
        result = record("accuracies")
        groups = [", ".join(group) for group in result.tie_groups if len(group) > 1]
        assert [bar.names for bar in diagram_of(result).bars] == groups
        assert [row[2] for row in subsets_of(result).section.rows] == [
            ", ".join(group) for group in result.tie_groups
        ]

    def test_critical_difference(self):
        result = record("ranks")
        diagram = diagram_of(result)
        low, high, text = diagram.critical
        assert text == f"CD = {result.critical_difference:.3g}"
        places = np.sort([float(re.match(r"M([\d.]+)", x.path)[1]) for x in diagram.names])
        ranks = np.sort(-result.mean_rank)
        per_rank = (places[-1] - places[0]) / (ranks[-1] - ranks[0])
        length = (float(high) - float(low)) / per_rank
        assert abs(length - result.critical_difference) < 0.02

    def test_not_of_two_nor_of_undefined_scores(self):
        assert diagram_of(record("two")) is None
        assert diagram_of(record("undefined")) is None

    def test_too_many_groups_are_cut(self):
        result = fastcmp.compare_all(*many(90))
        rows = subsets_of(result).section.rows
        assert len(result.tie_groups) > 26
        assert len(rows) == 12
        assert "more groups" in subsets_of(result).section.notes[0]

    def test_long_names_stay_apart(self):
        """Those that differ in the middle, too, which is where they are cut."""
        y, preds = many(9)
        names = [f"organisation/some-long-model-name-{i}B-instruct-version-1" for i in range(9)]
        result = fastcmp.compare_all(y, dict(zip(names, preds, strict=True)))
        diagram = diagram_of(result)
        assert len({name.text.rpartition(" ")[0] for name in diagram.names}) == 9
        assert diagram.title == "Accuracy and ties"
        assert diagram_of(record("ranks")).title == "Critical difference diagram"
        listed = ", ".join(row[2] for row in subsets_of(result).section.rows).split(", ")
        assert set(listed) == set(names)

    def test_the_best_of_many_are_listed_once_and_whole(self):
        y, preds = many(60, n=150)
        names = [f"org/model-{i}B-it" for i in range(60)]
        result = fastcmp.compare_all(y, dict(zip(names, preds, strict=True)))
        assert len(result.best) > 8
        lead = to_page({"": result}).partition("Leaderboard</h")[0].rpartition("</nav>")[2]
        for name in result.best[:5]:
            assert lead.count(f'<span class="name">{name}') == 1
            assert lead.count(name) == 1


class TestPage:
    def test_without_any_answer(self):
        result = record("undefined")
        assert result.n_pairs == 0
        assert "none of 3 pairs tested" in str(result)
        assert "No test has an answer: which model is better is not known." in to_page({"": result})

    def test_each_record_has_one(self, result):
        text = to_page({"": result})
        assert text == to_page({"": result})
        page = Page(text)
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        assert not [attrs for _, attrs in page.tags if "style" in attrs]
        for name in result.names:
            assert name in " ".join(page.texts)

    @pytest.mark.parametrize("control", [None, 0])
    def test_names_are_text(self, control):
        y, preds = many(len(NAMES))
        plain = to_page({"": fastcmp.compare_all(y, preds, control=control)})
        named = fastcmp.compare_all(y, dict(zip(NAMES, preds, strict=True)), control=control)
        text = to_page({"": named})
        tags = [
            [tag for tag, given in Page(page).tags if dict(given).get("class") != "name"]
            for page in (text, plain)
        ]
        assert tags[0] == tags[1]
        assert "\u202e" not in text
        assert "<script>alert" not in text

    @pytest.mark.full
    @pytest.mark.parametrize("margin", [None, 0.01])
    def test_size(self, margin):
        result = fastcmp.compare_all(*many(1000, 10_000), margin=margin)
        assert len(to_page({"": result}).encode()) <= 5_000_000
