"""Text, markdown, LaTeX, HTML and CSV of tables, with names of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.core.render import _width, to_text
from fastcmp.core.sections import Section, format_pvalue

NASTY = "100% of a_b & {c} | $d^2 #~\\ *e* `f` <g>"


@pytest.mark.parametrize(
    ("pvalue", "text"),
    [
        *((float("nan"), "-"), (0.0, "0.0e+00"), (5e-324, "4.9e-324"), (2.13e-9, "2.1e-09")),
        *((0.00099999, "1.0e-03"), (0.001, "0.001"), (0.0434, "0.043"), (0.99949, "0.999")),
        *((0.9995, "1"), (1.0, "1")),
    ],
)
def test_pvalues(pvalue, text):
    assert format_pvalue(pvalue) == text
    assert format_pvalue(np.float64(pvalue)) == text


WIDE = Section(
    title="A title of some words",
    text=("A sentence that is too long for a line.", "https://example.org/a/long/address"),
    columns=("model", "first accuracy", "beats"),
    rows=(("svm", "98.00%", "knn, tree, forest, bayes"), ("\u4e2d\u6587", "9.00%", "")),
)


def test_text_is_wrapped_in_its_cell():
    assert to_text([WIDE], 45).split("\n") == [
        *("A title of some words", "A sentence that is too long for a line."),
        *("https://example.org/a/long/address", "  model  first accuracy  beats"),
        *("  svm            98.00%  knn, tree, forest,", "                         bayes"),
        "  \u4e2d\u6587            9.00%",
    ]


def test_columns_that_do_not_fit_are_continued_below():
    assert to_text([WIDE], 20).split("\n")[5:] == [
        *("  model     first", "         accuracy", "  svm      98.00%"),
        *("  \u4e2d\u6587      9.00%", "", "  model  beats", "  svm    knn, tree,"),
        *("         forest,", "         bayes", "  \u4e2d\u6587"),
    ]


def test_words_are_broken_where_nothing_else_helps():
    section = Section(columns=("m", "n"), rows=(("x" * 50, "1" * 50),))
    lines = to_text([section], 40).split("\n")
    assert max(map(len, lines)) <= 40
    assert [sum(line.count(mark) for line in lines) for mark in "x1"] == [50, 50]


@given(
    st.lists(st.tuples(*[st.text("ab \u4e2d1-", max_size=70)] * 4), min_size=1, max_size=5),
    st.integers(40, 200),
)
def test_no_letter_is_lost_and_no_line_too_wide(rows, width):
    section = Section(columns=("k", "one", "two", "three"), rows=tuple(rows))
    lines = to_text([section], width).split("\n")
    assert all(_width(line) <= width for line in lines)
    first = "".join(row[0] for row in rows)
    n_more = "".join(lines).count("k") - 1  # tables that repeat the first column
    for letter in "ab\u4e2d1-":
        once = to_text([section]).count(letter)
        assert "".join(lines).count(letter) == once + n_more * first.count(letter)
