"""Options that are words: spelled in any common way, known by one name here."""

from __future__ import annotations

from typing import Any

from fastcmp.kernels.status import GREATER, LESS, TWO_SIDED

#: The alternatives of a test, with the code that kernels take.
ALTERNATIVES = {"two-sided": TWO_SIDED, "greater": GREATER, "less": LESS}

#: An option -> what SciPy, statsmodels, R, MATLAB and textbooks call it.
#: A synonym counts only where its option is among the known ones, so that "s" is no
#: adjustment where averages are asked for.
_SYNONYMS = {
    # alternatives
    "two-sided": ("2-sided", "two-tailed", "both", "unequal"),
    "greater": ("larger", "right"),
    "less": ("smaller", "left"),
    # adjustments
    "bonferroni": ("b", "bonf", "bonferroni-dunn"),
    "sidak": ("s", "dunn-sidak"),
    "holm": ("h", "holm-bonferroni", "bonferroni-holm"),
    "holm-sidak": ("hs", "holland"),
    "hochberg": ("sh", "simes-hochberg"),
    "hommel": ("ho",),
    "bh": ("fdr", "fdr_bh", "fdr_i", "fdr_p", "bhfdr", "benjamini-hochberg"),
    "by": ("fdr_by", "fdr_n", "fdr_c", "fdrcorr", "benjamini-yekutieli"),
    "shaffer": ("s1", "shaffer-static", "static-shaffer"),
    "bergmann-hommel": ("bergmann", "bergmann-and-hommel"),
    "maxt": ("westfall-young", "wy", "step-down-maxt", "free", "romano-wolf"),
    "single-step": ("single-step-maxt", "maxt-single-step"),
    # tests
    "exact": ("binomial",),
    "asymptotic": ("chi2", "chisq", "chi-square", "chi-squared"),
    "corrected": ("continuity", "yates", "edwards"),
    "unconditional": ("suissa-shuster",),
    "chi-square": ("chi2", "chisq", "chi-squared"),
    "miettinen-nurminen": ("mn", "score"),
    "boschloo": ("boschloo-exact",),
    "barnard": ("z-pooled", "pooled", "barnard-exact", "chan"),
    "barnard-unpooled": ("z-unpooled", "unpooled"),
    "likelihood": ("likelihood-ratio", "lr", "lrt"),
    # intervals
    "wald": ("normal", "asymptotic"),
    "connor": ("normal",),
    "right-direction": ("right-direction-only", "right-tail", "one"),
    "newcombe": ("newcomb", "newcombe10", "method10"),
    "tango": ("score", "tango-score", "nam"),
    "score": ("tango", "nam"),
    "wilson": ("score",),
    "clopper-pearson": ("exact", "beta"),
    "profile": ("likelihood", "profile-likelihood"),
    # means of values
    "t": ("ttest", "t-test", "paired-t", "student"),
    "permutation": ("sign-flip", "sign-flips", "randomization", "randomisation"),
    "wilcoxon": ("signed-rank", "wsr"),
    # measures, averages and criteria
    "sensitivity": ("recall", "tpr"),
    "specificity": ("tnr",),
    "ppv": ("precision",),
    "false_positive_rate": ("fpr", "fall-out"),
    "likelihood_ratio_positive": ("lr+", "lr-plus", "plr"),
    "likelihood_ratio_negative": ("lr-minus", "nlr"),
    "linear": ("equal-spacing", "equal"),
    "quadratic": ("squared", "fleiss-cohen"),
    "ovr": ("one-vs-rest", "one-vs-all"),
    "ovo": ("one-vs-one",),
    "closest-topleft": ("topleft",),
    # answers to an item
    "mean": ("average", "avg", "avg@k"),
    "pass@k": ("pass-at-k",),
    "pass^k": ("pass-hat-k",),
}


def choose(value: Any, name: str, known: Any) -> Any:
    """Find the known option that a user means, however it is spelled.

    `known` holds names, and perhaps None; a ValueError lists them where `value` is none
    of them.
    """
    if (value is None or isinstance(value, str)) and value in known:
        return value  # the usual case, at once
    if isinstance(value, str):
        words = [each for each in known if isinstance(each, str)]
        for spellings in ({each: (each,) for each in words}, _SYNONYMS):
            for each in words:
                if _plain(value) in map(_plain, spellings.get(each, ())):
                    return each
    raise ValueError(f"{name} must be one of {tuple(known)}, got {value!r}")


def _plain(word: str) -> str:
    """Leave out case and what separates words."""
    return "".join(letter for letter in word.lower() if letter not in "-_. '")
