"""What several models predicted on the splits of resampling designs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.plain import readable
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.crossval.designs import UNUSED
from fastcmp.crossval.outcomes import FoldOutcomes, differences_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.crossval.designs import Design
    from fastcmp.crossval.registry import CVTest


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
    scores: NDArray[np.float64] | None

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
        """Give all predictions as columns.

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

    def _entries(self) -> dict[str, Any]:
        return {
            "design": str(self.design),
            "n_models": len(self.predictions),
            "n_train": self.n_train,
            "n_test": self.n_test,
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

    def find(self, test: CVTest) -> DesignRun:
        """Choose the predictions for a test.

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
            if run.design == test.design(stratify=run.design.stratify, rng=self.seed):
                return run
        if accepted:
            return accepted[0]
        there = ", ".join(str(run.design) for run in self.runs)
        raise ValueError(
            f"test {test.name!r} needs {test.wanted}; fitted were {there}: name it in "
            "test=[...] when comparing, and models are fitted on its splits too"
        )

    def scores(self, run: DesignRun) -> NDArray[np.float64]:
        """Give the score of each model in each fold.

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
        right, sizes = self._right(run)
        return right / sizes

    def means(self, run: DesignRun) -> NDArray[np.float64]:
        """Average the scores of each model.

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

    def outcomes(self, run: DesignRun, pairs: NDArray[np.int32]) -> FoldOutcomes:
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
        return FoldOutcomes(
            design=run.design,
            differences=differences,
            tables=tables,
            n_train=run.n_train,
            n_test=run.n_test,
        )

    def columns(self) -> dict[str, Any]:
        """Give the scores in all folds as columns.

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

    def _entries(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "n_samples": self.y.size,
            "classes": readable(self.classes),
            "measure": self.measure,
            "seed": self.seed,
            "designs": [str(run.design) for run in self.runs],
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text = (
            f"{len(self.names)} models, {self.y.size} samples of {len(self.classes)} "
            f"classes, scored by {self.measure}; seed {self.seed}",
            *(str(run.design) for run in self.runs),
        )
        return [Section(title="Models fitted on splits", text=text)]

    def _wrong(self, run: DesignRun) -> NDArray[np.uint8]:
        return np.asarray(run.predictions != self.y).view(np.uint8)

    def _right(self, run: DesignRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
) -> NDArray[np.int64]:
    """Count who is right in each fold, for pairs of rows."""
    n_folds = int(folds.max()) + 1
    tables = np.zeros((len(pairs), len(folds), n_folds, 2, 2), np.int64)
    for table, (a, b) in zip(tables, pairs, strict=True):
        kernels.count_folds(folds, wrong_a[a], wrong_b[b], table)
    return tables
