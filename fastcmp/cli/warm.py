"""The command `warm`: compile what common calls need, before anybody waits for it."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import fastcmp
from fastcmp import _jit
from fastcmp.cli.compiling import counting
from fastcmp.cli.installation import cache_facts
from fastcmp.cli.output import say
from fastcmp.core.memory import in_words
from fastcmp.data import values_path

if TYPE_CHECKING:
    import argparse

#: Commands, by what users bring; the names of bundled files stand for their paths.
_COMMANDS = {
    "labels": (
        "compare --example digits",
        "compare --example digits --simultaneous",
        "holdout --example digits --models mlp knn_3",
    ),
    "metrics": (
        "compare --example digits --metric f1_macro",
        "report --example digits",
    ),
    "values": ("compare --values VALUES",),
    "scores": (
        "roc --example digits",
        "cutpoint --example digits --scores mlp",
        "lift --example digits --scores mlp",
    ),
    "tasks": (
        "compare --example logs --by task",
        "compare --example logs --over tasks",
        "compare --example demsar --over tasks",
    ),
    "plan": (
        "plan --accuracy 0.9 0.88 --agreement 0.9",
        "plan --accuracy 0.9 0.88 --agreement 0.9 --n 500",
    ),
}


def add_warm(commands: Any) -> None:
    """Add `fastcmp warm`."""
    warm = commands.add_parser(
        "warm",
        help="compile kernels now, as for a container",
        description="Compile the kernels that common calls need, and keep them: for "
        "images of containers, and before measurements. What is compiled already is "
        "not compiled again.",
    )
    warm.add_argument(
        "kinds",
        nargs="*",
        metavar="KIND",
        help=f"what for: {', '.join(_COMMANDS)} (all)",
    )
    warm.set_defaults(run=_warm)


def _warm(options: argparse.Namespace) -> None:
    unknown = [kind for kind in options.kinds if kind not in _COMMANDS]
    if unknown:
        raise ValueError(f"KIND must be one of {', '.join(_COMMANDS)}, got {unknown[0]!r}")
    _check_kept()
    with_files = find_spec("pyarrow") is not None
    if not with_files:
        say(["for calls from Python only: reading files needs the extra cli"])
    began, n = time.perf_counter(), 0
    for kind in options.kinds or _COMMANDS:
        start = time.perf_counter()
        with _jit.always_compiled(), counting() as compiled:
            if with_files:
                _run_commands(kind)
            _CALLS[kind]()
        n += len(compiled)
        say([f"{kind}: {len(compiled)} kernels, {time.perf_counter() - start:.1f} s"])
    facts = cache_facts()
    print(
        f"Compiled {n} kernels in {time.perf_counter() - began:.1f} s. "
        f"{facts['cache_folder']} holds {facts['cache_kernels']}, "
        f"{in_words(facts['cache_bytes'])}."
    )


def _check_kept() -> None:
    """Refuse where what is compiled would be lost."""
    if _jit.INTERPRETED:
        raise ValueError(
            "NUMBA_DISABLE_JIT or FASTCMP_COMPILE is set, so that nothing is compiled: unset it"
        )
    if not cache_facts()["cache_writable"]:
        raise ValueError(
            "no folder for compiled kernels can be written: set NUMBA_CACHE_DIR to a "
            "folder that can be"
        )


def _run_commands(kind: str) -> None:
    """Run the commands of a kind, and drop what they print."""
    from fastcmp.cli.program import main

    paths = {"VALUES": values_path("log_loss")}
    for command in _COMMANDS[kind]:
        words = [str(paths.get(word, word)) for word in command.split()]
        errors = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(errors):
            status = main(words)
        if status:
            raise RuntimeError(f"fastcmp {' '.join(words)} ended with {errors.getvalue()}")


def _labels() -> None:
    y_true, preds = fastcmp.load_digits()
    groups = np.arange(len(y_true)) // 10
    fastcmp.mcnemar(y_true, preds["mlp"], preds["knn_3"])
    fastcmp.mcnemar(y_true, preds["mlp"], preds["knn_3"], groups=groups)
    fastcmp.compare_all(y_true, preds)
    fastcmp.cochrans_q(y_true, preds)


def _metrics() -> None:
    y_true, preds = fastcmp.load_digits()
    fastcmp.metric(y_true, preds["mlp"], metric="f1_macro")
    fastcmp.compare_metric(y_true, preds["mlp"], preds["knn_3"], metric="f1_macro")
    fastcmp.compare_all(y_true, preds, metric="f1_macro")
    fastcmp.classification_report(y_true, preds)


def _values() -> None:
    values = np.random.default_rng(0).random((3, 50))
    fastcmp.compare_means(values)
    fastcmp.mean_difference(*values[:2])
    fastcmp.signed_rank(*values[:2])


def _scores() -> None:
    y_true, scores = fastcmp.load_digits_scores()
    fastcmp.auc(y_true, scores["mlp"])
    fastcmp.delong(y_true, [scores["mlp"], scores["logistic"]])
    fastcmp.roc_curve(y_true, scores["mlp"])


def _tasks() -> None:
    tasks, scores = fastcmp.load_demsar()
    fastcmp.compare_datasets(scores, tasks=tasks)


def _plan() -> None:
    fastcmp.planning.sample_size(accuracy_a=0.9, accuracy_b=0.88, agreement=0.9)


_CALLS = {
    "labels": _labels,
    "metrics": _metrics,
    "values": _values,
    "scores": _scores,
    "tasks": _tasks,
    "plan": _plan,
}
