"""tau-bench and tau2-bench: rewards of errors, and users that must agree."""

import json

from log_parts import parts_in, refusal

import fastcmp


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def row(task, trial, reward, **info):
    info |= {"task": {"user_id": f"u{task}"}}
    return {"task_id": task, "reward": reward, "info": info, "traj": [], "trial": trial}


def test_tau_bench(tmp_path):
    rows = [row(0, 1, 1.0), row(0, 0, 0.0), row(1, 0, 0.0, error="boom"), row(1, 1, 1.0)]
    write(tmp_path / "act-m-0.0_user-u.json", rows)
    (part,) = parts_in("tau_bench", tmp_path)
    assert part.model == "act-m-0.0_user-u"
    assert "tau-bench names no model" in part.said
    found = sorted(zip(part.items, part.repeats, part.values.tolist(), part.status, strict=True))
    assert [each[2] for each in found[:2]] == [0, 1]
    assert found[2][3] == 1
    assert "item 1, repeat 0 (error: boom)" in refusal(tmp_path)
    other = [each | {"info": {"task": "other"}} for each in rows]
    write(tmp_path / "n.json", other)
    assert "info.task differs" in refusal(tmp_path, errors="drop")
    write(tmp_path / "n.json", [*rows, rows[0]])
    assert "has item 0, repeat 1 twice" in refusal(tmp_path, errors="drop")


def simulation(task, trial, reward, end="user_stop", cost=0.5):
    found = None if reward is None else {"reward": reward}
    given = {"id": f"{task}-{trial}", "task_id": task, "trial": trial, "reward_info": found}
    return given | {"termination_reason": end, "agent_cost": cost, "duration": 3.0}


def run(*simulations, llm="m", user="u", agent="llm_agent", n=2):
    info = {
        "num_trials": n,
        "user_info": {"llm": user},
        "agent_info": {"implementation": agent, "llm": llm},
        "environment_info": {"domain_name": "toy", "policy": "x" * 70_000},
    }
    tasks = [{"id": "a"}, {"id": "b"}]
    return {"timestamp": "", "info": info, "tasks": tasks, "simulations": list(simulations)}


GOOD = [simulation(task, trial, 1.0) for task in "ab" for trial in range(2)]


def test_tau2(tmp_path):
    failed = simulation("b", 0, None, "infrastructure_error", 0.0)
    ended = simulation("b", 1, None, "max_steps")
    write(tmp_path / "x.json", run(*GOOD[:2], failed, ended))
    write(tmp_path / "y.json", run(*GOOD, llm="n", agent="solo"))
    parts = {p.model: p for p in parts_in("tau_bench", tmp_path, metric="reward")}
    assert set(parts) == {"m", "solo/n"}
    assert parts["m"].task == "toy"
    assert parts["m"].values.tolist()[:2] == [1, 1]
    assert parts["m"].status == [0, 0, 1, 0]
    assert parts["m"].values[3] == 0
    assert "error: infrastructure_error" in refusal(tmp_path)
    cost = fastcmp.read_results(tmp_path, metric="agent_cost", errors="drop")
    assert cost.items.tolist() == ["a"]
    assert cost.lower_is_better
    write(tmp_path / "y.json", run(*GOOD, llm="n", user="other"))
    assert "the task or user_info.llm differs" in refusal(tmp_path, errors="drop")
    write(tmp_path / "y.json", run(*GOOD[:3], llm="n"))
    assert "says that it has 4 samples of task toy, and 3 are there" in refusal(tmp_path)


def test_simulations_in_files_of_their_own(tmp_path):
    content = run()
    del content["simulations"]
    index = [{"id": each["id"]} for each in GOOD]
    path = write(tmp_path / "results.json", content | {"simulation_index": index})
    for each in GOOD:
        write(tmp_path / "simulations" / f"{each['id']}.json", each)
    assert fastcmp.read_results(tmp_path).answers.shape == (1, 4)
    (tmp_path / "simulations" / "a-0.json").unlink()
    assert "simulation_index lists 4, simulations/ has 3" in refusal(tmp_path)
    path.unlink()
    assert "simulations need results.json of their run" in refusal(tmp_path)
