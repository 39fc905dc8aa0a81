"""Results of EvalPlus and of HumanEval: programs that pass their tests, by task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fastcmp.io.logs.answers import Answer, model_of, parts_of
from fastcmp.io.logs.entries import as_text, at, named, objects, text
from fastcmp.io.logs.file import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Reading
from fastcmp.io.logs.json_lines import head_keys, read_object
from fastcmp.io.logs.tables import check_size, json_lines, template

_ENDS = ("_results.jsonl", ".jsonl", "eval_results.json", ".json", "_", ".", ".jsonl")


def _is_lines(file: LogFile) -> bool:
    return {"task_id", "completion", "passed"} <= head_keys(file)


def _holds(file: LogFile) -> Literal["values", "beside", ""]:
    keys = head_keys(file)
    has_statuses = "eval" in keys and b'"base_status"' in file.head
    if _is_lines(file) or {"date", "hash", "eval"} <= keys or has_statuses:
        return "values"
    return "beside" if b'"pass@1"' in file.head and "config" in keys else ""


def _readings(files: Sequence[LogFile], options: LogOptions) -> list[Reading]:
    return [partial(_read, f, options.memory_limit) for f in files if _holds(f) == "values"]


def _read(file: LogFile, limit: int) -> list[LogPart]:
    path = file.path
    model = model_of(path, *_ENDS)
    empty = template(
        path,
        hashed="hash (of the problems)",
        remarks=("EvalPlus, HumanEval: models are named by their files or folders",),
    )
    if _is_lines(file):
        check_size(file, limit)
        answers = [
            Answer(
                model=model,
                item=named(row.get("task_id"), path, "task_id"),
                values={"passed": row.get("passed")},
            )
            for row in json_lines(path)
        ]
        return parts_of(answers, empty)
    content = read_object(path, limit)
    stated = {(model, name): at(content, "pass_at_k", name, "pass@1") for name in ("base", "plus")}
    return parts_of(_answers(content, model, path), empty, means=stated)


def _answers(content: dict[str, Any], model: str, path: Path) -> Iterator[Answer]:
    tasks = content.get("eval")
    if not isinstance(tasks, dict):
        raise ValueError(f"{path}: eval must be an object of tasks, got {as_text(tasks)[:40]!r}")  # noqa: TRY004  # of data
    all_solutions = {task: objects(own, path, f"eval[{task!r}]") for task, own in tasks.items()}
    has_plus = any(one.get("plus_status") for own in all_solutions.values() for one in own)
    for task, own in all_solutions.items():
        for one in own:
            base, plus = (_status(one.get(f"{x}_status"), path, task) for x in ("base", "plus"))
            both = None if base is None or plus is None else base and plus
            values = {"base": base, "plus": both} if has_plus else {"base": base}
            identity = text(content.get("hash")) or None
            yield Answer(model=model, item=task, values=values, identity=identity)


def _status(status: Any, path: Path, task: str) -> bool | None:
    """Whether tests are passed; None where they were not run."""
    if status not in (None, "pass", "fail", "timeout"):
        raise ValueError(
            f"{path}: the status of a solution of {task} must be pass, fail, timeout or null, got "
            f"{as_text(status)[:40]!r}: is the file of another version?"
        )
    return None if status is None else bool(status == "pass")


FORMAT = LogFormat(
    name="evalplus",
    title="EvalPlus or HumanEval",
    holds=_holds,
    readings=_readings,
    alone="pass@k is a figure of the whole run; let evalplus.evaluate, or evaluate_functional_"
    "correctness of HumanEval, write *_eval_results.json or *_results.jsonl",
)
