"""How the writers of a table keep out of each other's way. It is a property of the table: all of them must agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple, get_args

from .concurrency import OPTION as MODE
from .concurrency import SINGLE_WRITER, ConcurrencyMode

Decides = Literal["lock", "log"]

SKEW: Final = "hoodie.time.generator.max_expected_clock_skew_ms"
DECISION: Final = "nbcc.decision"
PROVIDER: Final = "hoodie.write.lock.provider"
IN_PROCESS: Final = "InProcessLockProvider"
LOCK_FILE: Final = "FileSystemBasedLockProvider"
STORAGE_BASED: Final = "StorageBasedLockProvider"
NUMBERED: Final = "NumberedLockProvider"
PROVIDERS: Final = (IN_PROCESS, LOCK_FILE, STORAGE_BASED, NUMBERED, "ZookeeperBasedLockProvider")
"""By the names of Hudi's classes; NumberedLockProvider is RFC-22's option 2, which Hudi never had."""

DECISION_LOG: Final = "decision-log"
"""The feature that every writer of a table must know whose commits a log decides."""


@dataclass(frozen=True, slots=True)
class Coordination:
    """`skew_ms`: how far the clocks of two writers may differ; None: 0 on one machine, else 200 (`seams.coordinated`).

    `decision`: a commit is made by whoever holds the lock, or by the next number of the decision log.
    `lock`: the provider; '' for the default: among the processes of one machine on a local file system, a lease in a
    store that several machines can reach (`lock.providers`). `lock_expire_minutes` is FileSystemBasedLockProvider's
    (0: never); the lease is that of the storage-based and the numbered lock, the zookeeper fields are that provider's.
    """

    skew_ms: int | None = None
    decision: Decides = "lock"
    lock: str = ""
    lock_wait_ms: int = 60_000
    lock_expire_minutes: int = 0
    lease_seconds: int = 300
    renew_seconds: int = 30
    zookeeper_url: str = "localhost"
    zookeeper_port: int = 2181
    zookeeper_base_path: str = "/hudi"
    zookeeper_lock_key: str = "table"

    @property
    def features(self) -> frozenset[str]:
        """What a writer must know to keep to it."""
        return frozenset({DECISION_LOG} if self.decision == "log" else ())

    def to_properties(self) -> dict[str, str]:
        """What is not the default, by its name in ``hoodie.properties``."""
        defaults = {field.name: field.default for field in fields(Coordination)}
        given = {name: (getattr(self, option.field), defaults[option.field]) for name, option in OPTIONS.items()}
        said = {name: str(value) for name, (value, default) in given.items() if value != default}
        if self.lock and self.lock != NUMBERED:
            said[PROVIDER] = f"org.apache.hudi.client.transaction.lock.{self.lock}"
        return said


def is_shared(url: str) -> bool:
    """Whether several machines can reach the store at `url`."""
    return url.partition(":")[0] not in ("file", "memory")


def weakness(agreed: Coordination, mode: ConcurrencyMode) -> tuple[str, str] | None:
    """Why writers of a table in a store that several machines can reach would not exclude each other, and the remedy.

    None if they do, or if there is one writer only.
    """
    alone = f"or {MODE}={SINGLE_WRITER} if only one process writes"
    if agreed.lock == LOCK_FILE:
        return f"{LOCK_FILE} needs a file system, and this is none", f"set {PROVIDER}={STORAGE_BASED}"
    if mode == SINGLE_WRITER:
        return None
    if agreed.lock == IN_PROCESS:
        exists = f"several machines can reach it, and {IN_PROCESS} excludes only the threads of one process"
        return exists, f"set {PROVIDER}={STORAGE_BASED}, {alone}"
    if agreed.skew_ms == 0:
        exists = f"several machines can reach it, and {SKEW}=0 assumes that their clocks never differ"
        return exists, f"set it to 200, the default, {alone}"
    return None


class Option(NamedTuple):
    """A property: its field, what its values are, and the value of a text; None if it is none of them."""

    field: str
    needed: str
    read: Callable[[str], Any]


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _text(text: str) -> str | None:
    return text or None


def _provider(text: str) -> str | None:
    """By its class's name, with or without its package."""
    name = text.rpartition(".")[2]
    return name if name in PROVIDERS else None


OPTIONS: Final[Mapping[str, Option]] = {
    SKEW: Option("skew_ms", "a whole number of milliseconds", _number),
    DECISION: Option("decision", "lock or log", lambda text: text if text in get_args(Decides) else None),
    PROVIDER: Option("lock", f"one of {', '.join(PROVIDERS)}", _provider),
    "hoodie.write.lock.wait_time_ms": Option("lock_wait_ms", "a whole number of milliseconds", _number),
    "hoodie.write.lock.filesystem.expire": Option("lock_expire_minutes", "a whole number of minutes", _number),
    "hoodie.write.lock.storage.validity.timeout.secs": Option("lease_seconds", "a whole number of seconds", _number),
    "hoodie.write.lock.storage.renew.interval.secs": Option("renew_seconds", "a whole number of seconds", _number),
    "hoodie.write.lock.zookeeper.url": Option("zookeeper_url", "a host", _text),
    "hoodie.write.lock.zookeeper.port": Option("zookeeper_port", "a port", _number),
    "hoodie.write.lock.zookeeper.base_path": Option("zookeeper_base_path", "a path", _text),
    "hoodie.write.lock.zookeeper.lock_key": Option("zookeeper_lock_key", "a name", _text),
}
"""By the name of the property."""

ALONE: Final = Coordination()
"""Writers on one machine."""


def coordination_from(values: Mapping[str, str]) -> Coordination:
    """From the properties of a table, others among them; ValueError(property, what it must be)."""
    found: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        if name in values and (value := option.read(values[name])) is None:
            raise ValueError(name, option.needed)
        if name in values:
            found[option.field] = value
    return Coordination(**found)
