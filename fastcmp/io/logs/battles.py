"""Battles: two models answer, and one of the answers wins."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadTypeError
from fastcmp.core.render import visible
from fastcmp.core.threads import read_size
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, Sign

_SIDES = (("model_a", "model_b"), ("left", "right"))
_ITEMS = ("item", "prompt", "question_id", "id")
_FIRST = {"model_a", "modela", "a", "left"}
_SECOND = {"model_b", "modelb", "b", "right"}
_TIES = {
    *("tie", "draw", "both", "neither", "equal"),
    *("tie (bothbad)", "tie (both bad)", "tie_bothbad", "bothbad", "both bad"),
    *("both_bad", "tie (bothgood)", "tie (both good)", "both good", "bothgood"),
}
_LIMIT = 4_000_000_000  # bytes


def _read(file: LogFile, _: LogOptions) -> NoReturn:
    raise ValueError(
        f"{file.path} holds battles of two models each, no values of items: they "
        "are compared by bradley_terry_from_battles, or by fastcmp compare with "
        "this file alone"
    )


def read_battles(
    path: str | PathLike[str], *, memory_limit: int | str | None = None
) -> dict[str, NDArray[Any]]:
    r"""Read battles of two models each, such as those of an arena.

    Parameters
    ----------
    path : str or path
        CSV, TSV, JSON lines, a JSON array of objects, Parquet or Arrow, with the
        columns ``model_a`` and ``model_b`` (or ``left`` and ``right``) and ``winner``:
        ``model_a``, ``a``, ``left``, the other side, ``tie``, ``draw``, ``tie
        (bothbad)``, ``both bad``, or the name of one of the two. A column ``result``
        with 1, 0.5 or 0 in the view of ``model_a`` is as good as ``winner``. Optional
        are ``weight`` and the item: ``item``, ``prompt``, ``question_id`` or ``id``,
        the first of these that is there.
    memory_limit : int or str, optional
        Bytes, such as ``"4GB"``, that the file may have, unpacked. By default 4 GB.

    Returns
    -------
    dict
        Columns of equal length, a battle each, in the order of the file: ``item`` (""
        where there is none), ``model_a``, ``model_b``, ``result`` (1 where ``model_a``
        won, 0.5 for a tie, 0 where it lost) and ``weight`` (1 where there is none).

    Raises
    ------
    TypeError
        If ``path`` is no path.
    ValueError
        If columns are missing; a model or winner is missing, or the winner is neither
        a side, a tie nor a name; a model meets itself; a weight is not above 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fastcmp import read_battles
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "battles.csv")
    ...     _ = path.write_text("model_a,model_b,winner\nlarge,small,model_a\n")
    ...     battles = read_battles(path)
    >>> battles["model_a"].tolist(), battles["result"].tolist()
    (['large'], [1.0])
    """
    if not isinstance(path, (str, PathLike)):
        raise BadTypeError("`path` must name a file", type(path).__name__)

    from fastcmp.io.logs.tables import LogTable  # needs pyarrow

    path = Path(path)
    file = LogFile(path, path.parent)
    names = file.columns
    sides = next((pair for pair in _SIDES if set(pair) <= set(names)), None)
    outcome = next((name for name in ("winner", "result") if name in names), None)
    if sides is None or outcome is None:
        listed = visible(", ".join(names)) or "none"
        raise ValueError(
            f"{path} must have the columns model_a, model_b (or left, right) and "
            f"winner; there are: {listed}"
        )
    item = next((name for name in _ITEMS if name in names), "")
    texts = [*sides, *([item] if item else [])]
    numbers = ["weight"] if "weight" in names else []
    (texts if outcome == "winner" else numbers).append(outcome)
    limit = _LIMIT if memory_limit is None else read_size(memory_limit)
    table = LogTable(file, texts, values=numbers, limit=limit)
    first, second = (table.labels(name, complete=True).at() for name in sides)
    for row, (one, other) in enumerate(zip(first, second, strict=True)):
        if one == other:
            raise ValueError(
                f"{path}: {one} meets itself in row {row}, which says nothing: leave such rows out"
            )
    if outcome == "winner":
        winners = table.labels("winner", complete=True).at()
        rows = zip(winners, first, second, strict=True)
        result = np.array([_result(*row, i, path) for i, row in enumerate(rows)])
    else:
        result = table.values("result")
    if (strange := np.flatnonzero(~np.isin(result, (0, 0.5, 1)))).size:
        raise ValueError(
            f"{path}: result must be 1, 0.5 or 0, got {result[strange[0]]} in row {strange[0]}"
        )
    weights = table.values("weight") if "weight" in names else np.ones(table.n_rows)
    if not (weights > 0).all():
        row = int(np.argmin(weights > 0))
        raise ValueError(f"{path}: weights must be above 0, got {weights[row]} in row {row}")
    return {
        "item": np.array(table.labels(item).at() if item else [""] * len(first), object),
        "model_a": np.array(first, object),
        "model_b": np.array(second, object),
        "result": result,
        "weight": weights,
    }


def _result(winner: str, first: str, second: str, row: int, path: Path) -> float:
    """Read who won, in the view of the first."""
    text = " ".join(winner.lower().split())
    scores = set()
    if winner == first or text in _FIRST:
        scores.add(1.0)
    if winner == second or text in _SECOND:
        scores.add(0.0)
    if text in _TIES:
        scores.add(0.5)
    if len(scores) != 1:
        what = "may mean more than one thing" if scores else "is neither"
        raise ValueError(
            f"{path}: winner {visible(repr(winner[:60]))} in row {row} {what}: it must "
            f"be model_a, model_b, left, right, tie, tie (bothbad), or one of {first} "
            f"and {second}"
        )
    return scores.pop()


FORMATS = (
    LogFormat(
        name="battles",
        title="battles",
        values=(Sign(columns="model_a model_b winner|result"), Sign(columns="left right winner")),
        read=_read,
    ),
)
