"""Long tables: joined by item, whatever the order of the rows and the library."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import pa, pd, pl

from fastcmp import from_long

ROWS = {
    "item": ["q1", "q2", "q1", "q3", "q2"],
    "model": ["b", "a", "a", "a", "b"],
    "value": [0.5, 1.0, 0.25, 0.0, -2.0],
}
TABLE = [[0.5, -2.0, np.nan], [0.25, 1.0, 0.0]]
FRAMES = {
    "mapping": dict,
    "arrays": lambda rows: {name: np.array(x) for name, x in rows.items()},
    "pandas": lambda rows: pd.DataFrame(rows),  # noqa: PLW0108  # imports pandas late
    "pandas arrow": lambda rows: pa.table(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda rows: pd.DataFrame(rows).astype(
        dict.fromkeys(("item", "model"), "category")
    ),
    "polars": lambda rows: pl.DataFrame(rows),  # noqa: PLW0108
    "pyarrow": lambda rows: pa.table(rows),  # noqa: PLW0108
}


def rows(**changed):
    return ROWS | changed


def naive(cells):
    """Join by item with dictionaries: {(item, model): [values]}."""
    items, models = (list(dict.fromkeys(cell[i] for cell in cells)) for i in (0, 1))
    most = max(map(len, cells.values()))
    padded = {cell: x + [np.nan] * (most - len(x)) for cell, x in cells.items()}
    nothing = [np.nan] * most
    return (
        items,
        models,
        [[padded.get((item, model), nothing) for item in items] for model in models],
    )


@pytest.mark.parametrize("library", FRAMES)
def test_all_libraries(library):
    table = from_long(FRAMES[library](ROWS))
    assert table.names == ("b", "a")
    assert table.items.tolist() == ["q1", "q2", "q3"]
    np.testing.assert_array_equal(table.values, TABLE)
    assert table.values.dtype == np.float64
    assert table.n_answers is None


@given(st.data())
def test_as_a_join_of_dictionaries(data):
    labels = st.integers(-3, 3)
    cells = data.draw(
        st.dictionaries(
            st.tuples(labels, labels),
            st.lists(st.floats(-9, 9), min_size=1, max_size=3),
            min_size=1,
            max_size=12,
        )
    )
    lines = [
        (item, model, r, x)
        for (item, model), answers in cells.items()
        for r, x in enumerate(answers)
    ]
    order = data.draw(st.permutations(range(len(lines))))
    lines = [lines[i] for i in order]
    sorted_cells = {(i, m): cells[i, m] for i, m, _, _ in lines}
    items, models, values = naive(sorted_cells)
    item, model, repeat, value = map(list, zip(*lines, strict=True))
    frame = {"i": item, "m": model, "r": repeat, "v": value}
    found = from_long(frame, item="i", model="m", value="v", repeat="r")
    assert found.items.tolist() == items
    assert found.names == tuple(map(str, models))
    # Repeats keep the order in which their numbers are first seen.
    place = list(dict.fromkeys(repeat))
    wanted = np.array(values)
    lengths = np.isfinite(wanted).sum(axis=2)
    for m, i in np.ndindex(lengths.shape):
        kept = [r for r in place if r < lengths[m, i]]
        wanted[m, i, : len(kept)] = wanted[m, i, kept]
    np.testing.assert_array_equal(found.values, wanted)
    np.testing.assert_array_equal(found.n_answers, lengths)
    means = [
        [np.mean(x[:n]) if n else np.nan for x, n in zip(*row, strict=True)]
        for row in zip(wanted, lengths, strict=True)
    ]
    np.testing.assert_allclose(found.means, means, rtol=0, atol=1e-14)


FLAGS = [True, False, True, False, True]
BOOLS = {
    "list": lambda: FLAGS,
    "array": lambda: np.array(FLAGS),
    "boolean": lambda: pd.Series(FLAGS, dtype="boolean"),
    "arrow": lambda: pd.Series(FLAGS, dtype="bool[pyarrow]"),
    "polars": lambda: pl.Series(FLAGS),
    "chunks": lambda: pa.chunked_array([FLAGS[:2], FLAGS[2:]]),
    "any": lambda: [Decimal(1), 0, 1.0, np.float32(0), np.bool_(True)],
}


@pytest.mark.parametrize("kind", BOOLS)
def test_booleans_and_numbers_of_any_type(kind):
    table = from_long(rows(value=BOOLS[kind]()))
    np.testing.assert_array_equal(table.values, [[1, 1, np.nan], [1, 0, 0]])


HOLES = [0.5, None, 0.25, 0.0, -2.0]
WITH_HOLES = {
    "list": lambda: HOLES,
    "NaN": lambda: [0.5, np.nan, 0.25, 0.0, -2.0],
    "masked": lambda: np.ma.masked_values([0.5, 7.0, 0.25, 0.0, -2.0], 7.0),
    "pandas": lambda: pd.Series(HOLES, dtype="Float64"),
    "polars": lambda: pl.Series(HOLES),
    "arrow": lambda: pa.array(HOLES),
}


@pytest.mark.parametrize("kind", WITH_HOLES)
def test_a_missing_value_is_as_good_as_a_missing_row(kind):
    table = from_long(rows(value=WITH_HOLES[kind]()))
    np.testing.assert_array_equal(table.values, [[0.5, -2.0, np.nan], [0.25, np.nan, 0.0]])
    found = [(each.model, each.n_items, each.examples) for each in table.missing]
    assert found == [("b", 1, ("q3",)), ("a", 1, ("q2",))]


def test_answers_of_unequal_number():
    table = from_long(
        {
            "item": ["q1", "q1", "q1", "q2", "q2"],
            "model": ["a"] * 5,
            "value": [1, 0, 1, None, 0],
            "seed": [7, 8, 9, 7, 8],
        },
        repeat="seed",
    )
    assert table.n_answers.tolist() == [[3, 2]]
    np.testing.assert_array_equal(table.values, [[[1, 0, 1], [np.nan, 0, np.nan]]])
    np.testing.assert_allclose(table.means, [[2 / 3, np.nan]])
    assert "Answers to an item by a model: 2 to 3." in str(table)
    assert [(each.model, each.examples) for each in table.missing] == [("a", ("q2",))]


def test_groups_strata_and_weights_are_of_items():
    table = from_long(
        rows(g=["x", "y", "x", "x", "y"], s=[1, 1, 1, 2, 1], w=[0.5, 2, 0.5, 1, 2]),
        group="g",
        stratum="s",
        weight="w",
    )
    assert table.groups.tolist() == ["x", "y", "x"]
    assert table.strata.tolist() == [1, 1, 2]
    assert table.weights.tolist() == [0.5, 2.0, 1.0]
    text = str(table)
    assert "2 models, 3 items" in text
    assert "in 2 groups" in text
    assert "in 2 strata" in text
    assert "from 0.5 to 2" in text
    assert "b has no value for 1 of 3 items, such as 'q3'." in text


def test_missing_items_of_many_models_are_counted():
    frame = {"item": [*range(5), *range(5)], "model": [*"abcde", *"f" * 5]}
    table = from_long(frame | {"value": np.ones(10)})
    assert len(table.missing) == 5
    assert table.missing[0] == ("a", 4, (1, 2, 3))
    assert "2 more models lack values too." in str(table)


REFUSED = {
    "two values": (
        rows(item=["q1", "q2", "q1", "q3", "q1"], model=list("baaab")),
        {},
        r"frame: 1 \(item, model\) has several rows, the first \('q1', 'b'\); pass",
    ),
    "two values of a repeat": (
        rows(item=["q1"] * 5, model=["a"] * 5, r=[1, 2, 1, 2, 3]),
        {"repeat": "r"},
        r"2 \(item, model, r\) have several rows, the first \('q1', 'a', 1\); \('q1', 'a', 2\)$",
    ),
    "groups that disagree": (
        rows(g=[1, 2, 3, 1, 2]),
        {"group": "g"},
        "'g' must be the same in all rows of an item, and differs for 1 of 3 items: "
        "'q1' has 1 and 3",
    ),
    "strata that disagree": (
        rows(s=list("uvuvw")),
        {"stratum": "s"},
        "differs for 1 of 3 items: 'q2' has 'v' and 'w'",
    ),
    "weights that disagree": (
        rows(w=[1, 2, 1, 1, 3]),
        {"weight": "w"},
        "differs for 1 of 3 items: 'q2' has 2 and 3",
    ),
    "missing weight": (rows(w=[1, 2, 1, None, 2]), {"weight": "w"}, "'w' is missing"),
    "missing group": (rows(g=[1, 2, 1, None, 2]), {"group": "g"}, "'g' is missing in 1"),
    "missing item": (rows(item=["q", None, "p", None, "r"]), {}, "in 2 of 5 rows.* 1, 3"),
    "missing model": (rows(model=["q", "p", "p", None, "q"]), {}, "'model' is missing"),
    "infinite": (
        rows(value=[1, np.inf, 0, -np.inf, 1]),
        {},
        r"2 infinite values, the first for \('q2', 'a'\); \('q3', 'a'\)",
    ),
    "no column": (ROWS, {"group": "doc"}, "group='doc' is no column.* 'item', 'model'"),
    "lengths": (rows(value=[1.0]), {}, "equal length"),
    "no rows": ({"item": [], "model": [], "value": []}, {}, "at least one row"),
    "two dimensions": (rows(value=np.ones((5, 2))), {}, "one-dimensional"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    frame, options, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        from_long(frame, **options)


@pytest.mark.parametrize("column", [["cat", "dog"] * 2 + ["cat"], [{}] * 5, [1j] * 5])
def test_labels_for_values(column):
    with pytest.raises(TypeError, match="labels belong to compare_all"):
        from_long(rows(value=column))


def test_a_lazy_frame_is_none():
    with pytest.raises(TypeError, match="frame must be a pandas, polars or pyarrow"):
        from_long(pl.DataFrame(ROWS).lazy())


def test_a_table_that_memory_cannot_hold_is_refused():
    # Each row has an item and a model of its own: of 9e10 cells 3e5 have a value.
    own = np.arange(300_000)
    with pytest.raises(ValueError, match=r"300000 models and 300000 items .* memory"):
        from_long({"item": own, "model": own, "value": np.ones(own.size)})
