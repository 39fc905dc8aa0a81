"""Tables of text and numbers, rendered for a terminal, a notebook, a paper or a file.

Records describe themselves as sections; this module knows nothing of them.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastcmp.core.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Share of predictions that may be no labels of the truth before it is said.
MUCH_OUTSIDE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, sentences and perhaps a table."""

    title: str = ""
    #: Sentences above the table.
    text: tuple[str, ...] = ()
    #: Column names; empty where there is no table.
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    #: Sentences below the table.
    notes: tuple[str, ...] = ()

    def is_numeric(self, column: int) -> bool:
        """Tell whether a column reads best aligned to the right.

        Parameters
        ----------
        column : int
            Its position.

        Returns
        -------
        bool
            True if all its cells are numbers or intervals.
        """
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(cell[0] in "+-[<.0123456789" for cell in cells)


def format_pvalue(pvalue: float) -> str:
    """Write a p-value with two or three telling digits.

    Parameters
    ----------
    pvalue : float
        In [0, 1], or NaN.

    Returns
    -------
    str
        Such as ``0.043``, ``2.1e-09`` or ``-`` for NaN.

    Examples
    --------
    >>> format_pvalue(0.0434), format_pvalue(2.13e-9), format_pvalue(1.0)
    ('0.043', '2.1e-09', '1')
    """
    if math.isnan(pvalue):
        return "-"
    if pvalue >= 0.9995:
        return "1"
    return f"{pvalue:.3f}" if pvalue >= 0.001 else f"{pvalue:.1e}"


def format_interval(low: float, high: float, *, digits: int, sign: str = "") -> str:
    """Write the two ends of an interval in brackets.

    Parameters
    ----------
    low, high : float
        The ends.
    digits : int
        Digits behind the point.
    sign : {"", "+"}
        "+" writes the sign of positive numbers too.

    Returns
    -------
    str
        Such as ``[+0.5, +2.1]``.

    Examples
    --------
    >>> format_interval(0.51, 2.08, digits=1, sign="+")
    '[+0.5, +2.1]'
    """
    return f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def interval_name(confidence_level: float, alternative: str = "two-sided") -> str:
    """Name an interval by its level, and by its side where it has one.

    Parameters
    ----------
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        That of the test which the interval belongs to.

    Returns
    -------
    str
        Such as ``one-sided 95 % interval``.

    Examples
    --------
    >>> interval_name(0.95), interval_name(0.9, "greater")
    ('95 % interval', 'one-sided 90 % interval')
    """
    side = "" if alternative == "two-sided" else "one-sided "
    return f"{side}{100 * confidence_level:.9g} % interval"


def to_text(sections: list[Section]) -> str:
    """Render for a terminal, without colours.

    Parameters
    ----------
    sections : list of Section
        What to print.

    Returns
    -------
    str
        Lines of text.
    """
    blocks = []
    for section in sections:
        lines = [visible(section.title)] if section.title else []
        lines += map(visible, section.text)
        if section.columns:
            lines += _aligned(section)
        lines += map(visible, section.notes)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _aligned(section: Section) -> list[str]:
    table = [tuple(map(visible, row)) for row in (section.columns, *section.rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(section.columns))]
    right = [section.is_numeric(j) for j in range(len(section.columns))]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(row, widths, right, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def to_markdown(sections: list[Section]) -> str:
    """Render as GitHub's markdown.

    Parameters
    ----------
    sections : list of Section
        What to print.

    Returns
    -------
    str
        Headings, paragraphs and pipe tables.
    """
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
    """Render as LaTeX tables for the booktabs package.

    Parameters
    ----------
    sections : list of Section
        What to print.

    Returns
    -------
    str
        One table environment a table; other text as comments and captions.
    """
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
    """Render as HTML for a notebook.

    Parameters
    ----------
    sections : list of Section
        What to print.

    Returns
    -------
    str
        A fragment without styles of its own, but for the alignment of numbers.
    """
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

    Parameters
    ----------
    columns : dict of str to sequence
        Columns of equal length.

    Returns
    -------
    str
        A header line, then a line a row.

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
    """Make columns ready for JSON.

    Parameters
    ----------
    columns : dict of str to sequence
        Lists, tuples or arrays.

    Returns
    -------
    dict of str to list
        The same as plain Python objects; what is not finite is None.

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


def outside_sentences(
    n_outside: Sequence[int], names: Sequence[str], n_samples: int
) -> tuple[str, ...]:
    """Say which models predict many labels that the truth does not hold.

    Parameters
    ----------
    n_outside : sequence of int
        Such predictions of each model; empty where they were not counted.
    names : sequence of str
        The models.
    n_samples : int
        All samples.

    Returns
    -------
    tuple of str
        A sentence for each of the first three, and one for the others.
    """
    much = [i for i, n in enumerate(n_outside) if n > MUCH_OUTSIDE * n_samples]
    sentences = [
        f"{100 * n_outside[i] / n_samples:.1f} % of the predictions of {names[i]} are "
        "labels that the truth does not hold; they count as wrong."
        for i in much[:3]
    ]
    if len(much) > 3:
        sentences.append(f"So are many of those of {len(much) - 3} more models.")
    return tuple(sentences)
