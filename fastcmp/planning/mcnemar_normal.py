"""Normal approximations of the power of McNemar's test: closed forms, of arrays.

`gain` is the difference p10 - p01 in the direction that is tested, `pd` p10 + p01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fastcmp.planning.family import Floats

#: Connor (1987), Miettinen (1968, second order), Lachenbruch (1992).
METHODS = ("connor", "miettinen", "lachenbruch")


def normal_quantiles(level: Any, power: Any) -> tuple[Any, Any]:
    """Give the upper quantile of the test and that of the power."""
    from scipy.special import ndtri

    return -ndtri(level), ndtri(power)


def _spread(gain: Floats, pd: Floats, method: str) -> Floats:
    """Give the standard deviation under the alternative, which stands beside z."""
    square = {
        "connor": pd - gain**2,
        "miettinen": (pd**2 - gain**2 * (3 + pd) / 4) / np.where(pd > 0, pd, 1),
        "lachenbruch": pd,
    }[method]
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def power_of(n: Any, gain: Floats, pd: Floats, z: Any, method: str) -> Floats:
    """Power in the direction of `gain`."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        score = (np.sqrt(n) * gain - z * np.sqrt(pd)) / _spread(gain, pd, method)
    power = np.where(pd > 0, ndtr(np.nan_to_num(score, nan=0.0)), 0.0)
    return np.asarray(power)


def sample_size_of(
    gain: Floats, pd: Floats, z: Any, z_power: Any, method: str
) -> Floats:
    """Real number of samples; infinity where the gain is not positive."""
    root = z * np.sqrt(pd) + z_power * _spread(gain, pd, method)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = (np.maximum(root, 0.0) / gain) ** 2
    return np.asarray(np.where(gain > 0, n, np.inf))


def difference_of(n: Any, pd: Floats, z: Any, z_power: Any, method: str) -> Floats:
    """Gain that is found; NaN where even the largest possible, `pd`, is not.

    The root of the power's equation, which is quadratic in the gain.
    """
    level, spread = z * pd, z_power
    with np.errstate(invalid="ignore", divide="ignore"):
        if method == "lachenbruch":
            gain = (z + z_power) * np.sqrt(pd / n)
        elif method == "connor":
            root = np.sqrt(n + spread**2 - z**2)
            gain = np.sqrt(pd) * (z * np.sqrt(n) + spread * root) / (n + spread**2)
        else:
            slope, bend = np.sqrt(n * pd), (3 + pd) / 4
            root = np.sqrt(
                (slope * pd) ** 2 - bend * level**2 + bend * (spread * pd) ** 2
            )
            gain = (slope * level + spread * root) / (slope**2 + bend * spread**2)
        return np.asarray(np.where((gain <= pd) & (gain > 0), gain, np.nan))
