"""Plans of tests on the folds of a cross-validation, by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from fastcmp.core.checks import as_seed
from fastcmp.core.errors import BadValueError
from fastcmp.core.threads import parts
from fastcmp.core.typing import Numbers
from fastcmp.crossval.designs import UNUSED, Design
from fastcmp.crossval.fold_tests import TESTS, FoldOutcomes, differences_of, find_test
from fastcmp.kernels.fold_counts import simulate_folds
from fastcmp.planning.discordance import KNOWN, read_discordant, read_probabilities
from fastcmp.planning.families import Case, Family, Inputs, Question
from fastcmp.planning.normal import each_size, elementwise

_INPUTS = {
    "design": "splits, by fastcmp.designs; by default those of the test's authors",
    "repeat_correlation": "of a sample's outcomes in two repetitions, 0.25 by default",
    "training_sd": "of the difference over training sets, discordant / 10 by default",
    "n_resamples": "simulated data sets, 2000 by default",
    "rng": "seed of the simulation",
}
_PART = 500  # data sets at a time
_FEWEST, _MOST = 8, 1 << 17  # samples between which a sample size is looked for
_MOST_DRAWN = 3e8  # samples of all simulated data sets
_WIDTH = 0.01  # of the sample size, to which it is searched
_HALVINGS = 12  # of the discordant proportion, to find a difference


def _fold_case(question: Question, inputs: Inputs) -> Case:
    test = find_test(question.method)
    test.check_options(question.alternative, counted=True)
    seed = as_seed(inputs.get("rng"))
    design = inputs.get("design")
    if design is None:
        design = test.splits.design(rng=seed)
    if not isinstance(design, Design) or design.stratify:
        raise BadValueError(
            "`design` must be made by fastcmp.designs, not stratified", repr(design)
        )
    test.check_design(design)
    n_resamples, alpha = inputs.resamples(), question.alpha

    def power(n: float, alpha: float, *model: float) -> float:
        """Proportion of drawn data sets on which the test rejects.

        `model`: the probabilities of only a, of both and of only b right, the
        correlation between repetitions, and the spread over training sets.
        """
        if n * n_resamples > _MOST_DRAWN:
            raise BadValueError(
                f"`n={n:,.0f}` with `n_resamples={n_resamples:,}` would draw too many samples "
                f"(at most {_MOST_DRAWN:.0e})",
                remedy=": pass a smaller n_resamples, or plan `test='mcnemar'`",
            )
        try:
            folds = design.folds(int(n))
        except ValueError as error:
            raise BadValueError(f"`n` does not suit the design: {error}") from None
        probabilities, stability = np.array(model[:3]), math.sqrt(model[3])
        n_test = int(np.count_nonzero(folds[0] == 0))
        n_train = int(np.count_nonzero(folds[0] != UNUSED)) - n_test
        rejected = 0
        for part in parts(n_resamples, _PART):
            tables = np.empty((part.stop - part.start, len(folds), design.n_folds, 2, 2), np.int64)
            simulate_folds(folds, probabilities, stability, model[4], seed, part.start, tables)
            outcomes = FoldOutcomes(design, differences_of(tables), tables, n_train, n_test)
            pvalue = test.run(outcomes, question.alternative).pvalue
            rejected += int(np.count_nonzero(np.asarray(pvalue) <= alpha))  # NaN does not
        return rejected / n_resamples

    def power_if_possible(n: float, alpha: float, *model: float) -> float:
        """The same; 0 of samples that are too few for the design."""
        try:
            design.pattern(int(n))
        except ValueError:
            return 0.0
        return power(n, alpha, *model)

    def size(_: object, target: Numbers) -> Any:
        """Samples with the power wanted, on the same random numbers; infinite if too many."""
        # A test on folds finds no difference with 1 / 16 of the samples of McNemar's.
        gain = cells[0] - cells[2]
        hopeless = (ndtri(target) - ndtri(alpha / 2)) ** 2 * discordant > 16 * _MOST * gain**2
        return each_size(
            *(power_if_possible, target, np.where(hopeless, np.inf, _FEWEST), alpha, *model),
            fewest=_FEWEST // 2,
            most=_MOST,
            step=_FEWEST,
            width=_WIDTH,
        )

    def detectable(
        alpha: float, n: float, target: float, discordant: float, *spread: float
    ) -> float:
        """Difference with the power wanted; NaN if no difference has it."""
        sign = -1.0 if question.alternative == "less" else 1.0
        low, high, middle = 0.0, discordant, discordant
        for _ in range(_HALVINGS + 1):
            d = sign * middle
            cells = (discordant + d) / 2, 1.0 - discordant, (discordant - d) / 2
            enough = power(n, alpha, *cells, *spread) >= target
            if middle == discordant and not enough:
                return np.nan
            low, high = (low, middle) if enough else (middle, high)
            middle = 0.5 * (low + high)
        return sign * high

    kept = inputs.plain()
    cautions: tuple[str, ...] = ()
    cells: tuple[Any, ...] = ()
    if question.solved_for == "difference":
        if question.method == "proportion-z":
            raise BadValueError(
                "`method` 'proportion-z' has no answer: it depends on both accuracies"
            )
        discordant = read_discordant(inputs)
        kept = {name: x for name, x in kept.items() if name not in KNOWN}
        kept["discordant"] = discordant
    else:
        discordance = Inputs({name: inputs[name] for name in inputs.passed(KNOWN)})
        only_a, only_b, cautions = read_probabilities(discordance)
        discordant = only_a + only_b
        both = 1.0 - discordant
        if "accuracy_a" in inputs:
            accuracy = inputs.proportion("accuracy_a")
            accuracy = accuracy[..., np.newaxis] if both.ndim > accuracy.ndim else accuracy
            both = np.clip(accuracy - only_a, 0.0, both)
        elif question.method == "proportion-z":
            inputs.needed("accuracy_a")  # it does not see who is right on the same samples
        if set(discordance) == {"accuracy_a", "accuracy_b"}:  # three answers, along a new last axis
            kept |= {name: np.expand_dims(kept[name], -1) for name in discordance}
            kept["discordant"] = discordant
        cells = only_a, both, only_b
    spread = {
        "repeat_correlation": inputs.proportion("repeat_correlation", 0.25),
        "training_sd": inputs.proportion("training_sd", 0.1 * discordant),
    }
    model = *cells, *spread.values()
    if cells:
        difference = cells[0] - cells[2]
    else:
        difference = elementwise(detectable, alpha, question.n, question.target, discordant, *model)

    def sentences(n: Numbers, answer: Any) -> tuple[str, ...]:
        """Where no number is enough, or the test finds differences that are not there."""
        if question.solved_for == "n" and np.any(np.isinf(n)):
            return (*cautions, f"Up to {_MOST:,} samples do not reach the power wanted.")
        if question.solved_for != "power" or np.ndim(answer):
            return cautions
        half = 0.5 * (cells[0] + cells[2])
        even = half, cells[1], half, *spread.values()
        level = power(float(n), float(alpha), *map(float, even))
        if level <= alpha + 3.0 * math.sqrt(float(alpha) / n_resamples):
            return cautions
        return (
            *cautions,
            f"Without a difference it rejects with a probability of {100 * level:.1f}%, "
            "more than alpha: this is no power to rely on.",
        )

    return Case(
        difference=difference,
        inputs=kept | {"n_resamples": n_resamples, "rng": seed, **spread, "design": design},
        power=lambda _, n: elementwise(power, n, alpha, *model),
        size=size,
        fewest=_FEWEST * 8,
        cautions=sentences,
        n_resamples=n_resamples,
        seed=seed,
    )


FAMILY = Family(
    titles={name: f"{test.title}, simulated" for name, test in TESTS.items()},
    methods={"difference": ("bcv-mcnemar", *(name for name in TESTS if name != "bcv-mcnemar"))},
    inputs=KNOWN | _INPUTS,
    read=_fold_case,
)
