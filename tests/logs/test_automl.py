"""The AutoML benchmark, results and predictions, and TabArena."""

import json

import numpy as np
import pytest
from cases import refuses
from log_parts import parts_in, refusal, rows_of

# Results.


def results(tmp_path, text, **options):
    path = tmp_path / "results.csv"
    path.write_text(text)
    return parts_in("amlb_results", path, **options)


def test_older_files_hold_the_loss_itself(tmp_path):
    text = "task,framework,fold,result,info,acc,logloss\np,a,0,0.5,,0.9,0.5\n"
    (part,) = results(tmp_path, text)
    assert (part.metric, part.lower_is_better) == ("logloss", True)
    results_path = tmp_path / "results.csv"
    results_path.write_text(text + "p,a,1,,died,,\n")
    assert "(error: died)" in refusal(results_path)


def test_a_metric_that_is_named_may_be_turned_or_not(tmp_path):
    head = "task,framework,fold,result,metric\n"
    (part,) = results(tmp_path, head + "p,a,0,0.5,logloss\n")
    assert part.lower_is_better
    (part,) = results(tmp_path, head + "p,a,0,-0.5,logloss\n")
    assert not part.lower_is_better
    for text, match in (
        ("p,a,0,0.5,logloss\np,a,1,-0.5,logloss\n", "above 0 in some rows"),
        ("p,a,0,0.5,neg_logloss\n", "must not be"),
    ):
        refuses(ValueError, match, results, tmp_path, head + text)


def test_old_and_new_files_together(tmp_path):
    (tmp_path / "old.csv").write_text("task,framework,fold,result,logloss\np,a,0,3,3\n")
    (tmp_path / "new.csv").write_text("task,framework,fold,result,metric\np,b,0,-2,neg_logloss\n")
    parts = parts_in("amlb_results", tmp_path)
    assert {part.metric for part in parts} == {"neg_logloss"}
    assert [(row["model"], row["value"]) for row in rows_of(parts)] == [*(("a", -3.0), ("b", -2.0))]


MIXED = (
    "task,framework,fold,result,metric,acc,rmse\n"
    "p,a,0,0.9,auc,0.8,\nq,a,0,2.5,rmse,,2.5\np,b,0,0.7,auc,0.6,\nq,b,0,,,,\n"
)


def test_each_task_has_a_metric_of_its_own(tmp_path):
    parts = results(tmp_path, MIXED)
    assert {part.metric for part in parts} == {"result"}
    assert parts[0].values.tolist() == [0.9, -2.5]
    assert not parts[0].lower_is_better
    assert "metrics of their own (auc, rmse)" in parts[0].said
    assert parts[1].status == [0, 1]
    assert {part.metric for part in results(tmp_path, MIXED, metric="auc")} == {"auc"}
    parts = results(tmp_path, MIXED, metric="acc")
    assert [part.metric for part in parts] == ["acc", "acc"]
    np.testing.assert_array_equal(parts[0].values, [0.8, np.nan])


def test_a_metric_that_cannot_be_told(tmp_path):
    text = "task,framework,fold,result,acc\np,a,0,0.5,0.9\n"
    refuses(ValueError, "cannot be told whether less or more", results, tmp_path, text)


def test_twice_and_several_constraints(tmp_path):
    head = "task,framework,fold,result,metric,constraint\n"
    with pytest.raises(ValueError, match="a has item p, repeat 0 twice"):
        results(tmp_path, head + "p,a,0,0.5,auc,1h\np,a,0,0.6,auc,1h\n")
    parts = results(tmp_path, head + "p,a,0,0.5,auc,1h\np,a,0,0.6,auc,4h\n")
    assert [part.model for part in parts] == ["a (1h)", "a (4h)"]


# Predictions.


def predictions(folder, fold, text):
    path = folder / "predictions" / "pets" / str(fold) / "predictions.csv"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_folds_are_joined_and_metadata_name_the_model(tmp_path):
    run = tmp_path / "h2o.b.1h.local.20260102T030405"
    predictions(run, 10, "0,1,predictions,truth\n0.5,0.5,1,1.0\n")
    path = predictions(run, 2, "0,1,predictions,truth\n0.5,0.5,,1\n1,0,0,1\n")
    (part,) = parts_in("amlb_predictions", tmp_path)
    assert part.model == "h2o"
    assert part.items == ["2:0", "2:1", "10:0"]
    np.testing.assert_array_equal(part.values, [np.nan, 0, 1])
    assert "no prediction" in refusal(tmp_path)
    known = {"framework": "H2OAutoML", "name": "pets", "fold": 2}
    for each in (path, path.parents[1] / "10" / "predictions.csv"):
        fold = known | {"fold": int(each.parent.name)}
        each.with_name("metadata.json").write_text(json.dumps(fold))
    (part,) = parts_in("amlb_predictions", tmp_path)
    assert part.model == "H2OAutoML"


def test_predictions_that_are_refused(tmp_path):
    path = predictions(tmp_path, 0, "predictions,truth\n1.5,1.25\n")
    refuses(ValueError, "regression task", parts_in, "amlb_predictions", path)
    path.write_text("a,b,predictions,truth\n1,0,a,\n")
    refuses(ValueError, "column 'truth' is empty", parts_in, "amlb_predictions", path)
    moved = path.rename(tmp_path / "predictions.csv")
    refuses(ValueError, "is no number", parts_in, "amlb_predictions", moved)


# TabArena.


def test_data_sets_with_other_metrics(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "method,dataset,fold,metric,metric_error,imputed\n"
        "a,p,0,rmse,2,False\na,q,0,roc_auc,0.1,False\n"
    )
    (part,) = parts_in("tabarena", path)
    assert part.metric == "metric_error"
    assert "means say nothing" in part.said
    assert [part.metric for part in parts_in("tabarena", path, metric="rmse")] == ["rmse"]
