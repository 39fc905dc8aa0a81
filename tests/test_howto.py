"""The how-tos have one order of headings, and name functions that there are."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.public_names import MODULES

PAGES = sorted((Path(__file__).parents[1] / "docs" / "howto").glob("*.md"))
#: Headings of the second level, in their order; a page has those that it needs.
HEADINGS = (
    *("In short", "What the output says", "Variants", "On the command line", "Pitfalls"),
    *("How it works", "See also"),
)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem
)
def test_headings_have_one_order(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^## (.*)", text, re.MULTILINE)
    assert found == [heading for heading in HEADINGS if heading in found]
    assert {"In short", "See also"} <= {*found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_are_public(page):
    items = page.read_text().split("\n- ")
    line = next((item for item in items if item.startswith("Functions: ")), "")
    for name in re.findall(r"`(fastcmp\..*?)`", line):
        place, _, stem = name.rpartition(".")
        assert place in MODULES, name
        assert stem in import_module(place).__all__, name
