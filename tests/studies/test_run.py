"""Studies from options to records; the correlations of disagreements."""

from dataclasses import replace

import numpy as np
import pytest
from cases import thinned
from libraries import stats
from studies import algorithms, populations
from studies.algorithms import true_error
from studies.run import Options, errors, power, table5


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"replications": 0}, ValueError, "replications must be .*>= 1, got 0"),
        ({"rng": 2**30}, ValueError, "rng must be below 1073741824, got 1073741824"),
        ({"workers": 0}, ValueError, "workers must be at least 1, got 0"),
        ({"steps": 1}, ValueError, "steps must be .*>= 2, got 1"),
        ({"dataset": "exp7"}, ValueError, "dataset must be one of .*got 'exp7'"),
    ],
)
def test_bad_options_are_refused_at_once(options, error, said):
    with pytest.raises(error, match=said):
        Options(**options)


def test_seeds_are_drawn_and_kept():
    drawn = Options(rng=np.random.default_rng(3))
    assert 0 <= drawn.seed < 2**30
    assert replace(drawn, replications=2).seed == drawn.seed
    assert Options().seed == 1
    assert Options(rng=None).seed != Options(rng=None).seed


@pytest.mark.parametrize("study", [power, errors])
def test_epsilon_has_nothing_to_vary(study):
    with pytest.raises(ValueError, match=r"epsilon has fixed error rates.*'exp6'"):
        study(Options())


@pytest.mark.parametrize("study", [table5, power, errors])
def test_data_that_are_missing(study):
    with pytest.raises(ValueError, match="letter needs path"):
        study(Options(dataset="letter"))


# The type I errors.


def test_another_seed_does_not_go_on(tmp_path):
    options = Options(replications=20, workers=1, folder=tmp_path)
    table5(options)
    with pytest.raises(ValueError, match="seed = 1, asked for was 2"):
        table5(replace(options, rng=2))


@pytest.mark.parametrize("name", thinned(["iris", "breast-cancer", "wine"], 3))
def test_bundled_records(name, tmp_path):
    options = Options(dataset=name, replications=2, n_sets=10, workers=1, folder=tmp_path)
    told = []
    study = table5(replace(options, progress=lambda *step: told.append(step)))
    assert study.pvalues.shape == (2, 14)
    assert ((study.pvalues >= 0) & (study.pvalues <= 1)).all()
    assert "Both error rates are equal at upsilon =" in study.setting
    assert np.isnan(study.printed).all()
    assert told[-1] == (2, 2)
    assert len(told) > 10  # the search for the null hypothesis is told too
    again = table5(replace(options, replications=3))
    np.testing.assert_array_equal(again.pvalues[:2], study.pvalues)


# Power and error rates.


@pytest.mark.full
def test_power_and_errors_share_their_values(tmp_path):
    options = Options(dataset="iris", replications=2, n_sets=8, steps=3, workers=1, folder=tmp_path)
    curves, rates = power(options), errors(options)
    assert curves.pvalues.shape == (2, 3, 14)
    np.testing.assert_array_equal(curves.values, rates.values)
    np.testing.assert_array_equal(curves.errors, rates.errors)
    # The first value is the null hypothesis: a column of Table V, on the same data.
    column = table5(options)
    np.testing.assert_array_equal(curves.pvalues[:, 0], column.pvalues)
    more = power(replace(options, replications=3))
    np.testing.assert_array_equal(more.pvalues[:2], curves.pvalues)
    with pytest.raises(ValueError, match="upsilon"):
        power(replace(options, steps=4))


# Correlations.


@pytest.mark.parametrize("workers", [1, 2])
def test_epsilon_is_the_same_for_any_workers_and_goes_on(tmp_path, workers):
    options = Options(replications=1200, workers=workers, folder=tmp_path, rng=4)
    short = table5(replace(options, replications=700))
    study = table5(options)
    alone = table5(Options(replications=1200, workers=1, rng=4))
    np.testing.assert_array_equal(study.pvalues, alone.pvalues)
    np.testing.assert_array_equal(short.pvalues, alone.pvalues[:700])
    assert (study.dataset, study.seed, study.replications) == ("epsilon", 4, 1200)
    assert (tmp_path / "table5-epsilon.rows").is_file()


def test_type_one_errors_are_those_of_the_paper():
    """Each count lies where the paper's rate, itself a count of 1,000, can put it."""
    study = table5(Options(replications=2000, rng=2, workers=1))
    assert len(study.printed) == 14
    for theirs, count in zip(study.printed, study.rejected, strict=True):
        spread = 4.5 * np.sqrt(theirs * (1 - theirs) / 1000)
        low = stats.binom.ppf(1e-4, 2000, max(theirs - spread, 0))
        high = stats.binom.ppf(1 - 1e-4, 2000, theirs + spread + 0.002)
        assert low <= count <= high
    rates = dict(zip(study.columns()["test"], study.rate, strict=True))
    assert rates["resampled-t"] > 0.4
    assert 0.01 < rates["bcv-mcnemar"] < 0.04


@pytest.mark.parametrize("name", thinned(["iris", "exp6", "wine", "breast-cancer"], 2))
def test_errors_are_equal_at_the_null_and_drift_apart(name):
    study = errors(Options(dataset=name, rng=2, n_sets=30, steps=4, workers=1))
    gaps = study.errors[:, 1] - study.errors[:, 0]
    # A step of the curve, which is an average of counts, may lie between.
    assert abs(gaps[0]) < 0.003
    assert study.null == study.values[0]
    assert study.null_error == study.errors[0, 0]
    assert (np.diff(np.abs(gaps)) > 0).all()
    assert np.abs(gaps[-1]) > 4 * study.standard_errors[-1].max()
    np.testing.assert_allclose(np.diff(np.log(study.values), 2), 0, atol=1e-12)


def test_simple_starts_at_no_difference():
    study = errors(Options(dataset="simple", rng=3, n_sets=4, steps=5, workers=1))
    np.testing.assert_allclose(study.values, [0, 0.25, 0.5, 0.75, 1])
    assert (study.n_train, study.n_sets, study.null) == (500, 4, 0.0)
    assert study.errors[:, 0].tolist() == [0.5] * 5
    population = replace(populations.Simple(0.5), n=500)
    logistic = algorithms.make("logistic")
    assert true_error(logistic, population, rng=3, n_sets=4).error == study.errors[2, 1]
    assert (np.diff(study.errors[:, 1]) < 0).all()
