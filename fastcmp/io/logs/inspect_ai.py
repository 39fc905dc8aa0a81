"""Logs of Inspect: .eval files (zip; deflate or zstd) and .json files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fastcmp.core.render import visible
from fastcmp.io.logs import json_lines
from fastcmp.io.logs.fingerprints import fingerprint
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.grades import grade
from fastcmp.io.logs.metrics import without_values
from fastcmp.io.logs.sniffing import Archive

if TYPE_CHECKING:
    from fastcmp.io.logs.file import LogFile

Source = tuple[str, str | None]
TaskArgs = dict[str, tuple[str, Path]]

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
    item = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(item, int | str) or isinstance(item, bool):
        raise ValueError(f"{where}: wanted samples with an id, a whole number or text")  # noqa: TRY004
    epoch = entry.get("epoch", 1)
    if type(epoch) is not int or not 0 <= epoch < 2**31:
        raise ValueError(f"{where}: sample {item!r}: its epoch is no whole number: {epoch!r}")
    scores = entry.get("scores")
    if scores is None:
        scores = {} if entry.get("score") is None else {scorer: entry["score"]}
    if not isinstance(scores, dict):
        raise ValueError(f"{where}: sample {item!r}: its scores have no names")  # noqa: TRY004
    return Sample(
        item,
        epoch,
        _input_identity(entry),
        scores,
        _error(entry.get("error")),
        _invalidation(entry.get("invalidation")),
    )


def _input_identity(entry: Mapping[str, Any]) -> str:
    """Join input and target to one text."""
    texts = entry.get("attachments")
    if not isinstance(texts, dict):
        texts = {}
    parts = [_input(entry.get("input"), texts)]
    target = entry.get("target")
    parts += [_text(one, texts) for one in (target if isinstance(target, list) else [target])]
    return "\x1e".join(parts)


def _input(given: Any, texts: Mapping[str, str]) -> str:
    """Text of an input, which may be a conversation."""
    if not isinstance(given, list):
        return _text(given, texts)
    return "\x1d".join(
        f"{message.get('role')}: {_text(message.get('content'), texts)}"
        if isinstance(message, dict)
        else str(message)
        for message in given
    )


def _text(content: Any, texts: Mapping[str, str]) -> str:
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


def _error(found: Any) -> str:
    """Message of an error; summaries hold just that."""
    if isinstance(found, dict):
        found = found.get("message") or "error"
    return short(found) if found else ""


def _invalidation(found: Any) -> str:
    """Why a sample was taken back."""
    if not found:
        return ""
    reason = found.get("reason") if isinstance(found, dict) else None
    return short(f"invalidated: {reason}" if reason else "invalidated")


def short(text: Any) -> str:
    """First line of a text, 200 characters at most."""
    return str(text).strip().partition("\n")[0][:200]


# An Inspect log, zip or JSON: its header and its samples.


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
        header = json_lines.read(path, memory_limit)
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
    found = json_lines.parse(archive.read("header.json"), f"{archive.path}: header.json")
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
    """A list, an empty one where there is none."""
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
        found = json_lines.parse(archive.read("summaries.json"), where)
        if isinstance(found, list) and _same(names, found):
            yield from (sample(entry, scorer, where) for entry in found)
            return
    for name in names:
        where = f"{archive.path}: {name}"
        yield sample(json_lines.parse(archive.read(name), where), scorer, where)


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


# Scores of an Inspect log: a part for each metric.


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
    run: Run, sample: Sample, source: Source, given: tuple[float, Any], found: Column
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


_BESIDE = ("logs.json", "eval-set.json")  # indexes of a folder of logs
_MEMBERS = ("header.json", "_journal/start.json")


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    """Recognise a log by the names in the zip, or by the keys of the JSON."""
    if file.head.startswith(b"PK\x03\x04"):
        length = int.from_bytes(file.head[26:28], "little")
        first = file.head[30 : 30 + length].decode("utf-8", "replace")
        return "values" if first in _MEMBERS or _lists_members(file) else ""
    keys = file.keys
    # A long list of ids may hide `plan`.
    if "eval" in keys and ("plan" in keys or ("status" in keys and b'"task"' in file.head)):
        return "values"
    if file.path.name in _BESIDE and file.head.lstrip()[:1] in (b"{", b"["):
        return "beside"
    return ""


def _lists_members(file: LogFile) -> bool:
    """Tell whether the directory of a zip names what a log has."""
    try:
        with Archive(file.path, 0) as archive:
            return any(name in archive.members for name in _MEMBERS)
    except ValueError:
        return False


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    """Read one log at a time."""
    args: TaskArgs = {}
    return [partial(_read, file.path, options, args) for file in files if _holds(file) == "values"]


def _read(path: Path, options: LogOptions, args: TaskArgs) -> list[LogPart]:
    """Read the values of one run."""
    run = read_run(path, options.memory_limit, options.tasks)
    if not run.samples:
        return []
    _same_args(run, args)
    found = sources(run)
    chosen = [options.metric] if options.metric in found else list(found)
    head = headline(run, found)
    if head is not None and head[0] in chosen:
        chosen.sort(key=lambda name: name != head[0])  # so that remarks have a part
    shared: dict[str, Any] = {
        "model": run.spec["model"],
        "task": run.spec["task"],
        "items": _items(run),
        "repeats": np.array([s.epoch for s in run.samples], dtype=np.int32),
        "item_hash": fingerprint(s.text for s in run.samples),
        "hashed": "input and target",
        "source": path,
        "run": _identity(run.spec),
        "created": _created(run.spec.get("created")),
        "n_stated": n_stated(run),
        "settings": _settings(run),
    }
    if options.metric is not None and options.metric not in found:
        about = {name: shared[name] for name in ("model", "task", "source")}
        return without_values(found, **about)
    parts: list[LogPart] = []
    for name in chosen:
        try:
            parts.append(_part(run, name, found[name], shared, head))
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
    values = column(run, source)
    stated = stated_mean(run, source)
    mean, even = mean_of_items([s.item for s in run.samples], values)
    remarks: list[str] = []
    if not even:
        # The mean of the values is not the mean over items: compared here.
        if stated is not None and not np.isclose(mean, stated, rtol=1e-6, atol=1e-9):
            remarks.append(
                f"{run.path}: the run states a mean {visible(name)} of {stated:.6g}, "
                f"its samples have {mean:.6g}"
            )
        stated = None
    kept = sum(
        bool(s.error) and not code for s, code in zip(run.samples, values.status, strict=True)
    )
    if kept:
        remarks.append(
            f"{run.path}: {kept} samples ended with an error and have a score of "
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
        values=np.array(values.values),
        status=np.array(values.status, dtype=np.uint8),
        reasons=values.reasons,
        mean_stated=stated,
        is_headline=is_headline,
        remarks=tuple(remarks),
        **shared,
    )


def _items(run: Run) -> Any:
    """Ids as whole numbers where all are, else as text."""
    ids = [sample.item for sample in run.samples]
    if all(type(item) is int and abs(item) < 2**63 for item in ids):
        return np.array(ids, dtype=np.int64)
    return [str(item) for item in ids]


def _same_args(run: Run, args: TaskArgs) -> None:
    """Refuse a task that another run was given other arguments of."""
    task = run.spec["task"]
    given = json.dumps(run.spec.get("task_args") or {}, sort_keys=True)
    first, other = args.setdefault(task, (given, run.path))
    if first != given:
        raise ValueError(
            f"{run.path}: task {task!r} was run with task_args {given[:200]}, in "
            f"{other} with {first[:200]}: these are two tasks; read the logs of one"
        )


def _identity(spec: Mapping[str, Any]) -> str:
    """Say which run it is; old logs have no eval_id."""
    return str(
        spec.get("eval_id") or "/".join(str(spec.get(key, "")) for key in ("run_id", "task_id"))
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


def _settings(run: Run) -> dict[str, str]:
    """Collect what is reported where models differ."""
    spec, config = run.spec, run.config
    given = {
        "task version": spec.get("task_version"),
        "task_args": spec.get("task_args") or None,
        "solver": spec.get("solver"),
        "epochs": config.get("epochs"),
        "message limit": config.get("message_limit"),
        "token limit": config.get("token_limit"),
    }
    return {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in given.items()
        if value is not None
    }


FORMAT = LogFormat(
    name="inspect", title="Inspect", holds=_holds, readings=_readings, names=r".*\.eval"
)
