"""Simulates a table service of another engine: nbcc's own operation, but without nbcc's extra metadata in the instants.
"""

from __future__ import annotations

from typing import Any, Final, cast

from nbcc.engine.storage import Storage
from nbcc.engine.timeline.container import decode_record, encode_record
from nbcc.engine.timeline.instant import HOME, parse_instant

OWN: Final = "nbcc."
"""The prefix of all extra metadata of nbcc."""
KINDS: Final = {("compaction", "requested"): "compaction", ("commit", "completed"): "commit"}
"""The files of a compaction with that metadata, by action and state, and the names of their records."""


class _ForeignStorage:
    def __init__(self, below: Storage) -> None:
        self._below = below

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._below.put_if_absent(path, _without_mark(path, data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._below, name)


def foreign_storage(storage: Storage) -> Storage:
    """Return a storage wrapper that removes nbcc's extra metadata from each put, so that the actor looks like another
    engine's service.
    """
    return cast(Storage, _ForeignStorage(storage))


def _without_mark(path: str, data: bytes) -> bytes:
    folder, _, name = path.rpartition("/")
    instant = parse_instant(name) if folder == HOME else None
    kind = KINDS.get((instant.action, instant.state)) if instant else None
    if kind is None or not data:
        return data
    record = decode_record(data, name)
    extra = record["extraMetadata"] or {}
    record["extraMetadata"] = {key: value for key, value in extra.items() if not key.startswith(OWN)}
    return encode_record(kind, record)
