"""The simulation of docs/studies/metrics.md: what it counts, its page and its data."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import fastcmp

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "benchmarks" / "studies"
NAMES = {
    "F1": "f1",
    "balanced accuracy": "balanced_accuracy",
    "MCC": "mcc",
    "kappa": "kappa",
    "macro F1": "f1_macro",
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_of_the_page", STUDIES / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def study():
    """The simulation, which imports its parts from the folder of the project."""
    return importlib.import_module("studies.metrics")


def test_the_page_is_made_of_the_data():
    page = load("metric_page.py")
    assert (page.FOLDER / "metrics.md").read_text() == page.page(page.read())


def answers(study, tensor, metric, seed=5, n_draws=199):
    from studies import metric_runs

    k = len(tensor)
    cells, draws, swaps = metric_runs.resampled(tensor, seed, n_draws)
    tables = np.zeros((1, 2, k, k))
    counts = cells[1].astype(float)[np.newaxis]
    metric_runs.cell_tables(cells[0], counts, tables)
    ends, pvalues = np.empty((9, 2)), np.empty(3)
    spec = study.METRICS[metric]
    metric_runs.answer(cells, draws, swaps, spec, tables[0], ends, pvalues)
    return ends, pvalues


def expected(tensor, metric, seed=5, n_draws=199):
    """What the public functions give, in the order of the study."""
    k, drawn = len(tensor), {"rng": seed, "n_resamples": n_draws}
    table = tensor.sum(axis=2)
    bca = {"method": "bootstrap", "interval": "bca", **drawn}

    def one(**options):
        options |= {"metric": NAMES[metric], "classes": range(k)}
        return fastcmp.metric(table=table, **options).interval

    def pair(**options):
        options |= {"metric": NAMES[metric], "classes": range(k)}
        return fastcmp.compare_metric(counts=tensor, **options)

    permutation = "exact" if k == 2 else "permutation"
    scale = "atanh" if metric in ("MCC", "kappa") else "logit"
    newcombe = (np.nan, np.nan)
    if metric == "balanced accuracy":
        newcombe = pair(method="mover").interval
    ends = [
        one(method="delta"),
        one(method="jackknife", scale=scale),
        one(method={"F1": "wilson", "balanced accuracy": "mover"}.get(metric, "jackknife")),
        one(**bca),
        pair(method="delta").interval,
        pair(method="jackknife").interval,
        newcombe,
        pair(method="bootstrap", interval="percentile", **drawn).interval,
        pair(**bca).interval,
    ]
    tests = "delta", "pooled", permutation
    pvalues = [pair(method=method, **drawn).pvalue for method in tests]
    return np.array([tuple(x) for x in ends], float), np.array(pvalues, float)


@pytest.mark.full
@pytest.mark.parametrize("name", ["K = 2, 10%", "K = 4, 5%"])
def test_what_is_counted_is_what_the_package_answers(study, name):
    rng = np.random.default_rng(3)
    k = 2 if name.startswith("K = 2") else 4
    for metric in NAMES:
        if metric == "F1" and k > 2:
            continue
        chances = study.population(name, metric)
        for n in (40, 300):
            tensor = rng.multinomial(n, chances.ravel()).reshape(k, k, k)
            own, wanted = answers(study, tensor, metric), expected(tensor, metric)
            # Of one model alone other cells are drawn: those of a pair of equals.
            alone = tensor.sum(axis=2)[:, :, np.newaxis] * np.eye(k, dtype=int)
            own[0][3] = answers(study, alone, metric)[0][3]
            for x, y in zip(own, wanted, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("name", ["K = 2, 2%", "K = 4, 5%"])
def test_models_with_the_same_value(study, name):
    for metric in NAMES:
        chances = study.population(name, metric)
        shares, recalls, _ = study.POPULATIONS[name]
        np.testing.assert_allclose(chances.sum(axis=(1, 2)), shares)
        rows = chances.sum(axis=1) / np.asarray(shares)[:, np.newaxis]
        wanted = study.truth_of(metric, shares, study.rows_of(shares, recalls))
        assert study.truth_of(metric, shares, rows) == pytest.approx(wanted, abs=1e-9)
        assert np.diag(rows)[-1] != pytest.approx(recalls[-1], abs=0.05)
    chances = study.population(name)
    np.testing.assert_allclose(chances, chances.swapaxes(1, 2))


@pytest.mark.full
def test_the_maker_in_few_runs(study, tmp_path):
    study.main(runs=3, runs_equal=2, folder=tmp_path)
    page = load("metric_page.py")
    found = page.read(tmp_path / "metrics.csv")
    assert found.keys() == page.read().keys()
    assert {runs for _, _, runs in found.values()} == {2, 3}
    assert (tmp_path / "metrics.md").read_text() == page.page(found)
    assert (tmp_path / "metrics.png").exists()
    assert (tmp_path / "metrics.svg").exists()


@pytest.mark.full
def test_a_setting_of_the_page(study):
    """A part of the data is what the loop gives."""
    setting = "K = 2, 10%", 50, "equal metric", ["F1"]
    found = load("metric_page.py").read()
    for *key, wrong, none, runs in study.simulated(*setting, study.RUNS_EQUAL):
        assert found[tuple(map(str, key))] == (wrong, none, runs)
