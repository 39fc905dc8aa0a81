"""Details of lighteval: Parquet files with a row for each document and metric."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pyarrow import ArrowException, parquet

from fastcmp.core.render import visible
from fastcmp.io.logs.entries import at, mapping, number, whole, written
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart
from fastcmp.io.logs.heads import check_size
from fastcmp.io.logs.json_lines import read
from fastcmp.io.logs.parts import Answer, parts_of
from fastcmp.io.sources import columns_in

_STAMP = r"\d{4}-\d\d-\d\dT[\d.:-]+"
_DETAILS = re.compile(rf"details_(?P<task>.+)_(?P<stamp>{_STAMP})\.parquet", re.DOTALL)
_RESULTS = re.compile(rf"results_(?P<stamp>{_STAMP})\.json")


def place(path: Path) -> tuple[str, str, str]:
    """Model, time and task by a path, details/<model>/<time>/details_...; "" for none."""
    match = _DETAILS.fullmatch(path.name) or _RESULTS.fullmatch(path.name)
    stamp, task = (match["stamp"], match.groupdict().get("task", "")) if match else ("", "")
    parts = list(path.parent.parts)
    if parts and re.fullmatch(_STAMP, parts[-1]):
        stamp = stamp or parts[-1]
        parts.pop()
    for top in ("details", "results"):
        if top in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(top) :]), stamp, task
    # A repository of details on the Hugging Face Hub: details_<organisation>__<model>.
    name = parts[-1] if parts else ""
    if name.startswith("details_"):
        name = name.removeprefix("details_").replace("__", "/", 1)
    return name, stamp, task


def results_of(
    details: Path, files: Iterable[LogFile], memory_limit: int
) -> tuple[dict[str, Any], str, str]:
    """The results of a file of details, its model, and a sentence where that is made up.

    Runs of several models may have one time: the model must be the same too, unless
    there is one file of that time alone.
    """
    model, stamp, _ = place(details)
    json_paths = [file.path for file in files if file.path.suffix == ".json"]
    same_time = [path for path in json_paths if place(path)[1] == stamp]
    paths = [path for path in same_time if place(path)[0] == model]
    if not paths and len(same_time) == 1:
        paths = same_time
    for path in paths:
        results = mapping(read(path, memory_limit))
        general = mapping(results, "config_general")
        if name := general.get("model_name") or at(general, "model_config", "model_name"):
            return results, str(name), ""
    return {}, model, f"{details}: the model is named after the folder, {model}"


def _config(results: object, task: str) -> dict[str, Any]:
    """The settings of a task, named with or without its few-shots."""
    configs = mapping(results, "config_tasks")
    return mapping(configs, task) or mapping(configs, task.rpartition("|")[0])


def _of_metric(config: dict[str, Any], metric: str, key: str) -> Any:
    """A setting of a metric; some have several metrics in one entry."""
    listed = config.get("metrics") or config.get("metric")
    for one in listed if isinstance(listed, list) else ():
        setting = at(one, key)
        if isinstance(setting, dict):
            if metric in setting:
                return setting[metric]
        elif at(one, "metric_name") == metric:
            return setting
    return None


# Rows of lighteval's details: a document has one for each kind of metric.


_NEW = ("doc.id", "doc.query", "doc.choices", "doc.gold_index", "doc.task_name")
_OLD = ("full_prompt", "gold", "choices", "gold_index", "metrics")
#: Columns that tell the layout since 0.11, and the one before.
_IS_NEW, _IS_OLD = {"doc", "metric", "model_response"}, {"full_prompt", "metrics"}


def read_documents(
    file: LogFile, model: str, memory_limit: int
) -> tuple[dict[str, dict[str, Answer]], set[str]]:
    """Answers by task ("" in the old layout) and id of the document; metrics without numbers."""
    path = file.path
    new = set(file.columns) >= _IS_NEW
    names_read = [*(_NEW if new else _OLD), "metric"]
    documents_by_task: dict[str, dict[str, Answer]] = {}
    others: set[str] = set()
    try:
        check_size(file, memory_limit, names_read)
        table = parquet.ParquetFile(path).read(columns=names_read, use_threads=False)
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path}: no whole Parquet file ({error}); copy it again") from error
    fields = columns_in(table.drop_columns("metric").flatten()) if new else columns_in(table)
    names = _NEW if new else _OLD[:-1]
    doc = {
        name.rpartition(".")[2]: fields[name].to_pylist()
        if name in fields
        else [None] * table.num_rows
        for name in names
    }
    if new:
        tasks, ids, prompts = doc["task_name"], doc["id"], doc["query"]
    else:
        prompts = doc["full_prompt"]
        hashes = (
            blake2b(str(prompt).encode("utf-8", "surrogatepass"), digest_size=8)
            for prompt in prompts
        )
        ids = [f"{int.from_bytes(digest.digest(), 'little'):016x}" for digest in hashes]
        tasks = [""] * len(ids)
    golds = (doc.get("gold", ids), doc["choices"], doc["gold_index"])
    for row, metrics_of_row in enumerate(table["metric" if new else "metrics"].to_pylist()):
        item = ids[row]
        if item is None:
            raise ValueError(f"{path}: row {row + 1} has no doc.id")
        text = json.dumps([prompts[row], *(column[row] for column in golds)])
        documents = documents_by_task.setdefault(str(tasks[row] or ""), {})
        answer = documents.setdefault(str(item), Answer(model=model, item=str(item), identity=text))
        values = {metric: x for metric, x in _values(metrics_of_row, path).items() if x is not None}
        numbers = {metric: x for metric, x in values.items() if isinstance(x, int | float)}
        others |= values.keys() - numbers
        if answer.identity != text or answer.values.keys() & numbers:
            raise ValueError(
                f"{path}: document {item!r} is there twice, so what is which cannot be "
                "said: splits of a task number their documents alike, and old files tell "
                "documents by their prompts alone; evaluate one split"
            )
        answer.values = {**answer.values, **numbers}
    return documents_by_task, others


def _values(metrics: Any, path: Path) -> Mapping[str, Any]:
    """Metrics of a row; in some old files they are written as text."""
    if metrics is None:
        return {}
    if isinstance(metrics, str):
        try:
            metrics = ast.literal_eval(metrics)
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(f"{path}: metrics that cannot be read: {metrics[:80]!r}") from error
    if not isinstance(metrics, dict):
        raise ValueError(f"{path}: wanted metrics by name, got {str(metrics)[:80]}")
    return metrics


def _has_details(file: LogFile) -> bool:
    names = set(file.columns)
    # The schema stands at the end: by its name alone is a cut file known.
    is_cut = not names and file.path.name.startswith("details_")
    is_details = is_cut or names >= _IS_NEW or names >= _IS_OLD
    return is_details and file.head.startswith(b"PAR1")


def _has_results(file: LogFile) -> bool:
    if file.head.startswith(b"PAR1"):
        return "config_general" in file.columns
    return file.path.name.startswith("results_") and "config_general" in file.keys


def _read(file: LogFile, beside: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    """Read the values of one file."""
    path = file.path
    results, model, remark = results_of(path, beside, options.memory_limit)
    documents_by_task, others = read_documents(file, model, options.memory_limit)
    if not documents_by_task:
        raise ValueError(f"{path}: no documents; the run gave nothing")
    _, stamp, own_task = place(path)
    parts: list[LogPart] = []
    for name, documents in documents_by_task.items():
        task = name or own_task
        if options.tasks is not None and task not in options.tasks:
            continue
        metrics = dict.fromkeys(
            metric for document in documents.values() for metric in document.values
        )
        if options.metric in others or not metrics:
            raise ValueError(
                f"{path}: {visible(', '.join(sorted(others))) or 'no metric'}: no document has a "
                "number; such metrics are of a whole task, and models cannot be compared by "
                f"them. Documents have {visible(', '.join(metrics)) or 'no other metric'}"
            )
        metrics_taken = [options.metric] if options.metric in metrics else list(metrics)
        for answer in documents.values():
            answer.values = {metric: answer.values.get(metric) for metric in metrics_taken}
        general, config = mapping(results, "config_general"), _config(results, task)
        settings = {
            "few-shots": config.get("num_fewshots"),
            "task version": config.get("version", at(results, "versions", task)),
            "max samples": general.get("max_samples"),
            "few-shot seeds": general.get("num_fewshot_seeds"),
        }
        whole_task = LogPart(
            source=path,
            task=task,
            hashed="query, choices and gold_index",
            run=stamp or str(path.parent),
            created=stamp,
            n_stated=whole(config.get("effective_num_docs")) or None,
            settings=written(settings),
            remarks=(remark,) if remark else (),
        )
        parts += [_described(part, results) for part in parts_of(documents.values(), whole_task)]
    return parts


def _described(part: LogPart, results: dict[str, Any]) -> LogPart:
    """A part with what the run says of its metric."""
    config = _config(results, part.task)
    summary = str(_of_metric(config, part.metric, "corpus_level_fn") or "mean")
    is_mean = "mean" in summary
    remark = (
        f"{part.source}: the run states the {visible(summary)} of {part.metric!r}; the "
        "comparison is of means"
    )
    return replace(
        part,
        lower_is_better=_of_metric(config, part.metric, "higher_is_better") is False,
        mean_stated=number(at(results, "results", part.task, part.metric)) if is_mean else None,
        remarks=part.remarks if is_mean else (*part.remarks, remark),
    )


FORMATS = (
    LogFormat(
        name="lighteval",
        title="lighteval",
        values=(_has_details,),
        beside=(_has_results,),
        read=_read,
        group=lambda values, beside, _: [(file, beside) for file in values],
        names=r"details_.*\.parquet",
    ),
)
