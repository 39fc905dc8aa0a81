"""The options of `fastcmp plan`: inputs of the tests that can be planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastcmp.cli.amounts import PERCENT, POINTS, read_amount

if TYPE_CHECKING:
    import argparse


class _Kind(NamedTuple):
    """How an option is read."""

    #: How many values: "+" is a plan for each, and a number a fixed tuple.
    nargs: str | int | None
    metavar: str | tuple[str, ...]
    #: How hundredths are written, see `fastcmp.cli.amounts`.
    suffix: tuple[str, str] | None = None


_NUMBER = _Kind("+", "X")
_PROPORTION = _Kind("+", "P", PERCENT)
_AMOUNT = _Kind("+", "D", POINTS)
_COUNTS = _Kind(3, ("ONLY_A", "ONLY_B", "N"))
_WORD = _Kind(None, "NAME")
_WHOLE = _Kind(None, "N")
_FLAG = _Kind(0, "")

#: Group of options -> option -> how it is read, and its help.
INPUTS: dict[str, dict[str, tuple[_Kind, str]]] = {
    "two accuracies (--test mcnemar, cv, accuracy-unpaired)": {
        "p10": (_PROPORTION, "probability that only a is right"),
        "p01": (_PROPORTION, "probability that only b is right"),
        "accuracy": (_Kind(2, ("A", "B"), PERCENT), "accuracy of a, and of b"),
        "agreement": (_PROPORTION, "how often both are right or both wrong"),
        "correlation": (_NUMBER, "of being right, or of values"),
        "kappa": (_NUMBER, "of being right, Cohen's"),
        "label_agreement": (_PROPORTION, "how often both give the same label"),
        "discordant": (_PROPORTION, "how often just one of both is right"),
        "difference": (
            _AMOUNT,
            "measure of a minus that of b, such as 2pp; of accuracies beside --discordant",
        ),
        "pilot_counts": (
            _COUNTS,
            "samples of a pilot that only a, that only b got right, and all",
        ),
        "so_far": (
            _COUNTS,
            "the same, of samples that the test will include: --n counts those to come",
        ),
        "conditional": (_FLAG, "--n counts the discordant samples only"),
        "tails": (_WORD, "which rejections count: both, right-direction"),
    },
    "means, metrics, costs (--test mean, mean-unpaired, metric, cost)": {
        "sd": (_NUMBER, "standard deviation of the difference of one item, or of values"),
        "sd_a": (_NUMBER, "mean-unpaired: standard deviation of the values of a"),
        "sd_b": (_NUMBER, "mean-unpaired: of the values of b"),
        "standard_error": (_NUMBER, "of the difference in a pilot, beside --n-pilot"),
        "n_pilot": (_NUMBER, "samples of the pilot"),
        "lower_is_better": (_FLAG, "values are losses; matters with a margin"),
        "cluster_size": (_NUMBER, "mean number of items in a cluster"),
        "cluster_size_cv": (_NUMBER, "variation of the clusters' sizes"),
        "intraclass_correlation": (_NUMBER, "of the differences within a cluster"),
        "variance_between": (_NUMBER, "over items, of expected differences"),
        "variance_within_a": (_NUMBER, "of the answers of a to one item"),
        "variance_within_b": (_NUMBER, "of the answers of b to one item"),
        "repeats_a": (_NUMBER, "answers of a to each item"),
        "repeats_b": (_NUMBER, "answers of b to each item"),
    },
    "areas under ROC curves (--test auc, auc-paired); --n counts positives": {
        "auc": (_PROPORTION, "true area"),
        "auc_null": (_PROPORTION, "area under H0 (0.5)"),
        "auc_a": (_PROPORTION, "true area of a"),
        "auc_b": (_PROPORTION, "true area of b"),
        "ratio": (_NUMBER, "negatives for each positive; unpaired: samples of b for each one of a"),
        "n_negatives": (_NUMBER, "negatives, in place of --ratio"),
        "correlation_positives": (_NUMBER, "of the scores of a and b, of positives"),
        "correlation_negatives": (_NUMBER, "of the scores of a and b, of negatives"),
        "intercept_a": (_NUMBER, "binormal curve of a"),
        "slope_a": (_NUMBER, "its slope (1)"),
        "intercept_b": (_NUMBER, "binormal curve of b"),
        "slope_b": (_NUMBER, "its slope (1)"),
        "fpr_range": (
            _Kind(2, ("LOW", "HIGH"), PERCENT),
            "false positive rates of partial areas",
        ),
        "variance_a": (_NUMBER, "of the area of a in a pilot, DeLong's"),
        "variance_b": (_NUMBER, "of the area of b in a pilot"),
        "covariance": (_NUMBER, "of both areas in a pilot"),
        "pilot_positives": (_NUMBER, "positives of the pilot"),
        "pilot_negatives": (_NUMBER, "negatives of the pilot"),
        "null_variance": (_WORD, "under H0: both, a, b (both)"),
    },
    "many models (--test leaderboard), and simulation": {
        "accuracies": (_PROPORTION, "of the models"),
        "means": (_NUMBER, "of the models, beside --sd and --correlation"),
        "find": (
            _Kind("+", "WHAT"),
            "best, all, any, average, or the numbers of two models (best)",
        ),
        "adjust": (_WORD, "adjustment for the number of pairs (holm)"),
        "repeat_correlation": (_NUMBER, "cv: of outcomes in two repetitions (0.25)"),
        "training_sd": (_NUMBER, "cv: of the difference over training sets"),
        "n_resamples": (_WHOLE, "simulated data sets (2000)"),
        "seed": (_WHOLE, "of the simulation"),
    },
}
#: Options that stand for other inputs, and inputs that have no option.
RENAMED = {"seed": "rng", "pilot_counts": "pilot"}
WITHOUT = ("design",)
#: Of a leaderboard: one value a model.
_OF_MODELS = ("accuracies", "means", "sd")


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    for title, options in INPUTS.items():
        group = parser.add_argument_group(title)
        for name, (kind, words) in options.items():
            option = f"--{name.replace('_', '-')}"
            if kind is _FLAG:
                group.add_argument(option, action="store_true", default=None, help=words)
            elif kind is _WHOLE:
                group.add_argument(option, type=int, metavar="N", help=words)
            else:
                shape: Any = {"nargs": kind.nargs, "metavar": kind.metavar}
                group.add_argument(option, help=words, **shape)


def read_inputs(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Read the inputs that were passed, and name those of which each is a plan."""
    inputs: dict[str, Any] = {}
    several: list[str] = []
    for group in INPUTS.values():
        for name, (kind, _) in group.items():
            given = getattr(options, name)
            if given is None:
                continue
            if name == "find":
                given = given[0] if len(given) == 1 else tuple(map(_whole, given))
            elif isinstance(given, list):
                option = f"--{name.replace('_', '-')}"
                given = [read_amount(text, option, kind.suffix) for text in given]
                models = options.test == "leaderboard" and name in _OF_MODELS
                if kind.nargs == "+" and not models:
                    several += [name] if len(given) > 1 else []
                    given = given if len(given) > 1 else given[0]
                elif kind is _COUNTS or name == "fpr_range":
                    given = tuple(given)
            inputs[RENAMED.get(name, name)] = given
    if "accuracy" in inputs:
        inputs["accuracy_a"], inputs["accuracy_b"] = inputs.pop("accuracy")
    return inputs, several


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--find must be a word, or two whole numbers, got {text!r}") from None


def option_of(name: str) -> str:
    """Name the option of an input."""
    others = {value: key for key, value in RENAMED.items()}
    others |= {"accuracy_a": "accuracy", "accuracy_b": "accuracy", "pilot": "pilot"}
    return f"--{others.get(name, name).replace('_', '-')}"
