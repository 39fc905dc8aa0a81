"""Names and labels are data: what is shown of them is text, and nothing else."""

import csv
import io
import re
import unicodedata
import warnings

import numpy as np
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st

import fastcmp
from fastcmp import stream
from fastcmp.cli import main

NASTY = "a\x1b[31m\u202eb\u2066\n|c\r\t\x85\u2028\u2029\x00\x9b\ud800\u200b*`<$x$"
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def is_clean(text):
    return not any(unicodedata.category(letter) in UNSEEN for letter in text.replace("\n", ""))


def labels(name):
    y_true = np.array([0, 1] * 20)
    return y_true, {name: y_true, "b": 1 - y_true, "c": np.roll(y_true, 7) * y_true}


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


def test_errors():
    for what, call in WRONG.items():
        with case(what):
            with pytest.raises((ValueError, TypeError)) as caught:
                call(*labels(NASTY))
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


def test_records():
    y_true, preds = labels(NASTY)
    scores = {name: column + 0.5 * y_true for name, column in preds.items()}
    for record in (
        fastcmp.compare_all(y_true, preds),
        fastcmp.delong(y_true, scores),
        fastcmp.cochrans_q(y_true, preds),
        fastcmp.compare_predictions(y_true, preds),
        fastcmp.classification_table([NASTY, "n"] * 9, ["n"] * 18, positive=NASTY),
    ):
        assert not hasattr(record, "names") or record.names[0] == NASTY
        for form in ("summary", "to_markdown", "to_latex", "to_html", "__str__", "__repr__"):
            assert is_clean(getattr(record, form)()), form
        assert "<$x$" not in record.to_html()
        rows = [line for line in record.to_markdown().split("\n") if line.startswith("| ")]
        assert all(len(re.findall(r"(?<!\\)\|", row)) > 1 for row in rows)
    for kind, columns in (("PairCounts", preds), ("LabelCounts", preds), ("ScoreCounts", scores)):
        assert getattr(stream, kind)().update(y_true, columns).names[0] == NASTY


@given(st.text("*[]|\\`<&$_{}~#-+>:\n\r\x1b\u202e1.) ", max_size=6))
def test_tables_keep_their_rows_and_cells(name):
    y_true, preds = labels(name)
    known = {"b": preds["b"], "c": preds["c"], "plain": preds[name]}
    if name not in known:
        result, plain = fastcmp.compare_all(y_true, preds), fastcmp.compare_all(y_true, known)
        assert is_clean(str(result))
        for form in ("to_markdown", "to_latex", "to_html"):
            text, other = getattr(result, form)(), getattr(plain, form)()
            assert text.count("\n") == other.count("\n"), form
            assert text.count("<td") == other.count("<td")
        cells = r"(?<!\\)(?:\\\\)*\|"
        rows = [len(re.findall(cells, line)) for line in result.to_markdown().split("\n")]
        assert rows == [len(re.findall(cells, line)) for line in plain.to_markdown().split("\n")]


def test_pictures_draw_names_as_they_are(tmp_path):
    from matplotlib import pyplot as plt

    from fastcmp import plot

    for name, shown in ((NASTY, "b"), ("_x", "_x"), ("$\\frac", r"\$\frac"), ("$$", r"\$\$")):
        y_true, preds = labels(name)
        scores = {key: column + 0.5 * y_true for key, column in preds.items()}
        for ax in (plot.roc(y_true, scores), plot.leaderboard(fastcmp.compare_all(y_true, preds))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # letters that the font lacks
                ax.figure.savefig(tmp_path / "x.png")
            texts = [text.get_text() for text in ax.figure.findobj(plt.Text)]
            assert any(shown in text for text in texts)
            assert all(is_clean(text) for text in texts)
            plt.close(ax.figure)
