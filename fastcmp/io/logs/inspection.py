"""What logs hold, before anything is joined or computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastcmp.core.errors import BadTypeError, Spelled
from fastcmp.core.threads import Progress
from fastcmp.io.logs import checks
from fastcmp.io.logs.choosing import check_models, one_run_each
from fastcmp.io.logs.contents import LogContents
from fastcmp.io.logs.format import LogPart, grouped
from fastcmp.io.logs.joining import check_answers, join, status_of
from fastcmp.io.logs.read_results import by_task, read_options
from fastcmp.io.logs.reading import Complain, Read, read_logs
from fastcmp.io.logs.words import STATUS, sentences


def inspect_results(
    path: str | Path,
    *,
    metric: str | None = None,
    task: str | Sequence[str] | None = None,
    format: str | None = None,
    filter: str | None = None,
    ids: str | Path | Sequence[str] | None = None,
    values: bool = False,
    columns: Mapping[str, str] | None = None,
    memory_limit: int | str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> LogContents:
    r"""Say what logs hold, and what of it does not fit together.

    Nothing is refused that can be described: what `read_results` would refuse stands
    among the ``problems``.

    Parameters
    ----------
    path : str, path or sequence of them
        Files, or folders, as in `read_results`.
    metric : str, optional
        Only this metric; by default all.
    task : str or sequence of str, optional
        Only these tasks; by default all.
    format : str, optional
        Look at files of this format only.
    filter : str, optional
        Which filter of answers, for the LM Evaluation Harness.
    ids : path or sequence of str, optional
        All items, for SWE-bench logs that list resolved ones only, and for trec_eval, whose
        queries without a line then count as 0.
    values : bool
        Whether a wide table, with a column a model, holds values.
    columns : mapping, optional
        Columns of a table, by what they are, as in `read_results`.
    memory_limit : int or str, optional
        Bytes, or such as "4GB", that a file or member of an archive may take.
    workers : int, optional
        Threads; by default as many as there are processors.
    progress : bool or callable, optional
        As in `read_results`.

    Returns
    -------
    LogContents
        Formats, models, tasks, subsets, metrics, numbers of items, repeats and errors,
        files that are not read, and problems.

    Raises
    ------
    FileNotFoundError
        If there is no such path.
    ValueError
        If an option is unknown, or the path is a device or a pipe.
    TypeError
        If an argument is of a wrong type.

    See Also
    --------
    read_results : Read them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fastcmp import inspect_results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "answers.csv")
    ...     _ = file.write_text("item,model,value\nq1,a,1\nq2,a,0\nq1,b,1\n")
    ...     contents = inspect_results(folder)
    >>> contents.names
    ('a', 'b')
    >>> contents.problems[0][:15]
    'b lacks item q2'
    """
    if metric is not None and not isinstance(metric, str):
        raise BadTypeError("`metric` must be the name of a metric, or None", repr(metric))
    options = read_options(
        metric_wanted=metric,
        tasks=task,
        filter=filter,
        ids=ids,
        imputed="keep",
        values=values,
        columns=columns,
        memory_limit=memory_limit,
    )
    problems: list[str] = []

    def tell(problem: str | ValueError) -> None:
        problems.append(getattr(problem, "text", str(problem)))

    logs = read_logs(path, options, format, workers, progress, tell)
    names = None if metric is None else (metric, metric.partition(",")[0])
    read = [
        log._replace(parts=tuple(x for x in log.parts if names is None or x.metric in names))
        for log in logs.read
    ]
    remarks: list[str] = []
    for log in read:
        remarks += [*_look(log.parts, tell), *log.remarks]
        problems += [
            f"{file}: holds no values of items"
            for file in log.without
            if task is None and not any(problem.startswith(file) for problem in problems)
        ]
    return LogContents(
        formats=tuple(log.format.name for log in read),
        n_files=logs.n_files,
        answers=_table(read),
        problems=tuple(map(Spelled, sentences(problems))),
        remarks=sentences(remarks),
        ignored=tuple(f"{log.path} ({log.why})" for log in logs.ignored),
    )


def _look(parts: Sequence[LogPart], complain: Complain) -> list[str]:
    """Remarks; what does not fit together, metric by metric, is passed to `complain`."""
    metrics = grouped(parts, lambda part: (part.task, part.metric))
    for (task, metric), metric_parts in metrics.items():
        all_of_task = [part for part in parts if part.task == task]
        check_models(all_of_task, metric_parts, metric, complain)
    checks.check_variants(parts, complain)
    kept, remarks = [], [remark for part in parts for remark in part.remarks]
    for metric_parts in metrics.values():
        one, more = one_run_each(metric_parts, "raise", complain)
        kept += one
        remarks += more
    names = tuple(dict.fromkeys(part.model for part in kept))
    checks.check_tasks(by_task(kept, names), names, complain)
    for metric in dict.fromkeys(part.metric for part in kept):
        parts_of_metric = [part for part in kept if part.metric == metric]
        for group in by_task(parts_of_metric, names).values():
            for part in group.values():
                checks.check_part(part, complain)
            joint = join(list(group.values()))
            checks.check_joint(joint, complain)
            checks.check_same_items(joint, complain)
            check_answers(joint, np.arange(joint.n_keys), complain)
            remarks += checks.prompt_remarks(joint)
    remarks += checks.mean_remarks(parts) + checks.policy_remarks(parts)
    remarks += checks.direction_remarks(kept) + checks.setting_remarks(kept)
    return remarks


def _table(read: Sequence[Read]) -> dict[str, tuple[Any, ...]]:
    """A row for each model, task, subset, metric and file."""
    rows = []
    for log in read:
        for part in log.parts:
            status = status_of(part)
            n = [0] * len(STATUS)
            if status is not None:
                n = np.bincount(status, minlength=len(STATUS)).tolist()
            once = part.repeats is None
            rows.append(
                (
                    log.format.name,
                    part.model,
                    part.task,
                    part.subset,
                    part.metric,
                    len(part.values) if once else len(np.unique(np.array(part.items))),
                    len(part.values),
                    n[STATUS.index("error")],
                    sum(n[2:]),
                    str(part.source),
                )
            )
    names = (
        *("format", "model", "task", "subset", "metric"),
        *("n_items", "n_answers", "n_errors", "n_unscored", "source"),
    )
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return dict(zip(names, map(tuple, columns), strict=True))
