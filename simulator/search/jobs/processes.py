"""Runs search jobs in separate processes, which end when the calling process ends.

A process runs one job after another: searches of one world share the caches of the model, such as those of merged rows.
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
from typing import Any, NamedTuple

from nbcc.model import mechanisms

from ...interrupts import deferred
from ..explore import Result
from ..explore.memory import held
from .job import failed_search

NEEDED = (
    "nbcc.simulator.search.jobs", "nbcc.simulator.search.mutants", "nbcc.simulator.specs",
    "nbcc.simulator.search.jobs.extended",
)  # fmt: skip
"""Modules that a search imports. The fork server imports them once for all of its children."""
WAIT_SECONDS = 0.5


GROWTH = 256 << 20
"""Bytes by which a process may grow before another one replaces it. It keeps the caches of its searches, and also their
garbage: collecting it after each search would take a fifth of the time of a small one.
"""


class _Process(NamedTuple):
    """A process that searches one job after another, and the connection to it."""

    connection: Connection
    process: Any


class _Answer(NamedTuple):
    """The result of a job, or the error that it raised. If `last` is True, the process takes no other job."""

    result: Any
    last: bool


def in_processes(work: Callable[[Any], Result], jobs: Sequence[Any], workers: int) -> Generator[tuple[int, Result]]:
    """Run `work` on each job in one of `workers` processes. Yields each job's index and result, in the order in which
    jobs end.
    """
    running: dict[Any, tuple[int, _Process]] = {}
    idle: list[_Process] = []
    waiting = list(enumerate(jobs))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, job = waiting.pop()
                with deferred():
                    chosen = idle.pop() if idle else _start(work)
                    running[chosen.connection] = (number, chosen)
                with suppress(OSError):  # the process has died: its end of the connection says so below
                    chosen.connection.send(job)
            # The timeout lets this thread handle a signal that another thread received.
            for ready in wait(list(running), timeout=WAIT_SECONDS):
                number, chosen = running.pop(ready)
                answer = _received(chosen)
                if answer.last:
                    chosen.process.join()
                    chosen.connection.close()
                else:
                    idle.append(chosen)
                yield number, _result(answer)
    finally:
        left = [*idle, *(chosen for _, chosen in running.values())]
        for each in left:
            each.process.terminate()
        for each in left:
            each.process.join()


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


def _start(work: Callable[[Any], Result]) -> _Process:
    context = _server()
    mine, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Process(mine, process)


def _serve(work: Callable[[Any], Result], connection: Connection) -> None:
    gc.disable()
    most = held() + GROWTH
    last = False
    with suppress(EOFError, ConnectionError):  # the calling process has ended
        while not last:
            job = connection.recv()
            try:
                found: Any = work(job)
            except Exception as error:  # the calling process raises it
                error.add_note(f"in the search of {job}")
                found = error
            last = held() > most
            connection.send(_Answer(found, last))


def _received(chosen: _Process) -> _Answer:
    try:
        answer: _Answer = chosen.connection.recv()
    except (EOFError, OSError):  # the process died before or while it answered
        chosen.process.join()
        died = failed_search(f"the process that searched it died (exit {chosen.process.exitcode})")
        return _Answer(died, last=True)
    return answer


def _result(answer: _Answer) -> Result:
    if isinstance(answer.result, Exception):
        raise answer.result
    found: Result = answer.result
    return found
