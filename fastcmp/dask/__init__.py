"""The tests on Dask's arrays, frames and delayed blocks.

Each block is counted by the worker that holds it, counts are merged in a tree, and only
their sum is returned: the answers are those of the same tests in memory.
"""

from fastcmp.dask.areas import auc, delong
from fastcmp.dask.comparisons import cochrans_q, compare_all, count_labels
from fastcmp.dask.means import compare_means

__all__ = ["auc", "cochrans_q", "compare_all", "compare_means", "count_labels", "delong"]
