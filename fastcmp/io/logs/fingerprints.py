"""Fingerprints of texts: equal ones have equal numbers."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def fingerprint(texts: Iterable[str | None]) -> NDArray[np.uint64]:
    """Hash texts to 64 bits; 0 for None."""
    return np.array(
        [
            0
            if text is None
            else int.from_bytes(
                blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
            )
            or 1
            for text in texts
        ],
        dtype=np.uint64,
    )
