"""Sentences of a methods section: what they say, and what they cite."""

import html
import re

import numpy as np
import pytest
from pages import page_of

import fastcmp
from fastcmp import datasets

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 2, 60)
RIGHT = {"a": 0.95, "b": 0.9, "c": 0.3}
PREDS = {name: np.where(RNG.random(60) < p, Y, 1 - Y) for name, p in RIGHT.items()}
VALUES = {name: RNG.normal(size=9) + i for i, name in enumerate("abc")}


#: How a work's entry begins, where that is not its key.
AUTHORS = {"bh": "Hochberg", "by": "Yekutieli", "mcnemar": "McNemar", "delong": "DeLong"}


def plain(markup):
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())
    return re.sub(r" \[[\d, ]+\]", "", text)  # citations


def said(record):
    """How it was done, by the record's page."""
    (how,) = re.findall(r'<h2 id="methods">.*?</h2>(.*?)</section>', page_of(record), re.DOTALL)
    return plain(how)


def headline(record):
    return plain(re.search(r'<p class="answer">(.*?)</p>', page_of(record), re.DOTALL)[1])


def assert_cited(record, *keys):
    page = page_of(record)
    works = plain(re.search(r'class="references">(.*?)</ol>', page, re.DOTALL)[1])
    for key in keys:
        assert AUTHORS.get(key, key.title()) in works, works


def test_pairs():
    result = fastcmp.compare_all(Y, PREDS)
    text = said(result)
    for part in (
        "3 models were compared by accuracy on 60 samples.",
        "Each of the 3 pairs of models was compared by this test: McNemar's test",
        "adjusted for 3 comparisons by Holm's procedure.",
        "at most 0.05: the probability of even one false decision is at most 0.05.",
        "at the level 95% are each for one model alone (Wilson).",
    ):
        assert part in text
    assert_cited(result, "mcnemar", "fagerland", "holm", "wilson", "mogstad")


def test_draws_and_seeds_are_named():
    result = fastcmp.compare_all(Y, PREDS, adjust="maxt", rng=5)
    assert f"seed {result.adjust_seed}" in said(result)
    assert_cited(result, "westfall")


def test_a_control_and_a_margin():
    result = fastcmp.compare_means(VALUES, control="b", margin=0.2)
    text = said(result)
    assert "compared with the control b by mean on 9 items" in text
    assert "Each other model and the control were compared" in text
    assert "margin of 0.2 by two one-sided tests of each pair (t tests)" in text
    assert_cited(result, "schuirmann")


def test_clusters():
    result = fastcmp.compare_all(Y, PREDS, groups=np.arange(60) // 2)
    assert "60 samples in 30 clusters" in said(result)
    assert_cited(result, "bell", "pustejovsky")


def test_two_models():
    result = fastcmp.mcnemar(Y, PREDS["a"], PREDS["b"], margin=0.1)
    assert "The null hypothesis is that a and b are equally accurate." in said(result)
    tests = "at the level 0.05 each (exact unconditional tests)"
    assert f"{tests}: a is called not worse than b where" in said(result)
    assert_cited(result, "mcnemar", "fagerland", "newcombe", "schuirmann")
    decided = fastcmp.compare_labels(Y, PREDS["a"], PREDS["b"], alpha=0.01)
    assert "significant where p is at most 0.01" in said(decided)


def test_two_models_have_their_names():
    a, b = PREDS["a"], PREDS["c"]
    decided = fastcmp.compare_labels(Y, a, b, names=("b tree", "svm"), margin=0.1)
    text = said(decided)
    assert "The null hypothesis is that b tree and svm are equally accurate." in text
    assert ": b tree is called not worse than svm where" in text
    means = fastcmp.mean_difference(VALUES["a"], VALUES["b"], names=("a tree", "svm"))
    assert said(means).startswith("The means of a tree and svm on the same items")
    assert "that a tree and svm have the same mean" in said(means)
    assert headline(means).startswith("svm has a higher mean, by ")
    assert "(a tree minus svm, 95% CI [" in headline(means)


def test_the_size_of_two_models():
    a, b, groups = PREDS["a"], PREDS["b"], np.arange(60) // 2
    assert "There were 60 samples." in said(fastcmp.mcnemar(Y, a, b))
    clustered = fastcmp.compare_metric(Y, a, b, metric="f1_macro", groups=groups)
    assert "There were 60 samples in 30 clusters." in said(clustered)
    assert "predicted differently" not in said(clustered)
    assert "There were" not in said(fastcmp.mcnemar(only_a=3, only_b=9))


def test_what_is_not_adjusted_is_not_called_so():
    text = said(fastcmp.compare_all(Y, PREDS, adjust="none"))
    assert "different where the p-value is at most 0.05" in text
    assert "No intervals of ranks" not in text


def test_a_level_that_no_record_has_is_written_out():
    line = headline(fastcmp.cochrans_q(Y, PREDS))
    assert re.fullmatch(r"The 3 models differ significantly; p = \S+, at most 0\.05\.", line)


TESTS = {
    "delong": lambda: fastcmp.delong(Y, {"a": Y + RNG.random(60), "b": RNG.random(60)}),
    "cochran": lambda: fastcmp.cochrans_q(Y, PREDS),
    "nadeau": lambda: fastcmp.fold_test([0.1, 0.2, 0.05], "nadeau-bengio-t", n_train=9, n_test=1),
    "wilcoxon": lambda: fastcmp.signed_rank(VALUES["a"], VALUES["b"]),
    "friedman": lambda: datasets.friedman(VALUES),
    "demsar": lambda: fastcmp.compare_datasets(VALUES),
    "nemenyi": lambda: fastcmp.compare_datasets(VALUES, method="nemenyi"),
}
for name in ("bh", "by", "shaffer", "hommel"):
    TESTS[name] = lambda name=name: fastcmp.compare_all(Y, PREDS, adjust=name)


@pytest.mark.parametrize("key", TESTS)
def test_tests_are_cited(key):
    assert_cited(TESTS[key](), key)


def test_numbers_follow_the_first_citation():
    page = page_of(fastcmp.compare_all(Y, PREDS))
    numbers = [int(x) for x in re.findall(r'class="cite" href="#ref-(\d+)"', page)]
    first = list(dict.fromkeys(numbers))
    assert len(first) > 3
    assert first == list(range(1, len(first) + 1))


def test_headlines():
    preds = PREDS
    board = fastcmp.compare_all(Y, preds)
    best, second = board.best
    assert headline(board) == (
        f"{best} has the highest accuracy, {100 * board.score.max():.2f}%. "
        f"Not significantly different from it: {second}."
    )
    winner = fastcmp.compare_all(Y, {"x": Y, "c": preds["c"]})
    assert headline(winner) == (
        "x has the highest accuracy, 100.00%, and is significantly better than the other."
    )
    even = fastcmp.compare_all(Y, {"x": Y, "y": Y})
    assert headline(even).endswith("but is not significantly different from the other.")
    control = fastcmp.compare_all(Y, preds, control="c")
    assert headline(control) == (
        f"{best} and {second} are significantly better than c; 0 of 2 significantly worse."
    )
    ranks = fastcmp.compare_datasets(VALUES)
    assert "lowest mean rank" in headline(ranks)
    two = fastcmp.mcnemar(Y, preds["a"], preds["c"])
    assert headline(two).startswith("Model a is more accurate by ")
    assert headline(two).endswith(f"p = {two.pvalue:.1e}.")
