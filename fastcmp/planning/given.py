"""A family's own inputs: which were passed, and which must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fastcmp.planning.family import Inputs, Question


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


def check_detectable(question: Question) -> None:
    """Refuse a difference that is to be shown equivalent."""
    if question.hypothesis == "equivalence":
        message = "detectable_difference has no answer for hypothesis='equivalence'"
        raise ValueError(message)
