"""The simulation of docs/studies/clusters.md, in few runs."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.full
MAKER = Path(__file__).parents[2] / "benchmarks" / "studies" / "clusters.py"
_spec = importlib.util.spec_from_file_location("clusters_of_the_page", MAKER)
clusters = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(clusters)


def size(n_clusters, sizes, kind, runs=600):
    kinds = clusters.SIZES[sizes], clusters.KINDS[kind]
    rng = np.random.default_rng(0)
    found = clusters.cluster_size(rng, n_clusters, kinds, runs, 0)
    return dict(zip(clusters.TESTS, found, strict=True))


@pytest.mark.parametrize("kind", ["right or wrong", "grades"])
def test_clusters_of_unequal_size(kind):
    found = size(10, "1 to 49", kind)
    assert found["plain t"] > 0.2
    assert found["CR0, z"] > found["CR1, t(G - 1)"] > 0.08
    assert 0.02 < found["CR2, t"] < 0.08
    assert found["sign flips"] < 0.07


def test_clusters_of_equal_size():
    found = size(5, "equal, 25", "grades")
    assert found["CR1, t(G - 1)"] == found["CR2, t"] == found["t of cluster means"]
    assert found["sign flips"] == 0.0  # 2 / 2**5 is more than 0.05


def test_answers_are_not_pooled():
    averaged, pooled, same = clusters.repeats_size(np.random.default_rng(0), 50, 8, 600)
    assert averaged < 0.08 < pooled < same


def test_the_page_has_the_tables():
    """A row of the page is what the loop gives."""
    rng = np.random.default_rng(1)
    row = clusters.row(("50", "8"), clusters.repeats_size(rng, 50, 8, clusters.RUNS))
    assert row in (Path(__file__).parents[2] / "docs" / "studies" / "clusters.md").read_text()
