"""Which columns are no labels, counted block by block, against brute force."""

import json
from collections import Counter

import numpy as np
import pytest

from fastcmp.io.label_check import LabelCheck


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["numbers", "words", "sorted", "missing"])
def test_outside_is_counted_over_blocks(seed, kind):
    rng = np.random.default_rng(seed)
    n = 300
    truth = rng.integers(0, 6, n)
    if kind == "sorted":
        truth.sort()
    preds = {str(m): rng.integers(0, rng.integers(2, 14), n) for m in range(4)}
    present = np.ones(n, bool)
    if kind == "words":
        truth = np.array(list("abcdefghijklmn"))[truth]
        preds = {m: np.array(list("abcdefghijklmn"))[x] for m, x in preds.items()}
    if kind == "missing":
        truth = np.where(rng.random(n) < 0.2, np.nan, truth)
        present = ~np.isnan(truth)
    known = set(truth[present].tolist())
    expect = tuple(
        sum(k for x, k in Counter(own[present].tolist()).items() if x not in known)
        for own in preds.values()
    )
    check = LabelCheck(preds, "y")
    for start in range(0, n, 37):
        block = slice(start, start + 37)
        found = check.look(truth[block], {m: own[block] for m, own in preds.items()})
        check.keep(found)
        state, check = check.state(), LabelCheck(preds, "y")
        check.restore(json.loads(json.dumps(state)))
    assert check.finish().n_outside == (expect if any(expect) else ())
