"""Casts of random histories: the table, the concurrency mode, and the operations that interleave on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.model.mechanisms.rollback.heartbeat import HEARTBEAT_EXPIRES
from nbcc.simulator.lockstep.schedule import Choose

from .tables import OPERATIONS, PARTITION

CALL: Final = "call_proceeds"
FAILS: Final = "call_fails"
STALLS: Final = HEARTBEAT_EXPIRES
"""The heartbeat of an actor looks expired to others while the actor waits before a call."""
FAULTS: Final = (ACTOR_CRASHES, FAILS, STALLS)
LATEST_FAULT: Final = 45
"""A fault happens at one of an actor's first calls, at most so many."""

OCC: Final = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
EARLY: Final = {**OCC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}
LOCKS: Final = "org.apache.hudi.client.transaction.lock."
PROVIDER: Final = "hoodie.write.lock.provider"
BRIEF: Final = {
    "hoodie.write.lock.wait_time_ms_between_retry": "1",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "1",
}
FILE_LOCK: Final = {PROVIDER: f"{LOCKS}FileSystemBasedLockProvider", **BRIEF}
"""The lock is a file of the table, so that taking and releasing it are storage calls."""
LEASE: Final = {
    PROVIDER: f"{LOCKS}FolderLockProvider",
    "hoodie.write.lock.storage.validity.timeout.secs": "36000",
    "hoodie.write.lock.storage.renew.interval.secs": "3600",
    **BRIEF,
}
"""Hudi's storage-based lock on a store of local files: an object with a lease that no history outlives."""
ZOOKEEPER: Final = {PROVIDER: f"{LOCKS}ZookeeperBasedLockProvider"}
ZOOKEEPER_BY_PATH: Final = {PROVIDER: f"{LOCKS}ZookeeperBasedImplicitBasePathLockProvider"}
"""The same lock: the name of its node is a hash of the table's path."""
NO_LOCK: Final = {PROVIDER: f"{LOCKS}NoopLockProvider"}
"""A provider that locks nothing. It shows that the judges see what a lock prevents."""
SERVER: Final = {
    **EARLY,
    "hoodie.write.markers.type": "TIMELINE_SERVER_BASED",
    "hoodie.embed.timeline.server": "true",
}
"""The markers are made and compared by a server in the process of each client."""
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "non-blocking": {},
    "optimistic": OCC,
    "optimistic, early detection": EARLY,
    "non-blocking, lock file": FILE_LOCK,
    "optimistic, lock file": {**OCC, **FILE_LOCK},
    "non-blocking, lease": LEASE,
    "optimistic, lease": {**OCC, **LEASE},
    "optimistic, ZooKeeper": {**OCC, **ZOOKEEPER},
    "optimistic, early detection by a server": SERVER,
}
LOCK_FILE: Final = "/.hoodie/lock"
LEASE_FILE: Final = "/.hoodie/.locks/table_lock.json"
TRIES: Final = {f"stat {LOCK_FILE}": f"get {LOCK_FILE}", f"get {LEASE_FILE}": f"get {LEASE_FILE}"}
"""The first call of a try to take such a lock, and the last one of a try that has found it taken."""
SHORT_WAITS: Final = {
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
    "hoodie.filesystem.view.remote.timeout.secs": "20",
}
"""All actors of a history read the clock of one JVM, so that Hudi need not wait 200 ms for each instant. Its calls are
the same with and without the wait. By default a writer waits 300 s for its timeline server: a failed storage call ends
the thread of the server that creates markers, and the request is never answered.
"""
SERVICES: Final = {"c1": "compaction", "s1": "clean", "b1": "rollback", "s2": "archive"}
"""The services of a cast. A second compactor would roll back the first one's run (specs/boundary.md)."""


class Cast(NamedTuple):
    """The prepared table, the mode (a key of `MODES`), and the operation of each actor with its arguments."""

    before: str
    mode: str
    actors: Mapping[str, tuple[str, Mapping[str, Any]]]

    @property
    def writers(self) -> list[str]:
        return [actor for actor, (method, _) in self.actors.items() if method == "upsert"]

    def rows(self, completed: set[str]) -> dict[str, str]:
        """Return what a reader sees after the writes of `completed`: of each key the row with the highest ordering."""
        found = {key: (0, value) for key, value in OPERATIONS[self.before].start.items()}
        for actor in completed:
            for key, _, ordering, value, _ in self.actors[actor][1]["rows"]:
                found[key] = max(found.get(key, (0, "")), (ordering, value))
        return {key: value for key, (_, value) in sorted(found.items())}


def writer(actor: str, ordering: int) -> tuple[str, Mapping[str, Any]]:
    """Return the upsert of a writer: a row that all writers write, and one of its own."""
    rows = [["a1", PARTITION, ordering, f"by {actor}", False], [f"b{actor[1:]}", PARTITION, 1, f"of {actor}", False]]
    return "upsert", {"actor": actor, "rows": rows}


def draw_cast(choose: Choose) -> tuple[Cast, dict[tuple[str, int], str]]:
    """Draw one to three writers and up to two services, and up to two faults: the actor, the number of its call, and
    what happens there. Ordering values differ, so that no rule about equal ones is judged.
    """
    before = [*OPERATIONS][choose(len(OPERATIONS))]
    mode = [*MODES][choose(len(MODES))]
    names = [f"w{number + 1}" for number in range(1 + choose(3))]
    later = choose(2)
    actors = {name: writer(name, 2 + (len(names) - place if later else place)) for place, name in enumerate(names)}
    left = [*SERVICES]
    for _ in range(max(choose(3), 2 - len(names))):
        service = left.pop(choose(len(left)))
        operation = OPERATIONS[SERVICES[service]]
        actors[service] = (operation.method, {**operation.given, **({"actor": service} if operation.given else {})})
    faults = {}
    for _ in range(choose(3)):
        faults[[*actors][choose(len(actors))], choose(LATEST_FAULT)] = FAULTS[choose(len(FAULTS))]
    return Cast(before, mode, actors), faults
