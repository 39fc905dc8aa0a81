"""Battles read and checked: wins and ties as counted, scores on tasks, or a row a battle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import LARGEST_COUNT, as_numbers, check_size, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import Record, TaskScores
from fastcmp.core.render import visible
from fastcmp.core.sections import Section
from fastcmp.core.threads import check_memory
from fastcmp.core.typing import Flags, Floats, Ints, ModelsLike
from fastcmp.datasets.bradley_terry_model import RowBattles, TableBattles
from fastcmp.datasets.reading import POLICIES, Gains, gains_of
from fastcmp.datasets.reading import read_scores as read_score_table
from fastcmp.inputs.columns import count_rows, read_column, read_values
from fastcmp.inputs.item_groups import read_item_groups
from fastcmp.inputs.model_names import (
    check_distinct_names,
    check_indexes,
    has_names,
    named_columns,
    read_names,
)
from fastcmp.inputs.values import ItemTable

_ARRAYS = 16  # of M x M numbers, at the same time while strengths are estimated


class WinTables(NamedTuple):
    """Wins and ties of M models."""

    names: tuple[str, ...]
    #: Wins of the model of the row over that of the column, shape (M, M).
    wins: Floats
    #: Ties, on both sides of the diagonal, shape (M, M).
    ties: Floats


def read_win_tables(wins: object, ties: object, names: object) -> WinTables:
    """Both tables, checked, with the names of the models."""
    table, columns = _read_table(wins, "wins")
    n_models = len(table)
    if n_models < 2:
        raise BadValueError("`wins` must be of at least 2 models", f"shape {table.shape}")
    tied = np.broadcast_to(0.0, table.shape)
    if ties is not None:
        tied, labels = _read_table(ties, "ties")
        if tied.shape != table.shape:
            raise BadValueError(f"`ties` must have the shape of wins, {table.shape}", tied.shape)
        if columns is not None and labels is not None and labels != columns:
            raise BadValueError("`ties` must have the models of wins in the same order (pandas)")
        if (different := np.argwhere(tied != tied.T)).size:
            i, j = different[0].tolist()
            raise BadValueError(
                "`ties` must be symmetric, each tie on both sides of the diagonal",
                f"{tied[i, j]:g} at [{i}, {j}] and {tied[j, i]:g} at [{j}, {i}]",
            )
    if not table.sum() + tied.sum() <= LARGEST_COUNT:
        raise BadValueError("`wins` and ties must add up to at most 2**53")
    return WinTables(read_names(names, n_models, columns), table, tied)


def _read_table(raw: Any, name: str) -> tuple[Floats, list[str] | None]:
    """Read a square table of numbers >= 0 with 0 on the diagonal, and its labels."""
    labels = None
    if hasattr(raw, "iloc") and getattr(raw, "ndim", 0) == 2:  # pandas
        labels = [str(column) for column in raw.columns]
        if [str(label) for label in raw.index] != labels and list(raw.index) != [*range(len(raw))]:
            raise BadValueError(
                f"`{name}` must have the same models as index and as columns, in the same "
                "order (pandas)",
                f"{list(raw.index)[:4]} and {labels[:4]}",
            )
        check_distinct_names(labels, name)
        raw = raw.to_numpy()
    table = as_numbers(raw, name).astype(np.float64, copy=False)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise BadValueError(f"`{name}` must be of shape (M, M)", table.shape)
    check_memory(
        8.0 * _ARRAYS * table.size, None, f"battles of {len(table)} models", "take fewer models"
    )
    if not (table.min(initial=0.0) >= 0.0 and table.max(initial=0.0) < np.inf):
        i, j = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0].tolist()
        raise BadValueError(f"`{name}` must be finite and >= 0", f"{table[i, j]} at [{i}, {j}]")
    met = np.flatnonzero(np.diagonal(table))
    if met.size:
        raise BadValueError(
            f"`{name}` must be 0 on the diagonal (no model meets itself)",
            f"{table[met[0], met[0]]:g} for model {met[0]}",
        )
    return table, labels


# Which models are linked by wins: whether strengths have a finite estimate.


_SHOWN = 6  # names, and components

Components = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WinComponents(Record):
    """Models in groups that are linked by wins and ties."""

    names: tuple[str, ...]
    #: Indices of models of which each beat, or tied with, each other one directly or
    #: through others; ascending, as the groups are by their first models.
    strong_components: Components
    #: Indices of models that are linked by battles, whoever won.
    weak_components: Components

    @property
    def mle_exists(self) -> bool:
        """Whether all strengths have finite estimates (Ford's condition)."""
        return len(self.strong_components) == 1

    def columns(self) -> dict[str, Any]:
        """The groups as columns, a row a model.

        Returns
        -------
        dict of str to list
            Names, and the numbers of both groups.
        """
        strong, weak = (
            {model: at for at, group in enumerate(groups) for model in group}
            for groups in (self.strong_components, self.weak_components)
        )
        models = range(len(self.names))
        return {
            "model": list(self.names),
            "strong_component": [strong[i] for i in models],
            "weak_component": [weak[i] for i in models],
        }

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section.
        """
        text: tuple[str, ...] = (
            f"{len(self.names)} models, all linked by wins in both directions: their "
            "strengths can be estimated.",
        )
        if not self.mle_exists:
            text = (f"{self.problem.capitalize()}.",)
        return [Section(title="Models linked by wins", text=text)]

    @property
    def problem(self) -> str:
        """Why there is no finite estimate, in words; "" where there is one."""
        if self.mle_exists:
            return ""
        apart = len(self.weak_components) > 1
        groups = self.weak_components if apart else self.strong_components
        listed = " | ".join(
            _first_names([self.names[i] for i in group]) for group in groups[:_SHOWN]
        )
        if len(groups) > _SHOWN:
            listed += f" | and {len(groups) - _SHOWN} more"
        if apart:
            return f"{len(groups)} groups of models never met: {listed}"
        return (
            f"the models fall into {len(groups)} groups, and of any two groups one "
            f"never lost to the other, so that some strengths are infinite: {listed}"
        )


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + f" and {more} more" * (more > 0)


def win_components(
    wins: ArrayLike, ties: ArrayLike | None = None, *, names: Sequence[str] | None = None
) -> WinComponents:
    """Whether models can be ranked by strengths of Bradley and Terry.

    Parameters
    ----------
    wins : array-like, shape (M, M)
        How often the model of the row beat that of the column; 0 on the diagonal. A
        pandas frame with equal index and columns names the models.
    ties : array-like, shape (M, M), optional
        How often each two tied, the same on both sides of the diagonal. A tie links
        both models, as half a win for each does.
    names : sequence of str, optional
        What to call the models.

    Returns
    -------
    WinComponents
        Groups that are strongly and weakly linked, and whether all finite estimates
        exist: where there is one strong component.

    Raises
    ------
    ValueError
        If shapes differ, there are fewer than two models, or a count is negative or not
        finite.
    TypeError
        If counts are not numbers.

    References
    ----------
    .. [1] L. R. Ford, "Solution of a ranking problem from binary comparisons", American
       Mathematical Monthly 64 (1957) 28-33.

    Examples
    --------
    >>> from fastcmp.datasets import win_components
    >>> found = win_components([[0, 3, 2], [0, 0, 1], [0, 2, 0]])
    >>> found.strong_components, found.mle_exists
    (((0,), (1, 2)), False)
    """
    tables = read_win_tables(wins, ties, names)
    return find_components(tables.names, tables.wins + tables.ties)


def find_components(names: tuple[str, ...], linked: Floats) -> WinComponents:
    """Group models of which that of the row won from that of the column, or tied."""
    strong = components(linked, "strong")
    weak = strong if len(strong) == 1 else components(linked, "weak")
    return WinComponents(names=names, strong_components=strong, weak_components=weak)


def components(linked: Floats, kind: str) -> Components:
    """Group models that numbers above 0 link, each in order."""
    direct = linked > 0
    np.fill_diagonal(direct, val=True)
    if direct.all() or (_reaches_all(direct) and _reaches_all(direct.T)):
        return (tuple(range(len(linked))),)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(csr_array(direct), connection=kind)
    groups: dict[int, list[int]] = {}
    for model, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(model)
    return tuple(map(tuple, groups.values()))


def _reaches_all(direct: Flags) -> bool:
    """Whether the first model is linked to all, directly or through others."""
    reached = new = np.arange(len(direct)) == 0
    while new.any() and not reached.all():
        new = direct[new].any(axis=0) & ~reached
        reached = reached | new
    return bool(reached.all())


def davidson_problem(wins: Floats, ties: Floats) -> str:
    """Why Davidson's nu has no finite estimate; "" where strengths and nu have one.

    The likelihood rises without end along u and v > 0, for strengths and log nu, where
    u_i - u_j >= 2 v for each win of i over j and |u_i - u_j| <= 2 v for each tie. Such
    differences are possible unless they add up to a contradiction along a cycle.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

    if not (ties > 0).any():
        return "there is no tie, so that nu is 0: ties_as='ignored' is the same model"
    if not (wins > 0).any():
        return "all battles are ties, so that nu is infinite"
    if len(components(wins, "strong")) < len(wins):
        return ""  # some models won in a cycle
    lengths = np.where(wins > 0, -2.0, np.where(ties > 0, 2.0, 0.0))
    try:
        bellman_ford(csr_array(lengths), indices=0)
    except NegativeCycleError:
        return ""
    return (
        "no wins go round in a circle, and ties are only between models next to each "
        "other, so that strengths and nu grow without end together: take ties_as='half'"
    )


_RESULTS = (0.0, 0.5, 1.0)


def read_scores(
    scores: ModelsLike | TaskScores,
    *,
    lower_is_better: bool,
    missing: str,
    groups: object,
    names: object,
) -> tuple[tuple[str, ...], TableBattles, int]:
    """Read scores (M, D): names, battles, and tasks dropped for missing scores."""
    missing = choose(missing, "missing", POLICIES)
    if isinstance(scores, ItemTable):
        groups = scores.groups if groups is None else groups
        scores = dict(zip(scores.names, scores.means, strict=True))
    board = read_score_table(scores, names, lower_is_better=lower_is_better)
    names, tasks, table, _ = board
    absent = np.isnan(table)
    if missing == "raise" and absent.any():
        model, task = np.argwhere(absent)[0].tolist()
        raise BadValueError(
            f"`scores`: {visible(names[model])} has none on {visible(tasks[task])} "
            f"({np.count_nonzero(absent)} missing in all)",
            remedy="; pass `missing='pairs'` for the tasks of both models of a pair, 'tasks' for "
            "complete tasks only, or 'worst' to count a missing score as lost",
        )
    kept = ~absent.any(axis=0) if missing == "tasks" else ~absent.all(axis=0)
    if not kept.any():
        raise BadValueError("`scores` must hold a task that all models have", "none")
    clusters = read_item_groups(
        table.shape[1], groups=groups, keep=None if kept.all() else np.asarray(kept)
    ).clusters
    gains = gains_of(board)
    codes = rank_codes(gains, worst=missing == "worst")
    codes = np.ascontiguousarray(codes[:, kept])
    n_tasks = codes.shape[1]
    source = TableBattles(
        codes=codes,
        clusters=np.arange(n_tasks) if clusters is None else clusters.codes,
        n_clusters=n_tasks if clusters is None else len(clusters.labels),
    )
    return names, source, int(np.count_nonzero(~kept))


def rank_codes(gains: Gains, *, worst: bool = False) -> Ints:
    """Whole numbers from 1 upwards for the scores of each task, -1 for missing ones.

    Missing scores are 0, below all others, where they count as the worst.
    """
    table = gains.values
    order = np.argsort(table, axis=0, kind="stable")  # NaN last
    ascending = np.take_along_axis(table, order, axis=0)
    rises = np.diff(ascending, axis=0) > gains.tolerance  # False for NaN
    steps = np.concatenate([np.ones((1, table.shape[1]), np.int64), rises])
    codes = np.empty(table.shape, np.int64)
    np.put_along_axis(codes, order, np.cumsum(steps, axis=0), axis=0)
    codes[np.isnan(table)] = 0 if worst else -1
    return codes


def read_rows(
    battles: object, options: dict[str, str | None], names: object
) -> tuple[tuple[str, ...], RowBattles, bool]:
    """Read a table of battles: names, battles, and whether they have clusters."""
    columns = _columns_of(battles, options)
    texts = {key: _read_names_of(columns[key], options[key]) for key in ("model_a", "model_b")}
    models = list(dict.fromkeys([*texts["model_a"][1], *texts["model_b"][1]]))
    order = models
    if names is not None:
        order = list(read_names(names, len(models)))
        if set(order) != set(models):
            raise BadValueError(f"`names` must be the models of battles, {models[:10]}", order)
    if len(models) < 2:
        raise BadValueError("`battles` must be of at least 2 models", models)
    at = {name: i for i, name in enumerate(order)}
    first, second = (
        np.array([at[label] for label in labels], np.int64)[codes]
        for codes, labels in texts.values()
    )
    if (itself := np.flatnonzero(first == second)).size:
        raise BadValueError(
            "`battles` must be of two different models",
            f"{order[first[itself[0]]]!r} against itself in row {itself[0]} ({itself.size} in all)",
        )
    n = first.size
    grouped = "group" in columns
    if grouped and options["group"] == OPTIONAL["group"]:
        items = read_column(columns["group"], "group").factorized().distinct
        if all(item == "" for item in items):  # as `fastcmp.read_battles` writes no item
            grouped = False
            del columns["group"]
    groups = read_item_groups(n, groups=columns.get("group")).clusters
    source = RowBattles(
        first=first,
        second=second,
        points=_read_points(columns["result"], options["result"]),
        weights=_read_weights(columns.get("weight"), options["weight"], n),
        n_models=len(order),
        clusters=np.arange(n) if groups is None else groups.codes,
        n_clusters=n if groups is None else len(groups.labels),
    )
    return tuple(order), source, grouped


#: Columns that are used where they are there, without being asked for.
OPTIONAL = {"group": "item", "weight": "weight"}


def _columns_of(battles: object, options: dict[str, str | None]) -> dict[str, Any]:
    """The columns that the options name."""
    if isinstance(battles, Record):
        battles = battles.columns()
    if hasattr(battles, "collect") or not has_names(battles):
        raise BadTypeError(
            "`battles` must be a frame in memory or a mapping name -> column, with columns of "
            "both models and of results",
            type(battles).__name__,
        )
    by_name = dict(named_columns(battles, "battles"))
    columns = {}
    for key, name in options.items():
        if name is None and key in OPTIONAL:
            continue
        if isinstance(name, str) and name in by_name:
            columns[key] = by_name[name]
        elif key not in OPTIONAL or name != OPTIONAL[key]:
            listed = ", ".join(repr(column) for column in islice(by_name, 20))
            raise BadValueError(f"`{key}={name!r}` is no column of battles, which has {listed}")
    check_indexes([(str(options[key]), raw) for key, raw in columns.items()])
    sizes = {str(options[k]): count_rows(raw, str(k)) for k, raw in columns.items()}
    if len(set(sizes.values())) > 1:
        raise BadValueError("columns of `battles` must be of equal length", sizes)
    check_size(min(sizes.values()), "battles", "row", 1)
    return columns


def _read_names_of(raw: object, name: object) -> tuple[Ints, list[str]]:
    """Read a column of models as codes and labels."""
    column = read_column(raw, f"column {name!r}")
    if (absent := column.missing()) is not None:
        row = int(np.flatnonzero(absent)[0])
        raise BadValueError(f"column {name!r} of `battles` must name a model", f"none in row {row}")
    column = column.factorized()
    codes = column.positions().astype(np.int64)
    labels = [str(label) for label in column.distinct]
    # In the order in which they are first seen, without categories that have no row.
    first = np.full(len(labels), codes.size)
    np.minimum.at(first, codes, np.arange(codes.size))
    order = np.argsort(first)[: np.count_nonzero(first < codes.size)]
    rank = np.zeros(len(labels), np.int64)
    rank[order] = np.arange(order.size)
    return rank[codes], [labels[i] for i in order]


def _read_points(raw: object, name: object) -> Floats:
    """Read points of the first model: 1, 0.5 or 0."""
    try:
        points = read_values(raw, f"column {name!r}")
    except TypeError:
        raise BadTypeError(
            f"column {name!r} of `battles` must hold 1 where the first model won, 0.5 for a tie "
            "and 0 where the second won",
            "texts",
            ": fastcmp.read_battles reads files that name winners",
        ) from None
    bad = np.flatnonzero(~np.isin(points, _RESULTS))
    if bad.size:
        raise BadValueError(
            f"column {name!r} of `battles` must hold 1, 0.5 or 0",
            f"{points[bad[0]]:g} in row {bad[0]} ({bad.size} such rows)",
        )
    return points


def _read_weights(raw: object, name: object, n: int) -> Floats:
    if raw is None:
        return np.ones(n)
    weights = read_values(raw, f"column {name!r}")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise BadValueError(
            f"column {name!r} of `battles` must be finite and >= 0",
            f"{weights[bad[0]]} in row {bad[0]} ({bad.size} such rows)",
        )
    return weights
