"""Build the site: `python docs/build.py [FOLDER]`, into docs/_build/html by default."""

import sys
from pathlib import Path

from sphinx.cmd.build import main

DOCS = Path(__file__).parent


def build(folder: Path) -> int:
    """Build with warnings as errors; return the exit code."""
    cache = folder.with_name(folder.name + "-doctrees")
    options = ["-W", "-n", "--keep-going", "-q", "-j", "auto", "-d", str(cache)]
    return main([*options, "-b", "html", str(DOCS), str(folder)])


if __name__ == "__main__":
    chosen = sys.argv[1:]
    sys.exit(build(Path(chosen[0]) if chosen else DOCS / "_build" / "html"))
