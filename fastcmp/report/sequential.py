"""Contents of tests that may be looked at early: estimates and evidence by look."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastcmp import pictures
from fastcmp.pairwise.adjust import PROCEDURES
from fastcmp.pictures import Row
from fastcmp.report.blocks import Block, said
from fastcmp.report.boards import subsets_of
from fastcmp.report.charts import drawn, intervals
from fastcmp.report.matrix import matrix_of
from fastcmp.report.scores import MOST_ROWS, estimates
from fastcmp.report.two_models import HOW, with_said

if TYPE_CHECKING:
    from fastcmp.sequential.looks_result import LooksResult
    from fastcmp.sequential.mean_tests import MeanEvalueResult
    from fastcmp.sequential.pair_looks import PairLooksResult


def looks(record: LooksResult) -> list[Block]:
    """Draw the estimate with its interval, and the evidence, over the samples."""
    if len(record.n_samples) < 2:
        return with_said(record)
    estimates = pictures.estimates(record)
    blocks = () if estimates is None else (drawn(estimates),)
    return with_said(record, *blocks, drawn(pictures.evidence(record)))


def mean(record: MeanEvalueResult) -> list[Block]:
    """Draw a mean with its interval at every look."""
    numbers = (record.mean, record.low, record.high)
    level = f"{100 * record.confidence_level:.9g}% CI at every look"
    picture = estimates(
        "The mean", "Mean", ["mean"], numbers, f"mean, {level}", form=".4g", label="",
        marks=[(record.mean0, f"H0: {record.mean0:g}")],
    )  # fmt: skip
    return with_said(record, picture)


def pairs(record: PairLooksResult) -> list[Block]:
    """Show the decisions so far, and the evidence of pairs."""
    texts = said(record)
    last = [block for block in texts if block.title == HOW]
    first = [block for block in texts if block.title != HOW]
    pictures_or_none = [matrix_of(record.compared), subsets_of(record.compared)]
    blocks = [block for block in pictures_or_none if block is not None]
    return [*first, *blocks, *_strongest(record), *last]


def _strongest(record: PairLooksResult) -> list[Block]:
    """Draw the evidence of each pair, the strongest first."""
    order = np.argsort(-record.log_evalue_max, kind="stable")[:MOST_ROWS].tolist()
    significant, rows = record.significant, []
    for p in order:
        height = float(record.log_evalue_max[p]) / math.log(10.0)
        names = [record.names[m] for m in record.pairs[p].tolist()]
        decided = bool(significant[p])
        rows.append(
            Row(
                label=" and ".join(names),
                value=height,
                text=f"{height:.2f}",
                cells=("decided" if decided else "open",),
                kind="good" if decided else "",
            )
        )
    if not rows:
        return []
    several = f" With {PROCEDURES[record.adjust]} a pair needs more: it depends on the others."
    picture = intervals(
        rows,
        title="Evidence of pairs",
        axis="Largest evidence so far (log10 of the e-value)",
        heads=("pair", "log10 E", "decision"),
        marks=[(0.0, "no evidence"), (-math.log10(record.alpha), "1 / alpha")],
        says=f"One pair alone is decided at 1 / alpha = {1 / record.alpha:.4g}."
        + (several if len(rows) > 1 else ""),
    )
    return [picture]
