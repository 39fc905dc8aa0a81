"""The marked table: WEKA's values, one pair at a time, laws, refusals."""

import numpy as np
import pytest
import reference_cases

from fastcmp import fold_test
from fastcmp.datasets import task_table


@reference_cases.parametrize("task_corrected_t")
def test_the_table_of_weka(case):
    given, options = case["input"], case["options"]
    table = task_table(
        given["scores"],
        test_train_ratio=given["test_train_ratio"],
        baseline=given["baseline"],
        alpha=options["alpha"],
    )
    ranking = [
        {**standing._asdict(), "model": table.names.index(standing.model)}
        for standing in table.ranking
    ]
    found = {"marks": table.marks.tolist(), "mark_counts": table.mark_counts.tolist()}
    found |= {"wins": table.wins.tolist(), "better": table.better.tolist()}
    found |= {"ranking": ranking, "df": table.df}
    wanted = dict(case["expected"])
    for name in ("statistic", "pvalue"):
        tolerance = case["tolerance"]["rtol"]
        found_here = getattr(table, name).T
        assert np.allclose(found_here, wanted.pop(name), tolerance, 1e-12)
    assert found == wanted


@pytest.fixture
def folds(rng):
    return rng.normal(size=(4, 5, 2, 3)) + np.linspace(0, 3, 4)[:, None, None, None]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_each_pair_is_nadeau_and_bengios_test(folds):
    table = task_table(folds)
    for (i, j), t, p in zip(table.pairs, table.statistic, table.pvalue, strict=True):
        d = (folds[i] - folds[j]).reshape(5, 6)
        alone = fold_test(d, "nadeau-bengio-t", n_train=2, n_test=1)
        assert np.allclose(t, alone.statistic)
        assert np.allclose(p, alone.pvalue)
    assert table.wins.sum() > 0
    assert (table.wins <= table.better).all()
    assert (table.better + table.better.T == 5 * (1 - np.eye(4))).all()


def test_v_is_better_for_losses_too(folds):
    table = task_table(folds, baseline=1)
    losses = task_table(-folds, baseline=1, lower_is_better=True)
    assert (table.marks == losses.marks).all()
    assert table.ranking == losses.ranking


def test_folds_without_spread():
    level = np.full((2, 1, 1, 4), 0.5)
    table = task_table(level)
    assert (table.statistic[0, 0], table.pvalue[0, 0]) == (0, 1)
    above = task_table(level + np.array([0.25, 0])[:, None, None, None])
    assert np.isnan([above.statistic[0, 0], above.pvalue[0, 0]]).all()
    assert above.marks.tolist() == [[""]]


def test_equal_decimals_do_not_differ():
    one = np.array([0.1 + 0.2, 0.7 + 0.1, 0.5]).reshape(1, 1, 1, 3)
    two = np.array([0.3, 0.8, 0.5]).reshape(1, 1, 1, 3)
    table = task_table(np.concatenate([one, two]))
    assert (table.pvalue[0, 0], table.better.sum()) == (1, 0)
    # Differences that add up to nothing, but for rounding.
    swapped = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]])[:, None, None]
    assert task_table(swapped).better.sum() == 0


def test_random_splits_need_a_ratio(folds):
    splits = folds.reshape(4, 5, 6)
    with pytest.raises(ValueError, match="test_train_ratio must be given"):
        task_table(splits)
    ratios = np.linspace(0.1, 0.5, 5)
    table = task_table(splits, test_train_ratio=ratios)
    for t, ratio in enumerate(ratios):
        alone = task_table(splits[:, [t]], test_train_ratio=ratio)
        assert (alone.pvalue[:, 0] == table.pvalue[:, t]).all()


def test_means_are_the_scores_of_tasks(folds):
    names, tasks, scores, lower = task_table(folds).task_scores()
    assert scores.shape == (4, 5) == (len(names), len(tasks))
    assert np.allclose(scores, folds.mean(axis=(2, 3)))
    assert not lower


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((2, 3), {}, r"shape \(M, D, R, K\)"),
        ((1, 3, 1, 5), {}, "at least 2 models"),
        ((2, 3, 5, 1), {}, "test_train_ratio must be given"),
        ((2, 3, 1, 5), {"test_train_ratio": [1, 2]}, "each of 3 tasks"),
        ((2, 3, 1, 5), {"tasks": ["a"]}, "each of the 3 tasks"),
    ],
)
def test_wrong_scores_are_refused(shape, options, words):
    with pytest.raises(ValueError, match=words):
        task_table(np.zeros(shape), **options)
