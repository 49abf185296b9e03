"""Typed errors. Each error states the request, the present state and the remedy."""

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
    """The request has an invalid argument, row or time."""


class NotATable(NbccError):
    """The path is not a Hudi table, or the table's files are unreadable."""


class Damaged(NotATable):
    """A file of the table is missing, does not have the size that its commit lists, or cannot be decoded."""


class Missing(Damaged):
    """The storage lacks a file that the table's metadata lists and that no clean or restore has deleted."""


class UnsafePath(NotATable):
    """The table's metadata names a path outside the table's folder, or a path that is not a regular file."""


class Unsupported(NbccError):
    """A valid table or request that this release does not support."""


class LimitExceeded(Unsupported):
    """A file would need more memory to decode than `nbcc.engine.limits.Limits` allows."""


class Conflict(NbccError):
    """The work of another process excludes the operation.

    `against`: the requested time of the conflicting write if an optimistic writer was refused; otherwise None.
    """

    def __init__(self, asked: str, exists: str, remedy: str, against: str | None = None) -> None:
        super().__init__(asked, exists, remedy)
        self.against = against


class LockTimeout(Conflict):
    """The table's lock was not acquired in time. A write that had begun before this error stays pending until a
    rollback undoes the write.
    """


class Cleaned(NbccError):
    """The time of a read is older than the retained history: a clean or restore has deleted files that the read needs.
    """


class CannotRun(NbccError):
    """This machine lacks something that the request needs, such as Java or disk space. Commands end with exit code 4
    after this error.
    """


class StorageError(CannotRun):
    """The file system or object store failed: no space, no permission, no credentials, no answer.

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
