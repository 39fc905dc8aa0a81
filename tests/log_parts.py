"""Logs as `read_results` reads them: one model, task, subset and metric at a time."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fastcmp

FORMATS = Path(__file__).parent / "reference" / "formats"
EXAMPLES = {
    key: example
    for name in ("expected.json", "expected_runs.json")
    for key, example in json.loads((FORMATS / name).read_text())["examples"].items()
}
_STATUS = ("ok", "error", "unscored", "absent")


def parts_in(form, path, *, metric=None, task=None, **options):
    """Read each model by itself, so that models need not fit together."""
    more = {k: x for k, x in options.items() if k in ("filter", "ids", "values", "columns")}
    more |= {"format": form, "memory_limit": options.get("memory_limit"), "task": task}
    contents = fastcmp.inspect_results(path, metric=metric, **more)
    rows = zip(*(contents.answers[k] for k in ("model", "task", "metric")), strict=True)
    parts = []
    for model, name, own in dict.fromkeys(rows) or [(None, task, metric)]:
        chosen = {"models": model, "task": name or None, "metric": metric or own}
        chosen |= {"format": form, "errors": options.get("errors", "wrong")}
        results = fastcmp.read_results(path, **(options | chosen))
        parts += _split(results, own, results.remarks + contents.remarks)
    return parts


def _split(results, metric, remarks):
    for d, (task, subset) in enumerate(results.tasks):
        here = results.item_tasks == d
        cells = here[results.columns_items]
        status = np.zeros(cells.sum()) if results.status is None else results.status[0, cells]
        values = np.where(status == 0, results.answers[0, cells], np.nan)
        attempts = None if results.attempts is None else results.attempts[0, cells]
        yield SimpleNamespace(
            model=results.names[0],
            task=task,
            subset=subset,
            metric=metric,
            items=results.items[results.columns_items[cells]].tolist(),
            repeats=results.repeats[cells].tolist(),
            values=-values if results.negated[d] else values,
            status=status.astype(int).tolist(),
            attempts=attempts,
            clusters=None if results.clusters is None else results.clusters[here].tolist(),
            lower_is_better=results.negated[d],
            unit=results.unit,
            source=Path(results.sources[0][d]),
            said=" ".join(remarks),
        )


def rows_of(parts):
    """Write parts as the rows of `expected.json`, sorted; higher is better."""
    rows = []
    for part in parts:
        values = -part.values if part.lower_is_better else part.values
        for item, repeat, value in zip(part.items, part.repeats, values.tolist(), strict=True):
            row = {"task": part.task, "subset": part.subset, "metric": part.metric}
            row |= {"model": part.model, "item": str(item), "repeat": repeat, "value": value}
            rows.append(row)
    return sorted(rows, key=str)


def not_read(form, path, **options):
    """Names of the files that are not of a format."""
    ignored = fastcmp.inspect_results(path, format=form, **options).ignored
    return {Path(said.partition(" (")[0]).name for said in ignored}


def refusal(path, **options):
    """Why `read_results` refuses."""
    with pytest.raises(ValueError, match=r"\S") as refused:
        fastcmp.read_results(path, **options)
    return str(refused.value)
