"""Names and options of metrics, as users write them."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.options import choose
from fastcmp.metrics.registry import AVERAGES, METRICS, SYNONYMS

#: Which classes an average is over, with the code that kernels take.
LABELS = {"union": kernels.UNION, "truth": kernels.TRUTH}
_BETA = re.compile(r"f_?(\d+\.?\d*|\.\d+)(_of_means)?")


def parse_name(
    metric: str, average: str | None, beta: float | None
) -> tuple[str, str | None, float | None]:
    """Split a name such as "f2_macro"."""
    plain, given = _split_average(plain_name(metric))
    if matched := _BETA.fullmatch(plain):
        found = float(matched[1])
        plain = "f1" if found == 1.0 else "fbeta"
        plain = "f1_of_means" if matched[2] else plain
        if found != 1.0 and beta not in (None, found):
            raise ValueError(f"metric={metric!r} and beta={beta} differ: pass one of them")
        beta = beta if found == 1.0 else found
    plain = _known().get(plain, plain)
    if plain not in METRICS:
        raise ValueError(
            f"metric must be one of {tuple(METRICS)}, perhaps with '_macro', '_micro' "
            f"or '_weighted', or a function of the confusion matrix, got {metric!r}"
        )
    if average is not None:
        average = choose(average, "average", (*AVERAGES, None))
    if given is not None:
        if average not in ("binary", given):
            raise ValueError(f"metric={metric!r} and average={average!r} differ: pass one")
        average = given
    fit = METRICS[plain].averages
    if average != "binary" and average not in ((*fit, None) if fit else ()):
        fitting = f"it takes {fit} or None" if fit else "it is of all classes at once"
        raise ValueError(f"average={average!r} does not fit metric {plain!r}: {fitting}")
    return plain, average, beta


def plain_name(name: str) -> str:
    """Write a name in one way: "Cohen's kappa" as "cohens_kappa"."""
    name = name.strip().lower().replace("'", "")
    if name not in ("lr-", "lr+"):
        name = name.replace("-", "_").replace(" ", "_")
    return name.removesuffix("_score")


def _split_average(plain: str) -> tuple[str, str | None]:
    """Take the average off a name, at its end or its beginning."""
    if plain in _known():  # such as "weighted_kappa"
        return plain, None
    for known in AVERAGES:
        if plain.endswith(f"_{known}"):
            return plain.removesuffix(f"_{known}").removesuffix("_score"), known
        if plain.startswith(f"{known}_"):
            return plain.removeprefix(f"{known}_"), known
    return plain, None


@cache
def _known() -> dict[str, str]:
    """Map each spelling of a metric, also as it is shown, to its name."""
    shown = {plain_name(entry.title): name for name, entry in METRICS.items()}
    return shown | SYNONYMS | {name: name for name in METRICS}


def read_labels(labels: Any) -> Any:
    """Check which classes an average is over."""
    if isinstance(labels, str):
        return choose(labels, "labels", tuple(LABELS))
    if labels is None:
        return "union"
    try:
        raw = np.asarray(labels, dtype=object)
        listed = tuple(raw.tolist()) if raw.ndim == 1 else None
        repeated = listed is not None and len(set(listed)) < len(listed)
        if listed is not None and any(x is None or x != x for x in listed):  # noqa: PLR0124
            repeated = True  # a missing label
    except (TypeError, ValueError):
        listed = None
    if listed is None:  # a set has no order, and the order counts
        raise TypeError(f"labels must be 'union', 'truth' or a sequence, got {labels!r}")
    if repeated or not listed:
        raise ValueError(f"labels must list different classes, none missing, got {labels!r}")
    return listed


def read_zero_division(value: Any) -> float:
    """Check what a rate without samples is."""
    if isinstance(value, str) and value.lower() in ("warn", "nan"):
        return 0.0 if value.lower() == "warn" else math.nan
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        number = float(value)
        if number in (0.0, 1.0) or math.isnan(number):
            return number
    raise ValueError(f"zero_division must be 0, 1 or nan, got {value!r}")


def read_beta(name: str, beta: Any) -> float:
    """Check what recall counts beside precision."""
    if beta is None:
        if name == "fbeta":
            raise ValueError("metric 'fbeta' needs a beta: name it, such as f2 or f0.5")
        return 1.0
    if isinstance(beta, bool) or not isinstance(beta, (int, float, np.number)):
        raise TypeError(f"beta must be a number, got {beta!r}")
    if name not in ("fbeta", "f1_of_means") and beta != 1:
        raise ValueError(f"beta is for metric 'fbeta', got {name!r}")
    if not 0.0 < float(beta) < math.inf:
        raise ValueError(f"beta must be above 0, got {beta}")
    return float(beta)
