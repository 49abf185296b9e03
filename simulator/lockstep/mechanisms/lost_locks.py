"""Locks that are lost without notice: requests and plans take two steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.mechanisms.crashes import LOCK_EXPIRES
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER

from ..mechanism import FAULT, Feature, Lockstep, MappingRow, Runs, impossible
from .decision_log import NOT_IN_HUDI


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the two rows of an actor that takes a time and then puts its plan."""
    kind, plans = runs.kind, runs.begins
    hudi = impossible("Hudi takes a time and puts the plan in one call") if kind is ROLLBACKER else None
    takes = "takes_barrier" if kind is COMPACTOR else "takes_time"
    yield replace(plans, action=f"{kind.name}_{takes}", ends_after="clock.take", hudi=hudi)
    yield MappingRow(
        f"{kind.name}_puts_plan", plans.operation, ends_after=plans.ends_after, raises="Conflict", hudi=hudi
    )


LOCKSTEP = Lockstep(
    features=(
        Feature("locks",
            about="One lock per table, behind one interface: threads, processes, Hudi's lock file and lease, numbered "
                  "files, ZooKeeper.",
            source="RFC-22, concurrency control, options 1 and 2; RFC-91, storage-based lock provider; "
                   "docs/hudi-format.md, Locks",
            model=("compactor_takes_lock", LOCK_EXPIRES, "lock_is_lost"),
            options=("world.lock_losses", "world.crashes"),
            engine=("lock.providers:lock_of", "lock.storage_lock:StorageLock", "lock.numbered:NumberedLock"),
            hudi=("hold", "give_back"), mutants=("lease-is-not-checked", "existing-object-is-ones-own"),
            verdicts=("decision-log", "fenced-store"), promises=("MONO", "SNAP"), trace="31-lost-lock",
            boundary="The default lock of an object store"),
    ),
    rows=(MappingRow("lock_is_lost", FAULT),), refines=refined, hudi_cannot=NOT_IN_HUDI,
)  # fmt: skip
