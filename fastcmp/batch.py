"""Many models on the same samples, all pairs at once."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fastcmp.checks import as_share, check_choice
from fastcmp.crew import Crew, check_workers
from fastcmp.differences import check_options
from fastcmp.labels import encode
from fastcmp.multiplicity import ADJUSTMENTS, promise
from fastcmp.multiplicity import adjust as adjust_pvalues
from fastcmp.pair_accuracies import compare_accuracies
from fastcmp.pair_costs import compare_costs, encode_costs
from fastcmp.paired import METHODS
from fastcmp.pairs import choose_pairs
from fastcmp.pairwise import PairwiseResult
from fastcmp.progress import Progress, reporting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

_TESTS = ("mcnemar", "cost")
_THREADS_PAY = 1 << 22  # words of pairs; below it one thread is faster


def compare_all(  # noqa: PLR0913  # options, all by keyword
    y_true: ArrayLike,
    preds: Any,
    /,
    *,
    test: str = "mcnemar",
    method: str | None = None,
    cost: Any = None,
    adjust: str = "holm",
    alpha: float = 0.05,
    pairs: Sequence[tuple[int | str, int | str]] | None = None,
    control: int | str | None = None,
    classes: Sequence[Any] | None = None,
    missing: str = "raise",
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> PairwiseResult:
    """Compare many models on the same samples, all pairs at once.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels of any type that can be compared. Samples with a missing one are
        dropped and counted.
    preds : array-like of shape (M, n), mapping or frame
        Predicted labels: one row a model, or a mapping from names to columns, or a
        pandas, polars or pyarrow frame whose columns are models.
    test : {"mcnemar", "cost"}
        What is compared: accuracies, or expected costs.
    method : str, optional
        Variant of the test: "midp" (default), "exact", "asymptotic", "corrected" or
        "unconditional", as in `mcnemar`; for costs "likelihood" (default) or
        "chi-square", as in `cost_test`.
    cost : array-like of shape (K, K), mapping or frame, optional
        For ``test="cost"``: the cost of each mistake, as in `cost_test`.
    adjust : str
        Adjustment for the number of pairs, as in `adjust`: "holm", "hommel", "bh", ...
    alpha : float
        Error rate of the decisions, in (0, 1); what it bounds, `adjust` decides.
    pairs : sequence of pairs, optional
        Compare only these, by name or index.
    control : int or str, optional
        Compare only this model with all others.
    classes : sequence, optional
        Compare only samples whose true label is one of these; a prediction outside
        them is an error, and refused where it would need a cost.
    missing : {"raise", "wrong"}
        What to make of a missing prediction.
    workers : int, optional
        Threads; by default as many as there are processors. The result is the same
        for any number.
    progress : bool or callable, optional
        True draws a bar; a function is called with the steps done and all steps.

    Returns
    -------
    PairwiseResult
        Counts, differences, p-values, decisions, leaderboard and groups of ties.

    Raises
    ------
    ValueError
        If there are fewer than two models or samples, lengths differ, names repeat,
        labels are missing, or an option is unknown.
    TypeError
        If labels cannot be compared.

    Notes
    -----
    O(M n) to encode and pack, M**2 n / 128 popcounts, O(P log P) to adjust. Memory:
    n / 8 bytes a model and some 100 bytes a pair.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian J. Statistics 6 (1979) 65-70.

    Examples
    --------
    >>> from fastcmp import compare_all, load_digits
    >>> result = compare_all(*load_digits())
    >>> result.best
    ('svm_rbf', 'knn_3', 'extra_trees', 'random_forest', 'mlp')
    """
    check_choice(test, "test", _TESTS)
    check_choice(adjust, "adjust", ADJUSTMENTS)
    alpha = as_share(alpha, "alpha")
    threads = check_workers(workers)
    if test == "cost":
        method = "likelihood" if method is None else method
        options = check_options(method)
        labels, matrix = encode_costs(y_true, preds, cost, classes, missing)
    else:
        method = "midp" if method is None else method
        check_choice(method, "method", METHODS)
        if cost is not None:
            message = "cost is for test='cost'"
            raise ValueError(message)
        labels = encode(y_true, preds, classes=classes, missing=missing)
    chosen = choose_pairs(labels.names, pairs, control)
    n_models, n = len(labels.names), labels.n_samples
    n_pairs = n_models * (n_models - 1) // 2 if chosen is None else len(chosen)
    if n_pairs * n // 64 < _THREADS_PAY:
        threads = 1
    with (
        reporting(progress, "comparing") as report,
        Crew(threads, report) as crew,
    ):
        if test == "cost":
            found = compare_costs(labels, matrix, chosen, options, 1 - alpha, crew)
        else:
            found = compare_accuracies(labels, chosen, method, 1 - alpha, crew)
    return PairwiseResult(
        **{field.name: getattr(found, field.name) for field in fields(found)},
        pvalue_adjusted=adjust_pvalues(found.pvalue, adjust),
        names=labels.names,
        measure="cost" if test == "cost" else "accuracy",
        n_samples=n,
        test=test,
        method=method,
        adjust=adjust,
        alpha=alpha,
        rule=promise(adjust, alpha),
        n_missing=labels.n_missing,
        n_excluded=labels.n_excluded,
    )
