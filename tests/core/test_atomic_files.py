"""Files that are written beside their place, then moved: nothing else is touched."""

import os
import subprocess
import sys

import numpy as np
import pytest

from fastcmp import compare_all
from fastcmp.cli import main
from fastcmp.core.atomic_files import check_place, replacing
from fastcmp.pairwise.output_files import open_table
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_who_may_read_it_stays(tmp_path, capsys):
    old, new, link = tmp_path / "old.txt", tmp_path / "new.txt", tmp_path / "link"
    link.symlink_to(old)
    words = ["holdout", "--example", "digits", "--models", "mlp", "knn_3", "--output"]
    before = os.umask(0o027)
    try:
        assert main([*words, str(new)]) == 0
        assert new.stat().st_mode & 0o777 == 0o640
        for mode, place in ((0o600, old), (0o666, old), (0o604, link)):
            old.write_text("old")
            old.chmod(mode)
            with replacing(place) as file:
                (part,) = tmp_path.glob(".*")
                assert part.stat().st_mode & 0o777 == 0o600
                file.write(b"new")
            assert old.stat().st_mode & 0o777 == mode
            assert main([*words, str(place)]) == 0
            assert old.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/null")
def test_a_device_is_no_place(tmp_path):
    path = tmp_path / "x.npy"
    path.symlink_to("/dev/null")
    with pytest.raises(OSError, match="Not a regular file"):
        compare_all(*LABELS, keep=path)


@pytest.mark.parametrize("name", ["k.npy", "k.parquet"])
def test_a_neighbour_keeps_its_file(tmp_path, name):
    neighbour = tmp_path / f"{name}.part"
    neighbour.write_text("mine")
    compare_all(*LABELS, keep=tmp_path / name)
    assert neighbour.read_text() == "mine"


def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "k.npy"
    with open_table(path, ("a", "b"), 0), open_table(path, ("a", "b"), 0):
        assert len(list(tmp_path.iterdir())) == 2
    assert np.load(path).size == 0
    assert list(tmp_path.iterdir()) == [path]


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
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/null")
def test_a_stream_is_written_to_its_end(tmp_path, capfd):
    words = ["holdout", "--example", "digits", "--models", "mlp", "knn_3"]
    assert main([*words, "--output", "/dev/stdout"]) == 0
    assert "Which model is better?" in capfd.readouterr().out
    log = tmp_path / "log"
    log.write_text("before\n")
    command = f"{sys.executable} -m fastcmp {' '.join(words)} --output /dev/stdout"
    subprocess.run(f"{command} >> {log}", shell=True, check=True)
    assert log.read_text().startswith("before\nWhich model is better?")
    assert main([*words, "--output", "/dev/full"]) == 64
    assert capfd.readouterr().err == "fastcmp: /dev/full: No space left on device\n"
