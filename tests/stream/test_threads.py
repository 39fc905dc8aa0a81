"""Accumulators that several threads update, merge and copy at the same time."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastcmp.stream import ConfusionCounts, LabelCounts, PairCounts, RocSketch, ScoreCounts

KINDS = [PairCounts, LabelCounts, ConfusionCounts, ScoreCounts, RocSketch]
ALL = pytest.mark.parametrize("kind", KINDS)
THREADS, ROUNDS, SAMPLES = 8, 8, 200
SECONDS = 120


@pytest.fixture(autouse=True)
def _often():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def block(seed, kind):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, SAMPLES)
    if issubclass(kind, ScoreCounts):
        scores = rng.integers(0, 9, (2, SAMPLES)).astype(np.float32) / 8
        return y_true, dict(zip("ab", scores, strict=True))
    preds = np.where(rng.random((3, SAMPLES)) < 0.7, y_true, 1 - y_true)
    return y_true, dict(zip("abc", preds, strict=True))


def begun(kind):
    """Make an accumulator; of scores with bins, so that all parts have the same."""
    return kind().update(*block(0, kind))


def at_once(*tasks):
    """Run tasks in as many threads, which begin together."""
    barrier = threading.Barrier(len(tasks))

    def run(task):
        barrier.wait(SECONDS)
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        futures = [pool.submit(run, task) for task in tasks]
        return [future.result(SECONDS) for future in futures]


def expected(kind, seeds):
    whole = begun(kind)
    for seed in seeds:
        whole.update(*block(seed, kind))
    return whole


@ALL
def test_no_block_is_lost(kind):
    counts = begun(kind)
    seeds = range(1, 1 + THREADS * ROUNDS)

    def update(own):
        for seed in own:
            counts.update(*block(seed, kind), workers=1)

    at_once(*(lambda own=seeds[i::THREADS]: update(own) for i in range(THREADS)))
    assert counts.n_samples == SAMPLES * (1 + THREADS * ROUNDS)
    assert counts == expected(kind, seeds)


@pytest.mark.parametrize("kind", [PairCounts, LabelCounts, ConfusionCounts])
def test_the_first_block_is_that_of_one_thread(kind):
    for _ in range(ROUNDS):
        counts = kind()
        update = counts.update
        at_once(*(lambda i=i, to=update: to(*block(i, kind)) for i in range(THREADS)))
        assert counts.n_samples == SAMPLES * THREADS
        assert counts == sum(kind().update(*block(i, kind)) for i in range(THREADS))


@ALL
def test_merging_crosswise_ends(kind):
    one, two = begun(kind), begun(kind)

    def merge(into, other):
        for _ in range(8):
            into.merge(other)

    at_once(lambda: merge(one, two), lambda: merge(two, one), lambda: merge(one, one.copy()))
    assert one.n_samples % SAMPLES == two.n_samples % SAMPLES == 0
    itself = begun(kind)
    assert itself.merge(itself).n_samples == 2 * SAMPLES


@ALL
def test_what_is_copied_meanwhile_is_whole(kind, tmp_path):
    counts = begun(kind)
    seeds = range(1, 30)
    wholes = {SAMPLES: counts.copy()}
    for seed in seeds:
        grown = wholes[max(wholes)].copy().update(*block(seed, kind))
        wholes[grown.n_samples] = grown

    def update():
        for seed in seeds:
            counts.update(*block(seed, kind))

    def copies(take):
        found = []
        while not found or found[-1].n_samples < max(wholes):
            found.append(take())
        return found

    def saved():
        counts.save(tmp_path / "counts")
        return kind.load(tmp_path / "counts")

    _, *taken = at_once(
        update,
        lambda: copies(counts.copy),
        lambda: copies(lambda: pickle.loads(pickle.dumps(counts))),
        lambda: copies(lambda: copy.deepcopy(counts)),
        lambda: copies(saved),
    )
    for found in taken:
        for one in found:
            assert one == wholes[one.n_samples]


def test_a_second_pass_in_threads():
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, 2, (THREADS, 3000))
    scores = rng.normal(size=(THREADS, 3000)) + y_true
    first = ScoreCounts()
    for labels, row in zip(y_true, scores, strict=True):
        first.update(labels, row)
    again = first.refine()
    at_once(
        *(
            lambda labels=labels, row=row: again.update(labels, row)
            for labels, row in zip(y_true, scores, strict=True)
        )
    )
    assert again.auc.exact
    whole = first.refine().update(y_true.ravel(), scores.ravel())
    assert again.auc.auc == whole.auc.auc
