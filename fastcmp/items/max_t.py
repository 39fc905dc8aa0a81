"""Several paired comparisons on the same items, adjusted for all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastcmp.core.checks import ALTERNATIVES, Draws, as_resamples, as_seed, check_size, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scale_exponent, times
from fastcmp.core.records import Record
from fastcmp.core.sections import Column, Section, format_pvalue, main_table
from fastcmp.core.sentences import USUAL_ALPHA, adjusted_sentence, how
from fastcmp.core.threads import ThreadPool, check_workers
from fastcmp.core.typing import ColumnLike, Floats, ModelsLike, Seed
from fastcmp.counts.pairs import Block
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.model_names import check_indexes, has_names, named_columns, with_names
from fastcmp.inputs.values import as_values
from fastcmp.pairwise.joint_draws import row_flips
from fastcmp.pairwise.max_t import joint_pvalues
from fastcmp.pairwise.simultaneous_pairs import STEPS

_STEPS = {"single": "Single-step", "down": "Step-down"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MaxTResult(Record):
    """Paired comparisons on the same items: p-values of each, and for all at once."""

    _blocks = "selection:comparisons"
    _cites = (("step", {"single": "hothorn", "down": "westfall"}), "phipson")

    #: Paired t over items or clusters, shape (C,).
    statistic: Floats
    #: By sign flips, of each comparison alone, and adjusted for all; shape (C,).
    pvalue: Floats
    pvalue_adjusted: Floats
    #: "permutation".
    distribution: str = "permutation"
    #: Mean over items, shape (C,).
    difference: Floats
    names: tuple[str, ...]
    alternative: str
    #: "down" or "single".
    step: str
    n_items: int
    #: None where each item is flipped by itself.
    n_clusters: int | None
    #: Draws; where `exact`, all signs that there are.
    n_resamples: int
    exact: bool
    #: None where nothing was drawn.
    seed: int | None

    _columns = (
        Column("comparison", "names"),
        Column("difference", form="+.4g"),
        Column("statistic", form="+.4g", head="t"),
        Column("pvalue", form=format_pvalue, head="p"),
        Column("pvalue_adjusted", form=format_pvalue, head="adjusted p"),
    )
    _read = (
        *("alternative", "step", "n_items", "n_clusters", "n_resamples", "exact", "seed"),
        main_table("comparisons"),
    )

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The comparisons, and how they were adjusted.
        """
        unit = "items" if self.n_clusters is None else "clusters"
        drawn = f"{self.n_resamples} sign flips of {unit}, seed {self.seed}"
        if self.exact:
            drawn = f"all {self.n_resamples} sign flips of {unit}"
        n = len(self.names)
        clusters = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        return [
            self._printed(
                "Which comparisons differ?",
                text=(how(f"{n} comparison{'s' * (n != 1)} on {self.n_items} items{clusters}."),),
                notes=(how(f"{_STEPS[self.step]} max-T by {drawn}."),),
            )
        ]

    def _headline(self) -> str:
        return adjusted_sentence(self.pvalue_adjusted, USUAL_ALPHA)


#: All signs are looked at where there are so many or fewer, and so many numbers.
_ALL, _NUMBERS = 1 << 20, 1 << 24


def max_t(
    differences: ModelsLike,
    *,
    names: Sequence[str] | None = None,
    groups: ColumnLike | None = None,
    alternative: str = "two-sided",
    step: str = "down",
    n_resamples: int = 9999,
    rng: Seed = None,
    workers: int | None = None,
) -> MaxTResult:
    """Test several paired comparisons on the same items: max-T by sign flips.

    If a comparison finds no difference, the signs of its differences are exchangeable.
    They are flipped item by item, the same for all comparisons, so that the largest of
    all statistics shows how far these go by chance together. `compare_all` and
    `compare_means` have this for all pairs of models, by ``adjust="maxt"``.

    Parameters
    ----------
    differences : array-like of shape (C, n), mapping or frame
        Difference of two models on each item: a row a comparison, or a mapping from
        names to columns, or a frame whose columns are comparisons.
    names : sequence of str, optional
        Names of the comparisons.
    groups : array-like, shape (n,), optional
        Cluster of each item; the signs of clusters are flipped.
    alternative : {"two-sided", "greater", "less"}
        "greater": the mean difference is above 0.
    step : {"down", "single"}
        Whether each p-value is adjusted by the largest statistic of the less extreme
        comparisons, or of all.
    n_resamples : int
        Random draws. Where there are fewer signs, or up to 2**20 with few comparisons,
        all are looked at, and p-values are exact.
    rng : int, numpy.random.Generator or None
        Where the draws come from.
    workers : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    MaxTResult
        Paired t statistics, p-values of each comparison alone and for all of them.

    Raises
    ------
    ValueError
        If a difference is missing or infinite, there are fewer than two items or
        clusters, lengths differ, or an option is unknown.
    TypeError
        If differences are no numbers.

    Notes
    -----
    O(C n B / 8). The t statistic of each draw is a rising function of the sum of the
    differences, whose squares no sign changes: so t and the sum give the same p-values.
    They are (1 + c) / (1 + B) where c of B random draws are as extreme, and the
    probability of any false decision is exact where the distribution of all differences
    is symmetric.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing (1993).
    .. [2] Y. Ge, S. Dudoit, T. P. Speed, "Resampling-based multiple testing for
       microarray data analysis", Test 12 (2003) 1-77.

    Examples
    --------
    >>> from fastcmp import max_t
    >>> differences = {"a - b": [1, 0, 1, 1, 0, 1, 1], "a - c": [1, 1, 1, 1, -1, 1, 0]}
    >>> max_t(differences).pvalue_adjusted.tolist()
    [0.078125, 0.21875]
    """
    alternative = choose(alternative, "alternative", tuple(ALTERNATIVES))
    step = choose(step, "step", STEPS)
    draws = Draws(as_resamples(n_resamples), as_seed(rng))
    threads = check_workers(workers)
    table, row_names = _read_differences(differences, names)
    exponent = scale_exponent(table)
    table = np.ldexp(table, -exponent)
    indexed = ("differences", differences) if hasattr(differences, "iloc") else None
    item_groups = read_item_groups(table.shape[1], groups=groups, indexed=indexed)
    rows = table
    if item_groups.clusters is not None:
        rows = np.stack([np.bincount(item_groups.clusters.codes, row) for row in table])
    n, n_units = rows.shape
    most = max(draws.n, min(_ALL, _NUMBERS // (n + 1)))
    with ThreadPool(threads) as pool:
        # Each comparison is one with a model that has no differences.
        joint = row_flips(np.vstack([rows, np.zeros(n_units)]), draws, pool, most)
        assert joint.standardized is not None
        pairs = np.array([(k, n) for k in range(n)], np.int32)
        z, inverse = joint.standardized(Block(slice(0, n), pairs))

        def adjusted(part: slice) -> Floats:
            return joint_pvalues(
                *(joint, pairs[part], z[part], inverse[part], pool),
                down=step == "down",
                alternative=alternative,
            )

        pvalue = np.concatenate([adjusted(slice(k, k + 1)) for k in range(n)])
        pvalue_adjusted = adjusted(slice(0, n))
    # Sums over roots of sums of squares are turned into Student's t.
    left = np.maximum(n_units - z * z, 0.0)
    left[left < 1e-12 * n_units] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(z == 0.0, 0.0, z * np.sqrt((n_units - 1.0) / left))
    return MaxTResult(
        statistic=t,
        pvalue=pvalue,
        pvalue_adjusted=pvalue_adjusted,
        difference=times(table.mean(axis=1), exponent),
        names=row_names,
        alternative=alternative,
        step=step,
        n_items=item_groups.n_items,
        n_clusters=None if item_groups.clusters is None else n_units,
        n_resamples=joint.n_draws,
        exact=joint.complete,
        seed=None if joint.complete else draws.seed,
    )


def _read_differences(differences: Any, names: object) -> tuple[Floats, tuple[str, ...]]:
    """The differences of each comparison, shape (C, n), and names of the comparisons."""
    unnamed = not has_names(differences)
    with suppress(ValueError):  # lists of unequal lengths
        if unnamed and np.ndim(differences) == 1:
            differences = [differences]
    named = named_columns(with_names(differences, names, "differences"), "differences")
    if unnamed and names is None:
        named = [(f"comparison_{k}", raw) for k, (_, raw) in enumerate(named)]
    check_size(len(named), "differences", "comparison", 1)
    check_indexes(named)
    columns = [as_values(raw, "differences").astype(np.float64) for _, raw in named]
    sizes = {column.size for column in columns}
    if len(sizes) > 1 or min(sizes) < 2:
        raise BadValueError(
            "`differences` must have the same two or more items for all comparisons",
            [column.size for column in columns][:10],
        )
    table = np.stack(columns)
    if not np.isfinite(table).all():
        raise BadValueError("`differences` must be finite, and none may be missing")
    return table, tuple(name for name, _ in named)
