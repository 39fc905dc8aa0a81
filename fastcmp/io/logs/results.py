"""Answers of models to items of tasks, read from logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record, ScoreTable
from fastcmp.core.render import visible
from fastcmp.core.sections import Column, Section, table_of, written
from fastcmp.core.sentences import answer, how
from fastcmp.core.typing import Floats, Ints
from fastcmp.inputs.values import ItemTable
from fastcmp.io.logs.words import STATUS, counted, listed, task_label

_BY_FOLDS = (
    "compare them by a corrected t test, compare_folds(results.fold_scores(), test_train_ratio=...)"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Results(Record):
    """Answers of M models to N items of D tasks, joined by item; higher is better.

    A column is an item and a repeat; there are K of them, those of an item beside each
    other.
    """

    #: Models, M of them.
    names: tuple[str, ...]
    #: Tasks with their subsets, D of them; "" where the format has none.
    tasks: tuple[tuple[str, str], ...]
    #: Metric of each task.
    metrics: tuple[str, ...]
    #: What each item is called, shape (N,), and its task, an index of `tasks`.
    items: NDArray[Any]
    item_tasks: Ints
    #: Item of each column, an index of `items`, and epoch, trial or seed, shape (K,).
    columns_items: Ints
    repeats: NDArray[np.int32]
    #: Values, higher is better, shape (M, K).
    answers: Floats
    #: Why a value was missing: 0 ok, 1 error, 2 unscored, shape (M, K); None: all ok.
    status: NDArray[np.uint8] | None = None
    #: How many answers each value is the mean of, shape (M, K); None: one.
    attempts: NDArray[np.int32] | None = None
    #: Cluster of each item, shape (N,), or None.
    clusters: NDArray[Any] | None = None
    #: The file that each model's answers to each task come from, (M, D).
    sources: tuple[tuple[str, ...], ...] = ()
    #: Format of the logs, such as "lm_eval".
    format: str = ""
    #: What an item is: an "item", a whole "task" (data set), or a "split" of a
    #: cross-validation.
    unit: str = "item"
    #: Whether values of each task were errors, and are negated.
    negated: tuple[bool, ...] = ()
    #: What was made of answers without a value, and how many there were of each model
    #: and task, shape (M, D): errors, and answers that no score was given.
    errors: str = "raise"
    task_errors: Ints
    task_unscored: Ints
    #: Items that were left out, for any reason.
    n_left_out: int = 0
    #: Files that were not read.
    n_ignored: int = 0
    #: What is to be known of the logs, in sentences.
    remarks: tuple[str, ...] = ()

    _read = (
        *("names", Column("tasks", "task_names"), "metric"),
        Column("n_items", lambda self: len(self.items)),
        *("format", "errors", "n_errors", "n_unscored", "n_left_out"),
        Column("means", lambda self: self._item_means().mean(axis=1)),
        "remarks",
    )

    @property
    def metric(self) -> str:
        """The metric, or the metrics where tasks have different ones."""
        return ", ".join(dict.fromkeys(self.metrics))

    @property
    def task_names(self) -> tuple[str, ...]:
        """Names of the tasks, with their subsets after a slash."""
        return tuple(task_label(*task_and_subset) for task_and_subset in self.tasks)

    @property
    def n_errors(self) -> Ints:
        """Answers of each model that were errors, shape (M,)."""
        n: Ints = self.task_errors.sum(axis=1)
        return n

    @property
    def n_unscored(self) -> Ints:
        """Answers of each model that were given no score, shape (M,)."""
        n: Ints = self.task_unscored.sum(axis=1)
        return n

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether all values are 0 or 1."""
        return bool(((self.answers == 0) | (self.answers == 1)).all())

    @property
    def is_answered_once(self) -> bool:
        """Whether each model answered each item once."""
        return len(self.columns_items) == len(self.items)

    @property
    def lower_is_better(self) -> bool:
        """Whether any values were errors; they are negated."""
        return any(self.negated)

    def values(self) -> ItemTable:
        """The values by item, for `compare_means`.

        Returns
        -------
        ItemTable
            Values of shape (M, N), with repeats (M, N, R). Strata are the tasks, where
            there are several; groups are the clusters of the items.
        """
        names = np.array(self.task_names, dtype=object)
        strata = names[self.item_tasks] if len(names) > 1 else None
        values, n_answers = self.answers, None
        if not self.is_answered_once:
            values, n_answers = self._by_repeat()
        return ItemTable(
            names=self.names,
            items=self.items,
            values=values,
            n_answers=n_answers,
            groups=self.clusters,
            strata=strata,
        )

    def labels(self) -> tuple[NDArray[np.uint8], dict[str, NDArray[np.uint8]]]:
        """What `compare_all` takes: the truth, all 1, and who is right.

        Returns
        -------
        y_true : ndarray of shape (N,)
            Ones.
        preds : dict of str to ndarray of shape (N,)
            1 where the model is right, else 0.

        Raises
        ------
        ValueError
            If values are not all 0 or 1, or items are answered several times.
        """
        if not self.is_answered_once:
            raise ValueError(
                "labels() needs one answer an item, and some items have several: pass "
                "values() to compare_means"
            )
        if not self.is_right_or_wrong:
            raise ValueError(
                f"labels() needs values of 0 and 1, and {self.metric} has others: pass "
                "values() to compare_means"
            )
        right = self.answers.astype(np.uint8)
        truth = np.ones(len(self.items), np.uint8)
        return truth, dict(zip(self.names, right, strict=True))

    def task_scores(self) -> ScoreTable:
        """The mean of each model on each task, for `compare_datasets`.

        Returns
        -------
        ScoreTable
            Names, tasks, and scores of shape (M, D): the mean over the items of a task
            of the mean answer to each. Where the items are tasks themselves, as in a
            table of models by data sets, these; where such items are in clusters, as
            the subsets of a task, the means of the clusters.

        Raises
        ------
        ValueError
            If the logs hold splits of one data set only: splits are no data sets.
        """
        if self.unit == "split" and len(self.tasks) == 1:
            raise ValueError(
                "task_scores() needs several tasks, and these are splits of one data "
                f"set, which share training data: {_BY_FOLDS}"
            )
        means = self._item_means()
        names, places = self.task_names, self.item_tasks
        if self.unit == "task":
            labels = self.items if self.clusters is None else self.clusters
            several = len(self.tasks) > 1
            named = [
                task_label(names[task], str(label)) if several else str(label)
                for task, label in zip(places.tolist(), labels.tolist(), strict=True)
            ]
            names = tuple(dict.fromkeys(named))
            index = {name: i for i, name in enumerate(names)}
            places = np.array([index[name] for name in named], np.int64)
        n = np.bincount(places, minlength=len(names))
        sums = np.array([np.bincount(places, row, len(names)) for row in means])
        return ScoreTable(self.names, names, sums / n)

    def fold_scores(self) -> dict[str, Any]:
        """The scores of splits by model, for `compare_folds`.

        Returns
        -------
        dict of str to ndarray of shape (J,)
            The scores of each model in the J splits. Where there are several tasks,
            such a mapping for each of them, by name.

        Raises
        ------
        ValueError
            If the values are not those of splits of a cross-validation.
        """
        if self.unit != "split":
            raise ValueError(
                "fold_scores() needs scores of splits of a cross-validation, and these "
                f"are of {self.unit}s: use compare(), or compare_datasets"
            )
        of = self.item_tasks[self.columns_items]
        scores_by_task = {
            task: dict(zip(self.names, self.answers[:, of == i], strict=True))
            for i, task in enumerate(self.task_names)
        }
        return scores_by_task if len(scores_by_task) > 1 else next(iter(scores_by_task.values()))

    def select(
        self,
        *,
        task: str | Sequence[str] | None = None,
        subset: str | Sequence[str] | None = None,
        models: str | Sequence[str] | None = None,
    ) -> Results:
        """Keep some tasks, subsets and models.

        Parameters
        ----------
        task, subset : str or sequence of str, optional
            Those to keep.
        models : str or sequence of str, optional
            Those to keep, in this order.

        Returns
        -------
        Results
            The same of fewer tasks or models.

        Raises
        ------
        ValueError
            If one is unknown, or nothing is left.
        """
        tasks = [t for t, _ in self.tasks]
        subsets = [s for _, s in self.tasks]
        names_kept = (_names_kept(task, "task", tasks), _names_kept(subset, "subset", subsets))
        task_numbers = [
            i
            for i, pair in enumerate(self.tasks)
            if all(w is None or x in w for x, w in zip(pair, names_kept, strict=True))
        ]
        if not task_numbers:
            raise BadValueError(f"`task={task!r}` and subset={subset!r} are nowhere together")
        model_names = _names_kept(models, "models", self.names)
        rows = [self.names.index(name) for name in model_names or self.names]
        return _part(self, rows, task_numbers)

    def compare(self, **options: Any) -> Any:
        """Compare all models, by what the values are.

        Parameters
        ----------
        **options
            Those of `compare_all` where all values are 0 or 1 and each item is answered
            once, else those of `compare_means`; tasks are strata, and clusters groups.
            ``stratum_weights="equal"`` has each task count the same.

        Returns
        -------
        PairwiseResult or MeansResult
            The comparison.

        Raises
        ------
        ValueError
            If there are fewer than two models, or the items are splits of a
            cross-validation, which share training data.
        """
        if self.unit == "split":
            raise ValueError(
                "compare() takes items as independent, and these are splits of a "
                f"cross-validation, which share training data: {_BY_FOLDS}"
            )
        if self.is_right_or_wrong and self.is_answered_once:
            from fastcmp.pairwise.compare_all import compare_all

            table = self.values()
            mine: dict[str, Any] = {"groups": table.groups, "classes": (0, 1)}
            if options.get("stratum_weights", "items") != "items":
                mine["strata"] = table.strata  # which drop out where all items count
            return compare_all(*self.labels(), **(mine | options))
        from fastcmp.items.compare_means import compare_means

        return compare_means(self.values(), **options)

    def columns(self) -> dict[str, list[Any]]:
        """A row a value.

        Returns
        -------
        dict of str to list
            Model, task, subset, metric, item, repeat, value, cluster (None where there
            is none), status, attempts and source.
        """
        m, k = self.answers.shape
        of = self.item_tasks[self.columns_items]

        def by_column(entries: Sequence[Any]) -> Any:
            return np.array(entries, dtype=object)[of].tolist() * m

        status = np.zeros((m, k), np.uint8) if self.status is None else self.status
        clusters: list[Any] = [None] * k
        if self.clusters is not None:
            clusters = self.clusters[self.columns_items].tolist()
        attempts = [1] * (m * k)
        if self.attempts is not None:
            attempts = self.attempts.ravel().tolist()
        items = list(map(str, self.items[self.columns_items].tolist()))
        sources = np.array(self.sources, dtype=object).reshape(m, -1)
        return {
            "model": np.repeat(np.array(self.names, dtype=object), k).tolist(),
            "task": by_column([task for task, _ in self.tasks]),
            "subset": by_column([subset for _, subset in self.tasks]),
            "metric": by_column(self.metrics),
            "item": items * m,
            "repeat": self.repeats.tolist() * m,
            "value": self.answers.ravel().tolist(),
            "cluster": clusters * m,
            "status": np.array(STATUS, dtype=object)[status].ravel().tolist(),
            "attempts": attempts,
            "source": sources[:, of].ravel().tolist(),
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A row a model; where there are several tasks, a row a task too.
        """
        means = self._item_means()
        columns = {
            "model": written(self.names, visible),
            "mean": written(means.mean(axis=1), ".4f"),
            "errors": written(self.n_errors),
            "unscored": written(self.n_unscored),
        }
        n_tasks, n_items = len(self.tasks), len(self.items)
        title = ", ".join(
            (counted(len(self.names), "model"), counted(n_tasks, "task"), counted(n_items, "item"))
        )
        about = {"text": _sentences(self), "notes": self.remarks}
        sections = [table_of(answer(title), columns, most=None, **about)]
        if n_tasks > 1:
            sections.append(_tasks(self, means))
        return sections

    def _by_repeat(self) -> tuple[Floats, Ints]:
        """The values with an axis of repeats, and how many there are."""
        per_item = np.bincount(self.columns_items, minlength=len(self.items))
        ends = np.cumsum(per_item)
        place = np.arange(len(self.columns_items)) - np.repeat(ends - per_item, per_item)
        shape = (len(self.names), len(self.items), int(per_item.max()))
        values = np.full(shape, np.nan)
        values[:, self.columns_items, place] = self.answers
        return values, np.tile(per_item, (shape[0], 1))

    def _item_means(self) -> Floats:
        """The mean answer to each item, shape (M, N)."""
        if self.is_answered_once:
            return self.answers
        starts = np.flatnonzero(np.diff(self.columns_items, prepend=-1))
        sums = np.add.reduceat(self.answers, starts, axis=1)
        means: Floats = sums / np.bincount(self.columns_items)
        return means


# What `Results` say of themselves.


_POLICIES = {"wrong": "counted as 0", "drop": "their items left out for all models"}


def _sentences(results: Results) -> tuple[str, ...]:
    """Sentences on what the values are, and how missing ones count."""
    kind = "right or wrong" if results.is_right_or_wrong else "graded"
    sentences = [f"Metric: {visible(results.metric)}, {kind}. Format: {results.format}."]
    if not results.is_answered_once:
        n = np.bincount(results.columns_items)
        least, most = int(n.min()), int(n.max())
        number = f"{most}" if least == most else f"{least} to {most}"
        sentences.append(f"Answers to an item by a model: {number}.")
    if results.clusters is not None:
        n_clusters = len(set(results.clusters.tolist()))
        sentences.append(how(f"The items are in {counted(n_clusters, 'cluster')}."))
    n_lacking = int(results.n_errors.sum() + results.n_unscored.sum())
    if n_lacking:
        policy = _POLICIES[results.errors]
        sentences.append(f"{counted(n_lacking, 'answer')} without a value: {policy}.")
    return tuple(sentences)


def _tasks(results: Results, means: Floats) -> Section:
    """A row a task."""
    n = np.bincount(results.item_tasks, minlength=len(results.tasks))
    sums = [np.bincount(results.item_tasks, row, len(results.tasks)) for row in means]
    by_task = (np.array(sums) / n).T
    rows = []
    for name, metric, size, scores in zip(
        results.task_names, results.metrics, n.tolist(), by_task, strict=True
    ):
        best = int(np.argmax(scores))
        rows.append(
            (
                visible(name),
                visible(metric),
                str(size),
                f"{scores.min():.4f}",
                f"{scores.max():.4f}",
                visible(results.names[best]),
            )
        )
    return Section(
        title="Tasks",
        columns=("task", "metric", "items", "least mean", "largest mean", "of"),
        rows=tuple(rows),
    )


# Some models, tasks and subsets of `Results`.


def _part(results: Results, rows: Sequence[int], tasks: Sequence[int]) -> Results:
    """Keep some models and tasks, by their numbers."""
    new = np.full(len(results.tasks), -1)
    new[tasks] = np.arange(len(tasks))
    has = new[results.item_tasks] >= 0
    places = np.cumsum(has) - 1
    columns = np.flatnonzero(has[results.columns_items])
    cut, of = (np.ix_(np.array(rows), columns), np.ix_(np.array(rows), np.array(tasks)))
    status = None if results.status is None else results.status[cut]
    return replace(
        results,
        names=tuple(results.names[i] for i in rows),
        tasks=tuple(results.tasks[i] for i in tasks),
        metrics=tuple(results.metrics[i] for i in tasks),
        items=results.items[has],
        item_tasks=new[results.item_tasks[has]],
        columns_items=places[results.columns_items[columns]],
        repeats=results.repeats[columns],
        answers=results.answers[cut],
        status=status,
        attempts=None if results.attempts is None else results.attempts[cut],
        clusters=None if results.clusters is None else results.clusters[has],
        sources=tuple(tuple(results.sources[i][j] for j in tasks) for i in rows),
        negated=tuple(results.negated[i] for i in tasks),
        task_errors=results.task_errors[of],
        task_unscored=results.task_unscored[of],
    )


def _names_kept(words: Any, name: str, there: Sequence[str]) -> list[str] | None:
    """Check what is to be kept."""
    if words is None:
        return None
    names = [words] if isinstance(words, str) else list(words)
    for word in names:
        if word not in there:
            raise BadValueError(
                f"`{name}`: there is no {visible(str(word))}, but "
                f"{listed(dict.fromkeys(there), 20)}"
            )
    if not names:
        raise BadValueError(f"`{name}` must name at least one", "none")
    return list(dict.fromkeys(names))
