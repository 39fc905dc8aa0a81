"""Load values that other programs computed; see ``reference/README.md``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "reference"
ALTERNATIVES = {"unequal": 0, "greater": 1, "less": -1}


@cache
def all_cases() -> list:
    """Return the cases of every file, in the order of the files' names."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        found += json.loads(path.read_text(encoding="utf-8"))
    return found


def cases(test: str) -> list:
    """Return the cases of one test."""
    found = [case for case in all_cases() if case["test"] == test]
    if not found:
        message = f"no reference case of {test!r} in {FOLDER}"
        raise LookupError(message)
    return found


def parametrize(test: str, not_offered: Mapping[str, str] | None = None) -> object:
    """Run a test function once for each case, as its argument `case`.

    A case with a key of `not_offered` among its options is skipped for the reason
    given there; a key that no case has is an error, so the list cannot go stale.
    """
    reasons = dict(not_offered or {})
    unused = set(reasons)
    parameters = []
    for case in cases(test):
        words = [v for v in case["options"].values() if not isinstance(v, (list, dict))]
        variant = next((v for v in words if v in reasons), None)
        unused.discard(variant)
        marks = [pytest.mark.skip(reason=reasons[variant])] if variant else []
        parameters.append(pytest.param(case, id=case["id"], marks=marks))
    if unused:
        message = f"no case of {test!r} has the option {sorted(unused)}"
        raise LookupError(message)
    return pytest.mark.parametrize("case", parameters)


def cells(case: dict) -> tuple[int, int, int, int]:
    """Return both_right, only_a, only_b and both_wrong."""
    table = case["input"]["table"]
    return (
        table["both_correct"],
        table["n10_only_model1_correct"],
        table["n01_only_model2_correct"],
        table["both_wrong"],
    )


def expected(case: dict, name: str) -> object:
    """Return an expected value that compares within its case's tolerance."""
    kind = "pvalue_atol" if name.startswith("pvalue") else "atol"
    tolerance = case["tolerance"]
    value = case["expected"][name]
    return pytest.approx(value, rel=tolerance["rtol"], abs=tolerance[kind])


def agree(case: dict, record: object, *names: str, **keys: str) -> None:
    """Hold fields of a record, of one pair, against what is expected; `keys` name others."""
    for field, key in [*zip(names, names, strict=True), *keys.items()]:
        found = np.squeeze(getattr(record, field)).tolist()
        assert found == expected(case, key), field
