"""Details of lighteval: both layouts, and what is refused."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from log_parts import FORMATS, expected, kinds, read, rows
from pyarrow import parquet

from fastcmp.io.logs.lighteval import FORMAT
from fastcmp.io.logs.lighteval_results import place

STAMP = "2026-01-02T03-04-05.000001"
LATER = "2026-01-03T03-04-05.000001"


def doc(i, **more):
    return {
        "id": str(i),
        "query": f"What is {i}?",
        "choices": ["a", "b"],
        "gold_index": 0,
        "task_name": "toy|0",
        **more,
    }


def write(root, docs, values, *, model="org/m", task="toy|0", stamp=STAMP, **columns):
    folder = root / "details" / model / stamp
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"details_{task}_{stamp}.parquet"
    if not columns:
        columns = {"doc": docs, "metric": values, "model_response": [{"text": ["x"]}] * len(values)}
    parquet.write_table(pa.table(columns), path)
    return path


def write_results(root, *, model="org/m", stamp=STAMP, name="Org/M", **more):
    folder = root / "results" / model
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"results_{stamp}.json"
    path.write_text(json.dumps({"config_general": {"model_name": name}, **more}))
    return path


def write_old(root, prompts, metrics, **more):
    n = len(prompts)
    return write(
        root,
        None,
        None,
        full_prompt=prompts,
        gold=["['a']"] * n,
        choices=["['a', 'b']"] * n,
        gold_index=["0"] * n,
        metrics=metrics,
        **more,
    )


def test_reads_the_example():
    parts = read(FORMAT, FORMATS / "lighteval", metric="acc")
    assert rows(parts) == expected("lighteval")
    alpha, beta = parts
    assert alpha.items.tolist() == [0, 1, 2]
    assert beta.items.tolist() == [2, 0, 1]
    assert alpha.item_hash.tolist() == beta.item_hash[[1, 2, 0]].tolist()
    assert alpha.mean_stated == pytest.approx(2 / 3)


def test_recognises_details_by_their_columns(tmp_path):
    write(tmp_path, [doc(0)], [{"acc": 1}])
    write_old(tmp_path, ["p"], [{"acc": 1}], stamp=LATER)
    write_results(tmp_path)
    parquet.write_table(pa.table({"item": [1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"config_general": ["x"]}), tmp_path / "r.parquet")
    (tmp_path / "results_x.json").write_text('{"results": {}, "configs": {}}')
    assert kinds(FORMAT, tmp_path) == {
        f"details_toy|0_{STAMP}.parquet": "values",
        f"details_toy|0_{LATER}.parquet": "values",
        f"results_{STAMP}.json": "beside",
        "a.parquet": "",
        "r.parquet": "beside",
        "results_x.json": "",
    }


def test_rows_of_one_document_become_one(tmp_path):
    metrics = [{"acc": 1, "em": None, "f1": None}, {"acc": 0, "em": None, "f1": None}]
    metrics += [{"acc": None, "em": 0.5, "f1": math.nan}]
    write(tmp_path, [doc(0), doc(1), doc(1)], metrics)
    acc, em, f1 = read(FORMAT, tmp_path)
    assert acc.values.tolist() == [1, 0]
    np.testing.assert_array_equal(em.values, [math.nan, 0.5])
    assert (em.status.tolist(), em.reasons) == ([2, 0], {0: "no em"})
    assert f1.reasons == {0: "no f1", 1: "NaN"}
    assert [p.metric for p in read(FORMAT, tmp_path, metric="em")] == ["em"]
    assert len(read(FORMAT, tmp_path, metric="unknown")) == 3


@pytest.mark.parametrize(
    "docs",
    [
        [doc(0), doc(1), doc(0, query="Another?")],
        [doc(0), doc(0)],
        [doc(0), doc(0, choices=["b", "a"])],
    ],
)
def test_two_splits_number_their_documents_alike(tmp_path, docs):
    path = write(tmp_path, docs, [{"acc": 1}] * len(docs))
    with pytest.raises(ValueError, match="document '0' is there twice") as refused:
        read(FORMAT, tmp_path)
    assert str(refused.value).startswith(str(path))


def test_the_model_is_that_of_the_results_of_the_same_run(tmp_path):
    for model in ("org/a", "org/b"):
        write(tmp_path, [doc(0)], [{"acc": 1}], model=model)
        write_results(tmp_path, model=model, name=f"The {model}")
    write_results(tmp_path, model="org/a", stamp=LATER, name="Later")
    assert [p.model for p in read(FORMAT, tmp_path)] == ["The org/a", "The org/b"]


def test_the_model_is_the_folder_where_no_results_say_it(tmp_path):
    write(tmp_path, [doc(0)], [{"acc": 1}], model="org/a")
    (part,) = read(FORMAT, tmp_path)
    assert part.model == "org/a"
    assert "named after the folder, org/a" in part.remarks[0]
    (part,) = read(FORMAT, tmp_path / "details" / "org")
    assert part.model == "org/a"


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (f"x/details/o/m/{STAMP}/details_t|0_{STAMP}.parquet", ("o/m", STAMP, "t|0")),
        (f"x/details/m/{STAMP}/details_a_b|5_{STAMP}.parquet", ("m", STAMP, "a_b|5")),
        (f"details_o__m/{STAMP}/details_t_{STAMP}.parquet", ("o/m", STAMP, "t")),
        (f"m/details_t_{STAMP}.parquet", ("m", STAMP, "t")),
        (f"results/o/m/results_{STAMP}.json", ("o/m", STAMP, "")),
        ("m/other.parquet", ("m", "", "")),
    ],
)
def test_what_a_path_tells(tmp_path, path, wanted):
    assert place(tmp_path / path) == wanted


def test_two_times_are_two_runs(tmp_path):
    write(tmp_path, [doc(0)], [{"acc": 1}])
    write(tmp_path, [doc(0)], [{"acc": 0}], stamp=LATER)
    a, b = read(FORMAT, tmp_path)
    assert (a.run, b.run) == (STAMP, LATER)
    assert a.created < b.created


def test_the_results_tell_direction_number_and_mean(tmp_path):
    names = {"metric_name": "acc", "higher_is_better": True}
    pair = {"metric_name": ["x", "y"], "higher_is_better": {"ppl": False, "y": True}}
    config = {"metrics": [names, pair, "text"], "effective_num_docs": 1, "version": 2}
    write(tmp_path, [doc(0)], [{"acc": 1, "ppl": 4.5, "y": 1.0}])
    write_results(tmp_path, results={"toy|0": {"acc": 1}}, config_tasks={"toy": config})
    acc, ppl, y = read(FORMAT, tmp_path)
    assert [p.lower_is_better for p in (acc, ppl, y)] == [False, True, False]
    assert (acc.mean_stated, ppl.mean_stated) == (1, None)
    assert (acc.n_stated, acc.settings["task version"]) == (1, "2")
    config["effective_num_docs"] = 3
    write_results(tmp_path, config_tasks={"toy|0": config})
    with pytest.raises(ValueError, match=r"1 documents of task 'toy|0', but the run says 3"):
        read(FORMAT, tmp_path)
    assert read(FORMAT, tmp_path, tasks=("other",)) == []


@pytest.mark.parametrize("summary", ["mean", "nanmean", "max", {"acc": "max"}, None])
def test_figures_that_are_no_means_are_named(tmp_path, summary):
    metric = {"metric_name": "acc", "corpus_level_fn": summary}
    config = {"toy|0": {"metrics": [metric]}}
    write(tmp_path, [doc(0), doc(1)], [{"acc": 1}, {"acc": 0}])
    write_results(tmp_path, results={"toy|0": {"acc": 0.5}}, config_tasks=config)
    (part,) = read(FORMAT, tmp_path)
    if "max" in str(summary):
        assert part.mean_stated is None
        assert "the run states the max of 'acc'" in part.remarks[0]
    else:
        assert (part.mean_stated, part.remarks) == (0.5, ())


def test_the_old_layout_tells_documents_by_their_prompts(tmp_path):
    write_old(tmp_path, ["p1", "p2"], [{"acc": 1.0}, {"acc": 0.0}], model="a")
    write_old(tmp_path, ["p2", "p1"], ["{'acc': 0}", "{'acc': 1}"], model="b")
    a, b = read(FORMAT, tmp_path)
    assert (a.task, a.model, b.model) == ("toy|0", "a", "b")
    assert a.items == b.items[::-1]
    assert a.values.tolist() == b.values.tolist()[::-1] == [1, 0]
    assert a.item_hash.tolist() == b.item_hash.tolist()[::-1]


def test_equal_prompts_of_the_old_layout_are_refused(tmp_path):
    write_old(tmp_path, ["p", "p"], [{"acc": 1.0}, {"acc": 1.0}])
    with pytest.raises(ValueError, match="is there twice"):
        read(FORMAT, tmp_path)


def test_ids_that_are_not_numbers_stay_text(tmp_path):
    write(tmp_path, [doc("01"), doc("1")], [{"acc": 1}, {"acc": 0}])
    assert read(FORMAT, tmp_path)[0].items == ["01", "1"]


@pytest.mark.parametrize(
    ("docs", "metrics", "metric", "match"),
    [
        ([doc(0)], [{"acc": 1, "bleu": [1, 2]}], "bleu", "bleu: no document has a number"),
        ([doc(0)], [{"bleu": {"a": 1}}], None, "bleu: no document has a number"),
        ([doc(0)], [{"acc": None}], None, "no metric: no document has a number"),
        ([{**doc(0), "id": None}], [{"acc": 1}], None, "row 1 has no doc.id"),
        ([doc(0)], ["{'acc': nan}"], None, "metrics that cannot be read"),
        ([doc(0)], ["[1]"], None, "wanted metrics by name"),
    ],
)
def test_rows_that_say_nothing_are_refused(tmp_path, docs, metrics, metric, match):
    path = write(tmp_path, docs, metrics)
    with pytest.raises(ValueError, match=match) as refused:
        read(FORMAT, tmp_path, metric=metric)
    assert str(refused.value).startswith(str(path))


def test_no_documents(tmp_path):
    kind = pa.struct([("id", pa.string()), ("task_name", pa.string())])
    write(
        tmp_path,
        None,
        None,
        doc=pa.array([], kind),
        metric=pa.array([], pa.struct([("acc", pa.int64())])),
        model_response=pa.array([], pa.string()),
    )
    with pytest.raises(ValueError, match="no documents"):
        read(FORMAT, tmp_path)


def test_large_and_damaged_files_are_refused(tmp_path):
    path = write(tmp_path, [doc(i) for i in range(100)], [{"acc": 1}] * 100)
    with pytest.raises(ValueError, match=r"columns take .* bytes, more than memory_limit"):
        read(FORMAT, tmp_path, memory_limit=5000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="no whole Parquet file"):
        read(FORMAT, tmp_path)
