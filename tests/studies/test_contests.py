"""Contests: where two algorithms err alike, and how far they drift apart."""

from dataclasses import replace

import numpy as np
import pytest

from fastcmp.studies import algorithms, populations
from fastcmp.studies.contests import (
    CONTESTS,
    Contest,
    find_contest,
    find_equal,
    find_null,
    measure_errors,
)

AT_HAND = ["exp6", "digits", "breast-cancer", "wine", "iris"]


# Where a curve reaches a value.


@pytest.mark.parametrize("root", [0.011, 0.3, 2.0, 49.0])
def test_find_equal_finds_the_root(root):
    for error in (lambda x: x - root, lambda x: root - x, lambda x: np.log(x / root)):
        assert find_equal(error, 0.0, 0.01, 50.0, 1e-9) == pytest.approx(root, 1e-8)


def test_find_equal_of_steps():
    """Errors are counts: the rate jumps over the target."""
    found = find_equal(lambda x: np.floor(10 * x) / 10, 0.35, 0.05, 1.0, 1e-6)
    assert found == pytest.approx(0.4, 1e-5)


def test_find_equal_keeps_its_tolerance():
    asked = []

    def error(x):
        asked.append(x)
        return x

    found = find_equal(error, 0.3, 0.01, 1.0, 0.01)
    assert abs(np.log(found / 0.3)) <= 0.005
    assert len(asked) == 2 + np.ceil(np.log2(np.log(100) / 0.01))


def test_find_equal_at_an_end():
    assert find_equal(lambda x: x, 1.0, 1.0, 8.0, 1e-6) == pytest.approx(1.0, 1e-5)
    assert find_equal(lambda x: x, 8.0, 1.0, 8.0, 1e-6) == pytest.approx(8.0, 1e-5)


def test_find_equal_without_a_crossing():
    with pytest.raises(ValueError, match=r"nowhere between 1 and 8.*\+1\.0.* and \+8\.0"):
        find_equal(lambda x: x, 0.0, 1.0, 8.0, 1e-6)


# Contests.


def test_names():
    assert set(CONTESTS) == set(populations.NAMES)
    with pytest.raises(ValueError, match=r"dataset must be one of .*got 'letters'"):
        find_contest("letters")


@pytest.mark.parametrize("name", ["letter", "mnist"])
def test_data_that_do_not_come_along(name, tmp_path):
    with pytest.raises(ValueError, match=f"{name} needs path: where"):
        find_contest(name)
    with pytest.raises(FileNotFoundError, match="none"):
        find_contest(name, tmp_path / "none")


def test_letter_has_the_weights_of_the_paper(tmp_path):
    path = tmp_path / "letter-recognition.data"
    rng = np.random.default_rng(1)
    lines = [
        f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i % 26]},{','.join(map(str, row))}\n"
        for i, row in enumerate(rng.integers(0, 16, (400, 16)).tolist())
    ]
    path.write_text("".join(lines))
    contest = find_contest("letter", path)
    problem = contest.problem(3.0)
    assert (contest.parameter, contest.null) == ("upsilon", None)
    np.testing.assert_array_equal(problem.algorithm_b.weights, algorithms.letter_weights(3.0))
    assert problem.population.n == 300


@pytest.mark.parametrize("name", AT_HAND)
def test_values_go_from_the_null_to_the_far_end(name):
    contest = find_contest(name)
    values = contest.values(0.5, 5)
    assert values[0] == 0.5
    assert values[-1] == contest.far
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(contest.far / 0.5) / 4)


def test_simple_starts_at_no_difference():
    contest = find_contest("simple")
    assert find_null(contest, seed=1, n_sets=2) == 0.0
    np.testing.assert_allclose(contest.values(0.0, 5), [0, 0.25, 0.5, 0.75, 1])
    assert contest.problem(0.5).population == populations.Simple(0.5)


def test_exp6_is_equal_near_the_omega_of_the_paper():
    told = []
    omega = find_null(
        find_contest("exp6"), seed=1, n_sets=20, progress=lambda done, n: told.append((done, n))
    )
    assert 0.25 < omega < 0.35
    assert told == [(k + 1, len(told)) for k in range(len(told))]


@pytest.mark.parametrize("name", ["exp6", "breast-cancer", "wine", "iris"])
def test_errors_are_equal_at_the_null_and_drift_apart(name):
    contest = find_contest(name)
    told = []
    study = measure_errors(
        contest, seed=2, n_sets=30, steps=4, progress=lambda done, n: told.append((done, n))
    )
    gaps = study.errors[:, 1] - study.errors[:, 0]
    # A step of the curve, which is an average of counts, may lie between.
    assert abs(gaps[0]) < 0.003
    assert study.null == study.values[0]
    assert study.null_error == study.errors[0, 0]
    assert (np.diff(np.abs(gaps)) > 0).all()
    assert np.abs(gaps[-1]) > 4 * study.standard_errors[-1].max()
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == list(range(1, len(told) + 1))


@pytest.mark.full
def test_digits_are_equal_somewhere():
    contest = find_contest("digits")
    study = measure_errors(contest, seed=1, n_sets=20, steps=3)
    assert abs(study.errors[0, 1] - study.errors[0, 0]) < 0.003
    assert study.errors[-1, 1] < study.errors[-1, 0] - 0.1


def test_standardised_weights_do_not_mind_units(monkeypatch):
    contest = find_contest("wine")
    weights = contest.problem(1.0).algorithm_b.weights
    X, _ = populations.load("wine").evaluation()
    np.testing.assert_allclose(weights * X.var(axis=0), 1.0)
    # Of the digits some pixels are always 0.
    assert np.isfinite(find_contest("digits").problem(2.0).algorithm_b.weights).all()


def test_errors_are_those_of_half_a_data_set(monkeypatch):
    asked = []
    real = algorithms.true_error

    def true_error(algorithm, population, **options):
        asked.append((population, options))
        return real(algorithm, population, **options)

    monkeypatch.setattr(algorithms, "true_error", true_error)
    study = measure_errors(find_contest("simple"), seed=3, n_sets=4, steps=3)
    assert {population.n for population, _ in asked} == {500}
    assert all(options == {"rng": 3, "n_sets": 4} for _, options in asked)
    assert (study.n_train, study.n_sets, study.null) == (500, 4, 0.0)
    for value, row in zip(study.values, study.errors, strict=True):
        population = replace(populations.Simple(value), n=500)
        for name, rate in zip(("majority", "logistic"), row, strict=True):
            algorithm = algorithms.make(name)
            assert real(algorithm, population, rng=3, n_sets=4).error == rate
    assert study.errors[:, 0].tolist() == [0.5] * 3
    assert (np.diff(study.errors[:, 1]) < 0).all()


def test_rates_that_cross_nowhere():
    contest = find_contest("iris")
    worse = Contest(
        name="iris",
        setting="",
        parameter="upsilon",
        problem=contest.problem,
        null=None,
        search=(1e6, 1e9),
        far=1.0,
    )
    with pytest.raises(ValueError, match=r"cross nowhere between 1e\+06 and 1e\+09"):
        find_null(worse, seed=1, n_sets=5)
