"""Pictures of the bundled leaderboard: intervals, ranks and ties of ten models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from draw import Axes, Picture

if TYPE_CHECKING:
    from facts import Found


def leaderboard(found: Found) -> Picture:
    """Draw the leaderboard of ten models: accuracies, intervals, ranks and ties."""
    result = found.digits
    board, letters = result.leaderboard, result.groups.letters
    picture = Picture(
        800,
        376,
        "Leaderboard of ten classifiers on 899 digits",
        "; ".join(
            f"{name}: {100 * score:.2f}%, rank {low} to {high}"
            for name, score, (low, high) in zip(
                board.names, board.score, board.rank_interval, strict=True
            )
        )
        + ".",
    )
    axes = Axes(picture, (160, 36, 520, 346), (79, 100), (0, 10))
    for value in (80, 85, 90, 95, 100):
        x, _ = axes.at(value, 0)
        picture.line([(x, 36), (x, 346)], "line")
        picture.text((x, 366), f"{value}%", anchor="middle", kind="muted small")
    for x, title in ((340, "accuracy, 95% CI"), (690, "ranks")):
        picture.text((x, 20), title, anchor="middle", kind="muted")
    picture.text((740, 20), "ties", kind="muted")
    best = set(result.best)
    for i, model in enumerate(board.models):
        name, height = board.names[i], 9.5 - i
        colour = "a" if name in best else "muted"
        y = axes.at(80, height)[1] + 5
        low, high = (100 * float(end) for end in board.interval[i])
        first, last = board.rank_interval[i]
        picture.text((150, y), name, anchor="end", kind="strong" if name in best else "")
        picture.line([axes.at(low, height), axes.at(high, height)], colour, width=3)
        picture.dot(axes.at(100 * float(board.score[i]), height), colour, 5)
        picture.text((540, y), f"{100 * board.score[i]:.2f}%")
        picture.text((690, y), f"{first}\u2013{last}", anchor="middle")
        picture.text((740, y), letters[model], kind="strong", colour="b")
    return picture


def overlap(found: Found) -> Picture:
    """Draw two intervals that overlap, and that of their difference."""
    board, pair = found.digits.leaderboard, found.pair
    names = list(board.names)
    picture = Picture(
        720,
        250,
        "Intervals of two models overlap, and yet they differ",
        "The intervals of the accuracies of svm_rbf and gradient_boosting overlap;"
        " that of their difference lies above 0.",
    )
    axes = Axes(picture, (170, 30, 660, 100), (95.4, 99.6), (0, 2))
    for value in (96, 97, 98, 99):
        x, _ = axes.at(value, 0)
        picture.line([(x, 30), (x, 100)], "line")
        picture.text((x, 118), f"{value}%", anchor="middle", kind="muted small")
    for name, height, colour in (("svm_rbf", 1.5, "a"), ("gradient_boosting", 0.5, "b")):
        row = names.index(name)
        low, high = (float(end) * 100 for end in board.interval[row])
        picture.text((160, axes.at(96, height)[1] + 5), name, anchor="end")
        picture.line([axes.at(low, height), axes.at(high, height)], colour, width=3)
        picture.dot(axes.at(float(board.score[row]) * 100, height), colour, 5)
    axes = Axes(picture, (170, 155, 660, 200), (-1, 4), (0, 1))
    for value in (0, 1, 2, 3):
        x, _ = axes.at(value, 0)
        picture.line([(x, 155), (x, 200)], "line" if value else "ink")
        picture.text((x, 218), f"{value:+d}" if value else "0", anchor="middle", kind="muted small")
    low, high = (100 * each for each in pair.confidence_interval())
    picture.text((160, axes.at(0, 0.5)[1] + 5), "difference", anchor="end")
    picture.line([axes.at(low, 0.5), axes.at(high, 0.5)], "good", width=3)
    picture.dot(axes.at(100 * pair.difference, 0.5), "good", 5)
    picture.text(
        (415, 240),
        "percentage points, svm_rbf minus gradient_boosting",
        anchor="middle",
        kind="muted small",
    )
    return picture


def ranks(found: Found) -> Picture:
    """Draw the rank intervals and the letters of ties of ten models."""
    board, groups = found.digits.leaderboard, found.digits.tie_groups
    picture = Picture(
        720,
        380,
        "Ranks that ten models may have, and their ties",
        "; ".join(
            f"{name}: rank {low} to {high}"
            for name, (low, high) in zip(board.names, board.rank_interval, strict=True)
        )
        + ".",
    )
    axes = Axes(picture, (180, 60, 540, 360), (0.5, 10.5), (0, 10))
    for rank in range(1, 11):
        x, _ = axes.at(rank, 0)
        picture.line([(x, 60), (x, 360)], "line")
        picture.text((x, 48), str(rank), anchor="middle", kind="muted small")
    picture.text(
        (360, 24), "rank, 95% intervals for all models at once", anchor="middle", kind="muted"
    )
    picture.text((630, 24), "ties", anchor="middle", kind="muted")
    order = list(board.names)
    for i, (low, high) in enumerate(board.rank_interval):
        height = 9.5 - i
        picture.text((170, axes.at(1, height)[1] + 5), order[i], anchor="end")
        picture.line([axes.at(low, height), axes.at(high, height)], "a", width=3)
        picture.dot(axes.at(i + 1, height), "a", 5)
    for column, group in enumerate(groups):
        rows = [order.index(name) for name in group]
        x = 585 + 30 * column
        top, bottom = (axes.at(1, 9.5 - row)[1] for row in (min(rows), max(rows)))
        picture.line([(x, top - 8), (x, bottom + 8)], "b", width=6)
        picture.text((x, 48), "abcdefghij"[column], anchor="middle", colour="b", kind="strong")
    return picture
