"""Models shared log files: each file slice has one log file, to which all writers append blocks.

RFC-22, "Option 2 implementation", describes the layout: "For HDFS, we append multiple log blocks with different commit
times inside the same log file". RFC-22 proposes that writes stop sharing log files. A rollback cannot delete a log file
that contains blocks of other writes. Instead, the rollback actor appends a *rollback block* that names the failed write
(Hudi's command block, TARGET_INSTANT_TIME). Two actors cannot append to one file at the same time. If another writer is
appending to the log file, a writer starts a new log file with the next version number. Readers read the log files in
ascending order of version. A reader sees the log files of a file slice as one sequence of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf
from typing import Literal, NamedTuple, TypeVar

from ..kernel.table import Log, Table, Write
from ..kernel.timeline import VISIBLE, VISIBLE_WRITES
from ..kernel.writer import PUTS_FILE, Writer
from ..machine.composition import Composition
from ..machine.marks import mark, with_mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Action, Args, Changes, Transition, transition
from ..protocol import Protocol
from ..rules import Rules
from ..variants.order import Order
from .copy_on_write import is_copy_on_write
from .rollback.rollbacker import UNDOING, Rollbacker, one_more
from .rollback.rules import Rollback


class SharedLogs(Options):
    """The options of the log layout: whether writes share log files, and which blocks a rollback block undoes."""

    log_layout: Literal["own", "shared"] = option(
        "own",
        "own: each write has log files of its own; shared: all writes append blocks to one log a file slice, and a "
        "rollback block undoes a failed write (RFC-22, option 2: the layout that it leaves)",
    )
    rollback_block: Literal["anywhere", "earlier", "in_front"] = option(
        "anywhere",
        "shared: which blocks of its write a rollback block undoes. anywhere: all (Apache Hudi 0.14); earlier: those "
        "before it (1.x); in_front: those directly in front of it (before 0.14)",
    )


LOGS = "shared_logs"
"""The component: by file group the blocks, as they were appended."""


class Block(NamedTuple):
    """A block of a log file, appended by the write or rollback whose requested time is `instant`. `target` is the
    requested time of the write that a rollback block undoes; 0 for other blocks.
    """

    instant: int
    version: int
    target: int = 0


Blocks = tuple[Block, ...]
Published = TypeVar("Published")


def appended(logs: tuple[Blocks, ...], group: int, block: Block) -> tuple[Blocks, ...]:
    """Return the shared logs of all file groups, with a block appended to the log of `group`."""
    return tuple((*blocks, block) if at == group else blocks for at, blocks in enumerate(logs))


def undone(blocks: Blocks, rollback_block: str) -> frozenset[Log]:
    """Return the blocks of a shared log that a rollback block undoes, so that readers skip them.

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


def without_undone(entry: Published, logs: tuple[Blocks, ...], protocol: Protocol) -> Published:
    """Return a copy of an instant whose files omit the blocks undone by rollback blocks."""
    if not isinstance(entry, Write) or not places(entry):
        return entry
    skipped = [undone(blocks, protocol[SharedLogs].rollback_block) for blocks in logs]
    kept = [
        (file, place)
        for file, place in zip(entry.files, places(entry), strict=True)
        if (entry.requested, file[1]) not in skipped[file[0]]
    ]
    left = Places(tuple(place for _, place in kept))
    return entry._replace(files=tuple(file for file, _ in kept), marks=with_mark(entry.marks, left))


class Places(NamedTuple):
    """Data attached to a write: the position of each of its blocks in a shared log."""

    places: tuple[int, ...] = ()
    kind: str = "places"


def places(write: Write) -> tuple[int, ...]:
    """Return the position of each block of a write in its shared log; () if logs are not shared."""
    return mark(write, Places).places if write.marks else ()


def place_in(write: Write, group: int) -> float:
    """Return the position of a write's first block in the shared log of a file group; infinity if there is none."""
    here = (at for (in_group, _), at in zip(write.files, places(write), strict=False) if in_group == group)
    return min(here, default=inf)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for `merge_order = appended`: blocks are merged in the order in which they were appended."""
    if protocol[Order].merge_order != "appended":
        return rules
    inner = rules.in_order

    def in_order(writes: Iterable[Write], group: int) -> tuple[Write, ...]:
        return tuple(sorted(inner(writes, group), key=lambda write: place_in(write, group)))

    def log_time(rules: Rules, table: Table, group: int, log: Log) -> float:
        return next((place_in(write, group) for write in table.writes if write.requested == log[0]), inf)

    return replace(rules, in_order=in_order, log_time=log_time)


def compose(composition: Composition) -> None:
    """Let writers append blocks and rollback actors append rollback blocks, and let readers skip undone blocks."""
    world, protocol = composition.world, composition.protocol
    if protocol[SharedLogs].log_layout != "shared" or is_copy_on_write(world):
        return
    composition.add_component(LOGS, ((),) * world.groups)
    composition.add_field("writer", "places", Places())
    composition.find(PUTS_FILE, actors=composition.actors_of("writer")).extend(append_block, "own_places", LOGS)
    composition.find("rollbacker_starts_rollback", "rollbacker_resumes_rollback").extend(choose_logs)
    composition.find("rollbacker_deletes_log").replace(appending)
    composition.find("rollbacker_removes_instant").extend(forget_nothing, "rollbacks")
    for name, function in ((VISIBLE, instants_left), (VISIBLE_WRITES, writes_left)):
        composition.map_view(name, function)


def append_block(
    own: Writer, own_places: Places, shared_logs: tuple[Blocks, ...], *, group: int, version: int
) -> Changes:
    """Append a block of the current write to the shared log of the file group."""
    places = Places((*own_places.places, len(shared_logs[group])))
    return {"own_places": places, LOGS: appended(shared_logs, group, Block(own.requested, version))}


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
    return {"own": one_more(own), LOGS: appended(shared_logs, group, Block(own.rollback, 0, own.target))}


def forget_nothing(rollbacks: tuple[Rollback, ...]) -> Changes:
    """Make the next rollback of a write start over at the write's first file. A rollback that starts over may append a
    second rollback block to a log.
    """
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
    rules=refine,
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
