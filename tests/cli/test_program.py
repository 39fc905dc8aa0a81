"""The command line as a person meets it: answers, formats, errors in one line."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import answer, by_table, refused, run, written
from libraries import pd

import fastcmp

EXAMPLE = ["compare", "--example", "digits"]
WHERE = (
    "Difference, interval and p-value of each pair: --pairs all, or --pairs A:B; also in "
    "--format csv and --report FILE."
)


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n0,0,0\n1,1,0\n1,1,0\n0,0,1\n")
    return str(path)


def test_the_main_job(capsys):
    code, out, err = run(capsys, *EXAMPLE)
    result = fastcmp.compare_all(*fastcmp.load_digits())
    assert code == 0
    assert err == ""
    assert out == f"{result.summary()}\n{WHERE}\n"
    assert "Best: svm_rbf. Not significantly different from it: knn_3" in out


def test_two_models_say_how_they_differ(capsys):
    """Difference, interval and p-value of the one pair, of whichever test."""
    for more in ([], ["--metric", "f1_macro"]):
        out = run(capsys, *EXAMPLE, "--models", "mlp", "svm_rbf", *more)[1]
        y, preds = fastcmp.load_digits()
        metric = {"metric": more[1]} if more else {}
        two = {name: preds[name] for name in ("svm_rbf", "mlp")}
        pair = fastcmp.compare_all(y, two, **metric)
        scale, digits = (1, 4) if more else (100, 2)
        numbers = [scale * x for x in (pair.difference[0], *pair.interval[0])]
        gap, low, high = (f"{x:+.{digits}f}" for x in numbers)
        row = next(line for line in out.splitlines() if line.startswith("  svm_rbf  mlp"))
        cells = ["svm_rbf", "mlp", gap, f"[{low},", f"{high}]", f"{pair.pvalue[0]:.3f}", "better"]
        assert row.split() == cells
        assert WHERE not in out


def test_pairs_that_are_asked_for(capsys):
    result = fastcmp.compare_all(*fastcmp.load_digits())
    wanted = {("svm_rbf", "mlp"), ("knn_3", "naive_bayes")}
    out = run(capsys, *EXAMPLE, "--pairs", "mlp:svm_rbf", "knn_3:naive_bayes")[1]
    table = out.partition("\nPairs\n")[2].partition("\nDifference: ")[0].splitlines()[1:]
    assert {tuple(row.split()[:2]) for row in table} == wanted
    for row in table:
        a, b, gap, *_, adjusted = re.split(r"  +", row.strip())[:6]
        i, j = map(result.names.index, (a, b))
        assert gap == f"{100 * result.matrix('difference')[i, j]:+.2f}"
        pvalue = result.matrix("pvalue_adjusted")[i, j]
        assert float(adjusted) == pytest.approx(pvalue, abs=5e-4, rel=0.05)
    out = run(capsys, *EXAMPLE, "--pairs", "all", "--format", "markdown")[1]
    assert out.count("| better |") + out.count("| no significant difference |") == 45
    assert WHERE not in out


@pytest.mark.parametrize("kind", ["leaderboard", "pvalues", "critical-difference"])
def test_a_picture(capsys, tmp_path, kind):
    place = tmp_path / "picture.svg"
    assert run(capsys, *EXAMPLE, "--plot", str(place), "--plot-kind", kind)[0] == 0
    assert "<svg" in place.read_text()


def test_options_reach_the_comparison(capsys):
    _, out, _ = run(
        capsys,
        *EXAMPLE,
        *("--models", "svm_rbf", "mlp", "logistic", "--method", "exact"),
        *("--adjust", "bh", "--alpha", "0.1", "--control", "mlp", "--format", "json"),
    )
    said = json.loads(out)
    assert said["leaderboard"]["model"] == ["svm_rbf", "mlp", "logistic"]
    assert said["pairs"]["model_a"] == ["mlp", "mlp"]
    assert (said["method"], said["adjust"], said["alpha"]) == ("exact", "bh", 0.1)


def test_bad_input_is_one_line_and_exit_code_64(capsys):
    for words, said in (
        ("", "COMMAND"),
        ("compete", "invalid choice: 'compete'"),
        ("compare", "pass a prediction file"),
        ("compare x.csv --example digits", "not both"),
        ("compare none.csv", "none.csv: No such file"),
        (f"compare {Path(__file__).parent}", "holds no log of a known format"),
        ("compare --example iris", "invalid choice: 'iris'"),
        ("compare --nope", "unrecognized arguments: --nope"),
        *(
            (f"compare --example digits --{option}", said)
            for option, said in (
                ("target z", "no column 'z' (--target)"),
                ("models svm_rbf", "at least 2 models, got 1"),
                ("models svm_rbf z", "no column 'z' (--models)"),
                ("alpha 2", "--alpha must lie in (0, 1), got 2.0"),
                ("test z", "test must be one of"),
                ("control z", "--control names no model 'z'"),
                ("workers 0", "--workers must be at least 1, got 0"),
                ("output /nonexistent/x.txt", "/nonexistent/x.txt: No such"),
                ("pairs mlp:nothing", "--pairs takes all, or A:B of two of svm_rbf, "),
                ("pairs mlp:mlp", "--pairs takes all, or A:B of two of svm_rbf, "),
                ("pairs mlp:knn_3 --control svm_rbf", "not among those tested"),
                ("plot x.docx", "--plot must end in one of "),
            )
        ),
    ):
        assert said in refused(capsys, *words.split()), words


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"fastcmp {fastcmp.__version__}\n", "")


def shell(command, **environment):
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_the_module_runs_as_a_program(predictions):
    done = shell(f"{sys.executable} -m fastcmp compare {predictions}")
    assert done.returncode == 0
    assert "2 models on 4 samples" in done.stdout


def test_a_reader_that_leaves_is_no_error():
    program = f"{sys.executable} -m fastcmp compare --example digits --format json"
    done = shell(f"({program}; echo code $? >&2) | head -1")
    assert done.stdout == "{\n"
    assert done.stderr == "code 0\n"


def test_without_the_extra_the_message_says_what_to_install(tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    done = shell(f"{sys.executable} -m fastcmp compare --example digits", PYTHONPATH=str(tmp_path))
    assert done.returncode == 64
    assert "pip install 'fastcmp[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


# Files of any size.


@pytest.fixture
def large(tmp_path):
    """One table in three forms: a file, a folder, and two files with ids."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog", "eel"], 5_000)
    table = {"id": np.arange(5_000), "y_true": truth}
    for name in ("old", "new", "big"):
        wrong = rng.random(truth.size) < 0.2
        table[name] = np.where(wrong, rng.permutation(truth), truth)
    table = pa.table(table)
    parquet.write_table(table, tmp_path / "all.parquet")
    (tmp_path / "parts").mkdir()
    for i in range(3):
        csv.write_csv(table[2_000 * i : 2_000 * (i + 1)], tmp_path / f"parts/{i}.csv")
    two = table.select(["id", "y_true", "old"]), table.select(["id", "new", "big"])
    for name, half in zip(("left", "right"), two, strict=True):
        parquet.write_table(half, tmp_path / f"{name}.parquet")
    parquet.write_table(two[1][::-1], tmp_path / "shuffled.parquet")
    return tmp_path


def test_files_with_other_truths_are_refused(capsys, large):
    from pyarrow import parquet

    left = parquet.read_table(large / "left.parquet")
    truth = left["y_true"].to_pylist()
    other = left.set_column(left.column_names.index("y_true"), "y_true", [truth[::-1]])
    parquet.write_table(other.rename_columns(["id", "y_true", "turned"]), large / "turned.parquet")
    words = [f"{large}/left.parquet", f"{large}/turned.parquet", "--memory-limit", "1kB"]
    assert "'y_true' differs between" in refused(capsys, "compare", *words)


def test_what_does_not_fit_and_is_not_sorted(capsys, large):
    words = [f"{large}/left.parquet", f"{large}/shuffled.parquet"]
    said = refused(capsys, "compare", *words, "--memory-limit", "1kB")
    assert "shuffled.parquet: ids do not ascend (row 1 has 4998 after 4999)" in said
    assert "sort by id, or pass a larger --memory-limit" in said
    said = refused(capsys, "compare", *words, "--memory-limit", "much")
    assert "--memory-limit must be a size such as '4GB', or bytes, got 'much'" in said


def test_options_are_refused_before_anything_is_counted(capsys, large):
    path = f"{large}/all.parquet"
    saved = f"{large}/saved"
    for words, said in (
        (["--control", "z"], "--control names no model 'z'"),
        (["--output", f"{large}/none/x.txt"], "none/x.txt: No such file"),
        (["--test", "cost"], "--test cost needs --cost,"),
        (["--keep", "some"], "keep must be 'all', 'significant', a number of models"),
        (["--keep", "1"], "a number of models from 2 on, or a file that"),
        (["--keep", f"{large}/none/x.npy"], "none/x.npy: No such file"),
        (["--keep", path], "--keep would write"),
    ):
        assert said in refused(capsys, "compare", path, "--checkpoint", saved, *words), words
        assert not Path(saved).exists()
    said = refused(capsys, "compare", path, "--checkpoint", f"{large}/none/saved")
    assert "No such file" in said


def test_no_place_is_written_twice_or_over_what_is_read(capsys, large, animals):
    path, twice = f"{large}/left.parquet", f"{large}/x.npy"
    whole, parts = f"{large}/all.parquet", f"{large}/parts"
    link = large / "link"
    link.symlink_to(path)
    cost = ("--test", "cost", "--cost", animals)
    for words, said in (
        ([whole, "--output", twice, "--checkpoint", twice], "--output and --checkpoint"),
        ([whole, "--keep", twice, "--checkpoint", twice], "--keep and --checkpoint wou"),
        ([whole, "--output", whole], f"--output would write {whole} over what is read"),
        ([path, "--output", str(link)], f"--output would write {link} over"),
        ([whole, "--checkpoint", whole], "--checkpoint would write"),
        ([parts, "--output", f"{parts}/1.csv"], "over what is read"),
        ([parts, "--output", f"{parts}/new.csv"], "over what is read, or beside it"),
        ([whole, *cost, "--output", animals], f"--output would write {animals}"),
        ([whole, "--output", parts], f"{parts}: Is a directory"),
        ([whole, "--checkpoint", parts], f"{parts}: Is a directory"),
        ([whole, "--checkpoint", f"{large}/no/c"], f"{large}/no/c: No such file"),
        ([whole, "--output", f"{whole}/x"], f"{whole}/x: Not a directory"),
    ):
        before = contents(large)
        assert said in refused(capsys, "compare", *words), words
        assert contents(large) == before
    said = refused(capsys, "holdout", whole, "--output", whole)
    assert "--output would write" in said
    beside = f"{parts}/report.txt"  # is never read as a part
    assert run(capsys, "compare", parts, "--output", beside)[0] == 0
    Path(beside).unlink()
    parted = (whole, "--models", "old", "new", "--output", f"{whole}/x")
    assert f"{whole}/x: Not a directory" in refused(capsys, "holdout", *parted)


def contents(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_damage_far_into_a_file_keeps_the_checkpoint(capsys, tmp_path):
    import gzip

    path, saved = tmp_path / "p.csv.gz", tmp_path / "saved"
    lines = "1,1,0\n0,0,0\n"
    content = gzip.compress(("y_true,a,b\n" + lines * 1_000_000).encode())
    path.write_bytes(content[:-99])
    words = ("compare", str(path), "--checkpoint", str(saved))
    assert "p.csv.gz cannot be read as CSV, it may be cut off" in refused(capsys, *words)
    assert saved.exists()
    path.write_bytes(content)
    assert "p.csv.gz has changed since; remove it to begin" in refused(capsys, *words)
    saved.unlink()
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert "2 models on 2000000 samples" in out
    assert not saved.exists()


def test_refused_files_leave_no_memory_behind(capsys, tmp_path):
    # Where `read` of a compressed stream fails, pyarrow loses what it took: 64 kB a call.
    import gc
    import gzip
    import tracemalloc

    rng = np.random.default_rng(1)
    text = "y_true,a,b\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rng.integers(2, size=(999, 3)))
    content = gzip.compress(text.encode())
    path = tmp_path / "p.csv.gz"
    path.write_bytes(content[: len(content) // 2])
    refused(capsys, "compare", str(path))
    tracemalloc.start()
    for _ in range(20):
        refused(capsys, "compare", str(path))
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 500_000


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text("truth,dog,cat,eel\ndog,0,1,2.5\ncat,5,0,3\neel,1,1,0\n")
    return str(path)


def test_too_many_costs_to_count_are_read_whole(capsys, tmp_path):
    k = 20
    cost = 1 + np.arange(k * k).reshape(k, k) * (1 - np.eye(k))
    np.fill_diagonal(cost, 0)
    columns = {str(i): cost[:, i] for i in range(k)}
    costs = written(tmp_path / "cost.csv", truth=range(k), **columns)
    truth = np.resize(np.arange(k), 400)
    models = {"a": np.roll(truth, 1), "b": np.where(truth < 5, 0, truth)}
    path = written(tmp_path / "p.csv", y_true=truth, **models)
    words = ("compare", path, "--test", "cost", "--cost", costs)
    expect = fastcmp.compare_all(truth, models, test="cost", cost=cost)
    assert answer(capsys, *words) == expect.to_dict()
    saved = tmp_path / "saved"
    code, out, err = run(capsys, *words, "--checkpoint", saved, "--format", "json")
    assert (code, json.loads(out)) == (0, expect.to_dict())
    assert err == (
        "fastcmp: --checkpoint is not used: there are 381 different costs, too many to "
        "count, so the files are read as a whole\n"
    )
    assert not saved.exists()
    said = refused(capsys, *words, "--memory-limit", "1kB")
    assert "(--memory-limit is 1 kB): pass a larger --memory-limit, or compare fewer" in said


def test_what_is_kept(capsys, large):
    path = f"{large}/all.parquet"
    words = ["compare", path, "--format", "json"]
    whole = json.loads(run(capsys, *words)[1])
    for keep in ("all", "significant", "2", f"{large}/pairs.npy", f"{large}/p.parquet"):
        code, out, err = run(capsys, *words, "--keep", keep)
        assert (code, err) == (0, "")
        said = json.loads(out)
        assert said["leaderboard"] == whole["leaderboard"]
        n_kept = len(said["pairs"]["pvalue"])
        told = sum(whole["pairs"]["significant"])
        expect = {"all": 3, "significant": told, "2": 1, f"{large}/p.parquet": 0}
        assert n_kept == expect.get(keep, 3), keep
    rows = np.load(f"{large}/pairs.npy")
    assert rows["pvalue"].tolist() == whole["pairs"]["pvalue"]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(f"{large}/p.parquet")
    assert table["pvalue"].to_pylist() == whole["pairs"]["pvalue"]
    said = refused(capsys, "compare", f"{large}/parts", "--keep", f"{large}/parts/x.parquet")
    assert "--keep would write" in said


@pytest.fixture
def late(tmp_path, monkeypatch):
    """A file whose column b holds whole numbers at first, and half ones in the end."""
    monkeypatch.setattr("fastcmp.io.text._BLOCK", 500)
    truth = np.resize([1, 2, 1.5], 600)
    b = [*truth[:500].astype(int).tolist(), *np.resize([1.5, 2.0], 100).tolist()]
    return written(tmp_path / "late.csv", y_true=truth, a=truth[::-1], b=b)


def test_types_that_change_late(capsys, late, tmp_path):
    columns = np.genfromtxt(late, delimiter=",", skip_header=1).T
    models = dict(zip("ab", columns[1:], strict=True))
    expect = fastcmp.compare_all(columns[0], models)
    saved = tmp_path / "saved"
    assert answer(capsys, "compare", late) == expect.to_dict()
    words = ("compare", late, "--format", "json")
    code, out, err = run(capsys, *words, "--checkpoint", saved)
    assert (code, json.loads(out)) == (0, expect.to_dict())
    assert (err, saved.exists()) == ("", False)
    code, out, _ = run(capsys, *words, "--memory-limit", "1kB")
    assert (code, json.loads(out)) == (0, expect.to_dict())


PEAK = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "fastcmp", "compare", sys.argv[1]])
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux only")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = np.random.default_rng(3)
    names = ["y_true", *(f"m{i}" for i in range(100))]
    codes = rng.integers(0, 10, (len(names), 100_000), np.uint8)
    table = pa.table(dict(zip(names, codes, strict=True)))
    megabytes = []
    for times in (1, 4, 40):  # at first a kernel may have to be compiled
        path = tmp_path / f"{times}.parquet"
        with parquet.ParquetWriter(path, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
        )
        code, peak = done.stdout.splitlines()[-1].split()
        assert code == "0"
        assert f"100 models on {times * 100_000} samples" in done.stdout
        megabytes.append(int(peak) / 1000)
    _, few, many = megabytes
    assert many < few + 30
    assert many < 350


# Two models: `fastcmp holdout`.

COUNTS = np.array([[[77, 12], [9, 24]], [[8, 11], [5, 69]]])
T, SVM, TREE = np.repeat(np.indices((2, 2, 2)).reshape(3, -1), COUNTS.ravel(), axis=1)
COST = "truth,0,1\n0,0,1\n1,5,0\n"


@pytest.fixture
def pair(tmp_path):
    return written(tmp_path / "pair.csv", y_true=T, svm=SVM, tree=TREE)


@pytest.fixture
def three(tmp_path):
    return written(tmp_path / "three.csv", y_true=T, svm=SVM, tree=TREE, best=T)


@pytest.fixture
def named(tmp_path):
    names = np.array(["ill", "well"])
    return written(tmp_path / "named.csv", y_true=names[T], svm=names[SVM], tree=names[TREE])


@pytest.fixture
def cost(tmp_path):
    path = tmp_path / "cost.csv"
    path.write_text(COST)
    return str(path)


def holdout(**options):
    result = fastcmp.compare_labels(T, SVM, TREE, **options)
    return replace(result, names=("svm", "tree"))


def test_models_are_named_in_order(capsys, three):
    said = answer(capsys, "holdout", three, "--models", "tree", "svm")
    assert (said["model_a"], said["model_b"]) == ("tree", "svm")
    assert (said["difference"], said["pvalue"]) == (-holdout().difference, holdout().pvalue)


def test_options_reach_the_test(capsys, pair):
    for test in ("midp", "exact", "asymptotic", "corrected"):
        for alternative in ("two-sided", "greater", "less"):
            options = ("--method", test, "--alternative", alternative, "--alpha", "0.2")
            expect = holdout(method=test, alternative=alternative, alpha=0.2)
            assert answer(capsys, "holdout", pair, *options) == expect.to_dict()


def test_malformed_cost_files(capsys, tmp_path, pair):
    path = tmp_path / "cost.csv"
    for text, said in (
        ("truth,0,1\n0,0,1\n", "as many columns as rows, or one more with the true classes"),
        ("truth,0,1\n0,0,1\n0,5,0\n", "same classes in the first column and in the colum"),
        ("truth,0,1\n0,0,x\n1,5,0\n", "cost must hold numbers, got"),
        ("truth,0,1\n0,0,1\n1,-5,0\n", "cost must not be negative, got -5 at [1, 0]"),
        ("truth,0,1\n0,1,1\n1,5,0\n", "cost must be 0 where the prediction is right, got 1"),
        ("truth,0,1\n0,0,0\n1,0,0\n", "cost must have at least one positive entry"),
        ("truth,ill,well\nill,0,1\nwell,5,0\n", "classes holds str labels and y_true num"),
        ("truth,0,2\n0,0,1\n2,5,0\n", "svm predicts 1, which is not among the classes"),
        ("truth,0,1\n0,0,1,7\n1,5,0\n", "cannot be read as CSV"),
        ("", "is empty"),
    ):
        path.write_text(text)
        for words in (["holdout", pair], ["compare", pair, "--test", "cost"]):
            assert said in refused(capsys, *words, "--cost", path), text


def test_holdout_in_one_line_what_is_wrong(capsys, pair, three, cost, named):
    for words, said in [
        ([], "pass a prediction file, or --example digits"),
        ([pair, "--example", "digits"], "not both"),
        (["none.csv"], "none.csv: No such file"),
        ([three], "(--models A B), of svm, tree, best"),
        ([pair, "--models", "svm"], "expected 2 arguments"),
        ([pair, "--models", "svm", "svm"], "--models names svm twice"),
        ([pair, "--target", "svm", "--models", "tree", "y"], "no column 'y'"),
        ([pair, "--method", "likelihood"], "unconditional, got 'likelihood' without --cost"),
        ([pair, "--cost", "none.csv"], "none.csv: No such file"),
        ([pair, "--cost", "cost.txt"], "the extension must be one of"),
        ([named, "--cost", cost], "classes holds number labels and y_true"),
        ([pair, "--output", "/nonexistent/x"], "/nonexistent/x: No such"),
    ]:
        assert said in refused(capsys, "holdout", *words), words


def test_costs_and_tests_go_together(capsys, three, cost):
    said = refused(capsys, "compare", three, "--test", "cost")
    assert "--test cost needs --cost" in said
    assert "--cost is for --test cost" in refused(capsys, "compare", three, "--cost", cost)
    words = ("compare", three, "--test", "cost", "--cost", cost)
    said = refused(capsys, *words, "--method", "midp")
    assert "--method must be one of likelihood, chi-square, got" in said
    assert "permits only --missing raise" in refused(capsys, *words, "--missing", "wrong")


def test_a_control(capsys):
    result = fastcmp.compare_all(*fastcmp.load_digits(), control="svm_rbf")
    words = [*EXAMPLE, "--control", "svm_rbf", "--format"]
    out = {kind: run(capsys, *words, kind)[1] for kind in ("table", "markdown", "latex", "csv")}
    rows = by_table(out.pop("csv"))["pairs"]
    assert {row["model_a"] for row in rows} == {"svm_rbf"}
    assert [float(row["pvalue"]) for row in rows] == result.pvalue.tolist()
    assert answer(capsys, *words[:-1]) == result.to_dict()
    assert out["table"] == f"{result.summary()}\n"
    for text in out.values():
        assert "0 significantly better, 7 significantly worse" in text
        assert "Leaderboard" not in text
        assert text.count("worse") == 1 + 7


@pytest.mark.parametrize("more", ["", "--control big --method chi-square", "mcnemar"])
def test_one_table_in_every_form(capsys, large, animals, more):
    read = pd.read_parquet(f"{large}/all.parquet").drop(columns="id")
    named, asked = {}, []
    if more != "mcnemar":
        named = {"test": "cost", "cost": pd.read_csv(animals, index_col=0)}
        asked = ["--test", "cost", "--cost", animals, *more.split()]
    if "control" in more:
        named |= {"control": "big", "method": "chi-square"}
    expect = fastcmp.compare_all(read.pop("y_true"), read, **named).to_dict()
    left, right = f"{large}/left.parquet", f"{large}/right.parquet"
    for words in (
        [f"{large}/all.parquet"],
        [f"{large}/parts"],
        [left, right],
        [left, right, "--memory-limit", "3kB"],
        [left, f"{large}/shuffled.parquet", "--id", "id"],
    ):
        assert answer(capsys, "compare", *words, *asked) == expect, words
    words = [f"{large}/all.parquet", "--memory-limit"]
    if asked:
        said = refused(capsys, "compare", *words, "2kB", *asked)
        assert "counting 3 pairs by 3 classes takes 2.59 kB, and reading" in said
    else:
        assert answer(capsys, "compare", *words, "1kB", "--workers", "1") == expect


def test_cost_files(capsys, tmp_path, pair, named):
    """Rows and columns in any order, with or without the true classes."""
    wanted = holdout(cost=[[0, 1], [5, 0]])
    for data, text in (
        *((pair, "truth,1,0\n1,0,5\n0,1,0\n"), (pair, "truth,0,1\n1,5,0\n0,0,1\n")),
        *((pair, "0,1\n0,1\n5,0\n"), (pair, "1,0\n0,5\n1,0\n")),
        (pair, "truth,0,1\n0,0.0,1.0\n1,5e0,0\n"),
        (named, "truth,ill,well\nill,0,1\nwell,5,0\n"),
        (named, "truth,ill,well\nwell,5,0\nill,0,1\n"),
        *((named, "truth,well,ill\nwell,0,5\nill,1,0\n"), (named, "ill\twell\n0\t1\n5\t0\n")),
        (named, "well\till\n0\t5\n1\t0\n"),
    ):
        path = tmp_path / ("cost.tsv" if "\t" in text else "cost.csv")
        path.write_text(text)
        said = answer(capsys, "holdout", data, "--cost", path)
        assert said["pvalue"] == pytest.approx(wanted.pvalue, rel=1e-9), text
        assert (said["loss_a"], said["loss_b"]) == pytest.approx((128 / 215, 101 / 215))
        said = answer(capsys, "compare", data, "--test", "cost", "--cost", path)
        assert said["pairs"]["pvalue"][0] == pytest.approx(wanted.pvalue, rel=1e-9), text


def test_holdout_counts_missing_labels_and_names_columns_without_predictions(capsys, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a,b\n0,0,0\n1,1,0\n,1,0\n0,0,1\n")
    code, out, _ = run(capsys, "holdout", path)
    assert code == 0
    assert "1 samples without a true label were dropped." in out
    path.write_text("y_true,svm,tree\n0,0,0\n1,1,\n0,0,1\n")
    said = refused(capsys, "holdout", path)
    assert "no prediction at row 1" in said
    assert "tree" in said
    assert run(capsys, "holdout", path, "--missing", "wrong")[0] == 0
