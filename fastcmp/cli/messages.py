"""Errors and warnings of the command line: one line each, in terms of its options."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastcmp.core.errors import ArgumentError
from fastcmp.core.render import visible

#: An argument, perhaps with the text that it has; numbers may stand in names of models.
_ARGUMENT = re.compile(r"(?<![\w'\"=,/-])([a-z][a-z0-9_]*)=(?:'([^']*)'|(?=[\s,.;:)]|$))")
#: The first word, where the message is on an argument; columns and models have names, too.
_SUBJECT = re.compile(
    r"^([a-z][a-z_]*) (?=must (?!be (?:numbers|one-dim))|names no |permits |is for |belongs to )"
)
#: What only Python can do stands in parentheses, with a name that is no option.
_IN_PYTHON = re.compile(
    r" \((?:[^()]|\([^()]*\))*?(?<![\w'\"=,/-])[a-z_]+=(?![-\d])(?:[^()]|\([^()]*\))*\)"
)
#: The column of true labels, but not in a list of columns.
_TRUTH = re.compile(r"(?<!['\w])(?<![,:] )y_true(?![',\w])")
_TWICE = re.compile(r"(--[\w-]+)(?:(?:,| and| or) \1\b)+")
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


def in_options(message: str, options: argparse.Namespace | None) -> str:
    """Write a message on arguments of functions as one on options.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from fastcmp.cli.messages import in_options
    >>> in_options("test='cost' needs cost=", Namespace(test="cost", cost=None))
    '--test cost needs --cost'
    """
    line = " ".join(message.split())
    if options is None:
        return line

    def argument(match: re.Match[str]) -> str:
        option = option_of(match[1], options)
        return " ".join(filter(None, (option, match[2]))) if option else match[0]

    def subject(match: re.Match[str]) -> str:
        return f"{option_of(match[1], options) or match[1]} "

    line = _SUBJECT.sub(subject, _ARGUMENT.sub(argument, line))
    if target := vars(options).get("target"):
        line = _TRUTH.sub(lambda _: target, line)
    return _LONG.sub(r"\1...", _TWICE.sub(r"\1", _IN_PYTHON.sub("", line)))


def option_of(name: str, options: argparse.Namespace) -> str:
    """The option of an argument, empty where the command has none."""
    option_values = vars(options)
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
    message = str(error)
    if isinstance(error, ArgumentError) and options is not None:
        option = option_of(error.argument, options)
        message = error.said_of(
            option or error.argument, lambda names: ", ".join(filter(None, names))
        )
    return in_options(message, options)


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

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        if issubclass(category, UserWarning) and str(message) not in printed:
            printed.add(str(message))
            line = in_options(str(message), options)
            print(f"fastcmp: warning: {visible(line)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield
