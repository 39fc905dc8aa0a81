"""Logs of Inspect: .eval files (zip; deflate or zstd), .json files, and frames of samples."""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.inputs.columns import is_missing
from fastcmp.io.logs import json_lines
from fastcmp.io.logs.entries import at, grade, mapping, number, prints, text, written
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Sign
from fastcmp.io.logs.parts import Answer, Failure, parts_of
from fastcmp.io.logs.tables import LogTable, as_labels, as_numbers
from fastcmp.io.logs.words import ERROR, UNSCORED

# Members of a zip file, unpacked in memory and within limits.


_ZSTD = 93  # the standard library knows it from 3.14 only
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD)
_LOCAL = struct.Struct("<4s22xHH")  # header of a member: signature, two lengths


class Archive:
    """A zip file that is open; nothing is written to disk, whatever names it holds.

    A member is refused before it is unpacked if it takes more than `memory_limit`
    bytes, or if all that were asked for do.
    """

    def __init__(self, path: Path, memory_limit: int) -> None:
        self.path = path
        self._limit = memory_limit
        self._unpacked = 0
        self._file = path.open("rb")
        try:
            self._read_directory()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read_directory(self) -> None:
        """List the members, and see that no two of them lie over each other."""
        try:
            with zipfile.ZipFile(self._file) as file:
                members = file.infolist()
                end = file.start_dir
        except (zipfile.BadZipFile, struct.error, ValueError, OSError) as error:
            raise ValueError(
                f"{self.path}: the directory at the end of the zip cannot be read "
                f"({error}); the file is cut off or damaged: copy it again"
            ) from error
        names = Counter(member.filename for member in members)
        #: Members by name; of several of one name the last.
        self.members = {member.filename: member for member in members}
        #: Names that occur more than once.
        self.twice = frozenset(name for name, count in names.items() if count > 1)
        for member in sorted(members, key=lambda m: m.header_offset, reverse=True):
            if member.header_offset + _LOCAL.size + member.compress_size > end:
                raise ValueError(
                    f"{self.path}: member {member.filename!r} lies over another, as in "
                    "a zip bomb; it is not read"
                )
            end = member.header_offset

    def read(self, name: str) -> bytes:
        """Unpack a member within the limits, and check its length and its checksum."""
        member = self.members[name]
        what = f"{self.path}: member {name!r}"
        if member.flag_bits & 1:
            raise BadValueError(f"{what} is encrypted; decrypt the file first")
        if member.compress_type not in _METHODS:
            raise BadValueError(
                f"{what} is compressed by method {member.compress_type} of zip; deflate (8) "
                "and zstd (93) can be read"
            )
        self._unpacked += member.file_size
        size = max(member.file_size, member.compress_size)
        if size > self._limit:
            raise BadValueError(
                f"{what} takes {size:,} bytes, more than `memory_limit=` allows, "
                f"{self._limit:,}; raise `memory_limit=` if you trust the file"
            )
        if self._unpacked > self._limit:
            raise BadValueError(
                f"{self.path}: its members take more than `memory_limit=` allows, "
                f"{self._limit:,} bytes in all; raise `memory_limit=` if you trust the file"
            )
        self._file.seek(member.header_offset)
        header, data = self._file.read(_LOCAL.size), b""
        if len(header) == _LOCAL.size and header.startswith(b"PK\x03\x04"):
            # The lengths here need not be those in the directory.
            _, n_name, n_extra = _LOCAL.unpack(header)
            self._file.seek(n_name + n_extra, 1)
            data = self._file.read(member.compress_size)
        most = member.file_size + 1  # one byte more than there should be
        try:
            if member.compress_type == zipfile.ZIP_DEFLATED:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)
            elif member.compress_type == _ZSTD:  # frames one after the other
                stream = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
                data = io.BufferedReader(stream).read(most)
        except (zlib.error, OSError, ValueError) as error:
            raise BadValueError(
                f"{what} cannot be unpacked ({error}): copy the file again"
            ) from error
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise BadValueError(
                f"{what} is damaged (its length or its checksum differs from what the zip "
                "says): copy the file again"
            )
        return data


# A sample: what is needed of it, or of its summary.


Source = tuple[str, str | None]

_LONGEST = 5120  # characters; summaries.json cuts longer texts there
_REFERENCES = ("attachment://", "tc://")


class Sample(NamedTuple):
    """An answer to an item, in one epoch."""

    item: int | str
    epoch: int
    #: Input and target, cut as summaries cut them.
    text: str
    scores: Mapping[str, Mapping[str, Any]]
    #: Why it has no score, or why none counts; "" where there is no such reason.
    error: str
    invalid: str


def sample(entry: Any, scorer: str, where: str) -> Sample:
    """Keep what is needed of a sample or of its summary.

    `scorer` is the name of the one scorer of an old log; `where` begins the message of
    an error.
    """
    item = at(entry, "id")
    if not isinstance(item, int | str) or isinstance(item, bool):
        raise ValueError(f"{where}: wanted samples with an id, a whole number or text")
    epoch = entry.get("epoch", 1)
    if type(epoch) is not int or not 0 <= epoch < 2**31:
        raise ValueError(f"{where}: sample {item!r}: its epoch is no whole number: {epoch!r}")
    scores = entry.get("scores")
    if scores is None:
        scores = {} if entry.get("score") is None else {scorer: entry["score"]}
    if not isinstance(scores, dict):
        raise ValueError(f"{where}: sample {item!r}: its scores have no names")
    texts = mapping(entry, "attachments")
    target = entry.get("target")
    targets = target if isinstance(target, list) else [target]
    input_texts = [_input(entry.get("input"), texts), *(_text(one, texts) for one in targets)]
    error, taken_back = entry.get("error"), entry.get("invalidation")
    if isinstance(error, dict):  # summaries hold just its message
        error = error.get("message") or "error"
    why = at(taken_back, "reason")
    invalid = short(f"invalidated: {why}" if why else "invalidated") if taken_back else ""
    return Sample(
        item, epoch, "\x1e".join(input_texts), scores, short(error) if error else "", invalid
    )


def _input(content: object, texts: Mapping[str, str]) -> str:
    """Text of an input, which may be a conversation."""
    if not isinstance(content, list):
        return _text(content, texts)
    return "\x1d".join(
        f"{message.get('role')}: {_text(message.get('content'), texts)}"
        if isinstance(message, dict)
        else str(message)
        for message in content
    )


def _text(content: object, texts: Mapping[str, str]) -> str:
    """Text of a content, cut; other kinds are named, as summaries name them."""
    if isinstance(content, list):
        return "\x1d".join(
            _text(part.get("text"), texts)
            if part.get("type") == "text"
            else f"({str(part.get('type')).capitalize()})"
            for part in content
            if isinstance(part, dict)
        )
    text = "" if content is None else str(content)
    if text.startswith(_REFERENCES):
        text = str(texts.get(text.partition("//")[2], text))
    return text[:_LONGEST]


def short(text: object) -> str:
    """First line of a text, 200 characters at most."""
    return str(text).strip().partition("\n")[0][:200]


# An Inspect log, zip or JSON: its header and its samples.


#: A sample in a file of its own, or the part of it that holds its scores (version 3).
_MEMBER = re.compile(r"samples/.+_epoch_\d+(\.json|/sample\.json)", re.DOTALL)
_NEWEST = 3
_OLD_ID = ("run_id", "task_id")


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
        return mapping(self.spec, "config")


def read_run(path: Path, memory_limit: int, tasks: tuple[str, ...] | None) -> Run | None:
    """Read a log, unless it is of a task that is not wanted."""
    with path.open("rb") as file:
        zipped = file.read(4) == b"PK\x03\x04"
    with Archive(path, memory_limit) if zipped else nullcontext() as archive:
        if archive is None:
            header = json_lines.read(path, memory_limit)
        elif "header.json" in archive.members:  # which is written when a run ends
            header = json_lines.parse(archive.read("header.json"), f"{path}: header.json")
        else:
            raise ValueError(
                f"{path}: no header.json: the run has not finished, or crashed; "
                "finish it (inspect eval-retry), or move the file away"
            )
        run = _checked(path, header)
        if tasks is not None and run.spec["task"] not in tasks:
            return None
        scorer = str(run.results[0]["name"])
        if archive is not None:
            run.samples.extend(_samples(archive, header, scorer))
        else:
            entries = _listed(header.get("samples"))
            run.samples.extend(sample(entry, scorer, str(path)) for entry in entries)
    if not run.samples:
        raise ValueError(
            f"{path}: no samples: the log was written without them (log_samples), "
            "or they were taken out; the means alone cannot be compared"
        )
    return run


def _checked(path: Path, header: Any) -> Run:
    """Refuse a run that did not end well, or was not scored."""
    if not all(text(at(header, "eval", key)) for key in ("task", "model")):
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


def _results(results: object) -> tuple[Mapping[str, Any], ...]:
    """Scores of a run; old logs have one `scorer`, and its `metrics` beside it."""
    if not isinstance(results, dict):
        return ()
    scorer = results.get("scorer")
    if isinstance(scorer, dict):
        metrics = results.get("metrics") or scorer.get("metrics") or {}
        scores = [{**scorer, "scorer": scorer.get("name"), "metrics": metrics}]
    else:
        scores = _listed(results.get("scores"))
    return tuple(one for one in scores if isinstance(one, dict) and one.get("name"))


def _listed(value: object) -> list[Any]:
    """A list, an empty one where there is none."""
    return value if isinstance(value, list) else []


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
        summaries = json_lines.parse(archive.read("summaries.json"), where)
        if isinstance(summaries, list) and _same(names, summaries):
            yield from (sample(entry, scorer, where) for entry in summaries)
            return
    for name in names:
        where = f"{archive.path}: {name}"
        yield sample(json_lines.parse(archive.read(name), where), scorer, where)


def _same(names: list[str], summaries: list[Any]) -> bool:
    """Whether the summaries are those of the samples, all of them."""
    stems = {name.removesuffix("/sample.json").removesuffix(".json") for name in names}
    return len(stems) == len(summaries) and stems == {
        f"samples/{entry.get('id')}_epoch_{entry.get('epoch')}"
        for entry in summaries
        if isinstance(entry, dict)
    }


# Scores of an Inspect log: a part for each metric.


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
    pairs: list[Source] = [(scorer, None) for scorer in plain if scorer not in keys]
    pairs += [(scorer, key) for scorer, scorer_keys in keys.items() for key in scorer_keys]
    if not pairs:  # not one sample has a score
        pairs = [_stated(entry) for entry in run.results]
    short_names = [scorer if key is None else key for scorer, key in pairs]
    return {
        name if short_names.count(name) == 1 else "/".join(filter(None, source)): source
        for name, source in zip(short_names, pairs, strict=True)
    }


def _stated(entry: Mapping[str, Any]) -> Source:
    """Scorer and key that an entry of the results speaks of."""
    name = str(entry["name"])
    scorer = str(entry.get("scorer") or name)
    return scorer, None if scorer == name else name


def headline(run: Run, sources: Mapping[str, Source]) -> tuple[str, str] | None:
    """Metric that the run names as its headline, and the name of the mean over items.

    None where it names none, or one that no sample has.
    """
    named = run.header["results"].get("headline") or run.spec.get("headline_metric")
    if not isinstance(named, dict):
        return None
    score, scorer = named.get("score"), named.get("scorer")
    for name, (its_scorer, key) in sources.items():
        if scorer not in (None, its_scorer):
            continue
        if score in (None, its_scorer if key is None else key):
            return name, str(named.get("metric") or "")
    return None


def column(run: Run, source: Source) -> dict[str, Any]:
    """Values of one metric, and why there is none; grades that are unknown are refused."""
    scorer, key = source
    n = len(run.samples)
    values, status = np.full(n, np.nan), np.zeros(n, np.uint8)
    reasons: dict[int, str] = {}
    grades: dict[str, float] = {}
    for i, sample in enumerate(run.samples):
        score = sample.scores.get(scorer)
        why = sample.invalid or ((sample.error or "no score") if score is None else "")
        if not why:
            value = _value(score)
            if key is not None and isinstance(value, dict):
                value = value.get(key)
            elif key is not None and not is_missing(value):
                raise ValueError(
                    f"{_where(run, sample, source)}: {value!r}, but elsewhere this scorer gives "
                    "several values by name"
                )
            if type(value) is str:
                if value not in grades:
                    grades[value] = _number(run, sample, source, value)
                values[i] = grades[value]
            else:
                values[i] = _number(run, sample, source, value)
            if math.isinf(values[i]):
                raise ValueError(f"{_where(run, sample, source)}: {value} is no value of an item")
            if math.isnan(values[i]):
                explanations = (at(score, "reason"), at(score, "metadata", "reason"))
                why = next(
                    map(short, filter(None, (*explanations, at(score, "explanation")))), "NaN"
                )
                why = sample.error or why
        if why:
            status[i] = ERROR if sample.error and not sample.invalid else UNSCORED
            reasons[i] = why
    return {"values": values, "status": status, "reasons": reasons}


def _value(score: object) -> Any:
    """Value of a score."""
    return score.get("value") if isinstance(score, dict) else score


def _number(run: Run, sample: Sample, source: Source, value: object) -> float:
    """Turn a value into a number, NaN for None."""
    result = math.nan if value is None else value
    if isinstance(value, str):
        result = grade(value)
        if result is None:
            raise ValueError(
                f"{_where(run, sample, source)}: the grade {value[:40]!r} is unknown; "
                "wanted C, I, P, N, yes, no, true, false or a number; choose another "
                "metric, or score again"
            )
    if isinstance(result, int | float):  # bool too
        return math.inf if abs(result) > 1e300 else float(result)
    raise ValueError(
        f"{_where(run, sample, source)}: wanted one value, got "
        f"{'a list' if isinstance(value, list) else type(value).__name__}; a list has "
        "no names that could be compared: choose another metric, or score again"
    )


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
            stated = (number(at(entry, "metrics", x, "value")) for x in ("accuracy", "mean"))
            means = [x for x in stated if x is not None and not math.isnan(x)]
            if means:
                return means[0]
    return None


_MEMBERS = ("header.json", "_journal/start.json")


def _is_archive(file: LogFile) -> bool:
    """Recognise a log by the names in the zip."""
    if not file.head.startswith(b"PK\x03\x04"):
        return False
    length = int.from_bytes(file.head[26:28], "little")
    if file.head[30 : 30 + length].decode("utf-8", "replace") in _MEMBERS:
        return True
    try:
        with Archive(file.path, 0) as archive:
            return any(name in archive.members for name in _MEMBERS)
    except ValueError:
        return False


def _read(file: LogFile, options: LogOptions) -> list[LogPart]:
    """Read the values of one run."""
    path = file.path
    run = read_run(path, options.memory_limit, options.tasks)
    if run is None:
        return []
    sources_by_name = sources(run)
    metrics = [options.metric] if options.metric in sources_by_name else list(sources_by_name)
    head = headline(run, sources_by_name)
    if head is not None and head[0] in metrics:
        metrics.sort(key=lambda name: name != head[0])  # so that remarks have a part
    n_stated = run.header["results"].get("total_samples")  # times epochs
    settings = {
        "task version": run.spec.get("task_version"),
        "task_args": run.spec.get("task_args") or None,
        "solver": run.spec.get("solver"),
        "epochs": run.config.get("epochs"),
        "message limit": run.config.get("message_limit"),
        "token limit": run.config.get("token_limit"),
    }
    shared: dict[str, Any] = {
        "model": run.spec["model"],
        "task": run.spec["task"],
        "items": json_lines.ids(path, "id", [s.item for s in run.samples], np.zeros(0, int)),
        "repeats": np.array([s.epoch for s in run.samples], dtype=np.int32),
        "item_hash": prints([s.text for s in run.samples]),
        "hashed": "input and target",
        "source": path,
        # Old logs have no eval_id.
        "run": str(run.spec.get("eval_id") or "/".join(str(run.spec.get(k, "")) for k in _OLD_ID)),
        "created": _created(run.spec.get("created")),
        "n_stated": n_stated if isinstance(n_stated, int) and n_stated > 0 else None,
        "settings": written(settings),
        "variant": f"task_args {json.dumps(run.spec.get('task_args') or {}, sort_keys=True)}",
    }
    if options.metric is not None and options.metric not in sources_by_name:
        about = {name: shared[name] for name in ("model", "task", "source")}
        return [LogPart(metric=name, **about) for name in sources_by_name]  # to be named
    parts: list[LogPart] = []
    for name in metrics:
        try:
            parts.append(_part(run, name, sources_by_name[name], shared, head))
        except ValueError as error:
            if head is None or name in (head[0], options.metric):
                raise
            left = replace(parts[0], remarks=(*parts[0].remarks, f"Left out: {error}"))
            parts[0] = left
    return parts


def _part(
    run: Run, name: str, source: Source, shared: Mapping[str, Any], head: tuple[str, str] | None
) -> LogPart:
    """Make the part of one metric."""
    columns = column(run, source)
    remarks: list[str] = []
    status = columns["status"].tolist()
    n_with_error = sum(
        bool(s.error) and not code for s, code in zip(run.samples, status, strict=True)
    )
    if n_with_error:
        remarks.append(
            f"{run.path}: {n_with_error} samples ended with an error and have a score of "
            f"{name!r} nevertheless; it is kept"
        )
    is_headline = head is not None and head[0] == name
    if head is not None and is_headline and head[1] not in ("", "mean", "accuracy"):
        remarks.append(
            f"{run.path}: the headline is the {visible(head[1])} of {name!r}; the "
            "comparison is of means"
        )
    return LogPart(
        metric=name,
        mean_stated=stated_mean(run, source),
        is_headline=is_headline,
        remarks=tuple(remarks),
        **columns,
        **shared,
    )


def _created(text: Any) -> str:
    """Time of a run, as text that sorts."""
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return str(text or "")
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat(timespec="microseconds")


# Frames of Inspect: `samples_df`, a row an answer, joined with the models of `evals_df`.


_NEEDED = {"sample_id", "eval_id", "id", "epoch"}
_SCORE, _HEADLINE = "score_", "score_headline_name"
_OF_RUN = ("created", _HEADLINE, "status", "total_samples")
_BESIDE = ("model", "task_name", "error", "input", "target", *_OF_RUN)


def _is_frame(file: LogFile) -> bool:
    return set(file.columns) >= _NEEDED and bool(_scores(file.columns))


def _scores(names: Sequence[str]) -> dict[str, str]:
    """Scorers by their columns; from the headline on stand means of whole runs."""
    scorers = {name: name.removeprefix(_SCORE) for name in names if name.startswith(_SCORE)}
    if _HEADLINE in names:
        means = {*takewhile(scorers.__contains__, names[names.index(_HEADLINE) :])}
        scorers = {name: scorer for name, scorer in scorers.items() if name not in means}
    return scorers


def _read_frame(file: LogFile, options: LogOptions) -> list[LogPart]:
    path, scores = file.path, _scores(file.columns)
    if "model" not in file.columns:
        raise ValueError(
            f"{path}: a frame of Inspect's samples does not name their models: join it with "
            "evals_df, as by samples.merge(evals, on='eval_id', suffixes=('', '_of_run'))"
        )
    others = [*sorted(_NEEDED), *(name for name in _BESIDE if name in file.columns)]
    table = LogTable(file, [*others, *scores], limit=options.memory_limit)
    text = {name: as_labels(table.columns[name]).at() for name in others}
    rows = {}  # values by metric
    remarks = []
    for column, scorer in scores.items():
        cells = as_labels(table.columns[column]).at()
        for metric, raw in _by_key(scorer, cells).items():
            try:
                rows[metric] = as_numbers(raw, path, metric).tolist()
            except ValueError as why:
                if options.metric == metric:
                    raise
                remarks.append(f"Left out: {why}")
    runs: dict[str, list[Answer]] = {}
    for i, run in enumerate(text["eval_id"]):
        error = text["error"][i] if "error" in text else ""
        answer = Answer(
            model=text["model"][i],
            item=text["id"][i],
            task=text["task_name"][i] if "task_name" in text else "",
            repeat=int(text["epoch"][i]),
            values={
                metric: Failure(error) if error and math.isnan(values[i]) else values[i]
                for metric, values in rows.items()
            },
            identity=[text[name][i] for name in ("input", "target") if name in text] or None,
        )
        runs.setdefault(run, []).append(answer)
    parts = []
    for run, answers in runs.items():
        first = text["eval_id"].index(run)
        created, headline, status, n_stated = (
            text[name][first] if name in text else "" for name in _OF_RUN
        )
        if status not in ("", "success"):
            raise ValueError(
                f"{path}: the run {run} of {answers[0].model} has status {status!r}, not "
                "'success': it did not finish; finish it (inspect eval-retry), or leave it out"
            )
        template = LogPart(
            source=path,
            run=run,
            created=created,
            hashed="input and target",
            n_stated=int(n_stated) if n_stated else None,
            remarks=tuple(remarks),
        )
        parts_of_run = parts_of(answers, template)
        parts += [
            replace(x, is_headline=x.is_headline or x.metric == headline) for x in parts_of_run
        ]
    return parts


def _by_key(scorer: str, cells: list[str]) -> dict[str, list[str]]:
    """Cells of one scorer; of one that gives several values, those of each key."""
    if not any(cell.startswith("{") for cell in cells):
        return {scorer: cells}
    parsed = [json.loads(cell) if cell.startswith("{") else {} for cell in cells]
    keys = dict.fromkeys(key for scores in parsed for key in scores)
    return {
        key: ["" if scores.get(key) is None else str(scores[key]) for scores in parsed]
        for key in keys
    }


FORMATS = (
    LogFormat(
        name="inspect",
        title="Inspect",
        # A long list of ids may hide `plan`.
        values=(_is_archive, Sign(keys="eval plan"), Sign(keys="eval status", holds=(b'"task"',))),
        # Indexes of a folder of logs.
        beside=(Sign(name=r"(logs|eval-set)\.json", pattern=rb"\A\s*[{\[]"),),
        read=_read,
        names=r".*\.eval",
    ),
    LogFormat(
        name="inspect_frames", title="frames of Inspect", values=(_is_frame,), read=_read_frame
    ),
)
