"""Which test needs which resampling design, and how it is run on the folds.

One entry a test, so that none can be run on the folds of another design by mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import choose
from fastcmp.crossval import designs, fold_tests, mcnemar, two_fold
from fastcmp.paired.mcnemar import mcnemar_from_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastcmp.crossval.designs import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class CVTest:
    """A test and the design that it is made for."""

    name: str
    title: str
    #: Makes the design that its authors describe; called with `stratify` and `rng`.
    design: Callable[..., Design]
    #: That design in words, for errors and tables.
    wanted: str
    #: Whether a design can be used.
    accepts: Callable[[Design], bool]
    #: From outcomes and alternative to a record.
    evaluate: Callable[[FoldOutcomes, str], Any]
    #: Whether it counts right and wrong predictions, so that it takes no other score.
    counts: bool = False
    #: Whether it has one-sided forms.
    one_sided: bool = True

    def run(self, outcomes: FoldOutcomes, alternative: str = "two-sided") -> Any:
        """Test the outcomes of a design; arrays of the leading axes."""
        self.check_design(outcomes.design)
        self.check_options(alternative, counted=outcomes.tables is not None)
        return self.evaluate(outcomes, alternative)

    def check_design(self, design: Design) -> None:
        """Refuse folds of another design."""
        if not self.accepts(design):
            raise ValueError(f"test {self.name!r} needs {self.wanted}, got {design}")

    def check_options(self, alternative: str, *, counted: bool) -> None:
        """Refuse an alternative, or a score, that the test does not take."""
        if alternative != "two-sided" and not self.one_sided:
            raise ValueError(
                f"test {self.name!r} is two-sided only, got alternative={alternative!r}"
            )
        if self.counts and not counted:
            raise ValueError(
                f"test {self.name!r} counts right and wrong predictions: it takes no scoring"
            )


def _in_a_row(outcomes: FoldOutcomes) -> NDArray[np.float64]:
    """All folds of all repetitions on one axis."""
    x = outcomes.differences
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def _resampled_t(outcomes: FoldOutcomes, alternative: str) -> Any:
    return fold_tests.resampled_t(_in_a_row(outcomes), alternative=alternative)


def _kfold_t(outcomes: FoldOutcomes, alternative: str) -> Any:
    return fold_tests.kfold_t(_in_a_row(outcomes), alternative=alternative)


def _nadeau_bengio_t(outcomes: FoldOutcomes, alternative: str) -> Any:
    return fold_tests.nadeau_bengio_t(
        _in_a_row(outcomes),
        n_train=outcomes.n_train,
        n_test=outcomes.n_test,
        alternative=alternative,
    )


def _on_grid(test: Callable[..., Any]) -> Callable[[FoldOutcomes, str], Any]:
    """Run a test that wants repetitions and folds on two axes."""

    def evaluate(outcomes: FoldOutcomes, alternative: str) -> Any:
        return test(outcomes.differences, alternative=alternative)

    return evaluate


def _on_grid_two_sided(test: Callable[..., Any]) -> Callable[[FoldOutcomes, str], Any]:
    def evaluate(outcomes: FoldOutcomes, _: str) -> Any:
        return test(outcomes.differences)

    return evaluate


def _conservative_z(outcomes: FoldOutcomes, alternative: str) -> Any:
    x = _in_a_row(outcomes)
    n_splits, n_halves = outcomes.design.n_repeats, outcomes.design.n_halves
    halves = x[..., n_splits:]
    return fold_tests.conservative_z(
        x[..., :n_splits],
        halves.reshape(*x.shape[:-1], n_halves, 2, n_splits),
        alternative=alternative,
    )


def _bayle_z(outcomes: FoldOutcomes, alternative: str) -> Any:
    """Put the samples of each fold in a row: only a right, only b right, all others.

    Their order within a fold does not matter.
    """
    tables = outcomes.tables[..., 0, :, :, :]
    sizes = tables.sum((-2, -1)).reshape(-1, tables.shape[-3])[0]
    only_a, only_b = tables[..., 0, 1, None], tables[..., 1, 0, None]
    samples = []
    for fold, size in enumerate(sizes):
        at = np.arange(size)
        first = at < only_a[..., fold, :]
        samples.append(2.0 * first - (at < (only_a + only_b)[..., fold, :]))
    return fold_tests.bayle_z(
        np.concatenate(samples, axis=-1),
        np.repeat(np.arange(len(sizes)), sizes),
        alternative=alternative,
    )


def _proportion_z(outcomes: FoldOutcomes, alternative: str) -> Any:
    table = outcomes.tables[..., 0, 0, :, :]
    return mcnemar.proportion_z(
        table[..., 1, :].sum(-1),
        table[..., :, 1].sum(-1),
        table.sum((-2, -1)),
        alternative=alternative,
    )


def _holdout_mcnemar(outcomes: FoldOutcomes, alternative: str) -> Any:
    table = outcomes.tables[..., 0, 0, :, :]
    return mcnemar_from_counts(
        table[..., 0, 1],
        table[..., 1, 0],
        both_right=table[..., 0, 0],
        both_wrong=table[..., 1, 1],
        method="corrected",
        alternative=alternative,
    )


def _naive_mcnemar(outcomes: FoldOutcomes, _: str) -> Any:
    return mcnemar.naive_mcnemar(outcomes.tables[..., 0, :, :, :])


def _bcv_mcnemar(outcomes: FoldOutcomes, alternative: str) -> Any:
    return mcnemar.bcv_mcnemar(outcomes.tables, alternative=alternative)


def _is(family: str, **wanted: int) -> Callable[[Design], bool]:
    def accepts(design: Design) -> bool:
        return design.family == family and all(
            getattr(design, name) == value for name, value in wanted.items()
        )

    return accepts


def _has_repeats(family: str) -> Callable[[Design], bool]:
    def accepts(design: Design) -> bool:
        return design.family == family and design.n_repeats >= 2

    return accepts


_RANDOM_5X2: dict[str, Any] = {
    "design": partial(designs.two_fold, 5),
    "wanted": "two_fold(5), 5 random cuts in halves",
    "accepts": _is("two-fold", n_repeats=5),
}
_BLOCKED_5X2: dict[str, Any] = {
    "design": partial(designs.two_fold, 5, blocked=True),
    "wanted": "two_fold(5, blocked=True)",
    "accepts": _is("blocked-two-fold", n_repeats=5),
}
_KFOLD: dict[str, Any] = {
    "design": designs.kfold,
    "wanted": "kfold(n_folds), one K-fold cross-validation",
    "accepts": _is("kfold", n_repeats=1),
}
_REPEATED_HOLDOUT: dict[str, Any] = {
    "wanted": "repeated_holdout(n_repeats), 2 random splits or more",
    "accepts": _has_repeats("holdout"),
}
_HOLDOUT: dict[str, Any] = {
    "design": partial(designs.repeated_holdout, 1),
    "wanted": "repeated_holdout(1), a single random split",
    "accepts": _is("holdout", n_repeats=1),
    "counts": True,
}

#: All tests by name, those of the t family first.
TESTS: dict[str, CVTest] = {
    test.name: test
    for test in (
        CVTest(
            name="resampled-t",
            title="Resampled t",
            design=designs.repeated_holdout,
            evaluate=_resampled_t,
            **_REPEATED_HOLDOUT,
        ),
        CVTest(name="kfold-t", title="K-fold CV t", evaluate=_kfold_t, **_KFOLD),
        CVTest(
            name="dietterich-t",
            title="5x2 CV t (Dietterich)",
            evaluate=_on_grid(two_fold.dietterich_t),
            **_RANDOM_5X2,
        ),
        CVTest(
            name="nadeau-bengio-t",
            title="Corrected resampled t (Nadeau, Bengio)",
            design=partial(designs.repeated_holdout, test_size=0.1),
            evaluate=_nadeau_bengio_t,
            **_REPEATED_HOLDOUT,
        ),
        CVTest(
            name="bouckaert-frank-t",
            title="Corrected repeated K-fold t (Bouckaert, Frank)",
            design=designs.repeated_kfold,
            wanted="repeated_kfold(n_repeats, n_folds)",
            accepts=lambda design: design.family == "kfold",
            evaluate=_on_grid(fold_tests.bouckaert_frank_t),
        ),
        CVTest(
            name="bouckaert-t",
            title="10x10 CV t, calibrated (Bouckaert)",
            design=designs.repeated_kfold,
            wanted="repeated_kfold(10, 10)",
            accepts=_is("kfold", n_repeats=10, n_folds=10),
            evaluate=_on_grid(fold_tests.bouckaert_t),
        ),
        CVTest(
            name="yildiz-t",
            title="Combined 5x2 CV t (Yildiz)",
            evaluate=_on_grid(two_fold.yildiz_t),
            **_RANDOM_5X2,
        ),
        CVTest(
            name="blocked-t",
            title="Blocked 3x2 CV t",
            design=partial(designs.two_fold, 3, blocked=True),
            wanted="two_fold(m, blocked=True) with m >= 2",
            accepts=_has_repeats("blocked-two-fold"),
            evaluate=_on_grid(two_fold.blocked_t),
        ),
        CVTest(
            name="alpaydin-f",
            title="Combined 5x2 CV F (Alpaydin)",
            evaluate=_on_grid_two_sided(two_fold.alpaydin_f),
            one_sided=False,
            **_RANDOM_5X2,
        ),
        CVTest(
            name="calibrated-f",
            title="Calibrated 5x2 BCV F",
            evaluate=_on_grid_two_sided(two_fold.calibrated_f),
            one_sided=False,
            **_BLOCKED_5X2,
        ),
        CVTest(
            name="proportion-z",
            title="Difference of proportions, hold-out",
            evaluate=_proportion_z,
            **_HOLDOUT,
        ),
        CVTest(
            name="conservative-z",
            title="Conservative Z (Nadeau, Bengio)",
            design=designs.paired_halves,
            wanted="paired_halves(n_halves, n_repeats)",
            accepts=lambda design: design.family == "paired-halves",
            evaluate=_conservative_z,
        ),
        CVTest(
            name="bayle-z",
            title="K-fold CV-CI Z (Bayle et al.)",
            evaluate=_bayle_z,
            counts=True,
            **_KFOLD,
        ),
        CVTest(
            name="holdout-mcnemar", title="McNemar, hold-out", evaluate=_holdout_mcnemar, **_HOLDOUT
        ),
        CVTest(
            name="naive-mcnemar",
            title="Naive K-fold CV McNemar",
            evaluate=_naive_mcnemar,
            counts=True,
            one_sided=False,
            **_KFOLD,
        ),
        CVTest(
            name="bcv-mcnemar",
            title="5x2 BCV McNemar",
            design=partial(designs.two_fold, 5, blocked=True),
            wanted="two_fold(m, blocked=True) with m >= 2",
            accepts=_has_repeats("blocked-two-fold"),
            evaluate=_bcv_mcnemar,
            counts=True,
        ),
    )
}


def find_test(name: str) -> CVTest:
    """Find a test by its name."""
    name = choose(name, "test", tuple(TESTS))
    return TESTS[name]


# Two models on the folds of one design: counts, scores and differences.


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldOutcomes:
    """Two models on the folds of one design, or many pairs of models at once."""

    design: Design
    #: Score of a minus that of b in each fold, shape (..., R, K).
    differences: NDArray[np.float64]
    #: ``table[a is wrong, b is wrong]`` of each fold, shape (..., R, K, 2, 2); None
    #: where the score is not accuracy.
    tables: Any = None
    #: Samples that the first fold trained on, and tested.
    n_train: int
    n_test: int

    def pair(self, at: int) -> FoldOutcomes:
        """Choose one pair of many."""
        return FoldOutcomes(
            design=self.design,
            differences=self.differences[at],
            tables=None if self.tables is None else self.tables[at],
            n_train=self.n_train,
            n_test=self.n_test,
        )


def differences_of(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Subtract the accuracies in each fold."""
    gain = tables[..., 0, 1] - tables[..., 1, 0]
    return np.asarray(gain / tables.sum(axis=(-2, -1)))
