"""`--report FILE`: each command writes a page, or refuses before it reads."""

import hashlib
import html
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from fastcmp.cli import main
from fastcmp.data import demsar_path, example_path, logs_path, scores_path


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, *words):
    try:
        code, out, err = run(capsys, *words)
    except SystemExit as stop:
        code, (out, err) = stop.code, capsys.readouterr()
    assert (code, out) == (64, "")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def files(tmp_path):
    """Files that commands read: labels of two models, one model each, battles."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    new, base = (np.where(rng.random(60) < p, truth, 1 - truth) for p in (0.9, 0.8))
    rows = list(enumerate(zip(truth, new, base, strict=True)))
    names = {"both": "id,y_true,new,base", "new": "id,y_true,m", "base": "id,y_true,m"}
    lines = {
        "both": [f"{i},{t},{a},{b}" for i, (t, a, b) in rows],
        "new": [f"{i},{t},{a}" for i, (t, a, _) in rows],
        "base": [f"{i},{t},{b}" for i, (t, _, b) in rows],
    }
    found = {}
    for name, head in names.items():
        found[name] = tmp_path / f"{name}.csv"
        found[name].write_text("\n".join([head, *lines[name], ""]))
    found["page"] = tmp_path / "page.html"
    return found


#: What each command is called with; files are named in braces.
COMMANDS = {
    "compare labels": "compare {both}",
    "compare a metric": "compare {both} --metric mcc",
    "compare over data sets": "compare --example demsar",
    "compare tasks": "compare --example logs --by task --over tasks",
    "holdout": "holdout {both}",
    "holdout unpaired": "holdout {new} {base} --unpaired",
    "gate": "gate {base} {new} --margin 50pp",
    "watch": "watch {both} --once",
    "plan": "plan --p10 15% --p01 5%",
    "report": "report {both}",
    "roc": "roc --example digits --scores knn_3 mlp",
    "cutpoint": "cutpoint --example digits --scores mlp",
    "lift": "lift --example digits --scores mlp",
    "inspect": "inspect --example logs",
}
#: What the pages of these say.
SAID = {
    "compare labels": ("Leaderboard", "Holm"),
    "compare over data sets": ("Scores", "All models together", "lung cancer"),
    "compare tasks": ("Task ", "Over tasks", "logs. Metric: "),
    "holdout": ("The difference", "only base right", "new minus base"),
    "gate": ("Difference against the margin",),
    "plan": ("Power", "p10"),
    "report": ("precision",),
    "roc": ("ROC curves", "Precision and recall", "DeLong"),
    "cutpoint": ("ROC curve", "cutoff"),
    "lift": ("Gain", "Response rate by group"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_writes_a_page(capsys, files, name):
    words = [word.format(**files) for word in shlex.split(COMMANDS[name])]
    alone, out, err = run(capsys, *words)
    assert run(capsys, *words, "--report", files["page"]) == (alone, out, err)
    text = files["page"].read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert html.escape(f"fastcmp {shlex.join(words)}") in text
    for said in SAID.get(name, ()):
        assert said in text


def test_the_same_command_gives_the_same_bytes(capsys, files, tmp_path):
    other = tmp_path / "other.html"
    for page in (files["page"], other):
        main(["compare", str(files["both"]), "--report", str(page)])
        capsys.readouterr()
    assert files["page"].read_bytes() == other.read_bytes()
    files["both"].write_text(files["both"].read_text() + "60,1,1,1\n")
    main(["compare", str(files["both"]), "--report", str(other)])
    capsys.readouterr()
    assert files["page"].read_bytes() != other.read_bytes()


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("compare --example digits", example_path("digits")),
        ("roc --example digits --scores mlp", scores_path("digits")),
        ("compare --example demsar", demsar_path()),
    ],
)
def test_fingerprints_of_files(capsys, files, words, path):
    run(capsys, *words.split(), "--report", files["page"])
    text = files["page"].read_text("utf-8")
    content = path.read_bytes()
    assert f"{path.name}, {len(content):,} bytes" in text
    assert str(path) not in text  # the place of the package
    assert hashlib.sha256(content).hexdigest() in text


def test_the_fingerprint_of_a_folder_is_that_of_its_files(capsys, files):
    run(capsys, "compare", "--example", "logs", "--report", files["page"])
    paths = sorted(path for path in logs_path().rglob("*") if path.is_file())
    names = [path.relative_to(logs_path()).as_posix() for path in paths]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    lines = [f"{x}  {name}\n" for name, x in sorted(zip(names, digests, strict=True))]
    whole = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert whole in files["page"].read_text("utf-8")


NEVER = {
    "another ending": ("page.md", "--report must end in .html or .htm, got page.md"),
    "no ending": ("page", "--report must end in .html or .htm"),
    "a folder that is not there": ("none/page.html", "none/page.html: No such file"),
}


@pytest.mark.parametrize("command", ["compare", "holdout", "roc", "report"])
@pytest.mark.parametrize("name", NEVER)
def test_places_are_refused_before_files_are_read(capsys, tmp_path, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("nothing that could be read")
    path, message = NEVER[name]
    assert message in refused(capsys, command, "data.csv", "--report", path)


def test_a_report_does_not_replace_what_is_read_or_written(capsys, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("y_true,a,b\n0,0,1\n")
    words = ("compare", page, "--report", page)
    assert "--report would write" in refused(capsys, *words)
    words = ("compare", "--example", "digits", "--output", page, "--report", page)
    assert "--output and --report would both write" in refused(capsys, *words)
    assert page.read_text() == "y_true,a,b\n0,0,1\n"


@pytest.mark.parametrize("command", ["plan --p10 0.1 --p01 0.05", "study table5"])
def test_without_jinja2(capsys, tmp_path, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    folder = ("--folder", tmp_path / "here") if "study" in command else ()
    words = (*command.split(), *folder, "--report", tmp_path / "x.html")
    line = "--report needs Jinja2: pip install 'fastcmp[report]'"
    assert line in refused(capsys, *words)
    assert list(tmp_path.iterdir()) == []


def test_names_stay_text(capsys, files, tmp_path):
    hostile = "<script>alert(1)</script>"
    path = tmp_path / "<b>.csv"
    path.write_text(files["both"].read_text().replace("new", hostile))
    run(capsys, "compare", path, "--report", files["page"])
    text = files["page"].read_text("utf-8")
    assert hostile not in text
    assert html.escape(hostile) in text
    assert "<b>.csv" not in text
