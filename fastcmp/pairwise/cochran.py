"""Cochran's Q test: do many models differ at all on the same samples?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import LabelledCounts, PairedCounts, Record, are_paired
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import (
    Sentence,
    differ_sentence,
    dropped_sentences,
    null_sentence,
    outside_sentences,
)
from fastcmp.core.threads import Progress, ThreadPool, check_progress, check_workers, reporting
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints, ModelsLike
from fastcmp.counts.pairs import RightBits
from fastcmp.inputs.labels import Labels, encode
from fastcmp.inputs.model_names import with_names
from fastcmp.paired.mcnemar_counts import METHODS as POST_HOC
from fastcmp.paired.units import CLUSTERED, SampleUnits, Sampling, unit_rows, units_of
from fastcmp.pairwise.accuracy_tests import count_by_cluster, sampled_tests
from fastcmp.pairwise.adjust import OF_PAIRS
from fastcmp.pairwise.compare_all import check_counts, check_method, compare_all, threads_pay
from fastcmp.pairwise.engine import compare_pairs, read_options
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.stream.dask_blocks import are_collections, gather, refuse_options, renamed
from fastcmp.stream.pair_counts import PairCounts


def _wald(sums: Floats, sampled: SampleUnits) -> float:
    """Divide the differences of accuracies by their CR1 covariance."""
    scored = [unit_rows(model_sums, sampled.units, "cr1") for model_sums in sums]
    score = np.array([entry[0] for entry in scored])
    rows = np.stack([entry[1] for entry in scored])
    difference, spread = score[1:] - score[0], rows[1:] - rows[0]
    if np.linalg.matrix_rank(spread, rtol=1e-10) < len(spread):
        return math.nan
    # With spread' = Q R the covariance is R' R.
    triangle = np.asarray(np.linalg.qr(spread.T, mode="r"))
    return float((np.linalg.solve(triangle.T, difference) ** 2).sum())


# The exact p-value of Cochran's Q, by all permutations of right and wrong.


_MAX_WORK = 20_000_000  # states times ways: some seconds
_MAX_CELLS = 40_000_000  # entries of the states after a sample: a gigabyte or so


def exact_pvalue(labels: Labels) -> float:
    """P(sum S_j**2 >= observed) if right and wrong are permuted in each sample.

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
            raise BadValueError(
                f"`method='exact'` takes too long for {n_models} models and {base - 1} samples "
                "on which they differ",
                remedy=": use `method='asymptotic'`, which is close at that size",
            )
        states, weights = _permute(states, weights, size, base)
    reached = (states**2).sum(axis=1) >= observed
    return float(min(weights[reached].sum() / weights.sum(), 1.0))


def _permute(states: Ints, weights: Floats, size: int, base: int) -> tuple[Ints, Floats]:
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


_METHODS = ("asymptotic", "f", "exact")
_IN_CLUSTERS = ("asymptotic", "wald-f")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CochranResult(Record):
    """Cochran's Q test that M models are equally accurate."""

    _blocks = "boards:all_and_pairs"
    _opening = "Test: {title}."
    _cites = ("cochran", ("n_clusters", {None: "looney"}))

    #: What `distribution` is applied to: Cochran's Q, for ``method="f"`` Looney's F,
    #: for "wald-f" the F form of Wald's statistic.
    statistic: float
    pvalue: float
    #: Degrees of freedom: M - 1 of chi-square, M - 1 and (M - 1)(n - 1) of F, None of
    #: the exact method; M - 1 and G - M + 1 of "wald-f", for G clusters.
    df: Any
    #: "chi2", "F" or "permutation", for `method`.
    distribution: str
    #: Cochran's Q, whatever the method.
    q_statistic: float
    #: Looney's F, in clusters the F form of Wald's statistic, and its p-value,
    #: whatever the method.
    f_statistic: float
    f_pvalue: float
    #: Proportion of the largest possible Q, Q / (n (M - 1)), in [0, 1]; n samples, or
    #: clusters.
    effect_size: float
    #: A `fastcmp.kernels.Status`.
    status: int
    method: str
    names: tuple[str, ...]
    #: Rightly classified samples of each model, shape (M,).
    correct: Ints
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()
    #: The comparison of all pairs, where it was asked for.
    post_hoc: PairwiseResult | None = None
    #: Number of clusters; None where there are none.
    n_clusters: int | None = None
    #: With clusters Wald's statistic of the CR1 covariance, chi-square with M - 1
    #: degrees of freedom for many clusters; NaN where the covariance has no inverse.
    wald_statistic: float | None = None
    wald_pvalue: float | None = None

    @property
    def accuracy(self) -> Floats:
        """Proportion of samples that each model classified rightly, shape (M,)."""
        return self.correct / self.n_samples

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the pairs where they were compared.
        """
        best, worst = self.accuracy.max(), self.accuracy.min()
        q = f"Q = {self.q_statistic:.4g}"
        if self.distribution != "F":
            degrees = "" if self.df is None else f" with {self.df} d.o.f."
            q += f"{degrees}, p = {format_pvalue(self.pvalue)} ({self.method})"
        name, clusters = "Looney's", ""
        if self.n_clusters is not None:
            name, clusters = "Wald's", f" in {self.n_clusters} clusters"
        size = f"{len(self.names)} models on {self.n_samples} samples{clusters}"
        text = (
            Sentence(f"{size}, accuracies from {worst:.4f} to {best:.4f}", how=size),
            null_sentence("all models are equally accurate"),
            q,
            f"{name} F = {self.f_statistic:.4g}, p = {format_pvalue(self.f_pvalue)}; "
            f"effect size {self.effect_size:.3g}",
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(self.n_outside, self.names, self.n_samples),
        )
        sections = [Section(title="Cochran's Q test", text=text)]
        return sections + (self.post_hoc.sections() if self.post_hoc else [])

    @property
    def _pairs(self) -> PairwiseResult | None:
        return self.post_hoc

    def _headline(self) -> str:
        return differ_sentence(self)


def cochrans_q(
    y_true: ColumnLike | None = None,
    preds: ModelsLike | None = None,
    *,
    counts: PairedCounts | LabelledCounts | None = None,
    method: str = "asymptotic",
    post_hoc: str | None = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    classes: Classes | None = None,
    missing: str = "raise",
    groups: ColumnLike | None = None,
    names: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> CochranResult:
    """Cochran's Q test that all models are equally accurate.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels, as in `compare_all`.
    counts : fastcmp.stream.PairCounts, optional
        In the place of labels: samples that each two models classified rightly. Their sum
        over all pairs is the sum over samples of the squared number of models that are
        right. Methods are then "asymptotic" and "f".
    method : {"asymptotic", "f", "exact", "wald-f"}
        Where the p-value comes from: chi-square with M - 1 degrees of freedom,
        Looney's F, or all permutations of right and wrong within each sample, for
        small cases. With `groups` "asymptotic", or "wald-f": Wald's statistic of the
        covariance over clusters, as F with M - 1 and G - M + 1 degrees of freedom.
    post_hoc : str, optional
        Compare all pairs too, by this variant of McNemar's test ("midp", "exact", ...;
        with `groups` "cr2", ...).
    adjust : str
        Adjustment of the pairs' p-values.
    alpha : float
        Error rate of the pairs' decisions.
    classes : sequence, optional
        As in `compare_all`.
    missing : {"raise", "wrong"}
        As in `compare_all`.
    groups : array-like, shape (n,), optional
        Cluster of each sample, as in `mcnemar`: Q then permutes models within clusters.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        Of the pairs, as in `compare_all`.

    Returns
    -------
    CochranResult
        Q, p-value, Looney's F, effect size and, where asked for, the pairs. Where all
        models are right on the same samples, Q = 0 and p = 1.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, an option is unknown, the exact
        method would take too long, or sums of counts overflow.
    TypeError
        If labels cannot be compared, `counts` are something else, or there are not either
        labels or counts.

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
    adjust = choose(adjust, "adjust", OF_PAIRS)
    alpha = as_proportion(alpha, "alpha")
    policy = None if missing == "raise" else missing
    labels_only = {"classes": classes, "groups": groups, "names": names, "missing": policy}
    by_counts = are_counts_given(
        {"y_true": y_true, "preds": preds}, {"counts": counts}, labels_only
    )
    by_blocks = not by_counts and are_collections(y_true, preds)
    if by_counts or by_blocks:
        method = choose(method, "method", ("asymptotic", "f"))
        post_hoc = choose(post_hoc, "post_hoc", (None, *POST_HOC))
        check_workers(workers)
        check_progress(progress)
        if by_blocks:
            refuse_options({"groups": groups})
            empty = PairCounts(classes=classes, missing=missing)
            counts = gather(empty, y_true, renamed(preds, names))
        check_counts(counts, {"PairCounts": are_paired})
        assert are_paired(counts)
        correct, m = counts.correct, len(counts.correct)
        if m * m * counts.n_samples >= 2**63:
            raise BadValueError(
                "`counts` must hold fewer than 2**63 products of two models on a sample",
                f"{m} models and {counts.n_samples} samples",
                ": compare fewer models",
            )
        squares = int(counts.joint.sum())
        outcome = kernels.cochrans_q(correct, squares, counts.n_samples)
        pairs = None
        if post_hoc is not None:
            pairs = compare_all(
                counts=counts,
                method=post_hoc,
                adjust=adjust,
                alpha=alpha,
                workers=workers,
                progress=progress,
            )
        return _record(counts, correct, outcome, method, None, pairs)
    sampling = Sampling(groups)
    method = choose(method, "method", _METHODS if sampling.plain else _IN_CLUSTERS)
    methods = POST_HOC if sampling.plain else CLUSTERED
    post_hoc = choose(post_hoc, "post_hoc", (None, *methods))
    threads = check_workers(workers)
    preds = with_names(preds, names, "preds")
    labels = encode(y_true, preds, classes=classes, missing=missing)
    n_models, n = len(labels.names), labels.n_samples
    if not threads_pay(n_models * (n_models - 1) // 2, n):
        threads = 1
    pairs = None
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        if post_hoc is not None:
            post_hoc = check_method("mcnemar", post_hoc, sampling)
            options = read_options("mcnemar", post_hoc, adjust=adjust, alpha=alpha)
            how = (sampling, options.method, 1 - alpha, None, pool)
            tests, about = sampled_tests(labels, y_true, *how)
            pairs = compare_pairs(tests, labels, None, options, pool, more=about)
        if groups is not None:
            units = units_of(sampling.read(y_true, labels))
            return _in_clusters(labels, units, method, pairs, pool)
        bits = RightBits.pack(labels, pool)
    outcome = kernels.cochrans_q(bits.correct, kernels.row_square_sum(bits.words), n)
    exact = exact_pvalue(labels) if method == "exact" else None
    return _record(labels, bits.correct, outcome, method, exact, pairs)


def _in_clusters(
    labels: Labels,
    sampled: SampleUnits,
    method: str,
    pairs: PairwiseResult | None,
    pool: ThreadPool,
) -> CochranResult:
    """The record of all models, compared by their right answers in each cluster.

    Q permutes the models within clusters, as a whole; for clusters of one it is
    Cochran's. Wald's statistic has the CR1 covariance of the accuracies; NaN where that
    of their differences has no inverse.
    """
    units, df = sampled.units, len(labels.names) - 1
    g = units.n_clusters
    bits, sums = count_by_cluster(labels, sampled.codes, units, pool)
    centred = sums - sums.mean(axis=0)
    within = float((centred**2).sum())
    noise = (8 * np.finfo(float).eps * units.sizes.max()) ** 2 * centred.size
    q = wald = f = 0.0
    pvalue = wald_pvalue = f_pvalue = 1.0
    if within > noise:
        q = df * float((centred.sum(axis=1) ** 2).sum()) / within
        wald, f, f_pvalue = _wald(sums, sampled), math.nan, math.nan
        pvalue, wald_pvalue = kernels.chdtrc(float(df), q), kernels.chdtrc(float(df), wald)
        if g > df:
            f = wald * float(g - df) / ((g - 1.0) * df)
            f_pvalue = kernels.snedecor_tail(float(df), float(g - df), f)
    by_f = method == "wald-f"
    if by_f and math.isnan(f_pvalue):
        raise BadValueError(
            f"`method='wald-f'` has no answer for {df + 1} models in {g} clusters: it needs "
            "more clusters than models, and differences that do not follow from each other",
            remedy="; use `method='asymptotic'`",
        )
    return CochranResult(
        statistic=f if by_f else q,
        pvalue=f_pvalue if by_f else pvalue,
        df=(df, g - df) if by_f else df,
        distribution="F" if by_f else "chi2",
        q_statistic=q,
        f_statistic=f,
        f_pvalue=f_pvalue,
        effect_size=q / (g * df),
        status=kernels.OK if within > noise else kernels.DEGENERATE,
        method=method,
        n_clusters=g,
        wald_statistic=wald,
        wald_pvalue=wald_pvalue,
        **_of_source(labels, bits.correct, pairs),
    )


def _record(  # all that a record holds
    source: Any,
    correct: Ints,
    outcome: kernels.CochranOutcome,
    method: str,
    exact: float | None,
    pairs: PairwiseResult | None,
) -> CochranResult:
    n_models, n = correct.size, source.n_samples
    q, m = outcome.statistic, n_models - 1
    of_method: dict[str, tuple[float, float | None, Any, str]] = {
        "asymptotic": (q, outcome.pvalue, m, "chi2"),
        "f": (outcome.f_statistic, outcome.f_pvalue, (m, m * (n - 1)), "F"),
        "exact": (q, exact, None, "permutation"),
    }
    statistic, pvalue, df, distribution = of_method[method]
    assert pvalue is not None
    return CochranResult(
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        distribution=distribution,
        q_statistic=q,
        f_statistic=outcome.f_statistic,
        f_pvalue=outcome.f_pvalue,
        effect_size=q / (n * m),
        status=outcome.status,
        method=method,
        **_of_source(source, correct, pairs),
    )


def _of_source(source: Any, correct: Ints, pairs: PairwiseResult | None) -> dict[str, Any]:
    """What a record says of the samples, and of the pairs."""
    return {
        "names": source.names,
        "correct": correct,
        "n_samples": source.n_samples,
        "n_missing": source.n_missing,
        "n_excluded": source.n_excluded,
        "n_outside": getattr(source, "n_outside", ()),
        "post_hoc": pairs,
    }
