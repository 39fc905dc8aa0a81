"""What is built and installed: files, versions, and the minima that are declared."""

import re
import tarfile
import tomllib
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

import fastcmp

ROOT = Path(__file__).parents[1]
FILES = ("fastcmp/__init__.py", "fastcmp/py.typed", "tests/test_a.py", "README.md")
RECORD = "fastcmp-1.dist-info/RECORD"


def script(name):
    """Import a script of .ci, which has no suffix."""
    loader = SourceFileLoader(f"ci_{name}", str(ROOT / ".ci" / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def contents(monkeypatch):
    module = script("contents")
    monkeypatch.setattr(module, "repository", lambda: set(FILES))
    monkeypatch.setattr(module, "NEEDED", ("fastcmp/py.typed",))
    return module


def build(folder, wheel, sdist):
    with zipfile.ZipFile(folder / "fastcmp-1-py3-none-any.whl", "w") as archive:
        for name in wheel:
            archive.writestr(name, "")
    with tarfile.open(folder / "fastcmp-1.tar.gz", "w:gz") as archive:
        for name in sdist:
            archive.addfile(tarfile.TarInfo(f"fastcmp-1/{name}"))


def test_files_that_are_all_there(tmp_path, contents):
    build(tmp_path, [*FILES[:2], RECORD], [*FILES, "PKG-INFO"])
    assert contents.main(tmp_path) == []


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_missing(tmp_path, contents, name):
    wheel, sdist = ([x for x in files if x != name] for files in (FILES[:2], FILES))
    build(tmp_path, wheel, sdist)
    problems = contents.main(tmp_path)
    assert f"the sdist lacks {name}" in problems
    assert (f"the wheel lacks {name}" in problems) == name.startswith("fastcmp/")


def test_files_that_should_not_be_there(tmp_path, contents):
    build(tmp_path, [*FILES[:3], RECORD], [*FILES, "dist/a.whl"])
    assert contents.main(tmp_path) == [
        "the wheel holds tests/test_a.py",
        "the sdist holds dist/a.whl",
    ]


def test_what_installed_programs_need_exists():
    package = Path(fastcmp.__file__).parents[1]
    missing = [x for x in script("contents").NEEDED if not (package / x).is_file()]
    assert missing == []


def test_the_version_heads_the_changelog():
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] == fastcmp.__version__


PROJECT = {
    "name": "p",
    "dependencies": ["numba>=0.61", "numpy>=2.0"],
    "optional-dependencies": {
        "dask": ["dask[array,dataframe]>=2025.1"],
        "test": ["p[dask]", "numpy>=2.0"],
    },
}


def test_minima_become_constraints():
    wanted = "dask==2025.1\nnumba==0.61\nnumpy==2.0\npyparsing<3.3\n"
    assert script("minimum").constraints(PROJECT) == wanted


@pytest.mark.parametrize(
    ("requirement", "problem"),
    [("numpy>=2.1", "two minima of numpy"), ("pandas", "no minimum of pandas")],
)
def test_minima_that_are_not_plain(requirement, problem):
    project = PROJECT | {"optional-dependencies": {"dev": [requirement]}}
    with pytest.raises(SystemExit, match=problem):
        script("minimum").constraints(project)


def test_all_that_is_declared_has_a_minimum():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    minima = script("minimum").constraints(tomllib.loads(text)["project"])
    assert {"numba==0.61", "numpy==2.0"} <= set(minima.splitlines())
