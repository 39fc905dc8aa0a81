"""All pairs of many models at any look."""

from functools import cache

import numpy as np
import pytest

import fastcmp
from fastcmp import sequential
from fastcmp.kernels.evalues import missing_evidence
from fastcmp.sequential import PairLooks, e_adjust
from fastcmp.sequential.pair_looks import _nearly_missing
from fastcmp.stream import PairCounts

N, M = 1200, 8
NAMES = tuple(f"m{i}" for i in range(M))


@cache
def data():
    """True labels, and predictions of eight models."""
    rng = np.random.default_rng(12)
    y = rng.integers(0, 3, N)
    right = rng.random((M, N)) < np.array([0.9, 0.9, 0.88, 0.8, 0.8, 0.7, 0.6, 0.5])[:, None]
    return y, np.where(right, y, (y + 1) % 3)


def some(rows):
    """The samples of some rows, with named models."""
    y, preds = data()
    return y[rows], dict(zip(NAMES, preds[:, rows], strict=True))


def blocks(size=200):
    for start in range(0, N, size):
        yield some(slice(start, start + size))


def looked(**options):
    """Look after each block; give all results and the state."""
    counts, state = PairCounts(), PairLooks(**options)
    return [state.look(counts.update(*block)) for block in blocks()], state


@pytest.mark.parametrize("adjust", ["e-holm", "e-bh"])
def test_every_look_by_the_tests_of_two(adjust):
    results, state = looked(adjust=adjust)
    largest = np.full(M * (M - 1) // 2, -np.inf)
    decided = np.zeros(largest.size, bool)
    for k, result in enumerate(results, 1):
        n = 200 * k
        counted = PairCounts().update(*some(slice(n)))
        wanted = sequential.mcnemar(table=counted)
        np.testing.assert_allclose(result.log_evalue, wanted.log_evalue, rtol=1e-11, atol=1e-11)
        largest = np.maximum(largest, result.log_evalue)
        np.testing.assert_array_equal(result.log_evalue_max, largest)
        np.testing.assert_array_equal(result.pvalue, np.exp(-np.maximum(largest, 0)))
        adjusted = e_adjust(result.evalue, method=adjust)
        np.testing.assert_array_equal(result.evalue_adjusted, adjusted)
        now = adjusted >= 20
        decided = now | (decided if adjust == "e-holm" else False)
        np.testing.assert_array_equal(result.significant, decided)
        assert (result.n_looks, result.n_samples) == (k, n)
    assert (state.n_looks, state.n_samples, state.names) == (6, N, NAMES)
    assert 0 < decided.sum() < decided.size


def test_what_few_pairs_lack_is_known_beside_many_that_lack_nothing():
    log_evalues = np.full(100_000, 50.0)
    log_evalues[:3] = 2.9, 0.0, -100.0
    exact = missing_evidence(log_evalues, 20.0)
    assert _nearly_missing(log_evalues, 20.0) == pytest.approx(exact, rel=1e-6)


def test_what_was_decided_stays_so():
    good, bad = [1] * 60 + [0] * 90, [0] * 60 + [1] * 90
    y, other = [1] * 150, [1, 0] * 75
    counts, state = PairCounts(), PairLooks()
    results = []
    for rows in (slice(0, 60), slice(60, 150)):
        block = {"a": good[rows], "b": bad[rows], "c": other[rows]}
        results.append(state.look(counts.update(y[rows], block)))
    first, last = results
    assert first.significant[0]
    assert last.significant[0]
    assert last.evalue_adjusted[0] < 20
    assert last.pvalue[0] == first.pvalue[0]
    again = PairLooks(adjust="e-bh").look(counts)
    assert not again.significant[0]


def test_the_leaderboard_of_a_look():
    result, (y, preds) = looked()[0][-1], data()
    board = result.leaderboard
    accuracy = (preds == y).mean(axis=1)
    assert board.names == tuple(np.array(NAMES)[np.argsort(-accuracy, kind="stable")])
    np.testing.assert_allclose(board.score, np.sort(accuracy)[::-1])
    i, j = np.triu_indices(M, 1)
    better = np.zeros((M, M), bool)  # row before column
    better[i, j] = result.significant & (accuracy[i] > accuracy[j])
    better[j, i] = result.significant & (accuracy[i] < accuracy[j])
    np.testing.assert_array_equal(result.decisions == 1, better)
    ranks = np.stack([1 + better.sum(axis=0), M - better.sum(axis=1)], axis=1)
    np.testing.assert_array_equal(board.rank_interval, ranks[board.models])
    assert (np.sign(board.interval - board.score[:, None]) == [-1, 1]).all()
    # Wider than Wilson's intervals, which hold at one look.
    wilson = fastcmp.compare_all(y, preds).leaderboard.interval
    widths = np.diff(board.interval)[:, 0] / np.diff(wilson)[:, 0]
    assert (widths > 1.2).all()
    assert (widths < 2.5).all()


def test_pairs_of_a_look():
    result = looked()[0][-1]
    one = result.pair("m5", 2)
    y, preds = data()
    wanted = sequential.mcnemar(y, preds[5], preds[2])
    assert one.log_evalue == pytest.approx(wanted.log_evalue, rel=1e-12)
    assert one.confidence_interval() == wanted.confidence_interval()
    turned = result.pair(2, 5)
    assert turned.difference == -one.difference
    for wrong in ("nobody", 8, -1, True, 0.5):
        with pytest.raises(ValueError, match="model_a names no model"):
            result.pair(wrong, 0)
    with pytest.raises(ValueError, match="different models"):
        result.pair("m0", 0)


def test_tables_and_the_formula_agree():
    """Few samples of many models are looked up, many samples of few worked out."""
    rng = np.random.default_rng(3)
    many = (rng.random((40, 60)) < 0.7).astype(int)
    found = PairLooks().look(PairCounts().update(np.ones(60, int), many))
    i, j = np.triu_indices(40, 1)
    only_a, only_b = (np.sum(x, axis=1) for x in (many[i] > many[j], many[i] < many[j]))
    wanted = sequential.mcnemar(only_a=only_a, only_b=only_b)
    np.testing.assert_allclose(found.log_evalue, wanted.log_evalue, rtol=1e-11, atol=1e-11)


def test_any_number_of_workers():
    # So many models that there is work for several threads.
    right = np.random.default_rng(4).random((400, 30)) < 0.5
    counts = PairCounts().update(np.ones(30, int), right.astype(int))
    found = PairLooks().look(counts, workers=1)
    for workers in (2, 5):
        assert PairLooks().look(counts, workers=workers) == found


def test_looks_out_of_order():
    counts = PairCounts()
    held = [counts.update(*block).copy() for block in blocks(400)]
    state = PairLooks()
    state.look(held[1])
    for wrong, message in (
        (held[0], "counts must not shrink"),
        (PairCounts().update(*some(slice(400, None))), "counts must not shrink"),
        (PairCounts().update(*data()), "counts must be of the 8 models of the looks"),
    ):
        with pytest.raises(ValueError, match=message):
            state.look(wrong)
    assert state.n_looks == 1
    assert state.look(held[2]).n_looks == 2


def test_counts_without_samples_or_models():
    for wrong in (PairCounts(), PairCounts(3), PairCounts().update([0, 1], [[0, 1]])):
        with pytest.raises(ValueError, match="counts must hold at least 2 models and 1"):
            PairLooks().look(wrong)
    with pytest.raises(ValueError, match="prior must be two equal numbers"):
        PairLooks(prior=(1, 2))
    with pytest.raises(TypeError, match="do not merge: merge the counts"):
        PairLooks().merge(PairLooks())
