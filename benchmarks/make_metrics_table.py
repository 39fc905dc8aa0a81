"""Write ``docs/reference/metrics-table.md``, the metrics of the registry.

python benchmarks/make_metrics_table.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fastcmp import make_metric
from fastcmp.metrics.intervals import estimate_tables
from fastcmp.metrics.registry import METRICS, SYNONYMS, Entry

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "metrics-table.md"
#: A confusion matrix whose intervals show what is the default.
TABLE = np.array([[57.0, 4.0, 10.0], [3.0, 43.0, 6.0], [3.0, 2.0, 22.0]])
TWO = np.array([[157.0, 21.0], [8.0, 14.0]])

INTRODUCTION = """# The metrics

Written by `python benchmarks/make_metrics_table.py` from the registry; do not edit.
Every name here is one for `metric=`, with an average at its end where it takes one:
`"f1"`, `"f1_macro"`, `"f0.5_weighted"`. Case, spaces and hyphens do not matter, and
scikit-learn's names (`"f1_score"`, `"matthews_corrcoef"`) are known.

Of a class, d samples are predicted rightly, r are of it, and c are predicted as it, of
n in all; "sum" and "mean" are over classes. What divides 0 by 0 in a rate of a class is
`zero_division`; MCC is then 0, and all others are undefined. The interval is that of
one model where `method` is not given.
"""

HEAD = """
| metric | formula | from | to | averages | interval by default | needs | source |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def number(limit: float) -> str:
    """Write an end of a range."""
    return f"{limit:g}".replace("inf", "infinity")


def interval_of(name: str, average: str) -> str:
    """Tell how the interval of a metric is made by default."""
    options: dict[str, object] = {"average": average}
    options |= {"beta": 2.0} if name == "fbeta" else {}
    table = TWO if average == "binary" and METRICS[name].averages else TABLE
    options |= {"cost": 1.0 - np.eye(len(table))} if name == "cost" else {}
    made = make_metric(name, **options)  # type: ignore[arg-type]
    (estimator,) = made.bind(range(len(table)))
    return estimate_tables(estimator, table[np.newaxis], 0.95)[0].method


def intervals(name: str, entry: Entry) -> str:
    """Tell the same of all averages: those that differ from the first by name."""
    averages = entry.averages or ("binary",)
    found = {average: interval_of(name, average) for average in averages}
    first = found[averages[0]]
    told = [first]
    for method in dict.fromkeys(found.values()):
        if method != first:
            which = ", ".join(each for each in averages if found[each] == method)
            told.append(f"{which}: {method}")
    return "; ".join(told)


def row(name: str, entry: Entry) -> str:
    """Write the line of a metric."""
    others = ", ".join(f"`{each}`" for each, known in SYNONYMS.items() if known == name)
    lower = ". Less is better" if entry.lower_is_better else ""
    cells = [
        f"`{name}`" + (f"<br>{others}" if others else ""),
        f"{entry.formula}{lower}",
        *map(number, entry.limits),
        ", ".join(entry.averages),
        intervals(name, entry),
        entry.needs,
        entry.source,
    ]
    return "| " + " | ".join(cells) + " |\n"


def page() -> str:
    """Write the page."""
    rows = [row(name, entry) for name, entry in METRICS.items()]
    return INTRODUCTION + HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
