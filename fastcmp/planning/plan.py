"""Power, sample size, and the difference that can be found: of any known test."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import ALTERNATIVES, choose
from fastcmp.core.records import ConfidenceInterval
from fastcmp.kernels.status import OK, UNDEFINED
from fastcmp.planning.families import (
    Inputs,
    Question,
    family_of,
    positive,
    rounded_up,
    whole,
    within,
)
from fastcmp.planning.plan_result import Plan


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
        If a number is none.

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
        If a number is none.

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
        If a number is none.

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
        wanted = "needs margin=" if margin is None else "takes no margin"
        raise ValueError(f"hypothesis={hypothesis!r} {wanted}")
    known = family.methods[hypothesis]
    try:
        method = known[0] if method is None else str(choose(method, "method", known))
    except ValueError:
        if not any(str(method).lower() in methods for methods in family.methods.values()):
            raise
        advice = "; it needs margin=" if known is family.methods["difference"] else ""
        raise ValueError(
            f"method={method!r} is not for hypothesis={hypothesis!r}, which has: "
            f"{', '.join(known)}{advice}"
        ) from None
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    if hypothesis != "difference":
        if alternative == "less":
            raise ValueError(
                f"alternative='less' has no meaning with hypothesis={hypothesis!r}, "
                "which speaks of a: exchange a and b"
            )
        alternative = "two-sided" if hypothesis == "equivalence" else "greater"
    alpha = within(alpha, "alpha", 0, 1)
    margin = None if margin is None else positive(margin, "margin")
    unknown = [name for name in inputs if name not in family.inputs]
    if unknown:
        raise ValueError(
            f"{unknown[0]} is no input of test={test!r}, which knows: {', '.join(family.inputs)}"
        )
    if solved_for == "difference" and not family.detectable:
        raise ValueError(f"detectable_difference has no answer for test={test!r}")
    if solved_for == "difference" and hypothesis == "equivalence":
        raise ValueError(
            "hypothesis='equivalence' has no smallest difference: plan its power or its sample size"
        )
    if solved_for != "power":
        power = within(power, "power", 0, 1)
        if np.any(power <= alpha):
            raise ValueError(
                f"power must lie in (alpha, 1), got {np.min(power):g} with alpha={np.max(alpha):g}"
            )
    n, target = n if solved_for == "n" else whole(n, "n"), power
    question = Question(method, alternative, hypothesis, alpha, margin, n, target)
    case = family.read(question, Inputs({k: x for k, x in inputs.items() if x is not None}))
    n_exact = assurance = interval = None

    def samples(effect: Any) -> Any:
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

        def answer(effect: Any) -> Any:
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
    numbers = {name: value for name, value in numbers.items() if value is not None}
    shape = np.broadcast(*numbers.values()).shape

    def fitted(value: Any) -> Any:
        return np.broadcast_to(value, shape).copy() if shape else _plain(value)

    numbers = {name: fitted(value) for name, value in numbers.items()}
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
        inputs=tuple((name, _plain(value)) for name, value in case.inputs.items()),
        interval=interval and ConfidenceInterval(*map(fitted, interval)),
        seed=case.seed,
        claim=case.claim,
        cautions=cautions,
        **numbers,
    )


def _plain(value: Any) -> Any:
    """A number of Python's, or an array of its own; all else as it is."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    if not value.ndim:
        return value.item()
    return np.array(value, value.dtype.newbyteorder("="))
