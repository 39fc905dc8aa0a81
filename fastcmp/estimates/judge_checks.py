"""How good is a judge? Bias, the same for all models or not, agreement, and random labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section, format_pvalue
from fastcmp.core.typing import Floats, Ints, ModelsLike, Pairs
from fastcmp.estimates.judge_inputs import correlated, read_judged
from fastcmp.kernels.special import fdtrc

_OF_MODEL = (
    *("correlation", "n_effective", "n_effective_limit", "agreement", "kappa"),
    *("sensitivity", "specificity"),
)


def equal_means(
    means: Floats, covariance: Floats, df: float
) -> tuple[float, tuple[float, float], float]:
    """F test that M means are equal, by Hotelling's T**2 of their contrasts: F, dfs and p-value.

    References
    ----------
    .. [1] H. Hotelling, "The generalization of Student's ratio", Annals of Mathematical
       Statistics 2 (1931) 360-378.
    """
    free, left = float(means.size - 1), df - means.size + 2.0
    if free < 1.0 or not left > 0.0:
        return np.nan, (free, max(left, 0.0)), np.nan
    contrasts = means[1:] - means[0]
    spread = covariance[1:, 1:] - covariance[1:, :1] - covariance[:1, 1:] + covariance[0, 0]
    if not (contrasts.any() or spread.any()):
        return 0.0, (free, left), 1.0  # neither difference nor variance
    values, axes = np.linalg.eigh(spread)
    if not values[0] > 1e-12 * max(values[-1], 0.0) or not np.isfinite(values).all():
        return np.nan, (free, left), np.nan  # some contrast does not vary
    t_squared = float(np.sum((axes.T @ contrasts) ** 2 / values))
    statistic = left * t_squared / (df * free)
    return statistic, (free, left), float(fdtrc(free, left, statistic))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeAgreement(Record):
    """How alike a judge and people are, by the items that have labels; NaN where undefined.

    Kappa says how alike they are, the square of the correlation what the judge saves.
    """

    names: tuple[str, ...]
    n_items: int
    #: Items with labels, shape (M,).
    n_labels: Ints
    #: Of judged values and labels, shape (M,).
    correlation: Floats
    #: How many labels without a judge would tell as much, and how many at most, however many
    #: items are judged, shape (M,).
    n_effective: Floats
    n_effective_limit: Floats
    #: Proportion of equal values, and Cohen's kappa, shape (M,).
    agreement: Floats
    kappa: Floats
    #: How often the judge says right of right answers, and wrong of wrong ones, shape (M,).
    sensitivity: Floats
    specificity: Floats
    #: P-values of F tests that these are the same for all models.
    equal_sensitivity_pvalue: float
    equal_specificity_pvalue: float
    #: Pairs of models, and the correlation of the differences that judge and people see.
    pairs: Pairs
    correlation_of_differences: Floats

    _columns = (
        Column("model", "names", visible),
        Column("n_labels", form=".0f", head="labels"),
        Column("correlation", form=".3f"),
        Column("n_effective", form=".0f", head="worth"),
        *Column.each("n_effective_limit agreement kappa sensitivity specificity", ".3f"),
    )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A row a model.
        """
        notes = ["Worth: how many labels without a judge would tell as much."]
        for what in ("sensitivity", "specificity"):
            p = getattr(self, f"equal_{what}_pvalue")
            if not np.isnan(p):
                notes.append(f"The same {what} for all models: p = {format_pvalue(p)} (F test).")
        title = f"A judge of {self.n_items} items, and labels of some"
        columns = "model n_labels correlation n_effective kappa sensitivity specificity"
        return [self._printed(title, columns, notes=notes)]


def judge_agreement(
    judge: ModelsLike, human: ModelsLike, *, names: Sequence[str] | None = None
) -> JudgeAgreement:
    """How alike a judge and people are, and what the judge saves.

    Parameters
    ----------
    judge : array-like of shape (M, N) or (N,), mapping or frame
        What the judge gives to the answers of each model, as in `judged_values`.
    human : array-like of shape (M, N) or (N,), mapping or frame
        Labels by people, None or NaN where there is none.
    names : sequence of str, optional
        Names of the models, in the place of those that `judge` has.

    Returns
    -------
    JudgeAgreement
        Correlation, effective number of labels, and for values of one scale kappa; for 0/1
        values sensitivity and specificity, and whether they are the same for all models.

    Raises
    ------
    ValueError
        If the judge lacks an item, or a model has no labels.
    TypeError
        If values are no numbers.

    Notes
    -----
    n labels are worth n / (1 - r**2 (1 - n / N)) where r is the correlation. Kappa is NaN
    unless both are whole numbers, and both or none 0/1. The equality of
    sensitivities is tested by Hotelling's T**2 where all models have labels of the same items.

    Examples
    --------
    >>> from fastcmp import judge_agreement
    >>> result = judge_agreement([1, 1, 0, 1, 1, 0, 1, 1], [1, 1, 0, None, 0, None, 1, None])
    >>> result.kappa.round(3).tolist(), result.n_effective.round(2).tolist()
    ([0.545], [5.82])
    """
    data = read_judged(judge, human, names)
    n_items, n_models = data.n_items, len(data.names)
    measures = {x: np.full(n_models, np.nan) for x in _OF_MODEL}
    for m, (f, y) in enumerate(data.labels):
        measures["correlation"][m] = correlated(f, y)
        whole = all(np.array_equal(x, np.rint(x)) for x in (f, y))
        binary = [bool(np.isin(x, (0.0, 1.0)).all()) for x in (f, y)]
        if whole and binary[0] == binary[1]:
            values = np.union1d(f, y)
            chance = sum(float(np.mean(f == x) * np.mean(y == x)) for x in values)
            measures["agreement"][m] = equal = float(np.mean(f == y))
            measures["kappa"][m] = (equal - chance) / (1.0 - chance) if chance < 1.0 else np.nan
        if all(binary):
            for name, of in (("sensitivity", y == 1.0), ("specificity", y == 0.0)):
                right = f[of] if name == "sensitivity" else 1.0 - f[of]
                measures[name][m] = right.mean() if of.any() else np.nan
    n = np.array([items.size for items in data.labelled])
    square = measures["correlation"] ** 2
    with np.errstate(divide="ignore"):
        measures["n_effective"] = n / (1.0 - square * (1.0 - n / n_items))
        measures["n_effective_limit"] = n / (1.0 - square)
    pairs, together = np.stack(np.triu_indices(n_models, 1), axis=1), []
    equal_pvalues = {"sensitivity": np.nan, "specificity": np.nan}
    if data.same_labels:
        f, y = (np.stack(x) for x in zip(*data.labels, strict=True))
        together = [correlated(f[a] - f[b], y[a] - y[b]) for a, b in pairs]
        for name, of in (("sensitivity", y), ("specificity", 1.0 - y)):
            rates = measures[name][:, np.newaxis]
            if n_models > 1 and n[0] > 1 and not np.isnan(rates).any():
                right = f if name == "sensitivity" else 1.0 - f
                of_rates = of * (right - rates) / of.mean(axis=1, keepdims=True)
                covariance = of_rates @ of_rates.T / (n[0] * (n[0] - 1.0))
                equal_pvalues[name] = equal_means(measures[name], covariance, n[0] - 1.0)[2]
    return JudgeAgreement(
        names=data.names,
        n_items=n_items,
        n_labels=n,
        **measures,
        equal_sensitivity_pvalue=equal_pvalues["sensitivity"],
        equal_specificity_pvalue=equal_pvalues["specificity"],
        pairs=pairs.astype(np.int32),
        correlation_of_differences=np.array(together or [np.nan] * len(pairs), np.float64),
    )
