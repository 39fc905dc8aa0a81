"""Reports: records as one self-contained page of HTML, by Jinja2."""

#: Extensions of pages.
PAGES = (".html", ".htm")
