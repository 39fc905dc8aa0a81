"""Chances of k right answers, from n_correct of n_samples that were right."""

from __future__ import annotations

import math
from typing import Final

from fastcmp._jit import helper, kernel
from fastcmp.kernels.special import square
from fastcmp.kernels.typing import FloatArray, IntArray

#: What `pass_many` works out.
PASS_AT_K: Final = 0
PASS_HAT_K: Final = 1
G_PASS_AT_K: Final = 2
PASS_AT_K_VARIANCE: Final = 3
PASS_HAT_K_VARIANCE: Final = 4


@helper
def _is_sample(n_correct: int, n_samples: int, k: int) -> bool:
    return 0 <= n_correct <= n_samples and 1 <= k <= n_samples


@helper
def _none_of(n_marked: int, n_samples: int, k: int) -> float:
    """Chance that k of n_samples, drawn without replacement, have no marked one."""
    few, many = min(n_marked, k), max(n_marked, k)
    chance = 1.0
    for j in range(few):
        chance *= max(n_samples - j - many, 0) / (n_samples - j)
    return chance


@kernel
def pass_at_k(n_correct: int, n_samples: int, k: int) -> float:
    """Chance that at least one of k answers is right.

    The estimate is unbiased: the proportion of all choices of k of the answers with a
    right one among them.

    Parameters
    ----------
    n_correct : int
        Right answers to the item.
    n_samples : int
        All answers to the item.
    k : int
        Between 1 and n_samples.

    Returns
    -------
    float
        1 - C(n_samples - n_correct, k) / C(n_samples, k); NaN where ``k`` or a count is
        out of range.

    References
    ----------
    .. [1] M. Chen et al., "Evaluating large language models trained on code",
       arXiv:2107.03374 (2021), equation 1.

    Examples
    --------
    >>> from fastcmp.kernels import pass_at_k
    >>> round(pass_at_k(2, 200, 100), 6)
    0.751256
    """
    if not _is_sample(n_correct, n_samples, k):
        return math.nan
    if n_samples - n_correct < k:
        return 1.0
    few, many = min(n_correct, k), max(n_correct, k)
    log_none = 0.0  # as a sum of logarithms small chances keep their digits
    for j in range(few):
        log_none += math.log1p(-many / (n_samples - j))
    return 0.0 - math.expm1(log_none)


@kernel
def pass_hat_k(n_correct: int, n_samples: int, k: int) -> float:
    """Chance that all of k answers are right (pass^k), without bias.

    Parameters
    ----------
    n_correct : int
        Right answers to the item.
    n_samples : int
        All answers to the item.
    k : int
        Between 1 and n_samples.

    Returns
    -------
    float
        C(n_correct, k) / C(n_samples, k); NaN where ``k`` or a count is out of range.

    References
    ----------
    .. [1] S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in
       real-world domains", arXiv:2406.12045 (2024).

    Examples
    --------
    >>> from fastcmp.kernels import pass_hat_k
    >>> round(pass_hat_k(5, 8, 4), 6)
    0.071429
    """
    if not _is_sample(n_correct, n_samples, k):
        return math.nan
    return _none_of(n_samples - n_correct, n_samples, k)


@kernel
def g_pass_at_k(n_correct: int, n_samples: int, k: int, tau: float) -> float:
    """Chance that a proportion tau of k answers is right, and at least one.

    With ``tau`` = 0 it is pass@k, with 1 pass^k.

    Parameters
    ----------
    n_correct : int
        Right answers to the item.
    n_samples : int
        All answers to the item.
    k : int
        Between 1 and n_samples.
    tau : float
        Least proportion of right answers, in [0, 1].

    Returns
    -------
    float
        Sum of C(n_correct, j) C(n_samples - n_correct, k - j) / C(n_samples, k) over
        j >= 1 with j / k >= tau; NaN where an argument is out of range.

    Notes
    -----
    O(k). The terms are multiplied up and down from the largest, which is set to 1, so
    that none overflows, and divided by their sum.

    References
    ----------
    .. [1] J. Liu et al., "Are your LLMs capable of stable reasoning?", Findings of ACL
       2025, arXiv:2412.13147.

    Examples
    --------
    >>> from fastcmp.kernels import g_pass_at_k
    >>> round(g_pass_at_k(4, 8, 4, 0.5), 6)
    0.757143
    """
    if not _is_sample(n_correct, n_samples, k) or not 0.0 <= tau <= 1.0:
        return math.nan
    n_wrong = n_samples - n_correct
    low, high = max(0, k - n_wrong), min(n_correct, k)
    mode = ((k + 1) * (n_correct + 1)) // (n_samples + 2)
    mode = min(max(mode, low), high)
    enough, too_few = 0.0, 0.0
    term = 1.0
    for j in range(mode, high + 1):
        if j >= 1 and j / k >= tau:
            enough += term
        else:
            too_few += term
        term *= (n_correct - j) * (k - j) / ((j + 1.0) * (n_wrong - k + j + 1))
    term = 1.0
    for j in range(mode - 1, low - 1, -1):
        term *= (j + 1.0) * (n_wrong - k + j + 1) / ((n_correct - j) * (k - j))
        if j >= 1 and j / k >= tau:
            enough += term
        else:
            too_few += term
    return enough / (enough + too_few)


@helper
def _variance(n_marked: int, n_samples: int, k: int) -> float:
    """Estimate the variance of `_none_of` over answers: h(k)**2 - h(2 k), >= 0."""
    if n_samples < 2 * k:
        return math.nan
    if n_marked + 2 * k > n_samples:
        return square(_none_of(n_marked, n_samples, k))
    # h(k)**2 / h(2 k) is a product of (1 - x)**2 / (1 - 2 x) = 1 + x**2 / (1 - 2 x).
    log_ratio = 0.0
    for j in range(n_marked):
        rest = n_samples - j
        log_ratio += math.log1p((k / rest) * k / (rest - 2 * k))
    return _none_of(n_marked, n_samples, 2 * k) * math.expm1(log_ratio)


@kernel
def pass_at_k_variance(n_correct: int, n_samples: int, k: int) -> float:
    """Variance of an item's pass@k from one set of answers to the next.

    Parameters
    ----------
    n_correct : int
        Right answers to the item.
    n_samples : int
        All answers to the item, at least 2 k.
    k : int
        At least 1.

    Returns
    -------
    float
        Unbiased and >= 0: h(k)**2 - h(2 k), where h(r) is the chance that r answers are
        all wrong; NaN where ``k`` or a count is out of range.

    Examples
    --------
    >>> from fastcmp.kernels import pass_at_k_variance
    >>> round(pass_at_k_variance(3, 8, 1), 6), round(3 * 5 / (8**2 * 7), 6)
    (0.033482, 0.033482)
    """
    if not _is_sample(n_correct, n_samples, k):
        return math.nan
    return _variance(n_correct, n_samples, k)


@kernel
def pass_hat_k_variance(n_correct: int, n_samples: int, k: int) -> float:
    """Variance of an item's pass^k from one set of answers to the next.

    Parameters
    ----------
    n_correct : int
        Right answers to the item.
    n_samples : int
        All answers to the item, at least 2 k.
    k : int
        At least 1.

    Returns
    -------
    float
        Unbiased and >= 0: h(k)**2 - h(2 k), where h(r) is the chance that r answers are
        all right; NaN where ``k`` or a count is out of range.

    Examples
    --------
    >>> from fastcmp.kernels import pass_hat_k_variance
    >>> round(pass_hat_k_variance(6, 9, 3), 6)
    0.044785
    """
    if not _is_sample(n_correct, n_samples, k):
        return math.nan
    return _variance(n_samples - n_correct, n_samples, k)


@kernel
def pass_many(
    which: int, n_correct: IntArray, n_samples: IntArray, k: int, tau: float, out: FloatArray
) -> None:
    """Write one of the functions of this module, of arrays of shape (n,).

    `tau` is read for `G_PASS_AT_K` only.
    """
    for i in range(out.size):
        correct, samples = n_correct[i], n_samples[i]
        if which == PASS_AT_K:
            out[i] = pass_at_k(correct, samples, k)
        elif which == PASS_HAT_K:
            out[i] = pass_hat_k(correct, samples, k)
        elif which == G_PASS_AT_K:
            out[i] = g_pass_at_k(correct, samples, k, tau)
        elif which == PASS_AT_K_VARIANCE:
            out[i] = pass_at_k_variance(correct, samples, k)
        else:
            out[i] = pass_hat_k_variance(correct, samples, k)
