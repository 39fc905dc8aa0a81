"""Pages of records, as users write them, and what is in them."""

import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path


def page_of(record, **options):
    """The HTML that `record.report` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        record.report(path, **options)
        return path.read_text(encoding="utf-8")


class Page(HTMLParser):
    """Tags, closed as they were opened, headings, names of ids, links and texts of a page."""

    VOID = ("meta", "br", "input", "link", "img", "hr")

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.ids, self.headings, self.targets = [], [], [], [], []
        self.shown, self.scripts, self.policy = [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs)
        assert not any(name == "style" or name.startswith("on") for name in found)
        self.tags.append((tag, found))
        self.ids += [found["id"]] if "id" in found else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        for name in ("aria-labelledby", "href"):
            if (target := found.get(name, "")).startswith("#") or "labelled" in name:
                self.targets += target.removeprefix("#").split()
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        own = {"script", "style"} & set(self.open)
        (self.scripts if own else self.shown).append(text)
