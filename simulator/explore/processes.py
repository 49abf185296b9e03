"""Cells in processes of their own, which end with whoever asked.

A process that dies takes its job with it and no other: the job is UNDETERMINED, with the reason.
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
"""What a search imports: the server does so once, not each of its children."""
EVERY = 0.5
"""Seconds between two times that a process says how far it is."""


def in_processes(
    work: Work, jobs: Sequence[Any], workers: int, progress: Callable[..., None] | None = None
) -> Generator[tuple[int, Result]]:
    """The number of each job with what `work` makes of it, as they end; so many `workers` at once. `progress(number,
    *figures)` hears now and then how far one is."""
    running: dict[Any, tuple[int, Any]] = {}
    waiting = list(enumerate(jobs))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, job = waiting.pop()
                with deferred():
                    connection, process = _start(work, job)
                    running[connection] = (number, process)
            # With a limit: a signal that another thread receives does not end a wait of this one.
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
    """Have the processes to come begin at once with what all of them import."""
    _server()


@cache
def _server() -> Any:
    # Forked from a clean server process, not from this one: whoever calls may have threads, a JVM, gigabytes.
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
    gc.disable()  # all that is made here goes with the process: nobody need look for garbage in it
    told = -math.inf  # the first figures are told at once

    def tell(*figures: int) -> None:
        nonlocal told
        if time.monotonic() - told > EVERY:
            told = time.monotonic()
            answer.send(figures)

    with suppress(BrokenPipeError):  # who asked is gone, so that nobody needs an answer
        try:
            answer.send(work(job, progress=tell))
        except BrokenPipeError:
            raise
        except Exception as error:  # an error of the job is the caller's to see, not a failed_search process
            error.add_note(f"in the search of {job}")
            answer.send(error)


def _received(ready: Any, process: Any) -> Result | tuple[int, ...]:
    """What a process says: how far it is, or what it has found; then it is gone."""
    try:
        answer: Any = ready.recv()
    except (EOFError, OSError):  # nothing, or half of it
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
