"""Columns as a frame of the user's library."""

from __future__ import annotations

from typing import Any

from fastcmp.core.checks import check_choice

_FRAMES = ("pandas", "polars", "pyarrow")


class Tabular:
    """A record of pairs that can be a frame."""

    def columns(self) -> dict[str, Any]:
        """Lay out the pairs as columns, a row a pair.

        Returns
        -------
        dict of str to sequence
            Columns of equal length.
        """
        raise TypeError(type(self).__name__)

    def to_frame(self, library: str = "pandas") -> Any:
        """Make a frame of the pairs.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A row a pair.

        Raises
        ------
        ValueError
            If the library is unknown.
        ImportError
            If it is not installed.

        Examples
        --------
        >>> from fastcmp import compare_all
        >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
        >>> result.to_frame("pyarrow").num_rows
        1
        """
        check_choice(library, "library", _FRAMES)
        try:
            module = __import__(library)
        except ImportError:
            message = f"to_frame({library!r}) needs {library}: pip install {library}"
            raise ImportError(message) from None
        make = module.table if library == "pyarrow" else module.DataFrame
        return make(self.columns())
