"""What blocks of a stream have in common: models by name, and codes of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from fastcmp.core.checks import as_whole
from fastcmp.inputs.labels import encode
from fastcmp.inputs.model_names import has_names, named_columns

if TYPE_CHECKING:
    from fastcmp.inputs.labels import Labels


def check_names(names: int | Sequence[str] | None) -> tuple[str, ...] | None:
    """Read the names that models shall have.

    Parameters
    ----------
    names : int, sequence of str or None
        Names, or how many models there are, or None for those of the first block.

    Returns
    -------
    tuple of str or None
        Names; "model_0", "model_1", ... for a number.

    Raises
    ------
    ValueError
        If there are none, or they repeat.
    TypeError
        If they are no names.
    """
    if names is None:
        return None
    if isinstance(names, Integral) and not isinstance(names, bool):
        return tuple(f"model_{i}" for i in range(as_whole(names, "names", 1)))
    wanted = "names must be a number of models or a sequence of different strings"
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        message = f"{wanted}, got {names!r}"
        raise TypeError(message)
    listed = tuple(names)
    if bad := [name for name in listed if not isinstance(name, str)]:
        message = f"{wanted}, got {bad[0]!r}"
        raise TypeError(message)
    if not listed or len(set(listed)) < len(listed):
        twice = sorted(name for name, n in Counter(listed).items() if n > 1)[:10]
        message = f"{wanted}, got {f'{twice} more than once' if twice else 'none'}"
        raise ValueError(message)
    return tuple(map(str, listed))  # np.str_ would not be saved as a string


def check_classes(
    classes: Sequence[Any] | None, missing: str | None
) -> tuple[Any, ...] | None:
    """Check options of `encode` before the first block comes.

    Parameters
    ----------
    classes : sequence or None
        Classes to which samples are confined.
    missing : str or None
        What to make of a missing prediction.

    Returns
    -------
    tuple or None
        The classes.

    Raises
    ------
    ValueError
        If they repeat, or are fewer than two, or the option is unknown.
    """
    encode([], [[]], classes=classes, missing=missing, least=0)
    return None if classes is None else tuple(classes)


def choose_columns(
    preds: Any, names: tuple[str, ...] | None, chosen: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Find the columns of the models that are counted.

    Parameters
    ----------
    preds : array-like of shape (M, n), mapping or frame
        A block: columns with names in any order, or rows in the order of `names`.
    names : tuple of str or None
        Names of the models; None to take those of the block.
    chosen : tuple of str or None
        Models to count, where others may come along; None for all.

    Returns
    -------
    dict
        Columns by name, in the order of `chosen` or `names`.

    Raises
    ------
    ValueError
        If the block has other models.
    """
    found = named_columns(preds, "preds")
    if names is not None and not has_names(preds) and len(found) == len(names):
        found = [(name, row) for name, (_, row) in zip(names, found, strict=True)]
    columns = dict(found)
    if not columns:
        message = "preds must hold at least 1 model, got 0"
        raise ValueError(message)
    wanted = chosen or names
    if wanted is None or tuple(columns) == wanted:
        return columns
    absent = [name for name in wanted if name not in columns]
    if absent or (chosen is None and len(columns) > len(wanted)):
        others = sorted(set(columns) - set(wanted))
        message = (
            f"preds must hold the {len(wanted)} models that are counted; absent are "
            f"{absent[:3]}, others are {others[:3]}"
        )
        raise ValueError(message)
    return {name: columns[name] for name in wanted}


def encode_block(
    y_true: Any,
    columns: dict[str, Any],
    classes: tuple[Any, ...] | None,
    missing: str | None,
) -> Labels:
    """Encode a block of any number of samples.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    columns : dict
        Predicted labels by name of the model.
    classes : tuple or None
        As in `encode`.
    missing : str or None
        As in `encode`.

    Returns
    -------
    Labels
        Codes; there may be none.

    Raises
    ------
    ValueError
        If lengths differ, or labels are missing or not among the classes.
    TypeError
        If labels cannot be compared.
    """
    return encode(y_true, columns, classes=classes, missing=missing, least=0)
