"""Standard errors in parts: how much is due to items, how much to their answers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp.core.checks import as_numbers
from fastcmp.core.escaping import visible
from fastcmp.core.options import choose
from fastcmp.core.scaling import scale_exponent, times
from fastcmp.inputs.item_table import ItemTable
from fastcmp.inputs.model_names import with_names
from fastcmp.items.components_result import VarianceComponents
from fastcmp.items.repeats import (
    REPEATS,
    check_k,
    count_answers,
    mean_of_answers,
    pass_values,
    settle_missing,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_CLOSE = 1e-6  # proportion of variance that products of centred values may cancel to
_CHUNK = 1 << 22  # entries of differences at a time


def variance_components(
    values: ArrayLike | ItemTable,
    *,
    names: Sequence[str] | None = None,
    repeats: str = "mean",
    k: int | None = None,
    missing: str = "raise",
) -> VarianceComponents:
    """Split standard errors into what items, and what repeated answers contribute.

    Asking each item more often shrinks the second part only. Items are taken as a
    random sample, answers to an item as independent.

    Parameters
    ----------
    values : array-like, shape (M, n, R), or ItemTable
        Answers of M models to n items, two at least to each; in an array NaN where
        an item was answered less often. A table from `from_long` with ``repeat=``.
    names : sequence of str, optional
        One name a model.
    repeats : {"mean", "pass@k", "pass^k"}
        How the answers to an item become its value.
    k : int, optional
        For pass@k and pass^k, which need 2 k answers to each item.
    missing : {"raise", "common"}
        Refuse items that a model has no answer to, or where one is missing (a row of
        a long table without a value), or leave them out.

    Returns
    -------
    VarianceComponents
        For each model and each pair, with standard errors of planned numbers of answers
        and items.

    Raises
    ------
    TypeError
        If values are not numbers.
    ValueError
        If an item has one answer only, or a model none of it and ``missing`` is
        "raise"; there is one item; a value is infinite; values are not 0 and 1 where
        pass@k is asked for.

    Notes
    -----
    With x the value of an item, K its answers and s2 their variance, the variance
    between items is var(x) - mean(s2 / K), and for the difference of two models
    var(x_a - x_b) - mean(s2_a / K_a + s2_b / K_b): unbiased, and so below 0 at times.
    O(M n R + M**2 n).

    References
    ----------
    .. [1] E. Miller, "Adding error bars to evals", arXiv:2411.00640 (2024), appendix C;
       its plug-in estimate counts the noise of the answers twice, this one does not.

    Examples
    --------
    >>> import numpy as np
    >>> from fastcmp import variance_components
    >>> rng = np.random.default_rng(1)
    >>> ability = rng.random((1, 50, 1)) + [[[0.0]], [[-0.1]]]
    >>> answers = rng.random((2, 50, 8)) < ability + rng.normal(0, 0.2, (2, 50, 1))
    >>> parts = variance_components(answers, names=["large", "small"])
    >>> parts.se.round(4).tolist(), parts.se_items.round(4).tolist()
    ([0.0459], [0.0377])
    >>> parts.se_planned(32).round(4).tolist()
    [0.0399]
    >>> parts.se_planned(8, n_items=200).round(4).tolist()
    [0.023]
    """
    way = choose(repeats, "repeats", REPEATS)
    check_k(way, k)
    policy = choose(missing, "missing", ("raise", "common"))
    table, n_answers, chosen = _read(values, names)
    table, n_missing = settle_missing(table, n_answers, policy)
    answered = count_answers(table)
    if policy == "raise" and n_missing.any():
        model = int(np.argmax(n_missing > 0))
        item = int(np.argmax((answered == 0)[model] & (n_answers[model] > 0)))
        raise ValueError(
            f"values: {n_missing.sum()} answers are missing, {n_missing[model]} of them of "
            f"{visible(chosen[model])} (first: to item {item}): missing='common' leaves such "
            "items out"
        )
    kept = _kept(answered, chosen, policy)
    if not kept.all():
        table, answered = table[:, kept], answered[:, kept]
    if table.shape[1] < 2:
        raise ValueError(f"values must have two items at least, got {table.shape[1]}")
    exponent = scale_exponent(table)
    value, sampling, within = _parts(way, np.ldexp(table, -exponent), answered, k, chosen)
    pairs = np.stack(np.triu_indices(len(chosen), 1), axis=1).astype(np.int32)
    first, second = pairs.T
    n, noise, means = value.shape[1], sampling.mean(axis=1), value.mean(axis=1)
    spread, spreads = value.var(axis=1, ddof=1), _variances(value, means, pairs)
    return VarianceComponents(
        names=chosen,
        n_items=n,
        n_dropped=int(np.count_nonzero(~kept)),
        repeats=way,
        k=k,
        n_answers=np.stack([answered.min(axis=1), answered.max(axis=1)], axis=1),
        mean=times(means, exponent),
        mean_se=times(np.sqrt(spread / n), exponent),
        between_items=times(spread - noise, 2 * exponent),
        within_item=times(within, 2 * exponent),
        sampling=times(noise, 2 * exponent),
        pairs=pairs,
        difference=times(means[first] - means[second], exponent),
        se=times(np.sqrt(spreads / n), exponent),
        omega2=times(spreads - (noise[first] + noise[second]), 2 * exponent),
    )


# What comes in.


def _read(
    values: Any, names: Sequence[str] | None
) -> tuple[Floats, NDArray[np.int64], tuple[str, ...]]:
    """Read answers of shape (M, n, R), their numbers, and the names of the models."""
    found: Any = None
    if isinstance(values, ItemTable):
        found, table = values.names, values.values
    elif isinstance(values, Mapping):
        found, table = (
            map(str, values),
            side_by_side({name: as_floats(x, f"values[{name!r}]") for name, x in values.items()}),
        )
    else:
        table = as_floats(values, "values")
    if table.ndim != 3 or not table.size:
        raise ValueError(
            "values must be of shape (M, n, R), R answers of M models to n items, got "
            f"{table.shape}: pass values[np.newaxis] for one model, and repeat= to "
            "from_long"
        )
    if np.isinf(table).any():
        raise ValueError("values must be finite, or NaN where there is no answer, got inf")
    default = [f"model_{i}" for i in range(len(table))]
    n_answers = values.n_answers if isinstance(values, ItemTable) else None
    if n_answers is None:
        n_answers = np.zeros(table.shape[:2], np.int64)  # NaN is no answer that is missing
    return table, n_answers, _names(names, list(found or default))


def side_by_side(answers: Mapping[Any, Floats]) -> Floats:
    """Put the answers of models side by side, NaN where one has fewer."""
    tables = list(answers.values())
    shapes = [table.shape for table in tables]
    if any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(
            "values must have answers of shape (n, R) to the same n items of each "
            f"model, got shapes {shapes[:10]}"
        )
    most = max((shape[1] for shape in shapes), default=0)
    width = [((0, 0), (0, most - shape[1])) for shape in shapes]
    padded = [
        np.pad(table, pad, constant_values=np.nan) for table, pad in zip(tables, width, strict=True)
    ]
    return np.array(padded)


def as_floats(raw: Any, name: str) -> Floats:
    """Convert numbers or bools to float64."""
    with suppress(ValueError):  # of different lengths: refused below
        raw = np.asanyarray(raw)
    if getattr(raw, "dtype", None) != np.bool_ or np.ma.is_masked(raw):
        raw = as_numbers(raw, name)
    return np.ascontiguousarray(raw, np.float64)  # sums depend on the order of memory


def _names(names: Any, default: list[str]) -> tuple[str, ...]:
    """Check the names that the user chose; None leaves them as they are."""
    return tuple(with_names(dict.fromkeys(default), names, "values"))


def _kept(answered: NDArray[np.int64], names: tuple[str, ...], policy: str) -> NDArray[np.bool_]:
    """Mark the items that all models answered, twice at least."""
    kept = np.asarray(np.all(answered > 0, axis=0))
    if policy == "raise" and not kept.all():
        model, item = np.argwhere(answered == 0)[0]
        raise ValueError(
            f"values has no answer of {visible(names[model])} to item {item} (so for "
            f"{np.count_nonzero(~kept)} of {kept.size} items): missing='common' leaves "
            "such items out"
        )
    once = (answered == 1) & kept
    if once.any():
        model, item = np.argwhere(once)[0]
        raise ValueError(
            f"values has one answer of {visible(names[model])} to item {item} (so for "
            f"{np.count_nonzero(once)} of {once.size} models and items): items and "
            "answers cannot be split without two answers to each item"
        )
    return kept


# What comes out.


def _parts(
    way: str,
    table: Floats,
    answered: NDArray[np.int64],
    k: int | None,
    names: tuple[str, ...],
) -> tuple[Floats, Floats, Floats | None]:
    """Give the value of each item, its variance, and the variance of one answer."""
    if way != "mean":
        assert k is not None
        return *pass_values(way, table, k, names, least=2), None
    value = mean_of_answers(table)
    squares = np.square(table - value[:, :, None])
    sums = np.where(np.isnan(squares), 0.0, squares).sum(axis=2)
    single = sums / (answered - 1)
    return value, single / answered, single.mean(axis=1)


def _variances(value: Floats, means: Floats, pairs: NDArray[np.int32]) -> Floats:
    """Give the variance over items of the difference of each pair."""
    n = value.shape[1]
    centred = value - means[:, None]
    centred -= centred.mean(axis=0)  # what is hard for all cancels in differences
    gram = centred @ centred.T
    own = np.diagonal(gram)
    first, second = pairs.T
    sums = own[first] + own[second]
    found = sums - 2.0 * gram[first, second]
    close = np.flatnonzero(found <= _CLOSE * sums)
    step = max(1, _CHUNK // n)
    for start in range(0, close.size, step):
        some = close[start : start + step]
        differences = value[first[some]] - value[second[some]]
        found[some] = differences.var(axis=1) * n
    variances: Floats = found / (n - 1)
    return variances
