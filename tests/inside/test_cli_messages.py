"""How messages about arguments become messages about options."""

from argparse import Namespace

import pytest

from fastcmp.cli.messages import in_one_line, in_options

OPTIONS = Namespace(
    positive=None, missing="raise", test="mcnemar", cost=None, method="", target="y", average=None
)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("pass missing='wrong' to count", "pass --missing wrong to count"),
        ("name it: pass positive= (or to make_metric)", "name it: pass --positive"),
        ("positive=7 is not among", "--positive 7 is not among"),
        ("test='cost' needs cost=, the", "--test cost needs --cost, the"),
        ("method must be one of ('a',)", "--method must be one of a"),
        ("alpha must lie in (0, 1)", "alpha must lie in (0, 1)"),  # no option here
        ("y_true must hold at least 2", "y must hold at least 2"),
        ("it is skewed: permute (method='x').", "it is skewed: permute (--method x)."),
        ("ranks (rank_intervals='x' in Python).", "ranks."),  # no option here
        (
            "pass average='macro', 'micro', 'weighted' or None",
            "pass --average macro, micro or weighted",
        ),
        ("preds must hold at least 2 models", "there must be at least 2 models"),
        ("column 'a,test=' holds", "column 'a,test=' holds"),
        ("test=0.5 has no prediction", "test=0.5 has no prediction"),
        ("cost must be numbers, got", "cost must be numbers, got"),  # a model's name
    ],
)
def test_messages_speak_of_options(message, line):
    assert in_options(message, OPTIONS) == line
    assert in_one_line(ValueError(message), OPTIONS) == line
    assert in_options(message, None) == message
