"""Logs with a value of another type somewhere: read, or refused in a sentence."""

import copy
import json
import shutil

import pytest
from log_parts import FORMATS, read

from fastcmp.io.logs import helm, inspect_ai, lighteval

JUNK = [None, [], {}, "", -1, 1.5, float("nan"), True, "x", [1], {"a": 1}, 10**30]
FILES = [
    (inspect_ai.FORMAT, "inspect/json", "alpha.json"),
    (helm.FORMAT, "helm/runs/v1/toy:subject=sums,model=example_alpha", "run_spec.json"),
    (helm.FORMAT, "helm/runs/v1/toy:subject=sums,model=example_alpha", "stats.json"),
    (helm.FORMAT, "helm/runs/v1/toy:subject=sums,model=example_alpha", "instances.json"),
    (helm.FORMAT, "helm/runs/v1/toy:subject=sums,model=example_alpha", "per_instance_stats.json"),
    (
        lighteval.FORMAT,
        "lighteval",
        "results/example/alpha/results_2026-01-02T03-04-05.000001.json",
    ),
]
BESIDE = (FILES[-1][2], "stats.json", "instances.json")


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


@pytest.mark.parametrize(("fmt", "folder", "name"), FILES, ids=[name for _, _, name in FILES])
def test_other_types_are_no_other_errors(tmp_path, fmt, folder, name):
    root = tmp_path / "logs"
    shutil.copytree(FORMATS / folder, root)
    given = json.loads((root / name).read_text())
    every = [(path, junk) for path in places(given) for junk in JUNK]
    n_refused = 0
    step = 1 + len(every) // 150
    for path, junk in every[::step]:
        (root / name).write_text(json.dumps(with_other(given, path, junk)))
        try:
            read(fmt, root)
        except ValueError as error:
            assert str(error).startswith(str(root))  # noqa: PT017
            n_refused += 1
    # Of what stands beside, much does not matter.
    assert n_refused or name in BESIDE
