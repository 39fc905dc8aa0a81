"""How answers are written, and how commands fail: pipes, memory, errors of our own."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from commands import by_table, refused, run

import fastcmp
from fastcmp.core import checks

COMPARE = ("compare", "--example", "digits")
ROC = ("roc", "--example", "digits")
TIMEOUT = 120


SUFFIXES = {
    "md": "markdown",
    "MARKDOWN": "markdown",
    "tex": "latex",
    "html": "html",
    "htm": "html",
    "csv": "csv",
    "json": "json",
    "txt": "table",
    "out": "table",
}


@pytest.mark.parametrize("words", [COMPARE, ROC], ids=["compare", "roc"])
def test_the_extension_chooses_the_format(capsys, tmp_path, words):
    for suffix, form in SUFFIXES.items():
        path = tmp_path / f"x.{suffix}"
        assert run(capsys, *words, "--output", path) == (0, "", "")
        expect = run(capsys, *words, "--format", form)[1]
        assert path.read_text(encoding="utf-8") == expect, suffix
        if form == "html":
            assert expect.startswith('<!DOCTYPE html>\n<meta charset="utf-8">')


def test_a_format_against_the_extension_is_refused(capsys, tmp_path):
    path = tmp_path / "x.json"
    err = refused(capsys, *COMPARE, "--output", path, "--format", "csv")
    assert f"--format csv contradicts --output {path}, whose extension means json" in err
    assert not path.exists()
    assert run(capsys, *COMPARE, "--output", path, "--format", "json")[0] == 0
    other = tmp_path / "x.txt"
    assert run(capsys, *COMPARE, "--output", other, "--format", "json")[0] == 0
    assert json.loads(other.read_text()) == json.loads(path.read_text())
    assert "--output FILE" in refused(capsys, *COMPARE, "--format", "parquet")


def test_cutpoint_draws_the_cutoff_that_it_found(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from fastcmp import plot

    drawn = []

    def cutoffs(*args, **options):
        drawn.append(real(*args, **options))
        return drawn[-1]

    real = plot.cutoffs
    monkeypatch.setattr(plot, "cutoffs", cutoffs)
    words = ("cutpoint", "--example", "digits", "--scores", "mlp", "--format", "json")
    for more in ([], ["--criterion", "cost", "--cost-fn", "9"]):
        path = tmp_path / "x.png"
        _, out, _ = run(capsys, *words, *more, "--plot", path)
        found = json.loads(out)
        label = [text.get_text() for text in drawn[-1].get_legend().get_texts()][3]
        assert label.startswith(found["criterion"])
        assert f"at {found['cutoffs'][0]:.4g}" in label
        (mark,) = (line for line in drawn[-1].lines if line.get_marker() == "o")
        m = len(found["cutoffs"])
        assert mark.get_xdata().tolist() == 2 * found["cutoffs"]
        assert mark.get_ydata()[:m].tolist() == found["sensitivity"]
        assert mark.get_ydata()[m:].tolist() == found["specificity"]


# How commands fail.


def program(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "fastcmp", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        **options,
    )


@pytest.mark.parametrize("limit", [250, 450, 600, 700])
def test_a_small_address_space_is_one_line(limit):
    resource = pytest.importorskip("resource")

    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))

    one = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # whose memory is by processor
    done = program(*COMPARE, preexec_fn=confine, env=one)
    if done.returncode == 0:  # it was enough
        assert limit == 700
        return
    assert done.returncode == 64
    assert done.stderr.startswith("fastcmp: not enough memory")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 64, "fastcmp: not enough memory\n"),
        (MemoryError("9 GB"), 64, "fastcmp: not enough memory (9 GB)\n"),
        (RuntimeError("can't start new thread"), 64, "fastcmp: not enough memory (can't"),
        (OSError(12, "Cannot allocate memory"), 64, "fastcmp: not enough memory ("),
        (KeyError("x"), 70, "fastcmp: unexpected error, please report it (KeyError: 'x')"),
        (RecursionError("deep\ner"), 70, "(RecursionError: deep er); FASTCMP_TRACEBACK=1"),
    ],
    ids=repr,
)
def test_every_error_is_one_line(capsys, monkeypatch, error, code, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(fastcmp, "delong", fail)
    found, out, err = run(capsys, *ROC)
    assert (found, out) == (code, "")
    assert said in err
    assert err.count("\n") == 1
    monkeypatch.setenv("FASTCMP_TRACEBACK", "1")
    err = run(capsys, *ROC)[2]
    assert err.startswith("Traceback")
    assert said in err


def test_warnings_are_lines_too(capsys, monkeypatch):
    real = fastcmp.delong

    def warn(*args, **options):
        for _ in range(2):
            checks.warn("areas below 1/2:\npass `positive=`")
        return real(*args, **options)

    monkeypatch.setattr(fastcmp, "delong", warn)
    code, _, err = run(capsys, *ROC)
    assert code == 0
    assert err == "fastcmp: warning: areas below 1/2: pass --positive\n"


def test_csv_says_all_that_json_says_and_parquet_all_of_csv(capsys, tmp_path):
    for words in (
        COMPARE,
        (*ROC, "--scores", "mlp", "knn_3"),
        ("cutpoint", "--example", "digits", "--scores", "mlp"),
        ("lift", "--example", "digits", "--scores", "mlp"),
        ("holdout", "--example", "digits", "--models", "mlp", "knn_3"),
    ):
        told_in_json = json.loads(run(capsys, *words, "--format", "json")[1])
        text = run(capsys, *words, "--format", "csv")[1]
        rows = list(csv.DictReader(io.StringIO(text)))
        tables = by_table(text) if "table" in rows[0] else {}
        about = {row["name"]: row["value"] for row in tables.get("about", [])}
        for name in told_in_json.keys() - {"record", "version", "fields"}:
            value = told_in_json[name]
            if name in tables:
                assert len(tables[name]) == len(next(iter(value.values())))
                assert set(value) <= set(rows[0])
            elif tables:
                assert name in about
                if isinstance(value, list):
                    assert json.loads(about[name]) == value
            else:
                assert name in rows[0] or name.removesuffix("s") in rows[0]

        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "x.parquet"
        assert run(capsys, *words, "--output", path) == (0, "", "")
        table = parquet.read_table(path)
        assert table.column_names == list(rows[0])
        assert table.num_rows == len(rows)
        for name in table.column_names:
            cells = ["" if x is None else str(x) for x in table.column(name).to_pylist()]
            wanted = [row[name] for row in rows]
            if cells != wanted:  # whole numbers that became floats
                pairs = zip(cells, wanted, strict=True)
                assert all(x == y or float(x) == float(y) for x, y in pairs), name
