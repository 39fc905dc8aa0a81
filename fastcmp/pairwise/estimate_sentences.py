"""Sentences of the records that follow from estimates and their covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.sections import Section, format_pvalue

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 20  # models that are printed
_LISTED = 8


def basis(record: Any) -> str:
    """Say how many models there are, and on what."""
    n_models = getattr(record, "n_models", None) or len(record.names)
    text = f"{n_models} models"
    if record.n_items is not None:
        text += f" on {record.n_items} items"
    if record.n_clusters is not None:
        text += f" in {record.n_clusters} clusters"
    return text


def direction(record: Any) -> str:
    """Say that lower values are better, where they are."""
    return " Lower values are better." if record.lower_is_better else ""


def simulation(record: Any) -> str:
    """Say where critical values come from."""
    return (
        "Critical values take all correlations of the estimates into account: "
        f"{record.n_resamples} draws, seed {record.seed}."
    )


def listed(names: Sequence[str]) -> str:
    """List some names."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 2])} and {len(names) - _LISTED + 2} more"


def table(title: str, columns: dict[str, list[str]]) -> Section:
    """Make a table of the first models."""
    rows = list(zip(*columns.values(), strict=True))
    more = len(rows) - _SHOWN
    return Section(
        title=title,
        columns=tuple(columns),
        rows=tuple(rows[:_SHOWN]),
        notes=(f"... and {more} more models.",) if more > 0 else (),
    )


def beware(record: Any) -> list[Section]:
    """Say what makes the answer doubtful."""
    cautions = record.cautions
    return [Section(title="Cautions", text=cautions)] if cautions else []


def drawn(record: Any) -> str:
    """Say what statistics are compared with."""
    kind = "bootstrap draws"
    if record.distribution != "bootstrap":
        kind = f"draws from the {record.distribution} distribution"
    seed = "as given" if record.seed is None else f"seed {record.seed}"
    return f"P-values by {record.n_resamples} {kind}, {seed}."


def format_drawn(record: Any, pvalue: float) -> str:
    """Write a p-value; 0 where no draw of a bootstrap was above the statistic."""
    if pvalue == 0.0:
        return f"<{1.0 / record.n_resamples:.1e}"
    return format_pvalue(pvalue)
