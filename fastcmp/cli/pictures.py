"""Pictures that commands draw into files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastcmp.core.atomic_files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def check_picture(path: Path | None, option: str) -> None:
    """Refuse a picture of an unknown kind before anything is read."""
    if path is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'fastcmp[plot]'") from None
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if _ending(path) not in known:
        listed = ", ".join(f".{ending}" for ending in known)
        raise ValueError(f"{option} must end in one of {listed}, got {path}")


def _ending(path: Path) -> str:
    return path.suffix[1:].lower()


def save_picture(path: Path | None, draw: Callable[[Any], Any]) -> None:
    """Draw with `fastcmp.plot` into a file, where one is named."""
    if path is None:
        return
    import matplotlib.pyplot as plt

    from fastcmp import plot

    ax = draw(plot)
    with replacing(path) as file:
        ax.figure.savefig(file, format=_ending(path), bbox_inches="tight", dpi=150)
    plt.close(ax.figure)
