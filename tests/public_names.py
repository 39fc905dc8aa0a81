"""All that users may import, found by walking the packages' own lists of names."""

import inspect
from importlib import import_module

import pytest

#: Modules whose ``__all__`` is public.
MODULES = (
    *("fastcmp", "fastcmp.records", "fastcmp.kernels", "fastcmp.stream", "fastcmp.planning"),
    *("fastcmp.sequential", "fastcmp.datasets", "fastcmp.designs"),
    *("fastcmp.plot", "fastcmp.compat.mlxtend"),
)


def public_objects(module):
    """List the names of a module, and of its classes' methods, with what they mean."""
    home = import_module(module)
    for name in sorted(home.__all__):
        value = getattr(home, name)
        yield f"{module}.{name}", value
        if inspect.isclass(value):
            for method, _ in inspect.getmembers(value, callable):
                if not method.startswith("_") and method in vars(value):
                    yield f"{module}.{name}.{method}", getattr(value, method)


def public_functions(module):
    """List the functions among them."""
    for name, value in public_objects(module):
        if inspect.isfunction(value) or hasattr(value, "py_func"):
            yield name, value


def record_classes():
    """List all records by name."""
    found = {}
    for module in MODULES:
        for name, value in public_objects(module):
            if inspect.isclass(value) and hasattr(value, "sections"):
                found[name.rpartition(".")[2]] = value
    return found


def refuse(wrong, most=10):
    """Fail with a line for each of the first faults; a traceback would say no more."""
    wrong = sorted(wrong)
    if len(wrong) > most:
        wrong[most:] = [f"... and {len(wrong) - most} more"]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
