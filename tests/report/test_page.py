"""The page as text: valid, escaped, the same each time, written whole or not at all."""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys

import pytest
from cases import refuses
from pages import Page, page_of

import fastcmp

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def mcnemar():
    return fastcmp.mcnemar(only_a=11, only_b=1, both_right=80, both_wrong=8)


def test_the_policy_names_each_script_and_style(mcnemar):
    page = Page(page_of(mcnemar))
    allowed = re.findall(r"'sha256-([^']+)'", page.policy)
    found = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in page.scripts
    ]
    assert sorted(found) == sorted(allowed)
    assert page.policy.startswith("default-src 'none';")
    assert "unsafe" not in page.policy


WRITE = """
import fastcmp, sys
y, right = [0, 1, 2] * 8, [0, 1, 2] * 7 + [1, 1, 1]
preds = {name: right[i:] + right[:i] for i, name in enumerate("abc")}
fastcmp.compare_all(y, preds).report(sys.argv[1])
"""


def test_the_same_bytes_in_another_process(tmp_path):
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", WRITE, tmp_path / f"{seed}.html"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            timeout=120,
        )
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


@pytest.mark.parametrize("path", [None, 3, b"a.html", io.StringIO()])
def test_a_path_is_wanted(mcnemar, path):
    refuses(TypeError, r"path must be a path such as 'report.html'", mcnemar.report, path)


def test_places_where_no_page_can_be(mcnemar, tmp_path):
    refuses(ValueError, r"must end in \.html or \.htm", mcnemar.report, tmp_path / "report.txt")
    with pytest.raises(IsADirectoryError):
        mcnemar.report(tmp_path)
    with pytest.raises(FileNotFoundError):
        mcnemar.report(tmp_path / "none" / "report.html")
    refuses(TypeError, "title must be text", mcnemar.report, tmp_path / "report.html", title=3)
    assert not list(tmp_path.iterdir())


def test_another_number_another_fingerprint(mcnemar):
    digests = [
        re.findall(r"digest\">([0-9a-f]{64})", page_of(record))
        for record in (mcnemar, fastcmp.mcnemar(only_a=11, only_b=2))
    ]
    assert [len(found) for found in digests] == [1, 1]
    assert digests[0] != digests[1]


def test_titles(mcnemar):
    assert "<title>McNemar&#39;s test (mid-p, two-sided)<" in page_of(mcnemar)
    assert "<h1>Ours</h1>" in page_of(mcnemar, title="Ours")


def test_nothing_is_loaded(mcnemar):
    page = page_of(mcnemar)
    assert not re.search(r"""(?:src|href)=(?!"#)|url\(|@import|https?:""", page)


def test_without_jinja(tmp_path):
    program = "import sys; sys.modules['jinja2'] = None\n" + WRITE
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "x.html"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "pip install 'fastcmp[report]'" in done.stderr
    assert not list(tmp_path.iterdir())
