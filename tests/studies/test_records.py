"""The records of the studies: their numbers, tables and plain forms."""

import numpy as np
import pytest
from libraries import statsmodels
from study_records import correlation_study, error_study, power_study, type_one_errors

# Type I errors.


@pytest.mark.parametrize("dataset", ["epsilon", "exp6", "wine"])
def test_rates_and_intervals(dataset):
    study = type_one_errors(dataset)
    counts = [sum(p < 0.05 for p in column) for column in study.pvalues.T]
    assert study.rejected.tolist() == counts
    np.testing.assert_allclose(study.rate, np.array(counts) / 400)
    for count, interval in zip(counts, study.interval, strict=True):
        expected = statsmodels.stats.proportion.proportion_confint(count, 400, 0.05, "wilson")
        np.testing.assert_allclose(interval, expected, rtol=1e-12)


@pytest.mark.parametrize(("dataset", "theirs"), [("epsilon", 1000), ("exp6", 1000)])
def test_zscores_are_those_of_two_proportions(dataset, theirs):
    study = type_one_errors(dataset)
    for k, printed in enumerate(study.printed):
        counts = [study.rejected[k], printed * theirs]
        z, _ = statsmodels.stats.proportion.proportions_ztest(counts, [400, theirs])
        assert study.zscore[k] == pytest.approx(z, rel=1e-10)


def test_what_lies_within_monte_carlo_error():
    study = type_one_errors("epsilon")
    rows = study.sections()[0].rows
    for row, z in zip(rows, study.zscore, strict=True):
        assert (row[-1] == "yes") == (abs(z) <= 1.959964)
        assert row[-1] == "yes" or f"{z:+.1f}" in row[-1]
    assert {row[-1][:2] for row in rows} == {"ye", "no"}


@pytest.mark.parametrize("options", [{"dataset": "wine"}, {"alpha": 0.1}])
def test_where_the_paper_has_no_figure(options):
    study = type_one_errors(**options)
    assert np.isnan(study.printed).all()
    assert np.isnan(study.zscore).all()
    assert study.sections()[0].columns == ("test", "type I error", "95% CI")
    assert study.to_dict()["tests"]["paper"] == [None] * 14


# Power.


def test_power_is_a_proportion():
    study = power_study()
    assert study.power.shape == (8, 14)
    assert study.power[2, 5] == np.mean([row[2, 5] < 0.05 for row in study.pvalues])
    columns = study.columns()
    at = 2 * 14 + 5
    assert columns["test"][at] == "yildiz-t"
    assert columns["power"][at] == study.power[2, 5]
    assert columns["omega"][at] == study.values[2]
    assert columns["error_b"][at] == study.errors[2, 1]
    assert columns["error_a"][at] == 0.12


def test_reasonable_tests_keep_their_level():
    study = power_study()
    for k, count in enumerate((study.pvalues[:, 0] < 0.05).sum(axis=0)):
        low, _ = statsmodels.stats.proportion.proportion_confint(count, 50, 0.05, "wilson")
        assert study.reasonable[k] == (low <= 0.05)
    assert not study.reasonable[3]
    assert study.reasonable.sum() >= 12


def test_the_table_of_power():
    section = power_study().sections()[0]
    assert section.columns[:2] == ("test", "+0.0")
    assert section.columns[-1] == "-4.0"
    assert len(section.columns) == 7
    starred = [row[0] for row in section.rows if row[0].endswith(" *")]
    assert len(starred) == 1


# Error rates.


def test_the_table_of_error_rates():
    section = error_study().sections()[0]
    assert section.rows[2] == ("1", "12.00", "8.24", "0.20")
    assert "Both error rates are 12.00% at omega = 0.3." in section.text
    said = error_study().to_dict()
    assert (said["parameter"], said["null"], said["null_error"]) == ("omega", 0.3, 0.12)


# Correlations.


def test_bounds_of_correlations():
    study = correlation_study()
    assert study.known.tolist() == [True, True, True, False]
    assert study.within_bounds.tolist() == [True, True, False, False]
    assert study.possible.tolist() == [True, False, True, False]
    text = " ".join(study.sections()[0].text)
    assert "3 experiments of 4" in text
    assert "0 <= rho2 <= 1/2: 2 of 3" in text
    assert "(1 + rho1) / 2: 2 of 3" in text
    assert "rho2 >= rho1: 2 of 3" in text


def test_data_sets_on_which_nothing_differs():
    """All algorithms may agree on a few data sets."""
    rows = correlation_study().sections()[0].rows
    assert rows[0] == ("exp6", "2", "-0.10", "[-0.30, 0.10]", "0.38", "[0.36, 0.40]")
    assert rows[2] == ("simple", "0", "-", "-", "-", "-")
