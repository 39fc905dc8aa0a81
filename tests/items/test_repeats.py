"""Several answers to an item: one value, and standard errors in parts."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import agree, expected, parametrize

import fastcmp
from fastcmp import from_long, variance_components

ANSWERS = np.array(
    [
        [[1, 0, 1, 1], [0, 0, 1, np.nan], [1, 1, np.nan, np.nan]],
        [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, np.nan]],
    ]
)


def answers(seed, m=3, n=12, r=5, least=2):
    """Answers 0 or 1 of unequal number."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 2, (m, n, r)).astype(float)
    number = generator.integers(least, r + 1, (m, n, 1))
    return np.where(np.arange(r) < number, values, np.nan)


def known(row):
    return [x for x in row if not np.isnan(x)]


def long(values):
    """The same answers as a long table, without those that are NaN."""
    model, item, r = np.nonzero(~np.isnan(values))
    frame = {"item": item, "model": model, "r": r, "value": values[model, item, r]}
    return from_long(frame, repeat="r")


# One value an item.


@given(st.integers(0, 1000), st.sampled_from(["mean", "pass@k", "pass^k"]))
def test_one_value_an_item(seed, way):
    values = answers(seed)
    k = None if way == "mean" else 2
    wanted = np.empty(values.shape[:2])
    for m, i in np.ndindex(wanted.shape):
        row = known(values[m, i])
        right, n = int(sum(row)), len(row)
        wanted[m, i] = {
            "mean": right / n,
            "pass@k": 1 - comb(n - right, 2) / comb(n, 2),
            "pass^k": comb(right, 2) / comb(n, 2),
        }[way]
    found = fastcmp.compare_means(long(values), repeats=way, k=k)
    plain = fastcmp.compare_means(wanted)
    np.testing.assert_allclose(found.score, plain.score, atol=1e-14)
    np.testing.assert_allclose(found.standard_error, plain.standard_error, atol=1e-14)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (ANSWERS, {"repeats": "pass@k"}, "k must be given"),
        (ANSWERS, {"repeats": "mean", "k": 2}, "k belongs to"),
        (ANSWERS, {"repeats": "pass@k", "k": 3}, r"k=3 and 2 answers of 0 to item 2 \(so for 1 of"),
        (ANSWERS / 2, {"repeats": "pass@k", "k": 1}, r"must be 0 or 1 .* got 0\.5"),
    ],
)
def test_options_that_do_not_fit(values, options, message):
    with pytest.raises(ValueError, match=message):
        fastcmp.compare_means(long(values), **options)


# Counts.


def test_counts_broadcast():
    found = fastcmp.pass_at_k([[0, 1], [2, 3]], [4, 8], k=2)
    assert found.shape == (2, 2)
    assert fastcmp.pass_at_k(2, 4, k=2) == pytest.approx(1 - 1 / 6)
    assert isinstance(fastcmp.pass_hat_k(2, 4, k=2), float)
    found = fastcmp.pass_variance([1, 2], 4, k=2)
    assert found == pytest.approx([0.5**2, (1 / 6) ** 2])


@pytest.mark.parametrize(
    ("counts", "k", "message"),
    [
        ((5, 4), 2, "n_correct must be at most n_samples, got 5 right of 4"),
        ((2, 4), 5, "k must be at most n_samples, got k=5 for 4"),
        (([1, 2], [4, 4, 4]), 2, "must broadcast"),
    ],
)
def test_counts_that_do_not_fit(counts, k, message):
    for name in ("pass_at_k", "pass_hat_k", "pass_variance", "g_pass_at_k"):
        options = {"tau": 0.5} if name == "g_pass_at_k" else {}
        with pytest.raises(ValueError, match=message):
            getattr(fastcmp, name)(*counts, k=k, **options)
    with pytest.raises(ValueError, match=r"2 \* k must be at most n_samples"):
        fastcmp.pass_variance(2, 5, k=3)


# Components.


@parametrize("repeats_components_one_model")
def test_components_of_one_model(case):
    parts = variance_components([case["input"]["values"]])
    agree(case, parts, "mean", "between_items", "within_item", mean_se="se")


@parametrize("repeats_components_pair")
def test_components_of_a_pair(case):
    parts = variance_components({x: case["input"][x] for x in "ab"})
    planned = (case["options"][f"planned_k_{x}"] for x in "ab")
    agree(case, parts, "difference", "se", "omega2", "se_same_items")
    assert parts.n_items - 1 == expected(case, "df")
    assert parts.difference[0] / parts.se[0] == expected(case, "statistic")
    assert parts.within_item[0] == expected(case, "within_a")
    assert parts.within_item[1] == expected(case, "within_b")
    assert parts.se_planned(*planned)[0] == expected(case, "se_planned")


@given(st.integers(0, 1000))
def test_components_by_the_formulas(seed):
    values = answers(seed)
    parts = variance_components(values)
    rows = [[known(answered) for answered in model] for model in values]
    means = np.array([[np.mean(x) for x in model] for model in rows])
    noise = np.array([[np.var(x, ddof=1) / len(x) for x in model] for model in rows])
    within = [np.mean([np.var(x, ddof=1) for x in model]) for model in rows]
    near = {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(parts.within_item, within, **near)
    np.testing.assert_allclose(
        parts.between_items, means.var(axis=1, ddof=1) - noise.mean(axis=1), **near
    )
    for p, (a, b) in enumerate(parts.pairs):
        d = means[a] - means[b]
        omega2 = d.var(ddof=1) - (noise[a] + noise[b]).mean()
        assert parts.omega2[p] == pytest.approx(omega2, abs=1e-13)
        assert parts.se[p] == pytest.approx(d.std(ddof=1) / np.sqrt(12), abs=1e-13)


@pytest.mark.parametrize("way", ["mean", "pass@k", "pass^k"])
def test_variances_are_unbiased_over_all_answers(way):
    # Two items of known chances: all possible answers, weighted by their probability.
    chances, r, k = np.array([[0.3, 0.8], [0.5, 0.6]]), 2, 1
    bits = np.array(list(np.ndindex(*(2,) * 8))).reshape(-1, 2, 2, r).astype(float)
    p = chances[:, :, None]
    weights = np.where(bits == 1, p, 1 - p).prod(axis=(1, 2, 3))
    options = {} if way == "mean" else {"repeats": way, "k": k}
    found = [variance_components(x, **options) for x in bits]
    truth = chances.var(axis=1, ddof=1)
    between = np.array([x.between_items for x in found])
    np.testing.assert_allclose(weights @ between, truth, atol=1e-12)
    omega2 = np.array([x.omega2[0] for x in found])
    wanted = (chances[0] - chances[1]).var(ddof=1)
    assert weights @ omega2 == pytest.approx(wanted, abs=1e-12)


def test_laws_of_components():
    # As planned now, where answers are of equal number, is as it is.
    parts = variance_components(answers(9, least=5))
    known_parts = parts.between_items > 0
    assert known_parts.any()
    np.testing.assert_allclose(parts.mean_se_planned(5)[known_parts], parts.mean_se[known_parts])
    known_parts = parts.omega2 > 0
    np.testing.assert_allclose(parts.se_planned(5)[known_parts], parts.se[known_parts])
    np.testing.assert_allclose(parts.se_planned(10**9, n_items=48), parts.se_items / 2, atol=1e-5)


def test_models_that_are_nearly_equal():
    generator = np.random.default_rng(3)
    first = generator.normal(1e6, 1.0, (1, 50, 3))
    values = np.concatenate([first, first + generator.normal(0, 1e-7, first.shape), first])
    parts = variance_components(values)
    means = values.mean(axis=2)
    wanted = (means[0] - means[1]).std(ddof=1) / np.sqrt(50)
    assert parts.se[0] == pytest.approx(wanted, rel=1e-9)
    assert parts.se[1] == 0.0


def test_items_that_a_model_lacks():
    values = answers(4)
    values[1, 3] = np.nan
    values[2, 7] = np.nan
    with pytest.raises(ValueError, match=r"no answer of model_1 to item 3 \(so for 2 of 12"):
        variance_components(values)
    parts = variance_components(values, missing="common")
    assert parts.n_dropped == 2
    assert parts.n_items == 10
    kept = np.delete(values, [3, 7], axis=1)
    np.testing.assert_array_equal(parts.omega2, variance_components(kept).omega2)
    assert "2 items that a model did not answer were left out" in str(parts)
    table = from_long(crashed("b"), repeat="r")
    with pytest.raises(ValueError, match=r"answers are missing.* of b .*missing='common'"):
        variance_components(table)
    assert variance_components(table, missing="common").difference.tolist() == [0.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (ANSWERS[:, :, :1], r"one answer of model_0 to item 0 \(so for 6 of 6"),
        (ANSWERS[:, :1], "two items at least"),
        (ANSWERS[0], r"shape \(M, n, R\)"),
        (np.where(ANSWERS == 0, -np.inf, ANSWERS), "finite"),
        ({"a": ANSWERS[0], "b": ANSWERS[1, :2]}, "the same n items"),
    ],
)
def test_what_cannot_be_split(values, message):
    with pytest.raises(ValueError, match=message):
        variance_components(values)


def test_what_is_said():
    text = str(variance_components(answers(2, m=2, least=5), names=list("ab")))
    assert "12 items, 5 answers to each (mean of the answers)" in text
    assert "With unlimited answers per item the standard error would fall" in text
    parts = variance_components(answers(2, m=1, least=4), repeats="pass@k", k=2)
    assert "pass@2 of the answers" in str(parts)
    with pytest.raises(ValueError, match="repeats='mean'"):
        parts.mean_se_planned(3)


# Missing answers.


def crashed(model):
    """Answers of two equal models to 30 items, of which one crashes where it would fail."""
    values = np.repeat((np.arange(90) % 30 >= 9).reshape(30, 1, 3), 2, axis=1).astype(float)
    if model is not None:
        values[:, "ab".index(model)][values[:, 0] == 0] = np.nan
    item, name, r = np.indices(values.shape).reshape(3, -1)
    return {"item": item, "model": np.array(["a", "b"])[name], "value": values.ravel(), "r": r}


COMPARISONS = {
    "compare_means": ({}, "score"),
    "best_set": ({}, "estimate"),
    "winner_estimate": ({}, "estimate"),
    "superior_ability": ({"control": 0}, "estimate"),
}


@pytest.mark.parametrize("function", COMPARISONS)
def test_a_missing_answer_needs_a_policy(function):
    options, field = COMPARISONS[function]

    def compare(values, **more):
        return getattr(getattr(fastcmp, function)(values, **options | more), field)

    known = np.array(crashed("b")["value"], float).reshape(30, 2, 3)
    kept = known[~np.isnan(known).any(axis=(1, 2))].mean(axis=2).T
    right = compare(from_long(crashed(None), repeat="r"))
    for values in (
        *(from_long(crashed("b"), repeat="r"), known.transpose(1, 0, 2)),
        dict(zip("ab", known.transpose(1, 0, 2), strict=True)),
    ):
        with pytest.raises(ValueError, match=r"lacks \d+ .*missing='common'.*'wrong'"):
            compare(values)
        np.testing.assert_allclose(compare(values, missing="wrong"), right, atol=1e-15)
        np.testing.assert_allclose(compare(values, missing="common"), compare(kept), atol=1e-15)
    if function == "compare_means":
        record = fastcmp.compare_means(values, missing="wrong")
        assert record.n_missing_values == (0, 27)
        assert "27" in str(record)
        for blocks in (known.transpose(1, 0, 2), np.ma.masked_invalid(known.transpose(1, 0, 2))):
            with pytest.raises(ValueError, match="values must be finite"):
                fastcmp.stream.ValueMoments().update(blocks)
