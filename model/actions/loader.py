"""Bulk insert: base files where a file group begins with them, logs elsewhere; who was overtaken there is refused.

A base file is a barrier at the requested time of its write: it hides what completed before that, and ranks below what
completed after that. So it may be published only as the first file of its group to complete. Apache Hudi, too, resolves
conflicts of this one operation under NBCC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import Instant, Plan, Write
from ..machine.marks import marks
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.bulk_insert import Loaded
from ..protocol import Protocol
from ..timeline.clock import clock_readings, requests_of
from ..timeline.conflicts import Attempt, conflicting
from ..timeline.decisions import caught_up
from ..timeline.publication import (
    READY,
    Check,
    believes,
    noted_by_store,
    publication,
    publication_actions,
    release_lock,
)
from ..timeline.publication import UNDER_LOCK as HOLDING
from ..timeline.waiting import requesting
from ..world import World
from . import Setting

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]

KIND, PREFIX = "loader", "l"
CHOOSES = ("completion_time", "concurrency", "conflict_by", "conflict_window", "priority")
IN_RANDOM_WORLDS = 1
ACTIONS = (
    Action("loader_requests_instant", "under the lock: takes a requested time and puts the requested instant",
           "{actor} requests an instant for a bulk insert"),
    Action("loader_starts_writing", "looks which file groups have files, puts the inflight instant",
           "{actor} starts its bulk insert"),
    Action("loader_writes_base", "puts a base file into a file group without files",
           "{actor} loads the base of group {group}", joins=True),
    Action("loader_writes_log", "puts a log file into a file group that has files",
           "{actor} writes a log of group {group}", joins=True),
    Action("loader_looks_again", "under the lock: looks whether anything has completed beside its base files",
           "{actor} looks whether others were faster"),
    Action("loader_gives_up", "gives the lock back and publishes nothing, because others were", "{actor} gives up"),
    Action("loader_withdraws_instant", "takes its files back and, under the lock, its instant",
           "{actor} withdraws its bulk insert"),
    *publication_actions(KIND),
)  # fmt: skip
UNDER_LOCK = (HOLDING, READY)


class Loader(NamedTuple):
    """`bases` and `logs` are the file groups that get a base file or a log, `files` counts the files that are there.

    `knew` counts what was published when it began to write (resolved only) or, if it is optimistic, asked for its
    instant; `clear`: it has looked again and found nobody in its way. It bulk inserts once. `seen` (decision log only):
    how many decisions there were when it looked. `timed`, `until`, `then`: as of a writer.
    """

    step: str = "idle"
    requested: int = 0
    completed: int = 0
    bases: tuple[int, ...] = ()
    logs: tuple[int, ...] = ()
    files: int = 0
    inflight: bool = False
    knew: int = 0
    clear: bool = False
    dead: bool = False
    seen: int = 0
    timed: int = 0
    until: int = 0
    then: str = ""

    @property
    def number(self) -> int:
        """Of its bulk insert among its writes."""
        return 1

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", "done", "refused")

    @property
    def group(self) -> int | None:
        """The file group that is next, partition by partition, bucket by bucket; None after the last one."""
        return next(iter(sorted((*self.bases, *self.logs))[self.files :]), None)


def components(setting: Setting) -> dict[str, Any]:
    if setting.of(KIND) and setting.protocol.slicing == "base_instant":
        raise ValueError("world: a loader beside slicing = 'base_instant' is not modelled; leave one of them out")
    return {me: Loader() for me in setting.of(KIND)}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        requests = transition("loader_requests_instant", me, at="idle", to="requested", guards=(LOCK_IS_FREE,),
                              arguments=clock_readings, effect=request_instant, changes=("own", "clock"))  # fmt: skip
        if setting.protocol_of(me).concurrency == "occ":
            requests = requests.extend(seal_timeline)
        yield from requesting(KIND, setting, noted_by_store(setting, requests))
        yield transition("loader_starts_writing", me, at="requested", to="writing", effect=start_writing)
        yield transition("loader_writes_base", me, at="writing", guards=(BASE_IS_NEXT,), effect=write_file,
                         arguments=next_base)  # fmt: skip
        yield transition("loader_writes_log", me, at="writing", guards=(LOG_IS_NEXT,), effect=write_file,
                         arguments=next_log)  # fmt: skip
        yield from _publishing(me, setting)


def request_instant(
    own: Loader, clock: int, setting: Setting, listed_instants: list[Any], *, ahead: int = 0
) -> Changes:
    """Under the lock: take a requested time and put the requested instant."""
    times = requests_of(setting.world, setting.protocol)
    time, later = times.take("deltacommit", clock, listed_instants, ahead)
    return {"own": Loader(requested=time), "clock": later}


def seal_timeline(own: Loader, published: Published) -> Changes:
    """OCC: what has completed by now does not conflict."""
    return {"own": own._replace(knew=len(published))}


def start_writing(own: Loader, me: str, world: World, setting: Setting, published: Published, plans: Plans) -> Changes:
    """Find the file groups that have files, and put the inflight instant."""
    groups = sorted({group for group, _ in world.files(me, 1)})
    filled = set() if setting.protocol.bulk_insert == "unchecked" else filled_groups(published, plans)
    bases = tuple(group for group in groups if group not in filled)
    logs = tuple(group for group in groups if group in filled)
    knew = len(published) if setting.protocol.bulk_insert == "resolved" else own.knew
    return {"own": own._replace(inflight=True, bases=bases, logs=logs, knew=knew)}


def filled_groups(published: Iterable[Any], plans: tuple[Plan, ...]) -> set[int]:
    """The file groups in which a write has completed, or that a plan takes."""
    written = {group for entry in published if isinstance(entry, Write) for group, _ in entry.files}
    return written | {part.group for plan in plans for part in plan.groups}


def base_is_next(own: Loader) -> bool:
    return own.group in own.bases


def log_is_next(own: Loader) -> bool:
    return own.group in own.logs


BASE_IS_NEXT = Guard("the next file group must be without files", base_is_next)
LOG_IS_NEXT = Guard("the next file group must have files", log_is_next)


def next_base(own: Loader) -> Iterable[Args]:
    return ((("group", own.group),),)


def next_log(own: Loader) -> Iterable[Args]:
    return ((("group", own.group), ("version", 1)),)


def write_file(own: Loader) -> Changes:
    """Put the file of the next file group."""
    last = own.files + 1 == len(own.bases) + len(own.logs)
    return {"own": own._replace(step="written" if last else "writing", files=own.files + 1)}


def is_overtaken(own: Loader, setting: Setting, protocol: Protocol, published: Published, plans: Plans) -> bool:
    """Whether another write has completed in its new file groups; an optimistic one asks for conflicts as well."""
    faster: set[int] = {
        "checked": filled_groups(published, plans) & set(own.bases),
        "resolved": filled_groups(published[own.knew :], ()) & {*own.bases, *own.logs},
        "unchecked": set(),
    }[setting.protocol.bulk_insert]
    attempt = Attempt((*own.bases, *own.logs), (), own.knew)
    optimistic = protocol.concurrency == "occ"
    return bool(faster) or (optimistic and conflicting(published, plans, attempt, protocol) is not None)


def published_load(me: str, own: Loader) -> tuple[Loader, Write]:
    """The loader after its bulk insert is published, and the write."""
    files = tuple((group, 1) for group in sorted((*own.bases, *own.logs)))
    return Loader("done"), Write(own.requested, own.completed, me, 1, files, marks(Loaded(own.bases)))


def may_look(own: Loader) -> bool:
    return own.step in UNDER_LOCK and not own.clear and not own.dead


def is_clear(own: Loader) -> bool:
    return own.clear


MAY_LOOK = Guard("{me} must be under the lock and not have looked yet", may_look)
IS_CLEAR = Guard("{me} must have looked again", is_clear)
NOT_OVERTAKEN = Guard("no other may have completed in its new file groups", is_overtaken, negated=True)


def _publishing(me: str, setting: Setting) -> Iterator[Transition]:
    publish = partial(published_load, me)
    yield transition("loader_withdraws_instant", me, at="withdrawing", guards=(LOCK_IS_FREE,), effect=withdraw)
    gives_up = transition("loader_gives_up", me, at="overtaken", to="withdrawing", guards=believes(setting),
                          effect=release_lock, changes=("own", "lock"))  # fmt: skip
    if setting.protocol.decision == "log":  # the look is for one number, and made again for the next
        overtaken = Guard(f"not: {NOT_OVERTAKEN.reason}", NOT_OVERTAKEN.holds)
        yield caught_up(transition("loader_gives_up", me, at=HOLDING, to="withdrawing", guards=(overtaken,),
                                   effect=release_lock, changes=("own", "lock")), setting)  # fmt: skip
        yield from publication(KIND, me, "written", setting, publish, check=Check(NOT_OVERTAKEN))
        return
    yield transition("loader_looks_again", me, guards=(MAY_LOOK, *believes(setting)), effect=look_again)
    yield gives_up
    for each in publication(KIND, me, "written", setting, publish):
        waits = "lock" in each.changes and each.action != f"{KIND}_takes_lock"
        yield each.require(IS_CLEAR) if waits or each.at == HOLDING else each


def look_again(own: Loader, setting: Setting, protocol: Protocol, published: Published, plans: Plans) -> Changes:
    """Under the lock: find out whether another write has completed in its new file groups."""
    if is_overtaken(own, setting, protocol, published, plans):
        return {"own": own._replace(step="overtaken")}
    return {"own": own._replace(clear=True)}


def withdraw() -> Changes:
    """Take the files back and, under the lock, the instant."""
    return {"own": Loader("refused")}


def pending(every_loader: Mapping[str, Loader]) -> Iterator[Instant]:
    """The pending bulk inserts."""
    for loader in every_loader.values():
        if loader.requested:
            yield Instant(loader.requested, "deltacommit", "inflight" if loader.inflight else "requested", None)
