"""How much memory work may take, checked before it begins."""

from __future__ import annotations

import os
import re
from pathlib import Path
from reprlib import repr as shortened

_UNITS = ("", "K", "M", "G", "T")
_SIZE = re.compile(r"([0-9]*\.?[0-9]+(?:E[+-]?[0-9]+)?)\s*(?:([KMGT])(i?))?B?", re.IGNORECASE)
_LITTLE = 64e6  # bytes
_LARGEST = 2.0**63  # bytes that a computer of 64 bits can count
#: Where Linux tells the memory that is left, of the machine and of a container.
_MACHINE = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")
#: Folder, limit, use, and what of it is cache, of both versions of control groups.
_GROUPS = (
    ("", "memory.max", "memory.current", "inactive_file"),
    (
        "memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


def read_size(size: int | str, name: str = "memory_limit") -> int:
    """Read bytes: a number, or text with a unit, as "500 MB", "1.5 GiB", "1e9"."""
    text = str(size).strip()
    found = None if isinstance(size, bool) else _SIZE.fullmatch(text)
    n_bytes = 0.0
    if found is not None:
        number, unit, binary = found.groups(default="")
        step = 1024 if binary else 1000
        n_bytes = float(number) * step ** _UNITS.index(unit.upper())
    if not 1 <= n_bytes < _LARGEST:
        message = f"{name} must be a size such as '4GB', or bytes, got "
        message += shortened(size)
        raise ValueError(message)
    return int(n_bytes)


def in_words(n_bytes: float) -> str:
    """Write a size with a fitting unit, such as "3.6 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 999.5:  # more is written as 1 of the next unit
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB" if n_bytes < 999.5 else f"{n_bytes:.0f} TB"


def available_memory() -> int | None:
    """Ask how many bytes can be taken without swapping; None where nothing tells."""
    known = [size for size in (_left_in_machine(), _left_in_container()) if size is not None]
    return min(known, default=None)


def _left_in_machine() -> int | None:
    try:
        lines = _MACHINE.read_text().splitlines()
        found = next(line for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(found.split()[1])
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _left_in_container() -> int | None:
    for folder, limit, used, cached in _GROUPS:
        place = _CONTAINER / folder
        try:
            left = int((place / limit).read_text()) - int((place / used).read_text())
        except (OSError, ValueError):  # no container, or one without a limit
            continue
        # The kernel gives up copies of files that nobody read of late.
        return max(left + _count_in(place / "memory.stat", cached), 0)
    return None


def _count_in(path: Path, name: str) -> int:
    """Find a number by its name; 0 where nothing tells it."""
    try:
        found = dict(line.split() for line in path.read_text().splitlines())
        return int(found[name])
    except (OSError, ValueError, KeyError):
        return 0


def check_draws(n_resamples: int, numbers: float, limit: int | None = None, of: str = "") -> None:
    """Refuse more draws, of some numbers each, than there is memory for."""
    check_memory(
        8.0 * n_resamples * numbers,
        limit,
        f"{n_resamples} draws{of}",
        "pass a smaller n_resamples, or fewer models",
    )


def check_memory(needed: float, limit: int | None, what: str, advice: str) -> None:
    """Refuse work that takes more bytes than its limit, or than are free.

    A little memory is not asked for: that takes 60 us, a tenth of a small comparison.
    """
    if limit is None and needed < _LITTLE:
        return
    bound = available_memory() if limit is None else limit
    if bound is not None and needed > bound:
        size = in_words(bound)
        said = f"{size} are free" if limit is None else f"memory_limit is {size}"
        raise ValueError(f"{what} would take {in_words(needed)} of memory, {said}: {advice}")
