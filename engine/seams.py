"""What a table is opened with: the storage, lock, clock, names and jobs that its operations go through."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .clock import SHARED_SKEW_MS, WallClock
from .config import TableConfig
from .context import Context
from .jobs import InProcessJobs, Jobs
from .lock import BetweenProcesses, InProcessLock, table_lock
from .lock.providers import BETWEEN_MACHINES, lock_of
from .names import RandomNames
from .rules import NBCC
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def context_of(spark: SparkSession | None, storage: Storage) -> Context:
    """The seams of a table in this process, with the widest lock there is for it."""
    names = RandomNames()
    return Context(storage, table_lock(storage.url), WallClock(), names, _jobs(spark, storage, names), NBCC)


def _jobs(spark: SparkSession | None, storage: Storage, names: RandomNames) -> Jobs:
    if spark is None:
        return InProcessJobs(storage, names)
    from .spark.interpreter import check_workers
    from .spark.jobs import SparkJobs

    check_workers(spark)
    return SparkJobs(spark, storage, names)


def coordinated(context: Context, config: TableConfig) -> Context:
    """The seams by which the writers of this table keep out of each other's way."""
    agreed = config.coordination
    skew = SHARED_SKEW_MS if agreed.skew_ms is None and agreed.lock in BETWEEN_MACHINES else agreed.skew_ms
    clock = context.clock if skew is None else WallClock(skew)
    lock = lock_of(context.storage, agreed) if agreed.lock else context.lock
    return replace(context, clock=clock, lock=lock, rules=replace(context.rules, decision=agreed.decision))


def as_a_guest(context: Context, config: TableConfig) -> Context:
    """The seams by which a table is read that is not ours: by Hudi's rules, whatever `context` says.

    Nobody who writes such a table takes our lock, and a lock file would be a stranger in it.
    """
    lock = InProcessLock(context.storage.url) if isinstance(context.lock, BetweenProcesses) else context.lock
    return replace(context, rules=config.rules, lock=lock)
