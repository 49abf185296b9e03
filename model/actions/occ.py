"""Optimistic concurrency control: a writer that finds a conflicting write completed since it began aborts (RFC-22).

The steps of "Concurrency Control", option 1, at the grain of a file group: what the timeline holds is sealed with the
requested instant; the data phase follows; under the lock that covers publication the writer looks at what completed
meanwhile, and publishes or aborts. Who aborts takes its own files and its instant back, and may try again as a new
instant: the time of the first attempt is spent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..conditions import at, lock_is_free
from ..step import Action, Guard, Row
from ..table import Rollback
from ..timeline.batches import once
from ..timeline.looking import ABORTED, looking_rows
from . import Setting
from .writer import KIND, Writer, groups_of, requesting_of, still_stands

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

    def touches(own: Writer) -> tuple[int, ...]:
        groups = groups_of(world, me, own)
        if protocol.conflict_reads == "checked":
            groups = tuple(dict.fromkeys((*groups, *world.reads.get((me, own.number), ()))))
        return groups

    return looking_rows(KIND, me, setting, touches, stands=still_stands(setting, me), new=once(setting, me))


def _meeting_marker(me: str, setting: Setting) -> Row:
    world = setting.world
    others = tuple(name for name in setting.of(KIND) if name != me)
    undone = setting.if_any("rollbacks")

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
