"""The table of metrics in the documentation is that of the registry."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_its_maker_writes():
    made = runpy.run_path(str(ROOT / "benchmarks" / "make_metrics_table.py"))
    page = (ROOT / "docs" / "reference" / "metrics-table.md").read_text(encoding="utf-8")
    if page != made["page"]():  # no diff of the whole page
        pytest.fail("run python benchmarks/make_metrics_table.py", pytrace=False)
