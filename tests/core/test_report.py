"""Text, markdown, LaTeX, HTML and CSV of tables, with names of any kind."""

import csv
import io
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.core.render import _width, to_csv, to_html, to_latex, to_markdown, to_text
from fastcmp.core.sections import Section, format_interval, format_pvalue

TABLE = Section(
    title="Scores",
    text=("What is shown.",),
    columns=("rank", "model", "p", "interval"),
    rows=(
        ("1", "svm", "0.5", "[-0.10, +2.00]"),
        ("10", "a longer name", "<0.001", "[+0.00, +11.00]"),
        ("", "k", "", ""),
    ),
    notes=("A note.",),
)
NASTY = "100% of a_b & {c} | $d^2 #~\\ *e* `f` <g>"


def table_of(*cells):
    return Section(columns=tuple("abcdefgh"[: len(cells)]), rows=(cells,))


def test_columns_of_text_are_aligned():
    assert to_text([TABLE]).split("\n") == [
        "Scores",
        "What is shown.",
        "  rank  model               p         interval",
        "     1  svm               0.5   [-0.10, +2.00]",
        "    10  a longer name  <0.001  [+0.00, +11.00]",
        "        k",
        "A note.",
    ]


def test_sections_of_text_are_apart():
    text = to_text([Section(title="One", text=("x", "y")), Section(text=("z",))])
    assert text == "One\nx\ny\n\nz"
    assert to_text([]) == ""


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        (("1", "-2", "+0.5", ".5", "[0, 1]", "<0.1"), True),
        (("1", "x"), False),
        (("1", "", "2"), True),
        (("", ""), False),
        ((), False),
    ],
)
def test_numbers_are_aligned_to_the_right(cells, numeric):
    section = Section(columns=("a",), rows=tuple((cell,) for cell in cells))
    assert section.is_numeric(0) is numeric


@pytest.mark.parametrize(
    ("pvalue", "text"),
    [
        (float("nan"), "-"),
        (0.0, "0.0e+00"),
        (5e-324, "4.9e-324"),
        (2.13e-9, "2.1e-09"),
        (0.00099999, "1.0e-03"),
        (0.001, "0.001"),
        (0.0434, "0.043"),
        (0.99949, "0.999"),
        (0.9995, "1"),
        (1.0, "1"),
    ],
)
def test_pvalues(pvalue, text):
    assert format_pvalue(pvalue) == text
    assert format_pvalue(np.float64(pvalue)) == text


def test_intervals():
    assert format_interval(-0.5, 2, digits=2) == "[-0.50, 2.00]"
    assert format_interval(-0.5, 2, digits=1, sign="+") == "[-0.5, +2.0]"
    assert format_interval(0, float("inf"), digits=1) == "[0.0, inf]"


def test_markdown():
    assert to_markdown([TABLE]).split("\n") == [
        "### Scores",
        "",
        "What is shown.",
        "",
        "| rank | model | p | interval |",
        "| ---: | --- | ---: | ---: |",
        "| 1 | svm | 0.5 | [-0.10, +2.00] |",
        r"| 10 | a longer name | \<0.001 | [+0.00, +11.00] |",
        "|  | k |  |  |",
        "",
        "A note.",
    ]


def test_markdown_escapes():
    line = to_markdown([table_of(NASTY, "two\nlines")]).splitlines()[-1]
    escaped = r"100% of a\_b \& {c} \| $d^2 #\~\\ \*e\* \`f\` \<g>"
    assert line == rf"| {escaped} | two\\nlines |"
    assert to_markdown([Section(text=("*x*",), notes=("_y_",))]) == "\\*x\\*\n\n\\_y\\_"
    assert to_markdown([Section(title="a\n# b|c")]).count("\n") == 0


def test_latex():
    text = to_latex([TABLE])
    assert text.split("\n") == [
        r"\begin{table}",
        r"\caption{Scores. What is shown. A note.}",
        r"\begin{tabular}{rlrr}",
        r"\toprule",
        r"rank & model & p & interval \\",
        r"\midrule",
        r"1 & svm & 0.5 & [-0.10, +2.00] \\",
        r"10 & a longer name & \textless{}0.001 & [+0.00, +11.00] \\",
        r" & k &  &  \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_latex_escapes():
    row = to_latex([table_of(NASTY)]).split("\\midrule\n")[1].split("\n")[0]
    assert row == (
        r"100\% of a\_b \& \{c\} | \$d\textasciicircum{}2 \#\textasciitilde{}"
        r"\textbackslash{} *e* `f` \textless{}g\textgreater{} \\"
    )
    assert r"50 \%" in to_latex([Section(title="50 %", columns=("a",), rows=(("1",),))])


def test_latex_of_a_first_cell_that_opens_a_bracket():
    # After \\ or \midrule, LaTeX reads a bracket as an optional argument.
    section = Section(columns=("a",), rows=(("[0, 1]",), ("[1, 2]",)))
    for line in to_latex([section]).split("\\midrule\n")[1].split("\n")[:2]:
        assert not line.startswith("[")


@pytest.mark.parametrize("name", ["a\nb", "a\r\nb", "a\n\n\\input{x}"])
def test_latex_comments_and_cells_are_one_line_each(name):
    comment = to_latex([Section(title=name, text=(name,))])
    assert all(line.startswith("%") for line in comment.splitlines())
    assert len(comment.splitlines()) == 2
    cells = to_latex([table_of(name, "1")]).splitlines()
    assert len(cells) == len(to_latex([table_of("a b", "1")]).splitlines())


def test_text_cells_are_one_line_each():
    lines = to_text([table_of("a\nb", "1")]).splitlines()
    assert len(lines) == 2


class Reader(HTMLParser):
    """Collect what a browser would show, and check that tags are closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.cells, self.said = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, _attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            (self.cells if self.open[-1] in ("td", "th") else self.said).append(data)


def test_html():
    page = to_html([TABLE, Section(title=NASTY, text=(NASTY,), notes=(NASTY,))])
    read = Reader(page)
    assert read.said == ["Scores", "What is shown.", "A note.", NASTY, NASTY, NASTY]
    cells = [*TABLE.columns, *(cell for row in TABLE.rows for cell in row if cell)]
    assert read.cells == cells
    assert page.count("text-align: right") == 3 * 4
    assert "<g>" not in page
    assert Reader(to_html([table_of(NASTY)])).cells == ["a", NASTY]


def test_csv():
    columns = {
        "model": ["svm", 'q"uote', "a,b", "two\nlines", ""],
        "accuracy": np.array([0.1, 1 / 3, 1e-300, np.nan, 1.0]),
        "correct": np.array([1, 2**62, 0, -1, 5]),
        "differs": np.array([True, False, True, False, True]),
    }
    text = to_csv(columns)
    assert "\r" not in text
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == list(columns)
    names, accuracy, correct, differs = zip(*rows, strict=True)
    assert list(names) == columns["model"]
    np.testing.assert_array_equal(list(map(float, accuracy)), columns["accuracy"])
    assert list(map(int, correct)) == columns["correct"].tolist()
    assert list(differs) == ["True", "False", "True", "False", "True"]
    assert to_csv({"a": [], "b": []}) == "a,b\n"


def test_csv_columns_must_be_of_one_length():
    with pytest.raises(ValueError, match=r"is longer|is shorter"):
        to_csv({"a": [1, 2], "b": [1]})


WIDE = Section(
    title="A title of some words",
    text=("A sentence that is too long for a line.", "https://example.org/a/long/address"),
    columns=("model", "first accuracy", "beats"),
    rows=(("svm", "98.00%", "knn, tree, forest, bayes"), ("\u4e2d\u6587", "9.00%", "")),
)


def test_text_is_wrapped_in_its_cell():
    assert to_text([WIDE], 45).split("\n") == [
        "A title of some words",
        "A sentence that is too long for a line.",
        "https://example.org/a/long/address",
        "  model  first accuracy  beats",
        "  svm            98.00%  knn, tree, forest,",
        "                         bayes",
        "  \u4e2d\u6587            9.00%",
    ]


def test_headings_of_numbers_are_wrapped_too():
    assert to_text([WIDE], 28).split("\n")[4:] == [
        "  model     first  beats",
        "         accuracy",
        "  svm      98.00%  knn,",
        "                   tree,",
        "                   forest,",
        "                   bayes",
        "  \u4e2d\u6587      9.00%",
    ]


def test_columns_that_do_not_fit_are_continued_below():
    assert to_text([WIDE], 20).split("\n")[5:] == [
        "  model     first",
        "         accuracy",
        "  svm      98.00%",
        "  \u4e2d\u6587      9.00%",
        "",
        "  model  beats",
        "  svm    knn, tree,",
        "         forest,",
        "         bayes",
        "  \u4e2d\u6587",
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
