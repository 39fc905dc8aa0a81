"""The tests on Dask's arrays, frames and delayed blocks.

Each block is counted by the worker that holds it, counts are merged in a tree, and only
their sum is returned: the answers are those of the same tests in memory.
"""

from fastcmp.dask.comparisons import cochrans_q, compare_all, compare_means, count_labels
from fastcmp.dask.scores import auc, delong

__all__ = ["auc", "cochrans_q", "compare_all", "compare_means", "count_labels", "delong"]
