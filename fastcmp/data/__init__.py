"""Small real prediction files, to try the library on.

`load_digits` returns the predictions of ten scikit-learn classifiers for 899 held-out
handwritten digits, `load_digits_values` losses of their probabilities, by digit;
`load_demsar` areas under the curve of four classifiers on 14 data sets. `example_path`
returns the path of a file, `logs_path` that of a folder of logs. The ``README.md``
beside this module describes how the files were made, and their source and licence.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats
from fastcmp.inputs.values import ItemTable

__all__ = [
    "EXAMPLES",
    "SCORE_EXAMPLES",
    "VALUE_EXAMPLES",
    "ScoreExample",
    "demsar_path",
    "example_path",
    "load_demsar",
    "load_digits",
    "load_digits_scores",
    "load_digits_values",
    "logs_path",
    "scores_path",
    "values_path",
]

EXAMPLES = {"digits": "digits.csv"}


class ScoreExample(NamedTuple):
    """A bundled file of scores, and its column of true labels."""

    file: str
    target: str


SCORE_EXAMPLES = {"digits": ScoreExample("digits_scores.csv", "is_eight")}


#: Measures of each image, and the files with a column a model.
VALUE_EXAMPLES = {"log_loss": "digits_log_loss.csv", "brier": "digits_brier.csv"}


def _path(name: str) -> Path:
    return Path(str(files(__name__).joinpath(name)))


def _known(name: str, examples: dict[str, Any]) -> Any:
    if name not in examples:
        names = ", ".join(map(repr, examples))
        raise BadValueError(f"`name` must be one of the known examples ({names})", repr(name))
    return examples[name]


def example_path(name: str) -> Path:
    """Return the path of an example prediction file.

    Parameters
    ----------
    name : str
        The example's name, a key of `EXAMPLES`.

    Returns
    -------
    pathlib.Path
        The CSV file, in the installed package.

    Raises
    ------
    ValueError
        If no example has that name.

    Examples
    --------
    >>> from fastcmp.data import example_path
    >>> example_path("digits").name
    'digits.csv'
    """
    return _path(_known(name, EXAMPLES))


def scores_path(name: str) -> Path:
    """Return the path of an example file of scores.

    Parameters
    ----------
    name : str
        The example's name, a key of `SCORE_EXAMPLES`.

    Returns
    -------
    pathlib.Path
        The CSV file, in the installed package.

    Raises
    ------
    ValueError
        If no example has that name.

    Examples
    --------
    >>> from fastcmp.data import scores_path
    >>> scores_path("digits").name
    'digits_scores.csv'
    """
    return _path(_known(name, SCORE_EXAMPLES).file)


def values_path(measure: str) -> Path:
    """Return the path of an example file of values by item.

    Parameters
    ----------
    measure : str
        What was measured, a key of `VALUE_EXAMPLES`.

    Returns
    -------
    pathlib.Path
        The CSV file, in the installed package.

    Raises
    ------
    ValueError
        If there is no such measure.

    Examples
    --------
    >>> from fastcmp.data import values_path
    >>> values_path("brier").name
    'digits_brier.csv'
    """
    return _path(VALUE_EXAMPLES[choose(measure, "measure", VALUE_EXAMPLES)])


def demsar_path() -> Path:
    """Return the path of an example file of scores by data set.

    Returns
    -------
    pathlib.Path
        The CSV file, in the installed package: a row a data set, a column a model.

    Examples
    --------
    >>> from fastcmp.data import demsar_path
    >>> demsar_path().name
    'demsar.csv'
    """
    return _path("demsar.csv")


def logs_path() -> Path:
    """Return the path of a folder of example logs.

    Returns
    -------
    pathlib.Path
        A folder in the installed package, in the format of the LM Evaluation Harness:
        a folder for each of four models, which answered 60 items of each of three
        tasks.

    Examples
    --------
    >>> from fastcmp.data import logs_path
    >>> len(list(logs_path().glob("*/samples_*.jsonl")))
    12
    """
    return _path("logs")


def load_demsar() -> tuple[list[str], dict[str, Floats]]:
    """Load areas under the curve of four classifiers on 14 data sets.

    Returns
    -------
    tasks : list of str
        The 14 data sets.
    scores : dict of str to ndarray of float64, shape (14,)
        Area of each variant of C4.5 on each data set, by the model's name; m and cf
        are parameters that were tuned.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets",
       J. Machine Learning Research 7 (2006) 1-30, Table 6.

    Examples
    --------
    >>> from fastcmp.data import load_demsar
    >>> tasks, scores = load_demsar()
    >>> len(tasks), list(scores)
    (14, ['C4.5', 'C4.5+m', 'C4.5+cf', 'C4.5+m+cf'])
    >>> float(scores["C4.5+m"][tasks.index("wine")])
    0.978
    """
    with demsar_path().open(encoding="ascii") as file:
        header, *rows = (line.rstrip("\n").split(",") for line in file)
    columns = np.array([row[1:] for row in rows], dtype=np.float64).T
    scores = dict(zip(header[1:], columns.copy(), strict=True))
    return [row[0] for row in rows], scores


def load_digits() -> tuple[NDArray[np.uint8], dict[str, NDArray[np.uint8]]]:
    """Load ten classifiers' predictions for 899 handwritten digits.

    Returns
    -------
    y_true : ndarray of uint8, shape (899,)
        The digit that was written, 0 to 9.
    predictions : dict of str to ndarray of uint8, shape (899,)
        The digit that each model predicted, by the model's name, the most accurate
        model first.

    Notes
    -----
    The arrays are new at every call, so they may be changed. One pass over a file
    of 24 kB: a few milliseconds at the first call, less than one afterwards.

    Examples
    --------
    >>> from fastcmp.data import load_digits
    >>> y_true, predictions = load_digits()
    >>> len(predictions)
    10
    >>> correct = predictions["svm_rbf"] == y_true
    >>> int(correct.sum()), correct.size
    (889, 899)
    """
    with example_path("digits").open(encoding="ascii") as file:
        _, _, *names = file.readline().rstrip("\n").split(",")  # id, y_true, models
        # Sample ids go up to 1796 and would not fit uint8: that column stays unread.
        columns = range(1, len(names) + 2)
        table = np.loadtxt(file, dtype=np.uint8, delimiter=",", usecols=columns)
    y_true, *predictions = np.ascontiguousarray(table.T)
    return y_true, dict(zip(names, predictions, strict=True))


def load_digits_scores() -> tuple[NDArray[np.uint8], dict[str, Floats]]:
    """Load ten classifiers' scores for the question whether a digit is an eight.

    Returns
    -------
    is_eight : ndarray of uint8, shape (899,)
        1 if an eight was written.
    scores : dict of str to ndarray of float64, shape (899,)
        Probability or decision value of each model, by its name.

    Examples
    --------
    >>> from fastcmp.data import load_digits_scores
    >>> is_eight, scores = load_digits_scores()
    >>> int(is_eight.sum()), len(scores)
    (87, 10)
    """
    with scores_path("digits").open(encoding="ascii") as file:
        _, _, *names = file.readline().rstrip("\n").split(",")
        table = np.loadtxt(file, delimiter=",").T
    return table[1].astype(np.uint8), dict(zip(names, table[2:].copy(), strict=True))


def load_digits_values(*, measure: str = "log_loss") -> ItemTable:
    """Load losses of ten classifiers' probabilities for 899 handwritten digits.

    Parameters
    ----------
    measure : {"log_loss", "brier"}
        Minus the logarithm of the probability of the digit that was written, at most
        36.04; or the sum over the ten digits of (p - y)**2. Less is better.

    Returns
    -------
    ItemTable
        Values of shape (10, 899), the most accurate model first. The items are images,
        by their numbers in scikit-learn's data; the groups are the 14 blocks in which
        they come there, each by one writer.

    Raises
    ------
    ValueError
        If there is no such measure.

    Notes
    -----
    The source does not say who wrote which image. A block begins where the digits from
    0 to 9 are written three times in order, as on a form; the ``README.md`` of this
    package says more. Machines without probabilities (svm_rbf, linear_svm) were
    calibrated.

    Examples
    --------
    >>> from fastcmp.data import load_digits_values
    >>> table = load_digits_values(measure="brier")
    >>> table.values.shape, table.names[0], len(set(table.groups.tolist()))
    ((10, 899), 'svm_rbf', 14)
    >>> table.names[table.values.mean(axis=1).argmin()]
    'knn_3'
    """
    with values_path(measure).open(encoding="ascii") as file:
        _, _, *names = file.readline().rstrip("\n").split(",")  # id, block, models
        columns = np.loadtxt(file, delimiter=",").T
    items, blocks = columns[:2].astype(np.int64)
    return ItemTable(
        names=tuple(names), items=items, values=np.ascontiguousarray(columns[2:]), groups=blocks
    )
