"""Simulation studies of tests: how often is each of them wrong?

A study takes `Options` and returns a record: `table5` type I errors, `power` curves of
power, `errors` true error rates, `correlation` how disagreements on folds correlate.
"""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
