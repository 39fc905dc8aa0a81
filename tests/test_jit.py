"""The cache of machine code: used, renewed with the sources, and not needed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cases import thinned

import fastcmp

TRUE_PVALUE = 0.00341796875  # mid-p of 11 against 1: (2 * 13 - 12) / 2**12
PROGRAM = """
import json, fastcmp
from fastcmp import mcnemar
from fastcmp.kernels import mcnemar_midp
from fastcmp.kernels.binomial import half_tail
y = [0] * 12
labels = mcnemar(y, [0] * 11 + [1], [1] * 11 + [0]).pvalue
stats = mcnemar_midp.stats
print(json.dumps({
    "file": fastcmp.__file__,
    "labels": labels,
    "kernel": mcnemar_midp(11, 1, 0).pvalue,
    "callee": half_tail.__module__,
    "hits": sum(stats.cache_hits.values()),
    "misses": sum(stats.cache_misses.values()),
}))
"""
# Added to the callee's file: what it returned, twice.
EDIT = """
_once = half_tail


@helper
def half_tail(k, n):
    found = _once(k, n)
    return HalfBinomial(2.0 * found[0], 2.0 * found[1])
"""


@pytest.fixture
def folder():
    """Make a directory that every user may enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="fastcmp-test-"))
    path.chmod(0o755)
    yield path
    subprocess.run(["chmod", "-R", "u+w", path], check=True)
    shutil.rmtree(path)


def install(folder):
    """Copy the package without any cache."""
    source = Path(fastcmp.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(source, folder / "site" / "fastcmp", ignore=ignore))


@pytest.fixture
def read_only(folder):
    """Install where nothing can be cached beside the sources, not even by root."""
    package = install(folder)
    for place in [package, *filter(Path.is_dir, package.rglob("*"))]:
        (place / "__pycache__").write_text("a file where a directory would be made")
    subprocess.run(["chmod", "-R", "a-w,a+rX", package], check=True)
    return package


def run(package, before="", **environment):
    """Run a program in a new process that finds this copy of the package first."""
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "PYTHONPATH")
    inherited = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-B", "-c", before + PROGRAM],
        env=inherited
        | {"PYTHONPATH": str(package.parent), "FASTCMP_COMPILE": "always"}
        | environment,
        cwd="/",
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert Path(said["file"]).parent == package
    return said


def machine_code(folder):
    return sorted(path.name for path in folder.rglob("*.nb[ic]"))


@pytest.mark.full
@pytest.mark.parametrize("where", thinned(["NUMBA_CACHE_DIR", "beside the sources"], 2))
def test_an_edited_callee_reaches_its_callers(folder, where):
    package = install(folder)
    cache = folder / "cache"
    options = {"NUMBA_CACHE_DIR": str(cache)} if where == "NUMBA_CACHE_DIR" else {}
    kept = cache if options else package

    first = run(package, **options)
    assert first["labels"] == pytest.approx(TRUE_PVALUE, rel=1e-12)
    assert first["kernel"] == first["labels"]
    assert first["misses"] > 0
    stored = machine_code(kept)
    assert any("mcnemar_midp" in name for name in stored)

    second = run(package, **options)
    assert second["kernel"] == first["kernel"]
    assert (second["hits"], second["misses"]) == (first["hits"] + first["misses"], 0)
    assert machine_code(kept) == stored

    # What is not compiled may change: nothing is compiled anew.
    other = package / "cli" / "program.py"
    other.write_text(other.read_text(encoding="utf-8") + "\n# edited\n", "utf-8")
    assert run(package, **options)["misses"] == 0
    assert machine_code(kept) == stored

    callee = package / "kernels" / "binomial.py"
    assert first["callee"] == "fastcmp.kernels.binomial"
    callee.write_text(callee.read_text(encoding="utf-8") + EDIT, encoding="utf-8")
    third = run(package, **options)
    assert third["kernel"] == pytest.approx(2 * TRUE_PVALUE, rel=1e-12)
    assert third["misses"] > 0


@pytest.mark.full
@pytest.mark.parametrize("home", ["/dev/null", "/proc/nonexistent"])
def test_a_read_only_install_without_a_home(read_only, home):
    found = run(read_only, HOME=home)
    assert found["labels"] == pytest.approx(TRUE_PVALUE, rel=1e-12)
    assert found["hits"] == 0
    assert machine_code(read_only) == []


@pytest.mark.full
def test_a_read_only_install_uses_the_cache_of_the_user(read_only, folder):
    cache = folder / "cache"
    first = run(read_only, XDG_CACHE_HOME=str(cache))
    assert first["misses"] > 0
    assert machine_code(read_only) == []
    assert any("mcnemar_midp" in name for name in machine_code(cache))
    second = run(read_only, XDG_CACHE_HOME=str(cache))
    assert (second["misses"], second["kernel"]) == (0, first["kernel"])


@pytest.mark.full
def test_a_full_disk_needs_no_cache(folder):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (99, 99))\n"
    package, cache = install(folder), folder / "cache"
    found = run(package, before=full, NUMBA_CACHE_DIR=str(cache))
    assert found["labels"] == pytest.approx(TRUE_PVALUE, rel=1e-12)
    assert [path for path in cache.rglob("*") if path.is_file()] == []


DAMAGES = (
    lambda whole: whole[:0],
    lambda whole: whole[: len(whole) // 2],
    lambda whole: whole[:-1],
    lambda whole: bytes(len(whole)),
    lambda whole: b"garbage" + whole,
    lambda whole: whole[:-3000] + bytes(1000) + whole[-2000:],
)


@pytest.mark.full
@pytest.mark.parametrize("ending", thinned(["nbc", "nbi"], 2))
def test_damaged_machine_code_is_compiled_anew(folder, ending):
    package = Path(fastcmp.__file__).parent
    first = run(package, NUMBA_CACHE_DIR=str(folder))
    kept = sorted(folder.rglob("*.nb[ic]"))
    broken = [path for path in kept if path.suffix == f".{ending}"]
    for i, path in enumerate(broken):
        path.write_bytes(DAMAGES[i % len(DAMAGES)](path.read_bytes()))
    damaged = {path: path.read_bytes() for path in broken}
    second = run(package, NUMBA_CACHE_DIR=str(folder))
    assert second["kernel"] == first["kernel"]
    assert sorted(folder.rglob("*.nb[ic]")) == kept
    assert all(path.read_bytes() != old for path, old in damaged.items())
    third = run(package, NUMBA_CACHE_DIR=str(folder))
    assert (third["misses"], third["kernel"]) == (0, first["kernel"])


# What two processes leave that compile a kernel at once, each for its own types: both
# name the same file, the index is that of one and the code that of the other.
MIXED = """
import sys
import numba, numpy as np
from fastcmp.kernels import count_bits, pack_equal
from fastcmp.kernels.bits import allocate_words

def count(dtype):
    codes, words = np.arange(64).astype(dtype), allocate_words(1, 64)[0]
    pack_equal(codes, (np.arange(64) + 256).astype(dtype), words)
    return int(count_bits(words))

if sys.argv[1] == "mix":
    assert count(np.uint8) == 64
    cache = pack_equal._cache
    (name,) = cache._cache_file._load_index().values()
    codes = numba.typeof(np.arange(64, dtype=np.int32))
    types = codes, codes, numba.typeof(allocate_words(1, 64)[0])
    key = cache._index_key(types, pack_equal.targetctx.codegen())
    cache._cache_file._save_index({key: name})
print(count(np.int32) if sys.argv[1] == "use" else "mixed")
"""


@pytest.mark.full
def test_code_for_other_types_is_not_run(folder):
    def python(what):
        done = subprocess.run(
            [sys.executable, "-c", MIXED, what],
            env=os.environ | {"NUMBA_CACHE_DIR": str(folder), "FASTCMP_COMPILE": "always"},
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.stdout.strip()

    assert python("mix") == "mixed"
    assert python("use") == "0"
