"""Where machine code is kept: a directory named after a hash of everything that is compiled.

Numba stamps a cached function with its own source file only, so after an upgrade a caller would
keep the machine code of an old callee that lives in another file. Here an edit of any file with
kernels opens a new, empty directory. Where no directory is writable, kernels are read from one
that holds some, or compiled in memory.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

_PACKAGE = Path(__file__).parent
#: The files with kernels beside those of fastcmp/kernels.
_OTHERS = ("_compiler.py",)


@cache
def source_hash() -> str:
    """Sixteen digits that name the sources, numba and its checks of bounds."""
    # Bounds checks are compiled in, and numba's own index ignores them.
    digest = hashlib.sha256(
        f"{version('numba')} {os.environ.get('NUMBA_BOUNDSCHECK', '')}".encode()
    )
    kernels = sorted((_PACKAGE / "kernels").glob("*.py"))
    for path in [*kernels, *map(_PACKAGE.joinpath, _OTHERS)]:
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_roots() -> list[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(os.environ["NUMBA_CACHE_DIR"])]
    roots = [_PACKAGE / "__pycache__"]
    if os.environ.get("XDG_CACHE_HOME"):
        roots.append(Path(os.environ["XDG_CACHE_HOME"]))
    elif os.environ.get("LOCALAPPDATA"):
        roots.append(Path(os.environ["LOCALAPPDATA"]))
    elif (home := Path(os.path.expanduser("~"))).is_absolute():  # noqa: PTH111
        roots.append(home / ".cache")
    return roots


def cache_places() -> list[Path]:
    """List the directories for this version of the sources, the preferred one first."""
    return [root / f"fastcmp-{source_hash()}" for root in _cache_roots()]


@cache
def cache_directory() -> Path | None:
    """Return a writable directory, else one that holds kernels already, or None."""
    for directory in cache_places():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=directory).close()
        except OSError:
            continue
        return directory
    filled = (place for place in cache_places() if any(place.glob("*.nbi")))
    return next(filled, None)
