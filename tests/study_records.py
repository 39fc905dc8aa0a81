"""Small records of the studies, to print and to draw."""

import numpy as np
from studies.correlation_study import CorrelationStudy
from studies.error_study import ErrorStudy
from studies.power_study import PowerStudy
from studies.type_one_errors import TypeOneErrors


def type_one_errors(dataset="exp6", replications=400, **options):
    rng = np.random.default_rng(1)
    pvalues = rng.random((replications, 14)) ** np.linspace(1, 2, 14)
    return TypeOneErrors(dataset=dataset, setting="Here.", pvalues=pvalues, seed=7, **options)


def power_study():
    rng = np.random.default_rng(2)
    pvalues = rng.random((50, 8, 14)) ** np.linspace(1, 5, 8)[:, None]
    pvalues[:, 0, 3] = 0.01
    errors = np.stack([np.full(8, 0.12), np.linspace(0.11996, 0.08, 8)], axis=1)
    return PowerStudy(
        dataset="exp6",
        setting="Here.",
        parameter="omega",
        values=np.geomspace(0.3, 1, 8),
        errors=errors,
        pvalues=pvalues,
        seed=7,
    )


def error_study():
    return ErrorStudy(
        dataset="exp6",
        setting="Here.",
        parameter="omega",
        values=np.array([0.3, 0.5, 1.0]),
        errors=np.array([[0.12, 0.12], [0.12, 0.1], [0.12, 0.0824]]),
        standard_errors=np.full((3, 2), 0.001),
        null=0.3,
        null_error=0.12,
        n_sets=20,
        n_train=150,
        seed=7,
    )


def correlation_study():
    return CorrelationStudy(
        experiments=(
            ("exp6", "tree", "knn"),
            ("exp6", "svm", "knn"),
            ("iris", "tree", "knn"),
            ("simple", "tree", "mean"),
        ),
        rho1=np.array([0.1, -0.3, 0.6, np.nan]),
        rho2=np.array([0.4, 0.36, 0.1, np.nan]),
        replications=30,
        seed=7,
    )
