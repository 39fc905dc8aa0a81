"""Means and covariances of values per item, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.core.sections import Section
from fastcmp.core.threads import check_workers
from fastcmp.counts.units import DEGREES, VARIANCES, UnitSums
from fastcmp.counts.value_sums import PairMoments
from fastcmp.stream.accumulator import Accumulator, Arrays, check_names
from fastcmp.stream.unit_moments import ClusterMoments, UnitMoments, read_values

_GROUPS = (None, "whole", "ids")


class ValueMoments(Accumulator):
    """Means of values per item, and the covariances of all pairs of models.

    From this `compare_means` tests all pairs. Give blocks of items to
    `update`; combine parts, which may be counted in other processes, with `merge`,
    ``+`` or ``sum``. The result is that of all items at once but for rounding.

    Parameters
    ----------
    names : int or sequence of str, optional
        Names of the models, or their number; by default those of the first block.
    groups : {None, "whole", "ids"}
        What is drawn independently: items, or groups of them (clusters). "whole": no
        group is split between two blocks, and only sums over groups are kept. "ids":
        sums of each group are kept by its name, and blocks may split groups.

    Raises
    ------
    ValueError
        If names repeat, or an option is unknown.
    TypeError
        If names are not strings.

    See Also
    --------
    PairCounts : For right and wrong predictions of labels, to the last bit.
    load : Read what ``save`` wrote.

    Notes
    -----
    What is exact: without groups and with "ids", all variances (CR0 to CR3) are those
    of all items at once. With "whole" that holds for CR0 and CR1 and their degrees of
    freedom, provided that no group is split; CR2 and CR3 are refused unless all groups
    are of one size. Sums are kept in two numbers each (TwoSum), products about the mean
    of a block and merged as in [1]_: parts merged in any order agree to a few units in
    the last place.

    Before products are taken, the mean over the models is subtracted from each item.
    It changes no difference between two models.

    For M models the state takes 16 M**2 bytes whatever the number of items, with "ids"
    16 M for each group; while a block is counted as much again and some 100 MB. Large
    blocks are faster: a block of b items costs one matrix product of M**2 b.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub and R. J. LeVeque (1983). Algorithms for computing
       the sample variance: analysis and recommendations. The American Statistician 37,
       242-247.

    Examples
    --------
    >>> from fastcmp.stream import ValueMoments
    >>> moments = ValueMoments()
    >>> _ = moments.update({"a": [0.5, 1.0, 0.25], "b": [0.5, 0.5, 0.0]})
    >>> moments.update({"a": [1.0, 0.75], "b": [0.0, 1.0]})
    <ValueMoments: 5 items of 2 models>
    >>> moments.mean
    array([0.7, 0.4])
    """

    _state: UnitMoments | ClusterMoments

    def __init__(
        self, names: int | Sequence[str] | None = None, *, groups: str | None = None
    ) -> None:
        self._options = {"groups": choose(groups, "groups", _GROUPS)}
        kind = ClusterMoments if self.groups == "ids" else UnitMoments
        self._state = kind.empty(check_names(names))

    @property
    def groups(self) -> str | None:
        """What of groups is kept: None, "whole" or "ids"."""
        return self._options["groups"]  # type: ignore[no-any-return]

    @property
    def variance(self) -> str:
        """Variance by default: "cr2" where what it needs is kept, else "cr1"."""
        return "cr2" if self._state.knows_all() else "cr1"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._state.n_items

    @property
    def n_samples(self) -> int:
        """Number of items."""
        return self.n_items

    @property
    def n_missing(self) -> int:
        """Number of items dropped for missing values: none, these are refused."""
        return 0

    @property
    def n_excluded(self) -> int:
        """Number of items dropped for another reason: none."""
        return 0

    @property
    def n_units(self) -> int:
        """Number of groups, or of items where there are none."""
        return self._state.n_units

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of each model, by weights, shape (M,); NaN without items."""
        return self._state.mean() if self._state.has_weight else np.full(self.n_models, np.nan)

    def update(
        self, values: Any, *, groups: Any = None, weights: Any = None, workers: int | None = None
    ) -> Self:
        """Count a block of items.

        Parameters
        ----------
        values : array-like of shape (M, n) or (M, n, R), mapping or frame
            Values of any number of items, as in `compare_means`; of R repeats an item
            the mean counts. Columns with names may come in any order, rows without
            names come in that of `names`.
        groups : array-like of shape (n,), optional
            The group of each item, where groups are counted.
        weights : array-like of shape (n,), optional
            Importance of each item, at least 0; 1 by default.
        workers : int, optional
            As in the other accumulators; here nearly all work is a product of matrices,
            which BLAS does in threads of its own.

        Returns
        -------
        ValueMoments
            This accumulator.

        Raises
        ------
        ValueError
            If the block has other models, lengths differ, or values are missing or
            infinite; nothing of it is counted then.
        TypeError
            If values are no numbers, or groups are missing or not expected.

        Notes
        -----
        O(M n) to read, and one matrix product of M**2 n.

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(2, groups="ids")
        >>> _ = moments.update([[1, 0, 1], [0, 0, 1]], groups=["x", "x", "y"])
        >>> moments.update([[1, 0], [0, 0]], groups=["z", "x"])
        <ValueMoments: 5 items in 3 groups of 2 models>
        """
        check_workers(workers)
        if (groups is None) != (self.groups is None):
            raise TypeError(
                "groups must be given where ValueMoments(groups=...) keeps them, and "
                f"only there: this one has groups={self.groups!r}"
            )
        with self._lock:
            block = read_values(values, groups, weights, self.names)
            state: Any = self._state
            self._state = state.merged(state.of_block(block))
        return self

    def pair_moments(
        self, *, variance: str | None = None, df: str = "satterthwaite"
    ) -> PairMoments:
        """The means and the covariances that t tests of all pairs need.

        Parameters
        ----------
        variance : {"cr0", "cr1", "cr2", "cr3"}, optional
            Of the mean difference, by default the attribute `variance`. For items
            without weights "cr2" and "cr1" are s**2 / n; with weights, and for "whole"
            groups that are not of one size, "cr2" needs sums by "ids".
        df : {"satterthwaite", "clusters", "normal"}
            Degrees of freedom as if items were independent (Bell and McCaffrey), or the
            number of units less one, the same where these are of one size; or infinite.

        Returns
        -------
        PairMoments
            With the variance of each mean, and of all differences.

        Raises
        ------
        ValueError
            If there are fewer than two models or units, or the variance is not known
            from what was kept.

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(2).update([[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])
        >>> found = moments.pair_moments()
        >>> c = found.covariance
        >>> round(float(c[0, 0] + c[1, 1] - 2 * c[0, 1]), 12), found.df
        (0.194444444444, 2.0)
        """
        usual = "cr2" if self.groups == "ids" else "cr1"
        variance = choose(usual if variance is None else variance, "variance", VARIANCES)
        df = choose(df, "df", DEGREES)
        moments = self._filled(2)
        if (n := moments.n_units) < 2:
            what = "items" if self.groups is None else "groups"
            raise ValueError(f"ValueMoments must hold at least 2 {what}, got {n}")
        if not moments.has_weight:
            raise ValueError("weights must not be 0 for all items")
        return moments.pair_moments(variance, df)

    def unit_sums(self) -> UnitSums:
        """The sums of each group, which permutations and the bootstrap need.

        Returns
        -------
        UnitSums
            Sums and sizes of groups, in the order of their names.

        Raises
        ------
        ValueError
            If groups are not kept by "ids".

        Examples
        --------
        >>> from fastcmp.stream import ValueMoments
        >>> moments = ValueMoments(1, groups="ids")
        >>> moments.update([[1, 0, 1]], groups=["y", "x", "y"]).unit_sums().sums
        array([[0., 2.]])
        """
        moments = self._filled(1)
        if not isinstance(moments, ClusterMoments):
            raise ValueError(  # noqa: TRY004  # the option is wrong
                "groups must be kept by their names, ValueMoments(groups='ids')"
            )
        return moments.unit_sums()

    def _filled(self, least: int) -> UnitMoments | ClusterMoments:
        if self.n_models < least:
            raise ValueError(f"ValueMoments must hold at least {least} models, got {self.n_models}")
        return self._state

    def _title(self) -> str:
        n, m, g = self.n_items, self.n_models, self.n_units
        title = f"ValueMoments: {n} item{'s' * (n != 1)}"
        if self.groups is not None:
            title += f" in {g} group{'s' * (g != 1)}"
        return title + (f" of {m} model{'s' * (m > 1)}" if m else "")

    def _sections(self) -> list[Section]:
        if self.names is None:
            return [Section(title=self._title())]
        errors = ["-"] * self.n_models
        if self.n_models > 1 and self.n_units > 1 and not np.isnan(self.mean[0]):
            variance = self.pair_moments().variance
            errors = [f"{error:.4g}" for error in np.sqrt(variance)]
        means = ["-" if np.isnan(x) else f"{x:.6g}" for x in self.mean]
        rows = tuple(zip(self.names, means, errors, strict=True))
        columns = ("model", "mean", "standard error")
        return [Section(title=self._title(), columns=columns, rows=rows)]

    def _sizes(self, values: dict[str, Any]) -> dict[str, Any]:
        return self._state.lengths(**values)

    @classmethod
    def _restore(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        if settings["names"] is None and not arrays:  # as older files without models are
            return cls(groups=settings["groups"])
        return super()._restore(settings, arrays)
