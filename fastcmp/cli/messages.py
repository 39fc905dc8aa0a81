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

from fastcmp.core.render import visible

#: An argument, perhaps with the text that it has; numbers may stand in names of models.
_ARGUMENT = re.compile(r"(?<![\w'\"=,/])([a-z][a-z_]*)=(?:'([^']*)'|(?=[\s,.;:)]|$))")
_SUBJECT = re.compile(
    r"^([a-z][a-z_]*) (?=must (?!be (?:numbers|one-dim))|names no |permits |is for )"
)
_POSITIVE = re.compile(r"^positive=(?=[\w.+-])")
_TRUTH = re.compile(r"^y_true(?= must)|(?<=and )y_true(?= \w+ labels)|(?<=of )y_true\b")
_PREDS = re.compile(r"^preds must hold (?=at least)")
_CLASSES = re.compile(r": pass classes= to .*")
#: What only Python can name.
_IN_PYTHON = re.compile(", or a function of the confusion matrix| \\(or to make_metric\\)")
_CHOICES = re.compile(r"(?<= must be one of )\((?:None, )?'([^()]*?)',?\)")
#: Advice on an argument, left out where there is no such option.
_ADVICE = re.compile(r" \((\w+)='[^']*'(?: in Python)?\)")
_AVERAGES = re.compile(r"(--average macro), 'micro', 'weighted' or None")
_ONE_CLASS = "for one class against the others pass y_true == that class"
_COSTS = "needs cost=, the matrix of costs"
_ALL_RIGHT = re.compile(r"; where [^;]*, pass classes= with all(?: labels)?$")
_MEMORY = (
    "can't start new thread",
    "Cannot allocate memory",
    "failed to map segment",
    "Failed to launch worker thread",
    "malloc of size",
    "out of memory",
)
#: Arguments whose options have another name.
_OTHER_NAMES = {"rng": "seed"}
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
    given = vars(options)

    def option(name: str) -> str:
        name = _OTHER_NAMES.get(name, name)
        return f"--{name.replace('_', '-')}" if name in given else ""

    def argument(found: re.Match[str]) -> str:
        known = option(found[1])
        if not known:
            return found[0]
        return known if found[2] is None else f"{known} {found[2]}"

    def subject(found: re.Match[str]) -> str:
        return f"{option(found[1]) or found[1]} "

    line = _ADVICE.sub(lambda found: found[0] if option(found[1]) else "", line)
    line = line.replace(_ONE_CLASS, "make a column of one class against the others")
    if not option("cost"):
        line = line.replace(_COSTS, "needs costs, which fastcmp compare takes (--cost FILE)")
    line = _ALL_RIGHT.sub("", line)
    line = _CLASSES.sub(" (their costs are not named)", line)
    line = _PREDS.sub("there must be ", line)
    if given.get("target"):
        line = _TRUTH.sub(lambda _: given["target"], line)
    line = _POSITIVE.sub("--positive ", line)
    line = _IN_PYTHON.sub("", line)
    line = _CHOICES.sub(lambda found: found[1].replace("', '", ", "), line)
    line = _SUBJECT.sub(subject, _ARGUMENT.sub(argument, line))
    return _AVERAGES.sub(r"\1, micro or weighted", line)


def in_one_line(error: BaseException, options: argparse.Namespace | None) -> str:
    """Describe an error in one line."""
    if is_memory(error):
        what = " ".join(str(error).split())
        return f"not enough memory{f' ({what})' if what else ''}"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return in_options(str(error), options)


def unexpected(error: BaseException) -> str:
    """Describe an error that no input should cause."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"unexpected error, please report it ({what}); {TRACEBACK}=1 shows where"


def is_memory(error: BaseException) -> bool:
    """Tell whether the system had too little memory, or too few threads."""
    if isinstance(error, MemoryError):
        return True
    kinds = (RuntimeError, OSError, ImportError, ValueError)  # a reader's, too
    return isinstance(error, kinds) and any(mark in str(error) for mark in _MEMORY)


def wants_traceback() -> bool:
    """Tell whether the user asked to see where errors come from."""
    return bool(os.environ.get(TRACEBACK))


@contextmanager
def warnings_in_lines(options: argparse.Namespace) -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        if issubclass(category, UserWarning) and str(message) not in shown:
            shown.add(str(message))
            line = in_options(str(message), options)
            print(f"fastcmp: warning: {visible(line)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield
