"""Sections rendered for a terminal, a notebook, a paper or a file."""

from __future__ import annotations

import csv
import html
import io
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastcmp.core.sections import Section

#: Control and format characters (directions, joiners), halves of pairs, line and
#: paragraph separators.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def visible(text: str) -> str:
    """Write control and direction characters as Python writes them in a literal."""
    if text.isprintable():
        return text
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in _UNSEEN
        else letter
        for letter in text
    )


MOST_ROWS = 40  # of a table that is printed or stands in a notebook
_NARROWEST = 40  # letters; a narrower terminal is not wrapped for
_LONG_WORD = 32  # letters; longer ones in a cell may be broken, and are no numbers


def terminal_width() -> int:
    """Number of letters in a line of the terminal; 80 where there is none."""
    if not sys.stdout.isatty():
        return 80
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def more_rows(n: int, where: str = ": see summary() or to_frame()") -> str:
    """The line that says how many rows are left out, and where they are."""
    return f"... and {n} more rows{where}."


def shortened(section: Section, most: int | None = MOST_ROWS, *where: str) -> Section:
    """Keep the first rows of a long table, and say where the others are."""
    more = 0 if most is None else len(section.rows) - most
    if more <= 0:
        return section
    notes = (more_rows(more, *where), *section.notes)
    return replace(section, rows=section.rows[:most], notes=notes)


def in_passing(sections: Iterable[Section], most: int | None = MOST_ROWS) -> list[Section]:
    """Sections cut to as many rows as a reader sees at a glance."""
    short = [shortened(section, section.most, "") for section in sections]
    return [shortened(section, most) for section in short]


def to_text(sections: Iterable[Section], width: int | None = None) -> str:
    """Render for a terminal, without colours.

    With a width, sentences and cells of text are wrapped; columns that do not fit even
    then are continued below.
    """
    blocks = []
    for section in in_passing(sections, None):
        lines = _wrap_all([section.title] if section.title else [], width)
        lines += _wrap_all(section.text, width)
        if section.columns:
            lines += _aligned(section, width)
        lines += _wrap_all(section.notes, width)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _wrap_all(lines: Sequence[str], width: int | None) -> list[str]:
    visible_lines = map(visible, lines)
    return [part for line in visible_lines for part in _wrap(line, width, break_words=False)]


def _wrap(text: str, width: int | None, *, break_words: bool = True) -> list[str]:
    """Cut a text into lines between its words, or in words that are too long."""
    if width is None or _width(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.rstrip().split(" "):
        if lines and _width(lines[-1]) + 1 + _width(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
        while break_words and _width(lines[-1]) > width:
            long = lines[-1]
            end = next(i for i in range(len(long), 0, -1) if _width(long[:i]) <= width)
            lines[-1:] = [long[:end], long[end:]]
    return lines


def _width(text: str) -> int:
    """Count the places that a text takes; a Chinese letter takes two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def _aligned(section: Section, width: int | None) -> list[str]:
    """Align a table, in parts below each other where it is too wide."""
    table = [tuple(map(visible, row)) for row in (section.columns, *section.rows)]
    columns = list(zip(*table, strict=True))
    right = [section.is_numeric(j) for j in range(len(columns))]
    widths = [max(map(_width, column)) for column in columns]
    most = _LONG_WORD if width is None else min(_LONG_WORD, width // 2 - 2)
    least = [_least_width(columns[j], right[j], most) for j in range(len(columns))]
    lines = []
    for part in _fitting(least, width):
        sizes = _shared_out({j: widths[j] for j in part}, least, width)
        wrapped = [[_wrap(cell, sizes[j]) for cell in columns[j]] for j in part]
        used = [max(_width(line) for cell in cells for line in cell) for cells in wrapped]
        sides = [right[j] for j in part]
        for row in zip(*wrapped, strict=True):
            for texts in zip_longest(*row, fillvalue=""):
                filled = map(_filled, texts, used, sides)
                lines.append(("  " + "  ".join(filled)).rstrip())
        lines.append("")
    return lines[:-1]


def _filled(text: str, size: int, is_right: bool) -> str:  # noqa: FBT001
    blank = " " * (size - _width(text))
    return blank + text if is_right else text + blank


def _least_width(column: tuple[str, ...], is_numeric: bool, most: int) -> int:  # noqa: FBT001
    """The least width of a column: numbers are not narrowed."""
    longest = max(map(_width, column[1:]), default=0)
    if is_numeric and longest <= most:
        column = (column[0], "x" * longest)
    return min(most, max(_width(word) for cell in column for word in cell.split(" ")))


def _fitting(least: list[int], width: int | None) -> list[list[int]]:
    """Share columns out to tables that fit; each has the first column."""
    if width is None:
        return [list(range(len(least)))]
    tables, used = [[0]], 2 + least[0]
    for j in range(1, len(least)):
        if used + 2 + least[j] > width and len(tables[-1]) > 1:
            tables.append([0])
            used = 2 + least[0]
        tables[-1].append(j)
        used += 2 + least[j]
    return tables


def _shared_out(widths: dict[int, int], least: list[int], width: int | None) -> dict[int, int]:
    """Narrow the widest columns until all fit, or none can be narrowed further."""
    sizes = dict(widths)
    while width is not None and sum(sizes.values()) + 2 * len(sizes) > width:
        wide = [j for j in sizes if sizes[j] > least[j]]
        if not wide:
            break
        sizes[max(wide, key=sizes.__getitem__)] -= 1
    return sizes


def to_markdown(sections: Iterable[Section]) -> str:
    """Render as GitHub's markdown."""
    blocks: list[str] = []
    for section in in_passing(sections, None):
        if section.title:
            blocks.append(f"### {_markdown_escape(section.title)}")
        blocks += map(_markdown_line, section.text)
        if section.columns:
            marks = [
                "---:" if section.is_numeric(j) else "---" for j in range(len(section.columns))
            ]
            table = [section.columns, marks, *section.rows]
            blocks.append(
                "\n".join("| " + " | ".join(map(_markdown_escape, row)) + " |" for row in table)
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


def to_latex(sections: Iterable[Section]) -> str:
    """Render as LaTeX tables for the booktabs package."""
    blocks = []
    for section in in_passing(sections, None):
        if not section.columns:
            comments = [section.title, *section.text, *section.notes]
            blocks.append("\n".join(f"% {visible(line)}" for line in comments if line))
            continue
        marks = "".join("r" if section.is_numeric(j) else "l" for j in range(len(section.columns)))
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


def to_html(sections: Iterable[Section]) -> str:
    """Render as HTML for a notebook: a fragment without styles, except alignment."""
    parts = ["<div>"]
    for section in in_passing(sections, None):
        if section.title:
            parts.append(f"<h4>{_html_escape(section.title)}</h4>")
        parts += [f"<p>{_html_escape(line)}</p>" for line in section.text]
        if section.columns:
            styles = [
                "right" if section.is_numeric(j) else "left" for j in range(len(section.columns))
            ]
            parts.append("<table><thead>" + _html_row(section.columns, styles, "th"))
            parts.append("</thead><tbody>")
            parts += [_html_row(row, styles, "td") for row in section.rows]
            parts.append("</tbody></table>")
        parts += [f"<p><small>{_html_escape(line)}</small></p>" for line in section.notes]
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
    """Write columns as comma-separated text, numbers in full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()
