"""What all commands share: which files to read, and how to write a record.

A record with one table becomes that table; what is said of the whole record is repeated
in every row. Where there are several tables, the column ``table`` names the table of
each row, and the table ``about`` holds what is said of the whole record.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.cli.options import OPTIONS, Option, option
from fastcmp.cli.pages import READ, check_page, write_page
from fastcmp.core.render import terminal_width, to_csv, to_text, visible
from fastcmp.core.saved_states import check_place, naming, replacing
from fastcmp.core.threads import check_workers

if TYPE_CHECKING:
    from fastcmp.core.records import Record
    from fastcmp.io.predictions import Predictions

Columns = dict[str, list[Any]]


def _check_picture(path: Path | None, option: str) -> None:
    """Refuse a picture of an unknown kind before anything is read."""
    if path is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'fastcmp[plot]'") from None
    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    if _ending(path) not in endings:
        listed = ", ".join(f".{ending}" for ending in endings)
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


# Records as one table, for CSV and Parquet, with all that the other formats say.


#: Entries of `to_dict` that are not for a table.
_FORM = ("record", "version", "fields")


def one_table(record: Record) -> Columns:
    """Write a record as the columns of one table.

    Examples
    --------
    >>> from fastcmp import compare_all
    >>> from fastcmp.cli.output import one_table
    >>> result = compare_all([0, 1, 1, 0], [[0, 1, 1, 1], [0, 0, 1, 1]])
    >>> one_table(result)["table"][:4]
    ['leaderboard', 'leaderboard', 'pairs', 'about']
    """
    if (boards := getattr(record, "boards", None)) is not None:
        tables = {title: one_table(board) for title, board in boards.items()}
        return _stacked(tables, "board")
    main = {name: _as_list(values) for name, values in record.columns().items()}
    entries = {n: x for n, x in record.to_dict().items() if n not in _FORM}
    tables = {name: x for name, x in entries.items() if _is_table(x)}
    about = {name: _cell(x) for name, x in entries.items() if name not in tables}
    if len(tables) < 2:
        n = max(map(len, main.values()), default=0)
        plain = {name: x for name, x in about.items() if not _stands_in(name, main)}
        return main | {name: [x] * n for name, x in plain.items()}
    for name, table in tables.items():
        if table.keys() == main.keys():
            tables[name] = main  # with what JSON cannot hold, such as infinity
    tables["about"] = {"name": list(about), "value": list(about.values())}
    return _stacked(tables)


def csv_text(record: Record) -> str:
    """Write a record as CSV."""
    return to_csv(one_table(record)).rstrip("\n")


def parquet_bytes(record: Record) -> bytes:
    """Write a record as a Parquet file, with the columns that CSV has."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: _as_arrow(values) for name, values in one_table(record).items()}
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _stacked(tables: dict[str, Columns], first: str = "table") -> Columns:
    """Put tables under each other, with a first column that names them."""
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    stacked: Columns = {first: [], **{name: [] for name in names}}
    for title, table in tables.items():
        n = max(map(len, table.values()), default=0)
        stacked[first] += [title] * n
        for name in names:
            stacked[name] += table.get(name, [None] * n)
    return stacked


def _is_table(value: object) -> bool:
    """Whether a value is a mapping of lists of one length."""
    if not isinstance(value, dict) or not value:
        return False
    columns = list(value.values())
    return all(isinstance(x, list) and len(x) == len(columns[0]) for x in columns)


def _stands_in(name: str, columns: Columns) -> bool:
    """Whether a column has an entry of the record, perhaps in the singular."""
    return name in columns or name.removesuffix("s") in columns


def _as_list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _cell(value: object) -> Any:
    """Write lists and mappings into one cell, as JSON."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _as_arrow(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # text and numbers in one column
        return pa.array([None if x is None else str(x) for x in values])


def _html(result: Record) -> str:
    """Write a whole page that says its encoding."""
    head = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>fastcmp</title>\n'
    return head + result.to_html()


_FORMATS: dict[str, Callable[[Record], str | bytes]] = {
    "table": lambda result: result.summary(),
    "markdown": lambda result: result.to_markdown(),
    "latex": lambda result: result.to_latex(),
    "html": _html,
    "csv": csv_text,
    "json": lambda result: json.dumps(result.to_dict(), indent=1, allow_nan=False),
    "parquet": parquet_bytes,
}
_READ = ("table", "markdown", "latex", "html")  # by people
_SUFFIXES = {f".{name}": name for name in ("markdown", "html", "csv", "json", "parquet")}
_SUFFIXES |= {".md": "markdown", ".tex": "latex", ".htm": "html", ".pq": "parquet"}


def files_of(examples: Iterable[str], more: str = "") -> tuple[Option | str, ...]:
    """The options that say what to read."""
    what = "prediction files, or folders of files that are parts of one table"
    example = Option("example", f"{'|'.join(examples)}|", "use bundled real predictions")
    return (Option("files", "*FILE", what + more), example, "target", "id", "drop")


#: The options that say how and where to write.
WRITTEN: tuple[Option | str, ...] = (
    Option(
        *("format", "|".join(_FORMATS)),
        "how to write (as the extension of --output says, or table)",
    ),
    option(
        "output",
        f"{OPTIONS['output'].help}; .md, .tex, .html, .csv, .json and .parquet choose the format",
    ),
    "report",
)


def say(lines: Iterable[str], kind: str = "") -> None:
    """Print lines on standard error."""
    for line in lines:
        print(f"fastcmp: {kind}{visible(line)}", file=sys.stderr)


def chosen_files(options: argparse.Namespace, example: Callable[[str], Path]) -> Any:
    """List the files to read."""
    if options.example is not None:
        if options.files:
            raise ValueError("pass prediction files or --example, not both")
        return [example(options.example)]
    if not options.files:
        raise ValueError("pass a prediction file, or --example digits")
    return options.files


#: What `only` asks of files of two models.
TWO_MODELS = "name the two models to compare (--models A B), of"


def only(read: Predictions, n: int, demand: str) -> list[str]:
    """The names of the n models of what was read."""
    if len(read.preds) != n:
        raise ValueError(f"{demand} {', '.join(list(read.preds)[:10])}")
    return list(read.preds)


def take_names(options: argparse.Namespace) -> None:
    """Read NAME=FILE: the names of the models of files, None where a file is named alone."""
    options.names = []
    for i, path in enumerate(options.files):
        name, equals, file = str(path).partition("=")
        named = bool(name and equals) and not path.exists() and Path(file).exists()
        options.names.append(name if named else None)
        if named:
            options.files[i] = Path(file)


def check_places(options: argparse.Namespace, keep: object = None) -> None:
    """Refuse places that cannot be written to, or would destroy other files."""
    from fastcmp.io.formats import is_part

    _format(options)
    option_values = vars(options)
    check_workers(option_values.get("workers"))
    check_page(option_values.get("report"))
    read = _places_of([*options.files, *(option_values.get(name) for name in READ)])
    outputs: dict[Path, str] = {}
    for name in ("output", "keep", "checkpoint", "plot", "curve", "state", "report"):
        path = keep if name == "keep" else option_values.get(name)
        if not isinstance(path, Path) or (name == "output" and _is_stream(path)):
            continue
        check_place(path)
        place = Path(os.path.realpath(path))
        if place in read or (place.parent in read and is_part(place)):
            raise ValueError(f"--{name} would write {path} over what is read, or beside it")
        if place in outputs:
            raise ValueError(f"--{outputs[place]} and --{name} would both write {path}")
        outputs[place] = name
    for name in ("plot", "curve"):
        _check_picture(option_values.get(name), f"--{name}")


def _places_of(paths: Iterable[Path | None]) -> set[Path]:
    """The real places of files, and of those in folders."""
    all_paths: list[Path] = []
    for path in paths:
        if path is not None:
            all_paths.append(path)
            if path.is_dir():
                all_paths += filter(Path.is_file, path.iterdir())
    return {Path(os.path.realpath(path)) for path in all_paths}


def _is_stream(path: Path) -> bool:
    """Whether a path is a terminal, a pipe or the like, even if it leads to a file."""
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or path.absolute().parent in (Path("/dev"), Path("/dev/fd"))


def _format(options: argparse.Namespace) -> str:
    """The format to write: that of --format, or of the extension of --output."""
    path, format_given = options.output, options.format
    by_suffix = None if path is None else _SUFFIXES.get(path.suffix.lower())
    if format_given is not None and by_suffix not in (None, format_given):
        raise ValueError(
            f"--format {format_given} contradicts --output {path}, whose extension means "
            f"{by_suffix}: leave out --format, or name another file"
        )
    if format_given == "parquet" and path is None:
        raise ValueError("--format parquet needs a file to write to (--output FILE)")
    return format_given or by_suffix or "table"


def write(
    result: Record,
    options: argparse.Namespace,
    title: str = "",
    more: Callable[[], Mapping[str, Record]] | None = None,
) -> None:
    """Write a record as the options say; for readers, below a title.

    `more` gives further records for --report, by their headings.
    """
    draw = vars(options).get("plot_kind")
    if draw is not None and options.plot is not None:
        save_picture(options.plot, lambda _: _one(result).plot(kind=draw))
    try:
        _write_answer(result, options, title)
    finally:  # also where who reads the terminal's output has ended
        if options.report is not None:
            boards = getattr(result, "boards", None)
            heading = title or (result.sections()[0].title if more else "")
            records = boards or {heading: result}
            about = title if boards else ""
            write_page({**records, **(more() if more else {})}, options, about=about)


def _one(result: object) -> Any:
    """Refuse to draw several comparisons in one picture."""
    boards = getattr(result, "boards", None)
    if boards and len(boards) > 1:
        raise ValueError(
            f"--plot draws one comparison, and there are {len(boards)}: leave --by or --over out"
        )
    return next(iter(boards.values())) if boards else result


def _write_answer(result: Record, options: argparse.Namespace, title: str) -> None:
    """Write a record to the terminal, or to --output."""
    form = _format(options)
    if "pairs" in options and (form == "table" or (options.pairs and form in _READ)):
        result = _with_pairs(result, options)
    if title and form in _READ:
        from fastcmp.cli.boards import Headed

        result = Headed(record=result, title=title)
    elif title:
        say([title])
    if options.output is None and form == "table" and sys.stdout.isatty():
        print(to_text(result.sections(), terminal_width()))
        return
    write_text(_FORMATS[form](result), options.output)


def _with_pairs(result: Record, options: argparse.Namespace) -> Record:
    """Add the pairs that are asked for to comparisons of many models."""
    from fastcmp.cli.boards import Boards, WithPairs
    from fastcmp.pairwise.decisions import PairDecisions

    if isinstance(result, Boards):
        boards = {title: _with_pairs(x, options) for title, x in result.boards.items()}
        return Boards(boards=boards)
    if isinstance(result, PairDecisions):
        return WithPairs(record=result, pairs=options.pairs)
    return result


def write_text(text: str | bytes, path: Path | None) -> None:
    """Write to a file, or the terminal."""
    if path is None:
        print(text)
    else:
        _write_file(path, text)


def _write_file(path: Path, content: str | bytes) -> None:
    """Write a file, at once or not at all; a stream is written to its end."""
    if isinstance(content, str):
        content = (content + "\n").encode()
    with naming(path), path.open("ab") if _is_stream(path) else replacing(path) as file:
        file.write(content)
