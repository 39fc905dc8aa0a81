"""What to beware of in an estimate or a comparison: in the record, and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastcmp import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fastcmp.metrics.estimators import Estimator

    Floats = NDArray[np.float64]

#: Samples of a class below which intervals and tests are said to be doubtful.
FEW = 10
_TOO_FEW = 5  # below it the mean over classes is also biased
_NAMED = 4


def few_samples(table: Floats, classes: Sequence[Any]) -> tuple[str, ...]:
    """Say which classes have few samples."""
    sizes = table.sum(axis=1)
    few = np.flatnonzero((sizes > 0) & (sizes < FEW))
    if not few.size:
        return ()
    named = ", ".join(f"{classes[k]} ({sizes[k]:g})" for k in few[:_NAMED])
    rest = f" and {few.size - _NAMED} more" if few.size > _NAMED else ""
    one = few.size == 1
    return (
        f"{few.size} class{' has' if one else 'es have'} fewer than {FEW} samples: "
        f"{named}{rest}. Intervals may be too short"
        + (
            ", and means over classes too low."
            if (sizes[few] < _TOO_FEW).any() and np.count_nonzero(sizes) > 2
            else "."
        ),
    )


def conventions(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Any
) -> tuple[str, ...]:
    """Say where a rate is 0/0, and what it was taken for."""
    found = []
    for table, name in zip(tables, names, strict=True):
        if estimator.name == "mcc" and 1 in (table.any(axis=0).sum(), table.any(axis=1).sum()):
            found.append(f"MCC of {name}: 0/0, taken as 0, as one class only is true or predicted.")
        marks = estimator.without_samples(table)
        if marks is None or not marks.any():
            continue
        shown = ", ".join(str(classes[k]) for k in np.flatnonzero(marks)[:_NAMED])
        found.append(
            f"{estimator.title} of {name}: 0/0 for class {shown}, taken as zero_division says."
        )
    return tuple(found)


def differing_labels(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Any
) -> tuple[str, ...]:
    """Say that two models are averaged over different classes."""
    sets = [estimator.averaged(table) for table in tables]
    first = sets[0]
    if first is None:
        return ()
    for other, name in zip(sets[1:], names[1:], strict=True):
        assert other is not None
        apart = np.flatnonzero(first != other)
        if apart.size:
            shown = ", ".join(str(classes[k]) for k in apart[:_NAMED])
            return (
                f"{estimator.title} is over {int(first.sum())} classes for {names[0]} "
                f"and over {int(other.sum())} for {name} ({shown}): labels='truth', or "
                "a list, averages both over the same.",
            )
    return ()


def distances_apart(
    estimator: Estimator, tables: Sequence[Floats], names: Sequence[str], classes: Sequence[Any]
) -> tuple[str, ...]:
    """Say what weighted kappa does where the order of the classes was not given.

    That it is alphabetical, and that distances count classes which a model alone lacks.
    """
    spec = getattr(estimator, "spec", None)
    if estimator.name not in ("kappa_linear", "kappa_quadratic") or spec is None:
        return ()
    if spec.labels == kernels.LISTED or len(classes) < 3:
        return ()
    if any(isinstance(label, str) for label in classes):
        return (f"{estimator.title} takes words in alphabetical order: labels= gives the order.",)
    for table, name in zip(tables, names, strict=True):
        unseen = np.flatnonzero(~(table.any(axis=0) | table.any(axis=1)))
        if unseen.size:
            shown = ", ".join(str(classes[k]) for k in unseen[:_NAMED])
            return (
                f"{estimator.title} counts distances in the order of all {len(classes)} classes "
                f"that occur, also {shown}, which {name} alone has not: labels= with all classes "
                "in their order makes it independent of the other models.",
            )
    return ()
