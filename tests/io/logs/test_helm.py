"""Runs of HELM: what is read of a folder, and what is refused."""

import json

import numpy as np
import pytest
from log_parts import FORMATS, expected, files_below, kinds, read, rows

from fastcmp.io.logs import json_values
from fastcmp.io.logs.helm import FORMAT

PERTURBED = {"name": "typos", "robustness": True, "computed_on": "perturbed"}


def stat(name, total=1, count=1, split="test", **more):
    return {"name": {"name": name, "split": split, **more}, "count": count, "sum": total}


def record(item, *stats, trial=0, **more):
    return {"instance_id": item, **more, "train_trial_index": trial, "stats": list(stats)}


def write(folder, name, value):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def write_run(folder, records, *, name="toy:subject=a,model=org_m", **more):
    adapter = {"method": "generation", "model": "org/m", **more.pop("adapter", {})}
    write(folder, "run_spec.json", {"name": name, "adapter_spec": adapter})
    for other, value in more.items():
        write(folder, f"{other}.json", value)
    return write(folder, "per_instance_stats.json", records)


THREE = [
    record("id1", stat("exact_match", 1)),
    record("id2", stat("exact_match", 0)),
    record("id3", stat("exact_match", 1)),
]


def test_reads_the_example():
    parts = read(FORMAT, FORMATS / "helm", metric="exact_match")
    assert rows(parts) == expected("helm")
    assert all("3 records of perturbed" in part.remarks[0] for part in parts)
    assert parts[0].item_hash.tolist() == parts[1].item_hash.tolist()
    assert parts[0].mean_stated == pytest.approx(2 / 3)


def test_recognises_a_run_by_its_files(tmp_path):
    write_run(
        tmp_path / "run",
        THREE,
        stats=[],
        instances=[],
        scenario={},
        scenario_state={},
        display_predictions=[{"instance_id": "id1", "stats": {"exact_match": 1}}],
        display_requests=[],
        other={},
    )
    write(tmp_path, "stats.json", [])
    found = kinds(FORMAT, tmp_path / "run")
    assert found.pop("per_instance_stats.json") == "values"
    assert found.pop("other.json") == ""
    assert set(found.values()) == {"beside"}
    assert len(found) == 7
    assert FORMAT.holds(files_below(tmp_path / "stats.json")[0]) == ""


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("per_instance_stats.json", THREE, "no run_spec.json beside it"),
        ("per_instance_stats.json", [], "no run_spec.json beside it"),
        ("run_spec.json", {"adapter_spec": {}}, "no per_instance_stats.json beside it"),
        (
            "display_predictions.json",
            [{"instance_id": "id1", "stats": {}}],
            "no per_instance_stats.json beside it",
        ),
    ],
)
def test_says_which_file_lacks(tmp_path, name, value, match):
    path = write(tmp_path, name, value)
    with pytest.raises(ValueError, match=match) as refused:
        read(FORMAT, tmp_path)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("toy:model=org_m", "toy"),
        ("toy", "toy"),
        ("toy:model=org_m,subject=a", "toy:subject=a"),
        ("toy:a=1,model=org_m,b=2", "toy:a=1,b=2"),
        ("toy:a=1,model_deployment=x,model=org_m", "toy:a=1"),
    ],
)
def test_the_task_is_the_run_without_its_model(tmp_path, name, task):
    write_run(tmp_path, THREE, name=name)
    (part,) = read(FORMAT, tmp_path)
    assert (part.model, part.task, part.subset) == ("org/m", task, "test")
    assert read(FORMAT, tmp_path, tasks=("x",)) == []


def test_records_of_one_instance_become_one(tmp_path):
    records = [
        record("id1", stat("num_prompt_tokens", 9)),
        record("id1", stat("exact_match", 1)),
        record("id1", stat("exact_match", 1)),
        record("id2", stat("num_prompt_tokens", 7), stat("exact_match", 0)),
    ]
    write_run(tmp_path, records)
    (part,) = read(FORMAT, tmp_path, metric="exact_match")
    assert (part.items, part.values.tolist()) == (["id1", "id2"], [1, 0])
    records[2] = record("id1", stat("exact_match", 0))
    write_run(tmp_path, records)
    with pytest.raises(ValueError, match="'id1', trial 0, has exact_match twice: 1 and 0"):
        read(FORMAT, tmp_path)


def test_perturbed_instances_are_left_out(tmp_path):
    records = [
        *THREE,
        record("id1", stat("exact_match", 0), perturbation=PERTURBED),
        record("id4", stat("exact_match", 0, perturbation=PERTURBED)),
    ]
    write_run(tmp_path, records)
    (part,) = read(FORMAT, tmp_path)
    assert part.items == ["id1", "id2", "id3"]
    assert "1 records of perturbed instances are left out" in part.remarks[0]


def test_splits_are_subsets_each_with_its_mean(tmp_path):
    records = [
        record("id1", stat("exact_match", 1)),
        record("id2", stat("exact_match", 0)),
        record("id9", stat("exact_match", 0, split="valid")),
    ]
    means = [
        stat("exact_match", 0.5),
        stat("exact_match", 0.0, split="valid"),
        stat("exact_match", 0.1, perturbation=PERTURBED),
        stat("num_instances", 2),
        stat("num_instances", 1, split="valid"),
    ]
    write_run(tmp_path, records, stats=means)
    test, valid = read(FORMAT, tmp_path)
    assert (test.subset, test.mean_stated, test.n_stated) == ("test", 0.5, 2)
    assert (valid.subset, valid.mean_stated, valid.n_stated) == ("valid", 0.0, 1)


def test_trials_are_repeats(tmp_path):
    records = [
        record(f"id{i}", stat("exact_match", i * t), trial=t) for t in range(2) for i in range(2)
    ]
    means = [stat("num_instances", 4.0, count=2)]
    write_run(tmp_path, records, stats=means, adapter={"num_train_trials": 2})
    (part,) = read(FORMAT, tmp_path)
    assert part.repeats.tolist() == [0, 0, 1, 1]
    assert part.values.tolist() == [0, 0, 0, 1]
    assert part.n_stated == 4


def test_a_value_is_the_mean_and_count_0_is_none(tmp_path):
    records = [
        record("id1", stat("f1_score", 1.5, count=3)),
        record("id2", stat("f1_score", 0, count=0)),
        record("id3", stat("other_match", 1)),
        record("id4", stat("f1_score", float("nan"))),
    ]
    write_run(tmp_path, records)
    (part,) = read(FORMAT, tmp_path, metric="f1_score")
    np.testing.assert_array_equal(part.values, [0.5, np.nan, np.nan, np.nan])
    assert part.status.tolist() == [0, 2, 2, 2]
    assert part.reasons == {1: "count 0", 2: "no f1_score", 3: "NaN"}


def test_metrics_come_one_by_one_or_all(tmp_path):
    records = [record("id1", stat("exact_match"), stat("perplexity", 3), stat("zeal"))]
    means = [stat("macro_f1", 0.5)]
    write_run(tmp_path, records, stats=means)
    parts = {part.metric: part for part in read(FORMAT, tmp_path)}
    assert list(parts) == ["exact_match", "zeal", "perplexity"]  # scores first
    assert [p.lower_is_better for p in parts.values()] == [False, False, True]
    assert "matched by their ids alone" in parts["exact_match"].remarks[0]
    assert parts["exact_match"].remarks == parts["perplexity"].remarks
    assert "does not say whether more of 'zeal' is better" in parts["zeal"].remarks[1]
    assert len(read(FORMAT, tmp_path, metric="exact_match")) == 1
    assert len(read(FORMAT, tmp_path, metric="unknown")) == 3
    with pytest.raises(ValueError, match=r"'macro_f1' is in stats.json, of all instances"):
        read(FORMAT, tmp_path, metric="macro_f1")


@pytest.mark.parametrize("where", ["instances", "scenario_state", "both", "none"])
def test_what_an_instance_asks_is_compared(tmp_path, where):
    instances = [
        {"id": f"id{i}", "input": {"text": f"text {i}"}, "split": "test"} for i in (1, 2, 3)
    ]
    instances.insert(0, {**instances[0], "input": {"text": "txet"}, "perturbation": {"name": "x"}})  # fmt: skip  # noqa: E501
    # The API answered: of no importance for what is right.
    states = [{"instance": i, "result": {"success": True}} for i in instances]
    state = {"adapter_spec": {"a": ["[{"]}, "request_states": states}
    more = {"instances": instances} if where in ("instances", "both") else {}
    if where in ("scenario_state", "both"):
        more["scenario_state"] = state
    write_run(tmp_path / "a", THREE, **more)
    write_run(tmp_path / "b", THREE, instances=instances)
    a, b = read(FORMAT, tmp_path)
    if where == "none":
        assert a.item_hash is None
    else:
        assert a.item_hash.tolist() == b.item_hash.tolist()
    assert np.unique(b.item_hash).size == 3


def test_a_copy_in_a_folder_is_read_too(tmp_path):
    path = write_run(tmp_path, THREE)
    path.with_name("copy.json").write_text(path.read_text())
    assert [p.source.name for p in read(FORMAT, tmp_path)] == ["copy.json", path.name]
    path.unlink()
    (part,) = read(FORMAT, tmp_path)
    assert part.source.name == "copy.json"


def test_runs_are_folders(tmp_path):
    write_run(tmp_path / "v1" / "a", THREE)
    write_run(tmp_path / "v2" / "a", THREE)
    a, b = read(FORMAT, tmp_path)
    assert a.run != b.run


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write_run(tmp_path / "elsewhere", THREE)
    folder = tmp_path / "runs"
    write(folder, "per_instance_stats.json", THREE)
    (folder / "run_spec.json").symlink_to(tmp_path / "elsewhere" / "run_spec.json")
    with pytest.raises(ValueError, match=r"no run_spec.json beside it"):
        read(FORMAT, folder)


@pytest.mark.parametrize(
    ("records", "match"),
    [
        ([], "no instance has a statistic"),
        (json.dumps(THREE)[:-20], "entry 3 is no whole JSON object"),
        ("[null]", "entry 1 is no whole JSON object"),
        ([record("id1", stat("f1_score", "1"))], "count 1 and sum '1'; wanted numbers"),
        ([record("id1", stat("f1_score", 1, count=-1))], "count -1 and sum 1"),
        ([record("id1", stat("f1_score"), trial=-1)], "wanted records with instance_id"),
        ([record("id1", {"name": "f1"})], "a statistic without a name"),
    ],
)
def test_damaged_files_are_refused(tmp_path, records, match):
    path = write_run(tmp_path, THREE)
    (file,) = [f for f in files_below(tmp_path) if f.path == path]
    assert FORMAT.holds(file) == "values"
    path.write_text(records if isinstance(records, str) else json.dumps(records))
    from fastcmp.io.logs import helm
    from fastcmp.io.logs.format import LogOptions

    with pytest.raises(ValueError, match=match) as refused:
        helm._read(file, LogOptions())
    assert str(refused.value).startswith(str(path))


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    path = write_run(tmp_path, THREE)
    path.write_bytes(path.read_bytes().replace(b"id3", b"\xe9d3"))
    with pytest.raises(ValueError, match="cannot be read: 'utf-8' codec"):
        read(FORMAT, tmp_path)


# ------------------------------------------------------------------ arrays


@pytest.mark.parametrize("block", [1, 2, 7, 64, 1 << 20])
@pytest.mark.parametrize("key", [None, "x"])
def test_entries_do_not_depend_on_blocks(tmp_path, monkeypatch, block, key):
    given = [{"a": 'é]}\\"', "b": [1, {"c": None}]}, {}, {"d": float("inf")}] * 5
    value = given if key is None else {"v": {"w": 1}, key: given, "y": 2}
    path = write(tmp_path, "a.json", json.dumps(value, indent=1, ensure_ascii=False))
    if key is not None and block < 64:
        block = 64  # the key is looked for in the first block
    monkeypatch.setattr(json_values, "_BLOCK", block)
    assert list(json_values.entries(path, 1000, key)) == given


def test_one_entry_must_not_take_more_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(json_values, "_BLOCK", 16)
    path = write(tmp_path, "a.json", [{"a": "x" * 500}])
    assert len(list(json_values.entries(path, 1000))) == 1
    with pytest.raises(ValueError, match="entry 1 is no whole JSON object"):
        list(json_values.entries(path, 100))
