"""McNemar's test of two accuracies: power, sample size and detectable difference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastcmp.kernels.status import DEGENERATE, OK, UNDEFINED
from fastcmp.paired.mcnemar_counts import CODES
from fastcmp.planning import margins, mcnemar_enumerated, mcnemar_normal
from fastcmp.planning.checked import names_of, rounded_up
from fastcmp.planning.design import Design, Solver, read_design
from fastcmp.planning.family import Answer, Family, Floats, Inputs, Question
from fastcmp.planning.inputs import KNOWN, read_discordant, read_probabilities
from fastcmp.planning.pilot_counts import PilotCounts, pilot_cautions, read_counts

_OPTIONS = {
    "pilot": "record of McNemar's test, or (only_a, only_b, n)",
    "so_far": "the same, of samples that the test will include; n counts those to come",
    "conditional": "True: n counts the discordant samples only",
    "tails": "'both', or 'right-direction': only rejections for the better model count",
}
_TITLES = {
    "midp": "McNemar's mid-p test",
    "exact": "McNemar's exact test",
    "asymptotic": "McNemar's asymptotic test",
    "corrected": "McNemar's continuity-corrected test",
    "connor": "McNemar's test, Connor's normal approximation",
    "miettinen": "McNemar's test, Miettinen's normal approximation",
    "lachenbruch": "McNemar's test, Lachenbruch's normal approximation",
    "tango": "Tango's score test",
    "normal": "Tango's score test, normal approximation",
}
_WITH_MARGIN = ("tango", "normal")


class _Source(NamedTuple):
    """Where the probabilities come from."""

    p10: Floats
    p01: Floats
    #: Inputs that give them again.
    inputs: dict[str, Any]
    cautions: tuple[str, ...] = ()
    #: Counts that leave them open.
    pilot: PilotCounts | None = None


def _solver(method: str) -> Solver:
    """Find what works a method out."""
    if method in CODES:
        return mcnemar_enumerated.SOLVER
    if method in mcnemar_normal.METHODS:
        return mcnemar_normal.SOLVER
    return margins.EXACT if method == "tango" else margins.NORMAL


def _near(design: Design) -> tuple[Design, Solver]:
    """Give a closed form near the method, for what a pilot leaves open."""
    known = design.question.hypothesis == "difference"
    method = "miettinen" if known else "normal"
    if _solver(design.question.method).closed:
        method = design.question.method
    question = design.question._replace(method=method)
    return Design(question), _solver(method)


def _read(
    question: Question, inputs: Inputs, *, with_so_far: bool = False
) -> tuple[Design, _Source]:
    """Read the options, and the probabilities."""
    design = read_design(question, inputs)
    kept = {key: inputs[key] for key in ("tails", "conditional") if key in inputs}
    given = [key for key in KNOWN if inputs.get(key) is not None]
    counts = {
        name: read_counts(inputs[name], name)
        for name in ("pilot", "so_far")
        if inputs.get(name) is not None
    }
    if len(counts) == 2 or ("pilot" in counts and given):
        message = f"pilot must be given alone, got {names_of([*counts, *given])}"
        raise ValueError(message)
    for name, found in counts.items():
        kept[name] = found.plain
    if "so_far" in counts:
        if not with_so_far:
            message = "so_far is for power: pass the samples to come as n"
            raise ValueError(message)
        design = design._replace(so_far=counts["so_far"][:2])
        if design.conditional or design.tails:
            message = "so_far goes with neither tails nor conditional"
            raise ValueError(message)
    if counts and not given:
        (pilot,) = counts.values()
        cautions = pilot_cautions(pilot)
        return design, _Source(pilot.p10, pilot.p01, kept, cautions, pilot)
    p10, p01, cautions = read_probabilities(inputs)
    return design, _Source(p10, p01, {"p10": p10, "p01": p01, **kept}, cautions)


def _unit(design: Design) -> str | None:
    if design.conditional:
        return "discordant samples"
    return "more samples" if design.so_far is not None else None


def _power(question: Question, inputs: Inputs, n: Floats) -> Answer:
    design, source = _read(question, inputs, with_so_far=True)
    powers = _solver(question.method).powers
    mean = interval = None
    if source.pilot is not None:
        drawn = powers(design, *source.pilot.draws(n, question), n)
        mean, interval = drawn.mean(axis=0), _middle(drawn)
        if question.method in CODES and not _options(design):
            mean = mcnemar_enumerated.assurances(design, source.pilot, n)
    return Answer(
        n=n,
        power=powers(design, source.p10, source.p01, n),
        difference=source.p10 - source.p01,
        inputs=source.inputs,
        status=np.where(source.p10 + source.p01 == 0, DEGENERATE, OK),
        cautions=source.cautions,
        assurance=mean,
        interval=interval,
        unit=_unit(design),
    )


def _options(design: Design) -> bool:
    """Whether power is not that of the test on all samples, of both tails."""
    return design.conditional or design.tails == "right-direction"


def _sample_size(question: Question, inputs: Inputs, power: Floats) -> Answer:
    design, source = _read(question, inputs)
    solver = _solver(question.method)
    real = solver.sizes(design, source.p10, source.p01, power)
    n = rounded_up(real)
    enough = np.isfinite(n)
    at = np.where(enough, n, 1.0)
    reached = solver.powers(design, source.p10, source.p01, at)
    mean = interval = None
    if source.pilot is not None and not design.conditional:
        mean = np.where(enough, _power(question, inputs, at).assurance, np.nan)
        interval = _sizes_left_open(design, source, real, power)
    return Answer(
        n=n,
        n_exact=real if solver.closed else None,
        power=np.where(enough, reached, power),
        difference=source.p10 - source.p01,
        inputs=source.inputs,
        status=np.where(enough, OK, UNDEFINED),
        cautions=source.cautions,
        assurance=mean,
        interval=interval,
        unit=_unit(design),
    )


def _sizes_left_open(
    design: Design, source: _Source, real: Floats, power: Floats
) -> tuple[Floats, Floats] | None:
    """Interval of the samples: a closed form at draws, on the scale of the answer."""
    if source.pilot is None:
        return None
    near, solver = _near(design)
    drawn = solver.sizes(near, *source.pilot.draws(power, design.question), power)
    with np.errstate(invalid="ignore"):
        scale = real / solver.sizes(near, source.p10, source.p01, power)
    low, high = _middle(drawn * np.where(np.isfinite(scale), scale, 1.0))
    return rounded_up(low), rounded_up(high)


def _middle(drawn: Floats) -> tuple[Floats, Floats]:
    """Give the ends of the middle 95% of draws; some may be infinite."""
    ends = np.quantile(drawn, [0.025, 0.975], axis=0, method="closest_observation")
    return ends[0], ends[1]


def _difference(question: Question, inputs: Inputs, n: Floats, power: Floats) -> Answer:
    design = read_design(question, inputs)
    kept = {key: inputs[key] for key in ("tails", "conditional") if key in inputs}
    if inputs.get("so_far") is not None:
        message = "so_far is for power: pass the samples to come as n"
        raise ValueError(message)
    if inputs.get("pilot") is not None:
        pilot = read_counts(inputs["pilot"], "pilot")
        pd = pilot.p10 + pilot.p01
    else:
        pd = read_discordant(inputs)
    gap = _solver(question.method).differences(design, pd, n, power)
    return Answer(
        n=n,
        power=power,
        difference=gap,
        inputs={"discordant": pd, **kept},
        status=np.where(np.isnan(gap), UNDEFINED, OK),
    )


FAMILY = Family(
    title=lambda method, _: _TITLES[method],
    methods={
        "difference": (*CODES, *mcnemar_normal.METHODS),
        **dict.fromkeys(("noninferiority", "superiority", "equivalence"), _WITH_MARGIN),
    },
    inputs=KNOWN | _OPTIONS,
    power=_power,
    sample_size=_sample_size,
    difference=_difference,
)
