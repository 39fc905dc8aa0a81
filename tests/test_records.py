"""Laws of all records: they print, become tables and JSON, and are read back.

A record is what a public function returns; each public record class needs an example
in `examples`, or a function in `calls`.
"""

import ast
import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest
from cases import case
from examples import RECORDS, example, examples
from matplotlib.figure import Figure
from pages import Page
from public_names import record_classes

import fastcmp
from fastcmp.report.methods import methods_of

LIBRARIES = ("pandas", "polars", "pyarrow")


@pytest.mark.parametrize("name", RECORDS)
def test_json_is_read_back(name):
    record = example(name)
    plain = record.to_dict()
    assert plain["record"] == type(record).__name__
    assert plain["version"] == 1
    again = fastcmp.from_dict(json.loads(json.dumps(plain, allow_nan=False)))
    assert type(again) is type(record)
    assert again == record
    assert again.to_dict() == plain
    assert str(again) == str(record)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_frozen_and_of_its_own_class(name):
    record = example(name)
    known = {field.name: getattr(record, field.name) for field in fields(record)}
    for field in known:
        with pytest.raises(FrozenInstanceError):
            setattr(record, field, None)
        with pytest.raises(FrozenInstanceError):
            delattr(record, field)
    assert type(replace(record)) is type(record)
    assert replace(record) == record
    derived = type("Derived", (type(record),), {})
    assert type(derived(**known)) is derived
    with pytest.raises(TypeError, match="unexpected keyword"):
        type(record)(**known, unknown=1)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_shown_in_every_format(name):
    record = example(name)
    assert repr(record).startswith(type(record).__name__ + "(")
    assert "\n" not in repr(record)
    assert len(repr(record)) <= 250
    lines = str(record).splitlines()
    assert 1 <= len(lines) <= 100
    assert max(map(len, lines)) <= 80
    assert record.summary().strip()
    for section in record.sections():
        assert section.rows or section.text
        assert {len(row) for row in section.rows} <= {len(section.columns)}
    title = record.sections()[0].title
    assert title
    for text in (record.to_markdown(), record.to_html(), record.to_latex()):
        assert text.strip()


@pytest.mark.parametrize("name", RECORDS)
def test_a_notebook_shows_the_tables_of_the_report(name):
    """Closed tags, ids of its own, no script, and the first rows alone of long tables."""
    record = example(name)
    shown = record._repr_mimebundle_()
    assert shown["text/plain"] == str(record)
    assert shown["text/markdown"].startswith("### ")
    fragment = shown["text/html"]
    assert record._repr_mimebundle_(include={"text/html"}) == {"text/html": fragment}
    assert set(record._repr_mimebundle_(exclude={"text/html"})) == {"text/plain", "text/markdown"}
    page = Page(fragment)
    assert record.sections()[0].title in " ".join(page.shown).replace("\u00a0", " ")
    assert not {"script", "button", "canvas"} & {tag for tag, _ in page.tags}
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert set(page.headings) <= {4}
    assert len(fragment) < 60_000


@pytest.mark.parametrize("name", RECORDS)
def test_tables_of_all_libraries_agree(name):
    record = example(name)
    columns = record.columns()
    assert len({len(x) for x in columns.values()}) == 1
    for library in LIBRARIES:
        frame = record.to_frame(library)
        assert list(getattr(frame, "column_names", frame.columns)) == list(columns)


@pytest.mark.parametrize("name", RECORDS)
def test_tables_hold_the_answer(name):
    """The p-value, difference and interval of the record, in columns of their names."""
    record, columns = example(name), example(name).columns()
    wanted = {}
    for field in {"pvalue", "pvalue_adjusted", "statistic", "difference"} & set(columns):
        wanted[field] = getattr(record, field, None)
    ends = getattr(record, "interval", None)
    if np.ndim(ends) and len(ends):
        low, high = (ends.low, ends.high) if hasattr(ends, "low") else np.moveaxis(ends, -1, 0)
        first = "low" if "low" in columns else "interval_low"
        wanted |= {first: low, first.replace("low", "high"): high}
    if "rank_low" in columns and hasattr(record, "lower"):
        wanted |= {"rank_low": record.lower, "rank_high": record.upper}
    rows = len(next(iter(columns.values())))
    for field, value in wanted.items():
        if value is None or np.size(value) != rows or isinstance(value, str):
            continue
        with case(field, value, columns):
            assert np.array_equal(np.ravel(value), np.array(columns[field], float), equal_nan=True)


@pytest.mark.parametrize("name", RECORDS)
def test_statistics_have_a_distribution(name):
    record = example(name)
    if not hasattr(record, "statistic"):
        return
    assert record.distribution in KNOWN
    if record.distribution in ("chi2", "t", "F"):
        assert record.df is not None
        many = (hasattr(record, "names") and np.size(record.pvalue) > 1) or hasattr(record, "alpha")
        if np.ndim(record.df) == 0 and not many:
            assert f"{record.df:.4g}" in str(record)


KNOWN = (
    *("chi2", "normal", "t", "F", "binomial", "trinomial"),
    *("permutation", "bootstrap", "kolmogorov", "studentized-range"),
)


@pytest.mark.parametrize("name", RECORDS)
def test_the_better_of_two_models(name):
    record = example(name)
    # Two discordant counts alone have no difference of accuracies.
    fields = ("better", "difference", "measure")
    if name in ("mcnemar", "from_dict") or not all(hasattr(record, x) for x in fields):
        return
    if np.ndim(record.difference) or np.isnan(record.difference):
        return
    sign = -1 if record.measure in ("cost", "error") else 1
    wanted = {1: "a", -1: "b"}.get(sign * np.sign(record.difference))
    assert record.better == wanted


@pytest.mark.parametrize("name", RECORDS)
def test_a_picture_is_kept_beside_the_record_and_not_in_it(name):
    if not hasattr(type(example(name)), "plot"):
        return
    record = copy.copy(example(name))
    with pytest.raises(AttributeError, match=r"plot\(\) has drawn"):
        _ = record.figure_
    ax = Figure().subplots()
    assert record.plot(ax=ax) is ax
    assert record.ax_ is ax
    assert record.figure_ is ax.figure
    again = pickle.loads(pickle.dumps(record))
    assert again == record == example(name)
    assert not hasattr(again, "ax_")


@pytest.mark.parametrize("name", RECORDS)
def test_a_report_is_a_page_that_answers_and_says_how(name, tmp_path):
    example(name).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert np.diff(page.headings).max() <= 1
    shown = " ".join(" ".join(page.shown).replace("\u00a0", " ").split())
    assert not {"nan", "None", "NaN%"} & set(shown.split())
    assert example(name).sections()[0].title in shown
    for answer in re.findall(r'<p class="answer">(.*)</p>', text):
        assert answer[-1] in ".)?"
    # Adjustments have the names that papers give them, not those of options.
    assert not re.search(r"adjusted[^.]*(\(|by )(e-)?(holm|bh|maxt|none)\b", shown)


def test_reports_go_by_what_records_declare_and_not_by_their_names():
    """So each class of records, also one of later, has a headline and says how it was done."""
    folder = Path(fastcmp.__file__).parent / "report"
    named = {
        (path.name, node.value)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in record_classes()
    }
    assert named == {("boards.py", "Leaderboard")}  # the title of a section
    for name, record in examples().items():
        with case(name):
            headline, methods = record._headline(), methods_of(record)
            assert headline.strip()
            assert headline[-1] in ".)?"
            assert methods
            assert all(text.strip() and "{" not in text for text in (headline, *methods))


def test_each_public_record_has_an_example():
    seen = {type(x).__name__ for x in examples().values()}
    missing = set(record_classes()) - {"Record"} - seen
    assert not missing, f"a new record? add {missing} to EXAMPLES in tests/examples.py"


@pytest.mark.parametrize("library", ["csv", 1, None])
def test_unknown_libraries(library):
    with pytest.raises(ValueError, match="library must be one of"):
        example("mcnemar").to_frame(library)
