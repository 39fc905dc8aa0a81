"""Options that are words: every common spelling means one of the known names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcmp.core.options import _SYNONYMS, ALTERNATIVES, choose
from fastcmp.paired.cost_differences import METHODS as COST_METHODS
from fastcmp.paired.mcnemar_counts import METHODS
from fastcmp.pairwise.adjust import ADJUSTMENTS
from fastcmp.scores.averaging import AVERAGES
from fastcmp.scores.cutpoint_criteria import CRITERIA

DIFFERENCES = ("wald", "newcombe", "tango", "bonett-price", "agresti-min")
FAMILIES = {
    "alternative": tuple(ALTERNATIVES),
    "method": METHODS,
    "cost": COST_METHODS,
    "adjust": ADJUSTMENTS,
    "average": AVERAGES,
    "criterion": CRITERIA,
    "interval": DIFFERENCES,
    "proportion": ("wilson", "clopper-pearson"),
    "odds": ("exact", "midp"),
    "profile": ("profile", "wald"),
    "cochran": ("asymptotic", "f", "exact"),
    "measure": ("accuracy", "sensitivity", "specificity", "ppv", "npv"),
    "areas": ("ovr", "ovo"),
}


@pytest.mark.parametrize("family", FAMILIES)
@given(st.data())
def test_case_and_separators_do_not_matter(family, data):
    known = FAMILIES[family]
    name = data.draw(st.sampled_from([each for each in known if each]))
    marks = st.sampled_from(["", "-", "_", " "])
    spelled = "".join(
        data.draw(st.sampled_from([letter.upper(), letter]))
        + (data.draw(marks) if letter.isalnum() else "")
        for letter in name
    )
    assert choose(spelled, "option", known) == name


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
    "interval": {
        "newcombe": "newcomb",
        "tango": "score",
        "bonett-price": "bonett_price",
        "wald": "normal asymptotic",
    },
    "proportion": {"wilson": "score", "clopper-pearson": "exact beta clopper.pearson"},
    "measure": {"sensitivity": "recall TPR", "ppv": "precision", "specificity": "tnr"},
    "areas": {"ovr": "one-vs-rest onevsall", "ovo": "onevsone"},
}


@pytest.mark.parametrize(
    ("family", "name", "word"),
    [
        (family, name, word)
        for family, spellings in SPELLINGS.items()
        for name, words in spellings.items()
        for word in words.split()
    ],
)
def test_names_of_other_packages(family, name, word):
    assert choose(word, "option", FAMILIES[family]) == name


@pytest.mark.parametrize("known", FAMILIES.values(), ids=FAMILIES)
def test_no_word_means_two_options(known):
    meant = [word for each in known for word in _SYNONYMS.get(each, ())]
    assert len(set(meant)) == len(meant)


@pytest.mark.parametrize(
    ("family", "value"),
    [
        *(("average", word) for word in ("s", "b", "h", "none")),
        *(("cochran", word) for word in ("h", "midp", "corrected")),
        *(("alternative", word) for word in ("", "-", "two", "t", "l", None, 2, b"less")),
        *(("adjust", word) for word in ("", "f", None, "tukey", ["holm"])),
    ],
)
def test_other_words_are_refused_with_a_list(family, value):
    known = FAMILIES[family]
    with pytest.raises(ValueError, match="my_option must be one of") as caught:
        choose(value, "my_option", known)
    assert str(known) in str(caught.value)
    assert repr(value) in str(caught.value)


def test_none_may_be_known():
    assert choose(None, "average", AVERAGES) is None
    assert choose("MACRO", "average", AVERAGES) == "macro"
