"""What functions return: every public class."""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
