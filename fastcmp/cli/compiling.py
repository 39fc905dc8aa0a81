"""Which kernels are compiled, and the line at a terminal that says so."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from logging import LogRecord

#: The logger to which `fastcmp._jit` names each kernel that it compiles.
_LOGGER = "fastcmp.compiling"
_MESSAGE = "fastcmp: compiling kernels, once, a few seconds"
_UNCACHED = "fastcmp: compiling kernels, each time anew: see fastcmp doctor"


@contextmanager
def _hearing(hear: Callable[[str], object]) -> Iterator[None]:
    """Call a function with the name of each kernel that is compiled."""
    import logging

    def take(record: LogRecord) -> bool:
        hear(record.getMessage())
        return False  # no handler prints it

    logger = logging.getLogger(_LOGGER)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(take)
    try:
        yield
    finally:
        logger.removeFilter(take)
        logger.setLevel(level)


@contextmanager
def counting() -> Iterator[list[str]]:
    """Collect a message for each kernel that is compiled."""
    compiled: list[str] = []
    with _hearing(compiled.append):
        yield compiled


@contextmanager
def telling() -> Iterator[None]:
    """Say once that kernels are compiled, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    told: list[str] = []

    def tell(message: str) -> None:
        if not told:
            from fastcmp import _jit

            kept = _jit.cache_directory() is not None
            print(_MESSAGE if kept else _UNCACHED, file=sys.stderr, flush=True)
        told.append(message)

    with _hearing(tell):
        yield
