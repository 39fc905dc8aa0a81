"""The tests that can be planned: name -> module with its `FAMILY`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastcmp.core.options import choose

if TYPE_CHECKING:
    from fastcmp.planning.family import Family

_MODULES = {
    "mcnemar": "fastcmp.planning.mcnemar",
}
TESTS = tuple(_MODULES)


def family_of(test: Any) -> tuple[str, Family]:
    """Give the known name of a test, and its family."""
    name = choose(test, "test", TESTS)
    return name, import_module(_MODULES[name]).FAMILY
