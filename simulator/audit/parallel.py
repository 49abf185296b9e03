"""Replays the histories of a large table's file groups in several processes."""

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
"""How many file groups one batch has: their histories are copied to the helper."""

WAITING: Final = 2
"""How many batches each helper has at most, including the one that it works on."""


def judge_in_parallel(histories: Histories, own: str, progress: Callable[[int], None], helpers: int) -> Judgement:
    """Do the same as `judge` in several processes. Unlike `judge`, this function may continue after `MAX_REFUSALS`
    refusals.
    """
    tasks: list[Future[Judgement]] = []

    def own_share(pool: Pool) -> Iterator[GroupHistory]:
        groups = histories.groups
        for done in range(0, len(histories.playable), AT_ONCE):
            progress(done)
            batch = [*islice(groups, AT_ONCE)]
            if sum(not each.done() for each in tasks) < helpers * WAITING:
                tasks.append(pool.submit(judge, batch, own))
            else:
                yield from batch

    with process_pool(helpers) as pool:
        judgement = judge(own_share(pool), own)
        return reduce(Judgement.joined, (each.result() for each in tasks), judgement)
