"""Where a table's files live: one protocol, every store that obstore knows behind it."""

from __future__ import annotations

from .object_storage import ObjectStorage, open_storage
from .protocol import Entry, NotFound, Storage

__all__ = ["Entry", "NotFound", "ObjectStorage", "Storage", "open_storage"]
