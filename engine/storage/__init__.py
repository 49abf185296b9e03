"""Where a table's files live: one protocol, the local file system and every store that obstore knows behind it."""

from __future__ import annotations

from .local_storage import LocalStorage, paths_below, sizes_but
from .object_storage import TRANSIENT, ObjectStorage
from .opening import open_storage
from .protocol import Entry, NotFound, Storage

__all__ = [
    "TRANSIENT",
    "Entry",
    "LocalStorage",
    "NotFound",
    "ObjectStorage",
    "Storage",
    "open_storage",
    "paths_below",
    "sizes_but",
]
