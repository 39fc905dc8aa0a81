"""The page as text: valid, escaped, the same each time, written whole or not at all."""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from pages import page_of

import fastcmp

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def mcnemar():
    return fastcmp.mcnemar_from_counts(11, 1, both_right=80, both_wrong=8)


EMPTY = ("area", "base", "br", "col", "img", "input", "link", "meta", "source", "wbr")


class Outline(HTMLParser):
    """Headings, ids, links and scripts of a page whose elements are properly nested."""

    def __init__(self, page):
        super().__init__()
        self.open, self.headings, self.ids, self.links = [], [], [], []
        self.scripts, self.styles, self.policy = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        assert not [name for name in known if name == "style" or name.startswith("on")]
        if tag not in EMPTY:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.ids += [known["id"]] if "id" in known else []
        self.links += [known["href"]] if "href" in known else []
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        if self.open[-1:] == ["style"]:
            self.styles.append(data)


def test_elements_are_nested_and_headings_in_order(mcnemar):
    pages = [
        page_of(mcnemar),
        page_of(fastcmp.compare_all([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 1]})),
    ]
    for page in pages:
        outline = Outline(page)
        assert outline.headings[0] == 1
        assert outline.headings.count(1) == 1
        steps = np.diff(outline.headings)
        assert steps.max() <= 1
        assert len(set(outline.ids)) == len(outline.ids)
        assert {link[1:] for link in outline.links} <= set(outline.ids)


def test_the_policy_names_each_script_and_style(mcnemar):
    outline = Outline(page_of(mcnemar))
    allowed = re.findall(r"'sha256-([^']+)'", outline.policy)
    found = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in outline.scripts + outline.styles
    ]
    assert sorted(found) == sorted(allowed)
    assert outline.policy.startswith("default-src 'none';")
    assert "unsafe" not in outline.policy


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
    with pytest.raises(TypeError, match=r"path must be a path such as 'report.html'"):
        mcnemar.report(path)


def test_places_where_no_page_can_be(mcnemar, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html or \.htm"):
        mcnemar.report(tmp_path / "report.txt")
    with pytest.raises(IsADirectoryError):
        mcnemar.report(tmp_path)
    with pytest.raises(FileNotFoundError):
        mcnemar.report(tmp_path / "none" / "report.html")
    with pytest.raises(TypeError, match="title must be text"):
        mcnemar.report(tmp_path / "report.html", title=3)
    assert not list(tmp_path.iterdir())


def test_another_number_another_fingerprint(mcnemar):
    digests = [
        re.findall(r"digest\">([0-9a-f]{64})", page_of(record))
        for record in (mcnemar, fastcmp.mcnemar_from_counts(11, 2))
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
