"""The options for the coordination of writers: lock, clock skew, decision log and heartbeats. The coordination options
are stored in the table, because all writers of a table must use the same options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from .concurrency import OPTION as MODE
from .concurrency import SINGLE_WRITER, ConcurrencyMode
from .options import COORDINATION as OPTIONS
from .options import IN_PROCESS, LOCK_FILE, NUMBERED, PROVIDER, SKEW, STORAGE_BASED, Refusal, parsed

Decides = Literal["lock", "log", "shared", "free"]
Publishes = Literal["ascending", "parallel"]
Requests = Literal["under_lock", "put_if_absent"]

DECISION_LOG: Final = "decision-log"
"""The writer feature of tables whose commits are decided by a log: every writer must support it."""

SHARED_DECISIONS: Final = "shared-decisions"
FREE_DECISIONS: Final = "free-decisions"
"""The writer features of tables whose writers decide each other's announced instants, under the lock or without it.
Every writer must support them: another writer would neither wait for an announced instant nor decide it.
"""

PARALLEL_PUBLICATION: Final = "parallel-publication"
"""The feature of tables on whose timeline an instant may be missing before a later one. Every reader must support it:
another reader would read past the missing instant. Apache Hudi's readers refuse the version of such tables.
"""

UNLOCKED_REQUESTS: Final = "unlocked-requests"
"""The writer feature of tables whose writers request instants without the lock: an older release of nbcc would take
their times for its own, and archive past their requests.
"""

HEARTBEATS: Final = "heartbeat-interval"
"""The writer feature of tables whose heartbeats do not have Hudi's default interval: an older release of nbcc would
renew its heartbeat too late.
"""


class HeartbeatInterval(NamedTuple):
    """The interval at which a writer renews its heartbeat, and the number of missed intervals after which the heartbeat
    expires. The default values are Hudi's defaults.
    """

    seconds: float = 60.0
    misses: int = 2


HUDI_HEARTBEATS: Final = HeartbeatInterval()


def mode_of(decision: str, publication: str) -> str:
    """Return the name of a decision and a publication. An older release of nbcc refuses one that it does not know."""
    return f"{decision}, {publication}" if publication != "ascending" else decision


@dataclass(frozen=True, slots=True)
class Coordination:
    """The options for the coordination of a table's writers.

    `skew_ms` is the maximum difference between the clocks of two writers in milliseconds. The value None means 0 if all
        writers run on one machine, and 200 otherwise.
    `decision` states how a commit is decided (`Rules.decision`).
    `publication` states whether the instants of one entry of the decision log are published one after the other or at
        the same time. It has an effect only if `decision` is "free".
    `requests` states whether a writer requests its instant under the lock, or without it. Writers that announce their
        instants always request them without it.
    `lock` is the name of the lock provider; '' means the default provider of the store (`lock.providers`).
    `lock_expire_minutes` is the age in minutes after which FileSystemBasedLockProvider ignores a lock file; 0 means
        never.
    `lease_seconds` is the duration of a lease of StorageBasedLockProvider or NumberedLockProvider, and `renew_seconds`
        is the renewal interval.
    `heartbeat_ms` is the interval in milliseconds at which a writer renews its heartbeat. The heartbeat expires after
        `heartbeat_misses` intervals without a renewal.
    `zookeeper_url`, `zookeeper_port`, `zookeeper_base_path` and `zookeeper_lock_key` configure
    ZookeeperBasedLockProvider.
    """

    skew_ms: int | None = None
    decision: Decides = "lock"
    publication: Publishes = "ascending"
    requests: Requests = "under_lock"
    lock: str = ""
    lock_wait_ms: int = 60_000
    lock_expire_minutes: int = 0
    lease_seconds: int = 300
    renew_seconds: int = 30
    zookeeper_url: str = "localhost"
    zookeeper_port: int = 2181
    zookeeper_base_path: str = "/hudi"
    zookeeper_lock_key: str = "table"
    heartbeat_ms: int = 60_000
    heartbeat_misses: int = 2

    @property
    def features(self) -> frozenset[str]:
        """The writer features that a table with these coordination options requires."""
        is_default = self.heartbeat_interval == HUDI_HEARTBEATS
        demanded = {
            DECISION_LOG: self.decision != "lock",
            SHARED_DECISIONS: self.decision == "shared",
            FREE_DECISIONS: self.decision == "free",
            PARALLEL_PUBLICATION: self.is_parallel,
            UNLOCKED_REQUESTS: self.requests == "put_if_absent",
            HEARTBEATS: not is_default,
        }
        return frozenset(feature for feature, is_demanded in demanded.items() if is_demanded)

    @property
    def mode(self) -> str:
        """The name of the decision and publication in the entry of the decision log that a conversion puts."""
        return mode_of(self.decision, self.publication)

    @property
    def is_parallel(self) -> bool:
        """Whether the instants of one entry are published at the same time."""
        return self.publication == "parallel" and self.decision == "free"

    @property
    def requests_without_lock(self) -> bool:
        """Whether requested times are even, and all other times are odd. What an entry decides for all announced
        instants needs that: no lock orders its times and the requests.
        """
        return self.requests == "put_if_absent" or self.decision in ("shared", "free")

    @property
    def heartbeat_interval(self) -> HeartbeatInterval:
        return HeartbeatInterval(self.heartbeat_ms / 1000, self.heartbeat_misses)

    def to_properties(self) -> dict[str, str]:
        """The options with non-default values, by their names in ``hoodie.properties``."""
        values = {option.name: getattr(self, option.field) for option in OPTIONS}
        defaults = {option.name: getattr(ALONE, option.field) for option in OPTIONS}
        texts = {name: str(value) for name, value in values.items() if value != defaults[name]}
        # Hudi has no numbered locks, so that this provider has no class name.
        if self.lock and self.lock != NUMBERED:
            texts[PROVIDER] = f"org.apache.hudi.client.transaction.lock.{self.lock}"
        return texts


def is_shared(url: str) -> bool:
    """Return whether several machines can access the store at `url`."""
    # A local folder may be a network disk, of which the URL shows nothing: its users set a lock themselves.
    return url.partition(":")[0] not in ("file", "memory")


def weakness(agreed: Coordination, mode: ConcurrencyMode) -> tuple[str, str] | None:
    """Return why the coordination options are unsafe for writers on several machines, and how to change the options.

    Returns None if the table has only one writer, or if its lock works across machines.
    """
    alone = f"or {MODE}={SINGLE_WRITER} if only one process writes"
    # Before the mode: a lock that cannot work in an object store is wrong for a single writer, too.
    if agreed.lock == LOCK_FILE:
        return f"{LOCK_FILE} needs a file system, and this is an object store", f"set {PROVIDER}={STORAGE_BASED}"
    if mode == SINGLE_WRITER:
        return None
    if agreed.lock == IN_PROCESS:
        exists = f"several machines can reach it, and {IN_PROCESS} excludes only the threads of one process"
        return exists, f"set {PROVIDER}={STORAGE_BASED}, {alone}"
    if agreed.skew_ms == 0:
        exists = f"several machines can reach it, and {SKEW}=0 assumes that their clocks never differ"
        return exists, f"set it to 200, the default, {alone}"
    return None


ALONE: Final = Coordination()
"""Writers on one machine."""


def coordination_of(values: Mapping[str, str], refuse: Refusal) -> Coordination:
    """Parse the coordination options contained in `values`. If a value is invalid, raises the error returned by the
    callback `refuse`.
    """
    return Coordination(**parsed(OPTIONS, values, refuse))
