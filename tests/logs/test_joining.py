"""Joining by item and repeat against dictionaries."""

import pytest
import toy_logs
from hypothesis import given
from hypothesis import strategies as st

import fastcmp


@st.composite
def answers(draw):
    """Draw the answers of a few models, by item and repeat."""
    numbers = st.one_of(st.integers(0, 6), st.integers(-(2**60), 2**60))
    items = draw(st.sampled_from((numbers, st.text("ab0", min_size=1, max_size=2))))
    pool = draw(st.lists(items, min_size=1, max_size=6, unique=True))
    repeat = st.integers(0, draw(st.sampled_from((0, 3))))
    key = st.tuples(st.sampled_from(pool), repeat)
    one = st.dictionaries(key, st.integers(-9, 9), min_size=1, max_size=12)
    return draw(st.lists(one, min_size=1, max_size=4))


@given(answers())
def test_against_dictionaries(tmp_path_factory, models):
    parts = []
    for i, own in enumerate(models):
        items, repeats = zip(*own, strict=True)
        parts.append(toy_logs.part(f"m{i}", items, own.values(), repeats=repeats))
    folder = toy_logs.write(tmp_path_factory.mktemp("logs"), *parts)
    common = set.intersection(*map(set, models))
    if common != set().union(*models):
        with pytest.raises(ValueError, match="items='common'"):
            fastcmp.read_results(folder)
    if not common:
        return
    results = fastcmp.read_results(folder, items="common")
    names = results.items[results.columns_items].tolist()
    keys = list(zip(map(str, names), results.repeats.tolist(), strict=True))
    texts = [{(str(item), repeat): x for (item, repeat), x in own.items()} for own in models]
    assert sorted(keys) == sorted((str(item), repeat) for item, repeat in common)
    assert results.answers.tolist() == [[own[key] for key in keys] for own in texts]
