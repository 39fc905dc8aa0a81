"""Work for the studies' workers, in a module that other processes find too."""

import time

import numpy as np


def rows_of(first, last):
    """Numbers that tell which replicate they belong to; one of them never is."""
    number = np.arange(first, last, dtype=float)
    return np.stack([number**2, np.where(number % 5 == 3, np.nan, number)], axis=1)


def fail_late(at, first, last):
    """Give rows like `rows_of`, or fail after a while."""
    if first <= at < last:
        time.sleep(0.2)
        message = "late"
        raise RuntimeError(message)
    return rows_of(first, last)
