"""Decisions as a matrix, rank intervals, groups of ties and letters."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.pairwise.ranking import (
    BETTER,
    EVEN,
    TIED,
    UNTESTED,
    WORSE,
    decisions_of,
    decisions_of_all,
    rank_intervals,
)
from fastcmp.pairwise.ties import TieGroups, find_ties


def tie_groups(order, tied):
    groups, complete = find_ties(order, tied)
    names = tuple(f"m{i}" for i in range(len(order)))
    return TieGroups(names=names, groups=groups, complete=complete)


@st.composite
def graphs(draw, largest=8):
    """Draw a symmetric graph of ties, and an order of its models."""
    n = draw(st.integers(1, largest))
    size = n * (n - 1) // 2
    edges = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    tied = np.zeros((n, n), bool)
    for (i, j), edge in zip(combinations(range(n), 2), edges, strict=True):
        tied[i, j] = tied[j, i] = edge
    return np.array(draw(st.permutations(range(n)))), tied


def maximal_cliques(tied):
    """Try every subset."""
    n = len(tied)
    subsets = (s for size in range(1, n + 1) for s in combinations(range(n), size))
    cliques = [set(s) for s in subsets if all(tied[p] for p in combinations(s, 2))]
    return [c for c in cliques if not any(c < other for other in cliques)]


def cocktail_party(n_couples):
    """Tie everybody to all but one: 2**n_couples maximal sets."""
    tied = ~np.eye(2 * n_couples, dtype=bool)
    for i in range(n_couples):
        tied[2 * i, 2 * i + 1] = tied[2 * i + 1, 2 * i] = False
    return tied


@given(graphs())
def test_groups_are_all_maximal_cliques(graph):
    order, tied = graph
    found = tie_groups(order, tied)
    assert found.complete
    expect = {frozenset(clique) for clique in maximal_cliques(tied)}
    assert {frozenset(group) for group in found.groups} == expect
    assert len(found.groups) == len(expect)
    place = {model: i for i, model in enumerate(order.tolist())}
    places = [[place[model] for model in group] for group in found.groups]
    assert all(group == sorted(group) for group in places)  # best first within
    assert places == sorted(places)  # and among groups
    assert all(type(model) is int for group in found.groups for model in group)


@given(graphs(), st.randoms(use_true_random=False))
def test_names_of_models_do_not_matter(graph, random):
    order, tied = graph
    other = list(range(len(order)))
    random.shuffle(other)
    moved = np.empty_like(tied)
    moved[np.ix_(other, other)] = tied
    renamed = tie_groups(np.array(other)[order], moved).groups
    expect = tie_groups(order, tied).groups
    assert renamed == tuple(tuple(other[m] for m in group) for group in expect)


@pytest.mark.parametrize("n_models", [1, 2, 65, 300])
def test_all_or_nothing(n_models):
    order = np.arange(n_models)[::-1]
    everyone = tie_groups(order, ~np.eye(n_models, dtype=bool))
    assert everyone.groups == (tuple(order.tolist()),)
    assert everyone.complete
    alone = tie_groups(order, np.zeros((n_models, n_models), bool))
    assert alone.groups == tuple((i,) for i in order.tolist())
    assert alone.complete


def test_many_groups_are_all_listed():
    found = tie_groups(np.arange(18), cocktail_party(9))
    assert len(set(found.groups)) == len(found.groups) == 2**9
    assert found.complete


@pytest.mark.parametrize("n_couples", [20, 150])
def test_too_many_groups_become_runs(n_couples):
    tied = cocktail_party(n_couples)
    n = 2 * n_couples
    order = np.random.default_rng(n).permutation(n)
    start = time.process_time()
    found = tie_groups(order, tied)
    assert time.process_time() - start < 10
    assert not found.complete
    check_runs(order, tied, found.groups)


def check_runs(order, tied, groups):
    """Hold groups against the definition of maximal runs of neighbours."""
    ranked = tied[np.ix_(order, order)] | np.eye(len(order), dtype=bool)
    n = len(order)
    runs = []
    for i in range(n):
        ends = [j for j in range(i, n) if ranked[i : j + 1, i : j + 1].all()]
        end = max(ends)  # every shorter run is one too
        if not runs or end > runs[-1][1]:
            runs.append((i, end))
    expect = tuple(tuple(order[i : end + 1].tolist()) for i, end in runs)
    assert groups == expect
    for group in groups:
        assert all(tied[pair] for pair in combinations(group, 2))
    assert set().union(*groups) == set(range(n))


@given(graphs())
def test_runs_of_any_graph(graph):
    order, tied = graph
    before = tied.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastcmp.pairwise.ties._MAX_GROUPS", 0)
        found = tie_groups(order, tied)
    if found.complete:
        assert {frozenset(g) for g in found.groups} == {
            frozenset(clique) for clique in maximal_cliques(tied)
        }
    check_runs(order, tied, found.groups)
    assert (tied == before).all()


def test_large_random_graphs_end_soon():
    n = 400
    draws = np.random.default_rng(0).random((n, n))
    tied = np.triu(draws < 0.8, 1)
    tied |= tied.T
    start = time.process_time()
    found = tie_groups(np.arange(n), tied)
    assert time.process_time() - start < 10
    assert not found.complete
    check_runs(np.arange(n), tied, found.groups)


@given(graphs(), st.randoms(use_true_random=False))
def test_rank_intervals_by_their_definition(graph, random):
    order, tied = graph
    n = len(order)
    pairs = [(i, j) for i, j in combinations(order.tolist(), 2) if not tied[i, j]]
    random.shuffle(pairs)
    better, worse = np.array(pairs, np.int64).reshape(-1, 2).T
    # Half of the pairs are given the wrong way round: the second one wins.
    turned = np.arange(better.size) % 2 == 1
    given_pairs = np.stack(
        [np.where(turned, worse, better), np.where(turned, better, worse)], axis=1
    )
    gain = np.where(turned, -0.5, 0.5)
    decisions = decisions_of(n, given_pairs, np.ones(better.size, bool), gain)
    found = rank_intervals(decisions)
    for model in range(n):
        losses = sum(loser == model for _, loser in pairs)
        wins = sum(winner == model for winner, _ in pairs)
        assert found[model].tolist() == [1 + losses, n - wins]


def test_rank_intervals_without_decisions():
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    decisions = decisions_of(3, pairs, np.zeros(3, bool), np.array([1.0, 2.0, -1.0]))
    assert rank_intervals(decisions).tolist() == [[1, 3]] * 3


@given(st.integers(2, 9), st.lists(st.integers(0, 4), min_size=9), st.integers(0, 2**36))
def test_decisions_of_all_pairs_are_those_of_a_list_of_them(n, scores, bits):
    score = np.array(scores[:n], float)
    pairs = np.array(list(combinations(range(n), 2)))
    told = np.array([bool(bits >> k & 1) for k in range(len(pairs))])
    gain = score[pairs[:, 0]] - score[pairs[:, 1]]
    decisions = decisions_of(n, pairs, told, gain)
    assert decisions.tobytes() == decisions_of_all(told, score).tobytes()
    for (i, j), apart, by in zip(pairs, told, gain, strict=True):
        wanted = TIED if not apart else EVEN if by == 0 else BETTER if by > 0 else WORSE
        assert decisions[i, j] == wanted
        assert decisions[j, i] == {BETTER: WORSE, WORSE: BETTER}.get(wanted, wanted)
    assert (np.diagonal(decisions) == UNTESTED).all()


def test_pairs_that_were_not_compared_are_neither_tied_nor_decided():
    decisions = decisions_of(3, np.array([[2, 0]]), np.array([True]), np.array([np.nan]))
    assert decisions.tolist() == [[3, 3, 2], [3, 3, 3], [2, 3, 3]]


@given(graphs())
def test_models_share_a_letter_where_they_are_tied(graph):
    order, tied = graph
    found = tie_groups(order, tied)
    marks = found.letters
    if len(found.groups) > 26:
        assert marks == ("",) * len(order)
        return
    for i, j in combinations(range(len(order)), 2):
        assert bool(set(marks[i]) & set(marks[j])) == tied[i, j]
    assert all(marks)
    assert "a" in marks[order[0]]
    assert all(list(mark) == sorted(set(mark)) for mark in marks)


def test_letters_end_at_z():
    alone = tie_groups(np.arange(26), np.zeros((26, 26), bool))
    assert "".join(alone.letters) == "abcdefghijklmnopqrstuvwxyz"
    assert tie_groups(np.arange(27), np.zeros((27, 27), bool)).letters == ("",) * 27
