"""An Inspect log, zip or JSON: its header and its samples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.io.logs import json_values
from fastcmp.io.logs.inspect_samples import Sample, sample
from fastcmp.io.logs.zips import Archive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: A sample in a file of its own, or the part of it that holds its scores (version 3).
_MEMBER = re.compile(r"samples/.+_epoch_\d+(\.json|/sample\.json)", re.DOTALL)
_NEWEST = 3


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    path: Path
    #: What the log says of itself: `eval`, `results`, ...
    header: Mapping[str, Any]
    #: Scores over all samples, in the form that logs have had since they can be many.
    results: tuple[Mapping[str, Any], ...]
    samples: list[Sample]

    @property
    def spec(self) -> Mapping[str, Any]:
        """What was run."""
        spec: Mapping[str, Any] = self.header["eval"]
        return spec

    @property
    def config(self) -> Mapping[str, Any]:
        """How it was run."""
        config = self.spec.get("config")
        return config if isinstance(config, dict) else {}


def read_run(path: Path, memory_limit: int, tasks: tuple[str, ...] | None) -> Run:
    """Read a log; of a task that is not wanted, no samples."""
    with path.open("rb") as file:
        zipped = file.read(4) == b"PK\x03\x04"
    if zipped:
        with Archive(path, memory_limit) as archive:
            header = _header(archive)
            run = _checked(path, header)
            if _wanted(run, tasks):
                scorer = str(run.results[0]["name"])
                run.samples.extend(_samples(archive, header, scorer))
    else:
        header = json_values.read(path, memory_limit)
        run = _checked(path, header)
        if _wanted(run, tasks):
            scorer = str(run.results[0]["name"])
            found = _listed(header.get("samples"))
            run.samples.extend(sample(entry, scorer, str(path)) for entry in found)
    if _wanted(run, tasks):
        _complete(run)
    return run


def _wanted(run: Run, tasks: tuple[str, ...] | None) -> bool:
    """Tell whether the user asked for the task."""
    return tasks is None or run.spec["task"] in tasks


def _header(archive: Archive) -> dict[str, Any]:
    """Parse header.json, which is written when a run ends."""
    if "header.json" not in archive.members:
        raise ValueError(
            f"{archive.path}: no header.json: the run has not finished, or crashed; "
            "finish it (inspect eval-retry), or move the file away"
        )
    found = json_values.parse(archive.read("header.json"), f"{archive.path}: header.json")
    return found if isinstance(found, dict) else {}


def _checked(path: Path, header: Any) -> Run:
    """Refuse a run that did not end well, or was not scored."""
    spec = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(spec, dict) or not all(
        isinstance(spec.get(key), str) and spec[key] for key in ("task", "model")
    ):
        raise ValueError(f"{path}: no Inspect log: wanted eval.task and eval.model")
    version = header.get("version")
    if isinstance(version, int) and version > _NEWEST:
        raise ValueError(f"{path}: version {version} of Inspect logs; those to {_NEWEST} are known")
    status = header.get("status")
    if status != "success":
        raise ValueError(
            f"{path}: the run has status {status!r}, not 'success': it did not finish; "
            "finish it (inspect eval-retry), or move the file away"
        )
    results = _results(header.get("results"))
    if not results:
        raise ValueError(
            f"{path}: the run has no scores (results.scores is empty); score it "
            "(inspect score), or move the file away"
        )
    return Run(path, header, results, [])


def _results(found: Any) -> tuple[Mapping[str, Any], ...]:
    """Scores of a run; old logs have one `scorer`, and its `metrics` beside it."""
    if not isinstance(found, dict):
        return ()
    scorer = found.get("scorer")
    if isinstance(scorer, dict):
        metrics = found.get("metrics") or scorer.get("metrics") or {}
        scores = [{**scorer, "scorer": scorer.get("name"), "metrics": metrics}]
    else:
        scores = _listed(found.get("scores"))
    return tuple(one for one in scores if isinstance(one, dict) and one.get("name"))


def _listed(found: Any) -> list[Any]:
    """Give a list, an empty one where there is none."""
    return found if isinstance(found, list) else []


def _samples(archive: Archive, header: Mapping[str, Any], scorer: str) -> Iterator[Sample]:
    """Read the summaries where they are complete, else each sample."""
    names = [name for name in archive.members if _MEMBER.fullmatch(name)]
    twice = archive.twice.intersection(names)
    if twice:
        raise ValueError(
            f"{archive.path}: {min(twice)!r} is there twice; a sample can have one file only"
        )
    # What is said of invalid samples stands in the samples alone.
    if "summaries.json" in archive.members and not header.get("invalidated"):
        where = f"{archive.path}: summaries.json"
        found = json_values.parse(archive.read("summaries.json"), where)
        if isinstance(found, list) and _same(names, found):
            yield from (sample(entry, scorer, where) for entry in found)
            return
    for name in names:
        where = f"{archive.path}: {name}"
        yield sample(json_values.parse(archive.read(name), where), scorer, where)


def _same(names: list[str], summaries: list[Any]) -> bool:
    """Tell whether the summaries are those of the samples, all of them."""
    stems = {name.removesuffix("/sample.json").removesuffix(".json") for name in names}
    return len(stems) == len(summaries) and stems == {
        f"samples/{entry.get('id')}_epoch_{entry.get('epoch')}"
        for entry in summaries
        if isinstance(entry, dict)
    }


def _complete(run: Run) -> None:
    """Refuse a run without samples, with fewer than it says, or with one twice."""
    n = len(run.samples)
    if not n:
        raise ValueError(
            f"{run.path}: no samples: the log was written without them (log_samples), "
            "or they were taken out; the means alone cannot be compared"
        )
    expected = n_stated(run)
    if expected is not None and n < expected:
        raise ValueError(
            f"{run.path}: {n:,} samples, but the run says {expected:,} "
            "(results.total_samples): it is cut off, or stopped early"
        )
    seen: set[tuple[str, int]] = set()
    for one in run.samples:
        key = (str(one.item), one.epoch)
        if key in seen:
            raise ValueError(f"{run.path}: sample {key[0]!r} is there twice in epoch {key[1]}")
        seen.add(key)


def n_stated(run: Run) -> int | None:
    """Tell the samples times epochs, as the run says."""
    stated = run.header["results"].get("total_samples")
    return stated if isinstance(stated, int) and stated > 0 else None
