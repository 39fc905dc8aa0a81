"""Errors on an argument, in fields: what it is called, what was wanted, and what came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ArgumentError(Exception):
    """An argument that is refused, by what Python calls it; the command line names its option.

    `wanted` is what must hold of it, or the known choices; `got` is what came, as text.
    """

    def __init__(
        self, argument: str, wanted: str | tuple[Any, ...] = "", got: object = "", remedy: str = ""
    ) -> None:
        super().__init__(argument, wanted, got, remedy)
        self.argument, self.wanted, self.got, self.remedy = argument, wanted, got, remedy

    def __str__(self) -> str:
        return self.said_of(self.argument, str)

    def said_of(self, argument: str, listed: Callable[[tuple[Any, ...]], str]) -> str:
        """The sentence, with another name of the argument and its choices as `listed`."""
        demand = self.wanted
        if isinstance(demand, tuple):
            demand = f"must be one of {listed(demand)}"
        value = "" if self.got == "" else f", got {self.got}"
        return f"{argument} {demand}{value}{self._nearest()}{self.remedy}".rstrip()

    def _nearest(self) -> str:
        """The known choice that is spelled nearest to what came, as a question; else nothing."""
        if not isinstance(self.wanted, tuple) or not isinstance(self.got, str):
            return ""
        from difflib import get_close_matches

        words = [word for word in self.wanted if isinstance(word, str)]
        near = get_close_matches(self.got.strip("'").lower(), words, n=1, cutoff=0.7)
        return f" (did you mean {near[0]!r}?)" if near else ""


class BadValueError(ArgumentError, ValueError):
    """A value that cannot mean what is asked."""


class BadTypeError(ArgumentError, TypeError):
    """What is of a kind that is not taken."""
