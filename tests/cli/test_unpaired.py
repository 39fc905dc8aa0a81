"""`fastcmp holdout --unpaired`: two models, each on the samples of its own file."""

import json

import pytest

from fastcmp import compare_unpaired
from fastcmp.cli import main

OLD = (["ill", "ill", "well", "well"], ["ill", "well", "well", "well"])
NEW = (["ill", "ill", "well", "well", "ill"], ["ill", "well", "well", "ill", "well"])


def run(capsys, *words):
    code = main([str(word) for word in ("holdout", *words, "--unpaired")])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def write(path, data, name):
    rows = [",".join(row) for row in zip(*data, strict=True)]
    path.write_text("\n".join([f"y_true,{name}", *rows]) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "old.csv", OLD, "tree"), write(tmp_path / "new.csv", NEW, "net")


def test_two_files(capsys, files):
    code, out, err = run(capsys, *files)
    assert (code, err) == (0, "")
    assert out == f"{compare_unpaired(OLD, NEW, names=('tree', 'net')).summary()}\n"


def test_options(capsys, files):
    words = ("--alternative", "greater", "--alpha", "0.1", "--method", "score")
    _, out, _ = run(capsys, *files, *words, "--format", "json")
    wanted = compare_unpaired(
        *(OLD, NEW), alternative="greater", alpha=0.1, method="score", names=("tree", "net")
    )
    assert json.loads(out) == wanted.to_dict()


def test_columns_of_one_name_are_called_as_their_files(capsys, tmp_path):
    files = [
        write(tmp_path / f"{name}.csv", data, "pred") for name, data in (("old", OLD), ("new", NEW))
    ]
    for more in ((), ("--models", "pred", "pred")):
        out = run(capsys, *files, *more)[1]
        assert "samples of old" in out


def test_models_are_chosen(capsys, tmp_path, files):
    both = write(tmp_path / "both.csv", (*NEW, NEW[0]), "net,other")
    assert "name the model of each file" in run(capsys, files[0], both)[2]
    _, out, _ = run(capsys, files[0], both, "--models", "tree", "other")
    assert "samples of other" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cost", "cost.csv"), "--unpaired compares error rates: leave --cost out"),
        (("--method", "midp"), "--method must be one of score, miettinen-nurminen"),
    ],
)
def test_refusals(capsys, files, words, says):
    code, out, err = run(capsys, *files, *words)
    assert (code, out) == (64, "")
    assert says in err
    code, _, err = run(capsys, files[0])
    assert "--unpaired needs two files, one for each model, got 1" in err
