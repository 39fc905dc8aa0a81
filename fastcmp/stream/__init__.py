"""Counts that grow block by block: update, merge, add, pickle, save and load.

What does not fit in memory, or lies on several machines, is counted in parts. The parts
add up to the bit: ``update(x + y)`` is ``update(x)`` merged with ``update(y)``.
"""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
