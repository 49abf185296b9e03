"""What `inspect` found, as values. Names, times and sizes only; sizes in bytes, times as instant strings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

Role = Literal["read", "superseded", "planned"]


@dataclass(frozen=True, slots=True)
class InstantRow:
    """An instant with what its data files add up to. `completed` is None where it is pending, or was never recorded."""

    action: str
    state: str
    requested: str
    completed: str | None
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileRow:
    """A data file of a slice: its name, its size, and when its write was requested and completed."""

    name: str
    size: int
    requested: str
    completed: str | None


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A file slice. `logs` stand in merge order; `tombstones` are the deletes that the compaction of `base` kept.

    `role`: read (a snapshot merges it), superseded (a newer base file stands for it), planned (its base file is only
    planned, so that a snapshot merges it together with the slice before it).
    """

    partition: str
    file_group: str
    barrier: str | None
    base: FileRow | None
    tombstones: tuple[FileRow, ...]
    logs: tuple[FileRow, ...]
    role: Role

    @property
    def files(self) -> tuple[FileRow, ...]:
        return (*([self.base] if self.base else []), *self.tombstones, *self.logs)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A pending compaction: its barrier, how far it came, and what it is to merge."""

    barrier: str
    state: str
    groups: int
    logs: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A data file that no read counts, and why. `requested` is the instant in its name."""

    partition: str
    name: str
    size: int
    requested: str
    because: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """A table by its names and metadata.

    `rules` says by whose rules it is read: ``nbcc`` or ``hudi``; ``names`` where there are no completion times and
    slices follow the base instants in the names of the logs. `as_of` is the time asked for, None: all that is settled.
    """

    name: str
    url: str
    version: int
    layout: int
    type: str
    merge_mode: str
    rules: str
    notices: tuple[str, ...] = ()
    as_of: str | None = None
    instants: tuple[InstantRow, ...] = ()
    slices: tuple[SliceRow, ...] = ()
    plans: tuple[PlanRow, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def with_files(
        self,
        as_of: str | None,
        *,
        instants: tuple[InstantRow, ...],
        slices: tuple[SliceRow, ...],
        plans: tuple[PlanRow, ...],
        left_out: tuple[LeftOut, ...],
    ) -> Inventory:
        """The same table with what was found in it at a time."""
        return replace(self, as_of=as_of, instants=instants, slices=slices, plans=plans, left_out=left_out)

    def to_mapping(self) -> dict[str, Any]:
        """The value of ``inspect --json``, without its ``format``."""
        return {
            "table": {
                "version": self.version,
                "layout": self.layout,
                "type": self.type,
                "merge_mode": self.merge_mode,
                "rules": self.rules,
            },
            "instants": [
                {"action": i.action, "state": i.state, "requested": i.requested, "completed": i.completed}
                for i in self.instants
            ],
            "slices": [
                {
                    "partition": piece.partition,
                    "file_group": piece.file_group,
                    "barrier": piece.barrier,
                    "base_file": piece.base.name if piece.base else None,
                    "log_files": [file.name for file in (*piece.tombstones, *piece.logs)],
                }
                for piece in self.slices
            ],
        }
