"""Progress of long work, drawn by rich or passed to a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Called with the steps done and all steps.
Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Say nothing."""


def check_progress(progress: object) -> None:
    """Refuse what is neither True, a function nor None, also where nothing is long."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        kind = type(progress).__name__
        raise TypeError(f"progress must be True, a function or None, got {kind}")


@contextmanager
def reporting(progress: object, title: str, *, unit: str = "") -> Iterator[Progress]:
    """Open what `progress` asks for: a bar, a callable, or nothing.

    Gives a callable, to be called with the steps done and all steps; `unit` is what a
    step is, such as "pairs".
    """
    check_progress(progress)
    if progress is None or progress is False:
        yield _silent
    elif progress is True:
        with _bar(unit) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield progress  # type: ignore[misc]  # called with two numbers


def _bar(unit: str) -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import ProgressColumn
        from rich.text import Text
    except ImportError:
        raise ImportError("progress=True needs rich: pip install 'fastcmp[cli]'") from None

    class Rate(ProgressColumn):  # type: ignore[misc]  # rich is not looked into
        """Steps a second, with a letter for thousands, millions, billions."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{_short(speed)} {unit}/s")

    columns = Bar.get_default_columns()
    rate = (Rate(),) if unit else ()
    return Bar(*columns, *rate, console=Console(stderr=True), transient=True)


def _short(number: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {letter}"
    return f"{number:.3g}"
