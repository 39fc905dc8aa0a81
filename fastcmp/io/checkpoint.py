"""Checkpoints of long counting: saved while it goes on, so that it can be resumed.

A checkpoint holds what was counted, where to go on, and from which files. It is
replaced at once or not at all, and is refused where the files have changed since.
"""

from __future__ import annotations

import reprlib
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fastcmp.stream.accumulator import restored
from fastcmp.stream.files import read_state, write_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from fastcmp.io.label_check import LabelCheck
    from fastcmp.stream.accumulator import Accumulator

_KIND = "Checkpoint"
_SECONDS = 5.0  # between two savings
_SHARE = 20  # of the time is spent on saving at most one part
_STOPS = (signal.SIGINT, signal.SIGTERM)


class Checkpoint:
    """A file to go on from after a stop.

    Parameters
    ----------
    path : Path
        The file.
    inputs : dict
        What the counts depend on, as JSON can hold it: "files", a list of lists of
        path, size and time for each source; and options.
    """

    def __init__(self, path: Path, inputs: dict[str, Any]) -> None:
        self.path = path
        self._inputs = inputs
        self._next = 0.0

    def load(self, check: LabelCheck | None = None) -> tuple[Accumulator, Any] | None:
        """Read what was saved.

        Parameters
        ----------
        check : LabelCheck, optional
            Goes on from what it had seen of the labels.

        Returns
        -------
        tuple of Accumulator and list, or None
            Counts, and the position from which to go on; None where there is no file.

        Raises
        ------
        ValueError
            If the file is damaged or foreign, or the inputs have changed.
        OSError
            If it cannot be read.
        """
        if not self.path.exists():
            return None
        kind, settings, arrays = read_state(self.path)
        if kind != _KIND:
            message = f"{self.path} holds {kind}, not a checkpoint of files"
            raise ValueError(message)
        try:
            inputs, state = settings["inputs"], settings["state"]
            name, position = str(settings["kind"]), settings["position"]
            change = _change(inputs, self._inputs)
            _check_position(position, len(inputs["files"]))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"{self.path} holds no valid checkpoint: {error!r}"
            raise ValueError(message) from error
        if change:
            message = (
                f"{self.path} was saved for other input: {change}; remove it to begin "
                "anew, or name another checkpoint"
            )
            raise ValueError(message)
        if check is not None:
            check.restore(settings.get("labels"))
        return restored(self.path, name, state, arrays), position

    def save(
        self, counts: Accumulator, position: Any, check: LabelCheck | None = None
    ) -> None:
        """Write the state, at once or not at all.

        Parameters
        ----------
        counts : Accumulator
            What was counted.
        position : list or None
            From where to go on; None for the beginning.
        check : LabelCheck, optional
            What was seen of the labels.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        begun = time.monotonic()
        settings = {
            "inputs": self._inputs,
            "position": position,
            "kind": type(counts).__name__,
            "state": counts._settings(),
            "labels": None if check is None else check.state(),
        }
        write_state(self.path, _KIND, settings, counts._arrays())
        now = time.monotonic()
        self._next = now + max(_SECONDS, _SHARE * (now - begun))

    def save_if_due(
        self, counts: Accumulator, position: Any, check: LabelCheck | None = None
    ) -> None:
        """Write the state where the last time was some seconds ago.

        Parameters
        ----------
        counts : Accumulator
            What was counted.
        position : list or None
            From where to go on.
        check : LabelCheck, optional
            What was seen of the labels.
        """
        if time.monotonic() >= self._next:
            self.save(counts, position, check)

    def remove(self) -> None:
        """Remove the file: its work is done."""
        self.path.resolve().unlink(missing_ok=True)  # of a link, what it leads to


def _change(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Tell in words what has changed; nothing where all is the same."""
    files = [{path: rest for path, *rest in source} for source in old["files"]]
    for before, source in zip(files, new["files"], strict=False):
        for path, *rest in source:
            if path not in before:
                return f"{path} was not among the files"
            if before.pop(path) != rest:
                return f"{path} has changed since"
        if before:
            return f"{next(iter(before))} is no longer among the files"
    for name, value in new.items():
        if old.get(name) != value:
            return f"{name} differs"
    return ""


def _check_position(position: Any, n_sources: int) -> None:
    """Refuse what is no position in files: rows that are done, and a place in each."""
    if position is None:
        return
    done, *places = position
    numbers = [*done, *(number for place in places for number in place[:4])]
    if (
        len(done) != 1
        or len(places) != n_sources
        or any(len(place) not in {0, 5} for place in places)
        or any(type(number) is not int or number < 0 for number in numbers)
    ):
        message = f"{reprlib.repr(position)} is no position in {n_sources} files"
        raise ValueError(message)


@contextmanager
def signals_held(*, wanted: bool) -> Iterator[Callable[[], int | None]]:
    """Keep a first Ctrl-C or SIGTERM until it is asked for; a second one interrupts.

    Parameters
    ----------
    wanted : bool
        False leaves signals as they are.

    Yields
    ------
    callable
        Tells the signal that came, or None.
    """
    if not wanted:
        yield lambda: None
        return
    import pyarrow as pa

    came: list[int] = []

    def keep(number: int, _: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    # While pyarrow reads text it would catch signals itself, and may lose one.
    pa.enable_signal_handlers(False)  # noqa: FBT003  # it takes no keyword
    before = {}
    for number in _STOPS:
        with suppress(ValueError):  # only the main thread may ask for signals
            before[number] = signal.signal(number, keep)
    try:
        yield lambda: came[0] if came else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        pa.enable_signal_handlers(True)  # noqa: FBT003
