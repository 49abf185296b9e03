"""The exception classes of nbcc. Each error message states the request, the present state and the remedy."""

from __future__ import annotations


class NbccError(Exception):
    """The base class of nbcc's errors. An operation that raises an `NbccError` publishes nothing.

    `asked`, `exists` and `remedy` are phrases without a full stop. ``str`` of the error is one sentence: "Asked to
    <asked>, but <exists>: <remedy>."
    """

    def __init__(self, asked: str, exists: str, remedy: str) -> None:
        super().__init__(asked, exists, remedy)
        self.asked = asked
        self.exists = exists
        self.remedy = remedy

    def __str__(self) -> str:
        return f"Asked to {self.asked}, but {self.exists}: {self.remedy}."


class BadInput(NbccError):
    """Raised if the request has an invalid argument, row or time."""


class UnknownKey(BadInput):
    """Raised if a write would insert a key that the record index of the table lacks, or into another partition than the
    index has for the key. Updates and deletes of known keys need no rule between writers; insertions do.
    """


class NotATable(NbccError):
    """Raised if the path is not a Hudi table, or if the files of the table are unreadable."""


class Damaged(NotATable):
    """Raised if a file of the table is missing, cannot be decoded, or does not have the size recorded in its commit."""


class Missing(Damaged):
    """Raised if a file listed in the table's metadata is missing although no clean or restore has deleted the file."""


class UnsafePath(NotATable):
    """Raised if the table's metadata names a path outside the table's folder, or a path that is not a regular file."""


class Unsupported(NbccError):
    """Raised for a valid table or request that this release does not support."""


class LimitExceeded(Unsupported):
    """Raised if decoding a file would need more memory than `nbcc.engine.limits.Limits` allows."""


class Conflict(NbccError):
    """Raised if the operation is incompatible with the work of another process.

    `against` is the requested time of the conflicting write. It is set only if an optimistic writer fails its conflict
    check.
    """

    def __init__(self, asked: str, exists: str, remedy: str, against: str | None = None) -> None:
        super().__init__(asked, exists, remedy)
        self.against = against


class LockTimeout(Conflict):
    """Raised if the table's lock was not acquired within the timeout. A write interrupted by a lock timeout stays
    pending until a rollback undoes the write.
    """


class Cleaned(NbccError):
    """Raised if a read needs files that a clean or restore has deleted, because the time of the read is older than the
    retained history.
    """


class CannotRun(NbccError):
    """Raised if something that the request needs is not available on this machine, such as Java or enough disk space. A
    command that raises `CannotRun` exits with code 4.
    """


class StorageError(CannotRun):
    """Raised if the file system or object store fails, for example for lack of space, permission, credentials or a
    response.

    `operation` and `path` identify the failed call. `__cause__` is the error of the storage library. `unsure` is True
    if the response was lost, so that the failed call may have succeeded.
    """

    def __init__(
        self, asked: str, exists: str, remedy: str, *, operation: str = "", path: str = "", unsure: bool = False
    ) -> None:
        super().__init__(asked, exists, remedy)
        self.operation = operation
        self.path = path
        self.unsure = unsure
