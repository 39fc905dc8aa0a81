"""Run the command line as ``python -m fastcmp``."""

from __future__ import annotations

import sys

from fastcmp.cli import main

if __name__ == "__main__":
    sys.exit(main())
