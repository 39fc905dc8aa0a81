"""Classifiers fitted on the splits of resampling designs, each split once a model."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.progress import Progress, reporting
from fastcmp.core.threads import check_workers
from fastcmp.crossval.designs import UNUSED
from fastcmp.crossval.runs import CVRuns, DesignRun
from fastcmp.inputs.columns import count_rows, read_column
from fastcmp.inputs.model_names import check_indexes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from fastcmp.crossval.designs import Design

_LARGEST_STATE = 2**31 - 1
#: Names of a scoring function that would mean something else in a record.
_TAKEN = {"accuracy", "cost", "error", "loss", "AUC", "<lambda>"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """One split of one design."""

    repetition: int
    fold: int
    #: Hash of its samples: with the repetition, it tells which splits are the same.
    digest: int
    #: Which split it is, in words.
    place: str
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    @property
    def key(self) -> tuple[int, int]:
        """Equal for splits that are run once."""
        return self.repetition, self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """Predictors and labels as the models see them."""

    X: Any
    labels: Any
    #: Code of each label.
    codes: dict[Any, int]
    #: A scorer of scikit-learn, or None for accuracy.
    scorer: Any


def fit_models(
    named: Sequence[tuple[str, Any]],
    X: Any,  # noqa: N803  # scikit-learn's name
    y: ArrayLike,
    designs: Sequence[Design],
    *,
    groups: ArrayLike | None = None,
    scoring: Any = None,
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
        raise ValueError(f"X has {rows} rows, y has {codes.size} labels")
    check_indexes([("X", X), ("y", y), ("groups", groups)])
    folds = [design.folds(codes.size, y=codes, groups=groups) for design in designs]
    splits = [list(_splits(*each)) for each in zip(designs, folds, strict=True)]
    distinct = {split.key: split for part in splits for split in part}
    for split in distinct.values():
        _check_training(split, codes)
    tasks = [
        (name, model, data, split, seed) for split in distinct.values() for name, model in named
    ]
    found: dict[tuple[Any, ...], Any] = {}
    with reporting(progress, "fitting") as report:
        for task, answer in zip(tasks, parallel(_fit, tasks), strict=True):
            found[task[3].key, task[0]] = answer
            report(len(found), len(tasks))
    names = tuple(name for name, _ in named)
    return CVRuns(
        names=names,
        y=codes,
        classes=classes,
        runs=tuple(
            _collect(*each, found, names, scored=scorer is not None)
            for each in zip(designs, folds, splits, strict=True)
        ),
        measure=_measure(scoring),
        seed=seed,
    )


def _scikit_learn(scoring: Any, workers: int | None) -> tuple[Any, Any]:
    """Give the scorer that the user wants, and a function that runs tasks."""
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
            raise TypeError(
                "scoring must be the name of a scorer of scikit-learn or a function "
                f"of model, X and y, got {scoring!r}"
            )
        scorer = _find_scorer(get_scorer, scoring)
    if workers is not None and workers != -1:
        check_workers(workers)

    def parallel(work: Callable[..., Any], tasks: list[Any]) -> Iterator[Any]:
        pool = joblib.Parallel(n_jobs=workers, return_as="generator")
        yield from pool(joblib.delayed(work)(*task) for task in tasks)

    return scorer, parallel


def _find_scorer(get_scorer: Callable[[Any], Any], scoring: Any) -> Any:
    try:
        return get_scorer(scoring)
    except ValueError:
        raise ValueError(
            f"scoring {scoring!r} is unknown: sklearn.metrics.get_scorer_names() lists the names"
        ) from None


def _measure(scoring: Any) -> str:
    if scoring is None or isinstance(scoring, str):
        return scoring or "accuracy"
    name = str(getattr(scoring, "__name__", "score"))
    return "score" if name in _TAKEN else name


def _check_classifier(name: str, model: Any) -> None:
    if isinstance(model, type):
        raise TypeError(f"model {name!r} must be a classifier, got the class {model.__name__}")
    lacking = [m for m in ("fit", "predict") if not callable(getattr(model, m, None))]
    if lacking:
        raise TypeError(
            f"model {name!r} must be a classifier with methods fit and predict, got "
            f"{model!r} without {' and '.join(lacking)}"
        )
    from sklearn.base import is_classifier

    try:
        # Release 1.7 warns where others raise.
        model.__sklearn_tags__  # noqa: B018
        known = is_classifier(model)
    except AttributeError:  # a model without scikit-learn's tags
        return
    if not known and hasattr(model, "get_params"):
        raise TypeError(f"model {name!r} must be a classifier, got {model!r}")


def _encode(y: ArrayLike) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    column = read_column(y, "y").factorized()
    missing = column.missing()
    if missing is not None:
        raise ValueError(
            f"y must have a label for each sample, got a missing one in row "
            f"{int(np.flatnonzero(missing)[0])}"
        )
    column.kind()
    # A column of categories may know labels that do not occur.
    present, codes = np.unique(column.positions(), return_inverse=True)
    classes = tuple(column.distinct[i] for i in present)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got {list(classes)}")
    return codes.astype(np.int32), classes


def _splits(design: Design, folds: NDArray[np.int16]) -> Iterator[_Split]:
    for repetition, row in enumerate(folds):
        for fold in range(design.n_folds):
            test, train = row == fold, (row != fold) & (row != UNUSED)
            roles = test + 2 * train.view(np.uint8)
            yield _Split(
                repetition=repetition,
                fold=fold,
                digest=int.from_bytes(blake2b(roles, digest_size=8).digest(), "big"),
                place=f"repetition {repetition}, fold {fold} of {design}",
                train=np.flatnonzero(train),
                test=np.flatnonzero(test),
            )


def _check_training(split: _Split, codes: NDArray[np.int32]) -> None:
    trained = codes[split.train]
    if (trained == trained[0]).all():
        raise ValueError(
            f"the training set of {split.place} has one class only, of "
            f"{codes.max() + 1}: use stratify=True, or more samples"
        )


def _seeded(model: Any, split: _Split, seed: int) -> Any:
    """Set open random states: one a split, the same for all models and designs."""
    if not hasattr(model, "get_params"):
        return model
    open_states = [
        name
        for name, value in model.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    if open_states:
        states = np.random.default_rng([seed, *split.key])
        chosen = states.integers(_LARGEST_STATE, size=len(open_states)).tolist()
        model.set_params(**dict(zip(sorted(open_states), chosen, strict=True)))
    return model


def _fit(
    name: str, model: Any, data: _Data, split: _Split, seed: int
) -> tuple[NDArray[np.int32], float]:
    """Fit a clone of a model on a split; runs in any process."""
    from sklearn.base import clone

    try:
        model = _seeded(clone(model, safe=False), split, seed)
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
        raise ValueError(f"model {name!r} scored {score} in {split.place}")
    return _read(predicted, name, data, split), score


def take_rows(rows: Any, which: NDArray[np.intp]) -> Any:
    """Select rows of a frame, Arrow table, list, array or sparse matrix."""
    if hasattr(rows, "iloc"):
        return rows.iloc[which]
    if hasattr(rows, "column_names"):  # pyarrow
        return rows.take(which)
    if isinstance(rows, (list, tuple)):
        return [rows[i] for i in which]
    return rows[which]


def _read(predicted: Any, name: str, data: _Data, split: _Split) -> NDArray[np.int32]:
    if getattr(predicted, "ndim", 1) == 2 and predicted.shape[1] == 1:
        predicted = np.asarray(predicted)[:, 0]
    what = f"predictions of model {name!r} in {split.place}"
    column = read_column(predicted, what).factorized()
    if len(column) != split.test.size:
        raise ValueError(
            f"model {name!r} must predict one label a row, got {len(column)} for "
            f"{split.test.size} rows in {split.place}"
        )
    own = [data.codes.get(label, len(data.codes)) for label in column.distinct]
    if own and all(code == len(data.codes) for code in own):
        raise TypeError(
            f"model {name!r} must be a classifier: none of its predictions in "
            f"{split.place} is a class of y, such as {column.distinct[0]!r}"
        )
    # Neither is a missing prediction (-1) a class.
    codes = np.array([*own, len(data.codes)], np.int32)
    return np.asarray(codes[column.positions()])


def _collect(
    design: Design,
    folds: NDArray[np.int16],
    splits: list[_Split],
    found: dict[tuple[Any, ...], Any],
    names: tuple[str, ...],
    *,
    scored: bool,
) -> DesignRun:
    """Gather one design's predictions and scores from those of all splits."""
    predictions = np.full((len(names), *folds.shape), -1, np.int32)
    scores = np.empty((len(names), len(folds), design.n_folds))
    for split in splits:
        for at, name in enumerate(names):
            codes, score = found[split.key, name]
            predictions[at, split.repetition, split.test] = codes
            scores[at, split.repetition, split.fold] = score
    return DesignRun(
        design=design,
        folds=folds,
        predictions=predictions,
        scores=scores if scored else None,
    )
