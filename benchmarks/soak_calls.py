"""Calls of random size for the soak test, each held against a serial oracle.

Every function takes a random generator and an empty folder, and returns how many
answers it has checked. What is wrong raises.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet
from same_bits import assert_same

import fastcmp
from fastcmp import stream
from fastcmp.cli import main
from fastcmp.pairwise.adjust import ADJUSTMENTS

Labels = tuple[Any, Any]


# What is drawn.


def labels(rng, most_models=24, most=1500, n_classes=None, fewest=2) -> Labels:
    """Draw true labels and those of models of different skill."""
    n_models, n = rng.integers(2, most_models), rng.integers(fewest, most)
    k = n_classes or rng.integers(2, 7)
    y_true = rng.integers(k, size=n)
    skill = rng.uniform(0.2, 0.95, (n_models, 1)).astype(np.float32)
    right = rng.random((n_models, n), np.float32) < skill
    preds = np.where(right, y_true, rng.integers(k, size=(n_models, n)))
    kind = rng.choice(["u1", "i2", ">i4", "i8"])
    return y_true.astype(kind), preds.astype(kind)


def many_labels(rng) -> Labels:
    """Draw enough for threads to start."""
    y_true = rng.integers(4, size=30_000, dtype=np.uint8)
    preds = np.empty((150, y_true.size), np.uint8)
    for row, share in zip(preds, np.linspace(0.1, 0.5, len(preds)), strict=True):
        row[:] = (y_true + (rng.random(y_true.size) < share)) % 4
    return y_true, preds


def scores(rng, most=400) -> Labels:
    """Draw labels of two classes and scores with ties."""
    n = rng.integers(8, most)
    y_true = rng.integers(2, size=n, dtype=np.uint8)
    y_true[:4] = 0, 1, 0, 1
    drawn = rng.normal(size=(rng.integers(2, 6), n)) + y_true
    drawn = np.round(drawn, rng.integers(0, 6))
    return y_true, drawn.astype(rng.choice(["f2", "f4", "f8"]))


def threads(rng) -> int:
    """Draw a number of workers."""
    return int(rng.integers(1, 5))


def some_pairs(rng, n_models, most=4):
    """Draw some pairs of models."""
    pairs = list(combinations(range(n_models), 2))
    return [pairs[i] for i in rng.permutation(len(pairs))[:most]]


def blocks(rng, n):
    """Cut samples into blocks, some of them empty."""
    cuts = np.sort(rng.integers(0, n + 1, rng.integers(0, 6)))
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


# Labels.


def compare_accuracies(rng, _) -> int:
    """All pairs by threads: by one thread, pair by pair, and adjusted by hand."""
    y_true, preds = many_labels(rng) if rng.random() < 0.15 else labels(rng)
    options = {
        "method": rng.choice(["midp", "exact", "asymptotic", "corrected"]),
        "adjust": rng.choice(ADJUSTMENTS),
        "alpha": rng.uniform(0.01, 0.2),
    }
    result = fastcmp.compare_all(y_true, preds, workers=threads(rng), **options)
    expect = fastcmp.compare_all(y_true, preds, workers=1, **options)
    assert_same(result, expect)
    assert result.decisions.tobytes() == expect.decisions.tobytes()
    matrix = result.matrix("pvalue")
    pairs = some_pairs(rng, len(preds))
    for a, b in pairs:
        one = fastcmp.mcnemar(y_true, preds[a], preds[b], method=options["method"])
        assert matrix[a, b] == one.pvalue
    method = options["adjust"]
    if len(result.pvalue) <= 40 and method != "none":
        by_hand = naive.adjust(
            result.pvalue.tolist(), method.upper() if method in {"bh", "by"} else method
        )
        close(result.pvalue_adjusted, np.array(by_hand, float))
    return 2 + len(pairs)


def keep_some(rng, folder) -> int:
    """Whatever is kept of the pairs, it is part of all."""
    y_true, preds = labels(rng, most_models=40)
    everything = fastcmp.compare_all(y_true, preds, workers=1)
    keep = ["significant", int(rng.integers(2, 9)), folder / "p.npy", folder / "p.parquet"]
    for kept in keep:
        some = fastcmp.compare_all(y_true, preds, keep=kept, workers=threads(rng))
        assert some.decisions.tobytes() == everything.decisions.tobytes()
        assert_same(some.groups, everything.groups)
        places = {pair: i for i, pair in enumerate(map(tuple, everything.pairs.tolist()))}
        where = [places[pair] for pair in map(tuple, some.pairs.tolist())]
        assert some.pvalue.tobytes() == everything.pvalue[where].tobytes()
        assert some.interval.tobytes() == everything.interval[where].tobytes()
    written = parquet.read_table(folder / "p.parquet")
    assert written["pvalue"].to_numpy().tobytes() == everything.pvalue.tobytes()
    return 4 * len(keep) + 1


def compare_costs(rng, _) -> int:
    """Expected costs of all pairs: by one thread, and pair by pair."""
    k = int(rng.integers(2, 5))
    y_true, preds = labels(rng, 6, 300, k)
    y_true[:2] = 0, 1
    cost = np.round(rng.uniform(0.5, 5, (k, k)), 1) * (1 - np.eye(k))
    method = rng.choice(["likelihood", "chi-square"])
    options = {"test": "cost", "cost": cost, "method": method, "classes": range(k)}
    result = fastcmp.compare_all(y_true, preds, workers=threads(rng), **options)
    assert_same(result, fastcmp.compare_all(y_true, preds, workers=1, **options))
    pairs = some_pairs(rng, len(preds))
    for a, b in pairs:
        one = fastcmp.cost_test(y_true, preds[a], preds[b], cost, method=method, classes=range(k))
        close(result.matrix("pvalue")[a, b], one.pvalue)
    return 1 + len(pairs)


def compare_agreement(rng, _) -> int:
    """Agreement of all pairs: by one thread, and the symmetry tests pair by pair."""
    y_true, preds = many_labels(rng) if rng.random() < 0.05 else labels(rng)
    preds = preds[:30]
    result = fastcmp.compare_predictions(y_true, preds, workers=threads(rng))
    assert_same(result, fastcmp.compare_predictions(y_true, preds, workers=1))
    i = rng.integers(len(result.pairs))
    a, b = preds[result.pairs[i]]
    close(result.bowker_pvalue[i], fastcmp.symmetry(a, b).pvalue)
    close(result.disagreement[i], np.mean(a != b))
    return 3


def cochran(rng, _) -> int:
    """Cochran's Q and Looney's F: by hand, and from counts."""
    y_true, preds = labels(rng, 8, 200)
    for method, oracle in (("asymptotic", naive.cochrans_q), ("f", naive.looneys_f)):
        result = fastcmp.cochrans_q(y_true, preds, method=method)
        counts = stream.PairCounts().update(y_true, preds)
        assert_same(fastcmp.cochrans_q(counts=counts, method=method), result)
        statistic, pvalue = oracle(preds == y_true)
        close(result.pvalue, float(pvalue))
        if method == "asymptotic":
            close(result.statistic, float(statistic))
    return 5


def mcnemar(rng, _) -> int:
    """McNemar's tests, from labels and from arrays of counts."""
    y_true, preds = labels(rng, 3, 200)
    table = naive.paired_table(y_true, preds[0], preds[-1])
    result = fastcmp.mcnemar(y_true, preds[0], preds[-1])
    a, b = int(table[0][1]), int(table[1][0])
    assert (result.only_a, result.only_b) == (a, b)
    close(result.pvalue, float(naive.mcnemar_midp(a, b)))
    only = rng.integers(0, 90, (2, 12))
    exact = fastcmp.mcnemar(only_a=only[0], only_b=only[1], method="exact").pvalue
    close(exact, [float(naive.mcnemar_exact(*map(int, pair))) for pair in only.T])
    return 14


def count_labels(rng, _) -> int:
    """Counts by true and predicted classes, and tests of symmetry."""
    k = int(rng.integers(2, 6))
    y_true, preds = labels(rng, 3, 600, k)
    a, b = preds[0], preds[-1]
    record = fastcmp.count_labels(y_true, a, b, classes=range(k), workers=threads(rng))
    table = naive.label_table(y_true, a, b, k)
    assert record.counts.tolist() == table.tolist()
    result = fastcmp.symmetry(table=record)
    close(result.pvalue, float(naive.bowker(table.sum(axis=0))[-1]))
    return 2


def adjust(rng, _) -> int:
    """Adjusted p-values with ties, by hand."""
    pvalues = np.round(rng.random(rng.integers(1, 40)) ** 3, rng.integers(2, 9))
    for method in set(ADJUSTMENTS) - {"none"}:
        name = method.upper() if method in {"bh", "by"} else method
        by_hand = np.array(naive.adjust(pvalues.tolist(), name), float)
        close(fastcmp.adjust(pvalues, method=method), by_hand)
    return len(ADJUSTMENTS) - 1


# Scores.


def areas(rng, _) -> int:
    """Areas and their covariance: every pair of samples looked at."""
    y_true, drawn = scores(rng, 40)
    auc, covariance = naive.delong_covariance(y_true, drawn)
    result = fastcmp.delong(y_true, drawn, workers=threads(rng))
    close(result.covariance, covariance.astype(float))
    found = fastcmp.auc(y_true, drawn, workers=threads(rng))
    close(list(found.values()) if isinstance(found, dict) else found, np.array(auc, float))
    return 2


def resample(rng, _) -> int:
    """Bootstrap of areas: the same for any number of threads."""
    y_true, drawn = scores(rng)
    options = {"n_resamples": 40, "rng": int(rng.integers(1000))}
    ours = fastcmp.auc_bootstrap(y_true, drawn, workers=threads(rng), **options)
    assert_same(ours, fastcmp.auc_bootstrap(y_true, drawn, workers=1, **options))
    return 1


# Streams.


def gather(rng, folder, kind, y_true, columns):
    """Count blocks in several accumulators; save some, and merge them in any order."""
    parts = [kind() for _ in range(rng.integers(1, 4))]
    for rows in blocks(rng, len(y_true)):
        part = parts[rng.integers(len(parts))]
        part.update(y_true[rows], columns[:, rows], workers=threads(rng))
    for i in range(len(parts)):
        if rng.random() < 0.5:
            parts[i].save(folder / "part.counts")
            assert stream.load(folder / "part.counts") == parts[i]
            parts[i] = stream.load(folder / "part.counts")
    order = rng.permutation(len(parts))
    whole = sum(parts[i] for i in order)
    assert whole == kind().update(y_true, columns, workers=1)
    return whole


def stream_pairs(rng, folder) -> int:
    """Blocks add up, and give what all samples at once give."""
    y_true, preds = labels(rng)
    counts = gather(rng, folder, lambda: stream.PairCounts(len(preds)), y_true, preds)
    result = fastcmp.compare_all(counts=counts, workers=threads(rng))
    assert_same(result, fastcmp.compare_all(y_true, preds, workers=1))
    return 2


def stream_classes(rng, folder) -> int:
    """Tables of classes add up."""
    k = int(rng.integers(2, 5))
    y_true, preds = labels(rng, 6, 300, k)
    options = {"names": len(preds), "classes": range(k)}
    counts = gather(rng, folder, lambda: stream.LabelCounts(**options), y_true, preds)
    table = naive.label_table(y_true, preds[0], preds[-1], k)
    found = counts.record(0, len(preds) - 1).counts
    assert found.tolist() == table.tolist()
    matrices = gather(rng, folder, lambda: stream.ConfusionCounts(**options), y_true, preds)
    assert matrices.matrix(0).tolist() == table.sum(axis=2).tolist()
    return 4


def stream_scores(rng, folder) -> int:
    """Bins add up, bound the area, and a second pass makes it exact."""
    y_true, drawn = scores(rng, 3000)
    bins = [stream.ScoreMap.fit(row[: rng.integers(2, row.size)]) for row in drawn]
    maps = {f"model_{i}": bins[i] for i in range(len(drawn))}
    counts = gather(rng, folder, lambda: stream.ScoreCounts(maps), y_true, drawn)
    exact = fastcmp.auc(y_true, drawn, workers=1)
    exact = list(exact.values()) if isinstance(exact, dict) else list(exact)
    bounds = counts.areas.values()
    assert all(b.low <= x <= b.high for b, x in zip(bounds, exact, strict=True))
    refined = counts.refine().update(y_true, drawn).areas
    assert [area.auc for area in refined.values()] == exact
    return 1 + 2 * len(exact)


# Files.


def write_table(table, path) -> None:
    """Write a table in the form that the extension tells."""
    match path.name.partition(".")[2]:
        case "parquet":
            parquet.write_table(table, path, row_group_size=97)
        case "arrow":
            feather.write_feather(table, str(path), compression="uncompressed")
        case "csv":
            csv.write_csv(table, path)
        case "csv.gz":
            with pa.output_stream(path, compression="gzip") as file:
                csv.write_csv(table, file)
        case "jsonl":
            rows = (json.dumps(row) for row in table.to_pylist())
            path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def draw_table(rng, fewest=2) -> Any:
    """Draw true and predicted labels as a table, words or numbers.

    Of few samples a class may be predicted that none of them has, which is warned of.
    """
    y_true, preds = labels(rng, 9, 800, fewest=fewest)
    if rng.random() < 0.4:
        words = np.array([f"class {i}" for i in range(7)])
        y_true, preds = words[y_true], words[preds]
    native = y_true.dtype.newbyteorder("=")
    columns = {"y_true": y_true} | {f"m{i}": row for i, row in enumerate(preds)}
    return pa.table({name: np.asarray(x, native) for name, x in columns.items()})


def answer_of(table) -> Any:
    """Compare the columns of a table in memory, by one thread."""
    preds = {name: table[name] for name in table.column_names if name != "y_true"}
    return fastcmp.compare_all(table["y_true"], preds, workers=1).to_dict()


def compare_file(rng, folder) -> int:
    """The command reads a file, or a folder of parts, in any form."""
    table = draw_table(rng)
    form = str(rng.choice(["parquet", "arrow", "csv", "csv.gz", "jsonl"]))
    path = folder / f"all.{form}"
    write_table(table, path)
    if form == "parquet" and rng.random() < 0.5:
        path = folder / "parts"
        path.mkdir()
        for i, rows in enumerate(blocks(rng, len(table))):
            write_table(table[rows], path / f"{i}.parquet")
    out = folder / "answer.json"
    words = [path, "--output", out, "--format", "json", "--workers", threads(rng)]
    if rng.random() < 0.5:
        words += ["--checkpoint", folder / "checkpoint"]
    code = main(["compare", *map(str, words)])
    try:
        expected = answer_of(table)
    except ValueError:  # few samples may look as if labels were counted from another number
        assert code == 64
        return 1
    assert code == 0
    assert json.loads(out.read_text()) == json.loads(json.dumps(expected))
    assert not Path(folder / "checkpoint").exists()
    return 2


CALLS = (
    compare_accuracies,
    keep_some,
    compare_costs,
    compare_agreement,
    cochran,
    mcnemar,
    count_labels,
    adjust,
    areas,
    resample,
    stream_pairs,
    stream_classes,
    stream_scores,
    compare_file,
)
