"""McNemar's tests of many pairs, whatever is known of how samples were drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.options import choose
from fastcmp.counts.correct_bits import RightBits
from fastcmp.paired.cluster_variance import CLUSTERED
from fastcmp.paired.clustered_result import cluster_cautions
from fastcmp.paired.mcnemar_counts import METHODS
from fastcmp.paired.sample_units import check_defined, default_method, units_of
from fastcmp.paired.stratified_mcnemar import WEIGHTED, choose_method, per_sample
from fastcmp.pairwise.accuracy_tests import accuracy_tests
from fastcmp.pairwise.clustered_tests import clustered_tests
from fastcmp.pairwise.result import PairwiseResult
from fastcmp.pairwise.stratified_tests import stratified_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.core.threads import ThreadPool
    from fastcmp.inputs.labels import Labels
    from fastcmp.paired.sample_units import Sampling
    from fastcmp.pairwise.pair_tests import PairTests


_POOLED = (
    "Strata that count by their samples drop out of McNemar's test: the p-values are "
    "those without strata. mcnemar tests whether strata agree."
)


class SampledTests(NamedTuple):
    """Tests of pairs, and what a record says of the samples."""

    tests: PairTests
    method: str
    n_clusters: int | None = None
    n_strata: int | None = None
    cautions: tuple[str, ...] = ()

    @property
    def record(self) -> type[PairwiseResult]:
        """What record it is."""
        return PairwiseResult

    def of_record(self) -> dict[str, Any]:
        """Give what the record holds, by the names of its fields."""
        return {name: getattr(self, name) for name in self._fields[1:]}


def check_sampled_method(method: str | None, sampling: Sampling) -> str | None:
    """Check the variant of the test; None where the samples decide."""
    if sampling.groups is not None:
        return None if method is None else str(choose(method, "method", CLUSTERED))
    if sampling.strata is not None and method is None:
        return None
    known = METHODS if sampling.strata is None else (*METHODS, *WEIGHTED)
    return str(choose("midp" if method is None else method, "method", known))


def sampled_tests(  # the samples, how they are tested, and by which threads
    labels: Labels,
    y_true: Any,
    sampling: Sampling,
    method: str | None,
    level: float,
    chosen: NDArray[np.int32] | None,
    pool: ThreadPool,
) -> SampledTests:
    """Test pairs by clusters, by weighted strata, or by single samples."""
    if sampling.plain:
        assert method is not None
        bits = RightBits.pack(labels, pool)
        tests = accuracy_tests(bits, labels.n_samples, method, level)
        return SampledTests(tests, method)
    found = sampling.read(y_true, labels)
    n_strata = None if found.strata is None else len(found.strata.labels)
    if found.clusters is not None:
        codes, units, strata = units_of(found)
        method = default_method(units) if method is None else method
        check_defined(method, units, strata)
        tests = clustered_tests(labels, codes, units, method, level, chosen, pool)
        cautions = cluster_cautions(units, method)
        return SampledTests(tests, method, units.n_clusters, n_strata, cautions)
    assert found.strata is not None
    codes = found.strata.codes
    weights = per_sample(found.stratum_weights, np.bincount(codes))
    method = choose_method(method, weighted=weights is not None)
    if weights is None:
        bits = RightBits.pack(labels, pool)
        tests = accuracy_tests(bits, labels.n_samples, method, level)
        return SampledTests(tests, method, None, None, (_POOLED,))
    tests = stratified_tests(labels, codes, weights, method, level, pool)
    return SampledTests(tests, method, None, n_strata)
