"""Many cases of one test."""

from contextlib import contextmanager

import pytest


def thinned(values, step):
    """Leave every `step`-th value in the first tier of tests; the others are `full`."""
    return [
        pytest.param(value, marks=[pytest.mark.full] if i % step else [])
        for i, value in enumerate(values)
    ]


@contextmanager
def case(*words):
    """Name the case in the report, where one test holds many that take no time."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(str, words))}")
        raise


def refuses(error, words, function, *data, **options):
    """A call is refused by an error whose message has these words, a pattern."""
    with pytest.raises(error, match=words):
        function(*data, **options)
