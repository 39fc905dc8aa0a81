"""Make the coefficients of ``fastcmp/kernels/binomial.py``.

With X of Bin(n, 1/2), u = (n - 2k) / n and D the deviance at k, the kernel needs S in

    P(X < k) + P(X = k)/2 = erfc(sqrt(D))/2 + P(X = k) * u * S(u**2, 1/n).

S has an expansion in powers of r = 1/n, whose coefficients s_0, s_1, ... are smooth
functions of v = u**2. Here they are computed from S itself, to 60 digits:

1. at each of 20 Chebyshev points v of [0, 1/4], S is computed for 14 sample sizes, and
   the polynomial in r through them gives s_0(v), ..., s_7(v);
2. each s_k is interpolated in v, then again at only as many Chebyshev points as its
   degree in the kernel asks for. s_k counts with a weight of 200**-k at most, as the
   kernel sums outright below n = 200, so later coefficients need fewer digits.

Run it as ``python benchmarks/make_binomial_coefficients.py``; it takes 40 seconds and
writes the tuples as they stand in the kernel's source, the highest power of v first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import mpmath

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 60
LARGEST_V = mpmath.mpf(1) / 4  # u <= 1/2
N_POINTS = 20
SIZES = [600 * (i + 2) for i in range(14)]
DEGREES = [11, 10, 9, 8, 5, 5, 2, 2]


def remainder(v: mpmath.mpf, n: int) -> mpmath.mpf:
    """Return S(v, 1/n), for k = n (1 - sqrt(v)) / 2 whether or not k is whole."""
    u = mpmath.sqrt(v)
    k = n * (1 - u) / 2
    log_ways = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1)
    point = mpmath.exp(log_ways - mpmath.loggamma(n - k + 1) - n * mpmath.log(2))
    below = mpmath.betainc(n - k + 1, k, 0, mpmath.mpf(1) / 2, regularized=True)
    deviance = n * (u * mpmath.atanh(u) + mpmath.log1p(-v) / 2)
    normal = mpmath.erfc(mpmath.sqrt(deviance)) / 2
    return (below + point / 2 - normal) / (point * u)


def chebyshev_points(n_points: int) -> list[mpmath.mpf]:
    """Return the zeros of the Chebyshev polynomial, moved to [0, LARGEST_V]."""
    angles = [mpmath.pi * (2 * i + 1) / (2 * n_points) for i in range(n_points)]
    return [LARGEST_V * (1 + mpmath.cos(angle)) / 2 for angle in angles]


def interpolate(points: Sequence[mpmath.mpf], values: Sequence[mpmath.mpf]) -> list[mpmath.mpf]:
    """Return the polynomial through the points, the constant term first."""
    powers = mpmath.matrix([[x**j for j in range(len(points))] for x in points])
    return list(mpmath.lu_solve(powers, mpmath.matrix(values)))


def expand_in_sizes(v: mpmath.mpf) -> list[mpmath.mpf]:
    """Return s_0(v), s_1(v), ... for one v."""
    reciprocals = [mpmath.mpf(1) / n for n in SIZES]
    return interpolate(reciprocals, [remainder(v, n) for n in SIZES])


def make_coefficients() -> list[list[float]]:
    """Return the coefficients of s_0, ..., s_7 in powers of v."""
    with mpmath.workdps(DIGITS):
        points = chebyshev_points(N_POINTS)
        expansions = [expand_in_sizes(v) for v in points]
        coefficients = []
        for k, degree in enumerate(DEGREES):
            precise = interpolate(points, [terms[k] for terms in expansions])
            fewer = chebyshev_points(degree + 1)
            # polyval takes the highest power first.
            values = [mpmath.polyval(precise[::-1], v) for v in fewer]
            coefficients.append([float(c) for c in interpolate(fewer, values)])
    return coefficients


def main() -> None:
    """Write the coefficients as they stand in the kernel's source."""
    for k, terms in enumerate(make_coefficients()):
        lines = "".join(f"    {term!r},\n" for term in reversed(terms))
        sys.stdout.write(f"_S{k} = (\n{lines})\n")


if __name__ == "__main__":
    main()
