"""The typed errors of nbcc. Each error states the request, the present state and the remedy."""

from __future__ import annotations


class NbccError(Exception):
    """The base class of nbcc's errors. A failed operation publishes nothing.

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


class NotATable(NbccError):
    """Raised if the path is not a Hudi table, or if the table's files are unreadable."""


class Damaged(NotATable):
    """Raised if a file of the table is missing, differs in size from the entry in its commit, or cannot be decoded."""


class Missing(Damaged):
    """Raised if the storage lacks a file that the table's metadata lists and that no clean or restore has deleted."""


class UnsafePath(NotATable):
    """Raised if the table's metadata names a path outside the table's folder, or a path that is not a regular file."""


class Unsupported(NbccError):
    """Raised for a valid table or request that this release does not support."""


class LimitExceeded(Unsupported):
    """Raised if a file would need more memory to decode than `nbcc.engine.limits.Limits` allows."""


class Conflict(NbccError):
    """Raised if the operation is incompatible with the work of another process.

    `against` is the requested time of the conflicting write if an optimistic writer was refused; otherwise None.
    """

    def __init__(self, asked: str, exists: str, remedy: str, against: str | None = None) -> None:
        super().__init__(asked, exists, remedy)
        self.against = against


class LockTimeout(Conflict):
    """Raised if the table's lock was not acquired in time. A write that had begun before a lock timeout stays pending
    until a rollback undoes the write.
    """


class Cleaned(NbccError):
    """Raised if the time of a read is older than the retained history, because a clean or restore has deleted files
    that the read needs.
    """


class CannotRun(NbccError):
    """Raised if this machine lacks something that the request needs, such as Java or disk space. Commands that raise
    `CannotRun` end with exit code 4.
    """


class StorageError(CannotRun):
    """Raised if the file system or object store failed: no space, no permission, no credentials, no answer.

    `operation` and `path` identify the failed call. `__cause__` is the error of the storage library. `unsure` is True
    if the call may have succeeded although its answer was lost.
    """

    def __init__(
        self, asked: str, exists: str, remedy: str, *, operation: str = "", path: str = "", unsure: bool = False
    ) -> None:
        super().__init__(asked, exists, remedy)
        self.operation = operation
        self.path = path
        self.unsure = unsure
