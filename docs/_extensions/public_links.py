"""Public names: how Sphinx sees them, and links from wherever pages mention them."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from docutils import nodes
from public_names import MODULES
from sphinx import addnodes

from fastcmp.core.records import Record

#: Pages on which a name without its module is one of this module first.
_HOMES = {
    "howto/plots": "fastcmp.plot",
    "howto/battles": "fastcmp.datasets",
    "howto/datasets": "fastcmp.datasets",
    "reference/kernels": "fastcmp.kernels",
}
#: Functions that are parameters or commands as well: linked only with `fastcmp.`.
_ALSO_WORDS = ("adjust", "gate", "metric", "concordance")


def classes() -> dict[str, str]:
    """Find the full names of all public classes; `fastcmp.X` before `fastcmp.a.X`."""
    return {
        name: f"{module}.{name}"
        for module in reversed(MODULES)
        for name in import_module(module).__all__
        if inspect.isclass(getattr(import_module(module), name))
    }


def _names() -> dict[str, str]:
    """Find what a page may mean by a name, with or without its module."""
    found = {}
    for module in MODULES:
        for name in import_module(module).__all__:
            if not inspect.ismodule(getattr(import_module(module), name)):
                full = f"{module}.{name}"
                found |= {full: full, full.removeprefix("fastcmp.").removeprefix("records."): full}
    for word in _ALSO_WORDS:
        del found[word]
    return found


_NAMES = _names()


def _show_python_functions(*_: Any) -> None:
    """Put the functions that are compiled in the place of numba's objects.

    This is done when the pictures have been drawn: they call the compiled ones.
    """
    kernels = import_module("fastcmp.kernels")
    for name in kernels.__all__:
        value = getattr(kernels, name)
        vars(kernels)[name] = getattr(value, "py_func", value)


def _hide_signature(
    _app: Any, what: str, _name: str, value: Any, *_: Any
) -> tuple[str, None] | None:
    """Hide how records are made: functions return them."""
    is_record = what == "class" and issubclass(value, Record)
    return ("", None) if is_record else None


def _drop_order(
    _app: Any, _what: str, _name: str, _value: Any, _options: Any, lines: list[str]
) -> None:
    """Drop the docstrings that named tuples give their fields."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def _target(page: str, text: str, found: set[str]) -> dict[str, str] | None:
    """Find what code within a sentence names: a public name, or a command."""
    name = text.partition("(")[0]
    home = _HOMES.get(page, "fastcmp")
    if full := _NAMES.get(f"{home}.{name}") or _NAMES.get(name):
        return {"refdomain": "py", "reftype": "obj", "reftarget": full}
    command = re.match(r"fastcmp ([a-z]+)\b", text)
    place = f"reference/commands/fastcmp-{command[1]}" if command else ""
    if place in found:
        return {"refdomain": "std", "reftype": "doc", "reftarget": f"/{place}"}
    return None


def _link_code(app: Any, doctree: nodes.document) -> None:
    """Link code within sentences, and what docstrings name of other modules."""
    page = app.env.docname
    in_docstrings = page.startswith("reference/generated/")
    # What Sphinx could not import is emphasised.
    kind = nodes.emphasis if in_docstrings else nodes.literal
    for code in list(doctree.findall(kind)):
        inside = (nodes.reference, nodes.title, addnodes.pending_xref)
        is_code = not in_docstrings or "xref" in code["classes"]
        if is_code and not isinstance(code.parent, inside):
            target = _target(page, code.astext(), app.env.found_docs)
            if target:
                more = {"refdoc": page, "refexplicit": True, "refwarn": True}
                text = nodes.literal("", code.astext())
                code.replace_self(addnodes.pending_xref("", text, **target, **more))


def _find_elsewhere(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Link a name that is one of another module: to `fastcmp.X`, or the only X."""
    name = node["reftarget"].rpartition(".")[2]
    full = f"fastcmp.{name}"
    homes = {full for full in _NAMES.values() if full.endswith(f".{name}")}
    if node.get("refdomain") != "py" or not homes:
        return None
    if full not in homes:
        if len(homes) > 1:
            return None
        [full] = homes
    domain, page = env.domains["py"], node["refdoc"]
    return domain.resolve_xref(env, page, app.builder, "obj", full, node, content)


def setup(app: Any) -> dict[str, bool]:
    """Join what Sphinx calls."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("env-before-read-docs", _show_python_functions)
    app.connect("autodoc-process-signature", _hide_signature)
    app.connect("autodoc-process-docstring", _drop_order, priority=100)
    app.connect("doctree-read", _link_code)
    app.connect("missing-reference", _find_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
