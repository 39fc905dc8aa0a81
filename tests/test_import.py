"""What ``import fastcmp`` loads, and that the list of public names is honest."""

import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fastcmp

HEAVY = {"numba", "llvmlite", "scipy", "pandas", "polars", "pyarrow", "msgspec", "rich"}


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


def test_import_is_light():
    for code in (
        "import fastcmp",
        "import fastcmp.kernels",
        "import fastcmp; dir(fastcmp); fastcmp.__version__; fastcmp.kernels",
        "from fastcmp import load_digits; load_digits()",
    ):
        loaded = loaded_after(code)
        assert "fastcmp" in loaded
        assert loaded & HEAVY == set()


def test_plain_arrays_need_no_extra():
    loaded = loaded_after(
        "from fastcmp import *\n"
        "y, preds = load_digits()\n"
        "str(compare_all(y, preds)); str(mcnemar(y.tolist(), y, preds['mlp']))\n"
        "str(cochrans_q(y, preds, post_hoc='exact')); symmetry(y, preds['mlp'])\n"
        "mcnemar(['a', 'b'], ['a', 'a'], ['b', 'b'])"
    )
    assert (
        loaded & {"numba", "pandas", "polars", "pyarrow", "msgspec", "rich", "scipy.stats"} == set()
    )


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


SNIPPET = """
import numpy as np
import fastcmp
from fastcmp import designs, kernels, mcnemar, stream

result = mcnemar([0, 1], [0, 1], [0, 0])
reveal_type(result)
reveal_type(fastcmp.compare_all([0, 1], np.zeros((2, 2))))
reveal_type(stream.PairCounts())
reveal_type(kernels.mcnemar_midp(11, 1, 0))
reveal_type(designs.kfold(10))
fastcmp.nothing
"""


@pytest.mark.full
def test_type_checkers_know_the_names(tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--config-file=", str(snippet)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert 'Module has no attribute "nothing"' in done.stdout
    for wanted in (
        "fastcmp.paired.mcnemar_result.McNemarResult",
        "fastcmp.pairwise.result.PairwiseResult",
        "fastcmp.stream.pair_counts.PairCounts",
        "fastcmp.kernels.status.Outcome",
        "fastcmp.crossval.designs.Design",
    ):
        assert wanted in done.stdout


@pytest.mark.full
def test_type_checkers_refuse_no_data():
    file = Path(__file__).with_name("user_types.py")
    options = ("--config-file=", "--strict", "--allow-untyped-calls", "--ignore-missing-imports")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", *options, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stdout


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


def test_names_of_versions_before_say_what_to_write():
    for name, now in fastcmp._BEFORE.items():
        assert name not in fastcmp.__all__
        with pytest.raises(AttributeError, match=re.escape(f"fastcmp.{name} is now {now}")):
            getattr(fastcmp, name)
    with pytest.raises(AttributeError, match=r"McNemarResult is now fastcmp\.records\.McN"):
        fastcmp.McNemarResult  # noqa: B018


def test_functions_are_not_hidden_by_modules():
    modules = [m.name for m in pkgutil.iter_modules(fastcmp.__path__)]
    assert {"core", "inputs", "paired", "kernels"} <= set(modules)
    other = {"datasets", "designs", "kernels", "planning", "records", "sequential", "stream"}
    assert set(modules) & set(fastcmp.__all__) == other
    other.add("__version__")
    names = [n for n in fastcmp.__all__ if n not in other]
    imports = "\n".join(f"import fastcmp.{m}" for m in modules if m != "__main__")
    code = f"{imports}\nfrom fastcmp import {', '.join(names)}\n"
    code += f"assert all(map(callable, ({', '.join(names)})))"
    assert "fastcmp.pairwise.adjust" in loaded_after(code)
