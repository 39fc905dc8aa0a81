"""Sections rendered for a terminal, a notebook, a paper or a file."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from fastcmp.core.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastcmp.core.report import Section


#: Rows of a table that a terminal shows.
_MOST_ROWS = 40
_NARROWEST = 40  # letters; a narrower terminal is not wrapped for


def terminal_width() -> int:
    """Tell how many letters a line of the terminal holds; 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def to_text(sections: list[Section], width: int | None = None) -> str:
    """Render for a terminal, without colours.

    With a width, lines are wrapped at it, wide tables are continued below, and of long
    tables only the first rows are shown.
    """
    blocks = []
    for section in sections:
        lines = _wrapped([section.title] if section.title else [], width)
        lines += _wrapped(section.text, width)
        if section.columns:
            lines += _aligned(section, width)
        lines += _wrapped(section.notes, width)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _wrapped(lines: Sequence[str], width: int | None) -> list[str]:
    shown = list(map(visible, lines))
    if width is None:
        return shown
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return [part for line in shown for part in wrap.wrap(line) or [""]]


def _aligned(section: Section, width: int | None) -> list[str]:
    rows = section.rows if width is None else section.rows[:_MOST_ROWS]
    table = [tuple(map(visible, row)) for row in (section.columns, *rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(section.columns))]
    right = [section.is_numeric(j) for j in range(len(section.columns))]
    lines = []
    for columns in _fitting(widths, width):
        for row in table:
            cells = [
                row[j].rjust(widths[j]) if right[j] else row[j].ljust(widths[j])
                for j in columns
            ]
            lines.append(("  " + "  ".join(cells)).rstrip())
        lines.append("")
    more = len(section.rows) - len(rows)
    return lines[:-1] + ([f"  ... {more} more rows"] if more else [])


def _fitting(widths: list[int], width: int | None) -> list[list[int]]:
    """Share columns out to tables that fit; each has the first column."""
    if width is None:
        return [list(range(len(widths)))]
    tables, used = [[0]], 2 + widths[0]
    for j in range(1, len(widths)):
        if used + 2 + widths[j] > width and len(tables[-1]) > 1:
            tables.append([0])
            used = 2 + widths[0]
        tables[-1].append(j)
        used += 2 + widths[j]
    return tables


def to_markdown(sections: list[Section]) -> str:
    """Render as GitHub's markdown."""
    blocks: list[str] = []
    for section in sections:
        if section.title:
            blocks.append(f"### {_markdown_escape(section.title)}")
        blocks += map(_markdown_line, section.text)
        if section.columns:
            marks = [
                "---:" if section.is_numeric(j) else "---"
                for j in range(len(section.columns))
            ]
            table = [section.columns, marks, *section.rows]
            blocks.append(
                "\n".join(
                    "| " + " | ".join(map(_markdown_escape, row)) + " |"
                    for row in table
                )
            )
        blocks += map(_markdown_line, section.notes)
    return "\n\n".join(blocks)


def _markdown_escape(text: str) -> str:
    text = visible(text)
    for mark in "\\|*_`<&~":
        text = text.replace(mark, "\\" + mark)
    return text.replace("](", "]\\(").replace("]:", "]\\:")  # no link


def _markdown_line(text: str) -> str:
    """Escape what would begin a heading, a list or a quotation."""
    return re.sub(r"^(\s*\d*)([-+#>=.)])", r"\1\\\2", _markdown_escape(text))


_LATEX_MARKS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _latex_escape(text: str) -> str:
    return "".join(_LATEX_MARKS.get(letter, letter) for letter in visible(text))


def to_latex(sections: list[Section]) -> str:
    """Render as LaTeX tables for the booktabs package."""
    blocks = []
    for section in sections:
        if not section.columns:
            said = [section.title, *section.text, *section.notes]
            blocks.append("\n".join(f"% {visible(line)}" for line in said if line))
            continue
        marks = "".join(
            "r" if section.is_numeric(j) else "l" for j in range(len(section.columns))
        )
        caption = " ".join([f"{section.title}.", *section.text, *section.notes])
        rows = [_latex_row(row) for row in section.rows]
        blocks.append(
            "\n".join(
                [
                    r"\begin{table}",
                    rf"\caption{{{_latex_escape(caption)}}}",
                    rf"\begin{{tabular}}{{{marks}}}",
                    r"\toprule",
                    _latex_row(section.columns),
                    r"\midrule",
                    *rows,
                    r"\bottomrule",
                    r"\end{tabular}",
                    r"\end{table}",
                ]
            )
        )
    return "\n\n".join(blocks)


def _latex_row(cells: tuple[str, ...]) -> str:
    row = " & ".join(map(_latex_escape, cells)) + r" \\"
    # After the line before, LaTeX takes a bracket for an option, and a star too.
    return "{}" + row if row.lstrip().startswith(("[", "*")) else row


def to_html(sections: list[Section]) -> str:
    """Render as HTML for a notebook: a fragment without styles, except alignment."""
    parts = ["<div>"]
    for section in sections:
        if section.title:
            parts.append(f"<h4>{_html_escape(section.title)}</h4>")
        parts += [f"<p>{_html_escape(line)}</p>" for line in section.text]
        if section.columns:
            styles = [
                "right" if section.is_numeric(j) else "left"
                for j in range(len(section.columns))
            ]
            parts.append("<table><thead>" + _html_row(section.columns, styles, "th"))
            parts.append("</thead><tbody>")
            parts += [_html_row(row, styles, "td") for row in section.rows]
            parts.append("</tbody></table>")
        parts += [
            f"<p><small>{_html_escape(line)}</small></p>" for line in section.notes
        ]
    parts.append("</div>")
    return "\n".join(parts)


def _html_escape(text: str) -> str:
    return html.escape(visible(text))


def _html_row(row: tuple[str, ...], styles: list[str], tag: str) -> str:
    cells = "".join(
        f'<{tag} style="text-align: {style}">{_html_escape(cell)}</{tag}>'
        for cell, style in zip(row, styles, strict=True)
    )
    return f"<tr>{cells}</tr>"


def to_csv(columns: dict[str, Any]) -> str:
    """Write columns as comma-separated text, numbers in full precision.

    Examples
    --------
    >>> print(to_csv({"model": ["a", "b"], "accuracy": [0.5, 0.25]}), end="")
    model,accuracy
    a,0.5
    b,0.25
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def plain_columns(columns: dict[str, Any]) -> dict[str, list[Any]]:
    """Make columns ready for JSON: plain objects; what is not finite is None.

    Examples
    --------
    >>> plain_columns({"model": ["a", "b"], "accuracy": [0.5, float("nan")]})
    {'model': ['a', 'b'], 'accuracy': [0.5, None]}
    """
    plain = {}
    for name, values in columns.items():
        entries = values.tolist() if hasattr(values, "tolist") else list(values)
        plain[name] = [
            None if isinstance(x, float) and not math.isfinite(x) else x
            for x in entries
        ]
    return plain
