"""The command line: from prediction files to an answer."""

from fastcmp.cli.program import main, run

__all__ = ["main", "run"]
