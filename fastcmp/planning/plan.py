"""Power, sample size, and the difference that can be found: of any known test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import ALTERNATIVES, choose
from fastcmp.core.records import ConfidenceInterval, unwrap
from fastcmp.planning.checked import check_reachable, positive, whole, within
from fastcmp.planning.families import family_of
from fastcmp.planning.family import Answer, Family, Question
from fastcmp.planning.plan_result import Plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    name, family = family_of(test)
    question = _question(family, method, alternative, alpha, hypothesis, margin)
    _check_inputs(name, family, inputs)
    answer = family.power(question, inputs, whole(n, "n"))
    return _plan(name, family, question, answer, "power")


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

    - `accuracies`, with `agreement`, `correlation` or `discordant` of pairs of models;
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
    name, family = family_of(test)
    question = _question(family, method, alternative, alpha, hypothesis, margin)
    _check_inputs(name, family, inputs)
    wanted = within(power, "power", 0, 1)
    check_reachable(wanted, question.alpha)
    answer = family.sample_size(question, inputs, wanted)
    return _plan(name, family, question, answer, "n")


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
    name, family = family_of(test)
    question = _question(family, method, alternative, alpha, hypothesis, margin)
    _check_inputs(name, family, inputs)
    if family.difference is None:
        message = f"detectable_difference has no answer for test={name!r}"
        raise ValueError(message)
    wanted = within(power, "power", 0, 1)
    check_reachable(wanted, question.alpha)
    answer = family.difference(question, inputs, whole(n, "n"), wanted)
    return _plan(name, family, question, answer, "difference")


def _question(
    family: Family,
    method: str | None,
    alternative: str,
    alpha: Any,
    hypothesis: str | None,
    margin: Any,
) -> Question:
    """Check what all families are asked."""
    if hypothesis is None:
        hypothesis = "difference" if margin is None else "noninferiority"
    hypothesis = choose(hypothesis, "hypothesis", family.methods)
    if (margin is None) != (hypothesis == "difference"):
        wanted = "needs margin=" if margin is None else "takes no margin"
        message = f"hypothesis={hypothesis!r} {wanted}"
        raise ValueError(message)
    method = _method(family, hypothesis, method)
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    if hypothesis != "difference":
        if alternative == "less":
            message = (
                f"alternative='less' has no meaning with hypothesis={hypothesis!r}, "
                "which speaks of a: exchange a and b"
            )
            raise ValueError(message)
        alternative = "two-sided" if hypothesis == "equivalence" else "greater"
    level = within(alpha, "alpha", 0, 1)
    limit = None if margin is None else positive(margin, "margin")
    return Question(method, alternative, hypothesis, level, limit)


def _method(family: Family, hypothesis: str, method: str | None) -> str:
    """Choose among the methods that a family has for a hypothesis."""
    known, plain = family.methods[hypothesis], family.methods["difference"]
    others = {x for methods in family.methods.values() for x in methods} - set(known)
    if method is None:
        return known[0]
    try:
        return str(choose(method, "method", known))
    except ValueError:
        if str(method).lower() not in others:
            raise
    message = (
        f"method={method!r} is not for hypothesis={hypothesis!r}, which has: "
        f"{', '.join(known)}{'; it needs margin=' if known is plain else ''}"
    )
    raise ValueError(message)


def _check_inputs(name: str, family: Family, inputs: dict[str, Any]) -> None:
    unknown = [key for key in inputs if key not in family.inputs]
    if unknown:
        known = ", ".join(family.inputs)
        message = f"{unknown[0]} is no input of test={name!r}, which knows: {known}"
        raise ValueError(message)


def _plan(name: str, family: Family, question: Question, answer: Answer, solved_for: str) -> Plan:
    """Make the record: arrays of one shape, or plain numbers."""
    numbers = {
        "n": answer.n,
        "power": answer.power,
        "difference": answer.difference,
        "alpha": question.alpha,
        "status": answer.status,
    }
    optional = {
        "n_exact": answer.n_exact,
        "margin": question.margin,
        "assurance": answer.assurance,
        "n_negatives": answer.n_negatives,
        "power_standard_error": answer.power_standard_error,
    }
    numbers |= {key: value for key, value in optional.items() if value is not None}
    shape = np.broadcast_shapes(*(np.shape(value) for value in numbers.values()))
    found = {
        key: unwrap(np.broadcast_to(value, shape).copy(), shape) for key, value in numbers.items()
    }
    for count in {"n", "n_negatives"} & set(found):
        if not shape and np.isfinite(found[count]):
            found[count] = int(found[count])
    interval = answer.interval
    if interval is not None:
        ends = (np.broadcast_to(end, shape).copy() for end in interval)
        interval = ConfidenceInterval(*(unwrap(end, shape) for end in ends))
    return Plan(
        test=name,
        method=question.method,
        test_name=family.title(question.method, question.hypothesis),
        hypothesis=question.hypothesis,
        solved_for=solved_for,
        alternative=question.alternative,
        measure=family.measure,
        unit=answer.unit or family.unit,
        inputs=tuple((key, _plain(value)) for key, value in answer.inputs.items()),
        interval=interval,
        seed=answer.seed,
        claim=answer.claim,
        cautions=answer.cautions,
        **found,
    )


def _plain(value: Any) -> Any:
    """Give a number of Python's, or an array of its own; all else as it is."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    if not value.ndim:
        return value.item()
    return np.array(value, value.dtype.newbyteorder("="))
