"""State checkpoints. A state checkpoint lists the files that are live as of a completion time; a read uses the list
instead of older commits.

State checkpoints are derived from commits and do not change the rows of any read (docs/contract.md, SAME). If there is
no valid state checkpoint, a read uses the commits instead. A checkpoint's file name contains its time and a digest of
its content, so that damage is detected. Checkpoints are stored in a folder that Hudi's readers do not list.

A checkpoint is used only if it fits the timeline (`misfit`). It may be another table's, be newer than a timeline that
was restored from a backup, or list a commit whose timeline file was removed or renamed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from ..checksums import write_sealed
from ..errors import NbccError
from ..parquet import decode_parquet
from ..storage import NotFound, Storage
from .archive_files import Archived, decode_rows, rows_table
from .container import is_whole
from .history import Active
from .index import completion_of
from .instant import HOME, Instant
from .timeline import Timeline

FOLDER: Final = ".hoodie/.nbcc/state"
WRITES_BETWEEN: Final = 10
"""The fewest writes and compactions between two state checkpoints."""

KEPT: Final = 4
"""The number of state checkpoints that stay. A read as of an earlier time uses all commits."""

_NAME: Final = re.compile(r"([0-9]{17})_([0-9a-f]{32})\.parquet")
_FORMAT: Final = "2"
_KEYS: Final = (b"nbcc.format", b"nbcc.time", b"nbcc.archived", b"nbcc.horizon")
_SOUND: Final = b"nbcc.sound"  # a checkpoint without this key is not sound
_NAMED: Final = ("instantTime", "completionTime", "action")
"""The columns of which the name of a completed instant's file consists."""


@dataclass(frozen=True)
class StateCheckpoint:
    """The live files of a table: the data files that a snapshot as of the completion time `time` reads.

    `archived` is the greatest requested time in the archive when the checkpoint was made; '' for an empty archive.
    Every archived write whose requested time is at most `archived` has completed at or before `time`. `horizon` is the
    completion time before which reads are refused; '' if there is none. `rows` contains the commits of the writes that
    have live files, each reduced to its live files. It also contains every other write that was on the active timeline
    and had completed at or before `time`, without a commit. `is_sound` is True if the timeline file of each of them was
    whole and on the disk before the checkpoint was put, so that no power failure can tear it later.
    """

    time: str
    archived: str
    horizon: str
    rows: tuple[Archived, ...]
    is_sound: bool = False

    @cached_property
    def active(self) -> frozenset[Instant]:
        """The writes that were on the active timeline."""
        return frozenset(row.instant for row in self.rows if row.requested > self.archived)

    def holds_in(self, timeline: Active) -> bool:
        """Return True if every restore on the timeline was planned before the checkpoint. A newer restore may have
        undone writes in the checkpoint, or brought back files that the checkpoint omits.
        """
        return all(plan.requested <= self.time for plan in timeline.restores)

    def misfit(self, listed: Active, newest_archived: str, archived_since: Iterable[Instant]) -> str:
        """Return why the checkpoint does not fit the timeline; '' if it fits. `listed` is the active timeline.
        `archived_since` contains the instants in archive files with requested times after `archived`.

        Writes are archived in the order of their requested times. The writes requested after `archived` were therefore
        active when the checkpoint was made, and are now active or archived since.
        """
        since = [instant for instant in archived_since if instant.completed]
        newest = max(listed.greatest_completion or "", *map(completion_of, since), "")
        if self.time > newest:
            return f"no instant has completed at its time or later; the newest completed at {newest or 'no time'}"
        if newest_archived < self.archived:
            return f"the archive ends before {self.archived}, which it summarises"
        active = [i for i in listed.completed if i.writes and i.requested > self.archived]
        # The least one, so that the message is the same in each process.
        if absent := min(self.active.difference(active, since), key=lambda each: each.key, default=None):
            return f"it summarises the {absent}, which is not on the timeline"
        omitted = (i for i in active if completion_of(i) <= self.time and i not in self.active)
        return next((f"it omits the {instant}" for instant in omitted), "")


def encode_checkpoint(checkpoint: StateCheckpoint) -> bytes:
    """Encode a state checkpoint as a Parquet file. Writes become rows in the schema of archive files; all other fields
    become file metadata.
    """
    values = (_FORMAT, checkpoint.time, checkpoint.archived, checkpoint.horizon)
    metadata = {key: value.encode() for key, value in zip(_KEYS, values, strict=True)}
    if checkpoint.is_sound:
        metadata[_SOUND] = b"1"
    return write_sealed(rows_table(checkpoint.rows), metadata, compression="zstd")


def decode_checkpoint(data: bytes, name: str) -> StateCheckpoint | None:
    """Decode a state checkpoint; return None if the content is damaged or does not match the file name."""
    named = _NAME.fullmatch(name)
    # Before anything is decoded: a decoder of Parquet should not see damaged bytes.
    if named is None or _digest(data) != named[2]:
        return None
    try:
        rows = decode_rows(data, f"{FOLDER}/{name}")  # which verifies the footer
        metadata = pq.read_metadata(pa.BufferReader(data)).metadata or {}
        form, time, archived, horizon = (metadata[key].decode() for key in _KEYS)
    except (NbccError, pa.ArrowException, OSError, KeyError, ValueError):  # OSError: a footer of absurd size
        return None
    is_valid = (form, time) == (_FORMAT, named[1]) and horizon <= time
    return StateCheckpoint(time, archived, horizon, rows, _SOUND in metadata) if is_valid else None


def put_checkpoint(storage: Storage, checkpoint: StateCheckpoint) -> None:
    """Put a state checkpoint into the storage. State checkpoints with equal content have the same path."""
    data = encode_checkpoint(checkpoint)
    storage.put_if_absent(f"{FOLDER}/{checkpoint.time}_{_digest(data)}.parquet", data)


def newest_checkpoint(storage: Storage, until: str = "~") -> StateCheckpoint | None:
    """Return the newest readable state checkpoint with a time at or before `until`; None if there is none."""
    # A damaged checkpoint is skipped and not reported: the next older one, or the commits, give the same rows.
    for path in reversed(checkpoint_paths(storage)):
        name = path.rpartition("/")[2]
        if time_of(path) > until:
            continue
        try:
            checkpoint = decode_checkpoint(storage.get(path), name)
        except NotFound:  # dropped after the listing
            continue
        if checkpoint is not None:
            return checkpoint
    return None


def are_sound(storage: Storage, instants: Iterable[Instant]) -> bool:
    """Return whether the timeline files of completed instants are whole, and no power failure can tear them. False if
    the storage does not know.
    """
    try:
        return storage.may_tear and all(
            storage.make_durable(path) and is_whole(storage.get(path)) for path in map(path_of, instants)
        )
    except NotFound:  # archived after the listing
        return False


def sound_paths(storage: Storage) -> frozenset[str]:
    """Return the paths of timeline files that were whole and on the disk when the newest state checkpoint was put; none
    if it is not sound, or damaged.

    The timeline decides which instants there are: a path that no listing shows is of no use.
    """
    path = next(reversed(checkpoint_paths(storage)), "")
    if not path:
        return frozenset()
    try:
        data = storage.get(path)
        archived = _archived_if_sound(data, path)
        if archived is None:
            return frozenset()
        # Of ten thousand rows, decoding all columns and checking each value takes as long as reading half of the files.
        columns = decode_parquet(data, path, _NAMED).to_pydict()
        rows = zip(*map(columns.__getitem__, _NAMED), strict=True)
        return frozenset(f"{HOME}/{start}_{end}.{action}" for start, end, action in rows if start > archived)
    except (NotFound, NbccError, pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return frozenset()


def _archived_if_sound(data: bytes, path: str) -> str | None:
    """Return `archived` of an encoded state checkpoint; None if the checkpoint is not sound or damaged."""
    named = _NAME.fullmatch(path.rpartition("/")[2])
    metadata = pq.read_metadata(pa.BufferReader(data)).metadata or {}
    is_sound = named is not None and _digest(data) == named[2] and _SOUND in metadata
    return metadata[b"nbcc.archived"].decode() if is_sound else None


def path_of(instant: Instant) -> str:
    return f"{HOME}/{instant.file_name}"


def writes_since(checkpoints: Iterable[str], timeline: Active) -> int:
    """Return the number of writes and compactions that completed after the newest of the state checkpoints with the
    paths `checkpoints`, or at least `WRITES_BETWEEN` if some of them may be archived. `timeline` is the active
    timeline. Checkpoints with a time after the newest completion are ignored.
    """
    newest = timeline.greatest_completion or ""
    since = max((time for time in map(time_of, checkpoints) if time <= newest), default="")
    later = [completion_of(instant) > since for instant in timeline.completed if instant.writes]
    return max(sum(later), WRITES_BETWEEN if timeline.lacks_archived and all(later) else 0)


def time_of(path: str) -> str:
    return path.rpartition("/")[2][:17]


def checkpoint_paths(storage: Storage) -> list[str]:
    """Return the paths of the state checkpoints, oldest first."""
    paths = (entry.path for entry in storage.list(FOLDER))
    return sorted(path for path in paths if _NAME.fullmatch(path.rpartition("/")[2]))


def drop_superfluous(storage: Storage, timeline: Timeline, newest: str, misfit: str = "") -> None:
    """Delete all but the newest state checkpoints, and all checkpoints made before a restore. Also delete those with a
    time after `newest`, the time of the checkpoint that was made last, and the one with the time `misfit`.
    """
    restored = max((plan.requested for plan in timeline.restores), default="")
    paths = checkpoint_paths(storage)
    usable = [path for path in paths if restored <= time_of(path) <= newest and not time_of(path) == misfit != newest]
    if gone := sorted({*paths}.difference(usable[-KEPT:])):
        storage.delete_all(gone)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
