"""Run a study into docs/studies: ``python -m benchmarks.studies table5 ...``."""

from __future__ import annotations

import sys
from pathlib import Path

from fastcmp.cli import main

FOLDER = Path(__file__).parents[2] / "docs" / "studies"

if __name__ == "__main__":
    if sys.argv[1:] == ["decisions"]:
        from benchmarks.studies import decisions

        sys.exit(decisions.main())
    sys.exit(main(["study", *sys.argv[1:], "--folder", str(FOLDER)]))
