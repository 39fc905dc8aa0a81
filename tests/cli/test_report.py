"""`fastcmp report`: what the function gives, of files; errors in one line."""

import csv
import io
import json

import numpy as np
import pytest

import fastcmp
from fastcmp.cli import main

DIGITS = ["report", "--example", "digits", "--models", "svm_rbf", "knn_3", "mlp"]


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refused(capsys, *arguments):
    """What a refusal prints, after checking that it is one line and exit code 64."""
    try:
        code, out, err = run(capsys, *arguments)
    except SystemExit as stop:  # argparse
        code, (out, err) = stop.code, capsys.readouterr()
    assert (code, out) == (64, "")
    assert err.startswith("fastcmp")
    assert err.count("\n") == 1
    return err


def digits(*names):
    y_true, preds = fastcmp.load_digits()
    return y_true, {name: preds[name] for name in names}


@pytest.fixture
def words(tmp_path):
    """Write a file of words, and tell what it holds."""
    rng = np.random.default_rng(5)
    known = np.array(["cat", "dog", "eel"])
    y_true = known[rng.integers(0, 3, 300)]
    preds = {
        name: np.where(rng.random(300) < p, y_true, known[rng.integers(0, 3, 300)])
        for name, p in (("a", 0.8), ("b", 0.5))
    }
    path = tmp_path / "p.csv"
    lines = zip(y_true, *preds.values(), strict=True)
    path.write_text("y_true,a,b\n" + "".join(",".join(x) + "\n" for x in lines))
    return path, y_true, preds


def test_one_model_and_three(capsys):
    one = ("report", "--example", "digits", "--models", "mlp")
    wanted = fastcmp.classification_report(*digits("mlp"))
    assert run(capsys, *one) == (0, f"{wanted.summary()}\n", "")
    wanted = fastcmp.classification_report(*digits("svm_rbf", "knn_3", "mlp"))
    assert run(capsys, *DIGITS) == (0, f"{wanted.summary()}\n", "")


def test_options(capsys):
    code, out, err = run(
        capsys,
        *(*DIGITS, "--control", "mlp", "--labels", "3,1,4", "--metrics", "f2"),
        *("specificity", "--overall", "mcc", "--adjust", "bh", "--alpha", "0.2"),
        *("--digits", "3", "--zero-division", "nan", "--confidence-level", "0.9"),
    )
    wanted = fastcmp.classification_report(
        *digits("svm_rbf", "knn_3", "mlp"),
        control="mlp",
        labels=[3, 1, 4],
        metrics=["f2", "specificity"],
        overall=["mcc"],
        adjust="bh",
        alpha=0.2,
        digits=3,
        zero_division=np.nan,
        confidence_level=0.9,
    )
    assert (code, err) == (0, "")
    assert out == f"{wanted.summary()}\n"


@pytest.mark.parametrize("control", [None, "b"])
@pytest.mark.parametrize("limit", ["4GB", "1kB"])
def test_files_are_read_whole_or_in_blocks(capsys, words, control, limit, tmp_path):
    path, y_true, preds = words
    more = () if control is None else ("--control", control)
    saved = tmp_path / "report.json"
    code, out, err = run(
        capsys,
        *("report", path, *more, "--labels", "dog,cat", "--positive", "cat"),
        *("--memory-limit", limit, "--output", saved),
    )
    assert (code, out, err) == (0, "", "")
    wanted = fastcmp.classification_report(
        y_true, preds, control=control, labels=["dog", "cat"], positive="cat"
    )
    found = fastcmp.from_dict(json.loads(saved.read_text()))
    assert found == wanted


@pytest.mark.parametrize("ending", ["csv", "parquet", "md", "tex", "html"])
def test_all_formats_are_written(capsys, words, ending, tmp_path):
    place = tmp_path / f"r.{ending}"
    assert run(capsys, "report", words[0], "--output", place) == (0, "", "")
    wanted = fastcmp.classification_report(words[1], words[2])
    if ending == "parquet":
        from pyarrow import parquet

        assert parquet.read_table(place).num_rows == wanted.value.size
        return
    text = place.read_text()
    if ending == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [float(row["value"]) for row in rows] == wanted.value.ravel().tolist()
        assert rows[0]["n_samples"] == "300"
    assert "eel" in text


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "arrow", "csv.gz"])
def test_all_formats_are_read(capsys, words, ending, tmp_path):
    import pandas as pd

    path = tmp_path / f"p.{ending}"
    frame = pd.DataFrame({"y_true": words[1], **words[2]})
    if ending == "tsv":
        frame.to_csv(path, sep="\t", index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "arrow":
        frame.to_feather(path, compression="uncompressed")
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    wanted = fastcmp.classification_report(words[1], words[2])
    assert run(capsys, "report", path) == (0, f"{wanted.summary()}\n", "")


def test_joined_files(capsys, words, tmp_path):
    _, y_true, preds = words
    for name, pred in preds.items():
        rows = enumerate(zip(y_true, pred, strict=True))
        lines = [f"id,y_true,{name}", *(f"{i},{t},{p}" for i, (t, p) in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    wanted = fastcmp.classification_report(y_true, preds, control="a")
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    code, out, _ = run(capsys, "report", *files, "--id", "id", "--control", "a")
    assert (code, out) == (0, f"{wanted.summary()}\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--control", "zz"], "--control names no model 'zz'"),
        (["--models", "mlp", "--control", "mlp"], "at least 2 models"),
        (["--metrics", "magic"], "--metrics must be one of accuracy"),
        (["--metrics", "mcc"], "pass it as --overall"),
        (["--overall", "f1"], "--overall must be of all 10 classes"),
        (["--labels", "77,x"], "--labels must be classes of the data"),
        (["--labels", "1,1"], "--labels must list different"),
        (["--positive", "cat"], "--positive must be one of 0, 1"),
        (["--alpha", "3"], "--alpha must lie in"),
        (["--confidence-level", "1"], "--confidence-level must lie in"),
        (["--adjust", "magic"], "--adjust must be one of"),
        (["--digits", "-1"], "--digits must be"),
        (["--zero-division", "2"], "zero-division"),
        (["--workers", "0"], "--workers must be"),
        (["--output", "no/such/r.json"], "no/such"),
        (["--target", "nothing"], "nothing"),
    ],
)
def test_wrong_options_are_refused(capsys, options, message):
    assert message in refused(capsys, "report", "--example", "digits", *options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y_true,a\n0,0.2\n1,0.7\n0,0.1\n1,0.9\n", "no label of"),
        ("y_true,a\n0,0\n", "at least 2 samples"),
        ("y_true,a\n0,0\n1,\n0,1\n", "no prediction at row 1"),
        ("y_true\n0\n1\n", "at least 1 model"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--memory-limit", "1kB")])
def test_wrong_files_are_refused(capsys, tmp_path, text, message, more):
    path = tmp_path / "p.csv"
    path.write_text(text)
    assert message in refused(capsys, "report", path, *more)
