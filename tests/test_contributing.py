"""The front page of docs/contributing.md lists every module with its first line."""

import ast
import re
from pathlib import Path

import fastcmp

ROOT = Path(fastcmp.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "contributing.md"
#: From the top of the tree down, as in the import contract.
ORDER = (
    *(
        "__main__",
        "cli",
        "studies",
        "io",
        "dask",
        "plot",
        "report",
        "compat",
        "designs",
    ),
    *(
        "planning",
        "datasets",
        "crossval",
        "scores",
        "items",
        "sequential",
        "pairwise",
        "metrics",
        "paired",
        "stream",
        "counts",
        "inputs",
    ),
    *("core", "data", "kernels", "_jit", "_lazy"),
)


def first_line(path):
    """Read the first line of a module's docstring, without its full stop."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return doc.splitlines()[0].removesuffix(".")


def listed(path, depth):
    """List a module, or a package and what is in it."""
    if path.is_file():
        yield f"{'  ' * depth + path.stem:27} {first_line(path)}"
        return
    yield f"{'  ' * depth + path.name + '/':27} {first_line(path / '__init__.py')}"
    for part in sorted(path.iterdir()):
        is_package = (part / "__init__.py").exists()
        if is_package or (part.suffix == ".py" and part.stem != "__init__"):
            yield from listed(part, depth + 1)


def tree():
    """List the whole package."""
    for name in ORDER:
        path = ROOT / name
        yield from listed(path if path.is_dir() else path.with_suffix(".py"), 0)


def test_the_listing_is_that_of_the_tree():
    found = re.search(r"```text\n(.*?)\n```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    wanted = "\n".join(tree())
    assert found[1] == wanted, f"put this into {PAGE.name}:\n{wanted}"


def test_nothing_is_left_out_of_the_order():
    there = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    there |= {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert there == set(ORDER)
