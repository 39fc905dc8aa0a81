"""The ascending order of scores, by sorting whole words instead of indices.

A score's bits, mapped so that they compare as the scores do, and the sample's index fit
in one 64-bit word. NumPy sorts such words two to six times as fast as it finds
the order of the scores themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp._jit import kernel

if TYPE_CHECKING:
    from fastcmp.kernels.typing import IntArray, ScoreArray, WordArray

_SIGN = np.uint64(1) << np.uint64(63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LONGEST = 64  # scores that differ after the prefix and are sorted by insertion


@kernel
def pack_order(bits: WordArray, index_bits: int, out: WordArray) -> None:
    """Pack the leading bits of each score with its index, in the last `index_bits`.

    The words sort as the scores do, up to what the replaced bits would decide.
    """
    shift = np.uint64(index_bits)
    for i in range(bits.size):
        word = bits[i]
        if word == _SIGN:  # -0.0 equals 0.0
            word = np.uint64(0)
        # Negative numbers: all bits flipped; others: the sign alone.
        word ^= _ALL if word >= _SIGN else _SIGN
        out[i] = ((word >> shift) << shift) | np.uint64(i)


@kernel
def unpack_order(words: WordArray, index_bits: int, scores: ScoreArray, order: IntArray) -> bool:
    """Read the order from sorted words, and settle what the prefixes left open.

    False if more than 64 different scores share one prefix: the order is then not
    finished.
    """
    mask = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    shift = np.uint64(index_bits)
    n = words.size
    for i in range(n):
        order[i] = np.int64(words[i] & mask)
    start = 0
    for i in range(1, n):
        if words[i] >> shift != words[i - 1] >> shift:
            start = i
        elif scores[order[i]] < scores[order[i - 1]]:
            if i - start > _LONGEST:
                return False
            sample = order[i]
            j = i
            while j > start and scores[order[j - 1]] > scores[sample]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = sample
    return True
