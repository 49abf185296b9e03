"""Optimistic concurrency control: a writer that finds a conflicting write completed since it began aborts (RFC-22).

The steps of "Concurrency Control", option 1, at the grain of a file group: what the timeline holds is sealed with the
requested instant; the data phase follows; under the lock that covers publication the writer looks at what completed
meanwhile, and publishes or aborts. Who aborts takes its own files and its instant back, and may try again as a new
instant: the time of the first attempt is spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from ..kernel.lock import LOCK_IS_FREE
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.rollback import Rollback
from ..protocol import Protocol
from ..timeline.batches import once
from ..timeline.looking import ABORTED, abort, looking
from ..world import World
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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        protocol = setting.protocol_of(me)
        if protocol.concurrency == "occ":
            touches = partial(touched_groups, setting.world, protocol, me)
            checks = {"stands": still_stands(setting, me), "new": once(setting, me)}
            yield from looking(KIND, me, setting, touches, **checks)
            yield from _taking_back(me, setting)
            if protocol.early_detection == "on":
                meets = Guard("another pending write must have a marker there", marked)
                yield transition("writer_meets_marker", me, at="writing", to=ABORTED, guards=(meets,), effect=abort,
                                 arguments=list_marked)  # fmt: skip


def touched_groups(world: World, protocol: Protocol, me: str, own: Writer) -> tuple[int, ...]:
    """The file groups that its write touches, and those that it has read."""
    groups = groups_of(world, me, own)
    if protocol.conflict_reads == "checked":
        groups = tuple(dict.fromkeys((*groups, *world.reads.get((me, own.number), ()))))
    return groups


def marked(
    own: Writer, me: str, world: World, every_writer: Mapping[str, Writer], rollbacks: tuple[Rollback, ...] = ()
) -> int | None:
    """The requested time of another pending write with a marker where this one is about to write."""
    group, _ = world.files(me, own.number)[own.files]
    for name, peer in every_writer.items():
        gone = max((each.deleted for each in rollbacks if each.target == peer.requested), default=0)
        files = world.files(name, peer.number)[gone : peer.files] if name != me else ()
        if group in {in_group for in_group, _ in files}:
            return int(peer.requested)
    return None


def list_marked(
    own: Writer, me: str, world: World, every_writer: Mapping[str, Writer], rollbacks: tuple[Rollback, ...] = ()
) -> Iterable[Args]:
    return ((("against", (marked(own, me, world, every_writer, rollbacks),)),),)


def _taking_back(me: str, setting: Setting) -> Iterator[Transition]:
    yield transition("writer_takes_back_write", me, at=ABORTED, guards=(LOCK_IS_FREE,), effect=take_back)
    if setting.world.retries:
        yield requesting_of("writer_retries", me, setting, at=RETRYING).precede(count_as_the_same)


def take_back(own: Writer, world: World) -> Changes:
    """Delete the files, then, under the lock, the pending instant; perhaps try again."""
    if own.tries < world.retries:
        return {"own": Writer(RETRYING, own.number, tries=own.tries + 1)}
    return {"own": Writer(number=own.number)}


def count_as_the_same(own: Writer) -> Changes:
    """An attempt that is repeated is the same write."""
    return {"own": own._replace(number=own.number - 1)}
