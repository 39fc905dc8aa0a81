"""Words of messages about logs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastcmp.core.render import visible

SHOWN = 3  # examples in a message
#: Why a value is missing: codes of `LogPart.status`.
STATUS = ("ok", "error", "unscored", "absent")
ERROR, UNSCORED, ABSENT = 1, 2, 3
#: Metrics of which less is better.
ERRORS = frozenset(
    (
        *("logloss", "log_loss", "cross_entropy", "brier", "brier_score", "perplexity"),
        *("error", "error_rate", "metric_error", "rmse", "mse", "mae", "rmsle"),
        *("wer", "cer", "word_perplexity", "byte_perplexity", "bits_per_byte"),
    )
)


def listed(texts: Iterable[Any], most: int = SHOWN) -> str:
    """List texts, the first few where they are many, and how many more there are."""
    words = [visible(str(text)) for text in texts]
    more = len(words) - most
    if more > 0:
        return f"{', '.join(words[:most])} and {more} more"
    return ", ".join(words)


def counted(n: int, what: str) -> str:
    """Count things, such as "1 item" or "3 items"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def sentences(texts: Iterable[str]) -> tuple[str, ...]:
    """Each sentence once, with a full stop."""
    return tuple(
        dict.fromkeys(text if text.endswith("?") else f"{text.rstrip('.')}." for text in texts)
    )


def task_label(task: str, subset: str) -> str:
    """Name a task with its subset."""
    return f"{task}/{subset}" if subset and task else task or subset


def a_task(label: str, before: str = "of") -> str:
    """Name a task in a sentence; nothing where there is none."""
    return f" {before} task {visible(label)}" if label else ""
