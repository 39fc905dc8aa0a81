"""Draws the pictures of concepts and of the README, and computes the numbers that pages quote.

    python docs/pictures/make.py [FOLDER]

Writes SVG files and `facts.json` beside this file, or into a folder: for each page the
phrases that hold a computed number. A test sees to it that the pages have them, and
that this script still writes the same. Fifteen seconds, mostly to compile.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from boards import leaderboard, overlap, ranks
from decide import margins, which_test
from facts import Found, found
from repeated import coverage, cross_validation, looking_early, multiplicity
from samples import clusters, pairing, sizes

DRAWN = (
    which_test,
    multiplicity,
    coverage,
    leaderboard,
    overlap,
    ranks,
    margins,
    pairing,
    clusters,
    cross_validation,
    looking_early,
    sizes,
)


def main(folder: Path) -> None:
    """Write everything."""
    numbers: Found = found()
    for draw in DRAWN:
        name = draw.__name__.replace("_", "-")
        (folder / f"{name}.svg").write_text(draw(numbers).to_svg(), encoding="utf-8")
    facts = json.dumps(numbers.phrases(), indent=2, ensure_ascii=False) + "\n"
    (folder / "facts.json").write_text(facts, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent)
