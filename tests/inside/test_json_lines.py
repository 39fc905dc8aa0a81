"""Reading JSON lines: what is accepted is what `json.loads` reads."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from fastcmp.io.logs import entries, json_lines

WANTED = ["id", "a", "naïve", ("in", "a"), ("in", "b")]
KEYS = st.sampled_from(["id", "a", "naïve", "in", "b", "x", '"', "\\", "é", ""])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["a" * 7 + '"', "\\" * 9, "\x00\n\u2028", "é" * 8, "{}[],:"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
lines = st.builds(
    lambda value, ascii_, space: json.dumps(value, ensure_ascii=ascii_, separators=space),
    st.dictionaries(KEYS, values, max_size=6),
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" \t, ", "\r : ")]),
)


def read(path, content, limit=10**9):
    """Read wanted values of each line: its number, and key -> value."""
    path.write_bytes(content)
    return [
        (line, {key: of[i] for key, of in block.values.items() if of[i] is not UNSET})
        for block in json_lines.read_blocks(path, WANTED, limit)
        for i, line in enumerate(block.lines.tolist())
    ]


def expected(line):
    """Take the wanted values by `json.loads`."""
    parsed = json.loads(line)
    inner = parsed["in"] if isinstance(parsed.get("in"), dict) else {}
    found = {key: parsed[key] for key in ("id", "a", "naïve") if key in parsed}
    return found | {("in", key): inner[key] for key in ("a", "b") if key in inner}


def same(a, b):
    """Compare values, NaN equal to itself, 1 not to True."""
    return json.dumps(a) == json.dumps(b)


def check(rows, parsed):
    assert len(rows) == len(parsed)
    for (_, found), wanted in zip(rows, parsed, strict=True):
        for key, value in wanted.items():
            assert same(found[key], value)
        assert set(found) == set(wanted)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "file.jsonl"


@given(st.lists(lines, max_size=5))
@example(['{"a": -0.0, "id": 1E+2}', '{"a": NaN}', '{"a": -Infinity, "in": {}}'])
@example(['{"a": 1, "a": 2}', '{"\\u0061": 3}', '{"in": {"a": 1, "a": 5}}'])
@example(['{"in": {"a": {"a": 1}}, "x": {"in": {"a": 2}}}', '{"in": [{"a": 1}]}'])
def test_same_as_json(path, some):
    check(read(path, "\n".join(some).encode()), [expected(line) for line in some])


@settings(max_examples=100)
@given(lines, st.integers(0, 400), st.binary(max_size=2), st.integers(0, 2))
@example('{"a": 1}', 7, b"", 1)
@example('{"a": "\\u00e9"}', 10, b"g", 1)
@example('{"a": 1}', 8, b"]", 0)
@example('{"a": [1]}', 8, b"}", 1)
@example('{"a": 1}', 6, b"0", 0)
@example('{"a": 1}', 6, b"-", 0)
@example('{"a": "x"}', 7, b"\x01", 0)
@example('{"a": "x"}', 7, b"\xff", 0)
@example('{"a": "x"}', 1, b",", 0)
def test_damaged_line(path, line, at, inserted, removed):
    """What is damaged is refused, or read as `json.loads` reads it."""
    data = line.encode()
    data = data[:at] + inserted + data[at + removed :]
    try:
        text = data.decode()
        parsed = [expected(each) for each in text.split("\n") if each.strip(" \t\r\n")]
    except (ValueError, AttributeError):
        with pytest.raises(ValueError, match=r"file.jsonl(, line [12])?: "):
            read(path, data)
    else:
        check(read(path, data), parsed)


def test_truncated(path):
    line = '{"id": 1, "in": {"a": [1.5, null]}, "b": "\\u00e9é\\n"}'
    whole = (line + "\n").encode() * 3
    for cut in range(2, 53):
        with pytest.raises(ValueError, match=r"line 3: .*cut off"):
            read(path, whole[:-cut])


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n  \n", ""])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends(path, ending, bom):
    some = ['{"id": 1}', '{"id": 2}', '{"id": 3}']
    content = (ending or "\n").join(some) + ending
    rows = read(path, bom + content.encode())
    assert [found["id"] for _, found in rows] == [1, 2, 3]
    step = 3 if ending == "\n\n  \n" else 1
    assert [line for line, _ in rows] == [1, 1 + step, 1 + 2 * step]


def test_blocks_and_long_lines(path):
    """Lines that cross blocks, one of 5 MB, in a file of many blocks."""
    long = json.dumps({"id": 7, "x": "y" * 5_000_000, "a": "z"})
    short = [json.dumps({"id": i, "x": "y" * (i % 700)}) for i in range(20_000)]
    rows = read(path, "\n".join([*short, long, *short]).encode())
    ids = [found["id"] for _, found in rows]
    assert ids == [*range(20_000), 7, *range(20_000)]
    assert [line for line, _ in rows] == list(range(1, 40_002))
    assert rows[20_000][1]["a"] == "z"
    with pytest.raises(ValueError, match=r"line of more than .* raise memory_limit"):
        read(path, long.encode() * 3, 1_000_000)


def test_gzip(path):
    import gzip

    content = gzip.compress(b'{"id": 1}\n{"id": 2}\n' * 1000)
    assert len(read(path, content)) == 2000
    for bad in (content[:-9], content[:40] + b"xyz" + content[43:]):
        with pytest.raises(ValueError, match=r"file.jsonl: cut off or damaged"):
            read(path, bad)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1}\n{"a": "\xe9"}\n', "line 2: is not UTF-8"),
        (b'{"id": 1}\n{"a": "\xc3', "line 2: is not UTF-8"),
        ('{"id": 1}'.encode("utf-16"), "line 1: is not UTF-8"),
        ('{"id": 1}\n'.encode("utf-16-le"), "line 1: is not valid JSON"),
        (b'{"id": 1}\n[1]\n', "line 2: is not a JSON object"),
        (b'{"x": ' + b"[" * 10**5, "line 1: is nested too deeply"),
        (b'{"id": ' + b"1" * 5000 + b"}", "line 1: is not valid JSON"),
    ],
)
def test_refused(path, content, message):
    with pytest.raises(ValueError, match=message):
        read(path, content)


def test_deep_but_readable(path):
    """Deep nesting in what is not wanted."""
    deep = '{"x": ' + "[" * 200 + "]" * 200 + ', "id": 5}'
    assert read(path, deep.encode()) == [(1, {"id": 5})]


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers().map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?", fullmatch=True),
)


@given(st.lists(numbers, min_size=1, max_size=20))
@example(["9007199254740993", "0.1", "0.30000000000000004", "1e-7", "-0", "1e999"])
@example(["9007199254740992", "9007199254740991.5", "0.0000000000000000000001"])
def test_numbers_are_exact(path, some):
    path.write_text("".join(f'{{"a": {x}}}\n' for x in some))
    found, _ = json_lines.read_columns(path, {"a": json_lines.numbers}, 10**9)
    wanted = np.array([float(json.loads(x)) for x in some])
    np.testing.assert_array_equal(found["a"], [wanted, np.zeros(len(some))])


@given(st.lists(st.integers(-(10**19), 10**19), min_size=1, max_size=9))
def test_ids(path, some):
    path.write_text("".join(f'{{"a": {x}}}\n' for x in some))
    found, lines = json_lines.read_columns(path, {"a": list}, 10**9)
    column = json_lines.ids(path, "a", found["a"], lines)
    assert list(map(str, column)) == list(map(str, some))
    if max(len(str(x)) for x in some) <= 18:
        assert column.dtype == np.int64


def test_columns(path):
    path.write_text(
        '{"a": true, "b": "x", "c": ["2"], "d": null, "id": 1}\n'
        '{"a": "C", "b": "y", "c": "2", "d": "wrong \\u00e9", "id": "q"}\n'
        '{"a": null, "b": "x", "c": "\\u0032", "id": "\\u00e9"}\n'
        '{"a": "good", "b": null, "c": [], "d": {"e": 1}, "id": "4"}\n'
        '{"a": [1], "c": ["3"], "id": 1234567890123456789012}\n'
    )
    convert = {"a": json_lines.numbers, "b": json_lines.words(), "c": entries.prints}
    convert |= {"d": entries.texts, "id": list}
    found, lines = json_lines.read_columns(path, convert, 10**9)
    assert lines.tolist() == [1, 2, 3, 4, 5]
    nan = np.nan
    instead = [0, 0, 0, json_lines.TEXT, json_lines.ARRAY]
    np.testing.assert_array_equal(found["a"], [[1, 1, nan, nan, nan], instead])
    assert found["b"] == ["x", "y", "x", None, None]
    prints = found["c"]
    assert prints[0] == prints[1] == prints[2] != 0
    assert prints[3] == 0
    assert prints[4] not in (0, prints[0])
    assert found["d"] == [None, "wrong é", None, '{"e": 1}', None]
    ids = json_lines.ids(path, "id", found["id"], lines)
    assert ids == ["1", "q", "é", "4", "1234567890123456789012"]
    ones = entries.combine(prints, prints)
    assert len(set(ones.tolist())) == 3
