"""Restores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nbcc.model.mechanisms.restores.mechanism import RESTORER, RESTORER_PLANS_RESTORE

from ..control.conductor import RETURN
from ..mechanism import INSTANT, LOOKS_FOR_ROLLBACKS, Lockstep, MappingRow, Runs, ServiceLabel

IN_ONE_CALL = "Hudi savepoints and restores in one call, by its own rules"


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the rows of an actor whose plan or input a restore has undone."""
    kind, publishes = runs.kind.name, runs.publishes
    yield replace(runs.inflight, action=f"{kind}_finds_plan_gone", ends_after=RETURN, raises="BadInput", hudi=None)
    yield MappingRow(f"{kind}_misses_input", publishes, raises="Conflict")
    yield MappingRow(f"{kind}_is_refused", publishes, ends_after="list.end timeline",
                     also=(*LOOKS_FOR_ROLLBACKS, "lock.release"))  # fmt: skip
    yield MappingRow(f"{kind}_gives_up", publishes, raises="Conflict")


LOCKSTEP = Lockstep(
    service=ServiceLabel("restore"),
    runs=Runs(
        RESTORER,
        begins=MappingRow(RESTORER_PLANS_RESTORE, "schedule_restore", starts=True),
        inflight=MappingRow("restorer_starts_restore", "run_restore", ends_after="put restore.inflight", starts=True,
                            arguments=((INSTANT, "restore"),)),
        publishes="run_restore",
    ),
    # deletes the data files of the instant, then its timeline files
    rows=(MappingRow("restorer_undoes_instant", "run_restore", ends_after="delete.all", also=("delete.all",)),),
    refines=refined,
    hudi_cannot=IN_ONE_CALL,
    traceless="no segment has a restore",
    examples=(("plan-checked-early", "restores_crash"),),
)  # fmt: skip
