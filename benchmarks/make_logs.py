"""Make the example logs of ``fastcmp/data/logs`` from data sets of scikit-learn.

Four classifiers learn from a few rows of each of three data sets and answer for 60
others. Their answers are written as the LM Evaluation Harness 0.4.13 writes those of a
language model: for each model a folder with ``samples_<task>_<stamp>.jsonl``, a line an
item, and ``results_<stamp>.json``.

Everything that could draw a random number is seeded, and every library is held to one
thread, so a second run on the same machine and versions writes the same bytes.

Run it as ``python benchmarks/make_logs.py``, with ``--output DIR`` to write elsewhere.
The accuracies go to standard output, as rows for ``README.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

SEED = 0
ITEMS = 60
STAMP = "2026-01-02T03-04-05.000001"
OUTPUT = Path(__file__).resolve().parents[1] / "fastcmp" / "data" / "logs"
#: Task -> data set, and rows to learn from.
TASKS = {
    "breast_cancer": (load_breast_cancer, 16),
    "digits": (load_digits, 120),
    "wine": (load_wine, 24),
}


def make_models() -> dict[str, ClassifierMixin]:
    """Return the unfitted classifiers by name."""
    return {
        "sklearn/logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "sklearn/knn_3": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        "sklearn/decision_tree": DecisionTreeClassifier(random_state=SEED),
        "sklearn/naive_bayes": GaussianNB(),
    }


def sha256(text: str) -> str:
    """Hash a text as the harness does."""
    return hashlib.sha256(text.encode()).hexdigest()


def line(task: str, doc_id: int, row: int, target: str, answer: str) -> dict[str, Any]:
    """Write the answer to one item."""
    doc = {"row": row, "answer": target}
    prompt = f"{task}, row {row}:"
    settings = {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"]}}}
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": settings,
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": sha256(json.dumps(doc, indent=2)),
        "prompt_hash": sha256(prompt),
        "target_hash": sha256(target),
        "acc": float(answer == target),
    }


def ask(task: str) -> dict[str, list[dict[str, Any]]]:
    """Let all models answer the items of one task."""
    load, n_train = TASKS[task]
    data = load()
    names = [str(name) for name in data.target_names]
    rows = np.arange(data.target.size)
    train, test = train_test_split(
        rows, train_size=n_train, test_size=ITEMS, random_state=SEED, stratify=data.target
    )
    test.sort()
    answers = {}
    for model, classifier in make_models().items():
        classifier.fit(data.data[train], data.target[train])
        predicted = classifier.predict(data.data[test])
        answers[model] = [
            line(task, i, int(row), names[data.target[row]], names[predicted[i]])
            for i, row in enumerate(test)
        ]
    return answers


def results(model: str, lines: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Write what the harness says of a whole run."""
    metrics = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]
    shots = {task: n_train for task, (_, n_train) in TASKS.items()}
    stated: dict[str, Any] = {"results": {}, "configs": {}, "n-samples": {}}
    for task, own in lines.items():
        right = np.array([entry["acc"] for entry in own])
        stated["results"][task] = {
            "alias": task,
            "sample_len": right.size,
            "acc,none": right.mean(),
            "acc_stderr,none": right.std(ddof=1) / np.sqrt(right.size),
        }
        stated["configs"][task] = {
            "task": task,
            "output_type": "generate_until",
            "num_fewshot": shots[task],
            "metric_list": metrics,
            "repeats": 1,
        }
        stated["n-samples"][task] = {"original": right.size, "effective": right.size}
    return stated | {
        "group_subtasks": {task: [] for task in lines},
        "versions": dict.fromkeys(lines, 1.0),
        "n-shot": shots,
        "higher_is_better": {task: {"acc": True} for task in lines},
        "config": {"model": "sklearn", "model_args": f"pretrained={model}"},
        "git_hash": None,
        "date": 1767323045.0,
        "lm_eval_version": "0.4.13",
        "task_hashes": {},
        "model_source": "sklearn",
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
    }


def write(folder: Path) -> None:
    """Write all logs, and print the accuracies."""
    answers = {task: ask(task) for task in TASKS}
    for model in make_models():
        own = {task: lines[model] for task, lines in answers.items()}
        place = folder / model.replace("/", "__")
        place.mkdir(parents=True, exist_ok=True)
        for task, lines in own.items():
            text = "".join(f"{json.dumps(entry)}\n" for entry in lines)
            path = place / f"samples_{task}_{STAMP}.jsonl"
            path.write_text(text, encoding="utf-8", newline="\n")
        text = json.dumps(results(model, own), indent=1) + "\n"
        path = place / f"results_{STAMP}.json"
        path.write_text(text, encoding="utf-8", newline="\n")
        right = [sum(entry["acc"] for entry in lines) for lines in own.values()]
        print(f"| {model} | " + " | ".join(f"{x:.0f}" for x in right) + " |")


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    with threadpool_limits(1):
        write(parser.parse_args().output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
