"""Under optimistic concurrency control, a writer aborts if a conflicting write has completed since the writer began
(RFC-22).

The steps of an optimistic writer follow RFC-22, "Concurrency Control", option 1, applied to file groups. When
requesting an instant, an optimistic writer records which instants have completed (it *seals* its timeline). Under the
lock that covers publication, the writer checks for conflicts with all instants that have completed since the writer
began. If there is no conflict, the writer publishes; otherwise it aborts. A writer that aborts removes its files and
its instant, and may retry under a new instant. The module `conflicts` decides which instants conflict with a write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.writer import PUTS_FILE, REQUESTS, WRITER, WRITER_STARTS_WRITING, Writer, give_up, request_instant
from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.options import ProtocolOptions
from ...machine.transition import Action, Args, Changes, Guard, transition
from ...world import World
from ..clustering import CLUSTERER, Into
from ..conditions import READS_ROWS, groups_read, verb_of
from ..copy_on_write import Onto, choose_bases, is_copy_on_write, newest_base
from ..exactly_once import Resends
from ..rollback.rules import Rollback
from .conflicts import ABORTED, Occ, Retries, Validation, abort, check_conflicts, clusterings, is_optimistic

WRITER_PASSES_CHECK, WRITER_ABORTS = "writer_passes_check", "writer_aborts"
RETRYING = "about to try again"


def compose(composition: Composition) -> None:
    """Let optimistic writers record the completed instants when they begin, check for conflicts before they publish,
    and abort on a conflict.
    """
    optimists = [me for me in composition.actors_of(WRITER) if is_optimistic(composition, me)]
    if optimists:
        composition.add_field(WRITER, "validation", Validation())
        if composition.actors_of(CLUSTERER):
            composition.add_field(WRITER, "into", Into())
    for me in optimists:
        protocol = composition.protocol_of(me)
        check_conflicts(composition, WRITER.name, me, partial(touched_groups, composition.world, protocol, me))
        take_back_aborted(composition, me)
        sealing(composition, me)
        if protocol[Occ].early_detection == "on":
            meets = Guard("another pending write must have a marker there", marked)
            composition.add(transition("writer_meets_marker", me, at="writing", to=ABORTED, guards=(meets,),
                                       effect=abort, changes=("own", "own_validation"),
                                       arguments=list_marked))  # fmt: skip


def touched_groups(world: World, protocol: ProtocolOptions, me: str, own: Writer) -> tuple[int, ...]:
    """Return the file groups that a write changes or declares as read."""
    groups = world.groups_of(me, own.number)
    if protocol[Occ].conflict_reads == "checked":
        groups = tuple(dict.fromkeys((*groups, *(groups_read(world, me, own.number) or ()))))
    return groups


def take_back_aborted(composition: Composition, me: str) -> None:
    """Add the transitions in which a writer cleans up after an abort, and may retry the write."""
    composition.add(transition("writer_takes_back_write", me, at=ABORTED, guards=(LOCK_IS_FREE,), effect=take_back,
                               changes=("own", "own_validation")))  # fmt: skip
    if composition.world[Retries].retries:
        composition.add(transition("writer_retries", me, at=RETRYING, to="requested", guards=(LOCK_IS_FREE,),
                                   effect=request_again, changes=("own", "clock"),
                                   tags=(REQUESTS, READS_CLOCK)))  # fmt: skip


def take_back(own: Writer, own_validation: Validation, world: World) -> Changes:
    """Delete the files of the aborted write, and then, under the lock, its pending instant. Retry the write if the
    limit on retries allows it.
    """
    if own_validation.tries < world[Retries].retries:
        # Everything else starts afresh, also the seal: a retry begins later than what it lost against.
        again = Validation(tries=own_validation.tries + 1)
        return {"own": Writer(RETRYING, own.number), "own_validation": again}
    return give_up(own)


def request_again(own: Writer, clock: int, request_time: TakeTime) -> Changes:
    """Request a new instant for an aborted write."""
    # `request_instant` counts the write, and a retry is the same write.
    changes = request_instant(own._replace(number=own.number - 1), clock, request_time)
    requested: Any = changes["own"]
    return {**changes, "own": requested._replace(records=own.records)}


def sealing(composition: Composition, me: str) -> None:
    """Let a writer record how many instants are completed when it requests an instant, or when it reads the rows from
    which it computes its write. With the option `timeline = at_start`, the writer counts them again when it starts
    writing; with `reloaded`, whenever it puts a file.
    """
    requests = composition.select(REQUESTS, actors=[me])
    composition.select(begins_by(composition.world, me), actors=[me]).extend(seal_timeline, "own_validation")
    if composition.actors_of(CLUSTERER):
        requests.extend(find_clusterings, "own_into")
    if composition.protocol_of(me)[Occ].timeline == "at_start":
        # Hudi's client lists the timeline in `preWrite`: what completed since the request is not compared.
        starts = composition.select(WRITER_STARTS_WRITING, actors=[me]).extend(reload_timeline, "own_validation")
        if is_copy_on_write(composition.world):
            starts.extend(choose_bases, "own_onto")
    if composition.protocol_of(me)[Occ].timeline == "reloaded":
        puts = composition.select(PUTS_FILE, actors=[me]).extend(reload_timeline, "own_validation")
        if is_copy_on_write(composition.world):
            puts.extend(reload_base, "own_onto")


def begins_by(world: World, me: str) -> str:
    """Return the tag of the transition since which completed writes conflict: the writer's read, or its request."""
    return READS_ROWS if verb_of(world, me) else REQUESTS


def seal_timeline(own_validation: Validation, published: tuple[Any, ...]) -> Changes:
    """Seal the timeline: record the number of completed instants, so that only instants that complete afterwards can
    conflict.
    """
    return {"own_validation": own_validation._replace(sealed=len(published))}


def find_clusterings(own: Writer, me: str, world: World, published: tuple[Any, ...]) -> Changes:
    """Record the newest clustering of each file group that the write changes."""
    return {"own_into": Into(clusterings(published, world.groups_of(me, own.number)))}


def reload_timeline(own_validation: Validation, published: tuple[Any, ...]) -> Changes:
    """List the timeline again after the request. The conflict check then misses instants that have already completed.
    """
    return {"own_validation": own_validation._replace(sealed=len(published))}


def reload_base(own_onto: Onto, published: tuple[Any, ...], *, group: int) -> Changes:
    """Merge the file group's new rows into the base file that is now the newest."""
    bases = ((each, newest_base(published, each) if each == group else base) for each, base in own_onto.bases)
    return {"own_onto": Onto(tuple(bases))}


def marked(
    own: Writer, me: str, world: World, every_writer: Mapping[str, Writer], rollbacks: tuple[Rollback, ...] = ()
) -> int | None:
    """Return the requested time of another pending write with a marker file in the file group that the writer changes
    next; None if there is none.
    """
    left = world.files(me, own.number)[own.files :]
    if not left:  # a guard is also evaluated for a dead writer, which may have put all its files
        return None
    group, _ = left[0]
    for name, peer in every_writer.items():
        # A rollback deletes files in the order in which they were put, and their markers with them.
        deleted = max((each.deleted for each in rollbacks if each.target == peer.requested), default=0)
        files = world.files(name, peer.number)[deleted : peer.files] if name != me else ()
        if group in {in_group for in_group, _ in files}:
            return peer.requested
    return None


def list_marked(
    own: Writer, me: str, world: World, every_writer: Mapping[str, Writer], rollbacks: tuple[Rollback, ...] = ()
) -> Iterable[Args]:
    return ((("against", (marked(own, me, world, every_writer, rollbacks),)),),)


def check(world: World) -> None:
    """Raise ValueError if a world allows both retries of aborted writes and resends of a batch."""
    if world[Resends].resends and world[Retries].retries:
        raise ValueError("world: resends together with retries are not modelled; leave one of them out")


MECHANISM = Mechanism(
    compose=compose,
    check=check,
    after=("conditions", "exactly_once", "completion"),
    options=Occ,
    limits=Retries,
    actions=(
        Action(WRITER_PASSES_CHECK, "finds no conflicting write that completed since it began",
               "{actor} finds no conflict"),
        Action(WRITER_ABORTS, "finds a conflicting write that completed since it began; releases the lock",
               "{actor} aborts: a write conflicts that completed since it began"),
        Action("writer_meets_marker", "finds the marker of another pending write where it is about to write; aborts",
               "{actor} aborts: another write is at work in the same file group"),
        Action("writer_takes_back_write", "deletes its files, then, under the lock, its pending instant",
               "{actor} takes its files and its instant back"),
        Action("writer_retries", "under the lock: takes a new requested time for the write that it aborted",
               "{actor} tries again as a new instant"),
    ),
)  # fmt: skip
