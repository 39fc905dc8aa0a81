"""The command `doctor`: what is installed, whether it works, and what is missing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fastcmp
from fastcmp import _jit
from fastcmp.cli.compiling import counting
from fastcmp.cli.installation import (
    Library,
    cache_facts,
    installed_elsewhere,
    libraries,
    machine_facts,
)
from fastcmp.cli.output import add_output, write
from fastcmp.core.atomic_files import check_place
from fastcmp.core.memory import in_words
from fastcmp.core.records import VERSION, Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_WRONG = 1
#: McNemar's mid-p test of 11 against 1 has (2 * 13 - 12) / 2**12.
_ONLY_A, _ONLY_B, _PVALUE = 11, 1, 0.00341796875
_TOLERANCE = 1e-12


def add_doctor(commands: Any) -> None:
    """Add `fastcmp doctor`."""
    doctor = commands.add_parser(
        "doctor",
        help="say what is installed, and whether it works",
        description="Say what is installed and whether it works: versions, processor, "
        "where compiled kernels are kept, which extras are missing and how to install "
        "them. Exit codes: 0 fastcmp works, 1 something is wrong.",
    )
    add_output(doctor.add_argument)
    doctor.set_defaults(run=_doctor)


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
        """Give the table of libraries."""
        return {
            "library": [each.name for each in self.libraries],
            "extra": [each.extra for each in self.libraries],
            "needed": [each.needed for each in self.libraries],
            "installed": [each.installed for each in self.libraries],
            "state": [each.state for each in self.libraries],
        }

    def to_dict(self) -> dict[str, Any]:
        """Give plain objects; they are no record that is read back."""
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
    found = examine()
    write(found, options)
    return _WRONG if found.problems else 0


def examine() -> Installation:
    """Look at the machine and what is installed, and compute a first answer."""
    known = tuple(libraries())
    problems = [
        f"{f'{each.name} {each.installed}'.strip()} is {each.state}: fastcmp needs "
        f"{each.needed} or newer (pip install --upgrade fastcmp)"
        for each in known
        if not each.extra and each.needed and each.state != "ok"
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
        problems=tuple(problems), advice=tuple(_advice(known, facts)), facts=facts, libraries=known
    )


def _first_answer() -> list[str]:
    """Compute a p-value that is known, by machine code; say if it is another."""
    with _jit.always_compiled():
        pvalue = fastcmp.mcnemar_from_counts(_ONLY_A, _ONLY_B).pvalue
    if abs(pvalue - _PVALUE) <= _TOLERANCE:
        return []
    return [f"McNemar's test of 11 against 1 gives p = {pvalue}, not {_PVALUE}."]


def _advice(known: tuple[Library, ...], facts: Mapping[str, Any]) -> list[str]:
    """Say what would help, where nothing is wrong."""
    elsewhere = installed_elsewhere()
    advice = [elsewhere] if elsewhere else []
    lacking = {each.extra for each in known if each.extra and each.state != "ok"}
    if lacking:
        extras = ",".join(sorted(lacking))
        advice.append(f"For all features: pip install 'fastcmp[{extras}]'")
    if not facts["cache_writable"]:
        advice.append(
            "No folder for compiled kernels can be written, and every process compiles "
            "what it does not find: set NUMBA_CACHE_DIR to a folder that can be."
        )
    return advice
