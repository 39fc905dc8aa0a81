"""McNemar's and Tango's tests of two accuracies: enumerated, or by normal approximations.

`p10` and `p01` are the probabilities that only a, and only b, is right, `pd` is their sum, and
`gain` their difference in the direction that is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_counts, as_flag
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import Floats, Numbers
from fastcmp.kernels.planned import margin_variances
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.paired.mcnemar_counts import CODES
from fastcmp.planning.discordance import KNOWN, read_discordant, read_probabilities
from fastcmp.planning.families import (
    Case,
    Family,
    Inputs,
    Question,
    check_enumerable,
    names_of,
    rounded_up,
)
from fastcmp.planning.normal import (
    Normal,
    detectable,
    each_size,
    elementwise,
    normal_power,
    normal_size,
)

#: Connor (1987), Miettinen (1968, second order) and Lachenbruch (1992).
_CLOSED = ("connor", "miettinen", "lachenbruch")
_WITH_MARGIN = ("tango", "normal")
_MOST, _MOST_WITH_MARGIN = 1e9, 1e7  # samples that are enumerated
_NONE = 1e-300  # a variance in place of 0, by which nothing can be divided
_DRAWS = 1000  # of the probabilities that a pilot leaves open
_NORMAL_ERRS = 8  # discordant samples, at most, of which a normal test finds too much
_FEW = 20  # discordant samples; fewer leave nearly everything open


class _Design(NamedTuple):
    """What is asked, with the options that not all methods know."""

    question: Question
    #: Whether rejections in both directions count; None is the method's own.
    both_tails: bool | None = None
    #: Whether n counts discordant samples only.
    conditional: bool = False
    #: Discordant counts of samples that the test will include: only a, only b right.
    so_far: tuple[Floats, Floats] | None = None

    def near(self) -> _Design:
        """The normal approximation from which a search of samples starts."""
        method = "normal" if self.question.method in _WITH_MARGIN else "miettinen"
        return _Design(self.question._replace(method=method))

    @property
    def codes(self) -> tuple[int, int]:
        """Of the method and the alternative, for kernels."""
        return CODES[self.question.method], ALTERNATIVES[self.question.alternative]

    @property
    def enumerated(self) -> bool:
        """Whether the outcomes of the test itself are summed over."""
        return self.question.method in (*CODES, "tango")

    def check(self, n: Numbers | None = None) -> None:
        """Refuse options that have no meaning for the method, and samples without end."""
        question, margin = self.question, self.question.margin
        if question.method in CODES:
            check_enumerable(n, question.method, _MOST, "connor")
            return
        what = "a normal approximation" if margin is None else "a margin"
        for name in ("conditional", "so_far"):
            if getattr(self, name) not in (None, False):
                raise BadValueError(
                    f"`{name}={getattr(self, name)!r}` has no meaning with {what}",
                    f"`method={question.method!r}`",
                )
        if margin is not None and np.any(margin >= 1):
            most = np.max(margin)
            advice = f": write {most / 100:g} for {most:g} percentage points" if most > 1 else ""
            raise BadValueError("`margin` must lie in (0, 1) for accuracies", f"{most:g}{advice}")
        if question.method == "tango":
            check_enumerable(n, question.method, _MOST_WITH_MARGIN, "normal")


def _normal(design: _Design, p10: Floats, p01: Floats) -> Normal:
    """Variances of the difference of one sample, under the alternative and under H0."""
    question, gap, pd = design.question, p10 - p01, p10 + p01
    if question.method in _CLOSED:
        variance = {
            "connor": pd - gap**2,
            "miettinen": (pd**2 - gap**2 * (3 + pd) / 4) / np.where(pd > 0, pd, 1),
            "lachenbruch": pd,
        }[question.method]
        return Normal(np.maximum(variance, _NONE), pd, design.both_tails)
    margin: Any = question.margin

    def null(shift: Numbers) -> Floats:
        """Variance under H0, whose difference is `shift`."""
        arrays = np.broadcast_arrays(p10, p01, shift)
        plans = np.stack([np.ravel(x).astype(np.float64) for x in arrays])
        variance = np.empty(plans.shape[1])
        margin_variances(plans, variance)
        return variance.reshape(arrays[0].shape)

    variance = np.maximum(pd - gap**2, _NONE)
    if question.hypothesis == "equivalence":
        side = np.where(gap < 0, -margin, margin)
        return Normal(variance, null(side), far_variance=null(-side))
    return Normal(variance, null(margin if question.hypothesis == "superiority" else -margin))


def _enumerate(design: _Design) -> tuple[Callable[..., float], tuple[Any, ...]]:
    """The power of (n, p10, p01, *rest) by enumeration, and that rest."""
    question = design.question
    kernel: Any = kernels.margin_power
    if question.method == "tango":
        claim = getattr(kernels, question.hypothesis.upper())
        return lambda *row: kernel(*row, claim), (question.margin, question.alpha)
    codes, both = design.codes, design.both_tails is not False
    if design.so_far is not None:
        kernel = kernels.mcnemar_interim_power
        return (
            lambda n, p10, p01, alpha, a, b: kernel(a, b, n, (p10, p01), alpha, *codes),
            (question.alpha, *design.so_far),
        )
    kernel = kernels.mcnemar_conditional_power if design.conditional else kernels.mcnemar_power
    return lambda *row: kernel(*row, *codes, both), (question.alpha,)


def _power(design: _Design, p10: Floats, p01: Floats, n: Numbers) -> Floats:
    design.check(n)
    if design.enumerated:
        one, numbers = _enumerate(design)
        return elementwise(one, n, p10, p01, *numbers)
    power = normal_power(design.question, n, p10 - p01, _normal(design, p10, p01))
    return power if design.question.method == "normal" else np.where(p10 + p01 > 0, power, 0.0)


def _size(design: _Design, p10: Floats, p01: Floats, power: Numbers) -> Floats:
    question, gap, pd = design.question, p10 - p01, p10 + p01
    if not design.enumerated:
        design.check()
        return normal_size(question, power, gap, _normal(design, p10, p01))
    # Power rises but for rounding of the critical counts.
    back: Any = 3.0
    if design.conditional:
        with np.errstate(invalid="ignore"):
            win = np.maximum(p10, p01) / pd
        plain = question._replace(method="connor")
        normal = Normal(win * (1.0 - win), 0.25)
        n = normal_size(plain, power, np.copysign(win - 0.5, gap), normal)
        back = 20.0 + 3.0 / np.maximum(win - 0.5, _NONE)  # so wide are the teeth of its saw
    else:
        n = _size(design.near(), p10, p01, power)
        if question.method == "tango":
            back = np.minimum(24.0 + 0.2 * n, 400.0)
        elif question.method in ("exact", "corrected"):
            n = n + 2.0 / np.maximum(np.abs(gap), _NONE)
    design.check(n)
    one, numbers = _enumerate(design)
    n = each_size(one, power, rounded_up(n), p10, p01, *numbers, back=back)
    # Normal tests of a few discordant samples reject too often.
    for few in range(_NORMAL_ERRS if design.conditional else 0, 0, -1):
        enough = elementwise(one, few, p10, p01, *numbers) >= power
        n = np.where(np.isfinite(n) & enough, few, n)
    return n


def _detectable(design: _Design, pd: Floats) -> Floats:
    """Smallest difference that is found; NaN where none is."""
    question = design.question
    if design.conditional and question.method in CODES:
        raise BadValueError("`conditional=True` has no meaning for a difference of accuracies")

    def power(gap: Numbers) -> Floats:
        p10, p01 = (np.maximum(pd + x, 0.0) / 2 for x in (gap, -gap))
        return _power(design, p10, p01, question.n)

    return detectable(question, power, pd, room=pd)


class _Pilot(NamedTuple):
    """Samples that only a, and only b, got right, and all samples."""

    only_a: Floats
    only_b: Floats
    n: Floats

    @property
    def cells(self) -> tuple[Floats, Floats]:
        """Proportions that only a, and only b, got right."""
        return self.only_a / self.n, self.only_b / self.n

    def draws(self, like: Any, question: Question) -> tuple[Floats, Floats]:
        """Draws of p10 and p01, of which the prior is Dirichlet(1/2, 1/2, 1/2).

        The draws are the same each time, along a new first axis before all those of
        the counts, of `like`, and of the question.
        """
        rng = np.random.default_rng(0)
        same = self.n - self.only_a - self.only_b
        shapes = np.stack([self.only_a, self.only_b, same], axis=0) + 0.5
        gammas = rng.standard_gamma(shapes, (_DRAWS, *shapes.shape))
        parts = gammas / gammas.sum(axis=1, keepdims=True)
        margin = 0.0 if question.margin is None else question.margin
        n_axes = np.broadcast(self.n, like, question.alpha, margin).ndim
        shape = (_DRAWS, *(1,) * (n_axes - self.n.ndim), *self.n.shape)
        return parts[:, 0].reshape(shape), parts[:, 1].reshape(shape)


def _read_pilot(value: Any, name: str) -> _Pilot:
    """Read counts from a record of McNemar's test, or (only_a, only_b, n)."""
    if all(hasattr(value, field) for field in ("only_a", "only_b", "n_samples")):
        value = (value.only_a, value.only_b, value.n_samples)
    elif not isinstance(value, (tuple, list)) or len(value) != 3:
        raise BadTypeError(
            f"`{name}` must be a record of McNemar's test, or (only_a, only_b, n)", repr(value)
        )
    names = ("only_a", "only_b", "n")
    counts = [as_counts(x, f"{part} of {name}") for x, part in zip(value, names, strict=True)]
    pilot = _Pilot(*(count.astype(np.float64) for count in np.broadcast_arrays(*counts)))
    if np.any(pilot.only_a + pilot.only_b > pilot.n):
        raise BadValueError(f"`{name}` has more discordant samples than samples")
    if np.any(pilot.only_a + pilot.only_b == 0):
        raise BadValueError(
            f"`{name}` has no discordant sample, so it does not say how often just one of the "
            "models is right",
            remedy=": take a larger pilot, or plan from `p10=` and `p01=`",
        )
    return pilot


def _mcnemar_case(question: Question, inputs: Inputs) -> Case:
    both_tails = inputs.tails(question)
    conditional = as_flag(inputs.get("conditional", False), "conditional")
    design = _Design(question, both_tails, conditional)
    kept = {name: inputs[name] for name in ("tails", "conditional") if name in inputs}
    if "so_far" in inputs and question.solved_for != "power":
        raise BadValueError("`so_far` is for power: pass the samples to come as `n=`")
    if question.solved_for == "difference":
        if "pilot" in inputs:
            pd = np.add(*_read_pilot(inputs["pilot"], "pilot").cells)
        else:
            pd = read_discordant(inputs)
        return Case(_detectable(design, pd), {"discordant": pd, **kept})
    names = inputs.passed(KNOWN)
    counts = {x: _read_pilot(inputs[x], x) for x in inputs.passed(("pilot", "so_far"))}
    if len(counts) == 2 or ("pilot" in counts and names):
        raise BadValueError("`pilot=` must be given alone", names_of([*counts, *names]))
    for name, pilot in counts.items():
        kept[name] = tuple(x.astype(np.int64) if x.ndim else int(x) for x in pilot)
    if "so_far" in counts:
        design = design._replace(so_far=counts["so_far"][:2])
        if conditional or both_tails is not None:
            raise BadValueError("`so_far` goes with neither tails nor conditional")
    left_open = None
    if counts and not names:
        (pilot,) = counts.values()
        p10, p01 = pilot.cells
        cautions: tuple[str, ...] = ()
        fewest = int(np.min(pilot.only_a + pilot.only_b))
        if fewest < _FEW:
            few = f"only {fewest} discordant sample{'' if fewest == 1 else 's'}"
            cautions = (f"The pilot has {few}: plan with its interval, not its estimate alone.",)
        if question.n is not None or not conditional:
            left_open = _left_open(design, pilot)
    else:
        p10, p01, cautions = read_probabilities(inputs)
        kept = {"p10": p10, "p01": p01, **kept}
    unit = "more samples" if design.so_far is not None else None
    return Case(
        difference=p10 - p01,
        inputs=kept,
        power=lambda cells, n: _power(design, cells[0], cells[1], n),
        size=lambda cells, power: _size(design, cells[0], cells[1], power),
        effect=(p10, p01),
        closed=question.method in (*_CLOSED, "normal"),
        cautions=cautions,
        pilot=left_open,
        unit="discordant samples" if conditional else unit,
        status=np.where(p10 + p01 == 0, DEGENERATE, OK),
    )


def _left_open(design: _Design, pilot: _Pilot) -> Callable[..., Any]:
    """Mean power and interval over draws of the probabilities, as `Case.pilot` has them."""
    question = design.question
    enumerated = question.method in CODES
    plain = not design.conditional and design.both_tails is not False

    def middle(drawn: Floats) -> tuple[Floats, Floats]:
        """Ends of the middle 95% of draws; some may be infinite."""
        ends = np.quantile(drawn, [0.025, 0.975], axis=0, method="closest_observation")
        return ends[0], ends[1]

    def left_open(_: object, samples: Numbers) -> tuple[Any, Any]:
        enough = np.isfinite(samples)
        n = np.where(enough, samples, 1.0)
        drawn = _power(design, *pilot.draws(n, question), n)
        assurance = drawn.mean(axis=0)
        if enumerated and plain:
            kernel: Any = kernels.mcnemar_assurance
            rows: tuple[Any, ...] = (n, *pilot)
            if design.so_far is not None:
                kernel, rows = kernels.mcnemar_predictive_power, (*pilot, n)
            assurance = elementwise(lambda *row: kernel(*row, *design.codes), *rows, question.alpha)
        if question.n is not None:
            return assurance, middle(drawn)
        # Samples by a closed form at the draws, on the scale of the answer.
        power: Any = question.target
        near = design.near() if design.enumerated else _Design(question)
        scale: Any = 1.0
        if design.enumerated:
            with np.errstate(invalid="ignore"):
                scale = samples / _size(near, *pilot.cells, power)
        sizes = _size(near, *pilot.draws(power, question), power)
        low, high = middle(sizes * np.where(np.isfinite(scale), scale, 1.0))
        mean_power = np.where(enough, assurance, np.nan) if np.any(enough) else None
        return mean_power, (rounded_up(low), rounded_up(high))

    return left_open


FAMILY = Family(
    titles={
        "midp": "McNemar's mid-p test",
        "exact": "McNemar's exact test",
        "asymptotic": "McNemar's asymptotic test",
        "corrected": "McNemar's continuity-corrected test",
        "connor": "McNemar's test, Connor's normal approximation",
        "miettinen": "McNemar's test, Miettinen's normal approximation",
        "lachenbruch": "McNemar's test, Lachenbruch's normal approximation",
        "tango": "Tango's score test",
        "normal": "Tango's score test, normal approximation",
    },
    methods={
        "difference": (*CODES, *_CLOSED),
        **dict.fromkeys(("noninferiority", "superiority", "equivalence"), _WITH_MARGIN),
    },
    inputs=KNOWN
    | {
        "pilot": "record of McNemar's test, or (only_a, only_b, n)",
        "so_far": "the same, of samples that the test will include; n counts those to come",
        "conditional": "True: n counts the discordant samples only",
        "tails": "'both', or 'right-direction': only rejections for the better model count",
    },
    read=_mcnemar_case,
)
