"""Compiled kernels, callable from Python and from a user's own ``@njit`` code.

They take counts, codes, scores or packed bits, never raise an exception, release the
GIL and start no threads. If there is no answer they return NaN and the reason in
``status``.

Public is what the stub beside this file lists: what a simulation would call. The other
kernels arrange data for the package, or loop over a public one; the package imports
them from their modules, and they may change.
"""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
