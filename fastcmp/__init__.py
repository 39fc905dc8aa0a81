"""Which of these classifiers is really better?

Tests, intervals and rankings for classifiers on the same samples, from two models to
thousands, on Numba kernels that are public in `fastcmp.kernels`.
"""

from fastcmp._lazy import attach

__version__ = "0.3.0"
#: Names of versions before, and the call in their place.
_BEFORE: dict[str, str] = {}
__getattr__, __dir__, __all__ = attach(__name__, __file__, _BEFORE)
__all__ += ["__version__"]
