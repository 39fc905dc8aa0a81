"""What several models predicted on the splits of resampling designs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp import kernels
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record
from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.core.sections import Column, Section
from fastcmp.core.sentences import how
from fastcmp.core.threads import Progress, check_workers, reporting
from fastcmp.core.typing import Floats, Ints, Pairs
from fastcmp.crossval.designs import UNUSED, Design
from fastcmp.crossval.fold_tests import CVTest, FoldOutcomes, differences_of
from fastcmp.inputs.columns import count_rows, read_column
from fastcmp.inputs.model_names import check_indexes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DesignRun(Record):
    """What all models predicted on the splits of one design."""

    design: Design
    #: The fold in which each sample is tested in each repetition, shape (R, n).
    folds: NDArray[np.int16]
    #: Codes of the predicted labels, shape (M, R, n): a class, the number of classes
    #: for a label outside the classes, or -1 where the sample is not tested.
    predictions: NDArray[np.int32]
    #: Scores in each fold, shape (M, R, K); None for accuracy.
    scores: Floats | None

    _read = (
        Column("design", lambda self: str(self.design)),
        Column("n_models", lambda self: len(self.predictions)),
        *("n_train", "n_test"),
    )

    @property
    def n_test(self) -> int:
        """Number of samples that the first fold tested."""
        return int(np.count_nonzero(self.folds[0] == 0))

    @property
    def n_train(self) -> int:
        """Number of samples that the first fold trained on."""
        used = np.count_nonzero(self.folds[0] != UNUSED)
        return int(used) - self.n_test

    def columns(self) -> dict[str, Any]:
        """All predictions as columns.

        Returns
        -------
        dict of str to sequence
            A row for each model and tested sample: number of the model, repetition,
            sample, fold, and code of the predicted label.
        """
        n_models = len(self.predictions)
        repetition, sample = np.nonzero(self.folds >= 0)
        model = np.repeat(np.arange(n_models), sample.size)
        fold = self.folds[repetition, sample]
        return {
            "model": model,
            "repetition": np.tile(repetition, n_models),
            "sample": np.tile(sample, n_models),
            "fold": np.tile(fold, n_models),
            "prediction": self.predictions[:, repetition, sample].ravel(),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        n_models, n_rows, n = self.predictions.shape
        n_splits = n_rows * self.design.n_folds
        text = (f"{n_models} models on {n_splits} splits of {n} samples",)
        return [Section(title=str(self.design), text=text)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CVRuns(Record):
    """Predictions of several models on the splits of one or more designs."""

    names: tuple[str, ...]
    #: Codes of the true labels, shape (n,), and the labels themselves.
    y: NDArray[np.int32]
    classes: tuple[Any, ...]
    runs: tuple[DesignRun, ...]
    #: The name of the score: "accuracy" unless another was asked for.
    measure: str
    #: Where all splits and random states come from.
    seed: int

    _read = (
        *("names", Column("n_samples", "y.size"), "classes", "measure", "seed"),
        Column("designs", lambda self: [str(run.design) for run in self.runs]),
    )

    def find(self, test: CVTest) -> DesignRun:
        """The predictions for a test.

        Parameters
        ----------
        test : CVTest
            A test.

        Returns
        -------
        DesignRun
            Those on the design that its authors describe, or the first it accepts.

        Raises
        ------
        ValueError
            If there is none.
        """
        accepted = [run for run in self.runs if test.accepts(run.design)]
        for run in accepted:
            if run.design == test.splits.design(stratify=run.design.stratify, rng=self.seed):
                return run
        if accepted:
            return accepted[0]
        there = ", ".join(str(run.design) for run in self.runs)
        raise BadValueError(
            f"`test` {test.name!r} needs {test.splits.wanted}; fitted were {there}",
            remedy=": name it in test=[...] when comparing, and models are fitted on its splits "
            "too",
        )

    def scores(self, run: DesignRun) -> Floats:
        """The score of each model in each fold.

        Parameters
        ----------
        run : DesignRun
            One of `runs`.

        Returns
        -------
        ndarray of float64, shape (M, R, K)
            More is better.
        """
        if run.scores is not None:
            return run.scores
        return np.divide(*self._right(run))

    def means(self, run: DesignRun) -> Floats:
        """Mean scores of each model.

        Parameters
        ----------
        run : DesignRun
            One of `runs`.

        Returns
        -------
        ndarray of float64, shape (M,)
            Over all folds of the whole data, without those within halves.
        """
        n_whole = run.design.n_repeats
        if run.scores is not None:
            return np.asarray(run.scores[:, :n_whole].mean(axis=(1, 2)))
        right, sizes = self._right(run)
        right, sizes = right[:, :n_whole], sizes[:n_whole]
        # Whole numbers are added before they are divided: equal means stay equal.
        parts = [right[:, sizes == n].sum(axis=1) / n for n in np.unique(sizes)]
        return np.asarray(np.sum(parts, axis=0) / sizes.size)

    def outcomes(self, run: DesignRun, pairs: Pairs) -> FoldOutcomes:
        """Compare pairs of models in each fold.

        Parameters
        ----------
        run : DesignRun
            One of `runs`.
        pairs : ndarray of int32, shape (P, 2)
            Which models.

        Returns
        -------
        FoldOutcomes
            With P as the leading axis.
        """
        a, b = pairs.T
        tables = None
        if run.scores is None:
            wrong = self._wrong(run)
            tables = _count(run.folds, wrong, wrong, pairs)
            differences = differences_of(tables)
        else:
            differences = run.scores[a] - run.scores[b]
        return FoldOutcomes(run.design, differences, tables, run.n_train, run.n_test)

    def columns(self) -> dict[str, Any]:
        """The scores in all folds as columns.

        Returns
        -------
        dict of str to sequence
            A row for each design, model, repetition and fold.
        """
        table: dict[str, list[Any]] = {}
        for run in self.runs:
            scores = self.scores(run)
            model, repetition, fold = (x.ravel() for x in np.indices(scores.shape))
            part: dict[str, list[Any]] = {
                "design": [str(run.design)] * scores.size,
                "model": [self.names[i] for i in model],
                "repetition": repetition.tolist(),
                "fold": fold.tolist(),
                "score": scores.ravel().tolist(),
            }
            for name, values in part.items():
                table.setdefault(name, []).extend(values)
        return table

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            how(
                f"{len(self.names)} models, {self.y.size} samples of {len(self.classes)} "
                f"classes, scored by {self.measure}; seed {self.seed}"
            ),
            *(str(run.design) for run in self.runs),
        )
        return [Section(title="Models fitted on splits", text=text)]

    def _wrong(self, run: DesignRun) -> NDArray[np.uint8]:
        return np.asarray(run.predictions != self.y).view(np.uint8)

    def _right(self, run: DesignRun) -> tuple[Ints, Ints]:
        """Count correct predictions of each model, (M, R, K), and samples, (R, K)."""
        wrong = self._wrong(run)
        nobody = np.broadcast_to(np.zeros((), np.uint8), (1, *run.folds.shape))
        alone = np.array([(i, 0) for i in range(len(wrong))])
        tables = _count(run.folds, wrong, nobody, alone)
        return tables[..., 0, :].sum(-1), tables[0].sum((-2, -1))


def _count(
    folds: NDArray[np.int16],
    wrong_a: NDArray[np.uint8],
    wrong_b: NDArray[np.uint8],
    pairs: NDArray[Any],
) -> Ints:
    """Count who is right in each fold, for pairs of rows."""
    n_folds = int(folds.max()) + 1
    tables = np.zeros((*pairs.shape[:-1], len(folds), n_folds, 2, 2), np.int64)
    for where in np.ndindex(pairs.shape[:-1]):
        a, b = pairs[where]
        kernels.count_folds(folds, wrong_a[a], wrong_b[b], tables[where])
    return tables


# Classifiers fitted on the splits of resampling designs, each split once a model.


_LARGEST_STATE = 2**31 - 1
#: Names of a scoring function that would mean something else in a record.
_TAKEN = {"accuracy", "cost", "error", "loss", "AUC", "<lambda>"}


class _Split(NamedTuple):
    """One split of one design."""

    repetition: int
    fold: int
    #: Equal for splits that are run once: the repetition, and a hash of the samples.
    key: tuple[int, int]
    #: Which split it is, in words.
    place: str
    train: NDArray[np.intp]
    test: NDArray[np.intp]


class _Data(NamedTuple):
    """Predictors and labels as the models see them."""

    X: Any
    labels: Any
    #: Code of each label.
    codes: dict[Any, int]
    #: A scorer of scikit-learn, or None for accuracy.
    scorer: Any


def fit_models(
    named: Sequence[tuple[str, Any]],
    X: Any,
    y: Any,
    groups: Any,
    designs: Sequence[Design],
    *,
    scoring: str | Callable[..., float] | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> CVRuns:
    """Fit clones of all models on all splits, and keep what they predict."""
    scorer, parallel = _scikit_learn(scoring, workers)
    for name, model in named:
        _check_classifier(name, model)
    codes, classes = _encode(y)
    data = _Data(
        X=X.tocsr() if hasattr(X, "tocsr") else X,
        labels=y if hasattr(y, "iloc") else np.asarray(y),
        codes={label: code for code, label in enumerate(classes)},
        scorer=scorer,
    )
    if (rows := count_rows(X, "X")) != codes.size:
        raise BadValueError(f"`X` has {rows} rows, y has {codes.size} labels")
    check_indexes([("X", X), ("y", y), ("groups", groups)])
    folds = [design.folds(codes.size, y=codes, groups=groups) for design in designs]
    splits = [list(_splits(*dealt)) for dealt in zip(designs, folds, strict=True)]
    distinct = {split.key: split for part in splits for split in part}
    for split in distinct.values():
        trained = codes[split.train]
        if (trained == trained[0]).all():
            raise BadValueError(
                f"the training set of {split.place} has one class only, of {len(classes)}",
                remedy=": use `stratify=True`, or more samples",
            )
    tasks = [
        (name, model, data, split, seed) for split in distinct.values() for name, model in named
    ]
    answers: dict[tuple[Any, ...], Any] = {}
    with reporting(progress, "fitting") as report:
        for task, answer in zip(tasks, parallel(_fit, tasks), strict=True):
            answers[task[3].key, task[0]] = answer
            report(len(answers), len(tasks))
    names = tuple(name for name, _ in named)
    runs = []
    for design, dealt, part in zip(designs, folds, splits, strict=True):
        predictions = np.full((len(names), *dealt.shape), -1, np.int32)
        scores = np.empty((len(names), len(dealt), design.n_folds))
        for split in part:
            for at, name in enumerate(names):
                predicted, score = answers[split.key, name]
                predictions[at, split.repetition, split.test] = predicted
                scores[at, split.repetition, split.fold] = score
        scored = None if scorer is None else scores
        runs.append(DesignRun(design=design, folds=dealt, predictions=predictions, scores=scored))
    measure = scoring or "accuracy"
    if not isinstance(measure, str):
        measure = str(getattr(scoring, "__name__", "score"))
        measure = "score" if measure in _TAKEN else measure
    return CVRuns(
        names=names, y=codes, classes=classes, runs=tuple(runs), measure=measure, seed=seed
    )


def _scikit_learn(
    scoring: str | Callable[..., float] | None, workers: int | None
) -> tuple[Any, Any]:
    """The scorer that the user wants, and a function that runs tasks."""
    try:
        import joblib
        from sklearn.metrics import get_scorer
    except ImportError:
        raise ImportError(
            "fitting models needs scikit-learn and joblib: pip install 'fastcmp[cv]'"
        ) from None
    scorer = None
    if scoring is not None and scoring != "accuracy":
        if not isinstance(scoring, str) and not callable(scoring):
            raise BadTypeError(
                "`scoring` must be the name of a scorer of scikit-learn or a function of "
                "model, X and y",
                repr(scoring),
            )
        try:
            scorer = get_scorer(scoring)
        except ValueError:
            raise BadValueError(
                f"`scoring` {scoring!r} is unknown: sklearn.metrics.get_scorer_names() lists "
                "the names"
            ) from None
    if workers is not None and workers != -1:
        check_workers(workers)

    def parallel(work: Callable[..., Any], tasks: list[Any]) -> Iterator[Any]:
        pool = joblib.Parallel(n_jobs=workers, return_as="generator")
        yield from pool(joblib.delayed(work)(*task) for task in tasks)

    return scorer, parallel


def _check_classifier(name: str, model: Any) -> None:
    if isinstance(model, type):
        raise BadTypeError(f"model {name!r} must be a classifier", f"the class {model.__name__}")
    lacking = [m for m in ("fit", "predict") if not callable(getattr(model, m, None))]
    if lacking:
        raise BadTypeError(
            f"model {name!r} must be a classifier with methods fit and predict",
            f"{model!r} without {' and '.join(lacking)}",
        )
    from sklearn.base import is_classifier

    try:
        # Release 1.7 warns where others raise.
        _ = model.__sklearn_tags__
        is_one = is_classifier(model)
    except AttributeError:  # a model without scikit-learn's tags
        return
    if not is_one and hasattr(model, "get_params"):
        raise BadTypeError(f"model {name!r} must be a classifier", repr(model))


def _encode(y: object) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    column = read_column(y, "y").factorized()
    missing = column.missing()
    if missing is not None:
        raise BadValueError(
            "`y` must have a label for each sample",
            f"a missing one in row {int(np.flatnonzero(missing)[0])}",
        )
    column.kind()
    # A column of categories may know labels that do not occur.
    present, codes = np.unique(column.positions(), return_inverse=True)
    classes = tuple(column.distinct[i] for i in present)
    if len(classes) < 2:
        raise BadValueError("`y` must have at least 2 classes", list(classes))
    return codes.astype(np.int32), classes


def _splits(design: Design, folds: NDArray[np.int16]) -> Iterator[_Split]:
    for repetition, row in enumerate(folds):
        for fold in range(design.n_folds):
            test, train = row == fold, (row != fold) & (row != UNUSED)
            digest = blake2b(test + 2 * train.view(np.uint8), digest_size=8).digest()
            key = repetition, int.from_bytes(digest, "big")
            place = f"repetition {repetition}, fold {fold} of {design}"
            yield _Split(repetition, fold, key, place, np.flatnonzero(train), np.flatnonzero(test))


def _fit(
    name: str, model: Any, data: _Data, split: _Split, seed: int
) -> tuple[NDArray[np.int32], float]:
    """Fit a clone of a model on a split; runs in any process."""
    from sklearn.base import clone

    try:
        model = clone(model, safe=False)
        parameters = model.get_params() if hasattr(model, "get_params") else {}
        # Open random states: one a split, the same for all models and designs.
        open_states = [
            name
            for name, value in parameters.items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]
        if open_states:
            states = np.random.default_rng([seed, *split.key])
            random_states = states.integers(_LARGEST_STATE, size=len(open_states)).tolist()
            model.set_params(**dict(zip(sorted(open_states), random_states, strict=True)))
        model.fit(take_rows(data.X, split.train), take_rows(data.labels, split.train))
        tested = take_rows(data.X, split.test)
        predicted = model.predict(tested)
        score = (
            np.nan
            if data.scorer is None
            else float(data.scorer(model, tested, take_rows(data.labels, split.test)))
        )
    except Exception as error:
        kind = type(error).__name__
        raise RuntimeError(f"model {name!r} failed in {split.place}: {kind}: {error}") from error
    if data.scorer is not None and not np.isfinite(score):
        raise BadValueError(f"model {name!r} scored {score} in {split.place}")
    if getattr(predicted, "ndim", 1) == 2 and predicted.shape[1] == 1:
        predicted = np.asarray(predicted)[:, 0]
    column = read_column(predicted, f"predictions of model {name!r} in {split.place}").factorized()
    if len(column) != split.test.size:
        raise BadValueError(
            f"model {name!r} must predict one label a row",
            f"{len(column)} for {split.test.size} rows in {split.place}",
        )
    class_codes = [data.codes.get(label, len(data.codes)) for label in column.distinct]
    if class_codes and all(code == len(data.codes) for code in class_codes):
        raise BadTypeError(
            f"model {name!r} must be a classifier: none of its predictions in "
            f"{split.place} is a class of y, such as {column.distinct[0]!r}"
        )
    # Neither is a missing prediction (-1) a class.
    codes = np.array([*class_codes, len(data.codes)], np.int32)
    return np.asarray(codes[column.positions()]), score


def take_rows(rows: Any, places: NDArray[np.intp]) -> Any:
    """Rows of a frame, Arrow table, list, array or sparse matrix at some places."""
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    if hasattr(rows, "column_names"):  # pyarrow
        return rows.take(places)
    if isinstance(rows, (list, tuple)):
        return [rows[i] for i in places]
    return rows[places]


# Predictions on each of several data sets, kept in a folder and taken from there.


_KIND = FileKind(
    "CrossValidation",
    "a file of predictions on one of several data sets",
    "delete it to fit anew, or take another folder for checkpoint",
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OTHER = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 40  # letters of a data set's name in that of its file


def open_folder(path: str | PathLike[str]) -> Path:
    """The folder of a checkpoint, made before any work."""
    try:
        folder = Path(path)
    except TypeError:
        raise BadTypeError("`checkpoint` must be the path of a folder", repr(path)) from None
    if folder.exists() and not folder.is_dir():
        raise BadValueError(f"`checkpoint` must be a folder, and {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def load_runs(folder: Path, name: str, settings: dict[str, Any]) -> CVRuns | None:
    """What was predicted on a data set; None where it is not finished.

    Raises ValueError for a file that is damaged, or made with other settings.
    """
    path = _path(folder, name)
    if not path.exists():
        return None
    _, held, _ = read_state(path, _KIND)
    try:
        old, runs = held["settings"], held["runs"]
        changed = [key for key in settings if old.get(key) != settings[key]]
    except (AttributeError, KeyError, TypeError):
        changed, runs, old = [], None, {}
    if changed:
        key = changed[0]
        raise BadValueError(
            f"`checkpoint`: {path} was made with other {key}: {_brief(old.get(key))}, asked "
            f"for are {_brief(settings[key])}; {_KIND.advice}"
        )
    if not isinstance(runs, CVRuns):
        raise ValueError(f"{path} holds no predictions; {_KIND.advice}")  # noqa: TRY004  # of a file
    return runs


def save_runs(folder: Path, name: str, settings: dict[str, Any], runs: CVRuns) -> None:
    """Write what was predicted, at once or not at all."""
    held = {"settings": settings, "runs": runs}
    write_state(_path(folder, name), "CrossValidation", held, {})


def _path(folder: Path, name: str) -> Path:
    digest = blake2b(name.encode(), digest_size=6).hexdigest()
    stem = _OTHER.sub("-", name)[:_LONGEST].strip("-")
    return folder / f"{stem}-{digest}.fastcmp"


def settings_of(
    named: Sequence[tuple[str, Any]],
    designs: list[Design],
    scoring: str | Callable[..., float] | None,
    name: str,
    data: tuple[Any, ...],
    seed: int,
) -> dict[str, Any]:
    """All that predictions on a data set depend on, as words and numbers."""
    try:
        import joblib
    except ImportError:
        raise ImportError("checkpoint needs joblib: pip install 'fastcmp[cv]'") from None
    if scoring is not None and not isinstance(scoring, str):
        scoring = _ADDRESS.sub("", str(getattr(scoring, "__qualname__", repr(scoring))))
    return {
        "data set": name,
        "models": {name: _described(model) for name, model in named},
        "designs": designs,
        "scoring": scoring,
        "seed": seed,
        "data (X, y or groups)": joblib.hash(data),
    }


def _described(model: Any) -> str:
    """A model and its parameters as text, without addresses in memory."""
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if not hasattr(model, "get_params"):
        return f"{kind} {_ADDRESS.sub('', repr(model))}"
    parameters = model.get_params(deep=True)
    listed = ", ".join(f"{key}={parameters[key]!r}" for key in sorted(parameters))
    return _ADDRESS.sub("", f"{kind}({listed})")


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
