"""Kernels that a test calls run in both tiers, which must give the same bits.

A file of tests that imports the fixture has it for all of them.
"""

import time

import numpy as np
import pytest

from fastcmp import _jit

#: Calls of a kernel in a test of which both tiers are run, and the seconds of each as Python.
MOST, SECONDS = 20, 0.2


def same_bits(one, two):
    """Equal in type and bits; NaN may have any sign."""
    if isinstance(one, tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(same_bits, one, two))
    if isinstance(one, np.ndarray):
        if one.dtype != two.dtype or one.shape != two.shape:
            return False
        if one.dtype.kind != "f":
            return np.array_equal(one, two)
        equal = (one == two) & (np.signbit(one) == np.signbit(two))
        return bool((equal | (np.isnan(one) & np.isnan(two))).all())
    if type(one) is not type(two):
        return False
    return same_bits(np.array(one), np.array(two)) if isinstance(one, float) else one == two


def copies(args):
    """Copies of arrays, in tuples too."""
    if isinstance(args, tuple):
        values = map(copies, args)
        return type(args)(*values) if hasattr(args, "_fields") else tuple(values)
    return args.copy(order="K") if isinstance(args, np.ndarray) else args


@pytest.fixture(autouse=True)
def both_tiers(monkeypatch):
    """Run both tiers where Python takes no longer than a moment."""
    calls = {}

    def call(kernel, *args, **keywords):
        calls[kernel] = calls.get(kernel, 0) + 1
        mine, its = copies(args), keywords  # no kernel is called with arrays by keyword
        answer = kernel.compiled(*args, **keywords)
        if calls[kernel] > MOST:
            return answer
        clock = _jit._clock
        clock.seconds, clock.began = SECONDS, time.thread_time()
        clock.deadline = time.perf_counter() + SECONDS
        try:
            other = kernel._interpret(*mine, **its)
        except _jit._TooLong:
            return answer
        except (ArithmeticError, LookupError, TypeError, ValueError):
            calls["raised"] = calls.get("raised", 0) + 1  # machine code answers in its place
            return answer
        finally:
            clock.deadline = float("inf")
        assert same_bits(answer, other), (kernel.__name__, mine, answer, other)
        assert same_bits(args, mine), (kernel.__name__, "what it writes", args, mine)
        return answer

    with _jit.always_compiled():
        if not _jit.INTERPRETED:
            monkeypatch.setattr(_jit.Kernel, "__call__", call)
        yield
