"""Areas under ROC curves, and their covariance, on Dask's collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_whole
from fastcmp.core.memory import read_size
from fastcmp.core.options import choose
from fastcmp.dask.blocks import read_blocks
from fastcmp.dask.delongs import delong_of_blocks
from fastcmp.dask.scores import count_scores, exact_areas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.scores.delong_result import DelongResult

_TIES = {"half": 1, "concordant": 2, "discordant": 0}


def auc(
    data: Any,
    scores: Any = None,
    *,
    target: str | None = None,
    names: int | Sequence[str] | None = None,
    ties: str = "half",
    positive: Any = None,
    on_single_class: str = "raise",
    split_every: int = 8,
) -> Any:
    """Area under the ROC curve of scores in blocks, of one model or of many.

    Parameters
    ----------
    data : dask.array, dask.dataframe or list of delayed
        As in `fastcmp.dask.compare_all`.
    scores : dask.array of shape (n,) or (M, n), or mapping to dask.array, optional
        Scores, where `data` is an array.
    target : str, optional
        As in `fastcmp.dask.compare_all`.
    names : int or sequence of str, optional
        As in `fastcmp.dask.compare_all`.
    ties : {"half", "concordant", "discordant"}
        As what pairs with equal scores count.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    on_single_class : {"raise", "nan"}
        What to answer where there is one class only.
    split_every : int
        How many blocks' counts a task merges; each takes 1.5 MB a model.

    Returns
    -------
    float or ndarray, shape (M,)
        To the bit what `fastcmp.auc` finds on the same samples.

    Raises
    ------
    ValueError
        As `fastcmp.auc`; or if the data are not the same at each computation, if whole
        numbers are beyond 2**53, or if a block holds scores of a wider type than those
        looked at first.
    TypeError
        If scores are not numbers, or `data` is no collection of Dask.
    ImportError
        If Dask is missing.

    Notes
    -----
    Up to eight blocks are looked at to lay bins, and all are counted in them. That is
    enough for scores of at most 16 bits, and for few different ones. Others are read
    once more, and those that share a bin with the other class are sent to tasks that
    sort some four million each.

    Examples
    --------
    >>> import dask.array as da
    >>> import fastcmp
    >>> import fastcmp.dask
    >>> is_eight, scores = fastcmp.load_digits_scores()
    >>> svm = da.from_array(scores["linear_svm"], chunks=300)
    >>> area = fastcmp.dask.auc(da.from_array(is_eight, chunks=300), svm)
    >>> area == fastcmp.auc(is_eight, scores["linear_svm"])
    True
    """
    ties = choose(ties, "ties", tuple(_TIES))
    on_single_class = choose(on_single_class, "on_single_class", ("raise", "nan"))
    split_every = as_whole(split_every, "split_every", 2)
    blocks = read_blocks(data, scores, target=target, names=names)
    single, counts = count_scores(blocks, positive, split_every)
    if len(counts.labels) < 2 and on_single_class == "nan":
        return float("nan") if single else np.full(counts.n_models, np.nan)
    areas = [
        (2 * area.concordant + _TIES[ties] * area.tied) / (2 * area.n_positives * area.n_negatives)
        for area in exact_areas(blocks, counts).values()
    ]
    return areas[0] if single else np.array(areas)


def delong(
    data: Any,
    scores: Any = None,
    *,
    target: str | None = None,
    names: int | Sequence[str] | None = None,
    positive: Any = None,
    memory_limit: int | str = "4 GB",
    split_every: int = 8,
) -> DelongResult:
    """DeLong's covariance of the AUCs of models whose scores come in blocks.

    Parameters
    ----------
    data : dask.array, dask.dataframe or list of delayed
        As in `fastcmp.dask.compare_all`.
    scores : dask.array of shape (n,) or (M, n), or mapping to dask.array, optional
        Scores, where `data` is an array.
    target : str, optional
        As in `fastcmp.dask.compare_all`.
    names : int or sequence of str, optional
        As in `fastcmp.dask.compare_all`.
    positive : label, optional
        The positive class; of two numbers or booleans the larger one by default.
    memory_limit : int or str
        What one task may take: bytes, or such as "4 GB". The scores of a model are
        ranked by one task, which takes 56 bytes each; more are refused.
    split_every : int
        How many blocks' products a task adds up; each takes 8 M**2 bytes.

    Returns
    -------
    DelongResult
        AUCs to the bit those of `fastcmp.delong`, where these are exact. The covariance
        adds the same products in another order: it differs by rounding, 3e-15 of the
        largest variance for a million samples.

    Raises
    ------
    ValueError
        As `fastcmp.delong`; or if the scores of a model do not fit into memory, or
        whole numbers are beyond 2**53.
    TypeError
        If scores are not numbers, or `data` is no collection of Dask.
    ImportError
        If Dask is missing.

    Notes
    -----
    A placement asks for all scores of its model: they go to one task a model, and the
    placements come back to the blocks, 16 bytes a score in all. The workers together
    hold 8 M n bytes of them for a while.

    Examples
    --------
    >>> import dask.array as da
    >>> import fastcmp
    >>> import fastcmp.dask
    >>> is_eight, scores = fastcmp.load_digits_scores()
    >>> blocks = {name: da.from_array(x, chunks=300) for name, x in scores.items()}
    >>> result = fastcmp.dask.delong(da.from_array(is_eight, chunks=300), blocks)
    >>> (result.auc == fastcmp.delong(is_eight, scores).auc).all()
    np.True_
    """
    limit = read_size(memory_limit)
    split_every = as_whole(split_every, "split_every", 2)
    blocks = read_blocks(data, scores, target=target, names=names)
    return delong_of_blocks(blocks, positive, limit, split_every)
