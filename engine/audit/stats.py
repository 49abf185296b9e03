"""Computes statistics of a table: counts of instants and files, the files that a snapshot query reads, and the bytes
rewritten by table services.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..files.group_files import BaseFile
from ..files.slices import to_read
from .record import SERVICES, Audit
from .table_snapshot import table_snapshot


@dataclass(frozen=True, slots=True)
class Stats:
    """The statistics of a table, with sizes in bytes. `read_files` and `read_bytes` count the files and bytes that a
    snapshot query reads. `most_logs` and `mean_logs` are the maximum and the mean number of logs per file group in a
    snapshot query.

    `written_bytes` is the total size of all files listed in completed commits, including deleted files and archived
    commits. `write_amplification` is the total size of all written files divided by the size of the files written by
    writers (not services); None if writers wrote no files. The write amplification is 1 until a compaction or
    clustering rewrites rows. `unrecorded` counts the archived writes whose commit metadata cannot be read.
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
    written_bytes: int
    write_amplification: float | None
    unrecorded: int


def stats(audit: Audit) -> Stats:
    """Return the statistics of a table, computed from file names and metadata files."""
    pieces = to_read(table_snapshot(audit, None, "count").slices, audit.rules)
    read = [file for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file]
    logs = [len(piece.logs) for piece in pieces]
    all_written, by_writers = _written(audit)
    return Stats(
        instants=dict(sorted(Counter(f"{i.action} {i.state}" for i in audit.timeline.instants).items())),
        partitions=len({piece.partition for piece in pieces}),
        groups=len(pieces),
        base_files=sum(isinstance(file, BaseFile) for file in audit.files.values()),
        log_files=sum(not isinstance(file, BaseFile) for file in audit.files.values()),
        bytes=sum(file.size for file in audit.files.values()),
        read_files=len(read),
        read_bytes=sum(file.size for file in read),
        most_logs=max(logs, default=0),
        mean_logs=round(sum(logs) / len(logs), 2) if logs else 0.0,
        orphans=len(audit.orphans) + len(audit.unlisted),
        written_bytes=all_written,
        write_amplification=round(all_written / by_writers, 2) if by_writers else None,
        unrecorded=sum(requested not in audit.commits for requested in audit.archived),
    )


def _written(audit: Audit) -> tuple[int, int]:
    """Return the bytes written by all commits, and the bytes written by commits of writers (not of table services). A
    file is counted once, even if several commits append to it.
    """
    sizes: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for commit in (*audit.commits.values(), *audit.twins):
        by_path = sizes[commit.operation in SERVICES]
        for stat in commit.stats:
            by_path[stat.path] = max(stat.size, by_path.get(stat.path, 0))
    by_writers = sum(sizes[False].values())
    return by_writers + sum(sizes[True].values()), by_writers
