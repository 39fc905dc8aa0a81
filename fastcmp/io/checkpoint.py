"""Checkpoints of long counting, from which it is resumed after a stop.

A checkpoint holds the counts, the position in the files, and which files they are. It
is replaced at once or not at all, and is refused if the files have changed since.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.stream import LabelCounts, PairCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from fastcmp.io.label_check import LabelCheck
    from fastcmp.stream.accumulator import Accumulator

_HOMES: dict[str, Any] = {"PairCounts": PairCounts, "LabelCounts": LabelCounts}
_WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
_KIND = FileKind(
    "Checkpoint",
    "a checkpoint",
    "remove it to begin anew, or name another checkpoint",
)
_SECONDS = 5.0  # between two savings, at least
_SHARE = 20  # times as long as a saving took passes before the next
_STOPS = (signal.SIGINT, signal.SIGTERM)


class Checkpoint:
    """A file from which counting is resumed after a stop.

    `inputs` is what the counts depend on: "files", a list of lists of path, size and
    time for each source; "models", a list of names and types; and options.
    """

    def __init__(self, path: Path, inputs: dict[str, Any]) -> None:
        self.path = path
        self._inputs = inputs
        self._next = 0.0

    def load(self, check: LabelCheck | None = None) -> tuple[Accumulator, Any] | None:
        """Read the counts, and the position from which to go on; None without a file.

        `check` goes on from what it had seen of the labels. Raises ValueError for a
        file that is damaged or foreign, or was saved for other inputs.
        """
        if not self.path.exists():
            return None
        _, settings, arrays = read_state(self.path, _KIND)
        try:
            change = _change(settings["inputs"], self._inputs)
            counts = None if change else self._counts(settings, arrays)
            if counts is not None and check is not None:
                check.restore(settings.get("labels"))
        except _WRONG as error:
            raise ValueError(self._malformed()) from error
        if change:
            raise ValueError(f"{self.path} was saved for other input: {change}; {_KIND.advice}")
        if counts is None:
            raise ValueError(self._malformed())
        return counts, settings["position"]

    def _counts(
        self, settings: dict[str, Any], arrays: dict[str, Any]
    ) -> PairCounts | LabelCounts | None:
        """Make the counts that were saved; None where they do not fit the inputs."""
        if not self._is_state(settings["state"]):
            return None
        home: type[PairCounts | LabelCounts] = _HOMES[settings["kind"]]
        counts = home._restore(settings["state"], arrays)
        counts._check()
        n_rows = counts.n_samples + counts.n_missing + counts.n_excluded
        files = settings["inputs"]["files"]
        return counts if _is_position(settings["position"], n_rows, files) else None

    def _is_state(self, state: dict[str, Any]) -> bool:
        """Compare names and classes first: others might take much memory."""
        models, classes = self._inputs["models"], self._inputs.get("classes")
        if state["names"] != tuple(name for name, _ in models):
            return False
        if state.get("missing", "raise") != self._inputs.get("missing", "raise"):
            return False
        own = state["classes"]
        return own is None if classes is None else list(own) == list(classes)

    def _malformed(self) -> str:
        return (
            f"{self.path} has the checksum of a checkpoint, but its content cannot be "
            f"right; {_KIND.advice}"
        )

    def save(self, counts: Accumulator, position: Any, check: LabelCheck | None = None) -> None:
        """Write counts, position (None for the beginning) and check, or nothing."""
        begun = time.monotonic()
        settings = {
            "inputs": self._inputs,
            "position": position,
            "kind": type(counts).__name__,
            "state": counts._settings(),
            "labels": None if check is None else check.state(),
        }
        write_state(self.path, "Checkpoint", settings, counts._arrays())
        now = time.monotonic()
        self._next = now + max(_SECONDS, _SHARE * (now - begun))

    def save_if_due(
        self, counts: Accumulator, position: Any, check: LabelCheck | None = None
    ) -> None:
        """Write the state if the last time was some seconds ago."""
        if time.monotonic() >= self._next:
            self.save(counts, position, check)

    def remove(self) -> None:
        """Remove the file when its work is done."""
        self.path.resolve().unlink(missing_ok=True)  # of a link, what it leads to


def _is_position(position: Any, n_rows: int, files: list[list[Any]]) -> bool:
    """Check that so many rows can lie before a position."""
    if position is None:
        return n_rows == 0
    (done,), *places = position
    if done != n_rows or len(places) != len(files):
        return False
    for (part, rows, n_bytes, used, _), parts in zip(places, files, strict=True):
        numbers = (part, rows, n_bytes, used)
        if not all(type(x) is int and x >= 0 for x in numbers) or part >= len(parts):
            return False
        if rows + used > done or (part == 0 and rows + used != done):
            return False
    return True


def _change(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say what has changed; an empty text if nothing has."""
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


@contextmanager
def signals_held(*, wanted: bool) -> Iterator[Callable[[], int | None]]:
    """Keep a first Ctrl-C or SIGTERM until it is asked for; a second one interrupts.

    Gives a function that returns the signal that came, or None. Where it is not
    `wanted`, signals stay as they are.
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
        if signal.getsignal(number) in (signal.SIG_IGN, None):
            continue  # as in the background: ignored before, ignored now
        with suppress(ValueError):  # only the main thread may ask for signals
            before[number] = signal.signal(number, keep)
    try:
        yield lambda: came[0] if came else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        pa.enable_signal_handlers(True)  # noqa: FBT003
