"""Large libraries, imported when a test first needs them: collecting tests imports none."""

from importlib import import_module
from types import ModuleType


class Library:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        # What pytest asks every name of a file imports nothing.
        if name.startswith(("_", "pytest")) and name != "__version__":
            raise AttributeError(name)
        value = getattr(import_module(self.name), name, None)
        if value is None or isinstance(value, ModuleType):
            return Library(f"{self.name}.{name}")
        return value


pd, pl, pa = map(Library, ("pandas", "polars", "pyarrow"))
csv, feather, parquet = (Library(f"pyarrow.{x}") for x in ("csv", "feather", "parquet"))
stats, optimize, special, integrate, linalg = (
    Library(f"scipy.{x}") for x in ("stats", "optimize", "special", "integrate", "linalg")
)
plt, mpl, mpmath = map(Library, ("matplotlib.pyplot", "matplotlib", "mpmath"))
sklearn, statsmodels, mlxtend = map(Library, ("sklearn", "statsmodels", "mlxtend"))
dask, da, dd = map(Library, ("dask", "dask.array", "dask.dataframe"))
