"""Writers under NBCC: upserts and deletes into log files of their own, no look at anybody else (RFC-66).

A writer takes a requested time, puts its log files one by one, and publishes. None of its guards reads another's data
phase, and no row value is in its component: the search needs no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import inf
from typing import Any, Literal, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import CompletesAs, Instant, Plan, Write
from ..machine.marks import marks
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.added_columns import Columns, opened_before
from ..mechanisms.clustering import Into
from ..mechanisms.copy_on_write import Onto, newest_base
from ..mechanisms.file_ids import MintedIds
from ..mechanisms.restores import Restore, is_undone
from ..mechanisms.restores.checks import stands
from ..mechanisms.rollback import Rollback
from ..mechanisms.shared_logs import LOGS, Places, appending, is_shared
from ..protocol import Protocol
from ..timeline.batches import of_a_new_batch, once
from ..timeline.clock import clock_readings, requests_of
from ..timeline.conflicts import clusterings, file_ids
from ..timeline.looking import FOUND_NOTHING, about_to_publish, looks_under_lock
from ..timeline.publication import Check, both, noted_by_store, publication, publication_actions
from ..timeline.waiting import requesting
from ..variants.slicing import BaseInstants
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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from _transitions_of(me, setting)


def _transitions_of(me: str, setting: Setting) -> Iterator[Transition]:
    world, protocol = setting.world, setting.protocol_of(me)
    requests = requesting_of("writer_requests_instant", me, setting, at="idle").require(WRITE_LEFT)
    yield from requesting(KIND, setting, opened_before(setting, of_a_new_batch(setting, me, requests)))
    starts = transition("writer_starts_writing", me, at="requested", to="writing", effect=start_writing)
    yield starts.extend(note_base_instants) if protocol.slicing == "base_instant" else starts
    yield from _writing(me, setting)
    since, stands_still = about_to_publish(protocol), still_stands(setting, me)
    if stands_still and not stands_still.under_lock:
        since, stands_still = UNAWARE, None
    elif looks_under_lock(protocol):
        stands_still = None  # asked when it looks for conflicts
    cleared = (FOUND_NOTHING,) if protocol.concurrency == "occ" else ()
    yield from publication(KIND, me, since, setting, partial(published_write, world, me), cleared=cleared,
                           check=both(stands_still, once(setting, me)))  # fmt: skip


def _writing(me: str, setting: Setting) -> Iterator[Transition]:
    world, protocol = setting.world, setting.protocol_of(me)
    name, files = ("base", next_base) if world.copy_on_write else ("log", next_log)
    writes = transition(f"writer_writes_{name}", me, at="writing", effect=write_file, arguments=files)
    if protocol.concurrency == "occ" and protocol.timeline == "reloaded":
        writes = writes.extend(reload_timeline)
    yield appending(setting, writes)


def write_is_left(own: Writer, world: World) -> bool:
    return own.number < world.writes_per_writer


WRITE_LEFT = Guard("{me} must have a write left", write_is_left, limit=True)


def start_writing(own: Writer) -> Changes:
    """Put the inflight instant."""
    return {"own": own._replace(inflight=True)}


def note_base_instants(own: Writer, plans: tuple[Plan, ...], world: World) -> Changes:
    """The layout before RFC-66: the names of its logs carry the newest barrier of each file group."""
    newest = (max((p.requested for p in plans if p.of(group)), default=None) for group in range(world.groups))
    return {"own": own._replace(bases=tuple(newest))}


def next_log(own: Writer, me: str, world: World) -> Iterable[Args]:
    group, version = world.files(me, own.number)[own.files]
    return ((("group", group), ("version", version)),)


def next_base(own: Writer, me: str, world: World) -> Iterable[Args]:
    group, _ = world.files(me, own.number)[own.files]
    return ((("group", group),),)


def write_file(own: Writer, me: str, world: World) -> Changes:
    """Put one file, named by the writer's own instant. The writer looks nothing up."""
    last = own.files + 1 == len(world.files(me, own.number))
    return {"own": own._replace(step="written" if last else "writing", files=own.files + 1)}


def reload_timeline(own: Writer, published: tuple[Any, ...], *, group: int) -> Changes:
    """`timeline = reloaded`: the sealed timeline is listed again while the writer writes."""
    own = own._replace(mark=len(published))
    if own.onto:
        own = own._replace(onto=tuple((g, newest_base(published, g) if g == group else b) for g, b in own.onto))
    return {"own": own}


def published_write(world: World, me: str, own: Writer) -> tuple[Writer, Write]:
    """The writer after its write is published, and the write."""
    return Writer(number=own.number), written(world, me, own)


UNAWARE = "unaware of what comes"
"""The step of a writer that has looked at its heartbeat before it takes the lock."""


def beating(setting: Setting) -> tuple[str, ...]:
    """The writers that may be rolled back, where there is somebody to do it: those that put log files, in worlds of one
    clock.
    """
    if "rollbacks" not in setting.first or setting.world.copy_on_write or setting.world.skew:
        return ()
    return setting.of(KIND)


def is_not_given_up(own: Writer, rollbacks: tuple[Rollback, ...]) -> bool:
    return not own.expired and all(each.target != own.requested for each in rollbacks)


NOT_GIVEN_UP = Guard(
    "its heartbeat must not have expired, and nobody may have planned to roll its write back", is_not_given_up
)


def is_alive(setting: Setting, me: str) -> Check | None:
    """RFC-22: "checks on the writer before committing to ensure we abort such writers" that were taken for dead."""
    protocol = setting.protocol_of(me)
    if me not in beating(setting) or protocol.commit_check == "none":
        return None
    return Check(NOT_GIVEN_UP, under_lock=protocol.commit_check == "under_lock")


def unrestored(setting: Setting, me: str) -> Check | None:
    """A restore undoes what is pending, too."""
    return stands("requested") if "restores" in setting.first else None


def still_stands(setting: Setting, me: str) -> Check | None:
    """What a writer asks of its instant before it publishes: it was not taken for dead, or undone by a restore."""
    return both(is_alive(setting, me), unrestored(setting, me))


def written(world: World, me: str, own: Writer) -> Write:
    """The write that is on the timeline once it is published."""
    added = marks(MintedIds(own.file_ids), Into(own.into), Columns(own.columns), *found_by(own))
    return Write(own.requested, own.completed, me, own.number, world.files(me, own.number), added)


def found_by(own: Writer) -> tuple[Any, ...]:
    """What a write states of the files that its writer has found, also while it is pending."""
    action = CompletesAs("commit" if own.onto else "deltacommit")
    return BaseInstants(own.bases), action, Onto(own.onto), Places(own.places)


def requesting_of(action: str, me: str, setting: Setting, *, at: str) -> Transition:
    """How a writer requests an instant. Under OCC the same step seals the timeline."""
    world, protocol = setting.world, setting.protocol_of(me)
    requests = transition(action, me, at=at, to="requested", guards=(LOCK_IS_FREE,), arguments=clock_readings,
                          effect=request_instant, changes=("own", "clock"))  # fmt: skip
    optimistic = protocol.concurrency == "occ"
    if optimistic or protocol.file_ids == "minted":
        requests = requests.extend(mint_file_ids)
    if protocol.bucket_count == "own":  # another number of buckets: no file id that any other writer would choose
        requests = requests.extend(name_own_buckets)
    if world.copy_on_write:
        requests = requests.extend(choose_bases)
    if optimistic:
        requests = requests.extend(seal_timeline)
    return noted_by_store(setting, requests)


def request_instant(
    own: Writer, clock: int, world: World, setting: Setting, listed_instants: list[Any], *, ahead: int = 0
) -> Changes:
    """Under the lock: take the requested time and put the requested instant."""
    times = requests_of(world, setting.protocol)
    time, later = times.take("deltacommit", clock, listed_instants, ahead)
    return {"own": Writer(number=own.number + 1, requested=time, tries=own.tries), "clock": later}


def mint_file_ids(
    own: Writer, me: str, world: World, protocol: Protocol, published: tuple[Any, ...]
) -> Changes:
    """Where the bucket does not fix file ids, a writer that finds a bucket empty begins a file group with a new id."""
    return {"own": own._replace(file_ids=file_ids(published, groups_of(world, me, own), own.requested, protocol))}


def name_own_buckets(own: Writer, me: str, world: World) -> Changes:
    ids = tuple((group, -int(me.removeprefix(PREFIX))) for group in groups_of(world, me, own))
    return {"own": own._replace(file_ids=ids)}


def choose_bases(own: Writer, me: str, world: World, published: tuple[Any, ...]) -> Changes:
    """Copy on write: the base file of each file group onto which the writer will merge its rows."""
    return {"own": own._replace(onto=tuple((g, newest_base(published, g)) for g in groups_of(world, me, own)))}


def seal_timeline(own: Writer, me: str, world: World, published: tuple[Any, ...]) -> Changes:
    """OCC: what has completed by now is not looked at when the writer checks for conflicts."""
    return {"own": own._replace(mark=len(published), into=clusterings(published, groups_of(world, me, own)))}


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
            found.append(Write(writer.requested, None, me, writer.number, files, marks(*found_by(writer))))
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


def pending(
    every_writer: Mapping[str, Writer],
    published: tuple[Any, ...],
    rollbacks: tuple[Rollback, ...] = (),
    restores: tuple[Restore, ...] = (),
) -> Iterator[Instant]:
    """The pending writes."""
    for writer in every_writer.values():
        state = state_on_timeline(writer, rollbacks)
        if state is None:
            continue
        if any(entry.requested == writer.requested and isinstance(entry, Write) for entry in published):
            continue  # another actor has published it, and its writer does not know
        if not is_undone(restores, writer.requested):
            yield Instant(writer.requested, "commit" if writer.onto else "deltacommit", state, None)
