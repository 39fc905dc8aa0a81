"""Saved scores of folds: arrays, columns of models, and what scikit-learn gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.inputs.model_names import check_distinct_names, has_names, named_columns
from fastcmp.inputs.value_column import read_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPLIT = re.compile(r"split([0-9]+)_test_(.+)")


class FoldScores(NamedTuple):
    """Scores of M models in the folds of one data set."""

    names: tuple[str, ...]
    #: Shape (M, R, K).
    scores: NDArray[np.float64]
    #: Whether repetitions and folds are known, not only splits.
    has_folds: bool
    #: The name of the score, where it is known.
    metric: str | None = None


def is_several(raw: Any) -> bool:
    """Tell a mapping of data sets from the scores of one."""
    if not isinstance(raw, Mapping) or not raw or _is_search(raw):
        return False
    return all(
        _is_search(value)
        or _is_frame(value)
        or (isinstance(value, Mapping) and not _validated(value))
        or getattr(value, "ndim", 0) == 3
        for value in raw.values()
    )


def read_fold_scores(raw: Any, metric: Any, where: str = "scores") -> FoldScores:
    """Read the scores of one data set."""
    if metric is not None and not isinstance(metric, str):
        raise TypeError(f"metric must be the name of a score of scikit-learn, got {metric!r}")
    if _is_search(raw):
        return _of_search(raw, metric, where)
    if isinstance(raw, Mapping) and raw and all(map(_validated, raw.values())):
        found = {
            str(name): _of_validation(one, metric, f"{where} of {name}")
            for name, one in raw.items()
        }
        chosen = {key for key, _ in found.values()}
        if len(chosen) > 1:
            raise ValueError(f"{where} must have one metric for all models, got {chosen}")
        return _stacked({n: x for n, (_, x) in found.items()}, where, chosen.pop())
    if metric is not None:
        message = f"metric={metric!r} is for answers of scikit-learn, got {where}"
        raise ValueError(message + f" of {type(raw).__name__}")
    if has_names(raw) or isinstance(raw, (list, tuple)):
        named = named_columns(raw, where)
        columns = {name: _of_model(x, f"{where} of {name}") for name, x in named}
        return _stacked(columns, where)
    array = as_numbers(raw, where).astype(np.float64)
    if array.ndim not in (2, 3):
        raise ValueError(
            f"{where} must be of shape (M, J) or (M, R, K), got {array.shape}: for "
            "several data sets pass {name: scores}, or fastcmp.datasets.task_table"
        )
    names = [f"model_{i}" for i in range(len(array))]
    return _stacked(dict(zip(names, array, strict=True)), where)


def _is_frame(raw: Any) -> bool:
    return has_names(raw) and not isinstance(raw, Mapping)


def _keys(raw: Any) -> list[str]:
    if isinstance(raw, Mapping):
        return [str(key) for key in raw]
    return [name for name, _ in named_columns(raw, "scores")] if has_names(raw) else []


def _is_search(raw: Any) -> bool:
    """Tell ``cv_results_`` of a search, as a mapping or a frame."""
    return any(map(_SPLIT.fullmatch, _keys(raw)))


def _validated(raw: Any) -> bool:
    """Tell an answer of `sklearn.model_selection.cross_validate`."""
    keys = _keys(raw) if isinstance(raw, Mapping) else []
    return "fit_time" in keys and any(key.startswith("test_") for key in keys)


def _of_search(raw: Any, metric: str | None, where: str) -> FoldScores:
    columns = dict(named_columns(raw, where))
    splits: dict[str, dict[int, Any]] = {}
    for key, column in columns.items():
        if found := _SPLIT.fullmatch(key):
            splits.setdefault(found[2], {})[int(found[1])] = column
    chosen = _choose(metric, list(splits), where)
    numbers = sorted(splits[chosen])
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{where} must hold all splits from 0 on, got {numbers}")
    scores = np.stack(
        [read_values(splits[chosen][k], f"column split{k}_test_{chosen}") for k in numbers],
        axis=1,
    )
    if "params" not in columns:
        raise ValueError(f"{where} must have a column params, which names the models")
    names = [_params(entry) for entry in _listed(columns["params"])]
    check_distinct_names(names, f"params of {where}")
    return _stacked(dict(zip(names, scores, strict=True)), where, chosen)


def _listed(column: Any) -> list[Any]:
    made = getattr(column, "to_pylist", None) or getattr(column, "to_list", None)
    return list(made() if callable(made) else column)


def _params(entry: Any) -> str:
    """Name a model by its parameters."""
    if isinstance(entry, Mapping):
        return ", ".join(f"{key}={value}" for key, value in entry.items()) or "default"
    return str(entry)


def _of_validation(raw: Any, metric: str | None, where: str) -> tuple[str, NDArray[np.float64]]:
    known = [key.removeprefix("test_") for key in _keys(raw) if key[:5] == "test_"]
    chosen = _choose(metric, known, where)
    return chosen, read_values(raw[f"test_{chosen}"], where)


def _choose(metric: str | None, known: list[str], where: str) -> str:
    """Find the score that is meant among those of an answer of scikit-learn."""
    if metric is None and len(known) == 1:
        return known[0]
    if metric not in known:
        raise ValueError(f"metric must be one of {known} of {where}, got {metric!r}")
    return str(metric)


def _of_model(raw: Any, where: str) -> NDArray[np.float64]:
    if getattr(raw, "ndim", 1) == 2:
        return as_numbers(raw, where).astype(np.float64)
    if isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], (list, tuple)):
        return as_numbers(raw, where).astype(np.float64)
    return read_values(raw, where)


def _stacked(
    columns: dict[str, NDArray[np.float64]], where: str, metric: str | None = None
) -> FoldScores:
    """Check that all models have the same folds, and all scores are numbers."""
    if len(columns) < 2:
        raise ValueError(f"{where} must hold at least 2 models, got {len(columns)}")
    shapes = {name: x.shape for name, x in columns.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"{where} must be of the same folds for all models, got {shapes}")
    table = np.stack(list(columns.values()))
    if table[0].size < 2:
        raise ValueError(f"{where} must hold at least 2 folds, got {table[0].size}")
    names = tuple(columns)
    if (bad := np.argwhere(~np.isfinite(table))).size:
        model, *fold = bad[0].tolist()
        raise ValueError(
            f"{where} must be finite, got {table[tuple(bad[0])]} for {names[model]} in "
            f"fold {', '.join(map(str, fold))} ({len(bad)} in all): a fit that failed "
            "has no score; repeat it, or leave the model out"
        )
    has_folds = table.ndim == 3
    return FoldScores(names, table if has_folds else table[:, None], has_folds, metric)
