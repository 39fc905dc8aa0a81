"""Sizes, and refusals before memory is gone."""

import numpy as np
import pytest

from fastcmp.core import threads
from fastcmp.core.threads import available_memory, check_memory, read_size


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        *((1, 1), (np.int64(4096), 4096), ("4096", 4096), ("4GB", 4 * 10**9)),
        *(("1.5 GiB", 3 * 2**29), ("500 mb", 5 * 10**8), (".5k", 500), ("2T", 2 * 10**12)),
        *(("1e9", 10**9), (4e9, 4 * 10**9), ("1.5E3 kB", 1_500_000)),
    ],
)
def test_sizes(size, wanted):
    assert read_size(size) == wanted


def test_machine_and_container(monkeypatch, tmp_path):
    monkeypatch.setattr(threads, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(threads, "_CONTAINER", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    assert available_memory() == 2_048_000
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert available_memory() == 2_048_000
    (tmp_path / "memory.max").write_text("5000\n")
    assert available_memory() == 4000
    (tmp_path / "memory.current").write_text("6000\n")
    assert available_memory() == 0
    (tmp_path / "meminfo").write_text("nonsense")
    assert available_memory() == 0


@pytest.mark.parametrize(
    ("names", "cached"),
    [
        (("memory.max", "memory.current"), "inactive_file"),
        (("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"), "total_inactive_file"),
    ],
    ids=["v2", "v1"],
)
def test_copies_of_files_in_a_container_are_no_use(monkeypatch, tmp_path, names, cached):
    monkeypatch.setattr(threads, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(threads, "_CONTAINER", tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "meminfo").write_text("MemAvailable:   2000 kB\n")
    for name, size in zip(names, (5000, 4000), strict=True):
        (tmp_path / name).write_text(f"{size}\n")
    assert available_memory() == 1000
    stat = (tmp_path / names[0]).with_name("memory.stat")
    stat.write_text(f"anon 900\n{cached} 3000\nslab 1\n")
    assert available_memory() == 4000
    stat.write_text("nonsense\n")
    assert available_memory() == 1000


def test_what_does_not_fit_is_refused(monkeypatch):
    with pytest.raises(
        ValueError,
        match=r"^this would take 2 kB of memory, "
        r"memory_limit is 1 kB: that$",
    ):
        check_memory(2000, 1000, "this", "that")
    monkeypatch.setattr(threads, "available_memory", lambda: 70_000_000)
    with pytest.raises(ValueError, match=r"70 MB are free: that$"):
        check_memory(70_000_001, None, "this", "that")
    monkeypatch.setattr(threads, "available_memory", lambda: None)
    check_memory(1e30, None, "this", "that")
