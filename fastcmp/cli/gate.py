"""The command `gate`: is a new model not worse than the one before?

Made for continuous integration: the exit code is 0 for not worse, 1 for worse and 2 for
cannot tell.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np

import fastcmp
from fastcmp.cli.metrics import metric_of
from fastcmp.cli.options import Command, Option, option
from fastcmp.cli.output import check_places, say, write_text
from fastcmp.cli.pages import write_page
from fastcmp.cli.plan import read_amount
from fastcmp.core.checks import choose
from fastcmp.core.errors import ArgumentError
from fastcmp.core.render import visible
from fastcmp.core.saved_states import replacing
from fastcmp.core.typing import Flags
from fastcmp.pairwise.model_estimates import listed

if TYPE_CHECKING:
    from fastcmp.io.predictions import TwoModels
    from fastcmp.pairwise.gate import GateResult

_VALUES = "values"
_FEWEST = 2  # samples of a slice that is tested
_LIST = "accepted.json"  # of a store of accepted runs, the last one last
#: How the comment of a pull request is found again.
_MARKER = "<!-- fastcmp-gate -->"
_SUFFIXES = {".xml": "junit", ".md": "markdown", ".json": "json"}


def _gate(options: argparse.Namespace) -> int:
    from fastcmp.paired.margins import as_margin_alpha
    from fastcmp.pairwise.adjust import ADJUSTMENTS

    margins = _margins(options)
    as_margin_alpha(options.alpha)
    choose(options.adjust, "adjust", ADJUSTMENTS)
    store = options.baseline_store
    if (store is None) == (options.base is None):
        raise ValueError("pass BASE and NEW, or NEW and --baseline-store DIR")
    if options.accept and store is None:
        raise ValueError("--accept needs --baseline-store DIR, where accepted runs are kept")
    if store is not None:
        options.base = _accepted(store)
        if options.base is None and not options.accept:
            raise ValueError(f"{store} holds no accepted run yet: --accept keeps {options.new}")
        if options.base is None:
            _accept(options.new, store)
            return 0
    options.files = [options.base, options.new]
    check_places(options)
    pair = _read(options)
    comparisons, small = {}, []
    for part, rows in _slices(options.slices, pair):
        if rows is not None and np.count_nonzero(rows) < _FEWEST:
            small.append(part)
            continue
        for measure, compare in _comparisons(options, pair, margins):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    comparisons[measure + (f" [{part}]" if part else "")] = compare(rows)
            except ArgumentError as error:
                if not part:
                    raise
                raise error.but(demand=f"{error.args[0]} (in the slice {part})") from None
    result = fastcmp.gate(comparisons, adjust=options.adjust, names=("new", "base"))
    if small:
        too_small = f"TOO SMALL to be tested, and not counted: {listed(small)}."
        result = replace(result, cautions=(*result.cautions, too_small))
    if pair.models[0].equals(pair.models[1]):
        what = "have the same values" if options.of_values else "predict the same"
        same = f"base and new {what} for all {len(pair.models[0]):,} samples: is one file a copy?"
        say([same], "warning: ")
        result = replace(result, cautions=(same, *result.cautions))
    _write(result, options)
    if options.accept and result.exit_status == 0:
        _accept(options.new, store)
    return result.exit_status


def _accepted(store: Path) -> Path | None:
    """The run that was accepted last; None where there is none."""
    listed = store / _LIST
    if not listed.exists():
        return None
    try:
        last = json.loads(listed.read_text(encoding="utf-8"))["accepted"][-1]
        return store / str(last["file"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{listed} is no list of accepted runs: {error!r}") from None


def _accept(new: Path, store: Path) -> None:
    """Keep a run in the store, under a name that follows from what it holds."""
    content = new.read_bytes()
    digest = sha256(content).hexdigest()
    store.mkdir(parents=True, exist_ok=True)
    name, listed = f"{digest[:16]}{''.join(new.suffixes)}", store / _LIST
    runs = json.loads(listed.read_text(encoding="utf-8"))["accepted"] if listed.exists() else []
    runs.append({"file": name, "sha256": digest, "from": new.name})
    for path, text in (
        (store / name, content),
        (listed, json.dumps({"accepted": runs}, indent=1).encode() + b"\n"),
    ):
        with replacing(path) as file:
            file.write(text)
    say([f"{new} is kept in {store} as the accepted run"])


def _read(options: argparse.Namespace) -> TwoModels:
    from fastcmp.inputs.labels import encode
    from fastcmp.io.label_check import check_whole
    from fastcmp.io.predictions import read_two

    target = options.target or "y_true"
    others = {f"--slices {name}": name for name in options.slices}
    others |= {} if options.groups is None else {"--groups": options.groups}
    pair = read_two(
        options.files,
        target=None if options.of_values else target,
        models=options.models,
        id_column=options.id,
        others=others,
        drop=options.drop,
    )
    if not options.of_values:
        models = dict(zip(("base", "new"), pair.models, strict=True))
        check_whole(pair.y_true, models, target)
        # Here warnings speak of base and new; below they would of pred_a and pred_b.
        encode(pair.y_true, models, missing=options.missing)
    return pair


def _margins(options: argparse.Namespace) -> dict[str, float]:
    """Read the margin of each metric."""
    metrics = [_VALUES] if options.of_values else list(options.metric)
    if len(set(metrics)) < len(metrics):
        raise ValueError(f"--metric names one twice: {' '.join(metrics)}")
    if options.lower_is_better and not options.of_values:
        raise ValueError("--lower-is-better is for --values")
    if options.of_values and options.metric != ["accuracy"]:
        raise ValueError("pass --values or --metric, not both")
    common: float | None = None
    margins: dict[str, float] = {}
    for word in options.margin:
        name, _, amount = word.rpartition("=")
        if not name:
            if common is not None:
                raise ValueError(f"--margin must be one amount, or METRIC=AMOUNT, got {word}")
            common = read_amount(amount, "--margin")
        elif name not in metrics:
            raise ValueError(f"--margin {word} is for no metric; there are: {', '.join(metrics)}")
        else:
            margins[name] = read_amount(amount, "--margin")
    lacking = [name for name in metrics if name not in margins]
    if lacking:
        if common is None:
            raise ValueError(f"--margin gives none for {', '.join(lacking)}")
        margins |= dict.fromkeys(lacking, common)
    return {name: margins[name] for name in metrics}


def _slices(names: Sequence[str], pair: TwoModels) -> Iterator[tuple[str, Flags | None]]:
    """All samples, and then those of each label of each column."""
    yield "", None
    for name in names:
        labels = pair.others[f"--slices {name}"].to_pylist()
        words = np.array(["" if x is None else str(x) for x in labels])
        for word in np.unique(words).tolist():
            yield f"{name}={word or '(none)'}", words == word


def _comparisons(
    options: argparse.Namespace, pair: TwoModels, margins: dict[str, float]
) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """What is compared, by name, as functions of the chosen rows."""
    base, new = pair.models
    groups = pair.others.get("--groups")
    for name, margin in margins.items():
        columns: tuple[Any, ...] = (pair.y_true, new, base)
        test: Callable[..., Any]
        if name == _VALUES:
            columns = (new, base)
            test = partial(fastcmp.mean_difference, lower_is_better=options.lower_is_better)
        elif name == "accuracy":
            test = partial(fastcmp.mcnemar, missing=options.missing)
        else:
            labels = pair.y_true.unique().to_pylist()
            test = partial(fastcmp.compare_metric, metric=metric_of(options, labels, name))
        test = partial(test, margin=margin, alpha=options.alpha)

        def compare(rows: Any, test: Any = test, columns: Any = columns) -> Any:
            rows_of_columns = [
                x if rows is None or x is None else x.filter(rows) for x in (*columns, groups)
            ]
            return test(*rows_of_columns[:-1], groups=rows_of_columns[-1])

        yield name, compare


def _write(result: GateResult, options: argparse.Namespace) -> None:
    suffix = "" if options.output is None else options.output.suffix.lower()
    form = options.format or _SUFFIXES.get(suffix, "text")
    text = result.summary() if form == "text" else _FORMATS[form](result)
    write_text(text, options.output)
    if options.output is not None:
        print(result.sentence)
    write_page({"": result}, options)


def _junit(result: GateResult) -> str:
    """Write a test suite with a test case for each comparison."""
    from fastcmp.core.sections import format_pvalue
    from fastcmp.paired.margin_result import METHOD_NAMES

    n = len(result.names)
    failed = result.failed
    unknown = ~failed & ~result.margin_met
    suite = ET.Element(
        "testsuite",
        name="fastcmp gate",
        tests=str(n),
        failures=str(int(failed.sum())),
        errors=str(int(unknown.sum())),
    )
    columns = result.columns()
    for i, name in enumerate(result.names):
        place = {"classname": "fastcmp.gate", "name": visible(name)}
        case = ET.SubElement(suite, "testcase", place)
        low, high = result.interval[i]
        size, new, base = result.measured(i)
        test = METHOD_NAMES.get(result.methods[i], result.methods[i])
        message = (
            f"{columns['decision'][i]}: {result.measures[i]} of new {new}, of base {base}, "
            f"n = {size}, "
            f"difference {result.difference[i]:+.6g}, "
            f"{100 * (1 - 2 * result.alpha):.9g}% CI [{low:+.6g}, {high:+.6g}], "
            f"margin {result.margin[i]:.6g}, p = {format_pvalue(result.pvalue[i])} (H0: new is "
            f"worse by the margin or more; {test})"
        )
        if failed[i]:
            ET.SubElement(case, "failure", type="worse", message=message)
        elif unknown[i]:
            ET.SubElement(case, "error", type=columns["decision"][i], message=message)
        ET.SubElement(case, "system-out").text = message
    ET.SubElement(suite, "system-out").text = "\n".join((result.sentence, *result.cautions))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode")


_FORMATS: dict[str, Callable[[GateResult], str]] = {
    "junit": _junit,
    "markdown": lambda result: f"{_MARKER}\n{result.to_markdown()}",
    "json": lambda result: json.dumps(
        {
            "outcome": result.outcome,
            "sentence": result.sentence,
            "exit_status": result.exit_status,
            **result.to_dict(),
        },
        indent=1,
        allow_nan=False,
    ),
}


GATE = Command(
    *("gate", _gate, "decide whether a new model is not worse, for continuous integration"),
    "Decide whether the model of NEW is not worse than that of BASE by a margin. Both files hold "
    "the true labels, the predictions of one model, and ids of samples, by which they are joined.",
    (
        Option("base", "?BASE", "file of the model before"),
        Option("new", "NEW", "file of the new model"),
        Option(
            *("margin", "AMOUNT+"),
            "largest loss that does not matter, such as 0.5pp (percentage points) or "
            "0.005; METRIC=AMOUNT for a metric of its own",
            required=True,
        ),
        Option("metric", "NAME+", "accuracy, f1_macro, mcc, ... (accuracy)", ["accuracy"]),
        Option(
            *("values", "flag"),
            "files hold values per item, such as grades, in place of predictions",
            dest="of_values",
        ),
        Option("lower-is-better", "flag", "with --values: these are losses"),
        Option(
            *("slices", "COL+"),
            "columns of labels, such as language: each slice is compared alone, too",
            *((), ("--by",)),
        ),
        *("groups", "target", "id", "drop", "positive", "missing", "alpha"),
        Option(
            *("models", "BASE_COL NEW_COL"), "column of the model in each file (the only other one)"
        ),
        Option("average", "", "of metrics: binary, macro, micro, weighted (binary)"),
        option("adjust", 'adjustment of "better" and "worse" for several comparisons (holm)'),
        Option(
            *("format", "|".join(("text", *_FORMATS))),
            "how to write (as the extension of --output says, or text)",
        ),
        *("output", "report"),
        Option(
            *("baseline-store", "DIR"),
            "folder of accepted runs, the last of which is compared in place of BASE",
        ),
        Option(
            *("accept", "flag"),
            "with --baseline-store: keep NEW as the accepted run if it passes, or is the first",
        ),
    ),
    epilog="Exit code: 0 not worse, 1 worse, 2 cannot tell, 64 bad input (also a "
    "missing file), 70 an error of the program. With several metrics or slices the "
    "gate passes only if the margin is met in each.",
    fixed={"labels": None, "zero_division": None},
)
