"""McNemar's test by e-values: looked at whenever, and as often as, one likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fastcmp import kernels
from fastcmp.core.checks import ALTERNATIVES, as_counts, as_finite, as_proportion, as_within, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import (
    Compared,
    ConfidenceInterval,
    PairedCounts,
    Record,
    are_paired,
    unwrap,
)
from fastcmp.core.sections import Section, format_interval, format_pvalue
from fastcmp.core.sentences import (
    EQUALLY_ACCURATE,
    answer,
    dropped_sentences,
    null_hypothesis,
    outside_sentences,
    with_null,
    with_pvalue,
)
from fastcmp.core.typing import Classes, ColumnLike, Ints
from fastcmp.inputs.labels import encode
from fastcmp.kernels.difference_evalues import BETS, DIRICHLET, anytime_difference_interval_many
from fastcmp.kernels.evalues import mcnemar_log_evalue_many
from fastcmp.paired.mcnemar import mcnemar as plain_mcnemar
from fastcmp.sequential.evalues import evalue_of, format_evalue, pvalue_of, read_prior
from fastcmp.sequential.looks_result import LooksResult
from fastcmp.stream.accumulator import (
    BlockCounts,
    State,
    check_classes,
    check_totals,
    check_within,
    looks,
    require,
    summed,
)

_WORDS = ("right", "wrong")


#: Confidence sequences for the difference, with the code that kernels take.
_DIFFERENCES = {"bets": BETS, "dirichlet": DIRICHLET}
_THIRDS = (0.5, 0.5, 0.5)


def read_difference_method(method: str, prior: object) -> tuple[int, tuple[float, float, float]]:
    """Code of a confidence sequence, and its prior."""
    name = choose(method, "method", _DIFFERENCES)
    if prior is None:
        return _DIFFERENCES[name], _THIRDS
    if name != "dirichlet":
        raise BadValueError("`prior=` is for `method='dirichlet'`", f"`method={method!r}`")
    s, t, r = read_prior(prior, 3)
    return _DIFFERENCES[name], (s, t, r)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EvalueResult(Compared, Record):
    """McNemar's test of two models by an e-value, which may be looked at any time.

    All numbers are arrays of one shape where the counts were.
    """

    _closing = (
        "Evidence is measured by e-values of the samples on which only one of both models is "
        "right. If H0 is true, the probability that the e-value ever reaches 1 / alpha is at "
        "most alpha, however often one looks."
    )
    _cites = ("mcnemar lindon ramdas",)
    _nulls = EQUALLY_ACCURATE

    #: Natural logarithm of the e-value.
    log_evalue: Any
    #: Samples that only model a, only model b, classified correctly.
    only_a: Any
    only_b: Any
    #: Samples that both classified correctly, wrongly; None where they were not given.
    both_right: Any = None
    both_wrong: Any = None
    #: Beta prior of the proportion of discordant samples that a alone gets right.
    prior: tuple[float, float]
    alternative: str
    #: Samples dropped because the true label is missing, or not a chosen class.
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of a and of b that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()

    @property
    def evalue(self) -> Any:
        """Evidence against the null hypothesis: its expectation there is at most 1."""
        return evalue_of(self.log_evalue)

    @property
    def pvalue(self) -> Any:
        """A p-value that is valid at every look: 1 / `evalue`, at most 1."""
        return pvalue_of(self.log_evalue)

    @property
    def measure(self) -> str:
        """What `difference` is a difference of: "accuracy"."""
        return "accuracy"

    @property
    def better(self) -> Any:
        """Which model did better, "a" or "b", or None; no significance is meant."""
        names = np.array([None, "a", "b"], dtype=object)
        return names[np.sign(self.only_a - self.only_b)]

    @property
    def n_samples(self) -> Any:
        """All samples; needs `both_right` and `both_wrong`."""
        if self.both_right is None or self.both_wrong is None:
            raise BadValueError(
                "`n_samples` needs all four counts",
                remedy=": pass `both_right=` and `both_wrong=` to mcnemar",
            )
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    @property
    def difference(self) -> Any:
        """The accuracy of a minus that of b: positive where a is better."""
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = np.divide(self.only_a - self.only_b, self.n_samples)
        return difference if np.ndim(difference) else float(difference)

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        method: str = "bets",
        prior: Sequence[float] | None = None,
    ) -> ConfidenceInterval:
        """Interval for `difference` that is valid at every look.

        All such intervals of one stream hold the difference together, with the
        probability `confidence_level`. They are two-sided whatever `alternative` is.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).
        method : {"bets", "dirichlet"}
            Mixture of constant bets, which agrees with the two-sided e-value of the
            prior (1/2, 1/2); or a Dirichlet mixture, which is wider.
        prior : sequence of 3 floats, optional
            Of the Dirichlet mixture: only a right, only b right, all others; by default
            1/2 each.

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``.

        Raises
        ------
        ValueError
            If an option is unknown or out of range, or the concordant counts were not
            given.
        TypeError
            If the prior is not made of numbers.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar
        >>> result = mcnemar(only_a=10, only_b=2, both_right=15, both_wrong=3)
        >>> low, high = result.confidence_interval()
        >>> round(low, 4), round(high, 4)
        (-0.0751, 0.5803)
        """
        level = as_proportion(confidence_level, "confidence_level")
        code, thirds = read_difference_method(method, prior)
        counts = (self.only_a, self.only_b, self.n_samples)
        a, b, n = (np.ascontiguousarray(x, np.int64).ravel() for x in counts)
        low, high = np.empty((2, a.size))
        options = (code, level, thirds)
        anytime_difference_interval_many(a, b, n, options, low, high)
        shape = np.shape(self.log_evalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    def log_evalue_at(
        self, difference: float, *, method: str = "bets", prior: Sequence[float] | None = None
    ) -> Any:
        """Logarithm of the e-value against another difference than 0.

        Parameters
        ----------
        difference : float
            The accuracy of a minus that of b under the null hypothesis, in [-1, 1].
        method : {"bets", "dirichlet"}
            As in `confidence_interval`, whose ends are where it is -log(1 -
            confidence_level).
        prior : sequence of 3 floats, optional
            Of the Dirichlet mixture.

        Returns
        -------
        float or ndarray
            Log e-values, in the shape of the counts.

        Raises
        ------
        ValueError
            If an option is unknown or out of range, or the concordant counts were not
            given.
        TypeError
            If an argument is not a number.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar
        >>> result = mcnemar(only_a=10, only_b=2, both_right=15, both_wrong=3)
        >>> round(result.log_evalue_at(0.1), 6)
        -0.209782
        """
        delta = float(as_within(as_finite(difference, "difference"), "difference", -1, 1))
        code, thirds = read_difference_method(method, prior)
        counts = (self.only_a, self.only_b, self.n_samples)
        rows = zip(*(np.ravel(x).tolist() for x in counts), strict=True)
        if code == BETS:
            log_evalues = [kernels.difference_log_evalue(a, b, n, delta) for a, b, n in rows]
        else:
            evaluate = kernels.dirichlet_log_evalue
            log_evalues = [evaluate(a, b, n, delta, thirds) for a, b, n in rows]
        return unwrap(np.array(log_evalues, np.float64), np.shape(self.log_evalue))

    def discordant_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """Interval for the proportion of discordant samples that a alone gets right.

        It needs no concordant counts, is valid at every look, and excludes one half
        where the two-sided e-value is 1 / (1 - confidence_level) or more.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Returns
        -------
        ConfidenceInterval
            ``low`` and ``high``.

        Raises
        ------
        ValueError
            If the level is out of range.

        Examples
        --------
        >>> from fastcmp.sequential import mcnemar
        >>> low, high = mcnemar(only_a=10, only_b=2).discordant_interval()
        >>> round(low, 4), round(high, 4)
        (0.4133, 0.9927)
        """
        level = as_proportion(confidence_level, "confidence_level")
        rows = zip(np.ravel(self.only_a), np.ravel(self.only_b), strict=True)
        ends = [kernels.anytime_proportion_interval(a, b, *self.prior, level) for a, b in rows]
        low, high = np.array(ends).reshape(-1, 2).T
        shape = np.shape(self.log_evalue)
        return ConfidenceInterval(unwrap(low, shape), unwrap(high, shape))

    def _shown(self) -> dict[str, Any]:
        entries = {"evalue": self.evalue, "pvalue": self.pvalue, **self._fields()}
        entries |= {"measure": self.measure, "better": self.better}
        if self.both_right is not None and self.both_wrong is not None:
            entries["difference"] = self.difference
        return entries

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section for a single test; for arrays, what they hold.
        """
        title = f"McNemar's test by an e-value ({self.alternative})"
        text: tuple[str, ...]
        if np.ndim(self.log_evalue):
            shape = np.shape(self.log_evalue)
            text = (f"{np.size(self.log_evalue)} tests, shape {shape}",)
            return [Section(title=title, text=text)]
        text = (
            with_pvalue(
                f"Only a is right on {self.only_a} samples, only b on {self.only_b}.", self.pvalue
            ),
            with_null(
                f"E = {format_evalue(self.log_evalue)}, p = {format_pvalue(self.pvalue)}",
                null_hypothesis(self),
                end=", valid at every look.",
            ),
        )
        if None not in (self.both_right, self.both_wrong) and self.n_samples:
            low, high = (100.0 * end for end in self.confidence_interval())
            interval = format_interval(low, high, digits=2, sign="+")
            effect = (
                f"Accuracy of a minus b: {100 * self.difference:+.2f} percentage points"
                f", 95% CI at every look {interval}, on {self.n_samples} samples."
            )
            outside = outside_sentences(self.n_outside, ("a", "b"), self.n_samples)
            text = (answer(effect), *text, *outside)
        text += dropped_sentences(self.n_missing, self.n_excluded)
        return [Section(title=title, text=text)]


def mcnemar(
    y_true: ColumnLike | None = None,
    pred_a: ColumnLike | None = None,
    pred_b: ColumnLike | None = None,
    *,
    table: ArrayLike | PairedCounts | None = None,
    only_a: ArrayLike | None = None,
    only_b: ArrayLike | None = None,
    both_right: ArrayLike | None = None,
    both_wrong: ArrayLike | None = None,
    alternative: str = "two-sided",
    prior: Sequence[float] = (0.5, 0.5),
    classes: Classes | None = None,
    missing: str = "raise",
) -> EvalueResult:
    """McNemar's test of two models, valid whenever and however often one looks.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of all samples so far. Samples with a missing one are dropped and
        counted.
    pred_a, pred_b : array-like, shape (n,)
        Labels that the two models predicted.
    table : array-like of int, shape (..., 2, 2), or PairCounts, optional
        In the place of labels the samples so far that two models have right, of any
        shape, as in `fastcmp.mcnemar`.
    only_a, only_b, both_right, both_wrong : array-like of int, optional
        In the place of a table, as in `fastcmp.mcnemar`. Differences need all four.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        Beta prior of the proportion of discordant samples that a alone gets right; a
        one-sided test cuts it off at one half.
    classes : sequence, optional
        Compare only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        How to treat a missing prediction: refuse it, or count it as wrong.

    Returns
    -------
    EvalueResult
        The e-value, counts, and intervals that are valid at every look.

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or fewer than two, or an option is unknown
        or out of range.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    E = 2**m B(b + s, c + t) / B(s, t), where m = b + c samples are discordant and B(s,
    t) is the prior. Under the null hypothesis P(E >= 1 / alpha at any look) <= alpha.

    References
    ----------
    .. [1] M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data",
       NeurIPS 35 (2022).
    .. [2] A. Ramdas, P. Grunwald, V. Vovk, G. Shafer, "Game-theoretic statistics and
       safe anytime-valid inference", Statistical Science 38 (2023) 576-601.

    Examples
    --------
    >>> from fastcmp import load_digits, sequential
    >>> y_true, preds = load_digits()
    >>> result = sequential.mcnemar(y_true, preds["svm_rbf"], preds["mlp"])
    >>> result.only_a, result.only_b, round(result.evalue, 2)
    (20, 5, 19.49)
    >>> sequential.mcnemar(only_a=[10, 150, 0], only_b=[2, 90, 0]).evalue.round(4).tolist()
    [4.1006, 100.7808, 1.0]
    """
    alternative = choose(alternative, "alternative", ALTERNATIVES)
    s, t = read_prior(prior)
    counts: dict[str, Any] = {"table": table, "only_a": only_a, "only_b": only_b}
    counts |= {"both_right": both_right, "both_wrong": both_wrong}
    counted = plain_mcnemar(
        *(y_true, pred_a, pred_b), **counts, classes=classes, missing=missing, method="asymptotic"
    )
    log_evalue = np.empty(np.size(counted.only_a))
    mcnemar_log_evalue_many(
        np.ascontiguousarray(counted.only_a, np.int64).ravel(),
        np.ascontiguousarray(counted.only_b, np.int64).ravel(),
        (s, t),
        ALTERNATIVES[alternative],
        log_evalue,
    )
    kept = ("only_a", "only_b", "both_right", "both_wrong", "n_missing", "n_excluded", "n_outside")
    return EvalueResult(
        log_evalue=unwrap(log_evalue, np.shape(counted.only_a)),
        **{name: getattr(counted, name) for name in kept},
        prior=(s, t),
        alternative=alternative,
    )


def mcnemar_looks(
    only_a: ArrayLike,
    only_b: ArrayLike,
    *,
    n_samples: ArrayLike | None = None,
    alternative: str = "two-sided",
    prior: Sequence[float] = (0.5, 0.5),
    alpha: float = 0.05,
) -> LooksResult:
    """McNemar's test at several looks at one growing set of samples.

    Parameters
    ----------
    only_a, only_b : array-like of int, shape (L,)
        Samples up to each look that only model a, only model b, classified correctly.
    n_samples : array-like of int, shape (L,), optional
        All samples up to each look. Differences need them.
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        As in `mcnemar`.
    alpha : float
        Probability of a false decision at any look, in (0, 1).

    Returns
    -------
    LooksResult
        E-values and intervals at each look, the p-value so far, and the first look at
        which the test is decided.

    Raises
    ------
    ValueError
        If counts shrink from one look to the next, or are not numbers of samples, or an
        option is unknown or out of range.
    TypeError
        If counts are not numbers.

    Examples
    --------
    >>> from fastcmp.sequential import mcnemar_looks
    >>> looks = mcnemar_looks([3, 9, 15, 17, 30], [1, 2, 4, 9, 12], alpha=0.2)
    >>> looks.pvalue.round(3).tolist(), looks.first_rejection
    ([1.0, 0.386, 0.187, 0.187, 0.152], 2)
    """
    s, t = read_prior(prior)
    options = choose(alternative, "alternative", ALTERNATIVES), (s, t)
    level = as_proportion(alpha, "alpha")
    columns: dict[str, Any] = {"only_a": only_a, "only_b": only_b}
    if n_samples is not None:
        columns["n_samples"] = n_samples
    counts = {name: as_counts(raw, name) for name, raw in columns.items()}
    length = counts["only_a"].shape
    for name, column in counts.items():
        if column.ndim != 1 or column.shape != length or not column.size:
            raise BadValueError(
                f"`{name}` must be one number a look, as only_a is", f"shape {column.shape}"
            )
    cells = {"only_a": counts["only_a"], "only_b": counts["only_b"]}
    if n_samples is not None:
        cells["n_samples less only_a and only_b"] = (
            counts["n_samples"] - counts["only_a"] - counts["only_b"]
        )
    for name, column in cells.items():
        if column[0] < 0 or np.any(np.diff(column) < 0):
            raise BadValueError(
                f"`{name}` must not be negative or shrink: looks come in the order of the "
                "samples, and each counts all samples so far"
            )
    total = counts.get("n_samples")
    return _looks_of(counts["only_a"], counts["only_b"], total, options, level)


def _looks_of(
    only_a: Ints,
    only_b: Ints,
    n_samples: Ints | None,
    options: tuple[str, tuple[float, float]],
    alpha: float,
    **dropped: int,
) -> LooksResult:
    """The record of checked counts at each look."""
    alternative, prior = options
    log_evalue = np.empty(only_a.size)
    code = ALTERNATIVES[alternative]
    mcnemar_log_evalue_many(only_a, only_b, prior, code, log_evalue)
    low, high = np.full((2, only_a.size), np.nan)
    estimate = np.full(only_a.size, np.nan)
    if n_samples is not None:
        interval = (BETS, 1.0 - alpha, (0.5, 0.5, 0.5))
        anytime_difference_interval_many(*(only_a, only_b, n_samples), interval, low, high)
        estimate = (only_a - only_b) / np.maximum(n_samples, 1)
    return LooksResult(
        log_evalue=log_evalue,
        n_samples=only_a + only_b if n_samples is None else n_samples,
        only_a=only_a,
        only_b=only_b,
        estimate=estimate,
        low=low,
        high=high,
        measure="accuracy",
        alternative=alternative,
        alpha=alpha,
        **dropped,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _State(State):
    names: tuple[str, ...] = ("a", "b")
    #: Samples counted, without a true label, and of other classes.
    totals: Annotated[Ints, summed(3)]
    #: Rows a right, a wrong; columns b right, b wrong.
    table: Annotated[Ints, summed(2, 2)]
    #: The table at each look, shape (L, 2, 2).
    looks: Annotated[Ints, looks(None, 2, 2)]


class McNemarLooks(BlockCounts):
    """Two models compared by McNemar's e-value while samples come in.

    Give blocks of samples to `update`, and `look` whenever you like: each look adds an
    e-value, and the p-value so far stays valid.

    Parameters
    ----------
    alternative : {"two-sided", "greater", "less"}
        "greater": model a is better.
    prior : sequence of 2 floats
        As in `fastcmp.sequential.mcnemar`.
    alpha : float
        Probability of a false decision at any look, in (0, 1).
    classes : sequence, optional
        Count only samples whose true label is one of these.
    missing : {"raise", "wrong"}
        Whether a missing prediction is an error or counts as a wrong one.

    Raises
    ------
    ValueError
        If an option is unknown or out of range.
    TypeError
        If the prior is not made of numbers.

    See Also
    --------
    PairLooks : All pairs of many models.
    MeanLooks : Values instead of labels.

    Notes
    -----
    Counts of several machines add up by `merge`, and are looked at together then: what
    others have looked at on their own cannot be merged, since the largest of two
    e-values is no e-value.

    Examples
    --------
    >>> from fastcmp import load_digits
    >>> from fastcmp.sequential import McNemarLooks
    >>> y_true, preds = load_digits()
    >>> state = McNemarLooks()
    >>> for start in range(0, len(y_true), 300):
    ...     rows = slice(start, start + 300)
    ...     block = y_true[rows], preds["svm_rbf"][rows], preds["naive_bayes"][rows]
    ...     result = state.update(*block).look()
    >>> result.first_rejection, result.n_samples.tolist()
    (0, [300, 600, 899])
    """

    _state: _State

    def __init__(
        self,
        *,
        alternative: str = "two-sided",
        prior: Sequence[float] = (0.5, 0.5),
        alpha: float = 0.05,
        classes: Classes | None = None,
        missing: str = "raise",
    ) -> None:
        self._options = {
            "alternative": choose(alternative, "alternative", ALTERNATIVES),
            "prior": read_prior(prior),
            "alpha": as_proportion(alpha, "alpha"),
            "classes": None,
            "missing": choose(missing, "missing", ("raise", "wrong")),
        }
        self._options["classes"] = check_classes(classes, self._options["missing"])
        self._state = _State.begin({})

    @property
    def n_looks(self) -> int:
        """How many looks were taken."""
        return len(self._state.looks)

    @property
    def table(self) -> Ints:
        """Samples by who is right, shape (2, 2): rows a right, a wrong; a copy."""
        return self._state.table.copy()

    def update(self, y_true: ColumnLike, pred_a: ColumnLike, pred_b: ColumnLike) -> Self:
        """Count a block of samples.

        Parameters
        ----------
        y_true : array-like, shape (n,)
            True labels, of any number of samples.
        pred_a, pred_b : array-like, shape (n,)
            Labels that the two models predicted.

        Returns
        -------
        McNemarLooks
            This state.

        Raises
        ------
        ValueError
            If lengths differ or labels are missing; nothing is counted then.
        TypeError
            If labels cannot be compared.

        Examples
        --------
        >>> from fastcmp.sequential import McNemarLooks
        >>> McNemarLooks().update([0, 1, 1], [0, 1, 1], [0, 0, 0]).table.tolist()
        [[1, 2], [0, 0]]
        """
        options = {name: self._options[name] for name in ("classes", "missing")}
        block = encode(y_true, {"pred_a": pred_a, "pred_b": pred_b}, **options, least=0)
        table = np.zeros((2, 2), np.int64)
        codes_a, codes_b = block.preds
        kernels.count_paired(block.y_true, codes_a, codes_b, table)
        totals = (block.n_samples, block.n_missing, block.n_excluded)
        with self._lock:
            state = self._state
            self._state = replace(state, totals=state.totals + totals, table=state.table + table)
        return self

    def look(self, counts: ArrayLike | PairedCounts | None = None) -> LooksResult:
        """Look at the evidence so far; without new samples the last look is repeated.

        Parameters
        ----------
        counts : array-like of int of shape (2, 2), or PairCounts, optional
            All samples so far, where they are counted elsewhere: the table of two
            models, as `fastcmp.mcnemar_table` gives it. It takes the place of what was
            counted here.

        Returns
        -------
        LooksResult
            This look, and those before.

        Raises
        ------
        ValueError
            If a count has become smaller: looks come in the order of the samples.
        TypeError
            If counts are not numbers.

        Examples
        --------
        >>> from fastcmp.sequential import McNemarLooks
        >>> state = McNemarLooks()
        >>> state.look([[80, 9], [2, 9]]).evalue.round(4).tolist()
        [2.5898]
        >>> state.look([[60, 10], [3, 9]])
        Traceback (most recent call last):
        ...
        fastcmp.core.errors.BadValueError: counts must not shrink: looks come in...
        """
        with self._lock:
            state = self._state
            if counts is not None:
                source: Any = counts
                totals, paired, raw = state.totals.copy(), are_paired(source), source
                if paired:
                    cells = source.paired_counts()
                    raw = [cells[x] for x in ("both_right", "only_a", "only_b", "both_wrong")]
                    totals[1:] = source.n_missing, source.n_excluded
                table = as_counts(raw, "counts")
                if table.size != 4 or not (paired or table.shape == (2, 2)):
                    raise BadValueError("`counts` must be of two models, shape (2, 2)", table.shape)
                table = table.reshape(2, 2)
                if (table < state.table).any():
                    raise BadValueError(
                        "`counts` must not shrink: looks come in the order of the samples, and "
                        f"each counts all samples so far; got {table.tolist()} after "
                        f"{state.table.tolist()}"
                    )
                totals[0] = table.sum()
                state = replace(state, totals=totals, table=table)
            if not len(state.looks) or (state.looks[-1] != state.table).any():
                looks = np.concatenate([state.looks, state.table[np.newaxis]])
                state = replace(state, looks=looks)
            self._state = state
        _, only_a, only_b, _ = state.looks.reshape(-1, 4).T.copy()
        return _looks_of(
            *(only_a, only_b, state.looks.sum(axis=(1, 2))),
            (self._options["alternative"], self._options["prior"]),
            self._options["alpha"],
            n_missing=int(state.totals[1]),
            n_excluded=int(state.totals[2]),
        )

    def _table(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        table = self._state.table.tolist()
        rows = [(f"a {word}", *map(str, row)) for word, row in zip(_WORDS, table, strict=True)]
        return ("", "b right", "b wrong"), tuple(rows)

    def _check(self) -> None:
        totals, table, looks = self._state.totals, self._state.table, self._state.looks
        check_totals(totals, begun=True)
        check_within(table, 0, totals[0], "table")
        require(int(table.sum()) == totals[0], "the table is of other samples")
        steps = np.diff(looks, axis=0, prepend=0, append=table[np.newaxis])
        require((steps >= 0).all(), "looks must be numbers of samples that grow")
