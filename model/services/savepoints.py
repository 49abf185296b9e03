"""What a savepoint pins: the files that a read as of its instant opens, which a clean keeps until it is dropped."""

from __future__ import annotations

from ..files.covering import covered
from ..protocol import Protocol
from ..table import DataFile, Savepoint, Table, Victims
from .cleaning import needed


def files_as_of(table: Table, groups: int, time: int, protocol: Protocol) -> tuple[DataFile, ...]:
    """The files that reads as of `time` open, logs that another stands for included."""
    found: set[DataFile] = set()
    for group in range(groups):
        opened = needed(table, group, time, protocol)
        logs = tuple((file.requested, file.version) for file in opened if file.version)
        found |= {*opened, *(DataFile(group, *log) for log in covered(table, group, logs))}
    return tuple(sorted(found))


def kept(savepoints: tuple[Savepoint, ...], protocol: Protocol) -> frozenset[DataFile]:
    """The files that a clean leaves alone for the savepoints that are there."""
    files = (file for each in savepoints if each.completed is not None for file in each.files)
    if protocol.savepoint_keeps == "nothing":
        return frozenset()
    return frozenset(file for file in files if protocol.savepoint_keeps == "files" or not file.version)


def without(victims: tuple[Victims, ...], files: frozenset[DataFile]) -> tuple[Victims, ...]:
    """What is left of a clean that keeps these files."""
    left = (each._replace(files=tuple(file for file in each.files if file not in files)) for each in victims)
    return tuple(each for each in left if each.files)
