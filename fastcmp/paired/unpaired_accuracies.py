"""Two models on different samples: accuracies as two independent proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_counts, as_level, keep_side
from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import Compared, ConfidenceInterval, Record
from fastcmp.core.report import Section
from fastcmp.core.sentences import dropped_sentences, effect_sentence
from fastcmp.core.tails import normal_tail, wilson_interval
from fastcmp.inputs.labels import encode
from fastcmp.paired.mcnemar_result import HYPOTHESES, describe_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UnpairedResult(Compared, Record):
    """A test of two accuracies from different samples.

    All numbers are arrays of one shape where the counts were.
    """

    #: The difference in standard errors under equality; 0 where there is none.
    statistic: Any
    pvalue: Any
    #: Samples that each model classified correctly, of all that it was tested on.
    correct_a: Any
    n_a: Any
    correct_b: Any
    n_b: Any
    alternative: str
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0

    @property
    def distribution(self) -> str:
        """What the p-value comes from: "normal"."""
        return "normal"

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def accuracy_a(self) -> Any:
        """Proportion of its samples that model a classified correctly."""
        return self.correct_a / self.n_a

    @property
    def accuracy_b(self) -> Any:
        """Proportion of its samples that model b classified correctly."""
        return self.correct_b / self.n_b

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        return self.accuracy_a - self.accuracy_b

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for `difference`, one-sided if `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            Newcombe's hybrid of two Wilson intervals; for "greater" `high` is 1, for
            "less" `low` is -1.

        Raises
        ------
        ValueError
            If the level is not above one half for a one-sided interval.

        References
        ----------
        .. [1] R. G. Newcombe, "Interval estimation for the difference between
           independent proportions: comparison of eleven methods", Statistics in
           Medicine 17 (1998) 873-890, method 10.

        Examples
        --------
        >>> from fastcmp import accuracy_unpaired_from_counts
        >>> result = accuracy_unpaired_from_counts(56, 70, 48, 80)
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (0.0524, 0.3339)
        """
        level = as_level(confidence_level, self.alternative)
        z = -kernels.ndtri((1 - level) / 2)
        a, b = self.accuracy_a, self.accuracy_b
        low_a, high_a = wilson_interval(a, self.n_a, z)
        low_b, high_b = wilson_interval(b, self.n_b, z)
        low = a - b - np.hypot(a - low_a, high_b - b)
        high = a - b + np.hypot(high_a - a, b - low_b)
        return ConfidenceInterval(
            *keep_side((low, high), self.alternative, (-1.0, 1.0))
        )

    def _shown(self) -> dict[str, Any]:
        derived = (
            *("accuracy_a", "accuracy_b", "difference"),
            *("measure", "better", "distribution"),
        )
        return {**self._fields(), **{name: getattr(self, name) for name in derived}}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        title = f"Two accuracies on different samples (score test, {self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.pvalue):
            text = (f"{np.size(self.pvalue)} tests, shape {np.shape(self.pvalue)}",)
            return [Section(title=title, text=text)]
        text = (
            effect_sentence(
                self.difference, self.confidence_interval(), self.alternative
            ),
            f"Accuracy of a {self.accuracy_a:.4f} on {self.n_a} samples, "
            f"of b {self.accuracy_b:.4f} on {self.n_b}.",
            f"{describe_test(self)} ({HYPOTHESES[self.alternative]})",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        return [Section(title=title, text=text)]


def accuracy_unpaired(
    y_a: ArrayLike,
    pred_a: ArrayLike,
    y_b: ArrayLike,
    pred_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> UnpairedResult:
    """Compare the accuracies of two models on different samples.

    Parameters
    ----------
    y_a : array-like, shape (n_a,)
        True labels of the samples of model a. Samples with a missing one are dropped.
    pred_a : array-like, shape (n_a,)
        What model a predicted.
    y_b, pred_b : array-like, shape (n_b,)
        The same of model b.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    UnpairedResult
        Score test, and both accuracies.

    Raises
    ------
    ValueError
        If lengths differ, there are fewer than two samples, a prediction is missing, or
        an option is unknown.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    fastcmp.mcnemar : Two models on the same samples, with more power.
    fastcmp.delong_unpaired : Areas under two curves on different samples.

    Examples
    --------
    >>> from fastcmp import accuracy_unpaired
    >>> y_a, pred_a = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 1, 0]
    >>> y_b, pred_b = [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]
    >>> round(accuracy_unpaired(y_a, pred_a, y_b, pred_b).pvalue, 4)
    0.0261
    """
    parts = [
        encode(y, {name: pred}, classes=classes, missing=missing, truth=truth, least=1)
        for truth, y, name, pred in (
            ("y_a", y_a, "pred_a", pred_a),
            ("y_b", y_b, "pred_b", pred_b),
        )
    ]
    counts = [
        x
        for part in parts
        for x in (np.count_nonzero(part.y_true == part.preds[0]), part.n_samples)
    ]
    return _test(
        counts,
        alternative,
        n_missing=sum(part.n_missing for part in parts),
        n_excluded=sum(part.n_excluded for part in parts),
    )


def accuracy_unpaired_from_counts(
    correct_a: ArrayLike,
    n_a: ArrayLike,
    correct_b: ArrayLike,
    n_b: ArrayLike,
    *,
    alternative: str = "two-sided",
) -> UnpairedResult:
    """Compare two accuracies from counts on different samples.

    Parameters
    ----------
    correct_a, n_a : array-like of int
        Samples that model a classified correctly, and all that it was tested on.
        Arguments are broadcast against each other.
    correct_b, n_b : array-like of int
        The same of model b.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.

    Returns
    -------
    UnpairedResult
        Statistic z = difference / sqrt(p (1 - p) (1 / n_a + 1 / n_b)), p the accuracy
        over both sets; 0 and p-value 1 where all or no samples are right.

    Raises
    ------
    ValueError
        If counts are negative, fractional or above 2**53, more samples are right than
        there are, there is no sample, shapes do not fit, or `alternative` is unknown.
    TypeError
        If counts are not numbers.

    See Also
    --------
    fastcmp.proportion_z : The same test as Dietterich's for one set of samples.

    Notes
    -----
    The score test of two independent proportions: its square is Pearson's chi-square of
    the 2 x 2 table, without correction.

    Examples
    --------
    >>> from fastcmp import accuracy_unpaired_from_counts
    >>> result = accuracy_unpaired_from_counts(84, 100, 92, 100)
    >>> round(result.statistic, 3), round(result.pvalue, 3)
    (-1.741, 0.082)
    """
    given = {"correct_a": correct_a, "n_a": n_a, "correct_b": correct_b, "n_b": n_b}
    counts = [as_counts(raw, name) for name, raw in given.items()]
    try:
        right_a, all_a, right_b, all_b = np.broadcast_arrays(*counts)
    except ValueError:
        shapes = ", ".join(map(str, (np.shape(x) for x in counts)))
        message = f"counts must broadcast to one shape, got shapes {shapes}"
        raise ValueError(message) from None
    for model, correct, n in (("a", right_a, all_a), ("b", right_b, all_b)):
        if (n < 1).any():
            message = f"n_{model} must be at least 1, got {n.min()}"
            raise ValueError(message)
        if (correct > n).any():
            message = (
                f"correct_{model} must be at most n_{model}, got "
                f"{correct[correct > n].flat[0]}"
            )
            raise ValueError(message)
    cells = [x if x.ndim else int(x) for x in (right_a, all_a, right_b, all_b)]
    return _test(cells, alternative)


def _test(counts: list[Any], alternative: str, **dropped: int) -> UnpairedResult:
    correct_a, n_a, correct_b, n_b = counts
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    z = score_statistic(correct_a / n_a, correct_b / n_b, n_a, n_b)
    same = (correct_a + correct_b == 0) | (correct_a + correct_b == n_a + n_b)
    pvalue = np.where(same, 1.0, normal_tail(z, alternative))
    return UnpairedResult(
        statistic=z,
        pvalue=pvalue if pvalue.ndim else float(pvalue),
        correct_a=correct_a,
        n_a=n_a,
        correct_b=correct_b,
        n_b=n_b,
        alternative=alternative,
        **dropped,
    )


def score_statistic(rate_a: Any, rate_b: Any, n_a: Any, n_b: Any) -> Any:
    """Divide a difference of independent proportions by its standard error under H0."""
    pooled = (rate_a * n_a + rate_b * n_b) / (n_a + n_b)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 0.0) * (1 / n_a + 1 / n_b))
    difference = np.subtract(rate_a, rate_b)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(difference == 0, 0.0, difference / error)
    return z if z.ndim else float(z)
