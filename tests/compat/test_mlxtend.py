"""The same as mlxtend where it is right, and both values where it is not."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from libraries import stats

from fastcmp.compat import mlxtend as ours

NAMES = [
    *("accuracy_score", "bias_variance_decomp", "bootstrap", "bootstrap_point632_score"),
    *("cochrans_q", "combined_ftest_5x2cv", "confusion_matrix", "ftest", "lift_score", "mcnemar"),
    *("mcnemar_table", "mcnemar_tables", "paired_ttest_5x2cv", "paired_ttest_kfold_cv"),
    *("paired_ttest_resampled", "permutation_test", "proportion_difference", "scoring"),
]
OPTIONS = [{}, {"corrected": False}, {"exact": True}, {"exact": True, "corrected": 0}]
IDENTICAL = [[50, 0], [0, 10]]


@pytest.fixture(autouse=True, scope="module")
def peer():
    """Import mlxtend where the first test runs, not where tests are collected."""
    global theirs  # noqa: PLW0603
    from mlxtend import evaluate as theirs


def quietly(name, *args, **options):
    """Call mlxtend's function without its divisions by zero being errors."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return getattr(theirs, name)(*args, **options)


def draw_labels(n_models, n, kind, seed):
    """Draw true labels and predictions that are right on about 70 % of the samples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    labels = [y]
    for _ in range(n_models):
        wrong = rng.random(n) < 0.3
        labels.append(np.where(wrong, (y + rng.integers(1, 4, n)) % 4, y))
    if kind == "str":
        words = np.array(["ant", "bee", "a longer word", ""])
        return [words[codes] for codes in labels]
    return [codes.astype(kind) for codes in labels]


@pytest.fixture(params=["int64", "uint8", "float64", "str"])
def kind(request):
    return request.param


# ------------------------------------------------------------------ where both agree


def test_names_and_signatures():
    assert ours.__all__ == NAMES
    for name in NAMES:
        of_ours = inspect.signature(getattr(ours, name)).parameters.values()
        of_theirs = inspect.signature(getattr(theirs, name)).parameters.values()
        assert [(p.name, p.default, p.kind) for p in of_ours] == [
            (p.name, p.default, p.kind) for p in of_theirs
        ]


@pytest.mark.parametrize("n_models", [2, 3, 6])
@pytest.mark.parametrize("n", [2, 150])
def test_mcnemar_tables(kind, n_models, n):
    labels = draw_labels(n_models, n, kind, seed=n_models)
    tables, expected = ours.mcnemar_tables(*labels), theirs.mcnemar_tables(*labels)
    assert list(tables) == list(expected)
    for pair, table in tables.items():
        np.testing.assert_array_equal(table, expected[pair])
        assert table.dtype == np.float64 == expected[pair].dtype
        assert table.flags.owndata
    table, expected = ours.mcnemar_table(*labels[:3]), theirs.mcnemar_table(*labels[:3])
    np.testing.assert_array_equal(table, expected)
    assert table.dtype == np.int64 == expected.dtype
    named = dict(zip(("y_target", "y_model1", "y_model2"), labels[:3], strict=True))
    np.testing.assert_array_equal(ours.mcnemar_table(**named), expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_mcnemar(options, dtype):
    rng = np.random.default_rng(5)
    for largest in (4, 30, 5000):
        for _ in range(40):
            table = rng.integers(0, largest, (2, 2)).astype(dtype)
            if table[0, 1] == table[1, 0]:
                table[0, 1] += 1
            chi2, p = ours.mcnemar(table, **options)
            expected_chi2, expected_p = theirs.mcnemar(table, **options)
            if options.get("exact"):
                assert chi2 is expected_chi2 is None
            else:
                assert type(chi2) is type(expected_chi2) is np.float64
                assert chi2 == pytest.approx(expected_chi2, rel=1e-14)
            assert isinstance(p, float)
            assert p == pytest.approx(expected_p, rel=1e-11)


@pytest.mark.parametrize("n_models", [2, 3, 6])
@pytest.mark.parametrize("n", [12, 300])
def test_cochrans_q_and_f(kind, n_models, n):
    labels = draw_labels(n_models, n, kind, seed=100 + n_models)
    q, p = ours.cochrans_q(*labels)
    expected_q, expected_p = theirs.cochrans_q(*labels)
    assert type(q) is type(expected_q) is np.float64
    assert type(p) is type(expected_p) is np.float64
    assert (q, p) == pytest.approx((expected_q, expected_p), rel=1e-12, abs=1e-12)
    f, p = ours.ftest(*labels)
    expected_f, _ = theirs.ftest(*labels)
    assert type(f) is type(expected_f) is np.float64
    assert type(p) is np.float64
    assert f == pytest.approx(expected_f, rel=1e-9, abs=1e-9)


# ------------------------------------------------- what the sources print (errata.md)


def test_printed_exact_p_is_a_misprint():
    # B4: the page prints 0.005859375, which lacks one term of its own sum.
    table = np.array([[9959, 11], [1, 29]])
    for module in (ours, theirs):
        chi2, p = module.mcnemar(table, exact=True)
        assert chi2 is None
        assert p == pytest.approx(0.00634765625, rel=1e-13)
    assert 2 * 12 / 2**12 == 0.005859375
    assert 2 * (12 + 1) / 2**12 == 0.00634765625


def test_printed_table_exchanges_the_models():
    # B1: the page prints [[4, 1], [2, 3]].
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    first = np.array([0, 1, 0, 0, 0, 1, 1, 0, 0, 0])
    second = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0, 0])
    for module in (ours, theirs):
        assert module.mcnemar_table(y, first, second).tolist() == [[4, 2], [1, 3]]
        table = module.mcnemar_tables(y, first, second)["model_0 vs model_1"]
        assert table.tolist() == [[4, 2], [1, 3]]


# ------------------------------------------------------- where mlxtend is wrong: both


def test_identical_models():
    for corrected, wrong in ((True, (np.inf, 0.0)), (False, (np.nan, np.nan))):
        assert quietly("mcnemar", np.array(IDENTICAL), corrected=corrected) == pytest.approx(
            wrong, nan_ok=True
        )
        assert ours.mcnemar(IDENTICAL, corrected=corrected) == (0.0, 1.0)
    assert ours.mcnemar(IDENTICAL, exact=True) == (None, 1.0)
    assert theirs.mcnemar(np.array(IDENTICAL), exact=True) == (None, 1.0)


@pytest.mark.parametrize("b", [1, 7, 200])
def test_correction_of_equal_counts(b):
    table = np.array([[40, b], [b, 9]])
    chi2, p = theirs.mcnemar(table)
    assert chi2 == 1 / (2 * b)
    assert p == pytest.approx(stats.chi2.sf(1 / (2 * b), 1))
    assert p < 1
    assert ours.mcnemar(table) == (0.0, 1.0)
    assert ours.mcnemar(table, corrected=False) == (0.0, 1.0)
    assert theirs.mcnemar(table, corrected=False) == (0.0, 1.0)


def test_unsigned_counts():
    table = np.array([[5, 7], [10, 2]])
    expected = theirs.mcnemar(table)
    assert expected[0] == pytest.approx(4 / 17)
    assert quietly("mcnemar", table.astype(np.uint8))[0] == pytest.approx(252**2 / 17)
    assert ours.mcnemar(table.astype(np.uint8)) == pytest.approx(expected)


@pytest.mark.parametrize("n_models", [2, 3, 6])
@pytest.mark.parametrize("n", [4, 60])
def test_ftest_has_the_interactions_degrees_of_freedom(n_models, n):
    labels = draw_labels(n_models, n, "int64", seed=n_models)
    f, p = ours.ftest(*labels)
    df = n_models - 1
    assert p == pytest.approx(stats.f.sf(f, df, df * (n - 1)), rel=1e-11)
    expected_f, wrong_p = theirs.ftest(*labels)
    assert wrong_p == pytest.approx(stats.f.sf(expected_f, df, df * n), rel=1e-11)
    if f > 1:
        assert wrong_p < p


@pytest.mark.parametrize("n_models", [2, 3, 5])
@pytest.mark.parametrize("n_right", [0, 3, 10])
def test_all_models_right_on_the_same_samples(n_models, n_right):
    y = np.zeros(10, int)
    pred = (np.arange(10) >= n_right).astype(int)
    labels = [y] + [pred] * n_models
    assert np.isnan(quietly("cochrans_q", *labels)).all()
    assert ours.cochrans_q(*labels) == (0.0, 1.0)
    assert ours.ftest(*labels) == (0.0, 1.0)


def test_ftest_of_0_over_0():
    y = np.zeros(3, int)
    pred = np.array([0, 1, 1])
    assert np.isnan(quietly("ftest", y, pred, pred)).all()
    # Rounding leaves a ratio of two traces.
    assert not np.isnan(quietly("ftest", y, *[pred] * 5)).any()
    assert ours.ftest(y, pred, pred) == ours.ftest(y, *[pred] * 5) == (0.0, 1.0)


# --------------------------------------------------------------------------- errors

Y = np.array([0, 1, 1, 0])
OF_PAIRS = ["mcnemar_table", "mcnemar_tables", "cochrans_q", "ftest"]


def test_documentation_lists_the_names():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "coming-from" / "mlxtend.md").read_text()
    listed = [row.split("`")[1] for row in page.splitlines() if row.startswith("| `")]
    assert sorted(listed) == NAMES
    missing = set(theirs.__all__) - set(NAMES)
    assert all(f"`{name}`" in page and f"`{name}`" in ours.__doc__ for name in missing)


def test_printed():
    chi2, p = ours.mcnemar(np.array([[9945, 25], [15, 15]]), corrected=True)
    assert (chi2, p) == (2.025, pytest.approx(0.154728923485, abs=5e-13))
    # B11: right, though Kuncheva's book has 3.7647. Three classifiers on 100 objects, from
    # mlxtend's page on Cochran's Q.
    wrong = [range(16), [0, 1, 2, 3, 4, 5, 20, 21], [0, 1, 2, 6, 20, 21, 98, 99]]
    preds = [np.isin(np.arange(100), [*where]).astype(int) for where in wrong]
    q, p = ours.cochrans_q(np.zeros(100, int), *preds)
    assert q == pytest.approx(7.529411764705882, rel=1e-14)
    assert p == pytest.approx(0.0231744272410612, rel=1e-12)


def test_tables_that_are_refused():
    for shape in ((), (4,), (2, 3), (3, 3), (2, 2, 1)):
        for options in OPTIONS:
            for module in (ours, theirs):
                with pytest.raises(ValueError, match=r"2 ?x ?2"):
                    module.mcnemar(np.ones(shape, int), **options)
    for cells, message in (
        ([[5, -1], [2, 4]], "negative, got -1"),
        ([[5, float("nan")], [2, 4]], "whole numbers, got nan"),
        ([["5", "1"], ["2", "4"]], "whole numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^ary must hold counts: .*{message}"):
            ours.mcnemar(np.array(cells))


@pytest.mark.parametrize("name", OF_PAIRS)
def test_labels_that_are_refused(name):
    """Some of them by both; others go through in mlxtend."""

    def refused(labels, message, *, by_both=False):
        with pytest.raises((ValueError, TypeError), match=message):
            getattr(ours, name)(*labels)
        if by_both:
            with pytest.raises(ValueError):  # noqa: PT011
                getattr(theirs, name)(*labels)
        else:
            quietly(name, *labels)

    of_pairs = name == "mcnemar_table"
    models = ("y_model1", "y_model2") if of_pairs else ("model_0", "model_1")
    for place, culprit in enumerate(("y_target", *models)):
        for bad, message in ((Y[:, None], "one-dimensional"), (Y[:3], "y_target has")):
            refused([*[Y] * place, bad, *[Y] * (2 - place)], message, by_both=True)
        for n_missing in (1, 4):
            for dtype, nothing in ((float, np.nan), (object, None)):
                labels = [Y.astype(dtype) for _ in range(3)]
                labels[place][-n_missing:] = nothing
                row = f"row {4 - n_missing} \\({n_missing} missing"
                refused(labels, f"^{culprit} has no label at {row}")
    for n in (0, 1):
        refused([Y[:n]] * 3, f"at least 2 samples, got {n}")
    refused([Y, Y.astype(str), Y], "can never be equal")
