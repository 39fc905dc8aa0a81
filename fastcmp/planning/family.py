"""What each test tells `fastcmp.planning`: its inputs, methods and three answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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

    @property
    def level(self) -> Any:
        """Alpha of one side."""
        two = self.hypothesis == "difference" and self.alternative == "two-sided"
        return self.alpha / 2 if two else self.alpha


class Answer(NamedTuple):
    """What a family answers: arrays that broadcast with the question's."""

    #: Whole numbers as float64; infinity where no number is enough.
    n: Any
    #: Probability that the test rejects, at `n`.
    power: Any
    #: What is found: the measure of a minus that of b.
    difference: Any
    #: The inputs in one form, by name: passed again as keywords they give this answer.
    inputs: dict[str, Any]
    #: The real number of a closed form of which `n` is the next whole one; None where
    #: there is none.
    n_exact: Any = None
    #: `fastcmp.kernels.Status`.
    status: Any = 0
    #: Sentences on what the answer rests on.
    cautions: tuple[str, ...] = ()
    #: Mean power over what the pilot leaves open; None without a pilot.
    assurance: Any = None
    #: Interval of what was solved for, over what the pilot leaves open: (low, high).
    interval: Any = None
    #: What `n` counts, where that is not the family's unit.
    unit: str | None = None
    #: What is found, where that is not a difference of two models: "find ...".
    claim: str | None = None
    #: Negatives, where `n` counts positives.
    n_negatives: Any = None
    #: Of a simulated power, and the seed that repeats it.
    power_standard_error: Any = None
    seed: int | None = None


#: A family's own inputs, as the user passed them: those not passed are missing.
Inputs = Mapping[str, Any]


class Family(NamedTuple):
    """A test of which power is planned; one of these is `FAMILY` in its module."""

    #: Name of the test in sentences, "McNemar's mid-p test": of method and hypothesis.
    title: Callable[[str, str], str]
    #: Hypothesis -> the methods, the default first. What is missing is refused.
    methods: Mapping[str, tuple[str, ...]]
    #: Keyword -> what it is, for the message that lists them.
    inputs: Mapping[str, str]
    #: power(question, inputs, n); `n` are whole numbers >= 1 as float64.
    power: Callable[[Question, Inputs, Floats], Answer]
    #: sample_size(question, inputs, power)
    sample_size: Callable[[Question, Inputs, Floats], Answer]
    #: difference(question, inputs, n, power), or None where it has no meaning.
    difference: Callable[[Question, Inputs, Floats, Floats], Answer] | None = None
    #: What differs: "accuracy" is written in percentage points, else as a number.
    measure: str = "accuracy"
    #: What `n` counts: "samples", "items", "positives".
    unit: str = "samples"
