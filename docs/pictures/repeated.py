"""Pictures of what happens when an experiment is repeated: errors and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from draw import Axes, Picture

if TYPE_CHECKING:
    from facts import Found


def multiplicity(found: Found) -> Picture:
    """Draw how often at least one pair of equal models differs."""
    picture = Picture(
        720,
        360,
        "How often some pair of equally good models differs significantly",
        f"With 10 models and no adjustment in {found.alarms['none'][10]:.0%} of test"
        f" sets, with 20 models in {found.alarms['none'][20]:.0%}; with Holm's"
        " adjustment in fewer than 5%, whatever the number of models.",
    )
    axes = Axes(picture, (60, 50, 580, 300), (2, 20), (0, 1))
    percent = {each / 100: f"{each}%" for each in (0, 20, 40, 60, 80, 100)}
    axes.ticks(x={each: str(each) for each in (2, 5, 10, 15, 20)}, y=percent)
    axes.names(x="models, all equally good", y="test sets with at least one false decision")
    picture.line([axes.at(2, 0.05), axes.at(20, 0.05)], "muted", dash="4 4")
    for method, colour, name in (
        ("none", "bad", "no adjustment"),
        ("holm", "good", "Holm: below 5%"),
    ):
        rates = found.alarms[method]
        axes.curve(list(rates.items()), colour)
        for models in (10, 20):
            at = axes.at(models, rates[models])
            label = f"{rates[models]:.0%}"
            picture.dot(at, colour)
            picture.text((at[0], at[1] - 10), label, anchor="middle", kind="strong", colour=colour)
        picture.text((at[0] + 14, at[1] + 5), name, colour=colour)
    return picture


def coverage(found: Found) -> Picture:
    """Draw the intervals of 100 test sets."""
    low, high = found.ends[:, 0] * 100, found.ends[:, 1] * 100
    missed = int(((low > 3) | (high < 3)).sum())
    picture = Picture(
        720,
        330,
        "95% intervals from 100 test sets",
        f"The true difference is 3 percentage points. {missed} of 100 intervals do not"
        " contain it; they are drawn in another colour.",
    )
    axes = Axes(picture, (60, 50, 700, 270), (-1, 100), (-5, 12))
    axes.ticks(x={}, y={each: f"{each:+d}" if each else "0" for each in (-3, 0, 3, 6, 9)})
    axes.names(x="100 test sets of 500 samples", y="difference, percentage points")
    for i, (least, most) in enumerate(zip(low, high, strict=True)):
        colour = "a" if least <= 3 <= most else "bad"
        picture.line([axes.at(i, least), axes.at(i, most)], colour, width=2.5)
    picture.line([axes.at(-1, 3), axes.at(100, 3)], "ink", width=1.5)
    return picture


def looking_early(found: Found) -> Picture:
    """Draw how many runs have been called different by each look."""
    midp, evalue = found.looks
    picture = Picture(
        720,
        340,
        "False decisions by looking again and again",
        f"Two models are equally good. After 30 looks the mid-p test has found a"
        f" difference in {midp[-1]:.0%} of the runs, the e-value in {evalue[-1]:.1%}.",
    )
    axes = Axes(picture, (60, 50, 545, 280), (0, 3000), (0, 0.3))
    axes.ticks(
        x={each: f"{each:,}" for each in (100, 1000, 2000, 3000)},
        y={each / 100: f"{each}%" for each in (0, 5, 10, 20, 30)},
    )
    axes.names(x="samples so far; a look after every 100", y="runs with a false decision so far")
    for rates, colour, name in (
        (midp, "bad", f"mid-p ≤ 0.05: {midp[-1]:.0%}"),
        (evalue, "good", f"E ≥ 20: {evalue[-1]:.1%}"),
    ):
        axes.curve([(100 * (i + 1), rate) for i, rate in enumerate(rates)], colour)
        end = axes.at(3000, rates[-1])
        picture.dot(end, colour)
        picture.text((end[0] + 10, end[1] + 5), name, colour=colour, kind="strong")
    picture.line([axes.at(0, 0.05), axes.at(3000, 0.05)], "muted", dash="4 4")
    return picture


NAMES = {
    "resampled-t": "resampled t",
    "yildiz-t": "5 x 2 t (Yildiz)",
    "bayle-z": "K-fold Z (Bayle)",
    "kfold-t": "K-fold t",
    "dietterich-t": "5 x 2 t (Dietterich)",
    "bouckaert-frank-t": "corrected repeated K-fold t",
    "alpaydin-f": "5 x 2 F (Alpaydin)",
    "calibrated-f": "calibrated 5 x 2 blocked F",
    "nadeau-bengio-t": "corrected resampled t",
    "holdout-mcnemar": "McNemar, one hold-out",
    "bcv-mcnemar": "5 x 2 blocked McNemar",
}


def cross_validation(found: Found) -> Picture:
    """Draw the type I errors of tests on folds."""
    picture = Picture(
        720,
        380,
        "Type I errors of cross-validated tests at 5%",
        "; ".join(f"{name}: {found.type_i[key]:.1%}" for key, name in NAMES.items()) + ".",
    )
    axes = Axes(picture, (220, 40, 660, 330), (0, 0.35), (0, len(NAMES)))
    for value in (0, 0.05, 0.1, 0.2, 0.3):
        x, _ = axes.at(value, 0)
        picture.line(
            [(x, 40), (x, 330)],
            "muted" if value == 0.05 else "line",
            dash="4 4" if value == 0.05 else "",
        )
        picture.text((x, 350), f"{value:.0%}", anchor="middle", kind="muted small")
    for i, (key, name) in enumerate(NAMES.items()):
        rate = found.type_i[key]
        colour = "bad" if rate > 0.075 else "good"
        x, y = axes.at(rate, len(NAMES) - i - 0.5)
        picture.box((220, y - 8, x - 220, 16), colour, opacity=0.85)
        picture.text((210, y + 5), name, anchor="end")
        picture.text((x + 8, y + 5), f"{rate:.1%}", colour=colour, kind="strong")
    picture.text(
        (220, 24), "data sets without a difference in which the test finds one", kind="muted"
    )
    return picture
