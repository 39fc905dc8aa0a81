"""Groups of models of which no pair is significantly different, as a table."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

from fastcmp.core.escaping import visible
from fastcmp.core.sections import Section
from fastcmp.report.blocks import Text

if TYPE_CHECKING:
    from fastcmp.pairwise.result import PairwiseResult

#: Names that are written of a group; groups without letters, and names of these.
_MOST_NAMES, _MOST_GROUPS, _FEW_NAMES = 40, 12, 4


def subsets_of(result: PairwiseResult) -> Text | None:
    """List the groups of ties, best first; None where there is none of two models."""
    ties = result.groups
    groups = ties.groups
    if all(len(group) < 2 for group in groups):
        return None
    lettered = any(ties.letters)
    most = _MOST_NAMES if lettered else _FEW_NAMES
    rows = tuple(
        (
            ascii_lowercase[k] if lettered else str(k + 1),
            str(len(group)),
            _listed([visible(result.names[i]) for i in group], most),
        )
        for k, group in enumerate(groups if lettered else groups[:_MOST_GROUPS])
    )
    notes: tuple[str, ...] = ()
    if len(groups) > len(rows):
        notes = (f"... and {len(groups) - len(rows)} more groups: in Python, result.tie_groups.",)
    text = "No two models of a group are significantly different"
    text += f" at {result.alpha:g}; a model may be in several groups."
    if not ties.complete:
        text += " There are too many groups to find all: these are runs of the ranking."
    return Text(
        title="Groups of models that are not significantly different",
        section=Section(
            title="Groups of models",
            text=(text,),
            columns=("letter" if lettered else "group", "models", "best first"),
            rows=rows,
            notes=notes,
        ),
    )


def _listed(names: list[str], most: int) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
