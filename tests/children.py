"""Processes that tests start, wait for and stop."""

import os
import subprocess
import sys
from contextlib import contextmanager

#: Begins their programs: what Ctrl-C and SIGTERM do by default, also where the tests
#: themselves were started with signals ignored, as in the background of a script.
SIGNALS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
"""


@contextmanager
def started(code, *words, **options):
    """Start a program with pipes; in the end it is gone, whatever was raised."""
    command = [sys.executable, "-c", SIGNALS + code, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **(pipes | options)) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(*words, seconds=300, **environment):
    """Run Python with some words, and more in its environment, to the end."""
    command = [sys.executable, *map(str, words)]
    options = {"capture_output": True, "text": True, "timeout": seconds}
    return subprocess.run(command, env=os.environ | environment, check=False, **options)
