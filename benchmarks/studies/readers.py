"""Files of records that others publish: read whole, or refused with the reason."""

from __future__ import annotations

import gzip
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int16]
Bytes = NDArray[np.uint8]

_LETTER_COLUMNS = 17
_IMAGES, _LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def read_letter(path: str | PathLike[str]) -> tuple[Floats, Codes]:
    """Read UCI's letter-recognition.data: lines of a letter and 16 whole numbers."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(
            f"letter needs a copy of letter-recognition.data, got no file {file}"
        )
    rows, codes = [], []
    lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        letter, *values = line.strip().split(",")
        if not (len(letter) == 1 and "A" <= letter <= "Z"):
            raise ValueError(f"{file}, line {number}: wanted a letter A to Z, got {letter!r}")
        if len(values) + 1 != _LETTER_COLUMNS:
            raise ValueError(
                f"{file}, line {number}: wanted {_LETTER_COLUMNS} columns, got {len(values) + 1}"
            )
        try:
            rows.append([int(value) for value in values])
        except ValueError:
            raise ValueError(f"{file}, line {number}: wanted whole numbers, got {line!r}") from None
        codes.append(ord(letter) - ord("A"))
    if not rows:
        raise ValueError(f"{file} must hold records, got an empty file")
    return np.array(rows, np.float64), np.array(codes, np.int16)


def read_mnist(path: str | PathLike[str]) -> tuple[Bytes, Codes]:
    """Read the training set of MNIST.

    From a folder of idx files, perhaps with .gz, from Keras' mnist.npz, or its folder.
    """
    place = Path(path)
    if place.is_dir():
        if (place / "mnist.npz").is_file():
            return _read_npz(place / "mnist.npz")
        images, images_file = _read_idx(place, _IMAGES, 3)
        labels, _ = _read_idx(place, _LABELS, 1)
        return _fitting(images, labels, images_file)
    if place.is_file():
        return _read_npz(place)
    raise FileNotFoundError(f"mnist needs a folder of idx files or mnist.npz, got no {place}")


def _read_npz(file: Path) -> tuple[Bytes, Codes]:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            images, labels = arrays["x_train"], arrays["y_train"]
    except (KeyError, ValueError, EOFError, AttributeError, zipfile.BadZipFile):
        # A lone array (.npy) has no names: AttributeError or TypeError by version.
        images = labels = np.empty(0)
    except TypeError:
        images = labels = np.empty(0)
    if images.ndim < 2 or images.dtype != np.uint8 or labels.dtype.kind not in "iu":
        raise ValueError(f"{file} must be an .npz file with x_train and y_train of bytes")
    return _fitting(images, labels, file)


def _read_idx(folder: Path, name: str, n_dimensions: int) -> tuple[Bytes, Path]:
    """Read one file: two zeros, 8 for bytes, the dimensions, their sizes, the data."""
    for file in (folder / name, folder / f"{name}.gz"):
        if file.is_file():
            break
    else:
        raise FileNotFoundError(f"mnist needs {name} or {name}.gz in {folder}, got neither")
    raw = file.read_bytes()
    if file.suffix == ".gz":
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError):
            raise ValueError(f"{file} must be gzipped, and whole") from None
    wanted = bytes([0, 0, 8, n_dimensions])
    if raw[:4] != wanted:
        raise ValueError(f"{file} must begin with {wanted.hex()}, got {raw[:4].hex()!r}")
    head = 4 + 4 * n_dimensions
    if len(raw) < head:
        raise ValueError(f"{file} ends within its first {head} bytes")
    shape = [int(size) for size in np.frombuffer(raw, ">u4", n_dimensions, 4)]
    size = int(np.prod(shape))
    if len(raw) != head + size:
        raise ValueError(f"{file} must hold {size} bytes of data, got {len(raw) - head}")
    return np.frombuffer(raw, np.uint8, offset=head).reshape(shape), file


def _fitting(images: Bytes, labels: NDArray[np.integer], file: Path) -> tuple[Bytes, Codes]:
    if labels.ndim != 1 or len(images) != len(labels) or not labels.size:
        message = f"{file}: wanted a label an image, got {len(labels)} labels and "
        message += f"{len(images)} images"
        raise ValueError(message)
    if labels.min() < 0 or labels.max() > 9:
        raise ValueError(f"{file}: labels must be digits, got {labels.max()}")
    return images.reshape(len(images), -1), labels.astype(np.int16)
