"""Measures the time of a timeline listing, per active instant and per commit that the process has not read before."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from nbcc.engine.timeline import Commits, load

from .timed import Stopwatch, TimedStorage, batch, timed_table

TIMES: Final = 6
"""How often the other process lists the timeline."""
COMMITS: Final = 16
"""The commits between two listings."""
WAIT: Final = 60.0
"""The seconds in which the other process answers."""


class ListingCosts(NamedTuple):
    """Measurements of timeline listings. Each pair in `stages` contains the number of active instants, and the mean
    core-seconds of a write's two stages under the lock.

    `unread` contains measurements of the extra core-seconds that each new commit adds to a listing. `decode` contains
    measurements of the core-seconds for decoding a new commit.
    """

    stages: list[tuple[int, float]]
    unread: list[float]
    decode: list[float]


def measured_listings(path: Path) -> ListingCosts:
    """Measure listings while this process writes. Another process lists the timeline, because this process has already
    cached its own commits.
    """
    watch, table = timed_table(path, 4)
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_list, args=(table.context.storage.url, there), daemon=True)
    process.start()
    made = ListingCosts([], [], [])
    try:
        for number in range(TIMES + 1):
            for place in range(COMMITS):
                watch.marks.clear()
                table.upsert(batch(100, 0))
                (asked, _), (requested, _), (ready, _), (published, _) = watch.marks
                made.stages.append((number * COMMITS + place, (requested - asked + published - ready) / 2))
            here.send(True)
            if not here.poll(WAIT):
                raise TimeoutError("the process that lists the timeline does not answer")
            new, again, decode = here.recv()
            made.unread.append((new - again) / COMMITS)
            made.decode.append(decode / COMMITS)
    finally:
        here.send(False)
        process.join(WAIT)
    return ListingCosts(made.stages[COMMITS:], made.unread[1:], made.decode[1:])  # the first ones also load code


def _list(url: str, pipe: Connection) -> None:
    """Answer requests from the measuring process: list the timeline twice, with and without new commits, and then
    decode the new commits.
    """
    watch = Stopwatch()
    storage = TimedStorage(url, watch)
    commits = Commits(storage)
    while pipe.recv():
        watch.marks.clear()
        watch.mark()
        for _ in range(2):
            timeline = load(storage)
            watch.mark()
        for instant in timeline.completed:
            commits.commit(instant)  # one that it has read costs nothing
        watch.mark()
        pipe.send(watch.between())


def of_listings(measured: Sequence[ListingCosts]) -> dict[str, float]:
    """Return the median core-seconds of three operations: listing an active instant, listing a new commit, and decoding
    a commit.
    """
    slopes = []
    for each in measured:
        early, late = each.stages[: len(each.stages) // 2], each.stages[len(each.stages) // 2 :]
        (first, low), (last, high) = (np.median(half, axis=0) for half in (early, late))
        slopes.append((high - low) / (last - first))
    unread = [value for each in measured for value in each.unread]
    decode = [value for each in measured for value in each.decode]
    figures = {"list_instant": slopes, "unread": unread, "decode": decode}
    return {name: max(0.0, float(np.median(values))) for name, values in figures.items()}
