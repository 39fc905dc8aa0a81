"""The command line as a person meets it: answers, formats, errors in one line."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest

import fastcmp
from fastcmp.cli import main

EXAMPLE = ["compare", "--example", "digits"]


def run(capsys, *arguments):
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refused(capsys, *arguments):
    """What a refusal prints, after checking that it is one line and exit code 2."""
    try:
        code, out, err = run(capsys, *arguments)
    except SystemExit as stop:  # argparse
        code, (out, err) = stop.code, capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.startswith("fastcmp")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n0,0,0\n1,1,0\n1,1,0\n0,0,1\n")
    return str(path)


def test_the_main_job(capsys):
    code, out, err = run(capsys, *EXAMPLE)
    result = fastcmp.compare_all(*fastcmp.load_digits())
    assert code == 0
    assert err == ""
    assert out == f"{result}\n"
    assert "Best: svm_rbf, not told apart from 4" in out


def test_csv_has_every_pair_in_full_precision(capsys):
    _, out, _ = run(capsys, *EXAMPLE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    result = fastcmp.compare_all(*fastcmp.load_digits())
    assert len(rows) == 45
    assert [float(row["pvalue"]) for row in rows] == result.pvalue.tolist()


def test_json_is_the_whole_record(capsys):
    _, out, _ = run(capsys, *EXAMPLE, "--format", "json")
    assert json.loads(out) == fastcmp.compare_all(*fastcmp.load_digits()).to_dict()


@pytest.mark.parametrize(
    ("kind", "sign"), [("markdown", "| rank | model |"), ("latex", r"\toprule")]
)
def test_formats_for_papers(capsys, kind, sign):
    code, out, _ = run(capsys, *EXAMPLE, "--format", kind)
    assert code == 0
    assert sign in out


def test_output_goes_to_a_file(capsys, tmp_path):
    path = tmp_path / "answer.txt"
    code, out, _ = run(capsys, *EXAMPLE, "--output", str(path))
    assert (code, out) == (0, "")
    assert path.read_text() == run(capsys, *EXAMPLE)[1]


def test_options_reach_the_comparison(capsys):
    _, out, _ = run(
        capsys,
        *EXAMPLE,
        *("--models", "svm_rbf", "mlp", "logistic", "--method", "exact"),
        *("--adjust", "bh", "--alpha", "0.1", "--control", "mlp", "--format", "json"),
    )
    said = json.loads(out)
    assert said["leaderboard"]["model"] == ["svm_rbf", "mlp", "logistic"]
    assert said["pairs"]["model_a"] == ["mlp", "mlp"]
    assert (said["method"], said["adjust"], said["alpha"]) == ("exact", "bh", 0.1)


def test_a_file_of_ones_own(capsys, predictions):
    code, out, _ = run(capsys, "compare", predictions)
    assert code == 0
    assert "2 models on 4 samples" in out


def test_missing_predictions(capsys, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n0,0,0\n1,,1\n,1,1\n0,0,1\n")
    assert "a has no prediction at row 1" in refused(capsys, "compare", str(path))
    code, out, _ = run(capsys, "compare", str(path), "--missing", "wrong")
    assert code == 0
    assert "1 samples without a true label were dropped." in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare"], "pass a prediction file"),
        (["compare", "x.csv", "--example", "digits"], "not both"),
        (["compare", "none.csv"], "none.csv: No such file"),
        (["compare", "."], "the extension must be one of"),
        ([*EXAMPLE, "--target", "z"], "no column 'z' (--target)"),
        ([*EXAMPLE, "--models", "svm_rbf"], "at least 2 models, got 1"),
        ([*EXAMPLE, "--models", "svm_rbf", "z"], "no column 'z' (--models)"),
        ([*EXAMPLE, "--alpha", "2"], "alpha must lie in (0, 1), got 2.0"),
        ([*EXAMPLE, "--alpha", "x"], "invalid float value: 'x'"),
        ([*EXAMPLE, "--test", "z"], "test must be one of"),
        ([*EXAMPLE, "--method", "z"], "method must be one of"),
        ([*EXAMPLE, "--adjust", "z"], "adjust must be one of"),
        ([*EXAMPLE, "--control", "z"], "control names no model 'z'"),
        ([*EXAMPLE, "--workers", "0"], "workers must be at least 1, got 0"),
        ([*EXAMPLE, "--format", "xls"], "invalid choice: 'xls'"),
        (["compare", "--example", "iris"], "invalid choice: 'iris'"),
        ([*EXAMPLE, "--output", "/nonexistent/x.txt"], "/nonexistent/x.txt: No such"),
        (["compare", "--nope"], "unrecognized arguments: --nope"),
        ([], "COMMAND"),
        (["compete"], "invalid choice: 'compete'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, said):
    assert said in refused(capsys, *arguments)


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"fastcmp {fastcmp.__version__}\n"


def shell(command, **environment):
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_the_module_runs_as_a_program(predictions):
    done = shell(f"{sys.executable} -m fastcmp compare {predictions}")
    assert done.returncode == 0
    assert "2 models on 4 samples" in done.stdout


def test_a_reader_that_leaves_is_no_error():
    program = f"{sys.executable} -m fastcmp compare --example digits --format json"
    done = shell(f"({program}; echo code $? >&2) | head -1")
    assert done.stdout == "{\n"
    assert done.stderr == "code 0\n"


def test_without_the_extra_the_message_says_what_to_install(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    done = shell(
        f"{sys.executable} -m fastcmp compare --example digits",
        PYTHONPATH=str(tmp_path),
    )
    assert done.returncode == 2
    assert "pip install 'fastcmp[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_terminal_gets_tables_as_wide_as_it_is():
    pytest.importorskip("pty")
    import pty

    lines = []

    def read(descriptor):
        data = os.read(descriptor, 65536)
        lines.append(data)
        return data

    environment = {"COLUMNS": "70", "TERM": "dumb", "NO_COLOR": "1"}
    os.environ.update(environment)
    code = pty.spawn([sys.executable, "-m", "fastcmp", *EXAMPLE], read)
    for name in environment:
        del os.environ[name]
    text = b"".join(lines).decode()
    assert code == 0
    assert "Which model is better?" in text
    assert "naive_bayes" in text
