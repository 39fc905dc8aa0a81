"""Run the benchmarks and write the pages of ``docs/benchmarks``.

    python benchmarks/run.py            # all
    python benchmarks/run.py scale      # many models, streams, files and clusters
    python benchmarks/run.py values     # values per item
    python benchmarks/run.py metrics    # metrics of counts
    python benchmarks/run.py deciding   # planning, margins, looking early, the best
    python benchmarks/run.py tasks      # logs of harnesses, many data sets
    python benchmarks/run.py peers      # calls beside other libraries: pip install '.[peers]'

Every line is a ratio: our time beside a rival's on the same work, in the same run.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["FASTCMP_COMPILE"] = "always"  # before the clock

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs" / "benchmarks"
#: What `docs/benchmarks/scale.md` is about; all others are for `index.md`.
SCALE = tuple(
    HERE / f"test_{name}.py"
    for name in ("scale", "slices", "stream", "score_counts", "files", "dask")
)

#: What `docs/benchmarks/values.md` is about.
VALUES = (HERE / "test_items.py", HERE / "test_sums.py")
#: What `docs/benchmarks/metrics.md` is about.
METRICS = (HERE / "test_metrics.py",)
#: What `docs/benchmarks/deciding.md` is about.
DECIDING = tuple(
    HERE / f"test_{name}.py"
    for name in ("planning", "margins", "sequential", "simultaneous", "best")
)
#: What `docs/benchmarks/tasks.md` is about.
TASKS = tuple(HERE / f"test_{name}.py" for name in ("logs", "datasets", "task_draws", "battles"))

#: What `docs/benchmarks/peers.md` is about.
PEERS = (HERE / "test_peers.py",)

PAGES = ("scale", "values", "metrics", "deciding", "tasks", "peers")

INTRODUCTION = """# {title}

Written by `python benchmarks/run.py`; do not edit. Each row is one piece of work, timed in the same
run as a rival, after compilation, with the answers compared: the fastest of some rounds.

{machine}

| work | fastcmp | rival | time | ratio | wanted |
| --- | ---: | --- | ---: | ---: | ---: |
"""

LIMITS = """
## What bounds them

- **All pairs**: {rates}. A register tile of 4 x 2 models does one AND, one vector
  popcount and one ADD for each 512 bits. Where all three share two 512-bit ports
  (Intel, Ice Lake and later) that is 5.3 words a cycle: the same loop in C with
  intrinsics reaches 15.4 G words/s a core on the machine that chose the form, so the
  kernel stands at the limit. The 20 G words/s that we aim for need a processor that
  issues a popcount beside two other vector operations in each cycle.
- **Packing** and **one pair**: one pass over the labels, at the rate of the
  second-level cache or of memory.
- **Tri-label counts**: {bandwidth} of labels. The cells of 1,024 samples are computed
  with vectors, a quarter of the time; then each sample is a load, an addition and a
  store, and the processor completes about one store a cycle. `np.bincount` alone starts
  from 64-bit indices that somebody has made before.
- **Likelihood ratio**: about four evaluations with a division for each difference, a
  logarithm or a short series for each, and one `erfc`: 0.25 us a table, and as much
  again to check the counts and to add up the losses.
- **Mid-p values**: a square root, two logarithms and three exponentials a value, or a
  sum of at most some sixty terms.
- **First answer**: [first calls](first-calls.md) of every public function and command.
"""

SCALE_LIMITS = """
## What bounds them

- **Ten thousand models**: counting is half of it, 25 G words/s on two cores. A quarter
  is p-values that are not 0, a sixth their sorting, which waits for memory; the rest is
  a byte for each two models. The matrix product beside it only counts, and is timed on
  a fifth of the models.
- **Tables by bit slices**: (K - 1)^2 popcounts for 64 samples of two models instead of
  64 increments. For few classes sorting the labels by true class takes longest. Handing
  a task to a second thread costs some 50 us here, so that of two threads one does what
  takes less than 15 ms; the calls beside it use both.
- **Streams**: `PairCounts.update` is packing and counting, as in memory. `ScoreCounts`
  is bound by increments in the second-level cache, two loads and a store a score.
- **Files**: pyarrow's decoding of the columns, two thirds of the time.
- **Dask**: counting on each worker; what comes back is 42 KB a block.
"""

VALUES_LIMITS = """
## What bounds them

- **All pairs, t**: one matrix product of all values, three quarters of the time; the
  rest is a look at each value, a p-value for each pair (0.15 us) and Holm's adjustment.
- **Clusters**: values are added up by cluster in one pass, and the product is one of
  the sums.
- **Strata**: values are sorted by stratum in blocks, which costs a copy, and each pair
  has degrees of freedom of its own: a product for each stratum.
- **Two means**: one pass with eleven sums, bound by additions.
- **Sign flips**: eight signs cost one table look-up and one addition; no product.
- **Bootstrap**: draws are counts of items, and one product gives the means of all
  models on a draw.
"""


METRICS_LIMITS = """
## What bounds them

- **One model**: the counting, at a store a sample; what follows takes some tens of
  microseconds, for any number of samples.
- **Bootstrap**: seven binomial numbers a draw, each in constant time, and two metrics
  of a table with four cells; draws of differences and of log ratios.
- **Random exchanges**: two binomial numbers a draw.
- **Exact test**: for each number of exchanges in one class a bisection in the other.
- **All pairs**: each prediction becomes a number of its class and its true class, and
  one product in single precision gives all variances.
- **Many classes**: sorting the samples by their three labels.
"""

DECIDING_LIMITS = """
## What bounds them

- **Power by enumeration**: one incomplete beta function for each number of discordant
  samples in a window of mass 1 - 1e-13, some 10 sqrt(n p (1 - p)) of them.
- **Tango's tests**: two roots and two normal tails a pair; an interval some ten more.
- **E-values of all pairs**: three logarithms of gamma functions a pair, looked up by
  counts; counting the block takes longer.
- **max-T**: the sums of all models with the signs of a draw (popcounts), and then the
  largest of all pairs in each draw, in order.
- **Rank sets, best sets**: normal draws with the models' covariance, one product, and
  the largest standardized difference in each draw.
"""

TASKS_LIMITS = """
## What bounds them

- **Logs**: Python's objects of the wanted keys, which msgspec makes in one thread, and
  their codes. The rest of a line is looked through only.
- **All pairs of Wilcoxon's tests**: one sort of the differences of each pair, in blocks
  that stay in the cache.
- **Bayesian signed ranks**: the exponential numbers of each draw; after one sort two
  pointers go through the tasks once.
- **Bootstrap of tasks**: one product, weights of tasks by ranks, and their order
  in each draw.
- **Bradley and Terry**: a Cholesky factor of models by models, in each step of Newton's
  method where there are few models or Davidson's ties, and the covariance of all models.
"""

PEERS_LIMITS = """
## What bounds them

- **Small calls** are Python: reading and checking of arguments and the record, some 10 to 100
  microseconds. Ours have intervals, effects and cautions beside the p-value of the peer.
- **All pairs of means**: one matrix product, and a p-value for each pair.
- **Strengths** alone take a quarter of the time (3.7 of 14 ms of 500 models, in one thread):
  the rest is the covariance of all models (3.2 ms), and standard errors, p-values and Holm's
  adjustment of all pairs (6 ms of 124,750), which the peers do not have.
- **Files**: of three keys in 60,000 lines msgspec makes Python's objects in 8 ms, in one thread,
  and some 20 ms more go into coding and joining them. Polars and DuckDB parse in two threads,
  without Python's lock, and make no objects; polars reads two columns of four.

Answers are compared in all rows: to 1e-9, but of Nemenyi's and the Bayesian test (1e-6), of
strengths (1e-3 and 1e-4, as far as the peers go), and beside honestboard, which draws tasks where
ours are normal draws: the same best models, and the winner's estimate and interval by the hybrid
method to 0.002. It has no sets of ranks: the critical value of all pairs from which they follow,
in one step, agrees to 3 %. Its ranks of drawn tasks (`rank_summary`) say something else, as does
its default correction of the winner's score, an iterated bootstrap that takes a second.
"""


def measure(files: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Run pytest-benchmark and group its results by work."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "benchmarks.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
        command += map(str, files)
        command += ["--benchmark-only", "--benchmark-enable"]
        command += [f"--benchmark-json={path}"]
        subprocess.run(command, check=True, cwd=HERE.parent)
        results = json.loads(path.read_text())["benchmarks"]
    groups = defaultdict(list)
    for result in results:
        groups[result["group"]].append(result)
    return groups


def name_of(result: dict[str, Any]) -> str:
    """Turn ``test_numpy_two_sums`` into words, unless it has a name of its own."""
    if "name" in result["extra_info"]:
        return str(result["extra_info"]["name"])
    return str(result["name"].partition("[")[0].removeprefix("test_").replace("_", " "))


def seconds(result: dict[str, Any]) -> float:
    """Give the fastest round, scaled up where only a part was run."""
    return float(result["stats"]["min"]) * result["extra_info"].get("times", 1)


def in_words(time: float) -> str:
    """Write a time with a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if time * factor >= 1 or unit == "us":
            return f"{time * factor:.3g} {unit}"
    return ""


def rows(group: str, results: list[dict[str, Any]]) -> str:
    """Write a line of the table for each rival."""
    ours, *rivals = results
    extra = ours["extra_info"]
    target = f"{extra['target']} x" if "target" in extra else extra.get("target_note", "")
    lines = []
    for rival in rivals or [None]:
        cells = [group, in_words(seconds(ours)), "", "", "", target]
        if rival is not None:
            cells[2] = name_of(rival)
            if "times" in rival["extra_info"]:
                cells[2] += f" (one part x {rival['extra_info']['times']:.0f})"
            cells[3] = in_words(seconds(rival))
            cells[4] = f"{seconds(rival) / seconds(ours):.3g} x"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> str:
    """Say what the page was measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    packages = ", ".join(f"{p} {version(p)}" for p in ("numba", "numpy", "scipy"))
    return f"Machine: {model}, {os.cpu_count()} processors; {packages}."


def rates_of(groups: dict[str, list[dict[str, Any]]]) -> tuple[str, str]:
    """Tell the rates of counting pairs, and of counting labels."""
    rates, counted = [], []
    for group, (ours, *_) in groups.items():
        extra, time = ours["extra_info"], seconds(ours)
        if "words" in extra:
            where = group.rsplit(", ", 1)[1]
            rates.append(f"{extra['words'] / time / 1e9:.1f} G words/s on {where}")
        if "samples" in extra:
            where = group.split(", ")[1]
            counted.append(f"{3 * extra['samples'] / time / 1e9:.1f} GB/s at {where}")
    return ", ".join(rates), ", ".join(counted)


def write(page: str, title: str, files: list[Path], limits: str) -> None:
    """Measure some files and write their page."""
    groups = measure(files)
    rates, bandwidth = rates_of(groups)
    text = INTRODUCTION.format(title=title, machine=machine())
    text += "\n".join(rows(group, results) for group, results in groups.items()) + "\n"
    text += limits.format(rates=rates, bandwidth=bandwidth)
    (DOCS / page).write_text(text, encoding="utf-8")
    print(text)


def main() -> None:
    """Measure and write the pages that were asked for."""
    asked = set(sys.argv[1:]) or {*PAGES, "rest"}
    if "rest" in asked:
        apart = {*SCALE, *VALUES, *METRICS, *DECIDING, *TASKS, *PEERS}
        others = sorted(set(HERE.glob("test_*.py")) - apart)
        write("index.md", "Benchmarks", others, LIMITS)
    if "scale" in asked:
        write("scale.md", "Benchmarks of scale", list(SCALE), SCALE_LIMITS)
    if "values" in asked:
        title = "Benchmarks of values per item"
        write("values.md", title, list(VALUES), VALUES_LIMITS)
    if "metrics" in asked:
        title = "Benchmarks of metrics of counts"
        write("metrics.md", title, list(METRICS), METRICS_LIMITS)
    if "deciding" in asked:
        title = "Benchmarks of planning and deciding"
        write("deciding.md", title, list(DECIDING), DECIDING_LIMITS)
    if "tasks" in asked:
        title = "Benchmarks of logs and many data sets"
        write("tasks.md", title, list(TASKS), TASKS_LIMITS)
    if "peers" in asked:
        title = "Benchmarks beside other libraries"
        write("peers.md", title, list(PEERS), PEERS_LIMITS)


if __name__ == "__main__":
    main()
