"""Reports of many models: the time to write one, and its size, beside JSON and pandas.

`to_json` writes all numbers of all pairs; `to_html` of pandas only a table of them. A
report has both, and what draws them.
"""

import json

import numpy as np
import pytest

import fastcmp


@pytest.fixture(scope="module")
def result(size):
    """A comparison of 1,000 models on 10,000 samples, accuracies from 75 to 85 %."""
    rng = np.random.default_rng(20261122)
    m, n = size((1000, 10_000), (30, 500))
    y_true = rng.integers(0, 10, n).astype(np.uint8)
    wrong = rng.random((m, n), dtype=np.float32) < rng.uniform(0.15, 0.25, (m, 1))
    return fastcmp.compare_all(y_true, np.where(wrong, (y_true + 1) % 10, y_true))


@pytest.mark.benchmark(group="report of 1,000 models, 499,500 pairs")
class TestReport:
    def test_report(self, benchmark, result, tmp_path):
        path = tmp_path / "report.html"
        result.report(path)
        benchmark.pedantic(result.report, (path,), rounds=3)
        benchmark.extra_info["megabytes"] = path.stat().st_size / 1e6
        benchmark.extra_info["target_note"] = "at most 5 MB"
        assert path.stat().st_size <= 5_000_000

    def test_json(self, benchmark, result, tmp_path):
        path = tmp_path / "result.json"

        def write():
            path.write_text(json.dumps(result.to_dict()))

        benchmark.pedantic(write, rounds=2)
        benchmark.extra_info["megabytes"] = path.stat().st_size / 1e6
        assert fastcmp.from_dict(json.loads(path.read_text())) == result

    def test_numpy(self, benchmark, result, tmp_path):
        path = tmp_path / "result.npz"
        names = ("pairs", "difference", "interval", "statistic", "pvalue")
        arrays = {name: getattr(result, name) for name in (*names, "pvalue_adjusted")}

        benchmark.pedantic(np.savez_compressed, (path,), arrays, rounds=3)
        benchmark.extra_info["megabytes"] = path.stat().st_size / 1e6
        assert np.array_equal(np.load(path)["pvalue"], result.pvalue)

    def test_pandas_html(self, benchmark, result, tmp_path):
        pytest.importorskip("pandas")
        path = tmp_path / "table.html"
        frame = result.to_frame().head(50_000)  # a tenth of the pairs

        benchmark.pedantic(frame.to_html, (path,), rounds=1)
        benchmark.extra_info["megabytes"] = path.stat().st_size / 1e6
        assert path.stat().st_size > 0
