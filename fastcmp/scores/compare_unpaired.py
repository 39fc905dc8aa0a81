"""Two models on different samples: which is better, by accuracy, mean or AUC?"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, as_flag, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.sentences import dropped_sentences, how
from fastcmp.core.typing import Classes, Label
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.paired.decided import Decided, read_alpha
from fastcmp.paired.margin_result import MarginTests, margin_sentences
from fastcmp.paired.margins import read_margin
from fastcmp.paired.unpaired_accuracies import METHODS, UnpairedResult, accuracy_unpaired
from fastcmp.paired.unpaired_means import POLICIES, UnpairedMeans, means_unpaired
from fastcmp.scores.delong import AUCComparison, areas_unpaired, compare_areas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedComparison(Decided):
    """Two models on different samples, compared by accuracy, mean or AUC."""

    #: The test itself, with what it was made from.
    comparison: UnpairedResult | UnpairedMeans | AUCComparison
    #: "score", "boschloo", ... of accuracies, "welch", or "normal" or "t" of AUCs.
    method: str
    #: Samples that each model was tested on.
    n_a: int
    n_b: int
    #: Samples dropped because the true label, or the value, is missing.
    n_missing: int = 0
    #: Tests against a margin at `alpha`, and the decision; None without a margin.
    margins: MarginTests | None = None
    #: What to beware of.
    cautions: tuple[str, ...] = ()

    _counted = ("n_a", "n_b", "n_missing")
    _of_some = ("ratio", "odds_ratio")
    _whose = "its"

    @property
    def _about(self) -> tuple[str, ...]:
        return (f"Different samples: the models were tested on {self.n_a} and {self.n_b} samples.",)

    @property
    def _sizes(self) -> list[tuple[str, str]]:
        a, b = self.names
        return [(f"samples of {a}", f"{self.n_a}"), (f"samples of {b}", f"{self.n_b}")]

    def _notes(self) -> tuple[str, ...]:
        return (
            *margin_sentences(self.margins),
            *([how("Lower is better.")] * (self.measure == "mean loss")),
            *dropped_sentences(self.n_missing, 0),
        )


#: Tests of each measure; "auto" chooses.
_METHODS = {"accuracy": METHODS, "mean": ("auto", "welch"), "auc": ("auto", "normal", "t")}
_DATA = {"accuracy": "true labels and predictions", "auc": "true labels and scores"}
_OWNERS = {"classes": "accuracy", "positive": "auc", "lower_is_better": "mean"}
_SAME = (
    "Both models have the same true labels in the same order. On one set of samples a "
    "paired test has more power: {}."
)


def compare_unpaired(
    a: Any,
    b: Any,
    *,
    measure: str = "accuracy",
    method: str = "auto",
    alternative: str = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
    classes: Classes | None = None,
    positive: Label = None,
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
    method = choose(method, "method", _METHODS[measure])
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    level = read_alpha(alpha, alternative)
    named = read_pair_names(names)
    missing = choose(missing, "missing", POLICIES)
    loss = as_flag(lower_is_better, "lower_is_better")
    options = {"classes": classes, "positive": positive, "lower_is_better": loss or None}
    for name, value in options.items():
        if value is not None and measure != _OWNERS[name]:
            raise BadValueError(f"`{name}` is for `measure={_OWNERS[name]!r}`", repr(measure))
    policies = {"accuracy": ("raise", "wrong"), "mean": POLICIES, "auc": ("raise",)}
    if missing not in policies[measure]:
        raise BadValueError(
            f"`missing` must be one of {policies[measure]} with `measure={measure!r}`",
            repr(missing),
        )
    shared: dict[str, Any] = {
        "alternative": alternative,
        "margin": margin,
        "alpha": 0.05 if margin is None else level,
    }
    test: UnpairedResult | UnpairedMeans | AUCComparison
    if measure == "mean":
        test = means_unpaired(
            a,
            b,
            **shared,
            confidence_level=1.0 - level,
            names=named,
            lower_is_better=loss,
            missing=missing,
        )
        return UnpairedComparison(
            comparison=test,
            method="welch",
            alpha=level,
            n_a=test.n_a,
            n_b=test.n_b,
            names=named,
            n_missing=sum(test.n_missing_values),
            margins=test.margins,
            cautions=test.cautions,
        )
    columns = _read_pairs(a, b, measure)
    paired, counted = "mcnemar, or compare_labels", False
    if measure == "auc":
        against = read_margin(margin, shared["alpha"], 1.0)
        areas = areas_unpaired(*columns, positive)
        n_a, n_b = (area.n_positives + area.n_negatives for area in areas)
        n_missing, paired = sum(area.n_missing for area in areas), "delong"
        method = "t" if method == "auto" else method
        test = compare_areas(*areas, method, alternative=alternative, names=named)
        margins = against and test._margin_tests(against, n_a + n_b)
    else:
        counted = all(isinstance(x, Integral) and not isinstance(x, bool) for x in columns)
        if counted:
            test = accuracy_unpaired(counts=columns, method=method, **shared)
        else:
            test = accuracy_unpaired(
                *columns, method=method, classes=classes, missing=missing, **shared
            )
        method, margins, n_missing = test.method, test.margins, test.n_missing
        n_a, n_b = int(test.n_a), int(test.n_b)
    y_a, _, y_b, _ = columns
    same = not counted and len(y_a) == len(y_b)
    same = same and np.array_equal(np.asarray(y_a), np.asarray(y_b))
    return UnpairedComparison(
        comparison=test,
        method=method,
        alpha=level,
        n_a=n_a,
        n_b=n_b,
        names=named,
        n_missing=n_missing,
        margins=margins,
        cautions=(_SAME.format(paired),) if same else (),
    )


def _read_pairs(a: Any, b: Any, measure: str) -> tuple[Any, Any, Any, Any]:
    """The two columns, or counts, of each of both pairs."""
    parts: list[Any] = []
    for name, data in (("a", a), ("b", b)):
        try:
            n = -1 if isinstance(data, (str, bytes, dict)) else len(data)
        except TypeError:
            n = -1
        if n != 2:
            raise BadTypeError(
                f"`{name}` must be a pair of {_DATA[measure]} with `measure={measure!r}`",
                f"{type(data).__name__}{f' of length {n}' if n >= 0 else ''}",
            )
        parts += [data[0], data[1]]
    return tuple(parts)
