"""Prediction files in every format, joined by id, and bad in every way."""

import json

import commands
import pytest

COLUMNS = {
    "id": [10, 20, 30, 40],
    "y_true": ["cat", "dog", "dog", None],
    "svm": ["cat", "dog", "cat", "dog"],
    "knn": ["dog", "dog", "dog", "dog"],
}


@pytest.fixture
def table():
    import pyarrow as pa

    return pa.table(COLUMNS)


def write(path, table):
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    kind = path.name.partition(".")[2]
    if kind in ("csv", "csv.gz", "tsv"):
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        with pa.output_stream(str(path)) as stream:  # compressed by its name
            csv.write_csv(table, stream, options)
    elif kind in ("jsonl", "ndjson"):
        path.write_text("\n".join(map(json.dumps, table.to_pylist())) + "\n")
    elif kind in ("parquet", "pq"):
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    return path


@pytest.fixture
def compare(capsys):
    """What the program makes of files: models, numbers right, and the pairs' tables."""

    def compare(*words):
        code, out, _ = commands.run(capsys, "compare", *words, "--format", "json")
        assert code == 0
        said = json.loads(out)
        pairs = said["pairs"]
        rows = zip(*(pairs[x] for x in ("model_a", "model_b", "only_a", "only_b")), strict=True)
        names = {*pairs["model_a"], *pairs["model_b"]}
        return names, said["n_samples"], {row[:2]: row[2:] for row in rows}

    return compare


@pytest.fixture
def refused(capsys):
    return lambda *words: commands.refused(capsys, "compare", *words)


SUFFIXES = ["csv", "csv.gz", "tsv", "jsonl", "ndjson", "parquet", "pq", "arrow", "feather"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_the_same_table(tmp_path, table, compare, suffix):
    path = write(tmp_path / f"p.{suffix}", table)
    expect = ({"svm", "knn"}, 3, {("svm", "knn"): (1, 1)})
    assert compare(path) == expect
    turned = compare(path, "--target", "svm", "--models", "y_true", "knn", "--missing", "wrong")
    assert turned == ({"y_true", "knn"}, 4, {("y_true", "knn"): (1, 1)})


def test_files_are_joined_by_id_not_by_order(tmp_path, table, compare):
    import pyarrow as pa

    first = write(tmp_path / "a.csv", table.select(["id", "y_true", "svm"]))
    shuffled = table.select(["id"]).take([3, 1, 0, 2])
    column = pa.array(["dog", "cat", "cat", "dog"])  # of 40, 20, 10, 30
    second = write(tmp_path / "b.parquet", shuffled.append_column("knn", column))
    assert compare(first, second, "--id", "id")[2] == {("svm", "knn"): (1, 1)}
    assert compare(first, second, "--models", "knn", "svm")[2] == {("knn", "svm"): (1, 1)}


def test_missing_values_of_text_files(tmp_path, compare):
    path = tmp_path / "p.csv"
    path.write_text('y_true,a,b\n1,,1\nNA,1,1\n3,"3",nan\n1,1,1\n')
    assert compare(path, "--missing", "wrong")[1:] == (3, {("a", "b"): (1, 1)})
    path.write_text('y_true,a,b\nNA,"NA",x\n"NA","NA",x\ny,NA,y\nx,x,x\n')
    assert compare(path, "--missing", "wrong")[1:] == (3, {("a", "b"): (1, 1)})


def test_a_target_in_two_files_must_agree(tmp_path, table, compare, refused):
    import pyarrow as pa

    first = write(tmp_path / "a.csv", table.select(["id", "y_true", "svm"]))
    second = write(tmp_path / "b.csv", table.select(["id", "y_true", "knn"]))
    assert compare(first, second)[0] == {"svm", "knn"}
    changed = table.set_column(1, "y_true", pa.array(["cat", "dog", "cat", None]))
    write(second, changed.select(["id", "y_true", "knn"]))
    said = refused(first, second)
    assert "'y_true' differs between" in said
    assert "a.csv and" in said


def test_ids_that_do_not_match_are_named(tmp_path, table, refused):
    import pyarrow as pa

    # Not in order, so that files are not read side by side.
    first = write(tmp_path / "a.csv", table.select(["id", "y_true", "svm"]).take([1, 0, 2, 3]))
    for ids, said in (
        ([10, 20, 30], "b.parquet lacks samples of"),
        ([10, 20, 30, 40, 50], "a.csv lacks samples of"),
        ([10, 20, 20, 30], "more than one row has 20"),
        ([10, 20, None, 40], "1 rows have no id, the first is row 2"),
        ([10.5, 20.5, 30.5, 40.5], "ids differ in type: 'id' is int64 in"),
        ([10, 20, 30, 40, *range(100, 108)], "id 100, 101, 102, 103, 104 and 3 more"),
        ([[1], [2], [3], [4]], "ids must be numbers or text, 'id'"),
    ):
        second = write(tmp_path / "b.parquet", pa.table({"id": ids, "knn": ["dog"] * len(ids)}))
        assert said in refused(first, second, "--id", "id"), said
    for options in (["--target", "z"], ["--models", "svm", "z"], ["--id", "z"]):
        said = refused(first, *options)
        assert "no column 'z' " in said
        assert "svm" in said


def test_several_files_need_an_id_and_models_of_their_own(tmp_path, table, refused):
    path = write(tmp_path / "a.csv", table.drop_columns("id"))
    assert "joined by sample ids" in refused(path, path)
    first, second = write(tmp_path / "a.csv", table), write(tmp_path / "b.csv", table)
    assert "model 'svm' is in both" in refused(first, second, "--id", "id")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "csv.gz"])
def test_a_file_that_is_empty_or_cut_off(tmp_path, table, refused, suffix):
    path = write(tmp_path / f"p.{suffix}", table)
    path.write_bytes(path.read_bytes()[:-9])
    assert "cut off" in refused(path)
    path.write_bytes(b"")
    assert f"p.{suffix} is empty" in refused(path)


def test_bad_text(tmp_path, refused):
    path = tmp_path / "p.csv"
    for text, said in (
        (b"y_true,a,b\n", "holds no rows"),
        (b"y_true,a,b\ncaf\xe9,x,x\ny,x,x\n", "not UTF-8 text (column 'y_true'"),
        (b"y_true,\xff\xfe,b\ny,x,x\n", "cannot be read as CSV"),
        (b"y_true,a,a\n1,1,1\n", "more than one column named a"),
    ):
        path.write_bytes(text)
        assert said in refused(path)


def test_a_file_that_is_not_what_its_extension_says(tmp_path, table, refused):
    for real, claimed, said in (
        ("parquet", "csv", "is a Parquet file, but its extension says CSV"),
        ("arrow", "parquet", "is a Arrow file, but its extension says Parquet"),
        ("csv", "parquet", "cannot be read as Parquet"),
        ("csv", "arrow", "cannot be read as Arrow"),
        ("csv", "jsonl", "cannot be read as JSON lines"),
        ("csv", "xlsx", "extension must be one of .csv"),
        ("csv", "", "extension must be one of .csv"),
    ):
        path = write(tmp_path / f"p.{real}", table)
        assert said in refused(path.rename(tmp_path / (f"q.{claimed}" if claimed else "q")))


ROWS = {"a": ["x", "y", "x", "y"], "b": ["x", "x", "x", None]}


def write_models(folder, text=str, *, suffix=".csv", name="id", encoding="utf-8"):
    """Write a file of each model, with its answers in a column `pred`, b in another order."""
    paths = []
    for model, preds in ROWS.items():
        rows = [(i, "xyxx"[i], preds[i]) for i in sorted(range(4), reverse=model == "b")]
        lines = [f"{name},y_true,pred", *(f"{i},{y},{p or ''}" for i, y, p in rows)]
        paths.append(folder / f"{model}{suffix}")
        paths[-1].write_bytes(text("\n".join(lines) + "\n").encode(encoding))
    return paths


@pytest.mark.parametrize(
    ("options", "comma"),
    [
        ({}, ","),
        ({"encoding": "utf-16"}, ","),
        ({"encoding": "utf-8-sig"}, ";"),
        ({"suffix": ".tsv", "encoding": "utf-16"}, "\t"),
    ],
)
def test_models_are_named_by_their_files(tmp_path, compare, refused, options, comma):
    paths = write_models(tmp_path, lambda rows: rows.replace(",", comma), **options)
    wrong = ("--missing", "wrong")
    assert compare(*paths, *wrong) == ({"a", "b"}, 4, {("a", "b"): (1, 0)})
    assert compare(*paths, *wrong, "--models", "b", "a")[2] == {("b", "a"): (0, 1)}
    assert compare(f"base={paths[0]}", paths[1], *wrong)[0] == {"base", "b"}
    assert "two models are called 'x'" in refused(f"x={paths[0]}", f"x={paths[1]}")


def test_files_of_one_name_are_named_with_their_folders(tmp_path, table, compare, refused):
    paths = []
    for i, model in enumerate("ab"):
        (tmp_path / model).mkdir()
        paths.append(write_models(tmp_path / model)[i].rename(tmp_path / model / "preds.csv"))
    assert compare(*paths, "--missing", "wrong")[0] == {"a/preds", "b/preds"}
    other = write(tmp_path / "c.csv", table)
    assert "must have one column" in refused(paths[0], f"new={other}")


def test_an_index_without_a_name_may_be_the_ids(tmp_path, compare, refused):
    paths = write_models(tmp_path, name="")
    assert "--id ''" in refused(*paths)
    assert compare(*paths, "--id", "", "--missing", "wrong")[0] == {"a", "b"}
