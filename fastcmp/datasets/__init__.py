"""Models compared over many data sets or tasks: ranks, Bayes, bootstrap, battles."""

from fastcmp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, __file__, {"bayes_sign_from_counts": "bayes_sign(counts=(n_a, n_rope, n_b))"}
)
