"""The tests that can be planned: what each tells `fastcmp.planning`, and how inputs are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.checks import (
    LARGEST_COUNT,
    as_numbers,
    as_whole,
    as_within,
    choose,
    is_python_number,
)
from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats, Numbers


class Question(NamedTuple):
    """What is asked of a family, beside its own inputs: checked already."""

    #: One of the family's methods for the hypothesis.
    method: str
    #: "two-sided", "greater" or "less"; "greater" for non-inferiority and superiority
    #: by a margin, "two-sided" for equivalence.
    alternative: str
    #: "difference", "noninferiority", "superiority" or "equivalence".
    hypothesis: str
    #: Error rates in (0, 1).
    alpha: Floats
    #: Margins > 0; None for "difference".
    margin: Floats | None
    #: Whole numbers >= 1 as float64; None where they are to be found.
    n: Any
    #: Power wanted, in (alpha, 1); None where it is to be found.
    target: Any

    @property
    def level(self) -> Any:
        """Alpha of one side."""
        two = self.hypothesis == "difference" and self.alternative == "two-sided"
        return self.alpha / 2 if two else self.alpha

    @property
    def solved_for(self) -> str:
        """Field of the plan that is to be found: "n", "power" or "difference"."""
        return "n" if self.n is None else "power" if self.target is None else "difference"


class Inputs(dict[str, Any]):
    """A family's own inputs, as the user passed them: those not passed, or None, are missing."""

    def needed(self, name: str, default: object = None) -> Any:
        """Value of an input that must be passed, or has a default."""
        if name not in self and default is None:
            raise BadValueError(f"`{name}` must be given")
        return self.get(name, default)

    def passed(self, names: Iterable[str]) -> list[str]:
        """Those of some names that were passed."""
        return [name for name in names if name in self]

    def within(
        self, name: str, low: float, high: float, *, closed: bool = False, default: object = None
    ) -> Any:
        """Numbers in an open, or closed, interval."""
        ends = "[]" if closed else "()"
        return as_within(self.needed(name, default), name, low, high, ends)

    def proportion(self, name: str, default: object = None) -> Any:
        """Numbers from 0 to 1."""
        return self.within(name, 0, 1, closed=True, default=default)

    def positive(self, name: str, default: object = None) -> Any:
        """Finite numbers > 0."""
        return positive(self.needed(name, default), name)

    def whole(self, name: str, least: int = 1) -> Any:
        """Whole numbers of at least `least`."""
        return whole(self.needed(name), name, least)

    def choose(self, name: str, default: str, options: Collection[str]) -> str:
        """An option of a list."""
        return str(choose(self.get(name, default), name, options))

    def resamples(self) -> int:
        """The number of simulated answers that a power is counted on."""
        n = as_whole(self.get("n_resamples", 2000), "n_resamples", 1)
        if n > _MOST_RESAMPLES:
            raise BadValueError(
                f"`n_resamples` must be at most {_MOST_RESAMPLES:,}, with which a power is "
                "known to 0.1 percentage points",
                f"{n:,}",
            )
        return n

    def tails(self, question: Question) -> bool | None:
        """Whether rejections in both directions count; None where nothing is said."""
        if "tails" not in self:
            return None
        if question.alternative != "two-sided" or question.hypothesis != "difference":
            raise BadValueError(f"`tails={self['tails']!r}` is for two-sided tests of a difference")
        return self.choose("tails", "", ("both", "right-direction")) == "both"

    def plain(self) -> dict[str, Any]:
        """What was passed, as it can be passed again."""
        return {
            name: x
            if isinstance(x, (str, int, float, tuple)) or np.asarray(x).dtype.kind == "O"
            else np.asarray(x)
            for name, x in self.items()
        }


class Case(NamedTuple):
    """One test of a family with its inputs read: how power and samples depend on each other."""

    #: The measure of a minus that of b; where it was asked for, the one that is found.
    difference: Any
    #: The inputs in one form, by name: passed again as keywords they give this case.
    inputs: dict[str, Any]
    #: power(effect, n): probability that the test rejects. An effect is the difference, or what
    #: else the family takes for it, of arrays that broadcast with n.
    #: None where the difference was asked for.
    power: Any = None
    #: size(effect, power): samples, infinite where no number is enough.
    size: Any = None
    #: That of this case.
    effect: Any = None
    #: Whether `size` gives real numbers in closed form.
    closed: bool = False
    #: Samples without which there is no test.
    fewest: Any = 1.0
    #: Sentences on what the answer rests on; or a function of n and power that gives them.
    cautions: tuple[str, ...] | Callable[[Any, Any], tuple[str, ...]] = ()
    #: pilot(solve, n): mean power over what a pilot leaves open, and the interval of what is
    #: solved for, which `solve` gives for an effect. None without a pilot.
    pilot: Callable[[Callable[[Any], Any], Any], tuple[Any, Any]] | None = None
    #: What `n` counts, where that is not the family's unit.
    unit: str | None = None
    #: What is found, where that is not a difference of two models: "find ...".
    claim: str | None = None
    #: Negatives beside n positives.
    negatives: Callable[[Any], Any] | None = None
    #: Simulated answers of which a power is the proportion, and the seed that repeats them.
    n_resamples: int | None = None
    seed: int | None = None
    #: `fastcmp.kernels.Status` of a power.
    status: Any = 0


class Family(NamedTuple):
    """A test of which power is planned."""

    #: Name of the test in sentences by method, "McNemar's mid-p test".
    titles: Mapping[str, str]
    #: Hypothesis -> the methods, the default first. What is missing is refused.
    methods: Mapping[str, tuple[str, ...]]
    #: Keyword -> what it is, for the message that lists them.
    inputs: Mapping[str, str]
    #: read(question, inputs)
    read: Callable[[Question, Inputs], Case]
    #: What differs: "accuracy" is written in percentage points, else as a number.
    measure: str = "accuracy"
    #: What `n` counts: "samples", "items", "positives".
    unit: str = "samples"
    #: Whether the smallest difference that is found has a meaning.
    detectable: bool = True


_MODULES = {
    "mcnemar": "mcnemar:FAMILY",
    "mean": "means:MEANS",
    "mean-unpaired": "means:MEANS_UNPAIRED",
    "accuracy-unpaired": "accuracies:FAMILY",
    "metric": "means:METRICS",
    "cost": "means:COSTS",
    "auc": "aucs:ONE",
    "auc-paired": "aucs:TWO",
    "cv": "folds:FAMILY",
    "leaderboard": "leaderboard:FAMILY",
}
TESTS = tuple(_MODULES)


def family_of(test: object) -> tuple[str, Family]:
    """Known name of a test, and its family."""
    name = choose(test, "test", TESTS)
    return name, _load(name)


@cache
def _load(name: str) -> Family:
    module, family = _MODULES[name].split(":")
    loaded: Family = getattr(import_module(f"fastcmp.planning.{module}"), family)
    return loaded


#: The option of two-sided tests: which rejections count.
TAILS_INPUT = {"tails": "'both', or 'right-direction': which rejections count"}
_MOST_RESAMPLES = 1_000_000


def positive(value: Any, name: str) -> Any:
    """Check finite numbers > 0; any shape."""
    if is_python_number(value) and 0 < value < np.inf:
        return np.float64(value)
    numbers = as_numbers(value, name).astype(np.float64)
    right = (numbers > 0) & np.isfinite(numbers)
    if not np.all(right):
        raise BadValueError(f"`{name}` must be > 0 and finite", f"{numbers[~right].flat[0]:g}")
    return numbers


def whole(value: object, name: str, least: int = 1) -> Any:
    """Check whole numbers of at least `least`, also floats; any shape, as float64."""
    if type(value) is int and least <= value <= LARGEST_COUNT:
        return np.float64(value)
    numbers = as_numbers(value, name, "whole numbers").astype(np.float64)
    right = (numbers >= least) & (numbers <= LARGEST_COUNT) & (np.trunc(numbers) == numbers)
    if not np.all(right):
        bad = numbers[~right].flat[0]
        raise BadValueError(f"`{name}` must be whole numbers from {least} to 2**53", f"{bad:.17g}")
    return numbers


def names_of(names: Collection[str]) -> str:
    """Names of inputs, for a message."""
    return ", ".join(f"`{name}=`" for name in sorted(names)) or "none of them"


def check_enumerable(n: Any, method: str, most: float, instead: str) -> None:
    """Refuse samples of which the outcomes take minutes and more to sum over."""
    finite = np.where(np.isfinite(n), n, 0.0)
    if np.max(finite, initial=0.0) > most:
        raise BadValueError(
            f"`method={method!r}` sums over the outcomes of at most {most:.0e} samples, and "
            f"this is about {np.max(finite):.3g}",
            remedy=f": pass `method={instead!r}`, which is as good there",
        )


def rounded_up(real: Numbers) -> Floats:
    """Next whole numbers, at least 1; a rounding error is no sample."""
    return np.asarray(np.maximum(np.ceil(np.asarray(real) * (1.0 - 1e-12)), 1.0))
