"""`fastcmp compare --metric`: labels compared by a metric of counts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastcmp.cli.options import Group, Option
from fastcmp.core.checks import choose
from fastcmp.inputs.cost_matrix import as_labels

if TYPE_CHECKING:
    from fastcmp.metrics.choice import Metric

ZERO_DIVISION = {"0": 0.0, "1": 1.0, "nan": float("nan")}


METRICS = Group(
    "metrics",
    (
        Option("metric", "NAME", "f1_macro, mcc, balanced_accuracy, ..."),
        "positive",
        Option(
            *("labels", "LABEL+"),
            "classes that an average is over: union (of truth and predictions), "
            "truth, or these (union)",
        ),
        Option("zero-division", "", "rates that are 0/0: 0, 1 or nan (0)"),
    ),
    "Compare labels by a metric in place of accuracy.",
)


def metric_of(
    options: argparse.Namespace, labels: Iterable[Any], name: str | None = None
) -> Metric:
    """Make the metric that the options name; `labels` are those of the data."""
    from fastcmp.metrics.choice import make_metric
    from fastcmp.metrics.registry import plain_name

    name = options.metric if name is None else name
    if plain_name(name) == "cost":
        raise ValueError("costs are compared by fastcmp compare --test cost --cost FILE")
    distinct = list(labels)
    arguments: dict[str, Any] = {"average": options.average or "binary"}
    arguments |= classes_of(options, options.labels, distinct)
    if options.zero_division is not None:
        word = options.zero_division.lower()
        arguments["zero_division"] = ZERO_DIVISION.get(word, options.zero_division)
    return make_metric(name, **arguments)


def draws_together(options: argparse.Namespace) -> bool:
    """Whether all models are drawn together."""
    with suppress(ValueError):
        return bool(choose(options.adjust, "adjust", ("maxt", "single-step")))
    return bool(options.simultaneous)


def classes_of(
    options: argparse.Namespace, words: list[str] | None, labels: list[Any]
) -> dict[str, Any]:
    """The labels that --positive and the words of --labels name, where they are passed."""
    named: dict[str, Any] = {}
    if options.positive is not None:
        (named["positive"],) = as_found([options.positive], labels)
    if words is not None:
        is_word = words in (["union"], ["truth"])
        named["labels"] = words[0] if is_word else as_found(words, labels)
    return named


def positive_of(options: argparse.Namespace, y_true: Any) -> Any:
    """The label that --positive names, of the true ones; None where it is not passed."""
    labels = [] if options.positive is None else y_true.drop_null().unique().to_pylist()
    return classes_of(options, None, labels).get("positive")


def as_found(words: list[str], labels: list[Any]) -> list[Any]:
    """Turn words into the labels that they name."""
    if not labels:
        return words
    as_text = {str(label): label for label in labels}
    typed = as_labels(words, labels)
    return [
        label if label in labels else as_text.get(word, label)
        for word, label in zip(words, typed, strict=True)
    ]
