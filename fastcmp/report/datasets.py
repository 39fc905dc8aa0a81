"""Contents of records over data sets: maps of scores, and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastcmp.core.records import less_is_better
from fastcmp.pictures import ranks_within
from fastcmp.report.blocks import Block, Text
from fastcmp.report.boards import blocks_of_pairs
from fastcmp.report.charts import MOST_COLUMNS, bars, score_map, shaded, slice_map
from fastcmp.report.scores import MOST_ROWS
from fastcmp.report.two_models import HOW, with_said

if TYPE_CHECKING:
    from fastcmp.crossval.comparison_result import CVDatasetsResult
    from fastcmp.datasets.bayesian import BayesComparison, BayesPairs
    from fastcmp.datasets.comparison import DatasetsResult
    from fastcmp.datasets.normalised import NormalisedScores
    from fastcmp.datasets.task_draws import LeftOutTasks
    from fastcmp.pairwise.slices_result import SlicesResult


def datasets(record: DatasetsResult) -> list[Block]:
    """Add the map of scores and the test of all models to what all pairs have."""
    omnibus = [
        Text(title="All models together", section=section)
        for section in record.omnibus.sections()[:1]
    ]
    order = np.argsort(np.nanmean(record.ranks, axis=1), kind="stable").tolist()
    scores = score_map(
        record.scores[order],
        record.ranks[order],
        names=[record.names[m] for m in order],
        tasks=record.tasks,
    )
    blocks_added = [block for block in (scores, *omnibus) if block is not None]
    blocks = blocks_of_pairs(record)
    titles = [block.title for block in blocks]
    end = titles.index(HOW) if HOW in titles else len(titles)
    return [*blocks[:end], *blocks_added, *blocks[end:]]


def slices(record: SlicesResult) -> list[Block]:
    """Draw models by slices, in place of the table of their means."""
    drawn = slice_map(record)
    return with_said(record, drawn, without=None if drawn is None else "Means")


def normalised(record: NormalisedScores) -> list[Block]:
    """Draw scores between the worst and the best of each data set."""
    values = record.minmax
    picture = shaded(
        values,
        values,
        names=record.names,
        tasks=record.tasks,
        title="From the worst to the best of each data set",
        says="1 is the best score of a data set, 0 the worst; the darker, the better.",
    )
    return with_said(record, picture)


def left_out(record: LeftOutTasks) -> list[Block]:
    """Draw the ranks of the best models without each task."""
    order = np.argsort(record.rank, kind="stable")[:MOST_COLUMNS].tolist()
    ranks = record.ranks.T[order].astype(np.float64)
    picture = shaded(
        ranks,
        1.0 - (ranks - 1.0) / max(len(record.names) - 1, 1),
        names=[record.names[m] for m in order],
        tasks=record.tasks,
        what="without",
        form=".3g",
        best=ranks != record.rank[order][:, None],
        title="Ranks without each task",
        says="Bold: another rank than with all tasks.",
    )
    return with_said(record, picture)


_KINDS = ("a", "both", "b")


def bayes(record: BayesComparison) -> list[Block]:
    """Draw the probabilities that one model is better, or both are alike."""
    a, b = record.names
    parts = (record.p_a, record.p_rope, record.p_b)
    heads = ("", f"{a} better", "equal in practice", f"{b} better")
    picture = bars(
        [("probability", parts, [f"{x:.3f}" for x in parts])],
        title="Probabilities",
        heads=heads,
        kinds=_KINDS,
    )
    return with_said(record, picture)


def bayes_pairs(record: BayesPairs) -> list[Block]:
    """Draw the same of all pairs, the surest first."""
    sure = np.maximum(np.maximum(record.p_a, record.p_b), record.p_rope)
    rows = []
    for p in np.argsort(-sure, kind="stable")[:MOST_ROWS].tolist():
        i, j = record.pairs[p].tolist()
        parts = [float(x[p]) for x in (record.p_a, record.p_rope, record.p_b)]
        label = f"{record.names[i]} and {record.names[j]}"
        rows.append((label, parts, [f"{x:.3f}" for x in parts]))
    picture = bars(
        rows,
        title="Probabilities of pairs",
        heads=("pair", "the first better", "equal in practice", "the second better"),
        kinds=_KINDS,
        says="Each probability is about its pair alone.",
    )
    return with_said(record, picture)


def several(record: CVDatasetsResult) -> list[Block]:
    """Draw the scores of models on each data set."""
    losses = record.scores if less_is_better(record) else -record.scores
    scores = score_map(record.scores, ranks_within(losses), names=record.names, tasks=record.tasks)
    return with_said(record, scores)
