"""Tests that stay valid however often one looks: e-values and confidence sequences."""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, __file__, {"mcnemar_from_counts": "mcnemar(only_a=only_a, only_b=only_b)"}
)
