"""Who differs from whom: a table of few models, a map of many, each pair in full."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.sections import format_pvalue, interval_name
from fastcmp.core.typing import Floats, Ints, Numbers
from fastcmp.pairwise.adjust import PROCEDURES
from fastcmp.pairwise.decisions import BETTER, EVEN, TIED, UNTESTED, WORSE
from fastcmp.pairwise.leaderboard import format_difference, format_ends, style_of
from fastcmp.pairwise.margins import mirrored_decisions
from fastcmp.report.blocks import Block

if TYPE_CHECKING:
    from fastcmp.pairwise.result import PairwiseResult


#: P-values below this have digits; others have so many steps between 0 and 1.
_SMALL, _DECIMALS = 1e-3, 10_000
_SMALLEST = -323  # exponent of the smallest numbers that are not 0


def compressed(parts: Iterable[bytes]) -> str:
    """Compress bytes, and write them in letters."""
    packer = zlib.compressobj(6)
    packed = [packer.compress(part) for part in parts]
    return base64.b64encode(b"".join([*packed, packer.flush()])).decode()


def whole(values: Ints, is_known: Any = None, **how: object) -> dict[str, Any]:
    """Pack whole numbers in as few bytes each as hold them; NaN where not `is_known`.

    The first bytes of all numbers come before the second ones: they compress better.
    """
    is_known = np.ones(values.shape, bool) if is_known is None else is_known
    known_values = values[is_known]
    least, most = (
        (int(known_values.min()), int(known_values.max())) if known_values.size else (0, 0)
    )
    width = next(w for w in (1, 2, 4) if most - least + 1 < 256**w)
    unknown = 256**width - 1
    moved = np.where(is_known, values - least, unknown).astype(f"<u{width}")
    planes = np.ascontiguousarray(moved).view(np.uint8).reshape(-1, width).T
    packed = compressed([planes.tobytes()])
    return {"kind": "whole", "width": width, "least": least, "packed": packed, **how}


def stepped(values: Floats, step: float, base: Ints, sign: int = 1) -> dict[str, Any]:
    """Pack numbers as whole steps beyond those of `base`, or short of them."""
    is_known = np.isfinite(values)
    steps = in_steps(np.where(is_known, values, 0.0), step)
    return whole(sign * (steps - base), is_known, kind="stepped", step=step, sign=sign)


def in_steps(values: Numbers, step: float) -> Ints:
    """Round to whole steps as a page's script does, halves up."""
    steps: Ints = np.floor(values / step + 0.5).astype(np.int64)
    return steps


def rounded(values: Floats, digits: int) -> dict[str, Any]:
    """Pack numbers rounded to so many significant digits.

    A number is its sign, its exponent of ten and its digits, counted as one: 0 is 0.
    """
    is_known = np.isfinite(values)
    size = np.abs(np.where(is_known, values, 0.0))
    is_zero = size == 0.0
    logs = np.log10(np.where(is_zero, 1.0, size))
    exponents = np.floor(logs).astype(np.int64)
    tens = 10 ** (digits - 1)
    leading = np.rint(10.0 ** (logs - exponents) * tens).astype(np.int64)
    up = leading == 10 * tens
    exponents, leading = exponents + up, np.where(up, tens, leading)
    first = int(exponents[~is_zero].min()) if not is_zero.all() else 0
    codes = 1 + (exponents - first) * 9 * tens + leading - tens
    codes = np.where(is_zero, 0, codes)
    codes = np.where(values < 0.0, -codes, codes)
    return whole(codes, is_known, kind="rounded", digits=digits, first=first)


def pvalues(values: Floats) -> dict[str, Any]:
    """Pack p-values to four decimals, those below 0.001 to two digits; 0 stays 0."""
    is_known = np.isfinite(values)
    pvalue = np.where(is_known, values, 1.0)
    is_small = (pvalue > 0.0) & (pvalue < _SMALL)
    logs = np.log10(np.where(is_small, pvalue, _SMALL))
    exponents = np.floor(logs).astype(np.int64)
    leading = np.rint(10.0 ** (logs - exponents + 1)).astype(np.int64)  # 10 to 100
    steps = (-exponents * 90) - (leading - 10)  # 100 is 10 of the next exponent
    codes = np.where(is_small, _DECIMALS + steps, np.rint(pvalue * _DECIMALS))
    return whole(codes.astype(np.int64), is_known, kind="pvalue")


def step_of(values: Any, *, digits: int = 5) -> float:
    """The power of ten that leaves so many digits of the largest number."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0:
        return 10.0**-digits
    return float(10.0 ** max(math.floor(math.log10(largest)) + 1 - digits, _SMALLEST))


# What a page holds about pairs: the decisions, and the numbers of those kept.


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
    """All that boards.js needs, ready for JSON; models are in order of rank."""
    order = result.leaderboard.models
    place = np.argsort(order)
    pairs = place[result.pairs]
    rows, n_best = _chosen(pairs)
    pairs = pairs[rows]
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    key = low * len(order) + high
    sorting = np.argsort(key, kind="stable")
    rows = rows[sorting]
    style = style_of(result.measure, any_size=result.any_size)
    percent = style == "percent"
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
        "numbers": _numbers(result, rows, percent=percent),
        "rows": _rows(result, rows),
    }


def rounding(result: PairwiseResult, data: dict[str, Any]) -> str:
    """What is rounded, and which pairs have numbers in the page, in sentences."""
    step = data["numbers"]["difference"]["step"] * data["scale"]
    sentences = [
        f"Numbers of pairs are rounded in this page: differences to {_plain(step)}"
        f"{data['unit']}, p-values to four decimals, those below 0.001 to two digits, "
        "statistics to four digits."
    ]
    if data["best"]:
        sentences.append(
            f"Of {len(result.pairs)} pairs it has the numbers of those among the "
            f"{data['best']} best models."
        )
    elif len(result.pairs) < result.n_pairs:
        sentences.append(
            f"Of {result.n_pairs} tested pairs it has the numbers of the "
            f"{len(result.pairs)} that were kept."
        )
    return " ".join(sentences)


def _plain(step: float) -> str:
    """Write a power of ten without an exponent, if it has few zeros."""
    return f"{step:g}" if not _FEW < step < 1.0 else f"{step:.7f}".rstrip("0")


def _chosen(pairs: Ints) -> tuple[Ints, int]:
    """Choose the pairs whose numbers the page holds: all, or those of the best."""
    if len(pairs) <= MOST_PAIRS:
        return np.arange(len(pairs)), 0
    lower_of_two = pairs.max(axis=1)
    counts = np.bincount(lower_of_two).cumsum()
    n_best = int(np.searchsorted(counts, MOST_PAIRS, side="right"))
    return np.flatnonzero(lower_of_two < n_best), n_best


def _rows_of_decisions(decisions: NDArray[np.int8], order: Ints) -> Iterator[bytes]:
    """The upper triangle row by row, in order of rank, a byte a pair."""
    codes = np.zeros(5, np.uint8)
    for decision, code in _CODES.items():
        codes[decision] = code  # that of -1 stands last
    for row, model in enumerate(order):
        yield codes[decisions[model, order[row + 1 :]]].tobytes()


def _numbers(result: PairwiseResult, rows: Ints, *, percent: bool) -> dict[str, Any]:
    """Pack differences and intervals, rounded to steps of what is written."""
    difference = result.difference[rows]
    interval = result.interval[rows]
    all_ends = np.concatenate([difference, *interval.T])
    step = _POINTS if percent else step_of(all_ends)
    gap = np.subtract(*result.score[result.pairs[rows]].T)
    base = in_steps(np.where(np.isfinite(gap), gap, 0.0), step)
    is_known = np.isfinite(difference)
    steps = in_steps(np.where(is_known, difference, 0.0), step)
    return {
        "difference": stepped(difference, step, base),
        "low": stepped(interval[:, 0], step, steps, -1),
        "high": stepped(interval[:, 1], step, steps),
    }


def _rows(result: PairwiseResult, rows_of_pairs: Ints) -> list[dict[str, Any]]:
    """Pack all other columns of the pairs."""
    columns = {name: column for name, column in result.columns().items() if name not in _NO_ROWS}
    if result.margins is not None:
        columns["decision_b"] = mirrored_decisions(result)
    procedure = PROCEDURES.get(result.adjust, "no adjustment")
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
        packed = _packed(name, beyond, rows_of_pairs) | how
        rows.append({"name": name, "label": labels.get(name, name), **packed})
    return rows


def _expected(result: PairwiseResult) -> dict[str, tuple[Any, str]]:
    """Counts that follow from others, and so take no space, by column."""
    if result.only_a is None:
        return {}
    lesser = np.minimum(result.only_a, result.only_b)
    columns: dict[str, tuple[Any, str]] = {"statistic": (lesser, "lesser")}
    if result.correct is not None:
        gap = np.subtract(*result.correct[result.pairs].T)
        columns["only_b"] = (result.only_a - gap, "correct")
    return columns


def _packed(name: str, values: object, rows: Ints) -> dict[str, Any]:
    """Pack a column as numbers, or as the words that it has."""
    column = np.asarray(values)[rows]
    if column.dtype.kind in "iub":
        return whole(column.astype(np.int64))
    if "pvalue" in name:
        return pvalues(column)
    if column.dtype.kind == "f":
        finite = column[np.isfinite(column)]
        if finite.size and (np.abs(finite) < _LARGE).all() and (finite % 1 == 0).all():
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


#: Models of a table; a map of more is drawn by boards.js.
MOST_IN_TABLE = 20
_KINDS = {
    BETTER: ("better", "▲", "significantly better"),
    WORSE: ("worse", "▼", "significantly worse"),
    TIED: ("tied", "", "not significantly different"),
    EVEN: ("even", "◆", "different, but equal on average"),
    UNTESTED: ("untested", "\u2013", "not tested"),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A model of a row beside that of a column."""

    row: int
    column: int
    kind: str
    mark: str
    text: str
    #: All that is known, in a sentence without names.
    says: str


@dataclass(frozen=True, kw_only=True)
class Matrix(Block):
    """The decisions about all pairs, and what is known of each."""

    template: ClassVar[str] = "matrix.html.j2"
    styles: ClassVar[tuple[str, ...]] = ("boards.css",)
    scripts: ClassVar[tuple[str, ...]] = ("pair_map.js", "boards.js")
    needs_script: ClassVar[bool] = True
    says: tuple[str, ...]
    #: Of the table, in order of rank, and its cells, None on the diagonal; empty where
    #: a map is drawn.
    names: tuple[str, ...] = ()
    cells: tuple[tuple[Cell | None, ...], ...] = ()
    #: Kind, mark and meaning of the decisions that there are.
    legend: tuple[tuple[str, str, str], ...]
    result: PairwiseResult

    @cached_property
    def data(self) -> dict[str, Any]:
        """All pairs, for boards.js."""
        return pair_data(self.result)

    @property
    def note(self) -> str:
        """What is rounded."""
        return rounding(self.result, self.data)


def matrix_of(result: PairwiseResult) -> Matrix:
    """Show the decisions about all pairs."""
    n = len(result.names)
    small = n <= MOST_IN_TABLE
    decisions = result.decisions
    counts = {code: np.count_nonzero(decisions == code) for code in _KINDS}
    counts[UNTESTED] -= n  # no model is tested against itself
    return Matrix(
        title="Who differs from whom",
        says=_says(result, small=small),
        names=result.leaderboard.names if small else (),
        cells=_cells(result) if small else (),
        legend=tuple(kind for code, kind in _KINDS.items() if counts[code]),
        result=result,
    )


def _says(result: PairwiseResult, *, small: bool) -> tuple[str, ...]:
    """What the table or the map shows, in sentences."""
    unit = " in percentage points" if result.measure == "accuracy" else ""
    less = "; lower is better" if result.less_is_better else ""
    ranked = "The models are in the order of the leaderboard."
    read = f"Each row is compared with each column: {result.measure} of the row's model"
    if small:
        return (f"{read} minus that of the column's{unit}{less}. {ranked}",)
    return (f"Each point is a pair, a row's model beside a column's. {ranked}",)


def _cells(result: PairwiseResult) -> tuple[tuple[Cell | None, ...], ...]:
    """Write all pairs as cells, best models first."""
    order = result.leaderboard.models.tolist()
    numbers = _cell_numbers(result)
    return tuple(
        tuple(
            None if i == j else _cell(result, (row, column), numbers.get((i, j)))
            for column, j in enumerate(order)
        )
        for row, i in enumerate(order)
    )


def _cell_numbers(result: PairwiseResult) -> dict[tuple[int, int], Any]:
    """Difference, interval and adjusted p-value of kept pairs, both ways round."""
    numbers: dict[tuple[int, int], Any] = {}
    columns = (result.difference, *result.interval.T, result.pvalue_adjusted)
    for (i, j), d, low, high, p in zip(
        result.pairs.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        numbers[i, j] = d, (low, high), p
        numbers[j, i] = 0.0 - d, (0.0 - high, 0.0 - low), p
    return numbers


def _cell(result: PairwiseResult, place: tuple[int, int], numbers: Any) -> Cell:
    order = result.leaderboard.models
    i, j = order[list(place)]
    kind, mark, meaning = _KINDS[int(result.decisions[i, j])]
    text, says = "", meaning
    if numbers is not None and kind != "untested":
        style = style_of(result.measure, any_size=result.any_size)
        difference, ends, pvalue = numbers
        text = format_difference(difference, style)
        interval = (
            ""
            if np.isnan(ends).any()
            else (f", {interval_of(result)} {format_ends(ends, style, '+')}")
        )
        says = f"{text}{interval}, adjusted p {format_pvalue(pvalue)}: {meaning}"
    row, column = place
    return Cell(row=row, column=column, kind=kind, mark=mark, text=text, says=says)
