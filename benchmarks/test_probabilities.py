"""Decision curves and calibration of many models, beside NumPy and scikit-learn."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import fastcmp

THRESHOLDS = np.arange(1, 100) / 100


@pytest.fixture(scope="module")
def risks(size, rng):
    """Outcomes, and the probabilities of 50 models that know them more or less."""
    n_models, n = size((50, 100_000), (4, 3_000))
    logit = rng.normal(size=n)
    y_true = (rng.random(n) < 1 / (1 + np.exp(1 - logit))).astype(int)
    noise = np.linspace(0.3, 1.3, n_models)[:, None] * rng.normal(size=(n_models, n))
    return y_true, 1 / (1 + np.exp(1 - logit - noise))


@pytest.mark.benchmark(group="99 thresholds, 50 models, n = 100,000")
class TestDecisionCurve:
    def test_ours(self, benchmark, risks):
        benchmark.extra_info["target_note"] = "1 s, with intervals of all pairs and their band"
        fastcmp.decision_curve(*risks, rng=1)
        curve = benchmark(fastcmp.decision_curve, *risks, rng=1)
        m, k = 1, 30
        values = fastcmp.net_benefit_values(risks[0], risks[1][m], threshold=THRESHOLDS[k])
        assert curve.net_benefit[m, k] == pytest.approx(values.mean())

    def test_values_alone_by_numpy(self, benchmark, risks):
        y_true, p = risks

        def curves():
            odds = THRESHOLDS / (1 - THRESHOLDS)
            worth = [np.where(y_true == 1, 1.0, -w) for w in odds]
            called = ((p >= t) @ v / y_true.size for t, v in zip(THRESHOLDS, worth, strict=True))
            return np.stack(list(called), axis=1)

        assert benchmark(curves).shape == (len(p), 99)


@pytest.mark.benchmark(group="calibration of 50 models, 10 folds, n = 100,000")
class TestCalibration:
    def test_ours(self, benchmark, risks):
        benchmark.extra_info["target_note"] = "3 s, with slopes, tests and bins"
        fastcmp.calibration(*risks)
        result = benchmark(fastcmp.calibration, *risks)
        fit = IsotonicRegression().fit(risks[1][0], risks[0]).predict(risks[1][0])
        wanted = result.mean_score[0] - np.mean((fit - risks[0]) ** 2)
        assert result.mcb[0] == pytest.approx(wanted)

    def test_isotonic_fits_alone_by_scikit_learn(self, benchmark, risks):
        y_true, p = risks
        folds = np.arange(y_true.size) % 10

        def fits():
            fit = IsotonicRegression(out_of_bounds="clip")
            for row in p:
                fit.fit(row, y_true).predict(row)
                for fold in range(10):
                    rest = folds != fold
                    fit.fit(row[rest], y_true[rest]).predict(row[~rest])

        benchmark.pedantic(fits, rounds=1)
