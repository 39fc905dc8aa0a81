"""Power, sample size, and the difference that can be found: of any known test."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import ALTERNATIVES, as_within, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import ConfidenceInterval, Drawn, Record, column
from fastcmp.core.sections import Section
from fastcmp.core.sentences import headline_of, how
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.families import Inputs, Question, family_of, positive, rounded_up, whole


def power(
    test: str = "mcnemar",
    *,
    n: ArrayLike,
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: ArrayLike = 0.05,
    hypothesis: str | None = None,
    margin: ArrayLike | None = None,
    **inputs: Any,
) -> Plan:
    """Probability that a test of two models finds what is there.

    Parameters
    ----------
    test : {"mcnemar", "mean", "mean-unpaired", "accuracy-unpaired", "metric", "cost", "auc", \
            "auc-paired", "cv", "leaderboard"}
        What is planned: two accuracies, two means of values, two values of a metric, two
        costs, an area against a value, two areas, a test by cross-validation, or all
        pairs of many models.
    n : int or array-like of int
        Samples; for means items, for areas positives.
    method : str, optional
        Variant of the test, or approximation; the first that `sample_size` lists.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better. Tests with a margin have their own side.
    alpha : float or array-like
        Error rate in (0, 1).
    hypothesis : {"difference", "noninferiority", "superiority", "equivalence"}
        What is to be shown; "difference" by default, "noninferiority" with a margin.
    margin : float or array-like, optional
        > 0, in units of the measure; for the last three hypotheses.
    **inputs
        What the test is planned from, such as ``p10`` and ``p01``: the notes of
        `sample_size` list them for each test.

    Returns
    -------
    Plan
        With ``power``; all numeric arguments broadcast.

    Raises
    ------
    ValueError
        If an option is unknown, or a number is impossible.
    TypeError
        If an input is not a number.

    Examples
    --------
    >>> from fastcmp import planning
    >>> plan = planning.power(n=100, p10=0.15, p01=0.05, method="connor")
    >>> round(plan.power, 4)
    0.6115
    """
    return _plan("power", test, inputs, method, alternative, alpha, hypothesis, margin, n, None)


def sample_size(
    test: str = "mcnemar",
    *,
    power: ArrayLike = 0.8,
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: ArrayLike = 0.05,
    hypothesis: str | None = None,
    margin: ArrayLike | None = None,
    **inputs: Any,
) -> Plan:
    """Smallest number of samples with which a test has the power wanted.

    Parameters
    ----------
    test : {"mcnemar", "mean", "mean-unpaired", "accuracy-unpaired", "metric", "cost", "auc", \
            "auc-paired", "cv", "leaderboard"}
        What is planned: two accuracies, two means of values, two values of a metric, two
        costs, an area against a value, two areas, a test by cross-validation, or all
        pairs of many models.
    power : float or array-like
        Probability wanted, in (alpha, 1).
    method : str, optional
        Variant of the test, or approximation; the first that `sample_size` lists.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better. Tests with a margin have their own side.
    alpha : float or array-like
        Error rate in (0, 1).
    hypothesis : {"difference", "noninferiority", "superiority", "equivalence"}
        What is to be shown; "difference" by default, "noninferiority" with a margin.
    margin : float or array-like, optional
        > 0, in units of the measure; for the last three hypotheses.
    **inputs
        What the test is planned from, such as ``p10`` and ``p01``: the notes of
        `sample_size` list them for each test.

    Returns
    -------
    Plan
        With ``n``, and ``power`` at that n; all numeric arguments broadcast.

    Raises
    ------
    ValueError
        If an option is unknown, or a number is impossible.
    TypeError
        If an input is not a number.

    Notes
    -----
    Inputs of each test; those of one line determine it.

    "mcnemar", methods "midp", "exact", "asymptotic", "corrected", "connor", "miettinen",
    "lachenbruch"; with a margin "tango", "normal":

    - `p10`, `p01`: probabilities that only a, and that only b is right;
    - `difference`, `discordant`: accuracy of a minus that of b, and the probability that
      just one of them is right;
    - `accuracy_a`, `accuracy_b`, with at most one of `agreement` (probability that both are right
      or both wrong), `correlation` (Pearson's phi of being right), `kappa` (Cohen's) and
      `label_agreement` (probability that both give the same label);
    - `pilot`: a record of McNemar's test, or (only_a, only_b, n); `so_far`: the same, of
      samples that the test will include;
    - also `conditional` (True: n counts the discordant samples only) and `tails` ("both",
      or "right-direction": only rejections for the better model count).

    "mean", methods "t", "normal", for equivalence also "chow":

    - `difference` of the means, and `sd` of the difference of one item;
    - several answers to an item: `variance_between` items, `variance_within_a` and
      `variance_within_b` of answers to one item, `repeats_a`, `repeats_b`;
    - clusters: `cluster_size`, `cluster_size_cv`, `intraclass_correlation`;
    - a pilot: `difference`, its `standard_error`, `n_pilot`;
    - also `lower_is_better`, which matters with a margin, and `tails`.

    "mean-unpaired" (different samples), methods "t", "normal", for equivalence also "chow":
    `difference`, and `sd` of the values of both models, or `sd_a` and `sd_b`; `ratio` (samples
    of b for each one of a), `lower_is_better`, `tails`.

    "accuracy-unpaired" (different samples), methods "score", "miettinen-nurminen" (the only one
    with a margin but for "normal"), "normal": `accuracy_a`, `accuracy_b`; `ratio`.

    "metric" and "cost", method "normal", for equivalence also "chow": `difference` with
    `sd`, or with `standard_error` and `n_pilot`; `lower_is_better`, `tails`.

    "auc", methods "hanley-mcneil", "obuchowski": `auc`, `auc_null` (0.5), `n_negatives` or
    `ratio` (negatives for each positive), `tails`.

    "auc-paired", methods "delong", "binormal", "obuchowski-mcclish":

    - areas `auc_a`, `auc_b`, or their `difference`;
    - a pilot: `variance_a`, `variance_b`, `covariance`, or the `standard_error` of the
      difference, with `pilot_positives` and `pilot_negatives`;
    - binormal curves: `intercept_a`, `slope_a`, `intercept_b`, `slope_b`,
      `correlation_positives`, `correlation_negatives`, `fpr_range` of partial areas;
    - also `n_negatives` or `ratio`, `null_variance` ("both", "a" or "b"), `tails`.

    "cv", methods "bcv-mcnemar", "resampled-t", "kfold-t", ... (16 tests on folds):

    - the probabilities of "mcnemar": `p10`, `p01`, `difference`, `discordant`,
      `accuracy_a`, `accuracy_b`, `agreement`, `correlation`, `kappa`, `label_agreement`;
    - ``design``: splits, by `fastcmp.designs`; `repeat_correlation` of a sample's outcomes
      in two repetitions (0.25); `training_sd` of the difference over training sets;
    - `n_resamples` and `rng` of the simulation.

    "leaderboard", method "normal":

    - ``accuracies``, with `agreement`, `correlation` or `discordant` of pairs of models;
    - ``means``, with `sd` and `correlation`;
    - `pilot`: a record of all pairs;
    - `find`: "best", "all", "any", "average", or a pair of models by number; `adjust` for
      the number of pairs ("holm"); `n_resamples` and `rng` of the simulation.

    Examples
    --------
    >>> from fastcmp import planning
    >>> planning.sample_size(p10=0.15, p01=0.05, power=0.8, method="connor").n
    155
    """
    return _plan("n", test, inputs, method, alternative, alpha, hypothesis, margin, None, power)


def detectable_difference(
    test: str = "mcnemar",
    *,
    n: ArrayLike,
    power: ArrayLike = 0.8,
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: ArrayLike = 0.05,
    hypothesis: str | None = None,
    margin: ArrayLike | None = None,
    **inputs: Any,
) -> Plan:
    """Smallest difference that so many samples find with the power wanted.

    Parameters
    ----------
    test : {"mcnemar", "mean", "mean-unpaired", "accuracy-unpaired", "metric", "cost", "auc", \
            "auc-paired", "cv", "leaderboard"}
        What is planned: two accuracies, two means of values, two values of a metric, two
        costs, an area against a value, two areas, a test by cross-validation, or all
        pairs of many models.
    n : int or array-like of int
        Samples; for means items, for areas positives.
    power : float or array-like
        Probability wanted, in (alpha, 1).
    method : str, optional
        Variant of the test, or approximation; the first that `sample_size` lists.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better, and the difference positive; two-sided tests find the
        same difference on both sides, and the positive one is given.
    alpha : float or array-like
        Error rate in (0, 1).
    hypothesis : {"difference", "noninferiority", "superiority", "equivalence"}
        What is to be shown; "difference" by default, "noninferiority" with a margin.
    margin : float or array-like, optional
        > 0, in units of the measure; for the last three hypotheses.
    **inputs
        What the test is planned from, such as ``discordant``: the notes of
        `sample_size` list them for each test.

    Returns
    -------
    Plan
        With ``difference``, NaN and the status ``UNDEFINED`` where no possible
        difference is found with that power; all numeric arguments broadcast.

    Raises
    ------
    ValueError
        If an option is unknown, or a number is impossible.
    TypeError
        If an input is not a number.

    Examples
    --------
    >>> from fastcmp import planning
    >>> plan = planning.detectable_difference(n=500, discordant=0.12, method="connor")
    >>> round(plan.difference, 6)
    0.0433
    """
    return _plan(
        "difference", test, inputs, method, alternative, alpha, hypothesis, margin, n, power
    )


def _plan(
    solved_for: str,
    test: str,
    inputs: dict[str, Any],
    method: str | None,
    alternative: str,
    alpha: Any,
    hypothesis: str | None,
    margin: Any,
    n: Any,
    power: Any,
) -> Plan:
    """Plan in which the field `solved_for` is found: "n", "power" or "difference"."""
    test, family = family_of(test)
    if hypothesis is None:
        hypothesis = "difference" if margin is None else "noninferiority"
    hypothesis = choose(hypothesis, "hypothesis", family.methods)
    if (margin is None) != (hypothesis == "difference"):
        problem = "needs `margin=`" if margin is None else "takes no margin"
        raise BadValueError(f"`hypothesis={hypothesis!r}` {problem}")
    names = family.methods[hypothesis]
    try:
        method = names[0] if method is None else str(choose(method, "method", names))
    except ValueError:
        word = str(method).lower()
        others = [repr(name) for name, methods in family.methods.items() if word in methods]
        if not others:
            raise
        margins = "without" if others == ["'difference'"] else "with"
        raise BadValueError(
            f"`method={method!r}` is not for `hypothesis={hypothesis!r}`, which has: "
            f"{', '.join(names)}; it is for {', '.join(others)}, {margins} `margin=`"
        ) from None
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    if hypothesis != "difference":
        if alternative == "less":
            raise BadValueError(
                f"`alternative='less'` has no meaning with `hypothesis={hypothesis!r}`, which "
                "speaks of a: exchange a and b"
            )
        alternative = "two-sided" if hypothesis == "equivalence" else "greater"
    alpha = as_within(alpha, "alpha", 0, 1, "()")
    margin = None if margin is None else positive(margin, "margin")
    if unknown := [name for name in inputs if name not in family.inputs]:
        raise BadValueError(
            f"{unknown[0]} is no input of `test={test!r}`, which knows: {', '.join(family.inputs)}"
        )
    if solved_for == "difference" and not family.detectable:
        raise BadValueError(f"detectable_difference has no answer for `test={test!r}`")
    if solved_for == "difference" and hypothesis == "equivalence":
        raise BadValueError(
            "`hypothesis='equivalence'` has no smallest difference: plan its power or its "
            "sample size"
        )
    if solved_for != "power":
        power = as_within(power, "power", 0, 1, "()")
        if np.any(power <= alpha):
            raise BadValueError(
                "`power` must lie in (alpha, 1)", f"{np.min(power):g} with alpha={np.max(alpha):g}"
            )
    n, target = n if solved_for == "n" else whole(n, "n"), power
    question = Question(method, alternative, hypothesis, alpha, margin, n, target)
    case = family.read(question, Inputs({k: x for k, x in inputs.items() if x is not None}))
    n_exact = assurance = interval = None

    def samples(effect: object) -> Any:
        real = case.size(effect, target)
        return real, np.maximum(rounded_up(real), case.fewest) if case.closed else real

    if solved_for == "n":
        n_exact, n = samples(case.effect)
        none = ~np.isfinite(n)
        reached = case.power(case.effect, np.where(none, case.fewest, n))
        power, status = np.where(none, target, reached), np.where(none, UNDEFINED, OK)
    elif solved_for == "power":
        power, status = case.power(case.effect, n), case.status
    else:
        power, status = target, np.where(np.isnan(case.difference), UNDEFINED, OK)
    if case.pilot is not None and solved_for != "difference":

        def answer(effect: object) -> Any:
            return samples(effect)[1] if solved_for == "n" else case.power(effect, n)

        assurance, interval = case.pilot(answer, n)
    numbers = {
        "n": n,
        "power": power,
        "difference": case.difference,
        "alpha": alpha,
        "status": status,
        "n_exact": n_exact if case.closed else None,
        "margin": margin,
        "assurance": assurance,
        "n_negatives": case.negatives and case.negatives(n),
        "power_standard_error": case.n_resamples
        and np.sqrt(power * (1.0 - power) / case.n_resamples),
    }
    arrays = [x for x in numbers.values() if isinstance(x, np.ndarray) and x.ndim]
    shape = np.broadcast(*arrays, 0.0).shape if arrays else ()

    def fitted(value: Any) -> Any:
        return np.broadcast_to(value, shape).copy()

    own = fitted if shape else _plain
    numbers = {name: own(value) for name, value in numbers.items() if value is not None}
    for count in () if shape else ("n", "n_negatives"):
        if count in numbers and isfinite(numbers[count]):
            numbers[count] = int(numbers[count])
    cautions = case.cautions(n, power) if callable(case.cautions) else case.cautions
    return Plan(
        test=test,
        method=method,
        test_name=family.titles[method],
        hypothesis=hypothesis,
        solved_for=solved_for,
        alternative=alternative,
        measure=family.measure,
        unit=case.unit or family.unit,
        inputs=tuple([(name, _plain(value)) for name, value in case.inputs.items()]),
        interval=interval and ConfidenceInterval(*map(own, interval)),
        seed=case.seed,
        claim=case.claim,
        cautions=cautions,
        **numbers,
    )


def _plain(value: object) -> Any:
    """A number of Python's, or an array of its own; all else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value
    return np.array(value, value.dtype.newbyteorder("=")) if value.ndim else value.item()


#: What is shown, by hypothesis.
_CLAIMS = {
    "noninferiority": "that a is not worse than b by {margin} or more",
    "superiority": "that a is better than b by more than {margin}",
    "equivalence": "that a and b differ by less than {margin}",
}
_SIDES = {"two-sided": "two-sided", "greater": "one-sided, greater", "less": "one-sided, less"}
#: What a dash in a table means, by what the plan is for.
_NONE = {
    "n": "no number is enough",
    "difference": "no possible difference is detected",
    "power": "the models do not differ",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Plan(Drawn, Record):
    """A planned comparison of two models: samples, power and difference.

    Numbers are arrays of one shape where the inputs were.
    """

    _picture: ClassVar[str] = "power_curve"
    _blocks = "two_models:plan"
    _opening = "The plan is for this test: {record.test_name}."

    _cites = (
        ("test", {"mcnemar": "mcnemar", "auc-paired": "delong sun", "mean-unpaired": "welch"}),
        (
            "method",
            {
                "midp": "fagerland",
                "corrected": "edwards",
                "unconditional": "suissa",
                "tango": "tango",
                "hanley-mcneil": "hanley",
                "bcv-mcnemar": "yang-bcv",
                "miettinen-nurminen": "miettinen",
                "boschloo": "boschloo",
            },
        ),
        lambda self: dict(self.inputs).get("adjust", ""),
    )

    #: The family of tests, such as "mcnemar".
    test: str
    #: How power was worked out, such as "midp".
    method: str
    #: Name of the test in words.
    test_name: str
    #: "difference", "noninferiority", "superiority" or "equivalence".
    hypothesis: str
    #: What the plan is the answer for: "power", "n" or "difference".
    solved_for: str
    #: Samples, whole; infinity where no number is enough.
    n: Any
    #: The real number that `n` was rounded up from, where it has a closed form.
    n_exact: Any = None
    #: Probability that the test rejects, at `n` samples.
    power: Any
    #: Standard error of a power that was simulated, and the seed that repeats it.
    power_standard_error: Any = None
    seed: int | None = None
    #: The true difference to be found: the measure of a minus that of b; NaN where
    #: `n` samples find none with that power.
    difference: Any
    alpha: Any
    alternative: str
    #: For hypotheses with a margin, else None.
    margin: Any = None
    #: What differs, such as "accuracy".
    measure: str = "accuracy"
    #: What `n` counts.
    unit: str = "samples"
    #: Negatives, where `n` counts positives, else None.
    n_negatives: Any = None
    #: What is found, where that is not a difference of two models.
    claim: str | None = None
    #: Name and value of what the plan was made from.
    inputs: tuple[tuple[str, Any], ...] = ()
    #: Mean of the power over what a pilot leaves open; None without a pilot.
    assurance: Any = None
    #: 95% interval of what was solved for, given the pilot; None without one.
    interval: ConfidenceInterval | None = None
    cautions: tuple[str, ...] = ()
    #: A `fastcmp.kernels.Status`: ``UNDEFINED`` where there is no answer.
    status: Any = 0

    def columns(self) -> dict[str, Any]:
        """The main table as columns.

        Returns
        -------
        dict of str to list
            A row for each plan.
        """
        shape = np.shape(self.power)
        inputs = {k: x for k, x in self.inputs if k != "rng"}  # that is the seed
        fields = {**self._fields(), **{k: self._whole(x) for k, x in inputs.items()}}
        if self.interval is not None:
            fields |= {f"interval_{k}": x for k, x in self.interval._asdict().items()}
        skipped = ("inputs", "interval", "cautions", "status")
        columns = {
            name: column(value, shape)
            for name, value in fields.items()
            if name not in skipped and not isinstance(value, (tuple, bool))
        }
        return {name: rows for name, rows in columns.items() if rows is not None}

    def _whole(self, value: object) -> Any:
        """An input with one value a plan, where it has fewer."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
            return value
        shape = np.shape(self.power)
        with suppress(ValueError):  # what belongs to models, not to plans
            if self.test != "leaderboard":
                return np.broadcast_to(value, shape)
        return None

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A sentence for a single plan; a table for arrays.
        """
        levels = np.unique(self.alpha)
        alpha = f"alpha {levels[0]:g}" if len(levels) == 1 else ""
        sides = _SIDES[self.alternative] if self.hypothesis == "difference" else ""
        test = ", ".join(filter(None, (self.test_name, sides, alpha)))
        titles = {"n": "Sample size", "power": "Power", "difference": "Difference"}
        title = titles[self.solved_for]
        if np.ndim(self.power):
            return [self._table(f"{title} ({test})")]
        text = (f"{self._sentence()} ({test}).", *self._pilot_sentences())
        return [Section(title=title, text=text, notes=self.cautions)]

    def _headline(self) -> str:
        """What is planned; of several plans, from what to what."""
        if not np.ndim(self.power):
            return headline_of(self)
        values = np.asarray(getattr(self, self.solved_for), np.float64)
        finite = values[np.isfinite(values)]
        lead = f"{values.size:,} plans ({self.test_name})"
        if not finite.size:
            return f"{lead}: none is possible."
        style, scale, unit, what = {
            "n": (",.0f", 1.0, f" {self.unit}", ""),
            "power": (".1f", 100.0, "%", "power "),
            "difference": (".4g", 1.0, "", "difference "),
        }[self.solved_for]
        if self.solved_for == "difference" and self.measure == "accuracy":
            scale, unit = 100.0, " percentage points"
        low, high = (format(scale * x, style) for x in (finite.min(), finite.max()))
        ends = f"{low}{unit}" if low == high else f"from {low} to {high}{unit}"
        return f"{lead}: {what}{ends}."

    def _sentence(self) -> str:
        """The plan in one sentence, without its end."""
        power = f"{format_percent(self.power)} power"
        if not np.isfinite(self.n):
            return f"No number of {self.unit} gives {power} to {self._aim()}"
        n = f"{int(self.n):,} {self.unit}"
        if self.n_negatives is not None:
            n += f" and {int(np.ceil(self.n_negatives)):,} negatives"
        elif self.n == 1:
            n = n.removesuffix("s")
        if np.isnan(self.difference):
            return f"With {n}, no possible difference is detected with {power}"
        return f"With {n}, {power} to {self._aim()}"

    def _aim(self) -> str:
        """What is to be detected or shown."""
        if self.claim is not None:
            return self.claim
        gap = self.difference
        if self.hypothesis != "difference":
            margin = _amount(self.margin, self.measure)
            claim = _CLAIMS[self.hypothesis].format(margin=margin)
            return f"show {claim}, where a minus b is {_amount(gap, self.measure)}"
        gap = abs(gap) if self.alternative == "two-sided" else gap
        return f"detect a difference of {_amount(gap, self.measure)}"

    def _pilot_sentences(self) -> tuple[str, ...]:
        """Sentences on what a pilot leaves open."""
        text = []
        if self.assurance is not None:
            text.append(
                "Over all that the pilot leaves open, the power is "
                f"{format_percent(self.assurance)} on average."
            )
        if self.interval is not None:
            ends = {
                "power": format_percent,
                "n": lambda x: f"{x:,.0f}",
                "difference": lambda x: _amount(x, self.measure),
            }[self.solved_for]
            what = {"n": self.unit, "power": "power", "difference": "difference"}
            low, high = map(ends, self.interval)
            text.append(
                f"The pilot leaves open (95%): {what[self.solved_for]} from {low} to {high}."
            )
        return tuple(text)

    def _table(self, title: str) -> Section:
        """A table of plans: what differs between them; the rest is said above it."""
        columns = {
            name: rows
            for name, rows in self.columns().items()
            if not isinstance(rows[0], str) and name != "n_exact"
        }
        first = {"n", "power", self.solved_for}
        same = {
            name: rows[0]
            for name, rows in columns.items()
            if name not in first and len(set(rows)) == 1
        }
        differing = {name: rows for name, rows in columns.items() if name not in same}
        n_plans = int(np.size(self.power))
        sizes = " x ".join(map(str, np.shape(self.power)))
        grid = f" ({sizes})" if np.ndim(self.power) > 1 else ""
        constant = ", ".join(
            f"{name} {_cell(value)}" for name, value in same.items() if name != "alpha"
        )
        cells = (map(_cell, rows) for rows in differing.values())
        notes = self.cautions
        if self.claim is not None:
            notes = (how(f"power: the probability to {self.claim}."), *notes)
        if np.any(np.not_equal(self.status, 0)):
            notes = (f"-: {_NONE[self.solved_for]}.", *notes)
        return Section(
            title=title,
            text=(f"{n_plans:,} plans{grid}" + (f": {constant}" if constant else ""),),
            columns=tuple(differing),
            rows=tuple(zip(*cells, strict=True)),
            most=40,
            notes=notes,
        )


def _cell(value: Any) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.4g}"


def format_percent(power: float) -> str:
    """A probability in percent, never 0 or 100 by rounding."""
    percent = 100 * power
    if 0 < percent < 0.05:
        return "less than 0.1%"
    if 99.95 <= percent < 100:
        return "more than 99.9%"
    digits = 0 if abs(percent - round(percent)) < 0.05 else 1
    return f"{percent:.{digits}f}%"


def _amount(value: float, measure: str) -> str:
    """A difference as text: in percentage points where it is of accuracies."""
    if measure != "accuracy":
        return f"{value:.4g}"
    points = f"{100 * value:.4g}"
    return f"{points} percentage point{'' if points in ('1', '-1') else 's'}"
