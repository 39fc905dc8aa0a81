"""Build the site: `python docs/build.py [FOLDER]`, into docs/_build/html by default.

Warnings are errors, and so are links within the site that lead nowhere, and public
names without an entry in the reference. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from shutil import rmtree

from check_links import broken_links
from sphinx.cmd.build import main
from sphinx.util.inventory import InventoryFile

DOCS = Path(__file__).parent


def missing_names(site: Path) -> list[str]:
    """List the public names that the reference does not have."""
    sys.path.append(str(DOCS.parent / "tests"))
    modules = import_module("public_names").MODULES
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    entries = {name for kind in inventory.data for name in inventory.data[kind]}
    return [
        f"{module}.{name}"
        for module in modules
        for name in import_module(module).__all__
        if entries.isdisjoint({f"{home}.{name}" for home in (module, "fastcmp", "fastcmp.records")})
        and name != "__version__"
    ]


def build(site: Path) -> int:
    """Build and check; return the exit code."""
    rmtree(DOCS / "reference" / "generated", ignore_errors=True)  # pages of names that are gone
    trees = site.with_name(site.name + "-doctrees")
    options = ["-W", "-n", "--keep-going", "-q", "-j", "auto", "-d", str(trees)]
    code = main([*options, "-b", "html", str(DOCS), str(site)])
    if code:
        return code
    wrong = [f"broken link: {link}" for link in broken_links(site)]
    wrong += [f"not in the reference: {name}" for name in missing_names(site)]
    print("\n".join([*wrong, f"{site / 'index.html'}: {len(wrong)} errors"]))
    return bool(wrong)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    sys.exit(build(Path(chosen[0]) if chosen else DOCS / "_build" / "html"))
