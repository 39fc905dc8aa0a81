"""
Cross-validation: the difference in each fold
=============================================

Two classifiers on the same folds, their mean difference, and the interval of the test.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fastcmp import compare_cv, plot

X, y = load_iris(return_X_y=True)
result = compare_cv(GaussianNB(), KNeighborsClassifier(), X, y, rng=1)
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plot.folds(result, ax=ax)
