"""Processes of every kind give the same bits, even after threads have run."""

import multiprocessing
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import pytest
from process_work import WORK, call
from same_bits import assert_same

pytestmark = pytest.mark.full

START_METHODS = multiprocessing.get_all_start_methods()


@contextmanager
def start(method):
    """Choose how processes start."""
    with warnings.catch_warnings():
        # Python 3.12 warns of a fork where threads run; the package's have ended.
        warnings.simplefilter("ignore", DeprecationWarning)
        yield multiprocessing.get_context(method)


@pytest.fixture(scope="module")
def expect():
    """Do all work in this process: threads have run, and numba is loaded."""
    before = set(threading.enumerate())
    answers = {name: call(name) for name in WORK}
    assert set(threading.enumerate()) == before
    return answers


@pytest.mark.parametrize("method", START_METHODS)
def test_children_give_the_same_bits(expect, method):
    with start(method) as context, context.Pool(2) as pool:
        found = dict(zip(WORK, pool.map(call, WORK, chunksize=1), strict=True))
    assert_same(found, expect)


@pytest.mark.parametrize("method", START_METHODS)
def test_a_pool_of_concurrent_futures(expect, method):
    with start(method) as context, ProcessPoolExecutor(2, context) as pool:
        futures = {name: pool.submit(call, name) for name in WORK}
        assert_same({name: f.result() for name, f in futures.items()}, expect)


@pytest.mark.skipif("fork" not in START_METHODS, reason="needs fork")
def test_a_fork_while_other_threads_work(expect):
    stop = threading.Event()

    def work():
        while not stop.is_set():
            call("compare_accuracies")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        with start("fork") as context, context.Pool(2) as pool:
            found = pool.map_async(call, WORK, chunksize=1).get(timeout=100)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert_same(dict(zip(WORK, found, strict=True)), expect)
