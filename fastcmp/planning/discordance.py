"""What McNemar's test is planned from: p10 and p01, however they are known.

`p10` is the probability that only a is right, `p01` that only b is; `discordant` their
sum, `difference` p10 - p01, which is the accuracy of a minus that of b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastcmp.core.errors import BadValueError
from fastcmp.core.typing import Floats
from fastcmp.planning.families import Inputs, names_of

#: The keywords, and what each is.
KNOWN = {
    "p10": "probability that only a is right",
    "p01": "probability that only b is right",
    "difference": "accuracy of a minus that of b, beside discordant",
    "discordant": "probability that just one of a and b is right",
    "accuracy_a": "accuracy of a",
    "accuracy_b": "accuracy of b",
    "agreement": "probability that both are right or both wrong",
    "correlation": "of being right, Pearson's phi",
    "kappa": "of being right, Cohen's",
    "label_agreement": "probability that both give the same label",
}
_BESIDE = ("discordant", "agreement", "correlation", "kappa", "label_agreement")
#: Probabilities that fit together but for rounding are taken.
_ROUNDING = 1e-12
_NO_AGREEMENT = (
    "Nothing says how often a and b agree: the three answers, along the last axis, are "
    "for the fewest samples on which just one can be right, the midpoint, and the most."
)
_LABELS_AGREE = (
    "The agreement is of labels: two wrong labels may differ, so that just one model "
    "is right on fewer samples than assumed, and fewer samples may be enough."
)


class Discordance(NamedTuple):
    """Probabilities that just one of two models is right."""

    p10: Floats
    p01: Floats
    cautions: tuple[str, ...] = ()


def read_probabilities(inputs: Inputs) -> Discordance:
    """Read p10 and p01 from one of the known sets of keywords.

    Parameters
    ----------
    inputs : mapping of str to float or array-like
        ``p10`` and ``p01``; or ``difference`` and ``discordant``; or ``accuracy_a``
        and ``accuracy_b``, perhaps with one of ``discordant``, ``agreement``,
        ``correlation`` and ``kappa`` (all of being *right*), or ``label_agreement``,
        which is smaller than ``agreement`` if there are more than two classes: both
        may be wrong, and differ. Without any of them there are three answers, along a
        new last axis: for the smallest, the middle and the largest probability that
        just one is right.

    Returns
    -------
    Discordance
        Arrays of one shape.

    Raises
    ------
    ValueError
        If keywords are missing or too many, or probabilities do not fit together; the
        message names the possible range.
    """
    names = KNOWN.keys() & inputs.keys()
    if names == {"p10", "p01"}:
        return _from_cells(inputs)
    if names == {"difference", "discordant"}:
        gap = inputs.within("difference", -1, 1, closed=True)
        pd = inputs.proportion("discordant")
        _check_range(pd, np.abs(gap), 1.0 + 0 * gap, "discordant", lambda p: p)
        return _cells(gap, pd)
    beside = names - {"accuracy_a", "accuracy_b"}
    if len(names) - len(beside) == 2 and len(beside) <= 1 and beside <= set(_BESIDE):
        return _from_accuracies(inputs, next(iter(beside), None))
    raise BadValueError(
        "`p10=` and `p01=`, or `difference=` and `discordant=`, or `accuracy_a=` and "
        f"`accuracy_b=` with at most one of `{'=`, `'.join(_BESIDE)}=` must be given",
        names_of(names),
    )


def read_discordant(inputs: Inputs) -> Any:
    """Read how often just one of two models is right, where no difference is known."""
    names = inputs.passed(KNOWN)
    if names == ["discordant"]:
        return inputs.proportion("discordant")
    if names == ["agreement"]:
        return 1.0 - inputs.proportion("agreement")
    if names == ["p10", "p01"]:
        return _from_cells(inputs).p10 + _from_cells(inputs).p01
    raise BadValueError(
        "`discordant=`, `agreement=`, or `p10=` and `p01=` must be given to find a difference",
        names_of(names),
    )


def _from_cells(inputs: Inputs) -> Discordance:
    p10 = inputs.proportion("p10")
    p01 = inputs.proportion("p01")
    total = p10 + p01
    if np.any(total > 1.0 + _ROUNDING):
        raise BadValueError("`p10=` and `p01=` must add up to at most 1", f"{np.max(total):g}")
    p10, p01 = np.broadcast_arrays(p10, p01)
    return Discordance(p10.copy(), p01.copy())


def _cells(difference: Floats, discordant: Floats, cautions: tuple[str, ...] = ()) -> Discordance:
    """Cells of a discordant probability; rounding below 0 is cut off."""
    p10 = np.maximum((discordant + difference) / 2, 0.0)
    return Discordance(p10, np.maximum((discordant - difference) / 2, 0.0), cautions)


def _from_accuracies(inputs: Inputs, beside: str | None) -> Discordance:
    a = inputs.proportion("accuracy_a")
    b = inputs.proportion("accuracy_b")
    gap = a - b
    low, high = np.abs(gap), np.minimum(a + b, 2 - a - b)
    if beside is None:
        stacked = np.stack([low, (low + high) / 2, high], axis=-1)
        return _cells(gap[..., np.newaxis], stacked, (_NO_AGREEMENT,))
    least = -1 if beside in ("correlation", "kappa") else 0
    x = inputs.within(beside, least, 1, closed=True)
    # The discordant probability of x, and x of a discordant probability.
    if beside == "discordant":
        pd, back = x, lambda pd: pd
    elif beside == "correlation":
        root = np.sqrt(a * (1 - a) * b * (1 - b))
        if np.any(root == 0):
            raise BadValueError(
                "`correlation=` has no meaning where `accuracy_a=` or `accuracy_b=` is 0 or 1",
                remedy=": give `agreement=`",
            )
        free = a + b - 2 * a * b
        pd, back = free - 2 * root * x, lambda pd: (free - pd) / (2 * root)
    elif beside == "kappa":
        chance = a * b + (1 - a) * (1 - b)
        if np.any(chance == 1):
            raise BadValueError(
                "`kappa=` has no meaning where `accuracy_a=` and `accuracy_b=` are both 0 or "
                "both 1",
                remedy=": give `agreement=`",
            )
        pd, back = (1 - x) * (1 - chance), lambda pd: 1 - pd / (1 - chance)
    else:
        pd, back = 1 - x, lambda pd: 1 - pd
    if beside == "label_agreement":
        # Two labels that agree are both right or both wrong: an upper bound only.
        _check_range(pd, low, np.ones_like(high), beside, back)
        return _cells(gap, np.minimum(pd, high), (_LABELS_AGREE,))
    _check_range(pd, low, high, beside, back)
    return _cells(gap, pd)


def _check_range(
    discordant: Floats, low: Floats, high: Floats, name: str, back: Callable[[Floats], Floats]
) -> None:
    """Refuse what does not fit the accuracies, with the range that does."""
    wrong = (discordant < low - _ROUNDING) | (discordant > high + _ROUNDING)
    if not np.any(wrong):
        return
    arrays = (discordant, low, high, back(discordant), back(low), back(high))
    first = (array[wrong].flat[0] for array in np.broadcast_arrays(*arrays))
    pd, least, most, value, *ends = first
    raise BadValueError(
        f"`{name}` does not fit the accuracies: it must lie in [{min(ends):.6g}, {max(ends):.6g}]",
        f"{value:.6g}",
        f"; just one model is right on a proportion from {least:.6g} to {most:.6g} of the "
        f"samples, not {pd:.6g}",
    )
