"""Simulate how tests for cross-validated classifiers behave: ``python -m benchmarks.studies``.

Tables, pictures and partial results go to docs/studies. After an interruption the same command
continues.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastcmp
from fastcmp.cli.output import csv_text
from fastcmp.core.render import to_markdown

from . import decisions, figures, run

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
#: The function that runs a study, and the one that draws it.
_STUDIES = {
    "table5": (run.table5, figures.draw_type_one_errors),
    "power": (run.power, figures.draw_power),
    "errors": (run.errors, figures.draw_errors),
    "correlations": (run.correlation, figures.draw_correlations),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies",
        description=(
            "table5: type I errors of 14 tests. power: their power. errors: true error "
            "rates of algorithms, and where two are equal. correlations: those of the "
            "disagreements on folds. decisions: how often tests that plan and decide err."
        ),
    )
    add = parser.add_argument
    add("study", choices=(*_STUDIES, "decisions"), help="what to simulate")
    add("--dataset", default=None, help="epsilon, exp6, simple, letter, digits, ...")
    add("--replications", type=int, default=1000, metavar="R", help="data sets (1000)")
    add("--seed", type=int, default=1, help="seed of all random numbers (1)")
    add("--workers", type=int, metavar="N", help="processes (all processors)")
    add("--path", type=Path, metavar="PATH", help="copy of letter or MNIST")
    add("--steps", type=int, default=11, help="values of the parameter (11)")
    add("--sets", type=int, default=300, help="training sets for a true error (300)")
    add("--folder", type=Path, default=FOLDER, help="where to write (docs/studies)")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a study, print its table and write its files; the exit code."""
    parser = _parser()
    options = parser.parse_args(words)
    if options.study == "decisions":
        return decisions.main()
    try:
        _run(options)
    except KeyboardInterrupt:
        print("stopped: the same command continues", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ImportError) as error:
        parser.error(str(error))
    return 0


def _run(options: argparse.Namespace) -> None:
    run_study, draw = _STUDIES[options.study]
    dataset = options.dataset
    if options.study == "correlations" and dataset is not None:
        raise ValueError("correlations uses all data sets: leave out --dataset")
    if dataset is None:
        dataset = "epsilon" if options.study == "table5" else "exp6"
    chosen = run.Options(
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
    options.folder.mkdir(parents=True, exist_ok=True)  # refused before any work
    started = time.perf_counter()
    study: Any = run_study(chosen)
    stem = options.study if options.study == "correlations" else f"{options.study}-{dataset}"
    made = (
        f"Made by `{_command(options)}` with fastcmp {fastcmp.__version__}; the last "
        f"run of this command took {time.perf_counter() - started:.1f} s."
    )
    text = f"{to_markdown(study.sections())}\n{made}\n"
    (options.folder / f"{stem}.md").write_text(text, encoding="utf-8")
    (options.folder / f"{stem}.csv").write_text(csv_text(study) + "\n", encoding="utf-8")
    figure = draw(study).figure
    for kind in ("png", "svg"):
        about = {"Description": made.replace("`", "")}
        figure.savefig(options.folder / f"{stem}.{kind}", dpi=150, metadata=about)
    print(study)


def _command(options: argparse.Namespace) -> str:
    """The command again, with all that the numbers depend on."""
    words = ["python -m benchmarks.studies", options.study]
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


if __name__ == "__main__":
    sys.exit(main())
