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


def auc(  # noqa: PLR0913  # options, all by keyword
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
        (2 * area.concordant + _TIES[ties] * area.tied)
        / (2 * area.n_positives * area.n_negatives)
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
