"""Do two models predict the classes equally often, or confuse them symmetrically?

These tests look at the table of what a and b predicted, not at the true labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastcmp import kernels
from fastcmp.core.checks import are_counts_given, as_counts, check_total, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import LabelledCounts, Record, are_labelled
from fastcmp.core.saved_states import readable
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import USUAL_ALPHA, against_usual
from fastcmp.core.typing import Classes, ColumnLike, Ints
from fastcmp.counts.label_counts import LabelTable
from fastcmp.inputs.labels import encode_predictions
from fastcmp.kernels.status import UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SymmetryResult(Record):
    """A chi-square test on the K x K table of two models' predictions."""

    _closing = (
        "The test compares the predictions of two models with each other, not with the truth."
    )
    _opening = "Test: {title}."

    _cites = (
        (
            "test",
            {
                "Bowker's test of symmetry": "bowker",
                "Stuart and Maxwell's test of marginal homogeneity": "stuart maxwell",
                "Bhapkar's test of marginal homogeneity": "bhapkar",
            },
        ),
    )

    statistic: float
    pvalue: float
    df: int
    #: A `fastcmp.kernels.Status`.
    status: int
    #: "Bowker's test of symmetry", or Stuart and Maxwell's, or Bhapkar's, "test of
    #: marginal homogeneity".
    test: str
    #: ``table[i, j]`` samples for which a predicted class i and b class j.
    table: Ints

    _hidden = ("table",)
    _derived = ("distribution",)

    #: What the p-value comes from.
    distribution: ClassVar[str] = "chi2"

    def _entries(self) -> dict[str, Any]:
        return {**Record._entries(self), "table": readable(self.table)}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        # Exact up to 2**53, and without the overflow of whole numbers beyond.
        n = int(self.table.sum(dtype=np.float64))
        agreed = np.trace(self.table, dtype=np.float64) / max(n, 1)
        text: tuple[str, ...] = (
            f"chi-square = {self.statistic:.4g} with {self.df} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}",
            f"The models agree on {100 * agreed:.1f}% of {n} samples.",
        )
        if self.status == UNDEFINED:
            text += (
                "The differences of the margins do not vary in these samples, and are "
                "not 0: the statistic is undefined.",
            )
        return [Section(title=self.test, text=text)]

    def _headline(self) -> str:
        no = "" if self.pvalue <= USUAL_ALPHA else "not "
        if "symmetry" in self.test:
            what = f"Exchanges of classes between both models are {no}significantly asymmetric"
        else:
            do = "do not differ" if no else "differ"
            what = f"The two models {do} significantly in how often they predict each class"
        return f"{what}{against_usual(self.pvalue)}."


_TITLES = {
    "bowker": "Bowker's test of symmetry",
    "stuart-maxwell": "Stuart and Maxwell's test of marginal homogeneity",
    "bhapkar": "Bhapkar's test of marginal homogeneity",
}
_MANY_CODES = 1024
_MOST_CLASSES = 4096  # as in compare_predictions: a table of 130 MB


def symmetry(
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    table: ArrayLike | LabelTable | LabelledCounts | None = None,
    method: str = "bowker",
    classes: Classes | None = None,
) -> SymmetryResult:
    """Do two models predict the same classes equally often, or confuse them symmetrically?

    Parameters
    ----------
    pred_a, pred_b : array-like, shape (n,)
        Labels that two models predicted for the same samples.
    table : array-like of int, shape (K, K), or LabelTable, optional
        In their place: ``table[i, j]`` samples for which a predicted class i and b class
        j; or counts by class, as from `count_labels`, or a `fastcmp.stream.LabelCounts`
        of two models.
    method : {"bowker", "stuart-maxwell", "bhapkar"}
        Bowker's test of symmetry: is (i by a, j by b) as frequent as (j by a, i by b)?
        [1]_ Or Stuart and Maxwell's [2]_ [3]_ or Bhapkar's [4]_ test of marginal
        homogeneity: is each class predicted equally often?
    classes : sequence, optional
        Count only samples for which both predicted one of these classes.

    Returns
    -------
    SymmetryResult
        Chi-square and the table. Bowker's has one degree of freedom for each pair of
        classes that were ever exchanged; the others have the rank of the covariance
        matrix of the differences of the margins, K - 1 as a rule.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, pandas indexes differ, or there are
        more than 4096 classes; if the table is not square, its counts are negative,
        fractional or add up to more than 2**53, or there are more than two models; if
        the method is unknown.
    TypeError
        If labels cannot be compared, or there are not either two predictions or a table.

    See Also
    --------
    compare_predictions : All pairs of many models.

    Notes
    -----
    Bhapkar's covariance matrix is the one that is observed, where Stuart and Maxwell's
    holds under the hypothesis: W = Q / (1 - Q / n) for their Q, which is the larger one.
    In large samples both have the same distribution. Undefined (NaN) where Q is n.

    References
    ----------
    .. [1] A. H. Bowker, "A test for symmetry in contingency tables", JASA 43 (1948)
       572-574.
    .. [2] A. Stuart, "A test for homogeneity of the marginal distributions in a two-way
       classification", Biometrika 42 (1955) 412-416.
    .. [3] A. E. Maxwell, "Comparing the classification of subjects by two independent
       judges", British J. Psychiatry 116 (1970) 651-655.
    .. [4] V. P. Bhapkar, "A note on the equivalence of two test criteria for hypotheses
       in categorical data", JASA 61 (1966) 228-235.

    Examples
    --------
    >>> from fastcmp import symmetry
    >>> result = symmetry([0, 0, 1, 1, 1, 2], [0, 1, 0, 0, 2, 2])
    >>> result.df, round(result.pvalue, 4)
    (2, 0.5134)
    >>> table = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]
    >>> result = symmetry(table=table, method="stuart-maxwell")
    >>> round(result.statistic, 4), result.df
    (13.7647, 2)
    """
    method = choose(method, "method", _TITLES)
    preds: dict[str, Any] = {"pred_a": pred_a, "pred_b": pred_b}
    if are_counts_given(preds, {"table": table}, {"classes": classes}):
        counts = read_agreement(table)
    else:
        counts = _agreement(**preds, classes=classes)
    outcome = getattr(kernels, method.replace("-", "_"))(counts)
    return SymmetryResult(**outcome._asdict(), test=_TITLES[method], table=counts)


def _agreement(pred_a: ColumnLike, pred_b: ColumnLike, classes: Classes | None) -> Ints:
    """Count pairs of predictions, both among `classes`."""
    a, b, n_codes = encode_predictions(pred_a, pred_b, classes=classes)
    table = _squared(a, b, n_codes)
    used = table.any(axis=0) | table.any(axis=1)
    return table if classes is not None else table[np.ix_(used, used)]


def _squared(a: NDArray[Any], b: NDArray[Any], k: int, counts: Any = None) -> Ints:
    """Table of codes; where there are many, only of those that were predicted."""
    if k > _MANY_CODES:
        distinct, codes = np.unique(np.stack([a, b]), return_inverse=True)
        (a, b), k = codes.reshape(2, -1), distinct.size
    if k > _MOST_CLASSES:
        raise BadValueError(
            f"tests of symmetry take at most {_MOST_CLASSES} classes",
            k,
            ": select some with `classes=`",
        )
    table = np.zeros((k, k), np.int64)
    if counts is None:
        kernels.count_agreement(a, b, table)
    else:
        np.add.at(table, (a, b), counts)
    return table


def read_agreement(table: object) -> Ints:
    """Read a square table, or counts of two models as one; a copy."""
    if are_labelled(table):
        table = table.label_table()
    if isinstance(table, LabelTable):
        check_total(table.counts, "table", table.counts.ndim)
        _, a, b, counts = table.nonzero()
        return _squared(a, b, table.n_classes, counts)
    counts = as_counts(table, "table")
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.size == 0:
        raise BadValueError("`table` must be square", f"shape {counts.shape}")
    check_total(counts, "table", 2)
    return np.ascontiguousarray(counts)
