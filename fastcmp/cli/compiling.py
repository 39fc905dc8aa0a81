"""Which kernels are compiled while something runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from logging import LogRecord


@contextmanager
def counting() -> Iterator[list[str]]:
    """Collect a message for each kernel that is compiled."""
    compiled: list[str] = []

    def take(record: LogRecord) -> bool:
        if record.levelno == logging.DEBUG:
            compiled.append(record.getMessage())
        return False  # no handler prints it

    logger = logging.getLogger("fastcmp.compiling")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(take)
    try:
        yield compiled
    finally:
        logger.removeFilter(take)
        logger.setLevel(level)
