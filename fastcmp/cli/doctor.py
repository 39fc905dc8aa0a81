"""The command `doctor`: what is installed, whether it works, and what is missing."""

from __future__ import annotations

import argparse
import io
import logging
import os
import platform
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from logging import LogRecord
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fastcmp
from fastcmp import _cache, _jit
from fastcmp.cli.options import Command, Option
from fastcmp.cli.output import WRITTEN, say, write
from fastcmp.core.records import VERSION, Record
from fastcmp.core.saved_states import check_place
from fastcmp.core.sections import Section
from fastcmp.core.threads import available_memory, check_workers, in_words
from fastcmp.data import values_path


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


# What is installed, and where kernels are kept: facts for `doctor` and `warm`.


#: `name[extras]>=version; extra == 'name'`, as the metadata of a package have it.
_REQUIREMENT = re.compile(
    r"([\w.-]+)(?:\[.*?\])?(?:<[\d.]+,)?(?:>=([\d.]+))?(?:,<[\d.]+)?\s*(?:;\s*extra\s*==\s*['\"]([\w-]+)['\"])?"
)
#: Extras for work on fastcmp itself.
_DEVELOPMENT = ("browser", "dev", "docs", "peers", "places", "test")
#: Taken where they are passed, and needed by no extra.
_FRAMES = ("pandas", "polars")
#: Bits of vectors, by the feature of the processor that has them.
_WIDTHS = {"avx512f": 512, "avx2": 256, "avx": 256, "sse2": 128, "neon": 128}
_KERNELS = re.compile(r"fastcmp-[0-9a-f]{16}")


class Library(NamedTuple):
    """A library, the extra that brings it, and what is installed of it."""

    name: str
    extra: str
    needed: str
    installed: str

    @property
    def state(self) -> str:
        """Whether it is installed, in a version that will do."""
        if not self.installed:
            return "missing"
        return "too old" if _numbers(self.installed) < _numbers(self.needed) else "ok"


def _numbers(text: str) -> tuple[int, ...]:
    """Read the numbers that a version begins with, without zeros at the end."""
    digits = re.match(r"(\d+(?:\.\d+)*?)(?:\.0+)*(?!\.?\d)", text)
    return tuple(map(int, digits[1].split("."))) if digits else ()


def libraries() -> list[Library]:
    """List what fastcmp and its extras need, and what is installed of it."""
    try:
        metadata = requires("fastcmp") or []
    except PackageNotFoundError:  # run from its sources
        return []
    matches = [match for match in map(_REQUIREMENT.match, metadata) if match]
    needs = [tuple(part or "" for part in match.groups()) for match in matches]
    needs = [need for need in needs if need[2] not in _DEVELOPMENT]
    needs += [(name, "", "") for name in _FRAMES]
    return [Library(name, extra, least, _version(name)) for name, least, extra in needs]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def installed_elsewhere() -> str:
    """A warning if Python imports another version than pip installed, or an empty text."""
    installed = _version("fastcmp")
    if installed in ("", fastcmp.__version__):
        return ""
    where = Path(fastcmp.__file__).parent
    return (
        f"pip has installed fastcmp {installed}, and Python imports {fastcmp.__version__} "
        f"from {where}: install again, or start Python in another folder."
    )


def machine_facts() -> dict[str, Any]:
    """Describe Python and the machine."""
    name, bits = _processor()
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "package": str(Path(fastcmp.__file__).parent),
        "processor": name,
        "vector_bits": bits,
        "compiled_for": os.environ.get("NUMBA_CPU_NAME"),
        "processors": os.cpu_count(),
        "workers": check_workers(None),
        "memory_bytes": available_memory(),
    }


def _processor() -> tuple[str | None, int | None]:
    """Ask LLVM which processor it compiles for, and how wide its vectors are."""
    try:
        from llvmlite import binding

        features = binding.get_host_cpu_features()
        widths = [bits for name, bits in _WIDTHS.items() if features.get(name)]
        return binding.get_host_cpu_name(), max(widths, default=None)
    except (ImportError, OSError, RuntimeError):  # RuntimeError: LLVM cannot tell
        return None, None


def cache_facts() -> dict[str, Any]:
    """Describe the folder of compiled kernels, and those of other versions."""
    folder, places = _cache.cache_directory(), _cache.cache_places()
    others = [
        str(other)
        for place in places
        for other in sorted(place.parent.glob("fastcmp-*"))
        if _KERNELS.fullmatch(other.name) and other != folder
    ]
    return {
        "cache_folder": None if folder is None else str(folder),
        "cache_writable": folder is not None and _can_write(folder),
        "cache_kernels": 0 if folder is None else sum(1 for _ in folder.glob("*.nbc")),
        "cache_bytes": 0 if folder is None else _size([folder]),
        "cache_others": others,
        "cache_others_bytes": _size(map(Path, others)),
    }


def _can_write(folder: Path) -> bool:
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _size(folders: Iterable[Path]) -> int:
    """Count the bytes of all files, which other processes may replace meanwhile."""
    n_bytes = 0
    for folder in folders:
        for path in folder.glob("*"):
            try:
                n_bytes += path.stat().st_size
            except FileNotFoundError:
                continue
    return n_bytes


_WRONG = 1
#: McNemar's mid-p test of 11 against 1 has (2 * 13 - 12) / 2**12.
_ONLY_A, _ONLY_B, _PVALUE = 11, 1, 0.00341796875
_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Installation(Record):
    """What `fastcmp doctor` found."""

    #: Empty where fastcmp works.
    problems: tuple[str, ...]
    advice: tuple[str, ...]
    facts: Mapping[str, Any]
    libraries: tuple[Library, ...]

    def sections(self) -> list[Section]:
        """Describe the answer first, then the machine, the kernels and libraries."""
        works = "does not work as it should" if self.problems else "works"
        answer = f"fastcmp {fastcmp.__version__} {works}."
        cells = list(self.columns().values())
        return [
            Section(title=answer, text=(*self.problems, *self.advice)),
            Section(title="Machine", text=self._machine()),
            Section(title="Compiled kernels", text=self._kernels()),
            Section(
                title="Libraries",
                columns=tuple(self.columns()),
                rows=tuple(zip(*cells, strict=True)),
            ),
        ]

    def _machine(self) -> tuple[str, ...]:
        facts = self.facts
        memory, bits = facts["memory_bytes"], facts["vector_bits"]
        vectors = f", vectors of {bits} bits" if bits else ""
        return (
            f"Python: {facts['python']}, {facts['platform']}",
            f"Package: {facts['package']}",
            f"Processor: {facts['processor'] or 'unknown'}{vectors}",
            f"Threads: {facts['workers']} (processors: {facts['processors']})",
            f"Free memory: {'unknown' if memory is None else in_words(memory)}",
        )

    def _kernels(self) -> tuple[str, ...]:
        facts, lines = self.facts, []
        if facts["cache_folder"]:
            can = "can" if facts["cache_writable"] else "cannot"
            lines = [
                f"Folder: {facts['cache_folder']} ({can} be written)",
                f"Content: {facts['cache_kernels']} kernels, {in_words(facts['cache_bytes'])}",
            ]
        if facts["compiled_for"]:
            lines.append(f"For processor: {facts['compiled_for']} (NUMBA_CPU_NAME)")
        if facts["cache_others"]:
            n, size = len(facts["cache_others"]), in_words(facts["cache_others_bytes"])
            lines.append(f"Beside it, of other versions and not used: {n}, {size}")
        if facts["first_answer_seconds"] is not None:
            n = facts["compiled"]
            how = f"compiled: {n} kernels" if n else "nothing was compiled"
            lines.append(f"First answer: {facts['first_answer_seconds']:.1f} s, {how}")
        return tuple(lines)

    def columns(self) -> dict[str, Any]:
        """The table of libraries."""
        named = {"library": "name"} | {x: x for x in ("extra", "needed", "installed", "state")}
        return {head: [getattr(x, name) for x in self.libraries] for head, name in named.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain objects; they are no record that is read back."""
        return {
            "record": type(self).__name__,
            "version": VERSION,
            "fastcmp": fastcmp.__version__,
            "works": not self.problems,
            "problems": list(self.problems),
            "advice": list(self.advice),
            **self.facts,
            "libraries": self.columns(),
        }


def _doctor(options: argparse.Namespace) -> int:
    if options.output is not None:
        check_place(options.output)
    installation = examine()
    write(installation, options)
    return _WRONG if installation.problems else 0


def examine() -> Installation:
    """Look at the machine and what is installed, and compute a first answer."""
    needed = tuple(libraries())
    problems = [
        f"{f'{library.name} {library.installed}'.strip()} is {library.state}: fastcmp needs "
        f"{library.needed} or newer (pip install --upgrade fastcmp)"
        for library in needed
        if not library.extra and library.needed and library.state != "ok"
    ]
    facts: dict[str, Any] = {"first_answer_seconds": None, "compiled": 0}
    start = time.perf_counter()
    try:
        with counting() as compiled:
            wrong = _first_answer()
        facts["first_answer_seconds"] = time.perf_counter() - start
        facts["compiled"] = len(compiled)
        problems += wrong
    except Exception as error:  # noqa: BLE001  # whatever is wrong is said
        what = " ".join(f"{type(error).__name__}: {error}".split())
        problems.append(f"No answer can be computed ({what}).")
    facts |= machine_facts() | cache_facts()
    return Installation(
        problems=tuple(problems),
        advice=tuple(_advice(needed, facts)),
        facts=facts,
        libraries=needed,
    )


def _first_answer() -> list[str]:
    """Compute a p-value that is known, by machine code; say if it is another."""
    with _jit.always_compiled():
        pvalue = fastcmp.mcnemar(only_a=_ONLY_A, only_b=_ONLY_B).pvalue
    if abs(pvalue - _PVALUE) <= _TOLERANCE:
        return []
    return [f"McNemar's test of 11 against 1 gives p = {pvalue}, not {_PVALUE}."]


def _advice(needed: tuple[Library, ...], facts: Mapping[str, Any]) -> list[str]:
    """Advice where nothing is wrong."""
    elsewhere = installed_elsewhere()
    advice = [elsewhere] if elsewhere else []
    lacking = {library.extra for library in needed if library.extra and library.state != "ok"}
    if lacking:
        extras = ",".join(sorted(lacking))
        advice.append(f"For all features: pip install 'fastcmp[{extras}]'")
    if not facts["cache_writable"]:
        advice.append(
            "No folder for compiled kernels can be written, and every process compiles "
            "what it does not find: set NUMBA_CACHE_DIR to a folder that can be."
        )
    return advice


# The command `warm`: compile what common calls need, before anybody waits for it.


#: Commands, by what users bring; the names of bundled files stand for their paths.
_COMMANDS = {
    "labels": (
        "compare --example digits",
        "compare --example digits --simultaneous",
        "holdout --example digits --models mlp knn_3",
    ),
    "metrics": ("compare --example digits --metric f1_macro", "report --example digits"),
    "values": ("compare --values VALUES",),
    "scores": (
        "roc --example digits",
        "cutpoint --example digits --scores mlp",
        "lift --example digits --scores mlp",
    ),
    "tasks": (
        "compare --example logs --by task",
        "compare --example logs --over tasks",
        "compare --example demsar --over tasks",
    ),
    "plan": (
        "plan --accuracy 0.9 0.88 --agreement 0.9",
        "plan --accuracy 0.9 0.88 --agreement 0.9 --n 500",
    ),
}


def _warm(options: argparse.Namespace) -> None:
    unknown = [kind for kind in options.kinds if kind not in _COMMANDS]
    if unknown:
        raise ValueError(f"KIND must be one of {', '.join(_COMMANDS)}, got {unknown[0]!r}")
    _check_kept()
    with_files = find_spec("pyarrow") is not None
    if not with_files:
        say(["for calls from Python only: reading files needs the extra cli"])
    began, n = time.perf_counter(), 0
    for kind in options.kinds or _COMMANDS:
        start = time.perf_counter()
        with _jit.always_compiled(), counting() as compiled:
            if with_files:
                _run_commands(kind)
            _CALLS[kind]()
        n += len(compiled)
        say([f"{kind}: {len(compiled)} kernels, {time.perf_counter() - start:.1f} s"])
    facts = cache_facts()
    print(
        f"Compiled {n} kernels in {time.perf_counter() - began:.1f} s. "
        f"{facts['cache_folder']} holds {facts['cache_kernels']}, "
        f"{in_words(facts['cache_bytes'])}."
    )


def _check_kept() -> None:
    """Refuse where what is compiled would be lost."""
    if _jit.INTERPRETED:
        raise ValueError(
            "NUMBA_DISABLE_JIT or FASTCMP_COMPILE is set, so that nothing is compiled: unset it"
        )
    if not cache_facts()["cache_writable"]:
        raise ValueError(
            "no folder for compiled kernels can be written: set NUMBA_CACHE_DIR to a "
            "folder that can be"
        )


def _run_commands(kind: str) -> None:
    """Run the commands of a kind, and drop what they print."""
    from fastcmp.cli.program import main

    paths = {"VALUES": values_path("log_loss")}
    for command in _COMMANDS[kind]:
        words = [str(paths.get(word, word)) for word in command.split()]
        errors = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(errors):
            status = main(words)
        if status:
            raise RuntimeError(f"fastcmp {' '.join(words)} ended with {errors.getvalue()}")


def _labels() -> None:
    y_true, preds = fastcmp.load_digits()
    groups = np.arange(len(y_true)) // 10
    fastcmp.mcnemar(y_true, preds["mlp"], preds["knn_3"])
    fastcmp.mcnemar(y_true, preds["mlp"], preds["knn_3"], groups=groups)
    fastcmp.compare_all(y_true, preds)
    fastcmp.cochrans_q(y_true, preds)


def _metrics() -> None:
    y_true, preds = fastcmp.load_digits()
    fastcmp.metric(y_true, preds["mlp"], metric="f1_macro")
    fastcmp.compare_metric(y_true, preds["mlp"], preds["knn_3"], metric="f1_macro")
    fastcmp.compare_all(y_true, preds, metric="f1_macro")
    fastcmp.classification_report(y_true, preds)


def _values() -> None:
    values = np.random.default_rng(0).random((3, 50))
    fastcmp.compare_means(values)
    fastcmp.mean_difference(*values[:2])
    fastcmp.signed_rank(*values[:2])


def _scores() -> None:
    y_true, scores = fastcmp.load_digits_scores()
    fastcmp.auc(y_true, scores["mlp"])
    fastcmp.delong(y_true, [scores["mlp"], scores["logistic"]])
    fastcmp.roc_curve(y_true, scores["mlp"])


def _tasks() -> None:
    tasks, scores = fastcmp.load_demsar()
    fastcmp.compare_datasets(scores, tasks=tasks)


def _plan() -> None:
    fastcmp.planning.sample_size(accuracy_a=0.9, accuracy_b=0.88, agreement=0.9)


_CALLS = {
    "labels": _labels,
    "metrics": _metrics,
    "values": _values,
    "scores": _scores,
    "tasks": _tasks,
    "plan": _plan,
}


DOCTOR = Command(
    *("doctor", _doctor, "say what is installed, and whether it works"),
    "Say what is installed and whether it works: versions, processor, where compiled kernels are "
    "kept, which extras are missing and how to install them. Exit codes: 0 fastcmp works, 1 "
    "something is wrong.",
    WRITTEN,
)
WARM = Command(
    *("warm", _warm, "compile kernels now, as for a container"),
    "Compile the kernels that common calls need, and keep them: for images of containers, and "
    "before measurements. What is compiled already is not compiled again.",
    (Option("kinds", "*KIND", f"what for: {', '.join(_COMMANDS)} (all)"),),
)
