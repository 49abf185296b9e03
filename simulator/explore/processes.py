"""Runs search jobs in separate processes, which end when the calling process ends.

If a process dies, the result of its job is UNDETERMINED, and the other jobs continue.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

from nbcc.model import mechanisms

from ..interrupts import deferred
from .failed import failed_search
from .result import Result

Work = Callable[..., Result]
NEEDED = ("nbcc.simulator.explore.jobs", "nbcc.simulator.mutants", "nbcc.simulator.specs")
"""Modules that a search imports. The fork server imports them once for all of its children."""
EVERY = 0.5
"""Seconds between two progress messages of a process."""


def in_processes(
    work: Work, jobs: Sequence[Any], workers: int, progress: Callable[..., None] | None = None
) -> Generator[tuple[int, Result]]:
    """Run `work` on each job in a separate process. Yields each job's index and result, in the order in which jobs end.

    While a job runs, `progress` is called periodically with the job's index and the four numbers that `explore`
    reports.
    """
    running: dict[Any, tuple[int, Any]] = {}
    waiting = list(enumerate(jobs))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, job = waiting.pop()
                with deferred():
                    connection, process = _start(work, job)
                    running[connection] = (number, process)
            # The timeout lets this thread handle a signal that another thread received.
            for ready in wait(list(running), timeout=EVERY):
                number, process = running[ready]
                answer = _received(ready, process)
                if isinstance(answer, Result):
                    del running[ready]
                    yield number, answer
                elif progress:
                    progress(number, *answer)
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def prepare() -> None:
    """Start the fork server in advance, and preload the modules that searches import."""
    _server()


@cache
def _server() -> Any:
    # Processes fork from a clean server: this process may have threads, a JVM, or gigabytes of memory.
    context = multiprocessing.get_context("forkserver")
    parts = {each.compose.__module__ for each in mechanisms.every().values()}
    context.set_forkserver_preload([*NEEDED, *sorted(parts)])
    with deferred():
        forkserver.ensure_running()
    return context


def _start(work: Work, job: Any) -> tuple[Connection, Any]:
    context = _server()
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(work, job, theirs), daemon=True)
    process.start()
    theirs.close()
    return mine, process


def _serve(work: Work, job: Any, answer: Connection) -> None:
    gc.disable()  # the process ends soon, and its memory with it
    reported = -math.inf  # the first figures are sent at once

    def report(*figures: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > EVERY:
            reported = time.monotonic()
            answer.send(figures)

    with suppress(BrokenPipeError):  # the calling process has ended
        try:
            answer.send(work(job, progress=report))
        except BrokenPipeError:
            raise
        except Exception as error:  # the calling process raises it
            error.add_note(f"in the search of {job}")
            answer.send(error)


def _received(ready: Any, process: Any) -> Result | tuple[int, ...]:
    try:
        answer: Any = ready.recv()
    except (EOFError, OSError):  # the process died before or while it answered
        answer = None
    if isinstance(answer, tuple):
        return answer
    process.join()
    ready.close()
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Result):
        return answer
    return failed_search(f"the process that searched it died (exit {process.exitcode})")
