"""Typed errors: what was asked, what exists, what to do."""

from __future__ import annotations


class NbccError(Exception):
    """An operation that cannot be done; nothing of it was published.

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
    """The request itself is wrong: its arguments, its rows or its place in time."""


class NotATable(NbccError):
    """The path holds no Hudi table, or one whose files cannot be understood."""


class Damaged(NotATable):
    """A file of the table is missing, has another size than its commit lists, or cannot be decoded."""


class Missing(Damaged):
    """A file that the table's metadata lists, and no clean or restore has deleted, is not in the storage."""


class UnsafePath(NotATable):
    """The table's metadata names a path outside the table's folder, or a path that is not a regular file."""


class Unsupported(NbccError):
    """A genuine table or request that this release refuses rather than answers wrongly."""


class LimitExceeded(Unsupported):
    """Decoding a file would take more than `nbcc.engine.limits.Limits` allows."""


class Conflict(NbccError):
    """Somebody else did, or holds, what the operation needed for itself.

    `against` is the requested time of the write that made an optimistic writer give way, None for any other reason.
    """

    def __init__(self, asked: str, exists: str, remedy: str, against: str | None = None) -> None:
        super().__init__(asked, exists, remedy)
        self.against = against


class LockTimeout(Conflict):
    """The table's lock was not to be had in time. A write that was begun stays pending until it is rolled back."""


class Cleaned(NbccError):
    """The time asked for lies behind what the table still keeps."""


class CannotRun(NbccError):
    """What the request needs is not on this machine (no Java, no disk, …); commands exit with 4."""


class StorageError(CannotRun):
    """The file system or object store has failed or refused: no space, no permission, no credentials, no answer.

    `operation` and `path` say at what, `__cause__` is the library's own error. `unsure`: what was asked for may have
    happened all the same, because the answer was lost.
    """

    def __init__(
        self, asked: str, exists: str, remedy: str, *, operation: str = "", path: str = "", unsure: bool = False
    ) -> None:
        super().__init__(asked, exists, remedy)
        self.operation = operation
        self.path = path
        self.unsure = unsure
