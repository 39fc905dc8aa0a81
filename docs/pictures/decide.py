"""Pictures of decisions: which test, and what an interval says about a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from draw import Picture

if TYPE_CHECKING:
    from facts import Found

#: What there is of each model, what is asked, and which function answers.
TREE = {
    "predicted labels": {
        "two models: which is more accurate?": "mcnemar",
        "many models: who differs, in which order?": "compare_all",
        "F1, MCC, kappa, your own metric?": "compare_metric",
        "mistakes that cost differently?": "cost_test",
        "do they predict the classes alike?": "symmetry",
    },
    "a value for each item": {
        "two models: which has the better mean?": "mean_difference",
        "many models?": "compare_means",
        "which may be the best, at which ranks?": "best_set",
    },
    "scores of two classes": {
        "which ranks better?": "delong",
        "where to cut?": "optimal_cutpoint",
        "which cases first?": "lift_table",
    },
    "logs of a harness": {"any of these": "read_results"},
    "one score a data set": {"which is better on data like these?": "compare_datasets"},
    "wins and battles": {"how strong is each?": "datasets.bradley_terry_from_battles"},
    "classifiers to fit": {"two: which learns better?": "compare_cv", "many?": "compare_cv_all"},
    "scores of folds": {"which learns better?": "compare_folds"},
    "different test sets": {"which is better?": "compare_unpaired"},
    "samples that keep coming": {"may I stop now?": "sequential.mcnemar"},
    "nothing yet": {"how many samples does it take?": "planning.sample_size"},
}


def which_test(found: Found) -> Picture:  # noqa: ARG001
    """Draw the tree from what there is, over what is asked, to the function."""
    leaves = sum(map(len, TREE.values()))
    step, gap, top = 30, 10, 62
    height = top + leaves * step + (len(TREE) - 1) * gap + 8
    said = "; ".join(
        f"{have}: " + ", ".join(f"{ask} {call}" for ask, call in each.items())
        for have, each in TREE.items()
    )
    picture = Picture(900, height, "Which function answers your question", said + ".")
    picture.text((0, 28), "you have, of each model", kind="strong")
    picture.text((250, 28), "you ask", kind="strong")
    picture.text((595, 28), "call", kind="strong")
    picture.line([(0, 42), (900, 42)], "line")
    y = top
    for have, each in TREE.items():
        middle = y + (len(each) * step) / 2 - 2
        picture.box((0, middle - 15, 205, 30), "card", radius=6, border="line")
        picture.text((12, middle + 5), have)
        for ask, call in each.items():
            row = y + step / 2 - 2
            picture.line([(205, middle), (224, middle), (224, row), (240, row)], "muted")
            picture.text((250, row + 5), ask)
            picture.line([(565, row), (585, row)], "line")
            picture.text((595, row + 5), call, kind="mono", colour="a")
            y += step
        y += gap
    return picture


#: Ends of 95% and 90% intervals, in percentage points, with a margin of one.
CLAIMS = (
    ("better", (0.3, 2.3), (0.5, 2.1)),
    ("worse", (-2.7, -0.5), (-2.5, -0.7)),
    ("equivalent", (-0.75, 0.95), (-0.6, 0.8)),
    ("not worse", (-0.8, 1.9), (-0.6, 1.7)),
    ("cannot tell", (-2.0, 1.6), (-1.7, 1.3)),
)


def margins(found: Found) -> Picture:  # noqa: ARG001
    """Draw the five decisions as intervals beside 0 and the margin."""
    picture = Picture(
        720,
        320,
        "Five decisions with a margin of one percentage point",
        "Better: the 95% interval lies above 0. Worse: below 0. Equivalent: the 90%"
        " interval lies within the margin on both sides. Not worse: it lies above minus"
        " the margin. Cannot tell: none of these.",
    )

    def across(value: float) -> float:
        return 400 + 95 * value

    picture.box((across(-1), 40, across(1) - across(-1), 220), "good", opacity=0.12)
    for value in (-1, 0, 1):
        picture.line(
            [(across(value), 40), (across(value), 260)],
            "muted" if value else "ink",
            dash="" if value == 0 else "4 4",
        )
    for value, label in ((-1, "\N{MINUS SIGN}1: the margin"), (0, "0"), (1, "+1")):
        picture.text((across(value), 28), label, anchor="middle", kind="muted small")
    colours = {"better": "good", "worse": "bad", "cannot tell": "muted"}
    for i, (name, outer, inner) in enumerate(CLAIMS):
        y, colour = 65 + 42 * i, colours.get(name, "a")
        picture.text((20, y + 5), name, kind="strong", colour=colour)
        picture.line([(across(outer[0]), y), (across(outer[1]), y)], colour, width=2)
        picture.line([(across(inner[0]), y), (across(inner[1]), y)], colour, width=7)
    picture.text(
        (400, 284),
        "accuracy of the new model minus that of the old, percentage points",
        anchor="middle",
        kind="muted",
    )
    picture.text(
        (400, 306),
        "thin: 95% interval, for better and worse; thick: 90%, for the claims with a margin",
        anchor="middle",
        kind="muted small",
    )
    return picture
