"""Logs with a value of another type somewhere: read, or refused in a sentence."""

import copy
import json
import shutil

import pytest
from log_parts import FORMATS

import fastcmp

JUNK = [None, [], {}, "", -1, 1.5, float("nan"), True, "x", [1], {"a": 1}, 10**30, 10**400]
RUN = "helm/runs/v1/toy:subject=sums,model=example_alpha"
RESULTS = "results/example/alpha/results_2026-01-02T03-04-05.000001.json"
LM_RESULTS = "example__beta/results_2026-01-02T03-04-05.000001.json"
FILES = [
    ("inspect/json", "alpha.json"),
    *((RUN, f"{name}.json") for name in ("run_spec", "stats", "instances", "per_instance_stats")),
    ("lighteval", RESULTS),
    ("promptfoo/three", "results.json"),
    ("evalplus/results", "alpha_eval_results.json"),
    ("deepeval/named", "alpha/test_run_20261123_041538.json"),
    ("lm_eval/good", LM_RESULTS),
    ("swebench/report", "beta.run1.json"),
    ("swebench/per_instance", "20260102_beta/per_instance_details.json"),
    ("mteb/results", "example__beta/rev1/ToySTS.json"),
    ("opencompass/20260102_030405", "results/beta/toy.json"),
]
METRICS = {RUN: "exact_match", "promptfoo/three": "pass", "evalplus/results": "plus"}
METRICS |= {"deepeval/named": "Correct"}
BESIDE = (RESULTS, LM_RESULTS, "stats.json", "instances.json")


def places(value, path=()):
    """Yield the path of each value within JSON."""
    yield path
    keys = value if isinstance(value, dict) else ()
    for key in range(len(value)) if isinstance(value, list) else keys:
        yield from places(value[key], (*path, key))


def with_other(value, path, new):
    """Copy JSON with another value at a path."""
    if not path:
        return new
    copied = copy.deepcopy(value)
    at = copied
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return copied


@pytest.mark.filterwarnings("ignore:.*by the run's own account")
@pytest.mark.parametrize(("folder", "name"), FILES, ids=[name for _, name in FILES])
def test_other_types_are_no_other_errors(tmp_path, folder, name):
    root = tmp_path / "logs"
    shutil.copytree(FORMATS / folder, root)
    given = json.loads((root / name).read_text())
    every = [(path, junk) for path in places(given) for junk in JUNK]
    n_refused = 0
    step = 1 + len(every) // 80
    for path, junk in every[::step]:
        (root / name).write_text(json.dumps(with_other(given, path, junk)))
        try:
            fastcmp.read_results(root, metric=METRICS.get(folder), errors="drop")
        except ValueError:
            n_refused += 1
    # Of what stands beside, much does not matter.
    assert n_refused or name in BESIDE


@pytest.mark.parametrize(
    "odd",
    [
        *({"score": x} for x in (None, "C", True, 10**20, 1e305, 10**400, [1], {"a": 1}, "none")),
        *({"item": x} for x in (None, "", "1", 1.0, True, 2**70, [1])),
        *({"model": x} for x in (None, 1, 1.5, ["a"])),
    ],
    ids=str,
)
def test_an_odd_value_far_down_is_read_as_in_an_array(tmp_path, odd):
    """Blocks of plain values are read another way than those with others, and than arrays."""
    rows = [
        {"item": i, "model": model, "score": i % 2, "text": "x" * 90}
        for model in "ab"
        for i in range(2000)
    ]
    rows[-5] |= odd
    answers = []
    for text in ("\n".join(map(json.dumps, rows)), json.dumps(rows)):
        path = tmp_path / "answers.jsonl"
        path.write_text(text)
        try:
            results = fastcmp.read_results(path, items="common", errors="drop")
        except ValueError as error:
            answers.append(str(error))
        else:
            answers.append((results.names, results.items.tolist(), results.answers.tolist()))
    assert answers[0] == answers[1]
