"""How alike do many models predict? Agreement, shared errors, symmetry of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import as_proportion, choose
from fastcmp.core.errors import BadValueError
from fastcmp.core.records import Record
from fastcmp.core.sections import PAIR, Column, Section, format_pvalue, main_table
from fastcmp.core.sentences import dropped_sentences, how, outside_sentences
from fastcmp.core.threads import Progress, ThreadPool, check_workers, reporting
from fastcmp.core.typing import Classes, ColumnLike, Flags, Floats, Ints, ModelsLike, Pairs
from fastcmp.counts.pair_tables import PairTables
from fastcmp.counts.pairs import Block, RightBits, all_pairs, choose_pairs
from fastcmp.inputs.labels import Labels, encode, in_order
from fastcmp.inputs.model_names import with_names
from fastcmp.kernels.symmetry import symmetry_many
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, adjusted_by, promise

_SHOWN = 5  # most alike pairs that are printed, and most different ones
#: Fields that `matrix` lays out, with what a model has in common with itself; None
#: stands for its errors.
_DIAGONALS = {
    "disagreement": 0,
    "kappa": 1,
    "q_statistic": 1,
    "correlation": 1,
    "double_fault": None,
    "only_a": 0,
    "only_b": 0,
    "bowker_statistic": 0,
    "bowker_df": 0,
    "bowker_pvalue": 1,
    "bowker_pvalue_adjusted": 1,
    "stuart_maxwell_statistic": 0,
    "stuart_maxwell_df": 0,
    "stuart_maxwell_pvalue": 1,
    "stuart_maxwell_pvalue_adjusted": 1,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgreementResult(Record):
    """How alike many models predict on the same samples, pair by pair.

    Arrays of length P hold one entry a pair (a, b). What is undefined is NaN.
    """

    _opening = "The predictions of each two models were compared with each other."
    _cites = ("cohen fleiss-cohen kuncheva bowker stuart maxwell",)

    #: Indices of the two models of each pair, shape (P, 2).
    pairs: Pairs
    #: Proportion of samples for which a and b predict different classes, shape (P,).
    disagreement: Floats
    #: Cohen's kappa of the predicted classes, shape (P,).
    kappa: Floats
    #: Samples on which only the first, only the second is right, shape (P,).
    only_a: Ints
    only_b: Ints
    #: Yule's Q, and the correlation, of right and wrong; and the proportion of
    #: samples on which both are wrong; shape (P,).
    q_statistic: Floats
    correlation: Floats
    double_fault: Floats
    #: Bowker's test: is (i by a, j by b) as frequent as (j by a, i by b)? Shape (P,).
    bowker_statistic: Floats
    bowker_df: Ints
    bowker_pvalue: Floats
    bowker_pvalue_adjusted: Floats
    #: Stuart and Maxwell's test: do both predict each class equally often? Shape (P,).
    stuart_maxwell_statistic: Floats
    stuart_maxwell_df: Ints
    stuart_maxwell_pvalue: Floats
    stuart_maxwell_pvalue_adjusted: Floats
    #: The least symmetric exchange of each pair, shape (P, 2): more often than the
    #: reverse a predicts the first class where b predicts the second. -1 for none.
    exchange: Ints
    #: Samples of that exchange, and of its reverse, shape (P, 2).
    exchange_counts: Ints
    #: Rightly classified samples of each model, shape (M,).
    correct: Ints
    names: tuple[str, ...]
    #: The label of each class.
    classes: tuple[Any, ...]
    n_samples: int
    adjust: str
    alpha: float
    #: The error rate that decisions at `alpha` keep, in words.
    rule: str
    n_missing: int = 0
    n_excluded: int = 0
    #: Predictions of each model that are labels, but not of the truth; empty where
    #: there are none, or they were not counted.
    n_outside: tuple[int, ...] = ()

    _columns = (
        *PAIR,
        *map(Column, _DIAGONALS),
        Column("class_a", lambda self: self._exchanged(0)),
        Column("class_b", lambda self: self._exchanged(1)),
        Column("exchanged reversed", "exchange_counts"),
    )
    _read = (
        *("distribution", "adjust", "alpha", "rule", "n_samples", "n_missing", "n_excluded"),
        *("n_outside", "classes"),
        Column("models", lambda self: {"model": self.names, "accuracy": self.accuracy}),
        main_table("pairs"),
    )

    def _exchanged(self, place: int) -> list[Any]:
        """The class that one of each pair predicts in the least symmetric exchange, or None."""
        codes = self.exchange[:, place].tolist()
        return [None if code < 0 else self.classes[code] for code in codes]

    @property
    def accuracy(self) -> Floats:
        """Proportion of samples that each model classified rightly, shape (M,)."""
        return np.asarray(self.correct / self.n_samples)

    @property
    def distribution(self) -> str:
        """Reference distribution of both tests: "chi2"."""
        return "chi2"

    @cached_property
    def asymmetric(self) -> Flags:
        """Which pairs exchange classes asymmetrically by Bowker's test, shape (P,)."""
        return self.bowker_pvalue_adjusted <= self.alpha

    @cached_property
    def unlike_margins(self) -> Flags:
        """Which pairs do not predict all classes equally often, shape (P,)."""
        return self.stuart_maxwell_pvalue_adjusted <= self.alpha

    def matrix(self, field: str) -> NDArray[Any]:
        """One field of the pairs as a matrix of models.

        Parameters
        ----------
        field : str
            A field of one number a pair, such as "kappa" or "bowker_pvalue_adjusted".

        Returns
        -------
        ndarray, shape (M, M)
            Entry [i, j] compares model i as the first with model j. Pairs that were
            not compared are NaN (-1 for counts). The diagonal compares a model with
            itself: 0 for disagreement, counts and statistics, 1 for p-values, kappa,
            Q and correlation, its error rate for double faults.

        Raises
        ------
        ValueError
            If there is no such field.

        Examples
        --------
        >>> from fastcmp import compare_predictions
        >>> result = compare_predictions([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.matrix("kappa").tolist()
        [[1.0, 0.5], [0.5, 1.0]]
        """
        field = choose(field, "field", tuple(_DIAGONALS))
        values = getattr(self, field)
        mirrored = values
        if field in ("only_a", "only_b"):
            mirrored = self.only_b if field == "only_a" else self.only_a
        empty = -1 if values.dtype.kind == "i" else np.nan
        matrix = np.full((len(self.names), len(self.names)), empty, values.dtype)
        i, j = self.pairs.T
        matrix[i, j], matrix[j, i] = values, mirrored
        diagonal = _DIAGONALS[field]
        np.fill_diagonal(matrix, 1 - self.accuracy if diagonal is None else diagonal)
        return matrix

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The most alike and the most different pairs, the asymmetric ones, and how
            to read all this.
        """
        order = np.argsort(self.disagreement, kind="stable")
        n_pairs = len(order)
        # With few pairs each is listed once.
        n_alike = min(_SHOWN, -(-n_pairs // 2))
        n_different = min(_SHOWN, n_pairs - n_alike)
        sections = [self._summary(), self._likeness("Most alike", order[:n_alike])]
        if n_different:
            most = order[::-1][:n_different]
            sections.append(self._likeness("Most different", most))
        return [*sections, self._exchanges(), self._explanations()]

    def _summary(self) -> Section:
        n_all = len(self.names) * (len(self.names) - 1) // 2
        tested = f"{len(self.pairs)} of {n_all}" if len(self.pairs) < n_all else n_all
        text = (
            f"{len(self.names)} models on {self.n_samples} samples of "
            f"{len(self.classes)} classes, {tested} pairs; on average a pair "
            f"disagrees on {100 * self.disagreement.mean():.2f}% of the samples.",
            *dropped_sentences(self.n_missing, self.n_excluded),
            *outside_sentences(self.n_outside, self.names, self.n_samples),
        )
        return Section(title="How alike do the models predict?", text=text)

    def _pair(self, p: int) -> tuple[str, str]:
        i, j = self.pairs[p]
        return self.names[i], self.names[j]

    def _likeness(self, title: str, places: NDArray[Any]) -> Section:
        rows = tuple(
            (
                *self._pair(p),
                f"{100 * self.disagreement[p]:.2f}%",
                _number(self.kappa[p]),
                _number(self.q_statistic[p]),
                _number(self.correlation[p]),
                f"{100 * self.double_fault[p]:.2f}%",
            )
            for p in places
        )
        columns = ("a", "b", "disagree", "kappa", "Q", "correlation", "both wrong")
        return Section(title=title, columns=columns, rows=rows)

    def _exchanges(self) -> Section:
        title = "Asymmetric exchanges of classes"
        places = np.flatnonzero(self.asymmetric)
        if not places.size:
            text = (f"No pair at {self.alpha:g}.",)
            return Section(title=title, text=text)
        places = places[np.argsort(self.bowker_pvalue_adjusted[places], kind="stable")]
        rows = []
        for p in places.tolist():
            class_a, class_b = (str(self.classes[code]) for code in self.exchange[p])
            times, reverse = self.exchange_counts[p]
            pvalues = (
                format_pvalue(self.bowker_pvalue_adjusted[p]),
                format_pvalue(self.stuart_maxwell_pvalue_adjusted[p]),
            )
            rows.append((*self._pair(p), class_a, class_b, str(times), str(reverse), *pvalues))
        return Section(
            title=title,
            columns=(
                *("a", "b", "class by a", "class by b", "times", "reversed"),
                *("Bowker p", "Stuart-Maxwell p"),
            ),
            rows=tuple(rows),
            most=10,
        )

    def _explanations(self) -> Section:
        text = (
            "Kappa compares the predicted classes: 0 for chance, 1 for the same. Q and "
            "the correlation compare right and wrong, and are lower for models that "
            "err on different samples.",
            "Bowker's test, H0: two models exchange classes symmetrically. Stuart and "
            "Maxwell's test, H0: they predict each class equally often. The least "
            "symmetric exchange of each pair is shown.",
            f"P-values are {adjusted_by(self.adjust, 'for all pairs')}, separately for each "
            f"test: {self.rule}.",
        )
        return Section(title="How to read this", text=tuple(map(how, text)))


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


_MOST_CLASSES = 4096  # a table of that many classes takes 130 MB
_THREADS_PAY = 1 << 20  # predictions of pairs; below it one thread is faster


def compare_predictions(
    y_true: ColumnLike,
    preds: ModelsLike,
    *,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Classes | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> AgreementResult:
    """Compare what many models predict, all pairs at once.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels. Samples with a missing one are dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`, of either test.
    alpha : float
        Error rate of the decisions, in (0, 1); what it bounds, `adjust` decides.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is refused.
    missing : {"raise"}
        A missing prediction is an error: agreement needs a class.
    names : sequence of str, optional
        Names of the models, in the place of those that `preds` has.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the pairs done and all pairs.

    Returns
    -------
    AgreementResult
        Of each pair: disagreement, Cohen's kappa, Yule's Q, correlation and double
        faults, Bowker's and Stuart and Maxwell's tests.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, or more than 4096 classes,
        lengths differ, names repeat, labels are missing, or an option is unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    For few classes (K - 1)**2 n / 64 popcounts a pair, otherwise O(n); the tables of
    all pairs are never held at once.

    References
    ----------
    .. [1] L. I. Kuncheva, C. J. Whitaker, "Measures of diversity in classifier
       ensembles and their relationship with the ensemble accuracy", Machine Learning 51
       (2003) 181-207.
    .. [2] J. Cohen, "A coefficient of agreement for nominal scales", Educational and
       Psychological Measurement 20 (1960) 37-46.

    Examples
    --------
    >>> from fastcmp import compare_predictions, load_digits
    >>> result = compare_predictions(*load_digits())
    >>> alike = result.kappa.argmax()
    >>> [result.names[i] for i in result.pairs[alike]], f"{result.kappa[alike]:.3f}"
    (['extra_trees', 'random_forest'], '0.985')
    """
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    alpha = as_proportion(alpha, "alpha")
    threads = check_workers(workers)
    choose(missing, "missing", ("raise",))
    preds = with_names(preds, names, "preds")
    labels = encode(y_true, preds, classes=classes, missing=None)
    if classes is None:
        labels = in_order(labels)
    if len(labels.classes) > _MOST_CLASSES:
        raise BadValueError(
            f"compare_predictions takes at most {_MOST_CLASSES} `classes`", len(labels.classes)
        )
    pair_indices = choose_pairs(labels.names, pairs, control)
    n_models = len(labels.names)
    tested = all_pairs(n_models) if pair_indices is None else pair_indices
    if len(tested) * labels.n_samples < _THREADS_PAY:
        threads = 1
    with (
        reporting(progress, "comparing", unit="pairs") as report,
        ThreadPool(threads, report) as pool,
    ):
        bits = RightBits.pack(labels, pool)
        measures = _measure_all(labels, pair_indices, bits, pool)
    return AgreementResult(
        **measures,
        bowker_pvalue_adjusted=adjust_checked(measures["bowker_pvalue"], adjust),
        stuart_maxwell_pvalue_adjusted=adjust_checked(measures["stuart_maxwell_pvalue"], adjust),
        pairs=tested,
        correct=bits.correct,
        names=labels.names,
        classes=tuple(labels.classes),
        n_samples=labels.n_samples,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
        n_outside=labels.n_outside,
    )


def _measure_all(
    labels: Labels, pairs: Pairs | None, bits: RightBits, pool: ThreadPool
) -> dict[str, Any]:
    """Measures of all pairs, block by block, as fields of `AgreementResult`."""
    n_models, k, n = len(labels.names), len(labels.classes), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if pairs is None else len(pairs)
    none = np.empty(0, np.int64)
    everything = {
        name: np.empty((n_pairs, *column.shape[1:]), column.dtype)
        for name, column in _measure(np.empty((0, k, k), int), none, none, none, n)
    }

    def measure(block: Block, counts: Ints) -> None:
        only_a, only_b = bits.discordant(block)
        both = bits.correct[block.pairs[:, 0]] - only_a
        for name, column in _measure(counts, only_a, only_b, both, n):
            everything[name][block.where] = column

    PairTables(labels.preds, k, n_pairs).fold(pairs, pool, measure)
    return everything


def _measure(
    tables: Ints, only_a: Ints, only_b: Ints, both: Ints, n: int
) -> Iterable[tuple[str, Any]]:
    """Measures of some pairs from their tables, shape (p, K, K): fields and columns."""
    differ = n - np.trace(tables, axis1=1, axis2=2)
    margin_a, margin_b = tables.sum(axis=2) + 0.0, tables.sum(axis=1) + 0.0
    # By chance; all terms are positive, so that nothing cancels.
    expected = (margin_a * (n - margin_b)).sum(axis=1)
    right = both.astype(np.float64)
    wrong = n - right - only_a - only_b
    same, crossed = right * wrong, only_a.astype(np.float64) * only_b
    spread_a = (right + only_a) * (wrong + only_b)
    spread_b = (right + only_b) * (wrong + only_a)
    with np.errstate(invalid="ignore"):
        kappa = np.where(expected > 0, 1 - n * (differ / expected), np.nan)
        q_statistic = (same - crossed) / (same + crossed)
        correlation = (same - crossed) / np.sqrt(spread_a * spread_b)
    exchange, exchange_counts = _exchanges(tables)
    return {
        "disagreement": differ / n,
        "kappa": kappa,
        "only_a": only_a,
        "only_b": only_b,
        "q_statistic": q_statistic,
        "correlation": correlation,
        "double_fault": wrong / n,
        **_test("bowker", tables),
        **_test("stuart_maxwell", tables),
        "exchange": exchange,
        "exchange_counts": exchange_counts,
    }.items()


def _test(name: str, tables: Ints) -> dict[str, Any]:
    results, df = np.empty((len(tables), 2)), np.empty(len(tables), np.int64)
    status = np.empty(len(tables), np.uint8)
    symmetry_many(tables, name == "stuart_maxwell", results, df, status)
    statistic, pvalue = results.T
    return {f"{name}_statistic": statistic, f"{name}_df": df, f"{name}_pvalue": pvalue}


def _exchanges(tables: Ints) -> tuple[Ints, Ints]:
    """The cell of each table that adds most to Bowker's statistic, and its counts."""
    reverse = tables.transpose(0, 2, 1)
    excess = np.maximum(tables - reverse, 0)
    part = excess * (excess / np.maximum(tables + reverse, 1))
    k = tables.shape[1]
    largest = part.reshape(-1, k * k).argmax(axis=1)
    a, b = np.divmod(largest, k)
    p = np.arange(len(tables))
    differs = part[p, a, b] > 0
    cells = np.where(differs[:, None], np.stack([a, b], axis=1), -1)
    counts = np.stack([tables[p, a, b], tables[p, b, a]], axis=1)
    return cells, np.where(differs[:, None], counts, 0)
