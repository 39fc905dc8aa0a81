"""Progress of long work, shown by rich or told to a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Called with the steps done and all steps.
Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Say nothing."""


@contextmanager
def reporting(progress: object, title: str) -> Iterator[Progress]:
    """Open what `progress` asks for.

    Parameters
    ----------
    progress : bool, callable or None
        True draws a bar on standard error; a callable is called with the steps done
        and all steps; None and False are silent.
    title : str
        What to write before the bar.

    Yields
    ------
    callable
        To be called with the steps done and all steps.

    Raises
    ------
    ImportError
        If a bar is asked for and rich is not installed.
    TypeError
        If `progress` is something else.
    """
    if progress is None or progress is False:
        yield _silent
    elif progress is True:
        try:
            from rich.console import Console
            from rich.progress import Progress as Bar
        except ImportError:
            message = "progress=True needs rich: pip install 'fastcmp[cli]'"
            raise ImportError(message) from None
        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    elif callable(progress):
        yield progress  # called with two numbers, whatever it makes of them
    else:
        kind = type(progress).__name__
        message = f"progress must be True, a function or None, got {kind}"
        raise TypeError(message)
