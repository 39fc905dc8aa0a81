"""Docstrings of all that is public are complete, by numpydoc's checks."""

import inspect

import pytest
from numpydoc.validate import validate
from public_names import MODULES, public_objects, refuse

#: Not asked for: an extended summary, See Also, that a summary is one line that ends
#: with a full stop (a question may end with its mark), and the third person ("McNemar's
#: test ..." begins with a name).
NOT_ASKED = {"ES01", "SA01", "SS03", "EX01"}


def is_asked(name, value):
    """Tell functions and classes from constants, whose type has the docstring."""
    return inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "py_func")


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_complete(module):
    wrong = []
    for name, value in public_objects(module):
        if not is_asked(name, value):
            continue
        checked = validate(name)
        wrong += [
            f"{checked['file']}:{checked['file_line']}: {name}: {code} {message}"
            for code, message in checked["errors"]
            if code not in NOT_ASKED
            # Fields of records are documented where they stand.
            and not (code == "PR01" and inspect.isclass(value))
            # "McNemar's test ..." begins with a name, not with a verb.
            and not (code == "SS05" and "'s " in value.__doc__)
        ]
    refuse(wrong)
