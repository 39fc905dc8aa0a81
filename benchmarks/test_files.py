"""From a Parquet file to the leaderboard, beside the time that reading alone takes."""

import os

import numpy as np
import pytest

import fastcmp

N = int(os.environ.get("FASTCMP_FILE_ROWS", "1000000"))
M = 100


@pytest.fixture(scope="module")
def path(tmp_path_factory, size, rng):
    """A file of 100 models, accuracies from 70 to 90 %, in row groups of a million."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n, step = size(N, 20_000), 10**6
    path = tmp_path_factory.mktemp("files") / "predictions.parquet"
    names = ["y_true", *(f"m{i}" for i in range(M))]
    schema = pa.schema([(name, pa.uint8()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, step):
            y_true = rng.integers(0, 10, min(step, n - start)).astype(np.uint8)
            columns = [y_true]
            for i in range(M):
                wrong = rng.random(y_true.size, dtype=np.float32) < 0.1 + 0.002 * i
                columns.append(np.where(wrong, (y_true + 1) % 10, y_true))
            writer.write_table(pa.table(columns, schema=schema))
    return path


def leaderboard(path):
    from fastcmp.io.counting import count_files
    from fastcmp.io.stream import PredictionStream
    from fastcmp.stream import PairCounts

    stream = PredictionStream([path])
    counts = count_files(stream, PairCounts(stream.names), memory_limit=10**9)
    return fastcmp.compare_all(counts=counts)


@pytest.mark.benchmark(group=f"Parquet file to leaderboard, {M} models, n = {N:.0e}")
class TestParquet:
    def test_ours(self, benchmark, path):
        from pyarrow import parquet

        leaderboard(path)
        result = benchmark.pedantic(leaderboard, (path,), rounds=3)
        benchmark.extra_info["target"] = 0.5
        table = parquet.read_table(path, columns=["y_true", "m0", "m99"])
        y_true, first, last = (column.to_numpy() for column in table.columns)
        pair = fastcmp.mcnemar(y_true, first, last)
        assert result.pvalue[M - 2] == pair.pvalue
        assert result.n_samples == y_true.size

    def test_pyarrow_reads_the_table(self, benchmark, path):
        from pyarrow import parquet

        table = benchmark.pedantic(parquet.read_table, (path,), rounds=3)
        assert table.num_columns == M + 1

    def test_pyarrow_reads_batches(self, benchmark, path):
        from pyarrow import parquet

        def read():
            batches = parquet.ParquetFile(path).iter_batches(65_536)
            return sum(batch.num_rows for batch in batches)

        n = benchmark.pedantic(read, rounds=3)
        assert n == parquet.ParquetFile(path).metadata.num_rows
