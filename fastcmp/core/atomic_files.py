"""Files that appear at once or not at all: written beside their place, then moved."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all of it is written.

    Of a link, what it leads to is replaced. Permissions stay as they are; those of a
    new file follow the process's umask. After an error nothing is left.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    # An unused name: two writers do not collide, and no file of the user is lost.
    part = target.with_name(f".fastcmp-{secrets.token_hex(8)}.part")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None

    def private_first(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else 0o600)

    try:
        with naming(path, part):
            with open(part, "xb+", opener=private_first) as file:
                yield file
            if mode is not None:
                with suppress(OSError):  # some file systems have no modes
                    part.chmod(mode)
            part.replace(target)
    finally:
        with suppress(OSError):  # it was moved to its place, or never made
            part.unlink()


@contextmanager
def naming(path: Path, part: Path | None = None) -> Iterator[None]:
    """Say in an error of the system which file was asked for.

    `part` is what is written instead, for a time.
    """
    try:
        yield
    except OSError as error:
        names = (None, os.fspath(path), None if part is None else os.fspath(part))
        if error.errno is None or error.filename not in names:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def check_place(path: Path) -> None:
    """Refuse a place where there can be no file, before long work."""
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        number = errno.EISDIR
    elif path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    elif folder.is_dir():
        return
    else:
        number = errno.ENOTDIR if folder.exists() else errno.ENOENT
    raise OSError(number, os.strerror(number), os.fspath(path))
