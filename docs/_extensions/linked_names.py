"""Link names of functions and records in the text to the reference.

In ``compare_all`` or ``fastcmp.stream.PairCounts`` the pages name what the package has;
the first time that a section does so, the name becomes a link.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docutils import nodes
from public_names import MODULES
from sphinx.addnodes import pending_xref

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Names that are options or fields more often than functions: linked with "fastcmp.".
_AMBIGUOUS = {"adjust", "metric"}
#: Where a link is already, or would be out of place.
_NO_LINKS = (nodes.reference, nodes.title, pending_xref)
_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)


def _targets() -> dict[str, str]:
    """Map what a page may write to full names; the earlier modules come first."""
    found: dict[str, str] = {}
    for module in MODULES:
        home = import_module(module)
        for stem in home.__all__:
            if inspect.ismodule(getattr(home, stem)):
                continue
            full = f"{module}.{stem}"
            found.setdefault(full, full)
            found.setdefault(full.removeprefix("fastcmp."), full)
            if "_" in stem or stem[0].isupper():  # no word of plain English
                found.setdefault(stem, full)
    return {name: full for name, full in found.items() if name not in _AMBIGUOUS}


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Wrap names in references, which Sphinx resolves when all pages are read."""
    page = app.env.docname
    if page.startswith(("reference/api", "reference/generated")):
        return
    seen: set[tuple[int, str]] = set()
    for literal in list(doctree.findall(nodes.literal)):
        match = _NAME.fullmatch(literal.astext())
        full = app.linked_names.get(match["name"]) if match else None  # type: ignore[attr-defined]
        if full is None or isinstance(literal.parent, _NO_LINKS):
            continue
        section = literal.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        if (id(section), full) not in seen:
            seen.add((id(section), full))
            link = pending_xref(
                refdomain="py",
                reftype="obj",
                reftarget=full,
                refdoc=page,
                refexplicit=True,
                refwarn=False,
            )
            literal.replace_self(link)
            link += literal


def setup(app: Sphinx) -> dict[str, Any]:
    """Begin to link."""
    app.linked_names = _targets()  # type: ignore[attr-defined]
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
