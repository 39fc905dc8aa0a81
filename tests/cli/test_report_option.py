"""`--report FILE`: each command writes a page, or refuses before it reads."""

import hashlib
import html
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import refused, run, written

from fastcmp.data import demsar_path, example_path, logs_path, scores_path


@pytest.fixture
def files(tmp_path):
    """Files that commands read: labels of two models, one model each, battles."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    new, base = (np.where(rng.random(60) < p, truth, 1 - truth) for p in (0.9, 0.8))
    both = {"id": range(60), "y_true": truth}
    return {
        "both": written(tmp_path / "both.csv", **both, new=new, base=base),
        "new": written(tmp_path / "new.csv", **both, m=new),
        "base": written(tmp_path / "base.csv", **both, m=base),
        "page": tmp_path / "page.html",
    }


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


def test_fingerprints_of_files(capsys, files):
    for words, path in (
        ("compare --example digits", example_path("digits")),
        ("roc --example digits --scores mlp", scores_path("digits")),
        ("compare --example demsar", demsar_path()),
    ):
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


@pytest.mark.parametrize("command", ["compare", "holdout", "roc", "report"])
def test_places_are_refused_before_files_are_read(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("nothing that could be read")
    for path, message in (
        ("page.md", "--report must end in .html or .htm, got page.md"),
        ("page", "--report must end in .html or .htm"),
        ("none/page.html", "none/page.html: No such file"),
    ):
        assert message in refused(capsys, command, "data.csv", "--report", path)


def test_a_report_does_not_replace_what_is_read_or_written(capsys, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("y_true,a,b\n0,0,1\n")
    words = ("compare", page, "--report", page)
    assert "--report would write" in refused(capsys, *words)
    words = ("compare", "--example", "digits", "--output", page, "--report", page)
    assert "--output and --report would both write" in refused(capsys, *words)
    assert page.read_text() == "y_true,a,b\n0,0,1\n"


def test_without_jinja2(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    words = (*["plan", "--p10", "0.1", "--p01", "0.05"], "--report", tmp_path / "x.html")
    line = "--report needs Jinja2: pip install 'fastcmp[report]'"
    assert line in refused(capsys, *words)
    assert list(tmp_path.iterdir()) == []
