"""Older layouts, and other readings of RFC-66, "New file slicing"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..kernel.compactor import PLAN_TABLE
from ..kernel.timeline import VISIBLE_WRITES
from ..kernel.writer import on_instant
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from ..machine.transition import Changes
from ..table import Plan, Table, Write
from ..world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing(Options):
    """To which file slice a log belongs."""

    slicing: Literal["completion", "requested", "base_instant", "temporal"] = choice(
        "completion",
        "which time of a write assigns its logs to a file slice. completion, requested: that time. base_instant: the "
        "barrier in the name of the log, which its writer looked up when it began (layout before RFC-66). temporal: "
        "what 'temporally follows' what (RFC-66); a log that was pending at a barrier is in no slice",
        by=("writer", "compactor"),
    )
    barriers: Literal["plans", "base_files"] = choice(
        "plans",
        "what begins a slice. plans: each plan, as soon as it is made; base_files: base files alone, so that a log "
        "older than the oldest is in no slice, and a read as of a time takes one slice (RFC-66, pseudocode)",
    )
    first_slice: Literal["first_completed", "first_requested"] = choice(
        "first_completed",
        "what begins the slice without barrier. first_completed: the write that completes first; first_requested: the "
        "earliest request with a log there: while that write is pending, readers see nothing of the slice",
    )
    tombstone_logs: Literal["by_commit", "by_time"] = choice(
        "by_commit",
        "which log keeps the deletes of a compaction. by_commit: the log that the commit lists; by_time: any log that "
        "was requested at the time of the base file",
    )


@on_instant("bases")
class BaseInstants(NamedTuple):
    """The record `own_base_instants` of a writer: by file group the barrier that the names of its logs carry."""

    barriers: tuple[int | None, ...] = ()


def compose(composition: Composition) -> None:
    """Let writers look up the barriers, and readers and planners see pending logs, where a reading of the RFC does."""
    writers = composition.of("writer")
    by_name = [me for me in writers if composition.protocol_of(me)[Slicing].slicing == "base_instant"]
    if by_name:
        composition.add_field("writer", "base_instants", BaseInstants())
        composition.select("writer_starts_writing", actors=by_name).extend(note_base_instants, "own_base_instants")
    if composition.protocol[Slicing].first_slice == "first_requested":
        composition.map_view(VISIBLE_WRITES, all_unpublished)
        composition.map_view(PLAN_TABLE, table_with_unpublished)


def note_base_instants(plans: tuple[Plan, ...], world: World) -> Changes:
    """The layout before RFC-66: the names of log files carry the newest barrier of each file group."""
    newest = (max((p.requested for p in plans if p.of(group)), default=None) for group in range(world.groups))
    return {"own_base_instants": BaseInstants(tuple(newest))}


def all_unpublished(unpublished_writes: tuple[Write, ...]) -> tuple[Write, ...]:
    """A reader sees every log file that lies on storage."""
    return unpublished_writes


def table_with_unpublished(plan_table: Table, unpublished_writes: tuple[Write, ...]) -> Table:
    """The table by which a compactor plans, with the log files of writes that are not published."""
    completed = (write for write in plan_table.writes if write.completed is not None)
    return plan_table._replace(writes=(*completed, *sorted(unpublished_writes)))


MECHANISM = Mechanism(compose=compose, options=Slicing)
