"""Options of commands say the defaults of the functions that they are passed to."""

import argparse
import inspect

import pytest

import fastcmp
from fastcmp.cli.options import OPTIONS
from fastcmp.cli.program import _parser

FUNCTIONS = {
    "compare": (fastcmp.compare_all, fastcmp.compare_means, fastcmp.read_results),
    "holdout": (fastcmp.compare_labels,),
    "gate": (fastcmp.gate, fastcmp.mcnemar, fastcmp.make_metric),
    "report": (fastcmp.classification_report,),
    "cutpoint": (fastcmp.optimal_cutpoint,),
    "lift": (fastcmp.lift_table,),
    "plan": (fastcmp.planning.sample_size,),
    "watch": (fastcmp.sequential.PairLooks,),
    "inspect": (fastcmp.inspect_results,),
}
#: Read from words, files of their own, or of several meanings: their help says which.
OTHERS = {("compare", name) for name in ("method", "pairs", "values")}
OTHERS |= {("report", "zero_division"), ("plan", "alpha")}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_defaults(command):
    commands = next(a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    checked = 0
    for option in commands.choices[command]._actions:
        for function in FUNCTIONS[command]:
            argument = inspect.signature(function).parameters.get(option.dest)
            usual = None if argument is None else argument.default
            if usual in (None, (), inspect.Parameter.empty) or option.nargs == 0:
                continue
            if (command, option.dest) not in OTHERS:
                assert option.default in (None, usual), option.dest
                text = f"{usual:g}" if isinstance(usual, float) else str(usual)
                assert f"({text}" in option.help
                checked += 1
    assert checked or command == "inspect"


def test_the_help_of_shared_options_says_their_defaults():
    for name, option in OPTIONS.items():
        if option.default:
            assert f"({option.default})" in option.help, name
