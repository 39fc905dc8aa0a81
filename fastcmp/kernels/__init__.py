"""Compiled kernels, callable from Python and from a user's own ``@njit`` code.

They take counts, codes or packed bits, never raise, hold no GIL and start no threads.
Where there is no answer they return NaN and say why in ``status``.
"""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
