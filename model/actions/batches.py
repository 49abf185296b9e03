"""Batch ids: a batch commits at most once, however often its caller sends it.

Looked for under the lock with which the write is requested, where a batch that was sent again costs nothing; and again
under the lock that covers publication, because two that carry it may be under way at once. A writer whose rows differ
from the committed ones ends with an error (`replay_difference`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conditions import at, lock_is_free
from ..step import Action, Guard, Row
from ..timeline.batches import compares, completed, has_other_rows, looks, once
from ..timeline.decisions import caught_up
from ..timeline.publication import Check, given_back
from . import Setting
from .writer import KIND, Writer, is_alive

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        if looks(setting, me):
            yield from _skipping(me, setting)
        if check := once(setting, me):
            yield from _finding(me, setting, check)


def _skipping(me: str, setting: Setting) -> Iterator[Row]:
    world = setting.world
    left = Guard(f"{me} must have a write left", lambda own: own.number < world.writes_per_writer, budget=True)
    there = Guard("its batch must have completed",
                  lambda own, lock, published: completed(world, published, me, own.number + 1) is not None)  # fmt: skip
    skips = Row("writer_skips_batch", me, (me, "lock", "published"), (me,), (at(me, "idle"), left),
                lambda own, *_: (Writer(number=own.number + 1),), (lock_is_free(), there))  # fmt: skip
    if not compares(setting, me):
        yield skips
        return

    def other(own: Writer, published: Any) -> bool:
        return has_other_rows(world, published, me, own.number + 1)

    yield skips.asking(Guard("its rows must be those of its batch", lambda own, v: not other(own, v)), "published")
    refuses = skips._replace(action="writer_refuses_batch", guards=(lock_is_free(),))
    yield refuses.asking(Guard("its batch must have completed with other rows", other), "published")


def _finding(me: str, setting: Setting, check: Check) -> Iterator[Row]:
    asked_at = check.asked_at("written", setting.protocol_of(me))
    alive = is_alive(setting, me)  # whoever was taken for dead finds that out first
    first = (alive.guard(3),) if alive and alive.under_lock else ()
    reads = (me, "lock", "published", *(alive.reads if alive else ()))
    differs = compares(setting, me)

    def finds(own: Writer, lock: str, published: Any, *_: Any) -> tuple[Any, ...]:
        other = differs and has_other_rows(setting.world, published, me, own.number)
        return own._replace(step=OTHER_ROWS if other else REPEATED), given_back(me, lock)

    yield caught_up(Row("writer_finds_batch", me, reads, (me, "lock"), (at(me, asked_at),), finds,
                        (check.guard(2, fails=True), *first)), setting)  # fmt: skip
    yield Row("writer_takes_back_repeat", me, (me, "lock"), (me,), (at(me, REPEATED),), _gone,
              (lock_is_free(),))  # fmt: skip
    if differs:
        yield Row("writer_takes_back_other_rows", me, (me, "lock"), (me,), (at(me, OTHER_ROWS),), _gone,
                  (lock_is_free(),))  # fmt: skip


def _gone(own: Writer, lock: None) -> tuple[Any, ...]:
    return (Writer(number=own.number),)
