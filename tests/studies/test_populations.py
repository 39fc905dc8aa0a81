"""Populations: their laws, their evaluation sets, and the files they are read from."""

import gzip
from math import sin

import numpy as np
import pytest
from libraries import stats
from studies.populations import NAMES, Bundled, Epsilon, Exp6, Letter, Mnist, Simple, load

from fastcmp.kernels import random_below


def made_up_letters(tmp_path, n=40):
    rng = np.random.default_rng(3)
    letters = rng.choice(list("ABZ"), n)
    numbers = rng.integers(0, 16, (n, 16))
    path = tmp_path / "letter-recognition.data"
    lines = [",".join([a, *map(str, row)]) for a, row in zip(letters, numbers, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path, letters, numbers


def made_up_images(tmp_path, n=30):
    rng = np.random.default_rng(4)
    images = rng.integers(0, 256, (n, 4, 3)).astype(np.uint8)
    labels = rng.integers(0, 10, n).astype(np.uint8)
    image_head = bytes([0, 0, 8, 3]) + np.array([n, 4, 3], ">u4").tobytes()
    label_head = bytes([0, 0, 8, 1]) + np.array([n], ">u4").tobytes()
    (tmp_path / "train-images-idx3-ubyte").write_bytes(image_head + images.tobytes())
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(label_head + labels.tobytes())
    return images, labels


# What all of them promise.


def everyone(tmp_path):
    letters, _, _ = made_up_letters(tmp_path)
    made_up_images(tmp_path)
    bundled = [Bundled(name) for name in ("digits", "breast-cancer", "wine", "iris")]
    others = [Letter(letters, 20), Mnist(tmp_path, 20)]
    return [Exp6(), Simple(0.5), *bundled, *others]


def test_samples_are_functions_of_seed_and_replicate(tmp_path):
    for population in everyone(tmp_path):
        X, y = population.sample(7, 3)
        assert X.dtype == np.float64
        assert y.dtype == np.int16
        assert X.shape == (population.n, population.evaluation()[0].shape[1])
        assert y.shape == (population.n,)
        population.sample(1, 1)
        again = population.sample(7, 3)
        np.testing.assert_array_equal(X, again[0])
        np.testing.assert_array_equal(y, again[1])
        for other in [(7, 4), (8, 3), (3, 7)]:
            assert not np.array_equal(X, population.sample(*other)[0])


# EXP6.


def rules(i, j):
    """All printed rules that hold at (i/10, j/10), counted from 1."""
    x, y = i / 10, j / 10
    over_1 = 10 * j - (i * i - 40 * i + 600) >= 0
    over_2 = y - (4 * sin(x / 2) + 8) >= 0
    over_3 = 25 * 10 * j + (i * i - 1080 * i + 23600) >= 0
    return [
        number
        for number, holds in enumerate(
            [
                *(over_1 and over_2, not over_1 and over_2 and over_3, over_1 and not over_2),
                *(not over_1 and not over_2 and over_3, over_2 and not over_3),
                not over_2 and not over_3,
            ],
            1,
        )
        if holds
    ]


def test_exp6_takes_the_first_rule_that_holds():
    X, y = Exp6().evaluation()
    assert len(y) == 151**2 == len(np.unique(X, axis=0))
    several = {}
    for (x1, x2), code in zip(X, y, strict=True):
        holding = rules(round(10 * x1), round(10 * x2))
        assert code + 1 == holding[0]
        several[tuple(holding)] = several.get(tuple(holding), 0) + 1
    # No gap; the printed rules overlap on 166 points.
    assert {k: n for k, n in several.items() if len(k) > 1} == {(3, 6): 162, (1, 5): 4}


def test_exp6_is_uniform():
    X = np.concatenate([Exp6(3000).sample(2, r)[0] for r in range(8)])
    for column in X.T:
        counts = np.bincount(np.round(10 * column).astype(int), minlength=151)
        assert stats.chisquare(counts).pvalue > 1e-4


# The simple population.


@pytest.mark.parametrize("delta", [0.0, 0.7, -1.0])
def test_simple_follows_its_law(delta):
    X, y = Simple(delta, 20_000).sample(5, 0)
    assert stats.binomtest(int(y.sum()), y.size).pvalue > 1e-4
    assert stats.kstest(X[y == 0, 0], stats.norm.cdf).pvalue > 1e-4
    assert stats.kstest(X[y == 1, 0] - delta, stats.norm.cdf).pvalue > 1e-4


@pytest.mark.parametrize("above", [0, 1])
@pytest.mark.parametrize("threshold", [-1.3, 0.0, 0.35, 40.0])
def test_simple_evaluation_is_exact(threshold, above):
    population = Simple(0.7)
    X, y = population.evaluation()
    predicted = np.where(X[:, 0] > threshold, above, 1 - above)
    exact = population.threshold_error(threshold, above=above)
    assert abs((predicted != y).mean() - exact) <= 1e-5
    wrong_0 = stats.norm.sf(threshold) if above else stats.norm.cdf(threshold)
    wrong_1 = (stats.norm.cdf if above else stats.norm.sf)(threshold, 0.7)
    assert exact == pytest.approx((wrong_0 + wrong_1) / 2, abs=1e-14)


# Letters.


def test_letters(tmp_path):
    path, letters, numbers = made_up_letters(tmp_path)
    X, y = Letter(path).evaluation()
    np.testing.assert_array_equal(X, numbers)
    assert "".join(chr(65 + k) for k in y) == "".join(letters)
    X, _ = Letter(str(path), 300).sample(1, 0)  # with replacement: more than there are
    assert X.shape == (300, 16)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A,1,2", "line 3: wanted 17 columns, got 3"),
        ("a" + ",1" * 16, "line 3: wanted a letter A to Z, got 'a'"),
        ("A" + ",1" * 15 + ",x", "line 3: wanted whole numbers, got 'A,1,"),
    ],
)
def test_letters_spoiled(tmp_path, line, message):
    good = "B" + ",3" * 16
    path = tmp_path / "spoiled"
    path.write_text(f"{good}\n\n{line}\n{good}\n")
    with pytest.raises(ValueError, match=message):
        Letter(path)


# Images.


def test_images_in_all_three_forms(tmp_path):
    images, labels = made_up_images(tmp_path)
    X, y = Mnist(tmp_path, 20).evaluation()
    np.testing.assert_array_equal(X, images.reshape(30, 12))
    np.testing.assert_array_equal(y, labels)
    sampled, _ = Mnist(tmp_path, 30).sample(1, 0)
    assert np.unique(sampled, axis=0).shape == np.unique(X, axis=0).shape

    zipped = tmp_path / "zipped"
    zipped.mkdir()
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        raw = (tmp_path / name).read_bytes()
        (zipped / f"{name}.gz").write_bytes(gzip.compress(raw))
    keras = tmp_path / "keras"
    keras.mkdir()
    np.savez(keras / "mnist.npz", x_train=images, y_train=labels, x_test=0, y_test=0)
    for path in (zipped, keras, keras / "mnist.npz"):
        again = Mnist(path, 20).evaluation()
        np.testing.assert_array_equal(again[0], X)
        np.testing.assert_array_equal(again[1], y)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("images-idx3", lambda b: b"\0\0\x08\x01" + b[4:], "must begin with 00000803"),
        ("images-idx3", lambda b: b[:-1], "must hold 360 bytes of data, got 359"),
        ("images-idx3", lambda b: b[:10], "ends within its first 16 bytes"),
        ("labels-idx1", lambda b: b[:-1] + b"\x0a", "labels must be digits, got 10"),
        (
            "labels-idx1",
            lambda b: b[:4] + np.array([29], ">u4").tobytes() + b[8:-1],
            "got 29 labels and 30 images",
        ),
    ],
)
def test_images_spoiled(tmp_path, name, change, message):
    made_up_images(tmp_path)
    path = tmp_path / f"train-{name}-ubyte"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        Mnist(tmp_path, 20)


def test_archives_spoiled(tmp_path):
    path = tmp_path / "mnist.npz"
    for spoil in (
        lambda: path.write_bytes(b"no archive"),
        lambda: path.write_bytes(b""),
        lambda: np.savez(path, x_train=np.zeros((3, 2, 2), np.uint8)),
        lambda: np.savez(path, x_train=np.zeros((3, 2, 2)), y_train=np.zeros(3, int)),
    ):
        spoil()
        with pytest.raises(ValueError, match="x_train and y_train of bytes"):
            Mnist(path, 2)


# Records of scikit-learn.


@pytest.mark.parametrize(
    ("name", "n", "n_all"),
    [("digits", 300, 1797), ("breast-cancer", 284, 569), ("wine", 89, 178), ("iris", 75, 150)],
)
def test_bundled(name, n, n_all):
    population = Bundled(name)
    assert population.n == n
    assert len(population.evaluation()[1]) == n_all
    with pytest.raises(ValueError, match=f"n must be at most {n_all - 1} without"):
        Bundled(name, n_all)
    X, _ = Bundled(name, n_all, replace=True).sample(1, 0)
    assert len(np.unique(X, axis=0)) < 0.7 * n_all


def test_bundled_without_replacement():
    # The digits hold no two equal images.
    assert len(np.unique(Bundled("digits").sample(1, 0)[0], axis=0)) == 300


# By name.


def test_load(tmp_path):
    letters, _, _ = made_up_letters(tmp_path)
    images = tmp_path / "images"
    images.mkdir()
    np.savez(
        images / "mnist.npz",
        x_train=np.zeros((10_001, 2, 2), np.uint8),
        y_train=np.zeros(10_001, np.uint8),
    )
    paths = {"letter": letters, "mnist": images}
    sizes = {"exp6": 300, "simple": 1000, "letter": 300, "mnist": 10_000}
    for name in NAMES:
        population = load(name, paths.get(name))
        assert population.name == name
        assert population.n == sizes.get(name, population.n)
        assert isinstance(population.title, str)


# Epsilon.


@pytest.mark.parametrize("n", [7, 300])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2 / 3])
def test_epsilon_by_hand(n, epsilon):
    a, b = Epsilon(n=n, epsilon=epsilon).losses(5, 2)
    for i in range(n):
        shares = [epsilon / 2, 1.5 * epsilon]
        if i >= n // 2:
            shares.reverse()
        for k, (wrong, share) in enumerate(zip((a, b), shares, strict=True)):
            draw = random_below(5, 2, 2**40 + 2 * i + k, 2**30)
            if abs(draw / 2**30 - share) > 1e-8:
                assert wrong[i] == (draw / 2**30 < share)


def test_epsilon_bad_input():
    with pytest.raises(TypeError, match="epsilon must be a number"):
        Epsilon(epsilon="0.1")
    with pytest.raises(ValueError, match="n must be a whole number >= 2, got 1"):
        Epsilon(n=1)
    with pytest.raises(ValueError, match="seed must be a whole number >= 0"):
        Epsilon().losses(-1, 0)
