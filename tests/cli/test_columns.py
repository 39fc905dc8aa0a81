"""Which columns of a file are models: what is none is refused by name, or left out."""

import json

import numpy as np
import pytest
from commands import refused, run, written

import fastcmp

N = 60
TRUTH = np.arange(N) % 3
A = np.where(np.arange(N) % 7 == 0, (TRUTH + 1) % 3, TRUTH)
B = np.where(np.arange(N) % 5 == 0, (TRUTH + 2) % 3, TRUTH)


@pytest.fixture
def models():
    return {"y_true": TRUTH, "a": A, "b": B}


NO_MODELS = {
    "probability": (lambda rng: rng.random(N).round(3), "`fastcmp roc`"),
    "weight": (lambda rng: rng.random(N).round(3) * 9, "`fastcmp roc`"),
    "graded": (lambda _: np.tile([0, 0.5, 1], N // 3), "holds 0.5, which is no label of"),
    "count": (lambda rng: rng.integers(7, 99, N), "shares no label with 'y_true'"),
    "number": (lambda _: np.arange(1000, 1000 + N), "shares no label with 'y_true'"),
    "shifted": (lambda _: A + 1, "they differ by 1 throughout"),
}


@pytest.mark.parametrize("kind", NO_MODELS)
@pytest.mark.parametrize("command", ["compare", "holdout", "joined"])
def test_what_is_no_model_is_refused_by_name(capsys, tmp_path, models, command, kind):
    make, said = NO_MODELS[kind]
    column = make(np.random.default_rng(5))
    names = {"id": np.arange(N)} if command == "joined" else {}
    path = written(tmp_path / "p.csv", **names, **models, **{kind: column})
    words = [command, path]
    if command == "joined":  # read as a whole
        words = ["compare", path, written(tmp_path / "q.csv", **names, c=A)]
    err = refused(capsys, *words)
    assert f"column '{kind}' " in err
    assert said in err
    assert f"pass --drop {kind}, or choose by --models" in err
    expect = run(capsys, command.replace("joined", "compare"), path, "--drop", kind)
    assert expect[0] == 0
    chosen = ("--models", "a", "b")
    assert run(capsys, command.replace("joined", "compare"), path, *chosen) == expect


@pytest.mark.parametrize("command", ["compare", "joined"])
def test_labels_that_only_look_moved_by_one(capsys, tmp_path, models, command):
    # Class 3 is in no sample here, and class 0 is never predicted: half are right as they are.
    models["c"] = np.where(TRUTH == 0, 3, TRUTH)
    names = {"id": np.arange(N)} if command == "joined" else {}
    words = ["compare", written(tmp_path / "p.csv", **names, **models)]
    if command == "joined":
        words.append(written(tmp_path / "q.csv", **names, d=A))
    code, out, err = run(capsys, *words)
    assert code == 0
    assert "predicted by c (33.3%: 3); they count as wrong" in err
    assert out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (str.upper, "they differ in upper and lower case"),
        (lambda x: f"{x} ", "they differ in spaces"),
        (lambda x: f" {x.title()}", "they differ in case and spaces"),
        (lambda x: f"{x}s", "if it is a model, convert its labels"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "holdout"])
def test_words_that_are_spelt_otherwise(capsys, tmp_path, command, change, said):
    words = np.array(["cat", "dog", "eel"])
    other = [change(word) for word in words[A]]
    path = written(tmp_path / "p.csv", y_true=words[TRUTH], a=words[A], b=other)
    err = refused(capsys, command, path)
    assert "column 'b' shares no label with 'y_true': it holds" in err
    assert said in err


def test_a_tenth_outside_the_truth(capsys, tmp_path, models):
    much = np.where(np.arange(N) % 8 == 0, 9, TRUTH)
    little = np.where(np.arange(N) % 10 == 0, 9, TRUTH)  # a tenth, and no more
    path = written(tmp_path / "p.csv", **models, c=much, d=little)
    code, out, err = run(capsys, "compare", path)
    line = "predicted by c (13.3%: 9); they count as wrong"
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith("fastcmp: warning: labels that y_true does not hold are")
    assert line in err
    assert line in out or "13.3% of the predictions of c" in out
    for form in ("json", "csv", "markdown", "latex", "html"):
        out = run(capsys, "compare", path, "--format", form)[1]
        assert "13.3" in out.replace("\\.", ".") or '"n_outside"' in out.replace(
            "n_outside,", '"n_outside"'
        )
    assert run(capsys, "compare", path, "--drop", "c")[2] == ""
    err = run(capsys, "holdout", path, "--models", "a", "c")[2]
    assert err.count("\n") == 1
    assert "predicted by c (13.3%: 9)" in err


# The check itself, against brute force.


def test_scores_as_text_are_scores(capsys, tmp_path):
    words = np.array(["cat", "dog", "eel"])
    texts = [f'"{x:.3f}"' for x in np.random.default_rng(5).random(N)]
    path = written(tmp_path / "p.csv", y_true=words[TRUTH], a=words[A], b=texts)
    assert "column 'b' " in refused(capsys, "compare", path)
    versions = np.array(["1.0", "1.5", "2.5"])
    named = {"y_true": versions[TRUTH], "a": versions[A], "b": versions[B]}
    assert run(capsys, "compare", written(tmp_path / "p.csv", **named))[0] == 0


# The index of pandas, and --drop.


@pytest.mark.parametrize("name", ["blank", "Unnamed: 0", "index", "level_0", "__index_level_0__"])
def test_the_index_of_pandas_is_the_row_id(capsys, tmp_path, models, name):
    models["y_true"], models["a"], models["b"] = (x % 2 for x in (TRUTH, A, B))
    for command in ("compare", "holdout", "roc"):
        plain = run(capsys, command, written(tmp_path / "p.csv", **models))
        for i, values in enumerate((np.arange(N), np.arange(N)[::-1] * 7)):
            path = written(tmp_path / f"q{i}.csv", **{name: values}, **models)
            code, out, err = run(capsys, command, path)
            assert (code, out) == plain[:2]
            assert "is taken as the row id, not as a model" in err
            assert err.count("\n") == 1
        repeated = written(tmp_path / "r.csv", **{name: np.arange(N) // 2}, **models)
        err = refused(capsys, command, repeated)
        column = "" if name == "blank" else name
        shown = column if column.isidentifier() else f"'{column}'"
        assert "more than one row has" in err
        assert f"does not identify rows: leave it out (--drop {shown})" in err
        assert run(capsys, command, repeated, "--drop", column) == plain


def test_drop(capsys, tmp_path, models):
    path = written(tmp_path / "p.csv", **models, c=A)
    for words, said in (
        (["z"], "no column 'z' (--drop); there are: y_true, a, b, c"),
        (["y_true"], "--drop leaves out 'y_true', the true labels (--target)"),
        (["a", "--models", "a", "b"], "'a', which another option asks for"),
        (["a", "b"], "there must be at least 2 models, got 1: c"),
    ):
        assert said in refused(capsys, "compare", path, "--drop", *words)
    words = ("compare", path, "--drop", "c", "--format", "json")
    expect = fastcmp.compare_all(TRUTH, {"a": A, "b": B})
    told = json.loads(run(capsys, *words)[1])
    assert told["pairs"] == expect.to_dict()["pairs"]
    for command in ("holdout", "roc"):
        number = written(tmp_path / "q.csv", y_true=TRUTH % 2, a=A, b=B, c=A)
        assert run(capsys, command, number, "--drop", "c")[0] in (0, 64)
    assert "no column 'z' (--drop)" in refused(capsys, "lift", path, "--drop", "z")


def test_one_file_a_model(capsys, tmp_path):
    for i, model in enumerate("ab"):
        rows = "".join(f"{n},{n % 2},{(n % 2) ^ (n % 5 == i)}\n" for n in range(40 - i))
        (tmp_path / f"{model}.csv").write_text(f"id,y_true,pred\n{rows}")
    files = [str(tmp_path / f"{model}.csv") for model in "ab"]
    assert "--missing common" in refused(capsys, "compare", *files)
    for missing, n in (("common", 39), ("wrong", 40)):
        for where in (files, [tmp_path], [f"a={files[0]}", f"b={files[1]}"]):
            said = json.loads(
                run(capsys, "compare", *where, "--missing", missing, "--format", "json")[1]
            )
            assert (sorted(said["leaderboard"]["model"]), said["n_samples"]) == (["a", "b"], n)
    named = [f"base={files[0]}", f"new={files[1]}", "--missing", "common", "--format", "json"]
    for more in ([], ["--unpaired"]):
        said = json.loads(run(capsys, "holdout", *more, *named)[1])
        assert (said["model_a"], said["model_b"]) == ("base", "new")
