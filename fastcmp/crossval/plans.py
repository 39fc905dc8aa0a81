"""Which classifiers are compared by cross-validation, by which test, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import as_proportion
from fastcmp.core.options import choose
from fastcmp.counts.pairs import all_pairs, choose_pairs
from fastcmp.crossval.comparison_result import CVPairwiseResult, difference_interval
from fastcmp.crossval.designs import Design
from fastcmp.crossval.fits import fit_models
from fastcmp.crossval.registry import CVTest, find_test
from fastcmp.crossval.t_tests import nadeau_bengio_t
from fastcmp.pairwise.adjust import OF_PAIRS, promise
from fastcmp.pairwise.adjust import adjust as adjust_pvalues
from fastcmp.pairwise.logical_adjust import check_all_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.crossval.runs import CVRuns, DesignRun


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """Which pairs are decided about, and how."""

    adjust: str
    alpha: float
    #: Shape (P, 2).
    pairs: NDArray[np.int32]
    control: str | None

    @classmethod
    def read(
        cls, names: tuple[str, ...], adjust: Any, alpha: Any, pairs: Any, control: Any
    ) -> PairOptions:
        """Check what the user asks for."""
        adjust = choose(adjust, "adjust", OF_PAIRS)
        alpha = as_proportion(alpha, "alpha")
        which = choose_pairs(names, pairs, control)
        check_all_pairs(adjust, len(names), chosen=which is not None)
        which = all_pairs(len(names)) if which is None else which
        return cls(
            adjust=adjust,
            alpha=alpha,
            pairs=which,
            control=None if control is None else names[which[0, 0]],
        )

    def fields(self, record: Any, means: NDArray[np.float64]) -> dict[str, Any]:
        """Give what a record of pairs says of a test of all of them."""
        i, j = self.pairs.T
        return {
            "statistic": record.statistic,
            "pvalue": record.pvalue,
            "pvalue_adjusted": adjust_pvalues(record.pvalue, method=self.adjust),
            "pairs": self.pairs,
            "difference": means[i] - means[j],
            "interval": difference_interval(record, 1 - self.alpha),
            "score": means,
            "adjust": self.adjust,
            "alpha": self.alpha,
            "rule": promise(self.adjust, self.alpha),
            "df": getattr(record, "df", None),
            "distribution": record.distribution,
            "control": self.control,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CVPlan:
    """Models, the test of each pair, and the design whose splits they are fitted on."""

    named: list[tuple[str, Any]]
    test: CVTest
    design: Design | None
    scoring: Any
    stratify: bool
    options: PairOptions

    def designs(self, seed: int) -> list[Design]:
        """Give the design, by default that of the test."""
        return choose_designs(
            [self.test], self.design, self.scoring, "two-sided", self.stratify, seed
        )

    def fit(self, X: Any, y: Any, seed: int, **options: Any) -> CVRuns:  # noqa: N803
        """Fit all models on all splits of one data set."""
        return fit_models(
            self.named,
            X,
            y,
            self.designs(seed),
            scoring=self.scoring,
            seed=seed,
            **options,
        )

    def compare(self, runs: CVRuns) -> CVPairwiseResult:
        """Test all pairs on what the models predicted."""
        run = runs.find(self.test)
        record = self.test.run(runs.outcomes(run, self.options.pairs))
        return CVPairwiseResult(
            **self.options.fields(record, runs.means(run)),
            names=runs.names,
            score_interval=_score_intervals(runs, run, 1 - self.options.alpha),
            measure=runs.measure,
            n_samples=runs.y.size,
            test=self.test.name,
            method=str(run.design),
            runs=runs,
        )


def read_plan(
    models: Any,
    test: Any,
    design: Design | None,
    scoring: Any,
    stratify: bool,  # noqa: FBT001  # handed on
    options: tuple[Any, ...],
) -> CVPlan:
    """Check models, the test and the options of pairs."""
    if not isinstance(test, str):
        raise TypeError(f"test must be the name of one test, got {test!r}")
    (chosen,) = read_tests(test)
    named = read_models(models)
    return CVPlan(
        named=named,
        test=chosen,
        design=design,
        scoring=scoring,
        stratify=stratify,
        options=PairOptions.read(tuple(name for name, _ in named), *options),
    )


def read_tests(test: str | Sequence[str]) -> list[CVTest]:
    """Find tests by their names, each once."""
    if not isinstance(test, (str, Sequence)):
        raise TypeError(f"test must be the name of a test or a list of names, got {test!r}")
    names = [test] if isinstance(test, str) else list(test)
    if not names:
        raise ValueError("test must name at least one test, got none")
    found = [find_test(name) for name in names]
    return list({each.name: each for each in found}.values())


def read_models(models: Any) -> list[tuple[str, Any]]:
    """List models with their names."""
    if hasattr(models, "items"):
        named = [(str(name), model) for name, model in models.items()]
    elif isinstance(models, (list, tuple)):
        named = [(f"model_{i}", model) for i, model in enumerate(models)]
    else:
        raise TypeError(f"models must be a mapping or a list of classifiers, got {models!r}")
    if len(named) < 2:
        raise ValueError(f"models must hold at least 2 classifiers, got {len(named)}")
    if len(dict(named)) < len(named):
        raise ValueError(f"models must have different names, got {[name for name, _ in named]}")
    return named


def choose_designs(
    tests: list[CVTest],
    design: Design | Sequence[Design] | None,
    scoring: Any,
    alternative: str,
    stratify: bool,  # noqa: FBT001  # handed on
    seed: int,
) -> list[Design]:
    """Choose one design for each test, those that are equal once."""
    for test in tests:
        test.check_options(alternative, counted=scoring in (None, "accuracy"))
    if design is None:
        made = [test.design(stratify=stratify, rng=seed) for test in tests]
        return list(dict.fromkeys(made))
    given: list[Any] = list(design) if isinstance(design, (tuple, list)) else [design]
    for each in given or [design]:
        if not isinstance(each, Design):
            raise TypeError(f"design must be made by fastcmp.designs, got {each!r}")
    if stratify:
        raise ValueError("stratify is for the default designs: pass it to that of design=")
    for test in tests:
        if not any(map(test.accepts, given)):
            test.check_design(given[0])
    return given


def _score_intervals(runs: CVRuns, run: DesignRun, level: float) -> NDArray[np.float64]:
    whole = runs.scores(run)[:, : run.design.n_repeats]  # not those within halves
    flat = whole.reshape(len(whole), -1)
    if flat.shape[1] == 1 and runs.measure != "accuracy":
        return np.full((len(flat), 2), np.nan)
    if flat.shape[1] == 1:  # one split: its samples are independent
        right = [round(x * run.n_test) for x in flat[:, 0]]
        return np.array([kernels.wilson_interval(k, run.n_test, level) for k in right])
    record = nadeau_bengio_t(flat, n_train=run.n_train, n_test=run.n_test)
    ends = np.stack(record.confidence_interval(level), axis=-1)
    ends[record.status != kernels.OK] = np.nan
    return np.clip(ends, 0.0, 1.0) if runs.measure == "accuracy" else ends
