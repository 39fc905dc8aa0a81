"""Prediction files of any size, counted block by block in fixed memory."""

from __future__ import annotations

import re
import signal
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.memory import in_words
from fastcmp.core.progress import Progress, reporting
from fastcmp.inputs.cost_matrix import check_fit, naming_cost
from fastcmp.io.checkpoint import Checkpoint, signals_held
from fastcmp.io.chosen import advice
from fastcmp.io.kinds import value_type
from fastcmp.stream import LabelCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastcmp.inputs.cost_matrix import CostMatrix
    from fastcmp.io.label_check import LabelCheck
    from fastcmp.io.stream import PredictionStream, Rows
    from fastcmp.stream import ConfusionCounts, PairCounts

    Counts = PairCounts | LabelCounts | ConfusionCounts

_GATHERED = 16_000_000  # bytes of blocks that are joined, at most
_COPIES = 3  # the tables, those of some blocks, and their sum
_ROW = re.compile(r" at row (\d+)")


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
        if (found := checkpoint.load(check)) is not None:
            counts, position = found  # type: ignore[assignment]
        # Here already it shows whether this works.
        checkpoint.save(counts, position, check)
    kinds = _Kinds(predictions.unlike())
    with (
        reporting(progress, "counting", unit="rows") as report,
        signals_held(wanted=checkpoint is not None) as stopped,
    ):
        try:
            for rows in _gathered(predictions.rows(memory_limit, position), counts):
                kinds.check(rows)
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
        except Exception:  # an interrupt, which is none, may have left half a step
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
    _check_enough(counts)
    _check_covered(counts, matrix)
    return counts


def _check_covered(counts: Counts, matrix: CostMatrix | None, rows: Rows | None = None) -> None:
    """Refuse true labels without costs, after some rows or after all."""
    if matrix is None:
        return
    among = "samples"
    if rows is not None and rows.fraction < 1:
        among = f"of the first {rows.first + rows.n_rows} samples"
    try:
        check_fit(matrix, matrix.classes or (), counts.n_excluded, None)
    except ValueError as error:
        raise ValueError(str(error).replace("samples", among, 1)) from None


def _check_size(counts: Counts, memory_limit: int) -> None:
    """Refuse counts by class that outgrow their memory."""
    if isinstance(counts, LabelCounts) and _COPIES * counts.n_bytes > memory_limit:
        raise ValueError(
            f"counting {counts.n_pairs} pairs by {counts.n_classes} classes takes "
            f"{in_words(_COPIES * counts.n_bytes)} (--memory-limit is "
            f"{in_words(memory_limit)}): pass a larger --memory-limit, or compare "
            "fewer models (--models)"
        )


def _check_enough(counts: Counts) -> None:
    n, n_missing = counts.n_samples, counts.n_missing
    if n < 2:
        what = "sample" if n == 1 else "samples"
        left = f" after {n_missing} were dropped" if n_missing else ""
        raise ValueError(f"y_true must hold at least 2 samples, got {n} {what}{left}")


def _gathered(blocks: Iterable[Rows], counts: Counts) -> Iterator[Rows]:
    """Join blocks of fewer bytes than the tables, which are added up for each."""
    wanted = 0
    if isinstance(counts, LabelCounts):
        wanted = min(counts.n_bytes, _GATHERED)
    held: list[Rows] = []
    for rows in blocks:
        if held and not _alike(held[0], rows):
            yield _joined(held)
            held = []
        held.append(rows)
        if sum(map(_size, held)) >= wanted:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _size(rows: Rows) -> int:
    return sum(column.nbytes for column in (rows.y_true, *rows.preds.values()))


def _alike(first: Rows, second: Rows) -> bool:
    if first.y_true.type != second.y_true.type:
        return False
    return all(column.type == second.preds[name].type for name, column in first.preds.items())


def _joined(held: list[Rows]) -> Rows:
    if len(held) == 1:
        return held[0]
    import pyarrow as pa

    last = held[-1]
    return replace(
        last,
        y_true=pa.chunked_array([rows.y_true for rows in held]),
        preds={name: pa.chunked_array([rows.preds[name] for rows in held]) for name in last.preds},
        first=held[0].first,
        n_rows=sum(rows.n_rows for rows in held),
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
    found = None if check is None else check.look(y_true, preds)
    try:
        with nullcontext() if matrix is None else naming_cost(matrix, None):
            counts.update(y_true, preds, workers=workers)
    except (ValueError, TypeError) as error:
        raise type(error)(_in_file(str(error), rows)) from None
    if check is not None and found is not None:
        check.keep(found)


def plain(column: Any) -> Any:
    """View numbers as NumPy's: pyarrow's own way would load pandas, of 50 MB.

    Text is coded here: once, although it is looked at twice.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind):
        return column.dictionary_encode()
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not is_number or column.null_count:
        return column
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])
    return np.from_dlpack(column)


def _in_file(message: str, rows: Rows) -> str:
    """Count the row that a message names from the first of the file."""
    if found := list(_ROW.finditer(message)):
        last = found[-1]
        row = rows.first + int(last[1])
        message = f"{message[: last.start()]} at row {row}{message[last.end() :]}"
    if rows.fraction < 1 or rows.first:
        end = rows.first + rows.n_rows
        among = f"in rows {rows.first} to {end - 1}"
        for before, after in (
            ("missing in all)", f"missing {among})"),
            ("such predictions)", f"such predictions {among})"),
        ):
            message = message.replace(before, after)
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
            self._truth = value_type(rows.y_true.type)
        for name in self._unlike - self._seen.keys():
            column = rows.preds[name]
            if column.null_count < rows.n_rows:
                self._seen[name] = value_type(column.type)
        if self._truth is not None and self._seen:
            name, kind = next(iter(self._seen.items()))
            raise TypeError(
                f"{visible(name)} holds {kind} labels and y_true {self._truth} labels, "
                "which can never be equal: convert one of them, or leave it out "
                f"({advice(*self._seen)})"
            )
