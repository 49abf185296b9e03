"""The actions of the model in the calls of one run of Hudi. Besides its changes an action has reads: what they have
found may be changed by others before the action changes the table, unless all of them happen under one lock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .cast import FILE_LOCK, LOCK_FILE, SHORT_WAITS
from .labels import action, label, seen_by_others
from .tables import OPERATIONS, Tables

READS: Final = ("list", "get", "stat")
TAKES, RELEASES = f"put {LOCK_FILE}", f"delete {LOCK_FILE}"


class Shared(NamedTuple):
    """What the changes of all operations concern: labels of objects, and the folders that list them."""

    labels: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def of(cls, runs: Iterable[Sequence[str]]) -> Shared:
        paths = [call.partition(" ")[2] for calls in runs for call in calls if [*seen_by_others([call])]]
        return cls(frozenset(map(label, paths)), frozenset(path.rpartition("/")[0] for path in paths))

    def sees(self, call: str) -> bool:
        """Return whether a call reads what another actor may have changed."""
        verb, _, path = call.partition(" ")
        return verb in READS and (path in self.folders if verb == "list" else label(path) in self.labels)


def groups(operation: str, calls: Iterable[str], shared: Shared) -> dict[str, dict[str, Any]]:
    """Return for each action of an operation its number of changes, and the reads that see others before the changes:
    those without the lock and those under it, each by kind. `calls` are those of a run with a lock file.
    """
    found: dict[str, dict[str, Any]] = {}
    before: Counter[str] = Counter()
    locked: Counter[str] = Counter()
    has_lock = False
    for call in calls:
        has_lock = call == TAKES or (has_lock and call != RELEASES)
        if shared.sees(call):
            (locked if has_lock else before)[call.partition(" ")[0]] += 1
        for change in seen_by_others([call]):
            group = found.setdefault(action(operation, change), {"changes": 0, "before": {}, "locked": {}})
            group["changes"] += 1
            for name, reads in (("before", before), ("locked", locked)):
                group[name] = dict(sorted((Counter(group[name]) + reads).items()))
                reads.clear()
    return found


def recorded_groups(tables: Tables) -> dict[str, dict[str, dict[str, Any]]]:
    """Record a run of each operation with a lock file, and return the groups of its actions."""
    runs: dict[str, list[str]] = {}
    for name in OPERATIONS:
        with tables.copy(name, {**FILE_LOCK, **SHORT_WAITS}) as path:
            runs[name] = tables.run(path, name)["calls"]
    shared = Shared.of(runs.values())
    return {name: groups(name, calls, shared) for name, calls in runs.items()}


def is_atomic(group: Mapping[str, Any]) -> bool:
    """Return whether nothing of others comes between the calls of an action: it has one change, and no read without the
    lock.
    """
    return group["changes"] == 1 and not group["before"]
