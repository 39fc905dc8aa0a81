"""Cochran's Q test: do many models differ at all on the same samples?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_share
from fastcmp.core.options import choose
from fastcmp.core.protocols import are_paired
from fastcmp.core.records import Record
from fastcmp.core.report import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences, outside_sentences
from fastcmp.inputs.labels import Labels, encode
from fastcmp.kernels.bits import allocate_words
from fastcmp.paired.mcnemar import METHODS as POST_HOC
from fastcmp.pairwise.adjust import ADJUSTMENTS
from fastcmp.pairwise.compare_all import (
    check_counts,
    compare_all,
    compare_all_from_counts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.core.protocols import PairedCounts
    from fastcmp.pairwise.result import PairwiseResult

_METHODS = ("asymptotic", "f", "exact")
_MAX_WORK = 20_000_000  # states times ways: some seconds
_MAX_CELLS = 40_000_000  # entries of the states after a sample: a gigabyte or so


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CochranResult(Record):
    """Cochran's Q test that M models are equally accurate."""

    #: Cochran's Q.
    statistic: float
    #: By the method that was asked for.
    pvalue: float
    #: Degrees of freedom of the chi-square approximation, M - 1.
    df: int
    #: Looney's F, referred to F(M - 1, (M - 1)(n - 1)).
    f_statistic: float
    f_pvalue: float
    #: Share of the largest possible Q, Q / (n (M - 1)), in [0, 1].
    effect_size: float
    #: A `fastcmp.kernels.Status`.
    status: int
    method: str
    names: tuple[str, ...]
    #: Rightly classified samples of each model, shape (M,).
    correct: NDArray[np.int64]
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()
    #: The comparison of all pairs, where it was asked for.
    post_hoc: PairwiseResult | None = None

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Share of samples that each model classified rightly, shape (M,)."""
        return self.correct / self.n_samples

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the pairs where they were compared.
        """
        best, worst = self.accuracy.max(), self.accuracy.min()
        text = (
            f"{len(self.names)} models on {self.n_samples} samples, accuracies from "
            f"{worst:.4f} to {best:.4f}",
            f"Q = {self.statistic:.4g} with {self.df} d.o.f., p = "
            f"{format_pvalue(self.pvalue)} ({self.method}) that any of them differ",
            f"Looney's F = {self.f_statistic:.4g}, p = {format_pvalue(self.f_pvalue)}; "
            f"effect size {self.effect_size:.3g}",
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(self.n_outside, self.names, self.n_samples),
        )
        own = [Section(title="Cochran's Q test", text=text)]
        return own + (self.post_hoc.sections() if self.post_hoc else [])


def cochrans_q(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    preds: Any,
    *,
    method: str = "asymptotic",
    post_hoc: str | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
) -> CochranResult:
    """Cochran's Q test that all models are equally accurate.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels, as in `compare_all`.
    method : {"asymptotic", "f", "exact"}
        Where the p-value comes from: chi-square with M - 1 degrees of freedom,
        Looney's F, or all permutations of right and wrong within each sample, for
        small cases.
    post_hoc : str, optional
        Compare all pairs too, by this variant of McNemar's test ("midp", "exact", ...).
    adjust : str
        Adjustment of the pairs' p-values.
    alpha : float
        Error rate of the pairs' decisions.
    classes : sequence, optional
        As in `compare_all`.
    missing : {"raise", "wrong"}
        As in `compare_all`.

    Returns
    -------
    CochranResult
        Q, p-value, Looney's F, effect size and, where asked for, the pairs. Where all
        models are right on the same samples, Q = 0 and p = 1.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, an option is unknown, or the
        exact method would take too long.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(M n), on bits packed 64 to a word.

    References
    ----------
    .. [1] W. G. Cochran, "The comparison of percentages in matched samples",
       Biometrika 37 (1950) 256-266.
    .. [2] S. W. Looney, "A statistical technique for comparing the accuracies of
       several classifiers", Pattern Recognition Letters 8 (1988) 5-9.
    .. [3] R. C. Serlin, J. Carr, L. A. Marascuilo, "A measure of association for
       selected nonparametric procedures", Psychological Bulletin 92 (1982) 786-790.

    Examples
    --------
    >>> from fastcmp import cochrans_q, load_digits
    >>> y_true, preds = load_digits()
    >>> top = {name: preds[name] for name in ("svm_rbf", "knn_3", "extra_trees")}
    >>> result = cochrans_q(y_true, top)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (5.1818, 0.075)
    """
    method = choose(method, "method", _METHODS)
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    alpha = as_share(alpha, "alpha")
    post_hoc = choose(post_hoc, "post_hoc", (None, *POST_HOC))
    labels = encode(y_true, preds, classes=classes, missing=missing)
    n_models, n = len(labels.names), labels.n_samples
    words = allocate_words(n_models, n)
    for i, codes in enumerate(labels.preds):
        kernels.pack_equal(labels.y_true, codes, words[i])
    correct = np.array([kernels.count_bits(row) for row in words[:n_models]])
    outcome = kernels.cochrans_q(correct, kernels.row_square_sum(words), n)
    exact = _exact_pvalue(labels) if method == "exact" else None
    pairs = None
    if post_hoc is not None:
        right = [(own == labels.y_true).view(np.uint8) for own in labels.preds]
        pairs = compare_all(
            np.ones(n, np.uint8),
            dict(zip(labels.names, right, strict=True)),
            method=post_hoc,
            adjust=adjust,
            alpha=alpha,
            classes=(0, 1),
        )
        pairs = replace(
            pairs,
            n_missing=labels.n_missing,
            n_excluded=labels.n_excluded,
            n_outside=labels.n_outside,
        )
    return _record(labels, correct, outcome, method, exact, pairs)


def cochrans_q_from_counts(
    counts: PairedCounts,
    *,
    method: str = "asymptotic",
    post_hoc: str | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
) -> CochranResult:
    """Cochran's Q test from counts that a stream has gathered.

    Parameters
    ----------
    counts : fastcmp.stream.PairCounts
        Samples that each two models classified rightly: their sum over all pairs is the
        sum over samples of the squared number of models that are right.
    method : {"asymptotic", "f"}
        As in `cochrans_q`; the exact method needs the samples.
    post_hoc : str, optional
        Compare all pairs too, by this variant of McNemar's test.
    adjust : str
        Adjustment of the pairs' p-values.
    alpha : float
        Error rate of the pairs' decisions.

    Returns
    -------
    CochranResult
        To the bit what `cochrans_q` finds on the same samples.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, or so many that sums overflow, or
        an option is unknown.
    TypeError
        If `counts` is something else.

    Examples
    --------
    >>> from fastcmp import cochrans_q_from_counts, load_digits
    >>> from fastcmp.stream import PairCounts
    >>> result = cochrans_q_from_counts(PairCounts().update(*load_digits()))
    >>> round(result.statistic, 1), result.df
    (795.1, 9)
    """
    method = choose(method, "method", ("asymptotic", "f"))
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    alpha = as_share(alpha, "alpha")
    post_hoc = choose(post_hoc, "post_hoc", (None, *POST_HOC))
    check_counts(counts, {"PairCounts": are_paired})
    correct, m = counts.correct, len(counts.correct)
    if m * m * counts.n_samples >= 2**63:
        message = (
            "counts must hold fewer than 2**63 products of two models on a sample, got "
            f"{m} models and {counts.n_samples} samples: compare fewer models"
        )
        raise ValueError(message)
    squares = int(counts.joint.sum())
    outcome = kernels.cochrans_q(correct, squares, counts.n_samples)
    pairs = None
    if post_hoc is not None:
        pairs = compare_all_from_counts(
            counts, method=post_hoc, adjust=adjust, alpha=alpha
        )
    return _record(counts, correct, outcome, method, None, pairs)


def _record(  # all that a record holds
    source: Any,
    correct: NDArray[np.int64],
    outcome: kernels.CochranOutcome,
    method: str,
    exact: float | None,
    pairs: PairwiseResult | None,
) -> CochranResult:
    n_models, n = correct.size, source.n_samples
    pvalue = outcome.pvalue if method == "asymptotic" else outcome.f_pvalue
    return CochranResult(
        statistic=outcome.statistic,
        pvalue=pvalue if exact is None else exact,
        df=n_models - 1,
        f_statistic=outcome.f_statistic,
        f_pvalue=outcome.f_pvalue,
        effect_size=outcome.statistic / (n * (n_models - 1)),
        status=outcome.status,
        method=method,
        names=source.names,
        correct=correct,
        n_samples=n,
        n_missing=source.n_missing,
        n_excluded=source.n_excluded,
        n_outside=source.n_outside if isinstance(source, Labels) else (),
        post_hoc=pairs,
    )


def _exact_pvalue(labels: Labels) -> float:
    """P(sum S_j**2 >= observed) when right and wrong are permuted within each sample.

    The state is the sorted vector of column sums S_j over the samples seen so far;
    only samples on which the models differ move it.
    """
    right = np.stack([codes == labels.y_true for codes in labels.preds])
    n_models = right.shape[0]
    row_sums = right.sum(axis=0)
    mixed = (row_sums > 0) & (row_sums < n_models)
    observed = int((right[:, mixed].sum(axis=1) ** 2).sum())
    states = np.zeros((1, n_models), np.int64)
    weights = np.ones(1)
    base = int(np.count_nonzero(mixed)) + 1  # a column sum is below it
    work = 0 if base**n_models < 2**63 else _MAX_WORK
    for size in np.sort(row_sums[mixed]).tolist():
        ways = len(states) * comb(n_models, size)
        work += ways
        if work > _MAX_WORK or ways * n_models > _MAX_CELLS:
            message = (
                f"method='exact' takes too long for {n_models} models and {base - 1} "
                "samples on which they differ: use method='asymptotic', which is close "
                "at that size"
            )
            raise ValueError(message)
        states, weights = _permute(states, weights, size, base)
    reached = (states**2).sum(axis=1) >= observed
    return float(min(weights[reached].sum() / weights.sum(), 1.0))


def _permute(
    states: NDArray[np.int64], weights: NDArray[np.float64], size: int, base: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add one sample on which `size` models, any of them, are right."""
    n_models = states.shape[1]
    ways = np.zeros((comb(n_models, size), n_models), np.int64)
    for way, members in zip(ways, combinations(range(n_models), size), strict=True):
        way[list(members)] = 1
    # Models are exchangeable, so states that differ in order only are one.
    after = np.sort(states[:, None, :] + ways, axis=2).reshape(-1, n_models)
    shared = np.repeat(weights / len(ways), len(ways))
    keys = after @ base ** np.arange(n_models)
    _, first, where = np.unique(keys, return_index=True, return_inverse=True)
    return after[first], np.bincount(where, shared).astype(np.float64)
