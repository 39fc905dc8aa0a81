"""Values by query of trec_eval -q and of ir_measures -q, three columns of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fastcmp.core.errors import BadValueError
from fastcmp.core.render import visible
from fastcmp.io.formats import model_name
from fastcmp.io.logs.agents import read_ids
from fastcmp.io.logs.files import LogFile, opened
from fastcmp.io.logs.format import LogFormat, LogOptions, LogPart
from fastcmp.io.logs.json_lines import refuse_line
from fastcmp.io.logs.parts import Answer, model_of, parts_of
from fastcmp.io.logs.tables import grade
from fastcmp.io.logs.words import counted, listed

_ALL = "all"
#: Measures of the two tools.
_TREC = re.compile(
    r"(num_|gm_|set_|iprec_at_recall_|P_|recall_|relative_P_|success_|utility|relstring|prefs_|"
    r"R?ndcg|map|Rprec|bpref|recip_rank|infAP|11pt_avg|runid$|G$|binG$)[\w.,=-]*"
)
_IR = re.compile(
    r"(n?DCG|NDCG|SDCG|alpha_n?DCG|G?M?AP|AP_IA|P|P_IA|Precision|R|Recall|M?RR|R[Pp]rec|Success|"
    r"Bpref|infAP|n?n?ERR\w*|N?NERR\w*|RBP|n?NRBP|BPM|INS[TQ]|IPrec|Judged|Set\w+|Num\w+|Accuracy|"
    r"StRecall|Compat|HitRate)(\(\S*\))?(@\d+)?"
)
#: Lines of qrels, of runs, and of means by ir_measures.
_BESIDE = re.compile(rf"\S+\s+(Q0|0)\s+\S+\s+-?\d+(\s+\S+\s+\S+)?\s*|{_IR.pattern}\t[-+.\de]+\s*")
_NUMBER = re.compile(r"[-+.\deE]+|nan|-?inf")
#: Counts and geometric means, which are no values of a query, and texts.
_TEXTS = ("runid", "relstring")
_NO_VALUES = re.compile(r"num_|gm_|Num|GMAP|runid|relstring")


def _fields(line: str) -> list[str]:
    """What stands between tabs, or spaces where there are none."""
    return [x.strip() for x in line.split("\t")] if line.count("\t") == 2 else line.split()


def _layout(lines: Sequence[str]) -> str:
    """The tool, by the column of measures; "beside" for runs, qrels and means."""
    rows = [_fields(line) for line in lines if line.strip()]
    if rows and all(_BESIDE.fullmatch(line) for line in lines if line.strip()):
        return "beside"
    if any(len(row) != 3 or not (row[0] in _TEXTS or _NUMBER.fullmatch(row[2])) for row in rows):
        return ""
    for column, tool in enumerate(("trec_eval", "ir_measures")):
        measures, others = ({row[i] for row in rows} for i in (column, 1 - column))
        if all(_TREC.fullmatch(x) or _IR.fullmatch(x) for x in measures) or _ALL in others:
            return ("beside" if others == {_ALL} else tool) if rows else ""
    return ""


def _of(file: LogFile) -> str:
    if file.head[:1] in b"{[<" or b"\0" in file.head:
        is_ranx = {"model_names", "metrics"} <= file.keys or b'"win_tie_loss"' in file.head
        return "beside" if is_ranx else ""
    lines = file.head.decode("utf-8-sig", "replace").splitlines()
    return _layout(lines[:-1] or lines)  # the last line may be cut off


def _group(values: Sequence[LogFile], *_: object) -> list[tuple[LogFile]]:
    first = {_of(file): file.path for file in values}
    if {"trec_eval", "ir_measures"} <= first.keys():
        raise ValueError(
            f"{first['trec_eval']} is of trec_eval, and {first['ir_measures']} of ir_measures, "
            "which count queries without an answer in other ways: write all by one of them"
        )
    return [(file,) for file in values]


def _read(file: LogFile, options: LogOptions) -> list[LogPart]:
    path = file.path
    is_trec = _of(file) != "ir_measures"
    queries: dict[str, dict[str, float]] = {}
    means: dict[str, float] = {}
    model, places = "", 9
    for number, fields in _lines(path):
        metric, query = fields[:2] if is_trec else fields[1::-1]
        if metric == "runid":
            model = fields[2]
        if metric == "num_q" or not _NO_VALUES.match(metric):
            value = grade(fields[2], path, metric)
            places = min(places, len(fields[2].partition(".")[2]) or places)
            scores = means if query == _ALL else queries.setdefault(query, {})
            if scores.setdefault(metric, value) is not value:
                refuse_line(path, number, f"query {visible(query)} has {metric} twice: keep one")
    n_stated = means.pop("num_q", 0.0)
    n_all = int(n_stated) if n_stated > 0 else len(queries)
    metrics = dict.fromkeys(metric for scores in queries.values() for metric in scores)
    for query, scores in queries.items():
        if len(scores) < len(metrics):
            lacks = next(metric for metric in metrics if metric not in scores)
            raise ValueError(f"{path}: query {visible(query)} has no {lacks}: the file is cut off")
    model = model or model_of(path, Path(model_name(path)).suffix)
    note = f"{path} has no lines `all`: that it is whole cannot be seen"
    remarks = [] if means else [note]
    n = counted(n_all, "query").replace("querys", "queries")
    lacking = (
        f"its line 'all' is over {n}, and one with nothing retrieved has no line: pass `ids=`, all "
        "queries, to count them as 0"
    )
    if options.ids is not None:
        lines = [(line, line.split()) for line in read_ids(options.ids)]
        # A line of qrels, or the query itself.
        all_queries = dict.fromkeys(
            x[0] if len(x) == 4 and x[1] in ("0", "Q0") else y for y, x in lines
        )
        if other := [query for query in queries if query not in all_queries]:
            raise BadValueError(
                f"{path}: {listed(other)}: not among the {len(all_queries)} of `ids=`"
            )
        if absent := [query for query in all_queries if query not in queries]:
            queries |= {query: dict.fromkeys(metrics, 0.0) for query in absent}
            metric_shown = options.metric if options.metric in means else next(iter(means), "")
            note = (
                f": its own mean of {metric_shown}, {means[metric_shown]:.4f}, is over {n}"
                if metric_shown
                else ""
            )
            remarks.append(f"{path}: {listed(absent)} of ids= without a line counted as 0{note}")
            means = {}
    answers = [Answer(model=model, item=query, values=scores) for query, scores in queries.items()]
    stated = {}
    for metric, mean in means.items():
        total = sum(scores.get(metric, 0.0) for scores in queries.values())
        # Values and mean are rounded; trec_eval -c counts queries without a line as 0.
        if not any(
            abs(total / (m or 1) - mean) <= 1.01 * 0.1**places for m in (len(queries), n_all)
        ):
            stated[model, metric] = mean
    return parts_of(
        answers,
        LogPart(source=path, lacking=lacking if is_trec else "", remarks=tuple(remarks)),
        means=stated,
    )


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, and its number."""
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            try:
                fields = _fields(line.decode("utf-8-sig"))
            except UnicodeDecodeError:
                refuse_line(path, number, "is not UTF-8")
            if len(fields) not in (0, 3):
                problem = f"wanted measure, query and value, got {len(fields)} columns"
                refuse_line(path, number, f"{problem}: is the file cut off?")
            if fields:
                yield number, fields


FORMATS = (
    LogFormat(
        name="trec_eval",
        title="trec_eval or ir_measures",
        values=(lambda file: _of(file) not in ("", "beside"),),
        beside=(lambda file: _of(file) == "beside",),
        read=_read,
        group=_group,
        alone="runs, qrels and means hold none; write them by `trec_eval -q -m map QRELS RUN > "
        "MODEL.eval`, or `ir_measures -q QRELS RUN AP nDCG@10 > MODEL.eval`, a file for each model",
    ),
)
