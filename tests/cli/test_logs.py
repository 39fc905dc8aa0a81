"""`fastcmp compare` and `inspect` for logs, battles, and tables of tasks."""

import json
import shutil

import numpy as np
import pytest
from commands import run
from libraries import pd

import fastcmp
from fastcmp.data import example_path, load_demsar, logs_path

EXAMPLE = ["compare", "--example", "logs"]


def refused(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (64, "")
    lines = err.splitlines()
    assert all(line.startswith("fastcmp") for line in lines)
    return lines[-1]


@pytest.fixture(scope="module")
def results():
    return fastcmp.read_results(logs_path())


@pytest.fixture(scope="module")
def table():
    tasks, areas = load_demsar()
    return pd.DataFrame(areas, index=pd.Index(tasks, name="dataset"))


def test_inspect_says_what_is_there(capsys):
    code, out, err = run(capsys, "inspect", "--example", "logs")
    assert (code, err) == (0, "")
    assert out == f"{fastcmp.inspect_results(logs_path()).summary()}\n"
    assert "16 files, 4 models, 3 tasks, 1 metric" in out
    found, _ = remarked(capsys, "inspect", logs_path(), "--task", "wine")
    assert found["record"] == "LogContents"


def test_all_items_together_by_default(capsys, results):
    found, said = remarked(capsys, *EXAMPLE, "--metric", "acc")
    wanted = fastcmp.compare_all(*results.labels(), classes=(0, 1))
    assert fastcmp.from_dict(found) == wanted
    assert said[0] == ("fastcmp: recognised logs of LM Evaluation Harness (lm_eval, 12 files)")
    assert said[1].startswith("fastcmp: 180 items of 3 tasks together")


def test_a_leaderboard_a_task_and_one_over_tasks(capsys, results):
    found, said = remarked(capsys, *EXAMPLE, "--by", "task", "--over", "tasks")
    boards = {title: fastcmp.from_dict(x) for title, x in found["boards"].items()}
    titles = ["Task breast_cancer", "Task digits", "Task wine", "Over tasks"]
    assert list(boards) == titles
    for task in results.task_names:
        part = results.select(task=task)
        assert boards[f"Task {task}"] == part.compare()
    assert boards["Over tasks"] == fastcmp.compare_datasets(results)
    assert any("with 3 tasks no adjusted p-value" in line for line in said)
    code, out, _ = run(capsys, *EXAMPLE, "--by", "task", "--over", "tasks")
    assert code == 0
    assert out.count("How to read this") == 2
    code, out, _ = run(capsys, *EXAMPLE, "--by", "task", "--format", "csv")
    assert out.splitlines()[0].startswith("board,table,model,")
    assert out.count("Task wine,pairs,") == 6


def test_values_go_to_a_comparison_of_means(capsys, results):
    more = ["--variance", "cr3", "--stratum-weights", "equal"]
    found, _ = remarked(capsys, *EXAMPLE, *more)
    wanted = fastcmp.compare_means(results.values(), variance="cr3", stratum_weights="equal")
    assert fastcmp.from_dict(found) == wanted


def test_weights_of_tasks(capsys, results):
    weights = {"breast_cancer": 1.0, "digits": 2.0, "wine": 0.5}
    words = [f"{task}={weight}" for task, weight in weights.items()]
    found, _ = remarked(capsys, *EXAMPLE, "--stratum-weights", *words)
    wanted = fastcmp.compare_means(results.values(), stratum_weights=weights)
    assert fastcmp.from_dict(found) == wanted


def test_options_over_tasks(capsys, results):
    more = ["--method", "nemenyi", "--alpha", "0.1"]
    found, _ = remarked(capsys, *EXAMPLE, "--over", "tasks", *more)
    wanted = fastcmp.compare_datasets(results, method="nemenyi", alpha=0.1)
    assert fastcmp.from_dict(found) == wanted
    chosen = ["--task", "wine", "digits", "--models", "sklearn/knn_3"]
    found, _ = remarked(capsys, *EXAMPLE, *chosen, "sklearn/naive_bayes")
    assert found["n_samples"] == 120
    assert sorted(found["leaderboard"]["model"]) == ["sklearn/knn_3", "sklearn/naive_bayes"]


def test_a_table_of_scores_by_tasks(capsys, table, tmp_path):
    table.to_csv(tmp_path / "scores.csv")
    long = table.reset_index().melt("dataset", var_name="method", value_name="score")
    long.to_csv(tmp_path / "long.csv", index=False)
    wanted = fastcmp.compare_datasets(table)
    for arguments in (
        ["--example", "demsar"],
        ["--values", tmp_path / "scores.csv", "--over", "tasks"],
        ["--long", tmp_path / "long.csv", "--over", "tasks"],
    ):
        found, said = remarked(capsys, "compare", *arguments)
        assert fastcmp.from_dict(found) == wanted
        assert not said


def test_folds_are_never_tasks(capsys, table, tmp_path):
    """Rows of one task are averaged, and that is said."""
    path = tmp_path / "folds.csv"
    pd.concat([table - 0.125, table + 0.125]).to_csv(path)
    found, said = remarked(capsys, "compare", "--values", path, "--over", "tasks")
    assert said == ["fastcmp: 28 rows of 14 tasks: the mean of each task counts"]
    assert found["leaderboard"]["mean rank"] == pytest.approx([27 / 14, 2, 41 / 14, 44 / 14])


def test_tasks_that_are_too_few_to_differ(capsys, table, tmp_path):
    path = tmp_path / "scores.csv"
    table.iloc[:5, :2].to_csv(path)
    words = ("compare", "--values", path, "--over", "tasks", "--method", "sign")
    found, said = remarked(capsys, *words)
    assert found["n_samples"] == 5
    assert "with 5 tasks no adjusted p-value of this test is below 0.062" in said[0]
    assert not remarked(capsys, *words, "--alpha", "0.1")[1]


def test_missing_scores_need_a_policy(capsys, table, tmp_path):
    path = tmp_path / "scores.csv"
    lacking = table.copy()
    lacking.iloc[0, 1] = np.nan
    lacking.to_csv(path)
    words = ("compare", "--values", path, "--over", "tasks")
    line = refused(capsys, *words)
    assert "1 missing: C4.5+m on adult (sample)" in line
    assert "--missing tasks" in line
    assert remarked(capsys, *words, "--missing", "tasks")[0]["n_samples"] == 13


def test_battles(capsys, tmp_path):
    path = tmp_path / "battles.csv"
    rows = ["a,b,model_a", "b,c,model_b", "c,a,tie", "a,b,model_b", "c,b,tie"]
    path.write_text("model_a,model_b,winner\n" + "\n".join(rows) + "\n")
    found, said = remarked(capsys, "compare", path, "--ties", "davidson")
    battles = fastcmp.read_battles(path)
    wanted = fastcmp.datasets.bradley_terry_from_battles(battles, group=None, ties_as="davidson")
    assert fastcmp.from_dict(found) == wanted
    assert said[0] == "fastcmp: recognised 1 file of battles"
    line = refused(capsys, "compare", path, "--over", "tasks")
    assert line == "fastcmp: --over does not go with battles"


def test_predictions_stay_predictions(capsys, tmp_path):
    """What has true labels is no log, whatever else it looks like."""
    columns = "y_true,item,model,value,model_a,model_b,winner,task"
    rows = ["1,1,0,1,1,1,0,0", "0,0,0,1,0,0,0,1", "1,1,1,1,1,0,1,1"]
    text = "\n".join([columns, *rows]) + "\n"
    (tmp_path / "p.csv").write_text(text)
    for path in (tmp_path / "p.csv", tmp_path):
        found, said = remarked(capsys, "compare", path)
        assert not said
        assert (found["test"], found["n_samples"]) == ("mcnemar", 3)
        assert len(found["leaderboard"]["model"]) == 7
    shutil.copytree(logs_path(), tmp_path / "runs")  # folders in it are not read
    found, said = remarked(capsys, "compare", tmp_path)
    assert (found["n_samples"], said) == (3, [])
    found, said = remarked(capsys, "compare", example_path("digits"))
    assert (found["n_samples"], said) == (899, [])


def test_wrong_options_are_one_line(capsys):
    for arguments, said in (
        (["inspect"], "pass a file or folder of logs, or --example logs"),
        (["inspect", "x", "--example", "logs"], "or --example, not both"),
        (["inspect", "nowhere"], "there is no nowhere"),
        (["compare", "x", "--example", "logs"], "pass files or --example, not both"),
        ([*EXAMPLE, "--metric", "f1"], "there is no f1"),
        ([*EXAMPLE, "--metric", "a="], "--metric must be a name, or TASK=NAME"),
        ([*EXAMPLE, "--task", "nope"], "there is no nope, but breast_cancer"),
        ([*EXAMPLE, "--errors", "nope"], "--errors must be one of raise, wrong, drop"),
        ([*EXAMPLE, "--errors", "drop", "--missing", "wrong"], "not both"),
        ([*EXAMPLE, "--log-format", "nope"], "--log-format must be one of inspect"),
        ([*EXAMPLE, "--target", "y"], "is a folder without prediction files"),
        ([*EXAMPLE, "--by", "task", "--cost", "c.csv"], "--cost works only with predicted"),
        ([*EXAMPLE, "--weights", "w"], "--weights does not go with logs"),
        ([*EXAMPLE, "--slices", "s"], "--slices does not go with logs"),
        ([*EXAMPLE, "--task", "wine", "--over", "tasks"], "needs at least 2 tasks"),
        ([*EXAMPLE, "--over", "tasks", "--method", "x"], "--method must be one of"),
        ([*EXAMPLE, "--omnibus", "friedman"], "--omnibus is for --over tasks"),
        ([*EXAMPLE, "--by", "task", "--omnibus", "x"], "--omnibus is for --over tasks"),
        (
            ["compare", "--long", "x", "--over", "tasks", "--id", "i"],
            "--id does not go with --long",
        ),
        ([*EXAMPLE, "--over", "tasks", "--simultaneous"], "--simultaneous does not go"),
        ([*EXAMPLE, "--by", "task", "--keep", "x.npy"], "is for one leaderboard"),
        (["compare", "--example", "demsar", "--by", "task"], "--by does not go with"),
        (["compare", "--example", "demsar", "--slices", "s"], "--slices does not go with"),
        (["compare", "--values", "x.csv", "--filter", "x"], "--filter is for logs"),
        (["compare", "--example", "digits", "--by", "task"], "--by is for logs"),
    ):
        assert said in refused(capsys, *arguments), arguments


def test_nothing_is_written_into_a_folder_that_is_read(capsys, tmp_path):
    shutil.copytree(logs_path(), tmp_path / "runs")
    runs = tmp_path / "runs"
    line = refused(capsys, "compare", runs, "--output", runs / "answer.json")
    assert "into" in line
    assert not (runs / "answer.json").exists()
    code, _, _ = run(capsys, "compare", runs, "--output", tmp_path / "answer.json")
    assert code == 0
    assert json.loads((tmp_path / "answer.json").read_text())["n_samples"] == 180


def test_logs_of_one_task_lack_a_value(capsys, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(
        "item,model,value\n1,<b>a</b>,0.5\n2,<b>a</b>,\n1,b,0.25\n2,b,1\n3,b,0\n3,<b>a</b>,1\n"
    )
    line = refused(capsys, "compare", path)
    assert "--errors wrong" in line
    code, out, _ = run(capsys, "compare", path, "--errors", "drop", "--format", "html")
    assert code == 0
    assert "<b>a" not in out
    assert "2 items" in out


def test_a_metric_a_task_by_name(capsys):
    found, _ = remarked(capsys, *EXAMPLE, "--metric", "wine=acc", "--task", "wine")
    assert found == remarked(capsys, *EXAMPLE, "--task", "wine")[0]


def remarked(capsys, *arguments):
    """The JSON of an answer, and the lines of remarks."""
    code, out, err = run(capsys, *arguments, "--format", "json")
    assert code == 0, err
    return json.loads(out), err.splitlines()


def test_models_that_are_worth_their_cost(capsys, tmp_path):
    rng, rows, values = np.random.default_rng(1), [], {"acc": {}, "seconds": {}}
    for model, rate, time in (("a", 0.9, 4.0), ("b", 0.88, 1.0), ("c", 0.6, 3.0)):
        values["acc"][model] = (rng.random(100) < rate) + 0.0
        values["seconds"][model] = rng.gamma(4.0, time / 4.0, 100)
        for metric, own in values.items():
            known = {"model": model, "metric": metric}
            rows += [known | {"item": i, "value": x} for i, x in enumerate(own[model].tolist())]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = ["compare", tmp_path / "runs.jsonl", "--pareto", "acc,-seconds"]
    found, said = remarked(capsys, *asked)
    assert [line for line in said if "recognised" in line] == said[:1]
    found = fastcmp.from_dict(found)
    wanted = fastcmp.pareto_set(values, lower_is_better=["seconds"])
    assert found.names == wanted.names
    np.testing.assert_allclose(found.pvalue, wanted.pvalue)
    assert found.dominated_by == {"c": ("b",)}
    assert "does not go with --pareto" in refused(capsys, *asked, "--by", "task")
