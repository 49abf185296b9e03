"""Data classes for the results of `inspect`, with times as instant strings and sizes in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .record import DamagedFile

Role = Literal["read", "superseded", "planned"]


@dataclass(frozen=True, slots=True)
class InstantRow:
    """An instant with the number and the total size of its data files. `completed` is None if the table records no
    completion time of the instant.
    """

    action: str
    state: str
    requested: str
    completed: str | None
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileRow:
    """A data file of a slice: its name, its size, and the requested time and completion time of its write."""

    name: str
    size: int
    requested: str
    completed: str | None


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A file slice in an inventory. `logs` are in merge order. `tombstones` are the logs with the deletes that a
    compaction kept when it wrote `base`.

    `role` states how a snapshot query uses the slice. The role "superseded" means that a snapshot query ignores the
    slice because of a newer base file. The role "planned" means that the base file is not yet written, so that a
    snapshot query reads the slice together with the previous slice.
    """

    partition: str
    file_group: str
    barrier: str | None
    base: FileRow | None
    tombstones: tuple[FileRow, ...]
    logs: tuple[FileRow, ...]
    role: Role

    @property
    def kinds(self) -> Iterator[tuple[str, FileRow]]:
        """Yield the files of the slice in merge order, each with its kind ("base", "kept" for kept deletes, or "log").
        """
        if self.base:
            yield "base", self.base
        yield from (("kept", file) for file in self.tombstones)
        yield from (("log", file) for file in self.logs)

    @property
    def files(self) -> tuple[FileRow, ...]:
        return tuple(file for _, file in self.kinds)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A pending compaction: its barrier (requested time), its state, and the numbers of file groups and logs to merge.
    """

    barrier: str
    state: str
    groups: int
    logs: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A data file that is not read. `because` states why. `requested` is the requested time in the file name."""

    partition: str
    name: str
    size: int
    requested: str
    because: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """A description of a table, computed from file names and metadata files.

    `rules` is ``nbcc`` or ``hudi`` if the table is read by the rules of nbcc or Hudi. `rules` is ``names`` if the table
    records no completion times, so that file names determine the slices. `as_of` is the completion time for which the
    inventory was requested; None means the newest completion time. `missing_or_cut` lists the data files that a
    completed commit lists and a read needs, but that are missing or have another size.
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
    faults: tuple[DamagedFile, ...] = ()
    missing_or_cut: tuple[DamagedFile, ...] = ()

    def to_mapping(self) -> dict[str, Any]:
        """Return the JSON object that ``inspect --json`` prints, without the field ``format``."""
        names = ("name", "url", "version", "layout", "type", "merge_mode", "rules", "as_of", "notices")
        return {
            "table": {name: getattr(self, name) for name in names},
            "missing_or_cut": [fault._asdict() for fault in self.missing_or_cut],
            "instants": [asdict(instant) for instant in self.instants],
            "slices": [_slice_mapping(piece) for piece in self.slices],
            "plans": [asdict(plan) for plan in self.plans],
            "left_out": [asdict(file) for file in self.left_out],
            "faults": [fault._asdict() for fault in self.faults],
        }


def _slice_mapping(piece: SliceRow) -> dict[str, Any]:
    return {
        "partition": piece.partition,
        "file_group": piece.file_group,
        "barrier": piece.barrier,
        "role": piece.role,
        "size": piece.size,
        "base_file": piece.base.name if piece.base else None,
        "log_files": [file.name for file in (*piece.tombstones, *piece.logs)],
        "files": [{"kind": kind, **asdict(file)} for kind, file in piece.kinds],
    }
