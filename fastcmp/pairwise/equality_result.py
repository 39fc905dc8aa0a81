"""The record of the test that many models are equal by a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.sections import Section, format_pvalue
from fastcmp.core.sentences import dropped_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHOWN = 20  # models that are printed
_METHODS = {"jackknife": "the jackknife", "delta": "the delta method"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricEquality(Record):
    """The test that M models are equal by a metric of counts."""

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

    @property
    def standard_error(self) -> Floats:
        """Standard error of each value, shape (M,)."""
        return np.sqrt(np.diagonal(self.covariance))

    def columns(self) -> dict[str, Any]:
        """Give the models as columns, a row a model.

        Returns
        -------
        dict of str to sequence
            Name, value and standard error.
        """
        return {
            "model": list(self.names),
            "value": self.values,
            "standard_error": self.standard_error,
        }

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
            f"{len(self.names)} models on {self.n_samples} samples{clusters}",
            f"H0: all models have the same {self.measure}",
            f"{name} = {self.statistic:.4g} with {degrees} d.o.f., "
            f"p = {format_pvalue(self.pvalue)}; covariances by {_METHODS[self.method]}",
            *dropped_sentences(self.n_missing, self.n_excluded),
        )
        order = np.argsort(-self.values, kind="stable")[:_SHOWN].tolist()
        more = len(self.names) - len(order)
        rows = tuple(
            (self.names[i], f"{self.values[i]:.4f}", f"{self.standard_error[i]:.4g}") for i in order
        )
        table = Section(
            title="Models",
            columns=("model", self.measure, "standard error"),
            rows=rows,
            notes=(f"... and {more} more models.",) if more > 0 else (),
        )
        beware = [Section(title="Cautions", text=self.cautions)] if self.cautions else []
        return [Section(title=f"Equality of {self.measure}", text=text), *beware, table]
