"""The options that select an older table layout, or another interpretation of RFC-66, "New file slicing"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from ..kernel.compactor import COMPACTOR
from ..kernel.reads import visible
from ..kernel.slicing import barrier_of, writes_by_slice
from ..kernel.table import Plan, Table, Write
from ..kernel.timeline import COMPLETED_TABLE, VISIBLE_WRITES
from ..kernel.writer import WRITER, WRITER_STARTS_WRITING
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Changes
from ..protocol import Protocol
from ..rules import Rules
from ..world import World


class Slicing(Options):
    """The options that decide to which file slice a log belongs."""

    slicing: Literal["completion", "requested", "base_instant", "temporal"] = option(
        "completion",
        "which time of a write assigns its logs to a file slice. completion, requested: that time. base_instant: the "
        "barrier in the name of the log, which its writer looked up when it began (layout before RFC-66). temporal: "
        "what 'temporally follows' what (RFC-66); a log that was pending at a barrier is in no slice",
        by=(WRITER.name, COMPACTOR.name),
    )
    barriers: Literal["plans", "base_files"] = option(
        "plans",
        "what begins a slice. plans: each plan, as soon as it is made; base_files: base files alone, so that a log "
        "older than the oldest is in no slice, and a read as of a time takes one slice (RFC-66, pseudocode)",
    )
    first_slice: Literal["first_completed", "first_requested"] = option(
        "first_completed",
        "what begins the slice without barrier. first_completed: the write that completes first; first_requested: the "
        "earliest request with a log there: while that write is pending, readers see nothing of the slice",
    )
    tombstone_logs: Literal["by_commit", "by_time"] = option(
        "by_commit",
        "which log keeps the deletes of a compaction. by_commit: the log that the commit lists; by_time: any log that "
        "was requested at the time of the base file",
    )


@in_shapes("groups", "kind")
class BaseInstants(NamedTuple):
    """Data attached to a write: for each file group, the base instant in the names of the write's logs."""

    groups: tuple[int | None, ...] = ()
    kind: str = "base instants"


def refine(protocol: Protocol) -> Iterator[type[Rules]]:
    """Yield the rules for slicing file groups under the options of `Slicing`."""
    options = protocol[Slicing]
    if options.slicing == "base_instant":
        yield SlicesByBaseInstant
    elif options.slicing != "completion":
        yield SlicesByRequest
    if options.barriers == "base_files":
        yield BaseFilesAsBarriers
        yield keep_writes(is_in_a_slice)
    if options.slicing == "temporal":
        yield keep_writes(is_not_under_way_at_a_barrier)
    if options.tombstone_logs == "by_time":
        yield keep_writes(is_no_tombstone_log)
    if options.first_slice == "first_requested":
        yield keep_writes(is_after_the_first_request)


class SlicesByRequest(Rules):
    """The requested time of a write decides the file slice of its logs."""

    def slice_time(self, write: Write, group: int) -> float:
        return write.requested


class SlicesByBaseInstant(Rules):
    """The base instant in the names of a write's logs decides their slice, as before RFC-66."""

    def slice_time(self, write: Write, group: int) -> float:
        return mark(write, BaseInstants).groups[group] or 0


def keep_writes(keeps: Callable[[Rules, Table, int], Callable[[Write], bool]]) -> type[Rules]:
    """Return rules under which file slices contain only the writes accepted by a predicate (the result of `keeps`)."""

    class KeepsWrites(Rules):
        def sliced_writes(self, table: Table, group: int) -> list[Write]:
            return list(filter(keeps(self, table, group), super().sliced_writes(table, group)))

    return KeepsWrites


def is_in_a_slice(rules: Rules, table: Table, group: int) -> Callable[[Write], bool]:
    """Return a predicate that excludes writes older than all base files; their logs are in no slice."""
    among = rules.barriers(table, group)
    # Without any base file every log is in the slice without barrier, also by the pseudocode.
    return lambda write: not among or barrier_of(rules, write, group, among) is not None


def is_not_under_way_at_a_barrier(rules: Rules, table: Table, group: int) -> Callable[[Write], bool]:
    """Return a predicate that excludes writes that were pending when a compaction was requested."""
    among = rules.barriers(table, group)
    return lambda write: not any(write.requested < barrier <= (write.completed or 0) for barrier in among)


def is_no_tombstone_log(rules: Rules, table: Table, group: int) -> Callable[[Write], bool]:
    """Return a predicate that excludes writes with the same requested time as a completed compaction. Readers take the
    logs of such a write for the compaction's tombstones.
    """
    taken = {requested for requested, done in rules.bases(table, group) if done}
    return lambda write: write.requested not in taken


def is_after_the_first_request(rules: Rules, table: Table, group: int) -> Callable[[Write], bool]:
    """Return a predicate that excludes all writes of a file group while the group's earliest-requested write is
    pending. If the file group has a base file or compaction plan, no write is excluded.

    No write is excluded if the pending write was requested before every completed write of the table.
    """
    if rules.bases(table, group):
        return lambda write: True
    first = min((w for w in table.writes if rules.logs_of(w, group)), key=lambda w: w.requested, default=None)
    done = [write.requested for write in table.writes if write.completed is not None]
    # A request older than every completed write is taken for an archived one.
    hidden = first is not None and first.completed is None and bool(done) and first.requested > min(done)
    return lambda write: not hidden


def slice_begin(rules: Rules, members: tuple[Write, ...]) -> int:
    """Return the requested time at which a file group's first slice begins; 0 if the slice has no writes."""
    if rules[Slicing].first_slice == "first_completed" and members:
        return members[0].requested
    return min((write.requested for write in members), default=0)


class BaseFilesAsBarriers(Rules):
    """Pending plans do not begin file slices, and a read as of a time takes one slice."""

    def barriers(self, table: Table, group: int) -> tuple[int, ...]:
        pending = {plan.requested for plan, done in zip(table.plans, table.completed, strict=True) if not done}
        return tuple(barrier for barrier in super().barriers(table, group) if barrier not in pending)

    def base_and_writes(self, table: Table, group: int, time: float) -> tuple[int | None, tuple[Write, ...]]:
        """Return the newest file slice with a file that completed at or before `time`. Logs that completed after `time`
        are left out, but the slice's base file is included even if it completed after `time`.

        RFC-66, "Time Travel Queries", calls the returned slice latestFileSliceThatIsOverlappingWithCompletionTime.
        """
        done = dict(self.bases(table, group))
        for barrier, members in reversed(writes_by_slice(self, table, group).items()):
            completed = [write.completed for write in members] + ([done[barrier]] if barrier is not None else [])
            if any(each is not None and self.is_visible(each, each, time) for each in completed):
                return barrier, visible(self, members, time)
        return None, ()


def compose(composition: Composition) -> None:
    """With `slicing = base_instant`, let writers record base instants. With `first_slice = first_requested`, let
    readers and compactors see the logs of pending writes.
    """
    writers = composition.actors_of(WRITER)
    by_name = [me for me in writers if composition.protocol_of(me)[Slicing].slicing == "base_instant"]
    if by_name:
        composition.add_field(WRITER, "base_instants", BaseInstants())
        composition.select(WRITER_STARTS_WRITING, actors=by_name).extend(note_base_instants, "own_base_instants")
    if composition.protocol[Slicing].first_slice == "first_requested":
        composition.map_view(VISIBLE_WRITES, all_unpublished)
        composition.map_view(COMPLETED_TABLE, table_with_unpublished, actors=composition.actors_of(COMPACTOR))


def note_base_instants(plans: tuple[Plan, ...], world: World) -> Changes:
    """Record the base instant of the write's logs in each file group: the requested time of the newest plan for the
    file group. In the layout before RFC-66, the name of a log file contains the base instant.
    """
    newest = (max((p.requested for p in plans if p.part_in(group)), default=None) for group in range(world.groups))
    return {"own_base_instants": BaseInstants(tuple(newest))}


def all_unpublished(unpublished_writes: tuple[Write, ...]) -> tuple[Write, ...]:
    """Define the view `visible_writes` as all unpublished writes, so that readers also see the logs of pending writes.
    """
    return unpublished_writes


def table_with_unpublished(completed_table: Table, unpublished_writes: tuple[Write, ...]) -> Table:
    """Return the table as a compactor sees it when planning, including the log files of unpublished writes."""
    completed = (write for write in completed_table.writes if write.completed is not None)
    # Sorted: the writes of a table are a value, and actors of equal states must see equal tables.
    return completed_table._replace(writes=(*completed, *sorted(unpublished_writes)))


MECHANISM = Mechanism(rules=refine, compose=compose, options=Slicing)
