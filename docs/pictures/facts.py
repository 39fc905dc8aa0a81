"""The numbers that pages of concepts quote, and pictures show."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import simulate

import fastcmp
from fastcmp.kernels import ndtri

ALPHA, RUNS = 0.05, 4_000
MODELS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
ITEMS = 1_000
SAMPLES = (20, 30, 40, 50, 70, 100, 140, 200, 300, 400, 500, 700, 1_000)
PER_CLUSTER = (1, 2, 5, 10, 20, 50)
STUDY = Path(__file__).parents[1] / "studies" / "table5-simple.csv"
#: Two models to plan for, and how often just one of them is right.
ACCURACIES = 0.92, 0.90
DISCORDANT = (0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15, 0.164)


@dataclass(frozen=True)
class Found:
    """All numbers."""

    #: How often at least one pair of equal models differs: adjustment, models.
    alarms: dict[str, dict[int, float]]
    #: Of five better and five worse models: any false, true, proportion of false.
    mixed: dict[str, tuple[float, float, float]]
    #: How far the best of ten equal models seems above its accuracy.
    excess: float
    #: 95% intervals of a difference of 3 points, (100, 2); coverage of four methods.
    ends: Any
    coverage: dict[int, tuple[float, ...]]
    #: Proportion of runs decided by look 1 to 30, by mid-p and by e-value.
    looks: Any
    #: How often mid-p and CR2 reject, by items of a cluster.
    clusters: dict[int, tuple[float, float]]
    #: How often four tests reject, by samples, a tenth of them discordant.
    sizes: dict[int, Any]
    #: Samples needed, by the proportion on which just one is right; and of two sets.
    needed: dict[float, int]
    unpaired: int
    type_i: dict[str, float]
    digits: Any
    pair: Any

    def phrases(self) -> dict[str, list[str]]:
        """Give what each page has to say."""
        mixed = [
            f"| `{name}` | {any_false:.0%} | {true:.1f} of 25 | {false:.1%} |"
            for name, (any_false, true, false) in self.mixed.items()
        ]
        covered = [
            f"| {n} | " + " | ".join(f"{each:.1%}" for each in rates) + " |"
            for n, rates in self.coverage.items()
        ]
        missed = int(((self.ends[:, 0] > 0.03) | (self.ends[:, 1] < 0.03)).sum())
        clustered = [
            f"| {size} | {plain:.1%} | {cr2:.1%} |" for size, (plain, cr2) in self.clusters.items()
        ]
        sized = [
            f"| {n:,} | " + " | ".join(f"{each:.1%}" for each in self.sizes[n]) + " |"
            for n in (20, 50, 200, 1000)
        ]
        midp, evalue = self.looks[:, -1]
        none = self.alarms["none"]
        low, high = self.pair.confidence_interval()
        return {
            "multiplicity.md": [
                f"in {none[10]:.0%} of such test sets",
                f"With twenty models it is {none[20]:.0%}",
                f"Holm's adjustment keeps it at {self.alarms['holm'][10]:.1%}",
                *mixed,
            ],
            "intervals.md": [
                f"{missed} of the 100 intervals miss",
                *covered,
                f"[{low * 100:+.2f}, {high * 100:+.2f}]",
            ],
            "ties-and-ranks.md": [f"{self.excess * 100:.2f} percentage points too high"],
            "pairing-and-clusters.md": [
                f"{self.needed[0.03]:,} samples",
                f"{self.needed[0.164]:,} samples",
                f"{self.unpaired:,} samples for each model",
                *clustered,
            ],
            "cross-validation.md": [
                f"{self.type_i['resampled-t']:.0%} of the data sets",
                f"{self.type_i['nadeau-bengio-t']:.1%}",
                f"{self.type_i['bcv-mcnemar']:.1%}",
            ],
            "looking-early.md": [
                f"(in {self.looks[0, 0]:.1%} at the first)",
                f"in {midp:.0%} of the runs",
                f"in {evalue:.1%}",
            ],
            "p-values.md": sized,
        }


def found() -> Found:
    """Compute everything."""
    y_true, preds = fastcmp.load_digits()
    rng = np.random.default_rng
    looked = simulate.looks(rng(3), RUNS, 3_000, 30, 0.2)
    ends = simulate.intervals(7, 100, 500, 0.08, 0.05, 0.95)[:, 0]
    better, worse = ACCURACIES
    spread = better * (1 - better) + worse * (1 - worse)
    reach = ndtri(1 - ALPHA / 2) + ndtri(0.8)
    equal, excess = _equal_models()
    return Found(
        alarms=equal,
        mixed=_five_and_five(),
        excess=excess,
        ends=ends,
        coverage={n: _coverage(n) for n in (50, 100, 500)},
        looks=looked,
        clusters={size: tuple(simulate.clusters(rng(4), RUNS, 20, size)) for size in PER_CLUSTER},
        sizes={n: simulate.sizes(n, 0.1) for n in SAMPLES},
        needed={each: _needed(each) for each in DISCORDANT},
        unpaired=int(np.ceil(reach**2 * spread / (better - worse) ** 2)),
        type_i=_type_i_errors(),
        digits=fastcmp.compare_all(y_true, preds),
        pair=fastcmp.mcnemar(y_true, preds["svm_rbf"], preds["gradient_boosting"]),
    )


def _equal_models() -> tuple[dict[str, dict[int, float]], float]:
    """Compare up to twenty models whose accuracy is 0.9."""
    accuracies = np.full(MODELS[-1], 0.9)
    rng = np.random.default_rng(1)
    pvalues, correct = simulate.leaderboards(rng, accuracies, RUNS, ITEMS)
    second = np.triu_indices(accuracies.size, 1)[1]
    rates: dict[str, dict[int, float]] = {"none": {}, "holm": {}, "bh": {}}
    for n_models in MODELS:
        some = pvalues[:, second < n_models]
        for method, by_models in rates.items():
            least = [fastcmp.adjust(row, method=method).min() for row in some]
            by_models[n_models] = float(np.mean(np.array(least) <= ALPHA))
    excess = float(correct[:, :10].max(axis=1).mean() / ITEMS - 0.9)
    return rates, excess


def _five_and_five() -> dict[str, tuple[float, float, float]]:
    """Compare five models whose accuracy is 0.91 with five of 0.89, and one another."""
    accuracies = np.repeat([0.91, 0.89], 5)
    rng = np.random.default_rng(2)
    pvalues, _ = simulate.leaderboards(rng, accuracies, RUNS, ITEMS)
    first, second = np.triu_indices(10, 1)
    equal = accuracies[first] == accuracies[second]
    rates = {}
    for method in ("none", "holm", "hommel", "bh"):
        adjusted = [fastcmp.adjust(row, method=method) for row in pvalues]
        decided = np.array(adjusted) <= ALPHA
        false, true = decided[:, equal].sum(axis=1), decided[:, ~equal].sum(axis=1)
        proportion = false / np.maximum(false + true, 1)
        rates[method] = (float((false > 0).mean()), float(true.mean()), float(proportion.mean()))
    return rates


def _coverage(n: int) -> tuple[float, ...]:
    ends = simulate.intervals(1, 20_000, n, 0.08, 0.05, 0.95)
    holds = (ends[:, :, 0] <= 0.03) & (ends[:, :, 1] >= 0.03)
    return tuple(float(each) for each in holds.mean(axis=0))


def _needed(discordant: float) -> int:
    difference = ACCURACIES[0] - ACCURACIES[1]
    plan = fastcmp.planning.sample_size(difference=difference, discordant=discordant)
    return int(plan.n)


def _type_i_errors() -> dict[str, float]:
    with STUDY.open(encoding="utf-8") as file:
        return {row["test"]: float(row["type_i_error"]) for row in csv.DictReader(file)}
