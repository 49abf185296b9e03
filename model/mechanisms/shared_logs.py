"""One log for a whole file slice, to which every writer appends blocks (RFC-22, "Option 2 implementation").

"For HDFS, we append multiple log blocks with different commit times inside the same log file", which RFC-22 proposes to
end. A log that holds blocks of several writers cannot be deleted: the rollback of a failed write appends a *rollback
block* that names it (Hudi's command block, TARGET_INSTANT_TIME). Appends to one file exclude each other. A writer that
finds it taken goes on in a file of the next version, which is read after it: to a reader the slice is one sequence of
blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ..kernel.rules import Rules
from ..kernel.table import Log, Table, Write
from ..machine.marks import mark, with_mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from ..machine.transition import Changes, Transition
from ..variants.order import Order

if TYPE_CHECKING:
    from ..actions import Setting
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLogs(Options):
    """One log file for a whole file slice."""

    log_layout: Literal["own", "shared"] = choice(
        "own",
        "own: a write has log files of its own. shared: a slice has one log, to which every writer appends blocks, and "
        "a rollback block undoes a failed write (RFC-22, option 2, the layout that it abandons).",
    )
    rollback_block: Literal["anywhere", "earlier", "in_front"] = choice(
        "anywhere",
        "shared: the blocks of its write that a rollback block undoes: all of them (Apache Hudi 0.14); those before it "
        "(1.x); or those directly before it (before 0.14).",
    )


LOGS = "shared_logs"
"""The component: by file group the blocks, as they were appended."""


class Block(NamedTuple):
    """A block of the write requested at `instant`; or one of a rollback, which undoes those of `target`."""

    instant: int
    version: int
    target: int = 0


Blocks = tuple[Block, ...]
Published = TypeVar("Published")


def is_shared(setting: Setting) -> bool:
    """Whether writers append to each other's files."""
    return setting.protocol[SharedLogs].log_layout == "shared" and not setting.world.copy_on_write


def appended(logs: tuple[Blocks, ...], group: int, block: Block) -> tuple[Blocks, ...]:
    """All logs with one block more in a file group."""
    return tuple((*blocks, block) if at == group else blocks for at, blocks in enumerate(logs))


def appending(setting: Setting, each: Transition) -> Transition:
    """The transition by which a writer puts a log file, or appends a block to a shared log."""
    return each.extend(append_block, LOGS) if is_shared(setting) else each


def append_block(own: Any, shared_logs: tuple[Blocks, ...], *, group: int, version: int) -> Changes:
    """Append the block to the log of the file group."""
    own = own._replace(places=(*own.places, len(shared_logs[group])))
    return {"own": own, LOGS: appended(shared_logs, group, Block(own.requested, version))}


def undone(blocks: Blocks, rollback_block: str) -> frozenset[Log]:
    """The blocks that readers skip because a rollback block names their write.

    in_front: a reader that reads a log once still has only the blocks directly before the rollback block.
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
    """An instant with those of its blocks that readers do not skip."""
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
    """Of a write: of each of its files the place of that block in a shared log."""

    places: tuple[int, ...] = ()
    kind: str = "places"


def places(write: Write) -> tuple[int, ...]:
    """The places of a write's blocks in shared logs, file by file; () if its files are its own."""
    return mark(write, Places).places if write.marks else ()


def place_in(write: Write, group: int) -> float:
    """The place of a write's first block in the shared log of a file group; inf where logs are not shared."""
    here = (at for (in_group, _), at in zip(write.files, places(write), strict=False) if in_group == group)
    return min(here, default=inf)


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under `merge_order = appended`: blocks merge in the order in which they were appended."""
    if protocol[Order].merge_order != "appended":
        return rules
    inner = rules.in_order

    def in_order(writes: Iterable[Write], group: int) -> tuple[Write, ...]:
        return tuple(sorted(inner(writes, group), key=lambda write: place_in(write, group)))

    def log_time(rules: Rules, table: Table, group: int, log: Log) -> float:
        return next((place_in(write, group) for write in table.writes if write.requested == log[0]), inf)

    return replace(rules, in_order=in_order, log_time=log_time)


MECHANISM = Mechanism(options=SharedLogs, rules=refined)
