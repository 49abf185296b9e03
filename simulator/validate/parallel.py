"""Judging the file groups of a big table together with other processes, which are told some whenever they wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import reduce
from itertools import islice
from typing import Final

from ..interrupts import Pool, process_pool
from .history import GroupHistory, Histories
from .judge import Judgement, judge

AT_ONCE: Final = 25
"""File groups that are told at once: their histories are copied."""

WAITING: Final = 2
"""So many batches are there for each process, the one that it works on included."""


def judge_in_parallel(told: Histories, own: str, progress: Callable[[int], None], helpers: int) -> Judgement:
    """What `judge` finds of all, but for where it stops; this process judges what the helpers have no time for."""
    given: list[Future[Judgement]] = []

    def mine(pool: Pool) -> Iterator[GroupHistory]:
        groups = told.groups
        for done in range(0, len(told.playable), AT_ONCE):
            progress(done)
            batch = [*islice(groups, AT_ONCE)]
            if sum(not each.done() for each in given) < helpers * WAITING:
                given.append(pool.submit(judge, batch, own))
            else:
                yield from batch

    with process_pool(helpers) as pool:
        found = judge(mine(pool), own)
        return reduce(Judgement.joined, (each.result() for each in given), found)
