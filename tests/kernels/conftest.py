"""Kernels that these tests call run in both tiers."""

from both_tiers import both_tiers

__all__ = ["both_tiers"]
