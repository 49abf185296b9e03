"""Savepoints: a savepoint pins the files that a read as of its instant opens, and a clean keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..kernel.rules import Rules
from ..kernel.table import DataFile, Table
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit
from .cleaning import Victims, needed
from .log_compaction import covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Savepoints(Options):
    """Savepoints."""

    savepoint_keeps: Literal["files", "base_files", "nothing"] = choice(
        "files",
        "What a clean keeps for a savepoint: the files that it names; its base files alone; or nothing.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SavepointLimits(Limits):
    """Limits: savepoints."""

    savepoints: int = limit(0, "how many savepoints may be begun")
    savepoints_dropped: int = limit(0, "how many savepoints may be dropped")


class Savepoint(NamedTuple):
    """The instant requested then, which completed at `at`, is pinned: `files` are those that a read as of then opens.

    `writes`: the requested times of the writes that had completed by then. `completed` is None while the savepoint is
    not published.
    """

    requested: int
    at: int
    files: tuple[DataFile, ...]
    writes: tuple[int, ...]
    completed: int | None = None


def files_as_of(rules: Rules, table: Table, groups: int, time: int) -> tuple[DataFile, ...]:
    """The files that reads as of `time` open, and the inputs of log compactions among them."""
    files: set[DataFile] = set()
    for group in range(groups):
        opened = needed(rules, table, group, time)
        logs = tuple((file.requested, file.version) for file in opened if file.version)
        files |= {*opened, *(DataFile(group, *log) for log in covered(table, group, logs))}
    return tuple(sorted(files))


def kept(rules: Rules, savepoints: tuple[Savepoint, ...]) -> frozenset[DataFile]:
    """The files that a clean keeps for the savepoints."""
    keeps = rules[Savepoints].savepoint_keeps
    if keeps == "nothing":
        return frozenset()
    files = (file for each in savepoints if each.completed is not None for file in each.files)
    return frozenset(file for file in files if keeps == "files" or not file.version)


def without(victims: tuple[Victims, ...], files: frozenset[DataFile]) -> tuple[Victims, ...]:
    """What is left of a clean that keeps these files."""
    left = (each._replace(files=tuple(file for file in each.files if file not in files)) for each in victims)
    return tuple(each for each in left if each.files)


MECHANISM = Mechanism(options=Savepoints, limits=SavepointLimits)
