"""A family's own inputs: which were passed, and which must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.options import choose
from fastcmp.planning.design import TAILS

if TYPE_CHECKING:
    from fastcmp.planning.family import Inputs, Question


#: The option of two-sided tests.
TAILS_INPUT = {"tails": "'both', or 'right-direction': which rejections count"}


def is_given(inputs: Inputs, name: str) -> bool:
    """Tell whether an input was passed."""
    return inputs.get(name) is not None


def needed(inputs: Inputs, name: str) -> Any:
    """Give an input, or refuse to go on without."""
    if not is_given(inputs, name):
        message = f"{name} must be given"
        raise ValueError(message)
    return inputs[name]


def passed(inputs: Inputs) -> dict[str, Any]:
    """Give what was passed, as it can be passed again."""
    given = {name: x for name, x in inputs.items() if x is not None}
    return {name: np.asarray(x) if _is_number(x) else x for name, x in given.items()}


def _is_number(value: Any) -> bool:
    return not isinstance(value, (str, bool, tuple)) and np.asarray(value).dtype != "O"


def read_tails(question: Question, inputs: Inputs) -> bool | None:
    """Tell whether rejections in both directions count; None where nothing is said."""
    tails = inputs.get("tails")
    if tails is None:
        return None
    if question.alternative != "two-sided" or question.hypothesis != "difference":
        message = f"tails={tails!r} is for two-sided tests of a difference"
        raise ValueError(message)
    return bool(choose(tails, "tails", TAILS) == "both")


def check_detectable(question: Question) -> None:
    """Refuse a difference that is to be shown equivalent."""
    if question.hypothesis == "equivalence":
        message = "detectable_difference has no answer for hypothesis='equivalence'"
        raise ValueError(message)
