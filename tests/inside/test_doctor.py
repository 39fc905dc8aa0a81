"""`fastcmp doctor`: what it finds, and what it says where something is wrong."""

import json
from importlib.metadata import PackageNotFoundError

import pytest

import fastcmp
from fastcmp.cli import doctor, main

METADATA = [
    "numba>=0.61",
    "numpy>=2.0",
    'pyarrow>=16.1; extra == "cli"',
    'dask[array,dataframe]>=2025.1; extra == "dask"',
    'matplotlib>=3.9; extra == "plot"',
    "pytest>=8; extra == 'test'",
    'fastcmp[test]; extra == "dev"',
]
INSTALLED = {"fastcmp": fastcmp.__version__, "numba": "0.61.0rc1", "numpy": "2.0.1"} | {
    "pyarrow": "16.0.9",
    "dask": "2025.1.0",
    "polars": "1.0",
}


@pytest.fixture
def installed(monkeypatch):
    """What pip would know, to be changed by tests."""
    versions = dict(INSTALLED)

    def version(name):
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(doctor, "requires", lambda _: METADATA)
    monkeypatch.setattr(doctor, "version", version)
    return versions


def run(capsys, *options):
    code = main(["doctor", *options])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def test_the_extras_of_users_and_their_states(installed):
    assert [(*each, each.state) for each in doctor.libraries()] == [
        ("numba", "", "0.61", "0.61.0rc1", "ok"),
        ("numpy", "", "2.0", "2.0.1", "ok"),
        ("pyarrow", "cli", "16.1", "16.0.9", "too old"),
        ("dask", "dask", "2025.1", "2025.1.0", "ok"),
        ("matplotlib", "plot", "3.9", "", "missing"),
        ("pandas", "", "", "", "missing"),
        ("polars", "", "", "1.0", "ok"),
    ]


def test_what_extras_lack_is_said_with_the_line_to_type(installed, capsys):
    code, out = run(capsys)
    assert code == 0
    assert "For all features: pip install 'fastcmp[cli,plot]'" in out


def test_a_library_that_is_too_old(installed, capsys):
    installed["numba"] = "0.60.2"
    code, out = run(capsys)
    assert code == 1
    assert f"fastcmp {fastcmp.__version__} does not work as it should.\n" in out
    assert "numba 0.60.2 is too old: fastcmp needs 0.61 or newer" in out


def test_another_version_is_imported_than_installed(installed, capsys):
    installed["fastcmp"] = "0.0.9"
    code, out = run(capsys)
    assert code == 0
    assert "pip has installed fastcmp 0.0.9, and Python imports " in out


def test_an_answer_that_is_wrong(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_PVALUE", 0.5)
    code, out = run(capsys)
    assert code == 1
    assert "McNemar's test of 11 against 1 gives p = 0.0034" in out


def test_an_answer_that_fails(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_ONLY_A", "eleven")
    code, out = run(capsys, "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert found["first_answer_seconds"] is None
    assert found["problems"][0].startswith("No answer can be computed (")


def test_nothing_can_be_written(monkeypatch, capsys):
    monkeypatch.setattr("fastcmp._cache.cache_directory", lambda: None)
    code, out = run(capsys)
    assert code == 0
    assert "set NUMBA_CACHE_DIR to a folder that can be" in out
    assert "Folder:" not in out
