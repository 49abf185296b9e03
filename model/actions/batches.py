"""Batch ids: a batch commits at most once, however often its caller sends it.

Looked for under the lock with which the write is requested, where a batch that was sent again costs nothing; and again
under the lock that covers publication, because two that carry it may be under way at once. A writer whose rows differ
from the committed ones ends with an error (`replay_difference`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernel.lock import LOCK_IS_FREE
from ..machine.transition import Action, Changes, Choice, Guard, Transition, go_to, transition
from ..timeline.batches import compares, completed, has_other_rows, looks, once
from ..timeline.decisions import caught_up
from ..timeline.publication import Check, release_lock
from ..world import World
from . import Setting
from .heartbeat import give_up
from .writer import KIND, WRITE_LEFT, Writer, is_alive

Published = tuple[Any, ...]

ACTIONS = (
    Action("writer_skips_batch", "under the lock: finds its batch completed, and begins nothing",
           "{actor} finds its batch completed before it begins"),
    Action("writer_finds_batch", "under the lock: finds its batch completed meanwhile; gives the lock back",
           "{actor} finds that its batch has been completed by another"),
    Action("writer_takes_back_repeat", "deletes its files, then, under the lock, its pending instant",
           "{actor} takes its files and its instant back"),
    Action("writer_refuses_batch", "under the lock: finds other rows completed under its batch's id; raises an error",
           "{actor} finds other rows under its batch's id before it begins, and raises an error"),
    Action("writer_takes_back_other_rows",
           "deletes its files, then, under the lock, its pending instant; raises an error",
           "{actor} takes its files and its instant back, and raises an error"),
)  # fmt: skip

REPEATED = "the second with its batch"
OTHER_ROWS = "the second with its batch, with other rows"


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        if looks(setting, me):
            yield from _skipping(me, setting)
        if check := once(setting, me):
            yield from _finding(me, setting, check)


def _skipping(me: str, setting: Setting) -> Iterator[Transition]:
    skips = transition("writer_skips_batch", me, at="idle", guards=(WRITE_LEFT, LOCK_IS_FREE, BATCH_IS_THERE),
                       effect=skip_batch)  # fmt: skip
    if not compares(setting, me):
        yield skips
        return
    other = Guard("its batch must have completed with other rows", next_has_other_rows)
    yield skips.require(Guard("its rows must be those of its batch", next_has_other_rows, negated=True))
    yield transition("writer_refuses_batch", me, at="idle", guards=(WRITE_LEFT, LOCK_IS_FREE, other), effect=skip_batch)


def _finding(me: str, setting: Setting, check: Check) -> Iterator[Transition]:
    asked_at = check.asked_at("written", setting.protocol_of(me))
    alive = is_alive(setting, me)  # a writer that was taken for dead finds that out first
    first = (alive.guard,) if alive and alive.under_lock else ()
    repeated = (release_lock, go_to(REPEATED))
    differs = compares(setting, me)
    found = Choice(own_has_other_rows, (release_lock, go_to(OTHER_ROWS)), repeated)
    finds = transition("writer_finds_batch", me, at=asked_at, guards=(~check.guard, *first), changes=("own", "lock"))
    finds = finds.extend(found) if differs else finds.extend(release_lock).renamed(finds.action, to=REPEATED)
    yield caught_up(finds, setting)
    yield transition("writer_takes_back_repeat", me, at=REPEATED, guards=(LOCK_IS_FREE,), effect=give_up)
    if differs:
        yield transition("writer_takes_back_other_rows", me, at=OTHER_ROWS, guards=(LOCK_IS_FREE,), effect=give_up)


def batch_is_there(own: Writer, me: str, world: World, published: Published) -> bool:
    return completed(world, published, me, own.number + 1) is not None


BATCH_IS_THERE = Guard("its batch must have completed", batch_is_there)


def skip_batch(own: Writer) -> Changes:
    """The batch has completed: begin nothing."""
    return {"own": Writer(number=own.number + 1)}


def next_has_other_rows(own: Writer, me: str, world: World, published: Published) -> bool:
    return has_other_rows(world, published, me, own.number + 1)


def own_has_other_rows(own: Writer, me: str, world: World, published: Published) -> bool:
    return has_other_rows(world, published, me, own.number)
