"""Two models on different samples: which is better, by accuracy, mean or AUC?"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.checks import as_flag, as_proportion
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.paired.margins import read_margin
from fastcmp.paired.unpaired_accuracies import (
    accuracy_unpaired,
    accuracy_unpaired_from_counts,
)
from fastcmp.paired.unpaired_means import POLICIES, means_unpaired
from fastcmp.paired.unpaired_tests import METHODS
from fastcmp.scores.delong import areas_unpaired, compare_areas
from fastcmp.scores.unpaired_comparison import UnpairedComparison

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Tests of each measure; "auto" chooses.
_METHODS = {
    "accuracy": METHODS,
    "mean": ("auto", "welch"),
    "auc": ("auto", "normal", "t"),
}
_DATA = {"accuracy": "true labels and predictions", "auc": "true labels and scores"}
_OWNERS = {"classes": "accuracy", "positive": "auc", "lower_is_better": "mean"}
_SAME = (
    "Both models have the same true labels in the same order. On one set of samples a "
    "paired test has more power: {}."
)


class _Options(NamedTuple):
    method: str
    alternative: str
    alpha: float
    margin: float | None
    names: tuple[str, str]

    @property
    def margin_alpha(self) -> float:
        """The level of margin tests; without them any."""
        return 0.05 if self.margin is None else self.alpha


def compare_unpaired(
    a: Any,
    b: Any,
    *,
    measure: str = "accuracy",
    method: str = "auto",
    alternative: str = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    lower_is_better: bool = False,
    missing: str = "raise",
    names: tuple[str, str] = ("a", "b"),
) -> UnpairedComparison:
    """Decide which of two models, tested on different samples, is better.

    Parameters
    ----------
    a, b : tuple or array-like
        What there is of each model. For "accuracy" a pair of columns, true labels and
        predictions, or of two numbers, samples classified correctly and all; for "auc"
        a pair of columns, true labels and scores; for "mean" one column of values.
    measure : {"accuracy", "mean", "auc"}
        What is compared.
    method : str
        "auto" (default) is the recommended test: of accuracies Boschloo's exact test if
        neither model has more than 200 samples, else Miettinen and Nurminen's; Welch's
        of means; DeLong's with Student's t of AUCs. Others: for "accuracy" those of
        `accuracy_unpaired`, for "auc" "normal" and "t".
    alternative : {"two-sided", "greater", "less"}
        "greater": the measure of a is greater.
    margin : float, optional
        The largest difference that does not matter, above 0: adds tests of
        non-inferiority, superiority by the margin and equivalence at `alpha`, and a
        decision, as ``margins``.
    alpha : float
        Significance level, in (0, 1), or in (0, 0.5) with a margin or one side.
    classes : sequence, optional
        For "accuracy": compare only samples whose true label is one of these.
    positive : label, optional
        For "auc": the positive class.
    lower_is_better : bool
        For "mean": whether values are losses.
    missing : {"raise", "wrong", "drop"}
        How to treat a missing prediction or value: refuse it; count it as wrong, or 0;
        or, of values, leave it out.
    names : tuple of two str
        What to call the models where the record is printed.

    Returns
    -------
    UnpairedComparison
        The decision, p-value, both measures, an interval, and the test itself.

    Raises
    ------
    ValueError
        If an option is unknown or does not belong to the measure, or as
        `accuracy_unpaired`, `means_unpaired` and `delong_unpaired`.
    TypeError
        If data are no pair, or as these.

    See Also
    --------
    compare_labels : Two models on the same samples, with more power.
    fastcmp.accuracy_unpaired : Accuracies, with all options.
    fastcmp.means_unpaired : Means, with all options.
    delong_unpaired : AUCs.

    Examples
    --------
    >>> from fastcmp import compare_unpaired
    >>> result = compare_unpaired((56, 70), (48, 80))
    >>> result.reject, round(result.pvalue, 4), result.method
    (True, 0.0099, 'boschloo')
    >>> compare_unpaired([0.9, 0.8, 0.7], [0.5, 0.7, 0.6, 0.6], measure="mean").better
    'a'
    """
    measure = choose(measure, "measure", _METHODS)
    options = _Options(
        choose(method, "method", _METHODS[measure]),
        choose(alternative, "alternative", ALTERNATIVES),
        _read_alpha(alpha, choose(alternative, "alternative", ALTERNATIVES)),
        margin,
        read_pair_names(names),
    )
    missing = choose(missing, "missing", POLICIES)
    loss = as_flag(lower_is_better, "lower_is_better")
    _refuse_others(measure, missing, classes=classes, positive=positive, lower_is_better=loss)
    if measure == "mean":
        return _means(a, b, options, lower_is_better=loss, missing=missing)
    pairs = _read_pairs(a, b, measure)
    if measure == "auc":
        return _areas(pairs, options, positive)
    return _accuracies(pairs, options, classes, missing)


def _read_alpha(alpha: Any, alternative: str) -> float:
    level = as_proportion(alpha, "alpha")
    if level >= 0.5 and alternative != "two-sided":
        raise ValueError(
            "alpha must be below 0.5 for a one-sided test, because its interval has "
            f"the level 1 - alpha, got {alpha}"
        )
    return level


def _refuse_others(measure: str, missing: str, **given: Any) -> None:
    """Refuse options that belong to another measure."""
    for name, value in given.items():
        if value is not None and value is not False and measure != _OWNERS[name]:
            raise ValueError(f"{name} is for measure={_OWNERS[name]!r}, got {measure!r}")
    known = {"accuracy": ("raise", "wrong"), "mean": POLICIES, "auc": ("raise",)}
    if missing not in known[measure]:
        raise ValueError(
            f"missing must be one of {known[measure]} with measure={measure!r}, got {missing!r}"
        )


def _read_pairs(a: Any, b: Any, measure: str) -> tuple[Any, Any, Any, Any]:
    """Take both pairs of columns, or of counts, apart."""
    parts: list[Any] = []
    for name, data in (("a", a), ("b", b)):
        try:
            n = -1 if isinstance(data, (str, bytes, dict)) else len(data)
        except TypeError:
            n = -1
        if n != 2:
            raise TypeError(
                f"{name} must be a pair of {_DATA[measure]} with measure={measure!r}, "
                f"got {type(data).__name__}{f' of length {n}' if n >= 0 else ''}"
            )
        parts += [data[0], data[1]]
    return tuple(parts)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _accuracies(
    pairs: tuple[Any, Any, Any, Any], options: _Options, classes: Any, missing: str
) -> UnpairedComparison:
    shared: dict[str, Any] = {
        "method": options.method,
        "alternative": options.alternative,
        "margin": options.margin,
        "alpha": options.margin_alpha,
    }
    if all(map(_is_count, pairs)):
        found = accuracy_unpaired_from_counts(*pairs, **shared)
        cautions: tuple[str, ...] = ()
    else:
        found = accuracy_unpaired(*pairs, classes=classes, missing=missing, **shared)
        cautions = _same_truth(pairs, "mcnemar, or compare_labels")
    return UnpairedComparison(
        comparison=found,
        method=found.method,
        alpha=options.alpha,
        n_a=int(found.n_a),
        n_b=int(found.n_b),
        names=options.names,
        n_missing=found.n_missing,
        margins=found.margins,
        cautions=cautions,
    )


def _means(a: Any, b: Any, options: _Options, **choices: Any) -> UnpairedComparison:
    found = means_unpaired(
        a,
        b,
        alternative=options.alternative,
        margin=options.margin,
        alpha=options.margin_alpha,
        confidence_level=1.0 - options.alpha,
        names=options.names,
        **choices,
    )
    return UnpairedComparison(
        comparison=found,
        method="welch",
        alpha=options.alpha,
        n_a=found.n_a,
        n_b=found.n_b,
        names=options.names,
        n_missing=sum(found.n_missing_values),
        margins=found.margins,
        cautions=found.cautions,
    )


def _areas(
    pairs: tuple[Any, Any, Any, Any], options: _Options, positive: Any
) -> UnpairedComparison:
    against = read_margin(options.margin, options.margin_alpha, 1.0)
    a, b = areas_unpaired(*pairs, positive)
    sizes = a.n_positives + a.n_negatives, b.n_positives + b.n_negatives
    method = "t" if options.method == "auto" else options.method
    given = {"alternative": options.alternative, "names": options.names}
    found = compare_areas(a, b, method, **given)
    return UnpairedComparison(
        comparison=found,
        method=method,
        alpha=options.alpha,
        n_a=sizes[0],
        n_b=sizes[1],
        names=options.names,
        n_missing=a.n_missing + b.n_missing,
        margins=against and found._margin_tests(against, sum(sizes)),
        cautions=_same_truth(pairs, "delong"),
    )


def _same_truth(pairs: tuple[Any, Any, Any, Any], test: str) -> tuple[str, ...]:
    """Say that the samples may be the same ones."""
    y_a, _, y_b, _ = pairs
    same = len(y_a) == len(y_b) and np.array_equal(np.asarray(y_a), np.asarray(y_b))
    return (_SAME.format(test),) if same else ()
