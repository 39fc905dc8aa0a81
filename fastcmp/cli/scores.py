"""The commands for scores: `roc`, `cutpoint` and `lift`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import fastcmp
from fastcmp.cli.metrics import positive_of
from fastcmp.cli.options import Command, Option, option, passed
from fastcmp.cli.output import (
    WRITTEN,
    check_places,
    chosen_files,
    files_of,
    only,
    save_picture,
    say,
    write,
)
from fastcmp.core.checks import as_proportion, choose
from fastcmp.core.records import Record
from fastcmp.core.typing import Label
from fastcmp.data import SCORE_EXAMPLES, scores_path

if TYPE_CHECKING:
    from fastcmp.cli.boards import RocCurves
    from fastcmp.io.predictions import Predictions


def _read(options: argparse.Namespace, groups: str | None = None) -> Predictions:
    """Read scores, and with them the column of the clusters."""
    from fastcmp.io.predictions import read_predictions

    check_places(options)
    target = options.target
    if options.example is not None and target is None:
        target = SCORE_EXAMPLES[options.example].target
    read = read_predictions(
        chosen_files(options, scores_path),
        target=target,
        models=options.scores and [*options.scores, *([groups] if groups else [])],
        id_column=options.id,
        drop=options.drop,
        option="--scores, --groups" if groups else "--scores",
        scores=True,
    )
    say(read.remarks)
    if groups is not None and groups not in read.preds:
        raise ValueError(f"no column {groups!r} for --groups, got {', '.join(read.preds)}")
    _refuse_text(read, groups)
    return read


def _refuse_text(read: Predictions, groups: str | None) -> None:
    """Refuse columns of text by name: they hold no scores."""
    from fastcmp.io.chosen import advice, titled
    from fastcmp.io.formats import family

    kinds = {x: family(column.type) for x, column in read.preds.items() if x != groups}
    bad = [x for x, kind in kinds.items() if kind == "string"]
    if bad:
        raise TypeError(
            f"{titled(bad[0])} holds text, and scores must be numbers: to leave "
            f"columns out pass {advice(*bad)}, or choose by --scores"
        )


def _one_score(options: argparse.Namespace) -> tuple[str, Any, Any, Any]:
    """The name of the one model, true labels, scores, and the positive label."""
    read = _read(options)
    (name,) = only(read, 1, "name one column of scores (--scores COL), of")
    return name, read.y_true, read.preds[name], positive_of(options, read.y_true)


def _roc(options: argparse.Namespace) -> None:
    from fastcmp.pairwise.adjust import OF_MODELS  # loads numba

    margin, several = options.margin, passed(options, "margin", "alpha")
    level = 1 - as_proportion(options.alpha, "alpha")
    choose(options.adjust, "adjust", OF_MODELS)
    if options.groups is not None and options.specificity is not None:
        raise ValueError("--groups does not go with --specificity, whose samples are drawn singly")
    read = _read(options, options.groups)
    groups = None if options.groups is None else read.preds.pop(options.groups)
    scores: dict[str, Any] = dict(read.preds)
    if options.lower_is_positive:
        scores = {name: 0.0 - np.asarray(x, np.float64) for name, x in scores.items()}
    positive = positive_of(options, read.y_true)
    result = fastcmp.delong(read.y_true, scores, positive=positive, groups=groups)
    save_picture(options.plot, lambda plot: plot.roc(read.y_true, scores, positive=positive))
    answer: Record = replace(result, confidence_level=level)
    if options.specificity is not None:
        band = fastcmp.roc_band(
            read.y_true, scores, specificity=options.specificity, positive=positive, rng=0
        )
        answer = band
        if len(scores) != 2 and margin is not None:
            raise ValueError("--margin with --specificity takes two models: choose by --scores")
        if len(scores) == 2:
            answer = replace(band.compare(**several), confidence_level=level)
    elif len(scores) > 2:
        answer = result.pairwise(adjust=options.adjust, **several)
    elif margin is not None:
        answer = replace(result.compare(**several), confidence_level=level)

    def more() -> dict[str, Record]:
        from fastcmp.cli.boards import MOST_CURVES

        best = sorted(zip(-result.auc, result.names, strict=True))[:MOST_CURVES]
        drawn = {name: scores[name] for _, name in best}
        return {"Curves": _curves(read.y_true, drawn, positive, result)}

    write(answer, options, more=more)


def _curves(
    y_true: Any,
    scores: Mapping[str, Any],
    positive: Label,
    counted: Any,
    marks: Mapping[str, Any] | None = None,
) -> RocCurves:
    """Compute the ROC curves of models, for a report."""
    from fastcmp.cli.boards import RocCurves

    return RocCurves(
        n_models=len(getattr(counted, "names", scores)),
        curves={
            name: fastcmp.roc_curve(y_true, score, positive=positive)
            for name, score in scores.items()
        },
        n_positives=counted.n_positives,
        n_negatives=counted.n_negatives,
        marks=marks or {},
    )


def _cutpoint(options: argparse.Namespace) -> None:
    name, y_true, score, positive = _one_score(options)
    result = fastcmp.optimal_cutpoint(
        y_true,
        score,
        positive=positive,
        **passed(options, "criterion", "rule", "cost_fp", "cost_fn", "prevalence"),
    )
    save_picture(
        options.plot, lambda plot: plot.cutoffs(y_true, score, positive=positive, result=result)
    )

    def more() -> dict[str, Record]:
        rates = zip(result.fp / result.n_negatives, result.tp / result.n_positives,
                    result.cutoffs, strict=True)  # fmt: skip
        marks = tuple((float(x), float(y), f"cutoff {cut:.4g}") for x, y, cut in rates)
        return {"Curve": _curves(y_true, {name: score}, positive, result, {name: marks})}

    write(result, options, more=more)


def _lift(options: argparse.Namespace) -> None:
    _, y_true, score, positive = _one_score(options)
    table = fastcmp.lift_table(
        y_true, score, groups=options.groups, ties=options.ties, positive=positive
    )
    save_picture(options.plot, lambda plot: plot.lift(table))
    write(table, options)


_READ = (
    *files_of(SCORE_EXAMPLES),
    option("positive", "the positive class (the larger number)"),
    "plot",
)
ROC = Command(
    *("roc", _roc, "compare scores of two classes by the area under the ROC curve"),
    "Areas under the ROC curves of one or several models, with DeLong's intervals, and all pairs "
    "compared; or with --specificity their sensitivities there, by 2,000 bootstrap samples.",
    (
        *_READ,
        option("scores", "columns of scores (all others)", form="COL+"),
        *("adjust", "groups"),
        option("alpha", "error rate of decisions, 1 - level of intervals (0.05)"),
        Option("margin", "float", "largest difference that does not matter: tests against it"),
        Option("specificity", "RATE:float", "compare sensitivities at this one"),
        Option("lower-is-positive", "flag", "low scores indicate the positive class"),
        *WRITTEN,
    ),
)
CUTPOINT = Command(
    *("cutpoint", _cutpoint, "find the best cutoff for one column of scores"),
    "The cutoffs that are best by a criterion, with their tables.",
    (
        *(*_READ, "scores"),
        Option("criterion", "", "youden, accuracy, cost, ... (youden)", "youden"),
        Option("rule", "", "what score is positive beside the cutoff: >= > <= < (>=)", ">="),
        Option("cost-fp", "float", "cost of a false positive (1)", 1.0),
        Option("cost-fn", "float", "cost of a false negative (1)", 1.0),
        Option("prevalence", "float", "expected proportion of positives (as observed)"),
        *WRITTEN,
    ),
)
LIFT = Command(
    *("lift", _lift, "response and captured events by groups of scores"),
    "Samples in groups from the highest score down: events, response rate, proportion of all "
    "events, and lift.",
    (
        *(*_READ, "scores"),
        Option("groups", "int", "how many groups (10)", 10),
        Option("ties", "", "expected, better, worse, first (expected)", "expected"),
        *WRITTEN,
    ),
)
