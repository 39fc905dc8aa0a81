"""pandas, polars and pyarrow, imported when a test first needs them."""

from importlib import import_module


class Library:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        return getattr(import_module(self.name), name)


pd, pl, pa = map(Library, ("pandas", "polars", "pyarrow"))
