"""Classifiers for tests of cross-validation; imported where they are used."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

__all__ = ["DummyClassifier", "ExtraTreeClassifier", "StandardScaler", "make_pipeline"]
NB, KNN = GaussianNB(), KNeighborsClassifier(3)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)

#: What `Watched` models were asked to fit, by the name they were given.
DONE: dict[str, list] = {}


class Watched(ClassifierMixin, BaseEstimator):
    """Predict the most frequent class, and keep a record of all calls."""

    def __init__(self, name="a", random_state=None):
        self.name = name
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.constant_ = self.classes_[counts.argmax()]
        rows = np.asarray(X)[:, 0].tobytes()
        DONE.setdefault(self.name, []).append((rows, self.random_state))
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.constant_)


class Says(ClassifierMixin, BaseEstimator):
    """Predict what a function makes of a column of X, which holds the truth."""

    def __init__(self, answer=None, column=0):
        self.answer = answer
        self.column = column

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.answer(X[:, self.column].astype(int))


class Fails(Says):
    """Fail in one fold: where sample 3 is, or is not, trained on."""

    def __init__(self, where="fit", error=ZeroDivisionError, answer=None):
        self.where = where
        self.error = error
        self.answer = answer

    def fit(self, X, y):
        self._check("fit", X)
        return super().fit(X, y)

    def predict(self, X):
        self._check("predict", X)
        return X[:, 0].astype(int)

    def _check(self, where, X):
        if where == self.where and 3 in X[:, 2]:
            raise self.error("no way")
