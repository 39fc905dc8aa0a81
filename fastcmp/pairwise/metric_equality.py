"""The test that many models are equal by a metric of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import MODEL, Column, Section, beware, format_pvalue
from fastcmp.core.sentences import differ_sentence, dropped_sentences, how, null_sentence
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import Classes, ColumnLike, Floats, ModelsLike
from fastcmp.counts.pairs import Block, all_pairs
from fastcmp.inputs.labels import encode
from fastcmp.inputs.model_names import with_names
from fastcmp.metrics.choice import MetricLike
from fastcmp.metrics.pair_tests import least_error, pair_of, without_variance
from fastcmp.paired.units import Sampling
from fastcmp.pairwise.compare_all import read_metric
from fastcmp.pairwise.metric_models import read_models
from fastcmp.pairwise.metric_tests import cautions_of, sampled, spread_of

_METHOD_NAMES = {"jackknife": "the jackknife", "delta": "the delta method"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricEquality(Record):
    """The test that M models are equal by a metric of counts."""

    _opening = (
        "The metric of all models was compared at once by a Wald test with the covariances of "
        "the estimates."
    )
    _cites = (("method", {"jackknife": "miller"}),)

    #: What `distribution` is applied to: Wald's statistic, with clusters its F form.
    statistic: float
    pvalue: float
    #: Degrees of freedom: the rank of the covariances of contrasts, M - 1 as a rule; of
    #: F that, and clusters less it.
    df: Any
    #: "chi2", with clusters "F".
    distribution: str
    #: A `fastcmp.kernels.Status`.
    status: int
    #: Such as "f1_macro", and as it is shown.
    metric: str
    measure: str
    names: tuple[str, ...]
    #: The metric of each model, shape (M,), and the covariances, shape (M, M).
    values: Floats
    covariance: Floats
    #: "jackknife" or "delta": where the covariances come from.
    method: str
    n_samples: int
    n_missing: int = 0
    n_excluded: int = 0
    #: Number of clusters; None where there are none.
    n_clusters: int | None = None
    #: What makes the test doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        MODEL,
        Column("value", "values", ".4f", "{self.measure}"),
        Column("standard_error", form=".4g"),
    )

    @property
    def standard_error(self) -> Floats:
        """Standard error of each value, shape (M,)."""
        return np.sqrt(np.diagonal(self.covariance))

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The test, and the values.
        """
        clusters = ""
        if self.n_clusters is not None:
            clusters = f" in {self.n_clusters} clusters"
        name = "chi-square" if self.distribution == "chi2" else "F"
        degrees = " and ".join(map(str, np.atleast_1d(self.df).tolist()))
        text = (
            how(f"{len(self.names)} models on {self.n_samples} samples{clusters}"),
            null_sentence(f"all models have the same {self.measure}"),
            f"{name} = {self.statistic:.4g} with {degrees} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}; covariances by {_METHOD_NAMES[self.method]}",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        order = np.argsort(-self.values, kind="stable").tolist()
        table = self._printed("Models", order=order)
        return [Section(title=f"Equality of {self.measure}", text=text), *beware(self), table]

    def _headline(self) -> str:
        return differ_sentence(self)


_METHODS = ("jackknife", "delta")
_ROUNDING = 1e-10  # of the largest variance of a contrast: less is none
_APART = 1e-6  # of a difference that has no variance


def metric_equality(
    y_true: ColumnLike,
    preds: ModelsLike,
    *,
    metric: MetricLike = "accuracy",
    method: str | None = None,
    groups: ColumnLike | None = None,
    classes: Classes | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> MetricEquality:
    """Test that all models are equal by a metric of their predictions.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels of M models, as in `compare_all`.
    metric : str, callable or Metric
        Name of a metric such as "f1_macro", a function of the confusion matrix, or what
        `make_metric` made.
    method : {"jackknife", "delta"}, optional
        Where variances come from; "jackknife" by default, with clusters "delta".
    groups : array-like, shape (n,), optional
        Cluster of each sample.
    classes : sequence, optional
        Compare only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    workers : int, optional
        Threads.
    progress : bool or callable, optional
        As in `compare_all`.

    Returns
    -------
    MetricEquality
        The statistic with its p-value, the metric of each model, and their covariances.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, labels are
        missing, or an option is unknown.
    TypeError
        If labels cannot be compared.

    See Also
    --------
    cochrans_q : For accuracies.
    compare_all : Which of the models differ.

    Notes
    -----
    Wald's statistic ``(L m)' (L C L')^- (L m)`` of contrasts L of the values m with
    covariances C, which is chi-square with as many degrees of freedom as the rank; with
    G clusters Hotelling's, referred to F. It needs many more samples, or clusters, than
    models. O(M**2 n + M**3).

    References
    ----------
    .. [1] S. Vanbelle, "Comparing dependent kappa coefficients obtained on multilevel
       data", Biometrical Journal 59 (2017) 1016-1034.

    Examples
    --------
    >>> from fastcmp import load_digits, metric_equality
    >>> result = metric_equality(*load_digits(), metric="f1_macro")
    >>> result.df, result.pvalue < 1e-10
    (9, True)
    """
    checked = read_metric(metric, "mcnemar", None)
    method = choose(method, "method", (None, *_METHODS))
    if groups is not None and method == "jackknife":
        raise BadValueError("`method='jackknife'` does not go with `groups=`: use 'delta'")
    by = method or _METHODS[groups is not None]
    threads, named = check_workers(workers), with_names(preds, names, "preds")
    labels = encode(y_true, named, classes=classes, missing=missing)
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        samples, fields = sampled(labels, y_true, Sampling(groups), checked, classes, pool)
        models = read_models(samples, by, 0.95, pool)
        # Covariances from variances of differences.
        spread, m = spread_of(samples, models, None, pool, exact=True), samples.n_models
        covariance = np.diag(np.where(models.is_known, models.standard_error**2, np.nan))
        pairs = all_pairs(m)
        pool.expect(len(pairs))

        def find(i: int) -> None:
            start, end = (k * (2 * m - 1 - k) // 2 for k in (i, i + 1))
            variance, same = spread.of(Block(slice(start, end), pairs[start:end]))
            variance = np.where(same, 0.0, variance)
            j = np.arange(i + 1, m)
            both = 0.5 * (covariance[i, i] + covariance[j, j] - variance)
            covariance[i, j] = covariance[j, i] = both

        pool.run(find, range(m - 1), steps=lambda i: m - 1 - i)
    estimator = samples.metric.estimator
    cautions = (*fields.get("cautions", ()), *cautions_of(samples, models, labels.names))
    least, n_clusters = least_error(samples.n_samples) ** 2, fields.get("n_clusters")
    wald = _wald(models.value, covariance, least, n_clusters)
    if wald["status"] == kernels.UNDEFINED and models.is_known.all():
        sentence = "No variance was observed of a difference between the models: there is no test."
        if m == 2:
            test, sentence = without_variance(pair_of(estimator, samples.cells(0, 1)), "two-sided")
            wald |= {"status": test.status, "pvalue": test.pvalue}
        cautions = (*cautions, sentence)
    return MetricEquality(
        **wald,
        metric=estimator.name,
        measure=estimator.title,
        names=labels.names,
        values=models.value,
        covariance=covariance,
        method=by,
        n_samples=samples.n_samples,
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_clusters=n_clusters,
        cautions=cautions,
    )


def _wald(
    values: Floats, covariance: Floats, least: float, n_clusters: int | None
) -> dict[str, Any]:
    """The test of values against their mean, by chi-square, with clusters by F.

    Variances up to `least` are rounding; NaN where a value is not known, or differs without
    variance.
    """
    from scipy.special import chdtrc, fdtrc

    m = values.size
    fields = {"statistic": math.nan, "pvalue": math.nan, "df": 0, "distribution": "chi2"}
    fields["status"] = int(kernels.UNDEFINED)
    if not (np.isfinite(values).all() and np.isfinite(covariance).all()):
        return fields
    centre = np.eye(m) - 1.0 / m
    # Contrasts have the variances of differences; what all models share is in none.
    sizes, axes = np.linalg.eigh(centre @ covariance @ centre)
    coordinates = axes.T @ (values - values.mean())
    within = sizes > max(_ROUNDING * sizes[-1], least)
    k = fields["df"] = int(np.count_nonzero(within))
    outside = float(np.linalg.norm(coordinates[~within]))
    if outside > _APART * float(np.abs(values).max()):
        return fields
    if k == 0:
        return fields | {"statistic": 0.0, "pvalue": 1.0, "status": int(kernels.DEGENERATE)}
    fields["status"] = int(kernels.OK)
    statistic = float((coordinates[within] ** 2 / sizes[within]).sum())
    if n_clusters is None:
        return fields | {"statistic": statistic, "pvalue": float(chdtrc(k, statistic))}
    below = n_clusters - k
    f = statistic * below / (k * (n_clusters - 1.0)) if below > 0 else math.nan
    pvalue = float(fdtrc(k, below, f)) if below > 0 else math.nan
    return fields | {"statistic": f, "df": (k, below), "distribution": "F", "pvalue": pvalue}
