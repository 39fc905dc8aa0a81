"""Page and data of the study of decisions: docs/studies/decisions.*."""

from __future__ import annotations

import csv
from pathlib import Path
from textwrap import fill

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
COLUMNS = ("part", "setting", "n", "how", "rate", "runs", "seed")
HEAD = """### Planning and deciding: how often the tests err

At the level 5%, in per cent. Enumerated: all possible data sets where H0 is just true,
and the largest rate over the accuracies, on a grid of 1,001 values with both ends."""
PARTS = {
    "margins": """**Accuracies on the same samples, against a margin**, one-sided. Not
    worse: of H0 that a is worse by the margin. Better by more: of H0 that it is better
    by just the margin.""",
    "metrics": """**Metrics on the same samples, against a margin of 0.1**: a is worse than b
    by just the margin, as it misses more positives (for precision: it has more false
    alarms). Recall by the exact or the score test of the positives, the others by Dirichlet
    draws with the worst possible sample added. Model b has the recall 0.9 and the
    specificity 0.98.""",
    "unpaired": "**Accuracies on different samples.** Equality is tested two-sided.",
    "looks": """**Thirty looks at a growing set of samples**, one each 40 samples. False
    at any look: intervals of `mcnemar_looks`, E of 20 or more, and mid-p; mid-p at the
    last look alone.""",
    "family": "**All pairs of eight models.** Any pair significant.",
    "best": """**Eight models.** Rank sets: any of them false. Best set: without the
    best model (the first of equal ones). Winner: intervals without the accuracy of the
    model that won; as it came and corrected, estimates that are too high.""",
    "winner": """**The best of equal models, by answers that are right or wrong** (with a
    latent correlation of 0.5): 95% intervals of `winner_estimate` without its accuracy,
    above or below it, and those that ignore that it was picked.""",
    "numbers": """**Equal models with normal values.** Rank sets and model confidence
    sets: any model left out. Best set: without the first.""",
    "units": """**Clusters and weights, against a margin**: false claims that a is not
    worse, of H0 that it is worse by just the margin; b is right on all samples. t: by the
    standard error (CR2; of weighted samples the usual one), as it was once. Not worse: by
    Gaffke's bound, as it is. Ten clusters are of 20 samples, others of 1 to 49. Of fewer
    clusters than 36 (margin 0.08) or 14 (0.2) nothing is claimed, whatever they hold; the
    largest counts as one. Of the samples with weights a fifth have half of all weight.""",
    "planned": "**Power of McNemar's mid-p test**, by `planning.power` and simulated.",
}


def read(path=None):
    """Read the data: rate and runs, by part, setting, n and what was counted."""
    with (path or FOLDER / "decisions.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {tuple(row[:4]): (float(row[4]), int(row[5])) for row in rows}


def table(found, part):
    """Lines of one part: a row for each setting and n, a column for what was counted.

    Of many settings a row has all n, and a cell what was counted, in order.
    """

    def percent(*key):
        return f"{100 * found[key][0]:.1f}" if key in found else ""

    keys = [key for key in found if key[0] == part]
    settings, sizes, hows = (list(dict.fromkeys(key[i] for key in keys)) for i in (1, 2, 3))
    wide = len(settings) > 10
    columns = sizes if wide else ["n", *hows]
    yield f"| {' / '.join(hows) if wide else ''} | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    if wide:
        for setting in settings:
            cells = [" / ".join(percent(part, setting, n, how) for how in hows) for n in sizes]
            yield f"| {' | '.join([setting, *(cell.strip(' /') for cell in cells)])} |"
        return
    for row in dict.fromkeys(key[:3] for key in keys):
        yield f"| {' | '.join([*row[1:], *(percent(*row, how) for how in hows)])} |"


def page(found):
    """Write the page."""
    lines = [HEAD, ""]
    for part, title in PARTS.items():
        runs = next(value[1] for key, value in found.items() if key[0] == part)
        how, rate = "Enumerated.", 0.8 if part == "planned" else 0.05
        if runs:
            error = 100 * (rate * (1 - rate) / runs) ** 0.5
            how = f"{runs:,} data sets: {rate:.0%} has a standard error of {error:.1f}."
        text = fill(" ".join(f"{title} {how}".split()), 88)
        lines += [text, "", *table(found, part), ""]
    return "\n".join([*lines, "Made by `python -m benchmarks.studies decisions`.", ""])


def write(rows, folder=FOLDER):
    """Write the data and the page."""
    rows = [(*row[:4], f"{row[4]:.6g}", *row[5:]) for row in rows]
    with (folder / "decisions.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    (folder / "decisions.md").write_text(page(read(folder / "decisions.csv")))
