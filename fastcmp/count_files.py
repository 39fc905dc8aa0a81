"""Prediction files of any size, counted block by block in fixed memory."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.checkpoint import Checkpoint, signals_held
from fastcmp.progress import Progress, reporting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastcmp.io_stream import PredictionStream, Rows
    from fastcmp.stream import LabelCounts, PairCounts

    Counts = PairCounts | LabelCounts

_ROW = re.compile(r" at row (\d+)")


def count_files(
    predictions: PredictionStream,
    counts: Counts,
    *,
    memory_limit: int,
    checkpoint: Checkpoint | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> Any:
    """Count all samples of prediction files.

    Parameters
    ----------
    predictions : PredictionStream
        The files.
    counts : PairCounts or LabelCounts
        An empty accumulator.
    memory_limit : int
        Bytes that a check of ids that do not ascend may take.
    checkpoint : Checkpoint, optional
        Where to save the counts while they grow, and to go on from.
    workers : int, optional
        Threads.
    progress : bool or callable, optional
        True draws a bar; a function is called with the rows done and all rows, which
        are estimated where the files do not tell.

    Returns
    -------
    PairCounts or LabelCounts
        The counts, or those of the checkpoint with what was left to count.

    Raises
    ------
    ValueError
        If a file is damaged, or labels are missing or cannot be compared.
    TypeError
        If labels are of different types.
    KeyboardInterrupt
        On Ctrl-C; with a checkpoint after it is saved.
    SystemExit
        With a checkpoint, on SIGTERM, after it is saved.
    """
    position = None
    if checkpoint is not None:
        if (found := checkpoint.load()) is not None:
            counts, position = found  # type: ignore[assignment]
        checkpoint.save(counts, position)  # here already it shows whether this works
    kinds = _Kinds(predictions.unlike())
    with (
        reporting(progress, "counting", unit="rows") as report,
        signals_held(wanted=checkpoint is not None) as stopped,
    ):
        try:
            for rows in predictions.rows(memory_limit, position):
                kinds.check(rows)
                _update(counts, rows, workers)
                position = rows.position
                done = rows.first + rows.n_rows
                report(done, predictions.n_rows or round(done / rows.share))
                if stopped() is not None:
                    break
                if checkpoint is not None:
                    checkpoint.save_if_due(counts, position)
        except Exception:  # an interrupt, which is none, may have left half a step
            if checkpoint is not None:
                checkpoint.save(counts, position)
            if stopped() is None:  # or else pyarrow has given up for a signal
                raise
        if checkpoint is not None:
            checkpoint.save(counts, position)
        if stopped() == signal.SIGINT:
            raise KeyboardInterrupt
        if (number := stopped()) is not None:
            raise SystemExit(128 + number)
    return counts


def _update(counts: Counts, rows: Rows, workers: int | None) -> None:
    y_true = _plain(rows.y_true)
    preds = {name: _plain(column) for name, column in rows.preds.items()}
    try:
        counts.update(y_true, preds, workers=workers)
    except (ValueError, TypeError) as error:
        raise type(error)(_in_file(str(error), rows)) from None


def _plain(column: Any) -> Any:
    """View numbers as NumPy's: pyarrow's own way would load pandas, of 50 MB."""
    import pyarrow as pa

    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return np.from_dlpack(column) if is_number and not column.null_count else column


def _in_file(message: str, rows: Rows) -> str:
    """Count the row that a message names from the first of the file."""
    found = list(_ROW.finditer(message))
    if not found:
        return message
    last = found[-1]
    row = rows.first + int(last[1])
    message = f"{message[: last.start()]} at row {row}{message[last.end() :]}"
    if rows.share < 1 or rows.first:
        message = message.replace("missing in all", f"missing in {rows.n_rows} rows")
    return message


class _Kinds:
    """Refuse labels that can never be equal, be they in one block or in two."""

    def __init__(self, unlike: Iterable[str]) -> None:
        self._unlike = set(unlike)
        self._seen: dict[str, Any] = {}
        self._truth: Any = None

    def check(self, rows: Rows) -> None:
        """Look for labels in the columns that are unlike the true ones."""
        if not self._unlike:
            return
        if rows.y_true.null_count < rows.n_rows:
            self._truth = rows.y_true.type
        for name in self._unlike - self._seen.keys():
            column = rows.preds[name]
            if column.null_count < rows.n_rows:
                self._seen[name] = column.type
        if self._truth is not None and self._seen:
            name, kind = next(iter(self._seen.items()))
            message = (
                f"{name} holds {kind} labels and y_true {self._truth} labels, which "
                "can never be equal: convert one of them"
            )
            raise TypeError(message)
