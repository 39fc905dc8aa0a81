"""McNemar's and Tango's tests of two accuracies: enumerated, or by normal approximations.

`p10` and `p01` are the probabilities that only a, and only b, is right, `pd` is their sum, and
`gain` their difference in the direction that is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_counts, as_flag
from fastcmp.kernels.planned_margins import (
    EQUIVALENCE,
    NONINFERIORITY,
    SUPERIORITY,
    margin_variances,
)
from fastcmp.kernels.status import DEGENERATE, OK
from fastcmp.paired.mcnemar_result import CODES
from fastcmp.planning.discordance import KNOWN, read_discordant, read_probabilities
from fastcmp.planning.families import (
    Case,
    Family,
    Floats,
    Inputs,
    Question,
    check_enumerable,
    is_given,
    names_of,
    read_tails,
    rounded_up,
)
from fastcmp.planning.search import halve

#: Connor (1987), Miettinen (1968, second order) and Lachenbruch (1992).
_CLOSED = ("connor", "miettinen", "lachenbruch")
_WITH_MARGIN = ("tango", "normal")
_CLAIMS = {"noninferiority": NONINFERIORITY, "superiority": SUPERIORITY, "equivalence": EQUIVALENCE}
_MOST, _MOST_WITH_MARGIN = 1e9, 1e7  # samples that are enumerated
_HALVINGS = 60
_DRAWS = 1000  # of the probabilities that a pilot leaves open
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

    def with_method(self, method: str) -> _Design:
        return _Design(self.question._replace(method=method))

    @property
    def codes(self) -> tuple[int, int]:
        """Of the method and the alternative, for kernels."""
        return CODES[self.question.method], ALTERNATIVES[self.question.alternative]

    def refuse(self, what: str, *names: str) -> None:
        """Refuse options that have no meaning for the method."""
        for name in names:
            if getattr(self, name) not in (None, False):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} has no meaning with {what}, "
                    f"got method={self.question.method!r}"
                )

    def margin(self) -> tuple[Any, int]:
        """Margin, and the code of what is claimed with it."""
        self.refuse("a margin", "conditional", "so_far")
        margin: Any = self.question.margin
        if np.any(margin >= 1):
            most = np.max(margin)
            advice = f": write {most / 100:g} for {most:g} percentage points" if most > 1 else ""
            raise ValueError(f"margin must lie in (0, 1) for accuracies, got {most:g}{advice}")
        return margin, _CLAIMS[self.question.hypothesis]


def _evaluate(kernel: Callable[..., float], rows: tuple[Any, ...], *options: Any) -> Floats:
    """Call a kernel for each plan, of arrays that broadcast."""
    arrays = np.broadcast_arrays(*rows)
    plans = zip(*(each.astype(np.float64).ravel().tolist() for each in arrays), strict=True)
    values = np.array([kernel(*plan, *options) for plan in plans], np.float64)
    return values.reshape(arrays[0].shape)


def _gain(question: Question, difference: Floats) -> Floats:
    if question.alternative == "two-sided":
        return np.abs(difference)
    return -difference if question.alternative == "less" else difference


def _spread(gain: Floats, pd: Floats, method: str) -> Floats:
    """Standard deviation under the alternative, which stands beside z."""
    square = {
        "connor": pd - gain**2,
        "miettinen": (pd**2 - gain**2 * (3 + pd) / 4) / np.where(pd > 0, pd, 1),
        "lachenbruch": pd,
    }[method]
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _beyond(score: Callable[[], Any]) -> Floats:
    """Probability of a score beyond z."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(ndtr(np.nan_to_num(score(), nan=0.0)))


def _null_spread(p10: Floats, p01: Floats, shift: Any) -> Floats:
    """Standard deviation of a sample's difference under H0, whose difference is `shift`."""
    arrays = np.broadcast_arrays(p10, p01, shift)
    plans = np.stack([np.ravel(x).astype(np.float64) for x in arrays])
    variance = np.empty(plans.shape[1])
    margin_variances(plans, variance)
    return np.sqrt(variance).reshape(arrays[0].shape)


def _power(design: _Design, p10: Floats, p01: Floats, n: Any) -> Floats:
    question, gap, pd = design.question, p10 - p01, p10 + p01
    method, alpha = question.method, question.alpha
    if method in CODES:
        check_enumerable(n, method, _MOST, "connor")
        rows = (n, p10, p01, alpha)
        if design.so_far is not None:

            def interim(n: float, p10: float, p01: float, *more: float) -> float:
                alpha, only_a, only_b = more
                p = (p10, p01)
                return kernels.mcnemar_interim_power(only_a, only_b, n, p, alpha, *design.codes)

            return _evaluate(interim, (*rows, *design.so_far))
        kernel: Any = kernels.mcnemar_power
        if design.conditional:
            kernel = kernels.mcnemar_conditional_power
        return _evaluate(kernel, rows, *design.codes, design.both_tails is not False)
    if method in _CLOSED:
        design.refuse("a normal approximation", "conditional", "so_far")
        z, gain = -ndtri(question.level), _gain(question, gap)

        def tail(gain: Floats) -> Floats:
            """Power in the direction of the gain."""
            spread = _spread(gain, pd, method)
            return _beyond(lambda: (np.sqrt(n) * gain - z * np.sqrt(pd)) / spread)

        power = tail(gain)
        if design.both_tails:
            power = power + tail(-gain)
        if design.both_tails is None:
            # Without a difference there is no right direction: both sides count.
            power = np.where(gap == 0, alpha, power)
        return np.asarray(np.where(pd > 0, power, 0.0))
    margin, claim = design.margin()
    if method == "tango":
        check_enumerable(n, method, _MOST_WITH_MARGIN, "normal")
        return _evaluate(kernels.margin_power, (n, p10, p01, margin, alpha), claim)
    z = -ndtri(alpha)
    spread = np.sqrt(np.maximum(pd - gap**2, 0.0))

    def shown(shift: Any, side: float) -> Floats:
        null = _null_spread(p10, p01, shift)
        return _beyond(lambda: (side * np.sqrt(n) * (gap - shift) - z * null) / spread)

    power = shown(margin if claim == SUPERIORITY else -margin, 1.0)
    if claim == EQUIVALENCE:
        power = np.maximum(power + shown(margin, -1.0) - 1.0, 0.0)
    return power


def _size(design: _Design, p10: Floats, p01: Floats, power: Any) -> Floats:
    question, gap, pd = design.question, p10 - p01, p10 + p01
    method, alpha = question.method, question.alpha
    if method in CODES:
        estimate = _size(design.with_method("connor"), p10, p01, power)
        check_enumerable(estimate, method, _MOST, "connor")
        kernel: Any = kernels.mcnemar_sample_size
        if design.conditional:
            kernel = kernels.mcnemar_discordant_size
        both_tails = design.both_tails is not False
        return _evaluate(kernel, (power, p10, p01, alpha), *design.codes, both_tails)
    if method in _CLOSED:
        _refuse_both(design)
        gain = _gain(question, gap)
        root = -ndtri(question.level) * np.sqrt(pd) + ndtri(power) * _spread(gain, pd, method)
        with np.errstate(divide="ignore", invalid="ignore"):
            n = (np.maximum(root, 0.0) / gain) ** 2
        return np.asarray(np.where(gain > 0, n, np.inf))
    margin, claim = design.margin()
    if method == "tango":
        estimate = _size(design.with_method("normal"), p10, p01, power)
        check_enumerable(estimate, method, _MOST_WITH_MARGIN, "normal")
        rows = (power, p10, p01, margin, alpha)
        return _evaluate(kernels.margin_sample_size, rows, claim)
    spread = np.sqrt(np.maximum(pd - gap**2, 0.0))

    def closed(shift: Any, lead: Floats, wanted: Any) -> Floats:
        null = _null_spread(p10, p01, shift)
        root = np.maximum(-ndtri(alpha) * null + ndtri(wanted) * spread, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(lead > 0, (root / lead) ** 2, np.inf))

    if claim != EQUIVALENCE:
        shift = margin if claim == SUPERIORITY else -margin
        return closed(shift, gap - shift, power)
    # Each side needs the power, and it is enough if each fails half as often.
    low, high = np.broadcast_arrays(
        *(
            np.maximum(closed(-margin, margin + gap, x), closed(margin, margin - gap, x))
            for x in (power, (1 + power) / 2)
        )
    )
    none = np.isinf(high)
    low, high = (np.where(none, 1.0, x) for x in (low, high))
    n = halve(lambda n: _power(design, p10, p01, n) >= power, low, high, _HALVINGS)
    return np.asarray(np.where(none, np.inf, n))


def _detectable(design: _Design, pd: Floats) -> Floats:
    """Smallest difference that is found; NaN where none is."""
    question = design.question
    method, alpha, n, power = question.method, question.alpha, question.n, question.target
    sign = -1.0 if question.alternative == "less" else 1.0
    if method in CODES:
        if design.conditional:
            raise ValueError("conditional=True has no meaning for a difference of accuracies")
        check_enumerable(n, method, _MOST, "connor")
        kernel: Any = kernels.mcnemar_detectable_difference
        both_tails = design.both_tails is not False
        return _evaluate(kernel, (n, pd, power, alpha), *design.codes, both_tails)
    if method in _CLOSED:  # solved for the gain, of which the power's equation is quadratic
        _refuse_both(design)
        z, z_power = -ndtri(question.level), ndtri(power)
        level = z * pd
        with np.errstate(invalid="ignore", divide="ignore"):
            if method == "lachenbruch":
                gain = (z + z_power) * np.sqrt(pd / n)
            elif method == "connor":
                root = np.sqrt(n + z_power**2 - z**2)
                gain = np.sqrt(pd) * (z * np.sqrt(n) + z_power * root) / (n + z_power**2)
            else:
                slope, bend = np.sqrt(n * pd), (3 + pd) / 4
                root = np.sqrt((slope * pd) ** 2 - bend * level**2 + bend * (z_power * pd) ** 2)
                gain = (slope * level + z_power * root) / (slope**2 + bend * z_power**2)
            return np.asarray(sign * np.where((gain <= pd) & (gain > 0), gain, np.nan))
    margin, claim = design.margin()
    if claim == EQUIVALENCE:
        raise ValueError(
            "hypothesis='equivalence' has no smallest difference: plan its power or its sample size"
        )
    if method == "tango":
        check_enumerable(n, method, _MOST_WITH_MARGIN, "normal")
        kernel = kernels.margin_detectable_difference
        return _evaluate(kernel, (n, pd, power, margin, alpha), claim)
    least = margin if claim == SUPERIORITY else -margin
    arrays = np.broadcast_arrays(np.maximum(least, -pd), pd, n, power)
    low, high, n, power = (each.astype(np.float64) for each in arrays)
    possible = (_power(design, high, 0 * high, n) >= power) & (low < high)
    gap = halve(
        lambda gap: _power(design, (pd + gap) / 2, (pd - gap) / 2, n) >= power, low, high, _HALVINGS
    )
    return np.asarray(np.where(possible, gap, np.nan))


def _refuse_both(design: _Design) -> None:
    design.refuse("a normal approximation", "conditional")
    if design.both_tails:
        raise ValueError(
            "tails='both' has no closed form to solve: choose a method by enumeration, "
            "or tails='right-direction'"
        )


class _Pilot(NamedTuple):
    """Samples that only a, and only b, got right, and all samples."""

    only_a: Floats
    only_b: Floats
    n: Floats

    @property
    def cells(self) -> tuple[Floats, Floats]:
        """Proportions that only a, and only b, got right."""
        return self.only_a / self.n, self.only_b / self.n

    def draws(self, asked: Any, question: Question) -> tuple[Floats, Floats]:
        """Draws of p10 and p01, of which the prior is Dirichlet(1/2, 1/2, 1/2).

        The draws are the same each time, along a new first axis before all those of
        the counts, of what is asked, and of the question.
        """
        rng = np.random.default_rng(0)
        rest = self.n - self.only_a - self.only_b
        shapes = np.stack([self.only_a, self.only_b, rest], axis=0) + 0.5
        gammas = rng.standard_gamma(shapes, (_DRAWS, *shapes.shape))
        parts = gammas / gammas.sum(axis=1, keepdims=True)
        margin = 0.0 if question.margin is None else question.margin
        n_axes = np.broadcast(self.n, asked, question.alpha, margin).ndim
        shape = (_DRAWS, *(1,) * (n_axes - self.n.ndim), *self.n.shape)
        return parts[:, 0].reshape(shape), parts[:, 1].reshape(shape)


def _read_pilot(value: Any, name: str) -> _Pilot:
    """Read counts from a record of McNemar's test, or (only_a, only_b, n)."""
    if all(hasattr(value, field) for field in ("only_a", "only_b", "n_samples")):
        value = (value.only_a, value.only_b, value.n_samples)
    elif not isinstance(value, (tuple, list)) or len(value) != 3:
        raise TypeError(
            f"{name} must be a record of McNemar's test, or (only_a, only_b, n), got {value!r}"
        )
    names = ("only_a", "only_b", "n")
    counts = [as_counts(x, f"{each} of {name}") for x, each in zip(value, names, strict=True)]
    pilot = _Pilot(*(each.astype(np.float64) for each in np.broadcast_arrays(*counts)))
    if np.any(pilot.only_a + pilot.only_b > pilot.n):
        raise ValueError(f"{name} has more discordant samples than samples")
    if np.any(pilot.only_a + pilot.only_b == 0):
        raise ValueError(
            f"{name} has no discordant sample, so it does not say how often just one of the "
            "models is right: take a larger pilot, or plan from p10 and p01"
        )
    return pilot


def _read(question: Question, inputs: Inputs) -> Case:
    both_tails = read_tails(question, inputs)
    conditional = as_flag(inputs.get("conditional", False), "conditional")
    design = _Design(question, both_tails, conditional)
    kept = {name: inputs[name] for name in ("tails", "conditional") if name in inputs}
    if question.solved_for == "difference":
        if is_given(inputs, "so_far"):
            raise ValueError("so_far is for power: pass the samples to come as n")
        if is_given(inputs, "pilot"):
            pilot = _read_pilot(inputs["pilot"], "pilot")
            pd = np.add(*pilot.cells)
        else:
            pd = read_discordant(inputs)
        gap = _detectable(design, pd)
        return Case(gap, {"discordant": pd, **kept})
    given = [name for name in KNOWN if is_given(inputs, name)]
    counts = {x: _read_pilot(inputs[x], x) for x in ("pilot", "so_far") if is_given(inputs, x)}
    if len(counts) == 2 or ("pilot" in counts and given):
        raise ValueError(f"pilot must be given alone, got {names_of([*counts, *given])}")
    for name, pilot in counts.items():
        kept[name] = tuple(x.astype(np.int64) if x.ndim else int(x) for x in pilot)
    if "so_far" in counts:
        if question.n is None:
            raise ValueError("so_far is for power: pass the samples to come as n")
        design = design._replace(so_far=counts["so_far"][:2])
        if conditional or both_tails is not None:
            raise ValueError("so_far goes with neither tails nor conditional")
    left_open = None
    if counts and not given:
        (pilot,) = counts.values()
        p10, p01 = pilot.cells
        cautions: tuple[str, ...] = ()
        fewest = int(np.min(pilot.only_a + pilot.only_b))
        if fewest < _FEW:
            some = f"only {fewest} discordant sample{'' if fewest == 1 else 's'}"
            cautions = (f"The pilot has {some}: plan with its interval, not its estimate alone.",)
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

    def left_open(_: Any, samples: Any) -> tuple[Any, Any]:
        enough = np.isfinite(samples)
        n = np.where(enough, samples, 1.0)
        drawn = _power(design, *pilot.draws(n, question), n)
        assurance = drawn.mean(axis=0)
        if enumerated and plain:
            counts, alpha = tuple(pilot), question.alpha
            if design.so_far is None:
                assurance = _evaluate(kernels.mcnemar_assurance, (n, *counts, alpha), *design.codes)
            else:
                rows = (*counts, n, alpha)
                assurance = _evaluate(kernels.mcnemar_predictive_power, rows, *design.codes)
        if question.n is not None:
            return assurance, middle(drawn)
        # Samples by a closed form at the draws, on the scale of the answer.
        power: Any = question.target
        scale: Any = 1.0
        near = design.with_method(question.method)
        if enumerated or question.method == "tango":
            near = design.with_method("miettinen" if enumerated else "normal")
            with np.errstate(invalid="ignore"):
                scale = samples / _size(near, *pilot.cells, power)
        sizes = _size(near, *pilot.draws(power, question), power)
        low, high = middle(sizes * np.where(np.isfinite(scale), scale, 1.0))
        return np.where(enough, assurance, np.nan), (rounded_up(low), rounded_up(high))

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
    read=_read,
)
