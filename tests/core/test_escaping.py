"""Names and labels are data: what is shown of them is text, and nothing else."""

import csv
import html
import io
import re
import unicodedata
import warnings
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastcmp
from fastcmp import stream
from fastcmp.cli import main
from fastcmp.core.escaping import visible
from fastcmp.core.render import to_html, to_latex, to_markdown, to_text
from fastcmp.core.sections import Section

NASTY = "a\x1b[31m\u202eb\u2066\n|c\r\t\x85\u2028\u2029\x00\x9b\ud800\u200b*`<$x$"
KNOWN = {"div", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "small"}
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
MARKS = "*[]|\\`<&$_{}~#-+>:\n\r\x1b\u202e1.) "
names = st.text(max_size=12) | st.text(MARKS, max_size=6)
any_name = (given(names), example(NASTY), example("* x"), example(" [x"), example("_x"))


def with_names(test):
    for decorate in any_name:
        test = decorate(test)
    return test


def is_clean(text):
    return not any(unicodedata.category(letter) in UNSEEN for letter in text.replace("\n", ""))


def sections(name):
    return [
        Section(
            title=f"{name} and {name}",
            text=(name, f"{name} is better."),
            columns=("rank", name),
            rows=(("1", name), (name, "2"), (name, name)),
            notes=(name,),
        )
    ]


@with_names
def test_one_line_without_what_a_terminal_obeys(name):
    shown = visible(name)
    assert is_clean(shown)
    assert "\n" not in shown
    assert shown == visible(shown)
    if is_clean(name) and "\n" not in name:
        assert shown == name
    kept = "".join(x for x in name if unicodedata.category(x) not in UNSEEN)
    assert all(letter in shown for letter in kept)


@with_names
def test_text_has_a_line_a_row(name):
    text = to_text(sections(name))
    assert is_clean(text)
    assert text.count("\n") == 7


@with_names
def test_markdown_has_a_row_a_row(name):
    text = to_markdown(sections(name))
    assert is_clean(text)
    lines = text.split("\n")
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 5
    for row in rows:  # what is not escaped cuts cells
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert lines[0].startswith("### ")
    for line in (lines[2], lines[-1]):
        assert re.match(r"\s*([-+#>=]|\d+[.)])", line) is None


@with_names
def test_latex_has_a_row_a_row(name):
    text = to_latex(sections(name))
    assert is_clean(text)
    lines = text.split("\n")
    assert len(lines) == 12
    for before, line in pairwise(lines):
        if before.endswith((r"\\", "rule")):
            assert not line.lstrip().startswith(("*", "["))
    comment = to_latex([Section(title=name, text=(name, "x"))])
    assert all(line.startswith("% ") for line in comment.split("\n"))


@with_names
def test_html_has_a_cell_a_name(name):
    text = to_html(sections(name))
    assert is_clean(text)
    tags, cells = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, _):
            tags.append(tag)

    Reader().feed(text)
    assert tags.count("td") == 6
    assert set(tags) <= KNOWN
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text)
    assert [html.unescape(cell) for cell in cells][1] == visible(name)


def labels(name):
    y_true = np.array([0, 1] * 20)
    return y_true, {name: y_true, "b": 1 - y_true, "c": np.roll(y_true, 7) * y_true}


@pytest.mark.parametrize("render", [to_text, to_markdown, to_latex, to_html])
def test_records(render):
    y_true, preds = labels(NASTY)
    scores = {name: column + 0.5 * y_true for name, column in preds.items()}
    records = [
        fastcmp.compare_all(y_true, preds),
        fastcmp.delong(y_true, scores),
        fastcmp.cochrans_q(y_true, preds),
        fastcmp.compare_predictions(y_true, preds),
        fastcmp.classification_table([NASTY, "n"] * 9, ["n"] * 18, positive=NASTY),
    ]
    for record in records:
        assert is_clean(render(record.sections()))
        assert is_clean(str(record))
        assert is_clean(repr(record))


def test_records_keep_names():
    y_true, preds = labels(NASTY)
    scores = {name: column + 0.5 * y_true for name, column in preds.items()}
    for result in (
        fastcmp.compare_all(y_true, preds),
        fastcmp.compare_all(y_true, preds, test="cost", cost=1 - np.eye(2)),
        fastcmp.compare_predictions(y_true, preds),
        fastcmp.cochrans_q(y_true, preds),
        fastcmp.delong(y_true, scores),
        stream.PairCounts().update(y_true, preds),
        stream.LabelCounts().update(y_true, preds),
        stream.ScoreCounts().update(y_true, scores),
    ):
        assert result.names[0] == NASTY


WRONG = {
    "length": lambda y, m: fastcmp.compare_all(y, m | {NASTY: y[:3]}),
    "kind": lambda y, m: fastcmp.compare_all(y, m | {NASTY: y.astype(str)}),
    "missing": lambda y, m: fastcmp.compare_all(y, m | {NASTY: [None] * y.size}),
    "shape": lambda y, m: fastcmp.compare_all(y, m | {NASTY: np.zeros((40, 2))}),
    "control": lambda y, m: fastcmp.compare_all(y, m, control="z"),
    "itself": lambda y, m: fastcmp.compare_all(y, m, pairs=[(NASTY, NASTY)]),
    "twice": lambda y, m: fastcmp.compare_all(y, m, pairs=[(NASTY, "b")] * 2),
    "scores": lambda y, m: fastcmp.delong(y, m | {NASTY: [0.5]}),
    "NaN": lambda y, m: fastcmp.delong(y, m | {NASTY: np.full(y.size, np.nan)}),
    "text": lambda y, m: fastcmp.delong(y, m | {NASTY: ["a"] * y.size}),
    "model": lambda y, m: fastcmp.delong(y, m).compare("z", "b"),
    "stream": lambda y, m: stream.PairCounts().update(y, m | {NASTY: y[:3]}),
    "blocks": lambda y, m: stream.ScoreCounts().update(y, m | {NASTY: [0.5]}),
    "positive": lambda y, _: fastcmp.auc([NASTY, "b"] * 20, y, positive="z"),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors(what):
    with pytest.raises((ValueError, TypeError)) as caught:
        WRONG[what](*labels(NASTY))
    assert is_clean(str(caught.value))
    assert "\n" not in str(caught.value)


COLUMN = "a\x1b[31m\u202eb\n|c"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    rows = "".join(f"{i % 2},{i % 2},{(i + i // 3) % 2}\n" for i in range(60))
    path.write_text(f'y_true,"{COLUMN}",b\n{rows}', newline="")
    return path


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "json", "csv"])
def test_commands_show_names_and_files_keep_them(file, capfd, form):
    assert main(["compare", str(file), "--format", form]) == 0
    out, err = capfd.readouterr()
    assert is_clean(err)
    if form == "csv":
        names = {row["model"] for row in csv.DictReader(io.StringIO(out))}
        assert COLUMN in names
    else:
        assert is_clean(out)
        assert COLUMN.split("\x1b", maxsplit=1)[0] in out


def test_commands_draw_names_on_a_terminal(file, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")  # rich colours nothing
    assert main(["compare", str(file)]) == 0
    assert is_clean(capsys.readouterr().out)


def test_commands_name_them_in_errors(file, tmp_path, capfd):
    other = tmp_path / "bad\x1b[31m\n.csv"
    for words in (
        [str(file), "--target", "\x1b[31mz"],
        [str(file), "--control", "z"],
        [str(other)],
        [str(file), "--alpha", "\x1b[31m"],
    ):
        try:
            code = main(["compare", *words])
        except SystemExit as stop:
            code = stop.code
        err = capfd.readouterr().err
        assert (code, err.count("\n")) == (64, 1)
        assert is_clean(err)


def test_pictures_draw_names_as_they_are(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    from fastcmp import plot

    for name in (NASTY, "_x", "$\\frac", "a$b$c", "$$"):
        y_true, preds = labels(name)
        scores = {key: column + 0.5 * y_true for key, column in preds.items()}
        result = fastcmp.compare_all(y_true, preds)
        pictures = [plot.roc(y_true, scores), plot.leaderboard(result)]
        for ax in pictures:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # letters that the font lacks
                ax.figure.savefig(tmp_path / "x.png")
            texts = [text.get_text() for text in ax.figure.findobj(plt.Text)]
            shown = visible(name).replace("$", r"\$")[:12]
            assert any(shown in text for text in texts)
            assert all(is_clean(text) for text in texts)
            plt.close(ax.figure)
