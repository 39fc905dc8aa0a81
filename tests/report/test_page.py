"""The page as text: valid, escaped, the same each time, written whole or not at all."""

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import fastcmp
from fastcmp.core.records import Record
from fastcmp.core.sections import Section
from fastcmp.report.page import to_page, write_report
from fastcmp.report.template_files import environment, texts_of, to_json

HOSTILE = "<script>alert(1)</script>"
MCNEMAR = fastcmp.mcnemar_from_counts(11, 1, both_right=80, both_wrong=8)
PAIRS = fastcmp.compare_all([0, 1, 1], {"a\udcff": [0, 1, 1], "b": [0, 0, 1]})
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


class Told(Record):
    """A record that says what it is given."""

    def __init__(self, *sections):
        self.told = sections

    def sections(self):
        return list(self.told)

    def _fields(self):
        return {"told": [section.title for section in self.told]}


def test_elements_are_nested_and_headings_in_order():
    pages = [
        to_page({"": MCNEMAR}),
        to_page({"first": MCNEMAR, "second": MCNEMAR}, data=[("a", 1, "b")]),
    ]
    for page in pages:
        outline = Outline(page)
        assert outline.headings[0] == 1
        assert outline.headings.count(1) == 1
        steps = np.diff(outline.headings)
        assert steps.max() <= 1
        assert len(set(outline.ids)) == len(outline.ids)
        assert {link[1:] for link in outline.links} <= set(outline.ids)


def test_the_policy_names_each_script_and_style():
    outline = Outline(to_page({"": MCNEMAR}))
    allowed = re.findall(r"'sha256-([^']+)'", outline.policy)
    found = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in outline.scripts + outline.styles
    ]
    assert sorted(found) == sorted(allowed)
    assert outline.policy.startswith("default-src 'none';")
    assert "unsafe" not in outline.policy


def test_the_same_bytes(tmp_path):
    paths = [tmp_path / name for name in ("a.html", "b.html")]
    for path in paths:
        fastcmp.mcnemar_from_counts(11, 1).report(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


_WRITE = """
import fastcmp
from fastcmp.report.page import to_page
y, right = [0, 1, 2] * 8, [0, 1, 2] * 7 + [1, 1, 1]
preds = {name: right[i:] + right[:i] for i, name in enumerate("abc")}
print(to_page({"": fastcmp.compare_all(y, preds)}).encode())
"""


def test_the_same_bytes_in_another_process():
    digests = {
        subprocess.run(
            [sys.executable, "-c", _WRITE],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_names_that_are_no_text(tmp_path):
    path, name = tmp_path / "a.html", "new\udcff.csv"
    records = {name: MCNEMAR, "pairs": PAIRS}
    write_report(records, path, title=name, command=name, data=[(name, 1, "0" * 64)])
    text = path.read_text(encoding="utf-8")
    assert text.count("new\\udcff.csv") >= 4


@pytest.mark.parametrize("path", [None, 3, b"a.html", io.StringIO()])
def test_a_path_is_wanted(path):
    with pytest.raises(TypeError, match=r"path must be a path such as 'report.html'"):
        MCNEMAR.report(path)


def test_places_where_no_page_can_be(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html or \.htm"):
        MCNEMAR.report(tmp_path / "report.txt")
    with pytest.raises(IsADirectoryError):
        MCNEMAR.report(tmp_path)
    with pytest.raises(FileNotFoundError):
        MCNEMAR.report(tmp_path / "none" / "report.html")
    with pytest.raises(TypeError, match="title must be text"):
        MCNEMAR.report(tmp_path / "report.html", title=3)
    assert not list(tmp_path.iterdir())


def test_another_number_another_fingerprint():
    digests = [
        re.findall(r"digest\">([0-9a-f]{64})", to_page({"": record}))
        for record in (MCNEMAR, fastcmp.mcnemar_from_counts(11, 2))
    ]
    assert [len(found) for found in digests] == [1, 1]
    assert digests[0] != digests[1]


def test_all_that_users_name_is_escaped():
    section = Section(
        title=HOSTILE,
        text=(HOSTILE, "H0: " + HOSTILE),
        columns=(HOSTILE,),
        rows=((HOSTILE,),),
        notes=(HOSTILE,),
    )
    page = to_page(
        {HOSTILE: Told(section, section), "": Told(section)},
        title=HOSTILE,
        command=HOSTILE,
        data=[(HOSTILE, 1, HOSTILE)],
    )
    assert "alert(1)" in page
    assert HOSTILE not in page
    Outline(page)


def test_characters_that_turn_a_line_round_are_shown():
    page = to_page({"": Told(Section(title="x", text=("a\u202eb", "a\x1b[31m")))})
    assert "\u202e" not in page
    assert "a\\u202eb" in page
    assert "a\\x1b[31m" in page


def test_json_in_a_script():
    value = {"</script>": ["<!--", "&", "\u2028", "\u202e", 1.5, None, True]}
    text = to_json(value)
    assert not set("<>&\u2028\n") & set(text)
    assert json.loads(text) == {"</script>": ["<!--", "&", "\\u2028", "\\u202e", 1.5, None, True]}
    with pytest.raises(ValueError, match="JSON compliant"):
        to_json([float("nan")])
    template = environment().from_string("{{ value | json }}")
    assert template.render(value=value) == text


def test_titles():
    assert "<title>McNemar&#39;s test (mid-p, two-sided)<" in to_page({"": MCNEMAR})
    assert "<h1>Ours</h1>" in to_page({"": MCNEMAR}, title="Ours")
    assert "<h1>Comparison of models</h1>" in to_page({"a": MCNEMAR, "b": MCNEMAR})


def test_several_records_have_headings_and_one_list_of_references():
    auc = fastcmp.delong([0, 1, 0, 1], {"a": [0.1, 0.9, 0.3, 0.4], "b": [1, 2, 3, 4]})
    page = to_page({"first": MCNEMAR, "second": auc, "third": MCNEMAR})
    assert page.count("Note on the sampling error") == 1
    for name in ("first", "second", "third"):
        # In the contents, at a glance, above the results, and in how it was done.
        assert page.count(f">{name}<") == 4


def test_how_it_was_done():
    page = to_page({"": MCNEMAR}, command="fastcmp compare 'my file.csv'", data=[("f", 1234, "ab")])
    text = re.sub(r"<[^>]+>|\s+", " ", page)
    for part in (
        "fastcmp compare &#39;my file.csv&#39;",
        "f, 1,234 bytes",
        "SHA-256 ab",
        f"fastcmp {fastcmp.__version__}",
        f"NumPy {np.__version__}",
    ):
        assert part in text


def test_nothing_is_loaded():
    page = to_page({"": MCNEMAR})
    assert not re.search(r"""(?:src|href)=(?!"#)|url\(|@import|https?:""", page)


def test_styles_and_scripts_once():
    names = ["style.css", "page.js", "style.css"]
    assert len(texts_of(names)) == 2
    for text in texts_of(["style.css", "page.js", "theme.js"]):
        assert "</" not in text


def test_all_or_nothing(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")

    class Broken(Told):
        def _fields(self):
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        write_report({"": Broken(Section(title="x"))}, path)
    assert path.read_text() == "before"
    with pytest.raises(OSError, match="no"):
        write_report({"": MCNEMAR}, tmp_path / "no" / "report.html")


def test_without_jinja(monkeypatch, tmp_path):
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'fastcmp\[report\]'"):
        MCNEMAR.report(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
