"""The command `study`: simulation studies, which continue after an interruption."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import fastcmp
from fastcmp.cli.output import csv_text, write
from fastcmp.cli.pages import add_page, check_page
from fastcmp.core.render import to_markdown

_STUDIES = {
    "table5": ("table5", "draw_type_one_errors"),
    "power": ("power", "draw_power"),
    "errors": ("errors", "draw_errors"),
    "correlations": ("correlation", "draw_correlations"),
}


def add_study(commands: Any) -> None:
    """Add the command ``study``."""
    parser = commands.add_parser(
        "study",
        help="simulate how tests for cross-validated classifiers behave",
        description=(
            "table5: type I errors of 14 tests. power: their power. errors: true error "
            "rates of algorithms, and where two are equal. correlations: those of the "
            "disagreements on folds. After an interruption the same command continues."
        ),
    )
    add = parser.add_argument
    add("study", choices=tuple(_STUDIES), help="what to simulate")
    add("--dataset", default=None, help="epsilon, exp6, simple, letter, digits, ...")
    add("--replications", type=int, default=1000, metavar="R", help="data sets (1000)")
    add("--seed", type=int, default=1, help="seed of all random numbers (1)")
    add("--workers", type=int, metavar="N", help="processes (all processors)")
    add("--path", type=Path, metavar="PATH", help="copy of letter or MNIST")
    add("--steps", type=int, default=11, help="values of the parameter (11)")
    add("--sets", type=int, default=300, help="training sets for a true error (300)")
    add(
        "--folder",
        type=Path,
        default=Path("studies"),
        help="where tables, pictures and partial results go (studies)",
    )
    add("--format", choices=("table", "markdown", "csv", "json"), default="table")
    add_page(add)
    parser.set_defaults(run=_run, output=None, files=())


def _run(options: argparse.Namespace) -> None:
    studies = import_module("fastcmp.studies.run")
    name, figure = _STUDIES[options.study]
    dataset = options.dataset
    if options.study == "correlations" and dataset is not None:
        raise ValueError("correlations uses all data sets: leave out --dataset")
    if dataset is None:
        dataset = "epsilon" if options.study == "table5" else "exp6"
    chosen = studies.Options(
        dataset=dataset,
        replications=options.replications,
        rng=options.seed,
        workers=options.workers,
        path=options.path,
        folder=options.folder,
        steps=options.steps,
        n_sets=options.sets,
        progress=sys.stderr.isatty() or None,
    )
    check_page(options.report)
    options.folder.mkdir(parents=True, exist_ok=True)  # refused before any work
    started = time.perf_counter()
    stem = options.study
    if options.study != "correlations":
        stem += f"-{dataset}"
    try:
        study = getattr(studies, name)(chosen)
        _keep(study, options, stem, figure, time.perf_counter() - started)
    except KeyboardInterrupt:
        if options.study != "errors":
            print("stopped: the same command continues", file=sys.stderr)
        raise
    write(study, options)


def _keep(study: Any, options: argparse.Namespace, stem: str, figure: str, seconds: float) -> None:
    """Write the table, its numbers and the picture beside the partial results."""
    folder = options.folder
    made = (
        f"Made by `{_command(options)}` with fastcmp {fastcmp.__version__}; the last "
        f"run of this command took {seconds:.1f} s."
    )
    text = f"{to_markdown(study.sections())}\n{made}\n"
    (folder / f"{stem}.md").write_text(text, encoding="utf-8")
    (folder / f"{stem}.csv").write_text(csv_text(study) + "\n", encoding="utf-8")
    try:
        from matplotlib import use
        from matplotlib.pyplot import close
    except ImportError:
        print("no picture: pip install 'fastcmp[plot]'", file=sys.stderr)
        return
    use("Agg")
    ax = getattr(import_module("fastcmp.studies.figures"), figure)(study)
    for kind in ("png", "svg"):
        made_by = {"Description": made.replace("`", "")}
        ax.figure.savefig(folder / f"{stem}.{kind}", dpi=150, metadata=made_by)
    close(ax.figure)


def _command(options: argparse.Namespace) -> str:
    """Write the command again, with all that the numbers depend on."""
    words = ["fastcmp study", options.study]
    if options.dataset is not None:
        words.append(f"--dataset {options.dataset}")
    words.append(f"--replications {options.replications} --seed {options.seed}")
    for name, usual in (("steps", 11), ("sets", 300)):
        value = getattr(options, name)
        if value != usual:
            words.append(f"--{name} {value}")
    if options.path is not None:
        words.append(f"--path {options.path.name}")
    return " ".join(words)
