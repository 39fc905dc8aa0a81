"""Results: what they hold, and what the rest of fastcmp makes of them."""

import numpy as np
import pytest
from cases import refuses
from toy_logs import part

import fastcmp


def two_tasks(**more):
    return [
        part("a", task="t", values=[1, 0, 1], **more),
        part("a", task="u", items="xy", values=[1, 0]),
        part("b", task="t", values=[1, 1, 1], **more),
        part("b", task="u", items="xy", values=[0, 0]),
    ]


def test_two_tasks(read):
    results = read(*two_tasks())
    assert results.task_names == ("t", "u")
    assert results.items.tolist() == ["0", "1", "2", "x", "y"]
    assert results.item_tasks.tolist() == [0, 0, 0, 1, 1]
    assert results.answers.tolist() == [[1, 0, 1, 1, 0], [1, 1, 1, 0, 0]]
    table = results.values()
    assert table.strata.tolist() == ["t", "t", "t", "u", "u"]
    assert table.n_answers is None
    scores = results.task_scores()
    assert scores.tasks == ("t", "u")
    assert scores.scores.tolist() == [[2 / 3, 0.5], [1, 0]]
    assert not scores.lower_is_better
    text = str(results)
    assert "2 models, 2 tasks, 5 items" in text
    assert "Tasks" in text


def test_right_or_wrong(read):
    results = read(*two_tasks())
    assert results.is_right_or_wrong
    truth, preds = results.labels()
    assert truth.tolist() == [1] * 5
    assert preds["b"].dtype == np.uint8
    assert preds["b"].tolist() == [1, 1, 1, 0, 0]
    compared = results.compare()
    assert type(compared).__name__ == "PairwiseResult"
    assert not compared.cautions
    equal = results.compare(stratum_weights="equal")
    assert equal.score.tolist() == pytest.approx([7 / 12, 0.5])
    assert compared.accuracy.tolist() == [0.6, 0.6]


def test_graded_values_are_compared_by_means(read):
    values = [0.5, 1, 0.25], [0, 1, 0.75]
    results = read(part("a", values=values[0]), part("b", values=values[1]))
    assert not results.is_right_or_wrong
    refuses(ValueError, "needs values of 0 and 1, and acc has others", results.labels)
    wanted = fastcmp.compare_means(dict(zip("ab", values, strict=True)))
    assert results.compare().pvalue == wanted.pvalue


def test_repeats_are_compared_by_means(read):
    a = part("a", [1, 1, 2, 2], [1, 0, 1, 1], repeats=[1, 2, 1, 2])
    b = part("b", [1, 1, 2, 2], [0, 0, 1, 0], repeats=[1, 2, 1, 2])
    results = read(a, b)
    assert results.is_right_or_wrong
    refuses(ValueError, "needs one answer an item", results.labels)
    assert results.compare().score.tolist() == [0.75, 0.25]
    assert results.task_scores().scores.tolist() == [[0.75], [0.25]]


def test_tasks_that_are_items(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("dataset,model,value\nSTS/en,a,0.5\nClass,a,0.8\nSTS/de,a,0.7\n")
    scores = fastcmp.read_results(path).task_scores()
    assert scores.tasks == ("STS/en", "Class", "STS/de")
    path.write_text(
        "dataset,cluster,model,value\nSTS/en,STS,a,0.5\nClass,Class,a,0.8\nSTS/de,STS,a,0.7\n"
    )
    scores = fastcmp.read_results(path).task_scores()
    assert scores.tasks == ("STS", "Class")
    assert scores.scores[0].tolist() == pytest.approx([0.6, 0.8])


def test_select(read):
    results = read(*two_tasks())
    part_of = results.select(task="u", models=["b"])
    assert part_of.names == ("b",)
    assert part_of.items.tolist() == ["x", "y"]
    assert part_of.answers.tolist() == [[0, 0]]
    assert part_of.columns()["source"][0].endswith("3.log")
    assert results.select(models=["b", "a"]).answers[0].tolist() == [1, 1, 1, 0, 0]
    assert results.select() == results
    for wrong in ({"task": "v"}, {"subset": "s"}, {"models": "c"}, {"models": []}):
        refuses(ValueError, next(iter(wrong)), results.select, **wrong)


def test_select_is_reading_less(read):
    more = {"status": [0, 1, 2], "attempts": [3, 1, 1], "clusters": ["p", "q", "q"]}
    files = two_tasks(**more)
    whole = read(*files, errors="wrong").select(task="t")
    alone = read(files[0], files[2], errors="wrong")
    assert whole.answers.tolist() == alone.answers.tolist()
    assert whole.n_errors.tolist() == alone.n_errors.tolist() == [1, 1]
    assert whole.columns()["attempts"] == alone.columns()["attempts"]
    assert whole.values().groups.tolist() == alone.values().groups.tolist()
