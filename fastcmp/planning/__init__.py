"""Plans: power, sample sizes, and differences that can be found.

Every test that compares models, before the samples are there: from probabilities, from
accuracies and how often models agree, or from a pilot.
"""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
