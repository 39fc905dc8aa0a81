"""Errors and warnings of the command line: one line each, in terms of its options."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from fastcmp.core.errors import ArgumentError, Spelled
from fastcmp.core.render import visible

_LONG = re.compile(r"(\S{80})\S{220,}")  # ids may be of any length
_MEMORY = (
    "can't start new thread",
    "Cannot allocate memory",
    "failed to map segment",
    "Failed to launch worker thread",
    "malloc of size",
    "out of memory",
)
#: Arguments whose options have another name, the first that a command has.
_OTHER_NAMES = {
    "rng": ("seed",),
    "accuracy_a": ("accuracy",),
    "accuracy_b": ("accuracy",),
    "pilot": ("pilot_counts", "pilot"),
    "format": ("log_format",),
    "ties_as": ("ties",),
}
#: Set by users who want to see where an error comes from.
TRACEBACK = "FASTCMP_TRACEBACK"


def in_options(text: str | ArgumentError, options: argparse.Namespace | None) -> str:
    """A text or an error on arguments in one line, with the options of these.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from fastcmp.cli.messages import in_options
    >>> from fastcmp.core.errors import Spelled
    >>> text = Spelled("`test='cost'` needs `cost=`")
    >>> in_options(text, Namespace(test="cost", cost=None))
    '--test cost needs --cost'
    """
    if options is not None and isinstance(text, (Spelled, ArgumentError)):
        text = text.said(lambda name: option_of(name, options))
    return _LONG.sub(r"\1...", " ".join(str(text).split()))


def option_of(name: str, options: argparse.Namespace) -> str:
    """The option of an argument, empty where the command has none; of true labels the column."""
    option_values = vars(options)
    if name == "y_true":
        return option_values.get("target") or ""
    if name == "columns" and "item" in option_values:
        return "--item, --model, --value"
    option_names = [x for x in _OTHER_NAMES.get(name, (name,)) if x in option_values]
    return f"--{option_names[0].replace('_', '-')}" if option_names else ""


def in_one_line(error: BaseException, options: argparse.Namespace | None) -> str:
    """Describe an error in one line."""
    if is_memory(error):
        what = " ".join(str(error).split())
        return f"not enough memory{f' ({what})' if what else ''}"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return in_options(error if isinstance(error, ArgumentError) else str(error), options)


def unexpected(error: BaseException) -> str:
    """Describe an error that no input should cause."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"unexpected error, please report it ({what}); {TRACEBACK}=1 shows where"


def is_memory(error: BaseException) -> bool:
    """Whether the system had too little memory, or too few threads."""
    if isinstance(error, MemoryError):
        return True
    kinds = (RuntimeError, OSError, ImportError, ValueError)  # a reader's, too
    return isinstance(error, kinds) and any(mark in str(error) for mark in _MEMORY)


def wants_traceback() -> bool:
    """Whether the user asked to see where errors come from."""
    return bool(os.environ.get(TRACEBACK))


@contextmanager
def warnings_in_lines(options: argparse.Namespace) -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        if issubclass(category, UserWarning) and str(message) not in printed:
            printed.add(str(message))
            text = message if isinstance(message, str) else message.args[0]
            line = in_options(text if isinstance(text, Spelled) else str(message), options)
            print(f"fastcmp: warning: {visible(line)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield
