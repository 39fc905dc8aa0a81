"""The one place that knows numba: the decorator of every kernel, and its cache.

Numba stamps a cached function with its own source file only, so after an upgrade a
caller would keep the machine code of an old callee that lives in another file. Here
the cache directory is named after a hash of all files that are compiled: `kernels/`,
and whatever else imports this module. An edit of one of them opens a new, empty
directory, and an edit of anything else leaves the machine code as it is. Where no
directory is writable, kernels are read from one that holds some, or compiled in memory.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import logging
import os
import pickle
import sys
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from llvmlite import binding, ir
from numba.core import caching
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.lowering import Lower
from numba.core.pythonapi import PythonAPI
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering
from numba.extending import get_cython_function_address, intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

    F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent

#: Whether kernels run as plain Python, under NUMBA_DISABLE_JIT=1.
INTERPRETED = bool(numba.config.DISABLE_JIT)

#: Logs each kernel that is compiled: the command line says why it takes a while.
_LOG = logging.getLogger("fastcmp.compiling")


@cache
def _source_hash() -> str:
    # Bounds checks are compiled in, and numba's own index ignores them.
    version = f"{numba.__version__} {numba.config.BOUNDSCHECK}"
    digest = hashlib.sha256(version.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        # This file holds the words too, and so is hashed as well.
        if b"from fastcmp._jit import" in source or path.parent.name == "kernels":
            digest.update(str(path.relative_to(_PACKAGE)).encode())
            digest.update(source)
    return digest.hexdigest()[:16]


def _cache_roots() -> list[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(os.environ["NUMBA_CACHE_DIR"])]
    roots = [_PACKAGE / "__pycache__"]
    if os.environ.get("XDG_CACHE_HOME"):
        roots.append(Path(os.environ["XDG_CACHE_HOME"]))
    elif os.environ.get("LOCALAPPDATA"):
        roots.append(Path(os.environ["LOCALAPPDATA"]))
    elif (home := Path(os.path.expanduser("~"))).is_absolute():  # noqa: PTH111
        roots.append(home / ".cache")
    return roots


def cache_places() -> list[Path]:
    """List the directories for this version of the sources, the preferred one first."""
    return [root / f"fastcmp-{_source_hash()}" for root in _cache_roots()]


@cache
def cache_directory() -> Path | None:
    """Return a writable directory, else one that holds kernels already, or None."""
    for directory in cache_places():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=directory).close()
        except OSError:
            continue
        return directory
    filled = (place for place in cache_places() if any(place.glob("*.nbi")))
    return next(filled, None)


class _Locator(caching._CacheLocator):  # type: ignore[misc]  # numba is untyped
    """Tell numba's cache where a kernel is stored and when it is stale."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._disambiguator = f"{Path(file).stem}.{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return _source_hash()

    def get_disambiguator(self) -> str:
        return self._disambiguator

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function, file)


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def reduce(self, cres: Any) -> tuple[int, bytes]:
        """Keep machine code with a checksum: damaged code could be run."""
        code = dumps(super().reduce(cres))
        return zlib.crc32(code), code

    def rebuild(self, target_context: Any, payload: tuple[int, bytes]) -> Any:
        checksum, code = payload
        if zlib.crc32(code) != checksum:
            message = "damaged machine code"
            raise ValueError(message)
        return super().rebuild(target_context, pickle.loads(code))


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load code unless it is for other types, which numba does not check.

        Processes that compile a kernel at once, each for its own types, may use the
        same file. If a file is damaged, the index is removed and both are rewritten.
        """
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  # what pickle raises depends on the damage
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
            return None
        return found if found is None or tuple(found.signature.args) == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save code if that is possible; the code runs in any case."""
        with suppress(OSError):
            super().save_overload(sig, data)


class _PythonAPI(PythonAPI):  # type: ignore[misc]
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


class _Lower(Lower):  # type: ignore[misc]
    context: Any

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:  # noqa: FBT001, FBT002
        """Write the function that Python calls, with `_PythonAPI`."""
        context = self.context
        self.context = context.subtarget(
            get_python_api=lambda builder: _PythonAPI(self.context, builder)
        )
        super().create_cpython_wrapper(release_gil)
        self.context = context


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    _name = "fastcmp_native_lowering"

    @property
    def lowering_class(self) -> type[_Lower]:
        return _Lower


class _Compiler(Compiler):  # type: ignore[misc]
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


def kernel(function: F) -> F:
    """Compile `function` on its first call for each combination of types, and cache it.

    The GIL is released, and division by zero follows IEEE 754.
    """
    compile_it = numba.njit(
        nogil=True,
        error_model="numpy",
        pipeline_class=_Compiler,
        # Only what keeps functions in variables needs it: 10 ms a kernel.
        no_cfunc_wrapper=function.__name__.startswith("_"),
    )
    compiled = compile_it(function)
    if isinstance(compiled, Dispatcher):
        _forget_literals(compiled)
        if cache_directory() is not None:
            compiled._cache = _Cache(function)  # type: ignore[attr-defined]
    return compiled  # type: ignore[no-any-return]


def _refuse_python(*_: Any, **__: Any) -> None:
    message = "only compiled code can call a helper of kernels"
    raise TypeError(message)


def helper(function: F) -> F:
    """Compile a helper of numbers, once for all kernels that call it; LLVM inlines it.

    Without the functions through which Python and C call it: 13 ms, 36 with them, and
    10 to 20 for each place where numba would inline it.
    """
    compiled = numba.njit(
        nogil=True,
        error_model="numpy",
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)
    if isinstance(compiled, Dispatcher):
        _forget_literals(compiled)
        # A call from Python would be one of a null pointer: it finds nothing compiled.
        compiled._insert = lambda *_: None  # type: ignore[attr-defined]
        compiled._compile_for_args = _refuse_python  # type: ignore[attr-defined]
    return compiled  # type: ignore[no-any-return]


def inlined(function: F) -> F:
    """Compile a helper of arrays that numba inlines into each kernel that calls it.

    Arrays that are arguments are counted as references, in atomic steps.
    """
    return numba.njit(  # type: ignore[no-any-return]
        nogil=True, error_model="numpy", inline="always"
    )(function)


def _prefer_512(typing_context: Any) -> Any:  # noqa: ARG001  # numba passes it
    def codegen(context: Any, builder: Any, *_: Any) -> Any:
        # llvmlite knows a fixed list of attributes; LLVM accepts any string.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return numba.types.none(), codegen


if INTERPRETED:

    def wide_vectors() -> None:
        """Do nothing: without the compiler there are no vectors."""

else:
    #: Ask LLVM for 512-bit vectors in the calling function, if the processor has them;
    #: its cost model stops at 256 bits on several that do. Measured on the tile of
    #: pairs: 12.0 G words/s a core before, 15.0 after.
    wide_vectors = intrinsic(_prefer_512)


def _load_word(typing_context: Any, address: Any, i: Any) -> Any:  # noqa: ARG001
    def codegen(_: Any, builder: Any, __: Any, args: Any) -> Any:
        word = ir.IntType(64)
        place = builder.inttoptr(builder.add(*args), word.as_pointer())
        found = builder.load(place, align=1)
        return found if sys.byteorder == "little" else builder.bswap(found)

    return numba.types.uint64(numba.types.int64, numba.types.int64), codegen


def _load_byte(typing_context: Any, address: Any, i: Any) -> Any:  # noqa: ARG001
    def codegen(_: Any, builder: Any, __: Any, args: Any) -> Any:
        place = builder.inttoptr(builder.add(*args), ir.IntType(8).as_pointer())
        return builder.zext(builder.load(place), ir.IntType(64))

    return numba.types.int64(numba.types.int64, numba.types.int64), codegen


def _count_ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    def codegen(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    # int64, because a uint64 added to an int64 would be a float64.
    return numba.types.int64(numba.types.uint64), codegen


if INTERPRETED:

    def popcount(word: Any) -> np.int64:
        """Count set bits."""
        return np.int64(int(word).bit_count())

else:
    #: Count set bits of a uint64, as one instruction: vpopcntq where there is one.
    popcount = intrinsic(_count_ones)


if INTERPRETED:

    def load_word(address: int, i: int) -> Any:
        """Read 8 bytes, the first lowest."""
        found = ctypes.string_at(int(address + i), 8)
        return np.uint64(int.from_bytes(found, "little"))

    def load_byte(address: int, i: int) -> Any:
        """Read a byte."""
        return ctypes.string_at(int(address + i), 1)[0]

else:
    #: Read 8 bytes, the first lowest, or one, at an address and an offset. Nothing is
    #: checked. Arrays that a helper takes are counted as references on each call, in
    #: atomic steps: a walk over text took three times as long.
    load_word = intrinsic(_load_word)
    load_byte = intrinsic(_load_byte)


def scipy_special(name: str, n_arguments: int) -> Any:
    """Make an all-double function of `scipy.special` callable in nopython mode.

    It takes one more integer, which SciPy ignores; callers of it can be cached.
    """
    if INTERPRETED:
        from scipy import special

        ufunc = getattr(special, name)
        return lambda *args: float(ufunc(*args[:-1]))
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
        message = f"this SciPy has no scipy.special.{name} on {n_arguments} doubles"
        raise ImportError(message)
    address = get_cython_function_address(module, symbol)
    external = f"fastcmp_scipy_{name}"
    binding.add_symbol(external, address)
    double = numba.types.float64
    signature = double(*[double] * n_arguments, numba.types.int32)
    return numba.types.ExternalFunction(external, signature)
