"""Harnesses that write an entry for each answer, in JSON or JSON lines.

promptfoo, EvalPlus and HumanEval, DeepEval, NeMo Evaluator, MTEB and OpenCompass.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastcmp.core.render import visible
from fastcmp.io.formats import model_name
from fastcmp.io.logs.entries import as_text, at, mapping, named, number, objects, ratio, text, whole
from fastcmp.io.logs.files import LogFile
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart, Sign, grouped
from fastcmp.io.logs.json_lines import read_object, rows_of
from fastcmp.io.logs.parts import Answer, Failure, model_of, parts_of
from fastcmp.io.logs.words import counted, listed

# promptfoo: a row for each test, provider and prompt.


#: Variables that name a test.
_IDS = ("id", "case_id", "test_id", "item_id", "example_id", "question_id", "task_id", "uuid")
#: What is needed of a row: it may hold a long answer.
_OF_TEST = (
    *("provider", "prompt", "promptIdx", "testCase", "testIdx", "vars", "response", "error"),
    *("failureReason", "gradingResult", "success", "score", "namedScores"),
    *("cost", "tokenUsage", "latencyMs"),
)
#: Scores that each row has, and others cannot be called.
_OWN = ("pass", "score")


def _is_lines(file: LogFile) -> bool:
    """Whether a file is JSON lines, which are rows alone."""
    return bool(file.keys & {"promptIdx", "gradingResult"})


def _group_promptfoo(values: Sequence[LogFile], *_: object) -> list[tuple[LogFile]]:
    def stem(file: LogFile) -> Path:
        return file.path.with_name(model_name(file.path).removesuffix(".json"))

    whole_files = [file for file in values if not _is_lines(file)]
    stems = set(map(stem, whole_files))  # a run may have written both
    lines = [file for file in values if _is_lines(file) and stem(file) not in stems]
    if lines and whole_files:
        raise ValueError(
            f"{lines[0].path}: JSON lines beside JSON, maybe of one run: take one away"
        )
    return [(file,) for file in whole_files or lines]


def _read_promptfoo(file: LogFile, options: LogOptions) -> list[LogPart]:
    path = file.path
    remarks: tuple[str, ...] = ()
    content: dict[str, Any] = {}
    if _is_lines(file):
        rows: Iterable[dict[str, Any]] = rows_of(path, _OF_TEST, options.memory_limit)
        remarks = (f"{path}: JSON lines have no totals: a run that was killed looks whole",)
    else:
        content = read_object(path, options.memory_limit)
        if (version := at(content, "results", "version")) != 3:
            raise ValueError(
                f"{path}: wanted results of promptfoo of version 3, got {as_text(version)[:20]}: "
                "write them anew by promptfoo export eval ID -o results.json"
            )
        rows = objects(at(content, "results", "results"), path, "results.results")
    tests = [_test(row, path) for row in rows]
    several = len({text(at(row, "prompt", "label")) for row, _, _ in tests}) > 1
    named_as: dict[str, tuple[str, int | None]] = {}
    for row, _, answer in tests:
        answer.model += f" ({text(at(row, 'prompt', 'label'))})" if several else ""
        provider = as_text(at(row, "provider", "id")), whole(row.get("promptIdx"))
        first = named_as.setdefault(answer.model, provider)
        if first != provider:
            raise ValueError(
                f"{path}: two providers or prompts are called {visible(answer.model)} "
                f"(promptIdx {first[1]} and {provider[1]}): give each a label of its own"
            )
    key = _naming([variables for _, variables, _ in tests])
    for _, variables, answer in tests:
        answer.item = as_text(variables[key] if key else variables)
    stated = objects(at(content, "results", "prompts") or [], path, "results.prompts")
    means: dict[tuple[str, str], Any] = {}
    for model, (_, index) in named_as.items():
        if index is not None and index < len(stated):
            totals = at(stated[index], "metrics")
            counts = [whole(at(totals, f"test{x}Count")) or 0 for x in ("Pass", "Fail", "Error")]
            weights = [
                at(row, "gradingResult", "namedScoreWeights")
                for row, _, answer in tests
                if answer.model == model
            ]
            if len(weights) < sum(counts):
                raise ValueError(
                    f"{path}: the run of {visible(model)} says that it has {sum(counts)} rows, "
                    f"and {len(weights)} are there: the file is cut off, or was filtered"
                )
            means[model, "pass"] = ratio(counts[0], sum(counts))
            means[model, "score"] = ratio(at(totals, "score"), sum(counts))
            for metric in mapping(totals, "namedScoreWeights").keys() - set(_OWN):
                # A sum of scores times weights: a mean where all weights are one.
                if len({as_text(at(x, metric)) for x in weights if x}) == 1:
                    sums = (at(totals, k, metric) for k in ("namedScores", "namedScoreWeights"))
                    means[model, metric] = ratio(*sums)
    about = LogPart(
        source=path,
        task=text(at(content, "config", "description")),
        run=text(content.get("evalId")),
        created=text(at(content, "results", "timestamp")),
        hashed="testCase.vars or testCase.assert",
        remarks=remarks,
    )
    return parts_of((answer for _, _, answer in tests), about, means=means)


def _test(row: dict[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, Any], Answer]:
    """A row, the variables of its test, and the answer, whose item is yet to be named."""
    provider, case = row.get("provider"), row.get("testCase")
    name = at(provider, "label") or at(provider, "id") or provider
    model = named(name, path, "provider.label or provider.id")
    variables = _lasting(row.get("vars")) or _lasting(at(case, "vars"))
    if not variables:
        where = f"{path}: testIdx {as_text(row.get('testIdx'))}"
        raise ValueError(f"{where} has no vars, which name its test: give each an id")
    failure, why = row.get("failureReason"), text(row.get("error"))
    has_failed = failure == 2 if failure is not None else not row.get("gradingResult")
    error = Failure(why or "error") if has_failed and (why or failure == 2) else None
    values = {"pass": row.get("success"), "score": row.get("score")}
    for metric, value in mapping(row.get("namedScores")).items():
        values[f"namedScores.{metric}" if metric in _OWN else metric] = value
    is_cached = at(row, "response", "cached") is True
    answer = Answer(
        model=model,
        item="",
        values=values if error is None else {},
        costs={
            "cost": row.get("cost"),
            "tokens": at(row, "tokenUsage", "total"),
            "latencyMs": None if is_cached else row.get("latencyMs"),
        },
        error=error,
        identity=[_lasting(at(case, "vars")), at(case, "assert")],
        prompt=at(row, "prompt", "raw"),
    )
    return row, variables, answer


def _lasting(variables: object) -> dict[str, Any]:
    """Variables that are the same in each run."""
    return {k: x for k, x in mapping(variables).items() if k[:1] != "_" and k != "sessionId"}


def _naming(tests: Sequence[dict[str, Any]]) -> str:
    """The variable that names a test: one that differs wherever the others do; "" for none."""
    n_tests = len(set(map(as_text, tests)))
    for key in _IDS:
        is_there = all(isinstance(test.get(key), (str, int)) for test in tests)
        if is_there and len({as_text(test[key]) for test in tests}) == n_tests:
            return key
    return ""


# EvalPlus and HumanEval: programs that pass their tests, by task.


_COMPLETIONS = Sign(keys="task_id completion passed")
_ENDS = (".jsonl_results", "eval_results", "_results", "_", ".")


def _read_evalplus(file: LogFile, options: LogOptions) -> list[LogPart]:
    path = file.path
    model = model_of(path, *_ENDS)
    about = LogPart(
        source=path,
        hashed="hash (of the problems)",
        remarks=("EvalPlus, HumanEval: models are named by their files or folders",),
    )
    if _COMPLETIONS(file):
        rows = rows_of(path, ("task_id", "passed"), options.memory_limit)
        answers = [
            Answer(
                model=model,
                item=named(row.get("task_id"), path, "task_id"),
                values={"passed": row.get("passed")},
            )
            for row in rows
        ]
        return parts_of(answers, about)
    content = read_object(path, options.memory_limit)
    tasks = content.get("eval")
    if not isinstance(tasks, dict):
        raise ValueError(f"{path}: eval must be an object of tasks, got {as_text(tasks)[:40]!r}")
    solutions = {task: objects(entries, path, f"eval[{task!r}]") for task, entries in tasks.items()}
    has_plus = any(one.get("plus_status") for entries in solutions.values() for one in entries)
    identity = text(content.get("hash")) or None
    answers = []
    for task, entries in solutions.items():
        for one in entries:
            base, plus = (_passed(one.get(f"{x}_status"), path, task) for x in ("base", "plus"))
            both = None if base is None or plus is None else base and plus
            values = {"base": base, "plus": both} if has_plus else {"base": base}
            answers.append(Answer(model=model, item=task, values=values, identity=identity))
    stated = {(model, name): at(content, "pass_at_k", name, "pass@1") for name in ("base", "plus")}
    return parts_of(answers, about, means=stated)


def _passed(status: object, path: Path, task: str) -> bool | None:
    """Whether tests are passed; None where they were not run."""
    if status not in (None, "pass", "fail", "timeout"):
        raise ValueError(
            f"{path}: the status of a solution of {task} must be pass, fail, timeout or null, got "
            f"{as_text(status)[:40]!r}: is the file of another version?"
        )
    return None if status is None else bool(status == "pass")


# DeepEval: test cases with a score for each metric.


#: Names that are positions.
_POSITION = re.compile(r"(conversational_)?test_case_\d+")
#: What hyperparameters may call the model.
_MODELS = ("model", "model_name", "llm", "llm_model", "modelname")
_TEST_RUN = re.compile(r"test_run_\d{8}_\d{6}(_\d+)?|\.latest_(run_full|test_run)|\.deepeval.*")


def _read_deepeval(file: LogFile, options: LogOptions) -> list[LogPart]:
    path = file.path
    content = read_object(path, options.memory_limit)
    content = content["testRunData"] if isinstance(content.get("testRunData"), dict) else content
    both = ("testCases", "conversationalTestCases")
    cases = [case for key in both for case in objects(content.get(key) or [], path, key)]
    total = sum(whole(content.get(key)) or 0 for key in ("testPassed", "testFailed"))
    if len(cases) < total:
        raise ValueError(
            f"{path}: the run says that it has {counted(total, 'test case')}, and {len(cases)} are "
            "there: the file is cut off"
        )
    parameters = mapping(content.get("hyperparameters")).items()
    models = (text(x) for key, x in parameters if key.lower().replace(" ", "_") in _MODELS)
    model = next(filter(None, models), "")
    remarks: tuple[str, ...] = ()
    if not model:
        model = model_of(path)
        if _TEST_RUN.fullmatch(model):
            model = next(x.name for x in path.absolute().parents if x.name != ".deepeval")
        remark = f"{path}: no hyperparameter names the model: by its file or folder it is {model!r}"
        remarks = (remark,)
    judges: dict[str, dict[str, None]] = {}
    answers = [_test_case(case, model, path, judges) for case in cases]
    times = Counter(answer.item for answer in answers)
    if twice := [item for item, n in times.items() if n > 1]:
        raise ValueError(
            f"{path}: {listed(twice)}: {counted(len(twice), 'test case')} there twice, by name or "
            "input: give each test case a name of its own (LLMTestCase(name=...))"
        )
    scores = content.get("metricsScores")
    means = {}
    for metric_scores in scores if isinstance(scores, list) else ():
        numbers = at(metric_scores, "scores")
        numbers = [number(x) for x in numbers] if isinstance(numbers, list) else []
        if numbers and None not in numbers:
            means[model, as_text(at(metric_scores, "metric"))] = sum(numbers) / len(numbers)
    stamp = re.search(r"\d{8}_\d{6}", path.name)
    about = LogPart(
        source=path,
        run=str(path),
        created=stamp[0] if stamp else "",
        hashed="input or expectedOutput",
        settings={f"judge of {name}": ", ".join(judged_by) for name, judged_by in judges.items()},
        remarks=remarks,
    )
    return parts_of(answers, about, means=means)


def _test_case(
    case: dict[str, Any], model: str, path: Path, judges: dict[str, dict[str, None]]
) -> Answer:
    """A test case as an answer; the judges of its metrics are noted."""
    question = case.get("input", case.get("scenario"))
    name = text(case.get("name"))
    if not name or _POSITION.fullmatch(name):
        name_value = as_text(question) if isinstance(question, (list, dict)) else question
        name = named(name_value, path, "input or scenario")
    values: dict[str, Any] = {}
    for metric in objects(case.get("metricsData") or [], path, f"metricsData of {name}"):
        key = named(metric.get("name"), path, f"the name of a metric of {name}")
        if key in values:
            raise ValueError(
                f"{path}: test case {visible(name)} has two metrics called {visible(key)}: give "
                "each a name of its own"
            )
        why = text(metric.get("error"))
        values[key] = Failure(why) if why else metric.get("score")
        if judge := text(metric.get("evaluationModel")):
            judges.setdefault(key, {})[judge] = None
    expected = case.get("expectedOutput", case.get("expectedOutcome"))
    costs = {key: case.get(key) for key in ("tokenCost", "completionTime")}
    return Answer(model=model, item=name, values=values, costs=costs, identity=[question, expected])


# NeMo Evaluator 0.4: results.jsonl of a benchmark, and eval-*.json beside it.


#: What is needed of a line.
_OF_PROBLEM = (
    *("problem_idx", "repeat", "reward", "scorer_rewards", "prompt", "expected_answer"),
    *("scoring_details", "tokens", "latency_ms"),
)


def _read_nemo(file: LogFile, beside: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    path = file.path
    totals = [file.path for file in beside if file.path.name.startswith("eval-")]
    folder = path.absolute().parent
    near = [total for total in totals if total.absolute().parent == folder]
    if not near:  # of all benchmarks, in the folder of the run
        above = [total for total in totals if total.absolute().parent == folder.parent]
        near = [total for total in above if total.stem.endswith(f"-{folder.name}")]
    if len(near) > 1:
        raise ValueError(f"{path}: {listed(near)} may be of its run: take all but one away")
    about: dict[str, Any] = read_object(near[0], options.memory_limit) if near else {}
    model, task = (text(at(about, "config", "model")), text(at(about, "benchmark", "name")))
    remarks: tuple[str, ...] = ()
    if not model:
        model = folder.parent.name
        remarks = (f"{path}: no eval-*.json names the model: it is called {model!r}",)
    answers = []
    for row in rows_of(path, _OF_PROBLEM, options.memory_limit):
        why = text(at(row, "scoring_details", "error_category"))  # then the reward is 0
        answer = Answer(
            model=model,
            task=task or folder.name,
            item=named(row.get("problem_idx"), path, "problem_idx"),
            repeat=whole(row.get("repeat")),
            values={} if why else {"reward": row.get("reward"), **mapping(row, "scorer_rewards")},
            costs={"tokens": row.get("tokens"), "latency_ms": row.get("latency_ms")},
            error=Failure(why) if why else None,
            identity=[row.get("prompt"), row.get("expected_answer")],
        )
        answers.append(answer)
    choice = {key: at(about, "config", key) for key in ("max_problems", "shuffle_seed")}
    part = LogPart(
        source=path,
        run=str(near[0] if near else path),
        created=near[0].stem if near else "",
        hashed="prompt or expected_answer",
        n_stated=whole(about.get("n_results")),
        settings={key: str(value) for key, value in choice.items()} if about else {},
        remarks=remarks,
    )
    mean = at(about, "benchmark", "scores", "summary", "mean")
    return parts_of(answers, part, means={(model, "reward"): mean})


# MTEB: scores of embedding models by task, split and subset.


_META = "model_meta.json"


def _group_mteb(values: Sequence[LogFile], *_: object) -> list[tuple[Path, list[LogFile]]]:
    """Take the tasks of a model and revision together."""
    files = sorted(values, key=lambda log_file: log_file.path.name)
    return list(grouped(files, lambda file: file.path.absolute().parent).items())


def _read_mteb(folder: Path, files: Sequence[LogFile], options: LogOptions) -> list[LogPart]:
    metric = options.metric or "main_score"
    model = folder.parent.name.replace("__", "/", 1)  # <org>__<model>/<revision>
    if (meta := folder / _META).is_file():
        model = str(read_object(meta, options.memory_limit).get("name") or model)
    answers: list[Answer] = []
    versions = set()
    for file in files:
        content = read_object(file.path, options.memory_limit)
        versions.add(str(content.get("mteb_version", "")))
        scores = list(_task_scores(content, metric, model, file.path))
        if not scores:
            raise ValueError(f"{file.path} holds no scores")
        answers += scores
    about = LogPart(
        source=files[0].path if len(files) == 1 else files[0].path.parent,
        hashed="dataset_revision",
        run=folder.name,
        unit="task",
        settings={"mteb_version": ", ".join(sorted(versions))},
    )
    return parts_of(answers, about)


def _task_scores(content: dict[str, Any], metric: str, model: str, path: Path) -> Iterator[Answer]:
    """The scores of a task by split and subset."""
    task = named(content.get("task_name", path.stem), path, "task_name")
    for split, scores in mapping(content, "scores").items():
        for entry in objects(scores, path, f"scores[{split!r}]"):
            if metric not in entry:
                metrics = ", ".join(k for k, v in entry.items() if type(v) is float)
                raise ValueError(f"{path} has no {metric!r} in {split}; there are: {metrics}")
            yield Answer(
                model=model,
                item=f"{task}/{split}/{entry.get('hf_subset', 'default')}",
                repeat=0,  # one that is there twice is refused
                values={metric: entry[metric]},
                cluster=task,
                identity=at(content, "dataset_revision"),
            )


# OpenCompass: results/<model>/<dataset>.json with details of each item.


_NUMBERED = re.compile(r"(.+)_(\d+)")
_STAMP = re.compile(r"\d{8}_\d{6}")
_DUMP = (
    "OpenCompass writes that to results/<model>/<dataset>.json, under details, where it is asked "
    "to dump them (--dump-eval-details)"
)


def _is_score(file: LogFile) -> bool:
    return any(key.startswith(("accuracy", "score")) for key in file.keys)


def _in_results(file: LogFile) -> bool:
    return file.path.absolute().parent.parent.name == "results"


def _has_details(file: LogFile) -> bool:
    return "details" in file.keys and (_is_score(file) or _in_results(file))


def _is_beside_details(file: LogFile) -> bool:
    """Whether these are predictions without a verdict, or a score."""
    if "0" in file.keys and not _in_results(file):
        return b'"prediction"' in file.head
    return _in_results(file) and _is_score(file)


def _group_opencompass(
    values: Sequence[LogFile], beside: Sequence[LogFile], options: LogOptions
) -> list[tuple[Path, str, list[LogFile]]]:
    """Take together a data set, whose parts _0, _1, ... may be files of their own."""
    scored = {file.path.absolute(): file for file in values}
    for file in beside:
        path = file.path.absolute()
        stem = _NUMBERED.sub(r"\1", path.stem)
        folder = path.parents[2] / "results" / path.parent.name
        names = {path.stem, stem, f"{stem}_0"}
        is_of_tasks = options.tasks is None or names & set(options.tasks)
        if is_of_tasks and not any(folder / f"{name}.json" in scored for name in names):
            raise ValueError(f"{file.path} does not say which answers are right: {_DUMP}")

    def data_set(path: Path) -> tuple[Path, str]:
        """Folder and name: without a number where parts 0 and 1 are there, and no whole."""
        if match := _NUMBERED.fullmatch(path.stem):
            undivided, *parts = (path.with_name(f"{match[1]}{x}.json") for x in ("", "_0", "_1"))
            if undivided not in scored and all(part in scored for part in parts):
                return path.parent, match[1]
        return path.parent, path.stem

    sets = grouped(scored, data_set)
    return [(*key, [scored[path] for path in paths]) for key, paths in sets.items()]


def _read_opencompass(
    folder: Path, name: str, files: Sequence[LogFile], options: LogOptions
) -> list[LogPart]:
    files = sorted(files, key=lambda f: (len(f.path.stem), f.path.stem))
    answers: list[Answer] = []
    stated = 0.0
    for i, file in enumerate(files):
        content = read_object(file.path, options.memory_limit)
        replicas = list(_replicas(content.get("details"), folder.name, file.path))
        if len(files) > 1 and {x.item for x in replicas} & {x.item for x in answers}:
            replicas = [replace(replica, item=f"{i}:{replica.item}") for replica in replicas]
        answers += replicas
        accuracy = number(content.get("accuracy"))  # in percent
        stated += math.nan if accuracy is None else accuracy / 100 * len(replicas)
    run = folder.parents[1].name
    about = LogPart(
        source=files[0].path,
        files=tuple(file.path for file in files),
        task=name,
        hashed="answer",
        run=run,
        remarks=("OpenCompass: models are named by their folders",),
        created=run if _STAMP.fullmatch(run) else "",
    )
    return parts_of(answers, about, means={(folder.name, "correct"): stated / len(answers)})


def _replicas(details: object, model: str, path: Path) -> Iterator[Answer]:
    """The answers in the details, in either of their forms, one a replica."""
    if isinstance(details, dict):
        entries_by_item = [(k, v) for k, v in details.items() if isinstance(v, dict)]
    else:
        entries = objects(details or [], path, "details")
        entries_by_item = [(str(v.get("example_abbr", i)), v) for i, v in enumerate(entries)]
    if not entries_by_item:
        raise ValueError(f"{path} holds no details of items")
    for item, entry in entries_by_item:
        answer = entry.get("answer", entry.get("gold", entry.get("references")))
        if isinstance(answer, list) and all(one_gold == answer[0] for one_gold in answer[1:]):
            answer = answer[0] if answer else None  # one a replica
        if not entry.keys() & {"correct", "is_correct"}:
            raise ValueError(
                f"{path}: the details of item {item} hold neither 'correct' nor 'is_correct': "
                "it is not said whether the answer is right"
            )
        right = entry.get("correct", entry.get("is_correct"))
        for repeat, value in enumerate(right if isinstance(right, list) else [right]):
            values = {"correct": value}
            yield Answer(model=model, item=item, repeat=repeat, values=values, identity=answer)


FORMATS = (
    LogFormat(
        name="promptfoo",
        title="promptfoo",
        values=(
            Sign(keys="evalId results"),
            Sign(pattern=rb'"results"\s*:\s*\{\s*"version"\s*:\s*\d'),
            Sign(keys="gradingResult", holds=(b'"namedScoreWeights"',)),  # cut by a long answer
            Sign(keys="promptIdx testIdx"),
        ),
        beside=(
            Sign(columns="Status Score", holds=(b"Grader Reason",)),
            Sign(pattern=rb"\A(?:\s*(?:<\?xml[^>]*>\s*)?<promptfoo>|evalId:\s)"),
        ),
        read=_read_promptfoo,
        group=_group_promptfoo,
        alone="write JSON, by promptfoo eval -o results.json or promptfoo export eval ID -o "
        "results.json: tables round, and count an error as 0",
    ),
    LogFormat(
        name="evalplus",
        title="EvalPlus or HumanEval",
        values=(
            _COMPLETIONS,
            Sign(keys="date hash eval"),
            Sign(keys="eval", holds=(b'"base_status"',)),
        ),
        beside=(Sign(keys="config", without="benchmark", holds=(b'"pass@1"',)),),
        read=_read_evalplus,
        alone="pass@k is a figure of the whole run; let evalplus.evaluate, or evaluate_functional_"
        "correctness of HumanEval, write *_eval_results.json or *_results.jsonl",
    ),
    LogFormat(
        name="deepeval",
        title="DeepEval",
        values=(
            Sign(keys="testCases|conversationalTestCases"),
            Sign(keys="testRunData", holds=(b'"testCases"',)),
        ),
        beside=(Sign(name=".*deepeval.*", pattern=rb"\ASQLite format 3"),),
        read=_read_deepeval,
        names=r"test_run_\d{8}_\d{6}.*\.json",
        alone="a local store of SQLite is not read: let DeepEval write test_run_*.json, by "
        "DEEPEVAL_RESULTS_FOLDER",
    ),
    LogFormat(
        name="nemo_evaluator",
        title="NeMo Evaluator",
        values=(Sign(keys="problem_idx repeat reward"),),
        beside=(
            Sign(name=r"eval_factory_metrics\.json"),
            Sign(name=r"results\.yml", holds=(b"tasks:",)),
            Sign(keys="config benchmark", holds=(b'"repeats"',)),
        ),
        read=_read_nemo,
        group=lambda values, beside, _: [(file, beside) for file in values],
        names=r"eval-\d.*\.json",
        alone="figures of whole runs are no values: name results.jsonl of version 0.4, or, of "
        "version 0.2, the samples of the harness that it ran",
    ),
    LogFormat(
        name="mteb",
        title="MTEB",
        # Keys are sorted in many files, and scores are long.
        values=(Sign(keys="dataset_revision scores task_name|mteb_version"),),
        beside=(Sign(name=r"model_meta\.json"),),
        read=_read_mteb,
        group=_group_mteb,
    ),
    LogFormat(
        name="opencompass",
        title="OpenCompass",
        values=(_has_details,),
        beside=(_is_beside_details,),
        read=_read_opencompass,
        group=_group_opencompass,
        alone=_DUMP,
    ),
)
