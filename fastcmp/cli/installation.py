"""What is installed, and where kernels are kept: facts for `doctor` and `warm`."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fastcmp
from fastcmp import _cache
from fastcmp.core.memory import available_memory
from fastcmp.core.threads import check_workers

if TYPE_CHECKING:
    from collections.abc import Iterable

#: `name[extras]>=version; extra == 'name'`, as the metadata of a package have it.
_REQUIREMENT = re.compile(
    r"([\w.-]+)(?:\[.*?\])?(?:<[\d.]+,)?(?:>=([\d.]+))?(?:,<[\d.]+)?\s*(?:;\s*extra\s*==\s*['\"]([\w-]+)['\"])?"
)
#: Extras for work on fastcmp itself.
_DEVELOPMENT = ("browser", "dev", "docs", "test")
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
    matches = [found for found in map(_REQUIREMENT.match, metadata) if found]
    needs = [tuple(part or "" for part in found.groups()) for found in matches]
    needs = [need for need in needs if need[2] not in _DEVELOPMENT]
    needs += [(name, "", "") for name in _FRAMES]
    return [Library(name, extra, least, _version(name)) for name, least, extra in needs]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def installed_elsewhere() -> str:
    """Say if what Python imports is not the version that pip installed."""
    known = _version("fastcmp")
    if known in ("", fastcmp.__version__):
        return ""
    where = Path(fastcmp.__file__).parent
    return (
        f"pip has installed fastcmp {known}, and Python imports {fastcmp.__version__} "
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
