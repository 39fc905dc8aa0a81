"""What a page holds about pairs: the decisions, and the numbers of those kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.sections import interval_name
from fastcmp.pairwise.leaderboard import style_of
from fastcmp.pairwise.margins import mirrored_decisions
from fastcmp.pairwise.ranking import BETTER, EVEN, TIED, UNTESTED, WORSE
from fastcmp.report.packing import compressed, in_steps, pvalues, rounded, step_of, stepped, whole
from fastcmp.report.wording import ADJUSTMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fastcmp.pairwise.result import PairwiseResult

#: Pairs whose numbers a page holds; of more, those of the best models.
MOST_PAIRS = 600_000
#: Codes of decisions: of the model with the better rank beside the other.
_CODES = {TIED: 0, BETTER: 1, WORSE: 2, EVEN: 3, UNTESTED: 4}
_STATISTICS = {
    "chi2": "Chi-squared",
    "normal": "z",
    "t": "t",
    "F": "F",
    "studentized-range": "q",
    "e-value": "Logarithm of the e-value",
}
_DIGITS = 4
_FEW = 1e-7  # below which a power of ten has an exponent
_LARGE = 2.0**31
_POINTS = 1e-5  # a thousandth of a percentage point
#: What columns of pairs are called on a page; others, by their names.
_LABELS = {
    "only_a": "The first did better",
    "only_b": "The second did better",
    "pvalue": "p-value",
    "wins": "Data sets won by the first",
    "losses": "Data sets won by the second",
    "n_tasks": "Data sets of both",
    "n_items": "Items of both",
    "df": "Degrees of freedom",
    "standard_error": "Standard error of the difference",
    "noninferiority_pvalue_adjusted": "Adjusted p of H0: worse by the margin or more",
    "equivalence_pvalue_adjusted": "Adjusted p of H0: apart by the margin or more",
    "decision": "With the margin, the first beside the second",
    "decision_b": "With the margin, the second beside the first",
}
_NO_ROWS = ("model_a", "model_b", "significant", "difference", "low", "high")


def pair_data(result: PairwiseResult) -> dict[str, Any]:
    """Give all that boards.js needs, ready for JSON; models are in order of rank."""
    order = result.leaderboard.models
    place = np.argsort(order)
    pairs = place[result.pairs]
    chosen, n_best = _chosen(pairs)
    pairs = pairs[chosen]
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    key = low * len(order) + high
    sorting = np.argsort(key, kind="stable")
    chosen = chosen[sorting]
    own = style_of(result.measure, any_size=result.any_size)
    percent = own == "percent"
    return {
        "names": [result.names[i] for i in order],
        "scores": [x if np.isfinite(x) else None for x in result.score[order].tolist()],
        "ranks": result.leaderboard.rank.tolist(),
        "correct": None if result.correct is None else result.correct[order].tolist(),
        "samples": result.n_samples,
        "measure": result.measure,
        "unit": " percentage points" if percent else "",
        "scale": 100 if percent else 1,
        "alpha": result.alpha,
        "interval": interval_of(result),
        "statistic": _statistic_name(result),
        "margin": None if result.margins is None else float(result.margins.margin),
        "lower": bool(result.less_is_better),
        "best": n_best,
        "decisions": compressed(_rows_of_decisions(result.decisions, order)),
        "keys": whole(np.diff(key[sorting], prepend=0), kind="sums"),
        "swapped": whole((pairs[sorting, 0] > pairs[sorting, 1]).astype(np.int64)),
        "numbers": _numbers(result, chosen, percent=percent),
        "rows": _rows(result, chosen),
    }


def rounding(result: PairwiseResult, data: dict[str, Any]) -> str:
    """Say what is rounded, and of which pairs the page has no numbers."""
    step = data["numbers"]["difference"]["step"] * data["scale"]
    said = [
        f"Numbers of pairs are rounded in this page: differences to {_plain(step)}"
        f"{data['unit']}, p-values to four decimals, those below 0.001 to two digits, "
        "statistics to four digits."
    ]
    if data["best"]:
        said.append(
            f"Of {len(result.pairs)} pairs it has the numbers of those among the "
            f"{data['best']} best models."
        )
    elif len(result.pairs) < result.n_pairs:
        said.append(
            f"Of {result.n_pairs} tested pairs it has the numbers of the "
            f"{len(result.pairs)} that were kept."
        )
    return " ".join(said)


def _plain(step: float) -> str:
    """Write a power of ten without an exponent, if it has few zeros."""
    return f"{step:g}" if not _FEW < step < 1.0 else f"{step:.7f}".rstrip("0")


def _chosen(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Choose the pairs whose numbers the page holds: all, or those of the best."""
    if len(pairs) <= MOST_PAIRS:
        return np.arange(len(pairs)), 0
    lower_of_two = pairs.max(axis=1)
    counts = np.bincount(lower_of_two).cumsum()
    n_best = int(np.searchsorted(counts, MOST_PAIRS, side="right"))
    return np.flatnonzero(lower_of_two < n_best), n_best


def _rows_of_decisions(decisions: NDArray[np.int8], order: NDArray[np.int64]) -> Iterator[bytes]:
    """Give the upper triangle row by row, in order of rank, a byte a pair."""
    codes = np.zeros(5, np.uint8)
    for decision, code in _CODES.items():
        codes[decision] = code  # that of -1 stands last
    for row, model in enumerate(order):
        yield codes[decisions[model, order[row + 1 :]]].tobytes()


def _numbers(result: PairwiseResult, chosen: NDArray[np.int64], *, percent: bool) -> dict[str, Any]:
    """Pack differences and intervals, rounded to steps of what is written."""
    difference = result.difference[chosen]
    interval = result.interval[chosen]
    all_ends = np.concatenate([difference, *interval.T])
    step = _POINTS if percent else step_of(all_ends)
    gap = np.subtract(*result.score[result.pairs[chosen]].T)
    base = in_steps(np.where(np.isfinite(gap), gap, 0.0), step)
    known = np.isfinite(difference)
    steps = in_steps(np.where(known, difference, 0.0), step)
    return {
        "difference": stepped(difference, step, base),
        "low": stepped(interval[:, 0], step, steps, -1),
        "high": stepped(interval[:, 1], step, steps),
    }


def _rows(result: PairwiseResult, chosen: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Pack all other columns of the pairs."""
    columns = {name: column for name, column in result.columns().items() if name not in _NO_ROWS}
    if result.margins is not None:
        columns["decision_b"] = mirrored_decisions(result)
    procedure = ADJUSTMENTS.get(result.adjust, "no adjustment")
    labels = _LABELS | {
        "statistic": _statistic_name(result),
        "pvalue_adjusted": f"Adjusted p-value ({procedure})",
    }
    if result.correct is not None:
        labels |= {"only_a": "Only the first is right", "only_b": "Only the second is right"}
    expected = _expected(result)
    rows = []
    for name, values in columns.items():
        beyond, how = values, {}
        if name in expected:
            base, from_ = expected[name]
            if (np.asarray(values) % 1 == 0).all():
                beyond, how = np.asarray(values) - base, {"from": from_}
        packed = _packed(name, beyond, chosen) | how
        rows.append({"name": name, "label": labels.get(name, name), **packed})
    return rows


def _expected(result: PairwiseResult) -> dict[str, tuple[Any, str]]:
    """Give counts that follow from others: they take no space then."""
    if result.only_a is None:
        return {}
    lesser = np.minimum(result.only_a, result.only_b)
    found: dict[str, tuple[Any, str]] = {"statistic": (lesser, "lesser")}
    if result.correct is not None:
        gap = np.subtract(*result.correct[result.pairs].T)
        found["only_b"] = (result.only_a - gap, "correct")
    return found


def _packed(name: str, values: Any, chosen: NDArray[np.int64]) -> dict[str, Any]:
    """Pack a column as numbers, or as the words that it has."""
    column = np.asarray(values)[chosen]
    if column.dtype.kind in "iub":
        return whole(column.astype(np.int64))
    if "pvalue" in name:
        return pvalues(column)
    if column.dtype.kind == "f":
        known = column[np.isfinite(column)]
        if known.size and (np.abs(known) < _LARGE).all() and (known % 1 == 0).all():
            steps = np.where(np.isfinite(column), column, 0.0).astype(np.int64)
            return whole(steps, np.isfinite(column))
        return rounded(column, _DIGITS)
    words, codes = np.unique(column.astype(str), return_inverse=True)
    return whole(codes.astype(np.int64)) | {"kind": "words", "words": words.tolist()}


def interval_of(result: PairwiseResult) -> str:
    """Name the intervals of differences."""
    kind = "" if result.critical_value is None else "simultaneous "
    return kind + interval_name(1 - result.alpha)


def _statistic_name(result: PairwiseResult) -> str:
    """Name the statistic of each pair, with its degrees of freedom if these are one."""
    name = _STATISTICS.get(result.distribution, f"Statistic ({result.distribution})")
    if result.df is None or np.ndim(result.df):
        return name
    return f"{name}, {float(result.df):g} d.f."
