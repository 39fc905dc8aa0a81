"""Values of segmentations, one for each image: how far masks overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastcmp.core.checks import as_numbers, check_size
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike, Flags
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns


def dice_values(y_true: ColumnLike, masks: Any, *, empty: float = 1.0) -> Any:
    """Dice coefficient of each image: twice the common pixels over those of both masks.

    Values for `compare_means`, `best_set`, `rank_sets` and others: the mean over images,
    in which each image counts the same. One coefficient of all pixels together is
    ``metric="f1"``.

    Parameters
    ----------
    y_true : array-like of bool, shape (n, ...)
        True masks of n images, of one shape; True or 1 where the object is.
    masks : array-like of bool, shape (M, n, ...), or mapping
        Masks that M models predicted, or a mapping from names to arrays of shape (n, ...).
    empty : float
        The value of an image where both masks are empty: 1 by default, as they agree; or
        NaN, with ``missing="common"`` where values are compared.

    Returns
    -------
    ndarray of float64, shape (M, n), or dict
        From 0 to 1; for a mapping a dict from names to arrays of shape (n,).

    Raises
    ------
    ValueError
        If shapes differ, or masks hold anything but two values.
    TypeError
        If masks are not numbers.

    References
    ----------
    .. [1] L. R. Dice, "Measures of the amount of ecologic association between species",
       Ecology 26 (1945) 297-302.

    Examples
    --------
    >>> from fastcmp import dice_values
    >>> truth = [[1, 1, 0], [0, 0, 0]]
    >>> masks = {"a": [[1, 0, 0], [0, 0, 0]], "b": [[1, 1, 1], [0, 1, 0]]}
    >>> {name: values.round(3).tolist() for name, values in dice_values(truth, masks).items()}
    {'a': [0.667, 1.0], 'b': [0.8, 0.0]}
    """
    agreed = as_numbers(empty, "empty", "a number")
    if agreed.ndim or not (np.isnan(agreed) or 0.0 <= agreed <= 1.0):
        raise BadValueError("`empty` must be a number in [0, 1], or NaN", repr(empty))
    truth = _masks(y_true, "y_true")
    named = has_names(masks)
    if not (named or hasattr(masks, "__len__")):
        raise BadTypeError("`masks` must be of M models, or a mapping", type(masks))
    models = named_columns(masks, "masks") if named else list(enumerate(masks))
    check_distinct_names([str(name) for name, _ in models], "masks")
    check_size(len(models), "masks", "model", 1)
    values = {}
    for name, raw in models:
        predicted = _masks(raw, f"masks[{name!r}]")
        if predicted.shape != truth.shape:
            raise BadValueError(
                f"`masks`[{name!r}] must be of the shape of y_true, {truth.shape}",
                f"{predicted.shape}: models come first, then images, then pixels",
            )
        pixels = tuple(range(1, truth.ndim))
        common, both = (predicted & truth).sum(pixels), predicted.sum(pixels) + truth.sum(pixels)
        values[name] = np.where(both > 0, 2.0 * common / np.maximum(both, 1), agreed)
    return values if named else np.stack([*values.values()])


def _masks(raw: object, name: str) -> Flags:
    """Masks of images, shape (n, ...)."""
    masks = np.asarray(raw)
    if masks.dtype != np.bool_:
        masks = as_numbers(raw, name, "masks of 0 and 1")
    if masks.ndim < 2 or not masks.size:
        raise BadValueError(f"`{name}` must be masks of images, shape (n, ...)", masks.shape)
    if not np.isin(masks, (0, 1)).all():
        raise BadValueError(f"`{name}` must hold 0 and 1, or False and True: pass {name} > cutoff")
    return masks.astype(np.bool_)
