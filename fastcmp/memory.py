"""How much memory work may take: said before it begins, not when it is gone."""

from __future__ import annotations

import os
import re
from pathlib import Path

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]*\.?[0-9]+)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
#: Where Linux tells the memory that is left, of the machine and of a container.
_MACHINE = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def read_size(size: int | str, name: str = "memory_limit") -> int:
    """Read a number of bytes.

    Parameters
    ----------
    size : int or str
        Bytes, or a number with a unit: "500 MB", "4GB", "1.5 GiB".
    name : str
        The argument, for errors.

    Returns
    -------
    int
        Bytes, at least 1.

    Raises
    ------
    ValueError
        If it is no size.

    Examples
    --------
    >>> from fastcmp.memory import read_size
    >>> read_size("1.5 GB"), read_size("2 KiB")
    (1500000000, 2048)
    """
    text = str(size).strip()
    found = None if isinstance(size, bool) else _SIZE.fullmatch(text)
    n_bytes = 0.0
    if found is not None:
        number, unit, binary = found.groups()
        factor = _UNITS[unit.upper()]
        if binary:
            factor = 1024 ** list(_UNITS).index(unit.upper())
        n_bytes = float(number) * factor
    if n_bytes < 1:
        message = f"{name} must be a size such as '4GB', or bytes, got {size!r}"
        raise ValueError(message)
    return int(n_bytes)


def in_words(n_bytes: float) -> str:
    """Write a size with a fitting unit.

    Parameters
    ----------
    n_bytes : float
        How many bytes.

    Returns
    -------
    str
        Such as "3.6 GB".
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def available_memory() -> int | None:
    """Ask how much memory is left.

    Returns
    -------
    int or None
        Bytes that this process can take without swapping; None where nothing tells.
    """
    known = [
        size for size in (_left_in_machine(), _left_in_container()) if size is not None
    ]
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
    try:
        limit = int((_CONTAINER / "memory.max").read_text())
        used = int((_CONTAINER / "memory.current").read_text())
    except (OSError, ValueError):  # no container, or one without a limit
        return None
    return max(limit - used, 0)


def check_memory(needed: float, limit: int | None, what: str, advice: str) -> None:
    """Refuse work that would take more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes that it takes.
    limit : int or None
        Bytes that it may take; None for what is left.
    what : str
        What takes them, for the error: "the answer for 10 pairs".
    advice : str
        What to do instead.

    Raises
    ------
    ValueError
        If it would not fit.
    """
    bound, source = limit, "memory_limit is"
    if bound is None:
        bound, source = available_memory(), "left are"
    if bound is not None and needed > bound:
        message = (
            f"{what} would take {in_words(needed)} of memory, {source} "
            f"{in_words(bound)}: {advice}"
        )
        raise ValueError(message)
