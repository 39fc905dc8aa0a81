"""A format of logs for tests: parts that a test made by hand, one file a part."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from fastcmp.io.logs import recognition
from fastcmp.io.logs.format import LogFormat
from fastcmp.io.logs.part import LogPart

#: The parts of each file.
_PARTS: dict[Path, list[LogPart]] = {}
_ARRAYS = {
    "repeats": np.int32,
    "status": np.uint8,
    "attempts": np.int32,
    "item_hash": np.uint64,
    "prompt_hash": np.uint64,
}


def part(model="a", items=(0, 1, 2), values=(1.0, 0.0, 1.0), **more):
    """Make a part of a few answers."""
    items = list(items)
    whole = all(isinstance(item, int) for item in items)
    for name in _ARRAYS.keys() & more.keys():
        more[name] = np.array(more[name], _ARRAYS[name])
    given = {"task": "t", "metric": "acc", "source": Path("?")} | more
    return LogPart(
        model=model,
        items=np.array(items, np.int64) if whole else items,
        values=np.array(values, float),
        **given,
    )


def write(folder, *files):
    """Write a file for each part, or list of parts, named 0.log, 1.log, ..."""
    for old in folder.glob("*.log"):
        old.unlink()
    for i, parts in enumerate(files):
        path = folder / f"{i}.log"
        path.write_text("toy")
        listed = parts if isinstance(parts, list) else [parts]
        _PARTS[path] = [replace(each, source=path) for each in listed]
    return folder


def _holds(file):
    if file.head.startswith(b"toy"):
        return "values"
    return "beside" if file.head.startswith(b"beside toy") else ""


def _readings(files, options):
    def reading(path):
        def read():
            if path.read_text().endswith("broken"):
                message = f"{path}: line 3 is cut off"
                raise ValueError(message)
            for _ in range(10_000 if path.read_text().endswith("slow") else 0):
                time.sleep(0.001)
            found = _PARTS[path]
            wanted = options.metric
            return [each for each in found if wanted == each.metric] or found

        return read

    return [reading(file.path) for file in files if _holds(file) == "values"]


TOY = LogFormat(name="toy", title="Toy", holds=_holds, readings=_readings)
OTHER = LogFormat(
    name="lm_eval",
    title="Other",
    holds=lambda file: "values" if file.head.startswith(b"other") else "",
    readings=lambda *_: [],
)


def use(monkeypatch):
    """Know these formats only."""
    monkeypatch.setattr(recognition, "formats", lambda: [OTHER, TOY])
