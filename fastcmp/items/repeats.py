"""Several answers to an item: pass@k, pass^k, and one value for each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_counts, as_numbers, as_rate, as_whole, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import unwrap
from fastcmp.core.render import visible
from fastcmp.core.typing import Floats, Ints
from fastcmp.kernels.repeats import (
    G_PASS_AT_K,
    PASS_AT_K,
    PASS_AT_K_VARIANCE,
    PASS_HAT_K,
    PASS_HAT_K_VARIANCE,
    pass_many,
)

#: How answers to an item become one value -> what kernels work out, and its variance.
REPEATS: dict[str, tuple[int, ...]] = {
    "mean": (),
    "pass@k": (PASS_AT_K, PASS_AT_K_VARIANCE),
    "pass^k": (PASS_HAT_K, PASS_HAT_K_VARIANCE),
}


def pass_at_k(n_correct: ArrayLike, n_samples: ArrayLike, *, k: int) -> Any:
    """Chance that at least one of k answers to an item is right (pass@k).

    Parameters
    ----------
    n_correct : array-like of int
        Right answers to each item.
    n_samples : array-like of int
        All answers to each item, which broadcasts with ``n_correct``.
    k : int
        At most the least ``n_samples``.

    Returns
    -------
    float or ndarray
        Unbiased estimate for each item; `compare_means` compares such values, also of
        models with different numbers of answers.

    Raises
    ------
    TypeError
        If a count or ``k`` is no whole number.
    ValueError
        If ``k`` is above a number of answers, or more are right than there are.

    References
    ----------
    .. [1] M. Chen et al., "Evaluating large language models trained on code",
       arXiv:2107.03374 (2021), equation 1.

    Examples
    --------
    >>> from fastcmp import pass_at_k
    >>> pass_at_k([0, 1, 2, 5], 200, k=100).round(4).tolist()
    [0.0, 0.5, 0.7513, 0.9703]
    """
    return _many(PASS_AT_K, n_correct, n_samples, k)


def pass_hat_k(n_correct: ArrayLike, n_samples: ArrayLike, *, k: int) -> Any:
    """Chance that all of k answers to an item are right (pass^k).

    Parameters
    ----------
    n_correct : array-like of int
        Right answers to each item.
    n_samples : array-like of int
        All answers to each item, which broadcasts with ``n_correct``.
    k : int
        At most the least ``n_samples``.

    Returns
    -------
    float or ndarray
        Unbiased estimate for each item.

    Raises
    ------
    TypeError
        If a count or ``k`` is no whole number.
    ValueError
        If ``k`` is above a number of answers, or more are right than there are.

    References
    ----------
    .. [1] S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in
       real-world domains", arXiv:2406.12045 (2024).

    Examples
    --------
    >>> from fastcmp import pass_hat_k
    >>> pass_hat_k([1, 5, 9], [5, 8, 12], k=4).round(4).tolist()
    [0.0, 0.0714, 0.2545]
    """
    return _many(PASS_HAT_K, n_correct, n_samples, k)


def g_pass_at_k(n_correct: ArrayLike, n_samples: ArrayLike, *, k: int, tau: float) -> Any:
    """Chance that a proportion tau of k answers to an item is right (G-Pass@k).

    Parameters
    ----------
    n_correct : array-like of int
        Right answers to each item.
    n_samples : array-like of int
        All answers to each item, which broadcasts with ``n_correct``.
    k : int
        At most the least ``n_samples``.
    tau : float
        Least proportion of right answers, in [0, 1]; one at least must be right. 0 is
        pass@k, 1 is pass^k.

    Returns
    -------
    float or ndarray
        Unbiased estimate for each item.

    Raises
    ------
    TypeError
        If a count or ``k`` is no whole number, or ``tau`` no number.
    ValueError
        If ``k`` is above a number of answers, more are right than there are, or ``tau``
        lies outside [0, 1].

    References
    ----------
    .. [1] J. Liu et al., "Are your LLMs capable of stable reasoning?", Findings of ACL
       2025, arXiv:2412.13147.

    Examples
    --------
    >>> from fastcmp import g_pass_at_k
    >>> g_pass_at_k([0, 2, 4, 6, 8], 8, k=4, tau=0.5).round(4).tolist()
    [0.0, 0.2143, 0.7571, 1.0, 1.0]
    """
    return _many(G_PASS_AT_K, n_correct, n_samples, k, tau=as_rate(tau, "tau"))


def pass_variance(
    n_correct: ArrayLike, n_samples: ArrayLike, *, k: int, repeats: str = "pass@k"
) -> Any:
    """Variance of pass@k or pass^k of an item from one set of answers to the next.

    Parameters
    ----------
    n_correct : array-like of int
        Right answers to each item.
    n_samples : array-like of int
        All answers to each item, which broadcasts with ``n_correct``.
    k : int
        At most half of the least ``n_samples``.
    repeats : {"pass@k", "pass^k"}
        Of which the variance is.

    Returns
    -------
    float or ndarray
        For each item h(k)**2 - h(2 k) >= 0, unbiased, where h(r) is the chance that r
        answers are all wrong ("pass@k") or all right ("pass^k").

    Raises
    ------
    TypeError
        If a count or ``k`` is no whole number.
    ValueError
        If 2 k is above a number of answers, or more are right than there are.

    Examples
    --------
    >>> from fastcmp import pass_variance
    >>> pass_variance([2, 4, 6], 9, k=3, repeats="pass^k").round(6).tolist()
    [0.0, 0.002268, 0.044785]
    """
    _, kind = REPEATS[choose(repeats, "repeats", ("pass@k", "pass^k"))]
    return _many(kind, n_correct, n_samples, k, least=2)


def _many(
    kind: int, n_correct: object, n_samples: object, k: object, *, tau: float = 0.0, least: int = 1
) -> Any:
    """Check counts and call the kernel; `least` times k answers are needed."""
    correct = as_counts(n_correct, "n_correct")
    samples = as_counts(n_samples, "n_samples")
    k = as_whole(k, "k", 1)
    try:
        correct, samples = np.broadcast_arrays(correct, samples)
    except ValueError:
        raise BadValueError(
            "`n_correct` and n_samples must broadcast",
            f"shapes {correct.shape} and {samples.shape}",
        ) from None
    if (correct > samples).any():
        at = np.argmax(correct > samples)
        raise BadValueError(
            "`n_correct` must be at most n_samples",
            f"{correct.flat[at]} right of {samples.flat[at]} answers",
        )
    if samples.size and least * k > samples.min():
        times = "" if least == 1 else f"{least} * "
        raise BadValueError(
            f"{times}`k` must be at most n_samples", f"k={k} for {samples.min()} answers"
        )
    return unwrap(_call(kind, correct.ravel(), samples.ravel(), k, tau), correct.shape)


def _call(kind: int, correct: Any, samples: object, k: int, tau: float = 0.0) -> Floats:
    out = np.empty(correct.size)
    # Copies: numba asks broadcast arrays whether they can be written, and NumPy warns.
    correct, samples = (np.array(x, np.int64) for x in (correct, samples))
    pass_many(kind, correct, samples, k, tau, out)
    return out


# Values of shape (M, n, R).


def side_by_side(answers: Mapping[Any, Floats]) -> Floats:
    """The answers of models side by side, NaN where one has fewer."""
    tables = list(answers.values())
    shapes = [table.shape for table in tables]
    if any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise BadValueError(
            "`values` must have answers of shape (n, R) to the same n items of each model",
            f"shapes {shapes[:10]}",
        )
    most = max((shape[1] for shape in shapes), default=0)
    width = [((0, 0), (0, most - shape[1])) for shape in shapes]
    padded = [
        np.pad(table, pad, constant_values=np.nan) for table, pad in zip(tables, width, strict=True)
    ]
    return np.array(padded)


def as_floats(raw: object, name: str) -> Floats:
    """Numbers or bools as float64."""
    with suppress(ValueError):  # of different lengths: refused below
        raw = np.asanyarray(raw)
    if getattr(raw, "dtype", None) != np.bool_ or np.ma.is_masked(raw):
        raw = as_numbers(raw, name)
    return np.ascontiguousarray(raw, np.float64)  # sums depend on the order of memory


def count_answers(values: Floats) -> Ints:
    """Count the answers of each model to each item, shape (M, n)."""
    n_answers: Ints = np.count_nonzero(~np.isnan(values), axis=2)
    return n_answers


def settle_missing(values: Floats, n_answers: Ints, missing: str) -> tuple[Floats, Ints]:
    """Answers with what `missing` makes of those without a value, and their numbers.

    Of `values`, (M, n, R), the first `n_answers` of each item are answers. Missing ones
    are 0 ("wrong"), or take the whole item from the model. Numbers are of shape (M,).
    """
    absent = np.isnan(values) & (np.arange(values.shape[2]) < n_answers[:, :, None])
    if absent.any():
        if missing == "wrong":
            values = np.where(absent, 0.0, values)
        else:
            values = np.where(absent.any(axis=2, keepdims=True), np.nan, values)
    return values, np.count_nonzero(absent, axis=(1, 2))


def check_k(way: str, k: object) -> None:
    """Check k, which pass@k and pass^k need and the mean has not."""
    if way == "mean":
        if k is not None:
            raise BadValueError("`k` belongs to `repeats='pass@k'` and 'pass^k'", f"`k={k!r}`")
    elif k is None:
        raise BadValueError(f"`k` must be given with `repeats={way!r}`", "None")
    else:
        as_whole(k, "k", 1)


def mean_of_answers(values: Floats) -> Floats:
    """Means of the answers to each item, without a warning where there is none."""
    values = np.ascontiguousarray(values)  # sums depend on the order of memory
    absent = np.isnan(values)
    if not absent.any():
        return np.asarray(values.mean(axis=2))
    sums = np.where(absent, 0.0, values).sum(axis=2)
    with np.errstate(invalid="ignore"):
        means: Floats = sums / (~absent).sum(axis=2)
    return means


def pass_values(
    way: str, values: Floats, k: int, names: Sequence[str] | None, *, least: int = 1
) -> tuple[Floats, Floats]:
    """pass@k or pass^k of each item, and its variance over answers, (M, n)."""
    n_answers = count_answers(values)
    right = values == 1.0
    wrong = ~(right | (values == 0.0) | np.isnan(values))
    if wrong.any():
        raise BadValueError(
            f"`values` must be 0 or 1 (False or True) with `repeats={way!r}`",
            f"{values[wrong][0]:g}",
        )
    few = (n_answers < least * k) & (n_answers > 0)
    if few.any():
        model, item = np.argwhere(few)[0]
        name = visible(names[model]) if names else f"model {model}"
        times = "" if least == 1 else f"{least} * "
        raise BadValueError(
            f"{times}`k` must be at most the number of answers",
            f"k={k} and {n_answers[model, item]} answers of {name} to item {item} (so for "
            f"{np.count_nonzero(few)} of {few.size} models and items)",
        )
    correct = np.count_nonzero(right, axis=2)
    flat = correct.ravel(), n_answers.ravel()
    value, variance = (_call(kind, *flat, k) for kind in REPEATS[way])
    return value.reshape(correct.shape), variance.reshape(correct.shape)
