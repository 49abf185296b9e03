"""Simulates a table service of another engine: nbcc's own operation, but without nbcc's extra metadata in the instants.
"""

from __future__ import annotations

from typing import Final

from nbcc.engine.storage import StorageWrapper
from nbcc.engine.timeline.container import decode_record, encode_record
from nbcc.engine.timeline.instant import HOME, parse_instant

OWN: Final = "nbcc."
"""The prefix of all extra metadata of nbcc."""
KINDS: Final = {("compaction", "requested"): "compaction", ("commit", "completed"): "commit"}
"""The files of a compaction with that metadata, by action and state, and the names of their records."""


class ForeignStorage(StorageWrapper):
    """A storage wrapper that removes nbcc's extra metadata from each put, so that the actor looks like another engine's
    service.
    """

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return super().put_if_absent(path, _without_mark(path, data))


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
