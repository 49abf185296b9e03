"""Hudi's table version 5 as Jack Vanlightly modelled it in TLA+ (github.com/Vanlightly/table-formats-tlaplus).

The model covers copy-on-write tables and commits of single keys, without table services. The model is independent and
has the same steps, so that its sizes can be compared with those of TLC. A writer obtains a timestamp, reads and writes
a slice, checks for conflicts (if optimistic), and commits or fails.

Timestamps may collide (`monotonic = False`), storage may overwrite files (`put_if_absent = False`), and a key may be in
two file groups (`primary_key_check = False`). Instants and files may carry a salt. nbcc's own model has requested and
completion times, log files, services and readers instead, and no rows in the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from nbcc.simulator.explore import Guard, Transition, TransitionSystem

Args = tuple[tuple[str, object], ...]
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

    uniform = True  # `_WriterActions` makes the transitions of every writer, and none prefers a key or a value

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
        writer_actions = (_WriterActions(me, constants, self.keys, values) for me in writers)
        transitions = (each for actions in writer_actions for each in actions.transitions())
        super().__init__(first, transitions, {"writer": writers, "key": self.keys, "value": values})


class _WriterActions:
    def __init__(self, me: str, constants: Constants, keys: tuple[str, ...], values: tuple[str, ...]) -> None:
        self.me, self.constants, self.keys, self.values = me, constants, keys, values

    def transitions(self) -> Iterator[Transition]:
        me, optimistic = self.me, self.constants.concurrency == "optimistic"
        locks = ("table_lock", "group_locks")
        begun = (me, "operations", "clock")
        yield Transition("writer_obtains_timestamp", me, (*begun, "timeline"), begun, self._at("ready"), self._obtains,
                  (Guard("an operation must be left", self._left, limit=True),), self._intentions)  # fmt: skip
        noted = (me, "timeline", *locks)
        yield Transition("writer_requests", me, noted, noted, self._at("request"), self._requests)
        yield Transition("writer_looks_key_up", me, (me, "index", *locks), (me, *locks), self._at("lookup"),
                  self._looks_up, arguments=self._groups)  # fmt: skip
        yield Transition("writer_reads_slice", me, (me, "timeline", "files", *locks), noted, self._at("read"),
                  self._reads, (Guard("the file group must be free", self._group_free),))  # fmt: skip
        put = (me, "files", *locks)
        yield Transition("writer_writes_slice", me, put, put, self._at("write"), self._writes)
        free = (Guard("the table's lock must be free", lambda own, index, lock, groups: lock is None),)
        indexed = (me, "index", *locks)
        yield Transition("writer_updates_index", me, indexed, indexed, self._at("index"), self._indexes,
                  free if optimistic else ())  # fmt: skip
        yield Transition("writer_checks_conflicts", me, noted, (me, *locks), self._at("check"), self._checks)
        done = (me, "timeline", *self.keys, *locks)
        yield Transition("writer_commits", me, done, done, self._at("commit"), self._commits)
        yield Transition("writer_fails", me, (me, *locks), (me, *locks), self._at("commit"),
                  lambda own, *held: (FAILED, *self._freed(own, *held)))  # fmt: skip

    def _at(self, phase: str) -> tuple[Guard, ...]:
        return (Guard(f"{self.me} must be at {phase}", lambda own: own.phase == phase),)

    def _freed(self, own: Writer, table: str | None, groups: tuple[str | None, ...]) -> tuple[Any, Any]:
        """The locks after the writer releases its own. In the phases `request` and `lookup` the writer holds no lock.
        """
        if own.phase in ("request", "lookup"):
            return table, groups
        if self.constants.concurrency == "optimistic" and table == self.me:
            return None, groups
        if self.constants.concurrency == "pessimistic":
            return table, tuple(None if holder == self.me else holder for holder in groups)
        return table, groups

    def _may_put(self, name: tuple[Any, ...], there: frozenset[Any]) -> bool:
        return not self.constants.put_if_absent or all(each[:3] != name for each in there)

    def _left(self, own: Writer, operations: int, *_: Any) -> bool:
        return operations < self.constants.operations

    def _intentions(self, own: Writer, operations: int, clock: int, timeline: Timeline) -> Iterator[Args]:
        newest = max((instant.time for instant in timeline), default=0)
        times = (clock + 1,) if self.constants.monotonic else range(1, newest + 2)
        for key in self.keys:
            for value in self.values:
                for operation in OPERATIONS:
                    for time in times:
                        yield (("key", key), ("value", value), ("operation", operation), ("time", time))

    def _obtains(self, own: Writer, operations: int, clock: int, *_: Any, time: int, **wants: Any) -> tuple[Any, ...]:
        salt = operations if self.constants.salt else -1
        later = max(clock, time) if self.constants.monotonic else clock
        return Writer("request", time, salt=salt, **wants), operations + 1, later

    def _requests(self, own: Writer, timeline: Timeline, *locks: Any) -> tuple[Any, ...]:
        instant = Instant(own.time, "requested", own.salt)
        if not self._may_put(instant.id, timeline):
            return READY, timeline, *self._freed(own, *locks)
        return own._replace(phase="lookup"), _put(timeline, instant), *locks

    def _groups(self, own: Writer, index: frozenset[tuple[str, int]], *_: Any) -> Iterator[Args]:
        known = dict(index).get(own.key)
        return ((("file", file),) for file in range(1, self.constants.file_groups + 1) if known in (None, file))

    def _looks_up(self, own: Writer, index: frozenset[tuple[str, int]], *locks: Any, file: int) -> tuple[Any, ...]:
        known = own.key in dict(index)
        if own.operation == "delete" and not known:
            return READY, *self._freed(own, *locks)
        operation = own.operation if own.operation == "delete" else "update" if known else "insert"
        return own._replace(phase="read", operation=operation, file=file), *locks

    def _group_free(self, own: Writer, timeline: Timeline, files: Files, table: Any, groups: tuple[Any, ...]) -> bool:
        return self.constants.concurrency != "pessimistic" or groups[own.file - 1] is None

    def _reads(self, own: Writer, timeline: Timeline, files: Files, table: Any, groups: Any) -> tuple[Any, ...]:
        done = [each for each in timeline if each.state == "completed" and each.file == own.file]
        newest = max(done, key=lambda each: (each.time, each.salt), default=None)
        merge = next((s for s in files if newest and s[:3] == (own.file, newest.time, newest.salt)), None)
        instant = Instant(own.time, "inflight", own.salt)
        if (merge and merge.time >= own.time) or not self._may_put(instant.id, timeline):
            return READY, timeline, *self._freed(own, table, groups)
        if self.constants.concurrency == "pessimistic":
            groups = tuple(self.me if i + 1 == own.file else holder for i, holder in enumerate(groups))
        return own._replace(phase="write", merge=merge), _put(timeline, instant), table, groups

    def _writes(self, own: Writer, files: Files, *locks: Any) -> tuple[Any, ...]:
        name = (own.file, own.time, own.salt)
        if not self._may_put(name, files):
            return READY, files, *self._freed(own, *locks)
        entries = {key: value for key, value in (own.merge.entries if own.merge else ()) if key != own.key}
        if own.operation != "delete":
            entries[own.key] = own.value
        others = frozenset(each for each in files if each[:3] != name)
        return own._replace(phase="index"), others | {Slice(*name, frozenset(entries.items()))}, *locks

    def _indexes(self, own: Writer, index: frozenset[tuple[str, int]], table: Any, groups: Any) -> tuple[Any, ...]:
        known = dict(index)
        if own.operation == "insert" and self.constants.primary_key_check and known.get(own.key, own.file) != own.file:
            return READY, index, *self._freed(own, table, groups)
        phase = "check" if self.constants.concurrency == "optimistic" else "commit"
        return own._replace(phase=phase), frozenset({**known, own.key: own.file}.items()), self.me, groups

    def _checks(self, own: Writer, timeline: Timeline, *locks: Any) -> tuple[Any, ...]:
        since = own.merge.time if own.merge else 0
        if any(each.state == "completed" and each.file == own.file and each.time > since for each in timeline):
            return READY, *self._freed(own, *locks)
        return own._replace(phase="commit"), *locks

    def _commits(self, own: Writer, timeline: Timeline, *rest: Any) -> tuple[Any, ...]:
        *logs, table, groups = rest
        instant = Instant(own.time, "completed", own.salt, own.file)
        if self._may_put(instant.id, timeline):
            timeline = _put(timeline, instant)
            at = self.keys.index(own.key)
            logs[at] = (*logs[at], (own.time, own.operation, own.value))
        return READY, timeline, *logs, *self._freed(own, table, groups)


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
