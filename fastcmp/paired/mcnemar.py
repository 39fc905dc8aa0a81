"""McNemar's test: is one of two models right more often on the same samples?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, are_counts_given, check_size, check_total, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.numbers import t_tail
from fastcmp.core.records import PairedCounts, unwrap
from fastcmp.core.typing import Classes, ColumnLike, Floats, Ints
from fastcmp.inputs.item_groups import ItemGroups, read_grouping, read_stratum_weights
from fastcmp.inputs.labels import Labels, encode
from fastcmp.kernels import DEGENERATE, OK, UNDEFINED
from fastcmp.kernels.sign_flips import sign_flip_whole
from fastcmp.paired.margins import read_margin, with_margin
from fastcmp.paired.mcnemar_counts import (
    CELLS,
    COUNTS,
    METHODS,
    choose_method,
    evaluate_counts,
    per_sample,
    read_counts,
    weighted_exact,
    weighted_z,
)
from fastcmp.paired.mcnemar_result import McNemarResult
from fastcmp.paired.units import (
    CLUSTERED,
    Sampling,
    Units,
    check_defined,
    constant_pvalue,
    default_method,
    estimate,
    units_of,
)

_FLIP_STEPS = 1 << 28  # of the exact sign-flip test: a second or less


def mcnemar(
    y_true: ColumnLike | None = None,
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    table: ArrayLike | PairedCounts | None = None,
    only_a: ArrayLike | None = None,
    only_b: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    classes: Classes | None = None,
    missing: str = "raise",
    groups: ColumnLike | None = None,
    strata: ColumnLike | None = None,
    stratum_weights: str | Mapping[Any, float] = "items",
    margin: float | None = None,
    alpha: float = 0.05,
) -> McNemarResult:
    """McNemar's test of two models on the same samples, or of counts of any shape.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    table : array-like of int, shape (..., 2, 2), or PairCounts, optional
        In the place of labels, as `mcnemar_table` counts: rows a right, a wrong; columns
        b right, b wrong. Or a `fastcmp.stream.PairCounts` of two models, or of all pairs
        in the order of ``np.triu_indices(M, 1)``.
    only_a, only_b : array-like of int, optional
        In the place of a table: samples that only model a, only model b, classified
        correctly. All counts are broadcast against each other.
    both_right, both_wrong : array-like of int, optional
        With them, samples that both classified correctly, wrongly. The unconditional
        test, accuracies and intervals for the difference need them.
    method : str, optional
        "midp" (default), "exact", "asymptotic", "corrected" or "unconditional": mid-p
        test, exact conditional test, normal approximation, the same with Edwards'
        continuity correction, or Suissa and Shuster's exact unconditional test (up to
        2 million samples).
        With `groups` "cr2" (default): Student's t of the bias-reduced standard error
        over clusters, with degrees of freedom that follow from the clusters' sizes;
        "cr0", "cr1", "cr3": other such errors; "obuchowski", "durkalski", "eliasziw",
        "yang": the tests of that name; "cluster-weighted": each cluster counts once;
        "mcnemar": clusters are ignored, for comparison.
        With weighted `strata` "asymptotic" (default), "exact" or "midp".
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.
    groups : array-like, shape (n,), optional
        Cluster of each sample, such as its document or patient: samples of a cluster
        may depend on each other, clusters may not. With counts the cluster of each
        table, shape (U,); tables of one cluster are added up.
    strata : array-like, shape (n,), optional
        Stratum of each sample, such as its task. Without weights they drop out of
        McNemar's test, and only tell whether they agree. With `groups` variances are
        those within strata; where a cluster lies in several only "cr1" (then the
        default) and "cr0" are defined. With counts the stratum of each table, shape (U,),
        without `groups`.
    stratum_weights : {"items", "equal"} or mapping, optional
        What strata count in the accuracies: by their samples (default), equally, or a
        weight for each.
    margin : float, optional
        The largest difference of accuracies that does not matter, in (0, 1): adds tests
        of non-inferiority, superiority by the margin and equivalence, and a decision,
        as ``margins``. By exact tests up to 200 samples, else Tango's score;
        `margin_tests` has the choice. With `groups` or weighted `strata` by
        Gaffke's bound, which claims nothing for fewer clusters (of weighted samples,
        samples) than log(alpha) / log(1 - margin), the heaviest counting as one.
    alpha : float
        Error rate of each claim about the margin, in (0, 0.5).

    Returns
    -------
    McNemarResult
        Statistic, p-value, the table, accuracies and intervals; with `groups` what the
        clusters do to them, with `strata` whether these agree. Of counts arrays of their
        broadcast shape, or numbers for numbers.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two, there is one cluster, a
        stratum has one, counts are negative, fractional or above 2**53, or do not fit,
        or an option is unknown or not defined for such samples.
    TypeError
        If labels cannot be compared, counts are not numbers, or both or neither are given.

    Notes
    -----
    O(n): one pass over the codes.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12 (1947) 153-157.
    .. [2] M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional",
       BMC Medical Research Methodology 13 (2013) 91.
    .. [3] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear
       regression with multi-stage samples", Survey Methodology 28 (2002) 169-181.
    .. [4] Z. Yang, X. Sun, J. W. Hardin, "A note on the tests for clustered
       matched-pair binary data", Biometrical J. 52 (2010) 638-652.
    .. [5] N. A. Obuchowski, "On the comparison of correlated proportions for clustered
       data", Statistics in Medicine 17 (1998) 1495-1507.
    .. [6] V. L. Durkalski, Y. Y. Palesch, S. R. Lipsitz, P. F. Rust, "Analysis of
       clustered matched-pair data", Statistics in Medicine 22 (2003) 2417-2428.
    .. [7] N. Mantel, W. Haenszel, "Statistical aspects of the analysis of data from
       retrospective studies of disease", J. Nat. Cancer Inst. 22 (1959) 719-748.
    .. [8] M. Eliasziw, A. Donner, "Application of the McNemar test to non-independent
       matched pair data", Statistics in Medicine 10 (1991) 1981-1991.

    Examples
    --------
    >>> from fastcmp import mcnemar
    >>> y_true = ["cat", "dog", "dog", "cat", "dog", "cat"]
    >>> pred_a = ["cat", "dog", "dog", "cat", "dog", "dog"]
    >>> pred_b = ["dog", "cat", "dog", "dog", "dog", "dog"]
    >>> result = mcnemar(y_true, pred_a, pred_b)
    >>> result.pvalue
    0.125
    >>> result.table.tolist()
    [[2, 3], [0, 1]]
    >>> result = mcnemar(y_true, pred_a, pred_b, groups=[1, 1, 2, 2, 3, 3])
    >>> round(result.df, 2), round(result.pvalue, 4)
    (2.0, 0.2254)
    >>> mcnemar(only_a=[11, 25, 0], only_b=[1, 15, 0]).pvalue.round(4).tolist()
    [0.0034, 0.1173, 1.0]
    >>> round(mcnemar(table=[[873, 16], [3, 7]]).pvalue, 4)
    0.0026
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    against = read_margin(margin, alpha, 1.0)
    sampling = Sampling(groups, strata, stratum_weights)
    if independent := groups is None and strata is None:
        if stratum_weights != "items":
            sampling.refuse_weights()
        method = choose("midp" if method is None else method, "method", METHODS)
    models: dict[str, Any] = {"pred_a": pred_a, "pred_b": pred_b}
    counted = dict(zip(COUNTS, (table, only_a, only_b, both_right, both_wrong), strict=True))
    labels_only = {"classes": classes, "missing": None if missing == "raise" else missing}
    by_counts = are_counts_given({"y_true": y_true} | models, counted, labels_only)
    if by_counts:
        counts, dropped = read_counts(**counted)
    else:
        labels = encode(y_true, models, classes=classes, missing=missing)
        dropped = {
            "n_missing": labels.n_missing,
            "n_excluded": labels.n_excluded,
            "n_outside": labels.n_outside,
        }
    if independent:
        cells: dict[str, Any]
        if by_counts:
            cells = {name: unwrap(x, x.shape) for name, x in counts.items()}
        else:
            cells = dict(zip(CELLS, _table(labels).ravel().tolist(), strict=True))
        n = sum(cells.values()) if len(cells) == len(CELLS) else None
        only = cells["only_a"], cells["only_b"]
        statistic, pvalue, status = evaluate_counts(*only, n, str(method), alternative)
        result = McNemarResult(
            statistic=statistic,
            pvalue=pvalue,
            status=status,
            method=str(method),
            alternative=alternative,
            **cells,
            **dropped,
        )
    elif by_counts:
        result = _of_tables(counts, sampling, method, alternative)
    else:
        result = _of_labels(labels, sampling.read(y_true, labels), method, alternative, **dropped)
    return result if against is None else with_margin(result, against)


def _of_labels(
    labels: Labels, groups: ItemGroups, method: str | None, alternative: str, **dropped: object
) -> McNemarResult:
    """Test of labels, counted by cluster or by stratum."""
    strata = groups.strata
    if groups.clusters is not None:
        method = method if method is None else choose(method, "method", CLUSTERED)
        codes, units, names = units_of(groups)
        method = default_method(units) if method is None else method
        cells = _count_units(labels, codes, units.sizes.size)
        return _of_clusters(cells, units, method, alternative, strata=names, **dropped)
    assert strata is not None
    cells = _count_units(labels, strata.codes, len(strata.labels))
    weights = per_sample(groups.stratum_weights, cells.sum(axis=0))
    dropped["strata"] = tuple(map(str, strata.labels))
    return _of_strata(dict(zip(CELLS, cells, strict=True)), weights, method, alternative, **dropped)


def _count_units(labels: Labels, codes: Ints, n_units: int) -> Ints:
    """The four cells by unit, shape (4, U)."""
    cells = np.zeros((4, n_units), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_clusters(labels.y_true, pred_a, pred_b, codes, cells)
    return cells


def _of_tables(
    counts: dict[str, Ints], sampling: Sampling, method: str | None, alternative: str
) -> McNemarResult:
    """Test of the counts of clusters, or of strata."""
    shape = counts["only_a"].shape
    if sampling.groups is not None and sampling.strata is not None:
        raise BadTypeError("`groups=` and `strata=` exclude each other with counts: pass labels")
    if len(shape) != 1:
        raise BadValueError(
            "with `groups=` or `strata=` there must be one table, or count, for each entry of "
            "these",
            f"counts of shape {shape}",
        )
    name = "strata" if sampling.groups is None else "groups"
    raw = sampling.strata if sampling.groups is None else sampling.groups
    units = read_grouping(raw, name, shape[0])
    assert units is not None
    sums = {key: np.zeros(len(units.labels), np.int64) for key in counts}
    for key, values in counts.items():
        np.add.at(sums[key], units.codes, values)
    cells = np.stack([*sums.values()])
    check_total(cells, " + ".join(sums), 2)
    has_all_cells, sizes = len(sums) == len(CELLS), cells.sum(axis=0)
    if has_all_cells and not sizes.all():
        raise BadValueError(
            f"each of `{name}` must hold a sample, {units.labels[int(np.argmin(sizes))]!r} has none"
        )
    if name == "groups":
        if not has_all_cells:
            raise BadTypeError("`groups=` needs all four counts: pass both_right and both_wrong")
        check_size(len(sizes), "groups", "clusters")
        method = "cr2" if method is None else choose(method, "method", CLUSTERED)
        cells = np.stack([sums[key] for key in CELLS])
        return _of_clusters(cells, Units(sizes.astype(np.float64)), method, alternative)
    weights = None
    if has_all_cells:
        shares = read_stratum_weights(sampling.stratum_weights, units, sizes.astype(np.float64))
        weights = per_sample(shares, sizes)
    elif sampling.stratum_weights != "items":
        raise BadTypeError(
            "`stratum_weights=` needs all four counts: pass both_right and both_wrong"
        )
    strata = tuple(map(str, units.labels))
    return _of_strata(sums, weights, method, alternative, strata=strata)


def _of_clusters(
    cells: Ints,
    units: Units,
    method: str,
    alternative: str,
    strata: tuple[str, ...] = (),
    **dropped: Any,
) -> McNemarResult:
    """Test of the counts by unit, shape (4, U)."""
    check_defined(method, units, strata)
    estimated = estimate(cells, units, method)
    statistic, df = estimated.statistic, estimated.df
    pvalue, status = float(t_tail(statistic, alternative, df)), OK
    sums = cells[1] - cells[2]
    if estimated.variance == 0.0:
        pvalue, status = 1.0, DEGENERATE
        if estimated.difference != 0.0:
            signs = np.sign(units.by_cluster(sums * units.sample_weights))
            n_units = signs.size if abs(signs.sum()) == signs.size else np.nan
            statistic, pvalue = (
                np.nan,
                float(constant_pvalue(estimated.difference, n_units, alternative)),
            )
            status = UNDEFINED if np.isnan(pvalue) else DEGENERATE
    if df is None and alternative == "two-sided":
        statistic *= statistic
    flips = None  # with strata sums have weights, and are no whole numbers
    if units.stratum is None and np.count_nonzero(sums) * int(np.abs(sums).sum()) <= _FLIP_STEPS:
        flips = float(sign_flip_whole(sums, ALTERNATIVES[alternative]).pvalue)
    return McNemarResult(
        statistic=statistic,
        pvalue=pvalue,
        status=status,
        **dict(zip(CELLS, cells, strict=True)),
        cluster=units.cluster if strata else None,
        stratum=units.stratum if strata else None,
        stratum_weights=units.weights if strata else None,
        strata=strata,
        method=method,
        alternative=alternative,
        signflip_pvalue=flips,
        **dropped,
    )


def _of_strata(
    counts: dict[str, Any],
    weights: Floats | None,
    method: str | None,
    alternative: str,
    **more: Any,
) -> McNemarResult:
    """Test counts by stratum, with what one sample of each counts."""
    method = choose_method(method, weighted=weights is not None)
    only_a, only_b = counts["only_a"], counts["only_b"]
    if weights is None:
        n = sum(int(x.sum()) for x in counts.values()) if len(counts) == len(CELLS) else None
        totals = (int(only_a.sum()), int(only_b.sum()))
        statistic, pvalue, status = evaluate_counts(*totals, n, method, alternative)
    else:
        status = OK if (only_a + only_b)[weights > 0.0].any() else DEGENERATE
        if method in ("exact", "midp"):
            pvalue = weighted_exact(only_a, only_b, weights, alternative, mid=method == "midp")
            statistic = float(weights @ (only_a - only_b)) + 0.0
        else:
            z = weighted_z(only_a.astype(np.float64), only_b.astype(np.float64), weights)
            pvalue = float(t_tail(z, alternative)) if status == OK else 1.0
            statistic = z * z if alternative == "two-sided" else z
    return McNemarResult(
        statistic=statistic,
        pvalue=pvalue,
        status=status,
        **counts,
        weights=weights,
        method=method,
        alternative=alternative,
        **more,
    )


def mcnemar_table(
    y_true: ColumnLike,
    pred_a: ColumnLike,
    pred_b: ColumnLike,
    *,
    classes: Classes | None = None,
    missing: str = "raise",
) -> Ints:
    """Count on which samples two models are right.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    classes : sequence, optional
        As in `mcnemar`.
    missing : {"raise", "wrong"}
        As in `mcnemar`.

    Returns
    -------
    ndarray of int64, shape (2, 2)
        Rows: a right, a wrong; columns: b right, b wrong. ``table[0, 1]`` counts the
        samples that only a got right.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two.
    TypeError
        If labels cannot be compared.

    Examples
    --------
    >>> from fastcmp import mcnemar_table
    >>> mcnemar_table([0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1]).tolist()
    [[1, 2], [1, 0]]
    """
    models = {"pred_a": pred_a, "pred_b": pred_b}
    return _table(encode(y_true, models, classes=classes, missing=missing))


def _table(labels: Labels) -> Ints:
    table = np.zeros((2, 2), np.int64)
    pred_a, pred_b = labels.preds
    kernels.count_paired(labels.y_true, pred_a, pred_b, table)
    return table
