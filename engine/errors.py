"""Typed errors. Each error states the request, the present state and the remedy."""

from __future__ import annotations


class NbccError(Exception):
    """The base class of nbcc's errors. A failed operation publishes nothing.

    The three parts are phrases without a full stop, so that ``str`` is one sentence:
    "Asked to <asked>, but <exists>: <remedy>."
    """

    def __init__(self, asked: str, exists: str, remedy: str) -> None:
        super().__init__(asked, exists, remedy)
        self.asked = asked
        self.exists = exists
        self.remedy = remedy

    def __str__(self) -> str:
        return f"Asked to {self.asked}, but {self.exists}: {self.remedy}."


class BadInput(NbccError):
    """The request is wrong: its arguments, its rows or its time."""


class NotATable(NbccError):
    """The path is not a Hudi table, or the table's files are unreadable."""


class Damaged(NotATable):
    """A file of the table is missing, has another size than its commit lists, or cannot be decoded."""


class Missing(Damaged):
    """A file that the table's metadata lists, and no clean or restore has deleted, is not in the storage."""


class UnsafePath(NotATable):
    """The table's metadata names a path outside the table's folder, or a path that is not a regular file."""


class Unsupported(NbccError):
    """A valid table or request that this release does not support."""


class LimitExceeded(Unsupported):
    """Decoding a file would take more than `nbcc.engine.limits.Limits` allows."""


class Conflict(NbccError):
    """Another process completed or holds something that excludes the operation.

    `against`: the requested time of the conflicting write, for an optimistic writer that was refused; else None.
    """

    def __init__(self, asked: str, exists: str, remedy: str, against: str | None = None) -> None:
        super().__init__(asked, exists, remedy)
        self.against = against


class LockTimeout(Conflict):
    """The table's lock was not acquired in time. A write that has begun stays pending until it is rolled back."""


class Cleaned(NbccError):
    """The requested time is older than the retained history: a clean or restore has deleted its files."""


class CannotRun(NbccError):
    """Something that the request needs is missing on this machine (Java, disk, …). Commands end with exit code 4."""


class StorageError(CannotRun):
    """The file system or object store failed: no space, no permission, no credentials, no answer.

    `operation` and `path`: the failed call. `__cause__`: the library's own error. `unsure`: the call may have succeeded
    although its answer was lost.
    """

    def __init__(
        self, asked: str, exists: str, remedy: str, *, operation: str = "", path: str = "", unsure: bool = False
    ) -> None:
        super().__init__(asked, exists, remedy)
        self.operation = operation
        self.path = path
        self.unsure = unsure
