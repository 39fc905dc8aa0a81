"""The records of the studies: their numbers, tables and plain forms."""

import json

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint, proportions_ztest
from study_records import correlation_study, error_study, power_study, type_one_errors

from fastcmp import from_dict
from fastcmp.core.render import to_csv, to_latex, to_markdown, to_text
from fastcmp.studies.paper import REPLICATIONS, TABLE_V
from fastcmp.studies.rivals import RIVALS
from fastcmp.studies.type_one_errors import TypeOneErrors

STUDIES = [type_one_errors, power_study, error_study, correlation_study]


@pytest.mark.parametrize("make", STUDIES)
def test_records_have_every_form(make):
    study = make()
    columns = study.columns()
    assert len({len(column) for column in columns.values()}) == 1
    lines = to_csv(columns).splitlines()
    assert lines[0] == ",".join(columns)
    assert len(lines) == 1 + len(next(iter(columns.values())))
    said = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    assert said["seed"] == 7
    sections = study.sections()
    assert study.summary() == to_text(sections)
    assert max(map(len, str(study).splitlines())) <= 80
    assert "\n" not in repr(study)
    assert study.to_frame().shape == (len(lines) - 1, len(columns))
    assert from_dict(said) == study
    assert study.plot().get_title(loc="left")
    for section in sections:
        assert {len(row) for row in section.rows} == {len(section.columns)}
    assert to_markdown(sections).count("\n| ") >= len(sections[0].rows)
    assert r"\toprule" in to_latex(sections)
    assert "nan" not in study.summary()


# Type I errors.


@pytest.mark.parametrize("dataset", [*TABLE_V, "wine"])
def test_rates_and_intervals(dataset):
    study = type_one_errors(dataset)
    counts = [sum(p < 0.05 for p in column) for column in study.pvalues.T]
    assert study.rejected.tolist() == counts
    np.testing.assert_allclose(study.rate, np.array(counts) / 400)
    for count, interval in zip(counts, study.interval, strict=True):
        expected = proportion_confint(count, 400, 0.05, "wilson")
        np.testing.assert_allclose(interval, expected, rtol=1e-12)


@pytest.mark.parametrize("dataset", TABLE_V)
def test_zscores_are_those_of_two_proportions(dataset):
    study = type_one_errors(dataset)
    theirs = REPLICATIONS[dataset]
    for k, rival in enumerate(RIVALS):
        printed = TABLE_V[dataset][rival.test]
        assert study.printed[k] == printed
        counts = [study.rejected[k], printed * theirs]
        z, _ = proportions_ztest(counts, [400, theirs])
        assert study.zscore[k] == pytest.approx(z, rel=1e-10)


def test_zscore_of_equal_rates_is_zero():
    pvalues = np.ones((1000, 14))
    pvalues[:25, -1] = 0.0
    study = TypeOneErrors(dataset="epsilon", setting="", pvalues=pvalues, seed=1)
    assert study.rate[-2:].tolist() == [0.0, 0.025]
    assert study.zscore[-2:].tolist() == [0.0, 0.0]


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


def test_pvalues_that_are_nan_do_not_reject():
    study = TypeOneErrors(dataset="epsilon", setting="", pvalues=np.full((5, 14), np.nan), seed=1)
    assert study.rejected.tolist() == [0] * 14


def test_another_level():
    study = type_one_errors(alpha=0.2)
    np.testing.assert_array_equal(study.rejected, (study.pvalues < 0.2).sum(0))
    assert "level 0.2" in str(study)


# Power.


def test_power_is_a_proportion():
    study = power_study()
    assert study.power.shape == (8, 14)
    assert study.power[2, 5] == np.mean([row[2, 5] < 0.05 for row in study.pvalues])
    columns = study.columns()
    at = 2 * 14 + 5
    assert columns["test"][at] == RIVALS[5].test
    assert columns["power"][at] == study.power[2, 5]
    assert columns["omega"][at] == study.values[2]
    assert columns["error_b"][at] == study.errors[2, 1]
    assert columns["error_a"][at] == 0.12


def test_reasonable_tests_keep_their_level():
    study = power_study()
    for k, count in enumerate((study.pvalues[:, 0] < 0.05).sum(axis=0)):
        low, _ = proportion_confint(count, 50, 0.05, "wilson")
        assert study.reasonable[k] == (low <= 0.05)
    assert not study.reasonable[3]
    assert study.reasonable.sum() >= 12


def test_the_table_of_power():
    section = power_study().sections()[0]
    assert section.columns[:2] == ("test", "+0.0")
    assert section.columns[-1] == "-4.0"
    assert len(section.columns) == 7
    starred = [row[0] for row in section.rows if row[0].endswith(" *")]
    assert starred == [f"{RIVALS[3].title} *"]


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
