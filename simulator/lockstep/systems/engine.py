"""Runs the engine as the system under test. Each operation runs in a thread, which pauses at the end of each segment
(the engine calls of one model action).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.actions import operations
from nbcc.engine.config import TableConfig
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC, SINGLE_WRITER, ConcurrencyMode
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs, Jobs
from nbcc.engine.definition.load import open_table
from nbcc.engine.errors import BadInput, Cleaned, NbccError
from nbcc.engine.file_names import LogName, in_partition, marker
from nbcc.engine.names import bucket_file_id
from nbcc.engine.rules import Rules
from nbcc.model import Protocol, Query, Step, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms import kind_of as kind_of_actor
from nbcc.model.mechanisms.clock_waits import waits
from nbcc.model.mechanisms.clocks import clock_of
from nbcc.model.mechanisms.copy_on_write import is_copy_on_write
from nbcc.model.mechanisms.crashes import LOCK_EXPIRES
from nbcc.model.mechanisms.exactly_once import BatchIds, batch_of
from nbcc.model.mechanisms.foreign_services import ForeignServices
from nbcc.model.mechanisms.late_files import LATE_FILE_LANDS
from nbcc.model.mechanisms.lost_locks import LOCK_IS_LOST, LostLocks
from nbcc.model.mechanisms.occ.conflicts import Occ, Retries
from nbcc.model.mechanisms.partial_updates import column_names
from nbcc.model.mechanisms.queries import QUERIER
from nbcc.model.mechanisms.requests.mechanism import requests_without_lock
from nbcc.model.mechanisms.rollback.heartbeat import HEARTBEAT_EXPIRES
from nbcc.model.mechanisms.schema_evolution.rules import Alterations
from nbcc.model.mechanisms.state_checkpoints import CHECKPOINTER
from nbcc.model.mechanisms.streams import Stream

from ...observables import Batch, refused
from ..control.calls import parsed
from ..control.clock import ReadOnlyClock, instant_of, tick_of
from ..control.conductor import Task
from ..control.footprints import violations, without_later_listings
from ..control.foreign_writer import ForeignStorage
from ..control.harness import Handle, Harness
from ..control.lock import ObserversLock
from ..control.storage import MemoryStorage
from ..mapping import MAPPING, by_action
from ..mechanism import MappingRow
from .cached_jobs import CachedJobs
from .changes import READ_FIRST, change
from .daemon import Daemon
from .engine_hints import without_hints
from .engine_operation import EngineOperation
from .engine_rules import by_their_rules, check_world, rules_of
from .indexed import has_new_keys, inserts_otherwise, put_table, slices_by_key
from .plain_slices import groups_of, partition_number, plain_slices
from .protocol import CannotStep
from .range_operation import RangeOperation, holds_several, without_deletions
from .resized import SHOWN_AS, is_resized, slices_by_range
from .rows import columns_set, from_rows, is_rolled, partition_name, schema_of, table_config, to_table
from .streams import EngineStreams

MODES: Final[dict[str, ConcurrencyMode]] = {"nbcc": NON_BLOCKING, "occ": OPTIMISTIC, "single_writer": SINGLE_WRITER}
"""`concurrency` of the protocol -> the concurrency mode of the table."""

_READS: Final = {"snapshot", "incremental"}
"""Operations that take no time in the model, and so get a read-only clock."""

_THROUGH_CHECKPOINTS: Final = {"snapshot", "as_of"}
"""The reads of a new process that begin at a state checkpoint."""

ALTERS: Final = "alter_schema"
"""The operation whose `columns` are to be added. For others they are those that its actor knew on opening the table."""

DECIDED: Final = {"seen", "ahead", "instants", "at", "window"}
"""Arguments of steps that the schedule decides; the operation does not get them."""

TIMES: Final = {"instant", "after", "until", "time"}
"""Arguments of operations that are times."""

MEMORY: Final = Path("/dev/shm")  # a folder in memory, where the system has one


class EngineSystem:
    """An in-memory table of the engine, on which each operation of an actor runs in a thread. ``rules`` overrides the
    engine rules that are derived from the protocol.
    """

    name = "engine"
    refuses_by_class = True

    def __init__(
        self, world: World, protocol: Protocol, rules: Rules | None = None, harness: Harness | None = None
    ) -> None:
        check_world(world, protocol)
        self.world = world
        self.config = table_config(world, protocol)
        self.harness = harness or Harness(MemoryStorage())
        self.harness.clock.skew = clock_of(world, protocol).wait
        self.harness.clock.in_two = waits(world, protocol)
        self.harness.clock.splits = requests_without_lock(protocol)
        self.protocol = protocol
        self.rules = rules or rules_of(protocol)
        self._rules_of: dict[str, Rules] = {}  # of the actors with a protocol of their own in the world
        self._batches: dict[str, Batch] = {}  # the newest of each actor
        self._foreign: set[str] = set()  # actors that act as services of another engine
        self.rows_by_action: Mapping[str, MappingRow] = by_action(MAPPING)
        self._operations = operations()
        self._tasks: list[Task] = []
        self._cache: dict[str, tuple[int, tuple[Any, ...]]] = {}
        put_table(self.harness.storage, self.config, world)
        self._looking = self.observer_context()
        self._streams = EngineStreams(self._looking, self.config)
        self._daemon = Daemon()

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> EngineOperation:
        if operation not in self._operations:
            raise CannotStep(f"the engine has no operation {operation}; it has {', '.join(self._operations)}")
        run = self._operations[operation].run
        arguments = {name: value for name, value in args.items() if name not in DECIDED}
        added = arguments.pop("columns", 0)
        config = self._opened_by(actor, 0 if operation == ALTERS else added)
        arguments |= {"schema": schema_of(self.world, added)} if operation == ALTERS else {}
        if operation in READ_FIRST:
            run, arguments = change(operation, run, arguments["batch"], self.world, len(self._tasks))
        elif batch := arguments.pop("batch", None):
            config = replace(config, max_log_bytes=1) if is_rolled(batch) else config
            arguments |= self._write_arguments(actor, batch, added)
        if "partitions" in arguments:
            named = (partition_name(number) if self.world.partitions > 1 else "" for number in arguments["partitions"])
            arguments["partitions"] = set(named)
        for name in arguments.keys() & TIMES:
            arguments[name] = instant_of(arguments[name])
        handle = self.harness.start(actor, lambda own: run(self.context(own, operation), config, **arguments))
        if operation in _READS and kind_of_actor(actor) != QUERIER.name:
            handle.clock = ReadOnlyClock(self.harness.clock)
        self._tasks.append(handle.task)
        return self.operation(operation, handle)

    def _write_arguments(self, actor: str, batch: Batch, added: int) -> dict[str, Any]:
        world, number = self.world, self.harness.started(actor) + 1
        arguments: dict[str, Any] = {}
        table, sets = to_table(batch, world, added), columns_set(batch, world)
        if sets is not None:
            arguments["columns"] = sets
            table = table.drop_columns([name for name in column_names(world) if name not in sets])
        arguments["data"] = self.data(table)
        self._batches[actor] = batch
        if groups := world.reads.get((actor, number)):
            arguments["reads"] = {partition_name(group // world.buckets) for group in groups}
        if sent := batch_of(world, actor, number):
            arguments["batch_id"] = f"batch {sent}"
            arguments["replay_difference"] = world.protocol_of(actor, self.protocol)[BatchIds].replay_difference
        if world[Retries].retries and kind_of_actor(actor) == WRITER.name:
            arguments["retries"] = world[Retries].retries
        return arguments

    def fault(self, actor: str, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Apply a fault: a lock expires or is lost, a heartbeat expires, or a late file of a crashed writer appears."""
        if action == LOCK_EXPIRES and self.harness.lock.holder == actor:
            self.harness.lock.expire()
        elif action == LOCK_IS_LOST and self.harness.lock.holder == actor:
            self.harness.lock.lose()
        elif action == HEARTBEAT_EXPIRES and self.harness.heartbeats.began(actor):
            self.harness.heartbeats.expire(actor)
        elif action == LATE_FILE_LANDS:
            self._late_file(actor, **args)
        else:
            raise CannotStep(f"the engine has no fault {action} of {actor}")
        self.harness.step += 1
        return {}

    def _late_file(self, actor: str, group: int, version: int) -> None:
        """Imitate a Spark task that outlives its driver: put a marker and an incomplete data file."""
        puts = [access.path for access in self.harness.accesses if access.actor == actor and access.verb == "put"]
        requested = [name["requested"] for name in map(parsed, puts) if "requested" in name][-1]
        number, bucket = divmod(group, self.world.buckets)
        partition = partition_name(number) if self.config.partition_by else ""
        name = str(LogName(bucket_file_id(bucket), requested, version, "9-9-9"))
        self.harness.storage.put_if_absent(marker(requested, partition, name), b"")
        self.harness.storage.put_if_absent(in_partition(partition, name), b"#HUDI#")

    def stream_step(self, actor: str, action: str, own: Stream) -> Mapping[str, Any]:
        """Perform an action of the model on a Structured Streaming query of the engine. ``own`` is the model's state of
        this query before the step.

        Does nothing in worlds with partial updates or merge functions, because the engine's streaming sink writes only
        complete rows.
        """
        if self.world.custom or column_names(self.world):
            return {}
        try:
            return self._streams.step(actor, action, own)
        except NbccError as error:
            raise CannotStep(f"{action} of {actor} failed: {type(error).__name__}: {error}") from error

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Copy the table to files in a temporary folder, so that readers other than nbcc can read the table."""
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
            folder = Path(name)
            for entry in self.harness.storage.list(""):
                target = folder / entry.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.harness.storage.get(entry.path))
            yield folder

    def complaints(self) -> list[str]:
        """Return a message for each step of the model during which another actor could have seen an intermediate state
        of the table. Worlds with lost locks are not checked, because there a lock does not make steps atomic.
        """
        if self.world[LostLocks].lock_losses:
            return []
        accesses = without_deletions(self.harness.accesses, self.world)
        accesses = without_later_listings(accesses, self.harness.settled_reads)
        if self.rules.completion_time == "outside_lock":  # then a time has its own step
            accesses = [access for access in accesses if access.verb != "clock.take"]
        return violations(without_hints(accesses, self.rules), self.harness.crashed)

    def close(self) -> None:
        """End all operations that are still running, as if their processes had crashed."""
        for task in self._tasks:
            task.crash()

    # The parts of an actor. `SparkSystem` overrides these.

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        return (RangeOperation if holds_several(self.world) else EngineOperation)(self, name, handle)

    def actors_jobs(self, handle: Handle) -> Jobs:
        """Return the job runner that reads and writes data files for an actor. The job runner works in the actor's
        thread and uses the actor's storage.
        """
        return InProcessJobs(handle.storage, handle.names)

    def data(self, table: pa.Table) -> Any:
        """Return a batch of rows in the type that the job runner accepts."""
        return table

    def context(self, handle: Handle, operation: str) -> Context:
        """Return the engine context (storage, lock, clock, jobs, rules) for an operation of an actor."""
        jobs, rules = self.actors_jobs(handle), self._rules_of.get(handle.actor, self.rules)
        storage = ForeignStorage(handle.storage) if handle.actor in self._foreign else handle.storage
        seams = (storage, handle.lock, handle.clock, handle.names, jobs, rules)
        own = self._daemon.commits(handle.actor, operation, storage, len(self.harness.crashed))
        return Context(*seams, own_heartbeats=handle.heartbeats, own_commits=own)

    def _opened_by(self, actor: str, added: int) -> TableConfig:
        own = self.world.protocol_of(actor, self.protocol) if self.world.settings else self.protocol
        if own != self.protocol and self.rules == rules_of(self.protocol):  # else one set of rules is for all
            self._rules_of[actor] = rules_of(own)
        if own[ForeignServices].services == "foreign" and kind_of_actor(actor) == COMPACTOR.name:
            self._foreign.add(actor)
            self._rules_of[actor] = by_their_rules(self.rules)
        mode = MODES[own[Occ].concurrency]
        if mode == NON_BLOCKING and is_copy_on_write(self.world):
            mode = SINGLE_WRITER  # the engine refuses the other mode; neither checks for conflicts
        return replace(self.config, concurrency_mode=mode, schema=schema_of(self.world, added))

    def observer_context(self) -> Context:
        """Return an engine context with which a check observes the table. Its storage and jobs do not pause, and its
        clock is read-only.
        """
        none: Any = None
        clock = ReadOnlyClock(self.harness.clock)
        jobs = CachedJobs(self.harness.storage)
        return Context(self.harness.storage, ObserversLock(), clock, none, jobs, self.rules)

    # Observables: the engine's own operations, executed outside the schedule.

    def timeline(self) -> tuple[Any, ...]:
        return self._cached("timeline", self._timeline)

    def slices(self) -> tuple[Any, ...]:
        return self._cached("slices", self._slices)

    def rows(self, query: Query) -> tuple[Any, ...]:
        arguments = {
            "as_of": {"time": query.until},
            "incremental": {"after": query.after, "until": query.until},
            "changes": {"after": query.after, "until": query.until},
        }.get(query.kind, {})
        times = {name: instant_of(tick) for name, tick in arguments.items() if tick is not None}
        try:
            return from_rows(self.plain(self._look(query.kind, **times)), query)
        except (BadInput, Cleaned) as error:
            return refused(error)

    def plain(self, answer: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = answer.to_pylist()
        return rows

    def _timeline(self) -> tuple[Any, ...]:
        shown = SHOWN_AS if is_resized(self.world) else {}
        return tuple(
            (shown.get(i.action, i.action), i.state, tick_of(i.requested), i.completed and tick_of(i.completed))
            for i in self._look("timeline")
        )

    def slices_as_of(self, time: int) -> tuple[Any, ...]:
        return self._slices(as_of=instant_of(time))

    def _slices(self, **as_of: str) -> tuple[Any, ...]:
        shown = self._look("file_slices", **as_of)
        if has_new_keys(self.world):
            return slices_by_key(self._looking, self.config, shown, self.world, tick_of)
        if is_resized(self.world):
            number = partial(partition_number, self.world)
            return slices_by_range(self._looking, shown, self.world, number, tick_of, **as_of)
        return plain_slices(shown, lambda partition, file_id: self.groups(partition, file_id)[0])

    def _look(self, operation: str, **arguments: Any) -> Any:
        config = self.config
        if self.world[Alterations].alterations:
            opened = open_table(self.harness.storage)
            config = replace(config, schema=opened.schema, schemas=opened.schemas)
        looking = self._looking
        if self.world.actors.get(CHECKPOINTER.name) and operation in _THROUGH_CHECKPOINTS:
            looking = replace(looking)  # a new process: one that has read all commits uses no checkpoint
        return self._operations[operation].run(looking, config, **arguments)

    def _cached(self, name: str, compute: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the result of `compute`, cached under `name` until a stored object changes."""
        changes = getattr(self.harness.storage, "changes", None)
        if changes is None:
            return compute()
        if name not in self._cache or self._cache[name][0] != changes:
            self._cache[name] = (changes, compute())
        return self._cache[name][1]

    def does_otherwise(self, model: Any, state: Any, step: Step) -> bool:
        return inserts_otherwise(model, state, step, self._batches.get(step.actor))

    def groups(self, partition: str, file_id: str) -> list[int]:
        return groups_of(partition, file_id, self.world)
