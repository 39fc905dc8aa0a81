"""The program: its commands, and how it ends.

Exit codes: 0 done, 2 bad input with one line that says what is wrong.
"""

from __future__ import annotations

import argparse
import atexit
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import fastcmp
from fastcmp.cli.labels import add_compare, add_holdout
from fastcmp.cli.scores import add_cutpoint, add_lift, add_roc
from fastcmp.cli.study import add_study

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD_INPUT = 2
_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fastcmp", description="Which classifier is really better?")
    parser.add_argument(
        "--version", action="version", version=f"fastcmp {fastcmp.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add_command in (
        add_compare,
        add_holdout,
        add_roc,
        add_cutpoint,
        add_lift,
        add_study,
    ):
        add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()  # here an error of it can still be told
    except BrokenPipeError:
        # The reader of our output left, as `| head` does: nothing to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (
        ValueError,
        TypeError,
        OSError,
        ImportError,
        NotImplementedError,  # pyarrow's, for types of columns that it cannot work on
    ) as error:
        print(f"fastcmp: {_one_line(error)}", file=sys.stderr)
        return _BAD_INPUT
    return 0


def run() -> NoReturn:
    """Run the command line as a program, and end the process with its exit code.

    A thread of pyarrow may let go of what it read only after the answer is written. If
    Python is taken down meanwhile, the process ends by a signal; so it is not, and what
    is registered to be done at exit is done before.
    """
    code = 1

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)

    atexit.register(leave)  # the first is called last
    try:
        code = main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    sys.exit(code)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
