"""Prediction files in every format, joined by id, and bad in every way."""

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from fastcmp.io.kinds import plain_table
from fastcmp.io.predictions import read_predictions
from fastcmp.io.sources import read_table
from fastcmp.io.stream import PredictionStream

TABLE = pa.table(
    {
        "id": [10, 20, 30, 40],
        "y_true": ["cat", "dog", "dog", None],
        "svm": ["cat", "dog", "cat", "dog"],
        "knn": ["dog", "dog", "dog", "dog"],
    }
)


def write(path, table=TABLE):
    kind = path.name.partition(".")[2]
    if kind in ("csv", "csv.gz", "tsv"):
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        if kind.endswith("gz"):
            with pa.CompressedOutputStream(str(path), "gzip") as stream:
                csv.write_csv(table, stream, options)
        else:
            csv.write_csv(table, path, options)
    elif kind in ("jsonl", "ndjson"):
        import json as lines

        path.write_text("\n".join(map(lines.dumps, table.to_pylist())) + "\n")
    elif kind in ("parquet", "pq"):
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    return path


@pytest.mark.parametrize(
    "suffix", ["csv", "csv.gz", "tsv", "jsonl", "ndjson", "parquet", "pq", "arrow", "feather"]
)
def test_every_format_gives_the_same_table(tmp_path, suffix):
    table = read_table(write(tmp_path / f"p.{suffix}"))
    assert table.to_pydict() == TABLE.to_pydict()


def test_columns_are_told_apart(tmp_path):
    read = read_predictions([write(tmp_path / "p.csv")])
    assert read.y_true.to_pylist() == ["cat", "dog", "dog", None]
    assert list(read.preds) == ["svm", "knn"]
    models = ["y_true", "knn"]
    read = read_predictions([tmp_path / "p.csv"], target="svm", models=models)
    assert list(read.preds) == models


def test_missing_values_of_text_files(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text('y_true,a,b\n1,,2\nNA,1,1\n3,"3",nan\n')
    columns = read_table(path).to_pydict()
    assert columns["y_true"] == [1, None, 3]
    assert columns["b"] == [2, 1, None]
    path.write_text('y_true,a\nx,"NA"\ny,NA\n')
    assert read_table(path).to_pydict()["a"] == ["NA", None]


def test_files_are_joined_by_id_not_by_order(tmp_path):
    first = write(tmp_path / "a.csv", TABLE.select(["id", "y_true", "svm"]))
    shuffled = TABLE.select(["id", "knn"]).take([3, 1, 0, 2])
    shuffled = shuffled.set_column(1, "knn", pa.array(["forty", "20", "10", "30"]))
    second = write(tmp_path / "b.parquet", shuffled)
    read = read_predictions([first, second], id_column="id")
    assert read.preds["knn"].to_pylist() == ["10", "20", "30", "forty"]
    assert read.preds["svm"].to_pylist() == TABLE["svm"].to_pylist()


TEXT = {
    "string": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "coded": pa.dictionary(pa.int8(), pa.string()),
    "coded large": pa.dictionary(pa.int8(), pa.large_string()),
    "coded view": pa.dictionary(pa.uint32(), pa.string_view()),
}


def typed(table, kind):
    """The same table with its columns as text of one type."""
    columns = {}
    for name in table.column_names:
        column = table[name].cast(pa.string()).combine_chunks()
        if pa.types.is_dictionary(kind):
            coded = column.dictionary_encode()
            words, codes = coded.dictionary, coded.indices.cast(kind.index_type)
            column = pa.DictionaryArray.from_arrays(codes, words.cast(kind.value_type))
        columns[name] = column if pa.types.is_dictionary(kind) else column.cast(kind)
    return pa.table(columns)


@pytest.mark.parametrize("kind", TEXT.values(), ids=TEXT)
def test_text_is_text_however_it_is_stored(tmp_path, kind):
    expect = read_predictions([write(tmp_path / "p.csv")])
    table = TABLE.select(["id", "y_true", "svm"])
    first = write(tmp_path / "a.arrow", typed(table, kind))
    table = TABLE.select(["knn", "y_true", "id"])
    # Codes of views cannot be written to Parquet, nor can views before Arrow 21.
    old = int(pa.__version__.split(".")[0]) < 21
    unwritten = {"coded view", "view"} if old else {"coded view"}
    for other in (TEXT[name] for name in TEXT if name not in unwritten):
        second = write(tmp_path / "b.parquet", typed(table, other))
        read = read_predictions([first, second])
        assert read.y_true.to_pylist() == expect.y_true.to_pylist()
        for name, column in read.preds.items():
            assert column.to_pylist() == expect.preds[name].to_pylist()


def test_numbers_join_views_of_text(tmp_path):
    table = TABLE.set_column(1, "y_true", TABLE["y_true"].cast(pa.string_view()))
    first = write(tmp_path / "a.arrow", table.select(["id", "y_true"]))
    views = TABLE["svm"].cast(pa.string_view())
    second = write(tmp_path / "b.arrow", pa.table({"svm": views, "id": TABLE["id"]}))
    read = read_predictions([second, first])
    assert read.preds["svm"].to_pylist() == TABLE["svm"].to_pylist()


def test_columns_that_are_plain_are_not_touched():
    table = TABLE.append_column("view", TABLE["svm"].cast(pa.string_view()))
    plain = plain_table(table)
    assert plain.schema.types == [pa.int64(), *[pa.string()] * 4]
    for name in TABLE.column_names:
        old, new = (x[name].chunk(0).buffers()[1].address for x in (table, plain))
        assert old == new


@pytest.mark.parametrize(
    "ids", [[[1], [2], [3], [4]], [{"a": i} for i in range(4)]], ids=["lists", "records"]
)
def test_ids_that_cannot_be_compared(tmp_path, ids):
    path = write(tmp_path / "p.parquet", TABLE.set_column(0, "id", pa.array(ids)))
    with pytest.raises(ValueError, match=r"p\.parquet: ids must be numbers or text, 'i"):
        read_predictions([path])


def test_a_target_in_two_files_must_agree(tmp_path):
    first = write(tmp_path / "a.csv", TABLE.select(["id", "y_true", "svm"]))
    second = write(tmp_path / "b.csv", TABLE.select(["id", "y_true", "knn"]))
    assert list(read_predictions([first, second], id_column="id").preds) == ["svm", "knn"]
    changed = TABLE.set_column(1, "y_true", pa.array(["cat", "dog", "cat", None]))
    write(second, changed.select(["id", "y_true", "knn"]))
    with pytest.raises(ValueError, match=r"'y_true' differs between .*a\.csv and .*b\.csv"):
        read_predictions([first, second], id_column="id")


def joined_with(tmp_path, ids):
    first = write(tmp_path / "a.csv", TABLE.select(["id", "y_true", "svm"]))
    table = pa.table({"id": ids, "knn": ["dog"] * len(ids)})
    second = write(tmp_path / "b.parquet", table)
    return read_predictions([first, second], id_column="id")


def test_ids_that_do_not_match_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"b\.parquet lacks samples of .*a\.csv: id 40"):
        joined_with(tmp_path, [10, 20, 30])
    with pytest.raises(ValueError, match=r"a\.csv lacks samples of .*b\.parquet: id 50"):
        joined_with(tmp_path, [10, 20, 30, 40, 50])
    with pytest.raises(ValueError, match="more than one row has 20"):
        joined_with(tmp_path, [10, 20, 20, 30])
    with pytest.raises(ValueError, match="1 rows have no id, the first is row 2"):
        joined_with(tmp_path, [10, 20, None, 40])
    with pytest.raises(ValueError, match=r"ids differ in type: 'id' is int64 .* double"):
        joined_with(tmp_path, [10.5, 20.5, 30.5, 40.5])
    many = list(range(100, 108))
    with pytest.raises(ValueError, match="id 100, 101, 102, 103, 104 and 3 more"):
        joined_with(tmp_path, [10, 20, 30, 40, *many])


def test_several_files_need_an_id(tmp_path):
    path = write(tmp_path / "a.csv", TABLE.drop_columns("id"))
    with pytest.raises(ValueError, match="joined by sample ids"):
        read_predictions([path, path])


def test_a_model_in_two_files_is_refused(tmp_path):
    first, second = write(tmp_path / "a.csv"), write(tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r"model 'svm' is in both .*a\.csv and .*b\.csv: .*NAME="):
        read_predictions([first, second], id_column="id")


@pytest.mark.parametrize(
    ("options", "column"),
    [({"target": "z"}, "z"), ({"models": ["svm", "x"]}, "x"), ({"id_column": "k"}, "k")],
)
def test_unknown_columns_are_named_with_the_known_ones(tmp_path, options, column):
    path = write(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=f"no column '{column}' .*svm, knn"):
        read_predictions([path], **options)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "tsv"])
def test_an_empty_file(tmp_path, suffix):
    path = tmp_path / f"p.{suffix}"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"p\.\w+ is empty"):
        read_table(path)


def test_a_header_alone(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n")
    with pytest.raises(ValueError, match="holds no rows"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl", "csv.gz"])
def test_a_file_that_is_cut_off(tmp_path, suffix):
    path = write(tmp_path / f"p.{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    with pytest.raises(ValueError, match=r"cannot be read as .* cut off"):
        read_table(path)


@pytest.mark.parametrize("cell", [b"caf\xe9", b"\xff\xfe"])
def test_text_that_is_not_utf8(tmp_path, cell):
    path = tmp_path / "p.csv"
    path.write_bytes(b"y_true,a\n" + cell + b",x\ny,x\n")
    with pytest.raises(ValueError, match=r"not UTF-8 text \(column 'y_true'\)"):
        read_table(path)
    path.write_bytes(b"y_true," + cell + b"\ny,x\n")
    with pytest.raises(ValueError, match="cannot be read as CSV"):
        read_table(path)


@pytest.mark.parametrize(
    ("real", "claimed", "match"),
    [
        ("parquet", "csv", "is a Parquet file, but its extension says CSV"),
        ("arrow", "parquet", "is a Arrow file, but its extension says Parquet"),
        ("csv", "parquet", "cannot be read as Parquet"),
        ("csv", "arrow", "cannot be read as Arrow"),
        ("csv", "jsonl", "cannot be read as JSON lines"),
        ("csv", "xlsx", "extension must be one of .csv"),
        ("csv", "", "extension must be one of .csv"),
    ],
)
def test_a_file_that_is_not_what_its_extension_says(tmp_path, real, claimed, match):
    path = write(tmp_path / f"p.{real}")
    renamed = path.rename(tmp_path / (f"q.{claimed}" if claimed else "q"))
    with pytest.raises(ValueError, match=match):
        read_table(renamed)


def test_columns_of_one_name(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,a\n1,1,1\n")
    with pytest.raises(ValueError, match="more than one column named a"):
        read_table(path)


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


ROWS = {"a": ["x", "y", "x", "y"], "b": ["x", "x", "x", None]}


def write_models(folder, text=str, *, ids=(3, 1, 2, 0), suffix=".csv", name="id", encoding="utf-8"):
    """Write a file of each model, with its answers in a column `pred`, b in another order."""
    paths = []
    for model, preds in ROWS.items():
        rows = [(i, "xyxx"[i], preds[i]) for i in sorted(ids, reverse=model == "b")]
        lines = [f"{name},y_true,pred", *(f"{i},{y},{p or ''}" for i, y, p in rows)]
        paths.append(folder / f"{model}{suffix}")
        paths[-1].write_bytes(text("\n".join(lines) + "\n").encode(encoding))
    return paths


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"encoding": "utf-16"},
        {"text": lambda rows: rows.replace(",", ";")},
        {"text": lambda rows: rows.replace(",", ";"), "encoding": "utf-8-sig"},
        {"suffix": ".tsv", "text": lambda rows: rows.replace(",", "\t"), "encoding": "utf-16"},
    ],
    ids=["csv", "utf-16", "semicolons", "marked", "tsv"],
)
def test_models_are_named_by_their_files(tmp_path, form):
    paths = write_models(tmp_path, **form)
    read = read_predictions(paths)
    assert {name: column.to_pylist() for name, column in read.preds.items()} == ROWS
    assert read.y_true.to_pylist() == list("xyxx")
    assert read.remarks == ("models are named by their files, each with column 'pred': a, b",)
    assert list(PredictionStream(paths).names) == ["a", "b"]
    assert list(read_predictions(paths, models=["pred"]).preds) == ["a", "b"]
    assert list(read_predictions(paths, models=["b", "a"]).preds) == ["b", "a"]
    named = read_predictions(paths, names=["base", None])
    assert list(named.preds) == ["base", "b"]
    with pytest.raises(ValueError, match=r"two models are called 'x', .*name one as NAME="):
        read_predictions(paths, names=["x", "x"])


def test_files_of_one_name_are_named_with_their_folders(tmp_path):
    paths = []
    for i, model in enumerate("ab"):
        (tmp_path / model).mkdir()
        paths.append(write_models(tmp_path / model)[i].rename(tmp_path / model / "preds.csv"))
    assert list(read_predictions(paths).preds) == ["a/preds", "b/preds"]


def test_a_named_file_holds_one_model(tmp_path):
    (path, _), other = write_models(tmp_path), write(tmp_path / "c.csv")
    with pytest.raises(ValueError, match=r"c\.csv must have one column .* 'new', got 2 \(svm, "):
        read_predictions([path, other], names=[None, "new"])


@pytest.mark.parametrize(
    ("missing", "n", "b"), [("common", 2, ["x", "x"]), ("wrong", 4, ["x", "x", "x", None])]
)
def test_samples_that_a_file_lacks(tmp_path, missing, n, b):
    first, second = write_models(tmp_path)
    kept = [line for line in first.read_text().splitlines() if not line.startswith("2")]
    first.write_text("\n".join(kept) + "\n")
    with pytest.raises(ValueError, match=r"lacks samples .*: id 2; --missing common .*wrong"):
        read_predictions([first, second], missing="raise")
    read = read_predictions([first, second], missing=missing)
    assert len(read.y_true) == n
    assert sorted(map(str, read.preds["b"].to_pylist())) == sorted(map(str, b))
    a = dict(zip(read.preds["b"].to_pylist(), read.preds["a"].to_pylist(), strict=True))
    assert read.preds["a"].null_count == (missing == "wrong")
    assert missing == "common" or a[None] == "y"
    assert "2 samples that some" in read.remarks[-1] or "a.csv lacks 1 sam" in read.remarks[-1]


def test_an_index_without_a_name_may_be_the_ids(tmp_path):
    paths = write_models(tmp_path, name="")
    with pytest.raises(ValueError, match=r"\('--id'\)|the column without a name .* --id ''"):
        read_predictions(paths)
    assert list(read_predictions(paths, id_column="").preds) == ["a", "b"]
