"""What ``import fastcmp`` loads, and that the list of public names is honest."""

import ast
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fastcmp

HEAVY = {"numba", "llvmlite", "scipy", "pandas", "polars", "pyarrow", "rich"}


def loaded_after(code):
    """Run code in a new process; return the libraries that it has loaded."""
    end = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{end}"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import fastcmp",
        "import fastcmp.kernels",
        "import fastcmp; dir(fastcmp); fastcmp.__version__; fastcmp.kernels",
        "from fastcmp import load_digits; load_digits()",
    ],
)
def test_import_is_light(code):
    loaded = loaded_after(code)
    assert "fastcmp" in loaded
    assert loaded & HEAVY == set()


def test_plain_arrays_need_no_extra():
    loaded = loaded_after(
        "from fastcmp import *\n"
        "y, preds = load_digits()\n"
        "str(compare_all(y, preds)); str(mcnemar(y.tolist(), y, preds['mlp']))\n"
        "str(cochrans_q(y, preds, post_hoc='exact')); bowker(y, preds['mlp'])\n"
        "mcnemar(['a', 'b'], ['a', 'a'], ['b', 'b'])"
    )
    assert "numba" in loaded
    assert loaded & {"pandas", "polars", "pyarrow", "rich", "scipy.stats"} == set()


def test_public_names_resolve():
    assert len(set(fastcmp.__all__)) == len(fastcmp.__all__)
    for name in fastcmp.__all__:
        value = getattr(fastcmp, name)
        assert getattr(value, "__module__", "fastcmp").startswith("fastcmp")
        assert value is getattr(fastcmp, name)
    assert dir(fastcmp) == sorted(fastcmp.__all__)
    everything = {}
    exec("from fastcmp import *", everything)
    assert set(fastcmp.__all__) <= set(everything)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(fastcmp.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name: node.module
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(fastcmp.__all__) - {"__version__"}
    for name, module in seen.items():
        if name not in {"designs", "kernels", "stream"}:
            assert getattr(import_module(module), name) is getattr(fastcmp, name)


def test_kernels_resolve():
    for name in fastcmp.kernels.__all__:
        assert getattr(fastcmp.kernels, name) is not None
    assert dir(fastcmp.kernels) == sorted(fastcmp.kernels.__all__)


@pytest.mark.parametrize("module", [fastcmp, fastcmp.kernels, fastcmp.stream])
def test_unknown_names(module):
    wanted = rf"^module '{module.__name__}' has no attribute 'nothing'$"
    with pytest.raises(AttributeError, match=wanted):
        module.nothing  # noqa: B018
    with pytest.raises(ImportError, match=r"cannot import name 'nothing'"):
        exec(f"from {module.__name__} import nothing")


def test_functions_are_not_hidden_by_modules():
    modules = [m.name for m in pkgutil.iter_modules(fastcmp.__path__)]
    assert {"batch", "multiplicity", "paired", "kernels"} <= set(modules)
    other = {"designs", "kernels", "stream"}
    assert set(modules) & set(fastcmp.__all__) == other
    other.add("__version__")
    names = [n for n in fastcmp.__all__ if n not in other]
    imports = "\n".join(f"import fastcmp.{m}" for m in modules if m != "__main__")
    code = f"{imports}\nfrom fastcmp import {', '.join(names)}\n"
    code += f"assert all(map(callable, ({', '.join(names)})))"
    assert "fastcmp.multiplicity" in loaded_after(code)
