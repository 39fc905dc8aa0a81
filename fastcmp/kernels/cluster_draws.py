"""Counts of cells where whole clusters are drawn, or their models exchanged.

Entries of `index` and `counts` from ``starts[c]`` to ``starts[c + 1]`` are the cells of
cluster c. `times`, (R, C), tells how often each cluster occurs in a draw; a negative
number means with the two models exchanged, in the cells that `partner` tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import FloatArray, IntArray


@kernel
def cluster_cells(
    starts: IntArray,
    index: IntArray,
    counts: IntArray,
    partner: IntArray,
    times: FloatArray,
    out: FloatArray,
) -> None:
    """Write the counts of all cells, (R, S), in each draw of clusters."""
    for r in range(times.shape[0]):
        out[r] = 0.0
        for c in range(times.shape[1]):
            n = times[r, c]
            if n != 0.0:
                for i in range(starts[c], starts[c + 1]):
                    s = index[i] if n > 0.0 else partner[index[i]]
                    out[r, s] += abs(n) * counts[i]


@kernel
def cluster_squares(
    starts: IntArray,
    index: IntArray,
    counts: IntArray,
    partner: IntArray,
    times: FloatArray,
    values: FloatArray,
    out: FloatArray,
) -> None:
    """Write the sum over clusters of the squared sum of a cluster's values, (R,).

    `values`, (R, S), are those of a sample of each cell.
    """
    for r in range(times.shape[0]):
        total = 0.0
        for c in range(times.shape[1]):
            n = times[r, c]
            if n != 0.0:
                own = 0.0
                for i in range(starts[c], starts[c + 1]):
                    s = index[i] if n > 0.0 else partner[index[i]]
                    own += counts[i] * values[r, s]
                total += abs(n) * own * own
        out[r] = total
