"""What follows from the decisions about all pairs: ranks, groups of ties, letters."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import compare_all

BETTER, WORSE, TIED, EVEN, UNTESTED = 1, -1, 0, 2, 3


def decided(order, tied, score=None):
    """A comparison of models ranked in an order, in which some pairs are tied."""
    n = len(order)
    made = compare_all([0, 1], np.zeros((n, 2), int))
    i, j = made.pairs.T
    score = -np.argsort(order).astype(float) if score is None else np.array(score, float)
    return replace(
        made,
        score=score,
        difference=score[i] - score[j],
        pvalue_adjusted=np.where(tied[i, j], 1.0, 0.0),
        all_decisions=None,
    )


def groups_of(record):
    return tuple(tuple(int(name[6:]) for name in group) for group in record.tie_groups)


@st.composite
def graphs(draw, largest=8):
    """Draw a symmetric graph of ties, and an order of its models."""
    n = draw(st.integers(2, largest))
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
    found = decided(order, tied)
    groups = groups_of(found)
    assert found.tie_groups_complete
    expect = {frozenset(clique) for clique in maximal_cliques(tied)}
    assert {frozenset(group) for group in groups} == expect
    assert len(groups) == len(expect)
    place = {model: i for i, model in enumerate(order.tolist())}
    places = [[place[model] for model in group] for group in groups]
    assert all(group == sorted(group) for group in places)  # best first within
    assert places == sorted(places)  # and among groups


def random_ties(n):
    draws = np.random.default_rng(0).random((n, n))
    tied = np.triu(draws < 0.8, 1)
    return tied | tied.T


@pytest.mark.parametrize(
    ("graph", "size"), [(cocktail_party, 20), (cocktail_party, 60), (random_ties, 250)]
)
def test_too_many_groups_become_runs(graph, size):
    """Maximal runs of neighbours in the ranking."""
    tied = graph(size)
    n = len(tied)
    order = np.random.default_rng(n).permutation(n)
    found = decided(order, tied)
    assert not found.tie_groups_complete
    ranked = tied[np.ix_(order, order)] | np.eye(n, dtype=bool)
    runs = []
    for i in range(n):
        end = max(j for j in range(i, n) if ranked[i : j + 1, i : j + 1].all())
        if not runs or end > runs[-1][1]:  # every shorter run is one too
            runs.append((i, end))
    assert groups_of(found) == tuple(tuple(order[i : end + 1].tolist()) for i, end in runs)
    assert "mark runs of the ranking" in found.summary()
    assert found.to_dict()["tie_groups_complete"] is False


@given(graphs())
def test_ranks_by_their_definition(graph):
    order, tied = graph
    n = len(order)
    found = decided(order, tied).leaderboard
    assert found.models.tolist() == order.tolist()
    for place, model in enumerate(order.tolist()):
        losses = sum(not tied[model, better] for better in order[:place])
        wins = sum(not tied[model, worse] for worse in order[place + 1 :])
        assert found.rank_interval[place].tolist() == [1 + losses, n - wins]


@given(graphs(), st.lists(st.integers(0, 4), min_size=9))
def test_decisions_are_of_each_two_models(graph, scores):
    order, tied = graph
    found = decided(order, tied, scores[: len(order)])
    for i, j in combinations(range(len(order)), 2):
        by = scores[i] - scores[j]
        wanted = TIED if tied[i, j] else EVEN if by == 0 else BETTER if by > 0 else WORSE
        assert found.decisions[i, j] == wanted
        assert found.decisions[j, i] == {BETTER: WORSE, WORSE: BETTER}.get(wanted, wanted)
    assert (np.diagonal(found.decisions) == UNTESTED).all()


@given(graphs())
def test_models_share_a_letter_where_they_are_tied(graph):
    order, tied = graph
    marks = decided(order, tied).groups.letters
    for i, j in combinations(range(len(order)), 2):
        assert bool(set(marks[i]) & set(marks[j])) == tied[i, j]
    assert all(marks)
    assert "a" in marks[order[0]]
    assert all(list(mark) == sorted(set(mark)) for mark in marks)


def test_letters_end_at_z():
    alone = decided(np.arange(26), np.zeros((26, 26), bool))
    assert "".join(alone.groups.letters) == "abcdefghijklmnopqrstuvwxyz"
    assert decided(np.arange(27), np.zeros((27, 27), bool)).groups.letters == ("",) * 27
