"""Make the example files of ``fastcmp/data`` from scikit-learn's digits.

Ten quite different classifiers learn from one half of the 1797 handwritten digits
and answer for the other half. Their answers become four files:

- ``digits.csv``: the digit that each classifier names;
- ``digits_scores.csv``: the score each gives to the question "is it an 8?";
- ``digits_log_loss.csv``, ``digits_brier.csv``: two losses of the probabilities that
  each gives to the ten digits, one value an image.

Everything that could draw a random number is seeded, and every library is held to
one thread, so a second run on the same machine and versions writes the same bytes.

Run it as ``python benchmarks/make_digits.py``, with ``--output DIR`` to write
elsewhere. The accuracies go to standard output, as rows for ``README.md``.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sklearn.base import ClassifierMixin

SEED = 0
EIGHT = 8
#: Where blocks of the images begin: the digits from 0 to 9 are then written three times
#: in order (some images of two blocks are lost). See ``README.md``.
BLOCKS = (0, 130, 256, 386, 516, 646, 776, 915, 1029, 1157, 1287, 1415, 1545, 1667)
BRIGHTEST = 16  # pixels are counts from 0 to 16
OUTPUT = Path(__file__).resolve().parents[1] / "fastcmp" / "data"

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


def make_models() -> dict[str, ClassifierMixin]:
    """Return the unfitted classifiers by column name, the most accurate first."""
    return {
        "svm_rbf": SVC(C=10.0, kernel="rbf", gamma="scale"),
        "knn_3": KNeighborsClassifier(n_neighbors=3, n_jobs=1),
        "extra_trees": ExtraTreesClassifier(300, random_state=SEED, n_jobs=1),
        "random_forest": RandomForestClassifier(300, random_state=SEED, n_jobs=1),
        "mlp": MLPClassifier((100,), max_iter=1000, random_state=SEED),
        "gradient_boosting": HistGradientBoostingClassifier(random_state=SEED),
        "logistic": LogisticRegression(max_iter=2000),
        # At the default tolerance (1e-4) the fit depends on the processor: measured,
        # scores 0.001 apart between two OpenBLAS kernels; at 1e-8, 0.00001.
        "linear_svm": LinearSVC(tol=1e-8, max_iter=5000, random_state=SEED),
        "decision_tree": DecisionTreeClassifier(random_state=SEED),
        "naive_bayes": GaussianNB(),
    }


def split_halves(labels: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sample numbers to learn from and those held out, each ascending."""
    train, held_out = train_test_split(
        np.arange(labels.size), test_size=0.5, random_state=SEED, stratify=labels
    )
    return np.sort(train), np.sort(held_out)


def score_eight(model: ClassifierMixin, images: FloatArray) -> FloatArray:
    """Score each image for "is it an 8?": a probability where the model has one."""
    if hasattr(model, "predict_proba"):
        scores = model.predict_proba(images)
    else:
        scores = model.decision_function(images)
    column: FloatArray = scores[:, list(model.classes_).index(EIGHT)]
    return column


def probabilities(
    model: ClassifierMixin, images: FloatArray, labels: IntArray, held_out: FloatArray
) -> FloatArray:
    """Give a fitted model's probabilities of the ten digits, a row an image.

    Machines without any are calibrated in five folds of the training half.
    """
    if not hasattr(model, "predict_proba"):
        model = CalibratedClassifierCV(clone(model), cv=5).fit(images, labels)
    found: FloatArray = model.predict_proba(held_out)
    return found


def losses(table: FloatArray, y_true: IntArray) -> tuple[FloatArray, FloatArray]:
    """Give the log loss, clipped as in scikit-learn, and the Brier score of images."""
    eps = np.finfo(np.float64).eps
    chance = table[np.arange(y_true.size), y_true]
    truth = y_true[:, np.newaxis] == np.arange(table.shape[1])
    return -np.log(np.clip(chance, eps, 1 - eps)), np.square(table - truth).sum(axis=1)


def answer(
    images: FloatArray, labels: IntArray, train: IntArray, held_out: IntArray
) -> dict[str, dict[str, NDArray[Any]]]:
    """Fit every model on `train`; return what is known of `held_out`, by model."""
    found: dict[str, dict[str, NDArray[Any]]] = {
        what: {} for what in ("predictions", "scores", "log_loss", "brier")
    }
    for name, model in make_models().items():
        model.fit(images[train], labels[train])
        found["predictions"][name] = model.predict(images[held_out])
        found["scores"][name] = score_eight(model, images[held_out])
        table = probabilities(model, images[train], labels[train], images[held_out])
        found["log_loss"][name], found["brier"][name] = losses(table, labels[held_out])
    return found


def printed(columns: Mapping[str, FloatArray], digits: int) -> dict[str, list[str]]:
    """Write numbers with some significant digits."""
    return {name: [f"{x:.{digits}g}" for x in column] for name, column in columns.items()}


def write_csv(path: Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """Write named columns of equal length, with LF line ends on every system."""
    with path.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def accuracy_rows(y_true: IntArray, predictions: Mapping[str, IntArray]) -> str:
    """Return one markdown row per model: name, number correct, accuracy."""
    correct = {name: int(np.sum(y_true == p)) for name, p in predictions.items()}
    return "".join(
        f"| {name} | {count} | {count / y_true.size:.4f} |\n" for name, count in correct.items()
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Make the files in the directory that the command line names."""
    parser = argparse.ArgumentParser(description="Make the digits example files.")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR")
    output = parser.parse_args(argv).output
    output.mkdir(parents=True, exist_ok=True)

    images, labels = load_digits(return_X_y=True)
    train, held_out = split_halves(labels)
    # HistGradientBoosting has no n_jobs, and BLAS may sum in another order on
    # another number of threads: one thread for both.
    with threadpool_limits(limits=1):
        found = answer(images / BRIGHTEST, labels, train, held_out)

    y_true = labels[held_out]
    is_eight = (y_true == EIGHT).astype(np.int64)
    block = np.searchsorted(BLOCKS, held_out, side="right") - 1
    write_csv(output / "digits.csv", {"id": held_out, "y_true": y_true, **found["predictions"]})
    write_csv(
        output / "digits_scores.csv",
        {"id": held_out, "is_eight": is_eight, **printed(found["scores"], 6)},
    )
    for measure in ("log_loss", "brier"):
        write_csv(
            output / f"digits_{measure}.csv",
            {"id": held_out, "block": block, **printed(found[measure], 4)},
        )
    sys.stdout.write(accuracy_rows(y_true, found["predictions"]))


if __name__ == "__main__":
    main()
