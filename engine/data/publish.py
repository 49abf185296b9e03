"""How a data task puts a file: its marker first, so that whoever cleans up after a crash can find it."""

from __future__ import annotations

from ..errors import Conflict
from ..files.names import in_partition, marker
from ..storage import Storage


def put_data_file(storage: Storage, instant: str, partition: str, name: str, data: bytes) -> str:
    """Put a new data file of `instant` and return its path; nobody reads it before the instant lists it.

    Raises `Conflict` if another file has that name. A file with these very bytes is ours: its answer was lost.
    """
    path = in_partition(partition, name)
    storage.put_if_absent(marker(instant, partition, name), b"")
    if not storage.put_if_absent(path, data) and storage.get(path) != data:
        raise Conflict(f"write {path}", "there is another file of that name", "retry with a new write token")
    return path
