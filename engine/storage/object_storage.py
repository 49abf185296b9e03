"""Implements the storage protocol on object stores, through obstore.

An object that several writers may try to create is created by a single conditional put. Data files are uploaded
unconditionally in parts, because stores do not support conditional multipart uploads. Large objects are read in ranges.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError, PreconditionError
from obstore.exceptions import NotFoundError as ObstoreNotFound
from obstore.store import from_url

from ..errors import BadInput, StorageError
from .conditional import ConditionalObject, StoreObject
from .failures import asked, is_panic, of_store, shown, without_user
from .options import as_duration, is_durable, store_arguments
from .paths import confined, confined_folder
from .protocol import Entry, Listable, NotFound
from .ranged import ByteRange
from .requests import in_parallel, refuse_forked, request_limit

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

_ABSENT: Final = (FileNotFoundError, ObstoreNotFound)
_TAKEN: Final = (AlreadyExistsError, PreconditionError)

PAUSES: Final = (0.1, 0.4, 1.6)
"""Seconds to wait after each put that failed and left no object, and after each request that the store refuses as in
conflict with another. The library itself repeats requests that are answered with a server error, such as SlowDown."""

LONG_SECONDS: Final = 20.0
"""After this time the library has repeated a request itself."""

PART_BYTES: Final = 8 << 20
"""Objects with more bytes are put in parts and read in ranges of this size."""

PARTS_AT_ONCE: Final = 4
"""The number of parts of an open file that are in memory at the same time."""

RANGE_GAP: Final = 64 << 10
"""Ranges of an object that are at most this many bytes apart are read by one request."""


class ObjectStorage(Listable):
    is_remote = True

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url
        self._options = dict(options or {})
        # Only validated: every put into an object store is durable.
        is_durable(self._options)
        self._arguments = store_arguments(url, self._options)
        self._stores: dict[float | None, ObjectStore] = {}
        self._last_seen: dict[str, str] = {}

    def __reduce__(self) -> tuple[type[ObjectStorage], tuple[str, dict[str, Any]]]:
        return type(self), (self.url, self._options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({without_user(self.url)!r})"

    def _reach(self) -> ObjectStore:
        """Return a store client with the time limit of the next request. Clients are cached by time limit."""
        refuse_forked(without_user(self.url))
        limit = request_limit(without_user(self.url))
        if limit not in self._stores:
            self._stores[limit] = self._open(limit)
        return self._stores[limit]

    def _open(self, limit: float | None) -> ObjectStore:
        arguments = self._arguments if limit is None else {**self._arguments, **_limited(self._arguments, limit)}
        try:
            return from_url(self.url, **arguments)
        except GenericError as unfit:
            remedy = "give a path, or a URL of file:, s3:, gs:, az: or https:, and correct storage_options"
            exists = f"the store answered: {shown(unfit, self._options)}"
            raise BadInput(f"open {without_user(self.url)}", exists, remedy) from unfit
        except BaseException as refused:
            if not _is_of_store(refused):
                raise
            raise self._typed("open", "", refused) from refused

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create `path` with `data` atomically. Returns False if `path` already exists with other content."""
        return self.create_or_get(path, data) is None

    def create_or_get(self, path: str, data: bytes) -> bytes | None:
        """Create `path` with `data` atomically. Returns the content of `path` if it already exists with other content.

        A put that fails may have succeeded: it may have timed out, or obstore may have repeated it after a success.
        After a failed put, `create_or_get` reads the object, and repeats the put if the object does not exist.
        """
        confined(path)
        unsure: StorageError | None = None
        for pause in PAUSES:
            try:
                self._ask("create", path, lambda store: obstore.put(store, path, data, mode="create"))
                return None
            except _TAKEN:
                # An earlier attempt of this put may have created the object, so its content decides.
                pass
            except StorageError as error:
                if not error.unsure:
                    raise
                unsure = error
            try:
                return None if (there := self.get(path)) == data else there
            except NotFound:
                # The store refused the put and has no object: two conflicting puts have both failed, or the first did
                # not arrive.
                time.sleep(pause)
            except StorageError as unread:
                raise unsure or unread from (unsure or unread).__cause__
        remedy = "run the operation again; if this happens each time, check what else writes this table"
        exists = f"the store refuses to create it {len(PAUSES)} times and holds no such object"
        raise unsure or StorageError(asked("create", path, self.url), exists, remedy, operation="create", path=path)

    def put(self, path: str, data: bytes) -> None:
        self._repeated("write", confined(path), lambda store: obstore.put(store, path, data, use_multipart=False))

    def put_in_parts(self, path: str, data: bytes) -> bool:
        """Put a data file, in several parts if it is large. The data file's name must be unique, because the put is
        unconditional.

        After an error, uploaded parts remain in the store until the bucket's lifecycle rule deletes incomplete
        multipart uploads.
        """
        self._repeated("write", confined(path), lambda store: obstore.put(store, path, data, chunk_size=PART_BYTES))
        return True

    def put_file(self, path: str, file: BinaryIO) -> bool:
        """Upload the content of an open file as a data file, in parts. The data file's name must be unique to this put.
        """
        start = file.tell()

        def request(store: ObjectStore) -> object:
            # A repeated request must not begin where the failed one ended.
            file.seek(start)
            return obstore.put(store, path, file, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

        self._repeated("write", confined(path), request)
        return True

    def get(self, path: str) -> bytes:
        try:
            return self._repeated("read", confined(path), lambda store: _content(store, path))
        except _ABSENT:
            raise NotFound(path) from None

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        """Return the bytes of each range of an object; fewer bytes if the object ends within the range."""
        starts, ends = [each.start for each in ranges], [each.end for each in ranges]
        request = partial(obstore.get_ranges, path=confined(path), starts=starts, ends=ends, coalesce=RANGE_GAP)
        try:
            return [bytes(part) for part in self._repeated("read", path, request)]
        except _ABSENT:
            raise NotFound(path) from None

    def list(self, prefix: str, after: str = "") -> list[Entry]:
        """List all objects below a folder, sorted by path. `after` restricts the listing to paths greater than `after`.
        """
        confined_folder(prefix)
        request = partial(obstore.list, prefix=prefix or None, offset=after or None)
        pages = self._repeated("list", prefix, lambda store: [*request(store)])
        return sorted(
            Entry(item["path"], item["size"], item["last_modified"].timestamp())
            for page in pages
            for item in page
            if not is_checksum(item["path"].rpartition("/")[2])
        )

    def list_new(self, folder: str) -> Sequence[Entry]:
        return self.list(folder, self.last_seen(folder))

    def last_seen(self, folder: str) -> str:
        return self._last_seen.get(folder, "")

    def remember(self, folder: str, path: str) -> None:
        self._last_seen[folder] = path

    def delete(self, path: str) -> None:
        self._remove(confined(path))

    def delete_all(self, paths: Sequence[str]) -> None:
        if paths:
            self._remove([confined(path) for path in paths])

    def conditional_object(self, path: str) -> ConditionalObject:
        return StoreObject(self._ask, without_user(self.url), confined(path))

    def _remove(self, path: str | Sequence[str]) -> None:
        first = path if isinstance(path, str) else path[0]
        try:
            self._repeated("delete", first, lambda store: obstore.delete(store, path))
        except _ABSENT:
            return

    def _repeated(self, operation: str, path: str, request: Callable[[ObjectStore], T]) -> T:
        """Send an idempotent request, and repeat it if the store answers 409 or does not answer.

        After most failures, obstore itself repeats the request for several minutes before it raises an error.
        """
        began = time.monotonic()
        for pause in PAUSES:
            try:
                return self._ask(operation, path, request)
            except _TAKEN as refused:
                error = self._typed(operation, path, refused)
            except StorageError as failed:
                # A certain refusal stays one, and a long failure includes the repetitions of the library.
                if not failed.unsure or time.monotonic() - began > LONG_SECONDS:
                    raise
                error = failed
            time.sleep(pause)
        raise error

    def _ask(self, operation: str, path: str, request: Callable[[ObjectStore], T]) -> T:
        """Send a request to the store, and return the response. Raises `StorageError` if the request fails, except when
        the object is absent or a put condition is not met.
        """
        store = self._reach()
        try:
            return request(store)
        except _TAKEN:
            raise
        except _ABSENT as absent:
            if operation in ("read", "delete"):
                raise
            raise self._typed(operation, path, absent) from absent  # a put to a bucket that does not exist
        except BaseException as refused:
            if not _is_of_store(refused):
                raise
            raise self._typed(operation, path, refused) from refused

    def _typed(self, operation: str, path: str, error: BaseException) -> StorageError:
        return of_store(operation, path, self.url, error, self._options)


def _content(store: ObjectStore, path: str) -> bytes:
    """Return the content of an object in the store. A large object is read in concurrent ranges, which is safe because
    large objects never change.
    """
    answer = obstore.get(store, path)
    size = answer.meta["size"]
    # The response already has all bytes. Several requests pay only for a larger object.
    if size <= 2 * PART_BYTES:
        return bytes(answer.bytes())

    def part(start: int) -> bytes:
        return bytes(obstore.get_range(store, path, start=start, end=min(start + PART_BYTES, size)))

    return b"".join(in_parallel(partial(part, start) for start in range(0, size, PART_BYTES)))


def _limited(arguments: Mapping[str, Any], limit: float) -> dict[str, Any]:
    """Return arguments for the store library that limit each request, including its retries, to `limit` seconds."""
    first, longest_pause = timedelta(seconds=min(0.1, limit / 16)), timedelta(seconds=limit / 8)
    pauses = {"init_backoff": first, "max_backoff": longest_pause, "base": 2}
    client = arguments.get("client_options", {})
    longest = min(timedelta(seconds=limit / 2), as_duration(client.get("timeout")) or timedelta.max)
    return {
        "client_options": {**client, "timeout": longest},
        "retry_config": {"backoff": pauses, "max_retries": 10, "retry_timeout": timedelta(seconds=limit / 4)},
    }


def is_checksum(name: str) -> bool:
    """Return True for the name of a Hadoop checksum side file (`.name.crc`), which a copied table may contain."""
    return name[:1] == "." and name[-4:] == ".crc"


def _is_of_store(error: BaseException) -> bool:
    return isinstance(error, BaseError | OSError | ValueError | TypeError) or is_panic(error)
