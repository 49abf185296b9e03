"""Writers under NBCC: upserts and deletes into log files of their own, no look at anybody else (RFC-66).

A writer takes a requested time, puts its log files one by one, and publishes. None of its guards reads another's data
phase, and no row value is in its component: the search needs no data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, Literal, NamedTuple

from ..conditions import at, lock_is_free
from ..files.copy_on_write import newest_base
from ..files.shared_log import LOGS, appending, is_shared
from ..reads.schemas import opened_before
from ..services.restoring import stands
from ..step import Action, Args, Guard, Row
from ..table import Instant, Plan, Rollback, Write, is_undone
from ..timeline.batches import of_a_new_batch, once
from ..timeline.clock import requests_of
from ..timeline.conflicts import clusterings, file_ids
from ..timeline.looking import about_to_publish, found_nothing, looks_under_lock
from ..timeline.publication import Check, both, publication_actions, publication_rows, put_by_another
from ..timeline.waiting import requesting_rows
from ..world import World
from . import Setting

KIND, PREFIX = "writer", "w"
CHOOSES = (
    "batch_ids", "bucket_count", "completion_time", "concurrency", "conflict_by", "conflict_check", "conflict_reads",
    "conflict_window", "early_detection", "lock_wait", "priority", "slicing", "timeline",
)  # fmt: skip
IN_RANDOM_WORLDS = 3
ACTIONS = (
    Action("writer_requests_instant", "under the lock: takes a requested time and puts the requested instant",
           "{actor} requests an instant"),
    Action("writer_starts_writing", "puts the inflight instant", "{actor} starts writing"),
    Action("writer_writes_base", "copy on write: merges its rows onto a base file and puts the new one",
           "{actor} writes the base of group {group}"),
    Action("writer_writes_log", "puts one log file, named by its own instant and a version",
           "{actor} writes log version {version} of group {group}", joins=True),
    *publication_actions(KIND),
)  # fmt: skip


State = Literal["requested", "inflight"]
LEFT = "gone, with a pending write left"
"""The step of a writer that stopped waiting for the lock: it does not beat any more, and somebody will roll it back."""


class Writer(NamedTuple):
    """`number` counts its writes from 1, `files` the log files of this write that are there.

    `seen` (decision log only): how many decisions there were when it looked.
    `bases` (layout before RFC-66 only): per file group the barrier it found when it started writing.
    Under OCC: `mark` counts what was published when its timeline was sealed, `checked` that it found no conflict,
    `conflict` is the requested time of the write that made it abort, `tries` counts the attempts that it gave up.
    `into`, under OCC: (group, the clustering that made the file group it has found).
    `onto`, copy on write: (group, requested time of the base file that it merges).
    `file_ids`: (group, file id), where these are not fixed by the bucket.
    `places`: of each of its files the place in a log that is shared.
    `columns`: how many of the columns that were added it knows.
    `expired`: its heartbeat was missed for too long, whoever knows it.
    `timed`: the requested time that it was given and has not put on the timeline yet.
    `until`, `then`: how long it waits for all clocks, and the step that follows (see `waiting`).
    """

    step: str = "idle"
    number: int = 0
    requested: int = 0
    completed: int = 0
    seen: int = 0
    files: int = 0
    bases: tuple[int | None, ...] = ()
    inflight: bool = False
    expired: bool = False
    dead: bool = False
    mark: int = 0
    checked: bool = False
    conflict: int = 0
    tries: int = 0
    file_ids: tuple[tuple[int, int], ...] = ()
    onto: tuple[tuple[int, int | None], ...] = ()
    into: tuple[tuple[int, int], ...] = ()
    places: tuple[int, ...] = ()
    columns: int = 0
    timed: int = 0
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", LEFT)

    @property
    def state(self) -> State:
        """The state that its pending write has reached."""
        return "inflight" if self.inflight else "requested"


def components(setting: Setting) -> dict[str, Any]:
    logs: dict[str, Any] = {LOGS: ((),) * setting.world.groups} if is_shared(setting) else {}
    return {**{me: Writer() for me in setting.of(KIND)}, **logs}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _rows_of(me, setting)


def _rows_of(me: str, setting: Setting) -> Iterator[Row]:
    world, protocol = setting.world, setting.protocol_of(me)
    left = Guard(f"{me} must have a write left", lambda own: own.number < world.writes_per_writer, budget=True)
    looks_up = protocol.slicing == "base_instant"
    under_occ = protocol.concurrency == "occ"
    reloads = under_occ and protocol.timeline == "reloaded"

    def starts(own: Writer, plans: tuple[Plan, ...] = ()) -> tuple[Any, ...]:
        newest = (max((p.requested for p in plans if p.of(group)), default=None) for group in range(world.groups))
        return (own._replace(step="writing", inflight=True, bases=tuple(newest) if looks_up else ()),)

    def next_file(own: Writer, published: tuple[Any, ...] = ()) -> Iterable[Args]:
        group, version = world.files(me, own.number)[own.files]
        return ((("group", group), *(() if world.copy_on_write else (("version", version),))),)

    def writes(own: Writer, published: tuple[Any, ...] = (), *, group: int, version: int = 1) -> tuple[Any, ...]:
        last = own.files + 1 == len(world.files(me, own.number))
        mark = len(published) if reloads else own.mark
        own = own._replace(step="written" if last else "writing", files=own.files + 1, mark=mark)
        if reloads and own.onto:
            own = own._replace(onto=tuple((g, newest_base(published, g) if g == group else b) for g, b in own.onto))
        return (own,)

    def publish(own: Writer) -> tuple[Writer, Write]:
        return Writer(number=own.number), written(world, me, own)

    requesting = requesting_of(me, setting)
    yield from requesting_rows(KIND, setting, opened_before(setting, of_a_new_batch(setting, me, Row(
        "writer_requests_instant", me, requesting.reads, (me, "clock", *put_by_another(setting)),
        (at(me, "idle"), left), requesting.effect, (lock_is_free(),), requesting.choices))))  # fmt: skip
    yield Row("writer_starts_writing", me, (me, "plans") if looks_up else (me,), (me,), (at(me, "requested"),), starts)
    name = "writer_writes_base" if world.copy_on_write else "writer_writes_log"
    yield appending(setting, Row(name, me, (me, "published") if reloads else (me,), (me,), (at(me, "writing"),),
                                 writes, choices=next_file))  # fmt: skip
    since, stands_still = about_to_publish(protocol), still_stands(setting, me)
    if stands_still and not stands_still.under_lock:
        since, stands_still = UNAWARE, None
    elif looks_under_lock(protocol):
        stands_still = None  # asked when it looks for conflicts
    cleared = (found_nothing(me),) if under_occ else ()
    check = both(stands_still, once(setting, me))
    yield from publication_rows(KIND, me, since, setting, publish, cleared=cleared, check=check)


UNAWARE = "unaware of what comes"
"""The step of a writer that has looked at its heartbeat before it takes the lock."""


def beating(setting: Setting) -> tuple[str, ...]:
    """The writers that may be rolled back, where there is somebody to do it: those that put log files, in worlds of one
    clock.
    """
    if "rollbacks" not in setting.first or setting.world.copy_on_write or setting.world.skew:
        return ()
    return setting.of(KIND)


def is_alive(setting: Setting, me: str) -> Check | None:
    """RFC-22: "checks on the writer before committing to ensure we abort such writers" that were taken for dead."""
    protocol = setting.protocol_of(me)
    if me not in beating(setting) or protocol.commit_check == "none":
        return None
    return Check(
        "its heartbeat must not have expired, and nobody may have planned to roll its write back",
        ("rollbacks",),
        lambda own, rollbacks: not own.expired and all(each.target != own.requested for each in rollbacks),
        under_lock=protocol.commit_check == "under_lock",
    )


def unrestored(setting: Setting, me: str) -> Check | None:
    """A restore undoes what is pending, too."""
    return stands("requested") if "restores" in setting.first else None


def still_stands(setting: Setting, me: str) -> Check | None:
    """What a writer asks of its instant before it publishes: nobody has taken it for dead, or undone it."""
    return both(is_alive(setting, me), unrestored(setting, me))


def written(world: World, me: str, own: Writer) -> Write:
    """The write that is on the timeline once it is published."""
    files = world.files(me, own.number)
    return Write(own.requested, own.completed, me, own.number, files, own.bases, own.file_ids, own.onto, into=own.into,
                 places=own.places, columns=own.columns)  # fmt: skip


class Requesting(NamedTuple):
    """How a writer requests an instant: what it reads, the effect, the choices of its clock."""

    reads: tuple[str, ...]
    effect: Callable[..., tuple[Any, ...]]
    choices: Callable[..., Iterable[Args]]


def requesting_of(me: str, setting: Setting) -> Requesting:
    """Under OCC the timeline is sealed in the step that takes the requested time."""
    world, protocol, times = setting.world, setting.protocol_of(me), requests_of(setting, me)
    under_occ = protocol.concurrency == "occ"
    own_ids = protocol.file_ids == "minted" or protocol.bucket_count == "own"
    looks = under_occ or own_ids or world.copy_on_write
    fence = ((),) * len(put_by_another(setting))

    def requests(own: Writer, lock: None, clock: int, *seen: Any, ahead: int = 0) -> tuple[Any, ...]:
        time, later = times.take("deltacommit", clock, seen if times.reads else (), ahead)
        new = Writer("requested", own.number + 1, time, tries=own.tries)
        if not looks:
            return new, later, *fence
        ids = file_ids(seen[0], groups_of(world, me, new), time, protocol)
        if protocol.bucket_count == "own":  # another number of buckets: no file id that anybody else would choose
            ids = tuple((group, -int(me.removeprefix(PREFIX))) for group in groups_of(world, me, new))
        onto = ((group, newest_base(seen[0], group)) for group in groups_of(world, me, new))
        into = clusterings(seen[0], groups_of(world, me, new)) if under_occ else ()
        new = new._replace(onto=tuple(onto) if world.copy_on_write else (), into=into)
        return new._replace(mark=len(seen[0]) if under_occ else 0, file_ids=ids), later, *fence

    more = times.reads or (("published",) if looks else ())
    return Requesting((me, "lock", "clock", *more), requests, lambda *_: times.clock.readings())


def groups_of(world: World, me: str, own: Writer) -> tuple[int, ...]:
    """The file groups that its current write touches."""
    return tuple(dict.fromkeys(group for group, _ in world.files(me, own.number)))


def unpublished(setting: Setting, values: Mapping[str, Any], rollbacks: tuple[Rollback, ...] = ()) -> tuple[Write, ...]:
    """The writes that are pending or have put log files: what a reader or planner that does not ask sees."""
    found = []
    for me in setting.of(KIND):
        writer = values[me]
        gone = max((each.deleted for each in rollbacks if each.target == writer.requested), default=0)
        files = setting.world.files(me, writer.number)[gone : writer.files]
        if files or state_on_timeline(writer, rollbacks):
            found.append(Write(writer.requested, None, me, writer.number, files, writer.bases, onto=writer.onto,
                               places=writer.places))  # fmt: skip
    return tuple(found)


def state_on_timeline(writer: Writer, rollbacks: tuple[Rollback, ...]) -> State | None:
    """``requested``, ``inflight``, or None where nothing of its write is on the timeline.

    A rollback takes off what is there; a writer that wakes afterwards may put its inflight instant all the same.
    """
    removed = [each.removed for each in rollbacks if each.target == writer.requested and each.removed]
    return writer.state if writer.requested and (not removed or removed[-1] != writer.state) else None


def exposed(published: tuple[Any, ...], writers: Iterable[Writer]) -> tuple[Any, ...]:
    """What is shown if a commit is shown only when all requested before it are complete (RFC-22, comments)."""
    oldest = min((writer.requested for writer in writers if writer.requested), default=inf)
    return tuple(entry for entry in published if entry.requested < oldest)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    for me in setting.of(KIND):
        writer = values[me]
        state = state_on_timeline(writer, values.get("rollbacks", ()))
        if state is None:
            continue
        if any(e.requested == writer.requested and isinstance(e, Write) for e in values["published"]):
            continue  # it is published, and its writer does not know
        if not is_undone(values.get("restores", ()), writer.requested):
            yield Instant(writer.requested, "commit" if writer.onto else "deltacommit", state, None)
