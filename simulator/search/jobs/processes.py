"""Runs search jobs in separate processes, which end when the calling process ends.

If a process dies, the result of its job is UNDETERMINED, and the other jobs continue.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

from nbcc.model import mechanisms

from ...interrupts import deferred
from ..explore import Result
from .job import failed_search

NEEDED = (
    "nbcc.simulator.search.jobs", "nbcc.simulator.search.mutants", "nbcc.simulator.specs",
    "nbcc.simulator.search.jobs.extended",
)  # fmt: skip
"""Modules that a search imports. The fork server imports them once for all of its children."""
WAIT_SECONDS = 0.5


def in_processes(work: Callable[[Any], Result], jobs: Sequence[Any], workers: int) -> Generator[tuple[int, Result]]:
    """Run `work` on each job in a separate process. Yields each job's index and result, in the order in which jobs end.
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
            for ready in wait(list(running), timeout=WAIT_SECONDS):
                number, process = running.pop(ready)
                yield number, _received(ready, process)
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


@cache
def _server() -> Any:
    # Processes fork from a clean server: this process may have threads, a JVM, or gigabytes of memory.
    context = multiprocessing.get_context("forkserver")
    own = {name for package in mechanisms.PACKAGES for name in mechanisms.of_package(package)}
    parts = {each.compose.__module__ for name, each in mechanisms.every().items() if name in own}
    context.set_forkserver_preload([*NEEDED, *sorted(parts)])
    with deferred():
        forkserver.ensure_running()
    return context


def _start(work: Callable[[Any], Result], job: Any) -> tuple[Connection, Any]:
    context = _server()
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(work, job, theirs), daemon=True)
    process.start()
    theirs.close()
    return mine, process


def _serve(work: Callable[[Any], Result], job: Any, answer: Connection) -> None:
    gc.disable()  # the process ends soon, and its memory with it
    with suppress(BrokenPipeError):  # the calling process has ended
        try:
            answer.send(work(job))
        except BrokenPipeError:
            raise
        except Exception as error:  # the calling process raises it
            error.add_note(f"in the search of {job}")
            answer.send(error)


def _received(ready: Any, process: Any) -> Result:
    try:
        answer: Any = ready.recv()
    except (EOFError, OSError):  # the process died before or while it answered
        answer = None
    process.join()
    ready.close()
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Result):
        return answer
    return failed_search(f"the process that searched it died (exit {process.exitcode})")
