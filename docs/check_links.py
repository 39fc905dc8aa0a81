"""Links of the built site: that every page, file and anchor they lead to is there."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The anchors of a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag, name) == ("a", "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src", "poster", "data"):
                self.links.add(value)


def broken_links(site: Path) -> list[str]:
    """List the links within a folder of pages that lead nowhere."""
    site = site.resolve()
    pages = {
        path: _Page(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if not path.is_relative_to(site / "_static")  # the theme's own templates
    }
    broken = []
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            target = path if not parts.path else target
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            there = target.is_file() and target.is_relative_to(site)
            if there and anchor and target in pages:
                there = anchor in pages[target].anchors
            if not there:
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    sys.exit("\n".join(found))
