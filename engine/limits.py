"""Memory limits of the decoders of table files. A small malicious file can decode to more data than fits into memory.

The memory limits are global to a process. A Spark task carries the limits of the driver to the executor. `task_bytes`
bounds the memory of a task; each of the other limits applies to one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Final

from .errors import BadInput, LimitExceeded

NO_LIMIT: Final = 1 << 50


@dataclass(frozen=True, slots=True)
class Limits:
    """The memory limits of the decoders of table files, all positive integers.

    `metadata_bytes` limits the uncompressed size of one timeline record. A commit record needs about 500 bytes per data
    file. `schema_depth` limits the nesting levels of an Avro schema. `schema_types` limits the number of types in an
    Avro schema; a type that is used twice counts twice. `decoded_bytes` limits the decoded size in bytes of one data
    file, log block or archive file. `decoded_ratio` limits the decoded size to a multiple of the size of the file or
    block. The limit that applies is the greater of `decoded_bytes` and `decoded_ratio` times the file size.
    `task_bytes` limits the memory for the rows of a task. A file group that needs more memory than `task_bytes` is
    processed in parts; other tasks that exceed `task_bytes` fail (docs/clusters.md). By default, the memory of a task
    is not limited.
    """

    metadata_bytes: int = 1 << 26
    schema_depth: int = 64
    schema_types: int = 100_000
    decoded_bytes: int = 1 << 30
    decoded_ratio: int = 100
    task_bytes: int = NO_LIMIT

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BadInput(
                    f"set the limit {field.name} to {value!r}", "a limit is a whole number from 1 on", "give one"
                )

    @property
    def one_pass(self) -> bool:
        """Whether the rows of a file group are read at once, because the memory of a task is not limited."""
        return self.task_bytes == NO_LIMIT

    def decoded(self, size: int) -> int:
        """Return the maximum decoded size of a file or block of `size` bytes."""
        return max(self.decoded_bytes, self.decoded_ratio * size)


_CURRENT: Final = [Limits()]


def limits() -> Limits:
    """Return the memory limits of this process."""
    return _CURRENT[0]


def set_limits(chosen: Limits) -> None:
    """Set the memory limits of this process for all tables."""
    _CURRENT[0] = chosen


@contextmanager
def temporary_limits(chosen: Limits) -> Iterator[None]:
    """Return a context manager that sets the memory limits of this process, and restores the previous limits on exit.
    """
    before = limits()
    set_limits(chosen)
    try:
        yield
    finally:
        set_limits(before)


def limits_of(settings: Iterable[str]) -> Limits:
    """Return the limits of this process, changed by assignments such as ``metadata_bytes=1000``. Raises `BadInput` for
    an invalid assignment.
    """
    names, chosen = [field.name for field in fields(Limits)], limits()
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in names or not (value.isascii() and value.isdecimal() and len(value) < 19):
            exists = f"a limit is one of {', '.join(names)}, then '=' and a whole number"
            raise BadInput(f"set the limit {setting!r}", exists, f"give one, like {names[0]}={1 << 27}")
        chosen = replace(chosen, **{name: int(value)})
    return chosen


def exceeded(name: str, exists: str, limit: str) -> LimitExceeded:
    """Return the error for a file that exceeds the limit named `limit`."""
    return LimitExceeded(
        f"read {name}",
        exists,
        f"if the file is genuine, raise {limit} (nbcc.set_limits, or --limit {limit}=N of the command); "
        "else restore the file from a copy",
    )
