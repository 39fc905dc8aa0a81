"""Columns as a frame of the user's library."""

from __future__ import annotations

from typing import Any

from fastcmp.checks import check_choice

_FRAMES = ("pandas", "polars", "pyarrow")


def make_frame(columns: dict[str, Any], library: str) -> Any:
    """Make a frame of columns.

    Parameters
    ----------
    columns : dict of str to sequence
        Columns of equal length.
    library : {"pandas", "polars", "pyarrow"}
        Whose frame.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The columns.

    Raises
    ------
    ValueError
        If the library is unknown.
    ImportError
        If it is not installed.
    """
    check_choice(library, "library", _FRAMES)
    try:
        module = __import__(library)
    except ImportError:
        message = f"to_frame({library!r}) needs {library}: pip install {library}"
        raise ImportError(message) from None
    make = module.table if library == "pyarrow" else module.DataFrame
    return make(columns)
