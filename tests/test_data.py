"""The example files: what they hold, and that their README tells the truth."""

from __future__ import annotations

import csv
import json
import re
import zlib
from itertools import pairwise

import numpy as np
import pytest
from reference_cases import cases

from fastcmp.data import (
    EXAMPLES,
    VALUE_EXAMPLES,
    demsar_path,
    example_path,
    load_demsar,
    load_digits,
    load_digits_values,
    logs_path,
    values_path,
)

N_SAMPLES = 899
MODELS = [
    "svm_rbf",
    "knn_3",
    "extra_trees",
    "random_forest",
    "mlp",
    "gradient_boosting",
    "logistic",
    "linear_svm",
    "decision_tree",
    "naive_bayes",
]
FOLDER = example_path("digits").parent
FILES = ["digits.csv", "digits_scores.csv", *VALUE_EXAMPLES.values()]


def read_columns(file_name):
    """Read a CSV file into lists of strings by column, knowing nothing of fastcmp."""
    with (FOLDER / file_name).open(encoding="ascii", newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def readme_accuracies():
    """Return the rows ``| model | correct | accuracy |`` of the README."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d\.\d{4}) \|$", text, re.MULTILINE)
    return {name: (int(correct), accuracy) for name, correct, accuracy in rows}


def test_load_digits_shapes_and_names():
    y_true, predictions = load_digits()
    assert list(predictions) == MODELS
    for labels in (y_true, *predictions.values()):
        assert labels.shape == (N_SAMPLES,)
        assert labels.dtype == np.uint8
        assert labels.flags.c_contiguous
        assert labels.max() <= 9


def test_load_digits_equals_the_file():
    columns = read_columns("digits.csv")
    y_true, predictions = load_digits()
    assert y_true.tolist() == [int(label) for label in columns["y_true"]]
    for name, labels in predictions.items():
        assert labels.tolist() == [int(label) for label in columns[name]]


def test_load_digits_gives_fresh_arrays():
    y_true, predictions = load_digits()
    y_true[:] = 77
    predictions["mlp"][:] = 77
    y_again, predictions_again = load_digits()
    assert y_again.max() <= 9
    assert predictions_again["mlp"].max() <= 9


def test_every_class_is_there_about_equally_often():
    y_true, _ = load_digits()
    counts = np.bincount(y_true, minlength=10)
    assert counts.size == 10
    assert counts.min() >= 87
    assert counts.max() <= 92


@pytest.mark.parametrize("file_name", FILES)
def test_ids_are_unique_ascending_and_in_range(file_name):
    ids = [int(i) for i in read_columns(file_name)["id"]]
    assert len(ids) == N_SAMPLES
    assert all(a < b for a, b in pairwise(ids))
    assert ids[0] >= 0
    assert ids[-1] < 1797


def test_the_files_agree():
    labels, scores, *values = (read_columns(name) for name in FILES)
    assert list(labels) == ["id", "y_true", *MODELS]
    assert list(scores) == ["id", "is_eight", *MODELS]
    assert scores["id"] == labels["id"]
    for table in values:
        assert list(table) == ["id", "block", *MODELS]
        assert table["id"] == labels["id"]
        assert table["block"] == values[0]["block"]
    assert scores["is_eight"] == [str(int(y == "8")) for y in labels["y_true"]]


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_finite_and_rank_eights_high(name):
    columns = read_columns("digits_scores.csv")
    scores = np.array(columns[name], dtype=np.float64)
    is_eight = np.array(columns["is_eight"]) == "1"
    assert np.isfinite(scores).all()
    eights, others = scores[is_eight, None], scores[~is_eight]
    auc = np.mean((eights > others) + 0.5 * (eights == others))
    assert 0.85 < auc < 1


@pytest.mark.parametrize("name", [name for name in MODELS if name not in {"svm_rbf", "linear_svm"}])
def test_probabilities_lie_between_0_and_1(name):
    scores = np.array(read_columns("digits_scores.csv")[name], dtype=np.float64)
    assert scores.min() >= 0
    assert scores.max() <= 1


def test_readme_states_the_accuracies():
    y_true, predictions = load_digits()
    correct = {name: int(np.sum(y_true == p)) for name, p in predictions.items()}
    assert readme_accuracies() == {
        name: (count, f"{count / N_SAMPLES:.4f}") for name, count in correct.items()
    }
    assert list(correct.values()) == sorted(correct.values(), reverse=True)


def test_readme_states_ties_and_the_number_of_eights():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    columns = read_columns("digits_scores.csv")
    distinct = {name: len(set(columns[name])) for name in MODELS}
    assert f"`decision_tree` has {distinct['decision_tree']} distinct values" in text
    assert f"`knn_3` has {distinct['knn_3']}." in text
    assert f"({columns['is_eight'].count('1')} ones)" in text


@pytest.mark.parametrize("measure", VALUE_EXAMPLES)
def test_load_digits_values_equals_the_file(measure):
    columns = read_columns(VALUE_EXAMPLES[measure])
    table = load_digits_values(measure=measure)
    assert list(table.names) == MODELS
    assert table.items.tolist() == [int(i) for i in columns["id"]]
    assert table.groups.tolist() == [int(i) for i in columns["block"]]
    for name, row in zip(MODELS, table.values, strict=True):
        assert row.tolist() == [float(x) for x in columns[name]]


def test_losses_lie_in_their_ranges_and_suit_the_predictions():
    log_loss, brier = (load_digits_values(measure=m).values for m in VALUE_EXAMPLES)
    assert log_loss.min() >= 0
    assert log_loss.max() == 36.04  # -log of the precision of float64
    assert brier.min() >= 0
    assert brier.max() <= 2
    # A true digit with a probability above 1/2 is predicted.
    y_true, predictions = load_digits()
    for i, (name, labels) in enumerate(predictions.items()):
        if name not in {"svm_rbf", "linear_svm"}:
            assert (labels == y_true)[log_loss[i] < 0.69].all()
    # A digit that is predicted without a doubt costs nothing, or 2.
    tree = brier[MODELS.index("decision_tree")]
    wrong = predictions["decision_tree"] != y_true
    assert tree.tolist() == (2.0 * wrong).tolist()


def test_blocks_are_of_about_equal_size():
    blocks = load_digits_values().groups
    assert (np.diff(blocks) >= 0).all()
    counts = np.bincount(blocks)
    assert counts.size == 14
    assert counts.min() >= 55
    assert counts.max() <= 74


def test_readme_states_the_losses():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    pattern = r"^\| (\w+) \| (\d\.\d{4}) \| (\d\.\d{4}) \| (\d+) \|$"
    log_loss, brier = (load_digits_values(measure=m).values for m in VALUE_EXAMPLES)
    wanted = [
        (name, f"{x.mean():.4f}", f"{y.mean():.4f}", str(np.sum(x == 36.04)))
        for name, x, y in zip(MODELS, log_loss, brier, strict=True)
    ]
    assert re.findall(pattern, text, re.MULTILINE) == wanted


def test_unknown_measure_is_refused():
    for function in (lambda m: load_digits_values(measure=m), values_path):
        with pytest.raises(ValueError, match="measure must be one of"):
            function("accuracy")


def test_files_are_small_and_have_lf_line_ends():
    contents = [(FOLDER / name).read_bytes() for name in FILES]
    assert sum(map(len, contents)) < 260_000
    for content in contents:
        assert b"\r" not in content
        assert content.endswith(b"\n")


def test_every_example_exists():
    assert EXAMPLES == {"digits": "digits.csv"}
    for name, file_name in EXAMPLES.items():
        assert example_path(name).is_file()
        assert example_path(name).name == file_name


@pytest.mark.parametrize("name", ["iris", "", "digits.csv", "../README.md"])
def test_unknown_example_is_refused(name):
    wanted = f"name must be one of the known examples ('digits'), got {name!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
        example_path(name)


def test_demsar_is_the_table_of_the_reference_case():
    tasks, scores = load_demsar()
    (case,) = (c for c in cases("friedman") if c["id"] == "ds_friedman_demsar2006")
    assert list(scores) == case["input"]["models"]
    np.testing.assert_array_equal(list(scores.values()), case["input"]["scores"])
    assert len(set(tasks)) == 14
    assert demsar_path().read_bytes().count(b"\n") == 15


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_logs_agree_with_their_results_and_the_readme():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    pattern = r"^\| (sklearn/\w+) \| (\d+) \| (\d+) \| (\d+) \|$"
    found = {name: tuple(map(int, n)) for name, *n in re.findall(pattern, readme, re.MULTILINE)}
    folders = sorted(logs_path().iterdir())
    assert len(folders) == len(found) == 4
    asked = set()
    for folder in folders:
        (results,) = (json.loads(f.read_bytes()) for f in folder.glob("results_*.json"))
        right = []
        for file, task in zip(sorted(folder.glob("samples_*")), results["results"], strict=True):
            lines = lines_of(file)
            assert file.name.startswith(f"samples_{task}_")
            assert [line["doc_id"] for line in lines] == list(range(60))
            own = [line["acc"] for line in lines]
            assert own == [x["target"] == x["filtered_resps"][0] for x in lines]
            assert results["results"][task]["acc,none"] == pytest.approx(np.mean(own))
            assert results["n-samples"][task]["effective"] == 60
            right.append(int(sum(own)))
            asked |= {(task, x["doc_id"], x["doc_hash"], x["prompt_hash"]) for x in lines}
        assert found[results["model_name"]] == tuple(right)
    assert len(asked) == 180  # the same for all models


def test_logs_are_small():
    contents = [file.read_bytes() for file in logs_path().rglob("*.json*")]
    assert len(contents) == 16
    assert sum(len(zlib.compress(content)) for content in contents) < 100_000
    assert not any(b"\r" in content for content in contents)
