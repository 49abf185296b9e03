"""Runs Hudi's `SparkRDDWriteClient` (the client behind ``df.write.format("hudi")``) step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from .options import DDL, NAMESPACE, RECORD, SCHEMA
from .release import commit_compaction, parsed, record_arguments, start_commit
from .session import (
    causes,
    engine_context,
    hidden,
    hudi,
    items,
    java,
    java_array,
    java_list,
    java_map,
    nothing,
    org,
    scala,
    spark,
)

ACTION = "deltacommit"


@lru_cache(maxsize=8)
def parameters(path: str, *options: tuple[str, str]) -> Any:
    """Return the write options as a Scala map. Missing options have the default values of Hudi's data source."""
    options_map = hudi().HoodieConversionUtils.mapAsScalaImmutableMap(java_map({**dict(options), "path": path}))
    return hudi().HoodieWriterUtils.parametersWithWriteDefaults(options_map)


class Client:
    """A Hudi client with at most one instant in flight."""

    def __init__(self, path: str, options: Mapping[str, str]) -> None:
        self._path = path
        self._options = options
        self._done: Any = None
        self.compacts = False

    @property
    def _parameters(self) -> Any:
        return parameters(self._path, *self._options.items())

    @cached_property
    def hudis(self) -> Any:
        """The Java object of Hudi's client class, created at first use."""
        every = java().util.HashMap(scala().collection.JavaConverters.mapAsJavaMapConverter(self._parameters).asJava())
        return hudi().DataSourceUtils.createHoodieClient(spark()._jsc, SCHEMA, self._path, "t", every)

    def close(self) -> None:
        """Close Hudi's client, which ends its heartbeat."""
        if "hudis" in self.__dict__:
            self.hudis.close()
            del self.__dict__["hudis"]

    # a write

    def start(self) -> str:
        """Take a requested time from Hudi's clock and publish the requested instant."""
        self.instant = start_commit(self.hudis, ACTION)
        return self.instant

    def data(self, rows: Sequence[Sequence[Any]], table_config: Any) -> int:
        """Publish the inflight instant and write the log files. Returns the number of log files written."""
        return self._wrote(self.hudis.upsert(self._records(rows, table_config), self.instant))

    def _wrote(self, written: Any) -> int:
        statuses = items(written.collect())
        if failed := [str(status.getGlobalError()) for status in statuses if status.hasErrors()]:
            raise RuntimeError("; ".join(failed))
        self._done = java_list(status.getStat() for status in statuses)
        return int(self._done.size())

    def bulk(self, rows: Sequence[Sequence[Any]], table_config: Any) -> int:
        """Publish the inflight instant and bulk insert the rows. Returns the number of files written."""
        return self._wrote(self.hudis.bulkInsert(self._records(rows, table_config), self.instant))

    def refused(self) -> None:
        """Check that publishing the completed instant fails with a write conflict, and roll the write back."""
        self._fails_by("HoodieWriteConflictException")
        self.undo()

    def gone(self) -> None:
        """Try to publish the completed instant, which must fail because another client has rolled the write back."""
        self._fails_by("inflight does not exist")
        self.close()

    def _fails_by(self, reason: str) -> None:
        try:
            self.commit()
        except Exception as error:  # Py4J's error: only its causes contain Hudi's reason
            if reason not in causes(error):
                raise
        else:
            raise RuntimeError(f"Hudi has published {self.instant}")

    def undo(self) -> None:
        self.hudis.rollback(self.instant)
        self.close()

    def clean(self) -> None:
        """Run Hudi's clean: roll back failed writes, and delete files that no retained commit needs."""
        self.hudis.clean()
        self.close()

    def archive(self) -> None:
        """Move old instants from the active timeline to the archived one."""
        self.hudis.archive()
        self.close()

    def commit(self) -> None:
        if not self.hudis.commitStats(self.instant, self._done, nothing(), ACTION, java_map({}), nothing()):
            raise RuntimeError(f"commitStats of {self.instant} answered false")
        self.close()

    def _records(self, rows: Sequence[Sequence[Any]], table_config: Any) -> Any:
        schema = parsed(org(), SCHEMA)
        sql = org().apache.spark.sql
        # The ordering value is passed as a string, because Py4J converts a small number to an Integer.
        texts = ([str(each) if type(each) is int else each for each in row] for row in rows)
        values = java_list(sql.RowFactory.create(java_array(row)) for row in texts)
        kinds = sql.types.StructType.fromDDL(DDL.replace("long", "string"))
        frame = spark()._jsparkSession.createDataFrame(values, kinds)
        frame = frame.withColumn("ts", frame.col("ts").cast("long"))
        upsert = hudi().common.model.WriteOperationType.UPSERT
        arguments = [frame, self.hudis.getConfig(), self._parameters, RECORD, NAMESPACE, schema, schema, upsert,
                  self.instant, False, False, False, *record_arguments(table_config)]  # fmt: skip
        # Py4J cannot resolve the name of a Scala case class inside an object.
        loader = java().lang.Thread.currentThread().getContextClassLoader()
        name = "org.apache.hudi.HoodieCreateRecordUtils$createHoodieRecordRddArgs"
        wanted = java().lang.Class.forName(name, True, loader).getConstructors()[0]
        return hudi().HoodieCreateRecordUtils.createHoodieRecordRdd(wanted.newInstance(java_array(arguments)))

    # a rollback of another client's write

    def choose_rollback(self, meta: Any) -> None:
        """Choose the oldest failed write for which no rollback is planned, by the timeline of this moment."""
        service, config = self.hudis.getTableServiceClient(), self.hudis.getConfig()
        failed_times = hidden(service, "getInstantsToRollback", meta, config.getFailedWritesCleanPolicy(), nothing())
        target = min(
            each for each in items(failed_times) if not service.getPendingRollbackInfo(meta, each, True).isPresent()
        )
        instants = items(meta.getCommitsTimeline().getInstants())
        failed = next(each for each in instants if each.requestedTime() == target)
        self._chosen = hudi().table.HoodieSparkTable.create(config, engine_context()), failed

    def plan_rollback(self) -> str:
        """Plan the rollback of the chosen write. As Hudi's cleaner it does not look again whether the write is still
        pending. Returns the requested time of the plan.
        """
        table, failed = self._chosen
        instant = str(self.hudis.createNewInstantTime(True))
        by_markers = self.hudis.getConfig().shouldRollbackUsingMarkers()
        table.scheduleRollback(engine_context(), instant, failed, False, by_markers, False)
        self.close()
        return instant

    def run_rollback(self, meta: Any, instant: str) -> None:
        """Execute a pending rollback plan in one call, in the way that Hudi's cleaner does. If its write has several
        plans, the cleaner executes one of them; this executes the given one.
        """
        service, utils = self.hudis.getTableServiceClient(), hudi().table.action.rollback.RollbackUtils
        pending = items(meta.getActiveTimeline().filterPendingRollbackTimeline().getInstants())
        mine = next(each for each in pending if each.requestedTime() == instant)
        plan = utils.getRollbackPlan(meta, mine)
        target = plan.getInstantToRollback().getCommitTime()
        found = service.getPendingRollbackInfo(meta, target, True)
        if found.get().getRollbackInstant().requestedTime() != instant:
            found = hudi().common.util.Option.of(hudi().common.HoodiePendingRollbackInfo(mine, plan))
        service.rollback(target, found, False, False)
        beats = hudi().client.heartbeat.HeartbeatUtils
        beats.deleteHeartbeatFile(meta.getStorage(), self._path, target, self.hudis.getConfig())
        self.close()

    # a compaction

    def plan(self) -> str | None:
        """Schedule a compaction. Returns the requested time of the plan, or None if Hudi finds no logs to compact."""
        instant = self.hudis.scheduleCompaction(nothing())
        self.close()
        return str(instant.get()) if instant.isPresent() else None

    def compact(self, instant: str) -> None:
        """Put the inflight file of the compaction on the timeline, then write the compaction's base files."""
        self.instant, self.compacts = instant, True
        self._done = self.hudis.compact(instant)
        self._done.getWriteStatuses().collect()

    def commit_compaction(self) -> None:
        commit_compaction(self.hudis, self.instant, self._done, nothing())
        self.close()

    # a log compaction

    def plan_log_compaction(self) -> str | None:
        """Schedule a log compaction. Returns the requested time of the plan, or None if Hudi finds no logs to compact.
        """
        instant = self.hudis.scheduleLogCompaction(nothing())
        self.close()
        return str(instant.get()) if instant.isPresent() else None

    def log_compact(self, instant: str) -> None:
        """Publish the inflight log compaction and write its logs."""
        self.instant, self.compacts = instant, True
        self._done = self.hudis.logCompact(instant)
        self._done.getWriteStatuses().collect()

    def commit_log_compaction(self) -> None:
        self.hudis.commitLogCompaction(self.instant, self._done, nothing())
        self.close()

    # a clustering

    def plan_clustering(self) -> str | None:
        """Schedule a clustering. Returns the requested time of the plan, or None if Hudi finds no files to cluster."""
        instant = self.hudis.scheduleClustering(nothing())
        self.close()
        return str(instant.get()) if instant.isPresent() else None

    def cluster(self, instant: str) -> None:
        """Execute a planned clustering and publish it, in one call of Hudi's client."""
        self.hudis.cluster(instant, True)
        self.close()
