"""Measure what compiling each kernel takes, for `fastcmp/compile_times.json`.

    python benchmarks/compile_times.py      # some ten minutes

All kernels that the examples of the package's docstrings call are compiled in one process, with an
empty cache. Written are seconds of the processor for each kernel and helper alone, the helpers
that numba inlines included: what compiling a call takes is the sum over what it calls.
"""

import doctest
import json
import os
import pkgutil
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

FILE = Path(__file__).parent.parent / "fastcmp" / "compile_times.json"


def measure():
    """Seconds by name of a function, the first time that each is compiled."""
    from numba.core import event

    seconds, running = {}, []

    class Stopwatch(event.Listener):
        def on_start(self, _):
            running.append([time.process_time(), 0.0])

        def on_end(self, compiled):
            began, within = running.pop()
            passed = time.process_time() - began
            if running:
                running[-1][1] += passed
            function = compiled.data["dispatcher"].py_func
            if function.__module__.startswith("fastcmp."):
                name = f"{function.__module__}.{function.__qualname__}"
                seconds.setdefault(name, passed - within)

    with event.install_listener("numba:compile", Stopwatch()):
        import fastcmp

        for found in pkgutil.walk_packages(fastcmp.__path__, "fastcmp."):
            module = import_module(found.name)
            doctest.testmod(module, report=False, optionflags=doctest.ELLIPSIS)
            print(f"{len(seconds)} kernels, {found.name}", file=sys.stderr)
    return seconds


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"NUMBA_CACHE_DIR": folder, "FASTCMP_COMPILE": "always"}
        times = {name: round(value, 3) for name, value in sorted(measure().items())}
        FILE.write_text(json.dumps(times, indent=0) + "\n")
