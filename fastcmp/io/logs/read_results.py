"""Logs of evaluation harnesses as one table of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.checks import as_flag, choose, warn
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.render import visible
from fastcmp.core.threads import Progress, check_memory, read_size
from fastcmp.io.logs import checks
from fastcmp.io.logs.choosing import RUNS, choose_metrics, label_of, one_run_each, read_metric
from fastcmp.io.logs.format import LogOptions, LogPart
from fastcmp.io.logs.joining import (
    ERRORS,
    ITEMS,
    Block,
    Joint,
    assemble,
    check_answers,
    common_remark,
    count_wrong,
    drop,
    join,
    scatter,
)
from fastcmp.io.logs.reading import Logs, read_logs, refuse, without_remark
from fastcmp.io.logs.results import Results
from fastcmp.io.logs.words import a_task, counted, listed, sentences, task_label

Groups = dict[tuple[str, str], dict[str, LogPart]]


def read_results(
    path: str | Path,
    *,
    metric: str | Mapping[str, str] | None = None,
    task: str | Sequence[str] | None = None,
    models: str | Sequence[str] | None = None,
    items: str = "same",
    errors: str = "raise",
    runs: str = "raise",
    format: str | None = None,
    filter: str | None = None,
    ids: str | Path | Sequence[str] | None = None,
    imputed: str = "raise",
    values: bool = False,
    columns: Mapping[str, str] | None = None,
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> Results:
    r"""Read logs of evaluation harnesses, and join the models' answers by item.

    The format is recognised by what files hold. Answers are joined by task, subset,
    item and repeat, never by position; what does not fit together is refused.

    Parameters
    ----------
    path : str, path or sequence of them, or frame
        Files, or folders, which are searched with all folders in them. Links are not
        followed; files that are not read are counted, and named in ``remarks``. A table
        may be a frame of pandas, polars or pyarrow, such as Inspect's ``samples_df``
        joined with its ``evals_df``; a mapping from names to frames where each is one model.
    metric : str or mapping, optional
        The metric, or that of each task by name. Not needed where there is one, or the
        files name the one to look at.
    task : str or sequence of str, optional
        Only these tasks; by default all.
    models : str or sequence of str, optional
        Only these models, in this order; by default all. What does not fit in the answers
        of others is no matter then.
    items : {"same", "common"}
        What to make of models that were asked different items, repeats or tasks:
        refuse them; or compare on what all models have.
    errors : {"raise", "wrong", "drop"}
        What to make of answers without a value, as of a request that failed or an
        answer that could not be graded: refuse them; count them as 0; leave their items
        out for all models. They are counted in any case.
    runs : {"raise", "latest", "repeats"}
        What to make of several runs of one model on one task: refuse them; take the
        latest; take each run as a repeat.
    format : str, optional
        Read files of this format only, such as "lm_eval" or "inspect"; an unknown one
        lists all.
    filter : str, optional
        Which filter of answers, for the LM Evaluation Harness.
    ids : path or sequence of str, optional
        All items, for SWE-bench logs that list resolved ones only, and for trec_eval, whose
        queries without a line then count as 0.
    imputed : {"raise", "keep"}
        What to make of imputed rows of TabArena, which are another method's.
    values : bool
        Whether a wide table, with a column a model, holds values; else it is refused,
        as it may hold labels.
    columns : mapping, optional
        Columns of a table, by what they are: ``item``, ``model``, ``value``, ``task``,
        ``subset``, ``repeat``, ``group``, ``metric``.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that a file or member of an archive may take where it
        is read as a whole, and that the answers may take. By default 4 GB, and what
        the machine has left.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same for
        any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the files or runs read and all.

    Returns
    -------
    Results
        Answers of all models, with ``values()`` for `compare_means`, ``labels()`` for
        `compare_all`, ``compare()`` for the one of these that fits, and
        ``task_scores()`` for comparisons over tasks.

    Raises
    ------
    FileNotFoundError
        If there is no such path.
    ValueError
        If nothing can be read, files are of several formats, cut off, or not there but
        pointers of Git LFS; a model has an item twice, or two runs; models have other
        items, repeats, tasks or metrics than others; an item is another document for
        another model; answers have no value and no policy is named.
    TypeError
        If an argument is of a wrong type.

    Warns
    -----
    UserWarning
        If a run states another mean than that of its values.

    See Also
    --------
    inspect_results : What there is, before anything is joined.

    Notes
    -----
    O(N) for N answers where models list their items in the same order, which is tested
    first; else each model's items are looked up.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from fastcmp import read_results
    >>> rows = [
    ...     {"item": item, "model": model, "value": value}
    ...     for model, right in (("a", [1, 1, 0]), ("b", [1, 0, 0]))
    ...     for item, value in enumerate(right)
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "answers.jsonl")
    ...     _ = file.write_text("\n".join(map(json.dumps, rows)))
    ...     results = read_results(file)
    >>> results.answers.tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    options = read_options(
        metric_wanted=read_metric(metric),
        tasks=task,
        filter=filter,
        ids=ids,
        imputed=choose(imputed, "imputed", ("raise", "keep")),
        values=values,
        columns=columns,
        memory_limit=memory_limit,
        items=choose(items, "items", ITEMS),
        errors=choose(errors, "errors", ERRORS),
        runs=choose(runs, "runs", RUNS),
    )
    logs = read_logs(path, options, format, workers, progress)
    if not logs.read[0].parts and options.tasks:
        others = replace(options, tasks=None)
        all_logs = read_logs(path, others, format, workers, progress)
        _check_tasks(all_logs.read[0].parts, options.tasks)
    parts = logs.read[0].parts
    if models is not None:
        there = dict.fromkeys(part.model for part in parts)
        wanted_models = dict.fromkeys(_texts(models, "models"))
        for name in wanted_models:
            if name not in there:
                raise BadValueError(
                    f"`models`: there is no {visible(name)}, but {listed(there, 20)}"
                )
        parts = tuple(part for name in wanted_models for part in parts if part.model == name)
    return _joined(parts, logs, options, None if memory_limit is None else options.memory_limit)


def read_options(
    *, tasks: object, ids: object, columns: Any, memory_limit: int | str | None, **more: Any
) -> LogOptions:
    """Check what concerns the reading of files."""
    if more["filter"] is not None and not isinstance(more["filter"], str):
        raise BadTypeError("`filter` must be the name of a filter", repr(more["filter"]))
    if ids is not None:
        ids = Path(ids) if isinstance(ids, (str, Path)) else _texts(ids, "ids")
    is_mapping = columns is None or isinstance(columns, Mapping)
    if not is_mapping or not all(
        isinstance(x, str) for x in (*(columns or {}), *(columns or {}).values())
    ):
        raise BadTypeError(
            "`columns` must be a mapping such as {'item': 'name of a column'}", repr(columns)
        )
    if memory_limit is not None:
        more["memory_limit"] = read_size(memory_limit)
    as_flag(more["values"], "values")
    tasks = None if tasks is None else tuple(_texts(tasks, "task"))
    return LogOptions(tasks=tasks, ids=ids, columns=dict(columns or {}), **more)


def _texts(texts: object, name: str) -> list[str]:
    """Read a name, or several."""
    if isinstance(texts, str):
        return [texts]
    several = isinstance(texts, (list, tuple, set, frozenset)) and texts
    if several and all(isinstance(text, str) for text in several):
        return list(several)
    raise BadTypeError(f"`{name}` must be text, or a sequence of texts", repr(texts))


def _check_tasks(parts: Sequence[LogPart], tasks: Sequence[str] | None) -> None:
    """Refuse tasks that are not there."""
    task_names = dict.fromkeys(part.task for part in parts)
    for task in tasks or ():
        if task not in task_names:
            there = listed(filter(None, task_names), 20) or "no names of tasks in these logs"
            raise BadValueError(f"`task`: there is no {visible(task)}, but {there}")


# Joining.


def _joined(
    parts: Sequence[LogPart], logs: Logs, options: LogOptions, limit: int | None
) -> Results:
    """Join what was read; the answers take no more than so many bytes."""
    _check_tasks(parts, options.tasks)
    metric_parts, about = choose_metrics(parts, options.metric_wanted, refuse)
    checks.check_variants(metric_parts, refuse)
    kept, of_runs = one_run_each(metric_parts, options.runs, refuse)
    if not kept:
        raise BadValueError(f"`path` holds no values of items; {logs.n_files} files were read")
    for part in kept:
        checks.check_part(part, refuse)
    names = tuple(dict.fromkeys(part.model for part in kept))
    groups, lacking = _with_all(by_task(kept, names), names, options)
    ignored = listed(f"{remark.path} ({remark.why})" for remark in logs.ignored)
    remarks = [
        *about,
        *(remark for part in kept for remark in part.remarks),
        *without_remark(logs, options.tasks),
        *([f"{counted(len(logs.ignored), 'file')} not read: {ignored}."] if ignored else []),
        *of_runs,
        *lacking,
        *checks.direction_remarks(kept),
        *checks.setting_remarks(kept),
        *checks.policy_remarks(metric_parts),
    ]
    blocks = []
    for parts_by_model in groups.values():
        block, joint, more_remarks = _of_task(list(parts_by_model.values()), options, limit)
        blocks.append((block, joint))
        remarks += more_remarks
    means = checks.mean_remarks(metric_parts)
    if means:
        more = f" ({len(means)} runs in all)" if len(means) > 1 else ""
        warn(means[0] + more)
    return assemble(
        blocks,
        names=names,
        format=logs.read[0].format.name,
        errors=options.errors,
        n_ignored=len(logs.ignored),
        remarks=sentences([*remarks, *means]),
    )


def by_task(parts: Sequence[LogPart], names: Sequence[str]) -> Groups:
    """Put parts of the same task and subset together, models in order."""
    groups: Groups = {}
    order = {name: i for i, name in enumerate(names)}
    for part in sorted(parts, key=lambda part: order[part.model]):
        groups.setdefault((part.task, part.subset), {})[part.model] = part
    return groups


def _with_all(
    groups: Groups, names: Sequence[str], options: LogOptions
) -> tuple[Groups, list[str]]:
    """Keep the tasks that all models have, or refuse that some lack one."""
    if options.items == "same":
        checks.check_tasks(groups, names, refuse)
        return groups, []
    complete = {
        key: parts_by_model
        for key, parts_by_model in groups.items()
        if len(parts_by_model) == len(names)
    }
    if not complete:
        raise ValueError(f"there is no task that all {len(names)} models have")
    gone = [key for key in groups if key not in complete]
    if not gone:
        return complete, []
    lacking = [n for n in names if any(n not in groups[key] for key in gone)]
    tasks = listed(task_label(*key) for key in gone)
    return complete, [
        f"{counted(len(gone), 'task')} left out, which some models lack: {tasks}; "
        f"lacking in {listed(lacking)}."
    ]


def _of_task(
    parts: list[LogPart], options: LogOptions, limit: int | None
) -> tuple[Block, Joint, list[str]]:
    """Join the answers to one task and subset."""
    joint = join(parts)
    checks.check_joint(joint, refuse)
    if options.items == "same":
        checks.check_same_items(joint, refuse)
    keys = np.flatnonzero(joint.present() == len(parts))
    if not keys.size:
        raise BadValueError(
            f"`models` have no item in common{a_task(label_of(parts[0]))}, as in "
            f"{parts[0].source} and {parts[-1].source}"
        )
    remarks = common_remark(joint, keys) + checks.prompt_remarks(joint)
    if options.errors == "raise":
        check_answers(joint, keys, refuse)
    check_memory(
        18.0 * len(parts) * keys.size,
        limit,
        f"the answers of {len(parts)} models, {keys.size} each",
        "read fewer tasks (`task=`) or models",
    )
    block = scatter(joint, keys)
    if options.errors == "wrong":
        remarks += count_wrong(block, joint, refuse)
    if options.errors == "drop":
        block, more = drop(block, joint)
        remarks += more
    return block, joint, remarks
