"""Joining by item and repeat against dictionaries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from toy_logs import part

from fastcmp.io.logs.joining import join
from fastcmp.io.logs.policies import scatter

NUMBERS = st.one_of(st.integers(0, 6), st.integers(-(2**60), 2**60))
TEXTS = st.text("ab0", max_size=2)


@st.composite
def answers(draw):
    """Draw the answers of a few models, by item and repeat."""
    items = draw(st.sampled_from((NUMBERS, TEXTS)))
    with_repeats = draw(st.booleans())
    repeat = st.integers(0, 3) if with_repeats else st.just(0)
    pool = draw(st.lists(items, min_size=1, max_size=6, unique=True))
    key = st.tuples(st.sampled_from(pool), repeat)
    value = st.floats(-9, 9)
    one = st.dictionaries(key, value, min_size=1, max_size=12)
    return draw(st.lists(one, min_size=1, max_size=4)), with_repeats


def parts_of(models, with_repeats):
    made = []
    for i, own in enumerate(models):
        more = {"repeats": [repeat for _, repeat in own]} if with_repeats else {}
        items = [item for item, _ in own]
        made.append(part(f"m{i}", items, list(own.values()), **more))
    return made


@given(answers())
def test_against_dictionaries(drawn):
    models, with_repeats = drawn
    joint = join(parts_of(models, with_repeats))
    named = [
        {(joint.item_of(key), joint.repeat_of(key)): row for row, key in enumerate(keys)}
        for keys in (each.tolist() for each in joint.keys)
    ]
    wanted = [
        {(str(item), repeat): row for row, (item, repeat) in enumerate(own)} for own in models
    ]
    assert named == wanted
    assert all(rows.size == 0 for rows in joint.twice)
    n = joint.present()
    common = set.intersection(*map(set, wanted))
    keys = np.flatnonzero(n == len(models))
    assert {(joint.item_of(k), joint.repeat_of(k)) for k in keys.tolist()} == common
    block = scatter(joint, keys)
    for model, row in zip(models, block.values, strict=True):
        texts = {(str(item), repeat): value for (item, repeat), value in model.items()}
        for key, value in zip(keys.tolist(), row.tolist(), strict=True):
            assert texts[joint.item_of(key), joint.repeat_of(key)] == value


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_rows_that_are_there_twice(items):
    (rows,) = join([part(items=items, values=[0] * len(items))]).twice
    seen = set()
    again = [i for i, x in enumerate(items) if x in seen or seen.add(x)]
    assert rows.tolist() == again
