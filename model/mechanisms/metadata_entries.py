"""A metadata table with concurrent writers: the timeline of the data table decides about every entry.

Hudi has such tables since 1.1. The default rules here are those of nbcc's own design; the value of an option that Hudi
1.2.0 follows says so. The module `metadata_table` models a metadata table with one writer at a time.

An actor puts an entry that lists its files without the lock, at any time before it takes the lock that covers
publication. An entry has no completion of its own: it is visible if its instant has completed in the data table. The
completion time of the instant, not the time at which the entry was put, decides the slice of the entry. RFC-66 places a
log of the data table by the same rule.

A metadata compactor holds the lock only to plan and to complete. Its plan takes the visible entries that completed
before the barrier. The entry of a pending instant falls into a later slice, because barrier and completion times are
readings of one clock under one lock. Therefore a compaction waits for no writer, and the entry of a writer that has
crashed stops none. A reader uses what the newest base lists, and the visible entries that completed after the base's
barrier. Base files of data compactions are entries, too.

A rollback removes the entry of the failed write and its instant in one step. Either order would give the same result,
because the entry of a pending instant is invisible.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import inf
from typing import Any, Literal, NamedTuple

from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.compactor import COMPACTOR
from ..kernel.lock import LOCK_IS_FREE
from ..kernel.publication import BEGINS, Publication
from ..kernel.reader import READER
from ..kernel.table import Write
from ..kernel.timeline import VISIBLE, VISIBLE_WRITES, Published
from ..kernel.writer import WRITER
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism, Together
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, Transition, preset, transition
from ..protocol import Protocol
from ..rules import Rules
from ..variants.visibility import PendingVisible
from ..world import World
from .metadata_table import HasMetadataTable, ListedFiles, lists_before_reading, through
from .rollback.rollbacker import ROLLBACKER, ROLLBACKER_REMOVES_INSTANT


class EntryOptions(Options):
    """The options that decide which entries a compaction of the metadata table takes, and where its readers look."""

    entry_slice: Literal["completed", "entered"] = option(
        "completed",
        "the time that decides the slice of an entry of the metadata table. completed: the completion time of its "
        "instant; entered: the time at which the entry was put",
    )
    entry_taken: Literal["completed", "entered"] = option(
        "completed",
        "which entries a compaction of the metadata table takes. completed: those whose instant has completed; "
        "entered: all that are there",
    )
    entry_barrier: Literal["now", "before_pending"] = option(
        "now",
        "the barrier of a compaction of the metadata table. now: the time at which it is planned; before_pending: the "
        "earliest requested time of a pending instant that has an entry, as in Hudi 1.2.0",
    )


class EntryLimits(Limits):
    """The settings of a world (bounded configuration) whose metadata table has many writers."""

    shared_metadata_table: int = limit(
        0, "1: the table has a metadata table, into which many actors put entries at once; 0: it has not",
        section="table",
    )  # fmt: skip
    metadata_compactions: int = limit(0, "how many compactions of the metadata table are planned")


class MetadataEntry(NamedTuple):
    """An entry of the metadata table: the requested time of its instant. `entered` is the time at which the entry was
    put, if an option uses it, else 0.
    """

    requested: int
    entered: int = 0


class MetadataBase(NamedTuple):
    """A compaction of the metadata table: its barrier, and the requested times of the instants whose files it lists.
    `completed` is False while the compaction is pending.
    """

    barrier: int
    listed: frozenset[int]
    completed: bool = False


class MetadataContent(NamedTuple):
    """The content of the metadata table: all entries, and the compactions in the order of their barriers."""

    entries: frozenset[MetadataEntry] = frozenset()
    bases: tuple[MetadataBase, ...] = ()

    @property
    def base(self) -> MetadataBase:
        """The newest completed compaction; one that lists nothing if there is none."""
        return next((base for base in reversed(self.bases) if base.completed), MetadataBase(0, frozenset()))


class MetadataCompactor(NamedTuple):
    """The state of one metadata compactor."""

    step: str = "idle"
    records: tuple[Any, ...] = ()


METADATA_COMPACTOR = Kind(name="metadata_compactor", prefix="meta", first=MetadataCompactor(), service=True)
PUT = "its entry is in the metadata table"
COMPACTING = "compacting the metadata table"


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules of readers that also see pending instants, if a compaction may take their entries."""
    return (PendingVisible,) if protocol[EntryOptions].entry_taken == "entered" else ()


def compose(composition: Composition) -> None:
    """Let every publishing actor put an entry, and let every reader list files through the metadata table."""
    if not composition.world[EntryLimits].shared_metadata_table:
        return
    options = composition.protocol[EntryOptions]
    composition.add_component("metadata", MetadataContent())
    for each in composition.facts(Publication).values():
        composition.select(BEGINS, actors=[each.actor]).insert_before(PUT, partial(puts_entry, each, options))
    for me in composition.actors_of(ROLLBACKER):
        composition.select(ROLLBACKER_REMOVES_INSTANT, actors=[me]).extend(remove_entry, "metadata")
    composition.map_view("metadata_listed", preset(listed, options=options))
    composition.map_view(VISIBLE, listed_instants)
    composition.map_view(VISIBLE_WRITES, with_base)
    lists_before_reading(composition, list_files)
    something = Guard("there must be an entry to compact", preset(to_compact, options=options))
    for me in composition.actors_of(METADATA_COMPACTOR):
        composition.add(
            transition("metadata_compactor_plans", me, at="idle", to=COMPACTING,
                       guards=(LOCK_IS_FREE, COMPACTION_LEFT, NONE_PENDING, something),
                       effect=preset(plan, options=options), changes=("own", "metadata", "clock"), tags=(READS_CLOCK,)),
            transition("metadata_compactor_completes", me, at=COMPACTING, to="idle", guards=(LOCK_IS_FREE,),
                       effect=complete, changes=("own", "metadata")),
        )  # fmt: skip


# What the metadata table lists.


def slice_time(entry: MetadataEntry, completed: dict[int, int], options: EntryOptions) -> float:
    """Return the time that decides the slice of an entry; infinity for the entry of a pending instant."""
    return entry.entered if options.entry_slice == "entered" else completed.get(entry.requested, inf)


def listed(metadata: MetadataContent, published: Published, options: EntryOptions) -> frozenset[int]:
    """Define the view `metadata_listed`: the requested times of the instants whose entries a reader of the metadata
    table finds: those in the newest base, and those in later slices. Whether an instant in a later slice has completed
    is for the timeline to say.
    """
    entries = uncompacted_entries(metadata, published, options)
    return metadata.base.listed.union(entry.requested for entry in entries)


def uncompacted_entries(
    metadata: MetadataContent, published: Published, options: EntryOptions
) -> tuple[MetadataEntry, ...]:
    """Return the entries in slices after the newest completed compaction."""
    completed, barrier = completions(published), metadata.base.barrier
    return tuple(each for each in metadata.entries if slice_time(each, completed, options) > barrier)


def listed_instants(visible_instants: Published, metadata_listed: frozenset[int]) -> Published:
    """Redefine the view `visible_instants` to omit the files of instants that the metadata table does not list."""
    return through(visible_instants, metadata_listed)


def with_base(
    visible_writes: tuple[Write, ...], unpublished_writes: tuple[Write, ...], metadata: MetadataContent
) -> Iterable[Write]:
    """Redefine the view `visible_writes` to include the unpublished writes that a base lists: a reader asks about
    entries whether their instant has completed, but not about the content of a base.
    """
    return (*visible_writes, *(write for write in unpublished_writes if write.requested in metadata.base.listed))


def list_files(metadata_listed: frozenset[int]) -> Changes:
    """List files through the metadata table."""
    return {"own_files": ListedFiles(metadata_listed)}


def completions(published: Published) -> dict[int, int]:
    return {entry.requested: entry.completed for entry in published}


# How entries are put and removed.


def puts_entry(each: Publication, options: EntryOptions, me: str) -> Transition:
    if options.entry_slice == "completed":
        return transition("actor_puts_entry", me, changes=("own", "metadata"),
                          effect=preset(put_entry, requested=each.requested))  # fmt: skip
    return transition("actor_puts_entry", me, changes=("own", "metadata", "clock"), tags=(READS_CLOCK,),
                      effect=preset(put_entry_with_time, requested=each.requested))  # fmt: skip


def put_entry(own: Any, metadata: MetadataContent, requested: str) -> Changes:
    """Put the entry that lists the files of the actor's instant."""
    return {"metadata": metadata._replace(entries=metadata.entries | {MetadataEntry(getattr(own, requested))})}


def put_entry_with_time(own: Any, metadata: MetadataContent, clock: int, requested: str) -> Changes:
    """Put the entry with a time of its own, which the clock gives."""
    entries = metadata.entries | {MetadataEntry(getattr(own, requested), clock + 1)}
    return {"metadata": metadata._replace(entries=entries), "clock": clock + 1}


def remove_entry(own: Any, metadata: MetadataContent) -> Changes:
    """Remove the entry of a rolled-back write."""
    left = frozenset(entry for entry in metadata.entries if entry.requested != own.target)
    return {"metadata": metadata._replace(entries=left)}


# How the metadata table is compacted.


def pending_base(metadata: MetadataContent) -> bool:
    return any(not base.completed for base in metadata.bases)


NONE_PENDING = Guard("no compaction of the metadata table may be pending", pending_base, negated=True)


def compaction_is_left(metadata: MetadataContent, world: World) -> bool:
    return len(metadata.bases) < world[EntryLimits].metadata_compactions


COMPACTION_LEFT = Guard("a compaction of the metadata table must be left", compaction_is_left, limit=True)


def planned(metadata: MetadataContent, published: Published, now: int, options: EntryOptions) -> MetadataBase:
    """Return the compaction that a metadata compactor plans at the time `now`."""
    completed, base = completions(published), previous_base(metadata)
    pending = [each.requested for each in metadata.entries if each.requested not in completed]
    held_back = options.entry_barrier == "before_pending" and pending
    barrier = min(pending) if held_back else now
    if options.entry_taken == "entered":
        return MetadataBase(barrier, base.listed.union(entry.requested for entry in metadata.entries))
    entries = uncompacted_entries(metadata, published, options)
    taken = (each.requested for each in entries if slice_time(each, completed, options) < barrier)
    return MetadataBase(barrier, base.listed.union(requested for requested in taken if requested in completed))


def previous_base(metadata: MetadataContent) -> MetadataBase:
    """Return the compaction on which the next one builds."""
    return metadata.base


def to_compact(
    metadata: MetadataContent, published: Published, clock: int, request_time: TakeTime, options: EntryOptions
) -> bool:
    """True if a compaction planned now would list an instant that the newest base does not list."""
    now, _ = request_time(clock, action="commit")
    found = planned(metadata, published, now, options)
    return found.barrier > metadata.base.barrier and found.listed > metadata.base.listed


def plan(
    metadata: MetadataContent, published: Published, clock: int, request_time: TakeTime, options: EntryOptions
) -> Changes:
    """Under the lock, choose the barrier and the entries of a compaction of the metadata table."""
    now, clock = request_time(clock, action="commit")
    base = planned(metadata, published, now, options)
    return {"metadata": metadata._replace(bases=(*metadata.bases, base)), "clock": clock}


def complete(metadata: MetadataContent) -> Changes:
    """Complete the pending compaction: readers use its base."""
    *older, newest = metadata.bases
    return {"metadata": metadata._replace(bases=(*older, newest._replace(completed=True)))}


def check(world: World) -> None:
    """Raise ValueError if a world has two metadata tables, or a metadata compactor and no metadata table."""
    limits = world[EntryLimits]
    if limits.shared_metadata_table and world[HasMetadataTable].metadata_table:
        raise ValueError("world [table]: metadata_table and shared_metadata_table are two models of one table; set one")
    if world.actors.get(METADATA_COMPACTOR.name, 0) and not limits.shared_metadata_table:
        raise ValueError("world: a metadata_compactor needs [table] shared_metadata_table = 1")


MECHANISM = Mechanism(
    rules=refine,
    compose=compose,
    options=EntryOptions,
    limits=EntryLimits,
    kinds=(METADATA_COMPACTOR,),
    after=("clocks", "metadata_table", "*"),
    together=(Together((METADATA_COMPACTOR,), (METADATA_COMPACTOR, WRITER, READER, COMPACTOR, ROLLBACKER)),),
    check=check,
    service=True,
    actions=(
        Action("actor_puts_entry", "puts an entry that lists the files of its instant into the metadata table",
               "{actor} puts its entry into the metadata table", continues_call=True),
        Action("metadata_compactor_plans", "under the lock: chooses the barrier and the entries of a compaction",
               "{actor} plans a compaction of the metadata table"),
        Action("metadata_compactor_completes", "completes the compaction: readers use its base",
               "{actor} completes its compaction of the metadata table", continues_call=True),
    ),
)  # fmt: skip
