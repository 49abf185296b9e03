"""Hudi's table version 5 as Jack Vanlightly modelled it in TLA+ (github.com/Vanlightly/table-formats-tlaplus).

The model covers copy-on-write tables and commits of single keys, without table services. The model is independent and
has the same steps, so that its sizes can be compared with those of TLC. A writer obtains a timestamp, reads and writes
a slice, checks for conflicts (if optimistic), and commits or fails.

Timestamps may collide (`monotonic = False`), storage may overwrite files (`put_if_absent = False`), and a key may be in
two file groups (`primary_key_check = False`). Instants and files may carry a salt. nbcc's own model has requested and
completion times, log files, services and readers instead, and no rows in the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from nbcc.model.machine import Args, Guard, Transition, TransitionSystem, transition

Entries = frozenset[tuple[str, str]]
OPERATIONS = ("upsert", "delete")


class Instant(NamedTuple):
    """`file` is the file group of a completed instant, and 0 for other instants."""

    time: int
    state: Literal["requested", "inflight", "completed"]
    salt: int
    file: int = 0

    @property
    def id(self) -> tuple[int, str, int]:
        """The components of the instant's file name."""
        return self[:3]


class Slice(NamedTuple):
    """One file slice, whose name consists of file group, time and salt."""

    file: int
    time: int
    salt: int
    entries: Entries


class Writer(NamedTuple):
    """The state of a writer. A writer is READY between operations, and FAILED after a failure."""

    phase: str
    time: int = 0
    operation: str = ""
    key: str = ""
    value: str = ""
    salt: int = -1
    file: int = 0
    merge: Slice | None = None


READY, FAILED = Writer("ready"), Writer("failed")
Timeline = frozenset[Instant]
Files = frozenset[Slice]
Index = frozenset[tuple[str, int]]
Log = tuple[tuple[int, str, str], ...]
Lock = str | None
Locks = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The constants of the published model, under descriptive names."""

    writers: int = 2
    keys: int = 2
    values: int = 2
    file_groups: int = 1
    operations: int = 3
    monotonic: bool = True
    concurrency: Literal["none", "optimistic", "pessimistic"] = "optimistic"
    primary_key_check: bool = True
    put_if_absent: bool = False
    salt: bool = False


class HudiV5(TransitionSystem):
    """The model under some constants. Writers begin at most `operations` operations."""

    uniform = True  # every writer has the same transitions, and none prefers a key or a value

    def __init__(self, constants: Constants | None = None) -> None:
        constants = constants or Constants()
        self.constants = constants
        writers = tuple(f"w{i + 1}" for i in range(constants.writers))
        self.keys = tuple(f"k{i + 1}" for i in range(constants.keys))
        # Each value has an empty component, so that the search can exchange values like keys and writers.
        values = tuple(f"v{i + 1}" for i in range(constants.values))
        first: dict[str, Any] = {
            **dict.fromkeys(writers, READY), **dict.fromkeys(self.keys, ()), **dict.fromkeys(values, ()),
            "clock": 0, "operations": 0, "table_lock": None, "group_locks": (None,) * constants.file_groups,
            "index": frozenset(), "timeline": frozenset(), "files": frozenset(),
        }  # fmt: skip
        actions = _WriterActions(constants, self.keys, values)
        transitions = (each for me in writers for each in actions.transitions(me))
        super().__init__(first, transitions, {"writer": writers, "key": self.keys, "value": values})

    def identity(self) -> Any:
        """Return the constants, which determine every run."""
        return type(self).__qualname__, self.constants


class _WriterActions:
    """Guards and effects of all writers. The parameters name what each of them reads."""

    def __init__(self, constants: Constants, keys: tuple[str, ...], values: tuple[str, ...]) -> None:
        self.constants, self.keys, self.values = constants, keys, values

    def transitions(self, me: str) -> Iterator[Transition]:
        left = Guard("an operation must be left", self._left, limit=True)
        yield transition("writer_obtains_timestamp", me, guards=(_at("ready"), left), effect=self._obtains,
                         changes=("own", "operations", "clock"), arguments=self._intentions)  # fmt: skip
        locks = ("own", "table_lock", "group_locks")
        noted, put, indexed = (*locks, "timeline"), (*locks, "files"), (*locks, "index")
        yield transition("writer_requests", me, guards=(_at("request"),), effect=self._requests, changes=noted)
        yield transition("writer_looks_key_up", me, guards=(_at("lookup"),), effect=self._looks_up, changes=locks,
                         arguments=self._groups)  # fmt: skip
        group = Guard("the file group must be free", self._group_free)
        yield transition("writer_reads_slice", me, guards=(_at("read"), group), effect=self._reads, changes=noted)
        yield transition("writer_writes_slice", me, guards=(_at("write"),), effect=self._writes, changes=put)
        free = Guard("the table's lock must be free", lambda table_lock: table_lock is None)
        guards = (_at("index"), free) if self.constants.concurrency == "optimistic" else (_at("index"),)
        yield transition("writer_updates_index", me, guards=guards, effect=self._indexes, changes=indexed)
        yield transition("writer_checks_conflicts", me, guards=(_at("check"),), effect=self._checks, changes=locks)
        yield transition("writer_commits", me, guards=(_at("commit"),), effect=self._commits,
                         changes=(*noted, *self.keys))  # fmt: skip
        yield transition("writer_fails", me, guards=(_at("commit"),), effect=self._fails, changes=locks)

    def _ends(self, me: str, own: Writer, table_lock: Lock, group_locks: Locks, to: Writer = READY) -> dict[str, Any]:
        """The writer ends its operation and releases its locks. In the phases `request` and `lookup` it holds none."""
        if own.phase not in ("request", "lookup"):
            if self.constants.concurrency == "optimistic" and table_lock == me:
                table_lock = None
            if self.constants.concurrency == "pessimistic":
                group_locks = tuple(None if holder == me else holder for holder in group_locks)
        return {"own": to, "table_lock": table_lock, "group_locks": group_locks}

    def _may_put(self, name: tuple[Any, ...], there: frozenset[Any]) -> bool:
        return not self.constants.put_if_absent or all(each[:3] != name for each in there)

    def _left(self, operations: int) -> bool:
        return operations < self.constants.operations

    def _intentions(self, clock: int, timeline: Timeline) -> Iterator[Args]:
        newest = max((instant.time for instant in timeline), default=0)
        times = (clock + 1,) if self.constants.monotonic else range(1, newest + 2)
        for key in self.keys:
            for value in self.values:
                for operation in OPERATIONS:
                    for time in times:
                        yield (("key", key), ("value", value), ("operation", operation), ("time", time))

    def _obtains(
        self, operations: int, clock: int, *, key: str, value: str, operation: str, time: int
    ) -> dict[str, Any]:
        salt = operations if self.constants.salt else -1
        later = max(clock, time) if self.constants.monotonic else clock
        own = Writer("request", time, operation, key, value, salt)
        return {"own": own, "operations": operations + 1, "clock": later}

    def _requests(
        self, me: str, own: Writer, timeline: Timeline, table_lock: Lock, group_locks: Locks
    ) -> dict[str, Any]:
        instant = Instant(own.time, "requested", own.salt)
        if not self._may_put(instant.id, timeline):
            return self._ends(me, own, table_lock, group_locks)
        return {"own": own._replace(phase="lookup"), "timeline": _put(timeline, instant)}

    def _groups(self, own: Writer, index: Index) -> Iterator[Args]:
        known = dict(index).get(own.key)
        return ((("file", file),) for file in range(1, self.constants.file_groups + 1) if known in (None, file))

    def _looks_up(
        self, me: str, own: Writer, index: Index, table_lock: Lock, group_locks: Locks, *, file: int
    ) -> dict[str, Any]:
        known = own.key in dict(index)
        if own.operation == "delete" and not known:
            return self._ends(me, own, table_lock, group_locks)
        operation = own.operation if own.operation == "delete" else "update" if known else "insert"
        return {"own": own._replace(phase="read", operation=operation, file=file)}

    def _group_free(self, own: Writer, group_locks: Locks) -> bool:
        return self.constants.concurrency != "pessimistic" or group_locks[own.file - 1] is None

    def _reads(
        self, me: str, own: Writer, timeline: Timeline, files: Files, table_lock: Lock, group_locks: Locks
    ) -> dict[str, Any]:
        done = [each for each in timeline if each.state == "completed" and each.file == own.file]
        newest = max(done, key=lambda each: (each.time, each.salt), default=None)
        merge = next((s for s in files if newest and s[:3] == (own.file, newest.time, newest.salt)), None)
        instant = Instant(own.time, "inflight", own.salt)
        if (merge and merge.time >= own.time) or not self._may_put(instant.id, timeline):
            return self._ends(me, own, table_lock, group_locks)
        if self.constants.concurrency == "pessimistic":
            group_locks = tuple(me if i + 1 == own.file else holder for i, holder in enumerate(group_locks))
        reading = own._replace(phase="write", merge=merge)
        return {"own": reading, "timeline": _put(timeline, instant), "group_locks": group_locks}

    def _writes(self, me: str, own: Writer, files: Files, table_lock: Lock, group_locks: Locks) -> dict[str, Any]:
        name = (own.file, own.time, own.salt)
        if not self._may_put(name, files):
            return self._ends(me, own, table_lock, group_locks)
        entries = {key: value for key, value in (own.merge.entries if own.merge else ()) if key != own.key}
        if own.operation != "delete":
            entries[own.key] = own.value
        others = frozenset(each for each in files if each[:3] != name)
        written = Slice(*name, frozenset(entries.items()))
        return {"own": own._replace(phase="index"), "files": others | {written}}

    def _indexes(self, me: str, own: Writer, index: Index, table_lock: Lock, group_locks: Locks) -> dict[str, Any]:
        known = dict(index)
        if own.operation == "insert" and self.constants.primary_key_check and known.get(own.key, own.file) != own.file:
            return self._ends(me, own, table_lock, group_locks)
        phase = "check" if self.constants.concurrency == "optimistic" else "commit"
        entries = frozenset({**known, own.key: own.file}.items())
        return {"own": own._replace(phase=phase), "index": entries, "table_lock": me}

    def _checks(self, me: str, own: Writer, timeline: Timeline, table_lock: Lock, group_locks: Locks) -> dict[str, Any]:
        since = own.merge.time if own.merge else 0
        if any(each.state == "completed" and each.file == own.file and each.time > since for each in timeline):
            return self._ends(me, own, table_lock, group_locks)
        return {"own": own._replace(phase="commit")}

    def _commits(
        self,
        me: str,
        own: Writer,
        timeline: Timeline,
        every_key: Mapping[str, Log],
        table_lock: Lock,
        group_locks: Locks,
    ) -> dict[str, Any]:
        instant = Instant(own.time, "completed", own.salt, own.file)
        ended = self._ends(me, own, table_lock, group_locks)
        if not self._may_put(instant.id, timeline):
            return ended
        log = (*every_key[own.key], (own.time, own.operation, own.value))
        return {**ended, "timeline": _put(timeline, instant), own.key: log}

    def _fails(self, me: str, own: Writer, table_lock: Lock, group_locks: Locks) -> dict[str, Any]:
        return self._ends(me, own, table_lock, group_locks, FAILED)


def _at(phase: str) -> Guard:
    return Guard(f"{{me}} must be at {phase}", lambda own: own.phase == phase)


def _put(timeline: Timeline, instant: Instant) -> Timeline:
    return frozenset(each for each in timeline if each.id != instant.id) | {instant}


def _readable(system: HudiV5, state: int, time: int) -> Iterator[Slice]:
    """Return the slices that a read at a time uses: in each file group, the slice of the newest instant."""
    done = [each for each in system.component(state, "timeline") if each.state == "completed" and each.time <= time]
    files = {each[:3]: each for each in system.component(state, "files")}
    for instant in done:
        if not any(other.file == instant.file and other.time > instant.time for other in done):
            yield files[instant.file, instant.time, instant.salt]


def read_is_consistent(system: HudiV5, before: Any, step: Any, after: int) -> str | None:
    """ConsistentRead: at every time, each key has the value of the last commit up to that time, in commit order."""
    newest = max((instant.time for instant in system.component(after, "timeline")), default=0)
    for time in range(1, newest + 1):
        shown = list(_readable(system, after, time))
        for key in system.keys:
            should = None
            for at, operation, value in system.component(after, key):
                if at <= time:
                    should = None if operation == "delete" else value
            found = {value for each in shown for held, value in each.entries if held == key}
            if found != ({should} if should else set()):
                return f"at {time} {key} reads {' and '.join(sorted(found)) or 'nothing'}, not {should or 'nothing'}"
    return None


def no_key_twice(system: HudiV5, before: Any, step: Any, after: int) -> str | None:
    """NoDuplicateKeysAcrossFiles: no key is in committed slices of two file groups."""
    done = {(i.file, i.time, i.salt) for i in system.component(after, "timeline") if i.state == "completed"}
    shown = [each for each in system.component(after, "files") if each[:3] in done]
    held = {(key, each.file) for each in shown for key, _ in each.entries}
    twice = sorted(key for key in system.keys if sum(at == key for at, _ in held) > 1)
    return f"{twice[0]} is in two file groups" if twice else None


@dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant of the published model as a promise of the search."""

    name: str
    holds: Any
    kind: str = "state"

    @staticmethod
    def sometimes(system: HudiV5, state: int) -> bool:
        """True if a write was committed."""
        return any(system.component(state, key) for key in system.keys)

    @staticmethod
    def reads(system: HudiV5) -> tuple[str, ...]:
        """Return the components that both invariants read."""
        return ("timeline", "files", *system.keys)


INVARIANTS = (Invariant("ConsistentRead", read_is_consistent), Invariant("NoDuplicateKeysAcrossFiles", no_key_twice))
HudiV5.promises = INVARIANTS


def four_operations() -> HudiV5:
    """Return the model with four operations (1,486,597 states), for `nbcc explore examples.hudi_v5:four_operations`."""
    return HudiV5(Constants(operations=4))
