"""Hypothesis strategies for counts, tables, matrices and p-values."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

HUGE = 10**12


@contextmanager
def any_labels():
    """Let labels that are drawn without regard to the truth be predictions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastcmp.inputs.labels.refuse_scores", lambda *_: None)
        patch.setattr(
            "fastcmp.inputs.labels.check_predictions", lambda _, models, *__: (0,) * len(models)
        )
        yield


def counts(largest=HUGE):
    """Counts that favour 0, small numbers and the largest."""
    return st.one_of(
        st.integers(0, min(largest, 30)), st.integers(0, largest), st.sampled_from([0, 1, largest])
    )


@st.composite
def count_pairs(draw, largest=HUGE):
    """Draw two discordant counts: any, equal, nearly equal, or one of them tiny."""
    a = draw(counts(largest))
    b = draw(
        st.one_of(
            counts(largest),
            st.just(a),
            st.integers(max(0, a - 3), min(largest, a + 3)),
            st.integers(0, 2),
        )
    )
    return draw(st.sampled_from([(a, b), (b, a)]))


@st.composite
def tables(draw, largest=HUGE):
    """Draw the cells both_right, only_a, only_b, both_wrong of at least one sample."""
    only_a, only_b = draw(count_pairs(largest))
    both_right, both_wrong = draw(counts(largest)), draw(counts(largest))
    if both_right + only_a + only_b + both_wrong == 0:
        both_right = 1
    return both_right, only_a, only_b, both_wrong


@st.composite
def right_matrices(draw, max_models=9, max_samples=200):
    """Draw a 0/1 matrix, models first, among them constant rows and columns."""
    shape = (draw(st.integers(2, max_models)), draw(st.integers(1, max_samples)))
    seed = draw(st.integers(0, 2**32 - 1))
    share = draw(st.sampled_from([0.0, 0.05, 0.5, 0.9, 1.0]))
    right = (np.random.default_rng(seed).random(shape) < share).astype(np.uint8)
    if draw(st.booleans()):
        right[draw(st.integers(0, shape[0] - 1))] = draw(st.integers(0, 1))
    return right


def square_tables(max_classes=6, largest=40):
    """Tables of what two models predicted, with many empty cells."""
    cell = st.one_of(st.just(0), st.integers(0, largest))
    sizes = st.integers(1, max_classes)
    return sizes.flatmap(lambda k: hnp.arrays(np.int64, (k, k), elements=cell))


def codes(max_samples=300, n_classes=4, dtypes=(np.uint8, np.uint16, np.int32, np.int64)):
    """Draw three arrays of codes, with one dtype for all."""
    return st.tuples(st.integers(0, max_samples), st.sampled_from(dtypes)).flatmap(
        lambda drawn: hnp.arrays(drawn[1], (3, drawn[0]), elements=st.integers(0, n_classes - 1))
    )


def pvalues(max_size=12):
    """Lists of p-values with ties, exact zeros and ones, and tiny ones."""
    value = st.one_of(
        st.floats(0.0, 1.0), st.sampled_from([0.0, 1e-300, 1e-12, 0.01, 0.02, 0.05, 0.5, 1.0])
    )
    return st.lists(value, min_size=1, max_size=max_size)


levels = st.one_of(st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]), st.floats(0.01, 0.9999))
alternatives = st.sampled_from([0, 1, -1])


@st.composite
def clustered(draw, n_rows=3):
    """Labels of rows of samples, and the cluster of each sample."""
    sizes = draw(st.lists(st.integers(1, 150), min_size=1, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return rng.integers(0, 2, (n_rows, groups.size), np.uint8), groups
