"""How messages about arguments become messages about options."""

import pickle
from argparse import Namespace

import pytest

from fastcmp.cli.messages import in_one_line, in_options
from fastcmp.core.checks import as_seed, choose
from fastcmp.core.errors import ArgumentError, BadTypeError, Spelled

OPTIONS = Namespace(
    positive=None, missing="raise", test="mcnemar", cost=None, method="", target="y", average=None
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("pass `missing='wrong'` to count", "pass --missing wrong to count"),
        ("pass `positive=` ``(or metric=make_metric, with it)``", "pass --positive"),
        ("`test='cost'` needs `cost=`, the", "--test cost needs --cost, the"),
        ("`alpha` must lie in (0, 1)", "alpha must lie in (0, 1)"),  # no option here
        ("`y_true` must hold at least 2", "y must hold at least 2"),
        ("it is skewed: permute (`method='x'`).", "it is skewed: permute (--method x)."),
        ("ranks (`rank_intervals='x'`).", "ranks (rank_intervals='x')."),  # no option here
        (
            "pass `average='macro'` or `average='micro'` or `average=None`",
            "pass --average macro or --average micro or average=None",
        ),
        ("there are: id, y_true, a", "there are: id, y_true, a"),
        ("column 'a,test=' holds '`cost`'", "column 'a,test=' holds '`cost`'"),
    ],
)
def test_texts_speak_of_options(text, line):
    spelled = Spelled(text)
    assert in_options(spelled, OPTIONS) == line
    assert in_one_line(BadTypeError(text), OPTIONS) == line
    assert in_one_line(ValueError(str(spelled)), OPTIONS) == str(spelled)
    assert in_options(spelled, None) == str(spelled) == pickle.loads(pickle.dumps(spelled))


@pytest.mark.parametrize(
    ("refuse", "python", "line"),
    [
        (
            lambda: choose("x", "method", ("a", "b", None)),
            "method must be one of ('a', 'b', None), got 'x'",
            "--method must be one of a, b, got 'x'",
        ),
        (
            lambda: as_seed(-1),
            "rng must be a whole number in [0, 2**62), got -1",
            "rng must be a whole number in [0, 2**62), got -1",  # no option here
        ),
    ],
)
def test_errors_have_fields(refuse, python, line):
    with pytest.raises(ArgumentError) as caught:
        refuse()
    assert isinstance(caught.value, ValueError)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, ArgumentError)
        assert str(error) == python
        assert in_one_line(error, OPTIONS) == line
    error = BadTypeError("`cost` must hold numbers, as `y_true`", "'x'", "; see `alpha=`")
    assert in_one_line(error, OPTIONS) == "--cost must hold numbers, as y, got 'x'"
    assert str(error) == "cost must hold numbers, as y_true, got 'x'; see alpha="
    assert (error.argument, error.wanted) == ("cost", "must hold numbers, as y_true")
    assert (error.got, error.remedy) == ("'x'", "; see alpha=")
    assert str(error.but(got=None, remedy="")) == "cost must hold numbers, as y_true"


def test_inputs_of_plans():
    options = Namespace(accuracy=None, pilot_counts=[1, 2, 30], pilot=None, p10=None)
    for message, line in (
        (
            "`accuracy_a=` and `accuracy_b=`, or `p10=` must be given",
            "--accuracy, or --p10 must be given",
        ),
        (
            "`pilot=` must be given alone, got `p10=`",
            "--pilot-counts must be given alone, got --p10",
        ),
    ):
        assert in_options(Spelled(message), options) == line
