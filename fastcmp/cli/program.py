"""The program: its commands, and how it ends.

Exit codes of all commands: 0 done, 64 bad input (also a missing file) or too little
memory, 70 an error of the program, 130 interrupted; one line says what is wrong. `gate`,
`watch` and `doctor` answer no by 1, and `gate` by 2 that it cannot tell.
"""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from mmap import mmap
from typing import NoReturn

import fastcmp
from fastcmp.cli.doctor import DOCTOR, WARM
from fastcmp.cli.gate import GATE
from fastcmp.cli.labels import COMPARE, HOLDOUT
from fastcmp.cli.logs import INSPECT
from fastcmp.cli.messages import (
    in_one_line,
    is_memory,
    unexpected,
    wants_traceback,
    warnings_in_lines,
)
from fastcmp.cli.plan import PLAN
from fastcmp.cli.report import REPORT
from fastcmp.cli.scores import CUTPOINT, LIFT, ROC
from fastcmp.cli.watch import WATCH
from fastcmp.core.render import visible
from fastcmp.core.threads import in_words

_BAD_INPUT, _FAILED = 64, 70  # EX_USAGE and EX_SOFTWARE of sysexits.h
_INTERRUPTED = 130
_ADDRESSES = 850_000_000  # bytes that libraries and their threads take, as addresses


COMMANDS = (COMPARE, INSPECT, HOLDOUT, GATE, WATCH, PLAN, REPORT, ROC, CUTPOINT, LIFT, DOCTOR, WARM)


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one line."""

    def error(self, message: str) -> NoReturn:
        line = visible(message)
        self.exit(_BAD_INPUT, f"{self.prog}: {line} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fastcmp",
        description="Which classifier is really better?",
        epilog="Exit code: 0 done, 64 bad input (also a missing file), 70 an error of the "
        "program; gate, watch and doctor answer by theirs: see fastcmp gate --help.",
    )
    parser.add_argument("--version", action="version", version=f"fastcmp {fastcmp.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options, unknown = _parser().parse_known_args(words)
    command: _Parser = vars(options).pop("command")
    if unknown:
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.words = words
    status = 0
    try:
        with warnings_in_lines(options):
            _check_address_space()
            status = options.run(options) or 0
        sys.stdout.flush()  # here an error can still be reported
    except BrokenPipeError:
        # The reader of the output has ended, as `| head` does: this is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (
        ValueError,
        TypeError,
        OSError,
        ImportError,
        NotImplementedError,  # pyarrow's, for types of columns that it cannot work on
        MemoryError,
    ) as error:
        return _refuse(error, in_one_line(error, options), _BAD_INPUT)
    except Exception as error:  # noqa: BLE001  # what happens to a user is one line
        if is_memory(error):
            return _refuse(error, in_one_line(error, options), _BAD_INPUT)
        return _refuse(error, unexpected(error), _FAILED)
    return status


def _check_address_space() -> None:
    """Refuse an address space that is too small; load the libraries if it is limited.

    OpenBLAS, which SciPy brings, waits forever where it cannot load.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    try:
        mmap(-1, _ADDRESSES).close()
    except OSError:
        raise MemoryError(
            f"the address space is limited to {in_words(limit)}, see ulimit -v"
        ) from None
    for name in ("scipy.linalg.blas", "fastcmp._compiler"):
        import_module(name)


def _refuse(error: Exception, line: str, code: int) -> int:
    """Print what is wrong, after the traceback where it is asked for."""
    if wants_traceback():
        traceback.print_exception(error)
    print(f"fastcmp: {visible(line)}", file=sys.stderr)
    return code


def run() -> NoReturn:
    """Run the command line as a program, and end the process with its exit code.

    A thread of pyarrow may free its memory only after the answer is written; if Python
    shuts down at that moment, the process ends by a signal. So the process ends without
    a shutdown, after all functions that are registered with `atexit`.
    """
    code = _FAILED

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
