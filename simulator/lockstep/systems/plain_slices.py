"""Shows the file groups and file slices of an engine's table in the terms of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nbcc.engine.files.slices import FileSlice
from nbcc.model import World

from ..control.clock import tick_of
from .indexed import has_new_keys
from .resized import Entry, ranges_of
from .rows import partition_name


def groups_of(partition: str, file_id: str, world: World) -> list[int]:
    """Return the numbers of the model's file groups that a file group of the engine holds."""
    if has_new_keys(world):
        return [int(partition[1:]), world.groups - 1]
    first = partition_number(world, partition) * world.buckets
    return [first + each for each in ranges_of(file_id, world)]


def partition_number(world: World, partition: str) -> int:
    return [partition_name(n) for n in range(world.partitions)].index(partition) if partition else 0


def plain_slices(shown: Iterable[FileSlice], group_of: Callable[[str, str], int]) -> tuple[Entry, ...]:
    """Return the file slices; `group_of` returns the number of a file group from its partition and file id."""
    slices = []
    for slice_ in shown:
        base = None if slice_.base is None else tick_of(slice_.base.requested)
        barrier = None if slice_.barrier is None else tick_of(slice_.barrier)
        logs = tuple((tick_of(log.requested), log.version) for log in slice_.logs)
        slices.append((group_of(slice_.partition, slice_.file_id), barrier, base, logs))
    return tuple(sorted(slices, key=lambda entry: (entry[0], entry[1] or 0)))
