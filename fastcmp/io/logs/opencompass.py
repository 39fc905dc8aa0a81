"""OpenCompass: results/<model>/<dataset>.json with details of each item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import STATUS, LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.tables import check_once, check_size, grade, read_json, template

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

_PART = re.compile(r"(.+)_(\d+)")
_STAMP = re.compile(r"\d{8}_\d{6}")
_UNSCORED = STATUS.index("unscored")
_GRADED = ("correct", "is_correct")


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    keys, folder = file.keys, file.path.absolute().parent.parent.name
    has_score = any(key.startswith(("accuracy", "score")) for key in keys)
    if "details" in keys and (has_score or folder == "results"):
        return "values"
    if "0" in keys and folder != "results":
        return "beside" if b'"prediction"' in file.head else ""
    is_score = folder == "results" and has_score
    return "beside" if is_score else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read each data set, whose parts _0, _1, ... may be files of their own."""
    scored = {f.path.absolute(): f for f in files if _holds(f) == "values"}
    _check_scored(files, scored, options)
    sets: dict[tuple[Path, str], list[LogFile]] = {}
    for path, file in scored.items():
        found = _PART.fullmatch(path.stem)
        name = path.stem
        if found and _are_parts(path, found[1], scored):
            name = found[1]
        sets.setdefault((path.parent, name), []).append(file)

    def reading(folder: Path, name: str, own: list[LogFile]) -> Reading:
        return lambda: [_read(folder, name, own, options)]

    return [reading(folder, name, own) for (folder, name), own in sets.items()]


def _are_parts(path: Path, name: str, known: Mapping[Path, LogFile]) -> bool:
    """Tell whether there are parts 0 and 1, and no file of the whole."""
    whole, *parts = (path.with_name(f"{name}{x}.json") for x in ("", "_0", "_1"))
    return whole not in known and all(part in known for part in parts)


def _check_scored(
    files: Sequence[LogFile], scored: Mapping[Path, LogFile], options: LogOptions
) -> None:
    """Refuse data sets of which no file says which answers are right."""
    for file in files:
        path = file.path.absolute()
        if path in scored:
            continue
        stem = _PART.sub(r"\1", path.stem)
        folder = path.parents[2] / "results" / path.parent.name
        names = {path.stem, stem, f"{stem}_0"}
        wanted = options.tasks is None or names & set(options.tasks)
        if wanted and not any(folder / f"{name}.json" in scored for name in names):
            raise ValueError(
                f"{file.path} does not say which answers are right: OpenCompass writes "
                "that to results/<model>/<dataset>.json, under details, where it is "
                "asked to dump them (--dump-eval-details)"
            )


def _read(folder: Path, name: str, files: Sequence[LogFile], options: LogOptions) -> LogPart:
    files = sorted(files, key=lambda f: (len(f.path.stem), f.path.stem))
    rows: list[tuple[str, int, float, str | None]] = []
    stated: list[float] = []
    for i, file in enumerate(files):
        check_size(file, options.memory_limit)
        content = read_json(file.path)
        own = list(_rows(content.get("details"), file.path))
        if len(files) > 1 and {row[0] for row in own} & {row[0] for row in rows}:
            own = [(f"{i}:{row[0]}", *row[1:]) for row in own]
        rows += own
        stated.append(_accuracy(content) * len(own))
    items, repeats, values, answers = zip(*rows, strict=True)
    missing = np.isnan(values)
    run = folder.parents[1].name
    part = template(
        files[0].path,
        model=folder.name,
        task=name,
        metric="correct",
        items=list(items),
        values=np.array(values),
        repeats=np.array(repeats, np.int32) if any(repeats) else None,
        status=np.where(missing, _UNSCORED, 0).astype(np.uint8) if missing.any() else None,
        item_hash=fingerprint(answers) if any(answers) else None,
        hashed="answer",
        mean_stated=None if np.isnan(stated).any() else sum(stated) / len(rows),
        run=run,
        remarks=("OpenCompass: models are named by their folders",),
        created=run if _STAMP.fullmatch(run) else "",
    )
    check_once(part)
    return part


def _accuracy(content: Mapping[str, Any]) -> float:
    """The accuracy that the file states, which is in percent."""
    stated = content.get("accuracy")
    return float(stated) / 100 if isinstance(stated, (int, float)) else np.nan


def _rows(details: Any, path: Path) -> Iterator[tuple[str, int, float, str | None]]:
    """List item, replica, value and answer of the details, in either of their forms."""
    if isinstance(details, dict):
        found = [(k, v) for k, v in details.items() if isinstance(v, dict)]
    elif isinstance(details, list):
        found = [
            (str(v.get("example_abbr", i)) if isinstance(v, dict) else str(i), v)
            for i, v in enumerate(details)
        ]
    else:
        found = []
    for item, entry in found:
        right = _right(entry, item, path)
        answer = entry.get("answer", entry.get("gold", entry.get("references")))
        if isinstance(answer, list) and all(each == answer[0] for each in answer[1:]):
            answer = answer[0] if answer else None  # one a replica
        text = None if answer is None else json.dumps(answer, sort_keys=True)
        for repeat, value in enumerate(right):
            yield item, repeat, grade(value, path, "correct"), text
    if not found:
        raise ValueError(f"{path} holds no details of items")


def _right(entry: Any, item: str, path: Path) -> list[Any]:
    """Give whether the answers to an item are right, one a replica."""
    if isinstance(entry, dict):
        for key in _GRADED:
            if key in entry:
                found = entry[key]
                return found if isinstance(found, list) else [found]
    raise ValueError(
        f"{path}: the details of item {item} hold neither 'correct' nor 'is_correct': "
        "it is not said whether the answer is right"
    )


FORMAT = LogFormat(name="opencompass", title="OpenCompass", holds=_holds, readings=_readings)
