"""Options and commands, each declared once: how `argparse` takes them follows."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fastcmp.core.threads import in_words, read_size

_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}
_PATHS = ("FILE", "DIR", "PATH", "BASE", "NEW")


class Option(NamedTuple):
    """An option of the command line; one whose name is in capitals or a path is an argument."""

    name: str
    #: What follows it: "" a text, "COL" a text by that name, "COL+" several, "COL1" a list of one,
    #: "A B" two of them, "int" and "float" numbers, "N:int" one by a name, "a|b" one of these,
    #: "FILE" a path, "flag" nothing (None where it is not passed: "flag?"); "<...>" is a name of
    #: any letters. "*FILE" and "?FILE" are arguments without a name.
    form: str = ""
    help: str = ""
    default: Any = None
    #: Other spellings, and the attribute, where it is not called as the option is.
    also: tuple[str, ...] = ()
    dest: str = ""
    required: bool = False

    def add(self, add: Callable[..., Any]) -> None:
        """Add it to a parser or a group."""
        more: dict[str, Any] = {"help": self.help, "default": self.default}
        form = self.form
        if form.startswith("flag"):
            empty = False if form == "flag" and self.default is None else self.default
            more |= {"action": "store_true", "default": empty}
        elif form in _NUMBERS:
            more["type"] = _NUMBERS[form]
        elif form.startswith("<"):
            name, _, several = form[1:].partition(">")
            more |= {"metavar": name} | ({"nargs": several} if several else {})
        elif "|" in form:
            more["choices"] = tuple(filter(None, form.split("|")))
        elif form:
            form, _, kind = form.partition(":")
            names = tuple(form.strip("*?+1").split())
            times = {"*": "*", "?": "?"}.get(form[0]) or {"+": "+", "1": 1}.get(form[-1])
            more["metavar"] = names if len(names) > 1 else names[0]
            if times or len(names) > 1:
                more["nargs"] = times or len(names)
            if kind or names[-1] in _PATHS:
                more["type"] = _NUMBERS.get(kind, Path)
        if self.dest:
            more["dest"] = self.dest
        if self.required:
            more["required"] = True
        if self.form[:1] in ("*", "?") or self.name in ("new", "file"):
            add(self.name, **more)
        else:
            add(f"--{self.name}", *self.also, **more)


class Group(NamedTuple):
    """Options below a heading of the help."""

    title: str
    options: tuple[Option | str, ...]
    description: str | None = None


class Command(NamedTuple):
    """A command of the program."""

    name: str
    run: Callable[[argparse.Namespace], int | None]
    help: str
    description: str
    options: tuple[Option | Group | str, ...]
    epilog: str | None = None
    usage: str | None = None
    #: Options that it has not, and functions that it shares ask for.
    fixed: Mapping[str, Any] = MappingProxyType({})

    def add(self, commands: Any) -> None:
        """Add it to the parser of commands."""
        texts = {"help": self.help, "description": self.description, "epilog": self.epilog}
        parser = commands.add_parser(self.name, usage=self.usage, **texts)
        for entry in self.options:
            if isinstance(entry, Group):
                group = parser.add_argument_group(entry.title, entry.description)
                for option in entry.options:
                    option_of(option).add(group.add_argument)
            else:
                option_of(entry).add(parser.add_argument)
        parser.set_defaults(run=self.run, command=parser, **self.fixed)
        # Else "-2pp", which is no number, would be taken for an option.
        parser._negative_number_matcher = re.compile(r"-\.?\d")


#: Options that several commands have; a command may say another help, form or default.
OPTIONS = {
    option.name: option
    for option in (
        Option("target", "COL", "column of the true labels (y_true)"),
        Option("id", "COL", "column of sample ids, to join files by (id)"),
        Option("drop", "COL+", "columns to leave out", ()),
        Option("models", "COL+", "columns to compare (all others)"),
        Option("missing", "", "missing predictions: raise, wrong (raise)", "raise"),
        Option("cost", "FILE", "table of what each mistake costs"),
        Option("scores", "COL1", "the column of scores (the only one)"),
        Option("positive", "LABEL", "the positive class of two"),
        Option("groups", "COL", "column of clusters of samples", also=("--group",)),
        Option("control", "COL", "compare only this model with all others"),
        Option("method", "", "variant of the test, or approximation (the test's first)"),
        Option("adjust", "", "adjustment for many pairs (holm)", "holm"),
        Option("alpha", "float", "error rate of decisions (0.05)", 0.05),
        Option(
            *("alternative", "", "two-sided, greater (the first is better), less (two-sided)"),
            "two-sided",
        ),
        Option("workers", "int", "threads (as many as processors)"),
        Option("memory-limit", "SIZE", "memory for files read as a whole (4GB)"),
        Option("plot", "FILE", "where to draw (.png, .pdf, .svg)"),
        Option("output", "FILE", "where to write (the terminal)"),
        Option(
            *("report", "FILE"),
            "also write a report to open in a browser, in one file (.html); needs Jinja2",
        ),
    )
}


def option_of(option: Option | str) -> Option:
    """An option, or the one of this name that several commands have."""
    return OPTIONS[option] if isinstance(option, str) else option


def option(name: str, help: str = "", **changes: Any) -> Option:
    """The option of this name that several commands have, with another help, form or default."""
    shared = OPTIONS[name]
    return shared._replace(help=help or shared.help, **changes)


def passed(options: argparse.Namespace, *names: str, **others: str) -> dict[str, Any]:
    """The options that a user passed or that have a default, by the names of arguments.

    `others` are those of another name, as in ``rng="seed"``.
    """
    named = dict(zip(names, names, strict=True)) | others
    values = {name: getattr(options, option) for name, option in named.items()}
    return {name: value for name, value in values.items() if value is not None}


def memory_of(options: argparse.Namespace) -> int:
    """The bytes that --memory-limit allows, 4 GB where it is not passed."""
    return read_size(options.memory_limit or "4GB", "--memory-limit")


def too_large(what: str, size: int, limit: int, instead: str = "") -> ValueError:
    """The error that files, as a whole, take more than --memory-limit."""
    return ValueError(
        f"{what} {in_words(size)} (--memory-limit is {in_words(limit)}): pass a larger "
        f"--memory-limit{instead}"
    )


def engine_options(options: argparse.Namespace, keep: str | int | Path) -> dict[str, Any]:
    """What all pairs are compared with: --keep, --memory-limit where it is passed, progress."""
    limit = None if options.memory_limit is None else memory_of(options)
    return {"keep": keep, "memory_limit": limit, "progress": sys.stderr.isatty()}


def columns_of(options: argparse.Namespace) -> dict[str, Any]:
    """Which columns of files to read, by the names that readers of predictions have."""
    return passed(options, "target", "models", "drop", id_column="id")
