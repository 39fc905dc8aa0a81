"""Several comparisons of two models, each with a margin, decided together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fastcmp.core.checks import check_size, choose
from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.records import ConfidenceInterval, Record, keep_intervals
from fastcmp.core.sections import (
    Column,
    Section,
    beware,
    format_pvalue,
    interval_name,
    table_of,
    written,
)
from fastcmp.core.sentences import how, null_sentence
from fastcmp.core.typing import Flags, Floats
from fastcmp.inputs.model_names import read_pair_names
from fastcmp.paired.margin_result import CANNOT_TELL, METHOD_NAMES, NOT_WORSE, WORSE, MarginTests
from fastcmp.paired.margins import decide
from fastcmp.pairwise.adjust import ADJUSTMENTS, adjust_checked, adjusted_by
from fastcmp.pairwise.slices_result import SlicesResult

#: What a process that ran the gate returns, by its outcome.
EXIT_STATUS: Final = {NOT_WORSE: 0, WORSE: 1, CANNOT_TELL: 2}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GateResult(Record):
    """Whether one model is not worse than another in each of several comparisons.

    Arrays have one entry for each comparison.
    """

    _blocks = "two_models:gate"
    _opening = (
        "The new model passes where it is shown, in every comparison, not to be worse than the "
        "old one by the margin."
    )

    _cites = (
        "berger",
        ("methods", {"exact": "hsueh", "score": "tango", "miettinen-nurminen": "miettinen"}),
    )

    #: What was compared, and the two models.
    names: tuple[str, ...]
    models: tuple[str, str]
    measures: tuple[str, ...]
    #: Samples, and the measure of each model, shape (n, 2); NaN where not known.
    n_samples: Floats
    values: Floats
    #: The tests of the margins, as in `MarginTests.method`.
    methods: tuple[str, ...]
    #: The measure of the first model minus that of the second.
    difference: Floats
    #: The largest difference that does not matter.
    margin: Floats
    #: For the difference, of the level 1 - 2 alpha, shape (n, 2).
    interval: Floats
    #: Of H0: the first model is worse by the margin or more; not adjusted.
    pvalue: Floats
    #: Of H0: the models are equal, after `adjust`.
    equality_pvalue: Floats
    #: "better", "not worse", "equivalent", "worse" or "cannot tell".
    decision: NDArray[Any]
    #: Whether the first model is shown not to be worse by the margin.
    margin_met: Flags
    #: How many more samples would probably decide; None where it is not known.
    n_more: tuple[int | None, ...]
    adjust: str
    alpha: float
    #: What makes the decisions doubtful, in sentences.
    cautions: tuple[str, ...] = ()

    _columns = (
        *(Column("comparison", "names"), Column("measure", "measures"), Column("n_samples")),
        *(Column("value_a value_b", "values"), Column("method", "methods"), Column("difference")),
        Column("low high", "interval"),
        *Column.each("margin pvalue equality_pvalue decision margin_met n_more"),
    )

    _derived = ("outcome", "passed")

    def __post_init__(self) -> None:
        """Keep intervals from being unpacked by mistake."""
        keep_intervals(self, "interval")

    @property
    def failed(self) -> Flags:
        """Where the first model is worse, and not shown to be so by less than a margin.

        A model that is significantly worse by less than the margin is not worse as far
        as the gate is concerned.
        """
        return np.asarray((self.decision == WORSE) & ~self.margin_met)

    @property
    def outcome(self) -> str:
        """The whole in two words: "not worse", "worse" or "cannot tell"."""
        if self.margin_met.all():
            return NOT_WORSE
        return WORSE if self.failed.any() else CANNOT_TELL

    @property
    def passed(self) -> bool:
        """Whether the first model is shown not to be worse in all comparisons."""
        return self.outcome == NOT_WORSE

    @property
    def exit_status(self) -> int:
        """0 for not worse, 1 for worse, 2 for cannot tell."""
        return EXIT_STATUS[self.outcome]

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        first, second = self.models
        n = len(self.names)
        if self.passed:
            where = "" if n == 1 else f" in {'both' if n == 2 else f'all {n}'} comparisons"
            return f"Pass: {first} is non-inferior to {second}{where}."
        if self.outcome == WORSE:
            return f"Fail: {first} is worse than {second}{self._where(self.failed)}."
        more = {i: self.n_more[i] for i in np.flatnonzero(~self.margin_met).tolist()}
        advice = ""
        if all(more.values()):
            most = max(more, key=lambda i: more[i] or 0)
            of = "" if n == 1 else f" of {self.names[most]}"
            advice = (
                f"; about {more[most]:,} more test samples{of}, predicted by both models, would "
                "probably decide"
            )
        return (
            f"Cannot tell whether {first} is worse than {second} by the margin"
            f"{self._where(~self.margin_met)}{advice}."
        )

    def _where(self, flags: Flags) -> str:
        if len(self.names) == 1:
            return ""
        places = np.flatnonzero(flags)
        named = ", ".join(self.names[i] for i in places[:5])
        more = f" and {places.size - 5} more" if places.size > 5 else ""
        return f" in {places.size} of {len(self.names)} comparisons ({named}{more})"

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            The outcome, a table, and what is promised.
        """
        first, second = self.models
        measured = zip(*map(self.measured, range(len(self.names))), strict=True)
        columns = {
            "": self.names,
            **dict(zip(("n", first, second), measured, strict=True)),
            "difference": written(self.difference, "+.4f"),
            interval_name(1 - 2 * self.alpha): written(self.interval, "+.4f"),
            "margin": written(self.margin, ".4g"),
            "p": written(self.pvalue, format_pvalue),
            "decision": written(self.decision),
        }
        notes = [
            how(f"Tests: {self.tests}."),
            null_sentence(f"{first} is worse than {second} by the margin or more", end="."),
            how(f"False-pass probability: at most {100 * self.alpha:.9g}%."),
        ]
        if len(self.names) > 1 and self.adjust != "none":
            notes.append(how(f'"better" and "worse" are {adjusted_by(self.adjust)}.'))
        title = f"Is {first} as good as {second}?"
        sections = [table_of(title, columns, text=(self.sentence,), notes=notes, most=None)]
        return [*sections, *beware(self)]

    @property
    def tests(self) -> str:
        """The tests of the margins in words."""
        return " and ".join(METHOD_NAMES.get(x, x) for x in dict.fromkeys(self.methods))

    def measured(self, i: int) -> tuple[str, str, str]:
        """The number of samples and both values of a comparison, as text.

        Parameters
        ----------
        i : int
            Which comparison.

        Returns
        -------
        tuple of str
            Samples, value of the new model, value of the base; "-" where not known.
        """
        numbers = (self.n_samples[i], *self.values[i])
        forms = (",.0f", ".4f", ".4f")
        texts = ["-" if np.isnan(x) else format(x, f) for x, f in zip(numbers, forms, strict=True)]
        n, a, b = texts
        return n, a, b


_SIZES = (("n_samples",), ("n_items",), ("n_a", "n_b"), ("n_positives", "n_negatives"))
#: Of what records of two models have one value a model.
_VALUES = tuple((f"{x}_a", f"{x}_b") for x in ("accuracy", "value", "mean", "auc", "loss"))


def gate(
    comparisons: Mapping[str, Any], *, adjust: str = "holm", names: Sequence[str] = ("a", "b")
) -> GateResult:
    """Decide whether model a is not worse than b in all of several comparisons.

    Parameters
    ----------
    comparisons : mapping of str to record
        What was compared, such as ``{"accuracy": mcnemar(..., margin=0.01)}``: records
        of the same two models, each made with `margin` and two-sided. One that was made
        with ``slices=``, or by `compare_slices`, stands for each of its slices too; those
        that are too small to be tested are left out.
    adjust : str
        Adjustment of the tests of equality, from which "better" and "worse" follow,
        for the number of comparisons, as in `adjust`.
    names : sequence of str
        Names of a and b.

    Returns
    -------
    GateResult
        A decision for each comparison, and the outcome: "not worse" where every margin
        is met, "worse" where a is significantly worse and its margin is not met, else
        "cannot tell".

    Raises
    ------
    ValueError
        If there is no comparison, one is of several differences, or is one-sided, their
        `alpha` differ, or `adjust` is unknown.
    TypeError
        If the comparisons are not a mapping of records with margins.

    Notes
    -----
    The gate passes only if each margin test is significant. A false pass needs a false
    decision where the true loss is a margin or more, so its probability is at most
    alpha without any adjustment: this is an intersection-union test. That one of
    several comparisons shows "worse" by chance is what `adjust` guards against.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling",
       Technometrics 24 (1982) 295-300.

    Examples
    --------
    >>> from fastcmp import gate, mcnemar
    >>> result = gate(
    ...     {
    ...         "all": mcnemar(table=[[880, 40], [38, 42]], margin=0.03),
    ...         "hard": mcnemar(table=[[80, 20], [30, 40]], margin=0.03),
    ...     }
    ... )
    >>> result.outcome, result.decision.tolist()
    ('cannot tell', ['equivalent', 'cannot tell'])
    """
    adjust = choose(adjust, "adjust", ADJUSTMENTS)
    if not isinstance(comparisons, Mapping):
        raise BadTypeError(
            "`comparisons` must be a mapping from names to records of two models",
            type(comparisons).__name__,
        )
    check_size(len(comparisons), "comparisons", "record of two models", 1)
    models = read_pair_names(names)
    cautions = _cautions(comparisons)
    comparisons = {k: x for name, record in comparisons.items() for k, x in _parts(name, record)}
    tests = [_margins_of(name, record) for name, record in comparisons.items()]
    alpha = tests[0].alpha
    if any(test.alpha != alpha for test in tests):
        raise BadValueError("`comparisons` must have one alpha", sorted({x.alpha for x in tests}))
    records = list(comparisons.values())
    adjusted = adjust_checked(_column(records, "pvalue"), adjust)
    differs = adjusted <= alpha
    better = differs & np.array([record.better == "a" for record in records])
    worse = differs & np.array([record.better == "b" for record in records])
    pvalue = _column(tests, "noninferiority_pvalue")
    # Without variance there is no test of the margin, but one of equality.
    met = np.array([bool(test.margin_met) for test in tests]) | (better & np.isnan(pvalue))
    within = np.array([bool(test.within_margin) for test in tests])
    return GateResult(
        names=tuple(comparisons),
        models=models,
        measures=tuple(test.measure for test in tests),
        n_samples=np.array([_first_of(record, _SIZES).sum() for record in records]),
        values=np.array([_first_of(record, _VALUES) for record in records]),
        methods=tuple(test.method for test in tests),
        difference=_column(tests, "difference"),
        margin=_column(tests, "margin"),
        interval=np.array([tuple(test.inner_interval) for test in tests]),
        pvalue=pvalue,
        equality_pvalue=adjusted,
        decision=decide(better, worse, within, met).decision,
        margin_met=met,
        n_more=tuple(test.n_more for test in tests),
        adjust=adjust,
        alpha=alpha,
        cautions=cautions,
    )


def _parts(name: str, record: Any) -> Iterator[tuple[str, Any]]:
    """A comparison, and one for each slice that it was made with."""
    result = record if isinstance(record, SlicesResult) else getattr(record, "slices", None)
    if result is not record:
        yield name, record
    if not isinstance(result, SlicesResult):
        return
    margins = result.margins
    if len(result.pairs) != 1 or margins is None:
        raise BadValueError(
            f"{name!r} must have slices of two models that were compared with `margin=`"
        )
    gain = result.difference[0] * (-1.0 if result.lower_is_better else 1.0)
    for s in np.flatnonzero(~np.isnan(result.df)).tolist():
        fields: dict[str, Any] = {"df": float(result.df[s])}
        for field, value in margins._fields().items():
            if isinstance(value, ConfidenceInterval):
                fields[field] = ConfidenceInterval(*(float(end[0, s]) for end in value))
            elif np.ndim(value) == 2:
                fields[field] = value[0, s].item()
        fields["n_more"] = None if np.isnan(fields["n_more"]) else int(fields["n_more"])
        yield (
            f"{name} [{result.slices[s]}]",
            SimpleNamespace(  # as a record of two models
                pvalue=result.pvalue[0, s],
                better={1.0: "a", -1.0: "b"}.get(float(np.sign(gain[s]))),
                margins=replace(margins, **fields),
                n_items=result.n_items_of_slices[s],
                mean_a=result.mean[0, s],
                mean_b=result.mean[1, s],
            ),
        )


def _cautions(comparisons: Mapping[str, Any]) -> tuple[str, ...]:
    """Cautions of the records; of several comparisons with their names."""
    named: dict[str, list[str]] = {}
    for name, record in comparisons.items():
        sliced = getattr(getattr(record, "slices", None), "cautions", ())
        for caution in (*getattr(record, "cautions", ()), *sliced):
            named.setdefault(caution, []).append(name)
    n = len(comparisons)
    return tuple(
        caution if len(where) == n else f"{', '.join(where)}: {caution}"
        for caution, where in named.items()
    )


def _first_of(record: Any, kinds: Sequence[Sequence[str]]) -> Floats:
    """Take the first attributes of these kinds that a record has; else NaN."""
    for names in kinds:
        with suppress(ValueError):  # counts that were not given
            values = [getattr(record, name, None) for name in names]
            if None not in values:
                return np.array(values, np.float64)
    return np.full(2, np.nan)


def _margins_of(name: str, record: Any) -> MarginTests:
    """Take the margin tests of a record; refuse what cannot be decided by."""
    margins = getattr(record, "margins", None)
    if not isinstance(margins, MarginTests):
        raise BadTypeError(
            "`comparisons` must be records of two models that were compared with `margin=`, "
            f"{name!r} is {type(record).__name__} without"
        )
    if np.ndim(margins.decision):
        raise BadValueError(
            f"{name!r} holds many differences: pass one record for each", argument="comparisons"
        )
    if getattr(record, "alternative", "two-sided") != "two-sided":
        raise BadValueError(
            f"{name!r} is a one-sided test (`alternative={record.alternative!r}`): compare with "
            "`alternative='two-sided'`",
            argument="comparisons",
        )
    return margins


def _column(records: Sequence[Any], name: str) -> Floats:
    return np.array([float(getattr(record, name)) for record in records])
