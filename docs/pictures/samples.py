"""Pictures of samples: pairs, clusters, and the sizes of tests with few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from draw import Axes, Picture
from facts import DISCORDANT

if TYPE_CHECKING:
    from facts import Found


def pairing(found: Found) -> Picture:
    """Draw how many samples it takes, by how often just one model is right."""
    first, last = DISCORDANT[0], DISCORDANT[-1]
    picture = Picture(
        720,
        350,
        "Samples needed to find that 92% is better than 90%",
        f"On the same samples from {found.needed[first]:,}, if just one model is right"
        f" on 3% of them, to {found.needed[last]:,}, if the models err independently."
        f" On different samples {found.unpaired:,} for each model.",
    )
    axes = Axes(picture, (70, 50, 560, 290), (0.02, 0.17), (0, 3500))
    axes.ticks(
        x={each: f"{each:.0%}" for each in (0.03, 0.06, 0.09, 0.12, 0.15)},
        y={each: f"{each:,}" for each in (0, 1000, 2000, 3000)},
    )
    axes.names(
        x="samples on which just one of the two models is right", y="samples for a power of 80%"
    )
    axes.curve(list(found.needed.items()), "a")
    for each in (first, last):
        picture.dot(axes.at(each, found.needed[each]), "a")
    at = axes.at(first, found.needed[first])
    label = f"{found.needed[first]:,}"
    picture.text((at[0] + 12, at[1] + 18), label, colour="a", kind="strong")
    middle = axes.at(0.075, found.needed[0.07])
    picture.text((middle[0] + 14, middle[1] + 14), "the same samples", colour="a")
    picture.line(
        [axes.at(0.02, found.unpaired), axes.at(0.17, found.unpaired)], "b", width=2.5, dash="7 5"
    )
    end = axes.at(0.17, found.unpaired)
    picture.text((end[0] + 8, end[1] - 2), f"{found.unpaired:,}", colour="b", kind="strong")
    picture.text((end[0] + 8, end[1] + 16), "different samples,", colour="b")
    picture.text((end[0] + 8, end[1] + 34), "for each model", colour="b")
    return picture


def clusters(found: Found) -> Picture:
    """Draw how often equal models differ, by the items of a cluster."""
    plain, robust = zip(*found.clusters.values(), strict=True)
    picture = Picture(
        720,
        340,
        "False decisions when items come in clusters",
        f"20 clusters, two equally good models, level 5%. With 50 items a cluster"
        f" the test that ignores clusters rejects in {plain[-1]:.0%} of the runs, the"
        f" one that knows them in {robust[-1]:.1%}.",
    )
    axes = Axes(picture, (60, 50, 560, 280), (1, 50), (0, 0.5), log=True)
    axes.ticks(
        x={each: str(each) for each in found.clusters},
        y={each / 100: f"{each}%" for each in (0, 5, 10, 20, 30, 40, 50)},
    )
    axes.names(x="items in each of 20 clusters", y="runs with a false decision")
    picture.line([axes.at(1, 0.05), axes.at(50, 0.05)], "muted", dash="4 4")
    for rates, colour, name in (
        (plain, "bad", f"ignored: {plain[-1]:.0%}"),
        (robust, "good", f"groups=: {robust[-1]:.1%}"),
    ):
        axes.curve(list(zip(found.clusters, rates, strict=True)), colour)
        end = axes.at(50, rates[-1])
        picture.dot(end, colour)
        picture.text((end[0] + 10, end[1] + 5), name, colour=colour, kind="strong")
    return picture


def sizes(found: Found) -> Picture:
    """Draw the sizes of McNemar's tests."""
    least, most = min(found.sizes), max(found.sizes)
    exact, midp = found.sizes[200][:2]
    picture = Picture(
        720,
        340,
        "How often McNemar's tests reject equal models at 5%",
        "Two equally good models; on 10% of the samples just one is right. With 200"
        f" samples the mid-p test rejects in {midp:.1%} of the test sets, the exact"
        f" test in {exact:.1%}.",
    )
    axes = Axes(picture, (60, 50, 600, 280), (least, most), (0, 0.06), log=True)
    axes.ticks(
        x={each: f"{each:,}" for each in (20, 50, 100, 200, 500, 1000)},
        y={each / 100: f"{each}%" for each in (0, 2, 4, 5, 6)},
    )
    axes.names(x="samples, 10% of them discordant", y="probability of a false decision")
    picture.line([axes.at(least, 0.05), axes.at(most, 0.05)], "muted", dash="4 4")
    for which, colour, name in ((1, "a", "mid-p"), (0, "b", "exact")):
        points = [(float(n), float(each[which])) for n, each in found.sizes.items()]
        axes.curve(points, colour)
        end = axes.at(*points[-1])
        picture.text((end[0] + 10, end[1] + 5), name, colour=colour, kind="strong")
    return picture
