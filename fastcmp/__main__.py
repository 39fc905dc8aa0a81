"""Run the command line as ``python -m fastcmp``."""

from __future__ import annotations

from fastcmp.cli import run

if __name__ == "__main__":
    run()
