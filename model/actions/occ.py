"""Optimistic concurrency control: a writer that finds a conflicting write completed since it began aborts (RFC-22).

The steps of "Concurrency Control", option 1, at the grain of a file group: what the timeline holds is sealed with the
requested instant; the data phase follows; under the lock that covers publication the writer looks at what completed
meanwhile, and publishes or aborts. Who aborts takes its own files and its instant back, and may try again as a new
instant: the time of the first attempt is spent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..batches import once
from ..conditions import at, lock_is_free
from ..conflicts import Attempt, conflicting
from ..publication import CHECKED, READY, UNDER_LOCK
from ..step import Action, Args, Guard, Row
from ..table import Rollback
from . import Setting
from .writer import KIND, Writer, groups_of, is_alive, looks_under_lock, requesting_of

ACTIONS = (
    Action("writer_passes_check", "finds no conflicting write that completed since it began",
           "{actor} finds no conflict"),
    Action("writer_aborts", "finds a conflicting write that completed since it began; gives the lock back",
           "{actor} aborts: a write conflicts that completed since it began"),
    Action("writer_meets_marker", "finds the marker of another pending write where it is about to write; aborts",
           "{actor} aborts: another write is at work in the same file group"),
    Action("writer_takes_back_write", "deletes its files, then, under the lock, its pending instant",
           "{actor} takes its files and its instant back"),
    Action("writer_retries", "under the lock: takes a new requested time for the write that it aborted",
           "{actor} tries again as a new instant"),
)  # fmt: skip

ABORTED = "aborted"
RETRYING = "about to try again"


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        if setting.protocol_of(me).concurrency == "occ":
            yield from _checking(me, setting)
            yield from _taking_back(me, setting)
            if setting.protocol_of(me).early_detection == "on":
                yield _meeting_marker(me, setting)


def _checking(me: str, setting: Setting) -> Iterator[Row]:
    protocol, world = setting.protocol_of(me), setting.world
    looks_at_plans = protocol.priority == "first" and "plans" in setting.first
    early = protocol.conflict_check == "before_lock"
    known = (me, "published", "plans") if looks_at_plans else (me, "published")
    alive = is_alive(setting, me) if looks_under_lock(protocol) else None
    lives = (alive.guard(len(known)),) if alive and alive.under_lock else ()
    reads = (*known, *alive.reads) if alive and lives else known

    def conflict(own: Writer, published: Any, *more: Any) -> int | None:
        plans = more[0] if looks_at_plans else ()
        groups = groups_of(world, me, own)
        if protocol.conflict_reads == "checked":
            groups = tuple(dict.fromkeys((*groups, *world.reads.get((me, own.number), ()))))
        return conflicting(published, plans, Attempt(groups, own.file_ids, own.mark), protocol)

    def against(*values: Any) -> tuple[Args, ...]:
        return ((("against", (conflict(*values),)),),)

    def aborts(own: Writer, *values: Any, against: tuple[int, ...]) -> tuple[Any, ...]:
        own = own._replace(step=ABORTED, conflict=against[0])
        return (own,) if early else (own, None)

    unchecked = Guard(f"{me} must not have looked for conflicts yet", lambda own: not own.checked)
    here = (
        at(me, "written" if early else READY if protocol.completion_time == "outside_lock" else UNDER_LOCK),
        unchecked,
    )
    new = once(setting, me)
    newly = (new.guard(1),) if new and not early else ()
    none = Guard("no conflicting write may have completed since it began", lambda *v: conflict(*v) is None)
    some = Guard("a conflicting write must have completed since it began", lambda *v: conflict(*v) is not None)
    then = CHECKED if early else None
    yield Row("writer_passes_check", me, reads, (me,), here,
              lambda own, *v: (own._replace(step=then or own.step, checked=True),), (*lives, none, *newly))  # fmt: skip
    yield Row("writer_aborts", me, reads, (me,) if early else (me, "lock"), here, aborts, (*lives, some, *newly),
              against)  # fmt: skip


def _meeting_marker(me: str, setting: Setting) -> Row:
    world = setting.world
    others = tuple(name for name in setting.of(KIND) if name != me)
    undone = ("rollbacks",) if "rollbacks" in setting.first else ()

    def marked(own: Writer, *seen: Any) -> int | None:
        rollbacks: tuple[Rollback, ...] = seen[-1] if undone else ()
        group, _ = world.files(me, own.number)[own.files]
        for name, peer in zip(others, seen, strict=False):
            gone = max((each.deleted for each in rollbacks if each.target == peer.requested), default=0)
            if group in {in_group for in_group, _ in world.files(name, peer.number)[gone : peer.files]}:
                return int(peer.requested)
        return None

    meets = Guard("another pending write must have a marker there", lambda *v: marked(*v) is not None)
    return Row("writer_meets_marker", me, (me, *others, *undone), (me,), (at(me, "writing"),),
               lambda own, *v, against: (own._replace(step=ABORTED, conflict=against[0]),), (meets,),
               lambda *v: ((("against", (marked(*v),)),),))  # fmt: skip


def _taking_back(me: str, setting: Setting) -> Iterator[Row]:
    most = setting.world.retries

    def takes_back(own: Writer, lock: None) -> tuple[Any, ...]:
        if own.tries < most:
            return (Writer(RETRYING, own.number, tries=own.tries + 1),)
        return (Writer(number=own.number),)

    yield Row("writer_takes_back_write", me, (me, "lock"), (me,), (at(me, ABORTED),), takes_back, (lock_is_free(),))
    if most:
        requesting = requesting_of(me, setting)
        yield Row("writer_retries", me, requesting.reads, (me, "clock"), (at(me, RETRYING),),
                  lambda own, *v, **ahead: requesting.effect(own._replace(number=own.number - 1), *v, **ahead),
            (lock_is_free(),), requesting.choices)  # fmt: skip
