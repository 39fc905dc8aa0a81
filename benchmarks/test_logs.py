"""From logs of lm_eval to the leaderboard, beside the time that parsing alone takes."""

import json
import os

import numpy as np
import pytest

import fastcmp

M = int(os.environ.get("FASTCMP_LOG_MODELS", "100"))
N = int(os.environ.get("FASTCMP_LOG_ITEMS", "100000"))
STAMP = "2026-01-02T03-04-05.000001"
TASK = "sums"


def line_parts(i):
    """Write a line of samples, about 570 bytes, up to its answer, and from it on."""
    text = f"What is {i} + {i}? Give the sum in decimal digits, and nothing else."
    hashes = {f"{name}_hash": f"{i:064x}" for name in ("doc", "prompt", "target")}
    line = {"doc_id": i, "doc": {"question": text, "answer": str(2 * i)}}
    line |= {"target": str(2 * i)}
    line |= {"arguments": {"gen_args_0": {"arg_0": f"Q: {text}\nA:"}}}
    line |= {"resps": [["@"]], "filtered_resps": ["@"], "filter": "none"}
    line |= {"metrics": ["exact_match"], **hashes, "exact_match": "@"}
    first, second, third, _ = json.dumps(line).split("@")
    return first, second, third.removesuffix('"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory, size, rng):
    """Logs of M models, accuracies from 60 to 80 %."""
    m, n = size(M, 6), size(N, 500)
    root = tmp_path_factory.mktemp("logs")
    lines = [line_parts(i) for i in range(n)]
    for k in range(m):
        home = root / f"org__model{k}"
        home.mkdir()
        right = rng.random(n) < 0.6 + 0.2 * k / m
        with (home / f"samples_{TASK}_{STAMP}.jsonl").open("w") as file:
            for (a, b, c), correct in zip(lines, right.tolist(), strict=True):
                file.write(f"{a}{correct}{b}{correct}{c}{float(correct)}}}\n")
        results = {
            "results": {TASK: {"exact_match,none": float(right.mean())}},
            "configs": {TASK: {"metric_list": []}},
            "n-shot": {TASK: 0},
            "higher_is_better": {TASK: {"exact_match": True}},
            "n-samples": {TASK: {"original": n, "effective": n}},
            "model_name": f"org/model{k}",
        }
        (home / f"results_{STAMP}.json").write_text(json.dumps(results, indent=1))
    return root, m, n


def leaderboard(root):
    return fastcmp.read_results(root).compare()


@pytest.mark.benchmark(group=f"lm_eval logs to leaderboard, {M} models x {N:.0e} items")
class TestLogs:
    def test_ours(self, benchmark, folder):
        root, m, n = folder
        leaderboard(root)
        board = benchmark.pedantic(leaderboard, (root,), rounds=2)
        benchmark.extra_info["target_note"] = "at most 1.5 x the time to parse"
        assert board.n_samples == n
        assert board.pvalue.size == m * (m - 1) // 2
        path = next(root.glob(f"*/samples_{TASK}_*"))
        right = [json.loads(line)["exact_match"] for line in path.read_text().splitlines()]
        model = board.names.index(path.parent.name.replace("__", "/"))
        np.testing.assert_allclose(board.accuracy[model], np.mean(right), atol=1e-12)

    def test_reading_alone(self, benchmark, folder):
        root, m, n = folder
        results = benchmark.pedantic(fastcmp.read_results, (root,), rounds=2)
        assert len(results.names) == m
        assert len(results.items) == n

    def test_pyarrow_parses_the_files(self, benchmark, folder):
        pytest.importorskip("pyarrow")
        from pyarrow import json as arrow_json

        def parse(root):
            return sum(
                arrow_json.read_json(path).num_rows for path in root.glob("*/samples_*.jsonl")
            )

        root, m, n = folder
        assert benchmark.pedantic(parse, (root,), rounds=2) == m * n
