"""A Hudi table with its clients: executes the clients' steps, and returns the table's observable state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from .calls import Controlled
from .client import Client
from .locks import served
from .options import DDL, SCHEMA, SMALL, options
from .release import TABLE_VERSION, set_ordering
from .session import hudi, items, java_array, local_context, spark, storage_configuration

LONG_AGO = 1_000_000_000
PATIENCE = 0.03
"""Seconds for which a publication is observed to wait for the lock."""
_READ = "hoodie.datasource.read."
_QUERY = "hoodie.datasource.query.type"
SHOWN = ("id", "ts", "value", "_hoodie_commit_time")
"""The columns of a read."""


class PeerTable:
    """A Hudi table in a folder. Each public method is a step that can be requested by name."""

    def __init__(self, path: str, options: Mapping[str, str], partitions: Sequence[str]) -> None:
        self._path = path
        self._options = options
        self._partitions = partitions
        self._clients: dict[str, Client] = {}
        self._locks: dict[str, Any] = {}
        self._calls: Controlled | None = None

    @classmethod
    def create(
        cls, path: str, merge_mode: str, buckets: int, partitions: Sequence[str], more: Mapping[str, str] | None = None
    ) -> PeerTable:
        """Create a Hudi table. ``more`` contains further write options by name, for example the table version."""
        chosen = options(merge_mode, buckets, more or {})
        version = int(chosen.get("hoodie.write.table.version", TABLE_VERSION))
        mode = hudi().common.config.RecordMergeMode.valueOf(merge_mode)
        builder = hudi().common.table.HoodieTableMetaClient.newTableBuilder()
        builder.setTableType("MERGE_ON_READ").setTableName("t").setTableVersion(version).setRecordMergeMode(mode)
        builder.setRecordKeyFields("id").setPartitionFields("part")
        set_ordering(builder, "ts")
        builder.setKeyGeneratorClassProp("org.apache.hudi.keygen.SimpleKeyGenerator").setTableCreateSchema(SCHEMA)
        builder.setCommitTimezone(hudi().common.model.HoodieTimelineTimeZone.UTC)
        builder.initTable(storage_configuration(), path)
        return cls(path, chosen, partitions)

    @classmethod
    def open(
        cls,
        path: str,
        merge_mode: str = "",
        buckets: int = 0,
        partitions: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
    ) -> PeerTable:
        """Open an existing Hudi table. To read the table, only ``path`` is needed."""
        return cls(path, served(options(merge_mode, buckets, more or {}), path), partitions)

    def close(self) -> None:
        """Close every client, including the clients of dead writers."""
        for client in self._clients.values():
            client.close()

    # Steps of writers and compactors. `actor` names the client.

    def start(self, actor: str) -> str:
        self._clients[actor] = Client(self._path, self._options)
        return self._clients[actor].start()

    def data(self, actor: str, rows: Sequence[Sequence[Any]]) -> int:
        return self._clients[actor].data(rows, self._meta().getTableConfig())

    def bulk(self, actor: str, rows: Sequence[Sequence[Any]]) -> int:
        return self._clients[actor].bulk(rows, self._meta().getTableConfig())

    def write(self, rows: Sequence[Sequence[Any]], operation: str) -> None:
        """Perform a whole write through Hudi's data source: ``df.write.format("hudi")``."""
        frame = spark().createDataFrame([tuple(row) for row in rows], DDL)
        chosen = {**self._options, "hoodie.datasource.write.operation": operation}
        frame.write.format("hudi").options(**chosen).mode("append").save(self._path)

    def write_by_defaults(self, rows: Sequence[Sequence[Any]], columns: str, options: Mapping[str, str]) -> None:
        """Upsert rows through Hudi's data source with the given options and Hudi's defaults. ``columns`` declares the
        table's columns as a Spark DDL string.
        """
        frame = spark().createDataFrame([tuple(row) for row in rows], columns).coalesce(1)
        frame.write.format("hudi").options(**options).mode("append").save(self._path)

    def read_by_defaults(self, columns: Sequence[str]) -> list[list[Any]]:
        """Return the sorted rows of a snapshot read through Hudi's data source with Hudi's defaults (including the
        metadata table).
        """
        frame = spark().read.format("hudi").load(self._path)
        return sorted(list(row) for row in frame.select(*columns).collect())

    def configured(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return the values of write options as Hudi's client uses them, which may differ from the given values."""
        client = Client(self._path, self._options)
        values = client.hudis.getConfig().getProps()
        found = {name: values.getProperty(name) for name in names}
        client.close()
        return found

    def refused(self, actor: str) -> None:
        self._clients[actor].refused()

    def gone(self, actor: str) -> None:
        self._clients[actor].gone()

    def undo(self, actor: str) -> None:
        self._clients[actor].undo()

    def commit(self, actor: str, waits: bool = False) -> None:
        self._publish(actor, self._clients[actor].commit, waits)

    def crash(self, actor: str) -> None:
        """Simulate a crash: close the client, which stops renewing its heartbeat but leaves the heartbeat file.

        The heartbeat of a crashed compaction is made to expire at once, so that other clients can resume the plan.
        """
        if client := self._clients.get(actor):
            client.close()
            if client.compacts:
                self.stall(actor)

    def stall(self, actor: str) -> None:
        """Make the heartbeat file of a client look expired to other clients, although the client is alive and
        continues.
        """
        beat = Path(self._path, ".hoodie", ".heartbeat", self._clients[actor].instant)
        if beat.exists():
            os.utime(beat, (LONG_AGO, LONG_AGO))

    def hold(self, actor: str) -> None:
        config = (self._clients.get(actor) or Client(self._path, self._options)).hudis.getConfig()
        manager = hudi().client.transaction.lock.LockManager(config, self._meta().getStorage())
        manager.lock()
        self._locks[actor] = manager

    def give_back(self, actor: str) -> None:
        """Release the table lock that a client holds."""
        self._locks.pop(actor).unlock()

    def clean(self) -> None:
        """Clean the table with another client. The clean also rolls back writes with expired heartbeats (the LAZY
        policy).
        """
        Client(self._path, self._options).clean()

    def archive(self) -> None:
        Client(self._path, self._options).archive()

    def plan_clustering(self, actor: str) -> str | None:
        return Client(self._path, self._options).plan_clustering()

    def cluster(self, actor: str, instant: str) -> None:
        Client(self._path, self._options).cluster(instant)

    def procedure(self, name: str, parameters: Mapping[str, str]) -> None:
        """Call a SQL procedure of Hudi on the table, for example ``create_savepoint`` or ``rollback_to_savepoint``."""
        arguments = "".join(f", {key} => '{value}'" for key, value in parameters.items())
        # Procedures read the writer's options from the session. Later calls must not see them there.
        for key, value in self._options.items():
            spark().conf.set(key, value)
        try:
            [row] = spark().sql(f"call {name}(path => '{self._path}'{arguments})").collect()
        finally:
            for key in self._options:
                spark().conf.unset(key)
        if row[0] is not True:
            raise RuntimeError(f"{name} answered {row[0]}")

    def plan(self, actor: str) -> str | None:
        return Client(self._path, self._options).plan()

    def compact(self, actor: str, instant: str) -> None:
        self._clients[actor] = Client(self._path, self._options)
        self._clients[actor].compact(instant)

    def commit_compaction(self, actor: str, waits: bool = False) -> None:
        self._publish(actor, self._clients[actor].commit_compaction, waits)

    def plan_log_compaction(self, actor: str) -> str | None:
        return Client(self._path, self._options).plan_log_compaction()

    def log_compact(self, actor: str, instant: str) -> None:
        self._clients[actor] = Client(self._path, self._options)
        self._clients[actor].log_compact(instant)

    def commit_log_compaction(self, actor: str) -> None:
        self._clients[actor].commit_log_compaction()

    def _publish(self, actor: str, publish: Callable[[], None], waits: bool) -> None:
        """Complete a client's instant by calling `publish`. If `waits` is True, check that `publish` waits while
        another client holds the lock.
        """
        if not waits:
            publish()
            return
        self.hold(actor)
        before = self._timeline()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(publish)
            try:
                wait((waiting,), PATIENCE)
                if waiting.done() or self._timeline() != before:
                    raise RuntimeError(f"{actor} published, or gave up, although another client held the lock")
            finally:
                self.give_back(actor)
            waiting.result()

    # Steps of rollbackers.

    def choose_rollback(self, actor: str) -> None:
        client = Client(self._path, self._options)
        client.choose_rollback(self._meta())
        self._clients[actor] = client

    def plan_rollback(self, actor: str) -> str:
        """Plan the rollback of the write that an actor has chosen; without an earlier choice, of one chosen now."""
        if actor not in self._clients:
            self.choose_rollback(actor)
        return self._clients.pop(actor).plan_rollback()

    def run_rollback(self, actor: str, instant: str) -> None:
        Client(self._path, self._options).run_rollback(self._meta(), instant)

    # Whole operations: the calls of several steps in one.

    def upsert(self, actor: str, rows: Sequence[Sequence[Any]]) -> str:
        """Start, write and commit. Returns the requested time."""
        instant = self.start(actor)
        self.data(actor, rows)
        self.commit(actor)
        return instant

    def compaction(self, actor: str) -> str:
        """Plan, run and commit a compaction. Returns the requested time of the plan."""
        instant = self.plan(actor)
        if instant is None:
            raise RuntimeError("Hudi finds no logs to compact")
        self.compact(actor, instant)
        self.commit_compaction(actor)
        return instant

    def rollback(self, actor: str) -> str:
        """Plan and execute the rollback of the oldest failed write. Returns the requested time of the plan."""
        instant = self.plan_rollback(actor)
        self.run_rollback(actor, instant)
        return instant

    # Steps whose storage calls are controlled. `method` names a step, `given` has its arguments.

    def controlled(
        self, actor: str, method: str, given: Mapping[str, Any], number: int = -1, fault: str = "none"
    ) -> dict[str, Any]:
        """Execute a step and return its storage calls. Its call `number` may fail, or end the actor."""
        return self._control().run(actor, number, fault, lambda: getattr(self, method)(**given))

    def launch(self, actor: str, method: str, given: Mapping[str, Any]) -> None:
        """Begin a step whose storage calls wait for answers."""
        self._control().launch(actor, lambda: getattr(self, method)(**given))

    def next(self, actor: str, milliseconds: int = 60_000) -> dict[str, Any]:
        return self._control().next(actor, milliseconds)

    def answer(self, actor: str, fault: str = "") -> None:
        self._control().answer(actor, fault)

    def _control(self) -> Controlled:
        self._calls = self._calls or Controlled(spark(), self._path)
        return self._calls

    # Observation.

    def look(self) -> dict[str, Any]:
        """Return the names of timeline files and data files, and the file slices from Hudi's file-system view."""
        root = Path(self._path)
        data = [path for path in root.rglob("*") if path.is_file() and ".hoodie" not in path.relative_to(root).parts]
        names = sorted(path.relative_to(root).as_posix() for path in data if not path.name.endswith(".crc"))
        return {
            "timeline": self._timeline(),
            "files": [name for name in names if not name.endswith(".hoodie_partition_metadata")],
            "slices": self._slices(),
        }

    def _timeline(self) -> list[str]:
        return sorted(path.name for path in Path(self._path, ".hoodie", "timeline").glob("[0-9]*"))

    def _slices(self) -> list[dict[str, Any]]:
        meta = self._meta()
        timeline = meta.getCommitsAndCompactionTimeline().filterCompletedAndCompactionInstants()
        views = hudi().common.table.view.HoodieTableFileSystemView
        view = views.fileListingBasedFileSystemView(local_context(), meta, timeline)
        slices = []
        for partition in self._partitions:
            for each in items(view.getAllFileSlices(partition)):
                logs = [log.getFileName() for log in items(each.getLogFiles())]
                base = each.getBaseFile()
                name = base.get().getFileName() if base.isPresent() else None
                slices.append({"partition": partition, "file": each.getFileId(), "instant": each.getBaseInstantTime(),
                              "base": name, "logs": logs})  # fmt: skip
        view.close()
        return slices

    def read(
        self, kind: str, after: str | None = None, until: str | None = None, columns: Sequence[str] = SHOWN
    ) -> list[list[Any]]:
        """Run a query, and return its rows. Each row has the values of ``columns``, by default ``[key, ordering, value,
        commit time]``.

        ``kind`` is snapshot, as_of (with ``until``), incremental (with ``after`` and ``until``) or read_optimized.
        """
        kinds: dict[str, dict[str, str | None]] = {
            "snapshot": {},
            "read_optimized": {_QUERY: "read_optimized"},
            "as_of": {"as.of.instant": until},
            "incremental": {_QUERY: "incremental", f"{_READ}begin.instanttime": after or "000",
                            f"{_READ}end.instanttime": until},
        }  # fmt: skip
        # The JVM's own reader: PySpark's searches every jar for a dozen names in each read.
        reader = spark()._jsparkSession.read().format("hudi").option("hoodie.metadata.enable", "false")
        for name, value in {**SMALL, **kinds[kind]}.items():
            if value is not None:
                reader.option(name, value)
        frame = reader.load(self._path).selectExpr(java_array(columns, of="String"))
        return sorted([json.loads(row.json()).get(name) for name in columns] for row in items(frame.collectAsList()))

    def _meta(self) -> Any:
        builder = hudi().common.table.HoodieTableMetaClient.builder()
        return builder.setConf(storage_configuration()).setBasePath(self._path).build()
