"""What the importer of a format yields: the values of one model on one task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

#: Why a value is missing: codes of `LogPart.status`.
STATUS = ("ok", "error", "unscored", "absent")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """Values of one model on one subset of one task by one metric, in one file.

    Rows come in any order; each is the answer of the model to one item, of n rows.
    """

    model: str
    #: Task and subset, "" where the format has none.
    task: str
    subset: str = ""
    metric: str
    #: Identity of each item within its task and subset: whole numbers, or text.
    items: NDArray[np.int64] | Sequence[str]
    #: As they stand in the file, NaN where there is none, shape (n,).
    values: NDArray[np.float64]
    #: Epoch, trial or seed, shape (n,); None: all are 0.
    repeats: NDArray[np.int32] | None = None
    #: Codes of `STATUS`, shape (n,); None: all are "ok".
    status: NDArray[np.uint8] | None = None
    #: Why there is no value, by row.
    reasons: Mapping[int, str] = field(default_factory=dict)
    #: Answers that a value is the mean of, shape (n,); None: one each.
    attempts: NDArray[np.int32] | None = None
    #: Cluster of each item; None where the format has none.
    clusters: Sequence[str] | None = None
    #: Fingerprints of what an item is (refused where they differ), and of what the
    #: model was asked (reported), 0 where there is none, shape (n,). See `fingerprint`.
    item_hash: NDArray[np.uint64] | None = None
    prompt_hash: NDArray[np.uint64] | None = None
    #: What `item_hash` comes of, in the words of the format, such as "doc_hash".
    hashed: str = "hash"
    lower_is_better: bool = False
    #: Whether the file names this metric as the one to look at.
    is_headline: bool = False
    #: What an item is: an "item" (a question, a row), a whole "task" or data set, or a
    #: "split" of a cross-validation.
    unit: str = "item"
    #: The file, for messages; the run, which tells which of two it is; its time, which
    #: sorts as text, for `runs="latest"`.
    source: Path
    #: All files that it was read from, where there are several.
    files: tuple[Path, ...] = ()
    run: str = ""
    created: str = ""
    #: What the run itself says: number of rows, and mean of the values.
    n_stated: int | None = None
    mean_stated: float | None = None
    #: What is reported where models differ: few-shots, version of the task, ...
    settings: Mapping[str, str] = field(default_factory=dict)
    #: Sentences for the user: a name made up, rows left out, ...
    remarks: tuple[str, ...] = ()
