"""Access to a table's files: one storage protocol, implemented for the local file system and for object stores
(obstore).
"""

from __future__ import annotations

from .ahead import listed_ahead, together
from .failures import TRANSIENT
from .local_storage import LocalStorage
from .object_storage import ObjectStorage
from .opening import open_storage
from .paths import confined, confined_folder
from .protocol import Entry, Listable, NotFound, Storage, StorageWrapper, content_or_none
from .ranged import ByteRange, RangedStorage, merged_ranges
from .requests import under_lease
from .verified_puts import create_or_get, put_file, put_own, put_unique

__all__ = [
    "TRANSIENT", "ByteRange", "Entry", "Listable", "LocalStorage", "NotFound", "ObjectStorage", "RangedStorage",
    "Storage", "StorageWrapper", "confined", "confined_folder", "content_or_none", "create_or_get", "listed_ahead",
    "merged_ranges", "open_storage", "put_file", "put_own", "put_unique", "together", "under_lease",
]  # fmt: skip
