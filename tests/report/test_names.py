"""Pages of records: names as text, the same bytes, and what they claim."""

import html
from types import SimpleNamespace

import numpy as np
import pytest
from pages import page_of

import fastcmp
from fastcmp import datasets, sequential, stream

HOSTILE = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def data():
    """Labels, two models that predict them, and two columns of scores."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 80)
    a = np.where(rng.random(80) < 0.9, y, 1 - y)
    b = np.where(rng.random(80) < 0.8, y, 1 - y)
    scores = {HOSTILE: y + rng.normal(size=80), "b": y + rng.normal(size=80)}
    return SimpleNamespace(y=y, a=a, b=b, s=scores)


NAMED = {
    "areas": lambda d: fastcmp.delong(d.y, d.s),
    "means": lambda d: fastcmp.mean_difference(*d.s.values(), names=tuple(d.s)),
    "sets": lambda d: fastcmp.best_set(d.s, rng=1),
    "strata": lambda d: fastcmp.mcnemar(d.y, d.a, d.b, strata=[HOSTILE, "b"] * 40),
    "data sets": lambda d: fastcmp.compare_datasets(d.s, tasks=[HOSTILE, *map(str, range(79))]),
    "left out": lambda d: datasets.leave_one_task_out(
        {name: x[:5] for name, x in d.s.items()}, tasks=[HOSTILE, *"abcd"]
    ),
    "probabilities": lambda d: datasets.bayes_sign(*d.s.values(), rope=0.1, names=tuple(d.s)),
    "report": lambda d: fastcmp.classification_report(
        np.where(d.y, HOSTILE, "b"), {HOSTILE: np.where(d.a, HOSTILE, "b")}
    ),
    "looks": lambda d: sequential.PairLooks().look(
        stream.PairCounts().update(d.y, {HOSTILE: d.a, "b": d.b})
    ),
    "gate": lambda d: fastcmp.gate({HOSTILE: fastcmp.mcnemar(d.y, d.a, d.b, margin=0.1)}),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_are_text(data, name):
    text = page_of(NAMED[name](data), title=HOSTILE)
    assert HOSTILE not in text
    assert "<script>alert" not in text
    shown = html.escape(HOSTILE).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    assert text.count(shown) >= 3
    assert text == page_of(NAMED[name](data), title=HOSTILE)


@pytest.mark.parametrize(("n_models", "shift"), [(2, 0.0), (4, 0.0), (2, 3.0), (4, 3.0)])
def test_a_page_of_areas_names_a_best_model_only_if_tests_show_it(n_models, shift):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 80)
    scores = {f"m{i}": rng.normal(size=80) + y_true for i in range(n_models)}
    scores["m0"] += shift * y_true
    result = fastcmp.delong(y_true, scores)
    text = page_of(result)
    smallest = max(result.compare("m0", name).pvalue for name in scores if name != "m0")
    assert (smallest <= 0.05) == (shift > 0)
    doubt = "not significant" if n_models == 2 else "not significantly different from any other"
    assert (doubt in text) == (shift == 0)
    assert ("and is significantly better than all others" in text) == (shift > 0 and n_models > 2)
