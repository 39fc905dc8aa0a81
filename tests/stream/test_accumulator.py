"""What all accumulators promise: laws of merging, copies, pickles, and saved files."""

import copy
import datetime as dt
import operator
import os
import pickle
import re
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from cases import refuses
from hypothesis import given
from hypothesis import strategies as st

from fastcmp import stream
from fastcmp.stream import ConfusionCounts, LabelCounts, PairCounts

NAMES = ("a", "b", "c")
KINDS = {
    "pairs": PairCounts,
    "pairs of classes": partial(PairCounts, classes=[2, 0]),
    "pairs, missing is wrong": partial(PairCounts, NAMES, missing="wrong"),
    "labels": LabelCounts,
    "labels of one pair": partial(LabelCounts, NAMES, pairs=(2, "a")),
    "labels of classes": partial(LabelCounts, 3, classes=[3, 0, 1, 2]),
    "confusion": ConfusionCounts,
    "confusion of classes": partial(ConfusionCounts, classes=[3, 0, 1, 2]),
}
ALL = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def block_of(n, seed=0, k=4):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(k, size=n)
    preds = np.where(rng.random((3, n)) < 0.6, y_true, rng.integers(k, size=(3, n)))
    return y_true, preds


def filled(kind, n=60, seed=0):
    y_true, preds = block_of(n, seed)
    return kind().update(*some(kind, y_true, preds))


def some(kind, y_true, preds):
    """Name the columns as the accumulator does."""
    names = kind().names
    if names is not None and len(names) == len(preds):
        return y_true, dict(zip(names, preds, strict=True))
    return y_true, dict(zip(NAMES, preds, strict=True))


@ALL
@given(
    n=st.integers(0, 90),
    cuts=st.lists(st.integers(0, 90), max_size=4),
    seed=st.integers(0, 2**32 - 1),
    order=st.randoms(use_true_random=False),
)
def test_parts_add_up_in_any_order(kind, n, cuts, seed, order):
    y_true, preds = block_of(n, seed)
    whole = kind().update(*some(kind, y_true, preds))
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]
    blocks = [some(kind, y_true[i:j], preds[:, i:j]) for i, j in pairwise(edges)]
    order.shuffle(blocks)
    one = kind()
    for block in blocks:
        one.update(*block)
    assert one == whole
    parts = [kind().update(*block) for block in blocks]
    before = copy.deepcopy(parts)
    assert sum(parts) == whole
    assert sum(parts[::-1], kind()) == whole
    tree = parts
    while len(tree) > 1:
        tree = [sum(tree[i : i + 2]) for i in range(0, len(tree), 2)]
    assert tree[0] == whole
    assert parts == before


@ALL
def test_merge_commutes_associates_and_has_a_neutral(kind):
    x, y, z = (filled(kind, n, seed) for n, seed in ((5, 1), (70, 2), (3, 3)))
    assert x + y == y + x
    assert (x + y) + z == x + (y + z)
    assert kind() + x == x
    assert x + kind() == x
    assert kind() + kind() == kind()
    assert x != y
    assert x != kind()
    assert x + x == filled(kind, 5, 1).merge(x)
    doubled = x.copy()
    assert doubled.merge(doubled) == x + x


@ALL
def test_sums_are_new_objects(kind):
    x, y = filled(kind, 5, 1), filled(kind, 9, 2)
    for total in (x + y, sum([x, y]), sum([x]), kind() + x, x + kind(), x.copy()):
        before = x.copy(), y.copy()
        total.merge(y)
        assert (x, y) == before
    merged = kind()
    assert merged.merge(x) is merged
    merged.merge(y)
    assert (x, y) == (filled(kind, 5, 1), filled(kind, 9, 2))
    assert x.update(*some(kind, *block_of(4))) is x


@ALL
@pytest.mark.parametrize("n", [None, 0, 60])
def test_copies_pickles_and_files_are_the_same(kind, n, tmp_path):
    counts = kind() if n is None else filled(kind, n)
    counts.save(tmp_path / "counts")
    counts.save(str(tmp_path / "other"))
    copies = [
        counts.copy(),
        copy.copy(counts),
        copy.deepcopy(counts),
        *[pickle.loads(pickle.dumps(counts, p)) for p in (2, 5)],
        stream.load(tmp_path / "counts"),
        type(counts).load(str(tmp_path / "other")),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts", "other"]
    before = counts.copy()
    more = some(kind, *block_of(30, 7))
    for other in copies:
        assert type(other) is type(counts)
        assert other == before
        assert other.names == counts.names
        wanted = f"<{type(counts).__name__}: {counts.n_samples} samples"
        wanted += f" of {counts.n_models} models>" if counts.names else ">"
        assert repr(other) == wanted
        other.update(*more)
        assert other == before.copy().update(*more)
        assert counts == before
    with pytest.raises(TypeError):
        hash(counts)


def test_buffers_that_may_not_be_written_to():
    counts = filled(PairCounts)
    buffers = []
    data = pickle.dumps(counts, 5, buffer_callback=buffers.append)
    frozen = [bytes(buffer) for buffer in buffers]
    assert frozen
    other = pickle.loads(data, buffers=frozen)
    assert other == counts
    assert other.merge(counts) == counts + counts


BAD = {
    "lengths": lambda y, p: (y[:-1], p),
    "a model is absent": lambda y, p: (y, dict(list(p.items())[:2])),
    "another model": lambda y, p: (y, {**p, "new": y}),
    "another name": lambda y, p: (y, {**dict(list(p.items())[1:]), "new": y}),
    "no models": lambda y, _: (y, {}),
    "two dimensions": lambda y, p: (y, {name: row[None] for name, row in p.items()}),
    "kinds": lambda y, p: (y.astype(str), p),
    "late": lambda y, p: (y, {**p, list(p)[-1]: [*p[list(p)[-1]][:-1], [1]]}),
    "mixed": lambda y, p: ([*y[:-1], "x"], p),
}


@ALL
@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
def test_a_bad_block_changes_nothing(kind, spoil):
    counts = filled(kind)
    bad = spoil(*some(kind, *block_of(20, 3)))
    if isinstance(counts, LabelCounts) and counts.names == ("c", "a"):
        bad = (bad[0], {n: p for n, p in bad[1].items() if n != "b"})
        if set(bad[1]) >= {"a", "c"} and spoil is BAD["another model"]:
            counts.update(*bad)  # other columns are not read
            return
        if spoil is BAD["a model is absent"]:
            bad[1].pop("a", None)
    with pytest.raises((ValueError, TypeError)):
        counts.update(*bad)
    assert counts == filled(kind)


def test_what_is_printed_and_what_a_notebook_shows():
    block = ["x", "y", None], {"a": ["x", "y", "y"], "<b>": ["x", "x", "x"]}
    for kind in (PairCounts, LabelCounts, ConfusionCounts):
        counts = kind().update(*block)
        name = kind.__name__
        assert repr(counts) == f"<{name}: 2 samples of 2 models>"
        assert str(counts) == (
            f"{name}: 2 samples of 2 models\n"
            "1 samples without a true label were dropped.\n"
            "  model  right  accuracy\n"
            "  a          2    1.0000\n"
            "  <b>        1    0.5000"
        )
        assert "&lt;b&gt;" in counts._repr_html_()
        assert str(kind()) == f"{name}: 0 samples"
        assert str(kind(2)).endswith("  model_1      0         -")


@ALL
def test_correct_samples_are_counted_alike(kind):
    y_true, preds = block_of(60)
    counts = filled(kind)
    _, models = some(kind, y_true, preds)
    if counts.n_samples == 60:
        wanted = [(models[name] == y_true).sum() for name in counts.names]
        assert counts.correct.tolist() == wanted
    rows = str(counts).splitlines()[-counts.n_models :]
    assert [int(row.split()[1]) for row in rows] == counts.correct.tolist()


# Files.


def small():
    return PairCounts().update([0, 1], {"a": [0, 1], "b": [1, 1]})


@pytest.mark.full
@pytest.mark.parametrize("kind", ["pairs", "labels"])
def test_every_damaged_byte_is_found(kind, tmp_path):
    path = tmp_path / "part.counts"
    counts = filled(KINDS[kind], 3)
    counts.save(path)
    good = path.read_bytes()
    for i in range(len(good)):
        for bit in (1, 0x20, 0x80):
            path.write_bytes(good[:i] + bytes([good[i] ^ bit]) + good[i + 1 :])
            refuses(ValueError, re.escape(str(path)), stream.load, path)
    for end in range(len(good)):
        path.write_bytes(good[:end])
        refuses(ValueError, re.escape(str(path)), stream.load, path)
    for more in (b"\0", b"\n", good):
        path.write_bytes(good + more)
        refuses(ValueError, r" is damaged: it was cut off or changed", stream.load, path)
    path.write_bytes(good)
    assert stream.load(path) == counts


class Trap:
    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


FOREIGN = {
    "empty": b"",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(50),
    "zip": b"PK\x03\x04" + bytes(50),
    "csv": b"y_true,a,b\n0,1,1\n",
    "one long line": b"fastcmp " + bytes(10**6),
    "text": b"fastcmp compare\n",
}


@pytest.mark.parametrize("name", [*FOREIGN, "pickle"])
def test_foreign_files(name, tmp_path):
    path = tmp_path / "part.counts"
    path.write_bytes(FOREIGN.get(name) or (b"" if name == "empty" else pickle.dumps(Trap())))
    wanted = re.escape(
        f"{path} is not a file of an accumulator of fastcmp.stream that fastcmp saved; "
        "take another file"
    )
    for load in (stream.load, PairCounts.load, LabelCounts.load):
        refuses(ValueError, f"^{wanted}", load, path)


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "part.counts"
    small().save(path)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refuses(OSError, "No space left", (small() + small()).save, path)
    assert stream.load(path) == small()
    assert [part.name for part in tmp_path.iterdir()] == ["part.counts"]
    (small() + small()).save(path)
    assert stream.load(path) == small() + small()


LABELS = {
    "strings": ["é", "b\n", "\ud800", ""],
    "numbers": [-(2**70), 0, 3, 10**30],
    "floats": [-0.5, 1e300, float("inf")],
    "bools": [False, True],
    "bytes": [b"", b"a\0", b"\xff"],
    "dates": [dt.date(2024, 2, 29), dt.date(1, 1, 1)],
    "datetimes": [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(2024, 2, 29, 1, 2, 3, 5)],
    "zones": [dt.datetime(2024, 2, 29, h, tzinfo=dt.UTC) for h in (1, 2)],
    "float32": [np.float32(0.1), np.float32(0.2)],
    "int8": [np.int8(-3), np.int8(4)],
    "numpy strings": [np.str_("a\0"), np.str_("b"), np.str_("")],
    "numpy bytes": [np.bytes_(b"a"), np.bytes_(b"")],
    "tuples": [(0, "x"), (1, (2,)), ()],
    "numpy bools": [np.True_, np.False_],
    "datetime64": [np.datetime64("2024-02-29"), np.datetime64(5, "D")],
    "nanoseconds": [np.datetime64(5, "ns"), np.datetime64(6, "ns")],
    "timedelta64": [np.timedelta64(5, "s"), np.timedelta64(6, "s")],
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", [PairCounts, LabelCounts, ConfusionCounts])
def test_classes_of_every_type_are_saved(kind, labels, tmp_path):
    classes = LABELS[labels]
    counts = kind(classes=classes)
    first = [classes[0]] * len(classes)
    truth, a, b = (np.fromiter(x, object, len(x)) for x in (classes, classes, first))
    preds = {"a": a, "b": b}
    counts.update(truth, preds)
    counts.save(tmp_path / "x")
    other = stream.load(tmp_path / "x")
    assert other == counts
    if kind is not PairCounts:
        assert [type(label) for label in other.classes] == [type(label) for label in classes]
    other.update(truth, preds)
    assert other == counts + counts


@pytest.mark.parametrize("classes", [[Fraction(1, 3), Fraction(1, 2)], [dt.time(1), dt.time(2)]])
def test_classes_that_are_not_saved(classes, tmp_path):
    counts = PairCounts(2, classes=classes)
    wanted = (
        rf"^values of type {type(classes[0]).__name__} are not saved .* use strings, "
        "numbers, booleans, bytes or dates for labels, or pickle it$"
    )
    refuses(TypeError, wanted, counts.save, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    assert pickle.loads(pickle.dumps(counts)) == counts


def test_what_does_not_merge_and_settings_that_differ():
    for kind in (PairCounts, LabelCounts, ConfusionCounts):
        counts = filled(kind)
        for other in (PairCounts(), LabelCounts(), ConfusionCounts(), 1, None, "x", np.zeros(3)):
            if type(other) is not kind:
                wanted = f"^a {kind.__name__} merges with its own kind, got {type(other).__name__}$"
                refuses(TypeError, wanted, counts.merge, other)
                for sides in ((counts, other), (other, counts)):
                    with pytest.raises(TypeError):
                        operator.add(*sides)
        assert counts == filled(kind)
    pairs, two = r"^PairCounts merge where {} agrees?, got .* and ", (["a", "b"], ["b", "a"])
    same_order = r"names come in the same order \(pass names= to both\), got \('a', 'b'\)"
    for one, other, wanted in (
        (PairCounts(), PairCounts(missing="wrong"), pairs.format("missing")),
        (PairCounts(), PairCounts(classes=[0, 1]), pairs.format("classes")),
        (PairCounts(2), PairCounts(3), pairs.format("names")),
        (*map(PairCounts, two), same_order),
        *((*map(kind, two), same_order) for kind in (LabelCounts, ConfusionCounts)),
        (LabelCounts(), LabelCounts(classes=[0, 1]), "^LabelCounts merge where found "),
        (
            *(ConfusionCounts(classes=[1, 0]), ConfusionCounts(classes=[0, 1])),
            " merge where classes agree, got ",
        ),
        (
            *(LabelCounts(pairs=("a", "b")), LabelCounts(pairs=("b", "a"))),
            r"^LabelCounts merge where pair agrees, got ",
        ),
    ):
        refuses(ValueError, wanted, operator.add, one, other)
