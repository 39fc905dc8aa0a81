"""Standard errors in parts: how much is due to items, how much to their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastcmp.core.checks import as_whole, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.numbers import scale_exponent, times
from fastcmp.core.records import Record
from fastcmp.core.render import visible
from fastcmp.core.sections import PAIR, Column, Section, columns_of, printed
from fastcmp.core.typing import Flags, Floats, Ints, Numbers, Pairs
from fastcmp.inputs.model_names import read_names
from fastcmp.inputs.values import ItemTable
from fastcmp.items.repeats import (
    REPEATS,
    as_floats,
    check_k,
    count_answers,
    mean_of_answers,
    pass_values,
    settle_missing,
    side_by_side,
)

_MODELS = (
    Column("model", "names", visible),
    Column("mean", form=".4g"),
    Column("se", "mean_se", ".4g", "SE"),
    Column("between_items", form=".4g", head="variance between items"),
    Column("sampling", form=".4g", head="variance of answers"),
    Column("se_same_items", "mean_se_same_items", ".4g", "SE, same items"),
    Column("se_items", "mean_se_items", ".4g", "SE, unlimited answers"),
)
_PAIRS = (
    *(Column(pair.name, pair.source, visible, name) for name, pair in zip("ab", PAIR, strict=True)),
    Column("difference", form=".4g"),
    Column("se", form=".4g", head="SE"),
    Column("omega2", form=".4g", head="variance between items"),
    Column("se_same_items", form=".4g", head="SE, same items"),
    Column("se_items", form=".4g", head="SE, unlimited answers"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VarianceComponents(Record):
    """Standard errors of M models and P pairs, split into items and answers.

    Variances between items are unbiased, and below 0 at times: then the answers alone
    explain more than all there is to explain.
    """

    names: tuple[str, ...]
    n_items: int
    #: Items left out because a model has no answer to them.
    n_dropped: int
    #: How the answers to an item became its value, and the k of pass@k and pass^k.
    repeats: str
    k: int | None
    #: Least and largest number of answers to an item, shape (M, 2).
    n_answers: Ints
    #: Mean of each model over the items, and its standard error, shape (M,).
    mean: Floats
    mean_se: Floats
    #: Variance of the items' true values, of each model, shape (M,).
    between_items: Floats
    #: Variance of one answer to an item, averaged over items, shape (M,); None for
    #: pass@k and pass^k.
    within_item: Floats | None
    #: Variance of an item's value from one set of answers to the next, averaged over
    #: items, shape (M,).
    sampling: Floats
    #: Indices of the two models of each pair, shape (P, 2).
    pairs: Pairs
    #: Mean of a minus mean of b, and its standard error, shape (P,).
    difference: Floats
    se: Floats
    #: Variance of the true difference between items, shape (P,).
    omega2: Floats

    @property
    def se_items(self) -> Floats:
        """Standard error of a difference with unlimited answers per item, (P,)."""
        return self._error(self.omega2, 0.0)

    @property
    def se_same_items(self) -> Floats:
        """Standard error if the same items were asked again: no new items, (P,)."""
        return self._error(0.0, self.sampling[self.pairs].sum(axis=1))

    @property
    def mean_se_items(self) -> Floats:
        """Standard error of a mean with unlimited answers per item, (M,)."""
        return self._error(self.between_items, 0.0)

    @property
    def mean_se_same_items(self) -> Floats:
        """Standard error of a mean if the same items were asked again, (M,)."""
        return self._error(0.0, self.sampling)

    def _error(self, between: Numbers, noise: Numbers, n_items: Numbers | None = None) -> Floats:
        """Standard errors of means over items, from variances between and within these."""
        n = self.n_items if n_items is None else as_whole(n_items, "n_items", 1)
        return np.asarray(np.sqrt((np.maximum(between, 0.0) + noise) / n))

    def se_planned(
        self, answers_a: int, answers_b: int | None = None, *, n_items: int | None = None
    ) -> Floats:
        """Predict the standard error of each difference in a planned experiment.

        Parameters
        ----------
        answers_a : int
            Answers of the first model to each item.
        answers_b : int, optional
            Of the second model; as many where not given.
        n_items : int, optional
            Items of the same kind; as many as there are where not given.

        Returns
        -------
        ndarray of float64, shape (P,)
            The root of (omega2 + within_a / answers_a + within_b / answers_b)
            / n_items, where an omega2 below 0 counts as 0.

        Raises
        ------
        TypeError
            If a number is not whole.
        ValueError
            If it is below 1, or the record is of pass@k or pass^k.
        """
        within = self._within()
        first, second = self.pairs.T
        many_a = as_whole(answers_a, "answers_a", 1)
        many_b = many_a if answers_b is None else as_whole(answers_b, "answers_b", 1)
        noise = within[first] / many_a + within[second] / many_b
        return self._error(self.omega2, noise, n_items)

    def mean_se_planned(self, answers: int, *, n_items: int | None = None) -> Floats:
        """Predict the standard error of each model's mean in a planned experiment.

        Parameters
        ----------
        answers : int
            Answers to each item.
        n_items : int, optional
            Items of the same kind; as many as there are where not given.

        Returns
        -------
        ndarray of float64, shape (M,)
            Standard errors.

        Raises
        ------
        TypeError
            If a number is not whole.
        ValueError
            If it is below 1, or the record is of pass@k or pass^k.
        """
        noise = self._within() / as_whole(answers, "answers", 1)
        return self._error(self.between_items, noise, n_items)

    def _within(self) -> Floats:
        if self.within_item is None:
            raise BadValueError(
                "other numbers of answers can be planned for `repeats='mean'`, not for "
                f"{self.repeats!r}"
            )
        return self.within_item

    def columns(self) -> dict[str, list[Any]]:
        """A row a pair, or a model where there is one only.

        Returns
        -------
        dict of str to list
            Models, the difference (or mean), its standard error, the variance between
            items, and standard errors of the same items asked again and with unlimited
            answers per item.
        """
        return columns_of(self, _PAIRS if len(self.pairs) else _MODELS)

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            A section with a row a model, and one with a row a pair.
        """
        least, most = int(self.n_answers.min()), int(self.n_answers.max())
        number = f"{most}" if least == most else f"{least} to {most}"
        of = "mean" if self.k is None else self.repeats.replace("k", str(self.k))
        title = f"{self.n_items} items, {number} answers to each ({of} of the answers)"
        notes: tuple[str, ...] = ()
        if self.n_dropped:
            notes = (f"{self.n_dropped} items that a model did not answer were left out.",)
        one = not len(self.pairs)
        text = self._advice(self.mean_se, self.mean_se_items) if one else ()
        models = printed(self, _MODELS, title, text=text, notes=notes, most=None)
        if one:
            return [models]
        title, text = "Differences (a minus b)", self._advice(self.se, self.se_items)
        pairs = printed(self, _PAIRS, title, text=text, notes=self._doubts(), most=None)
        return [models, pairs]

    def _advice(self, se: Floats, limit: Floats) -> tuple[str, ...]:
        """The sentence about more answers, and more items."""
        if len(se) > 1:
            return (
                "'SE, unlimited answers' is the standard error with unlimited answers per "
                "item; only more items reduce it further.",
            )
        now, least = se[0], limit[0]
        below = "; only more items reduce it further" if least > 0.0 else ""
        return (
            "With unlimited answers per item the standard error would fall from "
            f"{now:.4g} to {least:.4g}{below}.",
            "With twice as many items, answered as often as now, it would fall to "
            f"{now / np.sqrt(2.0):.4g}.",
        )

    def _doubts(self) -> tuple[str, ...]:
        """The caution where the variance between items is estimated below 0."""
        below = int(np.count_nonzero(self.omega2 < 0.0))
        if not below:
            return ()
        return (
            f"The variance between items is estimated below 0 for {below} of "
            f"{len(self.omega2)} pairs, and counts as 0 in plans: the answers alone "
            "explain what differs.",
        )


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
    own_names: Any = None
    n_answers = None
    if isinstance(values, ItemTable):
        own_names, table, n_answers = values.names, values.values, values.n_answers
    elif isinstance(values, Mapping):
        own_names = map(str, values)
        table = side_by_side({x: as_floats(raw, f"values[{x!r}]") for x, raw in values.items()})
    else:
        table = as_floats(values, "values")
    if table.ndim != 3 or not table.size:
        raise BadValueError(
            "`values` must be of shape (M, n, R), R answers of M models to n items",
            table.shape,
            ": pass values[np.newaxis] for one model, and `repeat=` to from_long",
        )
    if np.isinf(table).any():
        raise BadValueError("`values` must be finite, or NaN where there is no answer", "inf")
    if n_answers is None:
        n_answers = np.zeros(table.shape[:2], np.int64)  # NaN is no answer that is missing
    model_names = read_names(
        names, len(table), None if own_names is None else list(own_names), of=" of values"
    )
    table, n_missing = settle_missing(table, n_answers, policy)
    answered = count_answers(table)
    if policy == "raise" and n_missing.any():
        model = int(np.argmax(n_missing > 0))
        item = int(np.argmax((answered == 0)[model] & (n_answers[model] > 0)))
        raise BadValueError(
            f"`values`: {n_missing.sum()} answers are missing, {n_missing[model]} of them of "
            f"{visible(model_names[model])} (first: to item {item}): `missing='common'` leaves "
            "such items out"
        )
    kept = _kept(answered, model_names, policy)
    if not kept.all():
        table, answered = table[:, kept], answered[:, kept]
    if table.shape[1] < 2:
        raise BadValueError("`values` must have two items at least", table.shape[1])
    exponent = scale_exponent(table)
    table, within = np.ldexp(table, -exponent), None
    if way == "mean":
        value = mean_of_answers(table)
        squares = np.square(table - value[:, :, None])
        single = np.where(np.isnan(squares), 0.0, squares).sum(axis=2) / (answered - 1)
        sampling, within = single / answered, single.mean(axis=1)
    else:
        assert k is not None
        value, sampling = pass_values(way, table, k, model_names, least=2)
    pairs = np.stack(np.triu_indices(len(model_names), 1), axis=1).astype(np.int32)
    first, second = pairs.T
    n, noise, means = value.shape[1], sampling.mean(axis=1), value.mean(axis=1)
    spread, spreads = value.var(axis=1, ddof=1), _variances(value, means, pairs)
    return VarianceComponents(
        names=model_names,
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


def _kept(answered: Ints, names: tuple[str, ...], policy: str) -> Flags:
    """Which items all models answered, twice at least."""
    kept = np.asarray(np.all(answered > 0, axis=0))
    if policy == "raise" and not kept.all():
        model, item = np.argwhere(answered == 0)[0]
        raise BadValueError(
            f"`values` has no answer of {visible(names[model])} to item {item} (so for "
            f"{np.count_nonzero(~kept)} of {kept.size} items): `missing='common'` leaves such "
            "items out"
        )
    once = (answered == 1) & kept
    if once.any():
        model, item = np.argwhere(once)[0]
        raise BadValueError(
            f"`values` has one answer of {visible(names[model])} to item {item} (so for "
            f"{np.count_nonzero(once)} of {once.size} models and items): items and answers "
            "cannot be split without two answers to each item"
        )
    return kept


def _variances(value: Floats, means: Floats, pairs: Pairs) -> Floats:
    """The variance over items of the difference of each pair."""
    n = value.shape[1]
    centred = value - means[:, None]
    centred -= centred.mean(axis=0)  # what is hard for all cancels in differences
    gram = centred @ centred.T
    norms = np.diagonal(gram)
    first, second = pairs.T
    sums = norms[first] + norms[second]
    squares = sums - 2.0 * gram[first, second]
    close = np.flatnonzero(squares <= _CLOSE * sums)
    step = max(1, _CHUNK // n)
    for start in range(0, close.size, step):
        part = close[start : start + step]
        differences = value[first[part]] - value[second[part]]
        squares[part] = differences.var(axis=1) * n
    variances: Floats = squares / (n - 1)
    return variances
