"""Answers that have no value: refused, counted as wrong, or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.io.logs.checks import label_of
from fastcmp.io.logs.part import STATUS
from fastcmp.io.logs.words import a_task, counted, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.io.logs.joining import Joint
    from fastcmp.io.logs.part import LogPart
    from fastcmp.io.logs.reading import Complain

#: What `errors=` and `items=` take.
ERRORS = ("raise", "wrong", "drop")
ITEMS = ("same", "common")


class Block(NamedTuple):
    """Answers of all models to the items of one task and subset."""

    #: Key of each column, K of them.
    keys: NDArray[np.int64]
    #: NaN where there is none, shape (M, K).
    values: NDArray[np.float64]
    #: Codes of `STATUS`, shape (M, K); None: all are "ok".
    status: NDArray[np.uint8] | None
    #: Shape (M, K); None: one each.
    attempts: NDArray[np.int32] | None


def status_of(part: LogPart) -> NDArray[np.uint8] | None:
    """Tell why values are missing; a NaN without a reason is unscored."""
    unscored = np.isnan(part.values)
    if part.status is None and not unscored.any():
        return None
    status = np.zeros(len(unscored), np.uint8) if part.status is None else part.status
    if unscored.any():
        status = np.where((status == 0) & unscored, np.uint8(2), status)
    return status if status.any() else None


def scatter(joint: Joint, keys: NDArray[np.int64]) -> Block:
    """Put the answers of each model in the columns of some keys, which are in order."""
    shape = len(joint.parts), len(keys)
    column = np.full(joint.n_keys, -1)
    column[keys] = np.arange(len(keys))
    values = np.empty(shape)
    status: NDArray[np.uint8] | None = None
    attempts: NDArray[np.int32] | None = None
    first: Any = None
    places: Any = None
    plain = False
    for i, (part, own) in enumerate(zip(joint.parts, joint.keys, strict=True)):
        if own is not first:
            first, places = own, column[own]
            plain = len(own) == len(keys) and np.array_equal(own, keys)
        rows: Any = slice(None) if plain else np.flatnonzero(places >= 0)
        to: Any = slice(None) if plain else places[rows]
        values[i, to] = part.values[rows]
        if part.lower_is_better:
            np.subtract(0.0, values[i], out=values[i])  # no -0.0
        codes = status_of(part)
        if codes is not None:
            status = np.zeros(shape, np.uint8) if status is None else status
            status[i, to] = codes[rows]
        if part.attempts is not None:
            attempts = np.ones(shape, np.int32) if attempts is None else attempts
            attempts[i, to] = part.attempts[rows]
    if status is not None:
        values[status != 0] = np.nan
    return Block(keys, values, status, attempts)


def check_answers(joint: Joint, kept: NDArray[np.int64], complain: Complain) -> None:
    """Refuse answers without a value, naming the first and counting all."""
    is_kept = np.zeros(joint.n_keys, np.bool_)
    is_kept[kept] = True
    for part, keys in zip(joint.parts, joint.keys, strict=True):
        status = status_of(part)
        if status is None:
            continue
        rows = np.flatnonzero((status != 0) & is_kept[keys])
        if not rows.size:
            continue
        row = int(rows[0])
        key = int(keys[row])
        asked = f"item {visible(joint.item_of(key))}"
        if part.repeats is not None:
            asked += f", repeat {joint.repeat_of(key)}"
        why = STATUS[int(status[row])]
        if reason := part.reasons.get(row):
            why += f": {visible(str(reason))}"
        complain(
            f"{part.source}: {visible(part.model)} has no value of "
            f"{visible(part.metric)} for {asked}"
            f"{a_task(label_of(part))} ({why}); it lacks {rows.size} of {len(keys)}. "
            "Pass errors='wrong' to count such answers as 0, or errors='drop' to leave "
            "their items out for all models"
        )
        return


def count_wrong(block: Block, joint: Joint, complain: Complain) -> list[str]:
    """Count answers without a value as 0, in place."""
    if block.status is None:
        return []
    part = joint.parts[0]
    known = block.values[block.status == 0]
    if any(each.lower_is_better for each in joint.parts) or (known < 0).any():
        complain(
            f"errors='wrong' counts an answer that is missing as 0, which is not the "
            f"worst value of {visible(part.metric)}{a_task(label_of(part))}: pass "
            "errors='drop'"
        )
    missing = block.status != 0
    block.values[missing] = 0.0
    of = [
        f"{visible(each.model)} ({n})"
        for each, n in zip(joint.parts, missing.sum(axis=1).tolist(), strict=True)
        if n
    ]
    n_missing = counted(int(missing.sum()), "answer")
    return [f"{n_missing} without a value{a_task(label_of(part))} counted as 0, of {listed(of)}."]


def drop(block: Block, joint: Joint) -> tuple[Block, list[str]]:
    """Leave out items to which some model has an answer without a value."""
    if block.status is None:
        return block, []
    n_repeats = len(joint.repeats)
    places = block.keys // n_repeats
    gone = np.zeros((len(joint.parts), len(joint.items)), np.bool_)
    for i, row in enumerate(block.status):
        gone[i, places[row != 0]] = True
    out = np.logical_or.reduce(gone)
    kept = ~out[places]
    if not kept.any():
        raise ValueError(
            f"errors='drop' leaves no item{a_task(label_of(joint.parts[0]))}: to each "
            "some model has no value"
        )
    because = [
        f"{visible(part.model)} ({n})"
        for part, n in zip(joint.parts, gone.sum(axis=1).tolist(), strict=True)
        if n
    ]
    remark = (
        f"{counted(int(out.sum()), 'item')}{a_task(label_of(joint.parts[0]))} left "
        f"out, because of answers without a value of {listed(because)}."
    )
    attempts = None if block.attempts is None else block.attempts[:, kept]
    return Block(block.keys[kept], block.values[:, kept], None, attempts), [remark]


def common_remark(joint: Joint, keys: NDArray[np.int64]) -> list[str]:
    """Say how many items are left out that some model lacks, and because of whom."""
    n_repeats = len(joint.repeats)
    present = joint.present() > 0
    n_any, n_kept = int(present.sum()), len(keys)
    if n_any == n_kept:
        return []
    lacking = [
        f"{visible(part.model)} ({n_any - len(own)})"
        for part, own in zip(joint.parts, joint.keys, strict=True)
        if len(own) < n_any
    ]
    n_items = len(joint.items) - np.unique(keys // n_repeats).size
    what = counted(n_items, "item")
    if n_any - n_kept != n_items:
        what += f" ({n_any - n_kept} answers)"
    return [
        f"{what}{a_task(label_of(joint.parts[0]))} left out, which some models lack: "
        f"{listed(lacking)}."
    ]
