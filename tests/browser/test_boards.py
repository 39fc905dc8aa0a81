"""Many models in the browser: sorted, searched, the map, and pairs in full."""

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import fastcmp

HOSTILE = "<script>alert(1)</script>"
LONG = "a_very_long_name_" * 15
NAMES = (HOSTILE, LONG + "1", LONG + "2", "\u0645\u0648\u062f\u0644", "\U0001f680", "a&b")


def many(m, n=1000, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    wrong = rng.random((m, n)) < np.linspace(0.1, 0.3, m)[:, None]
    return y, np.where(wrong, (y + 1) % 5, y)


@pytest.fixture(scope="module")
def digits():
    return fastcmp.compare_all(*fastcmp.load_digits(), margin=0.01)


@pytest.fixture(scope="module")
def sixty():
    return fastcmp.compare_all(*many(60))


@pytest.fixture(scope="module")
def thousand():
    return fastcmp.compare_all(*many(1000, 5000), margin=0.01)


def click(browser, element):
    """Click what may have to be scrolled to."""
    browser.run("arguments[0].click()", element)


def when(browser, question, seconds=20):
    """Wait until something is true in the page."""
    return WebDriverWait(browser.driver, seconds).until(lambda _: browser.run(f"return {question}"))


def facts(browser):
    """The rows of the pair that is shown in full."""
    when(browser, "document.querySelector('dialog[open] table.pair')")
    cells = browser.texts("dialog[open] table.pair :is(th, td)")
    return dict(zip(cells[::2], cells[1::2], strict=True))


def number(text):
    return float(text.split()[0].replace("\u2212", "-").replace(",", ""))


class TestPairInFull:
    def test_numbers_are_those_of_the_record(self, browser, digits):
        browser.open({"": digits})
        order = digits.leaderboard.models
        columns = digits.columns()
        for row, column in ((0, 6), (9, 2)):
            pair = sorted((int(order[row]), int(order[column])))
            (k,) = np.flatnonzero((digits.pairs == pair).all(axis=1))
            cell = f"td[data-row='{row}'][data-column='{column}'] button"
            browser.run("document.querySelector(arguments[0]).click()", cell)
            found = facts(browser)
            assert found["First"] == digits.names[pair[0]]
            assert found["Second"] == digits.names[pair[1]]
            accuracy = number(found["accuracy of the first"].rstrip("%"))
            assert abs(accuracy - 100 * digits.accuracy[pair[0]]) < 6e-3
            assert number(found["Only the first is right"]) == digits.only_a[k]
            assert number(found["Only the second is right"]) == digits.only_b[k]
            difference = found["Difference of accuracy, first minus second"]
            assert abs(number(difference) - 100 * digits.difference[k]) < 6e-4
            low, high = map(number, found["95% CI"].split(" to "))
            ends = 100 * digits.interval[k]
            np.testing.assert_allclose([low, high], ends, atol=1.1e-3)
            p, adjusted = (
                number(found[name]) for name in ("p-value", "Adjusted p-value (Holm's procedure)")
            )
            assert np.isclose(p, digits.pvalue[k], rtol=0.05, atol=5.1e-5)
            assert np.isclose(adjusted, digits.pvalue_adjusted[k], rtol=0.05, atol=5.1e-5)
            says = found["With the margin, the first beside the second"]
            assert says == columns["decision"][k]
            counts = [int(x) for x in browser.texts("dialog table.two tbody td")]
            assert sum(counts) == digits.n_samples
            assert counts[0] + counts[1] == digits.correct[pair[0]]
            browser.find("dialog[open] button").click()
        browser.check()

    def test_by_keyboard(self, browser, digits):
        browser.open({"": digits})
        browser.run("document.querySelector('table.matrix button[tabindex=\"0\"]').focus()")
        active = browser.driver.switch_to.active_element
        active.send_keys(Keys.ARROW_RIGHT, Keys.NULL)
        active = browser.driver.switch_to.active_element
        active.send_keys(Keys.ARROW_DOWN)
        active = browser.driver.switch_to.active_element
        place = browser.run(
            "const cell = document.activeElement.parentNode.dataset;"
            "return [Number(cell.row), Number(cell.column)]"
        )
        assert place == [1, 2]
        active.send_keys(Keys.ENTER)
        names = digits.leaderboard.names
        found = facts(browser)
        assert {found["First"], found["Second"]} == {names[1], names[2]}
        browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        when(browser, "!document.querySelector('dialog[open]')")
        assert browser.run("return document.activeElement === arguments[0]", active)

    def test_from_two_lists(self, browser, digits):
        browser.open({"": digits})
        first, second = browser.find_all("form.choose select")
        button = browser.find("form.choose button")
        names = digits.leaderboard.names
        for field, name in ((first, names[3]), (second, names[3])):
            Select(field).select_by_visible_text(name)
        click(browser, button)
        assert browser.texts("form.choose .note") == ["Choose two models."]
        Select(second).select_by_visible_text(names[8])
        click(browser, button)
        found = facts(browser)
        assert {found["First"], found["Second"]} == {names[3], names[8]}
        browser.check()

    def test_hostile_names_stay_text(self, browser):
        y, preds = many(len(NAMES))
        result = fastcmp.compare_all(y, dict(zip(NAMES, preds, strict=True)))
        browser.open({"": result}, width=390)
        click(browser, browser.find_all("table.matrix button")[0])
        found = facts(browser)
        assert {found["First"], found["Second"]} <= set(NAMES)
        assert HOSTILE in browser.texts("table.board tbody th")
        assert browser.run("return document.documentElement.scrollWidth") <= 390
        assert browser.violations() == []
        browser.check()

    @pytest.mark.parametrize("keep", [5, "significant"])
    def test_a_pair_that_was_not_kept(self, browser, keep):
        result = fastcmp.compare_all(*many(12), keep=keep)
        browser.open({"": result})
        kept = {frozenset(pair) for pair in result.pairs.tolist()}
        order = result.leaderboard.models.tolist()
        row, column = next(
            (i, j) for i in range(12) for j in range(i + 1, 12)
            if frozenset((order[i], order[j])) not in kept
        )  # fmt: skip
        cell = f"td[data-row='{row}'][data-column='{column}'] button"
        browser.run("document.querySelector(arguments[0]).click()", cell)
        shown = {"First", "Second", "accuracy of the first", "accuracy of the second"}
        assert set(facts(browser)) == shown
        assert "not in this page" in browser.find("dialog[open]").text
        browser.check()


class TestMap:
    def test_points_are_the_decisions(self, browser, sixty):
        browser.open({"": sixty})
        when(browser, "document.querySelector('canvas').height > 200")
        ranked = np.ix_(sixty.leaderboard.models, sixty.leaderboard.models)
        decisions = sixty.decisions[ranked]
        canvas = browser.find("canvas")
        canvas.send_keys(Keys.NULL)
        code = """
            const canvas = document.querySelector('canvas'), n = arguments[0];
            const context = canvas.getContext('2d'), gutter = 170, head = 20;
            const side = canvas.width - (canvas.width - 44 >= 11 * n ? gutter : 44);
            const left = canvas.width - side;
            return arguments[1].map(([row, column]) => [...context.getImageData(
                left + (column + 0.5) * side / n, head + (row + 0.5) * side / n, 1, 1
            ).data].join());
        """
        places = [(5, 40), (40, 5), (10, 12), (12, 10), (30, 58), (58, 30), (59, 0)]
        colours = browser.run(code, 60, places)
        kinds = {}
        for (row, column), colour in zip(places, colours, strict=True):
            kinds.setdefault(colour, set()).add(int(decisions[row, column]))
        assert all(len(found) == 1 for found in kinds.values())
        assert len(kinds) == len({int(decisions[place]) for place in places}) == 3

    def test_keyboard(self, browser, sixty):
        browser.open({"": sixty})
        when(browser, "document.querySelector('canvas').height > 200")
        canvas = browser.find("canvas")
        canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "+", Keys.ARROW_DOWN)
        names = sixty.leaderboard.names
        said = browser.find(".readout").text
        assert f"{names[1]} minus {names[3]}" in said
        difference = sixty.matrix("difference")[
            sixty.leaderboard.models[1], sixty.leaderboard.models[3]
        ]
        assert f"{100 * difference:+.3f} percentage points" in said
        canvas.send_keys(Keys.ENTER)
        found = facts(browser)
        assert {found["First"], found["Second"]} == {names[1], names[3]}
        browser.check()

    @pytest.mark.parametrize(("dark", "width"), [(False, 390), (True, 1280)])
    def test_accessible(self, browser, sixty, dark, width):
        browser.open({"": sixty}, dark=dark, width=width)
        when(browser, "document.querySelector('canvas').height > 200")
        assert browser.violations() == []
        assert browser.run("return document.documentElement.scrollWidth") <= width
        browser.check()

    def test_a_pair_in_full_is_accessible(self, browser, digits):
        browser.open({"": digits})
        click(browser, browser.find_all("table.matrix button")[7])
        facts(browser)
        assert browser.violations() == []


class TestLeaderboard:
    def test_sorts_by_what_is_meant(self, browser, sixty):
        browser.open({"": sixty})
        heads = browser.texts("table.board thead th")
        ranks = heads.index("ranks")
        button = browser.find_all("table.board thead th")[ranks].find_element(
            "css selector", "button"
        )
        click(browser, button)
        click(browser, button)
        found = browser.texts(f"table.board tbody tr > :nth-child({ranks + 1})")
        lows = [int(text.split("-")[0]) for text in found]
        assert lows == sorted(lows, reverse=True)
        assert lows[0] > 20
        browser.check()

    def test_pictures_are_no_columns_to_sort(self, browser, sixty):
        browser.open({"": sixty})
        assert browser.find_all("th.drawn button") == []
        assert len(browser.find_all("th.drawn")) == 2

    def test_without_script(self, browser, digits):
        browser.open({"": digits}, script=False)
        text = browser.find("main").text
        for name in digits.names:
            assert name in text
        assert browser.find_all("table.matrix button") == []
        assert len(browser.find_all("table.matrix td[title]")) == 90

    def test_search_of_very_many(self, browser, monkeypatch):
        from fastcmp.report import boards

        monkeypatch.setattr(boards, "MOST_ROWS", 20)
        browser.open({"": fastcmp.compare_all(*many(60))})
        browser.find(".more input").send_keys("MODEL_5")
        assert "11 found" in browser.find(".more [role=status]").text
        found = browser.texts(".more tbody th")
        assert sorted(found) == sorted(["model_5", *(f"model_5{i}" for i in range(10))])
        browser.check()


class TestManyModels:
    def test_opens_in_two_seconds(self, browser, thousand):
        """Of the time that the page's thread works: other programs do not count."""
        call = browser.driver.execute_cdp_cmd
        call("Performance.enable", {"timeDomain": "threadTicks"})
        browser.open({"": thousand})
        when(browser, "document.querySelector('canvas').height > 200")
        metrics = call("Performance.getMetrics", {})["metrics"]
        call("Performance.disable", {})
        found = {metric["name"]: metric["value"] for metric in metrics}
        assert 0 < found["TaskDuration"] < 2
        browser.check()

    def test_a_pair(self, browser, thousand):
        browser.open({"": thousand})
        when(browser, "document.querySelector('canvas').height > 200")
        browser.find("canvas").send_keys("+", Keys.ARROW_RIGHT, Keys.ENTER)
        found = facts(browser)
        names = thousand.leaderboard.names
        assert {found["First"], found["Second"]} == {names[0], names[2]}
        browser.check()


def test_a_browser_that_cannot_unpack_says_so(browser, digits):
    driver, what = browser.driver, "ScriptToEvaluateOnNewDocument"
    source = {"source": "delete window.DecompressionStream"}
    added = driver.execute_cdp_cmd(f"Page.add{what}", source)
    try:
        browser.open({"": digits})
        assert "This browser is too old" in browser.find(".pairs .note").text
        assert not browser.find_all(".pairs form")
        assert len(browser.find_all("table.matrix td[data-row]")) == 90
        browser.check()
    finally:
        driver.execute_cdp_cmd(f"Page.remove{what}", added)
