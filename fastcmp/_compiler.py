"""The compiler behind `_jit`: the only module that imports numba, when something compiles."""

from __future__ import annotations

import gc
import logging
import pickle
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import caching
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.pythonapi import PythonAPI
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering
from numba.extending import get_cython_function_address, intrinsic

from fastcmp._cache import cache_directory, source_hash

#: Told of each kernel that is compiled; whoever waits for it can be told why.
_LOG = logging.getLogger("fastcmp.compiling")


class _Locator(caching._CacheLocator):
    """Tell numba's cache where a kernel is stored and when it is stale."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._disambiguator = f"{Path(file).stem}.{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return self._disambiguator

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)

    def reduce(self, cres: Any) -> tuple[int, bytes]:
        """Keep machine code with a checksum: damaged code could be run."""
        code = dumps(super().reduce(cres))
        return zlib.crc32(code), code

    def rebuild(self, target_context: Any, payload: tuple[int, bytes]) -> Any:
        checksum, code = payload
        if zlib.crc32(code) != checksum:
            raise ValueError("damaged machine code")
        return super().rebuild(target_context, pickle.loads(code))


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load code unless it is for other types, which numba does not check.

        Processes that compile a kernel at once, each for its own types, may use the
        same file. If a file is damaged, the index is removed and both are rewritten.
        """
        try:
            code = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  # what pickle raises depends on the damage
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
            return None
        return code if code is None or tuple(code.signature.args) == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save code if that is possible; the code runs in any case."""
        with suppress(OSError):
            super().save_overload(sig, data)


class _PythonAPI(PythonAPI):
    """Take the classes of named tuples from constants, not from Python code.

    Numba calls a Python function for them, and if Ctrl-C interrupts it, continues with
    a null pointer: docs/decisions/0010.
    """

    def get_env_manager(self, env: Any, env_body: Any, env_ptr: Any) -> Any:
        self._constants = super().get_env_manager(env, env_body, env_ptr)
        return self._constants

    def serialize_object(self, obj: Any) -> Any:
        return obj

    def unserialize(self, obj: Any) -> Any:
        if isinstance(obj, ir.Value):  # part of an exception, serialized before
            return super().unserialize(obj)
        constant = self._constants.read_const(self._constants.add_const(obj))
        self.incref(constant)
        return constant


class _Lower(Lower):
    context: Any

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Write the function that Python calls, with `_PythonAPI`."""
        context = self.context
        self.context = context.subtarget(
            get_python_api=lambda builder: _PythonAPI(self.context, builder)
        )
        super().create_cpython_wrapper(release_gil)
        self.context = context


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "fastcmp_native_lowering"

    @property
    def lowering_class(self) -> type[_Lower]:
        return _Lower


class _Compiler(Compiler):
    """Numba's compiler, with calls from Python that Ctrl-C may interrupt.

    Garbage is collected after it: numba makes hundreds of thousands of objects that
    live until it is done, and looking at them again and again took 8% of the time.
    """

    def _compile_core(self) -> Any:
        if not gc.isenabled():
            return super()._compile_core()
        gc.disable()
        try:
            return super()._compile_core()
        finally:
            gc.enable()

    def define_pipelines(self) -> Any:
        _LOG.debug("compiling %s", self.state.func_id.func_name)
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (_Lowering if step is NativeLowering else step, description)
                for step, description in pipeline.passes
            ]
        return pipelines


def _forget_literals(compiled: Any) -> None:
    """Compile for `int` what is called with 0 and with 1, instead of once for each."""
    template = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = {name: numba.types.unliteral(kind) for name, kind in kws.items()}
        return template([numba.types.unliteral(kind) for kind in args], plain)

    compiled.get_call_template = get_call_template


def compile_lazily(function: Callable[..., Any], kind: str, decide: Callable[..., Any]) -> Any:
    """Numba's dispatcher of a function: "kernel", "helper" or "inlined".

    `decide(args, compile)` is called for types without machine code in memory: it returns what
    runs the call, which may be the Python function.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if kind == "inlined":
        return numba.njit(inline="always", **options)(function)
    if kind == "helper":
        # LLVM inlines it. Without the functions through which Python and C would call it, it
        # compiles in 13 ms instead of 36.
        options |= {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    else:
        options |= {
            "pipeline_class": _Compiler,
            # Only what keeps functions in variables needs it: 10 ms a kernel.
            "no_cfunc_wrapper": function.__name__.startswith("_"),
        }
    compiled = numba.njit(**options)(function)
    _forget_literals(compiled)
    if kind == "helper":
        # A call from Python would be one of a null pointer: it finds nothing compiled.
        compiled._insert = lambda *_: None
        return compiled
    if cache_directory() is not None:
        compiled._cache = _Cache(function)
    compile_now = compiled._compile_for_args
    compiled._compile_for_args = lambda *args, **keywords: decide(args, keywords, compile_now)
    return compiled


def _prefer_512(typing_context: Any) -> Any:
    def codegen(context: Any, builder: Any, *_: Any) -> Any:
        # llvmlite knows a fixed list of attributes; LLVM accepts any string.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return numba.types.none(), codegen


def _ignore(typing_context: Any, turns: Any) -> Any:
    return numba.types.none(turns), lambda context, *_: context.get_dummy_value()


def _count_ones(typing_context: Any, word: Any) -> Any:
    def codegen(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    # int64, because a uint64 added to an int64 would be a float64.
    return numba.types.int64(numba.types.uint64), codegen


INTRINSICS = {
    "turns_ahead": intrinsic(_ignore),
    "wide_vectors": intrinsic(_prefer_512),
    "popcount": intrinsic(_count_ones),
    "sum_of": numba.njit(nogil=True, error_model="numpy", inline="always")(lambda x: x.sum()),
}


def special_function(name: str, n_arguments: int) -> Any:
    """An all-double function of `scipy.special` by its address; callers of it can be cached.

    It takes one more integer, which SciPy ignores.
    """
    module = "scipy.special.cython_special"
    __import__(module)
    capsules = sys.modules[module].__pyx_capi__
    doubles = ", ".join(["double"] * n_arguments)
    for symbol, capsule in capsules.items():
        stem = symbol.removeprefix("__pyx_fuse_").lstrip("0123456789")
        signature = f'"double ({doubles}, int __pyx_skip_dispatch)"'
        if stem == name and signature in str(capsule):
            break
    else:
        raise ImportError(f"this SciPy has no scipy.special.{name} on {n_arguments} doubles")
    address = get_cython_function_address(module, symbol)
    external = f"fastcmp_scipy_{name}"
    binding.add_symbol(external, address)
    double = numba.types.float64
    signature = double(*[double] * n_arguments, numba.types.int32)
    return numba.types.ExternalFunction(external, signature)
