"""Plant faults in the package, one at a time, and count those that the default tests catch.

    python tests/faults.py --seed 1 --n 150 --workers 2

Each fault is planted in a copy of the checkout, and the tests that execute its line are run there,
the fastest first, until one fails that passes without the fault. Which test executes which line is
found beforehand, once for every test file as it is, and kept beside the copies (``--scratch``).
Not drawn: what leaves the same syntax tree, and modules that give no answers (``NO_ANSWERS``). What
is not caught is listed: each of these changes no answer, or asks for a test; this is for a reader
to tell. Not part of the default tests.
"""

import argparse
import ast
import functools
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from shutil import copytree, ignore_patterns, rmtree

import pytest

ROOT = Path(__file__).parent.parent
#: Words that swap places: names and strings.
TAILS = {
    "greater": "less",
    "left": "right",
    "upper": "lower",
    "sf": "cdf",
    "lower_tail": "upper_tail",
}
ENDS = {"low": "high", "min": "max", "minimum": "maximum", "argmin": "argmax", "fmin": "fmax"}
TAILS |= {new: old for old, new in TAILS.items()} | {"two-sided": "greater"}
ENDS |= {new: old for old, new in ENDS.items()}
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
ORDERS = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
}
#: Modules that give no answers: what compiles, and what is seen while it works.
NO_ANSWERS = r"fastcmp/(_\w+|core/threads|cli/doctor).py"
UNITS = {"groups", "strata", "clusters", "weights", "sample_weight", "stratum_weights", "blocks"}


# --------------------------------------------------------------------------- faults


def places(node):
    """The nodes of a module that make answers, each with what it stands in."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if field in ("annotation", "returns", "decorator_list", "bases", "slice_type"):
                continue
            if not isinstance(child, ast.AST) or isinstance(child, (ast.Raise, ast.JoinedStr)):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, (ast.AnnAssign, ast.Import, ast.ImportFrom)):
                if getattr(child, "value", None) is not None:
                    yield from places(child)
                continue
            yield child, node
            yield from places(child)


@functools.cache
def defaults():
    """The options with a default, for each function and class of the package by its name."""
    found = defaultdict(set)
    for path in (ROOT / "fastcmp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                given = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                found[node.name] |= {arg.arg for arg, default in given if default is not None}
                number = len(node.args.defaults)
                found[node.name] |= {arg.arg for arg in node.args.args[-number:] if number}
            if isinstance(node, ast.ClassDef):
                fields = (x for x in node.body if isinstance(x, ast.AnnAssign) and x.value)
                found[node.name] |= {x.target.id for x in fields if isinstance(x.target, ast.Name)}
    return found


def faults(source):
    """Yield kind, first and last byte, and what to put there, for each fault of a source."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node):
        first = starts[node.lineno - 1] + node.col_offset
        return first, starts[node.end_lineno - 1] + node.end_col_offset

    def text(node):
        return source[slice(*span(node))].decode()

    def between(left, right, old, new):
        gap = slice(span(left)[1], span(right)[0])
        yield gap.start, gap.stop, source[gap].decode().replace(old, new, 1)

    def number(node):
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)

    for node, parent in places(ast.parse(source)):
        if isinstance(node, ast.BinOp):
            old, new = SIGNS.get(type(node.op), ("", ""))
            words = [x for x in ast.walk(node) if isinstance(x, (ast.JoinedStr, ast.List))]
            words += [x for x in ast.walk(node) if isinstance(getattr(x, "value", 0), str)]
            if old and not words:
                for change in between(node.left, node.right, old, new):
                    yield "sign", *change
            for constant, other in ((node.left, node.right), (node.right, node.left)):
                if number(constant) and not words:
                    yield "constant", *span(node), f"({text(other)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if not number(node.operand):
                yield "sign", *span(node), text(node.operand)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield "and-or", *span(node), text(node.operand)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in ORDERS:
            old, others = ORDERS[type(node.ops[0])]
            for new in others:
                for change in between(node.left, node.comparators[0], old, new):
                    yield "comparison", *change
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for change in between(*node.values[:2], old, new):
                yield "and-or", *change
        elif number(node) and type(node.value) is int and abs(node.value) < 10:
            if isinstance(parent, (ast.BinOp, ast.Subscript, ast.Slice, ast.Call, ast.Compare)):
                yield "off by one", *span(node), str(node.value + 1)
        elif isinstance(node, ast.Constant) and TAILS.get(node.value):
            yield "tail", *span(node), repr(TAILS[node.value])
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if other := TAILS.get(name) or ENDS.get(name):
                kind = "tail" if name in TAILS else "ends"
                yield kind, *span(node), text(node).removesuffix(name) + other
            passed = isinstance(parent, (ast.Call, ast.keyword))
            if name in UNITS and passed and getattr(parent, "func", None) is not node:
                yield "units", *span(node), "None"
        elif isinstance(node, ast.Call):
            callee = node.func.attr if isinstance(node.func, ast.Attribute) else text(node.func)
            for keyword in node.keywords:
                if keyword.arg in defaults()[callee] and not isinstance(
                    keyword.value, ast.Constant
                ):
                    first, last = span(keyword)
                    last += len(re.match(rb"\s*,?", source[last:])[0])
                    yield "option", first, last, ""
            if callee in ("Interval", "interval") and len(node.args) == 2:
                first, last = map(span, node.args)
                yield "ends", first[0], last[1], f"{text(node.args[1])}, {text(node.args[0])}"
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            if re.search(r"low|high|upper|-np.inf|left|right", text(node)):
                first, last = map(span, node.elts)
                yield "ends", first[0], last[1], f"{text(node.elts[1])}, {text(node.elts[0])}"
        elif isinstance(node, ast.If):
            yield "block", *span(node.test), "False"
        elif isinstance(node, (ast.AugAssign, ast.Expr)):
            yield "block", *span(node), "pass"
        elif isinstance(node, ast.For):
            yield "block", *span(node.iter), f"list({text(node.iter)})[1:]"


def draw(seed, n, pattern):
    """Faults of all kinds alike often, each place once."""
    kinds = defaultdict(list)
    for path in sorted((ROOT / "fastcmp").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if re.search(pattern, name) and not re.fullmatch(NO_ANSWERS, name):
            source = path.read_bytes()
            for kind, first, last, new in faults(source):
                kinds[kind].append((name, kind, first, last, new))
    rng, drawn = random.Random(seed), []
    while len(drawn) < n and any(kinds.values()):
        sites = kinds[rng.choice(sorted(kind for kind in kinds if kinds[kind]))]
        fault = sites.pop(rng.randrange(len(sites)))
        if fault not in drawn and changed(fault):
            drawn.append(fault)
    return drawn


# --------------------------------------------------------------------------- which test runs what


class Map:
    """A plugin of pytest: lines that each test executes, and those of the fixtures it uses."""

    def __init__(self, root):
        import coverage

        source = [root / "fastcmp"]
        self.coverage = coverage.Coverage(data_file=None, config_file=False, source=source)
        self.seconds, self.fixtures, self.root = {}, {}, root
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        for name, module in list(sys.modules.items()):  # what is kept is made anew
            if name.startswith("fastcmp") or "test" in name:
                for value in list(vars(module).values()):
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()
        self.fixtures[item.nodeid] = [*getattr(item, "fixturenames", ())]
        self.coverage.switch_context(item.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope == "function":
            return (yield)
        self.coverage.switch_context(f"fixture {fixturedef.argname}")
        try:
            return (yield)
        finally:
            self.coverage.switch_context(request._pyfuncitem.nodeid)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration

    def pytest_sessionfinish(self):
        self.coverage.stop()
        data, lines = self.coverage.get_data(), defaultdict(dict)
        for path in data.measured_files():
            name = Path(path).relative_to(self.root).as_posix()
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in contexts:
                    lines[context].setdefault(name, []).append(line)
        for test, seconds in self.seconds.items():
            executed = defaultdict(set)
            for context in (test, *(f"fixture {x}" for x in self.fixtures[test])):
                for name, numbers in lines.get(context, {}).items():
                    executed[name] |= set(numbers)
            executed = {name: sorted(numbers) for name, numbers in executed.items()}
            print("MAPPED", json.dumps([test, seconds, executed]))


def pytest_configure(config):
    if "FAULTS_MAP" in os.environ:
        config.pluginmanager.register(Map(Path(os.environ["FAULTS_MAP"])))


def run(copy, arguments, seconds, **variables):
    """Run pytest on a copy; its output and exit code, or 1 where it does not end."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "faults"]
    variables |= {"PYTHONPATH": f"{copy}{os.pathsep}{copy / 'tests'}"}
    variables |= {"PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(
        [*command, *arguments],
        cwd=copy,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=seconds)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return process.communicate()[0], 1


def map_tests(copies, scratch, pattern, mapped_only):
    """The tests of all files: seconds, and lines by module."""
    (scratch / "map").mkdir(exist_ok=True)

    def mapped(paths):
        names = [path.relative_to(ROOT).as_posix() for path in paths]
        source = repr([(name, (ROOT / name).read_bytes()) for name in names])
        known = scratch / "map" / hashlib.sha256(source.encode()).hexdigest()
        if not known.exists() and mapped_only:
            return []
        if not known.exists():
            copy = copies.get()
            text, _ = run(
                copy,
                ["-s", "--timeout=20", "--session-timeout=150", *names],
                300,
                FAULTS_MAP=str(copy),
            )
            copies.put(copy)
            lines = [x[x.index("MAPPED ") + 7 :] for x in text.splitlines() if "MAPPED " in x]
            known.write_text("\n".join(lines))
            print(f"mapped {len(lines):5} tests of {names[0]}", flush=True)
        return [json.loads(line) for line in known.read_text().splitlines()]

    files = [[x] for x in sorted(ROOT.glob("tests/**/test_*.py")) if "browser" not in x.parts]
    for folder in sorted({x.parent for x in ROOT.glob("fastcmp/**/*.py")}):
        files.append([x for x in sorted(folder.glob("*.py")) if b">>> " in x.read_bytes()])
    files = [x for x in files if x and re.search(pattern, x[0].relative_to(ROOT).as_posix())]
    with ThreadPoolExecutor(copies.qsize()) as pool:
        return [test for tests in pool.map(mapped, files) for test in tests]


# --------------------------------------------------------------------------- one fault


def changed(fault):
    """The source of a module with a fault, or None if that says the same, or nothing."""
    name, _, first, last, new = fault
    before = (ROOT / name).read_bytes()
    after = before[:first] + new.encode() + before[last:]
    try:
        return after if ast.dump(ast.parse(before)) != ast.dump(ast.parse(after)) else None
    except SyntaxError:
        return None


def chosen_tests(fault, tests):
    """The tests that execute a line of a fault, and the seconds of each: two cases of each first.

    Of compiled code no line is seen: then those that execute any line of the module.
    """
    name, _, first, last, _ = fault
    before = (ROOT / name).read_bytes()
    numbers = {*range(before[:first].count(b"\n") + 1, before[:last].count(b"\n") + 2)}
    within = any(
        isinstance(node, ast.FunctionDef) and node.body[0].lineno <= min(numbers) <= node.end_lineno
        for node in ast.walk(ast.parse(before))
    )
    if within:
        chosen = [x for x in tests if not numbers.isdisjoint(x[2].get(name, ()))]
    else:  # a constant or a default, which whoever imports the module first executes
        chosen = [x for x in tests if name in x[2] or x[0].startswith("tests/test_signatures")]
    chosen = sorted(chosen or (x for x in tests if name in x[2]), key=lambda x: x[1])
    turns, first_ones, rest = Counter(), [], []
    for test, seconds, _ in chosen:
        turns[function := test.partition("[")[0]] += 1
        (first_ones if turns[function] <= 2 else rest).append((test, seconds))
    return first_ones, rest


#: Tests that pass without a fault (True), and that do not, or not in time (False).
PASS = {}


def is_caught(copy, fault, tests, most):
    """Whether a test fails with a fault that passes without it, and which."""
    name, source = fault[0], changed(fault)
    path, variables = copy / name, {}
    if name.startswith("fastcmp/kernels/"):
        variables["NUMBA_CACHE_DIR"] = str(copy / "machine-code")  # of no use to other runs

    def tried(ids, text, seconds):
        path.write_bytes(text)
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
            stale.unlink()
        (copy / "ids").write_text("\n".join(ids))
        options = ["-x", "--tb=line", "--timeout=60", "@ids"]
        output, code = run(copy, options, seconds, **(variables if text is source else {}))
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", output, re.MULTILINE)
        return (failed or ids)[:1] if code not in (0, 5) else []

    before, left = (ROOT / name).read_bytes(), most
    try:
        for part in chosen_tests(fault, tests):
            ids = []
            for test, seconds in part:
                left -= seconds + 0.02
                if left > 0 and PASS.get(test, True):
                    ids.append(test)
            while ids and (failed := tried(ids, source, 4 * most + 60)):
                if failed[0] not in PASS:
                    PASS[failed[0]] = not tried(failed, before, 120)
                if PASS[failed[0]]:
                    return failed[0]
                ids = ids[ids.index(failed[0]) + 1 :] if failed[0] in ids else []
    finally:
        path.write_bytes(before)
        rmtree(copy / "machine-code", ignore_errors=True)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=150)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--modules", default="", help="regular expression: where faults are planted"
    )
    parser.add_argument("--tests", default="", help="regular expression: test files that are run")
    parser.add_argument("--seconds", type=float, default=60, help="of tests, for one fault")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/fastcmp-faults"))
    parser.add_argument("--mapped", action="store_true", help="only tests whose lines are known")
    given = parser.parse_args()
    copies = Queue()
    for i in range(given.workers):
        copy = given.scratch / f"copy{os.getpid()}-{i}"
        rmtree(copy, ignore_errors=True)
        copytree(ROOT, copy, ignore=ignore_patterns(".git", "__pycache__", ".*_cache"))
        copies.put(copy)
    tests = map_tests(copies, given.scratch, given.tests, given.mapped)
    print(f"{len(tests)} tests", flush=True)
    if given.n == 0:
        return

    def judged(fault):
        copy = copies.get()
        began = time.time()
        caught = is_caught(copy, fault, tests, given.seconds)
        copies.put(copy)
        name, kind, first, last, new = fault
        before = (ROOT / name).read_bytes()
        line = before[:first].count(b"\n")
        number = sum(map(len, chosen_tests(fault, tests)))
        said = "caught  " if caught else "SURVIVED" if number else "NOT RUN "
        print(f"{said} {name}:{line + 1}: {kind} ({number} tests, {time.time() - began:.0f} s)")
        if caught:
            print(f"    by {caught}")
        else:
            rows = before[:first] + new.encode() + before[last:]
            for mark, text in (("-", before), ("+", rows)):
                print(f"    {mark} {text.splitlines()[line].decode().strip()}")
        sys.stdout.flush()
        return kind, bool(caught)

    with ThreadPoolExecutor(given.workers) as pool:
        results = Counter(pool.map(judged, draw(given.seed, given.n, given.modules)))
    for kind in sorted({kind for kind, _ in results}):
        yes, no = results[kind, True], results[kind, False]
        print(f"{kind:12} {yes:4} of {yes + no}")
    total = sum(results.values())
    caught = sum(count for (_, yes), count in results.items() if yes)
    print(f"seed {given.seed}: {caught} of {total} faults caught ({100 * caught / total:.0f} %)")


if __name__ == "__main__":
    main()
