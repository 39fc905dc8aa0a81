"""The site: that nothing is left out, and that its checks find what is wrong.

`python docs/build.py` builds and checks it; `.ci/run` does so.
"""

import re
import sys
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest
from public_names import MODULES, refuse

DOCS = Path(__file__).parent.parent / "docs"
sys.path.append(str(DOCS))

from check_links import broken_links  # noqa: E402  # from the path above


def in_reference():
    """List what the pages of the reference name, by module."""
    for page in DOCS.glob("reference/api/**/*.rst"):
        module, in_list = "", False
        for line in page.read_text("utf-8").splitlines():
            if found := re.fullmatch(r"\.\. currentmodule:: (.*)", line):
                module = found[1]
            elif found := re.fullmatch(r"\.\. auto(function|class|data):: (\w+)", line):
                yield page, module, found[2]
            elif line.startswith(".. autosummary::"):
                in_list = False
            elif line.startswith("   :toctree:"):
                in_list = True
            elif in_list and (found := re.fullmatch(r"   ([A-Za-z_]\w*)", line)):
                yield page, module, found[1]


@pytest.mark.parametrize("module", MODULES)
def test_each_public_name_has_an_entry(module):
    entries = {f"{home}.{name}" for _, home, name in in_reference()}
    home = import_module(module)
    refuse(
        f"{module}.{name} is on no page: add a line to a list of docs/reference/api/*.rst"
        for name in home.__all__
        if entries.isdisjoint({f"{home}.{name}" for home in (module, "fastcmp", "fastcmp.records")})
        and not ismodule(getattr(home, name))
        and name != "__version__"
    )


def test_no_entry_is_double_or_of_nothing():
    pages = {}
    for page, home, name in in_reference():
        pages.setdefault((home, name), []).append(page.name)
    refuse(
        f"{home}.{name} is on {' and '.join(listed)}: keep one of them"
        if name in import_module(home).__all__
        else f"{home}.{name} on {listed[0]} is not public: remove the line"
        for (home, name), listed in pages.items()
        if len(listed) > 1 or name not in import_module(home).__all__
    )


def test_kernels_have_an_entry_on_the_page_of_their_table():
    table = (DOCS / "reference" / "kernels.md").read_text("utf-8")
    pages = set(re.findall(r"^api/kernels/([\w-]+)$", table, flags=re.MULTILINE))
    assert pages == {page.stem for page in DOCS.glob("reference/api/kernels/*.rst")}


@pytest.mark.full
@pytest.mark.parametrize(
    "inventory", sorted(DOCS.glob("inventories/*.inv")), ids=lambda path: path.stem
)
def test_names_of_other_projects_are_theirs(inventory):
    (first, *_) = lines = inventory.read_text("utf-8").splitlines()
    assert first == "# Sphinx inventory version 1"
    for line in lines[3:]:
        name, kind, page = line.split(" ")
        home, _, last = name.rpartition(".")
        assert hasattr(import_module(home or "builtins"), last), name
        assert kind in ("class", "data", "exception", "function")
        assert page.endswith(".html")


def site(folder, **pages):
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return broken_links(folder)


def test_links_that_lead_nowhere_are_found(tmp_path):
    first = """<p id="here"><a href="second.html#there">a</a> <a href="#here">b</a>
    <a href="https://example.org/x">c</a> <img src="none.png">
    <a href="third.html">d</a> <a href="second.html#nowhere">e</a>
    <a href="../outside.html">f</a>"""
    (tmp_path / "site").mkdir()
    (tmp_path / "outside.html").write_text("")
    found = site(tmp_path / "site", first=first, second='<h2 id="there">x</h2>')
    assert found == [
        "first.html: ../outside.html",
        "first.html: none.png",
        "first.html: second.html#nowhere",
        "first.html: third.html",
    ]


def test_each_command_has_a_page_with_all_its_options():
    sys.path.append(str(DOCS / "_extensions"))
    command_line = import_module("command_line")
    top = command_line._parser()
    commands = {command.prog: command for command in command_line._commands(top)}
    assert {"fastcmp compare", "fastcmp holdout", "fastcmp roc"} <= commands.keys()
    for command in commands.values():
        page = command_line._page(command)
        described = re.findall(r"^\.\. option:: (.*)", page, flags=re.MULTILINE)
        for action in command._actions:
            for name in action.option_strings:
                assert any(name in line for line in described), name
