"""Ctrl-C handling: only the process that the user started handles SIGINT, immediately and without a traceback.

A terminal sends SIGINT to every process of its foreground process group. A child process prints a traceback if SIGINT
arrives while it starts. To avoid this traceback, child processes never receive SIGINT, and the parent defers SIGINT
while it starts a child.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any


@contextmanager
def deferred() -> Iterator[None]:
    """Defer SIGINT while processes are started: this process handles it after the `with` block, and the new processes
    never receive it.
    """
    received: list[int] = []
    # A signal mask alone is not enough: another thread, as of a progress bar, receives the signal, and Python runs the
    # handler in the main thread although that thread blocks the signal.
    main = threading.current_thread() is threading.main_thread()
    handler: Any = signal.signal(signal.SIGINT, lambda number, _: received.append(number)) if main else None
    try:
        resource_tracker.ensure_running()  # before the mask: it unblocks SIGINT when it starts its own process
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # new processes inherit it
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)
    if received:
        signal.raise_signal(signal.SIGINT)


class Pool:
    """A process pool whose worker processes end immediately if the caller raises an exception."""

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        self._executor = executor

    def submit(self, function: Callable[..., Any], *values: Any) -> Any:
        """Submit a call to the pool, and return its future."""
        with deferred():
            return self._executor.submit(function, *values)


@contextmanager
def process_pool(workers: int) -> Iterator[Pool]:
    """Yield a pool of `workers` processes, which inherit no open files of this process."""
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as executor:
        try:
            yield Pool(executor)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            mine = set(multiprocessing.active_children()) - others
            for process in mine:
                process.terminate()
            for process in mine:
                process.join()
                while process.exitcode is None:  # the executor's thread has waited for it and not yet recorded its end
                    time.sleep(0.001)
            raise
