"""Prediction files of any size, counted block by block in fixed memory.

A checkpoint holds the counts, the position in the files, and which files they are. It
is replaced at once or not at all, and is refused if the files have changed since.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fastcmp.core.errors import ArgumentError
from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.threads import Progress, in_words, reporting
from fastcmp.inputs.cost_matrix import CostMatrix, check_fit, naming_cost
from fastcmp.inputs.labels import check_enough
from fastcmp.io.text_types import text_of
from fastcmp.stream import ConfusionCounts, LabelCounts, PairCounts

if TYPE_CHECKING:
    from fastcmp.io.label_check import LabelCheck
    from fastcmp.io.stream import PredictionStream, Rows
    from fastcmp.stream.accumulator import Accumulator

Counts = PairCounts | LabelCounts | ConfusionCounts

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
    "Checkpoint", "a checkpoint", "remove it to begin anew, or name another checkpoint"
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
        malformed = ValueError(
            f"{self.path} has the checksum of a checkpoint, but its content cannot be "
            f"right; {_KIND.advice}"
        )
        counts: PairCounts | LabelCounts | None = None
        try:
            change = _change(settings["inputs"], self._inputs)
            state, files = settings["state"], settings["inputs"]["files"]
            # Names and classes first: others might take much memory.
            classes, models = state["classes"], tuple(name for name, _ in self._inputs["models"])
            saved = state["names"], state.get("missing", "raise"), classes and list(classes)
            expected = models, self._inputs.get("missing", "raise"), self._inputs.get("classes")
            if not change and saved == expected:
                home: type[PairCounts | LabelCounts] = _HOMES[settings["kind"]]
                counts = home._checked(state, arrays)
                n_rows = counts.n_samples + counts.n_missing + counts.n_excluded
                if not _is_position(settings["position"], n_rows, files):
                    raise malformed
                if check is not None:
                    check.restore(settings.get("labels"))
        except _WRONG as error:
            raise malformed from error
        if change:
            raise ValueError(f"{self.path} was saved for other input: {change}; {_KIND.advice}")
        if counts is None:
            raise malformed
        return counts, settings["position"]

    def save(self, counts: Accumulator, position: object, check: LabelCheck | None = None) -> None:
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
        self, counts: Accumulator, position: object, check: LabelCheck | None = None
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
    (done, by_file), *places = position
    if not all(type(x) is int for of_file in by_file for x in of_file.values()) or len(
        by_file
    ) != len(files):
        return False
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
    """What has changed, in words; an empty text if nothing has."""
    files = [{path: stamp for path, *stamp in source} for source in old["files"]]
    for before, source in zip(files, new["files"], strict=False):
        for path, *stamp in source:
            if path not in before:
                return f"{path} was not among the files"
            if before.pop(path) != stamp:
                return f"{path} has changed since"
        if before:
            return f"{next(iter(before))} is no longer among the files"
    for name, value in new.items():
        if old.get(name) != value:
            return f"{name} differs"
    return ""


@contextmanager
def signals_held(*, active: bool) -> Iterator[Callable[[], int | None]]:
    """Keep a first Ctrl-C or SIGTERM until it is asked for; a second one interrupts.

    Gives a function that returns the signal that came, or None. Where it is not
    `active`, signals stay as they are.
    """
    if not active:
        yield lambda: None
        return
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


_GATHERED = 16_000_000  # bytes of blocks that are joined, at most
_COPIES = 3  # the tables, those of some blocks, and their sum


def count_files(
    predictions: PredictionStream,
    counts: Counts,
    *,
    memory_limit: int,
    matrix: CostMatrix | None = None,
    checkpoint: Checkpoint | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> Any:
    """Count all samples of prediction files."""
    position = None
    check = predictions.labels if matrix is None else None
    if checkpoint is not None:
        if (saved := checkpoint.load(check)) is not None:
            counts, position = saved  # type: ignore[assignment]
        # Here already it shows whether this works.
        checkpoint.save(counts, position, check)
    as_text = False
    with (
        reporting(progress, "counting", unit="rows") as report,
        signals_held(active=checkpoint is not None) as stopped,
    ):
        try:
            for rows in _gathered(predictions.rows(memory_limit, position), counts):
                if rows.as_text and not as_text:
                    as_text = True
                    if not isinstance(counts, PairCounts):
                        counts._relabel(text_of)
                    if check is not None:
                        check.relabel(text_of)
                _count(counts, rows, matrix, workers, check)
                _check_size(counts, memory_limit)
                position = rows.position
                done = rows.first + rows.n_rows
                _check_covered(counts, matrix, rows)
                report(done, predictions.n_rows or round(done / rows.fraction))
                if stopped() is not None:
                    break
                if checkpoint is not None:
                    checkpoint.save_if_due(counts, position, check)
        except Exception:  # no interrupt: that may have left half a step
            if checkpoint is not None:
                checkpoint.save(counts, position, check)
            if stopped() is None:  # or else pyarrow has given up for a signal
                raise
        if checkpoint is not None:
            checkpoint.save(counts, position, check)
        if stopped() == signal.SIGINT:
            raise KeyboardInterrupt
        if (number := stopped()) is not None:
            raise SystemExit(128 + number)
    check_enough("y_true", counts.n_samples, counts.n_missing)
    _check_covered(counts, matrix)
    return counts


def _check_covered(counts: Counts, matrix: CostMatrix | None, rows: Rows | None = None) -> None:
    """Refuse true labels without costs, after some rows or after all."""
    if matrix is None:
        return
    try:
        check_fit(matrix, matrix.classes or (), counts.n_excluded, None)
    except ArgumentError as error:
        if rows is None or rows.fraction == 1:
            raise
        raise error.but(among=f" of the first {rows.first + rows.n_rows} samples") from None


def _check_size(counts: Counts, memory_limit: int) -> None:
    """Refuse counts by class that outgrow their memory."""
    if isinstance(counts, LabelCounts) and _COPIES * counts.n_bytes > memory_limit:
        raise ValueError(
            f"counting {counts.n_pairs} pairs by {counts.n_classes} classes takes "
            f"{in_words(_COPIES * counts.n_bytes)} (--memory-limit is "
            f"{in_words(memory_limit)}): pass a larger --memory-limit, or compare "
            "fewer models (--models)"
        )


def _gathered(blocks: Iterable[Rows], counts: Counts) -> Iterator[Rows]:
    """Join blocks of fewer bytes than the tables, which are added up for each."""
    least = min(counts.n_bytes, _GATHERED) if isinstance(counts, LabelCounts) else 0
    blocks_held: list[Rows] = []
    kinds: list[Any] = []
    size = 0
    for rows in blocks:
        columns = [rows.y_true, *rows.preds.values()]
        if blocks_held and kinds != [column.type for column in columns]:
            yield _joined(blocks_held)
            blocks_held, size = [], 0
        kinds = [column.type for column in columns]
        blocks_held.append(rows)
        size += sum(column.nbytes for column in columns)
        if size >= least:
            yield _joined(blocks_held)
            blocks_held, size = [], 0
    if blocks_held:
        yield _joined(blocks_held)


def _joined(blocks: list[Rows]) -> Rows:
    if len(blocks) == 1:
        return blocks[0]
    last = blocks[-1]
    return replace(
        last,
        y_true=pa.chunked_array([rows.y_true for rows in blocks]),
        preds={
            name: pa.chunked_array([rows.preds[name] for rows in blocks]) for name in last.preds
        },
        first=blocks[0].first,
        n_rows=sum(rows.n_rows for rows in blocks),
    )


def _count(
    counts: Counts,
    rows: Rows,
    matrix: CostMatrix | None,
    workers: int | None,
    check: LabelCheck | None,
) -> None:
    """Count some rows, and look at their labels; after an error nothing is kept."""
    y_true = plain(rows.y_true)
    preds = {name: plain(column) for name, column in rows.preds.items()}
    block_labels = None if check is None else check.look(y_true, preds)
    try:
        with nullcontext() if matrix is None else naming_cost(matrix, None):
            counts.update(y_true, preds, workers=workers)
    except ArgumentError as error:
        places: dict[str, Any] = {} if error.row is None else {"row": rows.first + error.row}
        if rows.fraction < 1 or rows.first:
            places["among"] = f" in rows {rows.first} to {rows.first + rows.n_rows - 1}"
        raise error.but(**places) from None
    if check is not None and block_labels is not None:
        check.keep(block_labels)


def plain(column: pa.Array | pa.ChunkedArray) -> Any:
    """View numbers as NumPy's: pyarrow's own way would load pandas, of 50 MB.

    Text is coded here: once, although it is looked at twice.
    """
    kind = column.type
    if pa.types.is_string(kind):
        return column.dictionary_encode()
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not is_number or column.null_count:
        return column
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])
    return np.from_dlpack(column)
