"""Kernels in two tiers: each is plain Python first, and machine code when that pays.

`kernel` decorates what Python calls. A call does what will be done soonest: the Python function
where the work is small, else machine code from the disk or from the compiler. What compiling takes
is known: it was measured for a kernel and for what it calls. What a call takes as Python is not
known, so Python has until then: it looks at the clock where loops and calls of kernels begin, and
when it has taken as long as machine code would, the arrays become what they were, and machine code
runs. Time in Python adds up, so that a loop of small calls is compiled once that has paid.

In Python a kernel sees Python's form of all that it calls, in machine code the compiled form: each
tier has globals of its own. Both give the same bits. numba is imported (`_compiler.py`) when
something compiles, comes from the disk, or is called by a user's own `@njit`.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import signal
import sys
import time
import types
from _thread import RLock, _count, _local
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

#: Seconds until numba is imported and has compiled its first function.
_START = 0.8
#: Seconds to read a kernel's machine code from the disk.
_LOAD = 0.03
#: Seconds to compile a function that was not measured, and for each instruction of its code.
_FUNCTION, _INSTRUCTION = 0.04, 5e-4
#: Seconds as Python: about, for an element of the arrays; at the least, for a turn of a loop.
_ELEMENT, _TURN = 3e-7, 1e-7
#: Turns of a loop between two looks at the clock.
_OFTEN = 500

_MODES = ("auto", "always", "never")


def _mode() -> str:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "never"
    mode = os.environ.get("FASTCMP_COMPILE", "auto").lower()
    if mode not in _MODES:
        raise ValueError(f"FASTCMP_COMPILE must be one of {', '.join(_MODES)}, got {mode!r}")
    return mode


#: When kernels are compiled: when that pays ("auto"), always or never.
MODE = _mode()
#: Whether kernels only run as plain Python.
INTERPRETED = MODE == "never"


@contextmanager
def always_compiled() -> Iterator[None]:
    """Compile whatever is called meanwhile."""
    global MODE  # noqa: PLW0603
    before, MODE = MODE, "always"
    try:
        yield
    finally:
        MODE = before


#: Seconds that all kernels together have taken as Python: they pay for the start of numba.
_spent_by_all = 0.0

_lock = RLock()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Answer Ctrl-C afterwards: an import that it ends halfway cannot be begun again."""
    waiting: list[Any] = []
    try:
        before = signal.signal(signal.SIGINT, lambda *args: waiting.append(args))
    except ValueError:  # only the main thread is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and callable(before):
            before(*waiting[0])


class Tiered:
    """A value that a kernel uses, in a form for each tier."""

    def __init__(self, python: Callable[[], Any], compiled: Callable[[], Any]) -> None:
        self._make = {"python": python, "compiled": compiled}

    @functools.cached_property
    def python(self) -> Any:
        """The form for Python."""
        return self._make["python"]()

    @functools.cached_property
    def compiled(self) -> Any:
        """The form for machine code."""
        return self._make["compiled"]()

    def __call__(self, *args: Any) -> Any:
        """Call Python's form."""
        with np.errstate(all="ignore"):
            return self.python(*args)


def _names(code: types.CodeType) -> set[str]:
    """Names that a function and those within it may look up."""
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


class _Function(Tiered):
    """What the decorators make of a function: it stands for both tiers of it."""

    def __init__(
        self, function: Callable[..., Any], kind: str, by_numpy: Callable[..., Any] | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = cast("types.FunctionType", function)
        self._by_numpy = cast("types.FunctionType", by_numpy or function)
        self._kind = kind
        self._twins: dict[str, Any] = {}

    def _twin(self, tier: str, finish: Callable[[Any], Any] = lambda twin: twin) -> Any:
        """The function with the globals of a tier."""
        with _lock:
            if tier in self._twins:  # it calls itself
                return self._twins[tier]
            source = self._by_numpy if tier == "python" else self._function
            names = source.__globals__
            scope = {"__builtins__": names["__builtins__"], "__name__": self.__module__}
            twin = types.FunctionType(
                source.__code__, scope, source.__name__, source.__defaults__, source.__closure__
            )
            functools.update_wrapper(twin, source)
            self._twins[tier] = finish(twin)
            if tier == "python":
                scope |= {"range": _range}
            for name in _names(source.__code__) & names.keys():
                value = names[name]
                if isinstance(value, Tiered):
                    scope[name] = getattr(value, tier)
                    if tier == "python" and isinstance(value, Kernel):
                        scope[name] = _watched(value.python)
                else:
                    scope[name] = _ieee_math() if value is math and tier == "python" else value
            return self._twins[tier]

    @functools.cached_property
    def python(self) -> Any:
        return self._twin("python")

    @functools.cached_property
    def compiled(self) -> Any:
        with _uninterrupted():
            from fastcmp._compiler import compile_lazily

        return self._twin("compiled", lambda twin: compile_lazily(twin, self._kind, self._decide))

    @property
    def _numba_type_(self) -> Any:
        """Numba's type of it, where compiled code calls it."""
        return self.compiled._numba_type_

    def __reduce__(self) -> str:
        """The name, by which it is pickled."""
        return self._function.__qualname__

    def _collect(self, callees: set[_Function]) -> None:
        """Add the function and all kernels and helpers that it calls."""
        callees.add(self)
        module = self._function.__globals__
        for name in _names(self._function.__code__) & module.keys():
            if isinstance(module[name], _Function) and module[name] not in callees:
                module[name]._collect(callees)

    def _decide(self, args: Any, keywords: Any, compile_now: Any) -> Any:
        return compile_now(*args, **keywords)


class Kernel(_Function):
    """A kernel that Python calls."""

    def __init__(self, function: Callable[..., Any], by_numpy: Callable[..., Any] | None) -> None:
        super().__init__(function, "kernel", by_numpy)
        #: Seconds that calls have taken as Python, by types.
        self._spent: dict[Any, float] = {}
        self._run = self._interpret if INTERPRETED else self._first

    #: What runs a call, found by C: a method in Python would add a quarter to a short one.
    __call__: Any = property(operator.attrgetter("_run"))

    @property
    def py_func(self) -> Any:
        """The function as it was written, which calls kernels in whichever tier pays."""
        return self._function

    def __getattr__(self, name: str) -> Any:
        """Return what else numba's dispatcher has: `signatures`, `stats`."""
        # pytest and mock ask every object for `_mock_name`: no reason to import numba.
        if name.startswith("__") or name in {"compiled", "_mock_name"}:
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def _machine(self, *args: Any, **keywords: Any) -> Any:
        self._run = self.compiled
        return self._run(*args, **keywords)

    def _interpret(self, *args: Any, **keywords: Any) -> Any:
        with np.errstate(all="ignore"):
            # NumPy's numbers are slow; numba has the same type for both of these.
            args = tuple(x.item() if type(x) in (np.int64, np.float64) else x for x in args)
            return _plain(self.python(*args, **keywords))

    def _first(self, *args: Any, **keywords: Any) -> Any:
        """Run a call while no machine code is in memory."""
        if keywords:
            args = inspect.signature(self._function).bind(*args, **keywords).args
        began, types_ = time.thread_time(), _types(args)
        seconds = self._seconds_for_python(args, types_)
        return self._within(began, types_, seconds, *args) if seconds else self._machine(*args)

    def _decide(self, args: Any, keywords: Any, compile_now: Any) -> Any:
        """What numba shall call for types without machine code in memory."""
        began, types_ = time.thread_time(), _types(args)
        if not keywords and (seconds := self._seconds_for_python(args, types_)):
            return functools.partial(self._within, began, types_, seconds)
        _tell(self._price)
        return compile_now(*args, **keywords)

    def _seconds_for_python(self, args: Any, types_: Any) -> float:
        """Seconds that a call may take as Python; 0 where machine code is done sooner."""
        if MODE == "always":
            return 0.0
        seconds = self._price - self._spent.get(types_, 0.0)
        if "numba" not in sys.modules:
            seconds += max(_START - _spent_by_all, 0.0)
        return seconds if _ELEMENT * sum(map(_size, args)) < seconds else 0.0

    @functools.cached_property
    def _price(self) -> float:
        """Seconds to load or compile the kernel and what it calls."""
        from fastcmp._cache import cache_directory

        folder, code = cache_directory(), self._function.__code__
        pattern = f"*.{code.co_name}-*.{code.co_firstlineno}.*.nbi"
        if folder is not None and next(folder.glob(pattern), None) is not None:
            return _LOAD
        callees: set[_Function] = set()
        self._collect(callees)
        return sum(map(_compile_time, callees))

    def _within(self, began: float, types_: object, seconds: float, *args: Any) -> Any:
        """Run as Python if it takes no longer than that, and add the time."""
        global _spent_by_all  # noqa: PLW0603
        before = copies = _copies(args)
        if _count():  # other threads may write other elements of the same arrays meanwhile
            if _overlap(args):
                self._spent[types_] = math.inf
                return self._machine(*args)
            copies = _copies(args)
        _clock.seconds, _clock.began = seconds, began
        _clock.deadline = time.perf_counter() + seconds
        try:
            answer = self._interpret(*(args if copies is before else copies))
        except (_TooLong, ArithmeticError, LookupError, TypeError, ValueError):
            # Or Python raised where machine code goes on with what IEEE 754 says.
            if copies is before:
                _restore(args, before)
            self._spent[types_] = math.inf
            return self._machine(*args)
        else:
            if copies is not before:
                _write_changes(args, copies, before)
            return answer
        finally:
            _clock.deadline = math.inf
            passed = time.thread_time() - began
            if passed < 1e-3 * self._price:
                passed *= 2.0  # where there have been many small calls, as many will follow
            _spent_by_all += passed
            self._spent[types_] = self._spent.get(types_, 0.0) + passed


def _compile_time(function: _Function) -> float:
    """Seconds to compile a function alone: measured, or by its length."""
    source = function._function
    estimate = _FUNCTION + _INSTRUCTION * len(source.__code__.co_code) / 2
    return _compile_times().get(f"{source.__module__}.{source.__qualname__}", estimate)


@functools.cache
def _compile_times() -> dict[str, float]:
    """Seconds that benchmarks/compile_times.py measured."""
    import json

    table = Path(__file__).with_name("compile_times.json")
    return cast("dict[str, float]", json.loads(table.read_bytes()))


#: Seconds of compilation so far, until somebody has been told.
_waited = 0.0


def _tell(seconds: float) -> None:
    """Log once, to people and not to files, that compilation takes more than a second."""
    global _waited
    before, _waited = _waited, _waited + seconds
    if before > 1.0 or _waited <= 1.0:
        return
    import logging

    from fastcmp._cache import cache_directory

    log = logging.getLogger("fastcmp.compiling")
    if not log.hasHandlers() and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        log.addHandler(logging.StreamHandler())
        log.setLevel(logging.INFO)
    often = "once, some seconds" if cache_directory() else "each time anew: see fastcmp doctor"
    log.info("fastcmp: compiling kernels, %s", often)


class _TooLong(Exception):  # noqa: N818  # no error: it changes the tier
    """Python has taken as long as machine code would."""


class _Clock(_local):
    """How many seconds a thread may run a kernel as Python, and until when at the earliest."""

    seconds = began = 0.0
    deadline = math.inf


_clock = _Clock()


def look_at_clock(turns: float) -> None:
    """Stop a kernel that has no time for so many turns of a loop."""
    needed, now = _TURN * turns, time.perf_counter()
    if now + needed > _clock.deadline:
        # Other processes may have had the processor.
        left = _clock.seconds - (time.thread_time() - _clock.began)
        if needed > left:
            raise _TooLong
        _clock.deadline = now + left


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks at the clock before each call."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        look_at_clock(1)
        return function(*args)

    return call


def _range(*bounds: int) -> Iterable[int]:
    """A range, if there is time for its turns."""
    turns = range(*bounds)
    look_at_clock(len(turns))
    return turns if len(turns) <= _OFTEN else _watched_turns(turns)


def _watched_turns(turns: range) -> Iterator[int]:
    for start in range(0, len(turns), _OFTEN):
        look_at_clock(0)
        yield from turns[start : start + _OFTEN]


def _size(arg: object) -> float:
    """Elements of an array, or of the arrays of a tuple."""
    if isinstance(arg, tuple):
        return sum(map(_size, arg))
    return float(arg.size) if isinstance(arg, np.ndarray) else 0.0


def _types(args: Any) -> Any:
    return tuple(
        (arg.dtype, arg.ndim) if isinstance(arg, np.ndarray) else type(arg) for arg in args
    )


def _copies(arg: object) -> Any:
    """Copy the arrays that a call may change."""
    if isinstance(arg, tuple):
        parts = map(_copies, arg)
        return type(arg)(*parts) if hasattr(arg, "_fields") else tuple(parts)
    return arg.copy("K") if isinstance(arg, np.ndarray) and arg.flags.writeable else arg


def _restore(arg: Any, before: Any) -> None:
    """Restore the values of arrays."""
    if isinstance(arg, tuple):
        for pair in zip(arg, before, strict=True):
            _restore(*pair)
    elif before is not arg:
        arg[...] = before


def _write_changes(arg: Any, copied: Any, before: Any) -> None:
    """Write the elements that a call changed, and no others."""
    if isinstance(arg, tuple):
        for arrays in zip(arg, copied, before, strict=True):
            _write_changes(*arrays)
    elif copied is not arg:
        bits = f"u{arg.itemsize}"
        np.copyto(arg, copied, where=copied.view(bits) != before.view(bits))


def _overlap(args: object) -> bool:
    """Whether arrays share memory, so that a copy of each is not the same."""
    arrays = [arg for arg in _flat(args) if isinstance(arg, np.ndarray)]
    return any(np.shares_memory(a, b) for a, b in combinations(arrays, 2))


def _flat(args: Any) -> Iterator[Any]:
    for arg in args:
        yield from _flat(arg) if isinstance(arg, tuple) else (arg,)


def _plain(value: object) -> Any:
    """A result with Python's numbers, as machine code returns it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        values = map(_plain, value)
        return type(value)(*values) if hasattr(value, "_fields") else tuple(values)
    return value


@functools.cache
def _ieee_math() -> Any:
    """The module math, with NaN and infinity where Python would raise."""
    ieee = types.SimpleNamespace(**vars(math))

    def quiet(function: Callable[..., float], *exceptional: Any) -> Any:
        @functools.wraps(function)
        def call(*args: float) -> float:
            try:
                return function(*args)
            except (ValueError, OverflowError, ZeroDivisionError):
                return float(exceptional[0](*args))

        return call

    for name in ("log", "log2", "log10", "log1p", "sqrt", "exp", "expm1", "pow", "lgamma", "atanh"):
        setattr(
            ieee,
            name,
            quiet(getattr(math, name), getattr(np, name.replace("atanh", "arctanh"), np.float64)),
        )
    return ieee


def kernel(function: F, by_numpy: Callable[..., Any] | None = None) -> F:
    """A kernel: machine code for each combination of types, kept on the disk, or plain Python.

    The GIL is released, and division by zero follows IEEE 754. `by_numpy` gives the same bits with
    whole arrays, and runs in place of the function as Python.
    """
    return cast("F", Kernel(function, by_numpy))


def helper(function: F) -> F:
    """A helper of numbers, compiled once for all kernels that call it; LLVM inlines it."""
    return cast("F", _Function(function, "helper"))


def inlined(function: F) -> F:
    """A helper of arrays that numba inlines into each kernel that calls it.

    Arrays that are arguments are counted as references, in atomic steps.
    """
    return cast("F", _Function(function, "inlined"))


def _intrinsic(name: str, python: Callable[..., Any]) -> Callable[..., Any]:
    def compiled() -> Any:
        from fastcmp._compiler import INTRINSICS

        return INTRINSICS[name]

    return Tiered(lambda: python, compiled)


#: Say that so many turns of loops are to come, where it is known before the loops begin.
turns_ahead = _intrinsic("turns_ahead", look_at_clock)
#: Ask LLVM for 512-bit vectors in the calling function, if the processor has them; its cost model
#: stops at 256 bits on several that do. Measured on the tile of pairs: 12.0 G words/s a core
#: before, 15.0 after.
wide_vectors = _intrinsic("wide_vectors", lambda: None)
#: Count set bits of a uint64, as one instruction: vpopcntq where there is one.
popcount: Callable[..., int] = _intrinsic("popcount", lambda word: int(word).bit_count())
#: Sum of an array from its first element to the last, the order of machine code: not NumPy's.
sum_of = _intrinsic("sum_of", lambda x: x.dtype.type(0) + np.add.accumulate(x.ravel())[-1:].sum())


def scipy_special(name: str, n_arguments: int) -> Callable[..., float]:
    """A function of `scipy.special`, which takes one more integer in both tiers."""

    def python() -> Any:
        with _uninterrupted():
            from scipy import special

        ufunc = getattr(special, name)

        def call(*args: Any) -> Any:
            value = ufunc(*args[:-1])
            return value if value.ndim else float(value)  # `by_numpy` passes arrays

        return call

    def compiled() -> Any:
        from fastcmp._compiler import special_function

        return special_function(name, n_arguments)

    return Tiered(python, compiled)
