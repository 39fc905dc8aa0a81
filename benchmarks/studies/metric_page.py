"""Page, data and picture of the study of metrics: docs/studies/metrics.*."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
ONE = ("delta", "jackknife", "default", "bca")
PAIR = ("delta", "jackknife", "newcombe", "percentile", "bca")
TESTS = ("delta z", "pooled z", "permutation")
BOTH = ("exchangeable", "equal metric")
HEAD = """### Metrics: coverage of intervals, size of tests

How often 95% intervals contain the value, in per cent; in brackets how often there is
none, from 1% on: such runs are left out. How often tests at 5% reject where there is
nothing to find, in per cent.

Drawn are counts of n samples of K classes, the rarest with the proportion in the title.
Two models are compared that can be exchanged, or that err differently but have the same
value of the metric. The coverage of a difference is the smaller one of both, sizes are
exchangeable / same value.

| column | |
| --- | --- |
| one: delta | value +- 1.96 standard errors of the delta method |
| scale | jackknife, on the logit or Fisher's scale |
| rates | Wilson for F1, MOVER for balanced accuracy, others as before; the defaults of \
`metric` are in [another table](rare-classes.md) |
| BCa | bootstrap, {draws} draws |
| two: delta, jackknife | difference +- 1.96 standard errors |
| MOVER | Newcombe's limits by class, combined (`method="mover"`) |
| perc., BCa | bootstrap, {draws} draws |
| size: z | difference / standard error of the delta method |
| pooled | z by the influences at the counts of both models |
| perm. | permutation: exact for K = 2, {draws} random exchanges for K = 4 |

{runs} data sets of models that can be exchanged, {equal} of models with the same value:
a coverage of 95% has a standard error of {error:.1f} and {error_equal:.1f}.
"""


def read(path=None):
    """Read the data: wrong, none and runs by setting, and what was counted."""
    with (path or FOLDER / "metrics.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {tuple(row[:6]): tuple(map(int, row[6:])) for row in rows}


def coverage(found, key, models):
    """Give the least coverage where there is an interval, and how often none."""
    rates = []
    for each in models:
        wrong, none, runs = found[(*key[:2], each, *key[2:])]
        rates.append((100 * (1 - wrong / max(runs - none, 1)), 100 * none / runs))
    return min(rates)


def cell(found, key, models):
    """Write a coverage; nothing where the interval is not for this metric."""
    if (*key[:2], models[0], *key[2:]) not in found:
        return ""
    rate, none = coverage(found, key, models)
    return f"{rate:.0f} ({none:.0f})" if none >= 1 else f"{rate:.0f}"


def size(found, key, models):
    """Give how often a test rejects."""
    wrong, _, runs = found[(*key[:2], models, *key[2:])]
    return 100 * wrong / runs


def page(found):
    """Write the page."""
    settings = list(dict.fromkeys((key[0], key[1], key[3]) for key in found))
    runs = {key[2]: value[2] for key, value in found.items()}
    errors = [100 * (0.95 * 0.05 / runs[each]) ** 0.5 for each in BOTH]
    lines = [
        HEAD.format(
            draws=499,
            runs=f"{runs[BOTH[0]]:,}",
            equal=f"{runs[BOTH[1]]:,}",
            error=errors[0],
            error_equal=errors[1],
        )
    ]
    names = ("one: delta", "scale", "rates", "BCa")
    names += ("two: delta", "jackknife", "MOVER", "perc.", "BCa")
    names += ("size: z", "pooled", "perm.")
    for name in dict.fromkeys(setting[0] for setting in settings):
        lines += [f"**{name}**", ""]
        lines += [f"| metric | n | {' | '.join(names)} |", "|---" * 14 + "|"]
        own = [setting for setting in settings if setting[0] == name]
        for metric in dict.fromkeys(setting[2] for setting in own):
            for n in dict.fromkeys(setting[1] for setting in own):
                key = name, n, metric
                row = [metric, n]
                row += [cell(found, (*key, "one model", x), BOTH[:1]) for x in ONE]
                row += [cell(found, (*key, "difference", x), BOTH) for x in PAIR]
                row += [
                    "/".join(f"{size(found, (*key, 'test', x), y):.0f}" for y in BOTH)
                    for x in TESTS
                ]
                lines.append("| " + " | ".join(row) + " |")
        lines.append("")
    return "\n".join([*lines, "Made by `python -m benchmarks.studies.metrics`.", ""])


def draw(found, path):
    """Draw coverage of one model's intervals, and size of tests, of two populations."""
    from matplotlib import pyplot as plt

    from fastcmp.plot.style import COLOURS, GREY

    populations = "K = 2, 10%", "K = 4, 5%"
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 7.2), layout="constrained")
    for pair, name in zip(axes, populations, strict=True):
        rows = dict.fromkeys((key[3], key[1]) for key in found if key[0] == name)
        metrics = list(dict.fromkeys(metric for metric, _ in rows))
        rows = sorted(rows, key=lambda row: metrics.index(row[0]))
        places = range(len(rows))[::-1]
        for ax, level in zip(pair, (95, 5), strict=True):
            ax.axvline(level, color=GREY, linewidth=1, linestyle="--", zorder=1)
            labels = [f"{metric}, n = {n}" for metric, n in rows]
            ax.set_yticks(places, labels if ax is pair[0] else [], fontsize=8)
            ax.set_title(name, fontsize=9, loc="left")
        for colour, how in zip(COLOURS, ONE, strict=False):
            keys = [(name, n, metric, "one model", how) for metric, n in rows]
            rates = [coverage(found, key, BOTH[:1])[0] for key in keys]
            pair[0].plot(rates, places, "o", markersize=4, color=colour, label=how)
        for colour, how in zip(COLOURS, TESTS, strict=False):
            keys = [(name, n, metric, "test", how) for metric, n in rows]
            for models, fill in zip(BOTH, (colour, "none"), strict=True):
                rates = [size(found, key, models) for key in keys]
                label = how if models == BOTH[0] else None
                style = {"color": colour, "markerfacecolor": fill, "label": label}
                pair[1].plot(rates, places, "o", markersize=4, **style)
    axes[1, 0].set_xlabel("one model: intervals that contain the value, %")
    axes[1, 1].set_xlabel("two models: rejections at 5%, %\n(open: equal metric only)")
    for ax in axes[0]:
        ax.legend(fontsize=8)
    for ending in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=110)
    plt.close(figure)


def write(rows, columns, folder=FOLDER):
    """Write the data, the page and the picture."""
    with (folder / "metrics.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    found = read(folder / "metrics.csv")
    (folder / "metrics.md").write_text(page(found))
    draw(found, folder / "metrics")
