"""Waits for slower clocks, and times that other actors have claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nbcc.model.mechanisms.clock_waits import Claims

from ..mechanism import Lockstep, MappingRow, Runs


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the rows of an actor that reads its clock and then waits for slower clocks. If another actor has already
    taken that time, the actor reads the clock again.
    """
    kind, publishes = runs.kind.name, runs.publishes
    yield MappingRow(f"{kind}_waits", publishes, ends_after="clock.wait", also=("put claim", "get claim"))
    yield MappingRow(f"{kind}_reads_clock_again", publishes, ends_after="clock.take")
    # the request in two steps
    yield replace(runs.begins, action=f"{kind}_takes_time", ends_after="clock.take", hudi=None)
    yield MappingRow(f"{kind}_puts_request", runs.begins.operation, ends_after=runs.begins.ends_after)
    # only if times are not claimed
    yield MappingRow(f"{kind}_finds_request", runs.begins.operation, raises="Conflict")


LOCKSTEP = Lockstep(
    refines=refined,
    hudi_cannot="Hudi's client takes a time and uses it in one call, under its lock",
    refuses={Claims(claims="none"): "the first of two instants of one time to complete removes the files of the other"},
)
