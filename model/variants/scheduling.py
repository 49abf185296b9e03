"""The options of compaction planning: when a plan may be made, and which logs it includes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..kernel.compactor import COMPACTOR, COMPACTOR_SCHEDULES_PLAN
from ..kernel.table import Write
from ..kernel.timeline import COMPLETED_TABLE
from ..kernel.writer import Writer
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Guard
from ..protocol import Protocol
from ..rules import Rules
from .slicing import table_with_unpublished


class Scheduling(Options):
    """The options that decide when a compaction may be planned, and which logs the plan includes."""

    scheduling: Literal["non_serial", "serial"] = option(
        "non_serial",
        "non_serial: a plan may be made while writers write; serial: only while no writer writes",
        by=(COMPACTOR.name,),
    )
    plan_takes: Literal["completed_before_barrier", "any_log"] = option(
        "completed_before_barrier",
        "completed_before_barrier: a plan takes logs that completed before its barrier; any_log: every log file that "
        "it finds",
        by=(COMPACTOR.name,),
    )


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for planning. With `plan_takes = any_log`, a plan includes every log."""
    return (PlansTakeAnyLog,) if protocol[Scheduling].plan_takes == "any_log" else ()


class PlansTakeAnyLog(Rules):
    """A plan includes every log, completed or not."""

    def plan_takes(self, write: Write, barrier: float) -> bool:
        return True


def compose(composition: Composition) -> None:
    """Let each compactor plan according to its options `scheduling` and `plan_takes`."""
    for me in composition.actors_of(COMPACTOR):
        options = composition.protocol_of(me)[Scheduling]
        if options.scheduling == "serial":
            composition.select(COMPACTOR_SCHEDULES_PLAN, actors=[me]).require(NO_WRITER_WRITES)
        if options.plan_takes == "any_log":
            composition.map_view(COMPLETED_TABLE, table_with_unpublished, actors=[me])


def no_writer_writes(every_writer: Mapping[str, Writer]) -> bool:
    return not any(writer.requested for writer in every_writer.values())


NO_WRITER_WRITES = Guard("no writer may be writing", no_writer_writes)


MECHANISM = Mechanism(rules=refine, compose=compose, options=Scheduling)
