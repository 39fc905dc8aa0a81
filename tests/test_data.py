"""The example files: what they hold, and that their README tells the truth."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from reference_cases import cases

from fastcmp.data import (
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
MODELS = ["svm_rbf", "knn_3", "extra_trees", "random_forest", "mlp", "gradient_boosting"]
MODELS += ["logistic", "linear_svm", "decision_tree", "naive_bayes"]
FOLDER = example_path("digits").parent
FILES = ["digits.csv", "digits_scores.csv", *VALUE_EXAMPLES.values()]


def read_columns(file_name):
    """Read a CSV file into lists of strings by column, knowing nothing of fastcmp."""
    with (FOLDER / file_name).open(encoding="ascii", newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def test_load_digits_equals_the_file_and_gives_fresh_arrays():
    columns = read_columns("digits.csv")
    for _ in range(2):
        y_true, predictions = load_digits()
        assert list(predictions) == MODELS
        for name, labels in ({"y_true": y_true} | predictions).items():
            assert labels.tolist() == [int(label) for label in columns[name]]
            assert (labels.dtype, labels.max()) == (np.uint8, 9)
            labels[:] = 77


def test_the_files_agree():
    labels, scores, *values = (read_columns(name) for name in FILES)
    assert list(labels) == ["id", "y_true", *MODELS]
    assert list(scores) == ["id", "is_eight", *MODELS]
    assert scores["id"] == labels["id"]
    ids = np.array(labels["id"], int)
    assert ids.size == N_SAMPLES
    assert (np.diff(ids) > 0).all()
    for table in values:
        assert list(table) == ["id", "block", *MODELS]
        assert table["id"] == labels["id"]
        assert table["block"] == values[0]["block"]
    assert scores["is_eight"] == [str(int(y == "8")) for y in labels["y_true"]]


def test_readme_states_the_accuracies():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d\.\d{4}) \|$", text, re.MULTILINE)
    y_true, predictions = load_digits()
    correct = {name: int(np.sum(y_true == p)) for name, p in predictions.items()}
    assert rows == [(name, str(n), f"{n / N_SAMPLES:.4f}") for name, n in correct.items()]
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


def test_readme_states_the_losses():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    pattern = r"^\| (\w+) \| (\d\.\d{4}) \| (\d\.\d{4}) \| (\d+) \|$"
    log_loss, brier = (load_digits_values(measure=m).values for m in VALUE_EXAMPLES)
    wanted = [
        (name, f"{x.mean():.4f}", f"{y.mean():.4f}", str(np.sum(x == 36.04)))
        for name, x, y in zip(MODELS, log_loss, brier, strict=True)
    ]
    assert re.findall(pattern, text, re.MULTILINE) == wanted


def test_demsar_is_the_table_of_the_reference_case():
    tasks, scores = load_demsar()
    (case,) = (c for c in cases("friedman") if c["id"] == "ds_friedman_demsar2006")
    assert list(scores) == case["input"]["models"]
    np.testing.assert_array_equal(list(scores.values()), case["input"]["scores"])
    assert len(set(tasks)) == 14
    assert demsar_path().read_bytes().count(b"\n") == 15


def test_what_is_unknown_is_refused():
    for function in (lambda m: load_digits_values(measure=m), values_path):
        with pytest.raises(ValueError, match="measure must be one of"):
            function("accuracy")
    for name in ("iris", "", "digits.csv", "../README.md"):
        wanted = f"name must be one of the known examples ('digits'), got {name!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
            example_path(name)


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
            lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
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
