"""The command `plan`: how many samples, what power, which difference."""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np

import fastcmp
from fastcmp.cli.labels import read_labels
from fastcmp.cli.messages import option_of
from fastcmp.cli.options import Command, Group, Option, option
from fastcmp.cli.output import (
    TWO_MODELS,
    WRITTEN,
    check_places,
    only,
    save_picture,
    say,
    take_names,
    write,
)
from fastcmp.data import EXAMPLES

#: Suffix -> how it is explained.
POINTS = ("pp", "0.005, or 0.5pp for percentage points")
PERCENT = ("%", "0.15, or 15%")
_NUMBER_TEXT = r"\s*([0-9.eE_+-]+)\s*"


def read_amount(text: str, option: str, suffix: tuple[str, str] | None = POINTS) -> float:
    """Read a number; with the suffix it is one of hundredths.

    Examples
    --------
    >>> from fastcmp.cli.plan import read_amount
    >>> read_amount("0.5pp", "--margin")
    0.005
    """
    unit, example = suffix or ("", "")
    hundredths = re.fullmatch(_NUMBER_TEXT + unit, text) if unit else None
    try:
        # The quotient is the number that people write: 0.29, where 29 * 0.01 is not.
        return float(hundredths[1]) / 100 if hundredths else float(text)
    except ValueError:
        such = f" such as {example}" if example else ""
        raise ValueError(f"{option} must be a number{such}, got {text!r}") from None


# The options of `fastcmp plan`: inputs of the tests that can be planned.


#: How values of a form are written in hundredths.
_HUNDREDTHS = {"P+": PERCENT, "D+": POINTS, "A B": PERCENT, "LOW HIGH": PERCENT}
_COUNTS = "ONLY_A ONLY_B N"

#: Group of options -> option -> its form, and its help; of several values each is a plan.
INPUTS: dict[str, dict[str, tuple[str, str]]] = {
    "two accuracies (--test mcnemar, cv, accuracy-unpaired)": {
        "p10": ("P+", "probability that only a is right"),
        "p01": ("P+", "probability that only b is right"),
        "accuracy": ("A B", "accuracy of a, and of b"),
        "agreement": ("P+", "how often both are right or both wrong"),
        "correlation": ("X+", "of being right, or of values"),
        "kappa": ("X+", "of being right, Cohen's"),
        "label_agreement": ("P+", "how often both give the same label"),
        "discordant": ("P+", "how often just one of both is right"),
        "difference": (
            "D+",
            "measure of a minus that of b, such as 2pp; of accuracies beside --discordant",
        ),
        "pilot_counts": (_COUNTS, "samples of a pilot that only a, that only b got right, and all"),
        "so_far": (
            _COUNTS,
            "the same, of samples that the test will include: --n counts those to come",
        ),
        "conditional": ("flag?", "--n counts the discordant samples only"),
        "tails": ("NAME", "which rejections count: both, right-direction"),
    },
    "means, metrics, costs (--test mean, mean-unpaired, metric, cost)": {
        "sd": ("X+", "standard deviation of the difference of one item, or of values"),
        "sd_a": ("X+", "mean-unpaired: standard deviation of the values of a"),
        "sd_b": ("X+", "mean-unpaired: of the values of b"),
        "standard_error": ("X+", "of the difference in a pilot, beside --n-pilot"),
        "n_pilot": ("X+", "samples of the pilot"),
        "lower_is_better": ("flag?", "values are losses; matters with a margin"),
        "cluster_size": ("X+", "mean number of items in a cluster"),
        "cluster_size_cv": ("X+", "variation of the clusters' sizes"),
        "intraclass_correlation": ("X+", "of the differences within a cluster"),
        "variance_between": ("X+", "over items, of expected differences"),
        "variance_within_a": ("X+", "of the answers of a to one item"),
        "variance_within_b": ("X+", "of the answers of b to one item"),
        "repeats_a": ("X+", "answers of a to each item"),
        "repeats_b": ("X+", "answers of b to each item"),
    },
    "areas under ROC curves (--test auc, auc-paired); --n counts positives": {
        "auc": ("P+", "true area"),
        "auc_null": ("P+", "area under H0 (0.5)"),
        "auc_a": ("P+", "true area of a"),
        "auc_b": ("P+", "true area of b"),
        "ratio": ("X+", "negatives for each positive; unpaired: samples of b for each one of a"),
        "n_negatives": ("X+", "negatives, in place of --ratio"),
        "correlation_positives": ("X+", "of the scores of a and b, of positives"),
        "correlation_negatives": ("X+", "of the scores of a and b, of negatives"),
        "intercept_a": ("X+", "binormal curve of a"),
        "slope_a": ("X+", "its slope (1)"),
        "intercept_b": ("X+", "binormal curve of b"),
        "slope_b": ("X+", "its slope (1)"),
        "fpr_range": ("LOW HIGH", "false positive rates of partial areas"),
        "variance_a": ("X+", "of the area of a in a pilot, DeLong's"),
        "variance_b": ("X+", "of the area of b in a pilot"),
        "covariance": ("X+", "of both areas in a pilot"),
        "pilot_positives": ("X+", "positives of the pilot"),
        "pilot_negatives": ("X+", "negatives of the pilot"),
        "null_variance": ("NAME", "under H0: both, a, b (both)"),
    },
    "many models (--test leaderboard), and simulation": {
        "accuracies": ("P+", "of the models"),
        "means": ("X+", "of the models, beside --sd and --correlation"),
        "find": ("WHAT+", "best, all, any, average, or the numbers of two models (best)"),
        "adjust": ("NAME", "adjustment for the number of pairs (holm)"),
        "repeat_correlation": ("X+", "cv: of outcomes in two repetitions (0.25)"),
        "training_sd": ("X+", "cv: of the difference over training sets"),
        "n_resamples": ("N:int", "simulated data sets (2000)"),
        "seed": ("N:int", "of the simulation"),
    },
}
#: Options that stand for other inputs.
RENAMED = {"seed": "rng", "pilot_counts": "pilot"}
#: Of a leaderboard: one value a model.
_OF_MODELS = ("accuracies", "means", "sd")


def read_inputs(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Read the inputs that were passed, and name those of which each is a plan."""
    inputs: dict[str, Any] = {}
    several: list[str] = []
    for group in INPUTS.values():
        for name, (form, _) in group.items():
            value = getattr(options, name)
            if value is None:
                continue
            if name == "find":
                value = value[0] if len(value) == 1 else tuple(map(_whole, value))
            elif isinstance(value, list):
                option = f"--{name.replace('_', '-')}"
                value = [read_amount(text, option, _HUNDREDTHS.get(form)) for text in value]
                models = options.test == "leaderboard" and name in _OF_MODELS
                if form.endswith("+") and not models:
                    several += [name] if len(value) > 1 else []
                    value = value if len(value) > 1 else value[0]
                elif form == _COUNTS or name == "fpr_range":
                    value = tuple(value)
            inputs[RENAMED.get(name, name)] = value
    if "accuracy" in inputs:
        inputs["accuracy_a"], inputs["accuracy_b"] = inputs.pop("accuracy")
    return inputs, several


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--find must be a word, or two whole numbers, got {text!r}") from None


_OF_FILES = ("models", "target", "id", "drop", "missing")
#: Tests that are planned from files of predictions.
_FROM_FILES = ("mcnemar", "leaderboard")


def _plan(options: argparse.Namespace) -> None:
    from fastcmp import planning
    from fastcmp.planning.pilots import plan_from

    options.files = options.pilot or []
    check_places(options)
    inputs, several = read_inputs(options)
    name, family = _family(options, inputs)
    solve_for = "power" if options.power is None else "detectable_difference"
    solve_for = "sample_size" if options.n is None else solve_for
    if solve_for == "detectable_difference" and not family.detectable:
        raise ValueError(f"--test {name} finds --n or --power: pass one of them")
    arguments = inputs | _common(options, several) | {"test": name}
    for i, axis in enumerate(several):  # an axis of its own, the last to n
        after = (1,) * (len(several) - 1 - i)
        arguments[axis] = np.reshape(arguments[axis], (-1, *after))
    record = _pilot(options, name)
    if options.pilot_counts is None:
        del options.pilot_counts  # so that errors on a pilot speak of --pilot
    result = (
        getattr(planning, solve_for)(**arguments)
        if record is None
        else plan_from(record, solve_for, arguments)
    )
    save_picture(options.curve, lambda plot: plot.power_curve(result))
    write(result, options)


def _family(options: argparse.Namespace, inputs: dict[str, Any]) -> tuple[str, Any]:
    """Name and family of the test; options that it does not take are refused."""
    from fastcmp.planning.families import family_of

    name, family = family_of(options.test)
    options.test = name
    for input_name in inputs:
        if input_name not in family.inputs:
            allowed = dict.fromkeys(option_of(x, options) for x in family.inputs if x != "design")
            raise ValueError(
                f"{option_of(input_name, options)} is no option of --test {name}, which "
                f"takes: {', '.join(allowed)}"
            )
    return name, family


def _common(options: argparse.Namespace, several: list[str]) -> dict[str, Any]:
    """Read what all tests are asked."""
    arguments: dict[str, Any] = {"alternative": options.alternative}
    for name, suffix in (("margin", POINTS), ("alpha", PERCENT), ("power", PERCENT), ("n", None)):
        value = getattr(options, name)
        if value is not None:
            arguments[name] = [read_amount(text, f"--{name}", suffix) for text in value]
            several += [name] if len(value) > 1 else []
            arguments[name] = arguments[name] if len(value) > 1 else arguments[name][0]
    words = ("method", "hypothesis")
    return arguments | {x: getattr(options, x) for x in words if getattr(options, x)}


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
    first, second = only(read, 2, TWO_MODELS)
    say((f"a is {first}, b is {second}",))
    return fastcmp.mcnemar(read.y_true, *read.preds.values(), missing=missing)


PLAN = Command(
    *("plan", _plan, "plan a test: samples, power, or the difference that can be found"),
    "Plan a test of two models, or of many. Without --n: how many samples have the power wanted. "
    "With --n: what power they have. With --n and --power: the smallest difference that they find "
    "with it.",
    (
        Option(
            *("test", ""),
            "mcnemar, mean, metric, cost, mean-unpaired, accuracy-unpaired, auc, auc-paired, cv, "
            "leaderboard (mcnemar)",
            "mcnemar",
        ),
        Option("n", "N+", "samples"),
        Option("power", "P+", "power wanted (0.8)"),
        "method",
        Option("alpha", "P+", "error rate (0.05)", ["0.05"]),
        "alternative",
        Option("margin", "D+", "difference that does not matter, such as 1pp"),
        Option(
            *("hypothesis", ""),
            "what is to be shown: difference; with --margin noninferiority, "
            "superiority, equivalence (noninferiority)",
        ),
        Option("curve", "FILE", "draw the power (.png, .pdf, .svg)"),
        *WRITTEN,
        Group(
            "a pilot from files (--test mcnemar, leaderboard)",
            (
                Option("pilot", "FILE+", "files of predictions"),
                Option("example", f"{'|'.join(EXAMPLES)}|", "use bundled real predictions"),
                option("models", "columns of a and b, or of all"),
                *("target", "id", option("drop", default=None), option("missing", default=None)),
            ),
        ),
        *(
            Group(title, tuple(Option(x.replace("_", "-"), *row) for x, row in rows.items()))
            for title, rows in INPUTS.items()
        ),
    ),
    epilog="Options that take several values plan each: "
    "--power 0.8 0.9 --p10 0.1 0.15 are four plans. Probabilities may be written "
    "as 15%, differences as 2pp (percentage points).",
    usage="fastcmp plan [--test TEST] [--n N ...] [--power P ...] [what is known]",
    fixed={"cost": None},
)
