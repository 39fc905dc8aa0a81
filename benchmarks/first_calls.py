"""Measure the first call of every public function and command, for docs/benchmarks/first-calls.md.

    python benchmarks/first_calls.py            # all: some minutes
    python benchmarks/first_calls.py mcnemar    # print those whose names contain a word

Each example of the reference, and each command below, runs in a fresh process with an empty cache
of machine code, and again with what the first left there. The figure is processor time above that
of a process that imports NumPy, `scipy.special` and doctest.
"""

from __future__ import annotations

import compileall
import inspect
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from fastcmp.data import example_path

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "first-calls.md"
MODULES = (
    "fastcmp",
    "fastcmp.stream",
    "fastcmp.planning",
    "fastcmp.sequential",
    "fastcmp.datasets",
    "fastcmp.designs",
    "fastcmp.compat.mlxtend",
)
#: Commands, with the files that the package brings.
COMMANDS = (
    "compare --example digits",
    "compare --example digits --metric f1_macro",
    "compare --example logs --by task",
    "compare --example demsar --over tasks",
    "holdout --example digits --models mlp knn_3",
    "report --example digits",
    "roc --example digits",
    "cutpoint --example digits --scores mlp",
    "lift --example digits --scores mlp",
    "plan --accuracy 0.9 0.88 --agreement 0.9",
    "gate DIGITS DIGITS --models mlp knn_3 --margin 1pp",
    "inspect --example logs",
)
INTRODUCTION = """# First calls

Written by `python benchmarks/first_calls.py`; do not edit. Each row is the example of a public
function in the reference, or a command, in a fresh process with an empty cache of machine code, and
again with what the first process left there: processor seconds above a process that imports NumPy,
`scipy.special` and doctest. Below 0: the example needs less than these imports. The last column is
how many kernels were compiled.

Those above one second are exact tests against a margin with their intervals, which maximise
thousands of sums (`margin_tests`, `gate`), or import scikit-learn and fit classifiers
(`compare_cv`, `compare_cv_all`, functions of `compat.mlxtend` that fit).

| first call | empty cache | filled | compiled |
| --- | ---: | ---: | ---: |
"""
BASE = "import numpy, scipy.special, doctest"
EXAMPLE = """import doctest
from importlib import import_module
function = getattr(import_module({module!r}), {name!r})
scope = dict(vars(import_module(function.__module__)))
runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
for test in doctest.DocTestFinder(recurse=False).find(function, {name!r}, globs=scope):
    runner.run(test)
assert not runner.summarize(False).failed
"""
COMMAND = """import contextlib, io, sys
from fastcmp.cli.program import main
with contextlib.redirect_stdout(io.StringIO()):
    code = main({words!r})
assert code < 3, code
"""


def programs():
    """Name each first call, and the program that makes it."""
    for module in MODULES:
        home = import_module(module)
        for name in sorted(home.__all__):
            function = getattr(home, name)
            if inspect.isfunction(function) and ">>>" in (inspect.getdoc(function) or ""):
                yield f"`{module}.{name}`", EXAMPLE.format(module=module, name=name)
    digits = str(example_path("digits"))
    for command in COMMANDS:
        words = [digits if word == "DIGITS" else word for word in command.split()]
        yield f"`fastcmp {command}`", COMMAND.format(words=words)


def seconds(program, cache, most=None):
    """Processor time of a process, which ends after so many seconds of it."""
    limit = "" if most is None else f"import resource; resource.setrlimit(0, ({most}, {most}))\n"
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", limit + program],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    if done.returncode > 0:
        print(done.stderr, file=sys.stderr)
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main(words):
    """Measure, and write the page or print some of its rows."""
    rows = []
    compileall.compile_dir(PAGE.parents[2] / "fastcmp", quiet=1)  # as pip does
    base = min(seconds(BASE, "/tmp") for _ in range(3))
    for name, program in programs():
        if words and not any(word in name for word in words):
            continue
        with tempfile.TemporaryDirectory() as cache:
            empty = seconds(program, cache) - base
            compiled = len(list(Path(cache).rglob("*.nbi")))
            filled = seconds(program, cache) - base
        rows.append(f"| {name} | {empty:.2f} | {filled:.2f} | {compiled or ''} |")
        print(rows[-1], flush=True)
    if not words:
        _, head, guesses = PAGE.read_text(encoding="utf-8").partition("\n## ")
        PAGE.write_text(INTRODUCTION + "\n".join([*rows, ""]) + head + guesses, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
