"""Two files of one model each: joined by id, refused where they do not fit."""

import numpy as np
import pytest

from fastcmp.io.two_files import TwoFiles

LETTERS = np.array(["x", "y", "z"])


def write(path, columns):
    lines = zip(*columns.values(), strict=True)
    rows = [",".join(columns), *(",".join(map(str, line)) for line in lines)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    """Two files with their rows in different orders."""
    rng = np.random.default_rng(7)
    n = 40
    whole = {
        "id": np.arange(100, 100 + n),
        "y_true": LETTERS[rng.integers(0, 3, n)],
        "pred": LETTERS[rng.integers(0, 3, n)],
        "part": np.where(np.arange(n) % 4, "easy", "hard"),
    }
    other = whole | {"pred": LETTERS[rng.integers(0, 3, n)]}
    order = rng.permutation(n)
    shuffled = {name: x[order] for name, x in other.items() if name != "part"}
    paths = [write(tmp_path / "base.csv", whole), write(tmp_path / "new.csv", shuffled)]
    return paths, whole, other


def test_rows_are_joined_by_id(files):
    paths, whole, other = files
    found = TwoFiles(paths, others={"--by": "part"}).read()
    assert found.y_true.to_pylist() == whole["y_true"].tolist()
    assert found.models[0].to_pylist() == whole["pred"].tolist()
    assert found.models[1].to_pylist() == other["pred"].tolist()
    assert found.others["--by"].to_pylist() == whole["part"].tolist()


def test_values_need_no_truth(tmp_path):
    one = write(tmp_path / "a.csv", {"id": ["01", "1"], "grade": [0.5, 1]})
    two = write(tmp_path / "b.csv", {"id": ["1", "01"], "score": [0, 1]})
    found = TwoFiles([one, two], target=None).read()
    assert [x.to_pylist() for x in found.models] == [[0.5, 1.0], [1.0, 0.0]]
    assert found.y_true is None


def test_types_are_settled_for_both(tmp_path):
    """What is a number in one file and a word in the other is compared as text."""
    one = {"id": [1, 2], "y_true": ["1", "a"], "pred": ["1", "1"]}
    two = {"id": [1, 2], "y_true": ["1", "a"], "pred": [1, 1]}
    found = TwoFiles([write(tmp_path / "a.csv", one), write(tmp_path / "b.csv", two)]).read()
    assert [x.to_pylist() for x in found.models] == [["1", "1"], ["1", "1"]]


def test_what_does_not_fit_is_refused(files, tmp_path):
    (base, new), whole, other = files
    narrow = {name: other[name] for name in ("id", "y_true", "pred")}

    def refused(columns, match, **options):
        path = write(tmp_path / "wrong.csv", columns)
        with pytest.raises(ValueError, match=match):
            TwoFiles([base, path], **{"drop": ["part"]} | options).read()

    no_ids = {name: x for name, x in narrow.items() if name != "id"}
    refused(no_ids, r"joined by sample ids: name their column \(--id\)")
    refused(narrow, r"base.csv has no column 'key' \(--id\)", id_column="key")
    refused({name: x[1:] for name, x in narrow.items()}, "wrong.csv lacks samples of")
    turned = narrow | {"y_true": np.roll(whole["y_true"], 1)}
    refused(turned, "'y_true' differs between")
    two = narrow | {"more": other["pred"]}
    refused(two, r"must have one column for its model, got 2 \(pred, more\)")
    refused(narrow, r"has no column 'p' \(--models\)", models=("pred", "p"))
    refused(narrow, r"has no column 'q' \(--by\)", others={"--by": "q"})
    with pytest.raises(TypeError, match="values must be numbers"):
        TwoFiles([base, new], target=None, drop=["y_true", "part"]).read()


def test_a_late_word_is_read_again(tmp_path):
    n = 600_000
    many = {"id": np.arange(n), "y_true": np.ones(n, int), "pred": np.ones(n, int)}
    late = many | {"pred": np.append(np.ones(n - 1, int).astype(object), "odd")}
    paths = [write(tmp_path / "a.csv", many), write(tmp_path / "b.csv", late)]
    found = TwoFiles(paths).read()
    assert found.models[1][-1].as_py() == "odd"
    assert found.models[0][0].as_py() == "1"
