"""Figures of a table: what lies there, what a snapshot has to read of it, what a compaction would save."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..files.group_files import BaseFile
from ..files.slices import build_slices, to_read
from .record import Audit


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts and bytes. `read` is what a snapshot reads; `logs_per_group` the most and the mean among what it reads.

    `write_amplification` is the bytes of all completed base and log files by those of logs and first base files, None
    where nothing was written; compaction alone makes it greater than 1.
    """

    instants: dict[str, int]
    partitions: int
    groups: int
    base_files: int
    log_files: int
    bytes: int
    read_files: int
    read_bytes: int
    most_logs: int
    mean_logs: float
    orphans: int
    write_amplification: float | None


def stats(found: Audit) -> Stats:
    """The figures of a table, from its names and metadata."""
    files = [found.files[path] for path in found.listed if path in found.files]
    pieces = to_read(build_slices(files, {}, found.rules), found.rules)
    read = [file for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file]
    logs = [len(piece.logs) for piece in pieces]
    compacted = {r for r, commit in found.commits.items() if commit.operation == "COMPACT"}
    written = sum(file.size for file in files if file.requested not in compacted)
    return Stats(
        instants=dict(sorted(Counter(f"{i.action} {i.state}" for i in found.timeline.instants).items())),
        partitions=len({piece.partition for piece in pieces}),
        groups=len(pieces),
        base_files=sum(isinstance(file, BaseFile) for file in found.files.values()),
        log_files=sum(not isinstance(file, BaseFile) for file in found.files.values()),
        bytes=sum(file.size for file in found.files.values()),
        read_files=len(read),
        read_bytes=sum(file.size for file in read),
        most_logs=max(logs, default=0),
        mean_logs=round(sum(logs) / len(logs), 2) if logs else 0.0,
        orphans=len(found.orphans) + len(found.unlisted),
        write_amplification=round(sum(file.size for file in files) / written, 2) if written else None,
    )
