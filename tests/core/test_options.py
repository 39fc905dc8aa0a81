"""Options that are words: every common spelling means one of the known names."""

import numpy as np
import pytest

import fastcmp

COUNTS = {"only_a": 12, "only_b": 5}
Y = [0, 1, 1, 0, 1, 0, 1, 1] * 4
A, B = [0, 1, 1, 0, 0, 0, 1, 1] * 4, [1, 1, 0, 0, 0, 1, 1, 0] * 4
PREDS = {"a": A, "b": B, "c": [1, 1, 1, 0, 1, 0, 0, 1] * 4}
#: What each option of each function is called in the record, by its spelling.
CALLS = {
    "alternative": lambda word: fastcmp.mcnemar(**COUNTS, alternative=word).alternative,
    "method": lambda word: fastcmp.mcnemar(**COUNTS, method=word).method,
    "cost": lambda word: fastcmp.cost_test(Y, A, B, 1 - np.eye(2), method=word).method,
    "adjust": lambda word: fastcmp.compare_all(Y, PREDS, adjust=word).adjust,
}
#: What functions of SciPy 1.17, statsmodels 0.15, R 4 (p.adjust, mcnemar.test, PropCIs,
#: boot) and MATLAB R2024 (testcholdout, ttest, multcompare, mafdr) document.
SPELLINGS = {
    "alternative": {
        "two-sided": "two.sided 2-sided two_sided both unequal",
        "greater": "larger right GREATER",
        "less": "smaller left",
    },
    "method": {
        "midp": "mid-p MIDP mid_p",
        "exact": "binomial",
        "asymptotic": "chi2 chisquare",
        "corrected": "yates edwards continuity",
    },
    "cost": {"chi-square": "chisquare chi2 chisq", "likelihood": "LR likelihood_ratio"},
    "adjust": {
        "bonferroni": "b bonf Bonferroni",
        "sidak": "s dunn-sidak",
        "holm": "h",
        "holm-sidak": "hs holm_sidak",
        "hochberg": "sh simes-hochberg",
        "hommel": "ho",
        "bh": "BH fdr fdr_bh fdr_i fdr_p fdri fdrp BHFDR",
        "by": "BY fdr_by fdr_n fdr_c fdrn fdrcorr",
        "none": "None",
    },
}


@pytest.mark.parametrize("option", SPELLINGS)
def test_names_of_other_packages(option):
    for name, words in SPELLINGS[option].items():
        for word in [name, *words.split()]:
            assert CALLS[option](word) == name, word


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("alternative", word) for word in ("", "-", "two", "t", "l", None, 2, b"less")),
        *(("adjust", word) for word in ("", "f", None, "tukey", ["holm"])),
    ],
)
def test_other_words_are_refused_with_a_list(option, value):
    with pytest.raises(ValueError, match=f"{option} must be one of") as caught:
        CALLS[option](value)
    assert repr(value) in str(caught.value)
    assert all(repr(name) in str(caught.value) for name in SPELLINGS[option])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("grater", " (did you mean 'greater'?)"),
        ("Two-Sidedd", " (did you mean 'two-sided'?)"),
        ("zz", ""),
    ],
)
def test_an_unknown_option_names_the_nearest_known_one(given, said):
    with pytest.raises(ValueError, match="must be one of") as caught:
        fastcmp.mcnemar(only_a=1, only_b=2, alternative=given)
    assert str(caught.value).endswith(f"got {given!r}{said}")
