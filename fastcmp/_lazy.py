"""Public names, listed once in the stub and loaded when they are first used."""

from __future__ import annotations

import _ast
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: Packages with public names of their own, as the stub of the package above lists them.
_PACKAGES: list[str] = []


def attach(
    package: str, init_file: str, before: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub.

    ``from package.module import name as name`` in the ``.pyi`` beside `init_file` loads
    `name` from that module, ``from package import module as module`` a module. A name
    without its ``as`` is loaded too, but is not in ``__all__``. Names of versions before
    are not loaded: their error says the call in their place.
    """
    stub = Path(init_file).with_suffix(".pyi").read_text(encoding="utf-8")
    tree: Any = compile(stub, "stub", "exec", flags=_ast.PyCF_ONLY_AST)
    homes: dict[str, tuple[str, str | None]] = {
        alias.name: (str(node.module), alias.asname)
        for node in tree.body
        if isinstance(node, _ast.ImportFrom)
        for alias in node.names
    }

    _PACKAGES.extend(
        f"{home}.{name}" for name, (home, of) in homes.items() if of and home == package
    )

    def load(name: str) -> Any:
        if name not in homes:
            if name in before:
                raise AttributeError(f"{package}.{name} is now {before[name]}")
            if "records" in homes and name in load("records").__all__:
                raise AttributeError(f"{package}.{name} is now {package}.records.{name}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, _ = homes[name]
        if home == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home), name)
        vars(import_module(package))[name] = value
        return value

    names = sorted(name for name, (_, exported) in homes.items() if exported)
    return load, lambda: names, names


def public_class(name: str) -> Any:
    """The class that a package has under a public name; None where none has it."""
    for package in map(import_module, _PACKAGES):
        if name in getattr(package, "__all__", ()):
            return getattr(package, name)
    return None
