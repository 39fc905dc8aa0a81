"""Estimators of scikit-learn: cloned, fitted and scored."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

_SCORINGS = {"classifier": "accuracy", "regressor": "r2"}


def scikit_learn(module: str) -> Any:
    """Import a module of scikit-learn, such as "base"."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise ImportError(
            "this function needs scikit-learn, which is not installed: pip install 'fastcmp[cv]'"
        ) from None


def kind_of(estimator: Any) -> str | None:
    """Give "classifier", "regressor", or None where the estimator does not say."""
    base = scikit_learn("base")
    try:
        # Release 1.7 warns where others raise.
        estimator.__sklearn_tags__  # noqa: B018
        if base.is_classifier(estimator):
            return "classifier"
        if base.is_regressor(estimator):
            return "regressor"
    except AttributeError:  # no estimator of scikit-learn
        pass
    return getattr(estimator, "_estimator_type", None)


def scorer_of(estimator: Any, scoring: Any) -> Callable[..., Any]:
    """The function of a fitted estimator, X and y that scores it.

    The kind of the estimator chooses the default.
    """
    if callable(scoring):
        return scoring  # type: ignore[no-any-return]
    if scoring is None:
        scoring = _SCORINGS.get(kind_of(estimator) or "")
        if scoring is None:
            raise ValueError(
                "scoring must be given for an estimator that is neither a classifier "
                f"nor a regressor of scikit-learn, such as {estimator!r}"
            )
    if not isinstance(scoring, str):
        raise TypeError(
            "scoring must be the name of a scorer of scikit-learn, a function of "
            f"estimator, X and y, or None, got {scoring!r}"
        )
    return scikit_learn("metrics").get_scorer(scoring)  # type: ignore[no-any-return]


def score_difference(
    estimators: tuple[Any, Any], scorer: Callable[..., Any], train: Any, test: Any
) -> float:
    """Fit clones of two estimators, and subtract the second score from the first."""
    clone = scikit_learn("base").clone
    scores = []
    for name, estimator in zip(("estimator1", "estimator2"), estimators, strict=True):
        model = clone(estimator, safe=False)
        model.fit(*train)
        score = float(scorer(model, *test))
        if not np.isfinite(score):
            raise ValueError(f"scores must be finite numbers, got {score} for {name}")
        scores.append(score)
    return scores[0] - scores[1]
