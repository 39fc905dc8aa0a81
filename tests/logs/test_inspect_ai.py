"""Logs of Inspect: what is read of each form, and what is refused."""

import json
import math
import struct
import zlib

import numpy as np
import pytest
from cases import refuses
from libraries import pa
from log_parts import not_read, parts_in, refusal

import fastcmp

FORMAT = "inspect"


def sample(item, value="C", epoch=1, scorer="judge", **more):
    scores = {} if value is ... else {scorer: {"value": value}}
    return {
        "id": item,
        "epoch": epoch,
        "input": f"What is {item}?",
        "target": str(item),
        "scores": scores,
        **more,
    }


def header(n=None, *, scores=("judge",), metrics=None, **more):
    spec = {
        "eval_id": "e1",
        "created": "2026-01-02T03:04:05+00:00",
        "task": "toy",
        "model": "org/model",
        "dataset": {},
        "config": {"epochs": 1},
        **more.pop("eval", {}),
    }
    results = {
        "total_samples": n,
        "scores": [{"name": s, "scorer": s, "metrics": metrics or {}} for s in scores],
        **more.pop("results", {}),
    }
    return {"version": 2, "status": "success", "eval": spec, "plan": {}, "results": results, **more}


def write_json(folder, samples, name="log.json", **more):
    path = folder / name
    head = header(len(samples), **more)
    path.write_text(json.dumps({**head, "samples": samples}), encoding="utf-8")
    return path


def packed(data, method, frames=1):
    if method == 8:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(data) + packer.flush()
    if method == 93:
        step = max(1, -(-len(data) // frames))
        parts = [data[i : i + step] for i in range(0, len(data), step)]
        return b"".join(pa.compress(p, "zstd", asbytes=True) for p in parts)
    return data


def write_zip(path, members, method=8, frames=1, *, local_extra=b"", flags=0, sizes=()):
    """Write a zip by hand: methods that the standard library lacks, and lies."""
    body, directory = b"", b""
    for name, content in members:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        raw = packed(data, method, frames)
        size = dict(sizes).get(name, len(data))
        crc, file_name = zlib.crc32(data), name.encode()
        common = struct.pack("<HHHHIII", flags, method, 0, 33, crc, len(raw), size)
        directory += (
            struct.pack("<4sHH", b"PK\x01\x02", 20, 20)
            + common
            + struct.pack("<HHHHHII", len(file_name), 0, 0, 0, 0, 0, len(body))
            + file_name
        )
        # Sizes in the local header are 0, as where they are written afterwards.
        local = struct.pack("<HHHHIII", flags, method, 0, 33, 0, 0, 0)
        body += struct.pack("<4sH", b"PK\x03\x04", 20) + local
        body += struct.pack("<HH", len(file_name), len(local_extra))
        body += file_name + local_extra + raw
    end = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0
    )
    path.write_bytes(body + directory + end)
    return path


def members(samples, *, summaries=None, **more):
    found = [("header.json", header(len(samples), **more))]
    found += [(f"samples/{s['id']}_epoch_{s['epoch']}.json", s) for s in samples]
    if summaries is not None:
        found.append(("summaries.json", summaries))
    return found


THREE = [sample("q1"), sample("q2", "I"), sample("q3", "P")]


# ------------------------------------------------------------------ recognition


def test_recognises_logs_by_what_they_hold(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    write_zip(folder / "a.zip", members(THREE))
    write_zip(folder / "late.eval", members(THREE, eval={"model": "late"})[::-1])
    write_json(folder, THREE, eval={"model": "b"})
    ids = [f"a rather long name of an item {i}" for i in range(4000)]
    write_json(folder, THREE, "long.json", eval={"dataset": {"sample_ids": ids}, "model": "c"})
    (folder / "logs.json").write_text('{"a.eval": {"status": "success"}}')
    (folder / "eval-set.json").write_text('{"eval_set_id": "x"}')
    (folder / "config.json").write_text('{"eval": 1}')
    assert not_read(FORMAT, folder) == {"config.json"}
    assert [part.model for part in parts_in(FORMAT, folder)] == ["org/model", "late", "b", "c"]
    write_zip(folder / "crashed.eval", [("_journal/start.json", {})])
    assert "crashed.eval: no header.json: the run has not finished" in refusal(folder)


# ------------------------------------------------------------------ zips


@pytest.mark.parametrize("method", [0, 8, 93])
@pytest.mark.parametrize("frames", [1, 3])
def test_unpacks_every_method(tmp_path, method, frames):
    path = write_zip(tmp_path / "a.eval", members(THREE), method, frames, local_extra=b"abc\0\0\0")
    (part,) = parts_in(FORMAT, path)
    assert part.values.tolist() == [1, 0, 0.5]
    assert part.repeats == [1, 1, 1]


def test_ids_may_hold_slashes_and_dots(tmp_path):
    samples = [sample("../../etc/x"), sample("/abs/y_epoch_2.json", "I")]
    (part,) = parts_in(FORMAT, write_zip(tmp_path / "a.eval", members(samples)))
    assert part.items == ["../../etc/x", "/abs/y_epoch_2.json"]
    assert [p.name for p in tmp_path.iterdir()] == ["a.eval"]


def test_complete_summaries_are_read_and_others_are_not(tmp_path):
    other = [sample("q1", "I"), sample("q2", "I"), sample("q3", "I")]
    (part,) = parts_in(FORMAT, write_zip(tmp_path / "a", members(THREE, summaries=other)))
    assert part.values.tolist() == [0, 0, 0]
    fewer = members(THREE, summaries=other[:2])
    (part,) = parts_in(FORMAT, write_zip(tmp_path / "b", fewer))
    assert part.values.tolist() == [1, 0, 0.5]
    strangers = [sample("x1"), sample("x2"), sample("x3")]
    (part,) = parts_in(FORMAT, write_zip(tmp_path / "c", members(THREE, summaries=strangers)))
    assert part.values.tolist() == [1, 0, 0.5]


def test_invalid_samples_are_looked_for_where_the_run_says_so(tmp_path):
    samples = [*THREE[:2], sample("q3", "C", invalidation={"reason": "leaked"})]
    found = members(samples, summaries=THREE, invalidated=True)
    path = write_zip(tmp_path / "a.eval", found)
    (part,) = parts_in(FORMAT, path)
    assert part.status == [0, 0, 2]
    assert "item q3, repeat 1 of task toy (unscored: invalidated: leaked)" in refusal(path)


def test_limits_are_checked_before_anything_is_unpacked(tmp_path):
    path = write_zip(tmp_path / "a.eval", members(THREE), sizes={"header.json": 3 << 30})
    with pytest.raises(ValueError, match=r"a.eval: member 'header.json' takes 3,221,"):
        parts_in(FORMAT, path, memory_limit=1 << 30)
    path = write_zip(tmp_path / "b.eval", members([sample(i) for i in range(50)]))
    with pytest.raises(ValueError, match="take more than memory_limit= allows, 4,000 bytes in"):
        parts_in(FORMAT, path, memory_limit=4000)
    path = write_json(tmp_path, THREE)
    with pytest.raises(ValueError, match=r"log.json: more than memory_limit= allows, 100 b"):
        parts_in(FORMAT, path, memory_limit=100)


@pytest.mark.parametrize("method", [8, 93])
def test_a_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path, method):
    bomb = [("header.json", bytes(50_000_000))]
    path = write_zip(tmp_path / "a.eval", bomb, method, sizes={"header.json": 1000})
    with pytest.raises(ValueError, match=r"'header.json' is damaged"):
        parts_in(FORMAT, path, memory_limit=10_000_000)


def test_members_must_not_lie_over_each_other(tmp_path):
    path = write_zip(tmp_path / "a.eval", [("header.json", {}), ("b", {}), ("c", {})], 0)
    data = bytearray(path.read_bytes())
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[second + 42 : second + 46] = bytes(4)  # the offset of "b" becomes that of the first
    path.write_bytes(data)
    refuses(ValueError, "lies over another, as in a zip bomb", parts_in, FORMAT, path)


def test_damaged_zips_are_refused(tmp_path):
    def zero(data):
        start = data.index(b"header.json") + len("header.json") + 9
        return data[:start] + bytes(31) + data[start + 31 :]

    cut_off = "'header.json' (cannot be unpacked|is damaged)"
    for method, more, change, match in (
        (0, {}, lambda d: d[:-100], "the directory at the end of the zip cannot be read"),
        (0, {}, lambda d: d.replace(b"org/model", b"org/mODEL"), "'header.json' is damaged"),
        *((method, {}, zero, cut_off) for method in (8, 93)),
        (8, {"flags": 1}, bytes, "is encrypted"),
        (12, {}, bytes, "method 12 of zip"),
    ):
        path = write_zip(tmp_path / "a.eval", members(THREE), method, **more)
        path.write_bytes(change(path.read_bytes()))
        refuses(ValueError, match, parts_in, FORMAT, path)
    # Sizes of the local header do not count.
    path = write_zip(tmp_path / "a.eval", members(THREE), 0)
    data = path.read_bytes()
    path.write_bytes(data[:14] + b"XX" + data[16:])
    assert len(parts_in(FORMAT, path)) == 1


# ------------------------------------------------------------------ runs


def test_runs_that_lack_something_are_refused(tmp_path):
    for found, match in (
        ([("_journal/start.json", {})], "no header.json: the run has not finished"),
        (members([]), "no samples"),
        (members(THREE, results={"scores": []}), "has no scores"),
        (members(THREE, results={"total_samples": 4}), "has 4 samples of task toy, and 3 are"),
        (members([sample("q1"), sample("q1")]), "is there twice; a sample"),
        (members(THREE, version=4), "version 4 of Inspect logs"),
        (members(THREE, eval={"model": ""}), "wanted eval.task and eval.model"),
        ([("header.json", b"[1")], "header.json: no whole JSON"),
        ([("header.json", b'{"eval": "\xff"}')], "byte 10 is not UTF-8"),
        ([("header.json", b"[" * 200_000)], "nested too deep"),
        (members([sample(None)]), "wanted samples with an id"),
        *(
            (members(THREE, status=status), f"the run has status {status!r}")
            for status in ("started", "error", "cancelled", None)
        ),
    ):
        path = write_zip(tmp_path / "a.eval", [*found, ("_journal/x", {})])
        refuses(ValueError, f"^{path}.*{match}", parts_in, FORMAT, path)
    path = write_json(tmp_path, [sample("q1", epoch=1.5)])
    refuses(ValueError, "sample 'q1': its epoch is no whole number", parts_in, FORMAT, path)


def test_a_number_and_its_text_are_one_item(tmp_path):
    path = write_json(tmp_path, [sample(1), sample("1")])
    refuses(ValueError, "has item 1, repeat 1 twice in task toy", parts_in, FORMAT, path)
    assert parts_in(FORMAT, write_json(tmp_path, [sample(3), sample(1)]))[0].items == [1, 3]
    assert parts_in(FORMAT, write_json(tmp_path, [sample(3), sample("a")]))[0].items == ["3", "a"]


def test_runs_are_told_by_id_and_sorted_by_time(tmp_path):
    early = {"created": "2026-01-02T23:00:00-04:00", "eval_id": "x"}
    late = {"created": "2026-01-03T04:00:00", "eval_id": None, "run_id": "r", "task_id": "t"}
    write_json(tmp_path, THREE, "new.json", eval=early)
    write_json(tmp_path, [sample("q1", "I"), *THREE[1:]], "old.json", eval=late)
    assert "two runs of org/model on task toy" in refusal(tmp_path)
    results = fastcmp.read_results(tmp_path, runs="latest")
    assert results.answers.tolist() == [[0, 0, 0.5]]
    write_json(tmp_path, THREE, "old.json", eval=early)
    assert "one run of org/model on task toy is there twice" in refusal(tmp_path)


def test_other_task_args_are_another_task(tmp_path):
    write_json(tmp_path, THREE, "a.json", eval={"task_args": {"n": 1, "m": 2}})
    write_json(tmp_path, THREE, "b.json", eval={"task_args": {"m": 2, "n": 1}, "model": "b"})
    assert len(parts_in(FORMAT, tmp_path)) == 2
    write_json(tmp_path, THREE, "c.json", eval={"task_args": {"n": 3}})
    refuses(ValueError, r"c.json: task 'toy' was run with task_args", parts_in, FORMAT, tmp_path)


def test_old_logs_have_one_scorer(tmp_path):
    old = header()
    old["results"] = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"value": 0.5}}}
    del old["version"]
    one = {"id": 1, "epoch": 1, "input": "a", "target": "b"}
    old["samples"] = [{**one, "score": {"value": "C"}}, {**one, "id": 2, "score": {"value": "I"}}]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    (part,) = parts_in(FORMAT, path)
    assert (part.metric, part.values.tolist(), part.said) == ("match", [1, 0], "")
    path.write_text(json.dumps(old).replace("0.5", "0.75"))
    with pytest.warns(UserWarning, match=r"is 0\.75 by the run's own account"):
        fastcmp.read_results(path)


# ------------------------------------------------------------------ scores


def test_values_that_mean_nothing_are_refused(tmp_path):
    for value, match in (
        ("correct", "sample 'q2', epoch 1, scorer 'judge': the grade 'correct' is unknown"),
        ([1, 0], "wanted one value, got a list"),
        (math.inf, "inf is no value of an item"),
        ({"a": [1]}, "scorer 'judge/a': wanted one value, got a list"),
    ):
        first = {"a": 1} if isinstance(value, dict) else "C"
        path = write_json(tmp_path, [sample("q1", first), sample("q2", value)])
        refuses(ValueError, match, parts_in, FORMAT, path)


def test_a_mapping_is_a_metric_for_each_key(tmp_path):
    samples = [
        sample("q1", {"right": "C", "style": 0.5}),
        sample("q2", {"right": "I"}),
        sample("q3", math.nan),
        sample("q4", {"right": None, "style": 1}),
    ]
    right, style = parts_in(FORMAT, write_json(tmp_path, samples))
    assert (right.metric, style.metric) == ("right", "style")
    np.testing.assert_array_equal(right.values, [1, 0, math.nan, math.nan])
    np.testing.assert_array_equal(style.values, [0.5, math.nan, math.nan, 1])
    assert right.status == [0, 0, 2, 2]
    path = write_json(tmp_path, [*samples, sample("q5", 1)])
    refuses(ValueError, "elsewhere this scorer gives several values", parts_in, FORMAT, path)


def two_scorers(second):
    return [
        sample("q1", ...) | {"scores": {"judge": {"value": "C"}, "other": {"value": v}}}
        for v in (second,)
    ]


def test_a_metric_that_is_asked_for_is_read_alone(tmp_path):
    path = write_json(tmp_path, two_scorers([1, 2]), scores=("judge", "other"))
    (part,) = parts_in(FORMAT, path, metric="judge")
    assert part.metric == "judge"
    refuses(ValueError, "got a list", parts_in, FORMAT, path)
    path = write_json(tmp_path, two_scorers(0), scores=("judge", "other"))
    assert [p.metric for p in parts_in(FORMAT, path)] == ["judge", "other"]
    assert "no unknown of task toy, but judge, other" in refusal(path, metric="unknown")


def test_beside_a_headline_a_metric_without_numbers_is_left_out(tmp_path):
    more = {"results": {"headline": {"scorer": "judge", "score": "judge"}}}
    path = write_json(tmp_path, two_scorers([1]), scores=("judge", "other"), **more)
    (part,) = parts_in(FORMAT, path)
    assert part.metric == "judge"
    assert "Left out" in part.said


def test_status_and_reason(tmp_path):
    for one, status, reason in (
        (sample("q", ..., error={"message": "Boom('x')\nat line 3"}), 1, "error: Boom('x')"),
        (sample("q", ..., error="Boom"), 1, "error: Boom"),
        (sample("q", ..., scores=None), 2, "unscored: no score"),
        (sample("q", ..., limit={"type": "token"}), 2, "unscored: no score"),
        (sample("q", None), 2, "unscored: NaN"),
        (sample("q", math.nan), 2, "unscored: NaN"),
        (sample("q", math.nan, error="Boom"), 1, "error: Boom"),
        (sample("q", "C", invalidation={"author": "me"}), 2, "unscored: invalidated"),
        (
            sample("q", ..., scores={"judge": {"value": math.nan, "metadata": {"reason": "x"}}}),
            2,
            "unscored: x",
        ),
        (sample("q", "C", limit={"type": "token", "limit": 9}), 0, ""),
    ):
        path = write_json(tmp_path, [sample("p"), one])
        (part,) = parts_in(FORMAT, path)
        assert part.status == [0, status]
        if status:
            assert f"({reason})" in refusal(path)


def test_an_error_with_a_score_is_reported(tmp_path):
    (part,) = parts_in(FORMAT, write_json(tmp_path, [sample("q1", "C", error="late")]))
    assert part.status == [0]
    assert "1 samples ended with an error and have a score" in part.said


def test_the_stated_mean_is_that_of_the_items(tmp_path):
    mean = {"metrics": {"mean": {"value": 0.75}}}
    even = [sample("q1"), sample("q1", "I", 2), sample("q2"), sample("q2", "C", 2)]
    assert parts_in(FORMAT, write_json(tmp_path, even, **mean))[0].said == ""
    uneven = [sample("q1"), sample("q1", "I", 2), sample("q2"), sample("q2", ..., 2)]
    (part,) = parts_in(FORMAT, write_json(tmp_path, uneven, **mean))
    assert "mean" not in part.said  # 2/3 of the values
    mean["metrics"]["mean"]["value"] = 0.7
    with pytest.warns(UserWarning, match=r"judge of .* is 0\.7 by the run's own account"):
        parts_in(FORMAT, write_json(tmp_path, uneven, **mean))
    config = {"config": {"epochs": 2, "epochs_reducer": ["at_least_2"]}}
    path = write_json(tmp_path, THREE, eval=config, metrics={"mean": {"value": 1}})
    assert parts_in(FORMAT, path)[0].said == ""  # of another kind than the mean


# ------------------------------------------------------------------ items


@pytest.mark.parametrize("place", ["results", "eval"])
def test_the_headline_is_taken(tmp_path, place):
    head = {"scorer": "other", "score": "other", "metric": "std"}
    more = {"results": {"headline": head}, "eval": {"headline_metric": head}}
    more = {place: more[place]}
    path = write_json(tmp_path, two_scorers(0), scores=("judge", "other"), **more)
    results = fastcmp.read_results(path)
    assert (results.metric, results.answers.tolist()) == ("other", [[0]])
    assert "the headline is the std of 'other'" in " ".join(results.remarks)
    key = {"scorer": "judge", "score": "style", "metric": "mean"}
    more = {"results": {"headline": key}, "eval": {"headline_metric": key}}[place]
    samples = [sample("q1", {"right": "C", "style": 0.5})]
    assert fastcmp.read_results(write_json(tmp_path, samples, **{place: more})).metric == "style"


def test_what_an_item_is_does_not_depend_on_the_form(tmp_path):
    def refused(first, second, summaries=None):
        write_json(tmp_path, [first], "a.json")
        write_zip(tmp_path / "b.eval", members([second], summaries=summaries, eval={"model": "b"}))
        try:
            fastcmp.read_results(tmp_path)
        except ValueError as error:
            return "q1 of task toy is another document for b" in str(error)
        return False

    long = "x" * 6000
    image = {"type": "image", "image": "data:..."}
    whole = sample(
        "q1", input=[{"role": "user", "content": [{"type": "text", "text": long}, image]}]
    )
    cut = {"type": "text", "text": long[:5120] + "...\n(content truncated)"}
    thin = [{"role": "user", "id": "m1", "content": [cut, {"type": "text", "text": "(Image)"}]}]
    assert not refused(whole, whole, [sample("q1", input=thin)])
    for change in ({"input": "other"}, {"target": "other"}, {"target": ["q1", "q2"]}):
        assert refused(whole, {**whole, **change})
    apart = sample("q1", input="attachment://abc", attachments={"abc": "What is q1?"})
    assert not refused(sample("q1"), apart)
