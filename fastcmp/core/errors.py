"""Errors on arguments, in fields: what must hold, what came, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Self

#: An argument in a text, between backticks: `name`, `name=` or `name='value'`; between two is
#: what only Python can do.
_FOR_PYTHON = re.compile(r"``(.+?)``")
_ARGUMENT = re.compile(r"(?<!['\"])`([^`]+)`")


class Spelled(str):
    """A text on arguments, spelled as Python does; `said` writes it with other names.

    Examples
    --------
    >>> from fastcmp.core.errors import Spelled
    >>> text = Spelled("`test='cost'` needs `cost=`")
    >>> text
    "test='cost' needs cost="
    >>> text.said({"test": "--test", "cost": "--cost"}.get)
    '--test cost needs --cost'
    """

    text: str

    def __new__(cls, text: str) -> Spelled:
        """Make it of a text in which arguments stand between backticks."""
        spelled = super().__new__(cls, _ARGUMENT.sub(r"\1", _FOR_PYTHON.sub(r"\1", text)))
        spelled.text = text
        return spelled

    def said(self, option_of: Callable[[str], str | None]) -> str:
        """The text with options for arguments; those that have none stay as Python has them."""
        said, last = "", None
        parts = _ARGUMENT.split(_FOR_PYTHON.sub("", self.text))
        for between, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
            option = _option(mark, option_of)
            if option is None or option != last or between not in (", ", " and ", " or "):
                said += between + (option or mark)
            last = option
        return said


def _option(mark: str, option_of: Callable[[str], str | None]) -> str | None:
    """The option of a marked argument, with its value; None where there is none."""
    name, _, value = mark.partition("=")
    option = option_of(name) or None
    if option is None or value in ("", "True"):
        return option
    text = value.strip("'")
    return f"{option} {text}" if text != value or value.replace(".", "").isdigit() else None


class ArgumentError(Exception):
    """An argument that is refused: what must hold, what came, and what to do.

    `demand` begins with the argument, between backticks as all others in it and in `remedy`. A
    sentence that begins otherwise is on `argument`, or on the first in it. Its places ``{row}``
    and ``{among}`` are filled by the `row` of a sample and by what a number is counted `among`,
    after a space: readers of blocks have others. The command line writes its options for
    arguments, and leaves out a remedy with one that it lacks.
    """

    def __init__(
        self,
        demand: str,
        got: object = None,
        remedy: str = "",
        choices: Iterable[Any] = (),
        argument: str = "",
        row: int | None = None,
        among: str = "",
    ) -> None:
        super().__init__(demand, got, remedy, choices, argument, row, among)
        demand = demand.replace("{row}", str(row)).replace("{among}", among)
        self.demand, self.remedy = Spelled(demand), Spelled(remedy)
        came = got if got is None or isinstance(got, Spelled) else str(got)
        self.got = Spelled(came) if came and came[0] == "`" else came
        self.choices, self.row = tuple(choices), row
        first = next(iter(_ARGUMENT.findall(demand)), demand.partition(" ")[0])
        self.argument = argument or re.split(r"\W", first, maxsplit=1)[0]

    def but(self, **changes: object) -> Self:
        """The same refusal with other words, by the names of arguments."""
        names = ("demand", "got", "remedy", "choices", "argument", "row", "among")
        return type(self)(**dict(zip(names, self.args, strict=True)) | changes)

    def renamed(self, argument: str, name: object, /, **changes: Any) -> Self:
        """The same refusal where an argument is another one, between backticks, or a file."""
        return self.but(demand=self.args[0].replace(f"`{argument}`", str(name)), **changes)

    @property
    def wanted(self) -> str:
        """What must hold, without the name of the argument."""
        return f"{self.demand.removeprefix(self.argument)} {self.choices or ''}".strip()

    @property
    def text(self) -> str:
        """The sentence with arguments between backticks."""
        got = getattr(self.got, "text", self.got)
        return self._sentence(self.demand.text, str(self.choices), got, self.remedy.text)

    def __str__(self) -> str:
        return self._sentence(self.demand, str(self.choices), self.got, self.remedy)

    def said(self, option_of: Callable[[str], str | None]) -> str:
        """The sentence with options for arguments."""
        marks = _ARGUMENT.findall(_FOR_PYTHON.sub("", self.remedy.text))
        remedy = self.remedy.said(option_of) if all(_option(x, option_of) for x in marks) else ""
        listed = ", ".join(map(str, filter(None, self.choices)))
        got = self.got.said(option_of) if isinstance(self.got, Spelled) else self.got
        return self._sentence(self.demand.said(option_of), listed, got, remedy)

    def _sentence(self, demand: str, listed: str, got: str | None, remedy: str) -> str:
        choices = f" {listed}" if self.choices else ""
        came = "" if got is None else f", got {got}"
        if self.choices and self.got:
            from difflib import get_close_matches

            words = [word for word in self.choices if isinstance(word, str)]
            near = get_close_matches(self.got.strip("'").lower(), words, n=1, cutoff=0.7)
            came += f" (did you mean {near[0]!r}?)" if near else ""
        return f"{demand}{choices}{came}{remedy}"


class BadValueError(ArgumentError, ValueError):
    """A value that cannot mean what is asked."""


class BadTypeError(ArgumentError, TypeError):
    """What is of a kind that is not taken."""
