"""Which options of `fastcmp compare` do not fit which kind of data: one table."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

#: Options by what they are for; @name stands for them in what follows.
GROUPS = {
    "@labels": "target cost test checkpoint id drop positive labels zero_division",
    "@logs": "task by filter items errors runs log_format ids imputed pareto",
    "@tasks": "omnibus ties ridge",
    "@items": "groups strata weights slices",
    "@long": "item model value repeat",
    "@means": "variance df interval repeats k stratum_weights",
    "@draws": "n_resamples seed",
}
_VALUES = "is for values per item: pass --values FILE or --long FILE"
_LABELS = "example target cost test checkpoint metric positive labels zero_division"
_OF_LABELS = "is for predicted labels, and does not go with"
_OF_LOGS = "is for logs, or --over tasks"
#: Kind of data -> options that do not fit it, and why.
REFUSED: dict[str, tuple[tuple[str, str], ...]] = {
    "labels": (("lower_is_better @items @long @means", _VALUES),),
    "labels without --metric": (
        ("average", _VALUES),
        ("positive labels zero_division", "is for --metric NAME"),
    ),
    "labels without --metric or max-T": (("@draws", _VALUES),),
    "predictions": (("@logs @tasks over", "is for logs, and these are predictions"),),
    "wide values": (
        ("@logs @tasks", _OF_LOGS),
        (_LABELS, f"{_OF_LABELS} --values"),
        ("@long", "is for long files: pass --long FILE"),
    ),
    "long values": (
        ("@logs @tasks", _OF_LOGS),
        (_LABELS, f"{_OF_LABELS} --long"),
        ("slices", "is for wide files: pass --values FILE"),
    ),
    "a long file": (
        ("id drop", "does not go with --long: name columns by --item, --model and --value"),
    ),
    "scores of tasks": (
        (
            "example target cost test checkpoint positive labels zero_division @logs @means "
            "average weights slices groups @draws metric ties ridge",
            "does not go with --over tasks and a table of scores",
        ),
    ),
    "logs": (
        ("@labels", "works only with predicted labels; these are logs"),
        ("weights slices ties ridge", "does not go with logs"),
    ),
    "logs not over tasks": (("omnibus", "is for --over tasks"),),
    "logs by several metrics": (
        (
            "metric by over method control @means average weights groups @draws lower_is_better",
            "does not go with --pareto",
        ),
    ),
    "battles": (
        (
            "@labels task by filter items errors runs ids imputed pareto over omnibus metric "
            "@items method models @long @means average lower_is_better",
            "does not go with battles",
        ),
    ),
    "sums": (
        (
            "example @labels values metric value repeat @means average by over @tasks pareto",
            "does not go with --sums",
        ),
    ),
    "sums of logs": (("weights slices item model", "is for long tables"),),
    "sums of a table": (("@logs models", "is for logs, and this is a table"),),
}


def options_of(text: str) -> list[str]:
    """The options that a text names, those of its groups in their places."""
    return " ".join(GROUPS.get(word, word) for word in text.split()).split()


def options_given(options: argparse.Namespace, names: str | Iterable[str]) -> list[str]:
    """The options of these that a user gave."""
    values, names = vars(options), options_of(names) if isinstance(names, str) else names
    return [name for name in names if values.get(name) not in (None, (), [])]


def refuse(options: argparse.Namespace, *kinds: str) -> None:
    """Refuse options that do not fit the kinds of data."""
    for kind in kinds:
        for names, why in REFUSED[kind]:
            for name in options_given(options, names):
                raise ValueError(f"--{name.replace('_', '-')} {why}")
