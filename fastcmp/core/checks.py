"""What a user passes: checked, or refused by the name of the argument."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadTypeError, BadValueError, Spelled
from fastcmp.core.typing import Floats, Ints
from fastcmp.kernels.status import GREATER, LESS, TWO_SIDED

#: Above it a float64 no longer holds every whole number.
LARGEST_COUNT = 2**53
#: Seeds lie below it.
LARGEST_SEED = 2**62
#: Draws that a user may ask for; more would take days.
MOST_RESAMPLES = 10**8


def as_numbers(raw: object, name: str, what: str = "numbers") -> NDArray[Any]:
    """Convert to an array of integers or floats."""
    if type(raw) is not np.ndarray and np.ma.is_masked(raw):
        raise BadTypeError(f"`{name}` must be {what}", "a masked array with missing entries")
    try:
        array = np.asarray(raw)
    except ValueError:
        raise BadTypeError(f"`{name}` must be {what}", "lists of different lengths") from None
    if array.dtype.kind not in "iuf":
        raise BadTypeError(f"`{name}` must be {what}", f"{array.dtype} values")
    return array


def as_weights(raw: object, name: str, n: int, what: str = "item") -> Floats:
    """Convert the weights of n items, finite and at least 0, to float64."""
    weights = as_numbers(raw, name).astype(np.float64)
    if weights.shape != (n,):
        raise BadValueError(f"`{name}` must be of shape ({n},)", weights.shape)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise BadValueError(
            f"`{name}` must be finite and >= 0",
            f"{weights[bad[0]]} for {what} {bad[0]} ({bad.size} in all)",
        )
    return weights


def as_counts(raw: object, name: str) -> Ints:
    """Convert whole numbers, also floats without a fraction, to int64; a copy."""
    if isinstance(raw, int) and raw > LARGEST_COUNT:  # NumPy might make it an object
        raise BadValueError(f"`{name}` must be at most 2**53", raw)
    array = as_numbers(raw, name, "whole numbers")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "i" and array.itemsize == 8:  # without signs, negative ones are large
        if array.view(array.dtype.str.replace("i", "u")).max() <= LARGEST_COUNT:
            return array.astype(np.int64)
    elif array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        bad = array[~(array == np.trunc(array))].flat[0]
        raise BadValueError(f"`{name}` must be whole numbers", bad)
    if array.min() < 0:
        raise BadValueError(f"`{name}` must not be negative", array.min())
    if array.max() > LARGEST_COUNT:
        raise BadValueError(f"`{name}` must be at most 2**53", array.max())
    return array.astype(np.int64)


def as_cells(**numbers: object) -> list[int]:
    """Check one whole number each, all together at most 2**53."""
    cells = []
    for name, raw in numbers.items():
        array = as_counts(raw, name)
        if array.ndim:
            raise BadTypeError(f"`{name}` must be one number", f"shape {array.shape}")
        cells.append(int(array))
    if sum(cells) > LARGEST_COUNT:
        raise BadValueError(f"`{' + '.join(numbers)}` must be at most 2**53", sum(cells))
    return cells


def check_total(counts: Ints, name: str, n_axes: int) -> None:
    """Refuse tables, of the last `n_axes` axes, that add up to more than 2**53."""
    axes = tuple(range(counts.ndim - n_axes, counts.ndim))
    cells = int(np.prod(counts.shape[counts.ndim - n_axes :]))
    if int(np.max(counts, initial=0)) * cells <= LARGEST_COUNT:
        return  # the usual case, at the speed of memory
    totals = counts.sum(axis=axes, dtype=np.float64)
    if np.max(totals, initial=0.0) > LARGEST_COUNT:
        raise BadValueError(f"`{name}` must add up to at most 2**53", f"{np.max(totals):.6g}")


def as_whole(value: object, name: str, least: int) -> int:
    """Check a whole number that must be at least `least`."""
    demand = f"must be a whole number >= {least}"
    if isinstance(value, bool) or not isinstance(value, (int, Integral)):
        raise BadTypeError(f"`{name}` {demand}", repr(value))
    if value < least:
        raise BadValueError(f"`{name}` {demand}", value)
    return int(value)


def check_size(n: int, name: str, what: str, least: int = 2, verb: str = "hold") -> None:
    """Refuse an argument that holds fewer than `least` of something."""
    if n < least:
        number, got = ("one", "none") if least == 1 else (least, n)
        raise BadValueError(f"`{name}` must {verb} at least {number} {what}", got)


def as_resamples(value: object, least: int = 1) -> int:
    """Check a number of draws, `n_resamples`."""
    n_resamples = as_whole(value, "n_resamples", least)
    if n_resamples > MOST_RESAMPLES:
        raise BadValueError(
            f"`n_resamples` must be at most {MOST_RESAMPLES:,}, which takes minutes to hours",
            f"{n_resamples:,}",
            ": with 10,000 draws a p-value of 0.05 has a standard error of 0.002",
        )
    return n_resamples


def as_flag(value: object, name: str) -> bool:
    """Check what is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise BadTypeError(f"`{name}` must be True or False", repr(value))
    return bool(value)


def as_seed(rng: object) -> int:
    """Make the seed of which all random numbers are a function.

    A number is the seed itself, so that the seed of a result repeats it; a generator is
    advanced; None takes a seed from the operating system.
    """
    if isinstance(rng, (int, Integral)) and not isinstance(rng, bool):
        if not 0 <= int(rng) < LARGEST_SEED:
            raise BadValueError("`rng` must be a whole number in [0, 2**62)", rng)
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        demand = "must be a whole number, a numpy.random.Generator or None"
        raise BadTypeError(f"`rng` {demand}", repr(rng))
    return int(np.random.default_rng(rng).integers(LARGEST_SEED))


class Draws(NamedTuple):
    """Random draws, and the seed that repeats them."""

    n: int
    seed: int


def as_number(value: object, name: str, what: str = "a number") -> float:
    """Check one number."""
    if type(value) is float:
        return value  # the usual case, at once
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise BadTypeError(f"`{name}` must be {what}", repr(value))
    return float(value)


def as_rate(value: object, name: str, ends: str = "[0, 1]") -> float:
    """Check one number between 0 and 1, without the ends that stand beside a round bracket."""
    rate = as_number(value, name, f"a number in {ends}")
    if not (0.0 < rate < 1.0 or (rate == 0 and ends[0] == "[") or (rate == 1 and ends[-1] == "]")):
        raise BadValueError(f"`{name}` must lie in {ends}", value)
    return rate


def as_proportion(value: object, name: str) -> float:
    """Check an error rate or a confidence level."""
    proportion = as_rate(value, name, "(0, 1)")
    if 1.0 - proportion == 1.0:  # which is the level of an interval
        raise BadValueError(f"`{name}` must be so large that 1 - {name} is below 1", value)
    return proportion


def as_finite(value: object, name: str, least: float = -np.inf, above: float = -np.inf) -> float:
    """Check a finite number that must be at least `least`, or above `above`."""
    number = as_number(value, name)
    if not math.isfinite(number) or number < least:
        demand = "finite" if least == -np.inf else f"finite and >= {least:g}"
        raise BadValueError(f"`{name}` must be {demand}", value)
    if number <= above:
        raise BadValueError(f"`{name}` must be above {above:g}", value)
    return number


def as_positive(value: object, name: str) -> float:
    """Check a number of samples, a ratio of two, or the like."""
    number = as_number(value, name)
    if not 0 < number < np.inf:
        raise BadValueError(f"`{name}` must be positive and finite", value)
    return number


def is_python_number(value: Any) -> bool:
    """Whether a value needs no array to be looked at, as most do not."""
    kind = type(value)
    return kind is float or (kind is int and -LARGEST_COUNT <= value <= LARGEST_COUNT)


def as_within(value: Any, name: str, low: float, high: float, ends: str = "[]") -> Any:
    """Check numbers in an interval with closed "[]" or open "()" ends, or "[)", "(]"; any shape."""
    if is_python_number(value) and low < value < high:
        return np.float64(value)
    numbers = as_numbers(value, name).astype(np.float64)
    inside = (numbers >= low) if ends[0] == "[" else (numbers > low)
    inside &= (numbers <= high) if ends[1] == "]" else (numbers < high)
    if not np.all(inside):
        bad = numbers[~inside].flat[0]
        percent = abs(bad) > 1 and high == 1 and low <= bad / 100 <= high
        advice = f": write {bad / 100:g} for {bad:g}%" if percent else ""
        interval = f"{ends[0]}{low:g}, {high:g}{ends[1]}"
        raise BadValueError(f"`{name}` must lie in {interval}", f"{bad:g}", advice)
    return numbers[()]


def as_level(value: object, alternative: str) -> float:
    """Check a confidence level, and give that of the two-sided interval to work out.

    The one bound of a one-sided interval at the level c is an end of the two-sided
    interval at 2 c - 1.
    """
    level = as_proportion(value, "confidence_level")
    if alternative == "two-sided":
        return level
    if level <= 0.5:
        demand = f"must be above 0.5 for a one-sided interval (`alternative={alternative!r}`)"
        raise BadValueError(f"`confidence_level` {demand}", value)
    return 2.0 * level - 1.0


def keep_side(
    ends: Iterable[Any], alternative: str, limits: tuple[float, float]
) -> tuple[Any, Any]:
    """Make a two-sided interval that of a one-sided test.

    "greater" keeps the lower end, "less" the upper one, as in SciPy; `limits` are the
    least and largest value of what is estimated, in place of the other end.
    """
    low, high = ends
    if alternative == "greater":
        high = np.where(np.isnan(low), low, limits[1])
    elif alternative == "less":
        low = np.where(np.isnan(high), high, limits[0])
    alone = isinstance(low, float) or not np.ndim(low)
    return (float(low), float(high)) if alone else (low, high)


def warn(message: str) -> None:
    """Warn at the line of the user's that called this package; arguments are in backticks."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("fastcmp"):
        level, frame = level + 1, frame.f_back
    warnings.warn(Spelled(message), UserWarning, stacklevel=level)


def check_classes(classes: object) -> None:
    """Refuse classes that are no sequence of labels."""
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise BadTypeError("`classes` must be a sequence of labels", repr(classes))


# Options that are words: spelled in any common way, known by one name here.


#: The alternatives of a test, with the code that kernels take.
ALTERNATIVES = {"two-sided": TWO_SIDED, "greater": GREATER, "less": LESS}

#: An option -> what SciPy, statsmodels, R, MATLAB and textbooks call it.
#: A synonym counts only where its option is among the known ones, so that "s" is no
#: adjustment where averages are asked for.
_SYNONYMS = {
    # alternatives
    "two-sided": ("2-sided", "two-tailed", "both", "unequal"),
    "greater": ("larger", "right"),
    "less": ("smaller", "left"),
    # adjustments
    "bonferroni": ("b", "bonf", "bonferroni-dunn"),
    "sidak": ("s", "dunn-sidak"),
    "holm": ("h", "holm-bonferroni", "bonferroni-holm"),
    "holm-sidak": ("hs", "holland"),
    "hochberg": ("sh", "simes-hochberg"),
    "hommel": ("ho",),
    "bh": ("fdr", "fdr_bh", "fdr_i", "fdr_p", "bhfdr", "benjamini-hochberg"),
    "by": ("fdr_by", "fdr_n", "fdr_c", "fdrcorr", "benjamini-yekutieli"),
    "shaffer": ("s1", "shaffer-static", "static-shaffer"),
    "bergmann-hommel": ("bergmann", "bergmann-and-hommel"),
    "maxt": ("westfall-young", "wy", "step-down-maxt", "free", "romano-wolf"),
    "single-step": ("single-step-maxt", "maxt-single-step"),
    # tests
    "exact": ("binomial",),
    "asymptotic": ("chi2", "chisq", "chi-square", "chi-squared"),
    "corrected": ("continuity", "yates", "edwards"),
    "unconditional": ("suissa-shuster",),
    "chi-square": ("chi2", "chisq", "chi-squared"),
    "miettinen-nurminen": ("mn", "score"),
    "boschloo": ("boschloo-exact",),
    "barnard": ("z-pooled", "pooled", "barnard-exact", "chan"),
    "barnard-unpooled": ("z-unpooled", "unpooled"),
    "likelihood": ("likelihood-ratio", "lr", "lrt"),
    # intervals
    "wald": ("normal", "asymptotic"),
    "connor": ("normal",),
    "right-direction": ("right-direction-only", "right-tail", "one"),
    "newcombe": ("newcomb", "newcombe10", "method10"),
    "tango": ("score", "tango-score", "nam"),
    "score": ("tango", "nam"),
    "wilson": ("score",),
    "clopper-pearson": ("exact", "beta"),
    "profile": ("likelihood", "profile-likelihood"),
    # means of values
    "t": ("ttest", "t-test", "paired-t", "student"),
    "permutation": ("sign-flip", "sign-flips", "randomization", "randomisation"),
    "wilcoxon": ("signed-rank", "wsr"),
    # measures, averages and criteria
    "sensitivity": ("recall", "tpr"),
    "specificity": ("tnr",),
    "ppv": ("precision", "positive-predictive-value"),
    "false_positive_rate": ("fpr", "fall-out"),
    "likelihood_ratio_positive": ("lr+", "lr-plus", "plr"),
    "likelihood_ratio_negative": ("lr-minus", "nlr"),
    "selection": ("selection-rate", "positive-rate", "acceptance-rate", "demographic-parity"),
    "tpr": ("true-positive-rate", "sensitivity", "recall", "equal-opportunity"),
    "fpr": ("false-positive-rate", "fall-out"),
    "tnr": ("true-negative-rate", "specificity"),
    "fnr": ("false-negative-rate", "miss-rate"),
    "npv": ("negative-predictive-value",),
    "equalised-odds": (
        *("equalized-odds", "equalised-odds-difference", "equalized-odds-difference"),
    ),
    "error": ("error-rate",),
    "linear": ("equal-spacing", "equal"),
    "quadratic": ("squared", "fleiss-cohen"),
    "ratio": ("log", "log-ratio"),
    "ovr": ("one-vs-rest", "one-vs-all"),
    "ovo": ("one-vs-one",),
    "closest-topleft": ("topleft",),
    # calibration
    "brier": ("brier-score",),
    "log_loss": ("log-score", "logarithmic"),
    "plug-in": ("pav", "corp"),
    "width": ("equal-width", "uniform"),
    "mass": ("equal-mass", "equal-frequency", "quantile"),
    "values": ("distinct-values",),
    "top-label": ("confidence",),
    # judges and slices
    "model": ("optimal",),
    "slope": ("regression", "greg"),
    "ppi": ("ppi++",),
    "horvitz-thompson": ("ht", "active-inference"),
    "delta": ("wald",),
    "paule-mandel": ("pm",),
    "dersimonian-laird": ("dl", "dersimonian-and-laird"),
    # answers to an item
    "mean": ("average", "avg", "avg@k"),
    "pass@k": ("pass-at-k",),
    "pass^k": ("pass-hat-k",),
}


def are_counts_given(
    data: dict[str, Any],
    counts: dict[str, Any],
    of_data: dict[str, Any] | None = None,
    of_counts: dict[str, Any] | None = None,
) -> bool:
    """Whether counts take the place of data; both, neither, or options of the other are refused."""
    name = None
    for key, table in counts.items():
        if table is not None:
            name = key
            break
    data_names = []
    for key, value in data.items():
        if value is not None:
            data_names.append(key)  # twice as fast as a list without a loop
    if name is None:
        if len(data_names) < len(data):
            table_name = next(iter(counts))
            absent = " and ".join(key for key in data if key not in data_names)
            raise BadTypeError(
                f"{absent} must be given", remedy=f": pass {', '.join(data)}, or `{table_name}=`"
            )
        for key, value in (of_counts or {}).items():
            if value is not None:
                raise BadValueError(
                    f"`{key}=` goes with `{next(iter(counts))}=`, which is not given"
                )
        return False
    data_names += [f"{key}=" for key, value in (of_data or {}).items() if value is not None]
    if data_names:
        raise BadTypeError(f"`{data_names[0]}` and `{name}=` exclude each other: pass one of them")
    return True


def choose(value: object, name: str, choices: Collection[Any]) -> Any:
    """The known option that a user means, however it is spelled.

    `choices` holds names, and perhaps None; a ValueError lists them where `value` is none
    of them.
    """
    if (value is None or isinstance(value, str)) and value in choices:
        return value  # the usual case, at once
    if isinstance(value, str):
        words = [word for word in choices if isinstance(word, str)]
        for spellings in ({word: (word,) for word in words}, _SYNONYMS):
            for word in words:
                if _plain(value) in map(_plain, spellings.get(word, ())):
                    return word
    raise BadValueError(f"`{name}` must be one of", repr(value), choices=choices)


def _plain(word: str) -> str:
    """Leave out case and what separates words."""
    return "".join(letter for letter in word.lower() if letter not in "-_. '")
