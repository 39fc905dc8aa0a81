"""The command line in this process: what it prints, answers and refuses."""

import csv
import io
import json
import re
from functools import cache

from fastcmp.cli import main
from fastcmp.cli.program import _parser


def run(capsys, *words):
    """Exit code, and what is printed on standard output and error."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:  # argparse
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, *words):
    """What a refusal prints, after checking that it is one line and exit code 64."""
    code, out, err = run(capsys, *words)
    assert (code, out) == (64, "")
    assert err.startswith("fastcmp")
    assert err.count("\n") == 1
    keywords = re.findall(r"(?<![\w'\"=,/-])([a-z_]+)=(?=['\s,.;:)])", err)
    assert not {f"--{name.replace('_', '-')}" for name in keywords} & options_of(*words[:1]), err
    return err


@cache
def options_of(command=None):
    """The options of a command: no message shows one as Python writes it."""
    (commands,) = _parser()._subparsers._group_actions
    parser = commands.choices.get(command)
    return set(parser._option_string_actions) if parser else set()


def answer(capsys, *words):
    """The JSON of an answer about which there is nothing to say."""
    code, out, err = run(capsys, *words, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def by_table(text):
    """Rows of a CSV by its first column."""
    tables = {}
    for row in csv.DictReader(io.StringIO(text)):
        tables.setdefault(row["table"], []).append(row)
    return tables


def written(path, **columns):
    """Write columns as CSV; a name `blank` stands for a header without text."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if name == "blank" else name for name in columns)]
    path.write_text("\n".join([*lines, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path
