"""The epsilon column of Table V: data, splits, counts and 14 tests, from the seed."""

from functools import partial

import pytest
from studies.epsilon_folds import epsilon_pvalues
from studies.store import run_replicates
from studies.type_one_errors import TypeOneErrors


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("replications", [1_000, 10_000])
def test_epsilon_column(benchmark, size, replications, workers):
    benchmark.group = (
        f"epsilon column, 14 tests, {replications:,} replications, {workers} thread"
        + "s" * (workers > 1)
    )
    work = partial(epsilon_pvalues, 300, 0.1, 1)
    n = size(replications, 200)
    pvalues = benchmark(run_replicates, work, n, 14, part=500, workers=workers, threads=True)
    benchmark.extra_info["target_note"] = "10,000 in 20 s on two threads"
    study = TypeOneErrors(dataset="epsilon", setting="", pvalues=pvalues, seed=1)
    assert (abs(study.zscore) < 4).all()
