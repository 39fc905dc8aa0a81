"""Options that are words: spelled in any common way, known by one name here."""

from __future__ import annotations

from typing import Any

from fastcmp.kernels.status import GREATER, LESS, TWO_SIDED

#: The alternatives of a test, with the code that kernels take.
ALTERNATIVES = {"two-sided": TWO_SIDED, "greater": GREATER, "less": LESS}

#: What SciPy, statsmodels, R and MATLAB call it -> what it is called here, both without
#: case, hyphens, underscores, dots and spaces.
_SYNONYMS = {
    "2sided": "twosided",
    "both": "twosided",
    "unequal": "twosided",
    "larger": "greater",
    "right": "greater",
    "smaller": "less",
    "left": "less",
    "fdrbh": "bh",
    "fdr": "bh",
    "benjaminihochberg": "bh",
    "fdrby": "by",
    "benjaminiyekutieli": "by",
    "bonf": "bonferroni",
    "b": "bonferroni",
    "s": "sidak",
    "h": "holm",
    "hs": "holmsidak",
    "sh": "hochberg",
    "simeshochberg": "hochberg",
    "ho": "hommel",
    "chi2": "chisquare",
    "chisq": "chisquare",
    "likelihoodratio": "likelihood",
    "lr": "likelihood",
    "percent": "percentile",
    "score": "tango",
    "edwards": "corrected",
    "continuity": "corrected",
    "binomial": "exact",
}


def choose(value: Any, name: str, known: Any) -> Any:
    """Find the known option that a user means, however it is spelled.

    `known` holds names, and perhaps None; a ValueError lists them where `value` is none
    of them.
    """
    if (value is None or isinstance(value, str)) and value in known:
        return value
    if isinstance(value, str):
        key = _plain(value)
        by_key = {_plain(each): each for each in known if isinstance(each, str)}
        for wanted in (key, _SYNONYMS.get(key)):
            if wanted in by_key:
                return by_key[wanted]
    message = f"{name} must be one of {tuple(known)}, got {value!r}"
    raise ValueError(message)


def _plain(word: str) -> str:
    """Leave out case and what separates words."""
    return "".join(letter for letter in word.lower() if letter not in "-_. '")
