"""One value for each item and model, with what is known of the items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastcmp.core.escaping import visible
from fastcmp.core.plain import readable
from fastcmp.core.records import Record
from fastcmp.core.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 3  # examples


class MissingItems(NamedTuple):
    """Items that one model has no value for."""

    model: str
    n_items: int
    #: The first three.
    examples: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemTable(Record):
    """Values of M models for n items, each answered once or several times."""

    #: Models, M of them.
    names: tuple[str, ...]
    #: What each item is called, shape (n,).
    items: NDArray[Any]
    #: NaN where a model has no value, shape (M, n); with repeats (M, n, R), the answers
    #: to an item first and then NaN.
    values: NDArray[np.float64]
    #: How many of `values` are answers, shape (M, n); a NaN among them is a missing
    #: value. None without repeats.
    n_answers: NDArray[np.int64] | None = None
    #: Cluster of each item, shape (n,), or None.
    groups: NDArray[Any] | None = None
    #: Stratum (task, subset) of each item, shape (n,), or None.
    strata: NDArray[Any] | None = None
    #: Weight of each item, shape (n,), or None.
    weights: NDArray[np.float64] | None = None

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Whether each model has all its answers to each item, one at least, shape (M, n)."""
        return ~np.isnan(self.means)

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean answer to each item, NaN where there is none or one is missing, (M, n)."""
        if self.n_answers is None:
            return self.values
        given = np.arange(self.values.shape[2]) < self.n_answers[:, :, None]
        sums = np.where(given, self.values, 0.0).sum(axis=2)
        with np.errstate(invalid="ignore"):
            means: NDArray[np.float64] = sums / self.n_answers
        return means

    @property
    def missing(self) -> tuple[MissingItems, ...]:
        """Models without a value for some items, and for which."""
        known = self.has_value
        found = []
        for name, row in zip(self.names, known, strict=True):
            lacking = np.flatnonzero(~row)
            if lacking.size:
                examples = tuple(self.items[lacking[:_SHOWN]].tolist())
                found.append(MissingItems(name, lacking.size, examples))
        return tuple(found)

    def columns(self) -> dict[str, list[Any]]:
        """Give a row a model.

        Returns
        -------
        dict of str to list
            Model, number of items with a value and without one, number of answers, and
            the mean over the items that have a value.
        """
        known = self.has_value
        present = known.sum(axis=1)
        answers = np.count_nonzero(~np.isnan(self.values.reshape(len(known), -1)), axis=1)
        sums = np.where(known, self.means, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore"):
            means = sums / present
        return {
            "model": list(self.names),
            "n_items": present.tolist(),
            "n_missing": (len(self.items) - present).tolist(),
            "n_answers": answers.tolist(),
            "mean": means.tolist(),
        }

    def _entries(self) -> dict[str, Any]:
        """Give the entries of `to_dict` that are for reading."""
        entries: dict[str, Any] = {"n_items": len(self.items), "models": self.columns()}
        for name in ("groups", "strata"):
            labels = getattr(self, name)
            entries[f"n_{name}"] = None if labels is None else len(set(labels.tolist()))
        return {name: readable(value) for name, value in entries.items()}

    def sections(self) -> list[Section]:
        """Describe the record.

        Returns
        -------
        list of Section
            One section with a row a model.
        """
        columns = self.columns()
        rows = tuple(
            (visible(name), str(n), str(gone), str(answers), f"{mean:.4f}")
            for name, n, gone, answers, mean in zip(*columns.values(), strict=True)
        )
        return [
            Section(
                title=f"{len(self.names)} models, {len(self.items)} items",
                text=tuple(self._sentences()),
                columns=("model", "items", "missing", "answers", "mean"),
                rows=rows,
                notes=missing_sentences(self.missing, len(self.items)),
            )
        ]

    def _sentences(self) -> list[str]:
        """Say how often items were answered, and how they are grouped."""
        found = []
        if self.n_answers is not None:
            least, most = int(self.n_answers.min()), int(self.n_answers.max())
            number = f"{most}" if least == most else f"{least} to {most}"
            found.append(f"Answers to an item by a model: {number}.")
        for name, labels in (("groups", self.groups), ("strata", self.strata)):
            if labels is not None:
                found.append(f"The items are in {len(set(labels.tolist()))} {name}.")
        if self.weights is not None:
            low, high = self.weights.min(), self.weights.max()
            found.append(f"Weights of items are from {low:.4g} to {high:.4g}.")
        return found


def missing_sentences(missing: tuple[MissingItems, ...], n: int) -> tuple[str, ...]:
    """Say which models lack a value, for how many of the n items, with examples."""
    sentences = [
        f"{visible(each.model)} has no value for {each.n_items} of {n} items, such as "
        f"{', '.join(map(repr, each.examples))}."
        for each in missing[:_SHOWN]
    ]
    if len(missing) > _SHOWN:
        sentences.append(f"{len(missing) - _SHOWN} more models lack values too.")
    return tuple(sentences)
