"""Builds the `Context` of a table, which contains the table's storage, lock, clock and other dependencies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .clock import ONE_CLOCK_MS, SHARED_SKEW_MS, WallClock
from .config import TableConfig
from .config.opening import Listing, OpenOptions
from .context import Context
from .data.jobs import InProcessJobs, Jobs
from .definition import load as definition
from .lock import InProcessLock
from .lock.providers import BETWEEN_MACHINES, UnresolvedLock, lock_of, provider_of
from .names import RandomNames
from .rules import NBCC
from .services.take_over import take_over, taken_config
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def context_of(spark: SparkSession | None, storage: Storage) -> Context:
    """Return the context of a table whose properties have not been read yet. `coordinated` or `with_hudi_rules` adds
    the lock to the context when the table is opened.
    """
    names = RandomNames()
    return Context(storage, UnresolvedLock(), WallClock(), names, _jobs(spark, storage, names), NBCC)


def _jobs(spark: SparkSession | None, storage: Storage, names: RandomNames) -> Jobs:
    if spark is None:
        return InProcessJobs(storage, names)
    from .spark.interpreter import prepare_workers
    from .spark.jobs import SparkJobs

    prepare_workers(spark)
    return SparkJobs(spark, storage, names)


def coordinated(context: Context, config: TableConfig) -> Context:
    """Return the context with the lock, the clock and the commit rule (lock or decision log) that the table's
    properties configure.

    If the table's properties configure no lock provider, the result keeps the lock of `context`.
    """
    agreed = config.coordination
    has_lock = not agreed.lock and not isinstance(context.lock, UnresolvedLock)
    skew = agreed.skew_ms
    if skew is None and not has_lock and provider_of(context.storage, agreed) in BETWEEN_MACHINES:
        skew = SHARED_SKEW_MS
    splits = agreed.requests_without_lock
    clock = context.clock if skew is None and not splits else WallClock(skew or ONE_CLOCK_MS, splits=splits)
    lock = context.lock if has_lock and agreed.decision != "free" else lock_of(context.storage, agreed)
    rules = replace(
        context.rules, decision=agreed.decision, requests=agreed.requests, publication=agreed.publication
    )
    return replace(context, clock=clock, lock=lock, rules=rules, heartbeat_interval=agreed.heartbeat_interval)


def with_hudi_rules(context: Context, config: TableConfig, listing: Listing) -> Context:
    """Return the context for reading a Hudi table under Hudi's rules and without a lock file. `listing` selects how
    readers find data files: by listing folders, from Hudi's metadata table, or by comparing both.

    Hudi's writers do not use nbcc's lock, so an nbcc lock file would have no effect.
    """
    lock = InProcessLock(context.storage.url) if isinstance(context.lock, UnresolvedLock) else context.lock
    return replace(context, rules=replace(config.rules, files=listing), lock=lock)


def taken_over(context: Context, config: TableConfig, options: OpenOptions) -> tuple[Context, TableConfig]:
    """Convert a Hudi table to an nbcc table, and remove its metadata table. Returns the context and the config of the
    nbcc table.
    """
    if not config.own:
        config = taken_config(context, config, options)
        context = coordinated(replace(context, rules=NBCC, lock=UnresolvedLock()), config)
    if config.shared_store and config.weakness is not None:
        config.check_writable()
    take_over(context, config)
    now = definition.open_table(context.storage)
    return context, replace(now, concurrency_mode=config.concurrency_mode, session_time_zone=config.session_time_zone)
