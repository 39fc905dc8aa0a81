"""Each example of a log yields the rows that it must, or is refused as it must be."""

import re

import pytest
from libraries import pa
from log_parts import EXAMPLES, FORMATS

import fastcmp

VALUES = {key: x for key, x in EXAMPLES.items() if not key.startswith("battles")}
ROWS = {key: x["rows"] for key, x in VALUES.items() if "rows" in x}
BATTLES = {key: x["rows"] for key, x in EXAMPLES.items() if key not in VALUES}
KEY = ("model", "task", "subset", "metric", "item", "repeat")
#: Words that a message must hold.
DECISIVE = {
    "lm_eval/two_filters": ("strict-match", "flexible-extract"),
    "lm_eval/other_document": ("item 1", "example/beta", "example/alpha", "doc_hash"),
    "lm_eval/fewer_items": ("example/beta lacks item 2 of task toy_sum", "alpha"),
    "lm_eval/twice": ("example/alpha", "0", "twice"),
    "lm_eval/two_runs": ("two runs of example/alpha on task toy_sum", ".jsonl"),
    "lm_eval/lfs_pointer": ("Git LFS pointer", ".jsonl"),
    "inspect/error": ("example/beta", "q2", "1", "error: ValueError('died')", "beta."),
    "inspect/nan": ("example/alpha", "q3", "unscored: grader_failed", "alpha.json"),
    "swebench/complement": ("ids", "full list"),
    "amlb_results": ("beta", "pets", "1", "Error: no model", "results.csv"),
    "openml/swapped": ("correct", "0.13.0", "swapped", "beta"),
    "tabarena": ("beta", "cars", "0", "imputed"),
    "promptfoo/three": ("several", "pass, score, correct, brief", "metric="),
    "promptfoo/three correct": ("alpha", "q05", "error: Toy server broke", "results.json"),
    "deepeval/named Correct": ("gamma", "q03"),
    "deepeval/named Brief common": ("alpha", "q05", "error: ValueError: toy judge broke"),
    "trec_eval/per_query map": ("beta lacks item q07", "'all' is over 11 queries", "ids="),
}
#: What is reported of examples that are read.
REPORTED = {
    "lm_eval/other_prompt": "prompt_hash differs in 3 of 3 items",
    "lm_eval/fewer_items common": "1 item of task toy_sum left out",
    "inspect/error drop": "1 item of task toy_task left out",
    "tabarena as is": "values are negated",
    "promptfoo/three correct drop": r"own mean leaves them out, of alpha \(1\)",
    "promptfoo/three pass drop": r"own mean counts them as 0, of alpha \(1\)",
    "promptfoo/repeat_jsonl score": "a run that was killed looks whole",
    "swebench/report": "alpha: 1 with an error.*beta: 1 not submitted",
}


def options_of(example):
    """Turn what the user said into options of `read_results`."""
    given = dict(example.get("options", {}))
    options = {"errors": given.pop("missing")} if "missing" in given else {}
    names = {key: given.pop(key) for key in ("item", "model", "value") if key in given}
    if names:
        options["columns"] = names
    if "ids" in given:
        given["ids"] = FORMATS / given["ids"]
    return options | given


def read(key, **more):
    example = EXAMPLES[key]
    paths = [FORMATS / path for path in example["inputs"]]
    return fastcmp.read_results(paths, **(options_of(example) | more))


@pytest.mark.parametrize("key", sorted(ROWS))
def test_rows(key):
    results = read(key)
    columns = results.columns()
    names = (*KEY, "value", "cluster")
    found = {row[:6]: row[6:] for row in zip(*(columns[n] for n in names), strict=True)}
    wanted = {tuple(row[n] for n in KEY): row for row in ROWS[key]}
    assert set(found) == set(wanted)
    assert len(columns["value"]) == len(ROWS[key])
    for place, row in wanted.items():
        assert found[place][0] == row["value"]
        if "cluster" in row:
            assert found[place][1] == row["cluster"]
    if key in REPORTED:
        assert re.search(REPORTED[key], " ".join(results.remarks))


@pytest.mark.parametrize("key", sorted(set(VALUES) - set(ROWS)))
def test_refused(key):
    with pytest.raises(ValueError, match=re.escape(DECISIVE[key][0])) as caught:
        read(key)
    for words in DECISIVE[key]:
        assert words in str(caught.value)


@pytest.mark.parametrize("key", sorted(VALUES))
def test_inspected(key):
    example = EXAMPLES[key]
    given = {"filter", "ids", "values", "columns"}
    options = {k: x for k, x in options_of(example).items() if k in given}
    paths = [FORMATS / path for path in example["inputs"]]
    contents = fastcmp.inspect_results(paths, **options)
    assert contents.formats
    assert str(contents)
    if key in ROWS and "options" not in example:
        assert not contents.problems
        assert set(contents.names) == {row["model"] for row in ROWS[key]}


@pytest.mark.parametrize("name", ["promptfoo", "deepeval", "evalplus", "trec_eval"])
def test_runs_are_of_their_own_format(name):
    assert fastcmp.inspect_results(FORMATS / name).formats == (name,)


COMPRESSED = ("lm_eval/good", "inspect/json", "every_eval_ever", "eval_arena", "swebench/report",
              "swebench/per_instance", "mteb", "sklearn/cross_validate", "long/csv",
              "promptfoo/three pass drop", "evalplus/results plus",
              "trec_eval/per_query ndcg common", "deepeval/named Correct common")  # fmt: skip


@pytest.mark.parametrize(("suffix", "codec"), [(".gz", "gzip"), (".zst", "zstd"), (".bz2", "bz2")])
@pytest.mark.parametrize("key", COMPRESSED)
def test_compressed_files_give_the_same(key, suffix, codec, tmp_path):
    (name,) = EXAMPLES[key]["inputs"]
    source, root = FORMATS / name, tmp_path / "in"
    for path in [source] if source.is_file() else sorted(source.rglob("*.*")):
        if path.is_file():
            # What stands beside is found by its name.
            is_beside = path.name.startswith(("results_", "model_meta")) or "_s" in path.name[:-6]
            to = root / (path.name if source.is_file() else path.relative_to(source))
            to.parent.mkdir(parents=True, exist_ok=True)
            if is_beside and path.suffix == ".json":
                to.write_bytes(path.read_bytes())
                continue
            with pa.CompressedOutputStream(f"{to}{suffix}", codec) as file:
                file.write(path.read_bytes())
    plain = read(key).columns()
    found = fastcmp.read_results(root, **options_of(EXAMPLES[key])).columns()
    assert {k: x for k, x in found.items() if k != "source"} == {
        k: x for k, x in plain.items() if k != "source"
    }


def test_workers_do_not_matter():
    for key in ("inspect/epochs", "helm", "mteb"):
        assert read(key, workers=1) == read(key, workers=4)


@pytest.mark.parametrize("key", sorted(BATTLES))
def test_battles(key):
    (path,) = EXAMPLES[key]["inputs"]
    found = fastcmp.read_battles(FORMATS / path)
    for name in ("item", "model_a", "model_b", "result", "weight"):
        assert found[name].tolist() == [row[name] for row in BATTLES[key]]
