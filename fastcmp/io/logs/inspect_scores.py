"""Scores of an Inspect log: a part for each metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.io.logs.grades import grade
from fastcmp.io.logs.inspect_samples import short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastcmp.io.logs.inspect_run import Run
    from fastcmp.io.logs.inspect_samples import Sample

    #: Name of a scorer, and the key of its values where they are several.
    Source = tuple[str, str | None]

_OK, _ERROR, _UNSCORED = 0, 1, 2


@dataclass(slots=True)
class Column:
    """Values of one metric, in the order of the samples."""

    values: list[float] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)

    def add(self, value: float, status: int = _OK, reason: str = "") -> None:
        """Add the value of one sample, or why it has none."""
        if reason:
            self.reasons[len(self.values)] = reason
        self.values.append(value)
        self.status.append(status)


def sources(run: Run) -> dict[str, Source]:
    """Metrics of a run: names, and where their values stand.

    A scorer whose values are mappings has a metric for each key. It may say NaN
    instead of a mapping where it had nothing to score.
    """
    keys: dict[str, dict[str, None]] = {}
    plain: dict[str, None] = {}
    for sample in run.samples:
        for scorer, score in sample.scores.items():
            value = _value(score)
            if isinstance(value, dict):
                keys.setdefault(scorer, {}).update(dict.fromkeys(value))
            else:
                plain[scorer] = None
    found: list[Source] = [(scorer, None) for scorer in plain if scorer not in keys]
    found += [(scorer, key) for scorer, some in keys.items() for key in some]
    if not found:  # not one sample has a score
        found = [_stated(entry) for entry in run.results]
    short_names = [scorer if key is None else key for scorer, key in found]
    return {
        name if short_names.count(name) == 1 else "/".join(filter(None, source)): source
        for name, source in zip(short_names, found, strict=True)
    }


def _stated(entry: Mapping[str, Any]) -> Source:
    """Scorer and key that an entry of the results speaks of."""
    name = str(entry["name"])
    scorer = str(entry.get("scorer") or name)
    return scorer, None if scorer == name else name


def headline(run: Run, found: Mapping[str, Source]) -> tuple[str, str] | None:
    """Metric that the run names as its headline, and the name of the mean over items.

    None where it names none, or one that no sample has.
    """
    named = run.header["results"].get("headline") or run.spec.get("headline_metric")
    if not isinstance(named, dict):
        return None
    score, scorer = named.get("score"), named.get("scorer")
    for name, (its_scorer, key) in found.items():
        if scorer not in (None, its_scorer):
            continue
        if score in (None, its_scorer if key is None else key):
            return name, str(named.get("metric") or "")
    return None


def column(run: Run, source: Source) -> Column:
    """Values of one metric as numbers.

    Raises ValueError for grades that are unknown, and for several values in one.
    """
    scorer, key = source
    found = Column()
    known: dict[str, float] = {}
    for sample in run.samples:
        score = sample.scores.get(scorer)
        if sample.invalid:
            found.add(math.nan, _UNSCORED, sample.invalid)
        elif score is None:
            status = _ERROR if sample.error else _UNSCORED
            found.add(math.nan, status, sample.error or "no score")
        else:
            value = _value(score)
            if key is not None:
                value = _of_key(run, sample, source, value)
            if type(value) is str:
                if value not in known:
                    known[value] = _number(run, sample, source, value)
                value = known[value]
            elif type(value) is not float:
                value = _number(run, sample, source, value)
            if math.isfinite(value):
                found.add(value)
            else:
                _add_missing(run, sample, source, (value, score), found)
    return found


def _value(score: Any) -> Any:
    """Value of a score."""
    return score.get("value") if isinstance(score, dict) else score


def _of_key(run: Run, sample: Sample, source: Source, value: Any) -> Any:
    """Value of a key; None where there is none."""
    if isinstance(value, dict):
        return value.get(source[1])
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    raise ValueError(
        f"{_where(run, sample, source)}: {value!r}, but elsewhere this scorer gives "
        "several values by name"
    )


def _number(run: Run, sample: Sample, source: Source, value: Any) -> float:
    """Turn a value into a number, NaN for None."""
    if value is None:
        return math.nan
    if isinstance(value, int | float):  # bool too
        return float(value)
    if isinstance(value, str):
        found = grade(value)
        if found is not None:
            return found
        raise ValueError(
            f"{_where(run, sample, source)}: the grade {value[:40]!r} is unknown; "
            "wanted C, I, P, N, yes, no, true, false or a number; choose another "
            "metric, or score again"
        )
    raise ValueError(
        f"{_where(run, sample, source)}: wanted one value, got "
        f"{'a list' if isinstance(value, list) else type(value).__name__}; a list has "
        "no names that could be compared: choose another metric, or score again"
    )


def _add_missing(
    run: Run,
    sample: Sample,
    source: Source,
    given: tuple[float, Any],
    found: Column,
) -> None:
    """Add a sample whose value is NaN, or refuse it if it is infinite."""
    value, score = given
    if math.isinf(value):
        raise ValueError(f"{_where(run, sample, source)}: {value} is no value of an item")
    reason = ""
    if isinstance(score, dict):
        metadata = score.get("metadata")
        inner = metadata.get("reason") if isinstance(metadata, dict) else None
        reason = short(score.get("reason") or inner or score.get("explanation") or "")
    if sample.error:
        found.add(math.nan, _ERROR, sample.error)
    else:
        found.add(math.nan, _UNSCORED, reason or "NaN")


def _where(run: Run, sample: Sample, source: Source) -> str:
    """Begin a message on one score."""
    name = "/".join(filter(None, source))
    return f"{run.path}: sample {sample.item!r}, epoch {sample.epoch}, scorer {name!r}"


def stated_mean(run: Run, source: Source) -> float | None:
    """Mean of a metric as the run states it, where it is one."""
    scorer, key = source
    reducers = run.config.get("epochs_reducer")
    default = "mean" if reducers in (None, ["mean"]) else ""
    if run.config.get("epochs") in (None, 1):
        default = "mean"  # nothing to reduce
    for entry in run.results:
        same = _stated(entry) == (scorer, key)
        if same and (entry.get("reducer") or default) == "mean":
            metrics = entry.get("metrics")
            for name in ("accuracy", "mean"):
                found = metrics.get(name) if isinstance(metrics, dict) else None
                value = found.get("value") if isinstance(found, dict) else None
                if isinstance(value, int | float) and math.isfinite(value):
                    return float(value)
    return None


def mean_of_items(items: list[int | str], found: Column) -> tuple[float, bool]:
    """Mean over items of the mean over epochs, and whether all have as many."""
    scored = np.array(found.status) == _OK
    if not scored.any():
        return math.nan, True
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(str(item), len(index)) for item in items])
    values = np.array(found.values)[scored]
    counts = np.bincount(codes[scored], minlength=len(index))
    sums = np.bincount(codes[scored], values, minlength=len(index))
    some = counts > 0
    even = bool((counts[some] == counts[some][0]).all())
    return float((sums[some] / counts[some]).mean()), even
