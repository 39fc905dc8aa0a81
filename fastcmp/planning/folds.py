"""Plans of tests on the folds of a cross-validation, by simulation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fastcmp.core.checks import as_seed
from fastcmp.core.threads import parts
from fastcmp.crossval.design import UNUSED, Design
from fastcmp.crossval.outcomes import FoldOutcomes, differences_of
from fastcmp.crossval.registry import TESTS, CVTest, find_test
from fastcmp.kernels.fold_counts import simulate_folds
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.checked import resamples, within
from fastcmp.planning.family import Answer, Family
from fastcmp.planning.given import is_given, needed, passed
from fastcmp.planning.inputs import KNOWN, read_discordant, read_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastcmp.planning.family import Floats, Inputs, Question

_OWN = {
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


class _Setting(NamedTuple):
    """The test and its design, and how they are simulated."""

    test: CVTest
    design: Design
    alternative: str
    n_resamples: int
    seed: int

    def power(self, n: float, alpha: float, *model: float) -> float:
        """Give the proportion of drawn data sets on which the test rejects.

        `model`: the probabilities of only a, of both and of only b right, the
        correlation between repetitions, and the spread over training sets.
        """
        if n * self.n_resamples > _MOST_DRAWN:
            message = (
                f"n={n:,.0f} with n_resamples={self.n_resamples:,} would draw too many samples "
                f"(at most {_MOST_DRAWN:.0e}): pass a smaller n_resamples, or plan test='mcnemar'"
            )
            raise ValueError(message)
        folds = self._folds(int(n))
        probabilities = np.array(model[:3])
        stability, training_sd = math.sqrt(model[3]), model[4]
        rejected = 0
        for part in parts(self.n_resamples, _PART):
            size = part.stop - part.start
            tables = np.empty((size, len(folds), self.design.n_folds, 2, 2), np.int64)
            simulate_folds(
                folds,
                probabilities,
                stability,
                training_sd,
                self.seed,
                part.start,
                tables,
            )
            rejected += self._rejections(folds, tables, alpha)
        return rejected / self.n_resamples

    def _folds(self, n: int) -> NDArray[np.int16]:
        try:
            return self.design.folds(n)
        except ValueError as error:
            message = f"n does not suit the design: {error}"
            raise ValueError(message) from None

    def _rejections(self, folds: NDArray[np.int16], tables: NDArray[np.int64], alpha: float) -> int:
        """Count the data sets on which the test rejects; NaN does not."""
        used = folds[0] != UNUSED
        n_test = int(np.count_nonzero(folds[0] == 0))
        outcomes = FoldOutcomes(
            design=self.design,
            differences=differences_of(tables),
            tables=tables,
            n_train=int(np.count_nonzero(used)) - n_test,
            n_test=n_test,
        )
        pvalue = self.test.run(outcomes, self.alternative).pvalue
        return int(np.count_nonzero(np.asarray(pvalue) <= alpha))

    def size(self, target: float, alpha: float, *model: float) -> float:
        """Find a number of samples with the power wanted; infinite if it is too large.

        The same random numbers are drawn for each number of samples.
        """
        # A test on folds finds no difference with 1 / 16 of the samples of McNemar's.
        gain, discordant = abs(model[0] - model[2]), model[0] + model[2]
        reach = -ndtri(alpha / 2) + ndtri(target)
        if reach**2 * discordant > 16 * _MOST * gain**2:
            return np.inf
        high = _FEWEST
        while not self._reaches(high, target, alpha, *model):
            high *= 2
            if high > _MOST:
                return np.inf
        low = high // 2
        while high - low > max(1.0, _WIDTH * high):
            middle = (low + high) // 2
            if self._reaches(middle, target, alpha, *model):
                high = middle
            else:
                low = middle
        return float(high)

    def _reaches(self, n: int, target: float, alpha: float, *model: float) -> bool:
        try:
            self.design.pattern(n)
        except ValueError:  # too few for the design
            return False
        return self.power(n, alpha, *model) >= target

    def difference(  # one question, unpacked
        self,
        n: float,
        target: float,
        alpha: float,
        discordant: float,
        correlation: float,
        training_sd: float,
    ) -> float:
        """Find a difference with the power wanted; NaN if none is."""

        def reaches(difference: float) -> bool:
            cells = (discordant + difference) / 2, (discordant - difference) / 2
            model = (cells[0], 1.0 - discordant, cells[1], correlation, training_sd)
            return self.power(n, alpha, *model) >= target

        sign = -1.0 if self.alternative == "less" else 1.0
        low, high = 0.0, discordant
        if not reaches(sign * high):
            return np.nan
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if reaches(sign * middle):
                high = middle
            else:
                low = middle
        return sign * high


def _setting(question: Question, inputs: Inputs) -> _Setting:
    test = find_test(question.method)
    test.check_options(question.alternative, counted=True)
    seed = as_seed(inputs.get("rng"))
    design = inputs.get("design")
    if design is None:
        design = test.design(rng=seed)
    if not isinstance(design, Design) or design.stratify:
        message = f"design must be made by fastcmp.designs, not stratified, got {design!r}"
        raise ValueError(message)
    test.check_design(design)
    n_resamples = resamples(inputs.get("n_resamples", 2000))
    return _Setting(test, design, question.alternative, n_resamples, seed)


def _read_spread(inputs: Inputs, discordant: Floats) -> tuple[Floats, Floats]:
    given = inputs.get("repeat_correlation")
    name = "repeat_correlation"
    correlation = within(0.25 if given is None else given, name, 0, 1, closed=True)
    given = inputs.get("training_sd")
    training_sd = 0.1 * discordant if given is None else given
    return correlation, within(training_sd, "training_sd", 0, 1, closed=True)


class _Model(NamedTuple):
    """Arrays that broadcast."""

    only_a: Floats
    both: Floats
    only_b: Floats
    correlation: Floats
    training_sd: Floats


def _read_model(question: Question, inputs: Inputs) -> tuple[_Model, tuple[str, ...]]:
    only_a, only_b, cautions = read_probabilities(
        {name: inputs[name] for name in KNOWN if is_given(inputs, name)}
    )
    discordant = only_a + only_b
    both = 1.0 - discordant
    if is_given(inputs, "accuracy_a"):
        accuracy = within(inputs["accuracy_a"], "accuracy_a", 0, 1, closed=True)
        accuracy = accuracy[..., np.newaxis] if both.ndim > accuracy.ndim else accuracy
        both = np.clip(accuracy - only_a, 0.0, both)
    elif question.method == "proportion-z":
        needed(inputs, "accuracy_a")  # it does not see who is right on the same samples
    return _Model(only_a, both, only_b, *_read_spread(inputs, discordant)), cautions


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    setting = _setting(question, inputs)
    model, cautions = _read_model(question, inputs)
    power = _each(setting.power)(n, question.alpha, *model)
    if not np.ndim(power):
        cautions += _level_sentences(setting, question, n, model)
    return _answer(setting, inputs, n, power, model)._replace(cautions=cautions)


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    setting = _setting(question, inputs)
    model, cautions = _read_model(question, inputs)
    n = _each(setting.size)(power, question.alpha, *model)
    none = np.isinf(n)
    some = np.where(none, _FEWEST * 8, n)
    reached = _each(setting.power)(some, question.alpha, *model)
    if np.any(none):
        cautions += (f"Up to {_MOST:,} samples do not reach the power wanted.",)
    answer = _answer(setting, inputs, n, np.where(none, power, reached), model)
    return answer._replace(cautions=cautions, status=np.where(none, UNDEFINED, OK))


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    setting = _setting(question, inputs)
    if question.method == "proportion-z":
        message = "method 'proportion-z' has no answer: it depends on both accuracies"
        raise ValueError(message)
    discordant = read_discordant(inputs)
    spread = _read_spread(inputs, discordant)
    found = _each(setting.difference)(n, power, question.alpha, discordant, *spread)
    cells = (discordant + found) / 2, 1.0 - discordant, (discordant - found) / 2
    kept = {name: x for name, x in inputs.items() if name not in KNOWN}
    kept["discordant"] = discordant
    answer = _answer(setting, kept, n, power, _Model(*cells, *spread))
    return answer._replace(difference=found, status=np.where(np.isnan(found), UNDEFINED, OK))


def _each(function: Any) -> Any:
    """Make a function of numbers one of arrays."""
    return np.vectorize(function, otypes=[np.float64])


def _answer(setting: _Setting, inputs: Inputs, n: Any, power: Any, model: _Model) -> Answer:
    given = passed(inputs)
    if {"accuracy_a", "accuracy_b"} == set(given) & set(KNOWN):
        # Three answers, along a new last axis.
        names = ("accuracy_a", "accuracy_b")
        given |= {name: given[name][..., np.newaxis] for name in names}
        given["discordant"] = model.only_a + model.only_b
    settled: dict[str, Any] = {"n_resamples": setting.n_resamples, "rng": setting.seed}
    settled |= {
        "repeat_correlation": model.correlation,
        "training_sd": model.training_sd,
        "design": setting.design,
    }
    return Answer(
        n=n,
        power=power,
        difference=model.only_a - model.only_b,
        inputs=given | settled,
        power_standard_error=np.sqrt(power * (1.0 - power) / setting.n_resamples),
        seed=setting.seed,
    )


def _level_sentences(
    setting: _Setting, question: Question, n: Any, model: _Model
) -> tuple[str, ...]:
    """Say where the test finds a difference too often that is not there."""
    half = 0.5 * (model.only_a + model.only_b)
    even = model._replace(only_a=half, only_b=half)
    level = setting.power(float(n), float(question.alpha), *map(float, even))
    error = math.sqrt(float(question.alpha) / setting.n_resamples)
    if level <= question.alpha + 3.0 * error:
        return ()
    return (
        f"Without a difference it rejects with a probability of {100 * level:.1f}%, "
        "more than alpha: this is no power to rely on.",
    )


_NAMES = ("bcv-mcnemar", *(name for name in TESTS if name != "bcv-mcnemar"))
FAMILY = Family(
    title=lambda method, _: f"{TESTS[method].title}, simulated",
    methods={"difference": _NAMES},
    inputs=KNOWN | _OWN,
    power=_power,
    sample_size=_sample_size,
    difference=_difference,
)
