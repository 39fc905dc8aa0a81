"""Pages of records, as users write them."""

import html
import re
import tempfile
from pathlib import Path


def page_of(record, **options):
    """The HTML that `record.report` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        record.report(path, **options)
        return path.read_text(encoding="utf-8")


def text_of(record):
    """What its page says, without tags and citations."""
    page = re.sub(r"<(style|script).*?</\1>|<sup.*?</sup>", "", page_of(record), flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    return re.sub(r"\s+", " ", text)
