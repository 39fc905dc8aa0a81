"""`fastcmp holdout --unpaired`: two models, each on the samples of its own file."""

import json

import pytest
from commands import refused, run

from fastcmp import compare_unpaired

OLD = (["ill", "ill", "well", "well"], ["ill", "well", "well", "well"])
NEW = (["ill", "ill", "well", "well", "ill"], ["ill", "well", "well", "ill", "well"])


def write(path, data, name):
    rows = [",".join(row) for row in zip(*data, strict=True)]
    path.write_text("\n".join([f"y_true,{name}", *rows]) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "old.csv", OLD, "tree"), write(tmp_path / "new.csv", NEW, "net")


def test_refusals(capsys, files):
    for words, says in (
        ((*files, "--cost", "cost.csv"), "--unpaired compares error rates: leave --cost out"),
        ((*files, "--method", "midp"), "--method must be one of score, miettinen-nurminen"),
        (files[:1], "--unpaired needs two files, one for each model, got 1"),
    ):
        assert says in refused(capsys, "holdout", "--unpaired", *words)


def test_two_files_and_options(capsys, files):
    code, out, err = run(capsys, "holdout", "--unpaired", *files)
    assert (code, err) == (0, "")
    assert out == f"{compare_unpaired(OLD, NEW, names=('tree', 'net')).summary()}\n"
    words = ("--alternative", "greater", "--alpha", "0.1", "--method", "score")
    out = run(capsys, "holdout", "--unpaired", *files, *words, "--format", "json")[1]
    wanted = compare_unpaired(
        *(OLD, NEW), alternative="greater", alpha=0.1, method="score", names=("tree", "net")
    )
    assert json.loads(out) == wanted.to_dict()


def test_models_are_named_by_files_or_chosen(capsys, tmp_path, files):
    parts = {"old": OLD, "new": NEW}
    same = [write(tmp_path / f"{name}.csv", data, "pred") for name, data in parts.items()]
    for more in ((), ("--models", "pred", "pred")):
        assert "samples of old" in run(capsys, "holdout", "--unpaired", *same, *more)[1]
    both = write(tmp_path / "both.csv", (*NEW, NEW[0]), "net,other")
    words = ("holdout", "--unpaired", write(tmp_path / "old.csv", OLD, "tree"), both)
    assert "name the model of each file" in refused(capsys, *words)
    assert "samples of other" in run(capsys, *words, "--models", "tree", "other")[1]
