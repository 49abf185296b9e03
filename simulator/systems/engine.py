"""Our engine under control: its operations in actor threads, stopped where the mapping says a model action ends."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.actions import operations
from nbcc.engine.config import TableConfig, to_properties
from nbcc.engine.config.concurrency import NON_BLOCKING, OPTIMISTIC, SINGLE_WRITER, ConcurrencyMode
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.context import Context
from nbcc.engine.data.jobs import InProcessJobs, Jobs
from nbcc.engine.definition.load import PROPERTIES, open_table
from nbcc.engine.errors import Cleaned
from nbcc.engine.file_names import LogName, in_partition, marker
from nbcc.engine.names import bucket_file_id, bucket_of
from nbcc.engine.rules import Rules
from nbcc.model import Protocol, Query, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.mechanisms import kind_of as kind_of_actor
from nbcc.model.mechanisms.added_columns.options import Alterations
from nbcc.model.mechanisms.batches import Batches, batch_of
from nbcc.model.mechanisms.clock_waits import waits
from nbcc.model.mechanisms.clocks import clock_of
from nbcc.model.mechanisms.copy_on_write import is_copy_on_write
from nbcc.model.mechanisms.foreign_services import ForeignServices
from nbcc.model.mechanisms.lost_locks import LostLocks
from nbcc.model.mechanisms.occ.options import Occ, Retries
from nbcc.model.mechanisms.partial_updates.mechanism import column_names

from ..control.calls import kind_of, parsed
from ..control.clock import ReadOnlyClock, instant_of, tick_of
from ..control.conductor import Task
from ..control.footprints import Access, violations
from ..control.foreign_writer import foreign_storage
from ..control.harness import Handle, Harness
from ..control.storage import MemoryStorage
from ..crosscheck.mapping import MAPPING, MappingRow, by_action
from ..crosscheck.observables import Batch, refused
from .cached_jobs import CachedJobs
from .engine_operation import EngineOperation
from .engine_rules import by_their_rules, check_world, rules_of
from .protocol import CannotStep
from .rows import columns_set, from_rows, is_rolled, partition_name, schema_of, table_config, to_table

MODES: Final[dict[str, ConcurrencyMode]] = {"nbcc": NON_BLOCKING, "occ": OPTIMISTIC, "single_writer": SINGLE_WRITER}
"""Hudi's words for the ways in which writers get along."""

_READS: Final = {"snapshot", "incremental"}
"""Operations that look at the clock at most: a time that they took would be one that the model does not hand out."""

ALTERS: Final = "alter_schema"
"""The operation that is given columns to add; others are given how many their actor knew when it opened the table."""

DECIDED: Final = {"seen", "ahead", "instants"}
"""What the step decides, not who asks for the operation."""

MEMORY: Final = Path("/dev/shm")  # a folder in memory, where the system has one


class EngineSystem:
    """A table in memory, its actors in threads. ``rules`` are the engine's where they differ from the protocol's."""

    name = "engine"

    def __init__(
        self,
        world: World,
        protocol: Protocol,
        rules: Rules | None = None,
        mapping: Sequence[MappingRow] = MAPPING,
        harness: Harness | None = None,
    ) -> None:
        check_world(world)
        self.world = world
        self.config = table_config(world, protocol)
        self.harness = harness or Harness(MemoryStorage())
        self.harness.clock.skew = clock_of(world, protocol).wait
        self.harness.clock.in_two = waits(world, protocol)
        self.protocol = protocol
        self.rules = rules or rules_of(protocol)
        self._rules_of: dict[str, Rules] = {}  # of actors for which the world says so
        self._foreign: set[str] = set()  # of them the services of another engine
        self.rows_by_action: Mapping[str, MappingRow] = by_action(mapping)
        self._operations = operations()
        self._tasks: list[Task] = []
        self._cache: dict[str, tuple[int, tuple[Any, ...]]] = {}
        self.harness.storage.put_if_absent(PROPERTIES, encode_properties(to_properties(self.config)))
        self._looking = self.nobodys_context()

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> EngineOperation:
        if operation not in self._operations:
            raise CannotStep(f"the engine has no operation {operation}; it has {', '.join(self._operations)}")
        run = self._operations[operation].run
        arguments = {name: value for name, value in args.items() if name not in DECIDED}
        added = arguments.pop("columns", 0)
        config = self._opened_by(actor, 0 if operation == ALTERS else added)
        if operation == ALTERS:
            arguments["schema"] = schema_of(self.world, added)
        if batch := arguments.pop("batch", None):
            config = replace(config, max_log_bytes=1) if is_rolled(batch) else config
            arguments |= self._written(actor, batch, added)
        if "partitions" in arguments:
            named = (partition_name(number) if self.world.partitions > 1 else "" for number in arguments["partitions"])
            arguments["partitions"] = set(named)
        for name in arguments.keys() & {"instant", "after"}:
            arguments[name] = instant_of(arguments[name])
        handle = self.harness.start(actor, lambda own: run(self.context(own), config, **arguments))
        if operation in _READS:
            handle.clock = ReadOnlyClock(self.harness.clock)
        self._tasks.append(handle.task)
        return self.operation(operation, handle)

    def _written(self, actor: str, batch: Batch, added: int) -> dict[str, Any]:
        """What an actor gives with its next write: the rows, and what it says of them."""
        world, number = self.world, self.harness.started(actor) + 1
        given: dict[str, Any] = {}
        table, sets = to_table(batch, world, added), columns_set(batch, world)
        if sets is not None:
            given["columns"] = sets
            table = table.drop_columns([name for name in column_names(world) if name not in sets])
        given["data"] = self.data(table)
        if groups := world.reads.get((actor, number)):
            given["reads"] = {partition_name(group // world.buckets) for group in groups}
        if sent := batch_of(world, actor, number):
            given["batch_id"] = f"batch {sent}"
            given["replay_difference"] = world.protocol_of(actor, self.protocol)[Batches].replay_difference
        if world[Retries].retries:
            given["retries"] = world[Retries].retries
        return given

    def fault(self, actor: str, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """A lock is free again, its holder dead or not; a heartbeat has stopped; a file of a dead writer lands."""
        if action == "lock_expires" and self.harness.lock.holder == actor:
            self.harness.lock.expire()
        elif action == "lock_is_lost" and self.harness.lock.holder == actor:
            self.harness.lock.lose()
        elif action == "heartbeat_expires" and self.harness.heartbeats.began(actor):
            self.harness.heartbeats.expire(actor)
        elif action == "late_file_lands":
            self._late_file(actor, **args)
        else:
            raise CannotStep(f"the engine has no fault {action} of {actor}")
        self.harness.step += 1
        return {}

    def _late_file(self, actor: str, group: int, version: int) -> None:
        """A marker and a torn file, as a task leaves them that goes on where its driver has died."""
        puts = [access.path for access in self.harness.accesses if access.actor == actor and access.verb == "put"]
        requested = [name["requested"] for name in map(parsed, puts) if "requested" in name][-1]
        number, bucket = divmod(group, self.world.buckets)
        partition = partition_name(number) if self.config.partition_by else ""
        name = str(LogName(bucket_file_id(bucket), requested, version, "9-9-9"))
        self.harness.storage.put_if_absent(marker(requested, partition, name), b"")
        self.harness.storage.put_if_absent(in_partition(partition, name), b"#HUDI#")

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """The table as files, for readers of their own, as long as the context lasts."""
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
            folder = Path(name)
            for entry in self.harness.storage.list(""):
                target = folder / entry.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.harness.storage.get(entry.path))
            yield folder

    def complaints(self) -> list[str]:
        """Segments of the history that others could have seen half done.

        Where a lock can be lost nothing is atomic for the others; there the model itself takes the steps apart that
        matter, and what is left together (a requested time and its file) no promise rests on.
        """
        if self.world[LostLocks].lock_losses:
            return []
        accesses = self.harness.accesses
        if self.rules.completion_time == "outside_lock":  # then nobody expects a time to be taken with anything else
            accesses = [access for access in accesses if access.verb != "clock.take"]
        if self.rules.decision == "log":  # a look at the log, and at what it decided, is but a hint: the put decides
            accesses = [access for access in accesses if not _is_hint(access)]
        return violations(accesses, self.harness.crashed)

    def close(self) -> None:
        """Unwind whatever is still running."""
        for task in self._tasks:
            task.crash()

    # what an actor is given; another runner of the data phase overrides these

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        """The steps of an operation that has been set up."""
        return EngineOperation(self, name, handle)

    def actors_jobs(self, handle: Handle) -> Jobs:
        """The runner of an actor's data phase: in the actor's own thread, every file a call of its storage."""
        return InProcessJobs(handle.storage, handle.names)

    def data(self, table: pa.Table) -> Any:
        """A batch in the runner's own kind of rows."""
        return table

    def context(self, handle: Handle) -> Context:
        """All that an operation of an actor is given."""
        jobs, rules = self.actors_jobs(handle), self._rules_of.get(handle.actor, self.rules)
        storage = foreign_storage(handle.storage) if handle.actor in self._foreign else handle.storage
        seams = (storage, handle.lock, handle.clock, handle.names, jobs, rules)
        return Context(*seams, own_heartbeats=handle.heartbeats)

    def _opened_by(self, actor: str, added: int) -> TableConfig:
        """The table as an actor has opened it, who may have settings of its own, when so many columns were added."""
        own = self.world.protocol_of(actor, self.protocol) if self.world.settings else self.protocol
        if own != self.protocol and self.rules == rules_of(self.protocol):  # else all go by the rules that were given
            self._rules_of[actor] = rules_of(own)
        if own[ForeignServices].services == "foreign" and kind_of_actor(actor) == COMPACTOR.name:
            self._foreign.add(actor)
            self._rules_of[actor] = by_their_rules(self.rules)
        mode = MODES[own[Occ].concurrency]
        if mode == NON_BLOCKING and is_copy_on_write(self.world):
            mode = SINGLE_WRITER  # the engine refuses the other; neither looks at anybody
        return replace(self.config, concurrency_mode=mode, schema=schema_of(self.world, added))

    def nobodys_context(self) -> Context:
        """For the harness's own reads: real storage and jobs, a clock that stands still, and nothing else."""
        none: Any = None
        clock = ReadOnlyClock(self.harness.clock)
        return Context(self.harness.storage, none, clock, none, CachedJobs(self.harness.storage), self.rules)

    # what can be observed: the same operations, by nobody in particular

    def timeline(self) -> tuple[Any, ...]:
        return self._remembered("timeline", self._timeline)

    def slices(self) -> tuple[Any, ...]:
        return self._remembered("slices", self._slices)

    def rows(self, query: Query) -> tuple[Any, ...]:
        arguments = {
            "as_of": {"time": query.until},
            "incremental": {"after": query.after, "until": query.until},
            "changes": {"after": query.after, "until": query.until},
        }.get(query.kind, {})
        times = {name: instant_of(tick) for name, tick in arguments.items() if tick is not None}
        try:
            return from_rows(self.plain(self._look(query.kind, **times)), query)
        except Cleaned as error:
            return refused(error)

    def plain(self, answer: Any) -> list[dict[str, Any]]:
        """The rows of an answer."""
        rows: list[dict[str, Any]] = answer.to_pylist()
        return rows

    def _timeline(self) -> tuple[Any, ...]:
        return tuple(
            (i.action, i.state, tick_of(i.requested), None if i.completed is None else tick_of(i.completed))
            for i in self._look("timeline")
        )

    def slices_as_of(self, time: int) -> tuple[Any, ...]:
        """The same, as they were at a time."""
        return self._slices(as_of=instant_of(time))

    def _slices(self, **as_of: str) -> tuple[Any, ...]:
        found = []
        for slice_ in self._look("file_slices", **as_of):
            base = None if slice_.base is None else tick_of(slice_.base.requested)
            barrier = None if slice_.barrier is None else tick_of(slice_.barrier)
            logs = tuple((tick_of(log.requested), log.version) for log in slice_.logs)
            found.append((self.group(slice_.partition, slice_.file_id), barrier, base, logs))
        return tuple(sorted(found, key=lambda entry: (entry[0], entry[1] or 0)))

    def _look(self, operation: str, **arguments: Any) -> Any:
        config = self.config
        if self.world[Alterations].alterations:
            opened = open_table(self.harness.storage)
            config = replace(config, schema=opened.schema, schemas=opened.schemas)
        return self._operations[operation].run(self._looking, config, **arguments)

    def _remembered(self, name: str, compute: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What depends on stored objects alone is computed anew only when one was put or deleted."""
        changes = getattr(self.harness.storage, "changes", None)
        if changes is None:
            return compute()
        if name not in self._cache or self._cache[name][0] != changes:
            self._cache[name] = (changes, compute())
        return self._cache[name][1]

    def group(self, partition: str, file_id: str) -> int:
        """The number of a file group."""
        bucket = bucket_of(file_id)
        assert bucket is not None, f"{file_id} is no bucket"
        names = [partition_name(number) for number in range(self.world.partitions)]
        return (names.index(partition) if partition else 0) * self.world.buckets + bucket


def _is_hint(access: Access) -> bool:
    looks = access.verb != "put" and kind_of(access.path.rstrip("/") + "/") == "decision"
    return looks or (access.verb == "get" and access.outcome == "missing")
