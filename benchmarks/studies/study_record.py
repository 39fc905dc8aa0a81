"""The base of the studies' records: what is read of them, and their pictures."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from fastcmp.core.records import Record
from fastcmp.core.saved_states import readable


class StudyRecord(Record):
    """What a simulation study found."""

    __slots__ = ()

    #: The function of `benchmarks.studies.figures` that draws it.
    _picture: ClassVar[str]
    #: What its main table is called in `to_dict`.
    _table: ClassVar[str]

    def plot(self, ax: Any = None) -> Any:
        """Draw the record; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the picture.
        """
        figures = import_module(".figures", __package__)
        return getattr(figures, self._picture)(self, ax)

    def _entries(self) -> dict[str, Any]:
        fields = self._fields().items()
        simple = {name: x for name, x in fields if isinstance(x, (str, int, float))}
        return {**simple, self._table: readable(self.columns())}
