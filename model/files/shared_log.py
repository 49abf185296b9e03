"""One log for a whole file slice, to which everybody appends blocks (RFC-22, "Option 2 implementation": "For HDFS, we
append multiple log blocks with different commit times inside the same log file", which it proposes to end).

A log that holds blocks of others cannot be deleted: who undoes a failed write appends a *rollback block* that names
it (Hudi's command block, TARGET_INSTANT_TIME). Appends to one file exclude each other; who finds it taken goes on in a
file of the next version, which is read after it, so that to a reader the slice is one sequence of blocks.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar, cast

from ..protocol import Protocol
from ..table import Log, Write

LOGS = "shared_logs"
"""The component: by file group the blocks, as they were appended."""


class Block(NamedTuple):
    """A block of the write requested at `instant`; or one of a rollback, which undoes those of `target`."""

    instant: int
    version: int
    target: int = 0


Blocks = tuple[Block, ...]
Published = TypeVar("Published")


def appended(logs: tuple[Blocks, ...], group: int, block: Block) -> tuple[Blocks, ...]:
    """All logs with one block more in a file group."""
    return tuple((*blocks, block) if at == group else blocks for at, blocks in enumerate(logs))


def undone(blocks: Blocks, protocol: Protocol) -> frozenset[Log]:
    """The blocks that readers skip because a rollback block names their write.

    anywhere: wherever they stand; earlier: those that stand before it; in_front: those that stand right in front of it,
    since a reader that goes through a log once knows no others any more.
    """
    found: set[Log] = set()
    for at, rollback in enumerate(blocks):
        if not rollback.target:
            continue
        reached = blocks if protocol.rollback_block == "anywhere" else blocks[:at]
        for block in reversed(reached):
            if block.instant == rollback.target:
                found.add((block.instant, block.version))
            elif protocol.rollback_block == "in_front":
                break
    return frozenset(found)


def without_undone(entry: Published, logs: tuple[Blocks, ...], protocol: Protocol) -> Published:
    """An instant with those of its blocks that readers do not skip."""
    if not isinstance(entry, Write) or not entry.places:
        return entry
    gone = [undone(blocks, protocol) for blocks in logs]
    kept = [
        (file, place)
        for file, place in zip(entry.files, entry.places, strict=True)
        if (entry.requested, file[1]) not in gone[file[0]]
    ]
    files, places = tuple(file for file, _ in kept), tuple(place for _, place in kept)
    return cast(Published, entry._replace(files=files, places=places))
