"""What functions return: every public class."""

from fastcmp._lazy import attach

#: Names of versions before, and the class in their place.
_BEFORE = dict.fromkeys(("ClusteredMcNemarResult", "StratifiedMcNemarResult"), "McNemarResult")
__getattr__, __dir__, __all__ = attach(__name__, __file__, _BEFORE)
