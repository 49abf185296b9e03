"""Models shared log files: all writers of a file slice append blocks to the same log files.

RFC-22, "Option 2 implementation", describes the layout: "For HDFS, we append multiple log blocks with different commit
times inside the same log file". RFC-22 proposes that writes stop sharing log files. A rollback cannot delete a log file
that contains blocks of other writes. Instead, the rollback actor appends a *rollback block* that names the failed write
(Hudi's command block, TARGET_INSTANT_TIME). Two actors cannot append to one file at the same time. If another writer is
appending to the log file, a writer starts a new log file with the next version number. Readers read the log files in
ascending order of version. A reader therefore sees the log files of a file slice as one sequence of blocks.

The model has one such sequence for each file group, across its slices: a block's position in the sequence is its order
in any slice. The model has no versions of shared log files; the `version` of a block counts the blocks of its write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal, NamedTuple, TypeVar

from ..kernel.table import Log, Table, Write
from ..kernel.timeline import VISIBLE, VISIBLE_WRITES
from ..kernel.writer import PUTS_FILE, WRITER, Writer
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark, with_mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Action, Args, Changes, Transition, transition
from ..protocol import Protocol
from ..rules import Rules
from ..variants.order import Order
from .copy_on_write import is_copy_on_write
from .rollback.rollbacker import (
    ROLLBACKER_REMOVES_INSTANT,
    ROLLBACKER_RESUMES_ROLLBACK,
    ROLLBACKER_STARTS_ROLLBACK,
    UNDOING,
    Rollbacker,
    one_more,
)
from .rollback.rules import Rollback


class SharedLogs(Options):
    """The options of the log layout: whether writes share log files, and which blocks a rollback block undoes."""

    log_layout: Literal["own", "shared"] = option(
        "own",
        "own: each write has log files of its own; shared: all writes append blocks to one log a file slice, and a "
        "rollback block undoes a failed write (RFC-22, option 2: the layout that it proposes to end)",
    )
    rollback_block: Literal["anywhere", "earlier", "in_front"] = option(
        "anywhere",
        "shared: which blocks of its write a rollback block undoes. anywhere: all (Apache Hudi 0.14); earlier: those "
        "before it (1.x); in_front: those directly in front of it (before 0.14)",
    )


LOGS = "shared_logs"
"""The component (state variable) with the sequence of blocks of each file group, in the order of appending."""


class LogBlock(NamedTuple):
    """A block of a log file, appended by the write or rollback whose requested time is `instant`. `version` numbers the
    blocks of a write in the file group, from 1. `target` is the requested time of the write that a rollback block
    undoes; 0 for other blocks. A rollback block has version 0.
    """

    instant: int
    version: int
    target: int = 0


Blocks = tuple[LogBlock, ...]
Entry = TypeVar("Entry")


def appended(logs: tuple[Blocks, ...], group: int, block: LogBlock) -> tuple[Blocks, ...]:
    """Return the shared logs of all file groups, with a block appended to the log of `group`."""
    return tuple((*blocks, block) if at == group else blocks for at, blocks in enumerate(logs))


def undone(blocks: Blocks, rollback_block: str) -> frozenset[Log]:
    """Return the blocks of a shared log that a rollback block undoes, so that readers skip them. A block is identified
    like a log: by the requested time of its write and its version.

    With `rollback_block = in_front`, a rollback block undoes only the unbroken run of the write's blocks directly
    before it.
    """
    found: set[Log] = set()
    for at, rollback in enumerate(blocks):
        if not rollback.target:
            continue
        reached = blocks if rollback_block == "anywhere" else blocks[:at]
        for block in reversed(reached):
            if block.instant == rollback.target:
                found.add((block.instant, block.version))
            elif rollback_block == "in_front":
                break
    return frozenset(found)


def without_undone(entry: Entry, logs: tuple[Blocks, ...], protocol: Protocol) -> Entry:
    """Return a copy of an instant whose files omit the blocks undone by rollback blocks."""
    if not isinstance(entry, Write) or not places(entry):
        return entry
    skipped = [undone(blocks, protocol[SharedLogs].rollback_block) for blocks in logs]
    left = [
        ((group, version), place)
        for (group, version), place in zip(entry.files, places(entry), strict=True)
        if (entry.requested, version) not in skipped[group]
    ]
    marks = with_mark(entry.marks, Places(tuple(place for _, place in left)))
    return entry._replace(files=tuple(file for file, _ in left), marks=marks)


@in_shapes("places", "kind")
class Places(NamedTuple):
    """Data attached to a write: the position of each of its blocks in a shared log, in the order of the write's files.

    A writer collects the positions in its record of this type. The class has a field `kind`, so it is a mark, and
    `marks_of` attaches the writer's record to the instant that the writer completes.
    """

    places: tuple[int, ...] = ()
    kind: str = "places"


def places(write: Write) -> tuple[int, ...]:
    """Return the position of each block of a write in its shared log; () if logs are not shared."""
    return mark(write, Places).places if write.marks else ()


def place_in(write: Write, group: int) -> float:
    """Return the position of a write's first block in the shared log of a file group; infinity if there is none."""
    # Not strict: a write has no positions if its files are not in shared logs, as under `log_layout = own`.
    here = (at for (in_group, _), at in zip(write.files, places(write), strict=False) if in_group == group)
    return min(here, default=inf)


def rules_of(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for `merge_order = appended`."""
    return (OrderOfBlocks,) if protocol[Order].merge_order == "appended" else ()


class OrderOfBlocks(Rules):
    """Writes are merged in the order in which they appended their first blocks.

    This is the order of blocks only if the blocks of each write in a file group are contiguous. With several log
    versions, another writer may append a block between two blocks of a write; the log scanner of Apache Hudi would
    merge that block between the two.
    """

    def in_order(self, writes: Iterable[Write], group: int) -> tuple[Write, ...]:
        return tuple(sorted(super().in_order(writes, group), key=lambda write: place_in(write, group)))

    def log_time(self, table: Table, group: int, log: Log) -> float:
        return next((place_in(write, group) for write in table.writes if write.requested == log[0]), inf)


def compose(composition: Composition) -> None:
    """Let writers append blocks and rollback actors append rollback blocks, and let readers skip undone blocks."""
    world, protocol = composition.world, composition.protocol
    if protocol[SharedLogs].log_layout != "shared" or is_copy_on_write(world):
        return
    composition.add_component(LOGS, ((),) * world.groups)
    composition.add_field(WRITER, "places", Places())
    composition.find(PUTS_FILE, actors=composition.actors_of(WRITER)).extend(append_block, "own_places", LOGS)
    composition.find(ROLLBACKER_STARTS_ROLLBACK, ROLLBACKER_RESUMES_ROLLBACK).extend(choose_logs)
    composition.find("rollbacker_deletes_log").replace(appending)
    composition.find(ROLLBACKER_REMOVES_INSTANT).extend(start_rollbacks_over, "rollbacks")
    for name, function in ((VISIBLE, instants_left), (VISIBLE_WRITES, writes_left)):
        composition.map_view(name, function)


def append_block(
    own: Writer, own_places: Places, shared_logs: tuple[Blocks, ...], *, group: int, version: int
) -> Changes:
    """Append a block of the current write to the shared log of the file group."""
    places = Places((*own_places.places, len(shared_logs[group])))
    return {"own_places": places, LOGS: appended(shared_logs, group, LogBlock(own.requested, version))}


def choose_logs(own: Rollbacker) -> Changes:
    """Choose one block of the failed write in each shared log; one rollback block undoes all of its blocks there."""
    return {"own": own._replace(files=tuple({group: (group, version) for group, version in own.files}.values()))}


def appending(deletes_log: Transition) -> Transition:
    """Return the transition by which a rollback actor appends a rollback block instead of deleting a file."""
    return transition("rollbacker_appends_rollback_block", deletes_log.actor, at=UNDOING, effect=append_rollback_block,
                      arguments=next_log, changes=("own", LOGS))  # fmt: skip


def next_log(own: Rollbacker) -> Iterable[Args]:
    return ((("group", own.files[own.done][0]),),)


def append_rollback_block(own: Rollbacker, shared_logs: tuple[Blocks, ...], *, group: int) -> Changes:
    """Append a rollback block that names the failed write."""
    return {"own": one_more(own), LOGS: appended(shared_logs, group, LogBlock(own.rollback, 0, own.target))}


def start_rollbacks_over(rollbacks: tuple[Rollback, ...]) -> Changes:
    """Make the next rollback of a write start over at the write's first file. A rollback that starts over may append a
    second rollback block to a log.
    """
    # `forgotten` counts the deleted files that the next rollback skips. Here no file was deleted: the next rollback
    # visits every log again, because a task of the dead writer may have appended a block after the rollback block.
    return {"rollbacks": tuple(each._replace(forgotten=0) for each in rollbacks)}


def instants_left(
    visible_instants: Iterable[object], shared_logs: tuple[Blocks, ...], table_protocol: Protocol
) -> Iterator[object]:
    """Define the view `visible_instants`: the completed instants, each without the blocks undone by rollback blocks."""
    for each in visible_instants:
        yield without_undone(each, shared_logs, table_protocol)


def writes_left(
    visible_writes: Iterable[Write], shared_logs: tuple[Blocks, ...], table_protocol: Protocol
) -> Iterator[Write]:
    """Define the view `visible_writes`: the pending writes that readers see, each without the blocks undone by rollback
    blocks.
    """
    for each in visible_writes:
        yield without_undone(each, shared_logs, table_protocol)


MECHANISM = Mechanism(
    rules=rules_of,
    compose=compose,
    after=("rollback", "late_files"),
    options=SharedLogs,
    service=True,
    actions=(
        Action("rollbacker_appends_rollback_block",
               "appends a rollback block, which names the failed write, to a shared log",
               "{actor} appends a rollback block to the log of group {group}", continues_call=True, data_phase=True),
    ),
)  # fmt: skip
