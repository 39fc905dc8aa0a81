"""Pages of the command line, a page a command, written from its parsers."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.cli.program import _parser

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = "reference/commands"
_WIDTH = "76"  # of the lines of usage


def _literal(text: str) -> str:
    """Escape what Sphinx would read as markup, and mark options as such."""
    escaped = re.sub(r"([\\*`|_])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"``\1``", escaped)


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """List the commands of a parser, and theirs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from _commands(command)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Describe the options, group by group."""
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        shown = [
            action
            for action in group._group_actions
            if action.help != argparse.SUPPRESS
            and not isinstance(action, argparse._SubParsersAction)
        ]
        if shown:
            title = (group.title or "options").capitalize()
            yield from (title, "-" * len(title), "")
        if shown and group.description:
            yield from (_literal(group.description), "")
        for action in shown:
            yield f".. option:: {_call(formatter, action)}"
            yield ""
            if action.help:
                yield f"   {_literal(' '.join(formatter._expand_help(action).split()))}"
                yield ""


def _call(formatter: Any, action: argparse.Action) -> str:
    """Write how an option is given."""
    if not action.option_strings:
        return str(formatter._format_args(action, action.dest))
    value = ""
    if action.nargs != 0:
        value = f" {formatter._format_args(action, action.dest.upper())}"
    return ", ".join(f"{name}{value}" for name in action.option_strings)


def _page(parser: argparse.ArgumentParser) -> str:
    """Write the page of a command."""
    usage = parser.format_usage().removeprefix("usage: ").splitlines()
    lines = [
        parser.prog,
        "=" * len(parser.prog),
        "",
        _literal(parser.description or ""),
        "",
        ".. code-block:: text",
        "",
        *(f"   {line}" for line in usage),
        "",
        f".. program:: {parser.prog}",
        "",
        *_options(parser),
    ]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines += ["Commands", "--------", ""]
            for choice in action._choices_actions:
                page = f"{parser.prog} {choice.dest}".replace(" ", "-")
                lines += [f":doc:`{parser.prog} {choice.dest} <{page}>`"]
                lines += [f"   {_literal(choice.help or '')}", ""]
    if parser.epilog:
        lines += ["Notes", "-----", "", _literal(parser.epilog)]
    return "\n".join(lines).rstrip() + "\n"


def write_pages(app: Any) -> None:
    """Write the pages that changed."""
    folder = Path(app.srcdir) / _FOLDER
    folder.mkdir(exist_ok=True)
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    top = _parser()
    pages = {
        f"{command.prog.replace(' ', '-')}.rst": _page(command)
        for command in (top, *_commands(top))
    }
    if columns is None:
        del os.environ["COLUMNS"]
    else:
        os.environ["COLUMNS"] = columns
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write before Sphinx looks for pages."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
