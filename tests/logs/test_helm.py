"""Runs of HELM: what is read of a folder, and what is refused."""

import json

import numpy as np
import pytest
from log_parts import parts_in, refusal

import fastcmp

FORMAT = "helm"

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


def test_says_which_file_lacks(tmp_path):
    displayed = [{"instance_id": "id1", "stats": {}}]
    for name, value, match in (
        ("per_instance_stats.json", THREE, "no run_spec.json beside it"),
        ("per_instance_stats.json", [], "no run_spec.json beside it"),
        ("run_spec.json", {"adapter_spec": {}}, "no per_instance_stats.json beside it"),
        ("display_predictions.json", displayed, "no per_instance_stats.json beside it"),
    ):
        path = write(tmp_path, name, value)
        with pytest.raises(ValueError, match=match) as refused:
            parts_in(FORMAT, tmp_path)
        assert str(refused.value).startswith(str(path))
        path.unlink()


def test_the_task_is_the_run_without_its_model(tmp_path):
    for name, task in (
        ("toy:model=org_m", "toy"),
        ("toy", "toy"),
        ("toy:model=org_m,subject=a", "toy:subject=a"),
        ("toy:a=1,model=org_m,b=2", "toy:a=1,b=2"),
        ("toy:a=1,model_deployment=x,model=org_m", "toy:a=1"),
    ):
        write_run(tmp_path, THREE, name=name)
        (part,) = parts_in(FORMAT, tmp_path)
        assert (part.model, part.task, part.subset) == ("org/m", task, "test")


def test_records_of_one_instance_become_one(tmp_path):
    records = [
        record("id1", stat("num_prompt_tokens", 9)),
        record("id1", stat("exact_match", 1)),
        record("id1", stat("exact_match", 1)),
        record("id2", stat("num_prompt_tokens", 7), stat("exact_match", 0)),
    ]
    write_run(tmp_path, records)
    (part,) = parts_in(FORMAT, tmp_path, metric="exact_match")
    assert (part.items, part.values.tolist()) == (["id1", "id2"], [1, 0])
    records[2] = record("id1", stat("exact_match", 0))
    write_run(tmp_path, records)
    with pytest.raises(ValueError, match="'id1', trial 0, has exact_match twice: 1 and 0"):
        parts_in(FORMAT, tmp_path)


def test_perturbed_instances_are_left_out(tmp_path):
    records = [
        *THREE,
        record("id1", stat("exact_match", 0), perturbation=PERTURBED),
        record("id4", stat("exact_match", 0, perturbation=PERTURBED)),
    ]
    write_run(tmp_path, records)
    (part,) = parts_in(FORMAT, tmp_path)
    assert part.items == ["id1", "id2", "id3"]
    assert "1 records of perturbed instances are left out" in part.said


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
    assert [part.subset for part in parts_in(FORMAT, tmp_path)] == ["test", "valid"]
    write_run(tmp_path, records, stats=[*means[:-1], stat("num_instances", 2, split="valid")])
    assert "says that it has 2 samples of task toy:subject=a/valid" in refusal(tmp_path)
    write_run(tmp_path, records, stats=[means[0], stat("exact_match", 1, split="valid")])
    with pytest.warns(UserWarning, match=r"a/valid is 1 by the run's own account"):
        fastcmp.read_results(tmp_path)


def test_trials_are_repeats(tmp_path):
    records = [
        record(f"id{i}", stat("exact_match", i * t), trial=t) for t in range(2) for i in range(2)
    ]
    means = [stat("num_instances", 4.0, count=2)]
    write_run(tmp_path, records, stats=means, adapter={"num_train_trials": 2})
    (part,) = parts_in(FORMAT, tmp_path)
    assert (part.items, part.repeats) == (["id0", "id0", "id1", "id1"], [0, 1, 0, 1])
    assert part.values.tolist() == [0, 0, 0, 1]


def test_a_value_is_the_mean_and_count_0_is_none(tmp_path):
    for odd, reason in (
        (stat("f1_score", 0, count=0), "count 0"),
        (stat("other_match", 1), "no f1_score"),
        (stat("f1_score", float("nan")), "NaN"),
    ):
        write_run(tmp_path, [record("id1", stat("f1_score", 1.5, count=3)), record("id2", odd)])
        (part,) = parts_in(FORMAT, tmp_path, metric="f1_score")
        np.testing.assert_array_equal(part.values, [0.5, np.nan])
        assert part.status == [0, 2]
        assert f"(unscored: {reason})" in refusal(tmp_path, metric="f1_score")


def test_metrics_come_one_by_one_or_all(tmp_path):
    records = [record("id1", stat("exact_match"), stat("perplexity", 3), stat("zeal"))]
    means = [stat("macro_f1", 0.5)]
    write_run(tmp_path, records, stats=means)
    parts = {part.metric: part for part in parts_in(FORMAT, tmp_path)}
    assert list(parts) == ["exact_match", "zeal", "perplexity"]  # scores first
    assert [p.lower_is_better for p in parts.values()] == [False, False, True]
    assert "matched by their ids alone" in parts["exact_match"].said
    assert "does not say whether more of 'zeal' is better" in parts["zeal"].said
    with pytest.raises(ValueError, match=r"'macro_f1' is in stats.json, of all instances"):
        parts_in(FORMAT, tmp_path, metric="macro_f1")


@pytest.mark.parametrize("where", ["instances", "scenario_state", "both", "none"])
def test_what_an_instance_asks_is_compared(tmp_path, where):
    def save(model, *names, text="text 1"):
        asked = [("id1", text), ("id2", "text 2"), ("id3", "text 3")]
        instances = [{"id": i, "input": {"text": t}, "split": "test"} for i, t in asked]
        perturbed = {"input": {"text": "txet"}, "perturbation": {"name": "x"}}
        instances.insert(0, {**instances[0], **perturbed})
        # The API answered: of no importance for what is right.
        states = [{"instance": i, "result": {"success": True}} for i in instances]
        state = {"adapter_spec": {"a": ["[{"]}, "request_states": states}
        more = {"instances": instances, "scenario_state": state}
        adapter = {"model": model}
        more = {name: more[name] for name in names}
        write_run(tmp_path / model, THREE, adapter=adapter, **more)

    names = {"both": ("instances", "scenario_state"), "none": ()}.get(where, (where,))
    save("a", *names)
    save("b", "instances")
    assert fastcmp.read_results(tmp_path).names == ("a", "b")
    save("b", "instances", text="other")
    if where == "none":
        assert fastcmp.read_results(tmp_path).names == ("a", "b")
    else:
        assert "id1 of task toy:subject=a/test is another document for b" in refusal(tmp_path)


def test_a_copy_in_a_folder_is_read_too(tmp_path):
    path = write_run(tmp_path, THREE)
    path.with_name("copy.json").write_text(path.read_text())
    said = refusal(tmp_path)
    assert "two runs" in said or "is there twice" in said
    path.unlink()
    (part,) = parts_in(FORMAT, tmp_path)
    assert part.source.name == "copy.json"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write_run(tmp_path / "elsewhere", THREE)
    folder = tmp_path / "runs"
    write(folder, "per_instance_stats.json", THREE)
    (folder / "run_spec.json").symlink_to(tmp_path / "elsewhere" / "run_spec.json")
    with pytest.raises(ValueError, match=r"no run_spec.json beside it"):
        parts_in(FORMAT, folder)


def test_damaged_files_are_refused(tmp_path):
    path = write_run(tmp_path, THREE)
    for records, match in (
        ([], "no instance has a statistic"),
        (json.dumps(THREE)[:-20], "entry 3 is no whole JSON object"),
        (json.dumps(THREE).encode().replace(b"id3", b"\xe9d3"), "cannot be read: 'utf-8' codec"),
        ([record("id1", stat("f1_score", "1"))], "count 1 and sum '1'; wanted numbers"),
        ([record("id1", stat("f1_score", 1, count=-1))], "count -1 and sum 1"),
        ([record("id1", stat("f1_score"), trial=-1)], "wanted records with instance_id"),
        ([record("id1", {"name": "f1"})], "a statistic without a name"),
    ):
        data = records if isinstance(records, bytes | str) else json.dumps(records)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.raises(ValueError, match=match) as refused:
            parts_in(FORMAT, tmp_path)
        assert str(path) in str(refused.value)


# ------------------------------------------------------------------ arrays
