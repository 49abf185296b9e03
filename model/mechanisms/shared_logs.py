"""Shared logs: one log for a whole file slice, to which every writer appends blocks.

RFC-22, "Option 2 implementation": "For HDFS, we append multiple log blocks with different commit times inside the same
log file", which the RFC proposes to end. A log with blocks of other writes cannot be deleted: a rollbacker appends a
*rollback block* that names the failed write (Hudi's command block, TARGET_INSTANT_TIME). Appends to one file exclude
each other. A writer that finds a file in use begins a file of the next version, which is read after it; a reader
sees the slice as one sequence of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..files.shared_log import LOGS, Block, Blocks, appended, without_undone
from ..kernel.timeline import VISIBLE, VISIBLE_WRITES, Published
from ..kernel.writer import PUTS_FILE, Writer, on_instant
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from ..machine.transition import Action, Args, Changes, Transition, given, transition
from ..protocol import Protocol
from ..table import Rollback, Write
from .copy_on_write import is_copy_on_write
from .rollback.rollbacker import UNDOING, Rollbacker, one_more


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLogs(Options):
    """Whether writes share log files."""

    log_layout: Literal["own", "shared"] = choice(
        "own",
        "own: each write has log files of its own; shared: all writes append blocks to one log a file slice, and a "
        "rollback block undoes a failed write (RFC-22, option 2: the layout that it leaves)",
    )
    rollback_block: Literal["anywhere", "earlier", "in_front"] = choice(
        "anywhere",
        "shared: which blocks of its write a rollback block undoes. anywhere: all (Apache Hudi 0.14); earlier: those "
        "before it (1.x); in_front: those directly in front of it (before 0.14)",
    )


@on_instant("places")
class Places(NamedTuple):
    """The record `own_places` of a writer: of each of its files the place of the block in the log."""

    places: tuple[int, ...] = ()


def compose(composition: Composition) -> None:
    """Let writers append blocks, and rollbackers rollback blocks; readers skip what these undo."""
    world, protocol = composition.world, composition.protocol
    if protocol[SharedLogs].log_layout != "shared" or is_copy_on_write(world):
        return
    composition.add_component(LOGS, ((),) * world.groups)
    composition.add_field("writer", "places", Places())
    composition.some(PUTS_FILE, actors=composition.of("writer")).extend(append_block, "own_places", LOGS)
    composition.some("rollbacker_starts_rollback", "rollbacker_resumes_rollback").extend(choose_logs)
    composition.some("rollbacker_deletes_log").replace(appending)
    composition.some("rollbacker_removes_instant").extend(forget_nothing, "rollbacks")
    for name, function in ((VISIBLE, instants_left), (VISIBLE_WRITES, writes_left)):
        composition.map_view(name, given(function, table_protocol=protocol))


def append_block(
    own: Writer, own_places: Places, shared_logs: tuple[Blocks, ...], *, group: int, version: int
) -> Changes:
    """Append the block to the log of the file group."""
    places = Places((*own_places.places, len(shared_logs[group])))
    return {"own_places": places, LOGS: appended(shared_logs, group, Block(own.requested, version))}


def choose_logs(own: Rollbacker) -> Changes:
    """One rollback block a log undoes all blocks of the failed write there."""
    return {"own": own._replace(files=tuple({group: (group, version) for group, version in own.files}.values()))}


def appending(deletes_log: Transition) -> Transition:
    """The transition of a rollbacker that appends a rollback block, instead of deleting a file."""
    return transition("rollbacker_appends_rollback_block", deletes_log.actor, at=UNDOING, effect=append_rollback_block,
                      arguments=next_log, changes=("own", LOGS))  # fmt: skip


def next_log(own: Rollbacker) -> Iterable[Args]:
    return ((("group", own.files[own.done][0]),),)


def append_rollback_block(own: Rollbacker, shared_logs: tuple[Blocks, ...], *, group: int) -> Changes:
    """Append a block that names the failed write."""
    return {"own": one_more(own), LOGS: appended(shared_logs, group, Block(own.rollback, 0, own.target))}


def forget_nothing(rollbacks: tuple[Rollback, ...]) -> Changes:
    """No file is deleted: a later rollback of the write appends rollback blocks to the same logs."""
    return {"rollbacks": tuple(each._replace(forgotten=0) for each in rollbacks)}


def instants_left(
    visible_instants: Published, shared_logs: tuple[Blocks, ...], table_protocol: Protocol
) -> Iterator[object]:
    """The completed instants, each with those of its blocks that no rollback block undoes."""
    for each in visible_instants:
        yield without_undone(each, shared_logs, table_protocol)


def writes_left(
    visible_writes: Iterable[Write], shared_logs: tuple[Blocks, ...], table_protocol: Protocol
) -> Iterator[Write]:
    """The pending writes that readers see, each with those of its blocks that no rollback block undoes."""
    for each in visible_writes:
        yield without_undone(each, shared_logs, table_protocol)


MECHANISM = Mechanism(
    compose=compose,
    after=("rollback", "late_files"),
    options=SharedLogs,
    service=True,
    actions=(
        Action("rollbacker_appends_rollback_block",
               "appends a block that names the failed write behind a log of others",
               "{actor} appends a rollback block to the log of group {group}", joins=True),
    ),
)  # fmt: skip
