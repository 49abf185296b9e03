"""Bulk insert: base files where a file group begins with them, logs elsewhere; who was overtaken there is refused.

A base file is a barrier at the requested time of its write: it hides what completed before that, and ranks below what
completed after that. So it may be published only as the first file of its group to complete. Apache Hudi, too, resolves
conflicts of this one operation under NBCC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..step import Action, Args, Guard, Row
from ..table import Instant, Plan, Write
from ..timeline.clock import requests_of
from ..timeline.conflicts import Attempt, conflicting
from ..timeline.decisions import caught_up
from ..timeline.publication import (
    READY,
    Check,
    believes,
    given_back,
    publication_actions,
    publication_rows,
    put_by_another,
)
from ..timeline.publication import UNDER_LOCK as HOLDING
from ..timeline.waiting import requesting_rows
from . import Setting

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _beginning(me, setting)
        yield from _writing(me)
        yield from _publishing(me, setting)


def _beginning(me: str, setting: Setting) -> Iterator[Row]:
    groups = sorted({group for group, _ in setting.world.files(me, 1)})
    unchecked, resolves = (setting.protocol.bulk_insert == choice for choice in ("unchecked", "resolved"))

    def starts(own: Loader, published: Any, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        filled = set() if unchecked else filled_groups(published, plans)
        bases = tuple(group for group in groups if group not in filled)
        logs = tuple(group for group in groups if group in filled)
        knew = len(published) if resolves else own.knew
        return (own._replace(step="writing", inflight=True, bases=bases, logs=logs, knew=knew),)

    times = requests_of(setting, me)

    def requests(own: Loader, lock: None, clock: int, *seen: Any, ahead: int = 0) -> tuple[Any, ...]:
        time, later = times.take("deltacommit", clock, seen[len(sealed) :], ahead)
        return Loader("requested", time, knew=len(seen[0]) if sealed else 0), later, *fence

    sealed = ("published",) if _optimistic(me, setting) else ()
    fence = ((),) * len(put_by_another(setting))
    yield from requesting_rows(KIND, setting, Row(
        "loader_requests_instant", me, (me, "lock", "clock", *sealed, *times.reads),
        (me, "clock", *put_by_another(setting)), (at(me, "idle"),), requests, (lock_is_free(),),
        lambda *_: times.clock.readings()))  # fmt: skip
    yield Row("loader_starts_writing", me, (me, "published", "plans"), (me,), (at(me, "requested"),), starts)


def filled_groups(published: Iterable[Any], plans: tuple[Plan, ...]) -> set[int]:
    """The file groups in which a write has completed, or that a plan takes."""
    written = {group for entry in published if isinstance(entry, Write) for group, _ in entry.files}
    return written | {part.group for plan in plans for part in plan.groups}


def _writing(me: str) -> Iterator[Row]:
    def put(own: Loader, **_: object) -> tuple[Any, ...]:
        last = own.files + 1 == len(own.bases) + len(own.logs)
        return (own._replace(step="written" if last else "writing", files=own.files + 1),)

    def next_group(own: Loader) -> Iterable[Args]:
        return ((("group", own.group),),)

    def next_log(own: Loader) -> Iterable[Args]:
        return ((("group", own.group), ("version", 1)),)

    base = Guard("the next file group must be without files", lambda own: own.group in own.bases)
    log = Guard("the next file group must have files", lambda own: own.group in own.logs)
    writing = at(me, "writing")
    yield Row("loader_writes_base", me, (me,), (me,), (writing,), put, (base,), next_group)
    yield Row("loader_writes_log", me, (me,), (me,), (writing,), put, (log,), next_log)


def _optimistic(me: str, setting: Setting) -> bool:
    return setting.protocol_of(me).concurrency == "occ"


def _publishing(me: str, setting: Setting) -> Iterator[Row]:
    def overtaken(own: Loader, published: Any, plans: tuple[Plan, ...]) -> bool:
        faster: set[int] = {
            "checked": filled_groups(published, plans) & set(own.bases),
            "resolved": filled_groups(published[own.knew :], ()) & {*own.bases, *own.logs},
            "unchecked": set(),
        }[setting.protocol.bulk_insert]
        attempt = Attempt((*own.bases, *own.logs), (), own.knew)
        judged = setting.protocol_of(me) if _optimistic(me, setting) else None
        return bool(faster) or (judged is not None and conflicting(published, plans, attempt, judged) is not None)

    def publish(own: Loader) -> tuple[Loader, Write]:
        files = tuple((group, 1) for group in sorted((*own.bases, *own.logs)))
        return Loader("done"), Write(own.requested, own.completed, me, 1, files, loaded=own.bases)

    yield Row("loader_withdraws_instant", me, (me, "lock"), (me,), (at(me, "withdrawing"),),
              lambda own, lock: (Loader("refused"),), (lock_is_free(),))  # fmt: skip
    if setting.protocol.decision == "log":  # the look is for one number, and made again for the next
        check = Check("no other may have completed in its new file groups", ("published", "plans"),
                      lambda own, published, plans: not overtaken(own, published, plans))  # fmt: skip
        yield caught_up(Row("loader_gives_up", me, (me, "lock", *check.reads), (me, "lock"), (at(me, HOLDING),),
                            lambda own, lock, *_: (own._replace(step="withdrawing"), given_back(me, lock)),
                            (check.guard(2, fails=True),)), setting)  # fmt: skip
        yield from publication_rows(KIND, me, "written", setting, publish, check=check)
        return

    def looks(own: Loader, lock: str, published: Any, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        return (own._replace(step="overtaken") if overtaken(own, published, plans) else own._replace(clear=True),)

    may_look = Guard(f"{me} must be under the lock and not have looked yet",
                     lambda own: own.step in UNDER_LOCK and not own.clear and not own.dead)  # fmt: skip
    yield Row("loader_looks_again", me, (me, "lock", "published", "plans"), (me,), (may_look,), looks,
              believes(me, setting))  # fmt: skip
    yield Row("loader_gives_up", me, (me, "lock"), (me, "lock"), (at(me, "overtaken"),),
              lambda own, lock: (own._replace(step="withdrawing"), given_back(me, lock)),
              believes(me, setting))  # fmt: skip
    clear = Guard(f"{me} must have looked again", lambda own: own.clear)
    for row in publication_rows(KIND, me, "written", setting, publish):
        waits = "lock" in row.reads and row.action != f"{KIND}_takes_lock"
        yield row._replace(own=(*row.own, clear)) if waits else row


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    for me in setting.of(KIND):
        loader = values[me]
        if loader.requested:
            yield Instant(loader.requested, "deltacommit", "inflight" if loader.inflight else "requested", None)
