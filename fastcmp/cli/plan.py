"""The command `plan`: how many samples, what power, which difference."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp.cli.amounts import PERCENT, POINTS, read_amount
from fastcmp.cli.labels import read_labels
from fastcmp.cli.output import add_output, check_places, say, take_names, write
from fastcmp.cli.pictures import check_picture, save_picture
from fastcmp.cli.plan_options import INPUTS, add_inputs, option_of, read_inputs
from fastcmp.data import EXAMPLES

if TYPE_CHECKING:
    import argparse

    from fastcmp.planning.plan_result import Plan

_OF_FILES = ("models", "target", "id", "drop", "missing")
#: Tests that are planned from files of predictions.
_FROM_FILES = ("mcnemar", "leaderboard")
#: Names that are words of English, too: options only where inputs are listed.
_LISTING = re.compile(r"must be given|leave (?:it|one of both) out|: give ")


def add_plan(commands: Any) -> None:
    """Add `fastcmp plan`."""
    plan = commands.add_parser(
        "plan",
        usage="fastcmp plan [--test TEST] [--n N ...] [--power P ...] [what is known]",
        help="plan a test: samples, power, or the difference that can be found",
        description="Plan a test of two models, or of many. Without --n: how many "
        "samples have the power wanted. With --n: what power they have. With --n and "
        "--power: the smallest difference that they find with it.",
        epilog="Options that take several values plan each: "
        "--power 0.8 0.9 --p10 0.1 0.15 are four plans. Probabilities may be written "
        "as 15%, differences as 2pp (percentage points).",
    )
    add = plan.add_argument
    add(
        "--test",
        default="mcnemar",
        help="mcnemar, mean, metric, cost, mean-unpaired, accuracy-unpaired, auc, auc-paired, cv, "
        "leaderboard (mcnemar)",
    )
    add("--n", nargs="+", metavar="N", help="samples")
    add("--power", nargs="+", metavar="P", help="power wanted (0.8)")
    add("--method", help="variant of the test, or approximation (the test's first)")
    add("--alpha", nargs="+", default=["0.05"], metavar="P", help="error rate (0.05)")
    add(
        "--alternative",
        default="two-sided",
        help="two-sided, greater (a is better), less (two-sided)",
    )
    add(
        "--margin",
        nargs="+",
        metavar="D",
        help="difference that does not matter, such as 1pp",
    )
    add(
        "--hypothesis",
        help="what is to be shown: difference; with --margin noninferiority, "
        "superiority, equivalence (noninferiority)",
    )
    add("--curve", type=Path, metavar="FILE", help="draw the power (.png, .pdf, .svg)")
    add_output(add)
    _add_pilot(plan)
    add_inputs(plan)
    # Else "-2pp", which is no number, would be taken for an option.
    plan._negative_number_matcher = re.compile(r"-\.?\d")
    plan.set_defaults(run=_plan, cost=None)


def _add_pilot(plan: argparse.ArgumentParser) -> None:
    """Add the options of files that are a pilot."""
    files = plan.add_argument_group("a pilot from files (--test mcnemar, leaderboard)")
    add = files.add_argument
    add("--pilot", nargs="+", type=Path, metavar="FILE", help="files of predictions")
    add("--example", choices=tuple(EXAMPLES), help="use bundled real predictions")
    add("--models", nargs="+", metavar="COL", help="columns of a and b, or of all")
    add("--target", metavar="COL", help="column of the true labels (y_true)")
    add("--id", metavar="COL", help="column of sample ids, to join files by (id)")
    add("--drop", nargs="+", metavar="COL", help="columns to leave out")
    add("--missing", help="missing predictions: raise, wrong (raise)")


def _plan(options: argparse.Namespace) -> None:
    options.files = options.pilot or []
    check_picture(options.curve, "--curve")
    check_places(options)
    inputs, several = read_inputs(options)
    name, family = _family(options, inputs)
    solve_for = "power" if options.power is None else "detectable_difference"
    solve_for = "sample_size" if options.n is None else solve_for
    if solve_for == "detectable_difference" and not family.detectable:
        raise ValueError(f"--test {name} finds --n or --power: pass one of them")
    asked = inputs | _common(options, several)
    _spread(asked, several)
    record = _pilot(options, name)
    try:
        result = _solve(solve_for, asked | {"test": name}, record)
    except (ValueError, TypeError) as error:
        raise type(error)(_in_options(str(error), options)) from error
    save_picture(options.curve, lambda plot: plot.power_curve(result))
    write(result, options)


def _family(options: argparse.Namespace, inputs: dict[str, Any]) -> tuple[str, Any]:
    """Find the test, and refuse options that it does not take."""
    from fastcmp.planning.families import family_of

    name, family = family_of(options.test)
    options.test = name
    for given in inputs:
        if given not in family.inputs:
            known = dict.fromkeys(option_of(x) for x in family.inputs if x != "design")
            raise ValueError(
                f"{_option(given, options)} is no option of --test {name}, which "
                f"takes: {', '.join(known)}"
            )
    return name, family


def _common(options: argparse.Namespace, several: list[str]) -> dict[str, Any]:
    """Read what all tests are asked."""
    asked: dict[str, Any] = {"alternative": options.alternative}
    for name, suffix in (
        ("margin", POINTS),
        ("alpha", PERCENT),
        ("power", PERCENT),
        ("n", None),
    ):
        given = getattr(options, name)
        if given is not None:
            asked[name] = [read_amount(text, f"--{name}", suffix) for text in given]
            several += [name] if len(given) > 1 else []
            asked[name] = asked[name] if len(given) > 1 else asked[name][0]
    words = ("method", "hypothesis")
    return asked | {x: getattr(options, x) for x in words if getattr(options, x)}


def _spread(asked: dict[str, Any], several: list[str]) -> None:
    """Give each option of several values an axis of its own, the last to n."""
    import numpy as np

    for i, name in enumerate(several):
        after = (1,) * (len(several) - 1 - i)
        asked[name] = np.reshape(asked[name], (-1, *after))


def _pilot(options: argparse.Namespace, test: str) -> Any:
    """Test the predictions of files; None without them."""
    if not options.files and options.example is None:
        for name in _OF_FILES:
            if getattr(options, name) is not None:
                raise ValueError(f"--{name} is for --pilot")
        return None
    if test not in _FROM_FILES:
        raise ValueError(f"--pilot is for --test {' and '.join(_FROM_FILES)}, got {test}")
    options.drop = options.drop or ()
    options.files = options.files or []
    take_names(options)
    read = read_labels(options)
    missing = options.missing or "raise"
    if test == "leaderboard":
        return fastcmp.compare_all(read.y_true, read.preds, missing=missing)
    if len(read.preds) != 2:
        found = ", ".join(list(read.preds)[:10])
        raise ValueError(f"name the two models to compare (--models A B), of {found}")
    (first, a), (second, b) = read.preds.items()
    say((f"a is {first}, b is {second}",))
    return fastcmp.mcnemar(read.y_true, a, b, missing=missing)


def _solve(solve_for: str, asked: dict[str, Any], record: Any) -> Plan:
    from fastcmp import planning
    from fastcmp.planning.pilots import plan_from

    if record is None:
        return getattr(planning, solve_for)(**asked)  # type: ignore[no-any-return]
    return plan_from(record, solve_for, asked)


def _in_options(message: str, options: argparse.Namespace) -> str:
    """Write the names of inputs as options."""
    inputs = [name for group in INPUTS.values() for name in group if name != "find"]
    inputs += ["accuracy_a", "accuracy_b", "pilot", "power", "margin"]
    line = re.sub("accuracy_a (and|or) accuracy_b", "accuracy_a", message)
    line = re.sub(r"\bas n$", "as --n", line)
    line = line.replace("detectable_difference", "--n with --power")
    if _LISTING.search(line):
        names = [rf"(?<!\ba )\b{name}\b(?! of)" for name in inputs]
    else:
        names = [rf"^{name}(?= )" for name in inputs]
        names += [rf"\b{name}\b" for name in inputs if not name.isalpha()]
        names += [r"(?<=of )pilot\b"]
    line = re.sub("|".join(names), lambda found: _option(found[0], options), line)
    return line.replace("--accuracy, --accuracy", "--accuracy")


def _option(name: str, options: argparse.Namespace) -> str:
    counted = name == "pilot" and options.pilot_counts
    return "--pilot-counts" if counted else option_of(name)
