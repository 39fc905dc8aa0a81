"""Files of saved states: versions, and wrong content with a right checksum."""

import json

import numpy as np
import pytest
from cases import thinned
from children import finished

from fastcmp import stream
from fastcmp.core.saved_states import VERSION, _checksum, to_plain

#: Loads all files in a folder with 300 MB more than Python and NumPy have taken.
CHILD = """
import json, resource, sys, time
from pathlib import Path
from fastcmp import stream
from fastcmp.stream import (
    ConfusionCounts, LabelCounts, PairCounts, RocSketch, ScoreCounts, ScoreRefinement,
    ValueMoments
)
good, folder = map(Path, sys.argv[1:])
stream.load(good)
status = Path("/proc/self/status").read_text()
(size,) = (line for line in status.splitlines() if line.startswith("VmSize:"))
limit = int(size.split()[1]) * 1024 + 300_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
answers = {}
for path in sorted(folder.iterdir()):
    begun = time.process_time()
    try:
        stream.load(path)
        answer = "loaded"
    except BaseException as error:
        answer = type(error).__name__
    answers[path.name] = answer, time.process_time() - begun
print(json.dumps(answers))
"""
SECONDS = 20.0  # of processor time; whole files take hundredths

Y = np.array([0, 1, 1, 2, 0, 1, 2, 2, 1, 0])
PREDS = {
    "a": np.array([0, 1, 2, 2, 0, 1, 2, 1, 1, 0]),
    "b": np.array([0, 0, 1, 2, 1, 1, 2, 2, 1, 0]),
    "c": np.array([2, 1, 1, 0, 0, 1, 1, 2, 0, 0]),
}
SCORES = {"a": np.linspace(0, 1, 10).round(1), "b": np.cos(np.arange(10.0))}
MANY = {name: np.arange(200) * k % 200 for name, k in (("a", 3), ("b", 7))}


def refined():
    rng = np.random.default_rng(2)
    scores = {"a": rng.normal(size=3000), "b": rng.normal(size=3000).round(1)}
    y_true = rng.integers(0, 2, 3000)
    first = stream.ScoreCounts(stream.ScoreMap(np.linspace(-3, 3, 50))).update(y_true, scores)
    pass_one = first.refine(memory_limit=20_000).update(y_true, scores)
    pass_two = pass_one.refine(memory_limit=20_000)
    return pass_two.update(y_true[:1000], {k: v[:1000] for k, v in scores.items()})


STATES = {
    "pairs": lambda: stream.PairCounts().update(Y, PREDS),
    "pairs of classes": lambda: stream.PairCounts(classes=[2, 0]).update(Y, PREDS),
    "labels": lambda: stream.LabelCounts().update(Y, PREDS),
    "labels of a pair": lambda: stream.LabelCounts(
        ("a", "b", "c"), pairs=(2, "a"), classes=[0, 1, 2]
    ).update(Y, PREDS),
    "labels of many classes": lambda: stream.LabelCounts().update(np.arange(200), MANY),
    "confusion": lambda: stream.ConfusionCounts().update(Y, PREDS),
    "confusion of classes": lambda: stream.ConfusionCounts(classes=[2, 0, 1]).update(Y, PREDS),
    "scores": lambda: stream.ScoreCounts().update(Y > 0, SCORES),
    "sketch": lambda: stream.RocSketch(positive="x").update(np.where(Y, "x", "y"), SCORES),
    "narrow scores": lambda: stream.ScoreCounts().update(Y > 0, SCORES["a"].astype("f2")),
    "refinement": refined,
    "values": lambda: stream.ValueMoments().update(SCORES, weights=Y),
    "values of groups": lambda: stream.ValueMoments(groups="ids").update(SCORES, groups=Y),
}
DEEP = 200_000
WRONG = {
    "number": "5",
    "huge": "1000000000",
    "digits": "9" * 5000,
    "nan": "NaN",
    "text": '"text"',
    "list": '["a"]',
    "tuple of numbers": '{"$tuple": [1, 2, 3]}',
    "tuple of a number": '{"$tuple": 5}',
    "tuple that repeats": '{"$tuple": ["a", "a", "a"]}',
    "tuple of nan": '{"$tuple": [NaN, 1.0]}',
    "many names": '{"$tuple": [' + ",".join(f'"{i}"' for i in range(200_000)) + "]}",
    "names that repeat": '{"$tuple": [' + ",".join(['"a"'] * 200_000) + "]}",
    "deep lists": "[" * DEEP + "]" * DEEP,
    "deep tuples": '{"$tuple": [' * 3_000 + "]}" * 3_000,
    "date": '{"$date": "tomorrow"}',
    "type": '{"$numpy": ["(((", "00"]}',
    "objects": '{"$numpy": ["|O", "0000000000000000"]}',
    "many": '{"$numpy": ["<i8", ""]}',
    "scalar of a number": '{"$numpy": 7}',
    "unknown type": '{"$set": [1]}',
    "record": '{"$record": ["McNemarResult", {"pvalue": 0.5}]}',
    "no record": '{"$record": ["Popen", {"args": "true"}]}',
    "array": '{"$array": ["<i8", [3], "AAAAAAAAAAA="]}',
    "array of objects": '{"$array": ["O", [10], []]}',
}
#: Where a wrong setting is as good as the right one.
HARMLESS = {
    ("positive", None),  # any label, where two numbers are found
    ("classes", "tuple of numbers"),  # as many other labels
    ("ids", "tuple of numbers"),  # as many other groups
    ("classes", "many names"),  # for right and wrong any number will do
}


def write(path, kind, settings, arrays, rest=b""):
    """Write a file with the right checksum: settings as JSON, described bytes."""
    described = json.dumps([[name, *form] for name, (form, _) in arrays.items()])
    line = f'{{"settings": {settings}, "arrays": {described}}}\n'.encode()
    body = line + b"".join(data for _, data in arrays.values()) + rest
    first = f"fastcmp {kind} {VERSION} {_checksum(kind, [body])}\n"
    path.write_bytes(first.encode() + body)


def described(arrays):
    """Give type, shape and bytes of arrays, or what stands for one as it is."""
    return {
        name: array
        if isinstance(array, tuple)
        else ([array.dtype.str, list(array.shape)], array.tobytes())
        for name, array in arrays.items()
    }


def spoilt_arrays(array):
    """Give an array in forms that it must not have."""
    yield "missing", None
    yield "empty", array[:0]
    yield "longer", np.concatenate([array, array])
    yield "deeper", array[np.newaxis]
    with np.errstate(over="ignore"):
        yield "other type", array.astype("f4" if array.dtype != "f4" else "f8")
    yield "complex", array.astype(complex)
    data = array.tobytes()
    kind, shape = array.dtype.str, list(array.shape)
    yield "terabytes", ([kind, [10**12]], data)
    yield "terabytes of nothing", ([kind, [10**30, 0]], b"")
    yield "many axes", ([kind, [1] * 99], data)
    yield "negative", ([kind, [-1, *shape[1:]]], data)
    yield "sizes that are true", ([kind, [True]], data)
    yield "no type", ([None, shape], data)
    yield "other byte order", ([kind.replace("<", ">"), shape], data)
    yield "unknown type", (["<i3", shape], data)
    yield "objects", (["|O", [1]], bytes(8))
    yield "not described", ([], data)
    yield "cut off", ([kind, shape], data[:-1])
    if array.dtype == bool:
        yield "neither true nor false", ([kind, shape], b"\x02" * array.size)
    flat = array.ravel()
    places = {0, flat.size // 2, flat.size - 1} if flat.size else set()
    for place in places:
        for value in (-1, 2**62, -(2**63)) if array.dtype == np.int64 else ():
            other = flat.copy()
            other[place] = value
            yield f"{value} at {place}", other.reshape(array.shape)
        # Edges end with infinity as they are.
        for value in (np.nan, np.inf, -np.inf) if array.dtype.kind == "f" else ():
            if value == flat[place]:
                continue
            other = flat.copy()
            other[place] = value
            yield f"{value} at {place}", other.reshape(array.shape)


def fields(settings, before=()):
    """List the places of all settings, those of settings within settings too."""
    for key, value in settings.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from fields(value, (*before, key))


def with_setting(settings, place, raw):
    """Write settings as JSON, with a raw text in one place."""
    changed = json.loads(json.dumps(to_plain(settings)))
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = "@raw@"
    return json.dumps(changed).replace('"@raw@"', raw)


def bad_files(counts, folder):
    """Write files with one thing wrong each."""
    kind, settings, arrays = (type(counts).__name__, counts._settings(), counts._arrays())
    line, good = json.dumps(to_plain(settings)), described(arrays)
    for place in fields(settings):
        for what, raw in WRONG.items():
            changed = with_setting(settings, place, raw)
            harmless = {(place[-1], None), (place[-1], what)} & HARMLESS
            if changed == line:
                continue  # as it is
            if not harmless or "deep" in what or ("$" in raw and "{" not in raw):
                write(folder / f"{'.'.join(place)} is {what}", kind, changed, good)
    for key, array in arrays.items():
        for what, other in spoilt_arrays(np.asarray(array)):
            if what in {"empty", "longer", "cut off"} and not array.size:
                continue  # as it is
            if what in {"other byte order", "neither true nor false"} and (
                not array.size or (array.dtype.itemsize == 1 and "byte" in what)
            ):
                continue
            changed = {k: v for k, v in arrays.items() if k != key}
            if other is not None:
                changed[key] = other
            write(folder / f"array {key}: {what}", kind, line, described(changed))
    for what, raw in WRONG.items():
        write(folder / f"settings are {what}", kind, raw, good)
    write(folder / "no arrays", kind, line, {})
    write(folder / "more bytes", kind, line, good, bytes(1))


@pytest.mark.parametrize("name", thinned(STATES, 6))
def test_each_wrong_field_is_a_value_error(name, tmp_path):
    counts, folder, good = STATES[name](), tmp_path / "bad", tmp_path / "good"
    folder.mkdir()
    counts.save(good)
    assert stream.load(good) == counts
    bad_files(counts, folder)
    done = finished("-c", CHILD, good, folder, OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout)
    assert len(answers) > 80
    assert {k: a for k, (a, _) in answers.items() if a != "ValueError"} == {}
    assert {k: s for k, (_, s) in answers.items() if s > SECONDS} == {}


def damaged(tmp_path, state, **arrays):
    """Save a state with other arrays."""
    path = tmp_path / "counts"
    settings = json.dumps(to_plain(state._settings()))
    write(path, type(state).__name__, settings, described({**state._arrays(), **arrays}))
    return path


def test_joint_counts_fit_the_margins(tmp_path):
    counts = stream.PairCounts().update([0, 1, 1, 0], {"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]})
    assert counts._arrays()["joint"].tolist() == [2, 2, 3]
    for joint in ([2, 3, 3], [2, 0, 3], [5, 2, 3], [2, 2, 5], [-2, -2, 3]):
        path = damaged(tmp_path, counts, joint=np.array(joint))
        with pytest.raises(ValueError, match=r"no valid PairCounts: joint"):
            stream.load(path)
    for totals in ([1, 0, 0], [4, -1, 0], [4, 0, 1], [4, 2**62, 0], [2**54, 0, 0]):
        with pytest.raises(ValueError, match=r"holds no valid PairCounts: "):
            stream.load(damaged(tmp_path, counts, totals=np.array(totals)))
    path = damaged(tmp_path, counts, joint=np.array([2, 1, 3]))
    assert stream.load(path).joint.tolist() == [[2, 1], [1, 3]]


def test_tables_fit_one_another(tmp_path):
    counts = stream.LabelCounts().update(Y, PREDS)
    tables = counts._arrays()["counts"].copy()
    tables[1] = tables[1].transpose(2, 1, 0)  # as many samples, other true classes
    with pytest.raises(ValueError, match="tables differ in true classes"):
        stream.load(damaged(tmp_path, counts, counts=tables))
    tables[1, 0, 0, 0] += 1
    with pytest.raises(ValueError, match=r"is not of the 10 samples|true classes"):
        stream.load(damaged(tmp_path, counts, counts=tables))
    many = stream.LabelCounts().update(np.arange(200), MANY)
    cells = many._arrays()["cells"]
    for other, wanted in (
        (cells[::-1].copy(), "cells must ascend"),
        (np.repeat(cells[:1], len(cells), axis=0), "cells must ascend"),
        (cells + 100, "cells must be numbers of samples that fit"),
    ):
        with pytest.raises(ValueError, match=wanted):
            stream.load(damaged(tmp_path, many, cells=other))


def test_scores_of_both_labels_fit(tmp_path):
    counts = stream.ScoreCounts().update(Y > 0, SCORES)
    table = counts._arrays()["counts_1"].copy()
    with pytest.raises(ValueError, match="models differ in the samples of a label"):
        stream.load(damaged(tmp_path, counts, counts_1=table[:, ::-1].copy()))
    moved = np.roll(table, 1, axis=0)  # as many of either label, in other bins
    assert stream.load(damaged(tmp_path, counts, counts_1=moved)).n_samples == 10


def test_collected_scores_are_those_counted(tmp_path):
    counts = refined()
    name, kept = max(
        ((k, v) for k, v in counts._arrays().items() if k.startswith("kept")),
        key=lambda item: item[1].size,
    )
    assert kept.size
    for other in (kept[::-1].copy(), kept[1:], np.append(kept, 50.0)):
        with pytest.raises(ValueError, match="no valid ScoreRefinement: collected"):
            stream.load(damaged(tmp_path, counts, **{name: other}))


@pytest.mark.parametrize(("step", "age"), [(1, "a newer"), (-1, "an older")])
def test_other_versions(tmp_path, step, age):
    path = tmp_path / "part.counts"
    stream.PairCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]}).save(path)
    line, rest = path.read_bytes().split(b"\n", 1)
    other = line.replace(b" %d " % VERSION, b" %d " % (VERSION + step))
    path.write_bytes(other + b"\n" + rest)
    wanted = (
        rf"part.counts has version {VERSION + step} of the format, .* version "
        rf"{VERSION}: it was saved by {age} one; .*count the samples"
    )
    with pytest.raises(ValueError, match=wanted):
        stream.load(path)
