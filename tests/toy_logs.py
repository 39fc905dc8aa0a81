"""Small logs for tests: of Inspect, or long tables where they hold what Inspect does not."""

import json

#: What only a long table says, and its columns.
_LONG = {"subset": "subset", "clusters": "group", "attempts": "count"}
_STATUS = ("ok", "error", "unscored", "absent")


def part(model="a", items=(0, 1, 2), values=(1.0, 0.0, 1.0), **more):
    """Answers of a model to the items of a task."""
    return {"model": model, "items": list(items), "values": list(values)} | more


def write(folder, *files):
    """Write a file for each part, or list of parts: 0.log, 1.log, ... or 0.log.jsonl, ..."""
    for old in folder.glob("*.log*"):
        old.unlink()
    is_long = any({*_LONG, "form"} & own.keys() for own in files)
    for i, own in enumerate(files):
        if is_long:
            rows = map(json.dumps, _rows(own))
            (folder / f"{i}.log.jsonl").write_text("\n".join(rows))
        else:
            (folder / f"{i}.log").write_text(json.dumps(_inspect(own, i)))
    return folder


def _rows(own):
    n = len(own["items"])
    for i, (item, value) in enumerate(zip(own["items"], own["values"], strict=True)):
        row = {"item": item, "model": own["model"], "task": own.get("task", "t")}
        row |= {"metric": own.get("metric", "acc"), "value": value}
        row["repeat"] = own.get("repeats", [0] * n)[i]
        row["status"] = _STATUS[own.get("status", [0] * n)[i]]
        row |= {_LONG[k]: own[k] if k == "subset" else own[k][i] for k in _LONG if own.get(k)}
        yield row


def _inspect(own, number):
    metric, n = own.get("metric", "acc"), len(own["items"])
    reasons = own.get("reasons", {})
    samples = []
    for i, (item, value) in enumerate(zip(own["items"], own["values"], strict=True)):
        sample = {"id": item, "epoch": own.get("repeats", [1] * n)[i], "target": ""}
        asked = own.get("item_hash", [item] * n)[i]
        sample |= {"input": str(asked), "scores": {metric: {"value": value}}}
        if own.get("status", [0] * n)[i] == 1:
            sample |= {"scores": {}, "error": reasons.get(i, "failed")}
        samples.append(sample)
    spec = {"eval_id": own.get("run", str(number)), "created": own.get("created", "")}
    spec |= {"task": own.get("task", "t"), "model": own["model"], "dataset": {}, "config": {}}
    scores = [{"name": metric, "scorer": metric, "metrics": {}}]
    results = {"total_samples": own.get("n_stated", n), "scores": scores}
    if own.get("is_headline"):
        results["headline"] = {"scorer": metric, "score": metric, "metric": "mean"}
    head = {"version": 2, "status": "success", "eval": spec, "results": results}
    return head | {"samples": samples}
