"""Blocks of a stream: the names of its models, its classes, and columns in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from fastcmp.core.checks import as_whole
from fastcmp.inputs.labels import encode


def check_names(names: int | Sequence[str] | None) -> tuple[str, ...] | None:
    """Read the names that models shall have, or their number; None for unknown ones."""
    if names is None:
        return None
    if isinstance(names, Integral) and not isinstance(names, bool):
        return tuple(f"model_{i}" for i in range(as_whole(names, "names", 1)))
    wanted = "names must be a number of models or a sequence of different strings"
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise TypeError(f"{wanted}, got {names!r}")
    listed = tuple(names)
    if bad := [name for name in listed if not isinstance(name, str)]:
        raise TypeError(f"{wanted}, got {bad[0]!r}")
    if not listed or len(set(listed)) < len(listed):
        twice = sorted(name for name, n in Counter(listed).items() if n > 1)[:10]
        raise ValueError(f"{wanted}, got {f'{twice} more than once' if twice else 'none'}")
    return tuple(map(str, listed))  # np.str_ would not be saved as a string


def check_classes(classes: Sequence[Any] | None, missing: str | None) -> tuple[Any, ...] | None:
    """Check these options of `encode` before the first block comes."""
    encode([], [[]], classes=classes, missing=missing, least=0)
    return None if classes is None else tuple(classes)


def ordered_columns(
    named: list[tuple[str, Any]],
    names: tuple[str, ...] | None,
    argument: str,
    *,
    by_name: bool,
    chosen: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Put the columns of a block in the order of the models, `chosen` or all `names`.

    Columns with names (`by_name`) come in any order, rows in that of the models.
    """
    if not named:
        raise ValueError(f"{argument} must hold at least one model, got none")
    if names is not None and not by_name and len(named) == len(names):
        named = [(name, row) for name, (_, row) in zip(names, named, strict=True)]
    columns = dict(named)
    wanted = chosen or names
    if wanted is None or tuple(columns) == wanted:
        return columns
    absent = [name for name in wanted if name not in columns]
    if absent or (chosen is None and len(columns) > len(wanted)):
        others = sorted(set(columns) - set(wanted))
        raise ValueError(
            f"{argument} must hold the {len(wanted)} models that are counted; absent "
            f"are {absent[:3]}, others are {others[:3]}"
        )
    return {name: columns[name] for name in wanted}
