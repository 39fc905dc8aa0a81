"""Words and works of the report's sentences: none is missing, none is unused."""

import re

import pytest

from fastcmp.pairwise.adjust import OF_MODELS
from fastcmp.report import references
from fastcmp.report.wording import ADJUSTMENTS, in_words


def test_each_adjustment_has_a_name():
    assert set(OF_MODELS) - {"none"} <= set(ADJUSTMENTS)


@pytest.mark.parametrize(
    ("line", "expect"),
    [
        ("adjusted for 3 pairs (holm).", "adjusted for 3 pairs by Holm's procedure."),
        ("adjusted for 1 pairs (bh)", "for 1 pair by Benjamini and Hochberg's"),
        ("adjusted (holm-sidak) over", "by the step-down Sidak procedure over"),
        ("adjusted (maxt: 9 draws, seed 1)", "max-T procedure (9 draws, seed 1)"),
        ("best, adjusted by holm, with", "best, adjusted by Holm's procedure, with"),
        ("adjusted for holm (a model)", "adjusted for holm (a model)"),
        ("p-values adjusted by holmes", "p-values adjusted by holmes"),
    ],
)
def test_adjustments_in_words(line, expect):
    assert expect in in_words(line)


def test_each_work_is_called_for_and_each_call_known():
    called = {key for keys in references._CALLED.values() for key in keys}
    assert called == set(references.REFERENCES)
    for work in references.REFERENCES.values():
        assert re.search(r"\b(18|19|20)\d\d\b|algorithms\"\.$", work)
        assert work.endswith(".")
