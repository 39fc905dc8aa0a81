"""Files that are written beside their place, then moved: nothing else is touched."""

import sys

import pytest
from children import finished

from fastcmp import compare_all
from fastcmp.core.saved_states import check_place, replacing
from fastcmp.stream import PairCounts

LABELS = ([0, 1, 1, 0], {"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "c": [1, 1, 1, 0]})


def counts():
    return PairCounts().update(*LABELS)


def test_it_appears_when_all_is_written(tmp_path):
    path = tmp_path / "x"
    with replacing(path) as file:
        file.write(b"new")
        assert not path.exists()
        (part,) = tmp_path.iterdir()
        assert part.name.startswith(".")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError(28, "full")])
def test_after_an_error_all_is_as_before(tmp_path, error):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def stop():
        with replacing(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises((KeyboardInterrupt, ValueError, OSError)) as caught:
        stop()
    if isinstance(error, OSError):
        assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    path, link = tmp_path / "far" / "x", tmp_path / "link"
    path.parent.mkdir()
    link.symlink_to(path)
    for content in (b"first", b"second"):
        with replacing(link) as file:
            file.write(content)
        assert link.is_symlink()
        assert path.read_bytes() == content


def test_errors_name_what_was_asked_for(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    for name, kind in (
        ("folder", IsADirectoryError),
        ("none/x", FileNotFoundError),
        ("file/x", NotADirectoryError),
    ):
        for ending in (".npy", ".parquet"):
            path = tmp_path / f"{name}{ending}"
            with pytest.raises(kind) as caught:
                check_place(path)
            assert caught.value.filename == str(path)
            with pytest.raises(kind) as caught:
                compare_all(*LABELS, keep=path)
            assert caught.value.filename == str(path)
            with pytest.raises(kind) as caught:
                counts().save(path)
            assert caught.value.filename == str(path)


FULL = """
import resource, sys
import numpy as np
import fastcmp
from fastcmp.stream import PairCounts
labels = np.zeros(50, np.uint8), np.eye(60, 50, dtype=np.uint8)
counts = PairCounts().update(*labels)
fastcmp.compare_all(*labels)
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, resource.RLIM_INFINITY))
try:
    if sys.argv[1].endswith("counts"):
        counts.save(sys.argv[1])
    else:
        fastcmp.compare_all(*labels, keep=sys.argv[1])
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no RLIMIT_FSIZE")
@pytest.mark.parametrize("name", ["k.npy", "k.parquet", "k.counts"])
def test_no_room_for_the_file(tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    done = finished("-c", FULL, path)
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
