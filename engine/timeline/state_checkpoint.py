"""State checkpoints. A state checkpoint lists the files that are live as of a completion time; a read uses the list
instead of older commits.

State checkpoints are derived from commits and do not change the rows of any read (docs/contract.md, SAME). If there is
no valid state checkpoint, a read uses the commits instead. A checkpoint's file name contains its time and a digest of
its content, so that damage is detected. Checkpoints are stored in a folder that Hudi's readers do not list.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import NbccError
from ..storage import NotFound, Storage
from .archive_files import Archived, decode_rows, rows_table
from .timeline import Timeline

FOLDER: Final = ".hoodie/.nbcc/state"
KEPT: Final = 4
"""The number of state checkpoints that stay. A read as of an earlier time uses all commits."""

_NAME: Final = re.compile(r"([0-9]{17})_([0-9a-f]{32})\.parquet")
_FORMAT: Final = "1"
_KEYS: Final = (b"nbcc.format", b"nbcc.time", b"nbcc.archived", b"nbcc.horizon")


@dataclass(frozen=True, slots=True)
class StateCheckpoint:
    """The live files of a table: the data files that a snapshot as of the completion time `time` reads.

    `archived` is the greatest requested time in the archive when the checkpoint was made; '' for an empty archive.
    Every archived write whose requested time is at most `archived` has completed at or before `time`. `horizon` is the
    completion time before which reads are refused; '' if there is none. `rows` contains the commits of the writes that
    have live files, each reduced to its live files.
    """

    time: str
    archived: str
    horizon: str
    rows: tuple[Archived, ...]

    def holds_in(self, timeline: Timeline) -> bool:
        """Return True if every restore on the timeline was planned before the checkpoint. A newer restore may have
        undone writes in the checkpoint, or brought back files that the checkpoint omits.
        """
        return all(plan.requested <= self.time for plan in timeline.restores)


def encode_checkpoint(checkpoint: StateCheckpoint) -> bytes:
    """Encode a state checkpoint as a Parquet file. Writes become rows in the schema of archive files; all other fields
    become file metadata.
    """
    values = (_FORMAT, checkpoint.time, checkpoint.archived, checkpoint.horizon)
    table = rows_table(checkpoint.rows)
    sink = io.BytesIO()
    metadata = {key: value.encode() for key, value in zip(_KEYS, values, strict=True)}
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue()


def decode_checkpoint(data: bytes, name: str) -> StateCheckpoint | None:
    """Decode a state checkpoint; return None if the content is damaged or does not match the file name."""
    named = _NAME.fullmatch(name)
    if named is None or _digest(data) != named[2]:
        return None
    try:
        metadata = pq.read_schema(pa.BufferReader(data)).metadata or {}
        form, time, archived, horizon = (metadata[key].decode() for key in _KEYS)
        rows = decode_rows(data, f"{FOLDER}/{name}")
    except (NbccError, pa.ArrowException, KeyError, UnicodeDecodeError):
        return None
    return StateCheckpoint(time, archived, horizon, rows) if (form, time) == (_FORMAT, named[1]) else None


def put_checkpoint(storage: Storage, checkpoint: StateCheckpoint) -> None:
    """Put a state checkpoint into the storage. State checkpoints with equal content have the same path."""
    data = encode_checkpoint(checkpoint)
    storage.put_if_absent(f"{FOLDER}/{checkpoint.time}_{_digest(data)}.parquet", data)


def newest_checkpoint(storage: Storage, until: str = "~") -> StateCheckpoint | None:
    """Return the newest readable state checkpoint with a time at or before `until`; None if there is none."""
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


def time_of(path: str) -> str:
    return path.rpartition("/")[2][:17]


def checkpoint_paths(storage: Storage) -> list[str]:
    """Return the paths of the state checkpoints, oldest first."""
    paths = (entry.path for entry in storage.list(FOLDER))
    return sorted(path for path in paths if _NAME.fullmatch(path.rpartition("/")[2]))


def drop_superfluous(storage: Storage, timeline: Timeline) -> None:
    """Delete all but the newest state checkpoints, and all checkpoints made before a restore."""
    restored = max((plan.requested for plan in timeline.restores), default="")
    paths = checkpoint_paths(storage)
    useless = {path for path in paths if time_of(path) < restored}
    if gone := [path for path in paths if path in {*paths[:-KEPT], *useless}]:
        storage.delete_all(gone)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
