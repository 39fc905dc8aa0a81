"""Names and options of metrics, as users write them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.options import choose
from fastcmp.metrics.registry import AVERAGES, METRICS, SYNONYMS

#: Which classes an average is over, with the code that kernels take.
LABELS = {"union": kernels.UNION, "truth": kernels.TRUTH}
_BETA = re.compile(r"f_?(\d+\.?\d*|\.\d+)")


def parse_name(
    metric: str, average: str | None, beta: float | None
) -> tuple[str, str | None, float | None]:
    """Split a name such as "f2_macro"."""
    plain = metric.strip().lower().replace("-", "_").replace(" ", "_")
    plain = "lr-" if metric.strip().lower() == "lr-" else plain
    given = None
    for known in AVERAGES:
        if plain.endswith(f"_{known}"):
            plain, given = plain.removesuffix(f"_{known}"), known
        elif plain.startswith(f"{known}_"):
            plain, given = plain.removeprefix(f"{known}_"), known
    if (matched := _BETA.fullmatch(plain)) and plain not in ("f1", "f_1"):
        plain, found = "fbeta", float(matched[1])
        if beta is not None and beta != found:
            message = f"metric={metric!r} and beta={beta} differ: pass one of them"
            raise ValueError(message)
        beta = found
    plain = SYNONYMS.get(plain, plain).replace("f_1", "f1")
    if plain not in METRICS:
        message = (
            f"metric must be one of {tuple(METRICS)}, perhaps with '_macro', '_micro' "
            f"or '_weighted', or a function of the confusion matrix, got {metric!r}"
        )
        raise ValueError(message)
    if average is not None:
        average = choose(average, "average", (*AVERAGES, None))
    if given is not None:
        if average not in ("binary", given):
            message = f"metric={metric!r} and average={average!r} differ: pass one"
            raise ValueError(message)
        average = given
    fit = METRICS[plain].averages
    if average not in (None, "binary") and average not in fit:
        fitting = f"one of {fit}, or None" if fit else "none: it is of all classes"
        message = f"average={average!r} does not fit metric {plain!r}; {fitting}"
        raise ValueError(message)
    return plain, average, beta


def read_labels(labels: Any) -> Any:
    """Check which classes an average is over."""
    if isinstance(labels, str):
        return choose(labels, "labels", tuple(LABELS))
    if labels is None:
        return "union"
    try:
        listed = tuple(np.asarray(labels, dtype=object).tolist())
        repeated = len(set(listed)) < len(listed)
    except TypeError:
        message = f"labels must be 'union', 'truth' or a sequence, got {labels!r}"
        raise TypeError(message) from None
    if repeated or not listed:
        message = f"labels must list different classes, got {labels!r}"
        raise ValueError(message)
    return listed


def read_zero_division(value: Any) -> float:
    """Check what a rate without samples is."""
    if isinstance(value, str) and value.lower() in ("warn", "nan"):
        return 0.0 if value.lower() == "warn" else math.nan
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        number = float(value)
        if number in (0.0, 1.0) or math.isnan(number):
            return number
    message = f"zero_division must be 0, 1 or nan, got {value!r}"
    raise ValueError(message)


def read_beta(name: str, beta: Any) -> float:
    """Check what recall counts beside precision."""
    if beta is None:
        if name == "fbeta":
            message = "metric 'fbeta' needs beta="
            raise ValueError(message)
        return 1.0
    if name not in ("fbeta", "f1_of_means") and beta != 1:
        message = f"beta is for metric 'fbeta', got {name!r}"
        raise ValueError(message)
    if isinstance(beta, bool) or not isinstance(beta, (int, float, np.number)):
        message = f"beta must be a number, got {beta!r}"
        raise TypeError(message)
    if not 0.0 < float(beta) < math.inf:
        message = f"beta must be above 0, got {beta}"
        raise ValueError(message)
    return float(beta)
